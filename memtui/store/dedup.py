"""Copies of one event: from a hook and a transcript, or in several sessions.

A hook and the transcript of one session report the same events; a fork and a resumed
session begin with a copy of another one. Each event is stored once, and the ids of all
its copies lead to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from memtui.model.events import Event, EventType
from memtui.store import outbox, owner_updates, segments, sessions
from memtui.store.database import db, insert
from memtui.store.fingerprints import (
    MAX_TIME_DIFFERENCE_MS,
    fingerprint,
    fingerprint_in,
    source_hash,
)
from memtui.store.schema import EventRow, SourceCopyRow, unlocked_events

_HOOK = "hook"

_RANKS = {_HOOK: 0, "jsonl": 1, "transcript": 2}
"""Which copy is better: a hook knows neither the time nor the id of an event."""

_KNOWN_COLUMNS = (EventRow.id, EventRow.route, EventRow.session, EventRow.at_ms)

_BY_SOURCE_HASH = (
    "SELECT id, route, session_id, at_ms, source_hash, text FROM events"
    " WHERE source_hash IN"
)

_OWNER_NAMES = (
    "SELECT DISTINCT s.name FROM source_copies c JOIN events e ON e.id = c.event_id"
    " JOIN sessions s ON s.id = e.session_id WHERE c.session_id = ?"
)

_ASSISTANT_MESSAGES_NEAR = (
    "SELECT id, route, session_id, at_ms, text FROM events e WHERE NOT EXISTS"
    " (SELECT 1 FROM source_copies c WHERE c.event_id = e.id AND c.session_id IS NULL"
    " AND c.route = ?) AND session_id = ? AND at_ms BETWEEN ? AND ?"
    " AND type = 'assistant_message' AND subagent = '' AND route <> ?"
    " AND (route = 'hook' OR ? = 'hook')"
)
"""Assistant messages around a time, where exactly one of two routes is the hooks'."""

_BLOCK_SEPARATOR = "\n\n"
"""What stands between the blocks of a message."""

_CHUNK_ROWS = 500

Numbers = Mapping[tuple[str, str], int]
"""The store's numbers of sessions, by (agent, session id)."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event that is stored already."""

    event_id: str
    route: str
    session: int
    """The number of its session."""
    at_ms: int


def route_rank(route: str) -> int:
    """Return how good the copies of a route are; the best has the highest rank."""
    return _RANKS.get(route, 1)


