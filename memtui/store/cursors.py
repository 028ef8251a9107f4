"""How far each file has been read, and how it looked then."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from peewee import fn

from memtui.model.events import Event, clean, from_ms
from memtui.store.database import connection, db
from memtui.store.schema import CursorRow, SourceActivityRow

_NAMING = frozenset({"claude-code", "codex"})
"""The formats whose readers remember nothing of a session without its name, unless
the file's path has it."""

_OF_ANY = "plain"
"""The format of files whose sessions may be of any agent; of the others it is said by
their format's name."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What shows whether a file has changed since it was read."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FileCursor:
    """How far a file has been read."""

    source: str
    """The name of its format."""
    stamp: FileStamp
    offset: int
    line: int
    fingerprint: str
    state: Mapping[str, Any]
    has_pending: bool


def read_stamp(file: Path, beside: Iterable[Path] = ()) -> FileStamp:
    """How a file looks, together with those that change with it."""
    size, mtime_ns = 0, 0
    for part in (file, *beside):
        try:
            status = part.stat()
        except FileNotFoundError:
            if part is file:
                raise
            continue
        size, mtime_ns = size + status.st_size, max(mtime_ns, status.st_mtime_ns)
    return FileStamp(size, mtime_ns)


def get(path: str) -> FileCursor | None:
    """How far a file was read; None if it never was."""
    row = CursorRow.get_or_none(CursorRow.path == path)
    if row is None:
        return None
    return FileCursor(
        source=row.source,
        stamp=FileStamp(row.size, row.mtime_ns),
        offset=row.offset,
        line=row.line,
        fingerprint=row.fingerprint,
        state=json.loads(row.state),
        has_pending=row.has_pending,
    )


def save(path: str, place: FileCursor, now_ms: int) -> None:
    """Note how far a file has been read."""
    CursorRow.insert(
        path=path,
        source=place.source,
        size=place.stamp.size,
        mtime_ns=place.stamp.mtime_ns,
        offset=place.offset,
        line=place.line,
        fingerprint=place.fingerprint,
        state=json.dumps(dict(place.state)),
        has_pending=place.has_pending,
        read_ms=now_ms,
    ).on_conflict_replace().execute()


def get_formats(paths: Iterable[str]) -> dict[str, str]:
    """The names of the formats of files, by their paths; "" for what has none."""
    rows = CursorRow.select(CursorRow.path, CursorRow.source)
    return dict(rows.where(CursorRow.path.in_(list(paths))).tuples())


def get_offset(path: str) -> int | None:
    """How many bytes of a file were read; None if it never was."""
    # Asked in every transaction: building the statement would cost more than it does.
    said = 'SELECT "offset" FROM cursors WHERE path = ?'
    row = db.execute_sql(said, (path,)).fetchone()
    return int(row[0]) if row else None


def get_stamp(path: str) -> dict[str, FileStamp]:
    """How one file looked when it was read, if it ever was."""
    row = CursorRow.get_or_none(CursorRow.path == path)
    return {path: FileStamp(row.size, row.mtime_ns)} if row else {}


def get_stamps(folder: str) -> dict[str, FileStamp]:
    """How the files under a folder looked when they were read, by their paths."""
    prefix = folder.rstrip("/") + "/"
    # Thousands of rows, again and again: Peewee takes longer than SQLite does.
    said = "SELECT path, size, mtime_ns FROM cursors WHERE path >= ? AND path < ?"
    rows = db.execute_sql(said, (prefix, prefix[:-1] + "0"))
    return {path: FileStamp(size, mtime_ns) for path, size, mtime_ns in rows}


def find_stamp(known: Mapping[str, FileStamp], file: Path) -> FileStamp | None:
    """How a file looked when it was read, also if only a link leads to it.

    Args:
        known: How the files of its folder looked.
        file: Where it is found.
    """
    if look := known.get(clean(str(file))):
        return look
    real = file.resolve()
    if real == file:
        return None
    with connection():
        return get_stamp(clean(str(real))).get(clean(str(real)))


def list_pending(before_ms: int) -> list[str]:
    """Files that held something back when they were last read, before a time."""
    rows = CursorRow.select(CursorRow.path).where(
        CursorRow.has_pending, CursorRow.read_ms < before_ms
    )
    return [path for (path,) in rows.tuples()]


def delete(paths: Iterable[str]) -> None:
    """Forget how far these files were read: they are read again from their start."""
    CursorRow.delete().where(CursorRow.path.in_(list(paths))).execute()


def delete_all() -> None:
    """Forget how far any file was read."""
    CursorRow.delete().execute()


def delete_of_sessions(sessions: Iterable[tuple[str, str]]) -> list[str]:
    """Forget how far files were read whose readers may remember words of sessions.

    Args:
        sessions: Their agents and names.

    Returns:
        The files' paths; they are read again from their start.
    """
    told = list(sessions)
    names = {name for _, name in told} | {json.dumps(name)[1:-1] for _, name in told}
    agents = {agent for agent, _ in told} | {_OF_ANY}
    rows = CursorRow.select(CursorRow.path, CursorRow.source, CursorRow.state)
    found = [
        path
        for path, source, state in rows.where(CursorRow.state != "{}").tuples()
        if (
            any(name in path or name in state for name in names)
            if source in _NAMING
            else source in agents
        )
    ]
    delete(found)
    return found


@dataclass(frozen=True, slots=True)
class SourceActivity:
    """What has come from one source of one agent."""

    source: str
    """``hooks``, or the name of a format."""
    agent: str
    last_event_at: datetime
    """The time of the latest event it told of."""
    received_at: datetime
    """When it last told of a new one."""
    events: int
    """How many events it told first."""


def add_activity(source: str, new: Iterable[Event], now_ms: int) -> None:
    """Note that new events came from a source."""
    by_agent: dict[str, list[int]] = {}
    for event in new:
        by_agent.setdefault(event.agent, []).append(event.timestamp_ms)
    for agent, times in by_agent.items():
        latest = max(times)
        SourceActivityRow.insert(
            source=source,
            agent=agent,
            last_event_ms=latest,
            received_ms=now_ms,
            events=len(times),
        ).on_conflict(
            conflict_target=[SourceActivityRow.source, SourceActivityRow.agent],
            update={
                SourceActivityRow.last_event_ms: fn.MAX(
                    SourceActivityRow.last_event_ms, latest
                ),
                SourceActivityRow.received_ms: now_ms,
                SourceActivityRow.events: SourceActivityRow.events + len(times),
            },
        ).execute()


def list_activity() -> list[SourceActivity]:
    """Every source of every agent, the one heard of last first."""
    rows = SourceActivityRow.select().order_by(
        SourceActivityRow.received_ms.desc(), SourceActivityRow.source
    )
    return [
        SourceActivity(
            row.source,
            row.agent,
            from_ms(row.last_event_ms),
            from_ms(row.received_ms),
            row.events,
        )
        for row in rows
    ]
