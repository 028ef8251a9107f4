"""All that the user's agents wrote, with source copies: for export and redaction."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import peewee

from memtui.model.events import Event, Provenance, SourceCopy, Thought, from_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import events, problems, sessions, source_copies
from memtui.store.database import IN_JSON, db, fetch
from memtui.store.problems import ProblemCount, ProblemKind
from memtui.store.schema import (
    CursorRow,
    ProblemRow,
    SessionRow,
    SubagentRow,
    ThoughtRow,
    unlocked_events,
)

Redact = Callable[[str], str]

PAGE_ROWS = 500

_EVENTS = (
    f"SELECT {events.COLUMNS}, e.route, e.source_hash"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)


def read_all() -> Iterator[SessionMetadata | Event | SubagentMetadata | Thought]:
    """Yield everything as it is at one moment, even if another process writes."""
    with db.atomic():
        for row in sessions.list_rows():
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
        thoughts = db.execute_sql(f"{events.SELECT_THOUGHTS} ORDER BY t.id")
        yield from map(events.to_thought, thoughts)


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
    """Return the events that can be read, with what is known of their origin."""
    read = {event.event_id: event for event in events.read_rows(r[:-2] for r in rows)}
    found: dict[str, list[SourceCopy]] = {}
    for event_id, copy_id, route, name in fetch(
        "SELECT c.event_id, c.copy_id, c.route, s.name FROM source_copies c"
        " LEFT JOIN sessions s ON s.id = c.session_id"
        f" WHERE c.event_id {IN_JSON} ORDER BY c.copy_id",
        json.dumps(list(read)),
    ):
        found.setdefault(event_id, []).append(SourceCopy(copy_id, route, name or ""))
    return [
        replace(
            read[event_id],
            provenance=Provenance(
                route if isinstance(route, str) else "",
                source_hash if isinstance(source_hash, bytes) else None,
                tuple(found.get(event_id, ())),
            ),
        )
        for event_id, *_, route, source_hash in rows
        if event_id in read
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
    source_copies.update_owners()


# Redaction of all other text

SESSION_FIELDS = (
    SessionRow.title,
    SessionRow.summary,
    SessionRow.branch,
    SessionRow.cwd,
    SessionRow.root,
    SessionRow.project,
    SessionRow.model,
    SessionRow.created_by,
)

SUBAGENT_FIELDS = (SubagentRow.task, SubagentRow.kind, SubagentRow.tool_use_id)


def list_thoughts_after(thought_id: str, limit: int) -> list[tuple[str, str]]:
    rows = ThoughtRow.select(ThoughtRow.id, ThoughtRow.text)
    later = rows.where(ThoughtRow.id > thought_id).order_by(ThoughtRow.id)
    return list(later.limit(limit).tuples())


def update_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    for thought_id, text in changed:
        ThoughtRow.update(text=text).where(ThoughtRow.id == thought_id).execute()


def redact_rows(fields: Sequence[peewee.Field], redact: Redact) -> int:
    """Redact some fields of all rows of their table; return how many rows changed."""
    table, changed = fields[0].model, 0
    for row in list(table.select()):
        before = {field: getattr(row, field.name) for field in fields}
        changes = {f: new for f, old in before.items() if (new := redact(old)) != old}
        if changes:
            table.update(changes).where(row._pk_expr()).execute()
            changed += 1
    return changed


def list_names() -> Iterator[tuple[str, str]]:
    """Yield the names that stay as they are, each with its kind.

    Stored content is found by them when its source is read again.
    """
    for kind, column in (
        ("agent", SessionRow.agent),
        ("session", SessionRow.name),
        ("file", CursorRow.path),
        ("file", ProblemRow.source),
    ):
        for (name,) in column.model.select(column).distinct().tuples():
            yield kind, name


def redact_cursors(redact: Callable[[object], object]) -> int:
    """Redact the saved state of file readers; return how many changed."""
    changed = 0
    for path, stored in CursorRow.select(CursorRow.path, CursorRow.state).tuples():
        state = json.dumps(redact(json.loads(stored)))
        if state != stored:
            CursorRow.update(state=state).where(CursorRow.path == path).execute()
            changed += 1
    return changed


def redact_problems(redact: Redact) -> int:
    """Redact the reasons why records were skipped; return how many changed."""
    changed = 0
    for row in list(ProblemRow.select()):
        if (reason := redact(row.reason)) != row.reason:
            ProblemRow.delete().where(
                ProblemRow.source == row.source, ProblemRow.reason == row.reason
            ).execute()
            kind = ProblemKind(row.kind)
            count = ProblemCount(reason, kind, row.line, row.count, row.words)
            problems.add(row.source, [count], row.last_ms)
            changed += 1
    return changed
