"""Read a file at once, and in pieces as it grows."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    ParsedItem,
    PendingRecord,
    SourceFormat,
)
from memtui.model.events import Event
from memtui.model.sessions import SessionMetadata, SubagentMetadata

READ_AT = datetime(2027, 1, 1, tzinfo=UTC)
"""The time of reading, after all files were written."""

InPieces = Callable[[SourceFormat, Path, int], list[ParsedItem]]


@pytest.fixture
def read_in_pieces(tmp_path: Path) -> InPieces:
    """Reads a file as it grows by random numbers of bytes, with a new reader each time.

    The cursor between two readings goes through JSON, as it does in the store.
    """

    def read(source: SourceFormat, file: Path, seed: int) -> list[ParsedItem]:
        raw, dice = file.read_bytes(), random.Random(seed)
        folder = tmp_path / str(seed) / file.parent.name
        folder.mkdir(parents=True)
        growing, cursor, end = folder / file.name, None, 0
        readings: list[ParsedItem] = []
        while end < len(raw):
            end += dice.randint(1, 2 * len(raw) // 7 + 1)
            growing.write_bytes(raw[:end])
            for reading in source.read(growing, cursor, agent="", now=READ_AT):
                readings.append(reading)
                if isinstance(reading, Cursor):
                    cursor = reload_cursor(reading)
        return without_starts(readings)

    return read


def without_starts(items: Iterable[ParsedItem]) -> list[ParsedItem]:
    """Leave out the starts of calls that ended later: the store replaces them."""
    listed = list(items)
    ended = {
        item.metadata.get("tool_use_id")
        for item in listed
        if isinstance(item, Event) and not item.is_unfinished
    }
    return [
        item
        for item in listed
        if not isinstance(item, Event)
        or not item.is_unfinished
        or item.metadata.get("tool_use_id") not in ended
    ]


def reload_cursor(cursor: Cursor) -> Cursor:
    """Return a cursor as it is loaded from the store."""
    return Cursor(
        cursor.offset,
        cursor.line,
        cursor.fingerprint,
        json.loads(json.dumps(cursor.state)),
        cursor.needs_reread,
    )


@pytest.fixture
def comparable() -> Callable[[list[ParsedItem]], object]:
    """Returns what must be equal however a file was read."""

    def of(readings: list[ParsedItem]) -> object:
        given = list(stored_items(without_starts(readings)))
        # A call that never ends is read at the end of any of the pieces.
        given.sort(key=lambda item: isinstance(item, Event) and item.is_unfinished)
        facts = {
            (reading.agent, reading.session_id): reading
            for reading in readings
            if isinstance(reading, SessionMetadata)
        }
        helpers = {r.subagent: r for r in readings if isinstance(r, SubagentMetadata)}
        return given, facts, helpers

    return of


def stored_items(readings: list[ParsedItem]) -> Iterator[ParsedItem]:
    """Yield the items of a file, without metadata of its sessions."""
    for reading in readings:
        assert not isinstance(reading, FileReplaced)
        if not isinstance(
            reading, PendingRecord | Cursor | SessionMetadata | SubagentMetadata
        ):
            yield reading
