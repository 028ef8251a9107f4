"""Tell names and values of secrets from other names and values.

A value is random if it changes between letters, digits and capitals as often as keys
do, and mixed if it has a digit or sign among its letters, as passwords have.
"""

import base64
import re
from enum import Enum
from functools import lru_cache

Span = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

PASSWORD, SECRET, KEY, TOKEN = "password", "secret", "api key", "token"
BASIC, SEED = "basic auth", "seed phrase"
"""The kinds of named values, as shown in the mark."""


class Place(Enum):
    """A place where the value of a name is."""

    QUOTED = "in quotes"
    LINE = "a line of a settings file or shell"
    SETTING = "without quotes in a flag, URL or another setting"
    CODE = "where an expression may be, or words"


# The words of a name: "DB_PASSWORD", "dbPassword", "db-password".
_NAME_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PASSWORDS = (
    "password", "passwd", "passwort", "passphrase", "passcode", "userpass", "dbpass",
    "storepass", "keypass", "pwd",
)  # fmt: skip
"""Endings of the last word of a password's name."""

_LOGINS = frozenset((
    "db", "database", "user", "smtp", "mail", "email", "admin", "root", "mysql", "pg",
    "postgres", "redis", "mongo", "ftp", "sftp", "ssh", "login", "auth", "rabbitmq",
    "proxy", "http", "basic", "keystore", "truststore", "trust", "sql", "ldap", "bind",
    "sudo", "become", "imap", "smb", "vnc", "rdp", "vpn", "gpg", "wifi", "guest",
    "default", "cert", "key", "store", "sa",
))  # fmt: skip
"""Words after which "pass" means a password, not a passed test."""

_KEYS = (
    "api", "access", "secret", "private", "auth", "account", "shared", "encryption",
    "signing", "master", "service", "license", "deploy", "app", "admin",
    "subscription", "client", "session", "hmac", "jwt", "role", "setup", "unseal",
    "recovery", "totp", "mfa", "bot", "webhook", "backup", "wifi", "decryption", "aes",
    "cipher", "enc", "symmetric", "network", "wpa", "fernet", "validation", "security",
    "crypt",
)  # fmt: skip
"""Words, or their endings, that make a key secret when they precede it."""

_VENDORS = frozenset((
    "openai", "anthropic", "gemini", "google", "maps", "stripe", "sendgrid", "mailgun",
    "twilio", "deepl", "weather", "algolia", "fastly", "groq", "mistral", "azure",
    "aws", "github", "gitlab", "cloudflare", "datadog", "sentry", "supabase", "paypal",
    "hubspot", "slack", "notion", "linear", "figma", "postmark", "resend", "brevo",
    "mailchimp",
))  # fmt: skip
"""Names of services whose key is secret: ``stripe_restricted_key``."""

_PUBLIC = frozenset((
    "public", "publishable", "anon", "page", "next", "prev", "continuation", "sync",
    "cancellation", "cancel", "idempotency", "cache", "sort", "primary", "foreign",
    "partition", "object", "surrogate", "site", "hashed",
))  # fmt: skip
"""Words that make a key or token public, or tell its hash."""

_TRAILING = frozenset((
    "value", "b", "base", "string", "str", "env", "raw", "prod", "dev", "live", "plain",
    "plaintext", "staging", "production", "new", "old",
))  # fmt: skip
"""Last words that do not change the meaning of a name."""


