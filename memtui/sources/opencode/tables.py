"""What the tables of OpenCode's database hold.

The database is another program's, and in use: it is opened for reading alone, for the
time of a few messages, and never waited for long. With a write-ahead log beside it,
SQLite reads both; without one the file is read as it is, without locks and without
making any file beside it.
"""

import errno
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memtui.sources.opencode import seen as seen
from memtui.sources.opencode.parts import Message, Part
from memtui.sources.opencode.sessions import Row, object_of
from memtui.sources.records import Cursor, Left, Reading, Refused, text_of

MESSAGES_AT_ONCE = 200
"""How many messages are read while the database is open, and between two cursors."""

BUSY_S = 1.0
"""How long a database that is locked is waited for."""

_UNREAD = ("session_message", "session_entry", "session_v2")
"""Tables in which newer versions keep conversations another way."""

_ID, _CHANGED = "CAST(id AS TEXT)", "CAST(ifnull(time_updated, 0) AS INTEGER)"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, for a moment.

    Raises:
        OSError: It cannot be read.
    """
    log, journal = (path.with_name(f"{path.name}-{end}") for end in ("wal", "journal"))
    how = "mode=ro" if log.exists() or journal.exists() else "mode=ro&immutable=1"
    path.stat()
    try:
        uri = f"file:{quote(str(path.absolute()))}?{how}"
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as database:
            database.text_factory = lambda raw: raw.decode("utf-8", "replace")
            database.execute("BEGIN")
            yield database
    except sqlite3.Error as error:
        raise _refusal(error, path) from error
    except UnicodeDecodeError as error:
        # The message of an error quotes what is damaged.
        raise OSError(errno.EIO, "the database is damaged", str(path)) from error


def _refusal(error: sqlite3.Error, path: Path) -> OSError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        said = "the database is locked by another program"
        return OSError(errno.EBUSY, said, str(path))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        said = f"the database is damaged: {error}"
        return OSError(errno.EIO, said, str(path))
    return OSError(errno.EIO, f"the database cannot be read: {error}", str(path))


def columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; none if there is no such table."""
    found = database.execute(f'SELECT name FROM pragma_table_info("{table}")')
    return {text_of(name) for (name,) in found}


def _select(database: sqlite3.Connection, table: str, *names: str) -> str:
    """A query for columns of a table, without value where it has none of that name."""
    there = columns(database, table)
    if "id" not in there:
        return f"SELECT {', '.join('NULL AS ' + n for n in names)} WHERE 0"
    chosen = (name if name in there else f"NULL AS {name}" for name in names)
    return f"SELECT {', '.join(chosen)} FROM {table}"


def latest_ms(database: sqlite3.Connection) -> int:
    """When the latest message was changed."""
    query = _select(database, "message", "id", "time_updated")
    (latest,) = database.execute(f"SELECT max({_CHANGED}) FROM ({query})").fetchone()
    return number(latest)


def late(
    database: sqlite3.Connection, start: Cursor | None, to_ms: int
) -> tuple[list[str], seen.Seen]:
    """The messages that came late, and what there is now."""
    columns = ("id", "session_id", "time_created", "time_updated")
    kept = _select(database, "message", *columns)

    def ask(query: str, values: tuple[object, ...]) -> list[Any]:
        return database.execute(query, values).fetchall()

    before = start.state.get("seen") if start else None
    late = seen.late(ask, kept, before, _CHANGED, to_ms) if start else []
    return late, seen.of(ask, kept)


def unread(database: sqlite3.Connection) -> Iterator[Reading]:
    """What no reading of messages meets: other tables, and parts without a message."""
    for table in _UNREAD:
        if (
            columns(database, table)
            and database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
        ):
            yield Left(f"unknown record type {table}")
    parts = _select(database, "part", "id", "message_id")
    messages = _select(database, "message", "id")
    (lost,) = database.execute(
        f"SELECT count(*) FROM ({parts}) WHERE ifnull(message_id, '') "
        f"NOT IN (SELECT id FROM ({messages}) WHERE id IS NOT NULL)"
    ).fetchone()
    yield from [Refused("a part without its message")] * lost


def rows(database: sqlite3.Connection) -> list[Row]:
    """All sessions."""
    query = _select(database, "project", "id", "worktree")
    worktrees = {
        text_of(_plain(name)): text_of(_plain(at))
        for name, at in database.execute(query)
    }
    names = ("id", "parent_id", "directory", "title", "agent", "model", "project_id")
    query = _select(database, "session", *names, "time_created", "time_updated")
    found = []
    for *texts, created, changed in database.execute(query):
        name, parent, directory, title, agent, model, project = (
            text_of(_plain(text)) for text in texts
        )
        known = object_of(model) or {}
        model = text_of(known.get("id") or known.get("modelID"))
        worktree = worktrees.get(project, "")
        about = (directory, title, agent, model, worktree, _plain(created))
        found.append(Row(name, parent, *about, number(changed)))
    return found


def messages(
    database: sqlite3.Connection, mark: tuple[int, str], again: Sequence[str]
) -> list[tuple[Message, tuple[int, str]]]:
    """The next messages after a mark, and those to be looked at again.

    Returns:
        Each message, and the mark after it.
    """
    rows = database.execute(
        f"{_chosen(database)} WHERE ({_CHANGED}, ifnull({_ID}, '')) > (?, ?)"
        f" ORDER BY {_CHANGED}, ifnull({_ID}, '') LIMIT ?",
        (*mark, MESSAGES_AT_ONCE),
    )
    return named(database, again) + [_marked(database, row) for row in rows.fetchall()]


def named(
    database: sqlite3.Connection, names: Sequence[str]
) -> list[tuple[Message, tuple[int, str]]]:
    """The messages of these names, as far as they are there."""
    chosen = f"{_chosen(database)} WHERE id = ?"
    rows = [row for name in names for row in database.execute(chosen, (name,))]
    return [_marked(database, row) for row in rows]


def _chosen(database: sqlite3.Connection) -> str:
    query = _select(
        database, "message", "id", "session_id", "time_created", "time_updated", "data"
    )
    return f"SELECT {_ID}, session_id, time_created, {_CHANGED}, data FROM ({query})"


def _marked(
    database: sqlite3.Connection, row: Sequence[object]
) -> tuple[Message, tuple[int, str]]:
    return _message(database, row), (number(row[3]), text_of(row[0]))


def _message(database: sqlite3.Connection, row: Sequence[object]) -> Message:
    name, session, created, changed, raw = row
    query = _select(database, "part", "id", "message_id", "time_updated", "data")
    found = database.execute(
        f"SELECT {_ID}, {_CHANGED}, data FROM ({query})"
        " WHERE message_id = ? ORDER BY 1",
        (name,),
    ).fetchall()
    parts = [Part(text_of(part), object_of(data)) for part, _, data in found]
    return Message(
        text_of(name),
        text_of(_plain(session)),
        object_of(raw),
        parts,
        _plain(created),
        max([number(changed), *(number(at) for _, at, _ in found)]),
    )


def _plain(value: object) -> object:
    """A value of a column; bytes, which stand in none, as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def number(value: object) -> int:
    """A whole number, 0 where there is none."""
    return value if isinstance(value, int) else 0
