"""What was not taken, by source and reason; counted, never silently dropped."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from peewee import fn

from memtui.memory.events import clean, from_ms
from memtui.store.tables import ProblemRow


@dataclass(frozen=True, slots=True)
class Problem:
    """Records of one source that were not taken, for one reason."""

    source: str
    """The file, or ``hooks``."""
    reason: str
    is_fault: bool
    """Whether they are damaged; else they are known and of a kind that is not kept."""
    line: int
    """The line of the latest of them, from 1; 0 where there are no lines."""
    count: int
    last_at: datetime


def count_up(
    source: str, reason: str, *, is_fault: bool, line: int, now_ms: int
) -> None:
    """Count one more record that was not taken."""
    ProblemRow.insert(
        source=clean(source),
        reason=clean(reason),
        is_fault=is_fault,
        line=line,
        count=1,
        last_ms=now_ms,
    ).on_conflict(
        conflict_target=[ProblemRow.source, ProblemRow.reason],
        update={
            ProblemRow.count: ProblemRow.count + 1,
            ProblemRow.line: line,
            ProblemRow.last_ms: now_ms,
        },
    ).execute()


def replace(
    source: str, counts: Iterable[tuple[str, bool, int, int]], now_ms: int
) -> None:
    """Say anew what was not taken of a source that has been read from its start.

    Args:
        source: The file.
        counts: (reason, whether it is a fault, the latest line, how many).
        now_ms: The time, in milliseconds.
    """
    name = clean(source)
    ProblemRow.delete().where(ProblemRow.source == name).execute()
    rows = [(name, clean(reason), *rest, now_ms) for reason, *rest in counts]
    if rows:
        ProblemRow.insert_many(rows, fields=ProblemRow._meta.sorted_fields).execute()


def faults() -> int:
    """How many damaged records there are."""
    total = ProblemRow.select(fn.SUM(ProblemRow.count)).where(ProblemRow.is_fault)
    return int(total.scalar() or 0)


def latest(limit: int, *, faults_only: bool = False) -> list[Problem]:
    """What was not taken, the latest first."""
    rows = ProblemRow.select().order_by(
        ProblemRow.last_ms.desc(), ProblemRow.source, ProblemRow.reason
    )
    if faults_only:
        rows = rows.where(ProblemRow.is_fault)
    return [
        Problem(
            row.source,
            row.reason,
            row.is_fault,
            row.line,
            row.count,
            from_ms(row.last_ms),
        )
        for row in rows.limit(limit)
    ]


def by_reason() -> list[tuple[str, bool, int]]:
    """All that was not taken: (reason, whether it is a fault, how many), most first."""
    rows = (
        ProblemRow.select(
            ProblemRow.reason, ProblemRow.is_fault, fn.SUM(ProblemRow.count)
        )
        .group_by(ProblemRow.reason, ProblemRow.is_fault)
        .order_by(fn.SUM(ProblemRow.count).desc(), ProblemRow.reason)
        .tuples()
    )
    return [(reason, bool(is_fault), int(count)) for reason, is_fault, count in rows]
