"""Changes to a JSON text with comments in it, which stay where they are.

Comments, and a comma behind the last part, are read as white space; what is put in
stands behind the comment of the line before it. In a text without any of them all is as
``json_text`` has it.
"""

import re

from memtui.agents import json_text
from memtui.agents.json_text import SPACE

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[\]}}])")
_BEHIND = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
"""A comment that ends in the line of what it stands behind."""


def plain(text: str) -> str:
    """A text as JSON, every part of it in its own place."""
    bare = _bare(text)

    def blank(match: "re.Match[str]") -> str:
        before = bare[: match.start()].rstrip(SPACE)[-1:]
        return " " if match[0] == "," and before not in "{[,:" else match[0]

    return _COMMA.sub(blank, bare)


def append(text: str, at: int, value: object, key: str = "") -> str:
    """The text with one more part at the end of an object or array.

    Args:
        text: JSON, comments included.
        at: Where the object or array starts.
        value: What to put there.
        key: Under which name; objects alone need one.
    """
    told = plain(text)
    if told == text:
        return json_text.append(text, at, value, key)
    held = json_text.parts(told, at)
    if not held:
        return _appended_first(text, at, value, key)
    last, lead = held[-1], " "
    space = told[len(told[: last.start].rstrip(SPACE)) : last.start]
    if "\n" in space:
        lead = json_text.newline(text) + json_text.indent_of_line(text, last.start)
    after = json_text.skip(_bare(text), last.end)
    is_closed = _bare(text)[after] == ","
    end = after + 1 if is_closed else last.end
    if "\n" in lead and (behind := _BEHIND.match(text, end)):
        end = behind.start() + len(behind[0].rstrip(SPACE))
    more = f"{lead}{json_text.said(text, value, key, lead)}"
    if is_closed:
        return f"{text[:end]}{more},{text[end:]}"
    return f"{text[: last.end]},{text[last.end : end]}{more}{text[end:]}"


def _appended_first(text: str, at: int, value: object, key: str) -> str:
    if is_bare(text, at):
        return json_text.append(text, at, value, key)
    outer = json_text.newline(text) + json_text.indent_of_line(text, at)
    inner = outer + json_text.unit(text)
    more = json_text.said(text, value, key, inner)
    return f"{text[: at + 1]}{inner}{more}{text[at + 1 :]}"


def cut(text: str, at: int, index: int) -> str:
    """The text without one part of an object or array, and without its comma."""
    told = plain(text)
    if told == text:
        return json_text.cut(text, at, index)
    held, bare = json_text.parts(told, at), _bare(text)
    mine = held[index]
    start = len(text[: mine.start].rstrip(SPACE))
    after = json_text.skip(bare, mine.end)
    if bare[after] == ",":
        return text[:start] + text[after + 1 :]
    if index:
        comma = json_text.skip(bare, held[index - 1].end)
        return text[:comma] + text[comma + 1 : start] + text[mine.end :]
    return text[:start] + text[after if is_bare(text, at) else mine.end :]


def is_bare(text: str, at: int) -> bool:
    """Whether an object or array has no comment beside the parts it holds."""
    told = plain(text)
    held = json_text.parts(told, at)
    ends = [at + 1, *(part.end for part in held)]
    starts = [*(part.start for part in held), json_text.skip(told, ends[-1])]
    return all(
        not text[end:start].strip(f"{SPACE},")
        for end, start in zip(ends, starts, strict=True)
    )


def _bare(text: str) -> str:
    """A text with white space for its comments."""

    def blank(match: "re.Match[str]") -> str:
        said = match[0]
        return said if said[0] == '"' else re.sub(r"[^\r\n]", " ", said)

    return _COMMENT.sub(blank, text)
