"""Events: added once, with the outbox rows that announce them, then only read.

Only a redaction replaces them (``store.redaction``). At the end is what the message
index reads: events, and the titles of their sessions.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memtui.model.events import (
    MESSAGES,
    Event,
    EventRole,
    EventType,
    Provenance,
    SourceCopy,
    Thought,
    counted_text,
    fingerprint,
    from_ms,
    lowest_id,
    source_hash,
    to_ms,
)
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import UNSEARCHED
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import ids, nodes, queues, sessions, source_copies, tombstones
from memtui.store.database import (
    IN_JSON,
    db,
    existing_keys,
    fetch,
    fetch_column,
    fetch_value,
    insert,
    last_rowids,
    prefix_range,
)
from memtui.store.digests import digest
from memtui.store.queues import EventRange
from memtui.store.schema import IS_MESSAGE
from memtui.store.sessions import SessionKey
from memtui.store.source_copies import (
    JSONL,
    STARTED,
    UNNAMED_HOOK,
    StoredEvent,
    route_rank,
)

if TYPE_CHECKING:
    from memtui.text.tokens import TokenCounter


log = logging.getLogger(__name__)

_Made = TypeVar("_Made")

unreadable: set[str] = set()
"""The ids of the events that were skipped because they cannot be read."""

COLUMNS = (
    "e.id, s.name, e.at_ms, e.type, e.role, e.text, e.metadata, s.agent, e.subagent,"
    " e.ordinal, e.tokens, e.token_counter"
)
"""A whole event, in the order of the fields of ``Event``."""

_TYPES = (str, str, str, str, str, int, int, str)
"""The types of an event's id, session, text, and of all that follows its metadata."""

_INDEXABLE_TYPES = (str, str, int, int, str)

IS_DAMAGED = (
    f"(type NOT IN {tuple(map(str, EventType))}"
    f" OR role NOT IN {tuple(map(str, EventRole))})"
)
"""The condition of events that other conditions on the type or role miss."""

_SELECT = f"SELECT {COLUMNS} FROM events e JOIN sessions s ON s.id = e.session_id"
_IN_ORDER = "ORDER BY e.at_ms, e.ordinal, e.id"


@dataclass(slots=True)
class AddResult:
    """The result of adding a batch of events."""

    created: list[str] = field(default_factory=list)
    """The ids of the events that were new."""
    already_stored: int = 0
    """The number that were stored already, themselves or as a copy."""
    forgotten: int = 0
    """The number that the user had forgotten: they are not stored again."""
    sessions: set[int] = field(default_factory=set)
    """The numbers of the sessions that got new events."""


def add(
    batch: Sequence[Event],
    *,
    route: str,
    counter: "TokenCounter | None" = None,
    are_claims: bool = False,
) -> AddResult:
    """Add the new events of a batch with their outbox rows, inside one transaction.

    An event with a known id changes nothing. One that came by another route or in
    another session already is stored as a copy; if it is the better copy, it replaces
    the other. Events with provenance have their own route and bring their source
    copies. The tokens of the new ones are counted, unless they were exported with them.
    Of claims, nothing is trusted that others know of them (``store.ids``).
    """
    batch, replaced = ids.settle(batch, are_claims=are_claims)
    by_route: dict[str, list[Event]] = {}
    for event in batch:
        own = event.provenance.route if event.provenance else route
        by_route.setdefault(own, []).append(event)
    result = AddResult()
    # The best copies first: each brings the others with it.
    for own in sorted(by_route, key=source_copies.route_rank, reverse=True):
        _add_by_route(by_route[own], own, counter, result, are_claims=are_claims)
        _add_copies(by_route[own], are_claims=are_claims)
    ids.adopt_copies(replaced)
    result.created = [name for name in result.created if name not in set(replaced)]
    return result


