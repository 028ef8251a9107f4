"""Changes to a JSON text that leave every other byte of it as it is.

A text is never written anew from what it means: something is put behind the last part
of an object or array, in the manner of that part, or cut out with one comma. What was
put in and cut out again leaves the text as it was.
"""

import json
import re
from dataclasses import dataclass
from json import JSONDecodeError

SPACE = " \t\r\n"
"""White space, as JSON knows it."""


_OTHERWISE = "  "
"""How a text is indented that does not show it."""


class NotJson(ValueError):
    """The text is no JSON; says where and why."""


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object, or an element of an array."""

    key: str
    """Empty in an array."""
    start: int
    """Where it starts: with its key, if it has one."""
    at: int
    """Where its value starts."""
    end: int
    value: object


def _no_constant(name: str) -> object:
    raise NotJson(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def check(text: str) -> None:
    """Make sure that a text is one JSON object.

    Raises:
        NotJson: It is not.
    """
    try:
        value, end = _DECODER.raw_decode(text, root(text))
        if text[end:].strip(SPACE):
            raise JSONDecodeError("Something follows the end", text, end)
    except JSONDecodeError as error:
        said = f"{error.msg[0].lower()}{error.msg[1:]}"
        raise NotJson(f"line {error.lineno}: {said}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotJson("line 1: it is not an object")


def root(text: str) -> int:
    """Where the outermost value starts."""
    return skip(text, 1 if text.startswith("\ufeff") else 0)


def parts(text: str, at: int) -> list[Part]:
    """What an object or array holds.

    Args:
        text: Valid JSON.
        at: Where the object or array starts.
    """
    found = []
    here = skip(text, at + 1)
    while text[here] not in "]}":
        start, key = here, ""
        if text[at] == "{":
            key, here = _DECODER.raw_decode(text, here)
            here = skip(text, skip(text, here) + 1)
        value, end = _DECODER.raw_decode(text, here)
        found.append(Part(key, start, here, end, value))
        here = skip(text, end)
        here = skip(text, here + 1) if text[here] == "," else here
    return found


def find(text: str, *keys: str) -> Part | None:
    """The member at the end of a path of keys; None if there is none.

    Raises:
        NotJson: A key of the path stands there twice.
    """
    at, found = root(text), None
    for key in keys:
        if text[at] != "{":
            return None
        same = [part for part in parts(text, at) if part.key == key]
        if len(same) > 1:
            line = text.count("\n", 0, same[1].start) + 1
            raise NotJson(f'line {line}: "{key}" stands there a second time')
        if not same:
            return None
        found = same[0]
        at = found.at
    return found


def append(text: str, at: int, value: object, key: str = "") -> str:
    """The text with one more part at the end of an object or array.

    Args:
        text: Valid JSON.
        at: Where the object or array starts.
        value: What to put there.
        key: Under which name; objects alone need one.
    """
    held = parts(text, at)
    if held:
        last = held[-1]
        lead = text[len(text[: last.start].rstrip(SPACE)) : last.start]
        more = said(text, value, key, lead)
        return f"{text[: last.end]},{lead or _gap(text)}{more}{text[last.end :]}"
    close = skip(text, at + 1)
    if "\n" not in text.strip(SPACE) and text.strip("\ufeff" + SPACE) != "{}":
        return f"{text[: at + 1]}{said(text, value, key, '')}{text[close:]}"
    outer = newline(text) + indent_of_line(text, at)
    inner = outer + unit(text)
    more = said(text, value, key, inner)
    return f"{text[: at + 1]}{inner}{more}{outer}{text[close:]}"


def cut(text: str, at: int, index: int) -> str:
    """The text without one part of an object or array, and without its comma."""
    held = parts(text, at)
    if len(held) == 1:
        return text[: at + 1] + text[skip(text, held[0].end) :]
    if index == len(held) - 1:
        return text[: held[index - 1].end] + text[held[index].end :]
    return text[: held[index].start] + text[held[index + 1].start :]


def skip(text: str, at: int) -> int:
    """The first place from one on that is no white space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def said(text: str, value: object, key: str, lead: str) -> str:
    """A part as text, indented where the white space before it says how."""
    if "\n" in lead:
        told = json.dumps(value, ensure_ascii=False, indent=unit(text))
        indent = newline(text) + lead.rpartition("\n")[2]
        return (f'"{key}": ' if key else "") + told.replace("\n", indent)
    gap = _gap(text)
    separators = (f",{gap}", f":{gap}")
    told = json.dumps(value, ensure_ascii=False, separators=separators)
    return (f'"{key}":{gap}' if key else "") + told


def _gap(text: str) -> str:
    """What stands after a colon or a comma within a line."""
    return "" if re.search(r'":[^\s]', text) and '": ' not in text else " "


def newline(text: str) -> str:
    """How a text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


def indent_of_line(text: str, at: int) -> str:
    """The white space that a place's line begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def unit(text: str) -> str:
    """One step of indentation: that of the first line that is indented."""
    shown = re.search(r"\n([ \t]+)\S", text)
    return shown[1] if shown else _OTHERWISE


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


def append_jsonc(text: str, at: int, value: object, key: str = "") -> str:
    """The text with one more part at the end of an object or array.

    Args:
        text: JSON, comments included.
        at: Where the object or array starts.
        value: What to put there.
        key: Under which name; objects alone need one.
    """
    told = plain(text)
    if told == text:
        return append(text, at, value, key)
    held = parts(told, at)
    if not held:
        return _appended_first(text, at, value, key)
    last, lead = held[-1], " "
    space = told[len(told[: last.start].rstrip(SPACE)) : last.start]
    if "\n" in space:
        lead = newline(text) + indent_of_line(text, last.start)
    after = skip(_bare(text), last.end)
    is_closed = _bare(text)[after] == ","
    end = after + 1 if is_closed else last.end
    if "\n" in lead and (behind := _BEHIND.match(text, end)):
        end = behind.start() + len(behind[0].rstrip(SPACE))
    more = f"{lead}{said(text, value, key, lead)}"
    if is_closed:
        return f"{text[:end]}{more},{text[end:]}"
    return f"{text[: last.end]},{text[last.end : end]}{more}{text[end:]}"


def _appended_first(text: str, at: int, value: object, key: str) -> str:
    if is_bare(text, at):
        return append(text, at, value, key)
    outer = newline(text) + indent_of_line(text, at)
    inner = outer + unit(text)
    more = said(text, value, key, inner)
    return f"{text[: at + 1]}{inner}{more}{text[at + 1 :]}"


def cut_jsonc(text: str, at: int, index: int) -> str:
    """The text without one part of an object or array, and without its comma."""
    told = plain(text)
    if told == text:
        return cut(text, at, index)
    held, bare = parts(told, at), _bare(text)
    mine = held[index]
    start = len(text[: mine.start].rstrip(SPACE))
    after = skip(bare, mine.end)
    if bare[after] == ",":
        return text[:start] + text[after + 1 :]
    if index:
        comma = skip(bare, held[index - 1].end)
        return text[:comma] + text[comma + 1 : start] + text[mine.end :]
    return text[:start] + text[after if is_bare(text, at) else mine.end :]


def is_bare(text: str, at: int) -> bool:
    """Whether an object or array has no comment beside the parts it holds."""
    told = plain(text)
    held = parts(told, at)
    ends = [at + 1, *(part.end for part in held)]
    starts = [*(part.start for part in held), skip(told, ends[-1])]
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
