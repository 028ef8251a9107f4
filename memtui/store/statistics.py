"""Counts of what the store holds."""

from datetime import datetime

from peewee import fn

from memtui.model.events import from_ms
from memtui.store.schema import EventRow, SegmentRow, SessionRow


def is_empty() -> bool:
    """Return whether the store holds no event."""
    return EventRow.select(EventRow.id).limit(1).first() is None


def count_sessions() -> int:
    """Count the sessions."""
    return int(SessionRow.select().count())


def count_events() -> tuple[int, int]:
    """Count the events, and those of subagents among them."""
    total = int(SessionRow.select(fn.SUM(SessionRow.event_count)).scalar() or 0)
    of_subagents = SegmentRow.select(fn.SUM(SegmentRow.subagent_events)).scalar()
    return total, int(of_subagents or 0)


def count_messages_by(column: str) -> list[tuple[str, int]]:
    """Count the messages by ``agent`` or ``project``, most first."""
    field = {"agent": SessionRow.agent, "project": SessionRow.project}[column]
    total = fn.SUM(SessionRow.message_count)
    rows = SessionRow.select(field, total).group_by(field).order_by(total.desc(), field)
    return [(name, int(count or 0)) for name, count in rows.tuples()]


def time_span() -> tuple[datetime, datetime] | None:
    """Return the times of the first and the last event; None for an empty store."""
    first, last = (
        SessionRow.select(fn.MIN(SessionRow.created_ms), fn.MAX(SessionRow.updated_ms))
        .tuples()
        .first()
    )
    return (from_ms(first), from_ms(last)) if first is not None else None
