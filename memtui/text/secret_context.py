"""Where secrets stand without a shape of their own: names, headers, URLs, key blocks.

Each place is found by a word that must stand there, in the lower-cased bytes of the
text: looking for a few words is a tenth of the work of one pattern for all of them.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memtui.text import secret_patterns
from memtui.text.secret_patterns import Rule, SecretSpan

PASSWORD, SECRET, KEY, TOKEN = "password", "secret", "api key", "token"
"""The kinds of named values, as they stand in the mark."""

NAME_CHARS = 80
"""A longer run of letters is no name."""

TOLD_CHARS = 200
"""An expression or a placeholder is told by so many of its first characters."""

RANDOM_CHARS = 16
"""What looks drawn by chance has at least so many characters; shorter ones are told
by being of several sorts (lower, upper, digits, signs)."""

MOST_CHANGES = 3
"""How often a path goes over to digits or capitals within a word, at most."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PASSWORDS = (
    "password", "passwd", "passwort", "passphrase", "passcode", "userpass", "dbpass",
)  # fmt: skip

_MANY_PASSWORDS = ("passwords", "passwds", "passphrases")

_KEYS = (
    "api", "access", "secret", "private", "auth", "account", "shared", "encryption",
    "signing", "master", "service", "storage", "license", "deploy", "app", "admin",
    "subscription", "client", "session", "hmac", "jwt", "role", "connection",
)  # fmt: skip
"""What makes a key a secret one, when it stands before it."""

_LOGINS = (
    "db", "database", "user", "smtp", "mail", "email", "admin", "root", "mysql", "pg",
    "postgres", "redis", "mongo", "ftp", "ssh", "login", "auth", "rabbitmq", "proxy",
    "http", "basic", "keystore", "my",
)  # fmt: skip
"""Whose pass is a password, not a test that passed or a pass of many."""

_FOLDERS = frozenset(("PWD", "OLDPWD", "pwd"))
"""What a shell calls the folder it is in."""

_OPEN = frozenset((
    "public", "publishable", "anon", "page", "next", "prev", "continuation", "sync",
    "cancellation", "cancel", "idempotency", "cache", "sort", "primary", "foreign",
    "partition", "object",
))  # fmt: skip
"""What makes a key or token one that anyone may see."""

_TRAILING = ("value", "b", "base", "string", "str", "env", "raw", "prod", "dev", "live")
"""What a name may end with and promise the same."""

_PLACEHOLDER = re.compile(
    r"[<\[{(*…#@|]|\$(?!\d?[0-9a-z]+\$)|%[({A-Za-z%]|&[\w(]|-|=|!\w+$|\\|"
    r"(?:my|your|the|some|any|new|old|test|fake|dummy|mock|sample|example|demo|invalid"
    r"|wrong|valid|bad)?[-_ ]?(?:super[-_ ]?)?"
    r"(?:(?:secret|secure|strong|api|access|auth|db|user|admin|client|private|bearer|refresh|id|jwt|github|gh|openai|anthropic)"
    r"[-_ ]?)*(?:password|passwd|pass|pwd|secret|token|key|apikey|credentials?|value"
    r"|string|text|here|phrase|hash)s?\d{0,3}[?!]*$|"
    r"(?:str|string|bytes|int|number|bool|boolean|any|unknown|undefined|null|nil|none"
    r"|true|false|optional|required|object|env|secrets?|process|config|self|this|varchar"
    r"|nullable|nonnull|changeme|change[-_]me|todo|tbd|fixme|redacted|hidden|masked"
    r"|empty|missing|hashed|confirmed|sometimes|unset|invalid|incorrect|valid|default|n/a)\b(?![-_@\d])",
    re.IGNORECASE,
)

_HOLDS_PLACE = re.compile(
    r"\.[*+]|\\[dws]|\[\^|\[[a-zA-Z0]-[zZ9]|"
    r"your[-_ ]|[-_]here\b|<[\w -]+>|\$\{|\{\{|\*{3}|x{5}|\.{3}|…|example|placeholder"
    r"|redacted|change[-_]?me|replace[-_]?|insert[-_]|\[redacted|\\\$\{|[-_]goes[-_]"
    r"|process\.env|os\.environ|getenv|secrets\.|import\.meta",
    re.IGNORECASE,
)

