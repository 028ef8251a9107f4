"""What was not taken, by source and reason; counted, never silently dropped."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from peewee import fn

from memtui.model.events import clean, from_ms
from memtui.store.database import db
from memtui.store.schema import ProblemRow, RedactionRow


class ProblemKind(StrEnum):
    """Why something was not taken."""

    DAMAGED = "fault"
    """It is damaged."""
    SKIPPED = "left"
    """It is whole, and of a kind that is not kept."""
    INCOMPLETE = "awaited"
    """It is not whole yet."""


_COUNT_UP = """
    INSERT INTO problems (source, reason, line, count, last_ms, kind)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (source, reason) DO UPDATE SET
        count = count + excluded.count, line = excluded.line,
        last_ms = CASE WHEN count + excluded.count <= ? THEN ? ELSE ? END
"""

ProblemHistory = Mapping[str, tuple[int, int]]
"""Of a source, how many records were counted for a reason, and when the last was."""


@dataclass(frozen=True, slots=True)
class ProblemCount:
    """Records of one source that were not taken, for one reason."""

    reason: str
    kind: ProblemKind
    line: int
    """The line of the latest of them, from 1; 0 where there are no lines."""
    count: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Records of one source that were not taken, and when that was last noticed."""

    source: str
    """The file, or ``hooks``."""
    reason: str
    kind: ProblemKind
    line: int
    count: int
    last_at: datetime


def add(
    source: str,
    counts: Iterable[ProblemCount],
    now_ms: int,
    noted: ProblemHistory | None = None,
) -> None:
    """Count more records that were not taken.

    Args:
        source: The file, or ``hooks``.
        counts: How many, and why.
        now_ms: The time.
        noted: What was counted before the source was read anew: as many records as
            these are the same, which were noticed then.
    """
    rows = []
    for c in counts:
        reason = clean(c.reason)
        before, then = (noted or {}).get(reason, (0, now_ms))
        at = then if c.count <= before else now_ms
        row = clean(source), reason, c.line, c.count, at, c.kind.value
        rows.append((*row, before, then, now_ms))
    db.connection().executemany(_COUNT_UP, rows)


def clear(source: str, *kinds: ProblemKind) -> ProblemHistory:
    """Take back what was counted of a source, of some kinds or of all; what it was."""
    said = [kind.value for kind in kinds or ProblemKind]
    mine = (ProblemRow.source == clean(source)) & ProblemRow.kind.in_(said)
    counted = (ProblemRow.reason, ProblemRow.count, ProblemRow.last_ms)
    noted = {
        reason: (count, last_ms)
        for reason, count, last_ms in ProblemRow.select(*counted).where(mine).tuples()
    }
    ProblemRow.delete().where(mine).execute()
    return noted


def subtract(source: str, reason: str, count: int = 1) -> None:
    """Count fewer records that were not taken for a reason."""
    mine = (ProblemRow.source == clean(source)) & (ProblemRow.reason == clean(reason))
    ProblemRow.update(count=ProblemRow.count - count).where(mine).execute()
    ProblemRow.delete().where(mine, ProblemRow.count <= 0).execute()


def count_damaged() -> int:
    """How many damaged records there are."""
    total = ProblemRow.select(fn.SUM(ProblemRow.count)).where(
        ProblemRow.kind == ProblemKind.DAMAGED.value
    )
    return int(total.scalar() or 0)


def get_damaged(source: str) -> dict[str, int]:
    """How many damaged records of a source there are, by reason."""
    mine = (ProblemRow.source == clean(source)) & (
        ProblemRow.kind == ProblemKind.DAMAGED.value
    )
    return dict(
        ProblemRow.select(ProblemRow.reason, ProblemRow.count).where(mine).tuples()
    )


def count_rows(kind: ProblemKind, *, besides: str) -> int:
    """How many reasons of how many sources there are of a kind, one source aside."""
    mine = (ProblemRow.kind == kind.value) & (ProblemRow.source != besides)
    return int(ProblemRow.select().where(mine).count())


def list_latest(
    limit: int | None = None, *, kind: ProblemKind | None = None, besides: str = ""
) -> list[Problem]:
    """What was not taken, the latest first.

    Args:
        limit: How many; all when None.
        kind: Of which kind alone.
        besides: A source that is left out.
    """
    rows = ProblemRow.select().order_by(
        ProblemRow.last_ms.desc(), ProblemRow.source, ProblemRow.reason
    )
    if kind:
        rows = rows.where(ProblemRow.kind == kind.value)
    if besides:
        rows = rows.where(ProblemRow.source != besides)
    return [
        Problem(
            row.source,
            row.reason,
            ProblemKind(row.kind),
            row.line,
            row.count,
            from_ms(row.last_ms),
        )
        for row in rows.limit(limit)
    ]


def count_by_reason() -> list[tuple[str, ProblemKind, int]]:
    """All that was not taken: (reason, its kind, how many), most first."""
    rows = (
        ProblemRow.select(ProblemRow.reason, ProblemRow.kind, fn.SUM(ProblemRow.count))
        .group_by(ProblemRow.reason, ProblemRow.kind)
        .order_by(fn.SUM(ProblemRow.count).desc(), ProblemRow.reason)
        .tuples()
    )
    return [(reason, ProblemKind(kind), int(count)) for reason, kind, count in rows]


def add_redactions(kinds: Mapping[str, int], now_ms: int) -> None:
    """Count secrets that were taken out before they were stored."""
    for kind, number in kinds.items():
        RedactionRow.insert(kind=kind, count=number, last_ms=now_ms).on_conflict(
            conflict_target=[RedactionRow.kind],
            update={
                RedactionRow.count: RedactionRow.count + number,
                RedactionRow.last_ms: now_ms,
            },
        ).execute()


def list_redactions() -> list[tuple[str, int]]:
    """Each kind of secret and how often it was taken out, most first."""
    rows = RedactionRow.select(RedactionRow.kind, RedactionRow.count)
    return list(rows.order_by(RedactionRow.count.desc(), RedactionRow.kind).tuples())
