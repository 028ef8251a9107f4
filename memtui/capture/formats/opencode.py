"""OpenCode's sessions: its SQLite database, or the folder of files it used before.

The database is ``$XDG_DATA_HOME/opencode/opencode.db`` (``~/.local/share`` by default),
the folder ``storage`` beside it.

A message names no place in a file, so the cursor remembers when the latest messages
were changed, which of those were given and which are not finished. A message counts as
changed whenever OpenCode completes it, so its parts need no such mark of their own.
What came with an earlier time is found by what was seen of each session.
"""

import errno
import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from memtui.capture.formats import jsonl
from memtui.capture.formats.base import (
    TRANSCRIPT,
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    Record,
    SkippedRecord,
    SourceFormat,
    as_text,
    parse_time,
)
from memtui.capture.formats.opencode_messages import (
    AGENT,
    Message,
    Part,
    Row,
    Sessions,
    object_of,
)
from memtui.model.events import to_ms

_PARENTS = 20
"""How many sessions up a helper's parents are looked for."""


def fits_folder(path: Path) -> bool:
    """Whether a file is a session of such a folder."""
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return False
    fields = object_of(path.read_bytes()) or {}
    return "id" in fields and bool({"projectID", "directory", "time"} & fields.keys())


def beside(path: Path) -> Iterator[Path]:
    """What changes when a session goes on."""
    messages = path.parents[2] / "message" / path.stem
    yield messages
    if messages.is_dir() and (latest := max(messages.glob("*.json"), default=None)):
        yield latest
        yield path.parents[2] / "part" / latest.stem


def read_folder(
    path: Path, start: Cursor | None, now: datetime
) -> Iterator[ParsedItem]:
    """Read one session, all of it; what was given before is not given again."""
    raw = path.read_bytes()
    fields = object_of(raw)
    sessions = Sessions(now, start.state if start else {}, remembered=None)
    if fields is None:
        yield InvalidRecord("not a JSON object")
    else:
        folder = _Folder(path.parents[2])
        row = folder.row(path, fields)
        sessions.know([row, *folder.above(row)])
        for message in folder.messages(row.name):
            yield from sessions.take(message)
        yield from sessions.rest(0)
    yield Cursor(len(raw), state=sessions.state(), needs_reread=sessions.is_held)


@dataclass(slots=True)
class _Folder:
    storage: Path
    _loose: dict[str, list[Path]] | None = None

    def row(self, path: Path, fields: dict[str, object]) -> Row:
        """The session of a file."""
        time = fields.get("time")
        created = time.get("created") if isinstance(time, dict) else None
        project = as_text(fields.get("projectID"))
        held = _object(self.storage / "project" / f"{_name(project)}.json")
        return Row(
            name=as_text(fields.get("id")) or path.stem,
            parent=as_text(fields.get("parentID")),
            directory=as_text(fields.get("directory")),
            title=as_text(fields.get("title")),
            worktree=as_text((held or {}).get("worktree")),
            created=created,
        )

    def above(self, row: Row) -> Iterator[Row]:
        """The sessions that started a helper's, nearest first."""
        for _ in range(_PARENTS):
            if not row.parent:
                return
            name = _name(row.parent)
            files = sorted((self.storage / "session").glob(f"*/{name}.json"))
            fields = _object(files[0]) if files else None
            if not fields:
                return
            row = self.row(files[0], fields)
            # Only the session that was asked for is told of.
            yield replace(row, changed_ms=-1)

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session, in their order."""
        for file in sorted((self.storage / "message" / _name(session)).glob("*.json")):
            fields = _object(file)
            name = as_text((fields or {}).get("id")) or file.stem
            parts = [self._part(part) for part in self._files(name)]
            changed_ms = max(map(_latest_ms, (fields, *(p.fields for p in parts))))
            yield Message(name, session, fields, parts, changed_ms=changed_ms)

    def _files(self, message: str) -> list[Path]:
        folder = self.storage / "part" / _name(message)
        if folder.is_dir():
            return sorted(folder.glob("*.json"))
        if self._loose is None:
            self._loose = {}
            for file in sorted((self.storage / "part").glob("*.json")):
                whose = as_text((_object(file) or {}).get("messageID"))
                self._loose.setdefault(whose, []).append(file)
        return self._loose.get(message, [])

    def _part(self, file: Path) -> Part:
        fields = _object(file)
        return Part(as_text((fields or {}).get("id")) or file.stem, fields)


def _object(file: Path) -> dict[str, object] | None:
    try:
        return object_of(jsonl.require_regular_file(file).read_bytes())
    except (OSError, ValueError):
        return None


def _name(said: str) -> str:
    """A name as that of one file, whatever it holds."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in said) or "_"


