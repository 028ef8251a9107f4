"""Recognize secrets that have no distinctive format, by their context: names, headers,
URLs, commands.

Each rule is tried where a fixed byte string occurs in the lower-cased text: searching
for a few strings takes a tenth of the time of one pattern for all.
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
"""The kinds of named values, as shown in the mark."""

NAME_CHARS = 80
"""A longer run of letters is not a name."""

EXPRESSION_CHARS = 200
"""Expressions and placeholders are recognized in this many first characters."""

RANDOM_CHARS = 16
"""Random values have at least this many characters; shorter ones are recognized by
mixed character classes (lower, upper, digits, punctuation)."""

MAX_PATH_CHANGES = 3
"""The most changes to digits or capitals within the words of a path."""

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
"""Words that make a key secret when they precede it."""

_LOGIN_NAMES = (
    "db", "database", "user", "smtp", "mail", "email", "admin", "root", "mysql", "pg",
    "postgres", "redis", "mongo", "ftp", "ssh", "login", "auth", "rabbitmq", "proxy",
    "http", "basic", "keystore", "my",
)  # fmt: skip
"""Words after which "pass" means a password, not a passed test."""

_FOLDERS = frozenset(("PWD", "OLDPWD", "pwd"))
"""Shell variables for the current directory."""

_PUBLIC = frozenset((
    "public", "publishable", "anon", "page", "next", "prev", "continuation", "sync",
    "cancellation", "cancel", "idempotency", "cache", "sort", "primary", "foreign",
    "partition", "object",
))  # fmt: skip
"""Words that make a key or token public."""

_TRAILING = ("value", "b", "base", "string", "str", "env", "raw", "prod", "dev", "live")
"""Suffixes that do not change the meaning of a name."""

# Matches at the start of placeholders: <token>, $TOKEN, your-api-key, changeme, null.
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

_CONTAINS_PLACEHOLDER = re.compile(
    r"\.[*+]|\\[dws]|\[\^|\[[a-zA-Z0]-[zZ9]|"
    r"your[-_ ]|[-_]here\b|<[\w -]+>|\$\{|\{\{|\*{3}|x{5}|\.{3}|…|example|placeholder"
    r"|redacted|change[-_]?me|replace[-_]?|insert[-_]|\[redacted|\\\$\{|[-_]goes[-_]"
    r"|process\.env|os\.environ|getenv|secrets\.|import\.meta",
    re.IGNORECASE,
)

# Passwords in URLs and commands vary more; only these are no secrets: <password>,
# ${PASS}, %(pwd)s, xxxx, DB_PASSWORD.
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
# Between kinds of characters: the three in "aB", "HTTPServer" and "v2".
_CLASS_CHANGES = re.compile(
    r"(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z][a-z]|[A-Za-z]\d|\d[A-Za-z]"
)
_PARTS = re.compile(r"[-_./:+=~%]+")
# Capitals that begin no word: the B of "aB3", but not that of "fooBar".
_ODD_CAPITALS = re.compile(r"(?<=[a-z])[A-Z](?![a-z]{2})")


def is_path(value: str) -> bool:
    """Return whether a value is the path of a file."""
    return (
        bool(_PATH.match(value))
        and len(_CLASS_CHANGES.findall(value)) <= MAX_PATH_CHANGES
    )


@lru_cache(4096)
def kind_of_name(name: str) -> str:
    """Return the kind of secret that a name stands for; "" for none."""
    if name in _FOLDERS:
        return ""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _TRAILING:
        words.pop()
    if not words or not _PUBLIC.isdisjoint(words):
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith((*_PASSWORDS, "pwd")) or last in _MANY_PASSWORDS:
        return PASSWORD
    if last == "pass":
        return PASSWORD if before in _LOGIN_NAMES or name.startswith("--") else SECRET
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
    """Return whether a value is a placeholder, or refers to where a secret is
    stored."""
    return bool(
        len(set(value)) < 3
        or _PLACEHOLDER.match(value)
        or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
    )


def is_template(value: str) -> bool:
    """Return whether a password in a URL or command is a placeholder."""
    return bool(
        _TEMPLATE.match(value)
        or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
    )


def is_webhook(path: str) -> bool:
    """Return whether a webhook's path ends in a random string."""
    last = path.rstrip("/").rpartition("/")[2]
    return len(last) >= 16 and len(set(last)) >= 8 and not is_placeholder(path)


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression: a call, an attribute, a
    type."""
    return bool(_CODE.match(value, 0, EXPRESSION_CHARS))


def is_identifier(value: str) -> bool:
    """Return whether an unquoted value may be a variable or a plain word."""
    return bool(_IDENTIFIER.match(value))


def is_random(value: str) -> bool:
    """Return whether a value looks random rather than written by a person."""
    if len(value) < RANDOM_CHARS or not _PLAIN.match(value) or _DIGEST.match(value):
        return False
    if len(set(value)) < 8:
        return False
    for part in _PARTS.split(value):
        changes = len(_MIXED.findall(part)) + len(_ODD_CAPITALS.findall(part))
        if len(part) >= 8 and changes >= 3:
            return True
    return False


def is_strong(value: str) -> bool:
    """Return whether a short value mixes three character classes, as passwords do."""
    classes = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        not value.replace("-", "").replace("_", "").replace(".", "").isalnum(),
    )
    return sum(classes) >= 3 and len(value) >= 8


def is_secret(kind: str, value: str, *, is_quoted: bool) -> bool:
    """Return whether the value of a name is a secret.

    Args:
        kind: The kind of the name, from ``kind_of_name``.
        value: The value without quotes.
        is_quoted: True if it cannot be code: it was quoted, or is in a settings file.
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
"""A quote that may open a value; one that closes a JSON string may not."""

