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
