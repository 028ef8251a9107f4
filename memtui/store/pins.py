"""What a person wants to see of a node: one of its versions, or whichever is newest.

Nothing is deleted: only the pointer to what is shown moves. The index and the node
above follow, by what is noted in the same transaction.
"""

from datetime import datetime, tzinfo

from memtui.memory import calendar
from memtui.memory.events import from_ms
from memtui.store import dirty, outbox
from memtui.store.tables.contents import NodeRow, VersionRow


def pin(node_id: str, version: int, zone: tzinfo, now_ms: int) -> bool:
    """Show a version of a node, whatever comes after it.

    Args:
        node_id: The node.
        version: The version, as the node counts them.
        zone: The store's time zone.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is such a version.
    """
    mine = VersionRow.node_id == node_id
    row = VersionRow.get_or_none(mine, VersionRow.version == version)
    if row is None:
        return False
    later = VersionRow.select().where(
        mine, VersionRow.version > version, ~VersionRow.is_models
    )
    return _point(
        node_id, row.id, zone, now_ms, is_pinned=True, is_behind=later.exists()
    )


def unpin(node_id: str, zone: tzinfo, now_ms: int) -> bool:
    """Show the newest version of a node that was not rejected, now and from now on.

    Args:
        node_id: The node.
        zone: The store's time zone.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is one.
    """
    rows = VersionRow.select(VersionRow.id).where(
        VersionRow.node_id == node_id, VersionRow.rejected == ""
    )
    newest = rows.order_by(VersionRow.version.desc()).first()
    if newest is None:
        return False
    return _point(node_id, newest.id, zone, now_ms, is_pinned=False, is_behind=False)


def ask(node_id: str, now_ms: int) -> bool:
    """Ask for a new version by a model; who asks twice keeps the first place.

    Args:
        node_id: The node.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is such a node.
    """
    changed = NodeRow.update(wants_model=True, model_attempts=0, model_retry_ms=0)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    asked = NodeRow.update(asked_ms=now_ms)
    asked.where(NodeRow.node_id == node_id, NodeRow.asked_ms == 0).execute()
    outbox.announce([node_id], now_ms)
    return True


def asked_at(node_id: str) -> datetime | None:
    """When a new version was asked for that is not made yet; None if none was."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    return from_ms(row.asked_ms) if row and row.asked_ms else None


def _point(
    node_id: str,
    row: int,
    zone: tzinfo,
    now_ms: int,
    *,
    is_pinned: bool,
    is_behind: bool,
) -> bool:
    """Point to a version, and have all that shows the node follow."""
    changed = NodeRow.update(latest=row, is_pinned=is_pinned, is_behind=is_behind)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    outbox.announce([node_id], now_ms)
    if above := calendar.parent_id(node_id):
        dirty.mark([above], zone)
    return True
