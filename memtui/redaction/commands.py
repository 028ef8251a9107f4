"""Find secrets in headers, cookies, URLs, commands and SQL.

A rule is a pattern that is tried where its anchor, a string in small letters, occurs.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtui.redaction.assignments import QUOTE
from memtui.redaction.names import (
    BASIC,
    KEY,
    PASSWORD,
    SECRET,
    TOKEN,
    Place,
    Span,
    is_basic_login,
    is_mixed,
    is_placeholder,
    is_random,
    is_secret,
)

_DEFAULTS = frozenset((
    "password", "pass", "pwd", "passwd", "postgres", "root", "admin", "guest", "user",
    "secret", "test", "mysql", "redis", "mongo", "rabbitmq", "username", "token",
))  # fmt: skip
"""Passwords that everybody knows."""


def _is_mixed_password(value: str) -> bool:
    return is_mixed(value) and not is_placeholder(value)


def _is_any_password(value: str) -> bool:
    """Return whether a value is a password where only passwords stand."""
    is_port = value.isdigit() and len(value) <= 5
    return not (is_port or value.lower() in _DEFAULTS or is_placeholder(value))


def _is_token(value: str) -> bool:
    return is_secret(KEY, value, Place.QUOTED)


def _is_random_key(value: str) -> bool:
    return is_random(value) and not is_placeholder(value)


def _is_basic_login(value: str) -> bool:
    return is_basic_login(value) or (len(value) >= 24 and is_random(value))


def _is_chosen_key(value: str) -> bool:
    return is_secret(SECRET, value, Place.QUOTED)


@dataclass(frozen=True, slots=True)
class _Rule:
    anchor: bytes
    """In small letters. One that ends in "(" is the name of a function."""
    kind: str
    is_value: Callable[[str], bool]
    """Returns whether what the pattern found is a secret."""
    pattern: re.Pattern[str]
    """Begins with the anchor, or the bracket; its last group is the secret."""
    before: re.Pattern[str] | None
    """Matches what is before; if it has a group, that is the secret."""


MAX_BEFORE_CHARS = 200
"""This much of the text before an anchor is read."""

_ABBREVIATIONS = {
    "<A>": r"(?: [^|;&\n]{0,200}?)??",  # any arguments
    "<L>": r"(?:[^\n|;]|\\\n){0,400}?",  # arguments, maybe on several lines
    "<K>": r"(?:[^\"'`\n;]{0,120}?[,(\]] ?)?(?:<Q>[\w-]{1,40}<Q>,\s?){0,2}b?<Q>"
    r"([^\s\"'`\\]{8,128})(?=<Q>)",  # the first string, or one after short strings
    "<N>": r"[\w.@+-]{1,64}",  # the name of a user
    "<S>": r"([^\s\"'`\\]{4,256}|[a-z]{4}(?: [a-z]{4}){3})(?=<Q>)",  # up to a quote
    "<V>": r"\\{0,3}[\"']?([^\s\"'`\\|;&<>]{4,256})",  # a value that may be quoted
    "<H>": "[0-9a-f]{32}",
    "<P>": r"([^\s\"'\\]{4,255})(?=[\s\"'\\]|$)",  # up to a space or quote
    "<Q>": QUOTE,  # the last, since others contain it
}


def _rule(
    anchor: str,
    kind: str,
    is_value: Callable[[str], bool],
    pattern: str,
    before: str = "",
) -> _Rule:
    for short, full in _ABBREVIATIONS.items():
        pattern = pattern.replace(short, full)
    compiled = re.compile(pattern, re.IGNORECASE)
    compiled_before = re.compile(f"{before}$", re.IGNORECASE) if before else None
    return _Rule(anchor.encode(), kind, is_value, compiled, compiled_before)


def _password(anchor: str, pattern: str, commands: str = "") -> _Rule:
    """Return the rule for a password, as an option of commands if these are given."""
    before = rf"\b(?:{commands})\b[^|;&\n]*" if commands else ""
    return _rule(anchor, PASSWORD, _is_mixed_password, pattern, before)


def _call(functions: str, kind: str, pattern: str, before: str = "") -> Iterator[_Rule]:
    """Return a rule for each function that has a secret among its arguments."""
    check = _is_mixed_password if kind == PASSWORD else _is_chosen_key
    for name in functions.split():
        yield _rule(f"{name}(", kind, check, pattern, before)


_RULES = (
    # Headers
    _rule("bearer ", "bearer token", _is_token, r"bearer {1,4}([\w.~+/=-]{16,4096})"),
    _rule("basic ", BASIC, _is_basic_login, r"basic {1,4}([A-Za-z0-9+/]{8,512}={0,2})"),
    _rule("auth", TOKEN, _is_token,
          r"authorization(?:<Q>)?\]?[ \t]{0,4}[:=,][ \t]{0,4}(?:<Q>)?"
          r"(?:(?!basic|bearer)[a-z][\w-]{1,24}[ =] {0,3})?"
          r"(?!basic |bearer )([\w.~+/=:-]{8,4096})"),
    # URLs. A password like the name of its user is a default: postgres:postgres.
    _rule("://", PASSWORD, _is_any_password,
          r"://(?!([\w.-]+):\1@)"
          r"[^\s/@:\"'`\\<>?#(){}]{0,128}:([^\s/@\"'`\\<>]{3,256})@"),
    # The address of Sentry, https://key@host/1224, is public.
    _rule("://", TOKEN, _is_random_key, r"://([\w.~-]{16,256})@(?![\w.-]+/\d+\b)"),
    _rule("hooks.slack", "webhook", bool, r"hooks\.slack\.com/\w+/([\w/]{20,256})"),
    _rule("/webhook", "webhook", _is_token,
          r"/webhooks?/(?:send\?key=)?([\w/-]{20,256})"),
    _rule("signature=", "signature", _is_random_key,
          r"signature=([\w%+/-]{20,2048}={0,2})"),
    _rule("sig=", "signature", _is_random_key,
          r"(?<=[?&;])sig=([\w%+/-]{20,2048}={0,2})"),
    # Data sources without a scheme: user:password@tcp(host), user/password@host:1521
    _rule("@", PASSWORD, _is_mixed_password,
          r"@(?:(?:tcp|unix)?\(|(?://)?[\w.-]{1,128}:\d{2,5}\b)",
          r"(?:^|[\s\"'`=(]|thin:)[\w.-]{1,64}[:/]([^\s\"'`\\/:@]{4,128})"),
    # Commands
    _password(" -p", r" (?-i:-p)<V>", r"mysql\w*|mariadb[\w-]*|7z\w?|rar|unrar"),
    _password(" -p", r" (?-i:-p)[ =]<V>", r"mongo\w*|login|cqlsh|cypher-shell|psexec"
              "|evil-winrm|rabbitmqadmin|nxc|netexec|crackmapexec"),
    _password(" -p", r" (?-i:-P) ?<V>", r"[it]sql|sqlcmd|bcp|(?:un)?zip|mosquitto_\w+"
              "|ipmitool"),
    _password(" -h", r" -hp<V>", "rar"),
    _password(" -k", r" -k <V>", "openssl enc"),
    _password(" -n", r" (?-i:-N) <V>", "ssh-keygen"),
    _password(" -w", r" -w <V>", r"ldap\w+"),
    _password(" -u", r" -U ?(?:<Q>)?[\w\\/.-]{1,64}%<V>", "smbclient|rpcclient|winexe"),
    _password(" -u", r" -u <N>,<V>", "lftp"),
    _password(" -a", r" -a (?:<Q>)?<N>:<V>", "https?|xhs?"),
    _password("pass", r"(?<=-)password <V>", "neo4j-admin|grafana-cli"),
    _rule("redis-cli", PASSWORD, _is_any_password,
          r"redis-cli\b<A> (?:-a|--pass)[ =]<V>"),
    _rule("pass", PASSWORD, _is_any_password, r"(?<=ssh)pass\b<A> -p ?<V>"),
    _rule("curl", PASSWORD, _is_any_password,
          r"curl\b<L> (?:-u|--user|-U|--proxy-user)[ =]{0,3}(?:<Q>)?"
          r"[^\s:\"'`\\$]{0,128}:(?:<Q>)?([^\s\"'`\\|;&<>]{3,256})"),
    _rule("curl", KEY, _is_random_key,
          r"curl\b<L> (?:-u|--user)[ =]{0,3}(?:<Q>)?([\w-]{20,256}):(?=[\"'\s\\]|$)"),
    _password("pass", r"(?<=require)pass <V>"),
    _password("bindpw", r"bindpw {1,8}<V>"),
    _password("securestring", r"securestring (?:-string )?<Q><S>"),
    # htpasswd -cb FILE USER PASSWORD, mosquitto_passwd -b FILE USER PASSWORD
    _password("pass", r"passwd(?= [^|;&\n]{0,80}-\w{0,8}b)(?: -\w{1,16}){1,8}"
              r"(?: \d+)?(?: [^\s\"'-][^\s\"']{0,128}){1,2} <V>(?=[\s\"'\\|;&]|$)"),
    _password("rabbitmqctl", r"rabbitmqctl (?:add_user|change_password) \S{1,128} <V>"),
    _password("net use", r"net use(?:r |<A> /user:)\S{1,128} <V>"),
    _password("net use", r"net use(?: [^\s/]\S{0,128}){1,2} <V> /user:"),
    _password("wifi connect", r"wifi connect<A> password <V>"),
    _password("auth", r"(?<=neo4j_)auth[=:] ?(?:<Q>)?neo4j/<V>"),
    _password("pass", r"(?<=wpa_)passphrase (?:<Q>)?[^\s\"'\\]{1,64}(?:<Q>)? <V>"),
    _password("alias set", r"alias set \S{1,64} https?://\S{1,128} \S{1,64} <V>"),
    _password("pass", r"(?<=[\s\"'/])pass:<V>"),
    _password("from-literal", r"from-literal[= ](?:<Q>)?[\w.-]{1,64}=<V>"),
    # echo … | docker login --password-stdin, chpasswd <<< ada:password
    _password("echo ",
              r"echo (?:-n )?(?:<Q>)?(?:<N>:(?=.{1,128}chpasswd))?([^\s\"'`|\\]{4,256})"
              r"(?:<Q>)? ?\| ?(?:sudo -S|(?:sudo )?chpasswd"
              r"|[^|\n;]{1,160}?(?:-stdin|--with-token))"),
    _password("<<<", r"<<< ?(?:<Q>)?(?:<N>:)?<V>",
              r"(?:ch)?passwd|sudo|[\w-]+-stdin|with-token"),
    # Calls with a name and a password
    _password("auth", r"auth\w{0,12}(?:\.basic)? ?=? ?\(<Q><N><Q>, ?<Q><S>"),
    _password("login", r"login\(<Q><N><Q>, ?<Q><S>"),
    _password("credential", r"credentials?\(<Q><N><Q>, ?<Q><S>"),
    *_call("mysqli mysqli_connect pdo connect getconnection sequelize ftp", PASSWORD,
           r"\(\s{0,8}(?:<Q>[^\"'`\n]{1,128}<Q>|\$?\w{1,32}),"
           r"\s?(?:<Q><N><Q>|\$\w{1,32}),\s?<Q><S>"),
    *_call("connect", PASSWORD, r"\(<Q><N><Q>, ?<Q><S>", r"oracle\w*\.\w+"),
    # Calls with a key
    *_call("fernet createhmac hmac hmacshakeyfor hmacsha256 hmacsha512 secretkeyspec"
           " createcipheriv createdecipheriv symmetricsecuritykey cookieparser pusher"
           " urlsafetimedserializer urlsafeserializer timestampsigner newcookiestore"
           " algoliasearch stripeclient", KEY, r"\(<K>"),
    *_call("sign verify encode decode", KEY, r"\(<K>", r"jwt\.\w+"),
    *_call("new encrypt decrypt", KEY, r"\(<K>", r"\b(?:aes|hmac)\.\w+"),
    # An account of Twilio and its token, also require('twilio')('AC…', '…')
    *_call("twilio client", TOKEN, r"\(<Q>AC<H><Q>, ?<Q>(<H>)(?=<Q>)"),
    _rule("(", TOKEN, bool, r"\(<Q>AC<H><Q>, ?<Q>(<H>)(?=<Q>)"),
    # SQL, and password files of PostgreSQL
    _password("identified ", r"identified (?:with \S{1,40} )?(?:by|as) <Q><S>"),
    _password("pass", r"password '([^\s'\\]{4,256})(?=')",
              "(?:create|alter) (?:user|role|login)|mysqladmin"),
    _password(":5432:", r":5432:[\w*.-]{1,64}:<N>:<P>"),
    _rule(":*:", PASSWORD, _is_mixed_password, r":\*:[\w*.-]{1,64}:<N>:<P>",
          r"(?:^|[\s\"'])[\w*.-]{1,64}"),
)  # fmt: skip

_RULES_BY_ANCHOR: dict[bytes, list[_Rule]] = {}
for _each_rule in _RULES:
    _RULES_BY_ANCHOR.setdefault(_each_rule.anchor, []).append(_each_rule)

_WORDS = [
    anchor
    for anchor in _RULES_BY_ANCHOR
    if not anchor.startswith(b" -") and not anchor.endswith(b"(")
]
"""The anchors that are neither options nor functions."""

MAX_FUNCTION_CHARS = 40
"""A longer name before a bracket is not looked up."""

_COOKIE_HEADER = re.compile(
    rf"(?:cookie(?:{QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{QUOTE})?"
    rf"|curl\b(?:[^\n|;]|\\\n){{0,400}}? (?:-b|--cookie)[ =]?(?:{QUOTE})?)",
    re.IGNORECASE,
)
_COOKIES = re.compile(
    r"(?:[\w.-]{1,80}=[^;\s\"'`\\]{0,4096}(?:; ?|$|(?=[\s\"'`\\]))){1,60}"
)
_COOKIE = re.compile(r"([\w.-]{1,80})=([^;\s\"'`\\]{8,4096})")
_SESSION = re.compile(
    r"sess|sid$|token|auth|jwt|csrf|xsrf|login|remember", re.IGNORECASE
)


def find_in_commands(text: str, lowered: bytes, name_chars: bytes) -> Iterator[Span]:
    """Find the secrets of all rules, and cookies.

    Args:
        text: The text.
        lowered: The text as lower-case ASCII, one byte a character.
        name_chars: The same with spaces for all characters that names do not contain.
    """
    for at, rules in _find_anchors(lowered, name_chars):
        for rule in rules:
            if match := _match(rule, text, at):
                start, end = match.span(match.lastindex or 0)
                if rule.is_value(text[start:end]):
                    yield start, end, rule.kind
    for anchor in (b"cookie", b"curl"):
        at = lowered.find(anchor)
        while at >= 0:
            yield from _find_cookies(text, at)
            at = lowered.find(anchor, at + len(anchor))


def _find_anchors(
    lowered: bytes, name_chars: bytes
) -> Iterator[tuple[int, list[_Rule]]]:
    """Find the anchors of rules, and the brackets of calls.

    Options and calls are looked up, so that their number does not matter.
    """
    for anchor in _WORDS:
        at = lowered.find(anchor)
        while at >= 0:
            yield at, _RULES_BY_ANCHOR[anchor]
            at = lowered.find(anchor, at + len(anchor))
    at = lowered.find(b" -")
    while at >= 0:
        if rules := _RULES_BY_ANCHOR.get(lowered[at : at + 3]):
            yield at, rules
        at = lowered.find(b" -", at + 2)
    at = lowered.find(b"(")
    while at >= 0:
        low = max(0, at - MAX_FUNCTION_CHARS)
        start = max(name_chars.rfind(b" ", low, at), lowered.rfind(b".", low, at)) + 1
        if rules := _RULES_BY_ANCHOR.get(lowered[start : at + 1]):
            yield at, rules
        at = lowered.find(b"(", at + 1)


def _match(rule: _Rule, text: str, at: int) -> re.Match[str] | None:
    """Return the match whose last group may be the secret of a rule."""
    match = rule.pattern.match(text, at)
    if not match or not rule.before:
        return match
    before = rule.before.search(text, max(0, at - MAX_BEFORE_CHARS), at)
    return before if before and before.lastindex else match if before else None


def _find_cookies(text: str, at: int) -> Iterator[Span]:
    """Find the cookies of a session in a header, or in an option of curl."""
    header = _COOKIE_HEADER.match(text, at)
    line = _COOKIES.match(text, header.end()) if header else None
    for cookie in _COOKIE.finditer(text, *line.span()) if line else ():
        name, value = cookie.groups()
        is_session = bool(_SESSION.search(name)) and any(map(str.isdigit, value))
        if _is_random_key(value) or (is_session and _is_token(value)):
            yield *cookie.span(2), "cookie"
