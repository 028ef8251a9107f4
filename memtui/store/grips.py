"""Grips: put once under an id that what they are gives them."""

import json
from collections.abc import Iterable, Sequence

from memtui.model.events import Event, from_ms, to_ms
from memtui.model.grips import Grip
from memtui.store import events, sessions
from memtui.store.database import db, insert
from memtui.store.schema import GripRow

_IN_LATEST = (
    "FROM nodes n JOIN bullets b ON b.version_id = n.latest_id"
    " JOIN bullet_grips l ON l.bullet_id = b.id"
    " JOIN grips g ON g.id = l.grip_id AND g.node_id = n.node_id"
)
"""The grips that the latest versions rest on, each with the node it was made for."""


def add(grips: Sequence[Grip]) -> None:
    """Keep grips; one that is known already stays as it is."""
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
    """Grips by their ids; the unknown ones are left out."""
    rows = GripRow.select().where(GripRow.id.in_(list(grip_ids)))
    return {row.id: _grip(row) for row in rows}


def get_excerpts(grip_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The nodes grips were made for, and their words; unknown ones are left out."""
    asked = (
        f"SELECT id, node_id, excerpt FROM {GripRow._meta.table_name}"
        " WHERE id IN (SELECT value FROM json_each(?))"
    )
    rows = db.execute_sql(asked, (json.dumps(grip_ids),)).fetchall()
    return {name: (node_id or "", said) for name, node_id, said in rows}


def list_of_node(node_id: str) -> list[Grip]:
    """The grips that were made for a node and that its latest version rests on."""
    asked = f"SELECT DISTINCT g.id {_IN_LATEST} WHERE n.node_id = ?"
    names = [name for (name,) in db.execute_sql(asked, (node_id,)).fetchall()]
    rows = GripRow.select().where(GripRow.id.in_(names)).order_by(GripRow.id)
    return [_grip(row) for row in rows]


def count() -> int:
    """How many grips the table of contents rests on."""
    asked = f"SELECT count(DISTINCT g.id) {_IN_LATEST}"
    return int(db.execute_sql(asked).fetchone()[0])


def get_events(grip_ids: Sequence[str]) -> list[Event]:
    """The events behind grips, each once, in their order in each session."""
    found = get(grip_ids).values()
    ends = events.get([n for g in found for n in (g.event_id_start, g.event_id_end)])
    told: dict[str, Event] = {}
    for grip in found:
        first, last = ends.get(grip.event_id_start), ends.get(grip.event_id_end)
        if first is not None and last is not None:
            told |= {event.event_id: event for event in _from_to(first, last)}
    return sorted(told.values(), key=lambda event: event.position)


def _from_to(first: Event, last: Event) -> list[Event]:
    if first.event_id == last.event_id:
        return [first]
    number = sessions.get_number(first.agent, first.session_id)
    assert number is not None
    within = events.between(
        number, first.timestamp_ms, last.timestamp_ms, subagent=first.subagent
    )
    return [
        event for event in within if first.position <= event.position <= last.position
    ]


def _grip(row: GripRow) -> Grip:
    return Grip(
        grip_id=row.id,
        excerpt=row.excerpt,
        event_id_start=row.start_event_id,
        event_id_end=row.end_event_id,
        timestamp=from_ms(row.at_ms),
        source=row.source,
        toc_node_id=row.node_id or None,
    )
