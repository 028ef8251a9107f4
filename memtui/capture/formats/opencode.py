"""OpenCode's sessions: its SQLite database, exported sessions, and its older files.

The database is ``$XDG_DATA_HOME/opencode/opencode.db`` (``~/.local/share`` by default),
``opencode-<channel>.db`` of other releases, or the one that ``OPENCODE_DB`` names; the
older files are in the folder ``storage`` beside it; ``opencode export`` writes a
session as one JSON document. Version 2 keeps sessions and messages in tables of its
own, and leaves those of version 1 as they were. Its messages are read in the shape of
version 1.

A message is yielded once, when it is finished: OpenCode marks an assistant's message as
completed, and writes all parts of a prompt at once. Later changes change nothing. A
fork is a copy with new ids; its messages are recognized by their times and texts.

The cursor remembers of each session up to which change its messages were read, and how
many they were. A session with another number of them is read again: a message came late
with an earlier time.
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

from memtui import paths
from memtui.capture.formats import saved_results
from memtui.capture.formats.base import (
    HOLD_TIME,
    Cursor,
    EventBuilder,
    Fields,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Position,
    Record,
    SkippedRecord,
    SourceFormat,
    State,
    ToolCall,
    as_object,
    as_objects,
    as_text,
    count_diff_lines,
    count_words,
    first_text,
    join_texts,
    parse_time,
    result_text,
    text_digest,
)
from memtui.capture.formats.endings import read_ending, read_fields
from memtui.capture.formats.jsonl import (
    TOO_DEEP,
    parse_document,
    parse_object,
)
from memtui.capture.formats.prompts import clean_title, parse_prompt
from memtui.files import require_regular_file
from memtui.model import events
from memtui.model.events import EventRefused, EventRole, EventType, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.tool_calls import Ending, is_command, is_running

AGENT = "opencode"
_SQLITE_HEADER = b"SQLite format 3\0"

_MESSAGES_PER_CURSOR = 200

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

RESULTS = "tool-output"
"""The folder with large results of tools, beside the database."""

_ABORTED = "Tool execution aborted"
"""The error of a call that was running when the user stopped the agent."""

_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")

_SUBAGENT_TITLE = re.compile(r"(.*) \(@(\S+) subagent\)")


class OpenCodeFormat(SourceFormat):
    name, title = AGENT, "OpenCode"

    def matches_path(self, path: PurePath) -> bool:
        if path.suffix == ".json":
            is_session = _is_in_storage(path) and path.name.startswith("ses_")
            return is_session or path.name.startswith("opencode-session-")
        is_named = path.suffix == ".db" and path.name.startswith("opencode")
        return is_named or path == paths.opencode_database()

    def matches_names(self, names: frozenset[str]) -> bool:
        has_session = "id" in names and not names.isdisjoint({"info", "session"})
        return has_session and not names.isdisjoint({"messages", "parts", "sessionID"})

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        if path.suffix == ".json":
            document, _ = parse_document(path.read_bytes())
            fields = document or {}
            if _exported_session(fields):
                return True
            is_session = bool({"projectID", "directory", "time"} & fields.keys())
            is_stored = _is_in_storage(path.absolute())
            return is_stored and is_session and "id" in fields
        with path.open("rb") as file:
            if file.read(len(_SQLITE_HEADER)) != _SQLITE_HEADER:
                return False
        try:
            with _Database.open(path) as database:
                first = all(map(database.columns, ("session", "message", "part")))
                return first or database.has_version_2
        except OSError:
            # Reading it will say what is wrong with it.
            return self.matches_path(path)

    def is_beside(self, path: PurePath) -> bool:
        if path.suffix == ".json":
            folders = path.parts[-4:-1]
            is_part = bool({"message", "part", "project"} & {*folders})
            return is_part and "storage" in folders
        is_of_database = path.name.endswith((".db-wal", ".db-shm"))
        return is_of_database or path.parent.name == RESULTS

    def related_files(self, path: Path) -> Iterator[Path]:
        if path.suffix != ".json":
            yield path.with_name(f"{path.name}-wal")
        if not _is_in_storage(path.absolute()):
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


def _is_in_storage(path: PurePath) -> bool:
    """Return whether a file is where older versions stored a session."""
    return path.suffix == ".json" and path.parent.parent.name == "session"


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a message; its fields are None if it is not a JSON object."""

    id: str
    fields: dict[str, object] | None

    @property
    def kind(self) -> str:
        """The type: ``text``, ``tool``, ``file`` …"""
        return as_text((self.fields or {}).get("type"))

    @property
    def text(self) -> str:
        fields = self.fields or {}
        if self.kind == "file":
            return _placeholder(fields)
        return as_text(fields.get("text")) if self.kind == "text" else ""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message with its parts; its fields are None if it is not a JSON object."""

    id: str
    session_id: str
    fields: dict[str, object] | None
    parts: list[_Part]
    created: object = None
    """The time of its creation, in milliseconds, if its fields lack it."""
    changed_ms: int = 0
    """The time at which it or a part of it was last written."""
    row_ms: int = 0
    """The time at which its own row was last written."""

    @property
    def is_prompt(self) -> bool:
        """It will be complete soon even if nothing changes."""
        return (self.fields or {}).get("role") != "assistant"

    @property
    def has_running_calls(self) -> bool:
        states = (_inner(part.fields, "state") for part in self.parts)
        return any(is_running(state.get("status")) for state in states)

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
    forked_from: str = ""
    created: object = None
    changed_ms: int = 0


def _inner(fields: Fields | None, name: str) -> dict[str, object]:
    return as_object((fields or {}).get(name))


def _as_number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _placeholder(fields: Fields) -> str:
    """Return what stands for a file: its type, name and size, not its bytes."""
    mime = as_text(fields.get("mime")) or "unknown type"
    url, size = first_text(fields, "url", "uri"), ""
    if url.startswith("data:"):
        size = f"{len(url.partition(',')[2]) * 3 // 4 // 1024 or 1} kB"
    values = (mime, first_text(fields, "filename", "name"), size)
    kind = "image" if mime.startswith("image/") else "file"
    return f"[{kind}: {', '.join(filter(None, values))}]"


def _count_chars(parts: Iterable[_Part]) -> int:
    """Return the length of what parts say: texts, and calls with their results."""
    chars = 0
    for part in parts:
        state = _inner(part.fields, "state")
        content = (state.get(name) for name in ("input", "output", "error"))
        chars += len(as_text((part.fields or {}).get("text")))
        chars += sum(len(str(value)) for value in content if value)
    return chars


# Messages of version 2, in the shape of version 1


def _from_version_2(
    message_id: str, kind: str, fields: dict[str, object]
) -> tuple[dict[str, object], list[_Part]]:
    """Return the fields and parts that a message would have in version 1."""
    role, parts = kind, as_objects(fields.get("content"))
    if kind == "assistant":
        parts = [
            _tool_part(part) if part.get("type") == "tool" else part for part in parts
        ]
    elif kind == "user":
        parts = [{"type": "text", "text": fields.get("text")}]
        parts += [{**file, "type": "file"} for file in as_objects(fields.get("files"))]
    elif kind in ("synthetic", "system", "skill"):
        role = "user"
        parts = [{"type": "text", "text": fields.get("text"), "synthetic": True}]
    elif kind == "shell":
        role = "assistant"
        times = {**_inner(fields, "time")}
        output = fields.get("output")
        if isinstance(output, dict):
            output = output.get("output")
        state: dict[str, object] = {
            "status": "completed" if times.get("completed") else "running"
        }
        for name in ("status", "exit"):
            if name in fields:
                state[name] = fields[name]
        state |= {
            "input": {"command": fields.get("command")},
            "content": output,
        }
        call = {"id": first_text(fields, "shellID", "callID"), "name": "shell"}
        parts = [_tool_part({**call, "state": state, "time": times})]
    elif kind == "compaction":
        role = "assistant"
        parts = [
            {"type": "compaction"},
            {"type": "text", "text": fields.get("summary")},
        ]
        times = {"completed": fields.get("status") != "running"}
        fields = {**fields, "summary": True, "time": times | _inner(fields, "time")}
    named = [_Part(f"{message_id}:{number}", part) for number, part in enumerate(parts)]
    return {**fields, "role": role}, named


def _tool_part(fields: Fields) -> dict[str, object]:
    state, times = _inner(fields, "state"), _inner(fields, "time")
    content, error = state.get("content"), state.get("error")
    return {
        "type": "tool",
        "callID": fields.get("id"),
        "tool": fields.get("name"),
        "state": {
            **state,
            "output": result_text(content),
            "error": first_text(as_object(error), "message", "type") or error,
            "time": {
                "start": times.get("ran") or times.get("created"),
                "end": times.get("completed"),
            },
        },
    }


# Files


def _exported_session(fields: Fields) -> dict[str, object]:
    session = _inner(fields, "info") or _inner(fields, "session")
    return session if "id" in session and "messages" in fields else {}


def _read_session_file(
    path: Path, start: Cursor | None, now: datetime
) -> Iterator[ParsedItem]:
    """Read one session, all of it; what was yielded before is left out."""
    raw = path.read_bytes()
    fields, problem = parse_document(raw)
    if fields and problem:
        yield PendingRecord(problem)
    folder = path.parents[3] if _is_in_storage(path) else path.parent
    reader = _MessageReader(folder, now, start.state if start else {})
    if fields is None:
        yield InvalidRecord("not a JSON object")
    elif exported := _exported_session(fields):
        session = _session(exported, {})
        reader.set_sessions([session])
        for message in as_objects(fields["messages"]):
            yield from reader.read(_exported_message(session.id, message))
        yield from reader.finish(0)
    elif not _is_in_storage(path):
        yield InvalidRecord("not a session")
    else:
        storage = _StorageFolder(path.parents[2])
        session = storage.session(path, fields)
        reader.set_sessions([session, *storage.parents(session)])
        for stored in storage.messages(session.id):
            yield from reader.read(stored)
        yield from reader.finish(0)
    yield Cursor(len(raw), state=reader.state(), needs_reread=reader.needs_reread)


def _session(fields: Fields, project: Fields) -> _Session:
    return _Session(
        id=as_text(fields.get("id")),
        parent=as_text(fields.get("parentID")),
        directory=first_text(fields, "directory")
        or as_text(_inner(fields, "location").get("directory")),
        title=as_text(fields.get("title")),
        worktree=as_text(project.get("worktree")),
        created=_inner(fields, "time").get("created"),
        changed_ms=_as_number(_inner(fields, "time").get("updated")),
    )


def _exported_message(session_id: str, fields: dict[str, object]) -> _Message:
    info = _inner(fields, "info") or fields
    message_id = as_text(info.get("id"))
    if info is fields:
        info, parts = _from_version_2(message_id, as_text(fields.get("type")), fields)
    else:
        parts = [
            _Part(as_text(part.get("id")), part)
            for part in as_objects(fields.get("parts"))
        ]
    return _Message(message_id, session_id, info, parts)


class _StorageFolder:
    def __init__(self, storage: Path) -> None:
        self._storage = storage
        self._loose_parts: dict[str, list[Path]] | None = None

    def session(self, path: Path, fields: dict[str, object]) -> _Session:
        project = _file_name(as_text(fields.get("projectID")))
        project_fields = _read_object(self._storage / "project" / f"{project}.json")
        session = _session(fields, project_fields or {})
        return session if session.id else replace(session, id=path.stem)

    def parents(self, session: _Session) -> Iterator[_Session]:
        """Yield the sessions that started a subagent's session, nearest first."""
        for _ in range(_MAX_PARENTS):
            name = _file_name(session.parent)
            files = sorted((self._storage / "session").glob(f"*/{name}.json"))
            fields = _read_object(files[0]) if session.parent and files else None
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
            parts = []
            for part in self._part_files(message_id):
                part_fields = _read_object(part)
                part_id = as_text((part_fields or {}).get("id")) or part.stem
                parts.append(_Part(part_id, part_fields))
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


