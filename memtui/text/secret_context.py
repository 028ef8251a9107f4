"""Recognize secrets that have no distinctive format, by their context: names, headers,
URLs, commands.

Each rule is tried where a fixed byte string occurs in the lower-cased text: searching
for a few strings takes a tenth of the time of one pattern for all.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memtui.text import secret_patterns
from memtui.text.secret_patterns import Rule, SecretSpan

PASSWORD, SECRET, KEY, TOKEN = "password", "secret", "api key", "token"
BASIC, SEED = "basic auth", "seed phrase"
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
    "password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "userpass",
    "dbpass",
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

# A value that begins with a sign is a placeholder if the rest looks like one: <token>,
# ${TOKEN}, $TOKEN, $(cat file), {token}, [token], #/pointer, @token, *alias, %TOKEN%.
_SIGN_FIRST = re.compile(
    r"<\.{0,3}[A-Za-z][A-Za-z0-9_ .:|/'-]*>?$|<[^<>]{1,80}>$|</?[a-z]|[*•xX.…]+$|…"
    r"|[\[({]{1,3}[$#%]?[A-Za-z_ .,|:'\"-]*[0-9]?[\])}]{0,3}$|\{[%{#]|\$[({]"
    r"|\[redacted"
    r"|\$(?!\d?[0-9a-z]+\$)(?=env:|[A-Z_]+\d?$|[A-Za-z_]*\d?$|\d$|[@*#?!$]$)"
    r"|\$[A-Za-z_][\w]*(?:\.|->|\[|::)"
    r"|\$\w*(?i:pass|pwd|secret|token|key)\w*$"
    r"|%[({]|%{1,2}[A-Za-z_]+%{0,2}$|%[-+\d.]*[a-z](?!\w)"
    r"|&(?:[A-Za-z_]+(?:\.\w+)*|amp;|lt;|gt;).{0,2}$|&\w+\(|&#\w+"
    r"|@[A-Za-z_]+\d?$|@[A-Za-z_.]+[({/]|@\{"
    r"|#[A-Za-z_-]*$|#[/{]|#[0-9a-fA-F]{3,8}$"
    r"|\|[-+>]?$|\|\||--?[A-Za-z][A-Za-z_-]*(?:=.*)?$|-+[>.]?$|=+>?$|-\d+(?:\.\d+)?$"
    r"|!{1,2}[A-Za-z_]+!?$|!(?:==?|\()|\\+(?:[nrtbdwsux\"'/.]|$)",
)

# Matches at the start of placeholders: your-api-key, changeme, null.
_PLACEHOLDER = re.compile(
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

_EXPRESSION = re.compile(
    r"\.[*+][^*+]*$|\\[dws]|\[\^|\[[a-zA-Z0]-[zZ9]|0-9[aA]-|[aA]-[zZ][aA0]|\(\?[=!:<]"
)
"""Parts of regular expressions."""

_CONTAINS_PLACEHOLDER = re.compile(
    rf"{_EXPRESSION.pattern}|"
    r"your[-_ ]|[-_]here\b|<[\w -]+>|\$\{|\{\{|\*{3}|x{5}|\.{3}|…|example|placeholder"
    r"|redacted|change[-_]?me|replace[-_]?|insert[-_]|\[redacted|\\\$\{|[-_]goes[-_]"
    r"|process\.env|os\.environ|getenv|secrets\.|import\.meta",
    re.IGNORECASE,
)

# Passwords in URLs and commands vary more; only these are no secrets: <password>,
# ${PASS}, %(pwd)s, xxxx, DB_PASSWORD.
_TEMPLATE = re.compile(
    r"x{3,}$|X{3,}$|\.{2,}|[A-Z]*(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET)$"
)

_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?(?![^\s,;)\]}!?.])"
    r"|[\w.$:>-]*[A-Za-z_$][\w$]*(?:[(\[{<]|\?\.)"
)

_SIGNS = re.compile(r"[!@#$%^&*?~+;<>|{}()\[\]=\"'`,\\]")
_WILD = re.compile(r"[#@!^~$%;|]")
_WORD_IN = re.compile(
    r"[a-z]{5}|[A-Z]{6}|(?i:pass|pwd|user|auth|name|your|host|token|key|env|data|text)"
)
_WRAPPED = re.compile(r"[$%#]?[<{(\[].*[>})\]]$|%.*%$|\{\{|\$\(")
_OPENING = {")": "(", "]": "[", "}": "{"}

# Words as in "Base64-encoded"; versions, dates, addresses.
_WORDY = re.compile(
    r"(?:[A-Za-z]+(?:\d{1,5}[a-z]?)?(?:[-_./:]|%[0-9A-F]{2}|$))+$"
    r"|v?\d+\.|\d{4}-\d\d|\w+://|[\w.-]+@[\w-]+\.[\w.]+$|[\w./-]+\.[a-z]{1,4}(?::\d+)*$"
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
    if name == "auth":
        return BASIC
    return TOKEN if last == "auth" and name.startswith(("_", "REDIS")) else ""


def is_noise(value: str) -> bool:
    """Return whether a value mixes letters and signs as generated passwords do."""
    signs = len(_SIGNS.findall(value))
    has_digit = any(map(str.isdigit, value))
    return (
        (len(value) >= 12 if signs < 2 or not has_digit else len(value) >= 8)
        and signs > 0
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and not _WORD_IN.search(value)
        and not _WRAPPED.match(value)
        and not _EXPRESSION.search(value)
        and not any(map(str.isspace, value))
    )


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder, or refers to where a secret is
    stored."""
    return len(set(value)) < 3 or (
        bool(
            _SIGN_FIRST.match(value)
            or _PLACEHOLDER.match(value)
            or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
        )
        and not is_noise(value)
    )


