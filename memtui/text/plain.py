"""Show the beginning of a message in a line, without markup."""

import re
from collections.abc import Iterator

READ_CHARS = 8_000
"""Only this much of a message is read."""

_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>```|~~~).*?(?:^[ \t>]*(?P=fence)[^\n]*$|\Z)", re.DOTALL | re.M
)
_BLOCK_MARK = re.compile(
    r"[\s>]*(?:#{1,6}\s+)?(?:(?:[-*+•▪‣]|\d{1,3}[.)])\s+(?:\[[ xX]?\]\s+)?)?"
)
_TABLE_ROW = re.compile(r"\s*[|│┌├└╭╰]|\s*:?-{3,}:?\s*\|")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_TAG = re.compile(r"(?:</|(?<!\w)<)[A-Za-z][\w:-]*(?:\s[^<>\n]*)?/?>|<!--.*?(?:-->|$)")
_CODE = re.compile(r"(?<!`)`+([^`\n]+)`+")
_EMPHASIS = re.compile(r"(?<![\w*/])(\*{1,3}|~~)(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*/])")
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\[\]\"'`]+")
_LONG_PATH = re.compile(r"(?<![\w.:/~])(?:~|[\w.-]+:?)?(?:[/\\][\w.@+-]+){3,}[/\\]?")


def plain_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message that have words, without markup.

    Blocks of code, tables and rules are left out.
    """
    read = text[:READ_CHARS]
    if "```" in read or "~~~" in read:
        read = _FENCED.sub("", read)
    for line in read.splitlines():
        if not _TABLE_ROW.match(line):
            plain = _strip_marks(line[_match_end(line) :])
            if any(map(str.isalnum, plain)):
                yield plain


def _match_end(line: str) -> int:
    mark = _BLOCK_MARK.match(line)
    return mark.end() if mark else 0


def _strip_marks(line: str) -> str:
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    parts = _CODE.split(line)
    for number in range(0, len(parts), 2):  # The others are code between backticks.
        if "<" in parts[number]:
            parts[number] = _TAG.sub(" ", parts[number])
    line = "".join(parts) if len(parts) > 1 else parts[0]
    if "*" in line or "~~" in line:
        line = _EMPHASIS.sub(r"\2", line)
    return " ".join(line.split())


def plain_beginning(text: str, limit: int) -> str:
    """Return the beginning of a message in a line; its code if it has nothing else.

    It is empty if the message has only tags, such as that of a picture.
    """
    words, length = list[str](), 0
    for line in plain_lines(text):
        words.append(line)
        length += len(line) + 1
        if length > limit:
            break
    if not words and _TAG.sub("", text[:READ_CHARS]).strip():
        words = text[:READ_CHARS].replace("`", "").split()
    return shorten(" ".join(words), limit)


def shorten(text: str, limit: int) -> str:
    """Shorten a text to at most ``limit`` characters at a word, marked with "…"."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = head.rfind(" ")
    head = head[:end] if end > limit // 2 else head[:-1]
    return head.rstrip(" ,;:.-–—(…") + "…"


def shorten_addresses(text: str) -> str:
    """Return a text with the last part of each web address and long path."""
    if "://" in text:
        text = _ADDRESS.sub(lambda match: _last_part(match[0]), text)
    if "/" in text or "\\" in text:
        text = _LONG_PATH.sub(lambda match: _last_part(match[0]), text)
    return text


def _last_part(address: str) -> str:
    """Return the last part of an address; the last two if it is a number."""
    ending = address[len(address.rstrip(".,;:!?")) :]
    parts = re.split(r"[/\\]+", address.rstrip(".,;:!?/\\").partition("?")[0])
    count = 2 if parts[-1].isdigit() and len(parts) > 3 else 1
    return "/".join(parts[-count:]) + ending
