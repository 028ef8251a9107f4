"""OpenCode's sessions: its SQLite database, or the folder of files it used before.

The database is ``$XDG_DATA_HOME/opencode/opencode.db`` (``~/.local/share`` by default),
the folder ``storage`` beside it.

A message is yielded once, when it is finished: OpenCode marks an assistant's message as
completed, and writes all parts of a prompt at once. Later changes change nothing. A
fork is a copy with new ids; its messages are recognized by their times and texts.

The cursor remembers when the latest messages were changed, which of those were yielded
and which are unfinished. OpenCode changes a message's time when it completes it, so
parts need no such mark. Messages that arrive late with an earlier time are found by
comparing what each session holds with what it held before.
"""

import errno
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from urllib.parse import quote

from memtui.capture.formats.base import (
    HOLD_TIME,
    IN_THE_FUTURE,
    Cursor,
    EventBuilder,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Position,
    Record,
    SkippedRecord,
    SourceFormat,
    ToolCall,
    as_text,
    count_words,
    join_texts,
    parse_time,
)
from memtui.capture.formats.jsonl import TOO_DEEP, parse_object
from memtui.files import require_regular_file
from memtui.model import events
from memtui.model.events import EventRole, EventType, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata

AGENT = "opencode"
_SQLITE_HEADER = b"SQLite format 3\0"
_TABLES = ("session", "message", "part")

_UNREAD_TABLES = ("session_message", "session_entry", "session_v2")
"""Tables in which newer versions store conversations in another way."""

_MESSAGES_PER_CURSOR = 200
"""The number of messages read while the database is open, and between two cursors."""

_LOCK_TIMEOUT_S = 1.0

_OVERLAP_MS = 60_000
"""The time before the latest change that is read again: of several writers, one may
finish with an earlier time than another."""

_ABANDONED_MS = 60 * 60 * 1000
"""An unfinished message that has not changed for this time is yielded as it is."""

_HOLD_MS = HOLD_TIME // timedelta(milliseconds=1)

_REMEMBERED_MESSAGES = 1000
"""The number of yielded messages remembered. One that changes much later is yielded
again, which changes nothing, since its events have the same ids."""

_MAX_PARENTS = 20
"""The most sessions between a subagent's session and the user's."""

_COMPLETE_STATES = frozenset({"completed", "success", "error"})
"""The states of a call that has its result."""

_SKIPPED_PARTS = frozenset(
    {"step-start", "step-finish", "patch", "snapshot", "agent", "retry"}
)
"""Parts that hold nothing of the conversation."""

_ABORTED = "MessageAbortedError"

_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")
"""The title of a session that has none yet."""

_SUBAGENT_TITLE = re.compile(r"(.*) \(@(\S+) subagent\)")
_Fields = Mapping[str, object]


class OpenCodeFormat(SourceFormat):
    name, title = AGENT, "OpenCode"

    def matches_path(self, path: PurePath) -> bool:
        if path.suffix == ".json":
            is_in_sessions = path.parent.parent.name == "session"
            return is_in_sessions and path.name.startswith("ses_")
        return path.suffix == ".db" and path.name.startswith("opencode")

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        if path.suffix == ".json":
            return _is_session_file(path.absolute())
        with path.open("rb") as file:
            if file.read(len(_SQLITE_HEADER)) != _SQLITE_HEADER:
                return False
        try:
            with _Database.open(path) as database:
                return all(map(database.columns, _TABLES))
        except OSError:
            # Reading it will say what is wrong with it.
            return self.matches_path(path)

    def related_files(self, path: Path) -> Iterator[Path]:
        if path.suffix != ".json":
            yield path.with_name(f"{path.name}-wal")
            return
        storage = path.absolute().parents[2]
        messages = storage / "message" / path.stem
        yield messages
        if messages.is_dir() and (latest := max(messages.glob("*.json"), default=None)):
            yield latest
            yield storage / "part" / latest.stem

    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        if path.suffix == ".json":
            return _read_session_file(path.absolute(), start, now)
        return _read_database(path, start, now)