@lru_cache(4096)
def kind_of_name(name: str) -> str:
    """Return the kind of secret that a name denotes; "" for none."""
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _TRAILING:
        words.pop()
    is_public = not _PUBLIC.isdisjoint(words[-3:]) and "encryption" not in words
    if not words or is_public:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS) or last in ("pw", "psk", "passwords"):
        return PASSWORD
    if last == "pass":
        is_login = before in _LOGINS or name.startswith("--")
        is_setting = name == "pass" or (name.isupper() and "_" in name)
        return PASSWORD if is_login or is_setting else ""
    if last.endswith("pass") and last[:-4] in _LOGINS:
        return PASSWORD
    if last.endswith("secret"):
        return SECRET
    if last == "sessionkey" or words[-2:] == ["session", "key"]:
        return TOKEN
    if last == "key":
        is_setting = bool(before) and (name.isupper() or name.endswith("_KEY"))
        is_named = before.endswith(_KEYS) or not _VENDORS.isdisjoint(words)
        return KEY if is_named or is_setting else ""
    if last.endswith("key") and last[:-3].endswith(_KEYS):
        return KEY
    if last in ("salt", "pepper") and before and before not in ("number", "rounds"):
        return SECRET
    if last.endswith("token") or last in ("credential", "credentials", "creds"):
        return TOKEN
    if last == "pat" and before and name.isupper():
        return TOKEN
    if name == "auth":
        return BASIC
    if last == "auth" and name.startswith(("_", "X-")):
        return TOKEN
    is_phrase = last == "phrase" and before in ("seed", "recovery", "mnemonic")
    return SEED if last == "mnemonic" or is_phrase else ""


# Values that are no secrets.

_DUMMIES = frozenset((
    "password", "passwords", "passwd", "passwort", "pass", "passw", "pwd", "passphrase",
    "test", "testing", "tests", "tester", "testuser", "testpassword", "testpass",
    "example", "demo", "sample", "dummy", "fake", "mock", "foo", "bar", "baz",
    "abc", "changeme", "change", "placeholder", "admin", "administrator", "user",
    "wrong", "invalid", "incorrect", "guest", "postgres", "postgresql", "mysql",
    "mariadb", "mongo", "mongodb", "redis", "rabbitmq", "minio", "minioadmin",
    "grafana", "mypassword", "yourpassword", "newpassword", "oldpassword",
    "wrongpassword", "userpassword", "adminpassword", "mysecretpassword",
    "secretpassword",
))  # fmt: skip
"""The words of passwords in examples and tests: ``testPassword123!``."""

_DESCRIBING = _DUMMIES | frozenset((
    "a", "an", "and", "any", "at", "be", "by", "for", "from", "goes", "here", "in",
    "is", "it", "least", "me", "my", "no", "not", "of", "only", "or", "the", "this",
    "to", "very", "with", "you", "your", "some", "new", "old", "bad", "good", "valid",
    "strong", "weak", "long", "short", "random", "secure", "insecure", "super", "safe",
    "must", "should", "will", "can", "cannot", "has", "have", "are", "was", "does",
    "that", "than", "then", "when", "what", "which", "there", "its", "our", "their",
    "bit", "bits", "but", "into", "again", "less", "more", "without", "contain",
    "min", "minimum", "max", "maximum", "char", "chars", "character", "characters",
    "length", "secret", "secrets", "mysecret", "token", "tokens",
    "mytoken", "key", "keys", "api", "apikey", "auth", "access", "refresh", "client",
    "username", "root", "login", "dev", "development", "prod", "production", "staging",
    "local", "localhost", "default", "value", "string", "text", "str", "bytes", "int",
    "number", "bool", "boolean", "object", "unknown", "undefined", "null", "nil",
    "none", "true", "false", "optional", "required", "nullable", "env", "process",
    "config", "self", "todo", "tbd", "fixme", "hidden", "masked", "empty", "missing",
    "hash", "hashed", "hello", "world", "welcome", "database", "db", "app",
    "service", "bot", "jwt", "bearer", "basic", "session", "cookie", "signing",
    "encryption", "private", "public", "shared", "webhook", "id", "server", "web",
    "real", "actual", "please", "replace", "put", "insert", "enter", "set", "use",
    "openai", "anthropic", "github", "google", "aws", "stripe", "slack", "abcdef",
    "su", "sua", "tu", "clave", "chave", "secreta", "secreto", "aqui", "senha", "ici",
))  # fmt: skip
"""A value of only these words and numbers describes a secret: ``my-secret-key-1``."""

_VALUE_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")

_PLACEHOLDER = re.compile(
    r"example|placeholder|change[-_]?(?:me|this|it)|replace|your[-_ A-Z]|[-_]here\b"
    r"|insert[-_]|dummy|fake[-_]|test[-_]|[-_]test\b|mock[-_]|[-_]goes[-_]|xxxx"
    r"|\.\.\.|…|\*\*\*|redacted|<[\w .-]+>|[$#]\{|\{\{|%\(|\$\(|process\.env"
    r"|\{[a-z_][\w.]*(?:[:!][\w.<>^+-]*)?\}"
    r"|os\.environ|getenv|secrets\.|import\.meta|12345678|abcdefgh|0000000"
    r"|deadbeef|insecure[-_]key|[-_]value",
    re.IGNORECASE,
)
"""Parts of placeholders."""

