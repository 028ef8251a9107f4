"""Separate secret values from placeholders, code and prose, and names of secrets from
other names.

A value is random (a key), generated (a password with many signs) or strong (it mixes
kinds of characters).
"""

import base64
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

SecretSpan = tuple[int, int, str]
"""Start, end and kind of a secret; kind "" for text already checked."""

Rule = Callable[[str, int], Iterator[SecretSpan]]
"""Finds secrets at a position in a text."""

QUOTE = r"\\{0,7}[\"'`]"
"""A quote, escaped at any depth of JSON."""

PASSWORD, SECRET, KEY, TOKEN = "password", "secret", "api key", "token"
BASIC = "basic auth"
"""The kinds of named values, as shown in the mark."""

EXPRESSION_CHARS = 200
"""Expressions and placeholders are recognized in this many first characters."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PASSWORDS = (
    "password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "userpass",
    "dbpass", "storepass", "keypass", "contrasena", "senha", "wachtwoord", "heslo",
    "adgangskode", "passord", "salasana",
)  # fmt: skip

_SHORT_PASSWORDS = ("passwords", "senhas", "passwds", "passphrases", "pw", "psk", "mdp")

_KEYS = (
    "api", "access", "secret", "private", "auth", "account", "shared", "encryption",
    "signing", "master", "service", "storage", "license", "deploy", "app", "admin",
    "subscription", "client", "session", "hmac", "jwt", "role", "connection", "setup",
    "unseal", "recovery", "totp", "mfa", "fa", "bot", "webhook", "backup", "wifi",
    "validation", "decryption", "aes", "cipher", "crypto",
    "enc", "symmetric", "network", "device", "functions", "wpa", "wep", "wlan",
)  # fmt: skip
"""Words that make a key secret when they precede it."""

_VENDORS = frozenset((
    "openai", "anthropic", "gemini", "google", "maps", "stripe", "sendgrid", "mailgun",
    "twilio", "deepl", "weather", "algolia", "fastly", "groq", "mistral", "azure",
    "aws", "github", "gitlab", "cloudflare", "datadog", "sentry", "supabase", "paypal",
    "hubspot", "slack", "notion", "linear",
    "figma", "postmark", "resend", "brevo", "mailchimp",
))  # fmt: skip
"""Names before "key" that make it secret, as in ``stripe_restricted_key``."""

_LOGIN_NAMES = (
    "db", "database", "user", "smtp", "mail", "email", "admin", "root", "mysql", "pg",
    "postgres", "redis", "mongo", "ftp", "ssh", "login", "auth", "rabbitmq", "proxy",
    "http", "basic", "keystore", "my", "sql", "ldap", "bind", "sudo", "become", "imap",
    "smb", "vnc", "rdp", "vpn", "gpg", "wifi", "sftp", "guest", "trust", "truststore",
    "router", "rabbit", "default", "cert", "key", "store", "sa",
)  # fmt: skip
"""Words after which "pass" means a password, not a passed test."""

FOLDERS = frozenset(("PWD", "OLDPWD", "pwd"))
"""Shell variables for the current directory."""

_PUBLIC = frozenset((
    "public", "publishable", "anon", "page", "next", "prev", "continuation", "sync",
    "cancellation", "cancel", "idempotency", "cache", "sort", "primary", "foreign",
    "partition", "object", "surrogate",
))  # fmt: skip
"""Words that make a key or token public."""

_FOREIGN_SECRETS = (
    "clave", "chave", "chiave", "sleutel", "parola", "geheimnis", "secreto", "segreto",
    "segredo", "jeton", "schluessel", "secreta", "segreta",
)  # fmt: skip

_TRAILING = (
    "value", "b", "base", "string", "str", "env", "raw", "prod", "dev", "live", "plain",
    "plaintext", "cleartext", "staging", "stage", "stg", "uat", "production", "new",
    "old",
)  # fmt: skip
"""Suffixes that do not change the meaning of a name."""

# A value that begins with a sign is a placeholder if the rest looks like one: <token>,
# ${TOKEN}, $TOKEN, $(cat file), {token}, [token], #/pointer, @token, *alias, %TOKEN%,
# __TOKEN__.
_SIGN_FIRST = re.compile(
    r"<\.{0,3}[A-Za-z][A-Za-z0-9_ .:|/'-]*>?$|<[^<>]{1,80}>$|</?[a-z]+\d?(?:[ />]|$)"
    r"|[*•xX.…]+$|…"
    r"|[\[({]{1,3}[$#%]?[A-Za-z_ .,|:'\"-]*[0-9]?[\])}]{0,3}$|\{[\w.]+\}$"
    r"|\{[%{#]|\$[({]"
    r"|\[redacted"
    r"|\$(?!\d?[0-9a-z]+\$)(?=env:|[A-Z_]+\d?$|[A-Za-z_]*\d?$|\d$|[@*#?!$]$)"
    r"|\$[A-Za-z_][\w]*(?:\.|->|\[|::)"
    r"|\$\w*(?i:pass|pwd|secret|token|key)\w*$"
    r"|%[({]|%{1,2}[A-Za-z_]+%{0,2}$|%[-+\d.]*[a-z](?!\w)"
    r"|&(?:[A-Za-z_]+(?:\.\w+)*|amp;|lt;|gt;).{0,2}$|&\w+\(|&#\w+"
    r"|@[A-Za-z_]+\d?$|@[A-Za-z_.]+[({/]|@\{"
    r"|#[A-Za-z_-]*$|#[/{]|#[0-9a-fA-F]{3,8}$"
    r"|\|[-+>]?$|\|\||--?[A-Za-z][A-Za-z_-]*(?:=.*)?$|-+[>.]?$|=+>?$|-\d+(?:\.\d+)?$"
    r"|!{1,2}[A-Za-z_]+!?$|!(?:==?|\()|\\+(?:[nrtbdwsux\"'/.]|$)"
    r"|([_@#~|])\1(?:[A-Z][A-Z0-9_]*|[a-z_]+)\1\1$",
)

# Matches at the start of placeholders: your-api-key, changeme, null.
_PLACEHOLDER = re.compile(
    r"(?:my|your|the|some|any|new|old|test|fake|dummy|mock|sample|example|demo|invalid"
    r"|wrong|valid|bad)?[-_ ]?(?:super[-_ ]?)?"
    r"(?:(?:secret|secure|strong|api|access|auth|db|user|admin|client|private|"
    r"bearer|refresh|id|jwt|github|gh|openai|anthropic)"
    r"[-_ ]?)*(?:password|passwd|pass|pwd|secret|token|key|apikey|credentials?|value"
    r"|string|text|here|phrase|hash)s?\d{0,3}[?!]*$|"
    r"(?:str|string|bytes|int|number|bool|boolean|any|unknown|undefined|null|nil|none"
    r"|true|false|optional|required|object|env|secrets?|process|config|self|this|"
    r"varchar"
    r"|nullable|nonnull|changeme|change[-_]me|todo|tbd|fixme|redacted|hidden|masked"
    r"|empty|missing|hashed|confirmed|sometimes|unset|invalid|incorrect|valid|"
    r"default|n/a)\b(?![-_@\d])",
    re.IGNORECASE,
)

_REGEX = re.compile(
    r"\\[dws]|\[\^?[a-zA-Z0]-[zZ9fF]|0-9[aA]-|[aA]-[zZ][aA0]|\(\?[=!:<]"
)
"""Matches parts of regular expressions."""

_CONTAINS_PLACEHOLDER = re.compile(
    rf"{_REGEX.pattern}|\.[*+][^*+]*$|\[\^|"
    r"your[-_ ]|[-_]here\b|<[\w -]+>|\$\{|\{\{|\*{3}|x{5}|\.{3}|…|example|placeholder"
    r"|redacted|change[-_]?me|replace[-_]?|insert[-_]|\[redacted|\\\$\{|[-_]goes[-_]"
    r"|process\.env|os\.environ|getenv|secrets\.|import\.meta|abcdefghijklm",
    re.IGNORECASE,
)

_REFERENCE = re.compile(
    r"[a-z][\w+.-]{1,24}://[^@\s]*$|arn:[\w-]+:|ENC[\[(]|projects/[\w-]+/secrets/"
    r"|@Microsoft\.KeyVault|(?:env|file|ssm|sm|vault|secret|secretref|secretsmanager"
    r"|keyring|keychain|kms|pass|op|bws|akv|data|var)s?:[/\w.#-]+$",
    re.IGNORECASE,
)
"""Matches the place of a secret: ``op://team/db/password``, ``vault:kv/db#pass``."""

