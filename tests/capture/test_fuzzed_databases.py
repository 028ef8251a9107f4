"""Any content of OpenCode's database is read, or reported as damaged."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture.formats import opencode
from memtui.capture.formats.base import (
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, Thought
from tests.capture.conftest import READ_AT
from tests.capture.mutations import spoilt
from tests.capture.test_opencode import START, Agent
from tests.conftest import often

pytestmark = pytest.mark.fuzz

ACCOUNTS = Event, Thought, InvalidRecord, SkippedRecord, PendingRecord

CELLS: list[Any] = [
    *(None, 0, -1, 2**62, 1.5, float("inf"), "", "x", "\0", "s1", "msg_0001"),
    *(b"\xff\0", START + 5000, str(START), "[]", "{}", '{"role": "user"}'),
]
"""Any values of a column."""

COLUMNS = {
    "project": ["worktree"],
    "session": ["parent_id", "directory", "title", "agent", "model", "time_created"],
    "message": ["session_id", "time_created", "time_updated", "data"],
    "part": ["message_id", "time_created", "time_updated", "data"],
}

JOINED = ("text", "file", "subtask")
"""Parts that are stored with their message."""


@contextmanager
def database() -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A database of a few messages of all kinds, without a log beside it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "opencode.db")
        path.write_bytes(whole())
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = OFF")
            yield path, db


@cache
def whole() -> bytes:
    """The bytes of that database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "opencode.db")
        agent = Agent(path, journal="DELETE")
        agent.session()
        agent.session("s2", parent_id="s1", title="Look (@explore subagent)")
        agent.says(1, "user", "Why is the cart empty?")
        agent.says(2, "assistant", "I look.")
        agent.tool(2)
        agent.part(2, "reasoning", "c", text="Perhaps it is stale.")
        agent.part(2, "step-start", "d")
        agent.says(3, "assistant", "Nothing.", session="s2")
        agent.message(4, "assistant", error={"name": "MessageAbortedError"})
        agent.part(4, "compaction", "e")
        agent.part(4, "poem", "f")
        loosen(agent.db)
        agent.db.close()
        return path.read_bytes()


def loosen(db: sqlite3.Connection) -> None:
    """Remove the constraints of the tables."""
    for table in COLUMNS:
        db.execute(f"ALTER TABLE {table} RENAME TO strict_{table}")
        db.execute(f"CREATE TABLE {table} AS SELECT * FROM strict_{table}")
        db.execute(f"DROP TABLE strict_{table}")


def read(path: Path) -> list[ParsedItem]:
    return list(opencode.FORMAT.read(path, None, agent="x", now=READ_AT))


@often(120)
@given(data=st.data())
def test_every_message_and_part_is_stored_or_counted(data: st.DataObject) -> None:
    with database() as (path, db):
        for _ in range(data.draw(st.integers(1, 4))):
            table = data.draw(st.sampled_from(sorted(COLUMNS)))
            column = data.draw(st.sampled_from(COLUMNS[table]))
            rows = db.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
            row, value = data.draw(st.sampled_from(rows))
            if column == "data" and isinstance(value, str) and data.draw(st.booleans()):
                value = data.draw(spoilt(value.encode())).decode("utf-8", "replace")
            else:
                value = data.draw(st.sampled_from(CELLS))
            db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        items = read(path)
        messages = db.execute("SELECT id FROM message").fetchall()
        parts = db.execute("SELECT data FROM part").fetchall()
    expected = len(messages) + sum(kind_of(raw) not in JOINED for (raw,) in parts)
    assert len([r for r in items if isinstance(r, ACCOUNTS)]) >= expected


def kind_of(raw: object) -> object:
    try:
        fields = json.loads(raw) if isinstance(raw, str | bytes) else None
    except ValueError:
        return None
    return fields.get("type") if isinstance(fields, dict) else None


@often(60)
@given(data=st.data())
def test_database_without_a_table_or_column_is_read(
    data: st.DataObject,
) -> None:
    names = [f"{t}.{c}" for t, columns in COLUMNS.items() for c in ["id", *columns]]
    gone = data.draw(st.lists(st.sampled_from([*COLUMNS, *names]), max_size=4))
    with database() as (path, db):
        for name in dict.fromkeys(sorted(gone, key=lambda n: "." not in n)):
            table, _, column = name.partition(".")
            db.execute(
                f"ALTER TABLE {table} DROP COLUMN {column}"
                if column
                else f"DROP TABLE {table}"
            )
        matches = read(path)
    if not {"message", "message.id"} & set(gone):
        assert len([r for r in matches if isinstance(r, ACCOUNTS)]) >= 4


@often(120)
@given(data=st.data())
def test_damaged_database_is_read_or_reported(data: st.DataObject) -> None:
    with database() as (path, db):
        db.close()
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 6))):
            at = data.draw(st.integers(0, len(raw) - 1))
            noise = data.draw(st.binary(min_size=1, max_size=40))
            raw[at : at + len(noise)] = noise
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw)) | st.just(len(raw)))])
        try:
            if opencode.FORMAT.matches_content(path, []):
                read(path)
        except OSError as error:
            assert error.strerror
