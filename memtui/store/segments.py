"""Segments: where the runs of a session begin and end, and which want a summary."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from peewee import fn

from memtui.model.events import from_ms
from memtui.store import surprise
from memtui.store.database import db, insert, is_due
from memtui.store.schema import SegmentRow

GROWN, OF = 3, 2
"""An open segment is summarised again when it has grown to three halves of the events
its last summary saw: a live session costs a few summaries, not one an event."""


@dataclass(frozen=True, slots=True)
class SegmentRange:
    """A segment as the store knows it: its bounds and its counts."""

    segment_id: str
    number: int
    """Its session's number in the store."""
    first_id: str
    last_id: str
    start_ms: int
    end_ms: int
    tokens: int
    events: int
    messages: int
    subagent_events: int
    is_open: bool


def get(segment_id: str) -> SegmentRange | None:
    """A segment by its id; None if there is no such any more."""
    row = SegmentRow.get_or_none(SegmentRow.id == segment_id)
    return _stretch(row) if row else None


def request_all_summaries() -> None:
    """Say that every segment wants another summary."""
    SegmentRow.update(needs_summary=True, summarised_events=0).execute()


def find_safe_start(number: int, at_ms: int) -> int:
    """From when a session must be cut again if an event at this time is new.

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


def list_since(number: int, from_ms: int) -> list[SegmentRange]:
    """A session's segments that start at a time or later."""
    rows = SegmentRow.select().where(
        SegmentRow.session == number, SegmentRow.start_ms >= from_ms
    )
    return [_stretch(row) for row in rows]


def find_nearest(number: int, at_ms: int) -> str | None:
    """The segment of a session that a time lies in, or lies next to.

    Returns:
        Its id; None if the session has no segments.
    """
    away = fn.MAX(SegmentRow.start_ms - at_ms, at_ms - SegmentRow.end_ms, 0)
    rows = SegmentRow.select(SegmentRow.id).where(SegmentRow.session == number)
    row = rows.order_by(away, SegmentRow.start_ms.desc()).limit(1).first()
    return str(row.id) if row else None


def save(stretches: Sequence[SegmentRange]) -> None:
    """Keep segments that are new or have changed; each wants a summary."""
    ids = [stretch.segment_id for stretch in stretches]
    rows = SegmentRow.select(
        SegmentRow.id,
        SegmentRow.summarised_events,
        SegmentRow.surprise,
        SegmentRow.terms,
    ).where(SegmentRow.id.in_(ids))
    seen = {name: told for name, *told in rows.tuples()} if ids else {}
    new = (0, None, None)
    insert(
        SegmentRow,
        [
            (
                s.segment_id,
                s.number,
                s.first_id,
                s.last_id,
                s.start_ms,
                s.end_ms,
                s.tokens,
                s.events,
                s.messages,
                s.subagent_events,
                s.is_open,
                True,
                seen.get(s.segment_id, new)[0],
                0,
                0,
                *seen.get(s.segment_id, new)[1:],
            )
            for s in stretches
        ],
        conflict="update",
    )


def request_summaries(segment_ids: Iterable[str]) -> None:
    """Say that these segments want another summary."""
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.id.in_(list(segment_ids))
    ).execute()


def request_summary_at(number: int, at_ms: int) -> None:
    """Say that a session's segment around a time wants another summary."""
    SegmentRow.update(needs_summary=True).where(
        SegmentRow.session == number,
        SegmentRow.start_ms <= at_ms,
        SegmentRow.end_ms >= at_ms,
    ).execute()


def request_session_summaries(number: int) -> None:
    """Say that all segments of a session want another summary."""
    SegmentRow.update(needs_summary=True).where(SegmentRow.session == number).execute()


def delete(segment_ids: Sequence[str]) -> None:
    """Delete segments that a new cut has done away with."""
    surprise.remove(segment_ids)
    SegmentRow.delete().where(SegmentRow.id.in_(list(segment_ids))).execute()


def get_sessions(segment_ids: Iterable[str]) -> dict[str, int]:
    """The numbers of the sessions that segments are of, by the segments' ids."""
    return {name: number for name, number, _ in _begun(segment_ids)}


