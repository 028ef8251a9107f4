"""Segments: the bounds of the runs of a session, and which of them need a summary.

Also their surprise: how unlike earlier sessions they are. A segment is compared with
the sessions that began before its own. Its terms are stored with it as hashes. The
table ``terms`` lists the sessions that contain each term, by the time they began, and
counts the segments of the session that contain it, so that a segment can be removed
again.
"""

import hashlib
import json
import struct
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from peewee import fn

from memtui.model.events import from_ms
from memtui.model.filters import ALL, Scope
from memtui.store.database import (
    IN_JSON,
    db,
    fetch,
    fetch_value,
    insert,
    is_due,
    keyword_prefix,
    next_id,
    next_retry_ms,
)
from memtui.store.schema import SegmentRow, SessionRow

GROWTH = (3, 2)
"""An open segment is summarized again when it has grown to three halves of the events
of its last summary: a live session costs a few summaries, not one for each event."""


HASH_FORMAT = "<i"
"""With four bytes, about five pairs of 200,000 terms have the same hash."""

MAX_START_TIMES = 2000
"""About this many start times of sessions are read; of more sessions, a sample."""

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

Score = Callable[
    [Mapping[str, float], Mapping[str, Collection[int]], int, Mapping[str, int]], float
]
"""Returns the surprise of a segment from its terms, the earlier sessions with each of
them, the number of earlier sessions, and the number of sessions with common terms."""


TimeRange = tuple[int, int]
"""The first millisecond, and the first one after the range."""

ALL_TIMES: TimeRange = (-(1 << 62), 1 << 62)


@dataclass(frozen=True, slots=True)
class SegmentRange:
    """A stored segment: its bounds and its counts."""

    segment_id: str
    number: int
    first_id: str
    last_id: str
    start_ms: int
    end_ms: int
    tokens: int
    events: int
    messages: int
    subagent_events: int
    is_open: bool


_RANGE = (
    SegmentRow.id.alias("segment_id"),
    SegmentRow.session.alias("number"),
    SegmentRow.first_event_id.alias("first_id"),
    SegmentRow.last_event_id.alias("last_id"),
    SegmentRow.start_ms,
    SegmentRow.end_ms,
    SegmentRow.tokens,
    SegmentRow.events,
    SegmentRow.messages,
    SegmentRow.subagent_events,
    SegmentRow.is_open,
)


def _select(*where: Any) -> Any:
    return SegmentRow.select(*_RANGE).where(*where).objects(SegmentRange)


def get(segment_id: str) -> SegmentRange | None:
    found: SegmentRange | None = _select(SegmentRow.id == segment_id).first()
    return found


def list_since(number: int, start_ms: int) -> list[SegmentRange]:
    return list(_select(SegmentRow.session == number, SegmentRow.start_ms >= start_ms))


def find_safe_start(number: int, at_ms: int) -> int:
    """Return from when a session must be segmented again for an event at a time.

    Returns:
        The start, in milliseconds, of the last segment that begins before the time
        and shares its first millisecond with no other segment; 0 if there is none.
    """
    rows = (
        SegmentRow.select(SegmentRow.start_ms, SegmentRow.end_ms)
        .where(SegmentRow.session == number, SegmentRow.start_ms < at_ms)
        .order_by(SegmentRow.start_ms.desc(), SegmentRow.end_ms.desc())
        .tuples()
    )
    start_ms = 0
    for earlier_start, earlier_end in rows.iterator():
        if start_ms and earlier_end < start_ms:
            return start_ms
        start_ms = earlier_start
    return 0


def find_nearest(number: int, at_ms: int) -> str | None:
    distance = fn.MAX(SegmentRow.start_ms - at_ms, at_ms - SegmentRow.end_ms, 0)
    rows = SegmentRow.select(SegmentRow.id).where(SegmentRow.session == number)
    row = rows.order_by(distance, SegmentRow.start_ms.desc()).limit(1).first()
    return str(row.id) if row else None


def list_overlapping(start_ms: int, end_ms: int) -> list[str]:
    sql = "SELECT id FROM segments WHERE start_ms < ? AND end_ms >= ?"
    return [name for (name,) in fetch(sql, end_ms, start_ms)]


