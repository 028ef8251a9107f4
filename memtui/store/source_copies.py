"""Copies of one event: from a hook and a transcript, or in several sessions.

A hook and the transcript of one session report the same events; a fork and a resumed
session begin with a copy of another one. Each event is stored once, with the session
that had it first, its owner; the ids of all its copies lead to it.

The owner is decided from the events themselves, never from import order. Imports note
the sessions whose events may have a new owner; ``update_owners`` rechecks them.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import chain

from memtui.model.events import (
    MAX_TIME_DIFFERENCE_MS,
    Event,
    EventRole,
    EventType,
    content_fingerprint,
    fingerprint,
    source_hash,
    timestamp_ms_of_id,
)
from memtui.store import ids, queues, segments, sessions
from memtui.store.database import (
    IN_JSON,
    db,
    execute,
    fetch,
    fetch_column,
    fetch_dicts,
    insert,
    last_rowids,
)
from memtui.store.digests import with_digest
from memtui.store.schema import unlocked

_HOOK, UNNAMED_HOOK = "hook", "unnamed-hook"
_HOOKS = (_HOOK, UNNAMED_HOOK)
JSONL = "jsonl"

LINE_AND_HOOK = [{JSONL, hook} for hook in _HOOKS]

STARTED = "started"
"""The route of a call that was stored before it ended. It is a copy of the call."""

HAS_NO_RESULT = (
    "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.call_end') END"
    " IS 'unfinished'"
)
"""The condition of calls that were started and have not ended."""

_CALL_ID = (
    "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.tool_use_id') END"
)

_HISTORY = "history"

_RANKS = {_HISTORY: 0, UNNAMED_HOOK: 1, _HOOK: 2, JSONL: 3, "transcript": 4}
"""The order of preference of copies: a hook has neither the time nor the id of an
event, and a history of prompts has nothing else."""

MAX_REPEATED_MS = 60_000
"""The most time between two prompts in a history that a transcript has once."""

MAX_TYPED_MS = 1_000
"""The most time from a typed prompt to its message, where their texts differ."""

MAX_QUEUED_MS = 86_400_000
"""The most time between a prompt in a history and its copies."""

_BLOCK_SEPARATOR = "\n\n"

_OWNER_NAMES = (
    "SELECT DISTINCT s.name FROM source_copies c JOIN events e ON e.id = c.event_id"
    " JOIN sessions s ON s.id = e.session_id WHERE c.session_id = ?"
)

_ASSISTANT_MESSAGES_NEAR = (
    f"SELECT id, {ids.ROUTE}, session_id, at_ms, text FROM events e WHERE NOT EXISTS"
    " (SELECT 1 FROM source_copies c WHERE c.event_id = e.id AND c.session_id IS NULL"
    " AND c.route = :route) AND session_id = :session"
    " AND at_ms BETWEEN :first_ms AND :last_ms"
    f" AND type = 'assistant_message' AND subagent = '' AND {ids.ROUTE} <> :route"
    f" AND (route IN {_HOOKS} OR :route IN {_HOOKS})"
)
"""Assistant messages around a time, where one of two routes is that of hooks."""

_PROMPTS_NEAR = (
    "SELECT fingerprint, (role = 'user' OR {kind} IS 'command') AND NOT EXISTS"
    " (SELECT 1 FROM source_copies c WHERE c.event_id = e.id"
    f" AND c.route = '{_HISTORY}'), id, {ids.ROUTE}, session_id, at_ms FROM events e"
    " WHERE session_id = :session AND at_ms BETWEEN :first_ms AND :last_ms"
    " AND type = 'user_message'"
    f" AND subagent = '' AND (route = '{_HISTORY}') = :is_typed AND NOT {ids.IS_CLAIM}"
    " ORDER BY at_ms, ordinal, id"
).format(
    kind="CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.kind') END"
)
"""The prompts around a time: those of a history, or all others. The second column says
whether they may be a prompt of a history that has another text."""

_EARLIER_OWN_EVENT = (
    "SELECT 1 FROM events e WHERE e.session_id = ? AND e.at_ms < ?"
    f" AND NOT {ids.IS_CLAIM} AND NOT EXISTS"
    " (SELECT 1 FROM source_copies c WHERE c.event_id = e.id"
    " AND c.session_id != e.session_id) ORDER BY e.at_ms DESC LIMIT 1"
)

_LINKED_SESSIONS = """
    WITH RECURSIVE forks(id, parent) AS MATERIALIZED (
        SELECT f.id, p.id FROM sessions f
        JOIN sessions p ON p.agent = f.agent AND p.name = f.forked_from
        WHERE f.forked_from <> ''
    ),
    linked(id) AS (
        SELECT value FROM json_each(?)
        UNION SELECT f.parent FROM linked l JOIN forks f ON f.id = l.id
        UNION SELECT f.id FROM linked l JOIN forks f ON f.parent = l.id
        UNION SELECT e.session_id FROM linked l
        JOIN source_copies c ON c.session_id = l.id JOIN events e ON e.id = c.event_id
    )
    SELECT id FROM linked
