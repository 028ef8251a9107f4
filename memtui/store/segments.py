"""Segments: the bounds of the runs of a session, and which of them need a summary."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from peewee import fn

from memtui.model.events import from_ms
from memtui.store import surprise
from memtui.store.database import (
    IN_JSON,
    fetch,
    fetch_value,
    insert,
    is_due,
    next_retry_ms,
)
from memtui.store.schema import SegmentRow

GROWTH = (3, 2)
"""An open segment is summarized again when it has grown to three halves of the events
of its last summary: a live session costs a few summaries, not one for each event."""


@dataclass(frozen=True, slots=True)
class SegmentRange:
    """A stored segment: its bounds and its counts."""

    segment_id: str
    number: int
    """The number of its session."""
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
    """Return a segment; None if it does not exist any more."""
    found: SegmentRange | None = _select(SegmentRow.id == segment_id).first()
    return found


def list_since(number: int, start_ms: int) -> list[SegmentRange]:
    """Return a session's segments that start at a time or later."""
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
    """Return the id of a session's segment nearest to a time; None if it has none."""
    distance = fn.MAX(SegmentRow.start_ms - at_ms, at_ms - SegmentRow.end_ms, 0)
    rows = SegmentRow.select(SegmentRow.id).where(SegmentRow.session == number)
    row = rows.order_by(distance, SegmentRow.start_ms.desc()).limit(1).first()
    return str(row.id) if row else None


def find_at(places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the segments at some moments.

    Args:
        places: (session's number, time in milliseconds).

    Returns:
        The ids of the segments by place; a moment before all segments has none.
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
    """Delete segments."""
    surprise.remove(segment_ids)
    SegmentRow.delete().where(SegmentRow.id.in_(list(segment_ids))).execute()


def request_all_summaries() -> None:
    """Have every segment summarized again."""
    SegmentRow.update(needs_summary=True, summarized_events=0).execute()


def request_summaries(segment_ids: Iterable[str]) -> None:
    """Have these segments summarized again."""
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.id.in_(list(segment_ids))
    ).execute()


def request_session_summaries(number: int) -> None:
    """Have all segments of a session summarized again."""
    SegmentRow.update(needs_summary=True).where(SegmentRow.session == number).execute()


def is_first(segment: SegmentRange) -> bool:
    """Return whether a segment is the first of its session."""
    earlier = SegmentRow.select().where(
        SegmentRow.session == segment.number, SegmentRow.start_ms < segment.start_ms
    )
    return not earlier.exists()


def request_first_summary(number: int) -> None:
    """Have the first segment of a session summarized again."""
    first = (
        SegmentRow.select(fn.MIN(SegmentRow.start_ms))
        .where(SegmentRow.session == number)
        .scalar()
    )
    if first is not None:
        request_summary_at(number, first)


def request_summary_at(number: int, at_ms: int) -> None:
    """Have a session's segment at a time summarized again."""
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.session == number,
        SegmentRow.start_ms <= at_ms,
        SegmentRow.end_ms >= at_ms,
    ).execute()


def get_sessions(segment_ids: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the sessions of segments, by the segments' ids."""
    return {name: number for name, (number, _) in get_starts(segment_ids).items()}


def get_starts(segment_ids: Iterable[str]) -> dict[str, tuple[int, datetime]]:
    """Return the sessions' numbers and the start times of segments, by their ids."""
    sql = f"SELECT id, session_id, start_ms FROM segments WHERE id {IN_JSON}"
    rows = fetch(sql, json.dumps(list(segment_ids)))
    return {name: (number, from_ms(at_ms)) for name, number, at_ms in rows}


def has_silent(before_ms: int) -> bool:
    """Return whether an open segment's last event is older than a time."""
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
    """Count the segments whose summary has failed and will be retried later."""
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
    SegmentRow.update(needs_summary=False, summarized_events=SegmentRow.events).where(
        SegmentRow.id.in_(ids)
    ).execute()


def set_failed(segment_id: str, now_ms: int) -> None:
    """Count a failed summary and have it tried again later."""
    row = SegmentRow.get_or_none(SegmentRow.id == segment_id)
    if row is not None:
        row.retry_ms = next_retry_ms(row.attempts, now_ms)
        row.attempts += 1
        row.save(only=[SegmentRow.attempts, SegmentRow.retry_ms])


def count_of_session(number: int) -> int:
    """Count the segments of a session."""
    return int(SegmentRow.select().where(SegmentRow.session == number).count())


def count() -> int:
    """Count the segments."""
    return int(SegmentRow.select().count())
