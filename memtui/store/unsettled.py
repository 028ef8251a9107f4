"""Sessions of which something came that may change whose what they tell is.

They are noted in the transaction that brings it, and looked at in that one or in a
later one: a reading that was killed leaves them noted.
"""

import json
from collections.abc import Iterable, Mapping

from memtui.store import facts
from memtui.store.database import db

_ALONE = (
    "SELECT 1 FROM events e WHERE e.session_id = ? AND e.at_ms < ? AND NOT EXISTS"
    " (SELECT 1 FROM tellings t WHERE t.event_id = e.id"
    " AND t.session_id != e.session_id) ORDER BY e.at_ms DESC LIMIT 1"
)

_SHARED = (
    "SELECT DISTINCT e.session_id FROM events e JOIN tellings t ON t.event_id = e.id"
    " WHERE t.session_id IS NOT NULL AND e.id IN (SELECT value FROM json_each(?))"
)


def any_copies() -> bool:
    """Whether any session tells what another one tells."""
    asked = "SELECT 1 FROM tellings WHERE session_id IS NOT NULL LIMIT 1"
    return db.execute_sql(asked).fetchone() is not None


def note(numbers: Iterable[int]) -> None:
    """Note sessions, if there are copies at all."""
    news = set(numbers)
    if news and any_copies() and not news <= (noted := facts.unsettled()):
        facts.set_unsettled(noted | news)


def note_begun(times: Mapping[int, int]) -> None:
    """Note those sessions whose own events may begin otherwise now.

    Args:
        times: The earliest of the events that came or went, in milliseconds, by the
            numbers of their sessions.
    """
    if times and any_copies():
        note(
            number
            for number, at_ms in times.items()
            if not db.execute_sql(_ALONE, (number, at_ms)).fetchone()
        )


def note_shared(event_ids: Iterable[str]) -> None:
    """Note the sessions of those events that others tell too."""
    rows = db.execute_sql(_SHARED, (json.dumps([*event_ids]),)).fetchall()
    note(number for (number,) in rows)


def take() -> frozenset[int]:
    """The sessions that are noted; they are no more."""
    if noted := facts.unsettled():
        facts.set_unsettled(())
    return noted
