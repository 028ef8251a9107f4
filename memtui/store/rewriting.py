"""Changing the words of what is kept: for secrets that are taken out of it later."""

import json
from collections.abc import Callable, Iterable

from memtui.memory.events import Event
from memtui.store import problems, retelling
from memtui.store.database import db
from memtui.store.problems import Count, Kind
from memtui.store.tables import (
    CursorRow,
    HelperRow,
    ProblemRow,
    SessionRow,
    ThoughtRow,
)

Clean = Callable[[str], str]
"""Takes the secrets out of a text."""


def events_after(event_id: str, limit: int) -> list[Event]:
    """Whole events with later ids than one, in the order of their ids."""
    asked = f"{retelling.WHOLE} WHERE e.id > ? ORDER BY e.id LIMIT ?"
    return retelling.whole(db.execute_sql(asked, (event_id, limit)).fetchall())


def thoughts_after(thought_id: str, limit: int) -> list[tuple[str, str]]:
    """Thoughts with later ids than one, as (id, text)."""
    rows = ThoughtRow.select(ThoughtRow.id, ThoughtRow.text)
    later = rows.where(ThoughtRow.id > thought_id).order_by(ThoughtRow.id)
    return list(later.limit(limit).tuples())


def put_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    """Put what thoughts say now in the place of what they said."""
    for thought_id, text in changed:
        ThoughtRow.update(text=text).where(ThoughtRow.id == thought_id).execute()


def clean_titles(clean: Clean) -> int:
    """Clean the titles of sessions; how many changed."""
    changed = 0
    for number, title in SessionRow.select(SessionRow.id, SessionRow.title).tuples():
        if (cleaned := clean(title)) != title:
            SessionRow.update(title=cleaned).where(SessionRow.id == number).execute()
            changed += 1
    return changed


def clean_tasks(clean: Clean) -> int:
    """Clean the tasks of subagents; how many changed."""
    changed = 0
    for row in HelperRow.select():
        if (cleaned := clean(row.task)) != row.task:
            HelperRow.update(task=cleaned).where(
                HelperRow.agent == row.agent,
                HelperRow.session_name == row.session_name,
                HelperRow.subagent == row.subagent,
            ).execute()
            changed += 1
    return changed


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