def _read_object(file: Path) -> dict[str, object] | None:
    try:
        return parse_object(require_regular_file(file).read_bytes())
    except (OSError, ValueError):
        return None


def _file_name(text: str) -> str:
    """Return an id as a valid file name."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text) or "_"


def _latest_ms(fields: dict[str, object] | None) -> int:
    times: list[object] = []
    for holder in (fields, _inner(fields, "state")):
        times += _inner(holder, "time").values()
    return max((to_ms(at) for at in map(parse_time, times) if at), default=0)


# The database

_ID = "CAST(id AS TEXT)"
_CHANGED = "CAST(ifnull(time_updated, 0) AS INTEGER)"


def _read_database(
    path: Path, start: Cursor | None, now: datetime
) -> Iterator[ParsedItem]:
    state: State = start.state if start else {}
    with _Database.open(path) as database:
        contents, sessions = database.contents(), database.sessions()
        lost = 0 if start else database.count_lost_parts()
    latest = max((changed_ms for _, _, changed_ms in contents), default=0)
    if start and state.get("latest", 0) > latest:
        yield FileReplaced("the database is older than it was")
        state = {}
    yield from [InvalidRecord("a part without its message")] * lost
    reader = _MessageReader(path.parent, now, state)
    reader.set_sessions(sessions)
    marks = dict(state.get("marks", {}))
    sessions_ms = state.get("sessions", 0)
    own_state = {"marks": marks, "latest": latest, "sessions": sessions_ms}
    unsaved = 0
    for session_id, count, changed_ms in contents:
        key = text_digest(repr(session_id))
        if marks.get(key) == [count, changed_ms]:
            continue
        with _Database.open(path) as database:
            messages = database.messages(session_id, marks.get(key))
            size = path.stat().st_size
        for message in messages:
            yield from reader.read(message)
        marks[key] = [count, changed_ms]
        if waiting := [m for m in messages if m.id in reader.unfinished]:
            before = [m for m in messages if m.row_ms < waiting[0].row_ms]
            skipped = count - len(messages)
            marks[key] = [skipped + len(before), waiting[0].row_ms - 1]
        unsaved += len(messages)
        if unsaved >= _MESSAGES_PER_CURSOR:
            unsaved = 0
            saved = own_state | {"marks": {**marks}} | reader.state()
            yield Cursor(size, state=saved)
    yield from reader.finish(sessions_ms)
    own_state["sessions"] = max((s.changed_ms for s in sessions), default=0)
    yield Cursor(
        path.stat().st_size,
        state=own_state | reader.state(),
        needs_reread=reader.needs_reread,
    )


class _Database:
    """OpenCode's database, open for reading; any column may be missing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._columns: dict[str, set[str]] = {}
        # The first versions with this table kept their sessions in the old one.
        self.has_version_2 = bool(self.columns("session_message"))

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["_Database"]:
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
        if table not in self._columns:
            sql = f'SELECT name FROM pragma_table_info("{table}")'
            names = {as_text(name) for (name,) in self._connection.execute(sql)}
            self._columns[table] = names
        return self._columns[table]

    def _select(self, table: str, *names: str) -> str:
        """Return a query for columns of a table, NULL for those it does not have."""
        existing = self.columns(table)
        if "id" not in existing:
            return f"SELECT {', '.join('NULL AS ' + n for n in names)} WHERE 0"
        chosen = (name if name in existing else f"NULL AS {name}" for name in names)
        return f"SELECT {', '.join(chosen)} FROM {table}"

    def _messages(self) -> str:
        """Return a query for all messages; of one in both versions, the new row.

        OpenCode may have copied a session to the new tables in part.
        """
        names = ("id", "session_id", "time_created", "time_updated", "data", "type")
        query = self._select("message", *names)
        if not self.has_version_2:
            return query
        return (
            f"{self._select('session_message', *names)} UNION ALL"
            f" SELECT * FROM ({query}) WHERE ifnull(id, '')"
            f" NOT IN (SELECT id FROM ({self._select('session_message', 'id')})"
            " WHERE id IS NOT NULL)"
        )

    def contents(self) -> list[tuple[object, int, int]]:
        """Return the sessions, with their number of messages and latest change."""
        return self._connection.execute(
            f"SELECT session_id, count(*), max({_CHANGED}) FROM ({self._messages()})"
            " GROUP BY session_id ORDER BY 3"
        ).fetchall()

    def count_lost_parts(self) -> int:
        parts = self._select("part", "id", "message_id")
        messages = self._select("message", "id")
        (lost,) = self._connection.execute(
            f"SELECT count(*) FROM ({parts}) WHERE ifnull(message_id, '') NOT IN"
            f" (SELECT id FROM ({messages}) WHERE id IS NOT NULL)"
        ).fetchone()
        return int(lost)

    def sessions(self) -> list[_Session]:
        query = self._select("project", "id", "worktree")
        worktrees = {
            as_text(_decode(project)): as_text(_decode(worktree))
            for project, worktree in self._connection.execute(query)
        }
        names = (
            *("id", "parent_id", "directory", "title", "agent", "model", "project_id"),
            *("fork_session_id", "time_created", "time_updated"),
        )
        sessions = {}
        for table in ("session", "session_v2"):
            for *texts, created, changed in self._connection.execute(
                self._select(table, *names)
            ):
                name, parent, directory, title, agent, model, project, source = (
                    as_text(_decode(text)) for text in texts
                )
                sessions[name] = _Session(
                    name,
                    parent,
                    directory,
                    title,
                    agent,
                    first_text(parse_object(model) or {}, "id", "modelID"),
                    worktrees.get(project, ""),
                    source,
                    _decode(created),
                    _as_number(changed),
                )
        return list(sessions.values())

    def messages(self, session_id: object, mark: object) -> list[_Message]:
        """Return the messages of a session, in the order of their changes.

        Older ones than the mark are left out if their number has not changed.
        """
        query = f"FROM ({self._messages()}) WHERE session_id IS ?"
        number, since_ms = mark if isinstance(mark, list) else (-1, 0)
        (count,) = self._connection.execute(
            f"SELECT count(*) {query} AND {_CHANGED} <= ?", (session_id, since_ms)
        ).fetchone()
        since_ms = since_ms - _OVERLAP_MS if count == number else -(2**62)
        rows = self._connection.execute(
            f"SELECT {_ID}, time_created, {_CHANGED}, data, type {query}"
            f" AND {_CHANGED} > ? ORDER BY {_CHANGED}, {_ID}",
            (session_id, since_ms),
        ).fetchall()
        return [self._message(session_id, *row) for row in rows]

    def _message(
        self,
        session_id: object,
        message_id: str | None,
        created: object,
        changed: object,
        data: object,
        kind: object,
    ) -> _Message:
        fields, row_ms = parse_object(data), _as_number(changed)
        name, changed_ms = as_text(message_id), row_ms
        parts: list[_Part] = []
        if kind is None:
            parts, changed_ms = self._parts(message_id, row_ms)
        elif fields is not None:
            fields, parts = _from_version_2(name, as_text(_decode(kind)), fields)
        if kind is not None and (row := self._find_first_copy(message_id)):
            # The copy in the new tables may have broken off.
            first_parts, first_ms = self._parts(message_id, row_ms)
            if _count_chars(first_parts) > _count_chars(parts):
                fields, parts = parse_object(row[0]), first_parts
                changed_ms = first_ms
        session = as_text(_decode(session_id))
        return _Message(
            name, session, fields, parts, _decode(created), changed_ms, row_ms
        )

    def _find_first_copy(self, message_id: str | None) -> tuple[object] | None:
        """Return the data of a message in the table of version 1, if it is there."""
        query = self._select("message", "id", "data")
        sql = f"SELECT data FROM ({query}) WHERE id = ?"
        row: tuple[object] | None = self._connection.execute(
            sql, (message_id,)
        ).fetchone()
        return row

    def _parts(self, message_id: str | None, row_ms: int) -> tuple[list[_Part], int]:
        """Return the parts of a message of version 1, and when it last changed."""
        query = self._select("part", "id", "message_id", "time_updated", "data")
        rows = self._connection.execute(
            f"SELECT {_ID}, {_CHANGED}, data FROM ({query})"
            " WHERE message_id = ? ORDER BY 1",
            (message_id,),
        ).fetchall()
        parts = [
            _Part(as_text(part_id), parse_object(data)) for part_id, _, data in rows
        ]
        return parts, max((row_ms, *(_as_number(at_ms) for _, at_ms, _ in rows)))


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