def _latest_ms(fields: dict[str, object] | None) -> int:
    """The latest time that a message or a part tells of itself."""
    found: list[object] = []
    for held in (fields, (fields or {}).get("state")):
        time = held.get("time") if isinstance(held, dict) else None
        found += time.values() if isinstance(time, dict) else []
    return max((to_ms(at) for at in map(parse_time, found) if at), default=0)


Ask = Callable[[str, tuple[object, ...]], list[Any]]
"""Asks the database: a query and its values, answered by rows."""


Seen = dict[str, list[float]]
"""Of each session: how many messages it has, the sum of their times, the latest."""


_MADE = "CAST(ifnull(time_created, 0) AS INTEGER)"


_TOLD = f"count(*), total({_MADE}), ifnull(max({_MADE}), 0)"


def of(ask: Ask, messages: str) -> Seen:
    """What a database holds now.

    Args:
        ask: Asks the database.
        messages: A query for its messages.
    """
    return {_short(name): told for name, told in _sessions(ask, messages)}


def late_messages(
    ask: Ask, messages: str, before: object, changed: str, to: int
) -> list[str]:
    """The names of messages that may have come since, with an earlier time.

    Args:
        ask: Asks the database.
        messages: A query for its messages.
        before: What was seen of it before.
        changed: The expression for when a message was changed.
        to: Until when messages are looked for: later ones are read in their turn.
    """
    known = before if isinstance(before, Mapping) else {}
    found: list[str] = []
    for name, told in _sessions(ask, messages):
        was = known.get(_short(name))
        if was != told:
            since = was[2] if was and _has(ask, messages, name, was) else -1
            rows = ask(
                f"SELECT CAST(id AS TEXT) FROM ({messages}) WHERE session_id IS ?"
                f" AND {_MADE} > ? AND {changed} <= ? AND id IS NOT NULL ORDER BY 1",
                (name, since, to),
            )
            found += [as_text(message) for (message,) in rows]
    return found


def _has(ask: Ask, messages: str, name: object, was: list[float]) -> bool:
    """Whether a session still has all that it had, and no more of that time."""
    query = f"SELECT {_TOLD} FROM ({messages}) WHERE session_id IS ? AND {_MADE} <= ?"
    return list(ask(query, (name, was[2]))[0]) == was


def _sessions(ask: Ask, messages: str) -> Iterator[tuple[object, list[float]]]:
    query = f"SELECT session_id, {_TOLD} FROM ({messages}) GROUP BY session_id"
    for name, *told in ask(query, ()):
        yield name, told


def _short(name: object) -> str:
    """A session's name, short: the state is written often."""
    raw = repr(name).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=6).hexdigest()


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
    return {as_text(name) for (name,) in found}


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


def find_late_messages(
    database: sqlite3.Connection, start: Cursor | None, to_ms: int
) -> tuple[list[str], Seen]:
    """The messages that came late, and what there is now."""
    columns = ("id", "session_id", "time_created", "time_updated")
    kept = _select(database, "message", *columns)

    def ask(query: str, values: tuple[object, ...]) -> list[Any]:
        return database.execute(query, values).fetchall()

    before = start.state.get("seen") if start else None
    late = late_messages(ask, kept, before, _CHANGED, to_ms) if start else []
    return late, of(ask, kept)


def count_unread(database: sqlite3.Connection) -> Iterator[ParsedItem]:
    """What no reading of messages meets: other tables, and parts without a message."""
    for table in _UNREAD:
        if (
            columns(database, table)
            and database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
        ):
            yield SkippedRecord(f"unknown record type {table}")
    parts = _select(database, "part", "id", "message_id")
    messages = _select(database, "message", "id")
    (lost,) = database.execute(
        f"SELECT count(*) FROM ({parts}) WHERE ifnull(message_id, '') "
        f"NOT IN (SELECT id FROM ({messages}) WHERE id IS NOT NULL)"
    ).fetchone()
    yield from [InvalidRecord("a part without its message")] * lost