_LABEL = re.compile(
    r"(?:[^\W\d_]|\\+u00\w\w)*(?:pass(?:w(?:or[dt]|ord)|wd|phrase|code)|kennwort|"
    r"contrase(?:ñ|\\+u00f1|n)a"
    r"|senha|wachtwoord|parola|code|secret|key|schl(?:ü|\\+u00fc)ssel|token|geheimnis"
    r"|clave|jeton|mot ?de ?passe|пароль|has(?:ł|\\+u0142)o|heslo|l(?:ö|\\+u00f6)senord"
    r"|salasana|adgangskode|passord|parole|chave|chiave|sleutel|segreto|密码|密碼)"
    r"(?:[^\W\d_]{0,12})[:*?.…!]{0,3}$",
    re.IGNORECASE,
)
"""Matches the label of a password's field, as in the texts of a form."""

# Passwords in URLs and commands vary more; only these are no secrets: <password>,
# ${PASS}, %(pwd)s, xxxx, DB_PASSWORD.
_TEMPLATE = re.compile(
    r"x{3,}$|X{3,}$|\.{2,}|[A-Z_]*(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET)$"
)

_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?(?![^\s,;)\]}!?.])"
    r"|[\w.$:>-]*[A-Za-z_$][\w$]*(?:[(\[{<]|\?\.)"
    r"|(?:Convert(?:To|From)|Get|Read|New|Import|Export)-[A-Z][A-Za-z]+$"
)

