"""Events: added once with the outbox row that announces them, then only read."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from peewee import SQL

from memtui.model.events import Event, EventRole, EventType, Thought, from_ms, to_ms
from memtui.model.events import from_ms as from_ms_of
from memtui.store import outbox, owner_updates, source_copies, tombstones
from memtui.store import sessions as store_sessions
from memtui.store.database import db, existing_keys, insert, last_rowids
from memtui.store.fingerprints import origin_of, twin_of
from memtui.store.schema import EventRow, SessionRow, SourceCopyRow, ThoughtRow
from memtui.store.sessions import Known as Session
from memtui.store.sessions import numbers_of, touch
from memtui.store.source_copies import Known

_OUTLINE = (
    EventRow.id,
    EventRow.at_ms,
    EventRow.ordinal,
    EventRow.type,
    EventRow.role,
    EventRow.subagent,
    EventRow.tokens,
)


_COLUMNS = (
    EventRow.id,
    SessionRow.name,
    EventRow.at_ms,
    EventRow.type,
    EventRow.role,
    EventRow.text,
    EventRow.metadata,
    SessionRow.agent,
    EventRow.subagent,
    EventRow.ordinal,
    EventRow.tokens,
    EventRow.token_counter,
)
"""A whole event, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch."""

    created: tuple[str, ...]
    """Ids of the events that were not known before."""
    known: int
    """How many were kept already, told in this way or in another."""
    forgotten: int = 0
    """How many a person had forgotten: they do not come back."""
    sessions: frozenset[int] = frozenset()
    """The numbers of the sessions of which something was not known before."""


def add(
    batch: Sequence[Event],
    *,
    route: str,
    complete: Callable[[Sequence[Event]], list[Event]] = list,
) -> Added:
    """Keep events that are new, each with its outbox row, inside one transaction.

    An event with a known id changes nothing. One that another route or another session
    has told of already is noted as a second telling; where the new telling is the
    better one, it takes the place of the other.

    Args:
        batch: Events.
        route: The way they came: ``hook``, ``transcript``, ``jsonl``.
        complete: Counts the tokens of those that are new.
    """
    wanted = tombstones.spared(batch, route=route, twin_of=twin_of, origin_of=origin_of)
    fresh = complete(unknown(wanted))
    sessions = numbers_of(fresh)
    numbers = {key: session.number for key, session in sessions.items()}
    seconds, worse = _met(fresh, sessions, numbers, route)
    new = [event for event in fresh if event.event_id not in seconds]
    _insert(new, numbers, route)
    again = [(e, seconds[e.event_id]) for e in fresh if e.event_id in seconds]
    source_copies.note(again, numbers, route)
    touch(new, sessions, route)
    source_copies.give_way(worse)
    came: dict[int, int] = {}
    for event in new:
        number = numbers[event.agent, event.session_id]
        came[number] = min(event.timestamp_ms, came.get(number, event.timestamp_ms))
    owner_updates.request_if_first(came)
    replaced = {instead.event_id for instead in worse.values()}
    created = tuple(e.event_id for e in new if e.event_id not in replaced)
    return Added(
        created=created,
        known=len(wanted) - len(created),
        forgotten=len(batch) - len(wanted),
        sessions=frozenset(numbers.values()),
    )


def _met(
    fresh: Sequence[Event],
    sessions: dict[tuple[str, str], Session],
    numbers: dict[tuple[str, str], int],
    route: str,
) -> tuple[dict[str, Known], dict[Known, Known]]:
    """What of unknown events is kept already, told otherwise.

    Returns:
        Those that are told again, by their ids; and the kept ones that are to give
        way, each with what takes its place.
    """
    seconds = source_copies.copies(fresh, numbers, route)
    others = [e for e in fresh if sessions[e.agent, e.session_id].other_routes(route)]
    told = source_copies.twins(others, numbers, route)
    worse = {
        event_id: known
        for event_id, known in told.items()
        if source_copies.is_better(route, known.route)
    }
    seconds = {i: known for i, known in told.items() if i not in worse} | seconds
    rest = [event for event in fresh if event.event_id not in seconds]
    seconds |= source_copies.copies_within(rest, numbers, route)
    by_id = {event.event_id: event for event in others} if worse else {}
    gone = {}
    for event_id, hooked in worse.items():
        event = by_id[event_id]
        mine = numbers[event.agent, event.session_id]
        me = Known(event_id, route, mine, event.timestamp_ms)
        gone[hooked] = seconds.get(event_id, me)
    return seconds, gone


def unknown(batch: Sequence[Event]) -> list[Event]:
    """Those of a batch that are not kept, each once."""
    by_id = {event.event_id: event for event in batch}
    for table in (EventRow, SourceCopyRow):
        for event_id in existing_keys(table, by_id):
            del by_id[event_id]
    return list(by_id.values())


def _insert(
    new: Sequence[Event],
    numbers: dict[tuple[str, str], int],
    route: str,
) -> None:
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
            twin_of(e),
            origin_of(e),
        )
        for e in new
    ]
    if rows:
        insert(EventRow, rows)
        first = min(e.timestamp_ms for e in new)
        outbox.say_added(*last_rowids(len(rows)), first)
    outbox.touch(
        (e.event_id, e.timestamp_ms, numbers[e.agent, e.session_id]) for e in new
    )


def get(event_ids: Iterable[str]) -> dict[str, Event]:
    """Events by their ids, or by ids they were told under; the unknown left out."""
    wanted = list(event_ids)
    rows = db.execute_sql(_named(), (json.dumps(wanted),)).fetchall()
    found = {row[0]: _event(row) for row in rows}
    if others := source_copies.resolved([name for name in wanted if name not in found]):
        meant = get(others.values())
        found |= {told: meant[name] for told, name in others.items() if name in meant}
    return found


def outline(number: int, *, from_ms: int = 0) -> list[Event]:
    """A session's events without their text, subagents' included, in their order.

    Args:
        number: The session's number in the store.
        from_ms: Leave out what happened before this time, in milliseconds.
    """
    rows = (
        EventRow.select(*_OUTLINE)
        .where(EventRow.session == number, EventRow.at_ms >= from_ms)
        .order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id)
        .tuples()
    )
    return [
        Event(
            event_id=event_id,
            session_id="",
            timestamp=from_ms_of(at_ms),
            event_type=EventType(kind),
            role=EventRole(role),
            text="",
            ordinal=ordinal,
            subagent=subagent,
            tokens=tokens,
        )
        for event_id, at_ms, ordinal, kind, role, subagent, tokens in rows
    ]


def between(
    number: int,
    start_ms: int,
    end_ms: int,
    *,
    subagent: str | None = "",
) -> list[Event]:
    """A session's events between two times, both included, in their order.

    Args:
        number: The session's number in the store.
        start_ms: From when, in milliseconds.
        end_ms: Until when, in milliseconds.
        subagent: Whose events; the main conversation's when empty, all when None.
    """
    bounds = [number, start_ms, end_ms]
    whose = [] if subagent is None else [subagent]
    rows = db.execute_sql(_between(is_of_one=bool(whose)), (*bounds, *whose))
    return [_event(row) for row in rows.fetchall()]


@cache
def _between(*, is_of_one: bool) -> str:
    """Peewee's statement, kept: building it takes four times as long as running it."""
    within = (EventRow.session == 0) & EventRow.at_ms.between(0, 0)
    rows = _whole().where(within & (EventRow.subagent == "") if is_of_one else within)
    in_order = rows.order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id)
    return str(in_order.sql()[0])


