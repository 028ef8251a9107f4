"""Whose a conversation is that several sessions tell.

These are forks, and sessions that were resumed under another name. Each event is kept
with the session that was there first. Which one that is depends on what they all tell,
never on the order in which they came. It is looked at anew when something came that
may change it; what a session goes on to say does not.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cmp_to_key

from memtui.memory.events import made_ms
from memtui.store import events, forgetting, outbox, segments, unsettled
from memtui.store.database import db, last_rows
from memtui.store.marks import twin_in
from memtui.store.sessions import recount
from memtui.store.tables.conversations import EventRow, SessionRow, TellingRow
from memtui.store.tellings import Known, rank


@dataclass(slots=True)
class _Shared:
    """An event that several sessions tell."""

    known: Known
    told: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The other sessions that tell it, each with the route and the id under which it
    does."""

    @property
    def first_ms(self) -> int:
        """The earliest time at which any session tells it."""
        told_ms = [made_ms(told_id) for _, told_id in self.told.values()]
        return min([self.known.at_ms, *told_ms])

    @property
    def tellers(self) -> set[int]:
        return {self.known.session, *self.told}


def settle() -> None:
    """Give what several sessions tell to the one that was there first.

    That is the one whose own events begin earlier; one that has none of its own is
    wholly contained in the other, and so was there before it.
    """
    if not (noted := unsettled.take()):
        return
    group = _group(set(noted))
    if len(group) < 2:
        return
    shared = list(_shared(group))
    if not shared:
        return
    names = dict(_names(group))
    places = {number: n for n, number in enumerate(_in_order(names, shared))}
    changed = {one.known.session for one in shared} | {
        n for s in shared for n in s.told
    }
    with forgetting.allowed():
        for one in shared:
            first = min(one.tellers, key=places.__getitem__)
            if first != one.known.session:
                _move(one, first, names[first])
    for number in changed:
        recount(number)
    _name_parents(names, places, shared)


def _group(touched: set[int]) -> set[int]:
    """The sessions that share events with these, directly or by way of others."""
    rows = SessionRow.select(SessionRow.id, SessionRow.agent, SessionRow.forked_from)
    forks = list(rows.where(SessionRow.forked_from != "").tuples())
    group, news = set[int](), touched
    while news:
        group |= news
        about = list(_about(news))
        mine = {(agent, name) for _, agent, name, _ in about}
        above = {(agent, parent) for _, agent, _, parent in about if parent}
        found = {n for n, agent, parent in forks if (agent, parent) in mine}
        for agent, name in above:
            parent = SessionRow.select(SessionRow.id).where(
                SessionRow.agent == agent, SessionRow.name == name
            )
            found |= {n for (n,) in parent.tuples()}
        for number in news:
            found |= {n for (n,) in db.execute_sql(_OWNERS, (number,)).fetchall()}
        news = found - group
    return group


_OWNERS = (
    "SELECT DISTINCT e.session_id FROM tellings t JOIN events e ON e.id = t.event_id"
    " WHERE t.session_id = ?"
)


def _about(numbers: Collection[int]) -> Iterator[tuple[int, str, str, str]]:
    rows = SessionRow.select(
        SessionRow.id, SessionRow.agent, SessionRow.name, SessionRow.forked_from
    ).where(SessionRow.id.in_(list(numbers)))
    yield from rows.tuples()


def _names(numbers: Collection[int]) -> Iterator[tuple[int, str]]:
    for number, _, name, _ in _about(numbers):
        yield number, name


