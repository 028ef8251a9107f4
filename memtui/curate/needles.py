"""What damaged records of the hooks directory are known by: names, folders, words."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from memtui.store import choice
from memtui.store.tombstones import Kind, Tombstone

LEAST_CHARS = 6
"""A shorter text is found anywhere."""

MOST_CHARS = 40
"""How much of a text's beginning is looked for: a damaged record may lack its end."""


def of(kind: Kind, stones: Sequence[Tombstone]) -> list[bytes]:
    """The byte strings by which what is chosen can be found in damaged records."""
    texts: set[str] = set()
    if kind is Kind.EVENT:
        texts.update(_of_events())
    else:
        texts.update(stone.subject for stone in stones if stone.kind is Kind.SESSION)
        texts.update(choice.sessions())
    plain = {text.strip()[:MOST_CHARS] for text in texts}
    if kind is Kind.PROJECT:
        # Another project's folder may begin alike.
        plain |= choice.folders()
    return sorted({form for text in plain for form in _forms(text)})


def _forms(text: str) -> Iterator[bytes]:
    if len(text) < LEAST_CHARS:
        return
    for written in (text, json.dumps(text)[1:-1], _unescaped(text)):
        yield written.encode("utf-8", "replace")


def _unescaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _of_events() -> Iterator[str]:
    for text, metadata in choice.said():
        yield text
        # A tool's text says its call in our words: the record has its input and answer.
        yield text.partition("\n")[2]
        given = json.loads(metadata) if metadata else {}
        try:
            yield from _strings(json.loads(given.get("tool_input", "null")))
        except ValueError:
            yield given["tool_input"]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > MOST_CHARS // 2:
        yield value
    elif isinstance(value, dict):
        for held in value.values():
            yield from _strings(held)
    elif isinstance(value, list):
        for held in value:
            yield from _strings(held)