_TEMPLATE = re.compile(
    r"[<\[{(*…]|\$(?!\d?[0-9a-z]+\$)|%[({A-Za-z%](?![0-9A-F])|x{3,}$|X{3,}$|\.{2,}"
    r"|[A-Z]*(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET)$"
)

_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?(?![^\s,;)\]}!?.])"
    r"|[\w.$:>-]*[A-Za-z_$][\w$]*(?:[(\[{<]|\?\.)"
)

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z_$]*\d{0,2}[!?]?$")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")

_PATH = re.compile(
    r"(?:file://|~|\.{1,2})?/?[\w@-][\w.@-]*(?:/[\w.@-]+)+\.[a-z]\w{1,7}$"
    r"|(?:file://|~|\.{1,2})?(?:/[\w.@-]+){2,}/?$|[a-z_-]+(?:/[a-z_][\w.@-]*){2,}$"
    r"|[A-Za-z]:\\{1,4}[\w.@ -]+(?:\\{1,4}[\w.@ -]+)*$"
)

_DIGEST = re.compile(r"(?:sha\d{1,3}|md5)[-:_]")
_PLAIN = re.compile(r"[\w+/=.~:%$!@#^*?-]+$", re.ASCII)
_MIXED = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_CHANGES = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z][a-z]|[A-Za-z]\d|\d[A-Za-z]")
_PARTS = re.compile(r"[-_./:+=~%]+")
_TURNS = re.compile(r"(?<=[a-z])[A-Z](?![a-z]{2})")


def is_path(value: str) -> bool:
    """Whether a value names a file: what is drawn by chance is of no such words."""
    return bool(_PATH.match(value)) and len(_CHANGES.findall(value)) <= MOST_CHANGES


@lru_cache(4096)
def kind_of_name(name: str) -> str:
    """The kind of value a name promises, "" for none that is secret."""
    if name in _FOLDERS:
        return ""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _TRAILING:
        words.pop()
    if not words or not _OPEN.isdisjoint(words):
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith((*_PASSWORDS, "pwd")) or last in _MANY_PASSWORDS:
        return PASSWORD
    if last == "pass":
        return PASSWORD if before in _LOGINS or name.startswith("--") else SECRET
    if last.endswith("secret"):
        return SECRET
    if last == "sessionkey" or words[-2:] == ["session", "key"]:
        return TOKEN
    if last == "key":
        is_setting = bool(before) and name.isupper()
        return KEY if before.endswith(_KEYS) or is_setting else ""
    if last.endswith("key") and last[:-3].endswith(_KEYS):
        return KEY
    if last.endswith("token") or last in ("credential", "credentials", "creds"):
        return TOKEN
    return TOKEN if last == "auth" and name.startswith(("_", "REDIS")) else ""


def is_placeholder(value: str) -> bool:
    """Whether a value stands where a secret would, or tells where it is kept."""
    return bool(
        len(set(value)) < 3
        or _PLACEHOLDER.match(value)
        or _HOLDS_PLACE.search(value, 0, TOLD_CHARS)
    )


def is_template(value: str) -> bool:
    """Whether a password's place in a URL or command is left open."""
    return bool(_TEMPLATE.match(value) or _HOLDS_PLACE.search(value, 0, TOLD_CHARS))


def is_webhook(path: str) -> bool:
    """Whether a webhook's path ends in something drawn by chance."""
    last = path.rstrip("/").rpartition("/")[2]
    return len(last) >= 16 and len(set(last)) >= 8 and not is_placeholder(path)


def is_code(value: str) -> bool:
    """Whether an unquoted value is an expression: a call, an attribute, a type."""
    return bool(_CODE.match(value, 0, TOLD_CHARS))


def is_identifier(value: str) -> bool:
    """Whether an unquoted value can be the name of a variable, or a plain word."""
    return bool(_IDENTIFIER.match(value))


def is_random(value: str) -> bool:
    """Whether a value looks drawn by chance rather than spelled by a person."""
    if len(value) < RANDOM_CHARS or not _PLAIN.match(value) or _DIGEST.match(value):
        return False
    if len(set(value)) < 8:
        return False
    for part in _PARTS.split(value):
        turns = len(_MIXED.findall(part)) + len(_TURNS.findall(part))
        if len(part) >= 8 and turns >= 3:
            return True
    return False