def _shared(group: Collection[int]) -> Iterator[_Shared]:
    """The events that several sessions of a group tell, in the order of time."""
    found: dict[str, _Shared] = {}
    rows = (
        TellingRow.select(
            TellingRow.told_id,
            TellingRow.route,
            TellingRow.session,
            EventRow.id,
            EventRow.route,
            EventRow.session,
            EventRow.at_ms,
        )
        .join(EventRow)
        .where(TellingRow.session.in_(sorted(group)))
        .order_by(EventRow.at_ms, EventRow.id, TellingRow.told_id)
    )
    for told_id, route, teller, *about in rows.tuples():
        one = found.setdefault(about[0], _Shared(Known(*about)))
        before = one.told.get(teller)
        is_better = before is None or rank(route) > rank(before[0])
        if teller != one.known.session and is_better:
            one.told[teller] = route, told_id
    yield from (one for one in found.values() if one.told)


def _in_order(names: dict[int, str], shared: Collection[_Shared]) -> list[int]:
    """A group's sessions, the one that was there first first."""
    first: dict[frozenset[int], int] = {}
    for one in shared:
        whose = frozenset(one.tellers)
        first[whose] = min(one.first_ms, first.get(whose, one.first_ms))
    for number in names:
        if (at_ms := _first_alone(number, shared)) is not None:
            first[frozenset({number})] = at_ms

    def began(one: int, than: int) -> int:
        """When a session first tells what the other does not; 0 if it never does."""
        own = (at for told, at in first.items() if one in told and than not in told)
        return min(own, default=0)

    def compare(one: int, other: int) -> int:
        mine, theirs = began(one, other), began(other, one)
        return -1 if (mine, names[one]) < (theirs, names[other]) else 1

    return sorted(sorted(names, key=names.__getitem__), key=cmp_to_key(compare))


def _first_alone(number: int, shared: Collection[_Shared]) -> int | None:
    """When a session first tells what no other one does; None if it never does."""
    others = {one.known.event_id for one in shared}
    rows = EventRow.select(EventRow.id, EventRow.at_ms).where(
        EventRow.session == number
    )
    in_order = rows.order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id).tuples()
    return next((at for name, at in in_order.iterator() if name not in others), None)


_FOLLOW = (
    "UPDATE tellings SET event_id = ?1,"
    " session_id = nullif(coalesce(session_id, ?3), ?2) WHERE event_id = ?4"
)
"""The other tellings of an event that moves: whose they are does not change."""


def _move(one: _Shared, to: int, name: str) -> None:
    """Keep an event with another session, under the id it has there."""
    known, (route, told_id) = one.known, one.told.pop(to)
    row = EventRow.select().where(EventRow.id == known.event_id).dicts().get()
    (event,) = events.get([known.event_id]).values()
    at_ms = made_ms(told_id)
    there = {"id": told_id, "session": to, "route": route, "twin": twin_in(name, event)}
    there["at_ms"] = at_ms
    TellingRow.delete().where(TellingRow.told_id == told_id).execute()
    EventRow.insert(row | there).execute()
    outbox.say_added(*last_rows(1), at_ms)
    db.execute_sql(_FOLLOW, (told_id, to, known.session, known.event_id))
    EventRow.delete().where(EventRow.id == known.event_id).execute()
    TellingRow.insert(
        told_id=known.event_id, event=told_id, route=known.route, session=known.session
    ).execute()
    one.told[known.session] = known.route, known.event_id
    one.known = Known(told_id, route, to, at_ms)
    outbox.touch(((told_id, at_ms, to), (known.event_id, known.at_ms, known.session)))
    segments.want_at(known.session, known.at_ms)


def _name_parents(
    names: dict[int, str], places: dict[int, int], shared: Collection[_Shared]
) -> None:
    """Say of each session which one it was forked from: whose last words it repeats."""
    parents: dict[int, str] = {}
    for one in shared:
        for teller in one.told:
            parents[teller] = names[one.known.session]
    later = {name: places[number] for number, name in names.items()}
    for number, _, _, said in _about(names):
        is_wrong = later.get(said, -1) > places[number]
        parent = parents.get(number, "" if is_wrong else said)
        if parent != said:
            SessionRow.update(forked_from=parent).where(
                SessionRow.id == number
            ).execute()
