"""Where secrets stand without a shape of their own: names, headers, URLs, key blocks.

Each place is found by a word that must stand there, in the lower-cased bytes of the
text: looking for a few words is a tenth of the work of one pattern for all of them.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from memtui.memory.secrets import blocks, commands
from memtui.memory.secrets import names as names
from memtui.memory.secrets import values as values
from memtui.memory.secrets.blocks import Rule, Span

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


def found(text: str, low: bytes, signs: bytes) -> Iterator[Span]:
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


def _looked(anchor: bytes, rule: Rule, text: str, low: bytes) -> Iterator[Span]:
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
) -> Iterator[Span]:
    at = low.find(part)
    while at >= 0:
        end = signs.find(b" ", at, at + names.NAME_CHARS)
        if end < 0:
            end = min(len(text), at + names.NAME_CHARS)
        if end not in met:
            met.add(end)
            start = signs.rfind(b" ", max(0, at - names.NAME_CHARS), at) + 1
            for span in _value(text, start or max(0, at - names.NAME_CHARS), end):
                end = max(end, span[1])
                if span[2]:
                    yield span
        at = low.find(part, end)


def _value(text: str, start: int, end: int) -> Iterator[Span]:
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start:end].rstrip(".-")
    end = start + len(name)
    if name[-13:].lower() == "authorization":
        yield from _header(text, end)
        return
    kind = names.kind_of(name)
    if not kind and text[start - 1 : start] in ("?", "&") and name.lower() == "key":
        kind = names.TOKEN
    if not kind:
        return
    value = values.of_name(text, start, end)
    if value and (is_told(kind, value) or is_phrase(name, kind, value)):
        yield value.start, value.end, kind
    elif value and len(value.text) > LONG_CHARS and not value.is_quoted:
        yield value.start, value.end, ""


def is_told(kind: str, value: values.Value) -> bool:
    """Whether a name of some kind tells a secret in its value."""
    if value.sign == "is" and not names.is_strong(value.text):
        return False
    if names.is_secret(kind, value.text, is_quoted=value.is_quoted):
        if value.sign in (" ", "is") and not value.is_quoted:
            return any(map(str.isdigit, value.text)) or not value.text.isalpha()
        return True
    return (
        kind == names.PASSWORD
        and value.after not in (",", ")", ".", "(", "[")
        and (value.is_tight or value.sign == ":")
        and any(map(str.isdigit, value.text))
        and any(map(str.isalpha, value.text))
        and names.is_secret(kind, value.text, is_quoted=True)
        and not names.is_code(value.text)
    )


def is_phrase(name: str, kind: str, value: values.Value) -> bool:
    """Whether a value is a password of several words, as a setting may have it."""
    return (
        kind == names.PASSWORD
        and (name.isupper() or name.startswith("--"))
        and value.is_quoted
        and value.is_tight
        and value.sign == "="
        and " " in value.text.strip()
        and not names.is_placeholder(value.text)
        and not names.is_template(value.text)
    )


def _header(text: str, at: int) -> Iterator[Span]:
    header = _HEADER.match(text, at)
    if not header or names.is_placeholder(header[2]):
        return
    scheme, value = (header[1] or "").lower(), header[2]
    if scheme == "basic":
        if is_login(value):
            yield *header.span(2), "basic auth"
    elif names.is_random(value) or (scheme and any(map(str.isdigit, value))):
        yield (
            *header.span(2),
            f"{scheme or 'authorization'} token".replace("token token", "token"),
        )


def is_login(value: str) -> bool:
    """Whether a Basic value is one: base64 of a name, a colon and a password."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return False


def _bearer(text: str, at: int) -> Iterator[Span]:
    token = _BEARER.match(text, at + len("bearer"))
    if token and names.is_random(token[1]) and not names.is_placeholder(token[1]):
        yield *token.span(1), "bearer token"


def _cookie(text: str, at: int) -> Iterator[Span]:
    line = _COOKIES.match(text, at + len("cookie"))
    if not line:
        return
    yield *line.span(), ""
    for cookie in _COOKIE.finditer(text, line.start(1), line.end(1)):
        name, value = cookie[1], cookie[2]
        if names.is_placeholder(value) or names.is_code(value):
            continue
        if names.is_random(value) or (
            _SESSION.search(name) and any(map(str.isdigit, value))
        ):
            yield *cookie.span(2), "cookie"


def _url(text: str, at: int) -> Iterator[Span]:
    login = _LOGIN.match(text, at + 3)
    if login:
        if not names.is_template(login[2]) and not _is_port(*login.groups()):
            yield *login.span(2), "password"
    elif lone := _LONE_LOGIN.match(text, at + 3):
        if names.is_random(lone[1]):
            yield *lone.span(1), "token"
    elif (found := _WEBHOOK.match(text, at)) and names.is_webhook(found[1]):
        yield *found.span(1), "webhook"


def _is_port(name: str, value: str) -> bool:
    """Whether what looks like a login is a host and port before a trick's ``@``."""
    return bool(_PORT.match(value)) and (name == "localhost" or "." in name)


def _signature(text: str, at: int) -> Iterator[Span]:
    value = _SIGNATURE.match(text, text.find("=", at))
    if value and text[at - 1 : at] in ("?", "&", ";") and names.is_random(value[1]):
        yield *value.span(1), "signature"


_RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"bearer ", _bearer),
    (b"cookie", _cookie),
    (b"sig=", _signature),
    (b"x-amz-signature=", _signature),
    *blocks.RULES,
)
"""What each place is known by, and what looks at it."""

_WITH_FLAGS = (*_RULES, *commands.RULES)
"""The same where a flag is given to something: no command tells a password without."""

_BESIDE = {b"-----begin": b"key", b"private-lines:": b"key", b"htpasswd": b"pass"}
"""The part of a name that some never stand without."""