def is_strong(value: str) -> bool:
    """Whether a short value is of three sorts of characters, as passwords are."""
    sorts = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        not value.replace("-", "").replace("_", "").replace(".", "").isalnum(),
    )
    return sum(sorts) >= 3 and len(value) >= 8


def is_secret(kind: str, value: str, *, is_quoted: bool) -> bool:
    """Whether the value of a name of some kind is a secret.

    Args:
        kind: What ``kind_of`` said of the name.
        value: The value without its quotes.
        is_quoted: Whether it cannot be code: it had quotes, or stood in a line of
            a settings file.
    """
    if not value or is_placeholder(value) or (not is_quoted and is_code(value)):
        return False
    if kind == PASSWORD:
        if len(value) < 4 or any(map(str.isspace, value)):
            return False
        return is_quoted or not is_identifier(value)
    if _UUID.match(value):
        return kind != TOKEN
    if any(map(str.isspace, value)):
        return False
    if is_path(value) or (kind == TOKEN and not value.isascii()):
        return False
    return is_random(value) or (is_quoted and is_strong(value))


_OPENS = r"(?:\\(?:\\{2}(?:\\{4})?)?[\"']|'|\"(?![,\]}:\s]))?"
"""A quote that may open a value; one that closes a JSON string does not."""

_LOGIN_FLAG = re.compile(
    rf"curl\b[^\n|;]{{0,400}}? (?:-u|--user)[ =]?{_OPENS}"
    r"[^\s:\"'`\\$,\]}]{1,128}:([^\s\"'`\\]{1,256})"
)

_PASSWORD_FLAG = re.compile(
    rf" ?{_OPENS}([^\s\"'`\\|;&,\]}}:-][^\s\"'`\\|;&]{{2,255}})"
)

_TIGHT = re.compile(r"(?:mysql|mariadb)[a-z]*(?: [^|;&\n]*)?$")
_LOOSE = re.compile(r"(?:sshpass|docker login|mongo[a-z]*)(?: [^|;&\n]*)?$")
_PORTS = re.compile(r"\d+(?::\d+)*$")

_REDIS = re.compile(
    rf"redis-cli(?: [^|;&\n]{{0,200}}?)? (?:-a|--pass)[ =]{_OPENS}"
    r"([^\s\"'`\\|;&<>,\]}-][^\s\"'`\\|;&<>]{3,255})"
)

_HTPASSWD = re.compile(
    r"htpasswd((?: -[A-Za-z]{1,6}(?: \d{1,3})?){1,4})((?: [^\s|;&<>]{1,255}){2,3})"
)

_OPENED = re.compile(_OPENS)
_BARE = re.compile(r"[^\\\"'`,\]}]+")


def _login_flag(text: str, at: int) -> Iterator[SecretSpan]:
    flag = _LOGIN_FLAG.match(text, at)
    if flag and not is_template(flag[1]):
        yield *flag.span(1), "password"


def _password_flag(text: str, at: int) -> Iterator[SecretSpan]:
    flag = _PASSWORD_FLAG.match(text, at + 3)
    before = text[max(0, at - 200) : at]
    if not flag or is_template(flag[1]) or _PORTS.match(flag[1]):
        return
    is_tight = text[at + 3 : at + 4] != " "
    if _TIGHT.search(before) if is_tight else _LOOSE.search(before):
        yield *flag.span(1), "password"


def _redis(text: str, at: int) -> Iterator[SecretSpan]:
    flag = _REDIS.match(text, at)
    if flag and not is_template(flag[1]):
        yield *flag.span(1), "password"


def _htpasswd(text: str, at: int) -> Iterator[SecretSpan]:
    call = _HTPASSWD.match(text, at)
    if not call or "b" not in call[1]:
        return
    place = 1 if "n" in call[1] else 2
    given = list(re.finditer(r"[^ ]+", call[2]))
    if len(given) <= place:
        return
    start = call.start(2) + given[place].start()
    opened = _OPENED.match(text, start)
    value = _BARE.match(text, opened.end() if opened else start)
    if value and not is_template(value[0]):
        yield *value.span(), "password"