def get_starts(segment_ids: Iterable[str]) -> dict[str, tuple[int, datetime]]:
    """The numbers of the sessions that segments are of, and when they began."""
    rows = _begun(segment_ids)
    return {name: (number, from_ms(at_ms)) for name, number, at_ms in rows}


def _begun(segment_ids: Iterable[str]) -> list[tuple[str, int, int]]:
    rows = db.execute_sql(
        "SELECT id, session_id, start_ms FROM segments"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(segment_ids)),),
    )
    return list(rows.fetchall())


def find_at(places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """The segments that moments lie in.

    Args:
        places: (session's number, time in milliseconds).

    Returns:
        The ids of the segments, by those; a moment before all of them has none.
    """
    asked = (
        "SELECT id FROM segments WHERE session_id = ? AND start_ms <= ?"
        " ORDER BY start_ms DESC LIMIT 1"
    )
    found = {place: db.execute_sql(asked, place).fetchone() for place in set(places)}
    return {place: row[0] for place, row in found.items() if row}


def has_silent(before_ms: int) -> bool:
    """Whether an open segment's last event is older than a time."""
    silent = SegmentRow.select(SegmentRow.id).where(
        SegmentRow.is_open, SegmentRow.end_ms < before_ms
    )
    return silent.limit(1).first() is not None


def close_silent(before_ms: int) -> int:
    """Close open segments whose last event is older; each wants its last summary."""
    return int(
        SegmentRow.update(is_open=False, needs_summary=True)
        .where(SegmentRow.is_open, SegmentRow.end_ms < before_ms)
        .execute()
    )


def list_pending(now_ms: int, limit: int) -> list[SegmentRange]:
    """Segments that want a summary now, open ones first; these only when grown."""
    rows = (
        SegmentRow.select()
        .where(_wants_summary(), is_due(SegmentRow.retry_ms, now_ms))
        .order_by(SegmentRow.is_open.desc(), SegmentRow.start_ms)
        .limit(limit)
    )
    return [_stretch(row) for row in rows]


def count_failing(now_ms: int) -> int:
    """How many segments could not be summarised, and wait for another try."""
    rows = SegmentRow.select().where(_wants_summary(), SegmentRow.retry_ms > now_ms)
    return int(rows.count())


def count_pending() -> int:
    """How many segments want a summary, those that wait for another try included."""
    return int(SegmentRow.select().where(_wants_summary()).count())


def _wants_summary() -> object:
    grown = SegmentRow.events * OF >= SegmentRow.summarised_events * GROWN
    return SegmentRow.needs_summary & (~SegmentRow.is_open | grown)


def set_summarised(stretches: Sequence[SegmentRange]) -> None:
    """Note that segments have the summaries they wanted."""
    SegmentRow.update(needs_summary=False, summarised_events=SegmentRow.events).where(
        SegmentRow.id.in_([stretch.segment_id for stretch in stretches])
    ).execute()


def set_failed(segment_id: str, retry_ms: int) -> None:
    """Note that a summary failed; it is tried again, but not before this time."""
    SegmentRow.update(attempts=SegmentRow.attempts + 1, retry_ms=retry_ms).where(
        SegmentRow.id == segment_id
    ).execute()


def count_attempts(segment_id: str) -> int:
    """How often a segment's summary has failed since it last changed."""
    row = SegmentRow.get_or_none(SegmentRow.id == segment_id)
    return int(row.attempts) if row else 0


def count_of_session(number: int) -> int:
    """Count the segments of a session."""
    return int(SegmentRow.select().where(SegmentRow.session == number).count())


def count() -> int:
    """How many segments there are."""
    return int(SegmentRow.select(fn.COUNT(SegmentRow.id)).scalar())


def _stretch(row: SegmentRow) -> SegmentRange:
    return SegmentRange(
        segment_id=row.id,
        number=row.session_id,
        first_id=row.first_event_id,
        last_id=row.last_event_id,
        start_ms=row.start_ms,
        end_ms=row.end_ms,
        tokens=row.tokens,
        events=row.events,
        messages=row.messages,
        subagent_events=row.subagent_events,
        is_open=row.is_open,
    )
