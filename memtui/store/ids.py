"""Ids: which event has one if several come with it, in whatever order.

An id has one content. Of several, that of a transcript or hook keeps it, then the one
with the lowest hash. Another text is stored under an id that is made of it, so that no
text is lost. The same text is stored once, as the event that keeps the id states it.

What plain JSON lines state is a claim: nobody can check an id, the route by which it
came, or ids of copies. The route of a line counts as ``jsonl``, and the id of a copy
keeps no event out: an event that has it is compared with what is stored like any other.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from memtui.model.events import (
    Event,
    Provenance,
    content_fingerprint,
    content_hash,
    event_id,
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
    fetch_value,
    insert,
    last_rowids,
)
from memtui.store.schema import unlocked

IS_ONLY_NAMED = (
    "EXISTS (SELECT 1 FROM claimed_ids i WHERE i.id = c.copy_id AND i.is_only_named)"
)
"""The condition of copies of which nothing is known but their ids."""

IS_CLAIM = "EXISTS (SELECT 1 FROM claimed_ids i WHERE i.id = e.id)"
"""The condition of events that only plain JSON lines state."""

ROUTE = f"CASE WHEN {IS_CLAIM} AND e.route = 'transcript' THEN 'jsonl' ELSE e.route END"
"""The route of an event: what a line states counts no more than a line."""

_SELECT_CONTENTS = (
    "SELECT e.id, '', 0, s.agent, s.name, e.type, e.role, e.subagent, e.text, e.at_ms,"
    " e.ordinal, e.source_hash, e.metadata"
    f" FROM events e JOIN sessions s ON s.id = e.session_id WHERE e.id {IN_JSON}"
    " UNION ALL SELECT c.copy_id, e.id,"
    " c.session_id IS NULL OR c.route <> 'transcript', s.agent,"
    " coalesce(o.name, s.name), e.type, e.role, e.subagent, e.text, NULL,"
    " e.ordinal, e.source_hash, e.metadata FROM source_copies c"
    " JOIN events e ON e.id = c.event_id JOIN sessions s ON s.id = e.session_id"
    f" LEFT JOIN sessions o ON o.id = c.session_id WHERE c.copy_id {IN_JSON}"
)


class _Content(NamedTuple):
    """What events under one id are compared by."""

    agent: str
    session_id: str
    type: str
    role: str
    subagent: str
    text: str
    at_ms: int
    ordinal: int
    source_hash: bytes | None
    metadata: str
    fingerprint: bytes
    """A hash of the text, or of the call, in any session."""

    @classmethod
    def of_event(cls, event: Event) -> "_Content":
        return cls(
            event.agent,
            event.session_id,
            event.event_type.value,
            event.role.value,
            event.subagent,
            event.text,
            event.timestamp_ms,
            event.ordinal,
            source_hash(event),
            json.dumps(dict(event.metadata), sort_keys=True),
            content_fingerprint("", event.event_type, event.text, event.metadata),
        )

    @property
    def order(self) -> tuple[str, str]:
        """Decides which of two contents keeps an id; not by the order of arrival."""
        return content_hash(self.type, self.text), content_hash(*map(str, self))

    def own_id(self, name: str) -> str:
        """Return the id of this content, if another one has its id."""
        key = f"{name}\x1f{self.text}"
        at = from_ms(self.at_ms)
        return event_id(self.agent, self.session_id, self.type, key, at)


class _Holder(NamedTuple):
    """What has an id, in the store or among the events that are added."""

    content: _Content
    is_claim: bool
    original: str = ""
    """The id of the stored event, if this is a copy of it."""
    is_by_other_route: bool = False
    """Whether it is a copy whose text may differ a little: of a hook, for example."""
    event: Event | None = None
    """None if it is stored."""

    def is_same(self, other: "_Holder") -> bool:
        """Return whether both say the same, so that one of them is enough."""
        own, content = self.content, other.content
        if self.is_by_other_route:
            return _is_copy(own.text, content.text)
        if self.is_claim or other.is_claim:
            return own.fingerprint == content.fingerprint
        # What is stored may have been read by older rules for secrets.
        is_text = own.text == content.text or redact(own.text).text == content.text
        return own.type == content.type and is_text

    def with_own_id(self, name: str) -> Event | None:
        """Return the event under an id of its own, without what it says of others."""
        event = self.event
        if event is None:
            return None
        if event.provenance and self.is_claim:
            event = replace(event, provenance=Provenance(event.provenance.route))
        return replace(event, event_id=self.content.own_id(name))

    def precedes(self, other: "_Holder") -> bool:
        if self.is_claim != other.is_claim:
            return other.is_claim
        return self.content.order <= other.content.order


def trusted_route(route: str) -> str:
    """Return the route that counts of a line, which says by which it came once."""
    return "jsonl" if route == "transcript" else route


def any_claimed() -> bool:
    return fetch_value("SELECT 1 FROM claimed_ids LIMIT 1") is not None


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
    waiting = [*reversed(batch)]
    while waiting:
        event = waiting.pop()
        if displaced := settled.add(event):
            waiting.append(displaced)
    return settled.finish()


class _Settlement:
    def __init__(self, batch: Iterable[Event], *, are_claims: bool) -> None:
        self._are_claims = are_claims
        self._holders: dict[str, _Holder] = {}
        self._read: set[str] = set()
        self._repeated: list[Event] = []
        """Events that are stored already; they may name further copies."""
        self._replaced: list[str] = []
        self._changed: set[int] = set()
        """The numbers of sessions that lose events."""
        self._read_holders({event.event_id for event in batch})

    def _read_holders(self, names: Collection[str]) -> None:
        self._read.update(names)
        claimed = list_claimed(names)
        # A copy that only a line stated keeps no event out.
        _delete_copies(_list_named(claimed) if self._are_claims else claimed)
        for name, content, original, is_other in _read_contents(names):
            is_claim = name in claimed
            self._holders[name] = _Holder(content, is_claim, original, is_other)

    def add(self, event: Event) -> Event | None:
        """Give an event its id, or return the event that needs another one."""
        name = event.event_id
        if name not in self._read:
            self._read_holders([name])
        new = _Holder(_Content.of_event(event), self._are_claims, event=event)
        holder = self._holders.get(name)
        if holder is None:
            self._holders[name] = new
        elif holder.content == new.content and holder.is_claim <= new.is_claim:
            if not holder.event:
                self._repeated.append(event)
        elif holder.is_same(new):
            if holder.original:
                self._repeated.append(event)
            elif new.precedes(holder):
                self._holders[name] = new
                if not holder.event:
                    self._replace(name, holder, new)
        elif holder.precedes(new):
            return new.with_own_id(name)
        else:
            self._holders[name] = new
            if holder.event:
                return holder.with_own_id(name)
            self._move(name, holder.content.own_id(name), holder)
        return None

    def _replace(self, name: str, holder: _Holder, new: _Holder) -> None:
        """Delete a stored event, in whose place another one is added."""
        if holder.original:
            _delete_copies([name])
            return
        execute("PRAGMA defer_foreign_keys = ON")
        (number,) = fetch_column("SELECT session_id FROM events WHERE id = ?", name)
        if holder.content != new.content:
            _delete_named_copies(name)
        sql = "UPDATE source_copies SET session_id = ? WHERE event_id = ?"
        execute(f"{sql} AND session_id IS NULL", number, name)
        with unlocked():
            execute("DELETE FROM events WHERE id = ?", name)
        self._note_change(number, holder.content.at_ms, name)
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
        number, at_ms = row["session_id"], row["at_ms"]
        if not existing_keys("events", [own]):
            hidden = {"source_hash": None} if holder.is_claim else {}
            insert("events", [row | {"id": own} | hidden])
            queues.add_events(*last_rowids(1), at_ms)
        _delete_named_copies(name)
        execute("UPDATE source_copies SET event_id = ? WHERE event_id = ?", own, name)
        with unlocked():
            execute("DELETE FROM events WHERE id = ?", name)
        self._note_change(number, at_ms, own, name)

    def _note_change(self, number: int, at_ms: int, *names: str) -> None:
        queues.add_segment_updates([(name, at_ms, number) for name in names])
        segments.request_summary_at(number, at_ms)
        self._changed.add(number)

    def finish(self) -> tuple[list[Event], list[str]]:
        """Return what ``settle`` does, after noting which ids are claims."""
        events = [holder.event for holder in self._holders.values() if holder.event]
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


def _read_contents(ids: Iterable[str]) -> Iterator[tuple[str, _Content, str, bool]]:
    """Yield what is stored under these ids, as far as it can be read.

    The last two say of what event it is a copy, and whether by another route.
    """
    names = json.dumps([*ids])
    for name, original, is_other, *columns in fetch(_SELECT_CONTENTS, names, names):
        agent, session_id, kind, role, subagent, text, at_ms, *others = columns
        ordinal, key, stored = others
        with suppress(ValueError, TypeError, AttributeError):  # It may be damaged.
            metadata = json.loads(stored or "{}")
            content = _Content(
                *(agent, session_id, kind, role, subagent, text),
                int(timestamp_ms_of_id(name) if at_ms is None else at_ms),
                *(ordinal, key),
                json.dumps(metadata, sort_keys=True),
                content_fingerprint("", kind, text, metadata),
            )
            yield name, content, original, bool(is_other)
