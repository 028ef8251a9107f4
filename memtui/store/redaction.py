"""Redaction of what is stored: events are replaced, all other texts are changed.

Which texts are secrets is decided in ``memtui.redaction``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtui.model.events import Event, Thought
from memtui.store import events, ids, sessions, source_copies, sources
from memtui.store.database import IN_JSON, execute, fetch, fetch_column
from memtui.store.schema import unlocked
from memtui.store.sources import ProblemCount, ProblemKind

Redact = Callable[[str], str]


def replace_events(changed: Sequence[Event]) -> None:
    """Replace events by versions with changed text, inside one transaction.

    They are added again, since another event may have the same content now.
    """
    names = json.dumps([event.event_id for event in changed])
    sql = f"SELECT DISTINCT session_id FROM events WHERE id {IN_JSON}"
    numbers = set(fetch_column(sql, names))
    with unlocked():
        execute(f"DELETE FROM source_copies WHERE event_id {IN_JSON}", names)
        execute(f"DELETE FROM events WHERE id {IN_JSON}", names)
    claimed = ids.list_claimed(event.event_id for event in changed)
    for are_claims in (False, True):
        batch = [e for e in changed if (e.event_id in claimed) == are_claims]
        numbers |= events.add(batch, route="", are_claims=are_claims).sessions
    for number in numbers:
        sessions.recount(number)
    sessions.request_owner_update(numbers)
    source_copies.update_owners()


def replace_thoughts(redacted: Mapping[str, Thought]) -> None:
    """Replace thoughts, by their ids; others may say the same now."""
    execute(f"DELETE FROM thoughts WHERE id {IN_JSON}", json.dumps([*redacted]))
    events.add_thoughts(redacted.values())


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
