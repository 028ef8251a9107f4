"""The roll-up queue: nodes to be rolled up, since something below them has changed.

It consists of the columns ``is_dirty``, ``attempts`` and ``retry_ms`` of the nodes.
"""

from collections.abc import Iterable
from datetime import tzinfo
from typing import Any

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.store.database import existing_keys, insert, is_due, next_retry_ms
from memtui.store.schema import NodeRow


def add(node_ids: Iterable[str], zone: tzinfo, *, start_ms: int = 0) -> None:
    """Have nodes rolled up, and create those that are missing.

    With a day its week, month and year are created. A node that is due earlier than
    ``start_ms`` stays so.
    """
    names = set(node_ids)
    days = [name for name in names if calendar.period(name).level is TocLevel.DAY]
    paths = names.union(*map(calendar.path, days))
    insert(
        NodeRow,
        [
            {
                "node_id": name,
                "level": calendar.period(name).level.value,
                "parent_id": calendar.parent_id(name),
                "start_ms": to_ms(calendar.bounds(name, zone)[0]),
                "is_dirty": True,
            }
            for name in sorted(paths - existing_keys(NodeRow, paths))
        ],
    )
    is_sooner = (NodeRow.attempts == 0) & (NodeRow.retry_ms > start_ms)
    NodeRow.update(is_dirty=True, retry_ms=start_ms).where(
        NodeRow.node_id.in_(list(names)), ~NodeRow.is_dirty | is_sooner
    ).execute()


def add_all() -> None:
    is_above = NodeRow.level != TocLevel.SEGMENT.value
    NodeRow.update(is_dirty=True, attempts=0, retry_ms=0).where(is_above).execute()


def start_delayed() -> None:
    """Have the nodes that were added with a later time rolled up now."""
    NodeRow.update(retry_ms=0).where(NodeRow.is_dirty, _is_delayed()).execute()


def _is_delayed() -> Any:
    return (NodeRow.attempts == 0) & (NodeRow.retry_ms > 0)


def list_due(
    level: TocLevel, now_ms: int, limit: int, *, after_ms: int | None = None
) -> list[str]:
    """Return nodes of a level to roll up now, oldest first."""
    is_after = NodeRow.start_ms > (-(2**62) if after_ms is None else after_ms)
    rows = (
        NodeRow.select(NodeRow.node_id)
        .where(
            NodeRow.is_dirty,
            NodeRow.level == level.value,
            is_due(NodeRow.retry_ms, now_ms),
            is_after,
        )
        .order_by(NodeRow.start_ms)
        .limit(limit)
        .tuples()
    )
    return [row[0] for row in rows]


def count() -> int:
    """Count the nodes to be rolled up, without those for a later time."""
    return int(NodeRow.select().where(NodeRow.is_dirty, ~_is_delayed()).count())


def count_failing(now_ms: int) -> int:
    is_later = (NodeRow.attempts > 0) & (NodeRow.retry_ms > now_ms)
    return int(NodeRow.select().where(NodeRow.is_dirty, is_later).count())


def set_done(node_id: str, *, is_live: bool) -> None:
    NodeRow.update(is_dirty=False, is_live=is_live, attempts=0, retry_ms=0).where(
        NodeRow.node_id == node_id
    ).execute()


def set_failed(node_id: str, now_ms: int) -> None:
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    if row is not None:
        row.retry_ms = next_retry_ms(row.attempts, now_ms)
        row.attempts += 1
        row.save(only=[NodeRow.attempts, NodeRow.retry_ms])
