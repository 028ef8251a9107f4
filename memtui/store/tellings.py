"""Second tellings: one event that came in two ways, or in two sessions.

A hook and the transcript of one session tell the same things; a fork and a resumed
session begin with a copy of another one. Each thing is kept once, and every id it was
ever told under leads to it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from memtui.memory.events import Event, EventType
from memtui.store import forgetting, outbox, segments, tombstones
from memtui.store.database import db, insert
from memtui.store.tables import EventRow, SessionRow, TellingRow

TWIN_MS = tombstones.TWIN_MS
"""How far apart two tellings of one event may be, in milliseconds."""

_RANK = {"hook": 0, "jsonl": 1, "transcript": 2}
"""Which telling is the better one: a hook knows neither the time nor the name of what
it tells."""

_KNOWN = (EventRow.id, EventRow.route, EventRow.session, EventRow.at_ms)

_COPIES = (
    "SELECT id, route, session_id, at_ms, origin, text FROM events WHERE origin IN"
)

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Known:
    """An event that is kept already."""

    event_id: str
    route: str
    session: int
    """Its session's number in the store."""
    at_ms: int


def is_better(route: str, than: str) -> bool:
    """Whether what one route tells is to take the place of what another one told."""
    return _RANK.get(route, 1) > _RANK.get(than, 1)


def twins(
    batch: Sequence[Event], twins: Mapping[str, bytes], route: str
) -> dict[str, Known]:
    """Pair each event with the nearest one that another route told: one to one."""
    free: dict[bytes, list[Known]] = {}
    for keys in _chunks(list({twins[event.event_id] for event in batch})):
        told_so = TellingRow.select().where(
            TellingRow.event == EventRow.id, TellingRow.route == route
        )
        rows = EventRow.select(*_KNOWN, EventRow.twin).where(
            EventRow.twin.in_(keys), EventRow.route != route, ~fn.EXISTS(told_so)
        )
        for *about, twin in rows.tuples():
            free.setdefault(bytes(twin), []).append(Known(*about))
    told: dict[str, Known] = {}
    for event in batch:
        near = free.get(twins[event.event_id], [])
        at_ms = event.timestamp_ms
        best = min(near, key=lambda known: abs(known.at_ms - at_ms), default=None)
        if best and abs(best.at_ms - at_ms) <= TWIN_MS:
            near.remove(best)
            told[event.event_id] = best
    return told


def copies(
    batch: Sequence[Event], numbers: Mapping[tuple[str, str], int]
) -> dict[str, Known]:
    """Events that another session of the same agent has told, under the same name.

    A name is not trusted alone: who says other words under it says something else.
    """
    named: dict[bytes, list[Event]] = {}
    for event in batch:
        if origin := origin_of(event):
            named.setdefault(origin, []).append(event)
    found: dict[str, Known] = {}
    for keys in _chunks(list(named)):
        # A statement built by Peewee for 500 keys takes longer than running it.
        marks = ", ".join("?" * len(keys))
        rows = db.execute_sql(f"{_COPIES} ({marks})", keys)
        for *about, origin, text in rows.fetchall():
            known = Known(*about)
            for event in named[bytes(origin)]:
                is_elsewhere = known.session != numbers[event.agent, event.session_id]
                if is_elsewhere and _is_same(event, text):
                    found[event.event_id] = known
    return found


def _is_same(event: Event, text: str) -> bool:
    """Whether an event says what another one of its name says.

    A tool's call is known by its name alone: its answer may have come in one session
    and not in the other.
    """
    return event.event_type is EventType.TOOL_RESULT or event.text == text


def origin_of(event: Event) -> bytes | None:
    """A hash of the source's own name for an event; None if it has none."""
    if not event.origin:
        return None
    named = "\x1f".join((event.agent, event.event_type, event.origin))
    return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=8).digest()


def note(
    seconds: Iterable[tuple[Event, Known]],
    numbers: Mapping[tuple[str, str], int],
    route: str,
) -> None:
    """Note second tellings: the ids they have lead to the events that are kept."""
    rows = []
    for event, known in seconds:
        mine = numbers[event.agent, event.session_id]
        copied_in = mine if mine != known.session else None
        rows.append((event.event_id, known.event_id, route, copied_in))
    insert(TellingRow, rows)


def give_way(better: Mapping[Known, str]) -> None:
    """Let events be replaced by better tellings, which are kept already.

    Args:
        better: For each event that goes, the id of the one that takes its place.
    """
    if not better:
        return
    with forgetting.allowed():
        for known, event_id in better.items():
            TellingRow.update(event=event_id).where(
                TellingRow.event == known.event_id
            ).execute()
            _leave_session(known)
            EventRow.delete().where(EventRow.id == known.event_id).execute()
    insert(
        TellingRow,
        [(known.event_id, name, known.route, None) for known, name in better.items()],
    )
    outbox.touch((known.event_id, known.at_ms, known.session) for known in better)
    for known in better:
        segments.want_at(known.session, known.at_ms)