_LOGIN_FLAG = re.compile(
    rf"curl\b[^\n|;]{{0,400}}? (?:-u|--user)[ =]?{_OPENS}"
    r"[^\s:\"'`\\$,\]}]{1,128}:([^\s\"'`\\]{1,256})"
)

_PASSWORD_FLAG = re.compile(
    rf" ?{_OPENS}([^\s\"'`\\|;&,\]}}:-][^\s\"'`\\|;&]{{2,255}})"
)

# mysql -psecret
_JOINED_FLAG_COMMANDS = re.compile(r"(?:mysql|mariadb)[a-z]*(?: [^|;&\n]*)?$")
# sshpass -p secret
_SPACED_FLAG_COMMANDS = re.compile(
    r"(?:sshpass|docker login|mongo[a-z]*)(?: [^|;&\n]*)?$"
)
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
    if (
        _JOINED_FLAG_COMMANDS.search(before)
        if is_tight
        else _SPACED_FLAG_COMMANDS.search(before)
    ):
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
"""The byte string that each command contains, and the rule that checks it."""

VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

_COLOUR = r"(?:\\++u001[bB]\[[\d;]{0,12}m){0,3}"

_ASSIGNS = re.compile(
    rf"(?P<closed>\\{{0,7}}[\"'`])?\]?{_COLOUR}[ \t]{{0,8}}"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?![=~>])|:(?![:=/]))"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}"
    r"(?:(?<=[: ])&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}(?=[\"'`\\]))?"
)

# The value of a name in another field: "name": "TOKEN", "value": "secret"
_VALUE_FIELD = re.compile(
    r"\\{0,7}[\"']?,?(?:\s|\\n){0,20}\\{0,7}[\"']?value\\{0,7}[\"']?[ \t]?"
    r"(?P<sign>[:=])(?P<gap>[ \t]{0,8})"
)

_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
_IS = re.compile(r"[`*]{0,3}(?P<gap>[ \t]+)(?P<sign>is):?[ \t]+(?=\S)")
_SET = re.compile(r"(?:\bset +(?:-[a-zA-Z]+ +)+|\bsetx +)$")
_SECRET_SET = re.compile(r"\bsecret set +$")
_SPACE = re.compile(r"(?P<gap> {0,3})(?P<sign> )(?=[^\s-])")

# gh secret set TOKEN --body secret
_BODY_FLAG = re.compile(
    r"(?: +(?!-b\b|--body\b)-{1,2}[\w-]+(?:[= ][^\s\"'`\\-][^\s\"'`\\]*)?){0,4}"
    r" +(?:--body|-b)(?P<sign>[= ])(?P<gap> {0,3})"
)

