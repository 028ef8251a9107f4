"""Which session owns an event that several sessions have.

Forks, and sessions that were resumed under another name, repeat events of another
session. Each event is stored with the session that had it first, its owner. The owner
is decided from the events themselves, never from import order. Imports record the
sessions whose events may have a new owner (``owner_updates``); ``update`` rechecks
them.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cmp_to_key

from memtui.model.events import timestamp_ms_of_id
from memtui.store import events, outbox, owner_updates, segments, sessions
from memtui.store.database import db, last_rowids
from memtui.store.dedup import StoredEvent, route_rank
from memtui.store.fingerprints import fingerprint_in
from memtui.store.schema import EventRow, SessionRow, SourceCopyRow, unlocked_events

_OWNERS = (
    "SELECT DISTINCT e.session_id FROM source_copies c"
    " JOIN events e ON e.id = c.event_id WHERE c.session_id = ?"
)

_MOVE_COPIES = (
    "UPDATE source_copies SET event_id = ?1,"
    " session_id = nullif(coalesce(session_id, ?3), ?2) WHERE event_id = ?4"
)
"""Point the other copies at the new id; each keeps its session (NULL: the event's)."""


@dataclass(slots=True)
class _SharedEvent:
    """An event that several sessions have."""

    stored: StoredEvent
    copies: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The route and the id of its copy in each of the other sessions."""

    @property
    def first_ms(self) -> int:
        """The earliest time of any copy."""
        copies_ms = [timestamp_ms_of_id(copy_id) for _, copy_id in self.copies.values()]
        return min([self.stored.at_ms, *copies_ms])

    @property
    def sessions(self) -> set[int]:
        return {self.stored.session, *self.copies}


def update() -> None:
    """Move events shared by the recorded sessions to the session that had them first.

    That is the one whose own events begin earlier; a session with no events of
    its own is wholly contained in the other, and so came first.
    """
    group = _find_group(owner_updates.take())
    if len(group) < 2:
        return
    shared = list(_read_shared(group))
    if not shared:
        return
    names = dict(_read_names(group))
    ranks = {number: rank for rank, number in enumerate(_sort_by_age(names, shared))}
    changed = set[int]().union(*(event.sessions for event in shared))
    with unlocked_events():
        for event in shared:
            first = min(event.sessions, key=ranks.__getitem__)
            if first != event.stored.session:
                _move(event, first, names[first])
    for number in changed:
        sessions.recount(number)
    _set_parents(names, ranks, shared)


def _find_group(numbers: set[int]) -> set[int]:
    """Return the sessions that share events with these, directly or indirectly."""
    rows = SessionRow.select(SessionRow.id, SessionRow.agent, SessionRow.forked_from)
    forks = list(rows.where(SessionRow.forked_from != "").tuples())
    group, new = set[int](), numbers
    while new:
        group |= new
        rows = list(_read_sessions(new))
        own = {(agent, name) for _, agent, name, _ in rows}
        parents = {(agent, parent) for _, agent, _, parent in rows if parent}
        found = {n for n, agent, parent in forks if (agent, parent) in own}
        for agent, name in parents:
            parent = SessionRow.select(SessionRow.id).where(
                SessionRow.agent == agent, SessionRow.name == name
            )
            found |= {n for (n,) in parent.tuples()}
        for number in new:
            found |= {n for (n,) in db.execute_sql(_OWNERS, (number,)).fetchall()}
        new = found - group
    return group


def _read_sessions(numbers: Collection[int]) -> Iterator[tuple[int, str, str, str]]:
    rows = SessionRow.select(
        SessionRow.id, SessionRow.agent, SessionRow.name, SessionRow.forked_from
    ).where(SessionRow.id.in_(list(numbers)))
    yield from rows.tuples()


def _read_names(numbers: Collection[int]) -> Iterator[tuple[int, str]]:
    for number, _, name, _ in _read_sessions(numbers):
        yield number, name


def _read_shared(group: Collection[int]) -> Iterator[_SharedEvent]:
    """Read the events that several sessions of a group have, oldest first."""
    found: dict[str, _SharedEvent] = {}
    rows = (
        SourceCopyRow.select(
            SourceCopyRow.copy_id,
            SourceCopyRow.route,
            SourceCopyRow.session,
            EventRow.id,
            EventRow.route,
            EventRow.session,
            EventRow.at_ms,
        )
        .join(EventRow)
        .where(SourceCopyRow.session.in_(sorted(group)))
        .order_by(EventRow.at_ms, EventRow.id, SourceCopyRow.copy_id)
    )
    for copy_id, route, session, *columns in rows.tuples():
        event = found.setdefault(columns[0], _SharedEvent(StoredEvent(*columns)))
        before = event.copies.get(session)
        is_better = before is None or route_rank(route) > route_rank(before[0])
        if session != event.stored.session and is_better:
            event.copies[session] = route, copy_id
    yield from (event for event in found.values() if event.copies)


def _sort_by_age(names: dict[int, str], shared: Collection[_SharedEvent]) -> list[int]:
    """Return the sessions of a group, earliest first."""
    first: dict[frozenset[int], int] = {}
    for event in shared:
        key = frozenset(event.sessions)
        first[key] = min(event.first_ms, first.get(key, event.first_ms))
    for number in names:
        if (at_ms := _first_own_ms(number, shared)) is not None:
            first[frozenset({number})] = at_ms

    def first_difference_ms(one: int, other: int) -> int:
        """Return the time of the first event that only the first session has.

        0 if there is none: a session contained in the other sorts first.
        """
        times = (at for key, at in first.items() if one in key and other not in key)
        return min(times, default=0)

    def compare(one: int, other: int) -> int:
        key = first_difference_ms(one, other), names[one]
        other_key = first_difference_ms(other, one), names[other]
        return -1 if key < other_key else 1

    return sorted(sorted(names, key=names.__getitem__), key=cmp_to_key(compare))


def _first_own_ms(number: int, shared: Collection[_SharedEvent]) -> int | None:
    """Return the time of a session's first event that is not shared, or None."""
    shared_ids = {event.stored.event_id for event in shared}
    rows = EventRow.select(EventRow.id, EventRow.at_ms).where(
        EventRow.session == number
    )
    in_order = rows.order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id).tuples()
    return next(
        (at for event_id, at in in_order.iterator() if event_id not in shared_ids), None
    )


