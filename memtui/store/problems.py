"""Records that were not stored, by source and reason; and removed secrets, by kind."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.model.events import clean, from_ms
from memtui.store.database import IN_JSON, db, execute, fetch, fetch_value

HOOKS = "hooks"
"""The source of what hooks send; other sources have the name of a file or format."""


class ProblemKind(StrEnum):
    """Why records were not stored."""

    DAMAGED = "damaged"
    SKIPPED = "skipped"
    """They are of a type that is not stored."""
    INCOMPLETE = "incomplete"


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
    """Count more records of a source that were not stored.

    With a history, of a source that is read again, as many records are the same as
    before and keep their time.
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
    rows = fetch(
        f"DELETE FROM problems WHERE source = ? AND kind {IN_JSON}"
        " RETURNING reason, count, last_ms",
        clean(source),
        json.dumps(kinds or list(ProblemKind)),
    )
    return {reason: (count, last_ms) for reason, count, last_ms in rows}


def subtract(source: str, reason: str, count: int = 1) -> None:
    key = clean(source), clean(reason)
    condition = "WHERE source = ? AND reason = ?"
    execute(f"UPDATE problems SET count = count - ? {condition}", count, *key)
    execute(f"DELETE FROM problems {condition} AND count <= 0", *key)


def count_damaged() -> int:
    sql = "SELECT sum(count) FROM problems WHERE kind = 'damaged'"
    return int(fetch_value(sql) or 0)


def get_damaged(source: str) -> dict[str, int]:
    sql = "SELECT reason, count FROM problems WHERE source = ? AND kind = 'damaged'"
    return dict(fetch(sql, clean(source)))


def count_damaged_rows(*, besides: str) -> int:
    sql = "SELECT count(*) FROM problems WHERE kind = 'damaged' AND source <> ?"
    return int(fetch_value(sql, besides))


def list_damaged(limit: int | None = None, *, besides: str = "") -> list[Problem]:
    """Return damaged records, the latest first, without those of one source."""
    rows = fetch(
        "SELECT source, reason, kind, line, count, last_ms FROM problems"
        " WHERE kind = 'damaged' AND source <> ?"
        " ORDER BY last_ms DESC, source, reason LIMIT ?",
        besides,
        -1 if limit is None else limit,
    )
    return [
        Problem(source, reason, ProblemKind(kind), line, count, from_ms(last_ms))
        for source, reason, kind, line, count, last_ms in rows
    ]


def count_by_reason() -> list[tuple[str, ProblemKind, int]]:
    """Return the reasons with their kind and number of records, most first."""
    rows = fetch(
        "SELECT reason, kind, sum(count) FROM problems GROUP BY reason, kind"
        " ORDER BY 3 DESC, reason"
    )
    return [(reason, ProblemKind(kind), count) for reason, kind, count in rows]


def list_unread_types() -> list[tuple[str, int, int]]:
    """Return the types of records that contain words but are not stored.

    Each with the number of records and of their words, most words first.
    """
    rows = fetch(
        "SELECT reason, sum(count), sum(words) FROM problems"
        " WHERE kind <> 'damaged' AND words > 0 GROUP BY reason ORDER BY 3 DESC, reason"
    )
    return [(reason, count, words) for reason, count, words in rows]


def add_redactions(kinds: Mapping[str, int], now_ms: int) -> None:
    for kind, number in kinds.items():
        execute(
            "INSERT INTO redactions (kind, count, last_ms) VALUES (?, ?, ?)"
            " ON CONFLICT (kind) DO UPDATE SET count = count + excluded.count,"
            " last_ms = excluded.last_ms",
            kind,
            number,
            now_ms,
        )


def list_redactions() -> list[tuple[str, int]]:
    rows = fetch("SELECT kind, count FROM redactions ORDER BY count DESC, kind")
    return [(kind, count) for kind, count in rows]