_SIGNS = re.compile(r"[!@#$%^&*?~+;<>|{}()\[\]=\"'`,\\]")
_NO_NOISE = re.compile(
    r"^(?:[$%#]?[<{(\[][\w .:,|'\"/()-]*[>})\]]+$|%.*%$|\{\{|\$\()"
    rf"|{_REGEX.pattern}|[a-z]{{5}}[(\[]"
    r"|\$\{\w+[:}]|</\w+>|<[A-Za-z][a-z]{2,}[\w:-]*>|<[A-Z_]{4,}>"
    r"|(?i:example|placeholder|redacted)"
)
"""Matches parts of templates, patterns and calls that random passwords hardly
contain."""

_COMMON_PAIRS = frozenset(
    pairs[0] + second
    for pairs in r"""
        ""), ## ''),:\ast ("')0abcdefilmnoprstu )),.:; **/ --0> ..0_acdefgimprst /*/
        0'),.0:\]_abdefx </ =0= >> @ps [0 \nux ]), _(_abcdefghilmnoprstuw
        abcdgiklmnprstuvxy b'aceijloruy c_acehiklortu d(),._adeilorsu
        e'(),.0:=_abcdefgilmnpqrstvwxy f),.aefilortu g._ehilnrsu h(.aeiort
        iabcdefglmnoprstvxz je k(_ei l(_adefilopstuy mabeimopsu n'(,._acdefgiklnopstuv
        o_abcdfgiklmnoprstuvw p(_aeiloprtuy qu r(),._acdegilmnorstuvy
        s(),.:_acehilmopstuy t'(),.0_acdefhilmoprstuy u0_abcdefilmnprst vaei waehior
        x0acept y:_pst ze
    """.split()  # noqa: SIM905
    for second in pairs[1:]
)
"""The 420 pairs of neighbouring characters that are most frequent in source code, nine
tenths of all. Each word has a first character and then the second ones; capitals are
written small, and 0 denotes any digit."""