COMMAND_RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"curl", _login_flag),
    (b" -p", _password_flag),
    (b"redis-cli", _redis),
    (b"htpasswd", _htpasswd),
)
"""What each command is known by, and what looks at it."""

VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

_COLOUR = r"(?:\\++u001[bB]\[[\d;]{0,12}m){0,3}"

_ASSIGNS = re.compile(
    rf"(?P<closed>\\{{0,7}}[\"'`])?\]?{_COLOUR}[ \t]{{0,8}}"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?![=~>])|:(?![:=/]))"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}"
    r"(?:(?<=[: ])&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}(?=[\"'`\\]))?"
)

_NAMED_APART = re.compile(
    r"\\{0,7}[\"']?,?(?:\s|\\n){0,20}\\{0,7}[\"']?value\\{0,7}[\"']?[ \t]?"
    r"(?P<sign>[:=])(?P<gap>[ \t]{0,8})"
)

_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
_IS = re.compile(r"[`*]{0,3}(?P<gap>[ \t]+)(?P<sign>is):?[ \t]+(?=\S)")
_SET = re.compile(r"(?:\bset +(?:-[a-zA-Z]+ +)+|\bsetx +)$")
_SECRET_SET = re.compile(r"\bsecret set +$")
_SPACE = re.compile(r"(?P<gap> {0,3})(?P<sign> )(?=[^\s-])")

_BODY = re.compile(
    r"(?: +(?!-b\b|--body\b)-{1,2}[\w-]+(?:[= ][^\s\"'`\\-][^\s\"'`\\]*)?){0,4}"
    r" +(?:--body|-b)(?P<sign>[= ])(?P<gap> {0,3})"
)

_NETRC = re.compile(r"\b(?:machine\s+\S{1,128}|default)\s+login\s+\S{1,128}\s+$")
_BLANK = re.compile(r"(?P<gap>\s{0,4})(?P<sign>\s)(?=\S)")

_COMMANDS = (_SPACE, _BODY, _BLANK)
"""What parts a name from its value in a command, where no code stands."""

_BEFORE_CHARS = 24
_NETRC_CHARS = 300

_LISTED = re.compile(
    r"(?P<closed>\\{0,7}[\"'`])?[ \t]{0,8}(?P<sign>[:=])"
    r"(?P<gap>[ \t]{0,8})\[\s{0,8}"
    r"(?:\\{0,7}[\"']\[redacted: [a-z ]+\]\\{0,7}[\"'],\s{0,8})*(?=\\{0,7}[\"'])"
)

_XML = re.compile(r">([^<>\s\"'`\\]{4,200})(?=</)")
_values_OPENS = re.compile(r"[brfuBRFU]{0,2}(\\{0,7})([\"'`])")

_DEPTHS = (0, 1, 3, 7)
"""How many backslashes stand before a quote in JSON, in JSON in JSON, and so on."""

_QUOTED = {
    '"': re.compile(rf"((?:[^\"\\\n]|\\.){{0,{VALUE_CHARS}}})\""),
    "'": re.compile(rf"((?:[^'\"\\\n]|\\.){{0,{VALUE_CHARS}}})'"),
    "`": re.compile(rf"((?:[^`\"\\\n]|\\.){{0,{VALUE_CHARS}}})`"),
} | {
    "\\" * depth + '"': re.compile(
        rf"((?:[^\"\\\n]|\\{{{depth + 1},}}+\"|\\++[^\"\\\n]){{0,{VALUE_CHARS}}})"
        rf"\\{{{depth}}}\""
    )
    for depth in _DEPTHS[1:]
}

_WITHIN = re.compile(rf"[^\"'`\\\n]{{0,{VALUE_CHARS}}}")

_values_BARE = re.compile(
    rf"(?:[^\s\"'`\\;,<>|&]|&(?![\w.-]{{1,80}}=)){{1,{VALUE_CHARS}}}"
)

_WHOLE = re.compile(rf"[^\s\"'`\\]{{1,{VALUE_CHARS}}}")
_QUERY = re.compile(rf"[^\s\"'`\\&#;,<>|)\]}}]{{1,{VALUE_CHARS}}}")
_BLANK_END = re.compile(r"\s*\Z")

