"""Changes of stored text, for secrets that are removed afterwards."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import peewee

from memtui.store import problems
from memtui.store.problems import ProblemCount, ProblemKind
from memtui.store.schema import (
    CursorRow,
    ProblemRow,
    SessionRow,
    SubagentRow,
    ThoughtRow,
)

Redact = Callable[[str], str]
"""Returns a text without secrets."""

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
    """Return thoughts with higher ids than one, as (id, text)."""
    rows = ThoughtRow.select(ThoughtRow.id, ThoughtRow.text)
    later = rows.where(ThoughtRow.id > thought_id).order_by(ThoughtRow.id)
    return list(later.limit(limit).tuples())


def update_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    """Set the texts of thoughts."""
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