_STORES = (
    "env|file|ssm|vault|secret|secretsmanager|keyring|keychain|kms|op|bws|akv|data|var"
)
_REFERENCE = re.compile("|".join((
    r"[A-Za-z][\w+.-]{1,24}://",  # op://team/db/password, https://app.test/token
    rf"(?:{_STORES})s?:[/\w.#-]+$",  # vault:kv/db#password
    r"arn:[\w-]+:|ENC[\[(]|env\(|projects/[\w-]+/|@Microsoft\.KeyVault",
    r".*(?:\.\.[/\\]|%2[eEfF])",  # ../../etc/passwd
    r"\$(?:env:)?[A-Za-z_]\w*(?:(?:[.:(\[]|->)[\w:\"'$]|$)",  # $TOKEN, $user->name
    r"%\w+%?$|\{\w[\w.]*\}$|<\w[\w-]*$|[<\[(]\w[\w .|-]*[>\])]$",  # {name}, [name]
    r"[@&*!#:]{1,2}[A-Za-z_]+(?:[({/].*)?$|&#?\w+;?$",  # :name, *anchor, &amp;
    r"#/[\w/.]*$",  # #/definitions/token
    r"--?[a-z]+(?:-[a-z]+)*=?$",  # --option
    r"\$(?:\d\w?|y|2[abxy]|argon2\w*|apr1|scrypt)\$",  # the hash of a password
    r"(?:\\+u[0-9a-f]{4}|\W)+$",  # ••••, and its escape sequence
)))  # fmt: skip
"""Matches what refers to the place of a secret, or to another value."""

_PATTERN = re.compile(r"\\[dwsb]|\[\^?[a-zA-Z0]-[zZ9fF]|\(\?[=!:<]|\.[*+][^*+]*$|\[\^")
"""Matches parts of regular expressions."""

_EXPRESSION = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?(?![^\s,;)\]}!?.>-])"
    r"|[\w.$]+\("
)
"""Matches attributes and calls."""
_CALL = re.compile(r"[\w$](?:[\[({<]|\?\.|->)|=>")
"""Matches parts of expressions: calls, subscripts, types, functions."""

_SUBSTITUTION = re.compile(r"\$[{(]|\{\{")
"""Matches parts of templates and shell commands."""

_NAMING = _DUMMIES | {"secret", "key", "token", "your", "clave", "chave", "secreto"}
"""A value of several words with one of these describes a secret."""
_PHRASE_WORD = re.compile(r"[a-z]{2,10}|\d{1,4}")
_APP_PASSWORD = re.compile(r"(?=.*\b[^aeiouy\s]{4}\b)[a-z]{4}(?: [a-z]{4}){3}")
"""Matches passwords that Google makes for programs: ``suic zbhh inoe xusw``."""

_CHOSEN = re.compile(
    r"(?=.{14})[\w.-]*(?:\d\d|\d[!@#$%^&*+]|[!@#$%^&*+]\d)[!?.*]*", re.ASCII
)
"""Matches long secrets that people choose: ``purple-otter-sings-93``."""

_BRACKET = re.compile(r"[()\[\]{},]")

_PATH = re.compile("|".join((
    r"(?:file:|~|\.{1,2})?/[\w.@-]+(?:/[\w.@ -]*)*$",  # ~/.ssh/config
    r"(?:[\w.@-]+/)+[\w@-]+\.[a-z]\w{0,7}$",  # src/auth/token.py
    r"[a-z_-]+(?:/[a-z_][\w.@-]*)+$",  # auth/token
    r"[A-Za-z]:\\",  # C:\Users
    r"[\w.-]+\.[a-z]{2,5}(?::\d+)?$",  # token.json, app.test:8080
)))  # fmt: skip
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_SEED_PHRASE = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11,23}$")
MIN_SEED_WORDS = 7
"""Seed phrases have this many different words; "test test test … junk" has two."""

