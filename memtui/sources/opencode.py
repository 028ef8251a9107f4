"""OpenCode's sessions: its SQLite database, or the folder of files it used before.

The database is ``$XDG_DATA_HOME/opencode/opencode.db`` (``~/.local/share`` by default),
the folder ``storage`` beside it. The database is another program's, and in use: it is
opened for reading alone, for the time of a few messages, and never waited for long.
With a write-ahead log beside it, SQLite reads both; without one the file is read as it
is, without locks and without making any file beside it.

A message names no place in a file, so the cursor remembers when the latest messages
were changed, which of those were given and which are not finished. A message counts as
changed whenever OpenCode completes it, so its parts need no such mark of their own.
What came with an earlier time is found by what was seen of each session.
"""

import errno
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from memtui.sources import opencode_folders as folders
from memtui.sources import opencode_seen as seen
from memtui.sources.opencode_messages import AGENT
from memtui.sources.opencode_parts import Message, Part
from memtui.sources.opencode_sessions import Row, Sessions, object_of
from memtui.sources.records import (
    Cursor,
    Left,
    Reading,
    Record,
    Refused,
    Restarted,
    text_of,
)
from memtui.sources.source import TRANSCRIPT, Source

MESSAGES_AT_ONCE = 200
"""How many messages are read while the database is open, and between two cursors."""

OVERLAP_MS = 60_000
"""How much before the latest change is looked at again: several programs write, and
one may finish with an earlier time than another."""

BUSY_S = 1.0
"""How long a database that is locked is waited for."""

_MAGIC = b"SQLite format 3\0"
_TABLES = ("session", "message", "part")
_UNREAD = ("session_message", "session_entry", "session_v2")
"""Tables in which newer versions keep conversations another way."""

_ID, _CHANGED = "CAST(id AS TEXT)", "CAST(ifnull(time_updated, 0) AS INTEGER)"


def _may_be(path: PurePath) -> bool:
    if path.suffix == ".json":
        return path.parent.parent.name == "session" and path.name.startswith("ses_")
    return path.suffix == ".db" and path.name.startswith("opencode")


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file is OpenCode's database, or a session of its older folder."""
    if path.suffix == ".json":
        return folders.fits(path.absolute())
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return False
    try:
        with _opened(path) as database:
            return all(_columns(database, table) for table in _TABLES)
    except OSError:
        # What is wrong with it is told by reading it.
        return _may_be(path)


def _beside(path: Path) -> Iterator[Path]:
    if path.suffix == ".json":
        return folders.beside(path.absolute())
    return iter((path.with_name(f"{path.name}-wal"),))


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read all that is new; see ``memtui.sources.source.Read``."""
    if path.suffix == ".json":
        return folders.read(path.absolute(), start, now)
    return _database(path, start, now)


SOURCE = Source(AGENT, "OpenCode", TRANSCRIPT, _may_be, fits, read, _beside)


def _database(path: Path, start: Cursor | None, now: datetime) -> Iterator[Reading]:
    state: Mapping[str, object] = start.state if start else {}
    latest = _number(state.get("latest"))
    with _opened(path) as database:
        if start and latest > _latest(database):
            yield Restarted("the database is older than it was")
            state, latest, start = {}, 0, None
        unread = [] if start else list(_unread(database))
        mark = (latest - OVERLAP_MS, "")
        late, now_seen = _seen(database, start, mark[0])
    yield from unread
    sessions = Sessions(now, state)
    yield from _late(path, sessions, late)
    told_ms = _number(state.get("sessions"))
    told: dict[str, object] = {"seen": now_seen, "sessions": told_ms}
    again = sessions.held
    while True:
        with _opened(path) as database:
            sessions.know(rows := _rows(database))
            found = _messages(database, mark, again)
            size = path.stat().st_size
        sessions.gone(set(again) - {message.name for message, _ in found})
        for message, _ in found:
            yield from sessions.take(message)
        new = [at for message, at in found if message.name not in again]
        again = []
        latest = max([latest, *(changed for changed, _ in new)])
        told["latest"] = latest
        if len(new) < MESSAGES_AT_ONCE:
            break
        mark = new[-1]
        yield Cursor(size, state=told | sessions.state())
    yield from sessions.rest(told_ms)
    told["sessions"] = max([told_ms, *(row.changed_ms for row in rows)])
    yield Cursor(size, state=told | sessions.state(), is_held=sessions.is_held)


def _seen(
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


def _late(path: Path, sessions: Sessions, names: list[str]) -> Iterator[Reading]:
    """Read messages that came with an earlier time than what was read before."""
    for at in range(0, len(names), MESSAGES_AT_ONCE):
        with _opened(path) as database:
            sessions.know(_rows(database))
            found = _named(database, names[at : at + MESSAGES_AT_ONCE])
        for message, _ in found:
            yield from sessions.take(message)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
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


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; none if there is no such table."""
    found = database.execute(f'SELECT name FROM pragma_table_info("{table}")')
    return {text_of(name) for (name,) in found}


def _select(database: sqlite3.Connection, table: str, *names: str) -> str:
    """A query for columns of a table, without value where it has none of that name."""
    there = _columns(database, table)
    if "id" not in there:
        return f"SELECT {', '.join('NULL AS ' + n for n in names)} WHERE 0"
    columns = (name if name in there else f"NULL AS {name}" for name in names)
    return f"SELECT {', '.join(columns)} FROM {table}"


def _latest(database: sqlite3.Connection) -> int:
    query = _select(database, "message", "id", "time_updated")
    (latest,) = database.execute(f"SELECT max({_CHANGED}) FROM ({query})").fetchone()
    return _number(latest)


def _unread(database: sqlite3.Connection) -> Iterator[Reading]:
    """What no reading of messages meets: other tables, and parts without a message."""
    for table in _UNREAD:
        if (
            _columns(database, table)
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


def _rows(database: sqlite3.Connection) -> list[Row]:
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
        found.append(Row(name, parent, *about, _number(changed)))
    return found


def _messages(
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
    return _named(database, again) + [_marked(database, row) for row in rows.fetchall()]


def _named(
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
    return _message(database, row), (_number(row[3]), text_of(row[0]))


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
        max([_number(changed), *(_number(at) for _, at, _ in found)]),
    )


def _plain(value: object) -> object:
    """A value of a column; bytes, which stand in none, as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
