"""What a person has forgotten: it does not come back, however often it is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.memory.events import Event, from_ms
from memtui.store.tables import TombstoneRow


class Kind(StrEnum):
    """What can be forgotten."""

    EVENT = "event"
    SESSION = "session"
    PROJECT = "project"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One thing that was forgotten."""

    kind: Kind
    subject: str = ""
    """An event's id, a session's name or a project's; empty for a date."""
    agent: str = ""
    """Whose session it was; empty for the others."""
    at_ms: int = 0
    """Before when all was forgotten, or, for a project, until when."""


def put(tombstones: Iterable[Tombstone], now_ms: int) -> None:
    """Note what was forgotten."""
    for stone in tombstones:
        TombstoneRow.insert(
            kind=stone.kind.value,
            agent=stone.agent,
            subject=stone.subject,
            at_ms=stone.at_ms,
            created_ms=now_ms,
        ).on_conflict_ignore().execute()


def all_of_them() -> list[tuple[Tombstone, datetime]]:
    """All that was forgotten, and when, the latest first."""
    rows = TombstoneRow.select().order_by(TombstoneRow.created_ms.desc())
    return [
        (
            Tombstone(Kind(row.kind), row.subject, row.agent, row.at_ms),
            from_ms(row.created_ms),
        )
        for row in rows
    ]


def spared(batch: Sequence[Event]) -> list[Event]:
    """Those of a batch that were not forgotten.

    Projects are not looked at here: an event does not know its own.
    """
    if not batch or not TombstoneRow.select().limit(1).exists():
        return list(batch)
    before_ms = _before()
    events = _subjects(Kind.EVENT, [e.event_id for e in batch])
    sessions = _subjects(Kind.SESSION, list({e.session_id for e in batch}))
    return [
        event
        for event in batch
        if event.timestamp_ms >= before_ms
        and ("", event.event_id) not in events
        and (event.agent, event.session_id) not in sessions
    ]


def covers_project(project: str) -> bool:
    """Whether a project was forgotten."""
    return (
        TombstoneRow.get_or_none(
            TombstoneRow.kind == Kind.PROJECT.value, TombstoneRow.subject == project
        )
        is not None
    )


def _before() -> int:
    rows = TombstoneRow.select(TombstoneRow.at_ms).where(
        TombstoneRow.kind == Kind.BEFORE.value
    )
    return max((at_ms for (at_ms,) in rows.tuples()), default=0)


def _subjects(kind: Kind, names: Sequence[str]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for start in range(0, len(names), 500):
        rows = TombstoneRow.select(TombstoneRow.agent, TombstoneRow.subject).where(
            TombstoneRow.kind == kind.value,
            TombstoneRow.subject.in_(names[start : start + 500]),
        )
        found.update(rows.tuples())
    return found