_DIGEST = re.compile(r"(?:sha\d{1,3}|md5)[-:_]")

MAX_EXPRESSION_CHARS = 200
"""Expressions and placeholders are recognized in this many first characters."""


def is_placeholder(value: str) -> bool:
    """Return whether a value describes a secret, or refers to where it is stored."""
    head = value[:MAX_EXPRESSION_CHARS]
    if len(set(head)) < 4 or _PLACEHOLDER.search(head) or _REFERENCE.match(head):
        return True
    words = [word.lower() for word in _VALUE_WORDS.findall(head)]
    if not _DESCRIBING.issuperset(words):
        return False
    return count_classes(value) < 4 or not _DUMMIES.isdisjoint(words)


def is_path(value: str) -> bool:
    return bool(_PATH.match(value)) and not is_random(value.rpartition("/")[2])


# Values that look like secrets.

_SEPARATORS = re.compile(r"[-_./:+=~%]+")
_RUNS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
"""The runs of a value: "aB3dWord" has the four a, B, 3 and dWord."""
_DIGITS = re.compile(r"\d+")

MIN_RANDOM_CHARS = 10
"""A shorter word is too short to tell whether it is random."""
LONG_WORD_CHARS = 16

MAX_RUN_CHARS = 3.0
"""The runs of random words are shorter on average (1.6 in base64, 2.1 in hex), those of
names longer."""
MAX_RUN_CHARS_OF_SHORT = 2.5
"""The same for words of less than ``LONG_WORD_CHARS``, which have few runs."""

MIN_NUMBERS = 3
"""A long word with this many numbers in it is no name."""

MIN_CHARS_OF_SEPARATOR = 10
"""Keys have at most one separator in this many characters; ``my-app-v2`` has more."""


MIN_TOKEN_CHARS = 16
"""A shorter token is no secret, but an id or a word."""


def is_random(value: str) -> bool:
    """Return whether a value looks random rather than written by a person."""
    if not value.isascii() or _DIGEST.match(value):
        return False
    parts = _SEPARATORS.split(value)
    if len(parts) - 1 <= len(value) / MIN_CHARS_OF_SEPARATOR:
        parts = ["".join(parts)]
    return any(map(_is_random_word, parts))


def _is_random_word(word: str) -> bool:
    if len(word) < MIN_RANDOM_CHARS or len(set(word)) < 6 or word.isdigit():
        return False
    if len(word) < LONG_WORD_CHARS:
        return run_chars(word) < MAX_RUN_CHARS_OF_SHORT
    return run_chars(word) < MAX_RUN_CHARS or count_numbers(word) >= MIN_NUMBERS


def run_chars(value: str) -> float:
    """Return the average length of the runs of a value, separators left out."""
    value = _SEPARATORS.sub("", value)
    return len(value) / max(1, len(_RUNS.findall(value)))


def count_numbers(value: str) -> int:
    return len(_DIGITS.findall(value))


def count_classes(value: str) -> int:
    """Return how many of small letters, capitals, digits and signs a value has."""
    return sum((
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        not value.replace("-", "").replace("_", "").replace(".", "").isalnum(),
    ))  # fmt: skip


def is_wordy(value: str) -> bool:
    """Return whether a value consists of words and numbers: ``app-tls-2024``."""
    return run_chars(value) >= MAX_RUN_CHARS


def is_mixed(value: str) -> bool:
    """Return whether a value has letters, and digits or signs among them."""
    body = value.rstrip("!?:.…*")
    has_letter = any(map(str.isalpha, value))
    has_digit = any(map(str.isdigit, value))
    has_sign = not re.sub(r"[-_./:]", "", body).isalnum()
    return has_letter and (has_digit or has_sign)


def is_strong(value: str) -> bool:
    """Return whether a value mixes three classes of characters as no name does."""
    classes = count_classes(value)
    return len(value) >= 8 and (classes == 4 or (classes == 3 and not is_wordy(value)))


MIN_NOISE_CHARS, MAX_NOISE_CHARS = 20, 256
MIN_SIGNS = 5
"""A key with signs has this many different ones."""
MAX_RUN_CHARS_OF_NOISE = 2.0