def is_template(value: str) -> bool:
    """Return whether a password in a URL or command is a placeholder."""
    return bool(
        _SIGN_FIRST.match(value)
        or _TEMPLATE.match(value)
        or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
    ) and not is_noise(value)


def is_webhook(path: str) -> bool:
    """Return whether a webhook's path ends in a random string."""
    last = path.rstrip("/").rpartition("/")[2]
    return len(last) >= 16 and len(set(last)) >= 8 and not is_placeholder(path)


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression: a call, an attribute, a
    type."""
    found = _CODE.match(value, 0, EXPRESSION_CHARS)
    if not found:
        return False
    if is_noise(value) and (_WILD.search(value) or not _nests(value)):
        return False
    first = re.split(r"\W", found[0], maxsplit=1)[0]
    odd = len(_MIXED.findall(first)) + len(_ODD_CAPITALS.findall(first))
    return odd < 3 and _nests(value[:EXPRESSION_CHARS])


def _nests(value: str) -> bool:
    """Return whether brackets close in order; the last may be open."""
    opened: list[str] = []
    for sign in value:
        if sign in "([{":
            opened.append(sign)
        elif sign in _OPENING and (not opened or opened.pop() != _OPENING[sign]):
            return len(opened) == 0 and value.rstrip(",;)]}").find(sign) < 0
    return True


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


def is_generated(value: str) -> bool:
    """Return whether a value is a password or key even where prose or code stands."""
    if is_placeholder(value) or is_code(value) or is_path(value):
        return False
    if is_random(value):
        return True
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    is_mixed = (is_strong(value) and has_both) or is_noise(value)
    return is_mixed and not _WORDY.match(value)


def is_secret(kind: str, value: str, *, is_quoted: bool) -> bool:
    """Return whether the value of a name is a secret.

    Args:
        kind: The kind of the name, from ``kind_of_name``.
        value: The value without quotes.
        is_quoted: True if it cannot be code: it was quoted, or is in a settings file.
    """
    if kind == BASIC:
        return is_basic_login(value)
    if not value or is_placeholder(value) or (not is_quoted and is_code(value)):
        return False
    if kind == PASSWORD:
        if len(value) < 4 or any(map(str.isspace, value)):
            return False
        if not is_quoted and not (value[0].isalnum() or value[0] in "_'\""):
            return is_generated(value)
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
    rf"curl\b[^\n|;]{{0,400}}? (?:-u|--user)[ =]?({_OPENS})[^\s:\"'`\\$,\]}}]{{1,128}}:"
)

# mysql -psecret
_JOINED_FLAG_COMMANDS = re.compile(r"(?:mysql|mariadb)[a-z]*(?: [^|;&\n]*)?$")
# sshpass -p secret
_SPACED_FLAG_COMMANDS = re.compile(
    r"(?:sshpass|docker login|mongo[a-z]*)(?: [^|;&\n]*)?$"
)
_PORTS = re.compile(r"\d+(?::\d+)*$")
_REDIS = re.compile(r"redis-cli(?: [^|;&\n]{0,200}?)? (?:-a|--pass)[ =]")

_HTPASSWD = re.compile(
    r"htpasswd((?: -[A-Za-z]{1,6}(?: \d{1,3})?){1,4})((?: [^\s|;&<>]{1,255}){2,3})"
)

_OPENED = re.compile(_OPENS)
_QUOTED_VALUE = re.compile(r"([^\"'`\\\n]{2,255})(?=\\{0,7}[\"'`])")
_WORD = re.compile(r"[^\s\"'`\\|;&<>,\]}-][^\s\"'`\\|;&<>]{1,255}")


def _command_value(text: str, at: int, opened: str = "") -> Iterator[SecretSpan]:
    """Find the password that a command has as an argument.

    Args:
        opened: The quote before it, if that was read.
    """
    if not opened and (found := _OPENED.match(text, at)):
        opened, at = found[0], found.end()
    value = (_QUOTED_VALUE if opened else _WORD).match(text, at)
    if value and not is_template(value[0]) and not _PORTS.match(value[0]):
        yield *value.span(), PASSWORD


def _login_flag(text: str, at: int) -> Iterator[SecretSpan]:
    if flag := _LOGIN_FLAG.match(text, at):
        yield from _command_value(text, flag.end(), flag[1])


def _password_flag(text: str, at: int) -> Iterator[SecretSpan]:
    is_spaced = text[at + 3 : at + 4] == " "
    commands = _SPACED_FLAG_COMMANDS if is_spaced else _JOINED_FLAG_COMMANDS
    if commands.search(text, max(0, at - 200), at):
        yield from _command_value(text, at + 3 + is_spaced)


def _redis(text: str, at: int) -> Iterator[SecretSpan]:
    if flag := _REDIS.match(text, at):
        yield from _command_value(text, flag.end())


def _htpasswd(text: str, at: int) -> Iterator[SecretSpan]:
    call = _HTPASSWD.match(text, at)
    if call and "b" in call[1]:
        given = list(re.finditer(r"[^ ]+", call[2]))
        for argument in given[1 if "n" in call[1] else 2 :][:1]:
            yield from _command_value(text, call.start(2) + argument.start())


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
    rf"(?P<closed>\\{{0,7}}[\"'`])?\]?(?:\*\*|__)?{_COLOUR}[ \t]{{0,8}}"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?![=~>])|:(?![:=/])|%(?:25)*3[DA](?!%))"
    r"(?:\*\*)?"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}"
    r"(?:(?<=[: ])&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}(?=[\"'`\\]))?"
)

# The value of a name in another field: "name": "TOKEN", "value": "secret"; the next
# line may begin with a number or a file's name.
_VALUE_FIELD = re.compile(
    r"\\{0,7}[\"']?,?[ \t{]{0,4}(?:\\+[rn]|\s){0,20}"
    r"(?:[^\n\"'=|]{0,60}[^\n\"'=|\w])??\\{0,7}[\"']?(?:value|default)"
    r"\\{0,7}[\"']?[ \t]?(?P<sign>[:=])(?P<gap>[ \t]{0,8})"
)

_CALL = re.compile(r"(?P<gap>)(?P<sign>\()\s{0,4}(?=\\{0,7}[\"'`])")
_ARGUMENT = re.compile(r"\\{0,7}[\"'](?P<gap>)(?P<sign>,)\s{0,4}(?=\\{0,7}[\"'`])")
_CELL = re.compile(r"[`*]{0,3}(?P<gap>)[ \t]{1,40}(?P<sign>\|)[ \t]{1,40}(?=\S)")
_BEFORE_CELL = re.compile(r"\|[ \t]{1,8}[`*]{0,3}$")
_SQL = re.compile(r"(?P<gap>[ \t]{1,3})(?P<sign>)(?=\\{0,7}['\"])")
_BEFORE_SQL = re.compile(r"\b(?:with|login|role|user|encrypted)\b[^\n]{0,60}$", re.I)
_PASS_OPTION = re.compile(r"-pass(?:in|out|word)?[ =]?\\{0,7}[\"']?$")

_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
_IS = re.compile(
    r"[`*]{0,3}(?P<gap>[ \t]+)"
    r"(?:(?:for|of|on|at|in|from|here|now|there|currently|again|you|we)\b"
    r"[^\n:;=|]{0,60}? )?"
    r"(?P<sign>is|was|are|will be|to|lautet|ist)(?: now| still)?:?[ \t]+(?=\S)"
)
_NEXT = re.compile(r"(?P<gap>)(?P<sign> )(?=[^\s`-])")
_LOGIN_PAIR = re.compile(
    r"s?(?: are| is)?:?(?P<gap>)(?P<sign> )[`\"']?[^\s/\"'`\\]{1,64}[`\"']? ?/ ?(?=\S)"
)
_SET = re.compile(r"(?:\bset +(?:-[a-zA-Z]+ +)+|\bsetx +|\b(?:ENV|ARG) +)$")
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

_PROSE = ("is", "(", ",", "|", "", " ")
"""Separators after which only a value that looks generated is a secret."""

_NO_FIELD = (
    r"(?:[;&](?![ ]?[A-Za-z_][\w. -]{0,30}[=:(])"
    r"|[,|](?![ ]?[A-Za-z_][\w. -]{2,30}[=:(]))(?=\S)"
)
"""A sign that does not begin the next field."""

_DENSE = re.compile(
    rf"(?:[^\s\"'`\\;,&|]|{_NO_FIELD}|'(?![\s,;:)\]}}.+\"]|$)){{1,256}}"
)
_DENSE_QUOTES = re.compile(
    rf"(?:[^\s\"'`\\;,&|]|{_NO_FIELD}|[\"'`](?![\s,;:)\]}}.+]|$)"
    r"|\\(?![nrtu\"'\\])){1,256}"
)
"""An unquoted password with signs; the second may contain any quote."""

_JSON_START = re.compile(r"\s{0,64}[\[{\"]")
_SINGLE = re.compile(rf"([^'\n]{{0,{VALUE_CHARS}}})'")
_CELL_VALUE = re.compile(r"[^\s`]{1,4096}")
_ENCODED = re.compile(r"(?:[A-Za-z0-9_.~+/-]|%(?!(?:25)*(?:26|3B|23|22|20))){1,4096}")

_NEXT_SETTING = re.compile(r";(?=[A-Za-z][\w ]{0,40}=)")
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
        is_key = bool(found["closed"]) and found["closed"][-1] != "`"
        return _read_value(text, start, end, found, is_key=is_key)
    if text.startswith("-", start) and (found := _FLAG.match(text, end)):
        return _read_value(text, start, end, found, is_key=False)
    if text[start - 1 : start] == "<" and (tagged := _XML.match(text, end)):
        return NamedValue(tagged[1], tagged.start(1), True, ">", True, "<")
    if text[end : end + 1] in (" ", "\t", "\n", "\r") and (
        found := _match_spaced(text, start, end)
    ):
        return _read_value(text, start, end, found, is_key=False)
    for separator in (_CALL, _VALUE_FIELD, _ARGUMENT, _IS):
        if separator is _ARGUMENT and text[start - 1 : start] not in ("'", '"'):
            continue
        if found := separator.match(text, end):
            return _read_value(text, start, end, found, is_key=False)
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if _BEFORE_CELL.search(before) and (found := _CELL.match(text, end)):
        return _read_value(text, start, end, found, is_key=False)
    return None


def _match_spaced(text: str, start: int, end: int) -> re.Match[str] | None:
    """Match the separator where a command separates name and value by spaces."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    name = text[start:end].lower()
    if _SET.search(before):
        return _SPACE.match(text, end)
    if _SECRET_SET.search(before):
        return _BODY_FLAG.match(text, end)
    if name == "password":
        if before[-1:].isspace():
            netrc = text[max(0, start - _NETRC_CHARS) : start]
            if _NETRC.search(netrc):
                return _BLANK.match(text, end)
        return _SQL.match(text, end)
    if name in ("credential", "credentials", "creds"):
        return _LOGIN_PAIR.match(text, end)
    return _NEXT.match(text, end) if name in ("pass", "pw") else None