def _whole() -> Any:
    """All of an event but what only finding its second telling needs."""
    return EventRow.select(*_COLUMNS).join(SessionRow).tuples()


@cache
def _named() -> str:
    """Peewee's statement, kept: building it takes several times as long as running."""
    listed = SQL("(SELECT value FROM json_each(?))", ["[]"])
    return str(_whole().where(EventRow.id.in_(listed)).sql()[0])


def _event(row: tuple[Any, ...]) -> Event:
    event_id, name, at_ms, kind, role, text, metadata, *rest = row
    return Event(
        event_id,
        name,
        from_ms_of(at_ms),
        EventType(kind),
        EventRole(role),
        text,
        json.loads(metadata) if metadata else {},
        *rest,
    )


def add_thoughts(thoughts: Iterable[Thought]) -> None:
    """Keep thoughts; a known one changes nothing.

    Those that a person forgot are not kept again.
    """
    numbers: dict[tuple[str, str], int] = {}
    rows = []
    for thought in tombstones.spared_thoughts(list(thoughts)):
        key, at_ms = (thought.agent, thought.session_id), to_ms(thought.at)
        if key not in numbers:
            numbers[key] = store_sessions.begun(*key, at_ms)
        said = thought.subagent, thought.text
        rows.append((thought.thought_id, numbers[key], at_ms, *said))
    insert(ThoughtRow, rows, conflict="nothing")


def thoughts_between(
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


def count_thoughts() -> int:
    """How many thoughts are kept."""
    return int(ThoughtRow.select().count())
