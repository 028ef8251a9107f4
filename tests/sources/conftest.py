"""What tests of formats share: reading a file at once, and in pieces as it grew."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.capture.formats.base import Awaited, Cursor, Reading, Restarted, Source
from memtui.model.sessions import Helper, SessionFacts

READ_AT = datetime(2027, 1, 1, tzinfo=UTC)
"""When the files are read: after all of them were written."""

InPieces = Callable[[Source, Path, int], list[Reading]]


@pytest.fixture
def in_pieces(tmp_path: Path) -> InPieces:
    """Reads a file as it grows by random numbers of bytes, with a new reader each time.

    The cursor between two readings goes through JSON, as it does in the store.
    """

    def read(source: Source, file: Path, seed: int) -> list[Reading]:
        raw, dice = file.read_bytes(), random.Random(seed)
        folder = tmp_path / str(seed) / file.parent.name
        folder.mkdir(parents=True)
        growing, cursor, end = folder / file.name, None, 0
        readings: list[Reading] = []
        while end < len(raw):
            end += dice.randint(1, 2 * len(raw) // 7 + 1)
            growing.write_bytes(raw[:end])
            for reading in source.read(growing, cursor, agent="", now=READ_AT):
                readings.append(reading)
                if isinstance(reading, Cursor):
                    cursor = stored(reading)
        return readings

    return read


def stored(cursor: Cursor) -> Cursor:
    """A cursor as it comes back from where it is kept."""
    return Cursor(
        cursor.offset,
        cursor.line,
        cursor.fingerprint,
        json.loads(json.dumps(cursor.state)),
        cursor.is_held,
    )


@pytest.fixture
def lasting() -> Callable[[list[Reading]], object]:
    """What must be equal however a file was read: all that is said once."""

    def of(readings: list[Reading]) -> object:
        given = list(given_in(readings))
        facts = {
            (reading.agent, reading.session_id): reading
            for reading in readings
            if isinstance(reading, SessionFacts)
        }
        helpers = {r.subagent: r for r in readings if isinstance(r, Helper)}
        return given, facts, helpers

    return of


def given_in(readings: list[Reading]) -> Iterator[Reading]:
    """What a file says, whatever was learnt of its sessions."""
    for reading in readings:
        assert not isinstance(reading, Restarted)
        if not isinstance(reading, Awaited | Cursor | SessionFacts | Helper):
            yield reading
