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


@dataclass(frozen=True, slots=True)
class _Rule:
    anchor: bytes
    kind: str
    is_value: Callable[[str], bool]
    """Returns whether what the pattern found is a secret."""
    pattern: re.Pattern[str]
    """Begins with the anchor; its last group is the secret."""


_ABBREVIATIONS = {
    "<A>": r"(?: [^|;&\n]{0,200}?)??",  # any arguments
    "<L>": r"(?:[^\n|;]|\\\n){0,400}?",  # arguments, maybe on several lines
    "<N>": r"[\w.@+-]{1,64}",  # the name of a user
    "<S>": r"([^\s\"'`\\]{4,256})(?=<Q>)",  # a value up to a quote
    "<V>": r"\\{0,3}[\"']?([^\s\"'`\\|;&<>]{4,256})",  # a value that may be quoted
    "<Q>": QUOTE,  # the last, since others contain it
}


def _rule(
    anchor: str, kind: str, is_value: Callable[[str], bool], pattern: str
) -> _Rule:
    for short, full in _ABBREVIATIONS.items():
        pattern = pattern.replace(short, full)
    return _Rule(anchor.encode(), kind, is_value, re.compile(pattern, re.IGNORECASE))


_RULES = (
    # Headers
    _rule("bearer ", "bearer token", _is_token, r"bearer {1,4}([\w.~+/=-]{16,4096})"),
    _rule("basic ", BASIC, _is_basic_login, r"basic {1,4}([A-Za-z0-9+/]{8,512}={0,2})"),
    _rule(
        "authorization",
        TOKEN,
        _is_token,
        r"authorization(?:<Q>)?\]?[ \t]{0,4}[:=,][ \t]{0,4}(?:<Q>)?"
        r"(?:(?!basic|bearer)[a-z][\w-]{1,24}[ =] {0,3})?"
        r"(?!basic |bearer )([\w.~+/=:-]{8,4096})",
    ),
    # URLs
    _rule(
        "://",
        PASSWORD,
        _is_any_password,
        # A password like the name of its user is a default: postgres:postgres.
        r"://(?!([\w.-]+):\1@)"
        r"[^\s/@:\"'`\\<>?#(){}]{0,128}:([^\s/@\"'`\\<>]{3,256})@",
    ),
    # The address of Sentry, https://key@host/1224, is public.
    _rule("://", TOKEN, _is_random_key, r"://([\w.~-]{16,256})@(?![\w.-]+/\d+\b)"),
    _rule("hooks.slack", "webhook", bool, r"hooks\.slack\.com/\w+/([\w/]{20,256})"),
    _rule(
        "/webhook",
        "webhook",
        _is_token,
        r"/webhooks?/(?:send\?key=)?([\w/-]{20,256})",
    ),
    _rule(
        "signature=",
        "signature",
        _is_random_key,
        r"signature=([\w%+/-]{20,2048}={0,2})",
    ),
    _rule(
        "sig=", "signature", _is_random_key, r"(?<=[?&;])sig=([\w%+/-]{20,2048}={0,2})"
    ),
    # Commands
    _rule("mysql", PASSWORD, _is_mixed_password, r"mysql(?:dump|admin)?\b<A> -p<V>"),
    _rule("mariadb", PASSWORD, _is_mixed_password, r"mariadb(?:-\w+)?\b<A> -p<V>"),
    _rule(
        "mongo", PASSWORD, _is_mixed_password, r"mongo(?:sh|dump|restore)?\b<A> -p <V>"
    ),
    _rule(
        "redis-cli",
        PASSWORD,
        _is_any_password,
        r"redis-cli\b<A> (?:-a|--pass)[ =]<V>",
    ),
    _rule("requirepass", PASSWORD, _is_mixed_password, r"requirepass <V>"),
    _rule("sshpass", PASSWORD, _is_any_password, r"sshpass\b<A> -p ?<V>"),
    _rule(" login", PASSWORD, _is_mixed_password, r" login\b<A> -p[ =]<V>"),
    _rule(
        "curl",
        PASSWORD,
        _is_any_password,
        r"curl\b<L> (?:-u|--user|-U|--proxy-user)[ =]{0,3}(?:<Q>)?"
        r"[^\s:\"'`\\$]{0,128}:(?:<Q>)?([^\s\"'`\\|;&<>]{3,256})",
    ),
    _rule(
        "curl",
        KEY,
        _is_random_key,
        r"curl\b<L> (?:-u|--user)[ =]{0,3}(?:<Q>)?"
        r"([\w-]{20,256}):(?=[\"'\s\\]|$)",
    ),
    _rule(
        "ldap",
        PASSWORD,
        _is_mixed_password,
        r"ldap(?:search|add|modify|passwd|whoami)<A> -w <V>",
    ),
    _rule(
        "htpasswd",
        PASSWORD,
        _is_mixed_password,
        r"htpasswd\b(?: -\w+)* -\w*b\w*<A> \S+ <V>(?=[\s\"'\\]|$)",
    ),
    _rule("pass:", PASSWORD, _is_mixed_password, r"(?<=[\s\"'])pass:<V>"),
    _rule(
        "from-literal",
        PASSWORD,
        _is_mixed_password,
        r"from-literal[= ](?:<Q>)?[\w.-]{1,64}=<V>",
    ),
    # echo … | docker login --password-stdin
    _rule(
        "echo ",
        PASSWORD,
        _is_mixed_password,
        r"echo (?:-n )?(?:<Q>)?(?:<N>:(?=.{1,128}chpasswd))?([^\s\"'`|\\]{4,256})"
        r"(?:<Q>)? ?\| ?(?:sudo -S|(?:sudo )?chpasswd"
        r"|[^|\n;]{1,160}?(?:-stdin|--with-token))",
    ),
    # Calls with a name and a password
    _rule(
        "auth",
        PASSWORD,
        _is_mixed_password,
        r"auth\w{0,12} ?=? ?\(<Q><N><Q>, ?<Q><S>",
    ),
    _rule("login(", PASSWORD, _is_mixed_password, r"login\(<Q><N><Q>, ?<Q><S>"),
    _rule(
        "credential",
        PASSWORD,
        _is_mixed_password,
        r"credentials?\(<Q><N><Q>, ?<Q><S>",
    ),
    # SQL, and password files of PostgreSQL
    _rule(
        "identified ",
        PASSWORD,
        _is_mixed_password,
        r"identified (?:with \S{1,40} )?(?:by|as) <Q><S>",
    ),
    _rule(
        "password '", PASSWORD, _is_mixed_password, r"password '([^\s'\\]{4,256})(?=')"
    ),
    _rule(
        ":5432:",
        PASSWORD,
        _is_mixed_password,
        r":5432:[\w*.-]{1,64}:<N>:([^\s\"'\\]{4,255})(?=\s|$|\\)",
    ),
)

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