# From messages to events


class _MessageReader:
    """Turns messages into events, each message once."""

    def __init__(self, folder: Path, now: datetime, state: State) -> None:
        self._folder, self._now = folder, now
        self._builder = EventBuilder(AGENT, now)
        self._yielded: dict[str, None] = dict.fromkeys(state.get("yielded", ()))
        self.unfinished: dict[str, bool] = {}
        """The messages that are not finished, and which of them are prompts."""
        self._sessions: dict[str, _Session] = {}
        self._models: dict[str, str] = {}
        self._introduced: set[str] = set()

    @property
    def needs_reread(self) -> bool:
        """A message will count as finished soon, even if nothing changes."""
        return any(self.unfinished.values())

    def state(self) -> dict[str, object]:
        return {"yielded": list(self._yielded)[-_REMEMBERED_MESSAGES:]}

    def set_sessions(self, sessions: Iterable[_Session]) -> None:
        self._sessions = {session.id: session for session in sessions}

    def finish(self, since_ms: int) -> Iterator[ParsedItem]:
        """Report unfinished messages; yield the facts of sessions changed since."""
        for _ in self.unfinished:
            yield PendingRecord("a message that is still being written")
        for session in self._sessions.values():
            if session.changed_ms >= since_ms or session.id in self._introduced:
                yield from self._session_facts(session)

    def read(self, message: _Message) -> Iterator[ParsedItem]:
        """Read a message, unless it was yielded before or is unfinished."""
        if message.id in self._yielded:
            return
        if not message.is_finished(self._now):
            self.unfinished[message.id] = message.is_prompt
            return
        self.unfinished.pop(message.id, None)
        if not message.has_running_calls:
            self._yielded[message.id] = None
        fields, session_id = message.fields or {}, message.session_id
        model = as_object(fields.get("model"))
        if name := first_text(fields, "modelID") or first_text(model, "modelID", "id"):
            self._models[session_id] = name
        session, place = self._sessions.get(session_id), _inner(fields, "path")
        folder, root = as_text(place.get("cwd")), as_text(place.get("root"))
        if folder and not (session and session.directory):
            session = session or _Session(session_id)
            session = replace(session, directory=folder, worktree=root)
            self._sessions[session_id] = session
            self._introduced.discard(session_id)
        if session and session_id not in self._introduced:
            self._introduced.add(session_id)
            yield from self._session_facts(session)
        try:
            yield from self._read(message)
        except EventRefused as error:
            yield from [InvalidRecord.refused(error)] * (1 + len(message.parts))
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
        title = clean_title(session.title)
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
                forked_from=session.forked_from if is_root else "",
                at=parse_time(session.created),
                facts_at=parse_time(session.changed_ms or None),
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
        fields = message.fields
        if fields is None:
            raise EventRefused("not a JSON object")
        role = as_text(fields.get("role"))
        if not role:
            raise EventRefused("a record without type")
        if role not in ("user", "assistant"):
            for values in (fields, *(part.fields for part in message.parts)):
                yield SkippedRecord(role, words=count_words(values))
            return
        created = _inner(fields, "time").get("created")
        at = self._builder.parse_time(message.created if created is None else created)
        root = self._root_session(message.session_id)
        subagent = message.session_id if root != message.session_id else ""
        position = Position(0, at, root, subagent, message.id)
        if role == "user":
            yield from self._user(position, message)
        else:
            yield from self._assistant(position, message, fields)
            model, stated = self._models.get(message.session_id), fields.get("tokens")
            # A fork has copies with other ids.
            reply_id, cost = f"{at.isoformat()}/{model}/{stated}", fields.get("cost")
            yield from self._builder.usage(position, reply_id, model, stated, cost=cost)
        for number, part in enumerate(message.parts, 1):
            yield from self._part(position, number, part)

    def _user(self, position: Position, message: _Message) -> Iterator[ParsedItem]:
        texts: dict[str, list[str]] = {"": [], "synthetic": [], "subtask": []}
        for part in message.parts:
            fields = part.fields or {}
            is_system = fields.get("synthetic") or fields.get("ignored")
            if part.kind == "subtask":
                texts["subtask"].append(as_text(fields.get("prompt")))
            else:
                texts["synthetic" if is_system else ""].append(part.text)
        joined = {kind: join_texts(parts) for kind, parts in texts.items()}
        for kind, text in joined.items():
            if text:
                prompt = parse_prompt(text, kind)
                yield self._event(
                    position,
                    position.at,
                    EventType.USER_MESSAGE,
                    prompt.text,
                    prompt.metadata,
                    role=prompt.role,
                    key=":".join(filter(None, (message.id, kind))),
                )
        if not any(joined.values()):
            yield SkippedRecord("a message without text")

    def _assistant(
        self, position: Position, message: _Message, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        spoken = [part for part in message.parts if part.text.strip()]
        starts = (_inner(part.fields, "time").get("start") for part in spoken)
        at = next(filter(None, map(parse_time, starts)), position.at)
        text = join_texts(part.text for part in spoken)
        metadata = _error_metadata(fields)
        event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
        if fields.get("summary") is True:
            event_type, role = EventType.USER_MESSAGE, EventRole.SYSTEM
            metadata["kind"] = "compact_summary"
        if not text and "error" in metadata:
            text = metadata.pop("error")
            metadata["kind"] = "api_error"
        if text:
            yield self._event(position, at, event_type, text, metadata, role=role)
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
            start, metadata = EventType.SESSION_START, {"source": "compact"}
            at, key = position.at, part.id
            yield self._event(
                position, at, start, "", metadata, key=key, ordinal=number
            )
        elif not kind:
            yield InvalidRecord("a part without type")
        elif kind not in ("text", "file", "subtask"):
            yield SkippedRecord(kind, words=count_words(fields))

    def _tool(
        self, position: Position, number: int, part: _Part, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        state = _inner(fields, "state")
        times, status = _inner(state, "time"), as_text(state.get("status"))
        started = parse_time(times.get("start")) or position.at
        at = parse_time(times.get("end")) or started
        name = as_text(fields.get("tool"))
        key = as_text(fields.get("callID")) or part.id
        details = _inner(state, "metadata")
        lines = count_diff_lines(details.get("diff"))
        error = as_text(state.get("error")) if status == "error" else ""
        text = error or as_text(state.get("output"))
        ending = _read_ending(name, state, text)
        paths = state.get("outputPaths")
        path = details.get("outputPath") or (
            paths[0] if isinstance(paths, list) and paths else ""
        )
        if path := as_text(path):
            place = Path(RESULTS, saved_results.file_name(path))
            text, omitted = saved_results.read_whole(self._folder, [place], text)
            yield from omitted
        files = map(_placeholder, as_objects(state.get("attachments")))
        call = ToolCall.make(key, name, state.get("input"))
        call = replace(call, lines=lines, ending=ending)
        event = self._event(
            position,
            at,
            EventType.TOOL_RESULT,
            call.text(join_texts((text, *files))),
            call.metadata(),
            key=call.event_key,
            ordinal=number,
        )
        yield event
        session_id = as_text(details.get("sessionId"))
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
        text, times = as_text(fields.get("text")), _inner(fields, "time")
        at = parse_time(times.get("start") or times.get("created")) or position.at
        if not text.strip():
            return SkippedRecord("thinking without text")
        return self._builder.thought(replace(position, at=at), text)

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
        times = (str(to_ms(time)) for time in (position.at, at))
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


def _read_ending(tool_name: str, state: Fields, text: str) -> Ending:
    stated = {"status": state.get("status")}
    details = _inner(state, "metadata")
    if is_command(tool_name) and not is_running(state.get("status")):
        stated |= read_fields(state)
    if tool_name == "invalid":  # It stands for a call that cannot be made.
        stated["status"] = "rejected"
    if text == _ABORTED or details.get("interrupted") is True:
        stated["status"] = "aborted"
    return read_ending(AGENT, tool_name, text, **stated)


def _error_metadata(fields: dict[str, object]) -> dict[str, str]:
    error = _inner(fields, "error")
    if not error:
        return {}
    if error.get("name") == "MessageAbortedError" or error.get("type") == "aborted":
        return {"is_broken_off": "true"}
    text = first_text(_inner(error, "data"), "message")
    text = text or first_text(error, "message", "name", "type")
    return {"is_error": "true", "error": text or "an error"}