_NETRC = re.compile(r"\b(?:machine\s+\S{1,128}|default)\s+login\s+\S{1,128}\s+$")
_BLANK = re.compile(r"(?P<gap>\s{0,4})(?P<sign>\s)(?=\S)")

_COMMANDS = (_SPACE, _BODY_FLAG, _BLANK)
"""Separators between name and value in commands, where no code is expected."""

_BEFORE_CHARS = 24
_NETRC_CHARS = 300

_LIST_ITEM = re.compile(
    r"(?P<closed>\\{0,7}[\"'`])?[ \t]{0,8}(?P<sign>[:=])"
    r"(?P<gap>[ \t]{0,8})\[\s{0,8}"
    r"(?:\\{0,7}[\"']\[redacted: [a-z ]+\]\\{0,7}[\"'],\s{0,8})*(?=\\{0,7}[\"'])"
)

_XML = re.compile(r">([^<>\s\"'`\\]{4,200})(?=</)")
_VALUE_OPENS = re.compile(r"[brfuBRFU]{0,2}(\\{0,7})([\"'`])")

_DEPTHS = (0, 1, 3, 7)
"""Backslashes before a quote in JSON, in JSON within JSON, and so on."""

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

_BARE_VALUE = re.compile(
    rf"(?:[^\s\"'`\\;,<>|&]|&(?![\w.-]{{1,80}}=)){{1,{VALUE_CHARS}}}"
)

_WHOLE = re.compile(rf"[^\s\"'`\\]{{1,{VALUE_CHARS}}}")
_QUERY = re.compile(rf"[^\s\"'`\\&#;,<>|)\]}}]{{1,{VALUE_CHARS}}}")
_BLANK_END = re.compile(r"\s*\Z")

_NO_START = frozenset(",]}: \t")
"""A JSON string's end is followed by one of these; it does not open a value."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The value of a name, and how it is written."""

    text: str
    start: int
    is_quoted: bool
    """True if it cannot be code."""
    sign: str
    is_tight: bool
    """True if there is no space between the sign and the value."""
    after: str
    """The character that follows; "" at the end."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def value_of_name(text: str, start: int, end: int) -> NamedValue | None:
    """Return the value assigned to the name at a span; None if there is none."""
    if text[end - 1] in "sS" and (found := _LIST_ITEM.match(text, end)):
        return _read_value(text, start, end, found, is_key=bool(found["closed"]))
    found = _ASSIGNS.match(text, end)
    if found:
        return _read_value(text, start, end, found, is_key=bool(found["closed"]))
    if text.startswith("-", start) and (found := _FLAG.match(text, end)):
        return _read_value(text, start, end, found, is_key=False)
    if text[start - 1 : start] == "<" and (tagged := _XML.match(text, end)):
        return NamedValue(tagged[1], tagged.start(1), True, ">", True, "<")
    if text[end : end + 1] in (" ", "\n", "\t") and (
        found := _match_spaced(text, start, end)
    ):
        return _read_value(text, start, end, found, is_key=False)
    found = _VALUE_FIELD.match(text, end) or _IS.match(text, end)
    return _read_value(text, start, end, found, is_key=False) if found else None


def _match_spaced(text: str, start: int, end: int) -> re.Match[str] | None:
    """Match the separator where a command separates name and value by spaces."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if "set" in before:
        if _SECRET_SET.search(before):
            return _BODY_FLAG.match(text, end)
        return _SPACE.match(text, end) if _SET.search(before) else None
    if text[start:end] == "password" and before[-1:].isspace():
        before = text[max(0, start - _NETRC_CHARS) : start]
        return _BLANK.match(text, end) if _NETRC.search(before) else None
    return None


def _read_value(
    text: str, start: int, end: int, found: re.Match[str], *, is_key: bool
) -> NamedValue | None:
    sign, at = found["sign"], found.end()
    is_tight = (
        not found["gap"]
        and text[end : found.start("sign")].strip(" \t")
        == (text[end : found.start("sign")])
    )
    opened = _VALUE_OPENS.match(text, at)
    if opened:
        is_json = is_key and found["closed"][-1] == '"'
        return _read_quoted(text, opened, sign, is_tight=is_tight, is_json=is_json)
    if is_key:
        return None
    before = text[start - 1 : start]
    name = text[start:end]
    is_setting = found.re in _COMMANDS or (
        is_tight and sign == "=" and name.isupper() and before not in ("(", ",")
    )
    shape = (
        _QUERY if before and before in "?&" else _WHOLE if is_setting else _BARE_VALUE
    )
    bare = shape.match(text, at)
    if not bare:
        return None
    value = bare[0].rstrip(",;)}].") if shape is _BARE_VALUE else bare[0].rstrip(";)")
    after = text[at + len(value) : at + len(value) + 1]
    return NamedValue(value, at, is_setting or shape is _QUERY, sign, is_tight, after)