_CAMEL = re.compile("[a-z][A-Z]")
_DIGITS = str.maketrans("123456789", "000000000")

# Words as in "Base64-encoded"; versions, dates, addresses.
_WORDY = re.compile(
    r"(?:[A-Za-z]+(?:\d{1,5}[a-z]?)?(?:[-_./:]|%[0-9A-F]{2}|$))+$"
    r"|v?\d+\.[\dx]|\d{4}-\d\d|\w+://|[\w.-]+@[\w-]+\.[\w.]+$"
    r"|[\w./-]+\.[a-z]{1,4}(?::\d+)*$"
)

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z_$]*\d{0,2}[!?]?$")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")

_PATH = re.compile(
    r"(?:file://|~|\.{1,2})?/?[\w@-][\w.@-]*(?:/[\w.@-]+)+\.[a-z]\w{1,7}$"
    r"|(?:file://|~|\.{1,2})?(?:/[\w.@-]+){2,}/?$|[a-z_-]+(?:/[a-z_][\w.@-]*){2,}$"
    r"|[A-Za-z]:\\{1,4}[\w.@ -]+(?:\\{1,4}[\w.@ -]+)*$"
)

_PASSWORD_SIGN = re.compile(r"[!#$%&@^]")
_CHOSEN = re.compile(
    r"[^\W\d_]{4,}\d{2,6}[!?]?$|[A-Z][a-z]{3,}\d{2,6}[_*~+=-]$"
    r"|[A-Z][a-z]{3,}_(?:19|20)\d\d$"
    r"|(?=.*\d)(?:[a-z]{2,}\d*-)+[A-Z][a-z]+\d*(?:-\w+)*$"
)
_JOINED_WORDS = re.compile(
    r"(?=.*\d|(?:[^-._]+[-._]){3})[A-Za-z]{2,10}\d{0,4}([-._])"
    r"(?:[A-Za-z]{2,10}\d{0,4}\1){1,7}(?:[A-Za-z]{2,10}\d{0,4}|\d{1,4})$"
)
"""Matches passwords of words: ``ivory-tone-course-cruise``, ``Enjoy-manual-1430``."""
_THREE_WORDS = re.compile(
    r"[A-Za-z][a-z]{3,9}([-._])[A-Za-z][a-z]{3,9}\1[A-Za-z][a-z]{3,9}$"
)
_COMPOUND = re.compile(
    r"(?i)(?:ed|ing|able|ible|only|less|free|ly|like|case|side|wide|time|level|type"
    r"|word"
    r"|name|path|file|form|field|input|page|list|group|value|user|data|service|server"
    r"|client|admin|prod|test|auth|cert|sensitive|string|format|phrase|code|hash|store"
    r"|manager|policy|rotation|grant|length|strength|state|request|response)"
    r"(?:$|[-._])|secret|token|credential|password|key|(?:^|[-._])(?:user|multi|self"
    r"|base"
    r"|with|from|that|this|must|will|your|post|vault|cloud)[-._]"
)
"""Matches parts of compound words and of names of things."""
_DOTTED_WORDS = re.compile(
    r"(?:[A-Z][a-z]{3,9}_){3,6}[A-Z][a-z]{3,9}\d{0,4}$|"
    r"[A-Za-z]?[a-z]{3,9}(?:\.[A-Za-z]?[a-z]{3,9}){3,6}\d{0,4}$"
)
_CODE_WORD = re.compile(
    r"(?i)self|this|config|setting|request|response|param|option|process|environ|value"
    r"|secret|credential|data|user|form|body|state|props|context|session|client|server"
    r"|store|module|default|global|local|spec|auth|login|account|connect|input|output"
    r"|field|model|service|system|app|propert|header|query|name|text|string|type|pass"
    r"|token|key|node|root|java|http|spring|info|meta|result|current|items?|args|self"
)
FUNCTION_WORDS = re.compile(
    r"\b(?:the|and|for|with|from|your|are|not|was|were|has|had|but|its|our|these|those"
    r"|be|at|on|up|to|of|is|in|by|or|words|which|been|his|her|she|him|them|than|who"
    r"|how)\b"
)
"""Words of prose that seed phrases do not contain."""
_SYLLABLES = re.compile(
    r"(?=.*\d)(?=.*[A-Z])[A-Za-z0-9]{6}(?:-[A-Za-z0-9]{6}){2}$|[a-z]{4}"
    r"(?:-[a-z]{4}){3}$"
)
"""Matches passwords that systems suggest: ``mafReb-7tukhe-bybkyw``."""
_TECHNICAL = re.compile(
    r"(?:base|sha|utf|rfc|oauth|https?|curve|argon|pbkdf|b?s?crypt|chacha|poly|"
    r"secp|python"
    r"|linux|ubuntu|windows|macos|node|chrome|server|host|user|test|step|field|version"
    r"|line|page|port|part|item|issue|level|postgres|mysql|latin|unicode)\d"
    r"|1password$",
    re.IGNORECASE,
)
"""Matches algorithms, versions and numbered things: ``base64``, ``user01``."""
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