"""
"""Finds the sessions that share events with some, directly or indirectly."""

_MOVE_COPIES = (
    "UPDATE source_copies SET event_id = ?,"
    " session_id = nullif(coalesce(session_id, ?), ?) WHERE event_id = ?"
)
"""Point the other copies at the new id; each keeps its session (NULL: the event's)."""

Numbers = Mapping[tuple[str, str], int]
"""The store's numbers of sessions, by (agent, session id)."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event that is stored already."""

    event_id: str
    route: str
    session: int
    at_ms: int


def route_rank(route: str) -> int:
    """Return how good the copies of a route are; the best has the highest rank."""
    return _RANKS.get(route, _RANKS[JSONL])


def match_unfinished(
    batch: Sequence[Event], numbers: Numbers
) -> tuple[dict[str, StoredEvent], dict[StoredEvent, Event]]:
    """Pair calls that ended with what is stored of their start, and the reverse.

    Returns the stored calls by the ids of events that only say that they were started;
    and the stored calls that have ended now, each with the event that says so.
    """
    calls = [event for event in batch if event.is_tool_call]
    stored_calls = _find_calls(calls) if calls else {}
    copies: dict[str, StoredEvent] = {}
    ended: dict[StoredEvent, Event] = {}
    for call in calls:
        number = numbers[call.agent, call.session_id]
        call_id = call.metadata.get("tool_use_id", "")
        by_id = stored_calls.get((number, fingerprint(call), call.has_no_result), {})
        same = by_id.get(call_id, []) if call_id else []
        # Without ids, only a call soon after it counts.
        near = by_id.get("", []) if call_id else [*chain(*by_id.values())]
        near = [c for c in near if abs(_waited_ms(c, call)) <= MAX_TIME_DIFFERENCE_MS]
        candidates = [
            stored
            for stored in (*same, *near)
            if stored not in ended and _waited_ms(stored, call) >= 0
        ]
        if best := _nearest(candidates, call):
            if call.has_no_result:
                copies[call.event_id] = best
            else:
                ended[best] = call
    return copies, ended


_StoredCalls = dict[tuple[int, bytes, bool], dict[str, list[StoredEvent]]]
"""Stored calls by session, fingerprint and whether they ended; then by their ids in the
source, which are "" if they have none."""


def _find_calls(calls: Sequence[Event]) -> _StoredCalls:
    """Find the stored calls with these fingerprints.

    Those that ended are only looked for if one of these calls did not.
    """
    prints = {fingerprint(call) for call in calls}
    condition = "1" if any(call.has_no_result for call in calls) else HAS_NO_RESULT
    stored_calls: _StoredCalls = {}
    for key, has_no_result, call_id, *columns in fetch(
        f"SELECT fingerprint, {HAS_NO_RESULT}, {_CALL_ID}, id, {ids.ROUTE}, session_id,"
        f" at_ms FROM events e WHERE fingerprint IN ({', '.join('?' * len(prints))})"
        f" AND type = 'tool_result' AND {condition}",
        *prints,
    ):
        stored = StoredEvent(*columns)
        by_id = stored_calls.setdefault(
            (stored.session, bytes(key), not has_no_result), {}
        )
        by_id.setdefault(str(call_id or ""), []).append(stored)
    return stored_calls


def _waited_ms(stored: StoredEvent, call: Event) -> int:
    """Return the time from the start of a call to its end; one of both is stored."""
    waited_ms = call.timestamp_ms - stored.at_ms
    return -waited_ms if call.has_no_result else waited_ms


def match_by_fingerprint(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Pair each event with the nearest copy that came by another route: one to one.

    That may be an event of another session that its own session has a copy of. The
    result is by the ids of the copies.
    """
    prints = {event.event_id: fingerprint(event) for event in batch}
    free: dict[bytes, list[StoredEvent]] = {}
    numbers_of = {prints[e.event_id]: numbers[e.agent, e.session_id] for e in batch}
    for key, stored in _find_without_route(set(prints.values()), route):
        # Only a hook may name another agent than the one whose session it is.
        if stored.session == numbers_of[key] or JSONL not in (route, stored.route):
            free.setdefault(key, []).append(stored)
    for number in sorted({numbers[e.agent, e.session_id] for e in batch}):
        own = [e for e in batch if numbers[e.agent, e.session_id] == number]
        for (owner,) in fetch(_OWNER_NAMES, number):
            there = {fingerprint(event, owner): prints[event.event_id] for event in own}
            for key, stored in _find_without_route(there, route, number):
                free.setdefault(there[key], []).append(stored)
    matches: dict[str, StoredEvent] = {}
    for event in batch:
        candidates = free.get(prints[event.event_id], [])
        best = _nearest(candidates, event)
        # A prompt waits in a queue before it is in the transcript.
        is_typed = _HISTORY in (route, best.route if best else "")
        most_ms = MAX_QUEUED_MS if is_typed else MAX_TIME_DIFFERENCE_MS
        if best and abs(best.at_ms - event.timestamp_ms) <= most_ms:
            candidates.remove(best)
            matches[event.event_id] = best
    unmatched = [event for event in batch if event.event_id not in matches]
    matches |= _match_calls(unmatched, numbers, route)
    return matches | _match_last_blocks(batch, numbers, route, matches)


def match_typed(
    batch: Iterable[Event], numbers: Numbers, route: str, taken: set[str]
) -> Iterator[tuple[Event, StoredEvent]]:
    """Pair prompts of a history with messages of the same time or text, best first.

    Their texts differ by what was pasted, by pictures and by how commands are written.
    One of both is stored already. A history may have a prompt twice. ``taken`` are the
    ids of messages that have a prompt of the same text.
    """
    pairs: list[tuple[tuple[bool, int, str], Event, StoredEvent]] = []
    for event in batch:
        kind = event.metadata.get("kind")
        is_prompt = event.role is EventRole.USER or kind == "command"
        is_message = event.event_type is EventType.USER_MESSAGE and not event.subagent
        if route == JSONL or not (is_prompt and is_message):
            continue
        at_ms, own = event.timestamp_ms, fingerprint(event)
        for key, is_free, *columns in fetch(
            _PROMPTS_NEAR,
            session=numbers[event.agent, event.session_id],
            first_ms=at_ms - MAX_REPEATED_MS,
            last_ms=at_ms + MAX_REPEATED_MS,
            is_typed=route != _HISTORY,
        ):
            stored = StoredEvent(*columns)
            waited_ms = abs(stored.at_ms - at_ms)
            is_other_text = bytes(key) != own
            if not is_other_text or (is_free and waited_ms <= MAX_TYPED_MS):
                order = is_other_text, waited_ms, event.event_id
                pairs.append((order, event, stored))
    for (is_other_text, *_), event, stored in sorted(pairs, key=lambda pair: pair[0]):
        message = stored if route == _HISTORY else event
        if not (is_other_text and message.event_id in taken):
            taken.add(message.event_id)
            yield event, stored


def _match_calls(
    batch: Iterable[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Pair calls that hooks and transcripts give the same id, but other names.

    Codex tells hooks that it runs ``Bash``, and writes ``exec_command``. Lines that
    anyone can write are left out.
    """
    calls = {
        (source_hash(event), numbers[event.agent, event.session_id]): event
        for event in batch
        if event.is_tool_call and source_hash(event) and route != JSONL
    }
    if not calls:
        return {}
    matches: dict[str, StoredEvent] = {}
    for key, *columns in fetch(
        "SELECT source_hash, id, route, session_id, at_ms FROM events e"
        f" WHERE source_hash IN ({', '.join('?' * len(calls))})"
        f" AND type = 'tool_result' AND NOT {ids.IS_CLAIM} AND e.route <> ?"
        f" AND (e.route IN {_HOOKS} OR ? IN {_HOOKS}) AND NOT EXISTS (SELECT 1 FROM"
        " source_copies c WHERE c.event_id = e.id AND c.route = ?) ORDER BY at_ms DESC",
        *(key for key, _ in calls),
        *[route] * 3,
    ):
        stored = StoredEvent(*columns)
        if call := calls.get((bytes(key), stored.session)):
            matches[call.event_id] = stored
    return matches


def _nearest(candidates: Iterable[StoredEvent], event: Event) -> StoredEvent | None:
    at_ms = event.timestamp_ms
    return min(candidates, key=lambda stored: abs(stored.at_ms - at_ms), default=None)


def _match_last_blocks(
    batch: Sequence[Event],
    numbers: Numbers,
    route: str,
    matched: Mapping[str, StoredEvent],
) -> dict[str, StoredEvent]:
    """Pair the rest of a batch's assistant messages where a hook has the last block.

    Hooks report only the last block of a message.
    """
    taken = {stored.event_id for stored in matched.values()}
    matches: dict[str, StoredEvent] = {}
    for event in batch:
        if (
            event.event_id in matched
            or event.event_type is not EventType.ASSISTANT_MESSAGE
            or event.subagent
            or (route not in _HOOKS and _BLOCK_SEPARATOR not in event.text)
        ):
            continue
        at_ms, number = event.timestamp_ms, numbers[event.agent, event.session_id]
        rows = fetch(
            _ASSISTANT_MESSAGES_NEAR,
            route=route,
            session=number,
            first_ms=at_ms - MAX_TIME_DIFFERENCE_MS,
            last_ms=at_ms + MAX_TIME_DIFFERENCE_MS,
        )
        candidates = [
            StoredEvent(*columns)
            for *columns, text in rows
            if columns[0] not in taken
            and max(text, event.text, key=len).endswith(
                _BLOCK_SEPARATOR + min(text, event.text, key=len).strip()
            )
        ]
        if best := _nearest(candidates, event):
            taken.add(best.event_id)
            matches[event.event_id] = best
    return matches


def _find_without_route(
    prints: Collection[bytes], route: str, number: int | None = None
) -> Iterator[tuple[bytes, StoredEvent]]:
    """Find events by their fingerprints that have no copy of a route yet.

    A copy counts if it is in the session of this number, or without a number in the
    event's own session.
    """
    copies = (
        "EXISTS (SELECT 1 FROM source_copies c"
        " WHERE c.event_id = e.id AND c.session_id IS ?"
    )
    condition = f"{ids.ROUTE} <> ?" if number is None else f"{copies})"
    for key, *columns in fetch(
        f"SELECT fingerprint, id, {ids.ROUTE}, session_id, at_ms FROM events e"
        f" WHERE {condition} AND NOT {copies} AND c.route = ?)"
        f" AND fingerprint IN ({', '.join('?' * len(prints))})",
        route if number is None else number,
        number,
        route,
        *prints,
    ):
        yield key, StoredEvent(*columns)


def match_by_source(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Find events that another session of the same agent has, under the same source id.

    Hook events are also compared with their own session, since their times are when
    they were received. The id is not enough: the text must be the same, too.
    """
    by_hash: dict[bytes, list[Event]] = {}
    for event in batch:
        if key := source_hash(event):
            by_hash.setdefault(key, []).append(event)
    matches: dict[str, StoredEvent] = {}
    rows = fetch(
        f"SELECT id, {ids.ROUTE}, session_id, at_ms, source_hash, text FROM events e"
        f" WHERE source_hash IN ({', '.join('?' * len(by_hash))})",
        *by_hash,
    )
    for *columns, key, text in rows:
        stored = StoredEvent(*columns)
        for event in by_hash[bytes(key)]:
            is_elsewhere = stored.session != numbers[event.agent, event.session_id]
            if event.text == text and (is_elsewhere or route in _HOOKS):
                matches[event.event_id] = stored
    return matches


def match_within_batch(
    batch: Sequence[Event], numbers: Numbers, route: str
) -> dict[str, StoredEvent]:
    """Find events that are copies of an earlier one of the same batch."""
    first: dict[tuple[bytes, str], StoredEvent] = {}
    matches: dict[str, StoredEvent] = {}
    is_hook = route in _HOOKS
    for event in batch if len(numbers) > 1 or is_hook else ():
        if key := source_hash(event):
            number = numbers[event.agent, event.session_id]
            own = StoredEvent(event.event_id, route, number, event.timestamp_ms)
            earlier = first.setdefault((key, event.text), own)
            if earlier is not own and (earlier.session != number or is_hook):
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
        own_route = STARTED if event.has_no_result else route
        rows.append((event.event_id, stored.event_id, own_route, session))
    insert("source_copies", rows)
    sessions.request_owner_update({row[3] for row in rows if row[3] is not None})


def replace_events(better: Mapping[StoredEvent, StoredEvent]) -> None:
    """Replace events by better copies of them, which are stored already."""
    if not better:
        return
    rows = []
    with unlocked():
        for stored, replacement in better.items():
            names = replacement.event_id, stored.event_id
            execute("UPDATE source_copies SET event_id = ? WHERE event_id = ?", *names)
            execute("DELETE FROM events WHERE id = ?", stored.event_id)
            is_elsewhere = stored.session != replacement.session
            session = stored.session if is_elsewhere else None
            row = stored.event_id, replacement.event_id, stored.route, session
            rows.append(row)
    insert("source_copies", rows)
    sharing = fetch_column(
        "SELECT DISTINCT e.session_id FROM events e"
        " JOIN source_copies c ON c.event_id = e.id"
        f" WHERE c.session_id IS NOT NULL AND e.id {IN_JSON}",
        json.dumps([replacement.event_id for replacement in better.values()]),
    )
    sessions.request_owner_update(sharing)
    request_update_if_first((stored.session, stored.at_ms) for stored in better)
    queues.add_segment_updates((s.event_id, s.at_ms, s.session) for s in better)
    for stored in better:
        segments.request_summary_at(stored.session, stored.at_ms)
    for number in {stored.session for stored in better}:
        sessions.recount(number)


def get_original_ids(copy_ids: Iterable[str]) -> dict[str, str]:
    """Return the ids of the stored events by the ids of their copies."""
    sql = f"SELECT copy_id, event_id FROM source_copies WHERE copy_id {IN_JSON}"
    return dict(fetch(sql, json.dumps(list(copy_ids))))


def request_update_if_first(events: Iterable[tuple[int, int]]) -> None:
    """Have owners rechecked if events, (session, time), began their sessions."""
    earliest: dict[int, int] = {}
    for number, at_ms in events:
        earliest[number] = min(at_ms, earliest.get(number, at_ms))
    if earliest and sessions.share_events():
        sessions.request_owner_update(
            number
            for number, at_ms in earliest.items()
            if not fetch(_EARLIER_OWN_EVENT, number, at_ms)
        )


@dataclass(slots=True)
class _SharedEvent:
    """An event that several sessions have."""

    stored: StoredEvent
    copies: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The route and the id of its copy in each of the other sessions."""

    @property
    def first_ms(self) -> int:
        copies_ms = [timestamp_ms_of_id(copy_id) for _, copy_id in self.copies.values()]
        return min([self.stored.at_ms, *copies_ms])

    @property
    def sessions(self) -> set[int]:
        return {self.stored.session, *self.copies}


def update_owners() -> None:
    """Move events shared by the noted sessions to the session that had them first.

    That is the one whose own events begin earlier; a session with no events of
    its own is wholly contained in the other, and so came first.
    """
    noted = sessions.take_owner_updates()
    if not noted:
        return
    group = fetch_column(_LINKED_SESSIONS, json.dumps(sorted(noted)))
    shared = _read_shared(group)
    if not shared:
        return
    sql = f"SELECT id, name FROM sessions WHERE id {IN_JSON}"
    names: dict[int, str] = dict(fetch(sql, json.dumps(group)))
    ranks = {number: rank for rank, number in enumerate(_sort_by_age(names, shared))}
    changed = set[int]().union(*(event.sessions for event in shared))
    with unlocked():
        for event in shared:
            first = min(event.sessions, key=ranks.__getitem__)
            if first != event.stored.session:
                _move(event, first, names[first])
    for number in changed:
        sessions.recount(number)
    _set_parents(names, ranks, shared)


def _read_shared(group: Collection[int]) -> list[_SharedEvent]:
    shared: dict[str, _SharedEvent] = {}
    for copy_id, route, session, *columns in fetch(
        "SELECT c.copy_id, c.route, c.session_id, e.id, e.route, e.session_id, e.at_ms"
        " FROM source_copies c JOIN events e ON e.id = c.event_id"
        f" WHERE c.session_id {IN_JSON} AND NOT {ids.IS_ONLY_NAMED}"
        " ORDER BY e.at_ms, e.id, c.copy_id",
        json.dumps(sorted(group)),
    ):
        event = shared.setdefault(columns[0], _SharedEvent(StoredEvent(*columns)))
        before = event.copies.get(session)
        is_better = before is None or route_rank(route) > route_rank(before[0])
        if session != event.stored.session and is_better:
            event.copies[session] = route, copy_id
    return [event for event in shared.values() if event.copies]


def _sort_by_age(names: dict[int, str], shared: Collection[_SharedEvent]) -> list[int]:
    first: dict[frozenset[int], int] = {}
    for event in shared:
        key = frozenset(event.sessions)
        first[key] = min(event.first_ms, first.get(key, event.first_ms))
    shared_ids = {event.stored.event_id for event in shared}
    for number in names:
        # Lines count only if there is nothing else: they may state any time.
        for condition in (f"NOT {ids.IS_CLAIM}", "1"):
            rows = db.execute_sql(
                f"SELECT id, at_ms FROM events e WHERE session_id = ? AND {condition}"
                " ORDER BY at_ms, ordinal, id",
                (number,),
            )
            own = (at_ms for name, at_ms in rows if name not in shared_ids)
            if (at_ms := next(own, None)) is not None:
                first[frozenset({number})] = at_ms
                break

    def first_difference_ms(number: int, other: int) -> int:
        """Return the time of the first event that only the first session has.

        0 if there is none: a session contained in the other sorts first.
        """
        times = (at for key, at in first.items() if number in key and other not in key)
        return min(times, default=0)

    def compare(number: int, other: int) -> int:
        key = first_difference_ms(number, other), names[number]
        other_key = first_difference_ms(other, number), names[other]
        return -1 if key < other_key else 1

    return sorted(sorted(names, key=names.__getitem__), key=cmp_to_key(compare))


def _move(event: _SharedEvent, number: int, name: str) -> None:
    """Store an event with another session, under the id of its copy there."""
    old, (route, copy_id) = event.stored, event.copies.pop(number)
    (row,) = fetch_dicts("SELECT * FROM events WHERE id = ?", old.event_id)
    metadata: dict[str, str] = {}
    with suppress(ValueError):  # It may be damaged.
        metadata = json.loads(row["metadata"] or "{}")
    at_ms = timestamp_ms_of_id(copy_id)
    changes = {
        "id": copy_id,
        "session_id": number,
        "route": route,
        "fingerprint": content_fingerprint(name, row["type"], row["text"], metadata),
        "at_ms": at_ms,
    }
    execute("DELETE FROM source_copies WHERE copy_id = ?", copy_id)
    insert("events", [with_digest(row | changes)])
    queues.add_events(*last_rowids(1), at_ms)
    execute(_MOVE_COPIES, copy_id, old.session, number, old.event_id)
    execute("DELETE FROM events WHERE id = ?", old.event_id)
    insert("source_copies", [(old.event_id, copy_id, old.route, old.session)])
    event.copies[old.session] = old.route, old.event_id
    event.stored = StoredEvent(copy_id, route, number, at_ms)
    queues.add_segment_updates(
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
    sql = f"SELECT id, forked_from FROM sessions WHERE id {IN_JSON}"
    for number, before in fetch(sql, json.dumps([*names])):
        is_later = rank_by_name.get(before, -1) > ranks[number]
        parent = parents.get(number, "" if is_later else before)
        if parent != before:
            execute("UPDATE sessions SET forked_from = ? WHERE id = ?", parent, number)