FORMAT = OpenCodeFormat()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a message; its fields are None if it is not a JSON object."""

    id: str
    fields: dict[str, object] | None

    @property
    def kind(self) -> str:
        """The type: ``text``, ``tool``, ``file`` …"""
        return as_text((self.fields or {}).get("type"))


@dataclass(frozen=True, slots=True)
class _Message:
    """A message with its parts; its fields are None if it is not a JSON object."""

    id: str
    session_id: str
    fields: dict[str, object] | None
    parts: list[_Part]
    created: object = None
    """When it was made, in milliseconds, if its fields do not say so."""
    changed_ms: int = 0
    """When it or a part of it was last written."""

    @property
    def at(self) -> datetime | None:
        created = _inner(self.fields, "time").get("created")
        return parse_time(self.created if created is None else created)

    @property
    def is_prompt(self) -> bool:
        """It will be complete soon even if nothing changes."""
        return (self.fields or {}).get("role") != "assistant"

    def is_finished(self, now: datetime) -> bool:
        unchanged_ms = to_ms(now) - self.changed_ms
        if self.fields is None or unchanged_ms > _ABANDONED_MS:
            return True
        if self.is_prompt:
            return unchanged_ms > _HOLD_MS
        is_completed = _inner(self.fields, "time").get("completed")
        return bool(is_completed or self.fields.get("error"))


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    parent: str = ""
    directory: str = ""
    title: str = ""
    agent: str = ""
    model: str = ""
    worktree: str = ""
    created: object = None
    changed_ms: int = 0


def _inner(fields: _Fields | None, name: str) -> _Fields:
    """Return an object within an object; {} if there is none."""
    value = (fields or {}).get(name)
    return value if isinstance(value, dict) else {}


def _as_number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _placeholder(fields: _Fields) -> str:
    """Return what stands for a file: its type, name and size, not its bytes."""
    mime = as_text(fields.get("mime")) or "unknown type"
    url, size = as_text(fields.get("url")), ""
    if url.startswith("data:"):
        size = f"{len(url.partition(',')[2]) * 3 // 4 // 1024 or 1} kB"
    values = (mime, as_text(fields.get("filename")), size)
    kind = "image" if mime.startswith("image/") else "file"
    return f"[{kind}: {', '.join(filter(None, values))}]"


# The folder of files


def _is_session_file(path: Path) -> bool:
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return False
    fields = parse_object(path.read_bytes()) or {}
    return "id" in fields and bool({"projectID", "directory", "time"} & fields.keys())


def _read_session_file(
    path: Path, start: Cursor | None, now: datetime
) -> Iterator[ParsedItem]:
    """Read one session, all of it; what was yielded before is left out."""
    raw = path.read_bytes()
    fields = parse_object(raw)
    reader = _MessageReader(now, start.state if start else {}, remembered=None)
    if fields is None:
        yield InvalidRecord("not a JSON object")
    else:
        folder = _StorageFolder(path.parents[2])
        session = folder.session(path, fields)
        reader.set_sessions([session, *folder.parents(session)])
        for message in folder.messages(session.id):
            yield from reader.read(message)
        yield from reader.finish(0)
    yield Cursor(len(raw), state=reader.state(), needs_reread=reader.needs_reread)


class _StorageFolder:
    def __init__(self, storage: Path) -> None:
        self._storage = storage
        self._loose_parts: dict[str, list[Path]] | None = None

    def session(self, path: Path, fields: dict[str, object]) -> _Session:
        project = _file_name(as_text(fields.get("projectID")))
        project_fields = _read_object(self._storage / "project" / f"{project}.json")
        return _Session(
            id=as_text(fields.get("id")) or path.stem,
            parent=as_text(fields.get("parentID")),
            directory=as_text(fields.get("directory")),
            title=as_text(fields.get("title")),
            worktree=as_text((project_fields or {}).get("worktree")),
            created=_inner(fields, "time").get("created"),
        )

    def parents(self, session: _Session) -> Iterator[_Session]:
        """Yield the sessions that started a subagent's session, nearest first."""
        for _ in range(_MAX_PARENTS):
            if not session.parent:
                return
            name = _file_name(session.parent)
            files = sorted((self._storage / "session").glob(f"*/{name}.json"))
            fields = _read_object(files[0]) if files else None
            if not fields:
                return
            session = self.session(files[0], fields)
            # Only the facts of the session that is read are yielded.
            yield replace(session, changed_ms=-1)

    def messages(self, session_id: str) -> Iterator[_Message]:
        folder = self._storage / "message" / _file_name(session_id)
        for file in sorted(folder.glob("*.json")):
            fields = _read_object(file)
            message_id = as_text((fields or {}).get("id")) or file.stem
            parts = [self._part(part) for part in self._part_files(message_id)]
            changed_ms = max(map(_latest_ms, (fields, *(p.fields for p in parts))))
            yield _Message(message_id, session_id, fields, parts, changed_ms=changed_ms)

    def _part_files(self, message_id: str) -> list[Path]:
        folder = self._storage / "part" / _file_name(message_id)
        if folder.is_dir():
            return sorted(folder.glob("*.json"))
        if self._loose_parts is None:
            self._loose_parts = {}
            for file in sorted((self._storage / "part").glob("*.json")):
                owner = as_text((_read_object(file) or {}).get("messageID"))
                self._loose_parts.setdefault(owner, []).append(file)
        return self._loose_parts.get(message_id, [])

    def _part(self, file: Path) -> _Part:
        fields = _read_object(file)
        return _Part(as_text((fields or {}).get("id")) or file.stem, fields)