def _move(event: _SharedEvent, number: int, name: str) -> None:
    """Store an event with another session, under the id of its copy there."""
    old, (route, copy_id) = event.stored, event.copies.pop(number)
    row = EventRow.select().where(EventRow.id == old.event_id).dicts().get()
    (content,) = events.get([old.event_id]).values()
    at_ms = timestamp_ms_of_id(copy_id)
    changes = {
        "id": copy_id,
        "session": number,
        "route": route,
        "fingerprint": fingerprint_in(name, content),
        "at_ms": at_ms,
    }
    SourceCopyRow.delete().where(SourceCopyRow.copy_id == copy_id).execute()
    EventRow.insert(row | changes).execute()
    outbox.add_events(*last_rowids(1), at_ms)
    db.execute_sql(_MOVE_COPIES, (copy_id, number, old.session, old.event_id))
    EventRow.delete().where(EventRow.id == old.event_id).execute()
    SourceCopyRow.insert(
        copy_id=old.event_id, event=copy_id, route=old.route, session=old.session
    ).execute()
    event.copies[old.session] = old.route, old.event_id
    event.stored = StoredEvent(copy_id, route, number, at_ms)
    outbox.add_segment_updates(
        ((copy_id, at_ms, number), (old.event_id, old.at_ms, old.session))
    )
    segments.request_summary_at(old.session, old.at_ms)


def _set_parents(
    names: dict[int, str], ranks: dict[int, int], shared: Collection[_SharedEvent]
) -> None:
    """Set the parent of each session: the owner of the latest event it repeats."""
    parents: dict[int, str] = {}
    for event in shared:
        for number in event.copies:
            parents[number] = names[event.stored.session]
    rank_by_name = {name: ranks[number] for number, name in names.items()}
    for number, _, _, current in _read_sessions(names):
        is_later = rank_by_name.get(current, -1) > ranks[number]
        parent = parents.get(number, "" if is_later else current)
        if parent != current:
            SessionRow.update(forked_from=parent).where(
                SessionRow.id == number
            ).execute()