def is_noise(value: str) -> bool:
    """Return whether a value is a key with many signs: ``a3@dks=!=y(6_!d*vkl9…``."""
    if not MIN_NOISE_CHARS <= len(value) <= MAX_NOISE_CHARS or not value.isascii():
        return False
    signs = {char for char in value if not char.isalnum()}
    is_dense = len(signs) >= MIN_SIGNS and run_chars(value) <= MAX_RUN_CHARS_OF_NOISE
    is_code = _PATTERN.search(value) or _SUBSTITUTION.search(value)
    return is_dense and count_classes(value) >= 3 and not is_code


MIN_WORDS, MAX_WORDS = 4, 10
"""A passphrase has this many words: ``correct-horse-battery-staple``."""


def is_phrase(value: str) -> bool:
    """Return whether a value is a passphrase rather than a sentence or a name."""
    words = value.split(" " if " " in value else "-")
    if not MIN_WORDS <= len(words) <= MAX_WORDS or is_placeholder(value):
        return False
    chosen = [word for word in words if word.isalpha() and word not in _DESCRIBING]
    is_sentence = " " in value and not _DESCRIBING.isdisjoint(words)
    is_words = len(chosen) >= MIN_WORDS - 1 and all(map(_PHRASE_WORD.fullmatch, words))
    return is_words and not is_sentence and _NAMING.isdisjoint(words)


def is_uuid(value: str) -> bool:
    return bool(_UUID.match(value))


def is_secret(kind: str, value: str, place: Place) -> bool:
    """Return whether the value of a name is a secret.

    Args:
        kind: The kind of the name, from ``kind_of_name``.
        value: The value without quotes.
        place: Where it is; in code it must look more like a secret.
    """
    if kind == BASIC:
        return is_basic_login(value)
    if kind == SEED:
        is_varied = len(set(value.split())) >= MIN_SEED_WORDS
        return is_varied and bool(_SEED_PHRASE.match(value))
    is_text = place in (Place.QUOTED, Place.LINE)
    is_chosen = is_text and kind in (PASSWORD, SECRET)
    if (is_text and is_noise(value)) or (is_chosen and is_phrase(value)):
        return True
    if kind == PASSWORD and _APP_PASSWORD.fullmatch(value):
        return True
    head = value[:MAX_EXPRESSION_CHARS]
    if len(value) < 4 or any(map(str.isspace, value)) or is_placeholder(value):
        return False
    if _PATTERN.search(head) or is_path(value):
        return False
    if is_uuid(value):
        return kind == KEY
    if kind == TOKEN and len(value) < MIN_TOKEN_CHARS:
        return False
    if kind in (KEY, TOKEN) and not value.isascii():
        return False  # programs make these
    if kind != PASSWORD and place is not Place.QUOTED and _BRACKET.search(value):
        return False
    if not is_text and value[0] in "{([":
        return False  # an expression: value={form.secret || ""}
    looks_random = is_random(value)
    if place is Place.QUOTED:
        # What looks like code is text here.
        may_be_code = looks_random or (kind == PASSWORD and is_strong(value))
    else:
        may_be_code = looks_random and place is not Place.CODE
        if _CALL.search(head):
            return False
    if _EXPRESSION.match(head) and not may_be_code:
        return False
    if looks_random:
        return True
    if place is Place.CODE:
        return kind == PASSWORD and is_strong(value)
    if kind == PASSWORD:
        return is_mixed(value)
    if is_chosen and _CHOSEN.fullmatch(value):
        return True
    is_long = value.isalnum() and len(value) >= LONG_WORD_CHARS
    return is_strong(value) or (is_long and count_numbers(value) > 1)


def is_field_secret(kind: str, value: str) -> bool:
    """Return whether the value of a JSON field is a secret.

    A field "password" holds nothing else, so that its value may be a word.
    """
    if is_secret(kind, value, Place.QUOTED):
        return True
    is_word = kind == PASSWORD and len(value) >= 4 and value.isalnum()
    return is_word and not is_placeholder(value)


def is_basic_login(value: str) -> bool:
    """Return whether a value is the base64 of a name, a colon and a password."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return len(value) >= 8 and ":" in login and login.isprintable()