def _read_object(file: Path) -> dict[str, object] | None:
    try:
        return parse_object(require_regular_file(file).read_bytes())
    except (OSError, ValueError):
        return None


def _file_name(text: str) -> str:
    """Return an id as the name of one file, whatever it holds."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text) or "_"


def _latest_ms(fields: dict[str, object] | None) -> int:
    """Return the latest time in a message or a part."""
    times: list[object] = []
    for holder in (fields, _inner(fields, "state")):
        times += _inner(holder, "time").values()
    return max((to_ms(at) for at in map(parse_time, times) if at), default=0)


# The database

_Mark = tuple[int, str]
"""A place in the messages as they are ordered: time of change and id."""

_Contents = dict[str, list[float]]
"""For each session: its number of messages, the sum of their times, the latest time."""

_ID = "CAST(id AS TEXT)"
_CREATED = "CAST(ifnull(time_created, 0) AS INTEGER)"
_CHANGED = "CAST(ifnull(time_updated, 0) AS INTEGER)"
_SUMMARY = f"count(*), total({_CREATED}), ifnull(max({_CREATED}), 0)"


def _read_database(
    path: Path, start: Cursor | None, now: datetime
) -> Iterator[ParsedItem]:
    state: Mapping[str, object] = start.state if start else {}
    latest = _as_number(state.get("latest"))
    with _Database.open(path) as database:
        if start and latest > database.latest_ms():
            yield FileReplaced("the database is older than it was")
            state, latest, start = {}, 0, None
        unread = [] if start else list(database.unread())
        mark = (latest - _OVERLAP_MS, "")
        late = database.late_ids(state.get("contents"), mark[0]) if start else []
        contents = database.contents()
    yield from unread
    reader = _MessageReader(now, state)
    for at in range(0, len(late), _MESSAGES_PER_CURSOR):
        with _Database.open(path) as database:
            reader.set_sessions(database.sessions())
            found = database.messages_by_id(late[at : at + _MESSAGES_PER_CURSOR])
        for message, _ in found:
            yield from reader.read(message)
    sessions_ms = _as_number(state.get("sessions"))
    own_state: dict[str, object] = {"contents": contents, "sessions": sessions_ms}
    unfinished = reader.unfinished
    while True:
        with _Database.open(path) as database:
            sessions = database.sessions()
            found = database.messages_by_id(unfinished) + database.messages_after(mark)
            size = path.stat().st_size
        reader.set_sessions(sessions)
        reader.forget(set(unfinished) - {message.id for message, _ in found})
        for message, _ in found:
            yield from reader.read(message)
        marks = [after for message, after in found if message.id not in unfinished]
        unfinished = []
        latest = max([latest, *(changed_ms for changed_ms, _ in marks)])
        own_state["latest"] = latest
        if len(marks) < _MESSAGES_PER_CURSOR:
            break
        mark = marks[-1]
        yield Cursor(size, state=own_state | reader.state())
    yield from reader.finish(sessions_ms)
    own_state["sessions"] = max([sessions_ms, *(one.changed_ms for one in sessions)])
    yield Cursor(
        size, state=own_state | reader.state(), needs_reread=reader.needs_reread
    )


class _Database:
    """OpenCode's database, open for reading; any column may be missing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["_Database"]:
        """Open the database for a moment.

        Raises:
            OSError: It cannot be read.
        """
        names = (f"{path.name}-wal", f"{path.name}-journal")
        is_in_use = any(path.with_name(name).exists() for name in names)
        mode = "mode=ro" if is_in_use else "mode=ro&immutable=1"
        path.stat()
        try:
            uri = f"file:{quote(str(path.absolute()))}?{mode}"
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_LOCK_TIMEOUT_S)
            ) as connection:
                connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                connection.execute("BEGIN")
                yield cls(connection)
        except sqlite3.Error as error:
            raise _as_os_error(error, path) from error
        except UnicodeDecodeError as error:
            # The message of an SQLite error quotes what is damaged.
            raise OSError(errno.EIO, "the database is damaged", str(path)) from error

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if there is no such table."""
        rows = self._connection.execute(
            f'SELECT name FROM pragma_table_info("{table}")'
        )
        return {as_text(name) for (name,) in rows}

    def _select(self, table: str, *names: str) -> str:
        """Return a query for columns of a table, NULL for those it does not have."""
        existing = self.columns(table)
        if "id" not in existing:
            return f"SELECT {', '.join('NULL AS ' + n for n in names)} WHERE 0"
        chosen = (name if name in existing else f"NULL AS {name}" for name in names)
        return f"SELECT {', '.join(chosen)} FROM {table}"

    def _messages(self) -> str:
        columns = ("id", "session_id", "time_created", "time_updated", "data")
        return self._select("message", *columns)

    def latest_ms(self) -> int:
        """Return when the latest message was changed."""
        (latest,) = self._connection.execute(
            f"SELECT max({_CHANGED}) FROM ({self._messages()})"
        ).fetchone()
        return _as_number(latest)

    def unread(self) -> Iterator[ParsedItem]:
        """Report tables that are not read, and parts without a message."""
        for table in _UNREAD_TABLES:
            if (
                self.columns(table)
                and self._connection.execute(
                    f"SELECT 1 FROM {table} LIMIT 1"
                ).fetchone()
            ):
                yield SkippedRecord(f"unknown record type {table}")
        parts = self._select("part", "id", "message_id")
        (lost,) = self._connection.execute(
            f"SELECT count(*) FROM ({parts}) WHERE ifnull(message_id, '') NOT IN"
            f" (SELECT id FROM ({self._messages()}) WHERE id IS NOT NULL)"
        ).fetchone()
        yield from [InvalidRecord("a part without its message")] * lost

    def contents(self) -> _Contents:
        """Summarize what each session holds now."""
        return {_short_id(session): summary for session, summary in self._summaries()}

    def _summaries(self) -> list[tuple[object, list[float]]]:
        rows = self._connection.execute(
            f"SELECT session_id, {_SUMMARY} FROM ({self._messages()})"
            " GROUP BY session_id"
        )
        return [(session, summary) for session, *summary in rows]

    def late_ids(self, contents: object, to_ms: int) -> list[str]:
        """Return messages that may have been added with an earlier time.

        Args:
            contents: What each session held at the last reading.
            to_ms: The latest change; later messages are read in their order.
        """
        before = contents if isinstance(contents, Mapping) else {}
        found: list[str] = []
        for session, summary in self._summaries():
            old = before.get(_short_id(session))
            if old == summary:
                continue
            since = old[2] if old and self._still_holds(session, old) else -1
            rows = self._connection.execute(
                f"SELECT {_ID} FROM ({self._messages()}) WHERE session_id IS ? AND"
                f" {_CREATED} > ? AND {_CHANGED} <= ? AND id IS NOT NULL ORDER BY 1",
                (session, since, to_ms),
            )
            found += [as_text(message_id) for (message_id,) in rows]
        return found

    def _still_holds(self, session: object, old: list[float]) -> bool:
        """Return whether a session holds all it held, and no more of that time."""
        row = self._connection.execute(
            f"SELECT {_SUMMARY} FROM ({self._messages()})"
            f" WHERE session_id IS ? AND {_CREATED} <= ?",
            (session, old[2]),
        ).fetchone()
        return list(row) == old

    def sessions(self) -> list[_Session]:
        query = self._select("project", "id", "worktree")
        worktrees = {
            as_text(_decode(project)): as_text(_decode(worktree))
            for project, worktree in self._connection.execute(query)
        }
        names = (
            *("id", "parent_id", "directory", "title", "agent", "model", "project_id"),
            *("time_created", "time_updated"),
        )
        found = []
        for *texts, created, changed in self._connection.execute(
            self._select("session", *names)
        ):
            session_id, parent, directory, title, agent, model, project = (
                as_text(_decode(text)) for text in texts
            )
            model_fields = parse_object(model) or {}
            found.append(
                _Session(
                    session_id,
                    parent,
                    directory,
                    title,
                    agent,
                    as_text(model_fields.get("id") or model_fields.get("modelID")),
                    worktrees.get(project, ""),
                    _decode(created),
                    _as_number(changed),
                )
            )
        return found

    def messages_after(self, mark: _Mark) -> list[tuple[_Message, _Mark]]:
        """Return the next messages after a mark, each with the mark after it."""
        return self._read_messages(
            f"WHERE ({_CHANGED}, ifnull({_ID}, '')) > (?, ?)"
            f" ORDER BY {_CHANGED}, ifnull({_ID}, '') LIMIT ?",
            (*mark, _MESSAGES_PER_CURSOR),
        )

    def messages_by_id(self, ids: Iterable[str]) -> list[tuple[_Message, _Mark]]:
        """Return the messages with these ids that still exist, each with its mark."""
        return [
            found
            for message_id in ids
            for found in self._read_messages("WHERE id = ?", (message_id,))
        ]

    def _read_messages(
        self, condition: str, values: tuple[object, ...]
    ) -> list[tuple[_Message, _Mark]]:
        columns = f"{_ID}, session_id, time_created, {_CHANGED}, data"
        rows = self._connection.execute(
            f"SELECT {columns} FROM ({self._messages()}) {condition}", values
        ).fetchall()
        return [
            (self._message(row), (_as_number(row[3]), as_text(row[0]))) for row in rows
        ]

    def _message(self, row: Sequence[object]) -> _Message:
        message_id, session_id, created, changed, data = row
        query = self._select("part", "id", "message_id", "time_updated", "data")
        rows = self._connection.execute(
            f"SELECT {_ID}, {_CHANGED}, data FROM ({query})"
            " WHERE message_id = ? ORDER BY 1",
            (message_id,),
        ).fetchall()
        return _Message(
            as_text(message_id),
            as_text(_decode(session_id)),
            parse_object(data),
            [_Part(as_text(part_id), parse_object(part)) for part_id, _, part in rows],
            _decode(created),
            max([_as_number(changed), *(_as_number(at) for _, at, _ in rows)]),
        )


def _as_os_error(error: sqlite3.Error, path: Path) -> OSError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        reason = "the database is locked by another program"
        return OSError(errno.EBUSY, reason, str(path))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return OSError(errno.EIO, f"the database is damaged: {error}", str(path))
    return OSError(errno.EIO, f"the database cannot be read: {error}", str(path))


def _decode(value: object) -> object:
    """Return a column's value; bytes, which no column should hold, as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _short_id(session_id: object) -> str:
    """Return a short hash: the cursor's state is written often."""
    raw = repr(session_id).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=6).hexdigest()


