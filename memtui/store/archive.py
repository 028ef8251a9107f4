"""All that the user's agents wrote, with source copies: for export and redaction."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from memtui.model.events import (
    Event,
    Provenance,
    SourceCopy,
    Thought,
    from_ms,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import copies, events, sessions
from memtui.store.database import IN_JSON, db, fetch
from memtui.store.schema import SessionRow, unlocked_events

PAGE_ROWS = 500
"""The number of rows fetched together."""

_EVENTS = (
    f"SELECT {events.COLUMNS}, e.route, e.source_hash"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)


def read_all() -> Iterator[SessionMetadata | Event | SubagentMetadata | Thought]:
    """Yield everything as it is at one moment, even if another process writes."""
    with db.atomic():
        order = SessionRow.created_ms, SessionRow.agent, SessionRow.name
        for row in list(SessionRow.select().order_by(*order)):
            yield SessionMetadata(
                agent=row.agent,
                session_id=row.name,
                cwd=row.cwd,
                project=row.project,
                branch=row.branch,
                title=row.title,
                model=row.model,
                at=None if row.project_ms is None else from_ms(row.project_ms),
                root=row.root,
                created_by=row.created_by,
                forked_from=row.forked_from,
                summary=row.summary,
            )
            own = f"{_EVENTS} WHERE e.session_id = ? ORDER BY e.at_ms, e.ordinal, e.id"
            events_of = db.execute_sql(own, (row.id,))
            while page := events_of.fetchmany(PAGE_ROWS):
                yield from _to_events(page)
        for columns in db.execute_sql(
            "SELECT agent, session_name, subagent, kind, tool_use_id, task"
            " FROM subagents ORDER BY agent, session_name, subagent"
        ):
            yield SubagentMetadata(*columns)
        for name, agent, session_id, at_ms, text, subagent in db.execute_sql(
            "SELECT t.id, s.agent, s.name, t.at_ms, t.text, t.subagent FROM thoughts t"
            " JOIN sessions s ON s.id = t.session_id ORDER BY t.id"
        ):
            yield Thought(name, agent, session_id, from_ms(at_ms), text, subagent)


def read_events_after(event_id: str, limit: int) -> list[Event]:
    """Return events with higher ids than one, in their order; empty at the end."""
    while rows := fetch(
        f"{_EVENTS} WHERE e.id > ? ORDER BY e.id LIMIT ?", event_id, limit
    ):
        if found := _to_events(rows):
            return found
        event_id = rows[-1][0]
    return []


def _to_events(rows: Sequence[Any]) -> list[Event]:
    """Convert rows of ``_EVENTS`` into events with all their source copies."""
    found: dict[str, list[SourceCopy]] = {}
    for event_id, copy_id, route, name in fetch(
        "SELECT c.event_id, c.copy_id, c.route, s.name FROM source_copies c"
        " LEFT JOIN sessions s ON s.id = c.session_id"
        f" WHERE c.event_id {IN_JSON} ORDER BY c.copy_id",
        json.dumps([row[0] for row in rows]),
    ):
        found.setdefault(event_id, []).append(SourceCopy(copy_id, route, name or ""))
    stored = {
        event_id: Provenance(route, source_hash, tuple(found.get(event_id, ())))
        for event_id, *_, route, source_hash in rows
    }
    return [
        replace(event, provenance=stored[event.event_id])
        for event in events.read_rows(row[:-2] for row in rows)
    ]


def replace_events(changed: Sequence[Event]) -> None:
    """Replace events by versions with changed text, inside one transaction.

    They are added again, since another event may have the same content now.
    """
    ids = (json.dumps([event.event_id for event in changed]),)
    sql = f"SELECT DISTINCT session_id FROM events WHERE id {IN_JSON}"
    numbers = {number for (number,) in db.execute_sql(sql, ids).fetchall()}
    with unlocked_events():
        db.execute_sql(f"DELETE FROM source_copies WHERE event_id {IN_JSON}", ids)
        db.execute_sql(f"DELETE FROM events WHERE id {IN_JSON}", ids)
    numbers |= events.add(changed, route="").sessions
    for number in numbers:
        sessions.recount(number)
    sessions.request_owner_update(numbers)
    copies.update_owners()
