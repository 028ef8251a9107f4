"""Edit JSON with comments and trailing commas: only what changes is written anew.

    edit('{"a": 1, /* kept */}', {"a": 1, "b": 2}, indent="  ")

returns the text with ``"b": 2`` after the opening bracket.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memtui.errors import HooksError

if TYPE_CHECKING:
    from json5.model import Comment, JSONObject, JSONText, Key, Node, Value

MAX_CHARS = 50_000
"""A longer text would take seconds to parse."""


def parse(text: str) -> dict[str, Any]:
    """Return the object in a text.

    Raises:
        HooksError: It is not valid, or contains a key twice.
    """
    from json5.loader import DefaultLoader

    settings: dict[str, Any] = DefaultLoader().load(_parse_document(text)[1])
    return settings


def edit(text: str, settings: Mapping[str, Any], indent: str) -> str:
    """Return a text with these settings in place of its own.

    Raises:
        HooksError: It is not valid, or the change needs a person.
    """
    from json5.dumper import ModelDumper, dumps

    document, node = _parse_document(text)
    _update(node, settings, "\n", indent)
    dumper: Any = ModelDumper()
    edited = dumps(document, dumper=dumper)
    with suppress(HooksError):
        if parse(edited) == settings:
            return edited
    raise HooksError("it must be changed by hand")


def _update(
    node: "JSONObject", settings: Mapping[str, Any], line: str, indent: str
) -> None:
    """Change an object; ``line`` ends and indents its lines."""
    from json5.loader import DefaultLoader
    from json5.model import JSONObject

    inner_line, names = line + indent, _names(node)
    for at, name in reversed([*enumerate(names)]):
        value = node.values[at]
        if name not in settings:
            _keep_comments(node, inner_line, node.keys.pop(at), node.values.pop(at))
            before = node.keys[0].wsc_before if node.keys and not at else []
            if before and node.leading_wsc and isinstance(before[0], str):
                before.pop(0)  # There is white space after the bracket.
        elif isinstance(value, JSONObject) and isinstance(settings[name], dict):
            _update(value, settings[name], inner_line, indent)
        elif DefaultLoader().load(value) != settings[name]:
            _, node.values[at] = _make_member(name, settings[name], inner_line, indent)
            node.values[at].wsc_before = value.wsc_before
            node.values[at].wsc_after = value.wsc_after
    if not node.keys and node.trailing_comma:
        _keep_comments(node, inner_line, node.trailing_comma)
        node.trailing_comma = None
    for name in reversed([name for name in settings if name not in names]):
        key, value = _make_member(name, settings[name], inner_line, indent)
        if node.keys:
            node.keys[0].wsc_before.insert(0, inner_line)
        else:
            value.wsc_after = [line]
        if node.leading_wsc and isinstance(node.leading_wsc[-1], str):
            node.leading_wsc.pop()
        key.wsc_before = [inner_line]
        node.keys.insert(0, key)
        node.values.insert(0, value)


def _make_member(
    name: str, value: object, line: str, indent: str
) -> tuple["Key", "Value"]:
    text = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", line)
    _, node = _parse_document(f"{{{json.dumps(name)}: {text}}}")
    return node.keys[0], node.values[0]


def _keep_comments(node: "JSONObject", line: str, *removed: "Node") -> None:
    """Keep the comments of what is removed, at the beginning of the object."""
    for part in removed:
        for comment in _list_comments(part):
            node.leading_wsc += [line, comment, line]


def _list_comments(node: "Node") -> Iterator["Comment"]:
    from json5.model import Comment, walk

    for part in walk(node):
        spaces = getattr(part, "leading_wsc", ())
        for piece in (part, *spaces):
            if isinstance(piece, Comment):
                yield piece


def _parse_document(text: str) -> tuple["JSONText", "JSONObject"]:
    """Return a text as a model that keeps comments, and the object in it."""
    from json5.loader import ModelLoader, loads
    from json5.model import JSONObject, walk
    from json5.utils import JSON5DecodeError

    if len(text) > MAX_CHARS:
        raise HooksError("it is not plain JSON, and too long to keep comments")
    try:
        document = loads(text, loader=ModelLoader())
        objects = [node for node in walk(document) if isinstance(node, JSONObject)]
    except JSON5DecodeError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise HooksError(f"{where}it is not valid JSON") from None
    except RecursionError:
        raise HooksError("it is nested too deeply") from None
    if not isinstance(document.value, JSONObject):
        raise HooksError("line 1: it is not an object")
    for node in objects:
        for name, count in Counter(_names(node)).items():
            if count > 1:
                raise HooksError(f'"{name}" occurs a second time')
    return document, document.value


def _names(node: "JSONObject") -> list[str]:
    from json5.loader import DefaultLoader

    return [str(DefaultLoader().load(key)) for key in node.keys]