def find_in_commands(text: str, lowered: bytes) -> Iterator[Span]:
    """Find the secrets of all rules, and cookies.

    Args:
        text: The text.
        lowered: The text as lower-case ASCII, one byte a character.
    """
    for rule in _RULES:
        at = lowered.find(rule.anchor)
        while at >= 0:
            past = at + len(rule.anchor)
            match = rule.pattern.match(text, at)
            group = match.lastindex if match else 0
            if match and group and rule.is_value(match[group]):
                yield *match.span(group), rule.kind
                past = match.end(group)
            at = lowered.find(rule.anchor, past)
    for anchor in (b"cookie", b"curl"):
        at = lowered.find(anchor)
        while at >= 0:
            yield from _find_cookies(text, at)
            at = lowered.find(anchor, at + len(anchor))


def _find_cookies(text: str, at: int) -> Iterator[Span]:
    """Find the cookies of a session in a header, or in an option of curl."""
    header = _COOKIE_HEADER.match(text, at)
    line = _COOKIES.match(text, header.end()) if header else None
    for cookie in _COOKIE.finditer(text, *line.span()) if line else ():
        name, value = cookie.groups()
        is_session = bool(_SESSION.search(name)) and any(map(str.isdigit, value))
        if _is_random_key(value) or (is_session and _is_token(value)):
            yield *cookie.span(2), "cookie"
