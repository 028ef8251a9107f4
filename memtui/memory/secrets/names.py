"""What a name says of its value, and whether a value can be a secret at all.

A password may be any word, so its name decides; a key or token looks drawn by chance.
Placeholders, types, calls and references to where a secret is kept are no secrets.
"""

import re
from functools import lru_cache

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
def kind_of(name: str) -> str:
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
