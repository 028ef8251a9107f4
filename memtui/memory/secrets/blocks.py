"""Secrets that have lines of their own: blocks of keys, hashes of passwords."""

import re
from collections.abc import Callable, Iterator

Span = tuple[int, int, str]
"""Where a secret starts and ends, and its kind; "" for what was looked at in vain."""

Rule = Callable[[str, int], Iterator[Span]]
"""What looks at a place in a text."""

KEY_BLOCK_CHARS = 32_768
"""The most of a block that is looked through for its end."""

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[^\"'`{}<\\]|\\++(?:[nrt]|u[0-9a-f]{4}))*")
_KEY_LINES = re.compile(
    r"(?:(?:[ \t]*(?:\r?\n|\\++[nr]))+(?:[ \t]*\d{1,6}(?:[→\t:|]|\\++(?:t|u2192)))?"
    r"[ \t>+|-]{0,12}"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n\\\"']{0,100}"
    r"|[A-Za-z0-9+/]{1,256}={0,2}(?![^\s\\\"'`…])))+"
)
_KEY_IN_A_LINE = re.compile(
    r"(?:[ \t]+(?:Proc-Type|DEK-Info): \S{1,60})*"
    r"(?:(?:\s|\\++[nrt])*(?:\d{1,6}[→\t:| ][ \t]*)?[+>|-]?[ \t]{0,4}"
    r"[A-Za-z0-9+/]{24,}+={0,2})+"
    r"(?:[ \t]+(?:\d{1,6} )?[A-Za-z0-9+/]{1,23}={0,2}(?=…|\s*(?:$|-----|[\"'`\\])))?"
)
"""A key whose lines were joined, or that was cut; words of prose are shorter."""
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{16}")
_JOINT = r"(?:[ \t]*(?:\r?\n|\\++[nr])[ \t>+|-]{0,4}|[ \t]+)"
_PUTTY = re.compile(
    rf"private-lines: \d{{1,4}}{_JOINT}"
    rf"([A-Za-z0-9+/]{{16,}}={{0,2}}(?:{_JOINT}[A-Za-z0-9+/]{{16,}}={{0,2}})*)",
    re.IGNORECASE,
)
_HASH = re.compile(
    r":(\$(?:apr1|1|5|6|7|y|gy|2[abxy])\$[./A-Za-z0-9$=,]{16,128})(?=[\s:\"'\\]|$)"
)
_BEFORE_HASHES = re.compile(r"[\w.@-]$")


def _key_block(text: str, at: int) -> Iterator[Span]:
    begin = _PRIVATE_KEY.match(text, at)
    if not begin:
        return
    limit = text.find("-----BEGIN", begin.end(), at + KEY_BLOCK_CHARS)
    limit = limit if limit >= 0 else at + KEY_BLOCK_CHARS
    closing = text.find("-----END", begin.end(), limit)
    if closing >= 0 and (end := _KEY_END.match(text, closing)):
        body = _KEY_BODY.fullmatch(text, begin.end(), closing)
        if body and _KEY_TEXT.search(body[0]):
            yield at, end.end(), "private key"
            return
    lines = _KEY_LINES.match(text, begin.end(), limit)
    if not lines or not _KEY_TEXT.search(lines[0]):
        lines = _KEY_IN_A_LINE.match(text, begin.end(), limit)
    if lines:
        yield at, lines.end(), "private key"


def _putty(text: str, at: int) -> Iterator[Span]:
    lines = _PUTTY.match(text, at)
    if lines:
        yield *lines.span(1), "private key"


def _hash(text: str, at: int) -> Iterator[Span]:
    found = _HASH.match(text, at)
    if found and _BEFORE_HASHES.search(text, max(0, at - 1), at):
        yield *found.span(1), "password hash"


RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"-----begin", _key_block),
    (b"private-lines:", _putty),
    (b":$", _hash),
)
"""What each place is known by, and what looks at it."""
