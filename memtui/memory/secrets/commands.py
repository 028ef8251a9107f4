"""Passwords that commands are given, each by a flag or a place of its own."""

import re
from collections.abc import Iterator

from memtui.memory.secrets import names as names
from memtui.memory.secrets.blocks import Rule, Span

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


def _login_flag(text: str, at: int) -> Iterator[Span]:
    flag = _LOGIN_FLAG.match(text, at)
    if flag and not names.is_template(flag[1]):
        yield *flag.span(1), "password"


def _password_flag(text: str, at: int) -> Iterator[Span]:
    flag = _PASSWORD_FLAG.match(text, at + 3)
    before = text[max(0, at - 200) : at]
    if not flag or names.is_template(flag[1]) or _PORTS.match(flag[1]):
        return
    is_tight = text[at + 3 : at + 4] != " "
    if _TIGHT.search(before) if is_tight else _LOOSE.search(before):
        yield *flag.span(1), "password"


def _redis(text: str, at: int) -> Iterator[Span]:
    flag = _REDIS.match(text, at)
    if flag and not names.is_template(flag[1]):
        yield *flag.span(1), "password"


def _htpasswd(text: str, at: int) -> Iterator[Span]:
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
    if value and not names.is_template(value[0]):
        yield *value.span(), "password"


RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"curl", _login_flag),
    (b" -p", _password_flag),
    (b"redis-cli", _redis),
    (b"htpasswd", _htpasswd),
)
"""What each command is known by, and what looks at it."""