def _read_quoted(
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
        # JSON strings do not span lines: the text was cut off there.
        is_cut_in_json = is_json and text[end : end + 1] == "\n"
        is_cut = is_cut_in_json or _BLANK_END.match(text, end)
        if not is_cut and not text.startswith(escape + quote, end):
            return None
    after = text[at + len(value) : at + len(value) + 1]
    return NamedValue(value, at, True, sign, is_tight, after)


NAME_PARTS = (b"pass", b"pwd", b"secret", b"token", b"key", b"credential", b"auth")
"""The name of a secret contains one of these."""

LONG_CHARS = 256
"""Unquoted values longer than this are skipped when searching for names."""

_QUOTE = r"(?:(?:\\(?:\\{2}(?:\\{4})?)?)?[\"'`])?"
"""An optional quote, escaped at any depth of JSON."""

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


def find_secrets(text: str, lowered: bytes, name_chars: bytes) -> Iterator[SecretSpan]:
    """Find secrets by their context.

    Args:
        text: The text.
        lowered: The text as lower-case ASCII, one byte a character.
        name_chars: The same with spaces for all characters that names do not contain.
    """
    checked_ends: set[int] = set()
    parts = [part for part in NAME_PARTS if part in lowered]
    for part in parts:
        yield from _find_named(part, text, lowered, name_chars, checked_ends)
    for anchor, rule in _WITH_FLAGS if b" -" in lowered else _RULES:
        if anchor in lowered and _REQUIRED_PARTS.get(anchor, b"") in (b"", *parts):
            yield from _apply_rule(anchor, rule, text, lowered)
    if b"@" in lowered or b"hook" in lowered:
        yield from _apply_rule(b"://", _url, text, lowered)


def _apply_rule(
    anchor: bytes, rule: Rule, text: str, lowered: bytes
) -> Iterator[SecretSpan]:
    """Apply a rule at each occurrence of its byte string.

    Rules yield a span of kind "" for text that contains no secret and is to be skipped.
    """
    at = lowered.find(anchor)
    while at >= 0:
        past = at + len(anchor)
        for span in rule(text, at):
            past = max(past, span[1])
            if span[2]:
                yield span
        at = lowered.find(anchor, past)


def _find_named(
    part: bytes, text: str, lowered: bytes, name_chars: bytes, checked_ends: set[int]
) -> Iterator[SecretSpan]:
    at = lowered.find(part)
    while at >= 0:
        end = name_chars.find(b" ", at, at + NAME_CHARS)
        if end < 0:
            end = min(len(text), at + NAME_CHARS)
        if end not in checked_ends:
            checked_ends.add(end)
            start = name_chars.rfind(b" ", max(0, at - NAME_CHARS), at) + 1
            for span in _check_name(text, start or max(0, at - NAME_CHARS), end):
                end = max(end, span[1])
                if span[2]:
                    yield span
        at = lowered.find(part, end)


def _check_name(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    """Find the secret that a name stands before; a span of kind "" is to be skipped."""
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
    """Return whether the value of a name of some kind is a secret."""
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
    """Return whether a value is a password of several words, as in a setting."""
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
    """Return whether a Basic value is the base64 of a name, a colon and a password."""
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
    """Return whether what looks like a login is a host and port before an ``@``."""
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
"""The byte string that each rule looks for."""

_WITH_FLAGS = (*_RULES, *COMMAND_RULES)
"""The same for texts with command-line flags: these commands take a password only with
a flag."""

_REQUIRED_PARTS = {
    b"-----begin": b"key",
    b"private-lines:": b"key",
    b"htpasswd": b"pass",
}
"""Byte strings that never occur without this part of a name."""
