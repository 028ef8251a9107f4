"""Segments: the bounds of the runs of a session, and which of them need a summary.

Also the terms by which they are compared with the sessions that began before their own:
how unlike these they are is their surprise. A segment's terms are stored with it as
hashes with their weights. The table ``terms`` lists the sessions that contain each
term, by the time they began, and counts the segments of the session that contain it, so
that a segment can be removed again.
"""

import hashlib
import json
import struct
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

from memtui.model.filters import ALL, Scope
from memtui.store import scopes
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

HASH_FORMAT = "<i"
"""With four bytes, about five pairs of 200,000 terms have the same hash."""

START_FORMAT, TERM_FORMAT = "<i", "<if"
"""The second a segment's session began, and then the hash and weight of each term."""

_SESSIONS_WITH_TERM = (
    "SELECT j.value, (SELECT json_insert(json_group_array(session), '$[#]',"
    " min(start_s)) FROM (SELECT session, start_s FROM terms"
    " WHERE term = j.value AND start_s < ? ORDER BY start_s DESC LIMIT ?))"
    " FROM json_each(?) j"
)

_ADD = (
    "INSERT INTO terms (term, start_s, session, segments) VALUES (?, ?, ?, 1)"
    " ON CONFLICT DO UPDATE SET segments = segments + 1"
)

_SUBTRACT = (
    "UPDATE terms SET segments = segments - 1"
    " WHERE term = ? AND start_s = ? AND session = ?"
)

_DELETE = (
    "DELETE FROM terms WHERE term = ? AND start_s = ? AND session = ? AND segments < 1"
)

TermKey = tuple[int, int, int]
"""A term's hash, the second its session began, and the session's number."""

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
    remove_terms(segment_ids)
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


# Surprise


@dataclass(frozen=True, slots=True)
class SegmentTerms:
    """The terms a segment is compared by, with their weights."""

    segment_id: str
    session_number: int
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EarlierSessions:
    """The sessions that began before that of a segment, as far as they share terms."""

    weights: Mapping[int, float]
    """The weight of each term of the segment, by its hash."""
    sessions: Mapping[int, Collection[int]]
    """The numbers of the sessions with each term, of a common one only the newest."""
    counts: Mapping[int, int]
    """The estimated number of sessions with each common term."""
    count: int
    """The number of earlier sessions."""


def add_terms(segments: Sequence[SegmentTerms]) -> None:
    """Store the terms of segments in place of earlier ones."""
    starts = update_starts({segment.session_number for segment in segments})
    before = _read_keys([segment.segment_id for segment in segments])
    for segment in segments:
        if segment.segment_id not in before or segment.session_number not in starts:
            continue
        start_s = starts[segment.session_number]
        weights: dict[int, float] = {}
        for term, weight in segment.terms.items():
            hashed = hash_term(term)
            weights[hashed] = weights.get(hashed, 0.0) + weight
        after = {(hashed, start_s, segment.session_number) for hashed in weights}
        _replace_keys(before[segment.segment_id], after)
        packed = struct.pack(START_FORMAT, start_s) + b"".join(
            struct.pack(TERM_FORMAT, *item) for item in sorted(weights.items())
        )
        sql = "UPDATE segments SET terms = ? WHERE id = ?"
        db.execute_sql(sql, (packed, segment.segment_id))


def update_starts(session_numbers: Iterable[int]) -> dict[int, int]:
    """Store terms by the seconds that their sessions begin now, and return these."""
    sql = f"SELECT id, created_ms / 1000 FROM sessions WHERE id {IN_JSON}"
    starts = dict(fetch(sql, json.dumps(list(session_numbers))))
    for number, start_s in starts.items():
        start = struct.pack(START_FORMAT, start_s)
        moved = fetch(
            "SELECT id, terms FROM segments WHERE session_id = ? AND terms NOT NULL"
            " AND substr(terms, 1, ?) <> ?",
            number,
            len(start),
            start,
        )
        for name, packed in moved:
            before_s, weights = _unpack(packed)
            _replace_keys(
                {(term, before_s, number) for term in weights},
                {(term, start_s, number) for term in weights},
            )
            sql = "UPDATE segments SET terms = ? WHERE id = ?"
            db.execute_sql(sql, (start + packed[len(start) :], name))
    return starts


def compare(
    segment_ids: Iterable[str], max_sessions: int
) -> dict[str, EarlierSessions]:
    """Return what segments have in common with earlier sessions.

    At most ``max_sessions`` of the sessions with a common term are read. Segments
    without a summary are left out.
    """
    sql = f"SELECT id, terms FROM segments WHERE id {IN_JSON} AND terms NOT NULL"
    rows = fetch(sql, json.dumps(list(segment_ids)))
    if not rows:
        return {}
    starts = fetch_column("SELECT created_ms / 1000 FROM sessions ORDER BY created_ms")
    return {
        name: _compare(*_unpack(packed), partial(bisect_left, starts), max_sessions)
        for name, packed in rows
    }


def _compare(
    start_s: int,
    weights: Mapping[int, float],
    count_before: Callable[[int], int],
    max_sessions: int,
) -> EarlierSessions:
    values = start_s, max_sessions, json.dumps(list(weights))
    sessions: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    total = count_before(start_s)
    for term, encoded in fetch(_SESSIONS_WITH_TERM, *values):
        *numbers, first_s = json.loads(encoded)
        sessions[term] = set(numbers)
        if len(numbers) == max_sessions:
            # Assume it is as frequent overall as since the oldest session read.
            among = max(total - count_before(first_s), 1)
            counts[term] = round(max_sessions * max(total / among, 1.0))
    return EarlierSessions(weights, sessions, counts, total)


def remove_terms(segment_ids: Iterable[str]) -> None:
    """Remove the terms of segments; call it before deleting segments."""
    before = _read_keys(segment_ids)
    for keys in before.values():
        _replace_keys(keys, set())
    db.connection().executemany(
        "UPDATE segments SET terms = NULL WHERE id = ?",
        [(name,) for name, keys in before.items() if keys],
    )


def hash_term(term: str) -> int:
    raw = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
    return int(struct.unpack(HASH_FORMAT, raw)[0])


def _unpack(packed: bytes) -> tuple[int, dict[int, float]]:
    (start_s,) = struct.unpack_from(START_FORMAT, packed)
    terms = packed[struct.calcsize(START_FORMAT) :]
    return start_s, dict(struct.iter_unpack(TERM_FORMAT, terms))


def _read_keys(segment_ids: Iterable[str]) -> dict[str, set[TermKey]]:
    """Return the stored terms of segments; missing segments are left out."""
    sql = f"SELECT id, session_id, terms FROM segments WHERE id {IN_JSON}"
    keys: dict[str, set[TermKey]] = {}
    for name, session, packed in fetch(sql, json.dumps(list(segment_ids))):
        start_s, weights = _unpack(packed) if packed else (0, {})
        keys[name] = {(term, start_s, session) for term in weights}
    return keys


def _replace_keys(before: set[TermKey], after: set[TermKey]) -> None:
    removed = sorted(before - after)
    db.connection().executemany(_SUBTRACT, removed)
    db.connection().executemany(_DELETE, removed)
    db.connection().executemany(_ADD, sorted(after - before))
