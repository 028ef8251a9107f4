"""Cursors: how far each file has been read; and the activity of each source."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memtui.model.events import Event, clean, from_ms
from memtui.store.database import (
    IN_JSON,
    connection,
    db,
    execute,
    fetch,
    fetch_column,
    fetch_value,
    prefix_range,
)
from memtui.store.schema import CursorRow

_NAMED_STATE_FORMATS = frozenset({"claude-code", "codex"})
"""Formats whose saved state, or whose path, contains the ids of its sessions."""

_ANY_AGENT_FORMAT = "plain"
"""The format whose sessions may be of any agent; the others have the agent's name."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size and time of change, which show whether a file has changed."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FileCursor:
    """The position up to which a file has been read."""

    source: str
    stamp: FileStamp
    offset: int
    line: int
    fingerprint: str
    state: Mapping[str, Any]
    has_pending: bool


def read_stamp(file: Path, beside: Iterable[Path] = ()) -> FileStamp:
    """Return the stamp of a file together with files that change with it."""
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
    row = CursorRow.get_or_none(CursorRow.path == path)
    if row is None:
        return None
    return FileCursor(
        row.source,
        FileStamp(row.size, row.mtime_ns),
        row.offset,
        row.line,
        row.fingerprint,
        json.loads(row.state),
        row.has_pending,
    )


def save(path: str, cursor: FileCursor, now_ms: int) -> None:
    CursorRow.insert(
        path=path,
        source=cursor.source,
        size=cursor.stamp.size,
        mtime_ns=cursor.stamp.mtime_ns,
        offset=cursor.offset,
        line=cursor.line,
        fingerprint=cursor.fingerprint,
        state=json.dumps(dict(cursor.state)),
        has_pending=cursor.has_pending,
        read_ms=now_ms,
    ).on_conflict_replace().execute()


def get_formats(paths: Iterable[str]) -> dict[str, str]:
    sql = f"SELECT path, source FROM cursors WHERE path {IN_JSON}"
    return dict(fetch(sql, json.dumps(list(paths))))


def get_offset(path: str) -> int | None:
    sql = 'SELECT "offset" FROM cursors WHERE path = ?'
    offset: int | None = fetch_value(sql, path)
    return offset


def get_stamps(place: str) -> dict[str, FileStamp]:
    """Return the stamps of a file, or of the files under a folder, by their paths."""
    sql = (
        "SELECT path, size, mtime_ns FROM cursors"
        " WHERE path = ? OR (path >= ? AND path < ?)"
    )
    rows = fetch(sql, place, *prefix_range(place.rstrip("/") + "/"))
    return {path: FileStamp(size, mtime_ns) for path, size, mtime_ns in rows}


def find_stamp(stamps: Mapping[str, FileStamp], file: Path) -> FileStamp | None:
    """Return the stamp of a file when it was read, also if this is a link to it."""
    if stamp := stamps.get(clean(str(file))):
        return stamp
    real = file.resolve()
    if real == file:
        return None
    with connection():
        return get_stamps(clean(str(real))).get(clean(str(real)))


def list_pending(before_ms: int) -> list[str]:
    """Return files with an incomplete end that were last read before a time."""
    sql = "SELECT path FROM cursors WHERE has_pending AND read_ms < ?"
    return fetch_column(sql, before_ms)


def request_reading(reason: str) -> None:
    """Have files read again that have records with a problem."""
    execute(f"UPDATE cursors SET has_pending = 1 WHERE {_WITH_PROBLEM}", clean(reason))


def list_pending_with(reason: str) -> list[str]:
    """Return files with records with a problem that must be read again."""
    sql = f"SELECT path FROM cursors WHERE has_pending AND {_WITH_PROBLEM}"
    return fetch_column(sql, clean(reason))


_WITH_PROBLEM = "path IN (SELECT source FROM problems WHERE reason = ?)"


def delete(paths: Iterable[str]) -> None:
    """Delete the cursors of files, so that they are read again from their start."""
    execute(f"DELETE FROM cursors WHERE path {IN_JSON}", json.dumps(list(paths)))


def delete_all() -> None:
    execute("DELETE FROM cursors")


def delete_of_sessions(sessions: Iterable[tuple[str, str]]) -> list[str]:
    """Delete the cursors whose state may hold text of sessions; return their paths."""
    keys = list(sessions)
    names = {name for _, name in keys} | {json.dumps(name)[1:-1] for _, name in keys}
    agents = {agent for agent, _ in keys} | {_ANY_AGENT_FORMAT}
    sql = "SELECT path, source, state FROM cursors WHERE state <> '{}'"
    found = [
        path
        for path, source, state in fetch(sql)
        if (
            any(name in path or name in state for name in names)
            if source in _NAMED_STATE_FORMATS
            else source in agents
        )
    ]
    delete(found)
    return found


@dataclass(frozen=True, slots=True)
class SourceActivity:
    """The events received from one source of one agent."""

    source: str
    """``problems.HOOKS``, or the name of a format."""
    agent: str
    last_event_at: datetime
    received_at: datetime
    events: int
    """The number of events that it reported first."""


def add_activity(source: str, new: Iterable[Event], now_ms: int) -> None:
    by_agent: dict[str, list[int]] = {}
    for event in new:
        by_agent.setdefault(event.agent, []).append(event.timestamp_ms)
    for agent, times in by_agent.items():
        db.execute_sql(
            "INSERT INTO source_activity"
            " (source, agent, last_event_ms, received_ms, events)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (source, agent) DO UPDATE SET"
            " last_event_ms = max(last_event_ms, excluded.last_event_ms),"
            " received_ms = excluded.received_ms, events = events + excluded.events",
            (source, agent, max(times), now_ms, len(times)),
        )


def list_activity() -> list[SourceActivity]:
    sql = (
        "SELECT source, agent, last_event_ms, received_ms, events FROM source_activity"
        " ORDER BY received_ms DESC, source"
    )
    return [
        SourceActivity(source, agent, from_ms(last_ms), from_ms(received_ms), events)
        for source, agent, last_ms, received_ms, events in fetch(sql)
    ]