_NO_START = frozenset(",]}: \t")
"""What follows a JSON string's end is no value."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A name's value, and what is known of how it stands there."""

    text: str
    start: int
    is_quoted: bool
    """Whether it cannot be code."""
    sign: str
    is_tight: bool
    """Whether nothing stands between the sign and the value."""
    after: str
    """The character that follows, "" at the end."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


def value_of_name(text: str, start: int, end: int) -> NamedValue | None:
    """The value given to the name that stands between two places; None for none."""
    if text[end - 1] in "sS" and (found := _LISTED.match(text, end)):
        return _values_value(text, start, end, found, is_key=bool(found["closed"]))
    found = _ASSIGNS.match(text, end)
    if found:
        return _values_value(text, start, end, found, is_key=bool(found["closed"]))
    if text.startswith("-", start) and (found := _FLAG.match(text, end)):
        return _values_value(text, start, end, found, is_key=False)
    if text[start - 1 : start] == "<" and (tagged := _XML.match(text, end)):
        return NamedValue(tagged[1], tagged.start(1), True, ">", True, "<")
    if text[end : end + 1] in (" ", "\n", "\t") and (
        found := _spaced(text, start, end)
    ):
        return _values_value(text, start, end, found, is_key=False)
    found = _NAMED_APART.match(text, end) or _IS.match(text, end)
    return _values_value(text, start, end, found, is_key=False) if found else None


def _spaced(text: str, start: int, end: int) -> re.Match[str] | None:
    """What stands between a name and its value where commands part them by blanks."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if "set" in before:
        if _SECRET_SET.search(before):
            return _BODY.match(text, end)
        return _SPACE.match(text, end) if _SET.search(before) else None
    if text[start:end] == "password" and before[-1:].isspace():
        before = text[max(0, start - _NETRC_CHARS) : start]
        return _BLANK.match(text, end) if _NETRC.search(before) else None
    return None


def _values_value(
    text: str, start: int, end: int, found: re.Match[str], *, is_key: bool
) -> NamedValue | None:
    sign, at = found["sign"], found.end()
    is_tight = (
        not found["gap"]
        and text[end : found.start("sign")].strip(" \t")
        == (text[end : found.start("sign")])
    )
    opened = _values_OPENS.match(text, at)
    if opened:
        is_json = is_key and found["closed"][-1] == '"'
        return _quoted(text, opened, sign, is_tight=is_tight, is_json=is_json)
    if is_key:
        return None
    before = text[start - 1 : start]
    name = text[start:end]
    is_setting = found.re in _COMMANDS or (
        is_tight and sign == "=" and name.isupper() and before not in ("(", ",")
    )
    shape = (
        _QUERY if before and before in "?&" else _WHOLE if is_setting else _values_BARE
    )
    bare = shape.match(text, at)
    if not bare:
        return None
    value = bare[0].rstrip(",;)}].") if shape is _values_BARE else bare[0].rstrip(";)")
    after = text[at + len(value) : at + len(value) + 1]
    return NamedValue(value, at, is_setting or shape is _QUERY, sign, is_tight, after)


def _quoted(
    text: str, opened: re.Match[str], sign: str, *, is_tight: bool, is_json: bool
) -> NamedValue | None:
    escape, quote = opened[1], opened[2]
    at = opened.end()
    if not escape and text[at : at + 1] in _NO_START:
        return None
    if len(escape) not in _DEPTHS:
        return None
    shape = _QUOTED.get(escape + quote)
    closed = shape.match(text, at) if shape else None
    if closed:
        value = closed[1]
    else:
        within = _WITHIN.match(text, at)
        value = within[0] if within else ""
        end = at + len(value)
        # No string of JSON goes on in another line: it was torn there.
        is_torn = is_json and text[end : end + 1] == "\n"
        is_cut = is_torn or _BLANK_END.match(text, end)
        if not is_cut and not text.startswith(escape + quote, end):
            return None
    after = text[at + len(value) : at + len(value) + 1]
    return NamedValue(value, at, True, sign, is_tight, after)


NAME_PARTS = (b"pass", b"pwd", b"secret", b"token", b"key", b"credential", b"auth")
"""What the name of a secret has in it."""