def _add_by_route(
    batch: Sequence[Event],
    route: str,
    counter: "TokenCounter | None",
    result: AddResult,
    *,
    are_claims: bool,
) -> None:
    keys = {(event.agent, event.session_id) for event in batch}
    sessions.name_agents(keys, UNNAMED_HOOK)
    allowed = tombstones.filter_events(batch, route=route)
    unknown = {event.event_id: event for event in allowed}
    for event_id in _find_stored_ids(unknown):
        del unknown[event_id]
    counted = [_with_tokens(event, counter) for event in unknown.values()]
    rows = sessions.open_all(counted)
    numbers = {key: row.number for key, row in rows.items()}
    trusted = JSONL if are_claims and route == "transcript" else route
    # A line may state the route of this batch.
    has_claims = bool(fetch("SELECT 1 FROM claimed_ids LIMIT 1"))
    several_routes = {
        key
        for key, row in rows.items()
        if has_claims or set(row.routes.split()) - {route}
    }
    stored_copies, worse = _match(counted, several_routes, numbers, trusted)
    new = [event for event in counted if event.event_id not in stored_copies]
    _insert(new, numbers, route)
    pairs = [
        (event, stored_copies[event.event_id])
        for event in counted
        if event.event_id in stored_copies
    ]
    source_copies.add_copies(pairs, numbers, trusted)
    sessions.add_events(new, rows, route)
    source_copies.replace_events(worse)
    source_copies.request_update_if_first(
        (numbers[event.agent, event.session_id], event.timestamp_ms) for event in new
    )
    replacements = {stored.event_id for stored in worse.values()}
    created = [e.event_id for e in new if e.event_id not in replacements]
    result.created += created
    result.already_stored += len(allowed) - len(created)
    result.forgotten += len(batch) - len(allowed)
    result.sessions |= set(numbers.values())


def _find_stored_ids(event_ids: Iterable[str]) -> set[str]:
    """Return those of these ids that are of stored events or of copies of them."""
    names = list(event_ids)
    copies = existing_keys("source_copies", names, "copy_id")
    return existing_keys("events", names) | copies


def _with_tokens(event: Event, counter: "TokenCounter | None") -> Event:
    if event.token_counter or not counter:
        return event
    tokens = counter.count(counted_text(event))
    return replace(event, tokens=tokens, token_counter=counter.name)


def _add_copies(batch: Iterable[Event], *, are_claims: bool) -> None:
    new = {
        copy.event_id: (event, copy)
        for event in batch
        if event.provenance
        for copy in event.provenance.copies
    }
    if not new:
        return
    taken = _find_stored_ids(new)
    if are_claims:
        # The line that states an id may be of a route that is stored later.
        taken |= ids.list_claimed(new)
    for event_id in taken:
        del new[event_id]
    names = [event.event_id for event, _ in new.values()]
    originals = {name: name for name in names}
    originals |= source_copies.get_original_ids(names)
    sql = f"SELECT id, session_id FROM events WHERE id {IN_JSON}"
    owner_by_event = dict(fetch(sql, json.dumps([*originals.values()])))
    numbers: dict[tuple[str, str], int] = {}
    rows = []
    for event, copy in new.values():
        original = originals[event.event_id]
        if original in owner_by_event:
            key = event.agent, copy.session_id or event.session_id
            if key not in numbers:
                numbers[key] = sessions.open_number(*key, event.timestamp_ms)
            is_elsewhere = numbers[key] != owner_by_event[original]
            number = numbers[key] if is_elsewhere else None
            rows.append((copy.event_id, original, copy.route, number))
    insert("source_copies", rows)
    if are_claims:
        ids.name_copies(row[0] for row in rows)
    sessions.request_owner_update({row[3] for row in rows if row[3] is not None})


