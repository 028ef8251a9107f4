"""Whose a conversation is that several sessions tell.

These are forks, and sessions that were resumed under another name. Each event is kept
with the session that was there first. Which one that is depends on what they all tell,
never on the order in which they came. It is looked at anew when something came that
may change it; what a session goes on to say does not.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any

from memtui.model.events import (
    Event,
    EventRole,
    EventType,
    Provenance,
    SourceCopy,
    from_ms,
    timestamp_ms_of_id,
)
from memtui.store import (
    events,
    outbox,
    owner_updates,
    segments,
    source_copies,
    tombstones,
)
from memtui.store.database import db, existing_keys, insert, last_rowids
from memtui.store.events import Added
from memtui.store.fingerprints import twin_in
from memtui.store.schema import EventRow, SessionRow, SourceCopyRow
from memtui.store.sessions import recount
from memtui.store.source_copies import Known, rank
from memtui.store.tombstones import Kind, Tombstone
from memtui.text import analyzer


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
        told_ms = [timestamp_ms_of_id(copy_id) for _, copy_id in self.told.values()]
        return min([self.known.at_ms, *told_ms])

    @property
    def tellers(self) -> set[int]:
        return {self.known.session, *self.told}


def settle() -> None:
    """Give what several sessions tell to the one that was there first.

    That is the one whose own events begin earlier; one that has none of its own is
    wholly contained in the other, and so was there before it.
    """
    if not (noted := owner_updates.take()):
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
    with tombstones.allowed():
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
    "SELECT DISTINCT e.session_id FROM source_copies t JOIN events e ON e.id = t.event_id"
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
    for copy_id, route, teller, *about in rows.tuples():
        one = found.setdefault(about[0], _Shared(Known(*about)))
        before = one.told.get(teller)
        is_better = before is None or rank(route) > rank(before[0])
        if teller != one.known.session and is_better:
            one.told[teller] = route, copy_id
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
    "UPDATE source_copies SET event_id = ?1,"
    " session_id = nullif(coalesce(session_id, ?3), ?2) WHERE event_id = ?4"
)
"""The other source_copies of an event that moves: whose they are does not change."""


def _move(one: _Shared, to: int, name: str) -> None:
    """Keep an event with another session, under the id it has there."""
    known, (route, copy_id) = one.known, one.told.pop(to)
    row = EventRow.select().where(EventRow.id == known.event_id).dicts().get()
    (event,) = events.get([known.event_id]).values()
    at_ms = timestamp_ms_of_id(copy_id)
    there = {
        "id": copy_id,
        "session": to,
        "route": route,
        "fingerprint": twin_in(name, event),
    }
    there["at_ms"] = at_ms
    SourceCopyRow.delete().where(SourceCopyRow.copy_id == copy_id).execute()
    EventRow.insert(row | there).execute()
    outbox.say_added(*last_rowids(1), at_ms)
    db.execute_sql(_FOLLOW, (copy_id, to, known.session, known.event_id))
    EventRow.delete().where(EventRow.id == known.event_id).execute()
    SourceCopyRow.insert(
        copy_id=known.event_id, event=copy_id, route=known.route, session=known.session
    ).execute()
    one.told[known.session] = known.route, known.event_id
    one.known = Known(copy_id, route, to, at_ms)
    outbox.touch(((copy_id, at_ms, to), (known.event_id, known.at_ms, known.session)))
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


Complete = Callable[[Sequence[Event]], list[Event]]


WHOLE = (
    "SELECT e.id, s.agent, s.name, e.at_ms, e.type, e.role, e.text, e.metadata,"
    " e.subagent, e.ordinal, e.tokens, e.token_counter, e.route, e.source_hash"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)
"""The rows that ``whole`` takes."""


_TELLINGS = (
    "SELECT t.event_id, t.copy_id, t.route, s.name FROM source_copies t"
    " LEFT JOIN sessions s ON s.id = t.session_id"
    " WHERE t.event_id IN (SELECT value FROM json_each(?)) ORDER BY t.copy_id"
)


def whole(rows: Sequence[Any]) -> list[Event]:
    """Events as they are kept, with all that is known of how they were told."""
    told: dict[str, list[SourceCopy]] = {}
    ids = json.dumps([row[0] for row in rows])
    for event_id, copy_id, route, name in db.execute_sql(_TELLINGS, (ids,)).fetchall():
        told.setdefault(event_id, []).append(SourceCopy(copy_id, route, name or ""))
    return [_event(*row, told=tuple(told.get(row[0], ()))) for row in rows]


def _event(
    event_id: str,
    agent: str,
    session_id: str,
    at_ms: int,
    kind: str,
    role: str,
    text: str,
    metadata: str,
    subagent: str,
    ordinal: int,
    tokens: int,
    counter: str,
    route: str,
    origin: bytes | None,
    *,
    told: tuple[SourceCopy, ...],
) -> Event:
    return Event(
        event_id=event_id,
        session_id=session_id,
        timestamp=from_ms(at_ms),
        event_type=EventType(kind),
        role=EventRole(role),
        text=text,
        metadata=json.loads(metadata) if metadata else {},
        agent=agent,
        subagent=subagent,
        ordinal=ordinal,
        tokens=tokens,
        token_counter=counter,
        provenance=Provenance(route, None if origin is None else bytes(origin), told),
    )


def again(changed: Sequence[Event]) -> None:
    """Put events that say other words now in place of what they were.

    They are told anew: another one may say the same by now. Inside one transaction.
    """
    ids = (json.dumps([event.event_id for event in changed]),)
    mine = "IN (SELECT value FROM json_each(?))"
    asked = f"SELECT DISTINCT session_id FROM events WHERE id {mine}"
    numbers = {number for (number,) in db.execute_sql(asked, ids).fetchall()}
    with tombstones.allowed():
        db.execute_sql(f"DELETE FROM source_copies WHERE event_id {mine}", ids)
        db.execute_sql(f"DELETE FROM events WHERE id {mine}", ids)
    numbers |= add(changed, route="").sessions
    for number in numbers:
        recount(number)
    owner_updates.request(numbers)
    settle()


def add(batch: Sequence[Event], *, route: str, complete: Complete = list) -> Added:
    """Keep events that are new, inside one transaction; see ``events.add``.

    Args:
        batch: Events.
        route: The way those came that no other memory kept.
        complete: Counts the tokens of those that are new.
    """
    by_route: dict[str, list[Event]] = {}
    for event in batch:
        came = event.provenance.route if event.provenance else route
        by_route.setdefault(came, []).append(event)
    added = []
    # The best source_copies first: each brings with it what else it was told as.
    for came in sorted(by_route, key=source_copies.rank, reverse=True):
        added.append(events.add(by_route[came], route=came, complete=complete))
        _note(by_route[came])
    return Added(
        created=tuple(event_id for some in added for event_id in some.created),
        known=sum(some.known for some in added),
        forgotten=sum(some.forgotten for some in added),
        sessions=frozenset[int]().union(*(some.sessions for some in added)),
    )


def _note(batch: Iterable[Event]) -> None:
    """Note what else events were told as, as far as nobody told that here."""
    told = {
        telling.event_id: (event, telling)
        for event in batch
        if event.provenance
        for telling in event.provenance.copies
    }
    if not told:
        return
    for table in (EventRow, SourceCopyRow):
        for event_id in existing_keys(table, told):
            del told[event_id]
    ids = [event.event_id for event, _ in told.values()]
    kept = {event_id: event_id for event_id in ids} | source_copies.resolved(ids)
    asked = (
        "SELECT id, session_id FROM events WHERE id IN (SELECT value FROM json_each(?))"
    )
    owners = dict(db.execute_sql(asked, (json.dumps([*kept.values()]),)).fetchall())
    numbers: dict[tuple[str, str], int] = {}
    rows = []
    for event, telling in told.values():
        instead = kept[event.event_id]
        if instead in owners:
            key = event.agent, telling.session_id or event.session_id
            if key not in numbers:
                numbers[key] = _number(*key, event.timestamp_ms)
            told_in = numbers[key] if numbers[key] != owners[instead] else None
            rows.append((telling.event_id, instead, telling.route, told_in))
    insert(SourceCopyRow, rows)
    owner_updates.request({told_in for *_, told_in in rows if told_in is not None})


def _number(agent: str, session_id: str, at_ms: int) -> int:
    """The number of a session; it is made where missing."""
    row, _ = SessionRow.get_or_create(
        agent=agent,
        name=session_id,
        defaults={"created_ms": at_ms, "updated_ms": at_ms},
    )
    return int(row.id)


def of_chosen(kind: Kind) -> Iterator[Tombstone]:
    """The tombstones that go with one of a kind, for what is chosen now."""
    if kind is Kind.PROJECT:
        for agent, name in _rows(
            "SELECT agent, name FROM sessions"
            " WHERE id IN (SELECT id FROM chosen_sessions)"
        ):
            yield Tombstone(Kind.SESSION, name, agent)
    yield from _told(is_session=kind in (Kind.SESSION, Kind.PROJECT))
    if kind in (Kind.EVENT, Kind.SESSION):
        yield from _copies()
    if kind is Kind.EVENT:
        yield from _twins()
    for _, title in titles():
        yield tombstones.stone(title)
    for key in helpers():
        yield tombstones.helper_stone(*key)


def _told(*, is_session: bool) -> Iterator[Tombstone]:
    """Every id an event has; a session's own are covered by the session's."""
    if not is_session:
        for (name,) in _rows(
            "SELECT id FROM chosen UNION SELECT id FROM chosen_thoughts"
        ):
            yield Tombstone(Kind.EVENT, name)
    elsewhere = " AND session_id IS NOT NULL" if is_session else ""
    for (name,) in _rows(
        "SELECT copy_id FROM source_copies WHERE event_id IN (SELECT id FROM chosen)"
        + elsewhere
    ):
        yield Tombstone(Kind.EVENT, name)


def _copies() -> Iterator[Tombstone]:
    for agent, origin in _rows(
        "SELECT s.agent, e.source_hash FROM events e JOIN chosen c ON c.id = e.id"
        " JOIN sessions s ON s.id = e.session_id WHERE e.source_hash IS NOT NULL"
    ):
        yield Tombstone(Kind.COPY, bytes(origin).hex(), agent)


def _twins() -> Iterator[Tombstone]:
    for twin, route, at_ms in _rows(
        "SELECT e.fingerprint, e.route, e.at_ms FROM events e JOIN chosen c ON c.id = e.id"
    ):
        yield Tombstone(Kind.TWIN, bytes(twin).hex(), route, at_ms)


def titles() -> list[tuple[int, str]]:
    """Sessions, by their numbers, whose titles may say what is chosen.

    Those of sessions that go, and those that share a word with a chosen event.
    """
    found = []
    for number, title, is_gone in _rows(
        "SELECT id, title, id IN (SELECT id FROM chosen_sessions) FROM sessions"
        " WHERE title <> '' AND (id IN (SELECT session FROM chosen)"
        " OR id IN (SELECT session FROM chosen_thoughts)"
        " OR id IN (SELECT id FROM chosen_sessions))"
    ):
        if is_gone or _shares(number, set(analyzer.terms(title))):
            found.append((number, title))
    return found


def _shares(number: int, terms: set[str]) -> bool:
    for kept in ("events", "thoughts"):
        chosen = "chosen" if kept == "events" else "chosen_thoughts"
        told = db.execute_sql(
            f"SELECT text FROM {kept} WHERE id IN"
            f" (SELECT id FROM {chosen} WHERE session = ?)",
            (number,),
        )
        if any(not terms.isdisjoint(analyzer.terms(text)) for (text,) in told):
            return True
    return False


def helpers() -> list[tuple[str, str, str]]:
    """Subagents, by agent, session and name, whose tasks say what is chosen.

    Those that a chosen call started, those with nothing left, those of sessions that
    go.
    """
    calls = {
        json.loads(metadata).get("tool_use_id", "")
        for (metadata,) in _rows(
            "SELECT metadata FROM events WHERE type = 'tool_result'"
            " AND metadata <> '' AND id IN (SELECT id FROM chosen)"
        )
    } - {""}
    found = []
    for agent, session, subagent, tool_use_id, number, is_gone in _rows(
        "SELECT h.agent, session_name, subagent, tool_use_id, s.id,"
        " s.id IN (SELECT id FROM chosen_sessions) FROM subagents h JOIN sessions s"
        " ON s.agent = h.agent AND s.name = h.session_name"
        " WHERE s.id IN (SELECT session FROM chosen)"
        " OR s.id IN (SELECT id FROM chosen_sessions)"
    ):
        if is_gone or tool_use_id in calls or _is_emptied(number, subagent):
            found.append((agent, session, subagent))
    return found


def _is_emptied(number: int, subagent: str) -> bool:
    mine = "SELECT 1 FROM events WHERE session_id = ? AND subagent = ? AND id"
    chosen = "IN (SELECT id FROM chosen)"
    (had,) = _rows(f"SELECT EXISTS ({mine} {chosen})", number, subagent)[0]
    (has,) = _rows(f"SELECT EXISTS ({mine} NOT {chosen})", number, subagent)[0]
    return bool(had and not has)


def _rows(asked: str, *values: object) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = db.execute_sql(asked, values).fetchall()
    return rows