def find_at(places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the segments at some places, (session's number, time in milliseconds).

    A moment before all segments has none.
    """
    sql = (
        "SELECT id FROM segments WHERE session_id = ? AND start_ms <= ?"
        " ORDER BY start_ms DESC LIMIT 1"
    )
    found = {place: fetch_value(sql, *place) for place in set(places)}
    return {place: name for place, name in found.items() if name is not None}


def save(segments: Sequence[SegmentRange]) -> None:
    """Add segments that are new or have changed; each needs a summary."""
    ids = [segment.segment_id for segment in segments]
    columns = SegmentRow.summarized_events, SegmentRow.surprise, SegmentRow.terms
    rows = SegmentRow.select(SegmentRow.id, *columns).where(SegmentRow.id.in_(ids))
    before = {row.pop("id"): row for row in rows.dicts()} if ids else {}
    insert(
        SegmentRow,
        [
            {
                "id": segment.segment_id,
                "session": segment.number,
                "first_event_id": segment.first_id,
                "last_event_id": segment.last_id,
                "start_ms": segment.start_ms,
                "end_ms": segment.end_ms,
                "tokens": segment.tokens,
                "events": segment.events,
                "messages": segment.messages,
                "subagent_events": segment.subagent_events,
                "is_open": segment.is_open,
                "needs_summary": True,
                **before.get(segment.segment_id, {}),
            }
            for segment in segments
        ],
        conflict="update",
    )


def delete(segment_ids: Sequence[str]) -> None:
    remove_terms(segment_ids)
    SegmentRow.delete().where(SegmentRow.id.in_(list(segment_ids))).execute()


def request_all_summaries() -> None:
    SegmentRow.update(
        needs_summary=True, summarized_events=0, attempts=0, retry_ms=0
    ).execute()


def request_summaries(segment_ids: Iterable[str]) -> None:
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.id.in_(list(segment_ids))
    ).execute()


def request_session_summaries(number: int) -> None:
    SegmentRow.update(needs_summary=True).where(SegmentRow.session == number).execute()


def is_first(segment: SegmentRange) -> bool:
    earlier = SegmentRow.select().where(
        SegmentRow.session == segment.number, SegmentRow.start_ms < segment.start_ms
    )
    return not earlier.exists()


def request_first_summary(number: int) -> None:
    first = (
        SegmentRow.select(fn.MIN(SegmentRow.start_ms))
        .where(SegmentRow.session == number)
        .scalar()
    )
    if first is not None:
        request_summary_at(number, first)


def request_summary_at(number: int, at_ms: int) -> None:
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.session == number,
        SegmentRow.start_ms <= at_ms,
        SegmentRow.end_ms >= at_ms,
    ).execute()


def get_sessions(segment_ids: Iterable[str]) -> dict[str, int]:
    return {name: number for name, (number, _) in get_starts(segment_ids).items()}


def get_starts(segment_ids: Iterable[str]) -> dict[str, tuple[int, datetime]]:
    sql = f"SELECT id, session_id, start_ms FROM segments WHERE id {IN_JSON}"
    rows = fetch(sql, json.dumps(list(segment_ids)))
    return {name: (number, from_ms(at_ms)) for name, number, at_ms in rows}


def has_silent(before_ms: int) -> bool:
    silent = SegmentRow.select(SegmentRow.id).where(
        SegmentRow.is_open, SegmentRow.end_ms < before_ms
    )
    return silent.limit(1).first() is not None


def close_silent(before_ms: int) -> int:
    """Close open segments whose last event is older than a time; return their number.

    Each needs a last summary.
    """
    return int(
        SegmentRow.update(is_open=False, needs_summary=True)
        .where(SegmentRow.is_open, SegmentRow.end_ms < before_ms)
        .execute()
    )


def list_pending(now_ms: int, limit: int) -> list[SegmentRange]:
    """Return segments to summarize now, open ones first."""
    rows = _select(_needs_summary(), is_due(SegmentRow.retry_ms, now_ms))
    first = rows.order_by(SegmentRow.is_open.desc(), SegmentRow.start_ms)
    return list(first.limit(limit))


def count_pending() -> int:
    """Count the segments to summarize, now or at a retry."""
    return int(SegmentRow.select().where(_needs_summary()).count())


def count_failing(now_ms: int) -> int:
    is_later = SegmentRow.retry_ms > now_ms
    return int(SegmentRow.select().where(_needs_summary(), is_later).count())


def _needs_summary() -> Any:
    """Return the condition that a segment needs a summary, an open one if it grew."""
    factor, divisor = GROWTH
    has_grown = SegmentRow.events * divisor >= SegmentRow.summarized_events * factor
    return SegmentRow.needs_summary & (~SegmentRow.is_open | has_grown)


def set_summarized(segments: Sequence[SegmentRange]) -> None:
    """Note that segments have a summary of all their events."""
    ids = [segment.segment_id for segment in segments]
    SegmentRow.update(
        needs_summary=False,
        summarized_events=SegmentRow.events,
        attempts=0,
        retry_ms=0,
    ).where(SegmentRow.id.in_(ids)).execute()


def set_failed(segment_id: str, now_ms: int) -> None:
    row = SegmentRow.get_or_none(SegmentRow.id == segment_id)
    if row is not None:
        row.retry_ms = next_retry_ms(row.attempts, now_ms)
        row.attempts += 1
        row.save(only=[SegmentRow.attempts, SegmentRow.retry_ms])


def count() -> int:
    return int(SegmentRow.select().count())


def read_states(segment_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return the state of the work in segments, by their ids; skip unknown ones.

    Returns:
        The agent and the id of the segment's session, and the state, or "".
    """
    rows = fetch(
        "SELECT n.node_id, s.agent, s.name, coalesce(b.text, '')"
        " FROM nodes n JOIN segments g ON g.id = n.node_id"
        " JOIN sessions s ON s.id = g.session_id"
        " LEFT JOIN bullets b ON b.version_id = n.latest_id AND b.kind = 'state'"
        f" WHERE n.node_id {IN_JSON}",
        json.dumps(list(segment_ids)),
    )
    return {name: (agent, session, state) for name, agent, session, state in rows}


def count_sessions(ranges: Sequence[TimeRange], scope: Scope = ALL) -> list[int]:
    """Count the sessions with segments of a scope that start in each time range."""
    joins, values = "", []
    if scope.agent or scope.project:
        joins += " JOIN sessions s ON s.id = g.session_id"
        for column, name in (("agent", scope.agent), ("project", scope.project)):
            if name:
                joins += f" AND s.{column} = ?"
                values.append(name)
    if scope.keyword:
        joins += (
            " JOIN nodes n ON n.node_id = g.id"
            " JOIN node_versions v ON v.id = n.latest_id"
            " AND instr(lower(v.keywords), ?)"
        )
        values.append(keyword_prefix(scope.keyword))
    rows = fetch(
        "WITH ranges(place, first, after) AS MATERIALIZED (SELECT key,"
        " json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
        " SELECT r.place, COUNT(DISTINCT g.session_id) FROM ranges r JOIN segments g"
        f" ON g.start_ms >= r.first AND g.start_ms < r.after{joins} GROUP BY r.place",
        json.dumps(ranges),
        *values,
    )
    found = {place: number for place, number in rows}
    return [found.get(place, 0) for place in range(len(ranges))]


# Surprise


@dataclass(frozen=True, slots=True)
class SegmentTerms:
    """The terms a segment is compared by."""

    segment_id: str
    number: int
    terms: Mapping[str, float]


def add_terms(
    segments: Sequence[SegmentTerms], score: Score, max_sessions: int
) -> None:
    """Score segments and store their terms for later ones.

    Each is compared with those before it, too. At most ``max_sessions`` of the sessions
    with a common term are read.
    """
    before = _read_keys([segment.segment_id for segment in segments])
    starts = _read_starts({segment.number for segment in segments})
    count_before = _session_counter()
    for segment in segments:
        if segment.segment_id not in before or segment.number not in starts:
            continue
        start_s = starts[segment.number]
        hashes = {term: hash_term(term) for term in segment.terms}
        sessions, common = _read_sessions_with_terms(
            hashes, start_s, count_before, max_sessions
        )
        surprise = score(segment.terms, sessions, count_before(start_s), common)
        row = sorted(set(hashes.values()))
        after = {(number, start_s, segment.number) for number in row}
        _replace_keys(before[segment.segment_id], after)
        packed = struct.pack(f"<{len(row) + 1}i", start_s, *row)
        db.execute_sql(
            "UPDATE segments SET surprise = ?, terms = ? WHERE id = ?",
            (surprise, packed, segment.segment_id),
        )


def get_surprise(segment_ids: Iterable[str]) -> dict[str, float]:
    """Return the surprise of segments, 0 to 1; those without a score are left out."""
    rows = SegmentRow.select(SegmentRow.id, SegmentRow.surprise).where(
        SegmentRow.id.in_(list(segment_ids)), SegmentRow.surprise.is_null(False)
    )
    return dict(rows.tuples())


def remove_terms(segment_ids: Iterable[str]) -> None:
    """Remove the terms and scores of segments; call it before deleting segments."""
    before = _read_keys(segment_ids)
    for keys in before.values():
        _replace_keys(keys, set())
    db.connection().executemany(
        "UPDATE segments SET surprise = NULL, terms = NULL WHERE id = ?",
        [(name,) for name, keys in before.items() if keys],
    )


def hash_term(term: str) -> int:
    raw = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
    return int(struct.unpack(HASH_FORMAT, raw)[0])


def _read_keys(segment_ids: Iterable[str]) -> dict[str, set[TermKey]]:
    """Return the stored terms of segments; missing segments are left out."""
    sql = f"SELECT id, session_id, terms FROM segments WHERE id {IN_JSON}"
    found: dict[str, set[TermKey]] = {}
    for name, session, packed in fetch(sql, json.dumps(list(segment_ids))):
        start_s, *terms = (
            struct.unpack(f"<{len(packed) // 4}i", packed) if packed else (0,)
        )
        found[name] = {(term, start_s, session) for term in terms}
    return found


def _replace_keys(before: set[TermKey], after: set[TermKey]) -> None:
    removed = sorted(before - after)
    db.connection().executemany(_SUBTRACT, removed)
    db.connection().executemany(_DELETE, removed)
    db.connection().executemany(_ADD, sorted(after - before))


def _read_starts(numbers: Iterable[int]) -> dict[int, int]:
    sql = f"SELECT id, created_ms / 1000 FROM sessions WHERE id {IN_JSON}"
    return dict(fetch(sql, json.dumps(list(numbers))))


def _session_counter() -> Callable[[int], int]:
    """Return a function that counts the sessions that began before a second."""
    step = max(1, next_id(SessionRow) // MAX_START_TIMES)
    sql = "SELECT created_ms / 1000 FROM sessions WHERE id % ? = 0 ORDER BY created_ms"
    starts = [start_s for (start_s,) in fetch(sql, step)]
    return lambda at_s: bisect_left(starts, at_s) * step


def _read_sessions_with_terms(
    hashes: Mapping[str, int],
    start_s: int,
    count_before: Callable[[int], int],
    max_sessions: int,
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """Find the earlier sessions with each of some terms.

    Returns:
        The numbers of the sessions, and for common terms an estimate of their count.
    """
    values = start_s, max_sessions, json.dumps(list(hashes.values()))
    sessions: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    total = count_before(start_s)
    for number, found in fetch(_SESSIONS_WITH_TERM, *values):
        *numbers, first_s = json.loads(found)
        sessions[number] = set(numbers)
        if len(numbers) == max_sessions:
            # Assume it is as frequent overall as since the oldest session read.
            among = max(total - count_before(first_s), 1)
            counts[number] = round(max_sessions * max(total / among, 1.0))
    return (
        {term: sessions.get(number, set()) for term, number in hashes.items()},
        {term: counts[number] for term, number in hashes.items() if number in counts},
    )