def _read_value(
    text: str, start: int, end: int, found: re.Match[str], *, is_key: bool
) -> NamedValue | None:
    sign, at = found["sign"], found.end()
    if found.re is _IS:
        sign = "is"
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
    if found.re is _CELL:
        cell = _CELL_VALUE.match(text, at)
        return NamedValue(cell[0], at, False, sign, True, "|") if cell else None
    before = text[start - 1 : start]
    name = text[start:end]
    is_setting = found.re in _COMMANDS or (
        is_tight and sign == "=" and name.isupper() and before not in ("(", ",")
    )
    if sign.startswith("%"):
        shape = _ENCODED
    elif before and before in "?&":
        shape = _QUERY
    else:
        shape = _WHOLE if is_setting else _BARE_VALUE
    dense = None
    if shape in (_WHOLE, _BARE_VALUE):
        dense = (_DENSE if _JSON_START.match(text) else _DENSE_QUOTES).match(text, at)
    bare = shape.match(text, at)
    value = bare[0] if bare else ""
    if dense and len(dense[0]) > len(value.rstrip(",;)}].")) and is_noise(dense[0]):
        value = dense[0].rstrip(",;.")
    elif shape is _BARE_VALUE:
        value = value.rstrip(",;)}].")
    else:
        value = _NEXT_SETTING.split(value, maxsplit=1)[0].rstrip(";)")
    if not value:
        return None
    after = text[at + len(value) : at + len(value) + 1]
    is_quoted = is_setting or shape in (_QUERY, _ENCODED)
    return NamedValue(value, at, is_quoted, sign, is_tight, after)