_GROUPS = re.compile(
    r"(?=.*\d)(?=.*[A-Z])(?:[A-Z2-7]{16}|[A-Z2-7]{24}|[A-Z2-7]{26}|[A-Z2-7]{32})$"
    r"|(?=.*\d)(?=.*[A-Z])[A-Za-z0-9]{6}(?:-[A-Za-z0-9]{6}){2}$"
    r"|(?=.*\d)(?=.*[A-Za-z])(?:[A-Za-z0-9]{4,6}-){3,8}[A-Za-z0-9]{4,6}$"
    r"|(?:\d{6}-){7}\d{6}$"
)
"""Matches keys in base32, and recovery keys in groups."""


def is_path(value: str) -> bool:
    """Return whether a value is the path of a file; a key with slashes changes to
    digits or capitals more often."""
    return bool(_PATH.match(value)) and len(_CLASS_CHANGES.findall(value)) <= 3


@lru_cache(4096)
def kind_of_name(name: str) -> str:
    """Return the kind of secret that a name denotes; "" for none."""
    if name in FOLDERS:
        return ""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _TRAILING:
        words.pop()
    if not words or not _PUBLIC.isdisjoint(words[-3:]):
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if (
        last.endswith((*_PASSWORDS, "pwd"))
        or last in _SHORT_PASSWORDS
        or (last.endswith("pw") and len(last) > 4)
    ):
        return PASSWORD
    if last == "pass":
        return PASSWORD if before in _LOGIN_NAMES or name.startswith("--") else SECRET
    if last.endswith("pass") and last[:-4] in _LOGIN_NAMES:
        return PASSWORD
    if last.endswith("secret") or last in _FOREIGN_SECRETS:
        return SECRET
    if last == "sessionkey" or words[-2:] == ["session", "key"]:
        return TOKEN
    if last == "key":
        is_setting = bool(before) and (name.isupper() or name.endswith("_KEY"))
        is_named = before.endswith(_KEYS) or not _VENDORS.isdisjoint(words)
        return KEY if is_named or is_setting else ""
    if last.endswith("key") and last[:-3].endswith(_KEYS):
        return KEY
    if last in ("salt", "pepper") and before and name.isupper():
        return SECRET
    if last.endswith("token") or last in ("credential", "credentials", "creds"):
        return TOKEN
    if last == "pat" and name.isupper():
        return TOKEN
    if name == "auth":
        return BASIC
    return TOKEN if last == "auth" and name.startswith(("_", "REDIS", "X-")) else ""


