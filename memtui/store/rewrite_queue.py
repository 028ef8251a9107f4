"""The rewrite queue: nodes that need a version by a model.

A node needs one from its extractive version until a model's version was made, shown or
rejected. Requests by the user come first; nodes at which a model has failed come last,
so that no other node waits for them.
"""

from memtui.model.calendar import TocLevel
from memtui.store.database import (
    MIN_RETRY_MS,
    execute,
    fetch,
    fetch_column,
    fetch_value,
    is_due,
    retry_later,
)

_WAITING = "FROM nodes n WHERE needs_model = 1 AND level = ?"
_LEAST_TRIED_FIRST = "ORDER BY model_attempts, start_ms DESC LIMIT ?"

_HAS_UNTRIED_CHILD = (
    "EXISTS (SELECT 1 FROM nodes child WHERE child.needs_model = 1"
    " AND child.model_attempts = 0 AND CASE n.level"
    # toc:day:2024-01-15 is one of the days of toc:month:2024-01.
    " WHEN 'month' THEN child.node_id BETWEEN replace(n.node_id, 'month', 'day')"
    " AND replace(n.node_id, 'month', 'day') || '-99'"
    " ELSE child.parent_id = n.node_id END)"
)
"""The condition that a node waits for a part of it not written yet."""


def list_requested(now_ms: int, limit: int) -> list[str]:
    """Return requested nodes that can be written now, the first request first."""
    return fetch_column(
        "SELECT node_id FROM nodes WHERE requested_ms > 0"
        f" AND {is_due('model_retry_ms', now_ms)}"
        " ORDER BY model_attempts, requested_ms LIMIT ?",
        limit,
    )


def last_requested_ms() -> int:
    sql = "SELECT max(requested_ms) FROM nodes WHERE requested_ms > 0"
    return int(fetch_value(sql) or 0)


def list_segments(now_ms: int, limit: int) -> list[str]:
    """Return segments that can be written now, the newest first."""
    return fetch_column(
        f"SELECT node_id {_WAITING} AND {is_due('model_retry_ms', now_ms)}"
        f" {_LEAST_TRIED_FIRST}",
        TocLevel.SEGMENT,
        limit,
    )


def list_parents(
    level: TocLevel, now_ms: int, limit: int, *, before_ms: int
) -> list[str]:
    """Return nodes above segments with no pending work below them, the newest first."""
    return fetch_column(
        f"SELECT node_id {_WAITING} AND start_ms < ? AND NOT is_dirty AND NOT is_live"
        f" AND {is_due('model_retry_ms', now_ms)} AND NOT {_HAS_UNTRIED_CHILD}"
        f" {_LEAST_TRIED_FIRST}",
        level,
        before_ms,
        limit,
    )


def has_dirty(level: TocLevel, before_ms: int) -> bool:
    """Return whether nodes of a level must be rolled up before a model writes them.

    They may need a version by a model only after that.
    """
    condition = "is_dirty = 1 AND level = ? AND start_ms < ? AND attempts = 0"
    sql = f"SELECT 1 FROM nodes WHERE {condition} LIMIT 1"
    return bool(fetch(sql, level, before_ms))


def has_untried(level: TocLevel) -> bool:
    """Return whether nodes of a level wait at which no model has failed yet."""
    return bool(fetch(f"SELECT 1 {_WAITING} AND model_attempts = 0 LIMIT 1", level))


def count(level: TocLevel) -> int:
    return int(fetch_value(f"SELECT count(*) {_WAITING}", level))


def remove(node_id: str) -> None:
    execute(
        "UPDATE nodes SET needs_model = 0, model_attempts = 0, model_retry_ms = 0,"
        " requested_ms = 0 WHERE node_id = ?",
        node_id,
    )


def set_failed(node_id: str, now_ms: int) -> None:
    """Count a model's failure and have it tried again later, other nodes first."""
    later = retry_later("model_attempts", "model_retry_ms", now_ms, 2 * MIN_RETRY_MS)
    execute(f"UPDATE nodes SET {later} WHERE node_id = ?", node_id)


def add_outdated(summarizer_prefix: str) -> int:
    """Add the nodes whose last version by a model was made by other prompts.

    The names of summarizers with the current prompts begin with the prefix. Returns the
    number of nodes added.
    """
    return execute(
        "UPDATE nodes SET needs_model = 1, model_attempts = 0, model_retry_ms = 0"
        " WHERE NOT needs_model AND node_id IN"
        " (SELECT node_id FROM (SELECT node_id, summarizer, max(version)"
        " FROM node_versions WHERE is_by_model GROUP BY node_id)"
        " WHERE substr(summarizer, 1, ?) <> ?)",
        len(summarizer_prefix),
        summarizer_prefix,
    )