def _match(
    unknown: Sequence[Event],
    several_routes: set[SessionKey],
    numbers: dict[SessionKey, int],
    route: str,
) -> tuple[dict[str, StoredEvent], dict[StoredEvent, StoredEvent]]:
    """Find which of these events are stored already as another copy.

    ``several_routes`` are the sessions with events that came by another route. Returns
    the stored events by the ids of their copies; and those that are worse than their
    copy, each with its replacement.
    """
    stored_copies, ended = source_copies.match_unfinished(unknown, numbers)
    unknown = [event for event in unknown if event.event_id not in stored_copies]
    stored_copies |= source_copies.match_by_source(unknown, numbers, route)
    others = [e for e in unknown if (e.agent, e.session_id) in several_routes]
    ended_ids = {stored.event_id for stored in ended}
    matches = {
        event_id: stored
        for event_id, stored in source_copies.match_by_fingerprint(
            others, numbers, route
        ).items()
        if stored.event_id not in ended_ids and stored != stored_copies.get(event_id)
    }
    by_id = {event.event_id: event for event in others}
    typed: dict[StoredEvent, Event] = {}
    taken = matches.keys() | {stored.event_id for stored in matches.values()}
    for event, prompt in source_copies.match_typed(others, numbers, route, taken):
        if route_rank(route) > route_rank(prompt.route):
            typed.setdefault(prompt, event)
        else:
            matches.setdefault(event.event_id, prompt)
    worse = {
        event_id: stored
        for event_id, stored in matches.items()
        if _is_better(by_id[event_id], route, stored)
    }
    better = {i: stored for i, stored in matches.items() if i not in worse}
    stored_copies = better | stored_copies
    within_batch = source_copies.match_within_batch(unknown, numbers, route)
    stored_copies = {
        event_id: stored_copies.get(first.event_id, first)
        for event_id, first in within_batch.items()
        if event_id not in worse
    } | stored_copies
    replaced = {}
    for event in others:
        if stored := worse.get(event.event_id):
            number = numbers[event.agent, event.session_id]
            own = StoredEvent(event.event_id, route, number, event.timestamp_ms)
            replaced[stored] = stored_copies.get(event.event_id, own)
    for stored, event in (ended | typed).items():
        number = numbers[event.agent, event.session_id]
        own = StoredEvent(event.event_id, route, number, event.timestamp_ms)
        before = replace(stored, route=STARTED) if stored in ended else stored
        replaced.setdefault(before, stored_copies.get(event.event_id, own))
    return stored_copies, replaced


def _is_better(event: Event, route: str, stored: StoredEvent) -> bool:
    """Return whether an event is a better copy than the one that is stored."""
    rank, stored_rank = map(source_copies.route_rank, (route, stored.route))
    is_better = rank > stored_rank
    is_line_and_hook = {route, stored.route} in source_copies.LINE_AND_HOOK
    may_say_more = event.is_tool_call and _has_output(event) != is_better
    if not (is_line_and_hook or may_say_more):
        return is_better
    other = get([stored.event_id]).get(stored.event_id)
    if other is None:
        return is_better
    if may_say_more and _has_output(other) != _has_output(event):
        # A transcript may have only the call, and a hook what it returned.
        return _has_output(event)
    if not is_line_and_hook:
        return is_better
    is_line = route == JSONL
    line, hook = (event, other) if is_line else (other, event)
    # The time of a line may be better, but anyone can write one.
    is_line_better = hook.text in line.text and (
        (line.role, line.subagent) == (hook.role, hook.subagent)
    )
    return is_line_better == is_line


def _has_output(call: Event) -> bool:
    """Return whether a call's text has more than the line that describes it."""
    return "\n" in call.text


def _insert(new: Sequence[Event], numbers: dict[SessionKey, int], route: str) -> None:
    if not new:
        return
    rows = [
        (
            e.event_id,
            numbers[e.agent, e.session_id],
            e.timestamp_ms,
            e.ordinal,
            e.event_type.value,
            e.role.value,
            e.subagent,
            e.text,
            json.dumps(dict(e.metadata), ensure_ascii=False) if e.metadata else "",
            e.tokens,
            e.token_counter,
            route,
            fingerprint(e),
            source_hash(e),
        )
        for e in new
    ]
    insert("events", [(*row, digest(row)) for row in rows])
    queues.add_events(*last_rowids(len(rows)), min(e.timestamp_ms for e in new))
    queues.add_segment_updates(
        (e.event_id, e.timestamp_ms, numbers[e.agent, e.session_id]) for e in new
    )


def _read(
    rows: Iterable[tuple[Any, ...]], make: Callable[..., _Made]
) -> Iterator[_Made]:
    """Yield what is made of each row, whose first value is the id of an event.

    An event with a value of a wrong type or kind is skipped with a warning.
    """
    for row in rows:
        try:
            yield make(*row)
        except (ValueError, TypeError, OverflowError) as error:
            note_unreadable(row[0], error)


