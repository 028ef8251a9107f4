"""Find secrets in commands, headers, URLs, calls and protocols.

Each rule is tried where its anchor, a lower-case byte string, occurs in a text that
contains one of its words.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator

from memtui.text import secret_blocks, secret_rows
from memtui.text.secret_values import (
    KEY,
    PASSWORD,
    QUOTE,
    Rule,
    SecretSpan,
    has_sign,
    is_basic_login,
    is_chosen,
    is_code,
    is_generated,
    is_mixed_password,
    is_noise,
    is_placeholder,
    is_random,
    is_template,
)

Rules = dict[bytes, tuple[tuple[bytes, Rule], ...]]

OPENS = r"(?:\\(?:\\{2}(?:\\{4})?)?[\"']|'|\"(?![,\]}:\s]))?"
"""A quote that may open a value; one that closes a JSON string may not."""


# Commands with a password as an argument: the words, and what is between one of them
# and the password. " *" are any other arguments; the group is the quote, if read.
_COMMANDS = rf"""
    mysql mysqldump mysqladmin mariadb  [a-z-]* * -p
    sshpass  * -p[ ]?
    mongo mongosh mongodump mongorestore cqlsh  * -p[ ]
    docker podman helm oc az  * login * -p[ ]
    rar unrar  [ ][a-z]+ * -h?p
    7z  [a-z]?[ ][a-z]+ * -p
    zip unzip  * -\w{{0,4}}P[ ]?
    sqlcmd mosquitto ipmitool  [a-z_]* * -P[ ]?
    ldapsearch ldapadd ldapmodify ldapwhoami ldappasswd  * -w[ ]
    ssh-keygen  * -[NP][ ]
    openssl  [ ]enc * -k[ ]
    security  [ ](?:add|unlock|import|set)[a-z-]* * -[wpP][ ]
    schtasks  * /[rR][pP][ ]
    xfreerdp  * /p:
    redis-cli  * (?:-a|--pass)[ =]
    curl  \b[^\n|;]{{0,400}}? (?:-u|--user)[ =]?({OPENS})[^\s:\"'`\\$,\]}}]{{1,128}}:
    http https  [ ](?:-\w+ )*(?:-a|--auth)[ =]({OPENS})[\w.@-]{{1,64}}:
    smbclient smbget smbmap  * (?:-U|--user)[ =]?({OPENS})[^\s%\"'`\\$]{{1,128}}%
    htpasswd  (?=(?: -\w+| \d+){{0,4}}? -\w*b)(?:(?=<O>{{0,4}}? -\w*n)<O>{{1,4}}|<O>{{1,4}} [^\s|;&<>-]+) [^\s|;&<>]{{1,255}}[ ]
"""  # noqa: E501

# Values of commands and protocols: the kind, a check, words of which the text contains
# one, and a pattern whose last group is the secret. It begins with the anchor.
_VALUES = r"""
    password           chosen  login             (?<=\d )login \S{1,128} <V>
    password           chosen  masterauth        masterauth <V>
    password           chosen  wpa               wpa_passphrase \S{1,64} <V>
    password           chosen  ftp               ftp> user \S{1,64} <V>
    password           chosen  sqlplus           sqlplus (?:-\w+ )?[\w.]{1,64}/([^\s@\"']{4,128})
    password           chosen  user              _user [\w.-]{1,64} <V>
    password           chosen  identify          identify (?:[\w.-]{1,64} )?<V>
    password           chosen  auth              (?<![\w.-])auth (?:[\w.-]{1,64} )?<V>
    password           chosen  snmpwalk snmpget  -a <V>
    password           chosen  snmpwalk snmpget  -x <V>
    password           chosen  u                 -u \S{1,64} (?:\S+ ){0,3}?-p[ ]?<V>
    password           chosen  psk eap xauth     psk[ \t]+<Q>([^\"'\\\n]{6,128})
    password           chosen  psk eap xauth     eap[ \t]+<Q>([^\"'\\\n]{6,128})
    password           chosen  secrets           secret[^\"\\*\n]{0,80}\n<Q>?[\w.@-]{1,64}<Q>?[ \t]+\S{1,64}[ \t]+<V>(?=<Q>?[ \t]+\*)
    password           chosen  smtp sasl relay   :(?:25|465|587)[ \t]+[^\s:]{1,128}:([^\s\"'\\]{6,128})
    password           chosen  log sign login    in (?:with|as) (?:user )?[`\"']?[^\s/:`\"']{1,64}[`\"']?(?: / |/|:| with )(?:(?:the |password )*)[`\"']?([^\s`\"'\\]{7,127}[^\s`\"'\\,;.)])
    password           mixed   identified        identified by ([^\s\"'\\;]{6,128})
    password           both    secret            secret <R>
    password           both    password          password <R>
    password           both    community         community ([^\s\"'\\]{6,64}) (?:ro|rw)\b
    password           both    net               net user [\w.-]{1,64} <V>(?=\s|$|\\)
    password           plain   net               net use (?:[^\n|&\s]{1,40} +)?\\\S{1,128} +(?![*/%])([^\s\"'\\]{4,128}) +/user:
    password           plain   net               net use [^\n|&]{0,200}?/user:[^\s\"']{1,100} +(?![*/%])([^\s\"'\\]{4,128})
    password           plain   echo              echo <P>
    password           plain   printf            printf <P>
    password           plain   securestring      -securestring +(?:-\w+ +){0,3}<Q>([^\"'`\\\n]{2,255})
    password           word    requirepass       requirepass[ \t]+[\"']?([^\s\"'\\]{4,256})
    password           sasl    plain             plain(?:<Q>>| )([A-Za-z0-9+/]{12,256}={0,2})
    password           plain   plain             \{plain\}([^\s\"'\\:]{6,128})
    bearer token       random  bearer            bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})
    cookie             random  session           session(?:_?id)?<C>
    cookie             random  sid               .sid<C>
    cookie             random  sessionid         sessionid<C>
    signature          random  sig               (?<=[?&;])sig<S>
    signature          random  signature         signature<S>
    token              both    kubeadm           token[ =]([a-z0-9]{6}\.[a-z0-9]{16})(?!\w)
    terraform token    any     atlasv            (?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_-]{60,70}
    api key            plain   oathtool          oathtool[^\n|;]{0,80}? [\"']?([a-z2-7]{16,64}|[0-9a-f]{20,128})(?![\w.])
    api key            any     appid             (?<=[?&])appid=([0-9a-f]{32})(?!\w)
    api key            both    totp otp fa mfa recovery backup qr authenticator  key<B>
    api key            both    totp otp fa mfa recovery backup qr authenticator  secret<B>
    api key            both    totp otp fa mfa recovery backup authenticator  code<B>
    password           word    :                 (?<=[\w.*-]):543\d<F>
    password           plain   :                 (?<=[\w.*-]):\*<F>
    password hash      any     $                 (?<=[\w.@-]:)\$(?:apr1|1|5|6|7|y|gy|2[abxy])\$[./A-Z0-9$=,]{16,128}(?=[\s:\"'\\]|$)
    password hash      any     $                 \$(?:2[abxy]\$\d\d\$[./A-Z0-9]{53}|argon2(?:id|i|d)\$[\w=,$+/.-]{40,256}|[56]\$(?:rounds=\d+\$)?[./A-Z0-9]{1,16}\$[./A-Z0-9]{43,86})(?![./A-Z0-9])
    openshift token    any     ~                 sha256~[\w-]{43}(?![A-Za-z0-9])
    private key        any     importprivkey     privkey\S{0,20}\W{1,4}([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?!\w)
    private key        any     private           private-lines: \d{1,4}<J>([A-Za-z0-9+/]{16,}={0,2}(?:<J>[A-Za-z0-9+/]{16,}={0,2})*)
"""  # noqa: E501

_SHORT = {
    "<B>": r"s?(?: is)?[: ]{1,3}((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4}"
    r"|[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,5})(?![\w-])",
    "<C>": r"=(?:s%3A)?([A-Za-z0-9%._~+/-]{20,2048})",
    "<S>": "=([A-Za-z0-9%+/_-]{20,2048}={0,2})",
    "<R>": r"[05789] ([^\s\"'\\]{6,128})",
    "<J>": r"(?:[ \t]*(?:\r?\n|\\++[nr])[ \t>+|-]{0,4}|[ \t]+)",
    "<P>": r"+(?:-n +|<Q>%s(?:\\+n)?<Q> +)?(?:<Q>)?"
    r"(?:[\w.-]{1,64}:(?=[^\n]{1,128}chpasswd))?"
    r"([^\n\"'|]{3,127}?[^\s\"'|\\])(?:<Q>)? *\| *"
    r"(?:(?:sudo +)?(?:chpasswd|cryptsetup|passwd)|[^|\n;]{1,160}?"
    r"(?:-stdin|--with-token)(?!\w)|sudo -S|kinit\b|openssl|gpg\b)",
    "<V>": r"[\"']?([^\s\"'`\\|;&<>]{6,128})",
    "<F>": r":[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s\"'\\:][^\s\"'\\]{3,255}+)"
    r"(?=\s|$|\\+[rn]|\\*\")",
    "<O>": r"(?: -[A-Za-z]{1,6}(?: \d{1,3})?)",
    "<Q>": QUOTE,
}
_ANCHOR = re.compile(r"(?:\(\?<[^)]*\))*((?:[\w :/>=.~-]|\\[.{}$*])+)(?![?*+{|])")


def _expanded(pattern: str) -> str:
    for short, full in _SHORT.items():
        pattern = pattern.replace(short, full)
    return pattern


def has_no_template(value: str) -> bool:
    return not is_template(value) and not is_placeholder(value)


def _is_random(value: str) -> bool:
    return is_random(value) and not is_placeholder(value)


def _has_nul(value: str) -> bool:
    """Return whether a value is the base64 of a name and password for SASL."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return login.count(b"\0") == 2


def _has_both(value: str) -> bool:
    """Return whether a value contains letters and digits."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and has_no_template(value)
    )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "any": bool,
    "plain": has_no_template,
    "word": lambda value: has_no_template(value) and not value.isalpha(),
    "both": _has_both,
    "chosen": is_chosen,
    "mixed": is_mixed_password,
    "random": _is_random,
    "sasl": _has_nul,
}


def _pattern(kind: str, check: str, pattern: str) -> Rule:
    """Make a rule of a pattern whose last group is the secret."""
    compiled = re.compile(_expanded(pattern), re.IGNORECASE)
    is_value = _CHECKS[check]

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        found = compiled.match(text, at)
        if found and is_value(found[found.lastindex or 0]):
            yield *found.span(found.lastindex or 0), kind

    return rule


_PORTS = re.compile(r"\d+(?::\d+)*$")
_OPENED = re.compile(OPENS)
_QUOTED_VALUE = re.compile(r"([^\"'`\\\n]{2,255})(?=\\{0,7}[\"'`])")
_WORD = re.compile(r"[^\s\"'`\\|;&<>,\]}][^\s\"'`\\|;&<>]{1,255}")


def _command(pattern: str) -> Rule:
    """Make a rule of a pattern for all of a command before the password."""
    compiled = re.compile(_expanded(pattern.replace(" *", r"(?: [^|;&\n]{0,200}?)??")))

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        if not (found := compiled.match(text, at)):
            return
        opened, at = found[1] if compiled.groups else "", found.end()
        if not opened and (quote := _OPENED.match(text, at)):
            opened, at = quote[0], quote.end()
        value = (_QUOTED_VALUE if opened else _WORD).match(text, at)
        if not value or is_template(value[0]) or _PORTS.match(value[0]):
            return
        if opened or not value[0].startswith("-") or is_generated(value[0]):
            yield *value.span(), PASSWORD

    return rule


# Headers, cookies and URLs.

_HEADER = re.compile(
    rf"(?:{QUOTE})?\]?[ \t]{{0,4}}[:=,]?[ \t]{{0,4}}[bf]?(?:{QUOTE})?"
    r"(?:(Bearer|Basic|Token|ApiKey|Digest|Bot|Key|Negotiate|GenieKey)[ ]{1,4})?"
    r"([A-Za-z0-9._~+/][A-Za-z0-9._~+/=:-]{5,})",
    re.IGNORECASE,
)

_COOKIE_NAME = re.compile(
    rf"(?:cookies?(?:{QUOTE})?[ \t]{{0,4}}[:= ][ \t]{{0,4}}\{{?(?:{QUOTE})?"
    rf"|curl\b[^\n|;]{{0,400}}? (?:-b|--cookie)[ =]?{OPENS})",
    re.IGNORECASE,
)
_COOKIES = re.compile(
    r"(?:[\w.-]{1,80}(?:=[^;\s\"'`\\]{0,4096};?[ ]?"
    rf"|{QUOTE}: ?{QUOTE}[^\s\"'`\\]{{0,4096}}{QUOTE},? ?(?:{QUOTE})?)){{1,60}}"
)
_COOKIE = re.compile(rf"([\w.-]{{1,80}})(?:=|{QUOTE}: ?{QUOTE})([^;\s\"'`\\]{{8,}})")

_SESSION = re.compile(
    r"sess|sid$|token|auth|jwt|csrf|xsrf|login|remember|ident", re.IGNORECASE
)

_LOGIN = re.compile(r"([^\s/@:\"'`\\<>?#(){}]{0,128}):([^\s/@\"'`\\<>]{1,256})@")
_LONE_LOGIN = re.compile(r"([A-Za-z0-9_.~-]{16,256})@")

_WEBHOOK = re.compile(
    r"://[\w.-]+/(?:(?:api|v\d+|services|workflows|triggers|(?:web)?hooks?(?:b2)?)/)+"
    r"([A-Za-z0-9_@/-]{20,})"
)
_LOGIN_BEFORE_HOST = re.compile(
    r"(?<![^\s\"'`=])[\w.-]{1,64}:([^\s/@:\"'`\\<>]{8,128})(?=@[\w.-]+[(:/])"
)


def find_header(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secret after the name of a header of authorization."""
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


def _cookie(text: str, at: int) -> Iterator[SecretSpan]:
    lead = _COOKIE_NAME.match(text, at)
    line = _COOKIES.match(text, lead.end()) if lead else None
    if not line:
        return
    yield *line.span(), ""
    for cookie in _COOKIE.finditer(text, *line.span()):
        name, value = cookie[1], cookie[2]
        if is_placeholder(value) or is_code(value):
            continue
        if is_random(value) or (_SESSION.search(name) and any(map(str.isdigit, value))):
            yield *cookie.span(2), "cookie"


def _url(text: str, at: int) -> Iterator[SecretSpan]:
    if login := _LOGIN.match(text, at + 3):
        # A host and port before an @ is no login.
        is_host = login[1] == "localhost" or "." in login[1]
        is_port = is_host and re.fullmatch(r"\d{2,5}", login[2])
        if not (is_port or login[2] == "password" or is_template(login[2])):
            yield *login.span(2), PASSWORD
    elif lone := _LONE_LOGIN.match(text, at + 3):
        if is_random(lone[1]):
            yield *lone.span(1), "token"
    elif (found := _WEBHOOK.match(text, at)) and not is_placeholder(found[1]):
        last = found[1].rstrip("/").rpartition("/")[2]
        has_digits = last.isalnum() and sum(map(str.isdigit, last)) > 1
        if len(last) >= 16 and (has_digits or is_random(last)):
            yield *found.span(1), "webhook"


def _login_before_host(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in ``ada:password@tcp(host)``."""
    start = max(text.rfind(sign, max(0, at - 200), at) for sign in " \n\"'=") + 1
    login = _LOGIN_BEFORE_HOST.match(text, start) if start < at else None
    if login and login.end() == at and is_mixed_password(login[1]):
        yield *login.span(1), PASSWORD


# SQL, calls and options.

_IDENTIFIED = re.compile(
    r"identified (?:with \w{1,40} )?(?:by|as) (?:password )?"
    r"\\{0,7}['\"]([^'\"\\\n]{4,256})(?=\\{0,7}['\"])",
    re.IGNORECASE,
)


def _identified(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password of a user in SQL; prose has "identified by", too."""
    clause = _IDENTIFIED.match(text, at)
    if not clause or not has_no_template(clause[1]):
        return
    if clause[0][:10].isupper() or any(map(str.isdigit, clause[1])):
        yield *clause.span(1), PASSWORD


_LITERAL = re.compile(
    rf"(?<=[(,\[ ])(?:[\w.:]{{1,24}}\(|\[\]byte\(|[brufN@&*])?({QUOTE})"
    r"([^\"'\\\n]{1,256})(?=\\{0,7}[\"'`])"
)
_CALL_START = re.compile(r"[\w.:]{0,40}\(|[\w.:]{0,20}=[({]| [\w, ]{0,40}(?=[\"'])")
CALL_CHARS = 400
"""Only this much of a call is searched for passwords."""


def _literals(text: str, at: int) -> Iterator[re.Match[str]]:
    call = _CALL_START.match(text, at)
    if call:
        line = text.find("\n", at, at + CALL_CHARS)
        end = line if line >= 0 else at + CALL_CHARS
        yield from _LITERAL.finditer(text, call.end() - 1, end)


def _login_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password among the arguments of a call that logs in; the first is a
    name."""
    for number, literal in enumerate(_literals(text, at)):
        value = literal[2]
        is_second = number or text[literal.start() - 1] != "("
        is_place = re.search("[:/]", value) and not is_noise(value)
        is_letters = _APP_PASSWORD.match(value) and number == 1
        if is_second and not is_place and (is_letters or is_generated(value)):
            yield *literal.span(2), PASSWORD


_APP_PASSWORD = re.compile(r"[a-z]{16}$|[a-z]{4}(?: [a-z]{4}){3}$")


def _key_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key among the arguments of a call that signs or encrypts."""
    for literal in _literals(text, at):
        value = literal[2]
        is_signed = has_sign(value) and is_generated(value)
        if (is_signed or is_random(value) or is_noise(value)) and has_no_template(
            value
        ):
            yield *literal.span(2), KEY


_USER_OPTION = re.compile(
    r"(?: -u| -a| --?user(?:name)?|user(?= ?= ?\")| --auth| --creds?|stats auth)[ =]+"
    rf"{OPENS}[\w.@-]{{1,64}}[:,%/](?:{QUOTE})?([^\s\"'`\\|&;]{{6,128}})"
)


def _user_password(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in an option ``--user=ada:password`` of any command."""
    option = _USER_OPTION.match(text, at)
    if option and is_chosen(option[1]):
        yield *option.span(1), PASSWORD


_JWK = _pattern(
    KEY, "random", r"(?:d|k|p|q|dp|dq|qi)<Q>:\s?<Q>([A-Za-z0-9_-]{20,1024})(?=\\*\")"
)
_JWK_PART = re.compile(r"(?<=[{, \n])\\*\"(?=(?:d|k|p|q|dp|dq|qi)\\*\")")
JWK_CHARS = 4096


def _jwk(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the private parts of a JSON Web Key."""
    for found in _JWK_PART.finditer(text, max(0, at - 200), at + JWK_CHARS):
        yield from _JWK(text, found.end())
    yield at, min(len(text), at + JWK_CHARS), ""


# The rules by the words of a text.

_FUNCTIONS: tuple[tuple[str, str, Rule], ...] = (
    ("identified", "identified ", _identified),
    ("insert", "insert into ", secret_rows.find_inserted),
    ("seed mnemonic wallet words phrase", "", secret_blocks.find_seed),
    ("wiederherstellungsphrase seedphrase", "phrase", secret_blocks.find_seed),
    ("private", "-----begin", secret_blocks.find_key_block),
    ("private", "-----end", secret_blocks.find_key_end),
    ("curl cookie cookies", "", _cookie),
    ("user curlrc", "user", _user_password),
    ("user", " --user", _user_password),
    ("u", " -u ", _user_password),
    ("kty", "", _jwk),
    ("connect login newinstance getconnection pdo mysqli signin dbi", "", _login_call),
    ("cred", "credential", _login_call),
    ("auth", "auth", _login_call),
    ("pw", "pw_set(", _login_call),
    ("hmac aes createhmac hash_hmac jwt fernet sign cipher totp", "", _key_call),
    ("secretkeyspec createcipheriv hmacsha hmacshakeyfor", "", _key_call),
    ("|", "-|", secret_rows.find_in_table),
    ("|", "- |", secret_rows.find_in_table),
    ("|", "-+-", secret_rows.find_in_table),
    ("://", "", _url),
    ("@", "", _login_before_host),
)
_SIGNS = ("cred", "auth", "pw", "|", ":", "$", "://", "@", "~")
"""Strings that are looked for within words, too."""


def _rules() -> Iterable[tuple[str, str, Rule]]:
    """Yield words, the anchor or "" for the word itself, and a rule."""
    for line in _COMMANDS.strip().splitlines():
        words, rest = re.split(" {2,}", line.strip(), maxsplit=1)
        for word in words.split():
            last = re.split(r"\W|\d", word)[-1] or word
            yield last, word, _command(word + (f" {rest}" if rest[0] == "*" else rest))
    for line in _VALUES.strip().splitlines():
        kind, check, words, pattern = re.split(" {2,}", line.strip(), maxsplit=3)
        anchor = _ANCHOR.match(pattern)
        assert anchor
        yield words, anchor[1].replace("\\", ""), _pattern(kind, check, pattern)
    yield from _FUNCTIONS


RULES_BY_WORD: Rules = {}
"""Anchors and rules by a word that the text contains."""

RULES_BY_SIGN: Rules = {}
"""The same by a string that may be part of a word."""

for _words, _anchor, _rule in _rules():
    for _word in _words.split():
        _rules_of = RULES_BY_SIGN if _word in _SIGNS else RULES_BY_WORD
        _place = (_anchor or _word).encode(), _rule
        _rules_of[_word.encode()] = *_rules_of.get(_word.encode(), ()), _place
