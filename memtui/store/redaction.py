"""Redaction of what is stored: events are replaced, all other texts are changed.

Which texts are secrets is decided in ``memtui.redaction``.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import peewee

from memtui.model.events import Event
from memtui.store import events, sessions, source_copies, sources
from memtui.store.database import IN_JSON, execute, fetch, fetch_column
from memtui.store.schema import (
    CursorRow,
    ProblemRow,
    SessionRow,
    SubagentRow,
    unlocked_events,
)
from memtui.store.sources import ProblemCount, ProblemKind

Redact = Callable[[str], str]


def replace_events(changed: Sequence[Event]) -> None:
    """Replace events by versions with changed text, inside one transaction.

    They are added again, since another event may have the same content now.
    """
    ids = json.dumps([event.event_id for event in changed])
    sql = f"SELECT DISTINCT session_id FROM events WHERE id {IN_JSON}"
    numbers = set(fetch_column(sql, ids))
    with unlocked_events():
        execute(f"DELETE FROM source_copies WHERE event_id {IN_JSON}", ids)
        execute(f"DELETE FROM events WHERE id {IN_JSON}", ids)
    numbers |= events.add(changed, route="").sessions
    for number in numbers:
        sessions.recount(number)
    sessions.request_owner_update(numbers)
    source_copies.update_owners()


def read_thoughts_after(thought_id: str, limit: int) -> list[tuple[str, str]]:
    """Return ids and texts of the thoughts with higher ids than one."""
    sql = "SELECT id, text FROM thoughts WHERE id > ? ORDER BY id LIMIT ?"
    return [(name, text) for name, text in fetch(sql, thought_id, limit)]


def update_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    for thought_id, text in changed:
        execute("UPDATE thoughts SET text = ? WHERE id = ?", text, thought_id)


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


def redact_sessions(redact: Redact) -> list[int]:
    """Redact what is known of sessions; return the numbers of those that changed."""
    return [row.id for row in _redact_rows(SESSION_FIELDS, redact)]


def redact_subagents(redact: Redact) -> int:
    """Redact what is known of subagents; return how many changed."""
    return len(_redact_rows(SUBAGENT_FIELDS, redact))


def _redact_rows(fields: Sequence[peewee.Field], redact: Redact) -> list[Any]:
    """Redact some fields of all rows of their table; return the rows that changed."""
    table, changed = fields[0].model, []
    for row in list(table.select()):
        before = {field: getattr(row, field.name) for field in fields}
        changes = {f: new for f, old in before.items() if (new := redact(old)) != old}
        if changes:
            table.update(changes).where(row._pk_expr()).execute()
            changed.append(row)
    return changed


def list_kept_names() -> Iterator[tuple[str, str]]:
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
    for file, stored in CursorRow.select(CursorRow.path, CursorRow.state).tuples():
        state = json.dumps(redact(json.loads(stored)))
        if state != stored:
            CursorRow.update(state=state).where(CursorRow.path == file).execute()
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
            sources.add_problems(row.source, [count], row.last_ms)
            changed += 1
    return changed