def _read_quoted(
    text: str, opened: re.Match[str], sign: str, *, is_tight: bool, is_json: bool
) -> NamedValue | None:
    escape, quote = opened[1], opened[2]
    at = opened.end()
    is_doubtful = not escape and not is_json and text[at : at + 1] in _NO_START
    if len(escape) not in _DEPTHS:
        return None
    shape = _QUOTED.get(escape + quote)
    closed = shape.match(text, at) if shape else None
    if not closed and opened[0] == "'" and not _JSON_START.match(text):
        closed = _SINGLE.match(text, at)
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
    if is_doubtful and not (is_noise(value) or is_random(value)):
        return None
    after = text[at + len(value) : at + len(value) + 1]
    return NamedValue(value, at, True, sign, is_tight, after)


NAME_PARTS = (
    b"pass", b"pwd", b"secret", b"token", b"key", b"credential", b"creds", b"auth",
    b"kennwort",
)  # fmt: skip
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

_SIGNATURE = re.compile(r"=([A-Za-z0-9%+/_-]{20,2048}={0,2})")
_SIGNATURE_NAME = re.compile(r"(?:[?&;]|%26)(?:[xX]-\w{3,5}-)?$")
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
    if b"$" in lowered:
        for anchor in (b"$2", b"$5$", b"$6$", b"$argon2"):
            yield from _apply_rule(anchor, secret_patterns.long_hash, text, lowered)
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
    if name.lower() == "key" and (
        lead := _LEAD_WORD.search(text, max(0, start - _BEFORE_CHARS), start)
    ):
        kind = kind_of_name(f"{lead[1]} {name}")
    elif name.lower() == "pass" and _PASS_OPTION.search(
        text, max(0, start - _BEFORE_CHARS), start
    ):
        kind = PASSWORD
    if not kind and text[start - 1 : start] in ("?", "&") and name.lower() == "key":
        kind = TOKEN
    is_folder = name in _FOLDERS
    if is_folder:
        kind = PASSWORD
    if not kind:
        return
    value = value_of_name(text, start, end)
    if value and is_folder and ("/" in value.text or not is_generated(value.text)):
        return
    if value and value.text.lower() in name.replace("_", "").lower():
        return
    if value and _is_value_of(name, kind, value, text, start):
        yield value.start, value.end, kind
        while joined := _JOINED.match(text, value.end):
            value = NamedValue(joined[1], joined.start(1), True, "+", True, "")
            yield value.start, value.end, kind
    elif value and len(value.text) > LONG_CHARS and not value.is_quoted:
        yield value.start, value.end, ""


