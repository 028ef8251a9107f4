"""Grips: each is stored once, under an id that follows from its content."""

from collections.abc import Iterable, Sequence

from memtui.model.events import from_ms, to_ms
from memtui.model.grips import Grip
from memtui.store.database import fetch, fetch_value, insert
from memtui.store.schema import GripRow

_SHOWN_GRIPS = (
    "FROM nodes n JOIN bullets b ON b.version_id = n.latest_id"
    " JOIN bullet_grips l ON l.bullet_id = b.id"
    " JOIN grips g ON g.id = l.grip_id AND g.node_id = n.node_id"
)
"""The grips of the versions shown, each with the node it was made for."""


def add(grips: Sequence[Grip]) -> None:
    """Add grips; existing ones are unchanged."""
    rows = [
        (
            grip.grip_id,
            grip.excerpt,
            grip.event_id_start,
            grip.event_id_end,
            to_ms(grip.timestamp),
            grip.source,
            grip.toc_node_id or "",
        )
        for grip in grips
    ]
    insert(GripRow, rows, conflict="nothing")


def get(grip_ids: Iterable[str]) -> dict[str, Grip]:
    """Return grips by their ids; skip unknown ones."""
    rows = GripRow.select().where(GripRow.id.in_(list(grip_ids)))
    return {row.id: _to_grip(row) for row in rows}


def list_of_node(node_id: str) -> list[Grip]:
    """Return the grips made for a node that its shown version uses."""
    sql = f"SELECT DISTINCT g.id {_SHOWN_GRIPS} WHERE n.node_id = ?"
    names = [name for (name,) in fetch(sql, node_id)]
    rows = GripRow.select().where(GripRow.id.in_(names)).order_by(GripRow.id)
    return [_to_grip(row) for row in rows]


def count() -> int:
    """Count the grips that shown versions use."""
    return int(fetch_value(f"SELECT count(DISTINCT g.id) {_SHOWN_GRIPS}"))


def _to_grip(row: GripRow) -> Grip:
    return Grip(
        grip_id=row.id,
        excerpt=row.excerpt,
        event_id_start=row.start_event_id,
        event_id_end=row.end_event_id,
        timestamp=from_ms(row.at_ms),
        source=row.source,
        toc_node_id=row.node_id or None,
    )
