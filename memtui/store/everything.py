"""All that was ever told, one thing after the other: for a copy in plain words.

Sessions come with their events in the order of time, then subagents, then thoughts;
what is made from them (segments, summaries, the index) can be made again.
"""

import json
from collections.abc import Iterator
from typing import Any

from memtui.memory.events import Event, EventRole, EventType, from_ms
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.tellings import Kept, Telling
from memtui.memory.thoughts import Thought
from memtui.store.database import db

AT_ONCE = 500
"""How many rows are fetched together."""

_SESSIONS = (
    "SELECT id, agent, name, cwd, project, branch, title, model, place_ms, root,"
    " created_by, forked_from FROM sessions ORDER BY created_ms, agent, name"
)
_EVENTS = (
    "SELECT id, at_ms, type, role, text, metadata, subagent, ordinal, tokens, counter,"
    " route, origin FROM events WHERE session_id = ? ORDER BY at_ms, ordinal, id"
)
_TELLINGS = (
    "SELECT t.event_id, t.told_id, t.route, s.name FROM tellings t"
    " LEFT JOIN sessions s ON s.id = t.session_id"
    " WHERE t.event_id IN (SELECT value FROM json_each(?)) ORDER BY t.told_id"
)
_HELPERS = (
    "SELECT agent, session_name, subagent, kind, started_by, task FROM helpers"
    " ORDER BY agent, session_name, subagent"
)
_THOUGHTS = (
    "SELECT t.id, s.agent, s.name, t.at_ms, t.text, t.subagent FROM thoughts t"
    " JOIN sessions s ON s.id = t.session_id ORDER BY t.id"
)


def told() -> Iterator[SessionFacts | Event | Helper | Thought]:
    """Everything as it is at one moment, whoever writes meanwhile."""
    with db.atomic():
        for number, *about in db.execute_sql(_SESSIONS).fetchall():
            facts = _facts(*about)
            yield facts
            yield from _events(number, facts.agent, facts.session_id)
        for row in _pages(_HELPERS):
            for helper in row:
                yield Helper(*helper)
        for page in _pages(_THOUGHTS):
            for name, agent, session_id, at_ms, text, subagent in page:
                at = from_ms(at_ms)
                yield Thought(name, agent, session_id, at, text, subagent)


def _facts(
    agent: str,
    name: str,
    cwd: str,
    project: str,
    branch: str,
    title: str,
    model: str,
    place_ms: int | None,
    root: str,
    created_by: str,
    forked_from: str,
) -> SessionFacts:
    return SessionFacts(
        agent=agent,
        session_id=name,
        cwd=cwd,
        project=project,
        branch=branch,
        title=title,
        model=model,
        at=None if place_ms is None else from_ms(place_ms),
        root=root,
        created_by=created_by,
        forked_from=forked_from,
    )


def _events(number: int, agent: str, session_id: str) -> Iterator[Event]:
    for page in _pages(_EVENTS, number):
        names = _tellings([row[0] for row in page])
        for name, at_ms, kind, role, text, metadata, *rest, route, origin in page:
            subagent, ordinal, tokens, counter = rest
            yield Event(
                event_id=name,
                session_id=session_id,
                timestamp=from_ms(at_ms),
                event_type=EventType(kind),
                role=EventRole(role),
                text=text,
                metadata=json.loads(metadata) if metadata else {},
                agent=agent,
                subagent=subagent,
                ordinal=ordinal,
                tokens=tokens,
                counter=counter,
                kept=Kept(
                    route,
                    bytes(origin) if origin is not None else None,
                    tuple(names.get(name, ())),
                ),
            )


def _tellings(event_ids: list[str]) -> dict[str, list[Telling]]:
    found: dict[str, list[Telling]] = {}
    for event_id, told_id, route, session_id in db.execute_sql(
        _TELLINGS, (json.dumps(event_ids),)
    ).fetchall():
        telling = Telling(told_id, route, session_id or "")
        found.setdefault(event_id, []).append(telling)
    return found


def _pages(asked: str, *values: object) -> Iterator[list[Any]]:
    rows = db.execute_sql(asked, values)
    while page := rows.fetchmany(AT_ONCE):
        yield page