def read_rows(database: sqlite3.Connection) -> list[Row]:
    """All sessions."""
    query = _select(database, "project", "id", "worktree")
    worktrees = {
        as_text(_plain(name)): as_text(_plain(at))
        for name, at in database.execute(query)
    }
    names = ("id", "parent_id", "directory", "title", "agent", "model", "project_id")
    query = _select(database, "session", *names, "time_created", "time_updated")
    found = []
    for *texts, created, changed in database.execute(query):
        name, parent, directory, title, agent, model, project = (
            as_text(_plain(text)) for text in texts
        )
        known = object_of(model) or {}
        model = as_text(known.get("id") or known.get("modelID"))
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
    return _message(database, row), (number(row[3]), as_text(row[0]))


def _message(database: sqlite3.Connection, row: Sequence[object]) -> Message:
    name, session, created, changed, raw = row
    query = _select(database, "part", "id", "message_id", "time_updated", "data")
    found = database.execute(
        f"SELECT {_ID}, {_CHANGED}, data FROM ({query})"
        " WHERE message_id = ? ORDER BY 1",
        (name,),
    ).fetchall()
    parts = [Part(as_text(part), object_of(data)) for part, _, data in found]
    return Message(
        as_text(name),
        as_text(_plain(session)),
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


OVERLAP_MS = 60_000
"""How much before the latest change is looked at again: several programs write, and
one may finish with an earlier time than another."""


_MAGIC = b"SQLite format 3\0"


_TABLES = ("session", "message", "part")


def _may_be(path: PurePath) -> bool:
    if path.suffix == ".json":
        return path.parent.parent.name == "session" and path.name.startswith("ses_")
    return path.suffix == ".db" and path.name.startswith("opencode")


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file is OpenCode's database, or a session of its older folder."""
    if path.suffix == ".json":
        return fits_folder(path.absolute())
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return False
    try:
        with opened(path) as database:
            return all(columns(database, table) for table in _TABLES)
    except OSError:
        # What is wrong with it is told by reading it.
        return _may_be(path)


def _beside(path: Path) -> Iterator[Path]:
    if path.suffix == ".json":
        return beside(path.absolute())
    return iter((path.with_name(f"{path.name}-wal"),))


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[ParsedItem]:
    """Read all that is new; see ``memtui.sources.source.Read``."""
    if path.suffix == ".json":
        return read_folder(path.absolute(), start, now)
    return _database(path, start, now)


SOURCE = SourceFormat(AGENT, "OpenCode", TRANSCRIPT, _may_be, fits, read, _beside)


def _database(path: Path, start: Cursor | None, now: datetime) -> Iterator[ParsedItem]:
    state: Mapping[str, object] = start.state if start else {}
    latest = number(state.get("latest"))
    with opened(path) as database:
        if start and latest > latest_ms(database):
            yield FileReplaced("the database is older than it was")
            state, latest, start = {}, 0, None
        unread = [] if start else list(count_unread(database))
        mark = (latest - OVERLAP_MS, "")
        late, now_seen = find_late_messages(database, start, mark[0])
    yield from unread
    sessions = Sessions(now, state)
    yield from _late(path, sessions, late)
    told_ms = number(state.get("sessions"))
    told: dict[str, object] = {"seen": now_seen, "sessions": told_ms}
    again = sessions.held
    while True:
        with opened(path) as database:
            sessions.know(rows := read_rows(database))
            found = messages(database, mark, again)
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
    yield Cursor(size, state=told | sessions.state(), needs_reread=sessions.is_held)


def _late(path: Path, sessions: Sessions, names: list[str]) -> Iterator[ParsedItem]:
    """Read messages that came with an earlier time than what was read before."""
    for at in range(0, len(names), MESSAGES_AT_ONCE):
        with opened(path) as database:
            sessions.know(read_rows(database))
            found = named(database, names[at : at + MESSAGES_AT_ONCE])
        for message, _ in found:
            yield from sessions.take(message)
