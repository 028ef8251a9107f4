"""Finds results of tools by their input or their text; no index has these."""

from collections.abc import Sequence

from memtui.model.events import Event
from memtui.store import events
from memtui.store.database import fetch

_NEWEST_FIRST = "ORDER BY id DESC LIMIT ?"


def find_by_input(part: str, limit: int) -> list[tuple[int, Event]]:
    """Return the newest calls with a text in their input, each with its session."""
    sql = (
        "SELECT id, session_id FROM events WHERE type = 'tool_result'"
        rf" AND metadata LIKE ? ESCAPE '\' {_NEWEST_FIRST}"
    )
    return _read(sql, [part], limit)


def find_by_text(parts: Sequence[str], limit: int) -> list[tuple[int, Event]]:
    """Return the newest results and messages with these texts in this order."""
    sql = (
        "SELECT id, session_id FROM events WHERE type IN"
        " ('tool_result', 'user_message', 'assistant_message')"
        rf" AND text LIKE ? ESCAPE '\' {_NEWEST_FIRST}"
    )
    return _read(sql, parts, limit)


def _read(sql: str, parts: Sequence[str], limit: int) -> list[tuple[int, Event]]:
    escaped = [
        part.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        for part in parts
    ]
    rows = fetch(sql, f"%{'%'.join(escaped)}%", limit)
    found = events.get(event_id for event_id, _ in rows)
    return [(int(n), found[event_id]) for event_id, n in rows if event_id in found]
