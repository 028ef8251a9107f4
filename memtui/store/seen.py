"""What has come from each source, and when: a silent source is noticed by it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from peewee import fn

from memtui.memory.events import Event, from_ms
from memtui.store.tables.working import SeenRow


@dataclass(frozen=True, slots=True)
class Seen:
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


def note(source: str, new: Iterable[Event], now_ms: int) -> None:
    """Note that new events came from a source."""
    by_agent: dict[str, list[int]] = {}
    for event in new:
        by_agent.setdefault(event.agent, []).append(event.timestamp_ms)
    for agent, times in by_agent.items():
        latest = max(times)
        SeenRow.insert(
            source=source,
            agent=agent,
            last_event_ms=latest,
            received_ms=now_ms,
            events=len(times),
        ).on_conflict(
            conflict_target=[SeenRow.source, SeenRow.agent],
            update={
                SeenRow.last_event_ms: fn.MAX(SeenRow.last_event_ms, latest),
                SeenRow.received_ms: now_ms,
                SeenRow.events: SeenRow.events + len(times),
            },
        ).execute()


def all_of_them() -> list[Seen]:
    """Every source of every agent, the one heard of last first."""
    rows = SeenRow.select().order_by(SeenRow.received_ms.desc(), SeenRow.source)
    return [
        Seen(
            row.source,
            row.agent,
            from_ms(row.last_event_ms),
            from_ms(row.received_ms),
            row.events,
        )
        for row in rows
    ]
