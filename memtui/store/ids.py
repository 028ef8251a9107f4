"""Ids: which event has one if several come with it, in whatever order.

An id has one content. Of several, that of a transcript or hook keeps it, then the one
with the lowest hash. Another text is stored under an id that is made of it, so that no
text is lost. The same text is stored once, as the event that keeps the id states it.

What plain JSON lines state is a claim: nobody can check an id, the route by which it
came, or ids of copies. The route of a line counts as ``jsonl``, and the id of a copy
keeps no event out: an event that has it is compared with what is stored like any other.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from memtui.model.events import (
    Event,
    EventRole,
    EventType,
    Provenance,
    content_hash,
    event_id,
    fingerprint,
    from_ms,
    source_hash,
    timestamp_ms_of_id,
)
from memtui.redaction import redact
from memtui.store import queues, segments, sessions
from memtui.store.database import (
    IN_JSON,
    execute,
    existing_keys,
    fetch,
    fetch_column,
    fetch_dicts,
    insert,
    last_rowids,
)
from memtui.store.digests import with_digest
from memtui.store.schema import unlocked

IS_ONLY_NAMED = (
    "EXISTS (SELECT 1 FROM claimed_ids i WHERE i.id = c.copy_id AND i.is_only_named)"
)
"""The condition of copies of which nothing is known but their ids."""

IS_CLAIM = "EXISTS (SELECT 1 FROM claimed_ids i WHERE i.id = e.id)"
"""The condition of events that only plain JSON lines state."""

ROUTE = f"CASE WHEN {IS_CLAIM} AND e.route = 'transcript' THEN 'jsonl' ELSE e.route END"
"""The route of an event: what a line states counts no more than a line."""

_SELECT = (
    "SELECT e.id, s.name, e.at_ms, e.type, e.role, e.text, e.metadata, s.agent,"
    " e.subagent, e.ordinal, e.route, e.source_hash, '', 0"
    f" FROM events e JOIN sessions s ON s.id = e.session_id WHERE e.id {IN_JSON}"
    " UNION ALL SELECT c.copy_id, coalesce(o.name, s.name), NULL, e.type, e.role,"
    " e.text, e.metadata, s.agent, e.subagent, e.ordinal, c.route, e.source_hash, e.id,"
    " c.session_id IS NULL OR c.route <> 'transcript' FROM source_copies c"
    " JOIN events e ON e.id = c.event_id JOIN sessions s ON s.id = e.session_id"
    f" LEFT JOIN sessions o ON o.id = c.session_id WHERE c.copy_id {IN_JSON}"
)


class _Holder(NamedTuple):
    """An event that has an id, in the store or among those that are added."""

    event: Event
    is_claim: bool
    is_stored: bool = False
    original: str = ""
    """The id of the stored event, if this is a copy of it."""
    is_by_other_route: bool = False
    """It is a copy whose text may differ a little: of a hook, for example."""

    @property
    def facts(self) -> tuple[object, ...]:
        """Everything that is the same in two records of one event."""
        event = self.event
        return (
            *(event.agent, event.session_id, event.event_type, event.role),
            *(event.subagent, event.text, event.timestamp_ms, event.ordinal),
            *(source_hash(event), sorted(event.metadata.items())),
        )

    def is_same(self, other: "_Holder") -> bool:
        """Return whether both say the same, so that one of them is enough."""
        own, event = self.event, other.event
        if self.is_by_other_route:
            return _is_copy(own.text, event.text)
        if self.is_claim or other.is_claim:
            return fingerprint(own, "") == fingerprint(event, "")
        # What is stored may have been read by older rules for secrets.
        is_text = own.text == event.text or redact(own.text).text == event.text
        return own.event_type is event.event_type and is_text

    def with_own_id(self) -> Event:
        """Return the event under an id of its own, without what it says of others."""
        event = self.event
        key = f"{event.event_id}\x1f{event.text}"
        parts = event.agent, event.session_id, event.event_type, key
        event = replace(event, event_id=event_id(*parts, event.timestamp))
        if event.provenance and self.is_claim:
            event = replace(event, provenance=Provenance(event.provenance.route))
        return event

    def precedes(self, other: "_Holder") -> bool:
        """Return which of two texts keeps an id; not by the order of arrival."""
        return self._order <= other._order

    @property
    def _order(self) -> tuple[bool, str, str]:
        text = content_hash(self.event.event_type, self.event.text)
        return self.is_claim, text, content_hash(*map(str, self.facts))


def list_claimed(ids: Iterable[str]) -> set[str]:
    """Return those of these ids that only plain JSON lines have stated."""
    return existing_keys("claimed_ids", ids)


def settle(
    batch: Sequence[Event], *, are_claims: bool
) -> tuple[list[Event], list[str]]:
    """Decide which of these events, and of those stored, have their ids.

    Returns the events to add, under the ids that they get; and the ids of deleted
    events, which these replace: ``adopt_copies`` is called after they are added.
    """
    settled = _Settlement(batch, are_claims=are_claims)
    for event in batch:
        displaced: Event | None = event
        while displaced:
            displaced = settled.add(displaced)
    return settled.finish()


class _Settlement:
    def __init__(self, batch: Iterable[Event], *, are_claims: bool) -> None:
        self._are_claims = are_claims
        self._holders: dict[str, _Holder | None] = {}
        self._repeated: list[Event] = []
        """Events that are stored already; they may name further copies."""
        self._replaced: list[str] = []
        self._changed: set[int] = set()
        """The numbers of sessions that lose events."""
        self._read_holders(dict.fromkeys(event.event_id for event in batch))

    def _read_holders(self, names: Collection[str]) -> None:
        claimed = list_claimed(names)
        # A copy that only a line stated keeps no event out.
        _delete_copies(_list_named(claimed) if self._are_claims else claimed)
        self._holders |= dict.fromkeys(names)
        for event, original, is_other in _read_stored(names):
            is_claim = event.event_id in claimed
            self._holders[event.event_id] = _Holder(
                event, is_claim, True, original, is_other
            )

    def add(self, event: Event) -> Event | None:
        """Give an event its id, or return the event that needs another one."""
        name = event.event_id
        if name not in self._holders:
            self._read_holders([name])
        new, holder = _Holder(event, self._are_claims), self._holders[name]
        if holder is None:
            self._holders[name] = new
        elif holder.facts == new.facts and holder.is_claim <= new.is_claim:
            if holder.is_stored:
                self._repeated.append(event)
        elif holder.is_same(new):
            if holder.original:
                self._repeated.append(event)
            elif new.precedes(holder):
                self._holders[name] = new
                if holder.is_stored:
                    self._replace(name, is_other=holder.facts != new.facts)
        elif holder.precedes(new):
            return new.with_own_id()
        else:
            self._holders[name] = new
            if not holder.is_stored:
                return holder.with_own_id()
            self._move(name, holder.with_own_id().event_id, holder)
        return None

    def _replace(self, name: str, *, is_other: bool) -> None:
        """Delete a stored event, in whose place another one is added."""
        execute("PRAGMA defer_foreign_keys = ON")
        (row,) = fetch_dicts("SELECT session_id, at_ms FROM events WHERE id = ?", name)
        if is_other:
            _delete_named_copies(name)
        sql = "UPDATE source_copies SET session_id = ? WHERE event_id = ?"
        execute(f"{sql} AND session_id IS NULL", row["session_id"], name)
        self._delete(name, row)
        self._replaced.append(name)

    def _move(self, name: str, own: str, holder: _Holder) -> None:
        """Store an event, or a copy, under another id."""
        if holder.is_claim:
            execute("INSERT INTO claimed_ids VALUES (?, 0) ON CONFLICT DO NOTHING", own)
        if holder.original:
            _delete_copies([own])
            sql = "UPDATE source_copies SET copy_id = ? WHERE copy_id = ?"
            execute(sql, own, name)
            return
        (row,) = fetch_dicts("SELECT * FROM events WHERE id = ?", name)
        if not existing_keys("events", [own]):
            hidden = {"source_hash": None} if holder.is_claim else {}
            insert("events", [with_digest(row | {"id": own} | hidden)])
            queues.add_events(*last_rowids(1), row["at_ms"])
        _delete_named_copies(name)
        execute("UPDATE source_copies SET event_id = ? WHERE event_id = ?", own, name)
        self._delete(name, row, own)

    def _delete(self, name: str, row: Mapping[str, Any], *others: str) -> None:
        number, at_ms = row["session_id"], row["at_ms"]
        with unlocked():
            execute("DELETE FROM events WHERE id = ?", name)
        queues.add_segment_updates((i, at_ms, number) for i in (name, *others))
        segments.request_summary_at(number, at_ms)
        self._changed.add(number)

    def finish(self) -> tuple[list[Event], list[str]]:
        """Return what ``settle`` does, after noting which ids are claims."""
        holders = filter(None, self._holders.values())
        events = [holder.event for holder in holders if not holder.is_stored]
        for number in self._changed:
            sessions.recount(number)
        if self._are_claims:
            _note_claims(event.event_id for event in events)
        elif names := [event.event_id for event in events]:
            sql = f"DELETE FROM claimed_ids WHERE id {IN_JSON}"
            execute(sql, json.dumps(names))
        return events + self._repeated, self._replaced


def adopt_copies(replaced: Collection[str]) -> None:
    """Let copies of replaced events lead to the events that have their ids now."""
    if not replaced:
        return
    ids = json.dumps([*replaced])
    copies = fetch_column(
        f"SELECT copy_id FROM source_copies WHERE event_id {IN_JSON}", ids
    )
    dangling = f"event_id {IN_JSON} AND event_id NOT IN (SELECT id FROM events)"
    execute(
        "UPDATE source_copies SET event_id = (SELECT o.event_id FROM source_copies o"
        " WHERE o.copy_id = source_copies.event_id)"
        f" WHERE {dangling} AND event_id IN (SELECT copy_id FROM source_copies)",
        ids,
    )
    execute(f"DELETE FROM source_copies WHERE {dangling}", ids)
    execute(
        f"UPDATE source_copies SET session_id = NULL WHERE copy_id {IN_JSON}"
        " AND session_id = (SELECT session_id FROM events e WHERE e.id = event_id)",
        json.dumps(copies),
    )


def name_copies(copy_ids: Iterable[str]) -> None:
    """Note ids that are only named as those of copies."""
    insert("claimed_ids", [(name, 1) for name in copy_ids])


def _note_claims(names: Iterable[str]) -> None:
    # What is stored and not claimed is confirmed.
    execute(
        "INSERT INTO claimed_ids SELECT value, 0 FROM json_each(?)"
        " WHERE value NOT IN (SELECT id FROM events)"
        " AND value NOT IN (SELECT copy_id FROM source_copies)"
        " ON CONFLICT DO UPDATE SET is_only_named = 0",
        json.dumps([*names]),
    )


def _list_named(names: Iterable[str]) -> list[str]:
    sql = f"SELECT id FROM claimed_ids WHERE is_only_named AND id {IN_JSON}"
    return fetch_column(sql, json.dumps([*names]))


def _delete_named_copies(name: str) -> None:
    execute(
        f"DELETE FROM source_copies AS c WHERE event_id = ? AND {IS_ONLY_NAMED}", name
    )


def _delete_copies(names: Collection[str]) -> None:
    """Delete what is stored of copies with these ids: only that they exist."""
    if not names:
        return
    ids = json.dumps([*names])
    condition = f"FROM source_copies WHERE copy_id {IN_JSON}"
    shared = fetch_column(
        f"SELECT DISTINCT session_id {condition} AND session_id IS NOT NULL", ids
    )
    execute(f"DELETE {condition}", ids)
    sessions.request_owner_update(shared)


def _is_copy(text: str, other: str) -> bool:
    """Return whether a text may be a copy: of a call, or of a part of a message."""
    if text.partition("\n")[0] == other.partition("\n")[0]:
        return True
    plain, plain_other = (" ".join(value.split()) for value in (text, other))
    return plain in plain_other or plain_other in plain


def _read_stored(ids: Iterable[str]) -> Iterator[tuple[Event, str, bool]]:
    """Yield what is stored under these ids, as far as it can be read.

    The last two say of what event it is a copy, and whether by another route.
    """
    names = json.dumps([*ids])
    for row in fetch(_SELECT, names, names):
        name, session, at_ms, kind, role, text, stored, *columns = row
        agent, subagent, ordinal, *origin, original, is_other = columns
        with suppress(ValueError, TypeError, AttributeError):  # It may be damaged.
            event = Event(
                name,
                session,
                from_ms(timestamp_ms_of_id(name) if at_ms is None else at_ms),
                EventType(kind),
                EventRole(role),
                text,
                dict(json.loads(stored or "{}")),
                agent,
                subagent,
                ordinal,
                provenance=Provenance(*origin),
            )
            fingerprint(event)
            yield event, original, bool(is_other)