def note_unreadable(event_id: str, reason: object) -> None:
    if event_id not in unreadable:
        log.warning("event %s cannot be read: %s", event_id, reason)
        unreadable.add(event_id)


def _check_types(values: Iterable[object], types: Iterable[type]) -> None:
    if not all(map(isinstance, values, types)):
        raise TypeError("a value has the wrong type")


def read_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[Event]:
    """Yield the events of rows with the values of ``COLUMNS`` that can be read."""
    return _read(rows, _make_event)


def _make_event(
    event_id: str,
    name: str,
    at_ms: int,
    kind: str,
    role: str,
    text: str,
    metadata: str,
    *columns: Any,
) -> Event:
    _check_types((event_id, name, text, *columns), _TYPES)
    return Event(
        event_id,
        name,
        from_ms(at_ms),
        EventType(kind),
        EventRole(role),
        text,
        _parse_metadata(metadata) if metadata else {},
        *columns,
    )


def _parse_metadata(stored: str) -> dict[str, str]:
    fields = json.loads(stored)
    if isinstance(fields, dict) and all(isinstance(v, str) for v in fields.values()):
        return fields
    raise ValueError("its metadata is not a map of texts")


def get(event_ids: Iterable[str]) -> dict[str, Event]:
    """Return events by their ids, or by ids of their copies.

    Unknown ids and events that cannot be read are skipped.
    """
    # A damaged row may have bytes for an id.
    names = [name for name in event_ids if isinstance(name, str)]
    rows = fetch(f"{_SELECT} WHERE e.id {IN_JSON}", json.dumps(names))
    by_id = {event.event_id: event for event in read_rows(rows)}
    missing = [name for name in names if name not in by_id]
    if missing and (originals := source_copies.get_original_ids(missing)):
        events = get(originals.values())
        by_id |= {i: events[name] for i, name in originals.items() if name in events}
    return by_id


def find_stored(event: Event) -> Event | None:
    """Return an event of a hook as it is stored; None if it is not."""
    if stored := get([event.event_id]).get(event.event_id):
        return stored
    number = sessions.get_number(event.agent, event.session_id)
    if number is None:
        return None
    numbers = {(event.agent, event.session_id): number}
    copies = source_copies.match_by_source([event], numbers, "hook")
    name = copies[event.event_id].event_id if copies else ""
    return get([name]).get(name)


def has_main(number: int) -> bool:
    """Return whether a session has events that are not those of subagents."""
    sql = "SELECT 1 FROM events WHERE session_id = ? AND subagent = '' LIMIT 1"
    return bool(fetch(sql, number))


def outline(number: int, *, start_ms: int = 0) -> list[Event]:
    """Return a session's events, subagents' included, in their order.

    They have neither text nor metadata.
    """
    rows = fetch(
        "SELECT e.id, '', e.at_ms, e.type, e.role, '', '', '',"
        " e.subagent, e.ordinal, e.tokens FROM events e"
        f" WHERE e.session_id = ? AND e.at_ms >= ? {_IN_ORDER}",
        number,
        start_ms,
    )
    return list(read_rows(rows))


def between(
    number: int, start_ms: int, end_ms: int, *, subagent: str | None = ""
) -> list[Event]:
    """Return a session's events between two times, both included, in their order.

    Events of all conversations are returned when the subagent is None.
    """
    condition = "e.session_id = ? AND e.at_ms BETWEEN ? AND ?"
    values: list[object] = [number, start_ms, end_ms]
    if subagent is not None:
        condition += " AND e.subagent = ?"
        values.append(subagent)
    rows = fetch(f"{_SELECT} WHERE {condition} {_IN_ORDER}", *values)
    return list(read_rows(rows))


