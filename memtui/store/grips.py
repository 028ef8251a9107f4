"""Grips: each is stored once, under an id that follows from its content."""

import json
from collections.abc import Iterable, Sequence

from memtui.model.events import Event, from_ms, to_ms
from memtui.model.grips import Grip
from memtui.store import events, sessions
from memtui.store.database import db, insert
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


def get_excerpts(grip_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the node and the excerpt of grips by their ids; skip unknown ones."""
    sql = (
        "SELECT id, node_id, excerpt FROM grips"
        " WHERE id IN (SELECT value FROM json_each(?))"
    )
    rows = db.execute_sql(sql, (json.dumps(grip_ids),)).fetchall()
    return {grip_id: (node_id or "", excerpt) for grip_id, node_id, excerpt in rows}


def list_of_node(node_id: str) -> list[Grip]:
    """Return the grips made for a node that its shown version uses."""
    sql = f"SELECT DISTINCT g.id {_SHOWN_GRIPS} WHERE n.node_id = ?"
    names = [name for (name,) in db.execute_sql(sql, (node_id,)).fetchall()]
    rows = GripRow.select().where(GripRow.id.in_(names)).order_by(GripRow.id)
    return [_to_grip(row) for row in rows]


def count() -> int:
    """Count the grips that shown versions use."""
    sql = f"SELECT count(DISTINCT g.id) {_SHOWN_GRIPS}"
    return int(db.execute_sql(sql).fetchone()[0])


def get_events(grip_ids: Sequence[str]) -> list[Event]:
    """Return the events of grips, each once, in their order."""
    grips = get(grip_ids).values()
    ids = [name for grip in grips for name in (grip.event_id_start, grip.event_id_end)]
    ends = events.get(ids)
    found: dict[str, Event] = {}
    for grip in grips:
        first, last = ends.get(grip.event_id_start), ends.get(grip.event_id_end)
        if first is not None and last is not None:
            found |= {event.event_id: event for event in _read_range(first, last)}
    return sorted(found.values(), key=lambda event: event.position)


def _read_range(first: Event, last: Event) -> list[Event]:
    if first.event_id == last.event_id:
        return [first]
    number = sessions.get_number(first.agent, first.session_id)
    assert number is not None
    found = events.between(
        number, first.timestamp_ms, last.timestamp_ms, subagent=first.subagent
    )
    return [
        event for event in found if first.position <= event.position <= last.position
    ]


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
