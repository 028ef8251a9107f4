"""Events of one conversation of a session, read from a position on.

A conversation is the main one of a session (subagent "") or that of a subagent. A
position is an event's (time, ordinal, id), which the index of events starts with: a
page costs the same anywhere, nothing before it is counted or read.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from memtui.model.events import MESSAGES, SPEAKERS, Event, EventPosition, to_ms
from memtui.model.filters import Filters
from memtui.model.segments import Segment
from memtui.store import events, scopes
from memtui.store.database import LIKE_ESCAPE, case_variants, db, like_pattern
from memtui.store.schema import EventRow, SessionRow
from memtui.store.segments import SegmentRange

MAX_SESSIONS = 200
"""In how many sessions ``list_recent_messages`` looks for messages."""

_EVENTS = "FROM events WHERE session_id = ? AND subagent = ?"
_POSITION = "at_ms, ordinal, id"
_ASCENDING = f"ORDER BY {_POSITION}"
_DESCENDING = "ORDER BY at_ms DESC, ordinal DESC, id DESC"
_IS_PROMPT = "type = 'user_message' AND role = 'user'"

_IS_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
)


def list_after(
    number: int, subagent: str, position: EventPosition | None, limit: int
) -> list[Event]:
    """Return the events after a position, or the first ones; in their order."""
    return _read_page(number, subagent, position, limit, ">", _ASCENDING)


def list_before(
    number: int, subagent: str, position: EventPosition | None, limit: int
) -> list[Event]:
    """Return the events before a position, or the last ones; in their order."""
    return _read_page(number, subagent, position, limit, "<", _DESCENDING)[::-1]


def _read_page(
    number: int,
    subagent: str,
    position: EventPosition | None,
    limit: int,
    sign: str,
    order: str,
) -> list[Event]:
    """Return a page, which is only shorter than the limit at the end.

    Events that cannot be read are replaced by those after them.
    """
    page: list[Event] = []
    while (missing := limit - len(page)) > 0:
        condition = f" AND ({_POSITION}) {sign} (?, ?, ?)" if position else ""
        rows = db.execute_sql(
            f"SELECT {_POSITION} {_EVENTS}{condition} {order} LIMIT ?",
            (number, subagent, *(position or ()), missing),
        ).fetchall()
        found = events.get(event_id for *_, event_id in rows)
        page += [found[event_id] for *_, event_id in rows if event_id in found]
        if len(rows) < missing:
            break
        position = rows[-1]
    return page


def list_page(
    number: int, subagent: str, offset: int, limit: int, *, is_all: bool
) -> list[Event]:
    """Return events of a conversation in their order.

    Skipping an event takes 0.6 µs: its text is not read.

    Args:
        number: The session's number in the store.
        subagent: The subagent; empty for the main conversation.
        offset: How many events to skip.
        limit: The maximum number of events.
        is_all: Return tool results and boundaries too, not only messages.
    """
    condition = "" if is_all else f" AND {_IS_MESSAGE}"
    sql = f"SELECT id {_EVENTS}{condition} {_ASCENDING} LIMIT ? OFFSET ?"
    return _read(sql, number, subagent, limit, offset)


def _read(sql: str, *values: object) -> list[Event]:
    names = [name for (name,) in db.execute_sql(sql, values).fetchall()]
    found = events.get(names)
    return [found[name] for name in names if name in found]


def list_positions(
    number: int,
    subagent: str,
    first: EventPosition | None,
    last: EventPosition,
    limit: int,
) -> list[EventPosition]:
    """Return the last positions between two, both included, in their order.

    Args:
        number: The session's number in the store.
        subagent: The subagent; empty for the main conversation.
        first: The first position; None for the beginning.
        last: The last position.
        limit: The maximum number.
    """
    condition = f"({_POSITION}) <= (?, ?, ?)"
    if first:
        condition += f" AND ({_POSITION}) >= (?, ?, ?)"
    rows = db.execute_sql(
        f"SELECT {_POSITION} {_EVENTS} AND {condition} {_DESCENDING} LIMIT ?",
        (number, subagent, *last, *(first or ()), limit),
    ).fetchall()
    return [_position(row) for row in rows[::-1] if row[2] not in events.unreadable]


def find_text(number: int, subagent: str, text: str) -> Sequence[EventPosition]:
    """Return the positions of all events that contain a text, ignoring case."""
    variants = case_variants(text)
    condition = " OR ".join([f"text LIKE ? ESCAPE '{LIKE_ESCAPE}'"] * len(variants))
    rows = db.execute_sql(
        f"SELECT {_POSITION} {_EVENTS} AND ({condition}) {_ASCENDING}",
        (number, subagent, *map(like_pattern, variants)),
    )
    return [_position(row) for row in rows.fetchall()]


def find_position(number: int, subagent: str, index: int) -> EventPosition | None:
    """Return the position of the event with an index in its conversation."""
    sql = f"SELECT {_POSITION} {_EVENTS} {_ASCENDING} LIMIT 1 OFFSET ?"
    row = db.execute_sql(sql, (number, subagent, index)).fetchone()
    return _position(row) if row else None


def find_prompt(
    number: int, subagent: str, position: EventPosition, step: int
) -> EventPosition | None:
    """Return the position of the next or previous prompt.

    Args:
        number: The session's number in the store.
        subagent: The subagent; empty for the main conversation.
        position: Where to start.
        step: 1 for the next one, -1 for the previous one.
    """
    sign, order = (">", _ASCENDING) if step > 0 else ("<", _DESCENDING)
    row = db.execute_sql(
        f"SELECT {_POSITION} {_EVENTS} AND ({_POSITION}) {sign} (?, ?, ?)"
        f" AND {_IS_PROMPT} {order} LIMIT 1",
        (number, subagent, *position),
    ).fetchone()
    return _position(row) if row else None


def _position(row: tuple[Any, Any, Any]) -> EventPosition:
    return int(row[0]), int(row[1]), str(row[2])


def count_events(
    number: int, subagent: str, position: EventPosition | None = None
) -> int:
    """Count the events of a conversation, or those before a position.

    This takes 0.6 µs for each of them.
    """
    condition = f" AND ({_POSITION}) < (?, ?, ?)" if position else ""
    row = db.execute_sql(
        f"SELECT count(*) {_EVENTS}{condition}", (number, subagent, *(position or ()))
    ).fetchone()
    return int(row[0])


def messages_around(
    number: int, event: Event, before: int, after: int
) -> tuple[list[Event], list[Event]]:
    """Return the messages before and after an event of its conversation."""
    here = (number, event.subagent, *event.position)
    earlier = (
        f"SELECT id {_EVENTS} AND ({_POSITION}) < (?, ?, ?) AND {_IS_MESSAGE}"
        f" {_DESCENDING} LIMIT ?"
    )
    later = (
        f"SELECT id {_EVENTS} AND ({_POSITION}) > (?, ?, ?) AND {_IS_MESSAGE}"
        f" {_ASCENDING} LIMIT ?"
    )
    return _read(earlier, *here, before)[::-1], _read(later, *here, after)


def first_message(number: int) -> Event | None:
    """Return the first message of a session, if possible of its main conversation."""
    # Each statement follows the index and stops at the first match.
    for condition in (" AND subagent = ''", ""):
        sql = f"SELECT id FROM events WHERE session_id = ?{condition} AND {_IS_MESSAGE}"
        if found := _read(f"{sql} {_ASCENDING} LIMIT 1", number):
            return found[0]
    return None


def count_messages_before(pairs: Iterable[tuple[int, Event]]) -> dict[str, int]:
    """Count the messages before each of some events in its conversation.

    Args:
        pairs: (session's number, event); each conversation is read once.

    Returns:
        The counts, by the events' ids.
    """
    sql = (
        f"SELECT count(*) {_EVENTS} AND ({_POSITION}) < (?, ?, ?) AND {_IS_MESSAGE}"
        f" AND ({_POSITION}) >= (?, ?, ?)"
    )
    counts: dict[str, int] = {}
    conversation: tuple[int, str] | None = None
    start: EventPosition = (0, 0, "")
    count = 0
    in_order = sorted(pairs, key=lambda p: (p[0], p[1].subagent, p[1].position))
    for number, event in in_order:
        if conversation != (number, event.subagent):
            conversation, start, count = (number, event.subagent), (0, 0, ""), 0
        values = (number, event.subagent, *event.position, *start)
        count += int(db.execute_sql(sql, values).fetchone()[0])
        counts[event.event_id], start = count, event.position
    return counts


def next_tool(number: int, event: Event) -> str:
    """Return the name of the tool called right after a message; "" if none was."""
    # The metadata of a message lies behind a long text, which need not be read.
    tool = (
        "CASE WHEN type = 'tool_result' AND json_valid(metadata)"
        " THEN json_extract(metadata, '$.tool_name') END"
    )
    row = db.execute_sql(
        f"SELECT {tool} {_EVENTS} AND ({_POSITION}) > (?, ?, ?) {_ASCENDING} LIMIT 1",
        (number, event.subagent, *event.position),
    ).fetchone()
    return str(row[0] or "") if row else ""


def list_recent_messages(filters: Filters, limit: int) -> list[tuple[int, Event]]:
    """Return the latest messages, newest first, each with its session's number.

    Filters on nodes are ignored.
    """
    found: list[tuple[int, str, int]] = []
    for number, updated_ms in _list_recent_sessions(filters):
        if len(found) == limit and found[-1][0] >= updated_ms:
            break  # All later sessions were last updated before.
        rows = _list_session_messages(number, filters, limit)
        found += [(at_ms, name, number) for name, at_ms in rows]
        found = sorted(found, reverse=True)[:limit]
    messages = events.get(name for _, name, _ in found)
    return [(n, messages[name]) for _, name, n in found if name in messages]


def _list_recent_sessions(filters: Filters) -> list[tuple[int, int]]:
    """Return the numbers and times of the sessions updated last."""
    where = []
    numbers = scopes.get_sessions(filters)
    if numbers is not None:
        where.append(SessionRow.id.in_(list(numbers)))
    if filters.since is not None:
        where.append(SessionRow.updated_ms >= to_ms(filters.since))
    if filters.until is not None:
        where.append(SessionRow.created_ms < to_ms(filters.until))
    rows = SessionRow.select(SessionRow.id, SessionRow.updated_ms)
    rows = rows.where(*where) if where else rows
    newest = rows.order_by(SessionRow.updated_ms.desc())
    return list(newest.limit(MAX_SESSIONS).tuples())


def _list_session_messages(
    number: int, filters: Filters, limit: int
) -> list[tuple[str, int]]:
    """Return the ids and times of the latest messages of a session."""
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


def read_segment(segment: SegmentRange, overlap_ms: int) -> tuple[Segment, list[Event]]:
    """Return a segment with its events, and the events just before it.

    Args:
        segment: The segment.
        overlap_ms: How far back the events before it reach, in milliseconds.
    """
    start_ms = segment.start_ms - overlap_ms
    found = events.between(segment.number, start_ms, segment.end_ms)
    own = _filter_segment(segment, found)
    if len(own) != segment.events:
        # Perhaps it was made with the events of subagents among the others.
        every = events.between(segment.number, start_ms, segment.end_ms, subagent=None)
        if len(all_own := _filter_segment(segment, every)) == segment.events:
            found, own = every, all_own
    before = [event for event in found if event.position < own[0].position]
    return Segment(segment.segment_id, tuple(own), (), segment.is_open), before


def _filter_segment(segment: SegmentRange, found: list[Event]) -> list[Event]:
    """Return the events from a segment's first to its last."""
    indexes = {event.event_id: index for index, event in enumerate(found)}
    first, last = indexes.get(segment.first_id), indexes.get(segment.last_id)
    if first is None or last is None:  # It cannot be read.
        return [event for event in found if event.timestamp_ms >= segment.start_ms]
    return found[first : last + 1]
