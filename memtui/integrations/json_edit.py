"""Edit JSON text in place: add or remove one member without changing another byte.

Comments and trailing commas are allowed, as in OpenCode's settings. Positions are those
in the text; values are read from a copy in which comments are blanked out.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WHITESPACE = " \t\r\n"
_DEFAULT_INDENT = "  "
_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[\]}}])")

_COMMENT_AFTER = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
"""A comment that ends on the line where a member ends."""


class ConfigSyntaxError(ValueError):
    """A settings text is not valid, or does not have the expected shape."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or an element of an array."""

    container: int
    index: int
    key: str
    """Empty in an array."""
    start: int
    """The position of the key, or of the element."""
    at: int
    end: int
    value: object


def _reject_constant(name: str) -> object:
    raise ConfigSyntaxError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


def check(text: str, *, allow_comments: bool = False) -> None:
    """Check that a text is one JSON object.

    Raises:
        ConfigSyntaxError: It is not; the message names the line.
    """
    text = without_comments(text) if allow_comments else text
    try:
        value, end = _DECODER.raw_decode(text, root(text))
        if text[end:].strip(_WHITESPACE):
            raise json.JSONDecodeError("Something follows the end", text, end)
    except json.JSONDecodeError as error:
        reason = f"{error.msg[0].lower()}{error.msg[1:]}"
        raise ConfigSyntaxError(f"line {error.lineno}: {reason}") from None
    except RecursionError:
        raise ConfigSyntaxError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ConfigSyntaxError("line 1: it is not an object")


def line_number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def root(text: str) -> int:
    start = 1 if text.startswith("\ufeff") else 0
    return _skip_space(_blank_comments(text), start)


def members(text: str, at: int) -> list[Member]:
    """Return the members of the object or array that starts at a position."""
    text = without_comments(text)
    found: list[Member] = []
    here = _skip_space(text, at + 1)
    while text[here] not in "]}":
        start, key = here, ""
        if text[at] == "{":
            key, here = _DECODER.raw_decode(text, here)
            here = _skip_space(text, _skip_space(text, here) + 1)
        value, end = _DECODER.raw_decode(text, here)
        found.append(Member(at, len(found), key, start, here, end, value))
        here = _skip_space(text, end)
        here = _skip_space(text, here + 1) if text[here] == "," else here
    return found


def find(text: str, *keys: str) -> list[Member]:
    """Return the members along a path of keys; [] if the last is not there.

    Raises:
        ConfigSyntaxError: A key of the path occurs twice.
    """
    at, chain = root(text), list[Member]()
    for key in keys:
        if text[at] != "{":
            return []
        same = [one for one in members(text, at) if one.key == key]
        if len(same) > 1:
            line = line_number(text, same[1].start)
            raise ConfigSyntaxError(f'line {line}: "{key}" occurs a second time')
        if not same:
            return []
        chain += same
        at = same[0].at
    return chain


def ensure(text: str, *keys: str, value: object) -> str:
    """Return the text with a member at the end of a path of keys.

    Raises:
        ConfigSyntaxError: Its value is of another type.
    """
    chain = find(text, *keys)
    if not chain:
        parents = find(text, *keys[:-1])
        return append(text, parents[-1].at if parents else root(text), value, keys[-1])
    if type(chain[-1].value) is not type(value):
        kind = "an object" if isinstance(value, dict) else "a list"
        line = line_number(text, chain[-1].start)
        raise ConfigSyntaxError(f"line {line}: {'.'.join(keys)} is not {kind}")
    return text


def append(text: str, at: int, value: object, key: str = "") -> str:
    """Return the text with one more member, on lines of its own; a list has no keys."""
    newline = "\r\n" if "\r\n" in text else "\n"
    match = re.search(r"\n([ \t]+)\S", text)
    step = match[1] if match else _DEFAULT_INDENT
    outer = newline + _line_indent(text, at)
    lead, existing = outer + step, members(text, at)
    if existing and "\n" in text[at : existing[-1].start]:
        lead = newline + _line_indent(text, existing[-1].start)
    written = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", lead)
    member = lead + (f'"{key}": ' if key else "") + written
    if not existing:
        # Before comments: the last of them may end the line of the bracket.
        rest = at + 1
        if _has_no_comments(text, at):
            rest = _skip_space(text, rest)
        return f"{text[: at + 1]}{member}{outer}{text[rest:]}"
    last, bare = existing[-1], _blank_comments(text)
    after = _skip_space(bare, last.end)
    has_comma = bare[after] == ","
    end = after + 1 if has_comma else last.end
    if comment := _COMMENT_AFTER.match(text, end):
        end = comment.start() + len(comment[0].rstrip(_WHITESPACE))
    if has_comma:
        return f"{text[:end]}{member},{text[end:]}"
    return f"{text[: last.end]},{text[last.end : end]}{member}{text[end:]}"


def remove(text: str, chain: Sequence[Member]) -> str:
    """Return the text without a member, and without objects left empty by that.

    The member is the last of a chain, after those it is in.
    """
    member, existing = chain[-1], list[Member]()
    for member in reversed(chain):
        existing = members(text, member.container)
        if len(existing) > 1 or not _has_no_comments(text, member.container):
            break
    bare = _blank_comments(text)
    start = len(text[: member.start].rstrip(_WHITESPACE))
    after = _skip_space(bare, member.end)
    if bare[after] == ",":
        return text[:start] + text[after + 1 :]
    if member.index:
        comma = _skip_space(bare, existing[member.index - 1].end)
        return text[:comma] + text[comma + 1 : start] + text[member.end :]
    is_bare = _has_no_comments(text, member.container)
    return text[:start] + text[after if is_bare else member.end :]


def _has_no_comments(text: str, at: int) -> bool:
    """Return whether an object or array has no comments beside its members."""
    existing = members(text, at)
    ends = [at + 1, *(member.end for member in existing)]
    close = _skip_space(without_comments(text), ends[-1])
    starts = [*(member.start for member in existing), close]
    return all(
        not text[end:start].strip(f"{_WHITESPACE},")
        for end, start in zip(ends, starts, strict=True)
    )


def without_comments(text: str) -> str:
    """Return a text as plain JSON, with everything at its old position."""
    bare = _blank_comments(text)

    def blank(match: "re.Match[str]") -> str:
        before = bare[: match.start()].rstrip(_WHITESPACE)[-1:]
        return " " if match[0] == "," and before not in "{[,:" else match[0]

    return _TRAILING_COMMA.sub(blank, bare)


def _blank_comments(text: str) -> str:
    def blank(match: "re.Match[str]") -> str:
        token = match[0]
        return token if token[0] == '"' else re.sub(r"[^\r\n]", " ", token)

    return _COMMENT.sub(blank, text)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
