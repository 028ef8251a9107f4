"""Changing the words of what is kept: for secrets that are taken out of it later."""

import json
from collections.abc import Callable, Iterable

import peewee

from memtui.model.events import Event
from memtui.store import dedup, problems
from memtui.store.database import db
from memtui.store.problems import Count, Kind
from memtui.store.schema import (
    CursorRow,
    ProblemRow,
    SessionRow,
    SubagentRow,
    ThoughtRow,
)

Clean = Callable[[str], str]
"""Takes the secrets out of a text."""


def events_after(event_id: str, limit: int) -> list[Event]:
    """Whole events with later ids than one, in the order of their ids."""
    asked = f"{dedup.WHOLE} WHERE e.id > ? ORDER BY e.id LIMIT ?"
    return dedup.whole(db.execute_sql(asked, (event_id, limit)).fetchall())


def thoughts_after(thought_id: str, limit: int) -> list[tuple[str, str]]:
    """Thoughts with later ids than one, as (id, text)."""
    rows = ThoughtRow.select(ThoughtRow.id, ThoughtRow.text)
    later = rows.where(ThoughtRow.id > thought_id).order_by(ThoughtRow.id)
    return list(later.limit(limit).tuples())


def put_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    """Put what thoughts say now in the place of what they said."""
    for thought_id, text in changed:
        ThoughtRow.update(text=text).where(ThoughtRow.id == thought_id).execute()


_OF_SESSIONS = (
    SessionRow.title,
    SessionRow.summary,
    SessionRow.branch,
    SessionRow.cwd,
    SessionRow.root,
    SessionRow.project,
    SessionRow.model,
    SessionRow.created_by,
)


_OF_HELPERS = (SubagentRow.task, SubagentRow.kind, SubagentRow.tool_use_id)


def clean_sessions(clean: Clean) -> int:
    """Clean the titles of sessions and what else is told of them; how many changed."""
    changed = 0
    for row in list(SessionRow.select()):
        if told := _cleaned(row, _OF_SESSIONS, clean):
            SessionRow.update(told).where(SessionRow.id == row.id).execute()
            changed += 1
    return changed


def clean_helpers(clean: Clean) -> int:
    """Clean the tasks of subagents and what else is told of them; how many changed."""
    changed = 0
    for row in list(SubagentRow.select()):
        if told := _cleaned(row, _OF_HELPERS, clean):
            SubagentRow.update(told).where(
                SubagentRow.agent == row.agent,
                SubagentRow.session_name == row.session_name,
                SubagentRow.subagent == row.subagent,
            ).execute()
            changed += 1
    return changed


def _cleaned(
    row: peewee.Model, fields: Iterable[peewee.Field], clean: Clean
) -> dict[peewee.Field, str]:
    """What a row says after cleaning where that is something else."""
    told = {field: getattr(row, field.name) for field in fields}
    return {field: new for field, old in told.items() if (new := clean(old)) != old}


def clean_cursors(clean: Callable[[object], object]) -> int:
    """Clean what readers remember of the files they read; how many changed."""
    changed = 0
    for path, stored in CursorRow.select(CursorRow.path, CursorRow.state).tuples():
        state = json.dumps(clean(json.loads(stored)))
        if state != stored:
            CursorRow.update(state=state).where(CursorRow.path == path).execute()
            changed += 1
    return changed


def clean_reasons(clean: Clean) -> int:
    """Clean the reasons for which records were not taken; how many changed."""
    changed = 0
    for row in list(ProblemRow.select()):
        if (cleaned := clean(row.reason)) != row.reason:
            ProblemRow.delete().where(
                ProblemRow.source == row.source, ProblemRow.reason == row.reason
            ).execute()
            count = Count(cleaned, Kind(row.kind), row.line, row.count)
            problems.count_up(row.source, [count], row.last_ms)
            changed += 1
    return changed