def list_in_time(
    start_ms: int | None,
    end_ms: int | None,
    *,
    after: str,
    limit: int,
    scope: Scope = ALL,
    session: str = "",
) -> list[Event]:
    """Return events of a time range in the order of their ids, which is that of time.

    The end of the range is left out. There are only fewer than the limit at the end of
    the range: damaged events are replaced by those after them.
    """
    conditions = {
        "e.id >= ?": lowest_id(start_ms) if start_ms is not None else "",
        "e.id < ?": lowest_id(end_ms) if end_ms is not None else "",
        "s.agent = ?": scope.agent,
        "s.project = ?": scope.project,
        "s.name = ?": session,
    }
    chosen = {condition: value for condition, value in conditions.items() if value}
    where = " AND ".join(["e.id > ?", *chosen])
    # The order by the primary key comes first: the sessions are looked up.
    sql = f"{_SELECT.replace(' JOIN ', ' CROSS JOIN ')} WHERE {where}"
    listed: list[Event] = []
    while (missing := limit - len(listed)) > 0:
        rows = fetch(f"{sql} ORDER BY e.id LIMIT ?", after, *chosen.values(), missing)
        listed += read_rows(rows)
        if len(rows) < missing:
            break
        after = rows[-1][0]
    return listed


def last_message_ms(number: int, start_ms: int, end_ms: int) -> int | None:
    at_ms: int | None = fetch_value(
        f"SELECT at_ms FROM events WHERE session_id = ? AND at_ms BETWEEN ? AND ?"
        f" AND {IS_MESSAGE} ORDER BY at_ms DESC LIMIT 1",
        number,
        start_ms,
        end_ms,
    )
    return at_ms


def add_thoughts(thoughts: Iterable[Thought]) -> None:
    allowed = tombstones.filter_thoughts(list(thoughts))
    new = {thought.thought_id: thought for thought in allowed}
    for thought_id in existing_keys("thoughts", new):
        del new[thought_id]
    numbers: dict[SessionKey, int] = {}
    rows = []
    for thought in new.values():
        key, at_ms = (thought.agent, thought.session_id), to_ms(thought.at)
        if key not in numbers:
            numbers[key] = sessions.open_number(*key, at_ms)
        row = thought.thought_id, numbers[key], at_ms, thought.subagent, thought.text
        rows.append(row)
    insert("thoughts", rows)


def read_thoughts_after(thought_id: str, limit: int) -> list[tuple[str, Thought]]:
    """Return the thoughts with higher ids than one, in their order, with their ids."""
    sql = _SELECT_THOUGHTS.replace("SELECT", "SELECT t.id,", 1)
    rows = fetch(f"{sql} WHERE t.id > ? ORDER BY t.id LIMIT ?", thought_id, limit)
    return [(name, _to_thought(row)) for name, *row in rows]


def thoughts_between(
    number: int,
    start_ms: int,
    end_ms: int,
    *,
    subagent: str,
    limit: int,
) -> list[Thought]:
    """Return the thoughts of a conversation between two times, both included."""
    rows = fetch(
        f"{_SELECT_THOUGHTS} WHERE t.session_id = ? AND t.at_ms BETWEEN ? AND ?"
        " AND t.subagent = ? ORDER BY t.at_ms, t.id LIMIT ?",
        number,
        start_ms,
        end_ms,
        subagent,
        limit,
    )
    return [_to_thought(row) for row in rows]


_SELECT_THOUGHTS = (
    "SELECT s.agent, s.name, t.at_ms, t.text, t.subagent FROM thoughts t"
    " JOIN sessions s ON s.id = t.session_id"
)
"""Selects whole thoughts, in the order of the fields of ``Thought``."""


def _to_thought(row: Sequence[Any]) -> Thought:
    agent, session_id, at_ms, text, subagent = row
    return Thought(agent, session_id, from_ms(at_ms), text, subagent)


def count_thoughts(number: int, subagent: str) -> int:
    sql = "SELECT count(*) FROM thoughts WHERE session_id = ? AND subagent = ?"
    return int(fetch_value(sql, number, subagent))


# Everything, with its origin: for export and redaction

PAGE_ROWS = 500

_SELECT_WITH_ORIGIN = (
    f"SELECT {COLUMNS}, e.route, e.source_hash"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)