def is_noise(value: str) -> bool:
    """Return whether a value mixes letters and signs as generated passwords do.

    At most half of the pairs of neighbouring characters are common: of random ones
    about a sixth, of words and code most.
    """
    signs = len(_SIGNS.findall(value))
    has_digit = any(map(str.isdigit, value))
    is_mixed = value not in (value.lower(), value.upper())
    if (
        len(value) < (8 if is_mixed and has_digit and signs > 1 else 12)
        or not ((signs and is_mixed) or (signs > 1 and has_digit))
        or any(map(str.isspace, value))
        or _NO_NOISE.search(value)
    ):
        return False
    value = value[:EXPRESSION_CHARS]
    folded = value.lower().translate(_DIGITS)
    common = sum(map(_COMMON_PAIRS.__contains__, map(str.__add__, folded, folded[1:])))
    return 2 * (common - len(_CAMEL.findall(value))) < len(value) - 1


_RARE_SIGN = re.compile(r"[!#$%&*<>?@^{|}~\[\]();]")
_NO_PASSWORD = re.compile(
    r"[\"']|\w{2,}://|//|data:|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w/-]+@[\d^~]|&\w+="
    r"|[\w.-]+\?\w+=|@[\w-]+/|~?(?:[/.]?\w+){3}[/(]|[rbfu][\"']|[*-]?\w+\(|=\?|\[#x"
    r"|<h\d>|\W*[\w.]+\*[\w.]+[*(]"
    r"|.*(?:\x1b|%2e|[\"']:|[{\[][\"']|\]\(|\)\.\w|\(\)|\[\]|\{\}|\\[A-Za-z]|\)"
    r"[*+?/-]\S|\][*+?]"
    r"|\[\^|==|=>|->|&&|\|\||\{\d+(?:,\d*)?\}|</|\*\*|\w\(\w*[-+*/])"
)
"""Matches addresses, escape sequences and parts of code."""

MIN_NOISE_CHARS = 10
"""A shorter value needs its name beside it."""


def is_unlike_code(value: str) -> bool:
    """Return whether a value is a password by its characters alone."""
    return (
        len(value) >= MIN_NOISE_CHARS
        and is_noise(value)
        and value not in (value.lower(), value.upper())
        and bool(_RARE_SIGN.search(value))
        and not _NO_PASSWORD.match(value)
        and is_generated(value)
    )


def is_evident(value: str) -> bool:
    """Return whether a word of prose is a password or key, whatever is around it."""
    return is_unlike_code(value) or (
        value.isalnum()
        and is_random(value)
        and is_strong(value)
        and not is_placeholder(value)
    )


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder, or refers to where a secret is
    stored."""
    return (
        len(set(value)) < 3
        or (
            bool(
                _SIGN_FIRST.match(value)
                or _PLACEHOLDER.match(value)
                or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
                or _LABEL.match(value, 0, EXPRESSION_CHARS)
            )
            and not is_noise(value)
        )
        or bool(_REFERENCE.match(value))
    )


def is_template(value: str) -> bool:
    """Return whether a password in a URL or command is a placeholder."""
    return bool(
        _SIGN_FIRST.match(value)
        or _TEMPLATE.match(value)
        or _CONTAINS_PLACEHOLDER.search(value, 0, EXPRESSION_CHARS)
    ) and not is_noise(value)


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression: a call, an attribute, a
    type."""
    found = _CODE.match(value, 0, EXPRESSION_CHARS)
    if not found or is_noise(value) or _CHOSEN.match(value):
        return False
    if _JOINED_WORDS.match(value) and is_strong(value + "."):
        return False
    first = re.split(r"\W", found[0], maxsplit=1)[0]
    return _count_changes(first) < 3


def is_random(value: str) -> bool:
    """Return whether a value looks random rather than written by a person."""
    if _GROUPS.match(value):
        return True
    if len(value) < 16:
        return is_mixed(value)
    if not _PLAIN.match(value) or _DIGEST.match(value):
        return False
    return len(set(value)) >= 8 and any(
        len(part) >= 8 and _count_changes(part) >= 3 for part in _PARTS.split(value)
    )