LONG_CHARS = 256
"""No other name is looked for in an unquoted value longer than this."""

_QUOTE = r"(?:(?:\\(?:\\{2}(?:\\{4})?)?)?[\"'`])?"
"""A quote that may stand there, as deep in JSON as it may be; no half of an escape."""

_HEADER = re.compile(
    rf"{_QUOTE}\]?[ \t]{{0,4}}[:=,][ \t]{{0,4}}[bf]?{_QUOTE}"
    r"(?:(Bearer|Basic|Token|ApiKey|Digest|Bot|Key|Negotiate|GenieKey)[ ]{1,4})?"
    r"([A-Za-z0-9._~+/][A-Za-z0-9._~+/=:-]{5,})",
    re.IGNORECASE,
)

_BEARER = re.compile(r"[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})")

_COOKIES = re.compile(
    rf"{_QUOTE}[ \t]{{0,4}}[:= ][ \t]{{0,4}}{_QUOTE}"
    r"((?:[\w.-]{1,80}=[^;\s\"'`\\]{0,4096};?[ ]?){1,60})"
)

_COOKIE = re.compile(r"([\w.-]{1,80})=([^;\s\"'`\\]{8,})")

_SESSION = re.compile(
    r"sess|sid$|token|auth|jwt|csrf|xsrf|login|remember|ident", re.IGNORECASE
)

_LOGIN = re.compile(r"([^\s/@:\"'`\\<>?#(){}]{0,128}):([^\s/@\"'`\\<>]{1,256})@")
_LONE_LOGIN = re.compile(r"([A-Za-z0-9_.~-]{16,256})@")

_WEBHOOK = re.compile(
    r"://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)"
    r"|(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks"
    r"|[\w.-]+\.webhook\.office\.com/webhookb2)/([A-Za-z0-9_@/-]{20,})"
)

_SIGNATURE = re.compile(r"=([A-Za-z0-9%+/=_-]{20,})")
_PORT = re.compile(r"\d{2,5}$")


def find_secrets(text: str, low: bytes, signs: bytes) -> Iterator[SecretSpan]:
    """What stands where secrets do.

    Args:
        text: The text.
        low: It as ASCII, lower-cased, one byte a character.
        signs: It with all that is not of a name made blank.
    """
    met: set[int] = set()
    parts = [part for part in NAME_PARTS if part in low]
    for part in parts:
        yield from _named(part, text, low, signs, met)
    for anchor, rule in _WITH_FLAGS if b" -" in low else _RULES:
        if anchor in low and _BESIDE.get(anchor, b"") in (b"", *parts):
            yield from _looked(anchor, rule, text, low)
    if b"@" in low or b"hook" in low:
        yield from _looked(b"://", _url, text, low)


def _looked(anchor: bytes, rule: Rule, text: str, low: bytes) -> Iterator[SecretSpan]:
    """What a rule finds at each of its anchors that it has not yet looked past."""
    at = low.find(anchor)
    while at >= 0:
        past = at + len(anchor)
        for span in rule(text, at):
            past = max(past, span[1])
            if span[2]:
                yield span
        at = low.find(anchor, past)


def _named(
    part: bytes, text: str, low: bytes, signs: bytes, met: set[int]
) -> Iterator[SecretSpan]:
    at = low.find(part)
    while at >= 0:
        end = signs.find(b" ", at, at + NAME_CHARS)
        if end < 0:
            end = min(len(text), at + NAME_CHARS)
        if end not in met:
            met.add(end)
            start = signs.rfind(b" ", max(0, at - NAME_CHARS), at) + 1
            for span in _value(text, start or max(0, at - NAME_CHARS), end):
                end = max(end, span[1])
                if span[2]:
                    yield span
        at = low.find(part, end)


def _value(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start:end].rstrip(".-")
    end = start + len(name)
    if name[-13:].lower() == "authorization":
        yield from _header(text, end)
        return
    kind = kind_of_name(name)
    if not kind and text[start - 1 : start] in ("?", "&") and name.lower() == "key":
        kind = TOKEN
    if not kind:
        return
    value = value_of_name(text, start, end)
    if value and (is_secret_value(kind, value) or is_passphrase(name, kind, value)):
        yield value.start, value.end, kind
    elif value and len(value.text) > LONG_CHARS and not value.is_quoted:
        yield value.start, value.end, ""


