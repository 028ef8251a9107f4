"""How much is kept, for the status line and ``memtui stats``."""

from datetime import datetime

from peewee import fn

from memtui.memory.events import from_ms
from memtui.store.tables.contents import SegmentRow
from memtui.store.tables.conversations import EventRow, SessionRow


def sessions() -> int:
    """How many sessions there are."""
    return int(SessionRow.select().count())


def events() -> tuple[int, int]:
    """How many events there are, and how many of them are subagents'."""
    total = int(SessionRow.select(fn.SUM(SessionRow.event_count)).scalar() or 0)
    helpers = SegmentRow.select(fn.SUM(SegmentRow.subagent_events)).scalar()
    return total, int(helpers or 0)


def messages_by(column: str) -> list[tuple[str, int]]:
    """Messages by ``agent`` or ``project``, most first."""
    field = {"agent": SessionRow.agent, "project": SessionRow.project}[column]
    total = fn.SUM(SessionRow.message_count)
    rows = SessionRow.select(field, total).group_by(field).order_by(total.desc(), field)
    return [(name, int(count or 0)) for name, count in rows.tuples()]


def span() -> tuple[datetime, datetime] | None:
    """The times of the first and of the last event; None when nothing is kept."""
    first, last = (
        SessionRow.select(fn.MIN(SessionRow.created_ms), fn.MAX(SessionRow.updated_ms))
        .tuples()
        .first()
    )
    return (from_ms(first), from_ms(last)) if first is not None else None


def is_empty() -> bool:
    """Whether no event is kept."""
    return EventRow.select(EventRow.id).limit(1).first() is None
