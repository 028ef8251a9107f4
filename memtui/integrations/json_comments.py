"""Edit JSON with comments and trailing commas: only what changes is replaced.

    edit('{"a": 1, /* kept */}', {"a": 1, "b": 2}, indent="  ")

returns the text with ``"b": 2`` after the opening bracket.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from memtui.errors import HooksError

if TYPE_CHECKING:
    from json5.model import JSONObject, Node

MAX_CHARS = 50_000
"""A longer text would take seconds to parse."""

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""White space and comments, as before a comma."""

Edit = tuple[int, int, str]
"""The start and end of a part of the text, and what replaces it."""


def parse(text: str) -> dict[str, Any]:
    """Return the object in a text.

    Raises:
        HooksError: It is not valid, or contains a key twice.
    """
    from json5.loader import DefaultLoader

    settings: dict[str, Any] = DefaultLoader().load(_parse_model(text))
    return settings


def edit(text: str, settings: Mapping[str, Any], indent: str) -> str:
    """Return a text with these settings in place of its own.

    Raises:
        HooksError: It is not valid, or the change needs a person.
    """
    edits = _Editor(text, indent).list_edits(_parse_model(text), settings, "\n")
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    with suppress(HooksError):
        if parse(text) == settings:
            return text
    raise HooksError("it must be changed by hand")


class _Editor:
    def __init__(self, text: str, indent: str) -> None:
        self._text, self._indent = text, indent
        lines = text.split("\n")
        self._line_starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def list_edits(
        self, node: "JSONObject", settings: Mapping[str, Any], line: str
    ) -> Iterator[Edit]:
        """Yield what to replace in an object; ``line`` ends and indents its lines."""
        from json5.loader import DefaultLoader
        from json5.model import JSONObject

        inner_line = line + self._indent
        names = _names(node)
        for index, (name, value) in enumerate(zip(names, node.values, strict=True)):
            if name not in settings:
                yield from self._list_removals(node, index, inner_line)
            elif isinstance(value, JSONObject) and isinstance(settings[name], dict):
                yield from self.list_edits(value, settings[name], inner_line)
            elif DefaultLoader().load(value) != settings[name]:
                text = self._dump(settings[name], inner_line)
                yield self._start(value), self._end(value), text
        new = [
            f"{inner_line}{json.dumps(name)}: {self._dump(value, inner_line)}"
            for name, value in settings.items()
            if name not in names
        ]
        if new:
            at = self._start(node) + 1
            end = "," if names else "" if self._text[at].isspace() else line
            yield at, at, ",".join(new) + end

    def _comments_in(self, value: "Node", line: str) -> str:
        """Return the comments between the members of an object that is removed."""
        from json5.model import JSONObject

        if not isinstance(value, JSONObject):
            return ""
        text, end = "", self._start(value) + 1
        for key, member in zip(value.keys, value.values, strict=True):
            text += self._text[end : self._start(key)]
            end = self._end(member)
        text += self._text[end : self._end(value) - 1]
        comments = text.strip(" \t\r\n,")
        return f"{line}{comments}{line}" if comments else ""

    def _list_removals(
        self, node: "JSONObject", index: int, line: str
    ) -> Iterator[Edit]:
        """Yield how to remove a member and one comma; comments stay."""
        start, end = self._start(node.keys[index]), self._end(node.values[index])
        comma = self._find_comma(end)
        if comma is not None and not self._text[end:comma].strip():
            end = comma + 1
        else:
            if comma is None and index:
                comma = self._find_comma(self._end(node.values[index - 1]))
            if comma is not None:
                yield comma, comma + 1, ""
        if self._text[end:].lstrip(" \t\r").startswith("\n"):
            start = len(self._text[:start].rstrip())
        yield start, end, self._comments_in(node.values[index], line)

    def _find_comma(self, end: int) -> int | None:
        """Return the position of the comma after a value, if there is one."""
        space = _SPACE.match(self._text, end)
        assert space is not None
        return space.end() if self._text[space.end()] == "," else None

    def _dump(self, value: object, line: str) -> str:
        text = json.dumps(value, indent=self._indent, ensure_ascii=False)
        return text.replace("\n", line)

    def _start(self, node: "Node") -> int:
        assert node.lineno is not None and node.col_offset is not None
        return self._line_starts[node.lineno - 1] + node.col_offset

    def _end(self, node: "Node") -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset


def _parse_model(text: str) -> "JSONObject":
    from json5.loader import ModelLoader, loads
    from json5.model import JSONObject, walk
    from json5.utils import JSON5DecodeError

    if len(text) > MAX_CHARS:
        raise HooksError("it is not plain JSON, and too long to keep comments")
    try:
        document = loads(text, loader=ModelLoader()).value
        objects = [node for node in walk(document) if isinstance(node, JSONObject)]
    except JSON5DecodeError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise HooksError(f"{where}it is not valid JSON") from None
    except RecursionError:
        raise HooksError("it is nested too deeply") from None
    if not isinstance(document, JSONObject):
        raise HooksError("line 1: it is not an object")
    for node in objects:
        for name, count in Counter(_names(node)).items():
            if count > 1:
                raise HooksError(f'"{name}" occurs a second time')
    return document


def _names(node: "JSONObject") -> list[str]:
    from json5.loader import DefaultLoader

    return [str(DefaultLoader().load(key)) for key in node.keys]