def read_all() -> Iterator[SessionMetadata | Event | SubagentMetadata | Thought]:
    """Yield everything as it is at one moment, even if another process writes."""
    with db.atomic():
        for row in sessions.list_rows():
            yield SessionMetadata(
                agent=row["agent"],
                session_id=row["name"],
                cwd=row["cwd"],
                project=row["project"],
                branch=row["branch"],
                title=row["title"],
                model=row["model"],
                at=None if row["project_ms"] is None else from_ms(row["project_ms"]),
                root=row["root"],
                created_by=row["created_by"],
                forked_from=row["forked_from"],
                summary=row["summary"],
                own_name=row["own_name"],
                is_title_given=sessions.is_title_given(row),
            )
            own = f"{_SELECT_WITH_ORIGIN} WHERE e.session_id = ? {_IN_ORDER}"
            events_of = db.execute_sql(own, (row["id"],))
            while page := events_of.fetchmany(PAGE_ROWS):
                yield from _with_origin(page)
        for columns in db.execute_sql(
            "SELECT agent, session_name, subagent, kind, tool_use_id, task"
            " FROM subagents ORDER BY agent, session_name, subagent"
        ):
            yield SubagentMetadata(*columns)
        sql = "SELECT id FROM events WHERE session_id NOT IN (SELECT id FROM sessions)"
        for event_id in fetch_column(sql):
            note_unreadable(event_id, "it has no session")
        thoughts = db.execute_sql(f"{_SELECT_THOUGHTS} ORDER BY t.id")
        yield from map(_to_thought, thoughts)


def read_after(event_id: str, limit: int) -> list[Event]:
    """Return events with higher ids than one, in their order; empty at the end."""
    while rows := fetch(
        f"{_SELECT_WITH_ORIGIN} WHERE e.id > ? ORDER BY e.id LIMIT ?", event_id, limit
    ):
        if readable := _with_origin(rows):
            return readable
        event_id = rows[-1][0]
    return []


def _with_origin(rows: Sequence[Any]) -> list[Event]:
    """Return the events that can be read, with what is known of their origin."""
    read = {event.event_id: event for event in read_rows(r[:-2] for r in rows)}
    copies: dict[str, list[SourceCopy]] = {}
    for event_id, copy_id, route, name in fetch(
        "SELECT c.event_id, c.copy_id, c.route, s.name FROM source_copies c"
        " LEFT JOIN sessions s ON s.id = c.session_id"
        f" WHERE c.event_id {IN_JSON} ORDER BY c.copy_id",
        json.dumps(list(read)),
    ):
        copies.setdefault(event_id, []).append(SourceCopy(copy_id, route, name or ""))
    return [
        replace(
            read[event_id],
            provenance=Provenance(
                route if isinstance(route, str) else "",
                source_hash if isinstance(source_hash, bytes) else None,
                tuple(copies.get(event_id, ())),
            ),
        )
        for event_id, *_, route, source_hash in rows
        if event_id in read
    ]


# The input of the message index: events, and titles of sessions

_SELECT_INDEXABLE = (
    "SELECT e.id, e.session_id, e.subagent, e.at_ms, e.ordinal, e.type, e.role, e.text,"
    " CASE WHEN e.type = 'tool_result' AND json_valid(e.metadata)"
    " THEN json_extract(e.metadata, '$.tool_name') END,"
    " (SELECT group_concat(copy_id) FROM source_copies t WHERE t.event_id = e.id),"
    " CAST(s.agent AS TEXT), CAST(s.project AS TEXT)"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)
ARE_MESSAGES = "type IN ('user_message', 'assistant_message')"


@dataclass(frozen=True, slots=True)
class IndexableEvent:
    """An event as the message index reads it."""

    event_id: str
    session: int
    subagent: str
    at_ms: int
    ordinal: int
    type: EventType
    role: EventRole
    text: str
    tool: str = ""
    copy_ids: tuple[str, ...] = ()
    """The ids that copies of it had in other sources."""
    agent: str = ""
    project: str = ""

    @property
    def indexed_role(self) -> EventRole | None:
        """The role it is indexed under; None if it is not indexed."""
        if self.type is EventType.TOOL_RESULT:
            return EventRole.TOOL if self.tool or self.text else None
        if self.type not in MESSAGES:
            return None
        is_speaker = self.role in (EventRole.USER, EventRole.ASSISTANT)
        return self.role if is_speaker else EventRole.SYSTEM


