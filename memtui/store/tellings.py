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

from memtui.memory.events import Event
from memtui.store import forgetting, outbox, segments, tombstones
from memtui.store.database import db, insert
from memtui.store.sessions import recount
from memtui.store.tables import EventRow, TellingRow

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
    return rank(route) > rank(than)


def rank(route: str) -> int:
    """How good the tellings of a route are; the best has the highest rank."""
    return _RANK.get(route, 1)


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
                if is_elsewhere and event.text == text:
                    found[event.event_id] = known
    return found


def copies_within(
    batch: Sequence[Event], numbers: Mapping[tuple[str, str], int], route: str
) -> dict[str, Known]:
    """Events of a batch that say what one before them says for another session."""
    first: dict[tuple[bytes, str], Known] = {}
    found: dict[str, Known] = {}
    for event in batch:
        if origin := origin_of(event):
            number = numbers[event.agent, event.session_id]
            me = Known(event.event_id, route, number, event.timestamp_ms)
            known = first.setdefault((origin, event.text), me)
            if known.session != number:
                found[event.event_id] = known
    return found


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
            EventRow.delete().where(EventRow.id == known.event_id).execute()
    insert(
        TellingRow,
        [(known.event_id, name, known.route, None) for known, name in better.items()],
    )
    outbox.touch((known.event_id, known.at_ms, known.session) for known in better)
    for known in better:
        segments.want_at(known.session, known.at_ms)
    for number in {known.session for known in better}:
        recount(number)


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
