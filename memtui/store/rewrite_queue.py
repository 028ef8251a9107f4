"""Which nodes want a version by a model, and which of them can have one now.

A node wants one from when its summary was made at once until a model's was made, shown
or rejected. What a person asked for comes before all else; among equals what a model
has failed at comes last, so that no other waits for it.
"""

from typing import Any

from peewee import SQL, fn

from memtui.model.nodes import TocLevel
from memtui.store.database import db, is_due
from memtui.store.schema import NodeRow

_IS_ASKED = SQL("requested_ms > 0")
"""A constant, not a value: only so does SQLite look in the index of those asked for."""

_EASIEST_FIRST = (NodeRow.model_attempts, NodeRow.start_ms.desc())


def list_requested(now_ms: int, limit: int) -> list[str]:
    """Nodes a person asked for that can be tried now, whoever asked first first."""
    rows = NodeRow.select(NodeRow.node_id).where(
        _IS_ASKED, is_due(NodeRow.model_retry_ms, now_ms)
    )
    return _names(
        rows.order_by(NodeRow.model_attempts, NodeRow.requested_ms).limit(limit)
    )


def last_requested_ms() -> int:
    """When a person last asked for a node, in milliseconds; 0 if for none."""
    return int(
        NodeRow.select(fn.MAX(NodeRow.requested_ms)).where(_IS_ASKED).scalar() or 0
    )


def list_segments(now_ms: int, limit: int) -> list[str]:
    """Segments that can be tried now, the newest first."""
    rows = _waiting(TocLevel.SEGMENT).where(is_due(NodeRow.model_retry_ms, now_ms))
    return _names(rows.order_by(*_EASIEST_FIRST).limit(limit))


def list_parents(
    level: TocLevel, now_ms: int, limit: int, *, before_ms: int
) -> list[str]:
    """Nodes above segments with nothing under them that is to come, the newest first.

    Args:
        level: Their level.
        now_ms: The time, in milliseconds: some are tried again only later.
        limit: How many.
        before_ms: Leave out what begins at this time or later, in milliseconds.
    """
    rows = _waiting(level).where(
        NodeRow.start_ms < before_ms,
        ~NodeRow.is_dirty,
        ~NodeRow.is_live,
        is_due(NodeRow.model_retry_ms, now_ms),
        ~_is_waited_for(),
    )
    return _names(rows.order_by(*_EASIEST_FIRST).limit(limit))


def has_dirty(level: TocLevel, before_ms: int) -> bool:
    """Whether nodes of a level must be rolled up before a model sums them up.

    They may want no version by a model till then, and want one after it.
    """
    rows = NodeRow.select().where(
        NodeRow.level == level.value,
        NodeRow.start_ms < before_ms,
        NodeRow.is_dirty,
        NodeRow.attempts == 0,
    )
    return bool(rows.exists())


def has_untried(level: TocLevel) -> bool:
    """Whether nodes of a level want a version that no model has failed at."""
    return bool(_waiting(level).where(NodeRow.model_attempts == 0).exists())


def count(level: TocLevel) -> int:
    """How many nodes of a level want a version by a model."""
    return int(_waiting(level).count())


def remove(node_id: str) -> None:
    """Say that a node wants no version by a model any more."""
    NodeRow.update(
        needs_model=False, model_attempts=0, model_retry_ms=0, requested_ms=0
    ).where(NodeRow.node_id == node_id).execute()


def count_attempts(node_id: str) -> int:
    """How often a model has failed at a node since it last changed."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    return int(row.model_attempts) if row else 0


def set_failed(node_id: str, retry_ms: int) -> None:
    """Note that a model failed; it is tried again, but not before this time."""
    NodeRow.update(
        model_attempts=NodeRow.model_attempts + 1, model_retry_ms=retry_ms
    ).where(NodeRow.node_id == node_id).execute()


def add_outdated(maker: str) -> int:
    """Say that nodes want another version whose last by a model was made otherwise.

    Args:
        maker: What the names of summarisers begin with that make them by the prompts
            of today.

    Returns:
        How many nodes that are.
    """
    changed = db.execute_sql(
        "UPDATE nodes SET needs_model = 1, model_attempts = 0, model_retry_ms = 0"
        " WHERE NOT needs_model AND node_id IN (SELECT node_id FROM (SELECT node_id,"
        " summarizer, max(version) FROM node_versions WHERE is_by_model GROUP BY node_id)"
        " WHERE substr(summarizer, 1, ?) <> ?)",
        (len(maker), maker),
    )
    return int(changed.rowcount)


def _waiting(level: TocLevel) -> Any:
    return NodeRow.select(NodeRow.node_id).where(
        NodeRow.needs_model, NodeRow.level == level.value
    )


def _is_waited_for() -> Any:
    """Whether a child has not been tried: its parent waits for it, then."""
    child = NodeRow.alias()
    tried = child.select().where(
        child.parent_id == NodeRow.node_id,
        child.needs_model,
        child.model_attempts == 0,
    )
    return fn.EXISTS(tried)


def _names(rows: Any) -> list[str]:
    return [name for (name,) in rows.tuples()]
