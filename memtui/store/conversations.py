"""Events of one conversation of a session, read from a position on.

A conversation is the main one of a session (subagent "") or that of a subagent. A
position is an event's (time, ordinal, id), which the index of events starts with: a
page costs the same anywhere, nothing before it is counted or read.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from memtui.model.events import SPEAKERS, Event, EventPosition, EventType, to_ms
from memtui.model.filters import Filters
from memtui.store import events, scopes, source_copies
from memtui.store.database import (
    IN_JSON,
    LIKE_ESCAPE,
    case_variants,
    fetch,
    fetch_column,
    fetch_value,
    like_pattern,
    valid_ms,
)
from memtui.store.schema import IS_MESSAGE
from memtui.store.segments import SegmentRange

MAX_SESSIONS = 200
"""In how many sessions ``list_recent_messages`` looks for messages."""

_EVENTS = "FROM events WHERE session_id = ? AND subagent = ?"
_POSITION = "at_ms, ordinal, id"
_BEFORE = f"AND ({_POSITION}) < (?, ?, ?)"
_AFTER = f"AND ({_POSITION}) > (?, ?, ?)"
_ASCENDING = f"ORDER BY {_POSITION}"
_HAS_POSITION = (
    f"{valid_ms('at_ms')} IS NOT NULL AND typeof(ordinal) = 'integer'"
    " AND typeof(id) = 'text'"
)
_DESCENDING = "ORDER BY at_ms DESC, ordinal DESC, id DESC"

_TYPES = f"({', '.join(repr(event_type.value) for event_type in EventType)})"

IS_PROMPT = "type = 'user_message' AND role = 'user'"

IS_FAILED = "json_valid(metadata) AND json_extract(metadata, '$.call_end') = 'failed'"
"""The condition of calls that failed."""

_TOOL = (
    "CASE WHEN type = 'tool_result' AND json_valid(metadata)"
    " THEN json_extract(metadata, '$.tool_name') END"
)
"""The tool of a result. The metadata of a message lies behind a long text, which need
not be read."""


class EventLocation(NamedTuple):
    """The place of an event in the store, even of one that cannot be read."""

    number: int
    """That of its session."""
    subagent: str
    position: EventPosition

    @property
    def at_ms(self) -> int:
        return self.position[0]


def locate(event_ids: Iterable[str]) -> dict[str, EventLocation]:
    """Return where events are, by their ids or by ids of their copies."""
    names = list(event_ids)
    originals = {name: name for name in names} | source_copies.get_original_ids(names)
    sql = f"SELECT session_id, subagent, {_POSITION} FROM events WHERE id {IN_JSON}"
    located = {
        position[-1]: EventLocation(number, subagent, _position(position))
        for number, subagent, *position in fetch(sql, json.dumps([*originals.values()]))
    }
    return {i: located[name] for i, name in originals.items() if name in located}


def list_after(
    number: int, subagent: str, position: EventPosition | None, limit: int
) -> list[Event]:
    """Return the events after a position, or the first ones; in their order."""
    return _read_page(number, subagent, position, limit, _AFTER, _ASCENDING)


def list_before(
    number: int, subagent: str, position: EventPosition | None, limit: int
) -> list[Event]:
    """Return the events before a position, or the last ones; in their order."""
    return _read_page(number, subagent, position, limit, _BEFORE, _DESCENDING)[::-1]


def _read_page(
    number: int,
    subagent: str,
    position: EventPosition | None,
    limit: int,
    condition: str,
    order: str,
) -> list[Event]:
    """Return a page, which is only shorter than the limit at the end.

    Events that cannot be read are replaced by those after them.
    """
    page: list[Event] = []
    while (missing := limit - len(page)) > 0:
        from_here = condition if position else ""
        sql = f"SELECT {_POSITION} {_EVENTS} {from_here} {order} LIMIT ?"
        rows = fetch(sql, number, subagent, *(position or ()), missing)
        by_id = events.get(event_id for *_, event_id in rows)
        page += [by_id[event_id] for *_, event_id in rows if event_id in by_id]
        if len(rows) < missing:
            break
        position = _position(rows[-1])
    return page


def list_page(
    number: int, subagent: str, offset: int, limit: int, *, is_all: bool
) -> list[Event | None]:
    """Return events of a conversation in their order; None for one that is damaged.

    Skipping an event takes 0.6 µs: its text is not read. Without ``is_all``, tool
    results and boundaries are left out.
    """
    condition = "" if is_all else f"AND {IS_MESSAGE}"
    sql = f"SELECT {_POSITION} {_EVENTS} {condition} {_ASCENDING} LIMIT ? OFFSET ?"
    rows = fetch(sql, number, subagent, limit + 1, offset)
    names = [name for *_, name in rows[:limit]]
    damaged: list[str] = []
    if not is_all and (rows or not offset):
        # They are noted when they are read.
        first = rows[0] if offset else (0, 0, "")
        end = rows[limit] if len(rows) > limit else (2**62, 0, "")
        within = f"({_POSITION}) >= (?, ?, ?) AND ({_POSITION}) < (?, ?, ?)"
        sql = f"SELECT id {_EVENTS} AND {within} AND {events.IS_DAMAGED}"
        damaged = fetch_column(sql, number, subagent, *first, *end)
    by_id = events.get([*names, *damaged])
    return [by_id.get(name) for name in names]


def _read(sql: str, *values: object) -> list[Event]:
    names = fetch_column(sql, *values)
    by_id = events.get(names)
    return [by_id[name] for name in names if name in by_id]


def list_positions(number: int, subagent: str) -> list[EventPosition]:
    sql = f"SELECT {_POSITION} {_EVENTS} AND {_HAS_POSITION} {_ASCENDING}"
    rows = fetch(sql, number, subagent)
    return [_position(row) for row in rows if row[2] not in events.unreadable]


def list_messages(number: int, subagent: str) -> list[EventPosition]:
    """Return the positions of the messages of a conversation."""
    sql = f"SELECT {_POSITION} {_EVENTS} AND {IS_MESSAGE} AND {_HAS_POSITION}"
    return list(map(_position, fetch(sql, number, subagent)))


def find_text(number: int, subagent: str, text: str) -> Sequence[EventPosition]:
    variants = case_variants(text)
    condition = " OR ".join([f"text LIKE ? ESCAPE '{LIKE_ESCAPE}'"] * len(variants))
    condition = f"({condition}) AND {_HAS_POSITION}"
    sql = f"SELECT {_POSITION} {_EVENTS} AND {condition} {_ASCENDING}"
    return list(
        map(_position, fetch(sql, number, subagent, *map(like_pattern, variants)))
    )


LANDMARK_CHARS = 300


def list_landmarks(number: int, subagent: str) -> list[tuple[EventPosition, bool, str]]:
    """Return the prompts and failed calls of a conversation: the position, whether it
    is a call, and the beginning of the text.

    This takes 10 µs for each call.
    """
    sql = (
        f"SELECT {_POSITION}, type = 'tool_result', substr(text, 1, ?) {_EVENTS}"
        f" AND {_HAS_POSITION} AND (({IS_PROMPT})"
        f" OR CASE WHEN type = 'tool_result' THEN {IS_FAILED} END)"
    )
    rows = fetch(sql, LANDMARK_CHARS, number, subagent)
    return [(_position(row), bool(row[3]), str(row[4])) for row in rows]


def list_subagent_times(number: int) -> list[tuple[str, int, int]]:
    """Return the subagents of a session, with the times of their first and last
    events."""
    return fetch(
        "SELECT subagent, min(at_ms), max(at_ms) FROM events WHERE session_id = ?"
        " AND subagent <> '' GROUP BY subagent",
        number,
    )


def find_subagents(number: int, fingerprints: Collection[bytes]) -> dict[bytes, str]:
    """Return the subagents of a session with these prompts, by their fingerprints."""
    rows = fetch(
        # The plus keeps SQLite from reading the whole session.
        "SELECT fingerprint, subagent FROM events WHERE +session_id = ?"
        f" AND fingerprint IN ({', '.join('?' * len(fingerprints))})"
        " AND subagent <> ''",
        number,
        *fingerprints,
    )
    return {bytes(fingerprint): subagent for fingerprint, subagent in rows}


def _position(row: Sequence[Any]) -> EventPosition:
    return row[0], row[1], row[2]


def list_messages_after(number: int, event: Event, limit: int) -> list[Event]:
    """Return the messages after an event of its conversation."""
    sql = f"SELECT id {_EVENTS} AND {IS_MESSAGE} {_AFTER} {_ASCENDING} LIMIT ?"
    return _read(sql, number, event.subagent, *event.position, limit)


def read_windows(
    pairs: Sequence[tuple[int, Event]], before: int, after: int
) -> dict[str, list[tuple[Event, str]]]:
    """Return some events, (session's number, event), with the messages around them.

    Each message comes with the tool called right after it, if any.
    """
    sql = (
        f"SELECT id, (SELECT {_TOOL} FROM events n"
        " WHERE n.session_id = :session AND n.subagent = :subagent"
        " AND (n.at_ms, n.ordinal, n.id) > (w.at_ms, w.ordinal, w.id)"
        f" {_ASCENDING} LIMIT 1) FROM ("
        f"SELECT * FROM (SELECT {_POSITION} FROM events WHERE session_id = :session"
        f" AND subagent = :subagent AND ({_POSITION}) < (:at_ms, :ordinal, :id)"
        f" AND {IS_MESSAGE} {_DESCENDING} LIMIT :before)"
        " UNION ALL SELECT :at_ms, :ordinal, :id UNION ALL"
        f" SELECT * FROM (SELECT {_POSITION} FROM events WHERE session_id = :session"
        f" AND subagent = :subagent AND ({_POSITION}) > (:at_ms, :ordinal, :id)"
        f" AND {IS_MESSAGE} {_ASCENDING} LIMIT :after))"
        " w ORDER BY w.at_ms, w.ordinal, w.id"
    )
    windows = {
        event.event_id: fetch(
            sql,
            session=number,
            subagent=event.subagent,
            **dict(zip(("at_ms", "ordinal", "id"), event.position, strict=True)),
            before=before,
            after=after,
        )
        for number, event in pairs
    }
    by_id = events.get({event_id for rows in windows.values() for event_id, _ in rows})
    return {
        name: [
            (by_id[event_id], str(tool or ""))
            for event_id, tool in rows
            if event_id in by_id
        ]
        for name, rows in windows.items()
    }


def first_message(number: int) -> Event | None:
    # Each statement follows the index and stops at the first match.
    for condition in ("AND subagent = ''", ""):
        sql = f"SELECT id FROM events WHERE session_id = ? {condition}"
        if messages := _read(f"{sql} AND {IS_MESSAGE} {_ASCENDING} LIMIT 1", number):
            return messages[0]
    return None


def last_prompt_before(number: int, event: Event) -> Event | None:
    """Return the user's last message before an event in its conversation."""
    sql = f"SELECT id {_EVENTS} {_BEFORE} AND {IS_PROMPT} {_DESCENDING} LIMIT 1"
    return next(iter(_read(sql, number, event.subagent, *event.position)), None)


def count_messages_before(pairs: Iterable[tuple[int, Event]]) -> dict[str, int]:
    """Count the messages before each of some events in its conversation, by id."""
    sql = (
        f"SELECT count(*) {_EVENTS} {_BEFORE} AND ({_POSITION}) >= (?, ?, ?)"
        f" AND {IS_MESSAGE}"
    )
    counts: dict[str, int] = {}
    conversation: tuple[int, str] | None = None
    start: EventPosition = (0, 0, "")
    count = 0
    in_order = sorted(pairs, key=lambda p: (p[0], p[1].subagent, p[1].position))
    for number, event in in_order:
        if conversation != (number, event.subagent):
            conversation, start, count = (number, event.subagent), (0, 0, ""), 0
        count += fetch_value(sql, *conversation, *event.position, *start)
        counts[event.event_id], start = count, event.position
    return counts


def next_tool(number: int, event: Event) -> str:
    """Return the name of the tool called right after a message; "" if none was."""
    sql = f"SELECT {_TOOL} {_EVENTS} {_AFTER} {_ASCENDING} LIMIT 1"
    return str(fetch_value(sql, number, event.subagent, *event.position) or "")


def list_recent_messages(filters: Filters, limit: int) -> list[tuple[int, Event]]:
    """Return the latest messages, newest first, each with its session's number.

    Filters on nodes are ignored.
    """
    numbers = scopes.get_sessions(filters)
    latest_sessions = fetch(
        "SELECT id, updated_ms FROM sessions WHERE updated_ms >= ? AND created_ms < ?"
        f" AND (? OR id {IN_JSON}) ORDER BY updated_ms DESC LIMIT ?",
        *_time_range(filters),
        numbers is None,
        json.dumps(list(numbers or ())),
        MAX_SESSIONS,
    )
    newest_messages: list[tuple[int, str, int]] = []
    for number, updated_ms in latest_sessions:
        if len(newest_messages) == limit and newest_messages[-1][0] >= updated_ms:
            break  # All later sessions were last updated before.
        newest_messages += _list_session_messages(number, filters, limit)
        newest_messages = sorted(newest_messages, reverse=True)[:limit]
    by_id = events.get(name for _, name, _ in newest_messages)
    return [(n, by_id[name]) for _, name, n in newest_messages if name in by_id]


def _time_range(filters: Filters) -> tuple[int, int]:
    since, until = filters.since, filters.until
    return to_ms(since) if since else 0, to_ms(until) if until else 1 << 62


def _list_session_messages(
    number: int, filters: Filters, limit: int
) -> list[tuple[int, str, int]]:
    """Return the times and ids of the latest messages of a session, and its number."""
    roles = [filters.role] if filters.role else sorted(SPEAKERS)
    return fetch(
        "SELECT at_ms, id, session_id FROM events WHERE session_id = ?"
        f" AND at_ms >= ? AND at_ms < ? AND {IS_MESSAGE} AND role {IN_JSON}"
        " AND text <> '' AND (? OR subagent = '')"
        " ORDER BY at_ms DESC, ordinal DESC LIMIT ?",
        number,
        *_time_range(filters),
        json.dumps(roles),
        filters.with_subagents,
        limit,
    )


def read_segment(segment: SegmentRange) -> list[Event]:
    """Return the readable events of a segment."""
    times = segment.session_number, segment.start_ms, segment.end_ms
    own = _filter_segment(segment, events.between(*times))
    if len(own) != segment.events:
        # Perhaps it was made with the events of subagents among the others.
        every = events.between(*times, subagent=None)
        if len(all_own := _filter_segment(segment, every)) == segment.events:
            own = all_own
    return own


def _filter_segment(segment: SegmentRange, read: list[Event]) -> list[Event]:
    indexes = {event.event_id: index for index, event in enumerate(read)}
    first, last = indexes.get(segment.first_id), indexes.get(segment.last_id)
    if first is None or last is None:  # It cannot be read.
        return [event for event in read if event.timestamp_ms >= segment.start_ms]
    return read[first : last + 1]


# Tool results, which no index has


class EventMatches(NamedTuple):
    """Events with a text, the newest first, each with its session."""

    events: list[tuple[int, Event]]
    has_damaged: bool
    """True if others cannot be read."""


def find_by_tool_input(part: str, limit: int) -> EventMatches:
    """Return the newest calls with a text in their input.

    The input of a call whose metadata is damaged is looked for in its text.
    """
    return _read_newest(
        "= 'tool_result'",
        r"metadata LIKE :pattern ESCAPE '\' OR (metadata != ''"
        r" AND NOT json_valid(metadata) AND text LIKE :pattern ESCAPE '\')",
        [part],
        limit,
    )


def find_texts(parts: Sequence[str], limit: int) -> EventMatches:
    """Return the newest results and messages with these texts in this order."""
    types = "IN ('tool_result', 'user_message', 'assistant_message')"
    return _read_newest(types, r"text LIKE :pattern ESCAPE '\'", parts, limit)


MAX_SCANNED = 100_000
"""The newest results that are searched for words: one second on a slow machine."""


def find_in_tools(
    words: Sequence[str], filters: Filters, limit: int, *, has_all: bool = True
) -> list[tuple[int, Event]]:
    """Return the newest calls and results with all of some words, in any order.

    Without ``has_all``, one of the words is enough. Filters on nodes and roles are
    ignored.
    """
    contains = [r"text LIKE ? ESCAPE '\'" for _ in words]
    condition = (" AND " if has_all else " OR ").join(contains) or "TRUE"
    numbers = scopes.get_sessions(filters)
    rows = fetch(
        "SELECT id, session_id FROM events WHERE type = 'tool_result'"
        f" AND at_ms >= ? AND at_ms < ? AND (? OR session_id {IN_JSON})"
        f" AND (? OR subagent = '') AND ({condition})"
        " AND id >= coalesce((SELECT id FROM events WHERE type = 'tool_result'"
        " ORDER BY id DESC LIMIT 1 OFFSET ?), '') ORDER BY id DESC LIMIT ?",
        *_time_range(filters),
        numbers is None,
        json.dumps(list(numbers or ())),
        filters.with_subagents,
        *map(like_pattern, words),
        MAX_SCANNED - 1,
        limit,
    )
    by_id = events.get(event_id for event_id, _ in rows)
    return [(int(n), by_id[event_id]) for event_id, n in rows if event_id in by_id]


def _read_newest(
    types: str, condition: str, parts: Sequence[str], limit: int
) -> EventMatches:
    """Return the newest events of some types; where there are none, find those whose
    type is damaged."""
    pattern = "%".join(like_pattern(part)[1:-1] for part in parts)
    sql = (
        "SELECT id, session_id FROM events"
        f" WHERE type {{}} AND ({condition}) ORDER BY id DESC LIMIT :limit"
    )
    values = {"pattern": f"%{pattern}%", "limit": limit}
    rows = fetch(sql.format(types), **values)
    rows = rows or fetch(sql.format(f"NOT IN {_TYPES}"), **values)
    by_id = events.get(event_id for event_id, _ in rows)
    matches = [(int(n), by_id[event_id]) for event_id, n in rows if event_id in by_id]
    return EventMatches(matches, len(matches) < len(rows))
