"""The sources of events: how far each file has been read, when each source was last
active, the records that were not stored, and the secrets that were removed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
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
    fetch_dicts,
    fetch_value,
    insert,
    prefix_range,
)

# How far files have been read


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
    state: Mapping[str, Any] = field(default_factory=dict)
    has_pending: bool = False
    titles: Sequence[tuple[str, str, str]] = ()
    """The titles of sessions that are not known yet, with agent and last message."""
    due_ms: int | None = None
    """The time to read the file again from its start: that of a record that was in the
    future has come then."""


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


def get_cursor(path: str) -> FileCursor | None:
    for row in fetch_dicts("SELECT * FROM cursors WHERE path = ?", path):
        state = json.loads(row["state"])
        titles = state.pop("titles", ())
        return FileCursor(
            row["source"],
            FileStamp(row["size"], row["mtime_ns"]),
            row["offset"],
            row["line"],
            row["fingerprint"],
            state,
            bool(row["has_pending"]),
            titles,
            row["due_ms"],
        )
    return None


def save_cursor(path: str, cursor: FileCursor, now_ms: int) -> None:
    state = dict(cursor.state)
    if cursor.titles:
        state["titles"] = cursor.titles
    execute("DELETE FROM cursors WHERE path = ?", path)
    row = {
        "path": path,
        "source": cursor.source,
        **asdict(cursor.stamp),
        "offset": cursor.offset,
        "line": cursor.line,
        "fingerprint": cursor.fingerprint,
        "state": json.dumps(state),
        "has_pending": cursor.has_pending,
        "read_ms": now_ms,
        "due_ms": cursor.due_ms,
    }
    insert("cursors", [row])


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


def list_pending_files(before_ms: int, now_ms: int) -> list[str]:
    """Return files with an incomplete end that were last read before a time, and those
    with records whose time has come.

    A file read in the future was read by a clock that has been set back since.
    """
    sql = (
        "SELECT path FROM cursors WHERE has_pending AND read_ms NOT BETWEEN ? AND ?"
        " UNION SELECT path FROM cursors WHERE due_ms <= ?"
    )
    return fetch_column(sql, before_ms, now_ms, now_ms)


_HAS_TITLES = "json_extract(state, '$.titles') IS NOT NULL"


def request_reading_of_titles() -> None:
    """Have files read again with titles of sessions that were not known."""
    execute(f"UPDATE cursors SET has_pending = 1 WHERE {_HAS_TITLES}")


def list_with_titles() -> list[str]:
    """Return files that must be read again because of their titles."""
    sql = f"SELECT path FROM cursors WHERE has_pending AND {_HAS_TITLES}"
    return fetch_column(sql)


def delete_cursors(paths: Iterable[str]) -> None:
    """Delete the cursors of files, so that they are read again from their start."""
    execute(f"DELETE FROM cursors WHERE path {IN_JSON}", json.dumps(list(paths)))


def delete_all_cursors() -> None:
    execute("DELETE FROM cursors")


def delete_cursors_of_sessions(sessions: Iterable[tuple[str, str]]) -> list[str]:
    """Delete the cursors that name sessions or contain titles; return their paths.

    Their files are read again from the start.
    """
    keys = list(sessions)
    names = {name for _, name in keys} | {json.dumps(name)[1:-1] for _, name in keys}
    paths = [
        path
        for path, state in fetch("SELECT path, state FROM cursors")
        if '"titles"' in state or any(name in path or name in state for name in names)
    ]
    delete_cursors(paths)
    return paths


@dataclass(frozen=True, slots=True)
class SourceActivity:
    """The events received from one source of one agent."""

    source: str
    """``HOOKS``, or the name of a format."""
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


# Records that were not stored, and removed secrets

HOOKS = "hooks"
"""The source of what hooks send; other sources have the name of a file or format."""


IN_QUARANTINE = "hook file in the quarantine"
"""The reason by which all these files are counted; their own are beside them."""


class ProblemKind(StrEnum):
    """The reason why records were not stored."""

    DAMAGED = "damaged"
    SKIPPED = "skipped"
    """They are of a type that is not stored."""
    INCOMPLETE = "incomplete"


_ADD_PROBLEM = """
    INSERT INTO problems (source, reason, line, count, last_ms, kind, words)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (source, reason) DO UPDATE SET
        count = count + excluded.count, line = excluded.line,
        words = words + excluded.words,
        last_ms = CASE WHEN count + excluded.count <= ? THEN ? ELSE ? END
