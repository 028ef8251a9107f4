"""Find the text between ``<private>`` and ``</private>``.

Tags may be nested. An unclosed tag extends to the end of the text if it starts a line;
within a line it is a mention and is ignored. In JSON, tags are paired in each string.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from memtui.redaction.names import Span

PRIVATE = "private"

_TAG = re.compile(
    r"(?:<|\\++u003c|&lt;)\s{0,3}(\\*/)?\s{0,3}private(?:\s[^<>\n]{0,200}?)?\s{0,3}/?"
    r"(?:>|\\++u003e|&gt;)",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"(?:[\n\r]|\\[nr]|(?:[:,\[{]\s?|^)\\*\")(?:[ \t]|\\+t)*$")
"""Matches before the start of a line, or of a JSON string that was cut."""

MAX_INDENT_CHARS = 64
"""This much of the text before a tag is searched for the start of its line."""

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def find_private(text: str, lowered: bytes, *, is_fragment: bool) -> list[Span]:
    """Find private text.

    Args:
        text: The text.
        lowered: The text in lower-case ASCII.
        is_fragment: True if the text may be a part: then an unclosed tag extends to
            its end, since the closing tag may have been cut off.
    """
    if b"private" not in lowered or not _TAG.search(text):
        return []
    strings = [(0, len(text))]
    if text.lstrip()[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            json.loads(text)
            strings = [string.span(1) for string in _STRING.finditer(text)]
    return [
        span
        for start, end in strings
        for span in _find_tagged(text, start, end, is_fragment=is_fragment)
    ]


def _find_tagged(
    text: str, start: int, end: int, *, is_fragment: bool
) -> Iterator[Span]:
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text, start, end):
        if not tag[1]:
            opened.append(tag)
        elif opened:
            yield opened.pop().start(), tag.end(), PRIVATE
    for tag in opened:
        if is_fragment or _starts_line(text, start, tag):
            yield tag.start(), end, PRIVATE
            return


def _starts_line(text: str, start: int, tag: re.Match[str]) -> bool:
    """Return whether only whitespace precedes a tag in its line.

    A tag in HTML, ``&lt;private&gt;``, is a mention.
    """
    if tag[0].startswith("&"):
        return False
    before = text[max(start, tag.start() - MAX_INDENT_CHARS) : tag.start()]
    before = before.rstrip(" \t")
    if not before:
        return tag.start() - start < MAX_INDENT_CHARS
    is_mention = text[tag.end() : tag.end() + 1] in ("`", '"', "'", "\\")
    return bool(_LINE_START.search(before)) and not (before[-1] == '"' and is_mention)
