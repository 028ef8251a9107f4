"""What stands around an event in its conversation."""

import json
from collections.abc import Iterable

from memtui.memory.events import Event
from memtui.store import events
from memtui.store.database import db

_MINE = "FROM events WHERE session_id = ? AND subagent = ?"
_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
)
_EARLIER = f"{_MINE} AND (at_ms, ordinal, id) < (?, ?, ?) AND {_MESSAGE}"
_LATER = f"{_MINE} AND (at_ms, ordinal, id) > (?, ?, ?)"
_UP, _DOWN = "ORDER BY at_ms, ordinal, id", "ORDER BY at_ms DESC, ordinal DESC, id DESC"


def messages(
    number: int, event: Event, before: int, after: int
) -> tuple[list[Event], list[Event]]:
    """What a person and an assistant said before an event, and after it.

    Args:
        number: The session's number in the store.
        event: Which.
        before: How many before it.
        after: How many after it.
    """
    here = (number, event.subagent, *event.order)
    earlier = f"SELECT id {_EARLIER} {_DOWN} LIMIT ?"
    later = f"SELECT id {_LATER} AND {_MESSAGE} {_UP} LIMIT ?"
    first = [name for (name,) in db.execute_sql(earlier, (*here, before)).fetchall()]
    then = [name for (name,) in db.execute_sql(later, (*here, after)).fetchall()]
    known = events.get(first + then)
    return [known[name] for name in reversed(first)], [known[name] for name in then]


def first(number: int) -> Event | None:
    """The first message of a session, of its main conversation if it has one.

    Args:
        number: The session's number in the store.
    """
    # Each goes along the index and ends with the first that it meets.
    for mine in (" AND subagent = ''", ""):
        row = db.execute_sql(
            f"SELECT id FROM events WHERE session_id = ?{mine} AND {_MESSAGE}"
            f" {_UP} LIMIT 1",
            (number,),
        ).fetchone()
        if row:
            return events.get([row[0]]).get(row[0])
    return None


def counts_before(those: Iterable[tuple[int, Event]]) -> dict[str, int]:
    """How many messages of its conversation come before each of some events.

    Args:
        those: (session's number, event); a conversation is gone through once.

    Returns:
        The counts, by the events' ids.
    """
    counts: dict[str, int] = {}
    last: tuple[int, str] | None = None
    begun, count = (0, 0, ""), 0
    for number, event in sorted(
        those, key=lambda one: (one[0], one[1].subagent, one[1].order)
    ):
        if last != (number, event.subagent):
            last, begun, count = (number, event.subagent), (0, 0, ""), 0
        here = (number, event.subagent, *event.order)
        asked = f"SELECT count(*) {_EARLIER} AND (at_ms, ordinal, id) >= (?, ?, ?)"
        count += int(db.execute_sql(asked, (*here, *begun)).fetchone()[0])
        counts[event.event_id], begun = count, event.order
    return counts


def tool_after(number: int, event: Event) -> str:
    """The tool that was called right after a message; "" if none was."""
    # Of a message the metadata lies behind a long text, which need not be read.
    told = "CASE type WHEN 'tool_result' THEN metadata END"
    row = db.execute_sql(
        f"SELECT type, {told} {_LATER} {_UP} LIMIT 1",
        (number, event.subagent, *event.order),
    ).fetchone()
    if not row or row[0] != "tool_result":
        return ""
    return str(json.loads(row[1] or "{}").get("tool_name", ""))