# From messages to events


class _MessageReader:
    """Turns messages into events, each message once."""

    def __init__(
        self,
        now: datetime,
        state: Mapping[str, object],
        *,
        remembered: int | None = _REMEMBERED_MESSAGES,
    ) -> None:
        """Restore what an earlier reading yielded and held back.

        Args:
            now: The time.
            state: The earlier reading's state.
            remembered: How many yielded messages are remembered; None for all.
        """
        self._now, self._remembered = now, remembered
        self._builder = EventBuilder(AGENT, now)
        yielded, unfinished = state.get("yielded"), state.get("unfinished")
        self._yielded = dict.fromkeys(
            map(str, yielded if isinstance(yielded, list) else ())
        )
        self._unfinished = dict.fromkeys(
            map(str, unfinished if isinstance(unfinished, list) else ())
        )
        self._unfinished_prompts: set[str] = set()
        self._sessions: dict[str, _Session] = {}
        self._models: dict[str, str] = {}
        self._introduced: set[str] = set()

    @property
    def unfinished(self) -> list[str]:
        """The ids of the messages that were unfinished when they were read."""
        return list(self._unfinished)

    @property
    def needs_reread(self) -> bool:
        """A message will count as finished soon, even if nothing changes."""
        return bool(self._unfinished_prompts & self._unfinished.keys())

    def state(self) -> dict[str, object]:
        ids = list(self._yielded)
        kept = ids[-self._remembered :] if self._remembered else ids
        return {"yielded": kept, "unfinished": self.unfinished}

    def set_sessions(self, sessions: Iterable[_Session]) -> None:
        self._sessions = {session.id: session for session in sessions}

    def forget(self, ids: Iterable[str]) -> None:
        """Forget unfinished messages that do not exist any more."""
        for message_id in ids:
            self._unfinished.pop(message_id, None)

    def finish(self, since_ms: int) -> Iterator[ParsedItem]:
        """Report unfinished messages; yield the facts of sessions.

        Args:
            since_ms: Sessions that changed since then are included.
        """
        for _ in self._unfinished:
            yield PendingRecord("a message that is still being written")
        for session in self._sessions.values():
            if session.changed_ms >= since_ms or session.id in self._introduced:
                yield from self._session_facts(session)

    def read(self, message: _Message) -> Iterator[ParsedItem]:
        """Read a message, unless it was yielded before or is unfinished."""
        if message.id in self._yielded:
            return
        if not message.is_finished(self._now):
            self._unfinished[message.id] = None
            if message.is_prompt:
                self._unfinished_prompts.add(message.id)
            return
        self._unfinished.pop(message.id, None)
        self._yielded[message.id] = None
        fields, session_id = message.fields or {}, message.session_id
        if model := as_text(
            fields.get("modelID") or _inner(fields, "model").get("modelID")
        ):
            self._models[session_id] = model
        session = self._sessions.get(session_id)
        if session and session_id not in self._introduced:
            self._introduced.add(session_id)
            yield from self._session_facts(session)
        try:
            yield from self._read(message)
        except RecursionError:
            yield InvalidRecord(TOO_DEEP)

    def _root_session(self, session_id: str) -> str:
        """Return the user's session that a subagent's session belongs to."""
        seen = {session_id}
        while session := self._sessions.get(session_id):
            if not session.parent or session.parent in seen:
                break
            session_id = session.parent
            seen.add(session_id)
        return session_id

    def _session_facts(self, session: _Session) -> Iterator[ParsedItem]:
        root = self._root_session(session.id)
        is_root = root == session.id
        title = " ".join(session.title.split())
        if _UNTITLED.fullmatch(session.title):
            title = ""
        if is_root or root not in self._sessions:
            yield SessionMetadata(
                agent=AGENT,
                session_id=root,
                cwd=session.directory,
                root="" if session.worktree == "/" else session.worktree,
                title=title if is_root else "",
                model=(self._models.get(root) or session.model) if is_root else "",
                at=parse_time(session.created),
            )
        if not is_root:
            match = _SUBAGENT_TITLE.fullmatch(title)
            yield SubagentMetadata(
                agent=AGENT,
                session_id=root,
                subagent=session.id,
                kind=session.agent or (match[2] if match else ""),
                task=match[1] if match else title,
            )

    def _read(self, message: _Message) -> Iterator[ParsedItem]:
        fields, at = message.fields, message.at
        role = as_text((fields or {}).get("role"))
        problem: InvalidRecord | SkippedRecord | None = None
        if fields is None:
            problem = InvalidRecord("not a JSON object")
        elif not role:
            problem = InvalidRecord("a record without type")
        elif role not in ("user", "assistant"):
            problem = SkippedRecord(f"unknown record type {role}")
        elif at is None:
            created = _inner(fields, "time").get("created", message.created)
            is_missing = created is None
            problem = InvalidRecord("no timestamp" if is_missing else "a bad timestamp")
        elif events.is_in_future(at, self._now):
            problem = InvalidRecord(IN_THE_FUTURE)
        if problem or fields is None or at is None:
            for one in (fields, *(part.fields for part in message.parts)):
                if isinstance(problem, SkippedRecord):
                    yield SkippedRecord(problem.reason, words=count_words(one))
                else:
                    yield problem or InvalidRecord("no timestamp")
            return
        root = self._root_session(message.session_id)
        subagent = message.session_id if root != message.session_id else ""
        position = Position(0, at, root, subagent, message.id)
        if role == "user":
            yield from self._user(position, message)
        else:
            yield from self._assistant(position, message, fields)
        for number, part in enumerate(message.parts, 1):
            yield from self._part(position, number, part)

    def _user(self, position: Position, message: _Message) -> Iterator[ParsedItem]:
        texts: dict[str, list[str]] = {"": [], "synthetic": [], "subtask": []}
        for part in message.parts:
            fields = part.fields or {}
            if part.kind == "text":
                is_system = fields.get("synthetic") or fields.get("ignored")
                kind = "synthetic" if is_system else ""
                texts[kind].append(as_text(fields.get("text")))
            elif part.kind == "file":
                texts[""].append(_placeholder(fields))
            elif part.kind == "subtask":
                texts["subtask"].append(as_text(fields.get("prompt")))
        is_empty = True
        for kind, some in texts.items():
            if text := join_texts(some):
                is_empty = False
                yield self._event(
                    position,
                    position.at,
                    EventType.USER_MESSAGE,
                    text,
                    {"kind": kind},
                    role=EventRole.SYSTEM if kind else EventRole.USER,
                    key=":".join(filter(None, (message.id, kind))),
                )
        if is_empty:
            yield SkippedRecord("a message without text")

    def _assistant(
        self, position: Position, message: _Message, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        texts, at = [], None
        for part in message.parts:
            part_fields = part.fields or {}
            if part.kind == "text":
                texts.append(as_text(part_fields.get("text")))
                started = _inner(part_fields, "time").get("start")
                at = at or (parse_time(started) if texts[-1].strip() else None)
            elif part.kind == "file":
                texts.append(_placeholder(part_fields))
        text, metadata = join_texts(texts), _error_metadata(fields)
        event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
        if fields.get("summary") is True:
            event_type, role = EventType.USER_MESSAGE, EventRole.SYSTEM
            metadata["kind"] = "compact_summary"
        if not text and "error" in metadata:
            text = metadata.pop("error")
            metadata["kind"] = "api_error"
        if text:
            yield self._event(
                position, at or position.at, event_type, text, metadata, role=role
            )
        else:
            yield SkippedRecord("a message without text")

    def _part(
        self, position: Position, number: int, part: _Part
    ) -> Iterator[ParsedItem]:
        """Read what a part is besides text of its message."""
        kind, fields = part.kind, part.fields
        if fields is None:
            yield InvalidRecord("not a JSON object")
        elif kind == "tool":
            yield from self._tool(position, number, part, fields)
        elif kind == "reasoning":
            yield self._reasoning(position, part, fields)
        elif kind == "compaction":
            yield self._event(
                position,
                position.at,
                EventType.SESSION_START,
                "",
                {"source": "compact"},
                key=part.id,
                ordinal=number,
            )
        elif kind in _SKIPPED_PARTS:
            yield SkippedRecord(kind, words=count_words(fields))
        elif not kind:
            yield InvalidRecord("a part without type")
        elif kind not in ("text", "file", "subtask"):
            reason = f"unknown record type {kind}"
            yield SkippedRecord(reason, words=count_words(fields))

    def _tool(
        self, position: Position, number: int, part: _Part, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        state = _inner(fields, "state")
        times, status = _inner(state, "time"), as_text(state.get("status"))
        started = parse_time(times.get("start")) or position.at
        at = parse_time(times.get("end")) or started
        name = as_text(fields.get("tool"))
        key = as_text(fields.get("callID")) or part.id
        call = ToolCall.make(key, name, state.get("input"))
        is_error = status == "error"
        files = state.get("attachments")
        result = [
            as_text(state.get("error") if is_error else state.get("output")),
            *(
                _placeholder(file)
                for file in (files if isinstance(files, list) else ())
                if isinstance(file, dict)
            ),
        ]
        metadata = call.metadata(
            is_error="true" if is_error else "",
            is_broken_off="" if status in _COMPLETE_STATES else "true",
        )
        event = self._event(
            position,
            at,
            EventType.TOOL_RESULT,
            call.text(join_texts(result)),
            metadata,
            key=key,
            ordinal=number,
        )
        yield event
        session_id = as_text(_inner(state, "metadata").get("sessionId"))
        if name == "task" and session_id and not isinstance(event, InvalidRecord):
            task = _inner(state, "input")
            yield SubagentMetadata(
                agent=AGENT,
                session_id=position.session_id,
                subagent=session_id,
                kind=as_text(task.get("subagent_type")),
                tool_use_id=key,
                task=as_text(task.get("description")),
            )

    def _reasoning(
        self, position: Position, part: _Part, fields: dict[str, object]
    ) -> ParsedItem:
        text = as_text(fields.get("text"))
        at = parse_time(_inner(fields, "time").get("start")) or position.at
        if not text.strip():
            return SkippedRecord("thinking without text")
        if events.is_in_future(at, self._now):
            return InvalidRecord(IN_THE_FUTURE)
        return self._builder.thought(replace(position, at=at), text, key=part.id)

    def _event(
        self,
        position: Position,
        at: datetime,
        event_type: EventType,
        text: str,
        metadata: Mapping[str, str],
        *,
        role: EventRole | None = None,
        key: str | None = None,
        ordinal: int = 0,
    ) -> ParsedItem:
        """Make an event whose source id is made of its times and its text."""
        if events.is_in_future(at, self._now):
            return InvalidRecord(IN_THE_FUTURE)
        times = (str(to_ms(one)) for one in (position.at, at))
        role = role or events.TYPICAL_ROLE[event_type]
        raw = "\x1f".join((*times, role, text)).encode("utf-8", "replace")
        return self._builder.event(
            replace(position, at=at),
            event_type,
            text,
            role=role,
            key=key,
            source_id=hashlib.blake2b(raw, digest_size=16).hexdigest(),
            ordinal=ordinal,
            **metadata,
        )


def _error_metadata(fields: dict[str, object]) -> dict[str, str]:
    """Return what went wrong with a message, as metadata."""
    error = _inner(fields, "error")
    if not error:
        return {}
    if error.get("name") == _ABORTED:
        return {"is_broken_off": "true"}
    text = as_text(_inner(error, "data").get("message")) or as_text(error.get("name"))
    return {"is_error": "true", "error": text or "an error"}