class SessionTexts(NamedTuple):
    """The texts by which a session is found, besides its messages."""

    session: int
    title: str
    """Its name, unless that is the beginning of a message, and the agent's title."""
    summary: str
    """The summary that its agent gave it."""
    bullets: str
    """The headlines and bullets of its segments."""


def list_indexable(ranges: Iterable[EventRange]) -> list[IndexableEvent]:
    """Return the events of these ranges that are still stored, ordered by id."""
    sql = f"{_SELECT_INDEXABLE} WHERE e.rowid BETWEEN ? AND ?"
    rows = [row for part in ranges for row in fetch(sql, part.first, part.last)]
    return sorted(_read(rows, _make_indexable), key=attrgetter("event_id"))


def list_indexable_before(event_id: str, limit: int) -> list[IndexableEvent]:
    """Return the events before one (before all for ""), the latest first."""
    sql = f"{_SELECT_INDEXABLE} WHERE e.id < ? ORDER BY e.id DESC LIMIT ?"
    # "~" follows all ids.
    return list(_read(fetch(sql, event_id or "~", limit), _make_indexable))


def list_ids(prefix: str, limit: int) -> list[str]:
    """Return the ids of events that begin so."""
    sql = "SELECT id FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    return fetch_column(sql, *prefix_range(prefix), limit)


def list_newest_indexable(limit: int) -> list[IndexableEvent]:
    sql = f"{_SELECT_INDEXABLE} WHERE e.{ARE_MESSAGES} ORDER BY e.id DESC LIMIT ?"
    return list(_read(reversed(fetch(sql, limit)), _make_indexable))


def count_messages() -> int:
    return int(fetch_value(f"SELECT count(*) FROM events WHERE {ARE_MESSAGES}"))


def list_session_numbers() -> list[int]:
    return fetch_column("SELECT id FROM sessions")


def read_session_texts(sessions: Iterable[int]) -> list[SessionTexts]:
    """Return what sessions are found by, besides their messages."""
    is_message = (
        f"EXISTS (SELECT 1 FROM events e WHERE json_valid(s.work) AND e.{ARE_MESSAGES}"
        " AND e.id = json_extract(s.work, '$.name_event_id'))"
    )
    numbers = json.dumps(sorted(sessions))
    segments = fetch(
        "SELECT g.session_id, n.node_id, v.headline || '' FROM segments g"
        " JOIN nodes n ON n.node_id = g.id JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE g.session_id {IN_JSON} ORDER BY g.start_ms, g.id",
        numbers,
    )
    lines = nodes.list_lines([node_id for _, node_id, _ in segments], UNSEARCHED)
    of_sessions: dict[int, list[str]] = {}
    for number, node_id, headline in segments:
        of_sessions.setdefault(number, []).extend((headline or "", *lines[node_id]))
    rows = fetch(
        "SELECT s.id, s.own_name || char(10) ||"
        f" CASE WHEN {is_message} THEN '' ELSE s.work_name END || char(10)"
        f" || s.title, s.summary || '' FROM sessions s WHERE s.id {IN_JSON}",
        numbers,
    )
    return [
        SessionTexts(
            number, title or "", summary or "", "\n".join(of_sessions.get(number, ()))
        )
        for number, title, summary in rows
    ]


def _make_indexable(
    event_id: str,
    session: int,
    subagent: str,
    at_ms: int,
    ordinal: int,
    kind: str,
    role: str,
    text: str,
    tool: str | None,
    copy_ids: str | None,
    *names: str,
) -> IndexableEvent:
    _check_types((event_id, subagent, at_ms, ordinal, text), _INDEXABLE_TYPES)
    from_ms(at_ms)  # Raises an error for a time of no calendar.
    return IndexableEvent(
        event_id,
        session,
        subagent,
        at_ms,
        ordinal,
        EventType(kind),
        EventRole(role),
        text,
        tool or "",
        tuple(copy_ids.split(",")) if copy_ids else (),
        *names,
    )
