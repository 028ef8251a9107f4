"""A conversation of a session, read from a place on: a page costs the same anywhere.

A place is an event's own (time, ordinal, id): the index by which a session's events
stand is entered there, and nothing before it is counted or read.
"""

from collections.abc import Sequence

from memtui.memory.events import Event, Place
from memtui.store import events
from memtui.store.database import db
from memtui.store.listings import ESCAPE, pattern, spellings

_MINE = "FROM events WHERE session_id = ? AND subagent = ?"
_HERE = "(at_ms, ordinal, id)"
_UP, _DOWN = f"ORDER BY {_HERE[1:-1]}", "ORDER BY at_ms DESC, ordinal DESC, id DESC"
_ASKED = "type = 'user_message' AND role = 'user'"


def after(number: int, subagent: str, place: Place | None, limit: int) -> list[Event]:
    """The events after a place, or the first ones; in their order.

    Args:
        number: The session's number in the store.
        subagent: Whose conversation; the main one's if empty.
        place: From where; the beginning when None.
        limit: The most that are given.
    """
    beyond = f" AND {_HERE} > (?, ?, ?)" if place else ""
    asked = f"SELECT id {_MINE}{beyond} {_UP} LIMIT ?"
    return _read(asked, number, subagent, *(place or ()), limit)


def before(number: int, subagent: str, place: Place | None, limit: int) -> list[Event]:
    """The events before a place, or the last ones; in their order."""
    beyond = f" AND {_HERE} < (?, ?, ?)" if place else ""
    asked = f"SELECT id {_MINE}{beyond} {_DOWN} LIMIT ?"
    return _read(asked, number, subagent, *(place or ()), limit)[::-1]


def places(
    number: int, subagent: str, first: Place | None, last: Place, limit: int
) -> list[Place]:
    """The places from one to another, both with them; the last ones, in their order.

    Args:
        number: The session's number in the store.
        subagent: Whose conversation.
        first: From where; the beginning when None.
        last: Up to where.
        limit: The most that are given.
    """
    since = f" AND {_HERE} >= (?, ?, ?)" if first else ""
    rows = db.execute_sql(
        f"SELECT {_HERE[1:-1]} {_MINE} AND {_HERE} <= (?, ?, ?){since} {_DOWN} LIMIT ?",
        (number, subagent, *last, *(first or ()), limit),
    ).fetchall()
    return [(int(at), int(ordinal), str(name)) for at, ordinal, name in rows[::-1]]


def _read(asked: str, *given: object) -> list[Event]:
    names = [name for (name,) in db.execute_sql(asked, given).fetchall()]
    known = events.get(names)
    return [known[name] for name in names]


def count(number: int, subagent: str, place: Place | None = None) -> int:
    """How many events a conversation has, or how many of them stand before a place.

    They are counted one by one, 0.6 µs each: for what can be shown later.
    """
    beyond = f" AND {_HERE} < (?, ?, ?)" if place else ""
    row = db.execute_sql(
        f"SELECT count(*) {_MINE}{beyond}", (number, subagent, *(place or ()))
    ).fetchone()
    return int(row[0])


def nth(number: int, subagent: str, rank: int) -> Place | None:
    """The place of an event that so many stand before."""
    asked = f"SELECT {_HERE[1:-1]} {_MINE} {_UP} LIMIT 1 OFFSET ?"
    return _place(asked, number, subagent, rank)


def question(number: int, subagent: str, place: Place, step: int) -> Place | None:
    """The nearest thing a person said after a place, or before it.

    Args:
        number: The session's number in the store.
        subagent: Whose conversation.
        place: From where.
        step: 1 for after it, -1 for before it.
    """
    sign, way = (">", _UP) if step > 0 else ("<", _DOWN)
    asked = f"SELECT {_HERE[1:-1]} {_MINE} AND {_HERE} {sign} (?, ?, ?) AND {_ASKED}"
    return _place(f"{asked} {way} LIMIT 1", number, subagent, *place)


def _place(asked: str, *given: object) -> Place | None:
    row = db.execute_sql(asked, given).fetchone()
    return (int(row[0]), int(row[1]), str(row[2])) if row else None


def holding(number: int, subagent: str, words: str) -> Sequence[Place]:
    """The places of all events that say these words as they stand, in any case."""
    forms = spellings(words)
    like = " OR ".join([f"text LIKE ? ESCAPE '{ESCAPE}'"] * len(forms))
    rows = db.execute_sql(
        f"SELECT {_HERE[1:-1]} {_MINE} AND ({like}) {_UP}",
        (number, subagent, *map(pattern, forms)),
    )
    return [(int(at), int(ordinal), str(name)) for at, ordinal, name in rows.fetchall()]


def thoughts(number: int, subagent: str) -> int:
    """How many thoughts stand beside a conversation."""
    asked = "SELECT count(*) FROM thoughts WHERE session_id = ? AND subagent = ?"
    return int(db.execute_sql(asked, (number, subagent)).fetchone()[0])
