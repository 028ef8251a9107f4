"""Records that were not stored, by source and reason; and removed secrets, by kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from peewee import fn

from memtui.model.events import clean, from_ms
from memtui.store.database import db
from memtui.store.schema import ProblemRow, RedactionRow

HOOKS = "hooks"
"""The source of what hooks send; other sources have the name of a file or format."""


class ProblemKind(StrEnum):
    """Why records were not stored."""

    DAMAGED = "damaged"
    SKIPPED = "skipped"
    """They are of a type that is not stored."""
    INCOMPLETE = "incomplete"
    """They are not written completely yet."""


_ADD = """
    INSERT INTO problems (source, reason, line, count, last_ms, kind, words)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (source, reason) DO UPDATE SET
        count = count + excluded.count, line = excluded.line,
        words = words + excluded.words,
        last_ms = CASE WHEN count + excluded.count <= ? THEN ? ELSE ? END
"""

ProblemHistory = Mapping[str, tuple[int, int]]
"""The number of records of a source, and the time of the last, by reason."""


@dataclass(frozen=True, slots=True)
class ProblemCount:
    """A number of records of one source that were not stored, for one reason."""

    reason: str
    kind: ProblemKind
    line: int
    """The line of the latest of them, from 1; 0 where there are no lines."""
    count: int
    words: int = 0
    """The number of words in them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The records of one source that were not stored, for one reason."""

    source: str
    """The file, or ``HOOKS``."""
    reason: str
    kind: ProblemKind
    line: int
    count: int
    last_at: datetime


def add(
    source: str,
    counts: Iterable[ProblemCount],
    now_ms: int,
    history: ProblemHistory | None = None,
) -> None:
    """Count more records that were not stored.

    Args:
        source: The file, or ``HOOKS``.
        counts: The records.
        now_ms: The current time, in milliseconds.
        history: The counts before the source was read again: as many records are
            the same as before, and keep their time.
    """
    rows = []
    for c in counts:
        reason = clean(c.reason)
        before, last_ms = (history or {}).get(reason, (0, now_ms))
        at_ms = last_ms if c.count <= before else now_ms
        row = clean(source), reason, c.line, c.count, at_ms, c.kind.value, c.words
        rows.append((*row, before, last_ms, now_ms))
    db.connection().executemany(_ADD, rows)


def clear(source: str, *kinds: ProblemKind) -> ProblemHistory:
    """Remove the problems of a source, of some kinds or all; return what they were."""
    values = [kind.value for kind in kinds or ProblemKind]
    condition = (ProblemRow.source == clean(source)) & ProblemRow.kind.in_(values)
    rows = list(ProblemRow.select().where(condition))
    ProblemRow.delete().where(condition).execute()
    return {row.reason: (row.count, row.last_ms) for row in rows}


def subtract(source: str, reason: str, count: int = 1) -> None:
    condition = (ProblemRow.source == clean(source)) & (
        ProblemRow.reason == clean(reason)
    )
    ProblemRow.update(count=ProblemRow.count - count).where(condition).execute()
    ProblemRow.delete().where(condition, ProblemRow.count <= 0).execute()


def count_damaged() -> int:
    total = ProblemRow.select(fn.SUM(ProblemRow.count)).where(
        ProblemRow.kind == ProblemKind.DAMAGED.value
    )
    return int(total.scalar() or 0)


def get_damaged(source: str) -> dict[str, int]:
    rows = ProblemRow.select(ProblemRow.reason, ProblemRow.count).where(
        ProblemRow.source == clean(source),
        ProblemRow.kind == ProblemKind.DAMAGED.value,
    )
    return dict(rows.tuples())


def count_rows(kind: ProblemKind, *, besides: str) -> int:
    rows = ProblemRow.select().where(
        ProblemRow.kind == kind.value, ProblemRow.source != besides
    )
    return int(rows.count())


def list_latest(
    limit: int | None = None, *, kind: ProblemKind | None = None, besides: str = ""
) -> list[Problem]:
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
    """Return the reasons with their kind and number of records, most first."""
    rows = (
        ProblemRow.select(ProblemRow.reason, ProblemRow.kind, fn.SUM(ProblemRow.count))
        .group_by(ProblemRow.reason, ProblemRow.kind)
        .order_by(fn.SUM(ProblemRow.count).desc(), ProblemRow.reason)
        .tuples()
    )
    return [(reason, ProblemKind(kind), int(count)) for reason, kind, count in rows]


def list_unread_types() -> list[tuple[str, int, int]]:
    """Return the types of records that contain words but are not stored.

    Each with the number of records and of their words, most words first.
    """
    words = fn.SUM(ProblemRow.words)
    rows = (
        ProblemRow.select(ProblemRow.reason, fn.SUM(ProblemRow.count), words)
        .where(ProblemRow.kind == ProblemKind.SKIPPED.value, ProblemRow.words > 0)
        .group_by(ProblemRow.reason)
        .order_by(words.desc(), ProblemRow.reason)
        .tuples()
    )
    return list(rows)


def add_redactions(kinds: Mapping[str, int], now_ms: int) -> None:
    for kind, number in kinds.items():
        db.execute_sql(
            "INSERT INTO redactions (kind, count, last_ms) VALUES (?, ?, ?)"
            " ON CONFLICT (kind) DO UPDATE SET count = count + excluded.count,"
            " last_ms = excluded.last_ms",
            (kind, number, now_ms),
        )


def list_redactions() -> list[tuple[str, int]]:
    rows = RedactionRow.select(RedactionRow.kind, RedactionRow.count)
    return list(rows.order_by(RedactionRow.count.desc(), RedactionRow.kind).tuples())
