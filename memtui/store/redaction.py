"""Redaction of what is stored: events are replaced, all other texts are changed.

Which texts are secrets is decided in ``memtui.redaction``.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memtui.model.events import Event
from memtui.store import events, sessions, source_copies, sources
from memtui.store.database import IN_JSON, execute, fetch, fetch_column
from memtui.store.schema import unlocked
from memtui.store.sources import ProblemCount, ProblemKind

Redact = Callable[[str], str]


def replace_events(changed: Sequence[Event]) -> None:
    """Replace events by versions with changed text, inside one transaction.

    They are added again, since another event may have the same content now.
    """
    ids = json.dumps([event.event_id for event in changed])
    sql = f"SELECT DISTINCT session_id FROM events WHERE id {IN_JSON}"
    numbers = set(fetch_column(sql, ids))
    with unlocked():
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
    return fetch(sql, thought_id, limit)


def update_thoughts(changed: Iterable[tuple[str, str]]) -> None:
    for thought_id, text in changed:
        execute("UPDATE thoughts SET text = ? WHERE id = ?", text, thought_id)


_SESSION_TEXTS = (
    "title",
    "summary",
    "own_name",
    "branch",
    "cwd",
    "root",
    "project",
    "model",
    "created_by",
)

_SUBAGENT_KEY = ("agent", "session_name", "subagent")
_SUBAGENT_TEXTS = ("task", "kind", "tool_use_id")


def redact_sessions(redact: Redact) -> list[int]:
    """Redact what is known of sessions; return the numbers of those that changed."""
    return [
        number
        for (number,) in _redact_rows("sessions", ("id",), _SESSION_TEXTS, redact)
    ]


def redact_subagents(redact: Redact) -> int:
    """Redact what is known of subagents; return how many changed."""
    return len(_redact_rows("subagents", _SUBAGENT_KEY, _SUBAGENT_TEXTS, redact))


def redact_cursors(redact: Callable[[object], object]) -> int:
    """Redact the saved state of file readers; return how many changed."""

    def redact_state(stored: str) -> str:
        return json.dumps(redact(json.loads(stored)))

    return len(_redact_rows("cursors", ("path",), ("state",), redact_state))


def _redact_rows(
    table: str, key: Sequence[str], columns: Sequence[str], redact: Redact
) -> list[tuple[Any, ...]]:
    """Redact some columns of all rows of a table; return the keys of changed rows."""
    changes = ", ".join(f"{column} = ?" for column in columns)
    condition = " AND ".join(f"{column} = ?" for column in key)
    changed = []
    for row in fetch(f"SELECT {', '.join((*key, *columns))} FROM {table}"):
        row_key, before = row[: len(key)], row[len(key) :]
        # A damaged row may have bytes in place of a text.
        after = tuple(
            redact(text) if isinstance(text, str) else text for text in before
        )
        if after != before:
            execute(f"UPDATE {table} SET {changes} WHERE {condition}", *after, *row_key)
            changed.append(row_key)
    return changed


def redact_problems(redact: Redact) -> int:
    """Redact the reasons why records were skipped; return how many changed."""
    changed = 0
    for source, reason, kind, line, count, last_ms, words in fetch(
        "SELECT source, reason, kind, line, count, last_ms, words FROM problems"
    ):
        if (redacted := redact(reason)) != reason:
            sql = "DELETE FROM problems WHERE source = ? AND reason = ?"
            execute(sql, source, reason)
            problem = ProblemCount(redacted, ProblemKind(kind), line, count, words)
            sources.add_problems(source, [problem], last_ms)
            changed += 1
    return changed


def list_kept_names() -> list[tuple[str, str]]:
    """Return the names that stay as they are, each with its kind.

    Stored content is found by them when its source is read again.
    """
    return fetch(
        "SELECT 'agent', agent FROM sessions UNION SELECT 'session', name FROM sessions"
        " UNION SELECT 'file', path FROM cursors UNION SELECT 'file', source"
        " FROM problems"
    )