def is_mixed(value: str) -> bool:
    """Return whether a short value changes between small letters, capitals and digits
    as no name does."""
    return (
        value.isalnum()
        and len(value) >= MIN_NOISE_CHARS
        and is_strong(value)
        and _count_changes(value) >= 3
        and not _TECHNICAL.match(value)
    )


def _count_changes(part: str) -> int:
    """Return how often a word changes to digits or capitals as no name does."""
    return len(_MIXED.findall(part)) + len(_ODD_CAPITALS.findall(part))


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
    """Return whether a value is a password or key even among prose or code."""
    if is_placeholder(value) or is_code(value) or is_path(value):
        return False
    if is_random(value):
        return True
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    is_mixed = (is_strong(value) and has_both) or is_noise(value)
    is_technical = value.isalnum() and _TECHNICAL.match(value)
    return is_mixed and not (is_technical or _WORDY.match(value))


def is_human(value: str) -> bool:
    """Return whether a value looks chosen as a password: with signs
    (``Blue#Whale22``), a word and a number (``summer2024``), or small words before
    capital ones (``tiger-Moon7``)."""
    if has_sign(value):
        return is_generated(value)
    if _SYLLABLES.match(value):
        return True
    if _JOINED_WORDS.match(value):
        return value != value.upper() and not FUNCTION_WORDS.search(
            value.replace("_", " ")
        )
    return (
        len(value) >= 8
        and bool(_CHOSEN.match(value))
        and not (_TECHNICAL.match(value) or is_placeholder(value))
    )


def is_phrase(value: str) -> bool:
    """Return whether a value is a password of three words, where one is expected."""
    return bool(_THREE_WORDS.match(value)) and not _COMPOUND.search(value)


_SPACED_WORDS = re.compile(r"(?:[a-z]{3,10}[ -]){3,7}[a-z]{3,10}$")


def is_spaced_phrase(value: str) -> bool:
    """Return whether a value is a password of four to eight words, where one is
    expected."""
    return bool(_SPACED_WORDS.match(value)) and not (
        FUNCTION_WORDS.search(value) or _COMPOUND.search(value)
    )


def is_word_list(value: str) -> bool:
    """Return whether a dotted value is a password of words, not an expression."""
    return bool(_DOTTED_WORDS.match(value)) and not _CODE_WORD.search(value)


def is_chosen(value: str) -> bool:
    """Return whether a value is a password after words such as "the password is"."""
    return is_generated(value) or is_human(value)


def has_sign(value: str) -> bool:
    """Return whether a value contains a sign that names and paths do not contain."""
    return bool(_PASSWORD_SIGN.search(value)) and not re.search("[/:]", value)


def is_mixed_password(value: str) -> bool:
    """Return whether a value changes to digits or capitals as no name does."""
    return is_generated(value) and _count_changes(value) >= 2


def has_uuid(value: str) -> bool:
    """Return whether a value is a UUID, as some keys are."""
    return bool(_UUID.match(value))


def is_secret(kind: str, value: str, *, is_quoted: bool) -> bool:
    """Return whether the value of a name is a secret.

    Args:
        kind: The kind of the name, from ``kind_of_name``.
        value: The value without quotes.
        is_quoted: True if it cannot be code: it was quoted, or is in a settings file.
    """
    if kind == BASIC:
        return is_basic_login(value) or (len(value) >= 32 and is_random(value))
    if not value or is_placeholder(value) or (not is_quoted and is_code(value)):
        return False
    if kind == PASSWORD:
        if len(value) < 4 or any(map(str.isspace, value)):
            return False
        if not is_quoted and not (value[0].isalnum() or value[0] in "_'\""):
            return is_generated(value)
        return is_quoted or not _IDENTIFIER.match(value)
    if has_uuid(value):
        return kind != TOKEN
    if any(map(str.isspace, value)):
        return False
    if is_path(value) or (kind == TOKEN and not value.isascii()):
        return False
    return is_random(value) or (is_quoted and is_strong(value))


def is_basic_login(value: str) -> bool:
    """Return whether a Basic value is the base64 of a name, a colon and a password."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in login and login.isprintable()
