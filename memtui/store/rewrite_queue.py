"""The rewrite queue: nodes that need a version by a model.

A node needs one from its extractive version until a model's version was made, shown or
rejected. Requests by the user come first; nodes at which a model has failed come last,
so that no other node waits for them.
"""

from typing import Any

from peewee import SQL, fn

from memtui.model.calendar import TocLevel
from memtui.store.database import db, is_due, next_retry_ms
from memtui.store.schema import NodeRow

_IS_REQUESTED = SQL("requested_ms > 0")
"""A constant in the statement: with a parameter SQLite does not use the index."""

_EASIEST_FIRST = (NodeRow.model_attempts, NodeRow.start_ms.desc())


def list_requested(now_ms: int, limit: int) -> list[str]:
    rows = NodeRow.select(NodeRow.node_id).where(
        _IS_REQUESTED, is_due(NodeRow.model_retry_ms, now_ms)
    )
    first = rows.order_by(NodeRow.model_attempts, NodeRow.requested_ms)
    return _names(first.limit(limit))


def last_requested_ms() -> int:
    rows = NodeRow.select(fn.MAX(NodeRow.requested_ms)).where(_IS_REQUESTED)
    return int(rows.scalar() or 0)


def list_segments(now_ms: int, limit: int) -> list[str]:
    """Return segments that can be written now, the newest first."""
    rows = _select(TocLevel.SEGMENT).where(is_due(NodeRow.model_retry_ms, now_ms))
    return _names(rows.order_by(*_EASIEST_FIRST).limit(limit))


def list_parents(
    level: TocLevel, now_ms: int, limit: int, *, before_ms: int
) -> list[str]:
    """Return nodes above segments with no pending work below them, the newest first."""
    rows = _select(level).where(
        NodeRow.start_ms < before_ms,
        ~NodeRow.is_dirty,
        ~NodeRow.is_live,
        is_due(NodeRow.model_retry_ms, now_ms),
        ~_has_untried_child(),
    )
    return _names(rows.order_by(*_EASIEST_FIRST).limit(limit))


def has_dirty(level: TocLevel, before_ms: int) -> bool:
    """Return whether nodes of a level must be rolled up before a model writes them.

    They may need a version by a model only after that.
    """
    rows = NodeRow.select().where(
        NodeRow.level == level.value,
        NodeRow.start_ms < before_ms,
        NodeRow.is_dirty,
        NodeRow.attempts == 0,
    )
    return bool(rows.exists())


def has_untried(level: TocLevel) -> bool:
    """Return whether nodes of a level wait at which no model has failed yet."""
    return bool(_select(level).where(NodeRow.model_attempts == 0).exists())


def count(level: TocLevel) -> int:
    return int(_select(level).count())


def remove(node_id: str) -> None:
    NodeRow.update(
        needs_model=False, model_attempts=0, model_retry_ms=0, requested_ms=0
    ).where(NodeRow.node_id == node_id).execute()


def set_failed(node_id: str, now_ms: int) -> None:
    """Count a model's failure and have it tried again later, other nodes first."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    if row is not None:
        row.model_retry_ms = next_retry_ms(row.model_attempts + 1, now_ms)
        row.model_attempts += 1
        row.save(only=[NodeRow.model_attempts, NodeRow.model_retry_ms])


def add_outdated(summarizer_prefix: str) -> int:
    """Add the nodes whose last version by a model was made by other prompts.

    The names of summarizers with the current prompts begin with the prefix. Returns the
    number of nodes added.
    """
    changed = db.execute_sql(
        "UPDATE nodes SET needs_model = 1, model_attempts = 0, model_retry_ms = 0"
        " WHERE NOT needs_model AND node_id IN"
        " (SELECT node_id FROM (SELECT node_id, summarizer, max(version)"
        " FROM node_versions WHERE is_by_model GROUP BY node_id)"
        " WHERE substr(summarizer, 1, ?) <> ?)",
        (len(summarizer_prefix), summarizer_prefix),
    )
    return int(changed.rowcount)


def _select(level: TocLevel) -> Any:
    return NodeRow.select(NodeRow.node_id).where(
        NodeRow.needs_model, NodeRow.level == level.value
    )


def _has_untried_child() -> Any:
    """Return the condition that a node waits for a part of it not written yet."""
    child = NodeRow.alias()
    is_month = NodeRow.level == TocLevel.MONTH.value
    # toc:day:2024-01-15 is one of the days of toc:month:2024-01.
    first_day = fn.REPLACE(NodeRow.node_id, "month", "day")
    is_day_of_month = child.node_id.between(first_day, first_day.concat("-99"))
    untried = child.select().where(
        (~is_month & (child.parent_id == NodeRow.node_id))
        | (is_month & is_day_of_month),
        child.needs_model,
        child.model_attempts == 0,
    )
    return fn.EXISTS(untried)


def _names(rows: Any) -> list[str]:
    return [name for (name,) in rows.tuples()]
