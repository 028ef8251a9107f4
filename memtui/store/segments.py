"""Segments: the bounds of the runs of a session, and which of them need a summary."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

from memtui.model.filters import ALL, Scope
from memtui.store import json_columns, scopes
from memtui.store.database import (
    IN_JSON,
    db,
    execute,
    fetch,
    fetch_column,
    fetch_value,
    is_due,
    retry_later,
)

TimeRange = tuple[int, int]
"""The first millisecond, and the first one after the range."""

ALL_TIMES: TimeRange = (-(1 << 62), 1 << 62)


@dataclass(frozen=True, slots=True)
class SegmentRange:
    """A stored segment: its bounds and its counts."""

    segment_id: str
    session_number: int
    first_id: str
    last_id: str
    start_ms: int
    end_ms: int
    tokens: int
    events: int
    messages: int
    subagent_events: int
    is_open: bool


_SELECT = (
    "SELECT id, session_id, first_event_id, last_event_id, start_ms, end_ms, tokens,"
    " events, messages, subagent_events, is_open FROM segments"
)
"""Selects segments, in the order of the fields of ``SegmentRange``."""


def _read(sql: str, *values: object) -> list[SegmentRange]:
    rows = fetch(f"{_SELECT} {sql}", *values)
    return [replace(SegmentRange(*row), is_open=bool(row[-1])) for row in rows]


def get(segment_id: str) -> SegmentRange | None:
    return next(iter(_read("WHERE id = ?", segment_id)), None)


def list_since(session_number: int, start_ms: int) -> list[SegmentRange]:
    return _read("WHERE session_id = ? AND start_ms >= ?", session_number, start_ms)


def find_safe_start(session_number: int, at_ms: int) -> int:
    """Return from when a session must be segmented again for an event at a time.

    That is the start, in milliseconds, of the last segment that begins before the time
    and shares its first millisecond with no other segment; 0 if there is none.
    """
    start_ms = 0
    for earlier_start, earlier_end in db.execute_sql(
        "SELECT start_ms, end_ms FROM segments WHERE session_id = ? AND start_ms < ?"
        " ORDER BY start_ms DESC, end_ms DESC",
        (session_number, at_ms),
    ):
        if start_ms and earlier_end < start_ms:
            return start_ms
        start_ms = int(earlier_start)
    return 0


def begins_with_subagent(session_number: int) -> bool:
    """Return whether the first segment of a session begins with a subagent's event."""
    sql = (
        "SELECT e.subagent FROM segments s JOIN events e ON e.id = s.first_event_id"
        " WHERE s.session_id = ? ORDER BY s.start_ms LIMIT 1"
    )
    return any(name for (name,) in fetch(sql, session_number))


def find_nearest(session_number: int, at_ms: int) -> str | None:
    ids = fetch_column(
        "SELECT id FROM segments WHERE session_id = ?"
        " ORDER BY max(start_ms - ?, ? - end_ms, 0), start_ms DESC LIMIT 1",
        session_number,
        at_ms,
        at_ms,
    )
    return ids[0] if ids else None


def list_overlapping(start_ms: int, end_ms: int) -> list[str]:
    sql = "SELECT id FROM segments WHERE start_ms < ? AND end_ms >= ?"
    return fetch_column(sql, end_ms, start_ms)