def is_secret_value(kind: str, value: NamedValue) -> bool:
    """Whether a name of some kind tells a secret in its value."""
    if value.sign == "is" and not is_strong(value.text):
        return False
    if is_secret(kind, value.text, is_quoted=value.is_quoted):
        if value.sign in (" ", "is") and not value.is_quoted:
            return any(map(str.isdigit, value.text)) or not value.text.isalpha()
        return True
    return (
        kind == PASSWORD
        and value.after not in (",", ")", ".", "(", "[")
        and (value.is_tight or value.sign == ":")
        and any(map(str.isdigit, value.text))
        and any(map(str.isalpha, value.text))
        and is_secret(kind, value.text, is_quoted=True)
        and not is_code(value.text)
    )


def is_passphrase(name: str, kind: str, value: NamedValue) -> bool:
    """Whether a value is a password of several words, as a setting may have it."""
    return (
        kind == PASSWORD
        and (name.isupper() or name.startswith("--"))
        and value.is_quoted
        and value.is_tight
        and value.sign == "="
        and " " in value.text.strip()
        and not is_placeholder(value.text)
        and not is_template(value.text)
    )


def _header(text: str, at: int) -> Iterator[SecretSpan]:
    header = _HEADER.match(text, at)
    if not header or is_placeholder(header[2]):
        return
    scheme, value = (header[1] or "").lower(), header[2]
    if scheme == "basic":
        if is_basic_login(value):
            yield *header.span(2), "basic auth"
    elif is_random(value) or (scheme and any(map(str.isdigit, value))):
        yield (
            *header.span(2),
            f"{scheme or 'authorization'} token".replace("token token", "token"),
        )


def is_basic_login(value: str) -> bool:
    """Whether a Basic value is one: base64 of a name, a colon and a password."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return False


def _bearer(text: str, at: int) -> Iterator[SecretSpan]:
    token = _BEARER.match(text, at + len("bearer"))
    if token and is_random(token[1]) and not is_placeholder(token[1]):
        yield *token.span(1), "bearer token"


def _cookie(text: str, at: int) -> Iterator[SecretSpan]:
    line = _COOKIES.match(text, at + len("cookie"))
    if not line:
        return
    yield *line.span(), ""
    for cookie in _COOKIE.finditer(text, line.start(1), line.end(1)):
        name, value = cookie[1], cookie[2]
        if is_placeholder(value) or is_code(value):
            continue
        if is_random(value) or (_SESSION.search(name) and any(map(str.isdigit, value))):
            yield *cookie.span(2), "cookie"


def _url(text: str, at: int) -> Iterator[SecretSpan]:
    login = _LOGIN.match(text, at + 3)
    if login:
        if not is_template(login[2]) and not _is_port(*login.groups()):
            yield *login.span(2), "password"
    elif lone := _LONE_LOGIN.match(text, at + 3):
        if is_random(lone[1]):
            yield *lone.span(1), "token"
    elif (found := _WEBHOOK.match(text, at)) and is_webhook(found[1]):
        yield *found.span(1), "webhook"


def _is_port(name: str, value: str) -> bool:
    """Whether what looks like a login is a host and port before a trick's ``@``."""
    return bool(_PORT.match(value)) and (name == "localhost" or "." in name)


def _signature(text: str, at: int) -> Iterator[SecretSpan]:
    value = _SIGNATURE.match(text, text.find("=", at))
    if value and text[at - 1 : at] in ("?", "&", ";") and is_random(value[1]):
        yield *value.span(1), "signature"


_RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"bearer ", _bearer),
    (b"cookie", _cookie),
    (b"sig=", _signature),
    (b"x-amz-signature=", _signature),
    *secret_patterns.PATTERN_RULES,
)
"""What each place is known by, and what looks at it."""

_WITH_FLAGS = (*_RULES, *COMMAND_RULES)
"""The same where a flag is given to something: no command tells a password without."""

_BESIDE = {b"-----begin": b"key", b"private-lines:": b"key", b"htpasswd": b"pass"}
"""The part of a name that some never stand without."""
