"""The roll-up queue: nodes to be rolled up, since something below them has changed.

It consists of the columns ``is_dirty``, ``attempts`` and ``retry_ms`` of the nodes.
"""

import json
from collections.abc import Iterable
from datetime import tzinfo

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.store.database import (
    IN_JSON,
    execute,
    existing_keys,
    fetch_column,
    fetch_value,
    insert,
    is_due,
    retry_later,
)
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
    execute(
        "UPDATE nodes SET is_dirty = 1, retry_ms = ?1"
        " WHERE (NOT is_dirty OR (attempts = 0 AND retry_ms > ?1))"
        f" AND node_id {IN_JSON.replace('?', '?2')}",
        start_ms,
        json.dumps(list(names)),
    )


def add_all() -> None:
    """Have all nodes above the segments rolled up."""
    execute(
        "UPDATE nodes SET is_dirty = 1, attempts = 0, retry_ms = 0"
        " WHERE level <> 'segment'"
    )


_IS_DELAYED = "attempts = 0 AND retry_ms > 0"


def start_delayed() -> None:
    """Have the nodes that were added with a later time rolled up now."""
    execute(f"UPDATE nodes SET retry_ms = 0 WHERE is_dirty AND {_IS_DELAYED}")


def list_due(
    level: TocLevel, now_ms: int, limit: int, *, after_ms: int | None = None
) -> list[str]:
    """Return nodes of a level to roll up now, oldest first."""
    return fetch_column(
        "SELECT node_id FROM nodes WHERE is_dirty = 1 AND level = ? AND start_ms > ?"
        f" AND {is_due('retry_ms', now_ms)} ORDER BY start_ms LIMIT ?",
        level,
        -(2**62) if after_ms is None else after_ms,
        limit,
    )


def count() -> int:
    """Count the nodes to be rolled up, without those for a later time."""
    sql = f"SELECT count(*) FROM nodes WHERE is_dirty = 1 AND NOT ({_IS_DELAYED})"
    return int(fetch_value(sql))


def count_failing(now_ms: int) -> int:
    is_later = "is_dirty = 1 AND attempts > 0 AND retry_ms > ?"
    return int(fetch_value(f"SELECT count(*) FROM nodes WHERE {is_later}", now_ms))


def set_done(node_id: str, *, is_live: bool) -> None:
    done = "is_dirty = 0, is_live = ?, attempts = 0, retry_ms = 0"
    execute(f"UPDATE nodes SET {done} WHERE node_id = ?", is_live, node_id)


def set_failed(node_id: str, now_ms: int) -> None:
    later = retry_later("attempts", "retry_ms", now_ms)
    execute(f"UPDATE nodes SET {later} WHERE node_id = ?", node_id)