def _leave_session(known: Known) -> None:
    """Count an event out of its session."""
    gone = EventRow.get_by_id(known.event_id)
    is_message = not gone.subagent and gone.type in (
        "user_message",
        "assistant_message",
    )
    SessionRow.update(
        event_count=SessionRow.event_count - 1,
        message_count=SessionRow.message_count
        - int(is_message and gone.role in ("user", "assistant")),
    ).where(SessionRow.id == known.session).execute()


def settle(copy: int, owner: int) -> None:
    """Give what two sessions share to the one that was there first.

    That is the one whose own events begin earlier; one that has none of its own is
    wholly contained in the other, and so was there before it.

    Args:
        copy: The number of the session that told the other's events again.
        owner: The number of the session they are kept with.
    """
    shared = TellingRow.select(TellingRow.event).where(TellingRow.session == copy)
    mine = EventRow.select(fn.MIN(EventRow.at_ms)).where(EventRow.session == copy)
    theirs = EventRow.select(fn.MIN(EventRow.at_ms)).where(
        EventRow.session == owner, EventRow.id.not_in(shared)
    )
    names = dict(
        SessionRow.select(SessionRow.id, SessionRow.name)
        .where(SessionRow.id.in_((copy, owner)))
        .tuples()
    )
    first_own, first_other = mine.scalar(), theirs.scalar()
    first, later = owner, copy
    if (first_own or 0, names[copy]) < (first_other or 0, names[owner]):
        first, later = copy, owner
        _hand_over(copy, owner)
    SessionRow.update(forked_from=names[first]).where(SessionRow.id == later).execute()
    SessionRow.update(forked_from="").where(
        SessionRow.id == first, SessionRow.forked_from == names[later]
    ).execute()


def _hand_over(copy: int, owner: int) -> None:
    """Make the events that a session told again its own."""
    rows = (
        TellingRow.select(
            TellingRow.told_id, EventRow.id, EventRow.route, EventRow.at_ms
        )
        .join(EventRow)
        .where(TellingRow.session == copy, EventRow.session == owner)
        .tuples()
    )
    pairs = [(told, Known(name, route, owner, at)) for told, name, route, at in rows]
    with forgetting.allowed():
        for told, known in pairs:
            _rename(told, known, copy)
    _recount(copy)
    _recount(owner)
    outbox.touch((told, known.at_ms, copy) for told, known in pairs)
    outbox.touch((known.event_id, known.at_ms, owner) for _, known in pairs)
    for _, known in pairs:
        segments.want_at(owner, known.at_ms)


def _rename(told: str, known: Known, copy: int) -> None:
    """Move an event to the session in which it has another id."""
    row = EventRow.select().where(EventRow.id == known.event_id).dicts().get()
    TellingRow.delete().where(TellingRow.told_id == told).execute()
    EventRow.insert(row | {"id": told, "session": copy}).execute()
    TellingRow.update(event=told).where(TellingRow.event == known.event_id).execute()
    EventRow.delete().where(EventRow.id == known.event_id).execute()
    TellingRow.insert(
        told_id=known.event_id, event=told, route=known.route, session=known.session
    ).execute()


def _recount(number: int) -> None:
    """Count a session's events anew."""
    message = (
        EventRow.type.in_(("user_message", "assistant_message"))
        & EventRow.role.in_(("user", "assistant"))
        & (EventRow.subagent == "")
    )
    first, last, events, messages = (
        EventRow.select(
            fn.MIN(EventRow.at_ms),
            fn.MAX(EventRow.at_ms),
            fn.COUNT(EventRow.id),
            fn.SUM(message),
        )
        .where(EventRow.session == number)
        .tuples()
        .get()
    )
    if events:
        SessionRow.update(
            created_ms=first,
            updated_ms=last,
            event_count=events,
            message_count=messages or 0,
        ).where(SessionRow.id == number).execute()


def resolved(told_ids: Sequence[str]) -> dict[str, str]:
    """The events that ids lead to under which they were told a second time."""
    found: dict[str, str] = {}
    for ids in _chunks(list(told_ids)):
        rows = TellingRow.select(TellingRow.told_id, TellingRow.event)
        found |= dict(rows.where(TellingRow.told_id.in_(ids)).tuples())
    return found


def _chunks(values: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _ROWS_AT_ONCE):
        yield values[start : start + _ROWS_AT_ONCE]
