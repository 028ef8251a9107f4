"""All that was ever told, one thing after the other: for a copy in plain words.

Sessions come with their events in the order of time, then subagents, then thoughts;
what is made from them (segments, summaries, the index) can be made again.
"""

from collections.abc import Iterator
from typing import Any

from memtui.memory.events import Event, from_ms
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought
from memtui.store import retelling
from memtui.store.database import db

AT_ONCE = 500
"""How many rows are fetched together."""

_SESSIONS = (
    "SELECT id, agent, name, cwd, project, branch, title, model, place_ms, root,"
    " created_by, forked_from, summary FROM sessions ORDER BY created_ms, agent, name"
)
_EVENTS = f"{retelling.WHOLE} WHERE e.session_id = ? ORDER BY e.at_ms, e.ordinal, e.id"
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
            yield _facts(*about)
            for page in _pages(_EVENTS, number):
                yield from retelling.whole(page)
        for page in _pages(_HELPERS):
            for row in page:
                yield Helper(*row)
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
    summary: str,
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
        summary=summary,
    )


def _pages(asked: str, *values: object) -> Iterator[list[Any]]:
    rows = db.execute_sql(asked, values)
    while page := rows.fetchmany(AT_ONCE):
        yield page