_LEAD_WORD = re.compile(r"\b([A-Za-z]+) $")

_JOINED = re.compile(
    r"\\{0,7}[\"'][ \t]{0,20}(?:[+.][ \t]{0,20}|(?=\\?\n|\\+n))(?:(?:\\?\n|\\+n)"
    r"[^\n\"'A-Za-z]{0,40})?"
    r"\\{0,7}[\"']([A-Za-z0-9+/=_-]{4,256})(?=\\{0,7}[\"'])"
)
"""The rest of a string that is joined from several."""


def _is_value_of(
    name: str, kind: str, value: NamedValue, text: str, start: int
) -> bool:
    if kind == TOKEN and "auth" in name.lower():
        kind = SECRET  # which may be a UUID
    if value.sign == "" and (
        name.isupper() or _BEFORE_SQL.search(text, max(0, start - 80), start)
    ):
        return is_secret(kind, value.text, is_quoted=True)
    return is_secret_value(kind, value) or is_passphrase(name, kind, value)


def is_secret_value(kind: str, value: NamedValue) -> bool:
    """Return whether the value of a name of some kind is a secret."""
    if value.sign in _PROSE and not (value.sign == " " and value.is_quoted):
        is_uuid = kind in (KEY, SECRET) and bool(_UUID.match(value.text))
        return is_uuid or is_generated(value.text.rstrip(",;:.)"))
    if is_secret(kind, value.text, is_quoted=value.is_quoted):
        return True
    if kind != PASSWORD or is_code(value.text):
        return False
    if is_random(value.text) and is_secret(kind, value.text, is_quoted=True):
        return True
    if value.sign == "=" and not value.is_tight:
        return bool(_SIGNS.search(value.text)) and is_generated(value.text)
    return (
        value.after not in (",", ")", ".", "(", "[")
        and any(map(str.isdigit, value.text))
        and any(map(str.isalpha, value.text))
        and is_secret(kind, value.text, is_quoted=True)
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
        login = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in login and login.isprintable()


def _bearer(text: str, at: int) -> Iterator[SecretSpan]:
    token = _BEARER.match(text, at + len("bearer"))
    if token and is_random(token[1]) and not is_placeholder(token[1]):
        yield *token.span(1), "bearer token"


def _cookie(text: str, at: int) -> Iterator[SecretSpan]:
    line = _COOKIES.match(text, at + len("cookie"))
    if not line:
        return
    yield *line.span(), ""
    yield from _cookies_in(text, line.start(1), line.end(1))


def _cookies_in(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    for cookie in _COOKIE.finditer(text, start, end):
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
    if (
        value
        and _SIGNATURE_NAME.search(text, max(0, at - 12), at)
        and is_random(value[1])
    ):
        yield *value.span(1), "signature"


_IDENTIFIED = re.compile(
    r"identified (?:with \w{1,40} )?(?:by|as) (?:password )?\\{0,7}(['\"])"
    r"([^'\"\\\n]{4,256})\\{0,7}\1",
    re.IGNORECASE,
)

_ACCOUNT = re.compile(r"\b(?:create|alter|grant|set)\b", re.IGNORECASE)
_PGPASS_HOST = re.compile(r"[\w.*-]")
_PGPASS = re.compile(
    r":(?:543\d|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s\"'\\:][^\s\"'\\]{3,255}+)"
    r"(?=\s|$|\\+[rn]|\\*\")"
)

_NET_USE = re.compile(
    r"net use [^\n|&]{0,200}?/user:[^\s\"']{1,100} +(?![*/%])([^\s\"'\\]{4,128})"
    r"|net use [^\n|&\s]{1,40} +\\[^\s]{1,128} +(?![*/%])([^\s\"'\\]{4,128}) +/user:",
    re.IGNORECASE,
)

_CHPASSWD = re.compile(
    r"echo +(?:-n +)?\\{0,7}[\"']?[\w.-]{1,64}:([^\n\"']{4,128}?)\\{0,7}[\"']? *\| *"
    r"(?:sudo +)?$"
)

_CURL_COOKIE = re.compile(
    rf"curl\b[^\n|;]{{0,400}}? (?:-b|--cookie)[ =]?{_OPENS}(?=[\w.-]{{1,80}}=)"
)
_COOKIE_LIST = re.compile(r"(?:[\w.-]{1,80}=[^;\s\"'`\\]{0,4096};?[ ]?){1,60}")

_SEED_WORDS = re.compile(
    r"(?:(?:\d{1,2}[.:)] ?)?[a-z]{3,8}(?![A-Za-z])(?:,? |\\n|\n)?+){1,26}+"
)
_NO_SEED = re.compile(
    r"\b(?:the|and|for|with|from|your|you|are|not|was|were|has|have|had|but|its|our|these"
    r"|those|words|which|into|been|his|her|she|him|them|than|when|where|who|how)\b"
)
_SEED_NAME = re.compile(r"(?:seed|mnemonic|wallet|phrase)s?(?![A-Za-z])", re.IGNORECASE)
SEED_REACH, SEED_CHARS = 40, 400
"""A seed phrase begins within this many characters of its name, and is this long."""
MIN_SEED_WORDS = 10


def _identified(text: str, at: int) -> Iterator[SecretSpan]:
    found = _IDENTIFIED.match(text, at)
    if not found or is_template(found[2]) or is_placeholder(found[2]):
        return
    if is_generated(found[2]) or _ACCOUNT.search(text, max(0, at - 120), at):
        yield *found.span(2), PASSWORD


def _pgpass(text: str, at: int) -> Iterator[SecretSpan]:
    found = _PGPASS.match(text, at)
    if (
        found
        and at
        and _PGPASS_HOST.match(text, at - 1)
        and not is_placeholder(found[1])
        and (not found[1].isalpha() or "*" in text[at : at + 3])
    ):
        yield *found.span(1), PASSWORD


def _net_use(text: str, at: int) -> Iterator[SecretSpan]:
    found = _NET_USE.match(text, at)
    if found and found.lastindex and not is_template(found[found.lastindex]):
        yield *found.span(found.lastindex), PASSWORD


def _chpasswd(text: str, at: int) -> Iterator[SecretSpan]:
    found = _CHPASSWD.search(text, max(0, at - 240), at)
    if found and not is_template(found[1]):
        yield *found.span(1), PASSWORD


def _curl_cookie(text: str, at: int) -> Iterator[SecretSpan]:
    found = _CURL_COOKIE.match(text, at)
    if found and (line := _COOKIE_LIST.match(text, found.end())):
        yield from _cookies_in(text, *line.span())


def _seed(text: str, at: int) -> Iterator[SecretSpan]:
    name = _SEED_NAME.match(text, at)
    if not name:
        return
    for run in _SEED_WORDS.finditer(text, name.end(), name.end() + SEED_CHARS):
        if run.start() > name.end() + SEED_REACH:
            return
        words = re.findall("[a-z]+", run[0])
        if len(set(words)) >= MIN_SEED_WORDS and not _NO_SEED.search(run[0]):
            yield run.start(), run.start() + len(run[0].rstrip()), SEED
        elif len(words) >= MIN_SEED_WORDS:
            yield run.start(), run.end(), ""


_RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"bearer ", _bearer),
    (b"cookie", _cookie),
    (b"sig=", _signature),
    (b"signature=", _signature),
    (b"identified ", _identified),
    (b":543", _pgpass),
    (b":*:", _pgpass),
    (b"net use ", _net_use),
    (b"chpasswd", _chpasswd),
    (b"seed", _seed),
    (b"mnemonic", _seed),
    (b"wallet", _seed),
    (b"phrase", _seed),
    (b".atlasv1.", secret_patterns.terraform_token),
    (b"sha256~", secret_patterns.openshift_token),
    *secret_patterns.PATTERN_RULES,
)
"""The byte string that each rule looks for."""

_WITH_FLAGS = (*_RULES, *COMMAND_RULES, (b"curl", _curl_cookie))
"""The same for texts with command-line flags: these commands take a password only with
a flag."""

_REQUIRED_PARTS = {
    b"-----begin": b"key",
    b"private-lines:": b"key",
    b"-----end": b"key",
    b"chpasswd": b"pass",
    b"htpasswd": b"pass",
}
"""Byte strings that never occur without this part of a name."""