def find_at(places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the segments at some places, (session's number, time in milliseconds).

    A moment before all segments has none.
    """
    sql = (
        "SELECT id FROM segments WHERE session_id = ? AND start_ms <= ?"
        " ORDER BY start_ms DESC LIMIT 1"
    )
    ids = {place: fetch_value(sql, *place) for place in set(places)}
    return {place: name for place, name in ids.items() if name is not None}


_SAVE = (
    "INSERT INTO segments (id, session_id, first_event_id, last_event_id, start_ms,"
    " end_ms, tokens, events, messages, subagent_events, is_open, needs_summary,"
    " attempts, retry_ms, facts, commits)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, '', 0)"
    " ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id,"
    " first_event_id = excluded.first_event_id,"
    " last_event_id = excluded.last_event_id, start_ms = excluded.start_ms,"
    " end_ms = excluded.end_ms, tokens = excluded.tokens, events = excluded.events,"
    " messages = excluded.messages, subagent_events = excluded.subagent_events,"
    " is_open = excluded.is_open, needs_summary = 1, attempts = 0, retry_ms = 0"
)


def save(segments: Sequence[SegmentRange]) -> None:
    """Add segments that are new or have changed; each needs a summary."""
    db.connection().executemany(_SAVE, map(astuple, segments))


def delete(segment_ids: Sequence[str]) -> None:
    execute(f"DELETE FROM segments WHERE id {IN_JSON}", json.dumps(list(segment_ids)))


_REQUEST = "UPDATE segments SET needs_summary = 1"


def request_all_summaries() -> None:
    execute(f"{_REQUEST}, attempts = 0, retry_ms = 0")


def request_summaries(segment_ids: Iterable[str]) -> None:
    execute(f"{_REQUEST} WHERE id {IN_JSON}", json.dumps(list(segment_ids)))


def request_session_summaries(session_number: int) -> None:
    execute(f"{_REQUEST} WHERE session_id = ?", session_number)


def request_first_summary(session_number: int) -> None:
    first = "SELECT min(start_ms) FROM segments WHERE session_id = :session"
    execute(
        f"{_REQUEST} WHERE session_id = :session AND start_ms = ({first})",
        session=session_number,
    )


def request_summary_at(session_number: int, at_ms: int) -> None:
    sql = f"{_REQUEST} WHERE session_id = ? AND start_ms <= ? AND end_ms >= ?"
    execute(sql, session_number, at_ms, at_ms)


def get_sessions(segment_ids: Iterable[str]) -> dict[str, int]:
    """Return the number of the session of each segment."""
    sql = f"SELECT id, session_id FROM segments WHERE id {IN_JSON}"
    return dict(fetch(sql, json.dumps(list(segment_ids))))


_IS_PAUSED = "WHERE is_open AND end_ms < ?"


def has_paused(before_ms: int) -> bool:
    return bool(fetch(f"SELECT 1 FROM segments {_IS_PAUSED} LIMIT 1", before_ms))


def close_paused(before_ms: int) -> int:
    """Close open segments whose last event is older than a time; return their number.

    Each needs a last summary.
    """
    return execute(f"{_REQUEST}, is_open = 0 {_IS_PAUSED}", before_ms)


def list_pending(now_ms: int, limit: int) -> list[SegmentRange]:
    """Return segments to summarize now, open ones first."""
    return _read(
        f"WHERE needs_summary AND {is_due('retry_ms', now_ms)}"
        " ORDER BY is_open DESC, start_ms LIMIT ?",
        limit,
    )


def has_pending(session_number: int, now_ms: int) -> bool:
    """Return whether a session has segments to summarize now."""
    # They are its last ones while a long session is summarized for the first time.
    sql = (
        "SELECT 1 FROM segments WHERE session_id = ? AND needs_summary"
        f" AND {is_due('retry_ms', now_ms)} ORDER BY start_ms DESC LIMIT 1"
    )
    return bool(fetch(sql, session_number))


def count_pending() -> int:
    """Count the segments to summarize, now or at a retry."""
    return int(fetch_value("SELECT count(*) FROM segments WHERE needs_summary"))


def count_failing(now_ms: int) -> int:
    sql = "SELECT count(*) FROM segments WHERE needs_summary AND retry_ms > ?"
    return int(fetch_value(sql, now_ms))


def set_summarized(segments: Sequence[SegmentRange]) -> None:
    """Note that segments have a summary of all their events."""
    execute(
        "UPDATE segments SET needs_summary = 0, attempts = 0, retry_ms = 0"
        f" WHERE id {IN_JSON}",
        json.dumps([segment.segment_id for segment in segments]),
    )


def set_failed(segment_id: str, now_ms: int) -> None:
    later = retry_later("attempts", "retry_ms", now_ms)
    execute(f"UPDATE segments SET {later} WHERE id = ?", segment_id)


def count() -> int:
    return int(fetch_value("SELECT count(*) FROM segments"))


def list_ids(session_number: int) -> list[str]:
    """Return the ids of a session's segments, oldest first."""
    return fetch_column(
        "SELECT g.id FROM segments g LEFT JOIN events e ON e.id = g.first_event_id"
        " WHERE g.session_id = ? ORDER BY g.start_ms, e.ordinal",
        session_number,
    )


def count_sessions(ranges: Sequence[TimeRange], scope: Scope = ALL) -> list[int]:
    """Count the sessions with segments of a scope that start in each time range."""
    tables, values = "segments g", list[object]()
    if scope.keyword:
        # The nodes have an index of their starts.
        condition, values = scopes.segment_condition(scope)
        tables = (
            "(SELECT s.session_id, n.start_ms FROM nodes n"
            " JOIN node_versions v ON v.id = n.latest_id"
            " JOIN segments s ON s.id = n.node_id"
            f" WHERE n.level = 'segment' AND {condition}) g"
        )
    elif scope.is_narrow:
        # This takes a third of the time.
        condition, values = scopes.session_condition(scope)
        tables = (
            "(SELECT session_id, start_ms FROM segments WHERE session_id IN"
            f" (SELECT id FROM sessions WHERE {condition})) g"
        )
    rows = fetch(
        "WITH ranges(place, first, after) AS MATERIALIZED (SELECT key,"
        " json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
        f" SELECT r.place, COUNT(DISTINCT g.session_id) FROM ranges r JOIN {tables}"
        " ON g.start_ms >= r.first AND g.start_ms < r.after GROUP BY r.place",
        json.dumps(ranges),
        *values,
    )
    counts = dict(rows)
    return [counts.get(place, 0) for place in range(len(ranges))]


def read_earlier_keywords(segment_id: str, limit: int) -> list[tuple[int, list[str]]]:
    """Return the keywords of segments of sessions that began before that of a segment.

    Each comes with the number of its session, those of the newest sessions first.
    """
    rows = fetch(
        "SELECT g.session_id, v.keywords FROM sessions s"
        " CROSS JOIN segments g ON g.session_id = s.id"
        " JOIN nodes n ON n.node_id = g.id JOIN node_versions v ON v.id = n.latest_id"
        " WHERE s.created_ms < (SELECT o.created_ms FROM segments x"
        " JOIN sessions o ON o.id = x.session_id WHERE x.id = ?)"
        " ORDER BY s.created_ms DESC, g.id DESC LIMIT ?",
        segment_id,
        limit,
    )
    return [
        (number, [word for word, _ in json_columns.read_keywords(words)])
        for number, words in rows
    ]
