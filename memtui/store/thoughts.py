"""Thoughts: kept beside the events of their session."""

from collections.abc import Iterable

from memtui.memory.events import from_ms, to_ms
from memtui.memory.thoughts import Thought
from memtui.store import sessions, tombstones
from memtui.store.database import insert
from memtui.store.tables.conversations import SessionRow, ThoughtRow


def add(thoughts: Iterable[Thought]) -> None:
    """Keep thoughts; a known one changes nothing.

    Those that a person forgot are not kept again.
    """
    numbers: dict[tuple[str, str], int] = {}
    rows = []
    for thought in tombstones.spared_thoughts(list(thoughts)):
        key, at_ms = (thought.agent, thought.session_id), to_ms(thought.at)
        if key not in numbers:
            numbers[key] = sessions.begun(*key, at_ms)
        said = thought.subagent, thought.text
        rows.append((thought.thought_id, numbers[key], at_ms, *said))
    insert(ThoughtRow, rows, conflict="nothing")


def between(
    number: int,
    start_ms: int,
    end_ms: int,
    *,
    subagent: str | None = None,
    limit: int | None = None,
) -> list[Thought]:
    """A session's thoughts between two times, both included, in their order.

    Args:
        number: The session's number in the store.
        start_ms: From when, in milliseconds.
        end_ms: Until when, in milliseconds.
        subagent: Whose; the main conversation's when empty, all when None.
        limit: The most that are given, the first ones; all when None.
    """
    rows = (
        ThoughtRow.select(ThoughtRow, SessionRow)
        .join(SessionRow)
        .where(ThoughtRow.session == number, ThoughtRow.at_ms.between(start_ms, end_ms))
        .order_by(ThoughtRow.at_ms, ThoughtRow.id)
        .limit(limit)
    )
    if subagent is not None:
        rows = rows.where(ThoughtRow.subagent == subagent)
    return [
        Thought(
            thought_id=row.id,
            agent=row.session.agent,
            session_id=row.session.name,
            at=from_ms(row.at_ms),
            text=row.text,
            subagent=row.subagent,
        )
        for row in rows
    ]


def count() -> int:
    """How many thoughts are kept."""
    return int(ThoughtRow.select().count())
