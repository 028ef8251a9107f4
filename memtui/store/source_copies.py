"""Second source_copies: one event that came in two ways, or in two sessions.

A hook and the transcript of one session tell the same things; a fork and a resumed
session begin with a copy of another one. Each thing is kept once, and every id it was
ever told under leads to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from memtui.model.events import Event, EventType
from memtui.store import outbox, owner_updates, segments, tombstones
from memtui.store.database import db, insert
from memtui.store.fingerprints import origin_of, twin_in, twin_of
from memtui.store.schema import EventRow, SourceCopyRow
from memtui.store.sessions import recount

TWIN_MS = tombstones.TWIN_MS
"""How far apart two source_copies of one event may be, in milliseconds."""


_HOOK = "hook"


_RANK = {_HOOK: 0, "jsonl": 1, "transcript": 2}
"""Which telling is the better one: a hook knows neither the time nor the name of what
it tells."""


_KNOWN = (EventRow.id, EventRow.route, EventRow.session, EventRow.at_ms)


_COPIES = "SELECT id, route, session_id, at_ms, source_hash, text FROM events WHERE source_hash IN"


_OWNERS = (
    "SELECT DISTINCT s.name FROM source_copies t JOIN events e ON e.id = t.event_id"
    " JOIN sessions s ON s.id = e.session_id WHERE t.session_id = ?"
)


_NEAR = (
    "SELECT id, route, session_id, at_ms, text FROM events e WHERE NOT EXISTS"
    " (SELECT 1 FROM source_copies t WHERE t.event_id = e.id AND t.session_id IS NULL"
    " AND t.route = ?) AND session_id = ? AND at_ms BETWEEN ? AND ?"
    " AND type = 'assistant_message' AND subagent = '' AND route <> ?"
    " AND (route = 'hook' OR ? = 'hook')"
)
"""What assistants said about a time, where just one of two routes is the hooks'."""


_BREAK = "\n\n"
"""What stands between the blocks of a message."""


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
    return rank(route) > rank(than)


def rank(route: str) -> int:
    """How good the source_copies of a route are; the best has the highest rank."""
    return _RANK.get(route, 1)


def twins(
    batch: Sequence[Event], numbers: Mapping[tuple[str, str], int], route: str
) -> dict[str, Known]:
    """Pair each event with the nearest one that another route told: one to one.

    That may be an event of another session which its own session tells too.

    Args:
        batch: The events.
        numbers: The numbers of their sessions.
        route: The way they came.
    """
    names = {event.event_id: twin_of(event) for event in batch}
    free: dict[bytes, list[Known]] = {}
    for twin, known in _untold(list(set(names.values())), route):
        free.setdefault(twin, []).append(known)
    for number, owner in _owners({numbers[e.agent, e.session_id] for e in batch}):
        mine = [e for e in batch if numbers[e.agent, e.session_id] == number]
        there = {twin_in(owner, event): names[event.event_id] for event in mine}
        for twin, known in _untold(list(there), route, number):
            free.setdefault(there[twin], []).append(known)
    told: dict[str, Known] = {}
    for event in batch:
        near = free.get(names[event.event_id], [])
        at_ms = event.timestamp_ms
        best = min(near, key=lambda known: abs(known.at_ms - at_ms), default=None)
        if best and abs(best.at_ms - at_ms) <= TWIN_MS:
            near.remove(best)
            told[event.event_id] = best
    rest = [event for event in batch if event.event_id not in told]
    return told | _endings(rest, numbers, route, {k.event_id for k in told.values()})


def _endings(
    batch: Sequence[Event],
    numbers: Mapping[tuple[str, str], int],
    route: str,
    taken: set[str],
) -> dict[str, Known]:
    """Pair assistants' messages of which a hook tells the last block alone.

    Args:
        batch: The events that have no twin.
        numbers: The numbers of their sessions.
        route: The way they came.
        taken: The events that are paired already; what is paired here joins them.
    """
    told: dict[str, Known] = {}
    for event in batch:
        if event.event_type is not EventType.ASSISTANT_MESSAGE or event.subagent:
            continue
        if route != _HOOK and _BREAK not in event.text:
            continue
        at_ms, number = event.timestamp_ms, numbers[event.agent, event.session_id]
        asked = (route, number, at_ms - TWIN_MS, at_ms + TWIN_MS, route, route)
        near = [
            Known(*known)
            for *known, text in db.execute_sql(_NEAR, asked).fetchall()
            if known[0] not in taken
            and max(text, event.text, key=len).endswith(
                _BREAK + min(text, event.text, key=len).strip()
            )
        ]
        if near:
            best = min(near, key=lambda known: abs(known.at_ms - at_ms))
            taken.add(best.event_id)
            told[event.event_id] = best
    return told