"""

ProblemHistory = Mapping[str, tuple[int, int]]
"""The number of records of a source, and the time of the last, by reason."""


@dataclass(frozen=True, slots=True)
class ProblemCount:
    """A number of records of one source that were not stored, for one reason."""

    reason: str
    kind: ProblemKind
    line: int
    """The line of the latest of them, from 1; 0 where there are no lines."""
    count: int
    words: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """The records of one source that were not stored, for one reason."""

    source: str
    """The file."""
    reason: str
    kind: ProblemKind
    line: int
    count: int
    last_at: datetime


def add_problems(
    source: str,
    counts: Iterable[ProblemCount],
    now_ms: int,
    history: ProblemHistory | None = None,
) -> None:
    """Count more records of a source that were not stored.

    With a history, of a source that is read again, as many records are the same as
    before and keep their time.
    """
    rows = []
    for c in counts:
        reason = clean(c.reason)
        before, last_ms = (history or {}).get(reason, (0, now_ms))
        at_ms = last_ms if c.count <= before else now_ms
        row = clean(source), reason, c.line, c.count, at_ms, c.kind.value, c.words
        rows.append((*row, before, last_ms, now_ms))
    db.connection().executemany(_ADD_PROBLEM, rows)


def clear_problems(source: str, *kinds: ProblemKind) -> ProblemHistory:
    """Remove the problems of a source, of some kinds or all; return what they were."""
    rows = fetch(
        f"DELETE FROM problems WHERE source = ? AND kind {IN_JSON}"
        " RETURNING reason, count, last_ms",
        clean(source),
        json.dumps(kinds or list(ProblemKind)),
    )
    return {reason: (count, last_ms) for reason, count, last_ms in rows}


def delete_problem(source: str, reason: str) -> None:
    sql = "DELETE FROM problems WHERE source = ? AND reason = ?"
    execute(sql, clean(source), clean(reason))


def set_quarantined(count: int) -> None:
    """Store the number of hook files in the quarantine, as damaged records."""
    sql = "DELETE FROM problems WHERE source = ? AND kind = 'damaged'"
    execute(sql, HOOKS)
    if count:
        row = ProblemCount(IN_QUARANTINE, ProblemKind.DAMAGED, 0, count)
        add_problems(HOOKS, [row], 0)


def count_damaged() -> int:
    sql = "SELECT sum(count) FROM problems WHERE kind = 'damaged'"
    return int(fetch_value(sql) or 0)


def list_damaged() -> list[Problem]:
    """Return damaged records of transcripts, the latest first."""
    rows = fetch(
        "SELECT source, reason, kind, line, count, last_ms FROM problems"
        " WHERE kind = 'damaged' AND source <> ?"
        " ORDER BY last_ms DESC, source, reason",
        HOOKS,
    )
    return [
        Problem(source, reason, ProblemKind(kind), line, count, from_ms(last_ms))
        for source, reason, kind, line, count, last_ms in rows
    ]


def count_problems_by_reason() -> list[tuple[str, ProblemKind, int]]:
    """Return the reasons with their kind and number of records, most first."""
    rows = fetch(
        "SELECT reason, kind, sum(count) FROM problems GROUP BY reason, kind"
        " ORDER BY 3 DESC, reason"
    )
    return [(reason, ProblemKind(kind), count) for reason, kind, count in rows]


def list_unread_types() -> list[tuple[str, int, int]]:
    """Return the types of records that contain words but are not stored.

    Each with the number of records and of their words, most words first.
    """
    return fetch(
        "SELECT reason, sum(count), sum(words) FROM problems"
        " WHERE kind <> 'damaged' AND words > 0 GROUP BY reason ORDER BY 3 DESC, reason"
    )


def add_redactions(kinds: Mapping[str, int], now_ms: int) -> None:
    for kind, number in kinds.items():
        execute(
            "INSERT INTO redactions (kind, count, last_ms) VALUES (?, ?, ?)"
            " ON CONFLICT (kind) DO UPDATE SET count = count + excluded.count,"
            " last_ms = excluded.last_ms",
            kind,
            number,
            now_ms,
        )


def list_redactions() -> list[tuple[str, int]]:
    return fetch("SELECT kind, count FROM redactions ORDER BY count DESC, kind")