def match_by_fingerprint(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Pair each event with the nearest copy that came by another route: one to one.

    That may be an event of another session that its own session has a copy of.

    Returns:
        The stored events by the ids of their copies.
    """
    prints = {event.event_id: fingerprint(event) for event in batch}
    free: dict[bytes, list[StoredEvent]] = {}
    for key, stored in _find_without_route(list(set(prints.values())), route):
        free.setdefault(key, []).append(stored)
    for number, owner in _read_owners({numbers[e.agent, e.session_id] for e in batch}):
        own = [e for e in batch if numbers[e.agent, e.session_id] == number]
        there = {fingerprint_in(owner, event): prints[event.event_id] for event in own}
        for key, stored in _find_without_route(list(there), route, number):
            free.setdefault(there[key], []).append(stored)
    matches: dict[str, StoredEvent] = {}
    for event in batch:
        candidates = free.get(prints[event.event_id], [])
        at_ms = event.timestamp_ms
        best = min(
            candidates, key=lambda stored: abs(stored.at_ms - at_ms), default=None
        )
        if best and abs(best.at_ms - at_ms) <= MAX_TIME_DIFFERENCE_MS:
            candidates.remove(best)
            matches[event.event_id] = best
    rest = [event for event in batch if event.event_id not in matches]
    taken = {stored.event_id for stored in matches.values()}
    return matches | _match_last_blocks(rest, numbers, route, taken)


def _match_last_blocks(
    batch: Sequence[Event], numbers: Numbers, route: str, taken: set[str]
) -> dict[str, StoredEvent]:
    """Pair assistant messages when a hook reports only their last block.

    Args:
        batch: The events without a match.
        numbers: The numbers of their sessions.
        route: The way they came.
        taken: The stored events that have a match; those matched here are added.
    """
    matches: dict[str, StoredEvent] = {}
    for event in batch:
        if event.event_type is not EventType.ASSISTANT_MESSAGE or event.subagent:
            continue
        if route != _HOOK and _BLOCK_SEPARATOR not in event.text:
            continue
        at_ms, number = event.timestamp_ms, numbers[event.agent, event.session_id]
        bounds = at_ms - MAX_TIME_DIFFERENCE_MS, at_ms + MAX_TIME_DIFFERENCE_MS
        values = (route, number, *bounds, route, route)
        candidates = [
            StoredEvent(*columns)
            for *columns, text in db.execute_sql(
                _ASSISTANT_MESSAGES_NEAR, values
            ).fetchall()
            if columns[0] not in taken
            and max(text, event.text, key=len).endswith(
                _BLOCK_SEPARATOR + min(text, event.text, key=len).strip()
            )
        ]
        if candidates:
            best = min(candidates, key=lambda stored: abs(stored.at_ms - at_ms))
            taken.add(best.event_id)
            matches[event.event_id] = best
    return matches


def _find_without_route(
    prints: list[bytes], route: str, number: int | None = None
) -> Iterator[tuple[bytes, StoredEvent]]:
    """Find events by their fingerprints that have no copy of a route yet.

    Args:
        prints: The fingerprints.
        route: The route.
        number: The session whose copies count; the event's own when None.
    """
    of_event = SourceCopyRow.event == EventRow.id
    of_session = (
        SourceCopyRow.session.is_null()
        if number is None
        else SourceCopyRow.session == number
    )
    has_route = SourceCopyRow.select().where(
        of_event, of_session, SourceCopyRow.route == route
    )
    condition = EventRow.route != route
    if number is not None:
        condition = fn.EXISTS(SourceCopyRow.select().where(of_event, of_session))
    for chunk in _chunks(prints):
        rows = EventRow.select(*_KNOWN_COLUMNS, EventRow.fingerprint).where(
            EventRow.fingerprint.in_(chunk), condition, ~fn.EXISTS(has_route)
        )
        for *columns, key in rows.tuples():
            yield bytes(key), StoredEvent(*columns)


def _read_owners(numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield sessions, each with the names of those it has copies of events of."""
    for number in sorted(numbers):
        for (name,) in db.execute_sql(_OWNER_NAMES, (number,)).fetchall():
            yield number, name


def match_by_source(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Find events that another session of the same agent has, under the same source id.

    Hook events are also compared with their own session, since their times are when
    they were received. The id alone is not enough: the text must be the same.
    """
    by_hash: dict[bytes, list[Event]] = {}
    for event in batch:
        if key := source_hash(event):
            by_hash.setdefault(key, []).append(event)
    matches: dict[str, StoredEvent] = {}
    for keys in _chunks(list(by_hash)):
        # A statement built by Peewee for 500 keys takes longer than running it.
        marks = ", ".join("?" * len(keys))
        rows = db.execute_sql(f"{_BY_SOURCE_HASH} ({marks})", keys)
        for *columns, key, text in rows.fetchall():
            stored = StoredEvent(*columns)
            for event in by_hash[bytes(key)]:
                is_elsewhere = stored.session != numbers[event.agent, event.session_id]
                if event.text == text and (is_elsewhere or route == _HOOK):
                    matches[event.event_id] = stored
    return matches


def match_within_batch(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Find events that are copies of an earlier one of the same batch."""
    first: dict[tuple[bytes, str], StoredEvent] = {}
    matches: dict[str, StoredEvent] = {}
    for event in batch if len(numbers) > 1 or route == _HOOK else ():
        if key := source_hash(event):
            number = numbers[event.agent, event.session_id]
            own = StoredEvent(event.event_id, route, number, event.timestamp_ms)
            earlier = first.setdefault((key, event.text), own)
            if earlier is not own and (earlier.session != number or route == _HOOK):
                matches[event.event_id] = earlier
    return matches


def add_copies(
    copies: Iterable[tuple[Event, StoredEvent]], numbers: Numbers, route: str
) -> None:
    """Store the ids of copies, which lead to the events stored already."""
    rows = []
    for event, stored in copies:
        own = numbers[event.agent, event.session_id]
        session = own if own != stored.session else None
        rows.append((event.event_id, stored.event_id, route, session))
    insert(SourceCopyRow, rows)
    owner_updates.request({number for *_, number in rows if number is not None})


def replace_events(better: Mapping[StoredEvent, StoredEvent]) -> None:
    """Replace events by better copies of them, which are stored already.

    Args:
        better: The replacement of each event that goes.
    """
    if not better:
        return
    with unlocked_events():
        for stored, replacement in better.items():
            SourceCopyRow.update(event=replacement.event_id).where(
                SourceCopyRow.event == stored.event_id
            ).execute()
            EventRow.delete().where(EventRow.id == stored.event_id).execute()
    rows = []
    for stored, replacement in better.items():
        session = stored.session if stored.session != replacement.session else None
        rows.append((stored.event_id, replacement.event_id, stored.route, session))
    insert(SourceCopyRow, rows)
    owner_updates.request_for_sharers(r.event_id for r in better.values())
    earliest: dict[int, int] = {}
    for stored in better:
        before = earliest.get(stored.session, stored.at_ms)
        earliest[stored.session] = min(stored.at_ms, before)
    owner_updates.request_if_first(earliest)
    outbox.add_segment_updates((s.event_id, s.at_ms, s.session) for s in better)
    for stored in better:
        segments.request_summary_at(stored.session, stored.at_ms)
    for number in {stored.session for stored in better}:
        sessions.recount(number)


def resolve_copies(copy_ids: Sequence[str]) -> dict[str, str]:
    """Return the events that ids of copies lead to, by these ids."""
    found: dict[str, str] = {}
    for ids in _chunks(list(copy_ids)):
        rows = SourceCopyRow.select(SourceCopyRow.copy_id, SourceCopyRow.event)
        found |= dict(rows.where(SourceCopyRow.copy_id.in_(ids)).tuples())
    return found


def _chunks(values: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _CHUNK_ROWS):
        yield values[start : start + _CHUNK_ROWS]