def _untold(
    names: list[bytes], route: str, by: int | None = None
) -> Iterator[tuple[bytes, Known]]:
    """Events of these twins that a route has not told yet.

    Args:
        names: The twins.
        route: The route.
        by: The number of the session that tells them; their own when None.
    """
    telling = SourceCopyRow.event == EventRow.id
    mine = (
        SourceCopyRow.session.is_null() if by is None else SourceCopyRow.session == by
    )
    told_so = SourceCopyRow.select().where(telling, mine, SourceCopyRow.route == route)
    about = EventRow.route != route
    if by is not None:
        about = fn.EXISTS(SourceCopyRow.select().where(telling, mine))
    for some in _chunks(names):
        rows = EventRow.select(*_KNOWN, EventRow.fingerprint).where(
            EventRow.fingerprint.in_(some), about, ~fn.EXISTS(told_so)
        )
        for *known, twin in rows.tuples():
            yield bytes(twin), Known(*known)


def _owners(numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Sessions, by their numbers, and the names of those they tell events of."""
    for number in sorted(numbers):
        for (name,) in db.execute_sql(_OWNERS, (number,)).fetchall():
            yield number, name


def copies(
    batch: Sequence[Event], numbers: Mapping[tuple[str, str], int], route: str
) -> dict[str, Known]:
    """Events that another session of the same agent has told, under the same name.

    So are those that their own session told before, where it is by hooks: their times
    are when they were told. A name is not trusted alone: who says other words under it
    says something else.
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
                if event.text == text and (is_elsewhere or route == _HOOK):
                    found[event.event_id] = known
    return found


def copies_within(
    batch: Sequence[Event], numbers: Mapping[tuple[str, str], int], route: str
) -> dict[str, Known]:
    """Events of a batch that say what one before them says, as ``copies`` tells it."""
    first: dict[tuple[bytes, str], Known] = {}
    found: dict[str, Known] = {}
    for event in batch if len(numbers) > 1 or route == _HOOK else ():
        if origin := origin_of(event):
            number = numbers[event.agent, event.session_id]
            me = Known(event.event_id, route, number, event.timestamp_ms)
            known = first.setdefault((origin, event.text), me)
            if known is not me and (known.session != number or route == _HOOK):
                found[event.event_id] = known
    return found


def note(
    seconds: Iterable[tuple[Event, Known]],
    numbers: Mapping[tuple[str, str], int],
    route: str,
) -> None:
    """Note second source_copies: the ids they have lead to the events that are kept."""
    rows = []
    for event, known in seconds:
        mine = numbers[event.agent, event.session_id]
        copied_in = mine if mine != known.session else None
        rows.append((event.event_id, known.event_id, route, copied_in))
    insert(SourceCopyRow, rows)
    owner_updates.request({number for *_, number in rows if number is not None})


def give_way(better: Mapping[Known, Known]) -> None:
    """Let events be replaced by better source_copies, which are kept already.

    Args:
        better: For each event that goes, the one that takes its place.
    """
    if not better:
        return
    with tombstones.allowed():
        for known, instead in better.items():
            SourceCopyRow.update(event=instead.event_id).where(
                SourceCopyRow.event == known.event_id
            ).execute()
            EventRow.delete().where(EventRow.id == known.event_id).execute()
    rows = []
    for known, instead in better.items():
        told_in = known.session if known.session != instead.session else None
        rows.append((known.event_id, instead.event_id, known.route, told_in))
    insert(SourceCopyRow, rows)
    owner_updates.request_for_sharers(instead.event_id for instead in better.values())
    went: dict[int, int] = {}
    for known in better:
        went[known.session] = min(known.at_ms, went.get(known.session, known.at_ms))
    owner_updates.request_if_first(went)
    outbox.touch((known.event_id, known.at_ms, known.session) for known in better)
    for known in better:
        segments.want_at(known.session, known.at_ms)
    for number in {known.session for known in better}:
        recount(number)


def resolved(told_ids: Sequence[str]) -> dict[str, str]:
    """The events that ids lead to under which they were told a second time."""
    found: dict[str, str] = {}
    for ids in _chunks(list(told_ids)):
        rows = SourceCopyRow.select(SourceCopyRow.copy_id, SourceCopyRow.event)
        found |= dict(rows.where(SourceCopyRow.copy_id.in_(ids)).tuples())
    return found


def _chunks(values: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _ROWS_AT_ONCE):
        yield values[start : start + _ROWS_AT_ONCE]
