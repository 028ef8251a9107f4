"""Which nodes are dirty: to be rolled up because something under them has changed."""

from collections.abc import Iterable
from datetime import tzinfo
from typing import Any

from memtui.model import calendar
from memtui.model.events import to_ms
from memtui.model.nodes import TocLevel
from memtui.store.database import existing_keys, insert, is_due
from memtui.store.schema import NodeRow


def add(node_ids: Iterable[str], zone: tzinfo, *, from_ms: int = 0) -> None:
    """Say that nodes must be rolled up again, and that all above them exist.

    Args:
        node_ids: Days, weeks, months or years.
        zone: The store's time zone, by which a node's bounds are known.
        from_ms: From when on; one that is to be rolled up sooner stays so.
    """
    names = set(node_ids)
    wanted = {above for name in names for above in calendar.path(name)}
    missing = sorted(wanted - existing_keys(NodeRow, wanted))
    insert(
        NodeRow,
        [
            (
                name,
                calendar.period(name).level.value,
                calendar.parent_id(name),
                to_ms(calendar.bounds(name, zone)[0]),
                None,
                True,
                False,
                0,
                0,
                False,
                False,
                False,
                0,
                0,
                0,
            )
            for name in missing
        ],
    )
    sooner = (NodeRow.attempts == 0) & (NodeRow.retry_ms > from_ms)
    NodeRow.update(is_dirty=True, retry_ms=from_ms).where(
        NodeRow.node_id.in_(list(names)), ~NodeRow.is_dirty | sooner
    ).execute()


def start_delayed() -> None:
    """Say that what was to be rolled up later is to be rolled up now."""
    NodeRow.update(retry_ms=0).where(NodeRow.is_dirty, _is_put_off()).execute()


def _is_put_off() -> Any:
    return (NodeRow.attempts == 0) & (NodeRow.retry_ms > 0)


def list_due(
    level: TocLevel, now_ms: int, limit: int, *, after_ms: int | None = None
) -> list[str]:
    """Nodes of a level to roll up, oldest first.

    Args:
        level: The level.
        now_ms: The time, in milliseconds: some are tried again only later.
        limit: How many.
        after_ms: Leave out what begins at this time or before, in milliseconds.
    """
    later = NodeRow.start_ms > (-(2**62) if after_ms is None else after_ms)
    rows = (
        NodeRow.select(NodeRow.node_id)
        .where(
            NodeRow.is_dirty,
            NodeRow.level == level.value,
            is_due(NodeRow.retry_ms, now_ms),
            later,
        )
        .order_by(NodeRow.start_ms)
        .limit(limit)
        .tuples()
    )
    return [row[0] for row in rows]


def count() -> int:
    """How many nodes are to be rolled up as soon as it can be."""
    return int(NodeRow.select().where(NodeRow.is_dirty, ~_is_put_off()).count())


def count_failing(now_ms: int) -> int:
    """How many nodes could not be rolled up, and wait for another try."""
    is_later = (NodeRow.attempts > 0) & (NodeRow.retry_ms > now_ms)
    rows = NodeRow.select().where(NodeRow.is_dirty, is_later)
    return int(rows.count())


def set_done(node_id: str, *, is_live: bool) -> None:
    """Say that a node needs no new version."""
    NodeRow.update(is_dirty=False, is_live=is_live, attempts=0, retry_ms=0).where(
        NodeRow.node_id == node_id
    ).execute()


def set_failed(node_id: str, retry_ms: int) -> None:
    """Note that a roll-up failed; it is tried again, but not before this time."""
    NodeRow.update(attempts=NodeRow.attempts + 1, retry_ms=retry_ms).where(
        NodeRow.node_id == node_id
    ).execute()


def count_attempts(node_id: str) -> int:
    """How often a node's roll-up has failed since it last succeeded."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    return int(row.attempts) if row else 0
