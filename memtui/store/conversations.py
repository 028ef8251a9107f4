"""A conversation of a session, read from a place on: a page costs the same anywhere.

A place is an event's own (time, ordinal, id): the index by which a session's events
stand is entered there, and nothing before it is counted or read.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from memtui.model.events import MESSAGES, SPEAKERS, Event, EventPosition, to_ms
from memtui.model.filters import Filters, SummaryMaker
from memtui.model.nodes import TocLevel
from memtui.model.segments import Segment
from memtui.store import events, scopes
from memtui.store.database import db
from memtui.store.schema import EventRow, NodeRow, SessionRow, VersionRow
from memtui.store.segments import SegmentRange, _within
from memtui.store.session_pages import ESCAPE, pattern, spellings

_MINE = "FROM events WHERE session_id = ? AND subagent = ?"


_HERE = "(at_ms, ordinal, id)"


_UP, _DOWN = f"ORDER BY {_HERE[1:-1]}", "ORDER BY at_ms DESC, ordinal DESC, id DESC"


_ASKED = "type = 'user_message' AND role = 'user'"


def after(
    number: int, subagent: str, place: EventPosition | None, limit: int
) -> list[Event]:
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


def before(
    number: int, subagent: str, place: EventPosition | None, limit: int
) -> list[Event]:
    """The events before a place, or the last ones; in their order."""
    beyond = f" AND {_HERE} < (?, ?, ?)" if place else ""
    asked = f"SELECT id {_MINE}{beyond} {_DOWN} LIMIT ?"
    return _read(asked, number, subagent, *(place or ()), limit)[::-1]


def places(
    number: int,
    subagent: str,
    first: EventPosition | None,
    last: EventPosition,
    limit: int,
) -> list[EventPosition]:
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


def count(number: int, subagent: str, place: EventPosition | None = None) -> int:
    """How many events a conversation has, or how many of them stand before a place.

    They are counted one by one, 0.6 µs each: for what can be shown later.
    """
    beyond = f" AND {_HERE} < (?, ?, ?)" if place else ""
    row = db.execute_sql(
        f"SELECT count(*) {_MINE}{beyond}", (number, subagent, *(place or ()))
    ).fetchone()
    return int(row[0])


def nth(number: int, subagent: str, rank: int) -> EventPosition | None:
    """The place of an event that so many stand before."""
    asked = f"SELECT {_HERE[1:-1]} {_MINE} {_UP} LIMIT 1 OFFSET ?"
    return _place(asked, number, subagent, rank)


def question(
    number: int, subagent: str, place: EventPosition, step: int
) -> EventPosition | None:
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


def _place(asked: str, *given: object) -> EventPosition | None:
    row = db.execute_sql(asked, given).fetchone()
    return (int(row[0]), int(row[1]), str(row[2])) if row else None


def holding(number: int, subagent: str, words: str) -> Sequence[EventPosition]:
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


_neighbours_MINE = "FROM events WHERE session_id = ? AND subagent = ?"


_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
)


_EARLIER = f"{_neighbours_MINE} AND (at_ms, ordinal, id) < (?, ?, ?) AND {_MESSAGE}"


_LATER = f"{_neighbours_MINE} AND (at_ms, ordinal, id) > (?, ?, ?)"


_neighbours_UP, _neighbours_DOWN = (
    "ORDER BY at_ms, ordinal, id",
    "ORDER BY at_ms DESC, ordinal DESC, id DESC",
)


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
    here = (number, event.subagent, *event.position)
    earlier = f"SELECT id {_EARLIER} {_neighbours_DOWN} LIMIT ?"
    later = f"SELECT id {_LATER} AND {_MESSAGE} {_neighbours_UP} LIMIT ?"
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
            f" {_neighbours_UP} LIMIT 1",
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
        those, key=lambda one: (one[0], one[1].subagent, one[1].position)
    ):
        if last != (number, event.subagent):
            last, begun, count = (number, event.subagent), (0, 0, ""), 0
        here = (number, event.subagent, *event.position)
        asked = f"SELECT count(*) {_EARLIER} AND (at_ms, ordinal, id) >= (?, ?, ?)"
        count += int(db.execute_sql(asked, (*here, *begun)).fetchone()[0])
        counts[event.event_id], begun = count, event.position
    return counts


def tool_after(number: int, event: Event) -> str:
    """The tool that was called right after a message; "" if none was."""
    # Of a message the metadata lies behind a long text, which need not be read.
    told = "CASE type WHEN 'tool_result' THEN metadata END"
    row = db.execute_sql(
        f"SELECT type, {told} {_LATER} {_neighbours_UP} LIMIT 1",
        (number, event.subagent, *event.position),
    ).fetchone()
    if not row or row[0] != "tool_result":
        return ""
    return str(json.loads(row[1] or "{}").get("tool_name", ""))


SESSIONS = 200
"""Of how many sessions the latest messages are looked for at the most."""


def latest_nodes(filters: Filters, limit: int) -> list[str]:
    """The ids of the latest nodes, newest first: of segments, where no level is named.

    Args:
        filters: What is left; no verdict is looked at.
        limit: The most ids.
    """
    levels = filters.levels or {TocLevel.SEGMENT}
    where = [*scopes.within(filters.scope)]
    where.append(NodeRow.level.in_([level.value for level in levels]))
    if filters.since is not None:
        where.append(VersionRow.end_ms > to_ms(filters.since))
    if filters.until is not None:
        where.append(NodeRow.start_ms < to_ms(filters.until))
    if filters.maker is not None:
        where.append(VersionRow.is_by_model == (filters.maker is SummaryMaker.MODEL))
    if filters.session:
        where.append(NodeRow.node_id.in_(scopes.of_sessions(filters.session, limit)))
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow).where(*where)
    rows = rows.order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc()).limit(limit)
    return [name for (name,) in rows.tuples()]


def latest_messages(filters: Filters, limit: int) -> list[tuple[int, Event]]:
    """The latest messages, newest first, each with its session's number.

    Args:
        filters: What is left; conditions on nodes are not looked at.
        limit: The most messages.
    """
    found: list[tuple[int, str, int]] = []
    for number, updated_ms in _sessions(filters):
        if len(found) == limit and found[-1][0] >= updated_ms:
            break  # The sessions to come were all silent by then.
        found += [(at, name, number) for name, at in _of(number, filters, limit)]
        found = sorted(found, reverse=True)[:limit]
    known = events.get(name for _, name, _ in found)
    return [(number, known[name]) for _, name, number in found if name in known]


def _sessions(filters: Filters) -> list[tuple[int, int]]:
    """The sessions last spoken in, with when that was."""
    where = []
    numbers = scopes.sessions_of(filters)
    if numbers is not None:
        where.append(SessionRow.id.in_(list(numbers)))
    if filters.since is not None:
        where.append(SessionRow.updated_ms >= to_ms(filters.since))
    if filters.until is not None:
        where.append(SessionRow.created_ms < to_ms(filters.until))
    rows = SessionRow.select(SessionRow.id, SessionRow.updated_ms)
    rows = rows.where(*where) if where else rows
    return list(rows.order_by(SessionRow.updated_ms.desc()).limit(SESSIONS).tuples())


def _of(number: int, filters: Filters, limit: int) -> list[tuple[str, int]]:
    """The ids of the latest messages of a session, with when each was said."""
    roles = {filters.role} if filters.role else SPEAKERS
    where: list[Any] = [
        EventRow.session == number,
        EventRow.type.in_([kind.value for kind in MESSAGES]),
        EventRow.role.in_([role.value for role in roles]),
        EventRow.text != "",
    ]
    if not filters.with_subagents:
        where.append(EventRow.subagent == "")
    if filters.since is not None:
        where.append(EventRow.at_ms >= to_ms(filters.since))
    if filters.until is not None:
        where.append(EventRow.at_ms < to_ms(filters.until))
    rows = EventRow.select(EventRow.id, EventRow.at_ms).where(*where)
    newest = rows.order_by(EventRow.at_ms.desc(), EventRow.ordinal.desc())
    return list(newest.limit(limit).tuples())


def segment_events(
    stretch: SegmentRange, context_ms: int
) -> tuple[Segment, list[Event]]:
    """A segment with its events, and the events just before it.

    Args:
        stretch: Which segment.
        context_ms: How far back the events before it reach, in milliseconds.
    """
    reach_ms = stretch.start_ms - context_ms
    found = events.between(stretch.number, reach_ms, stretch.end_ms)
    mine = _within(stretch, found)
    if len(mine) != stretch.events:
        # It was cut with its subagents' events among the others.
        found = events.between(stretch.number, reach_ms, stretch.end_ms, subagent=None)
        mine = _within(stretch, found)
    before_it = [event for event in found if event.position < mine[0].position]
    return Segment(stretch.segment_id, tuple(mine), (), stretch.is_open), before_it
