"""Claims: the ids that plain JSON lines state, which only their source can confirm.

An id is made of what a source knows of an event, so that nobody can check one that is
stated. Such an id is a claim until a hook or transcript brings the event itself:

- If the event has another text, the claim was false. Its line is stored under an id of
  its own as FALSE_CLAIM, without the source hash and the copies that it stated.
- If only other values differ, such as the session, the event replaces the line.
- Of two claims of one id, a hash of their contents decides which is taken for false.
- An id that is only named as that of a copy says nothing. The event that has it is
  compared with what is stored like any other.

So each text is stored, in whatever order they arrive.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, TypeVar

from memtui.model.events import (
    FALSE_CLAIM,
    Event,
    Provenance,
    Thought,
    content_fingerprint,
    content_hash,
    event_id,
    from_ms,
    to_ms,
)
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
from memtui.store.schema import unlocked

_Item = TypeVar("_Item", Event, Thought)

_THOUGHT = "thought"


IS_ONLY_NAMED = (
    "EXISTS (SELECT 1 FROM claimed_ids i WHERE i.id = c.copy_id AND i.is_only_named)"
)
"""The condition of copies of which nothing is known but their ids."""

_SELECT_CONTENTS = (
    "SELECT e.id, s.agent, s.name, e.type, e.role, e.subagent, e.text, e.at_ms,"
    " e.metadata"
    " FROM events e JOIN sessions s ON s.id = e.session_id WHERE e.id {ids}"
    f" UNION ALL SELECT t.id, s.agent, s.name, '{_THOUGHT}', '', t.subagent, t.text,"
    " t.at_ms, '' FROM thoughts t JOIN sessions s ON s.id = t.session_id"
    " WHERE t.id {ids}"
).format(ids=IN_JSON)


class _Content(NamedTuple):
    """What events and thoughts under one id are compared by."""

    agent: str
    session_id: str
    type: str
    role: str
    subagent: str
    text: str
    at_ms: int
    fingerprint: bytes
    """A hash of the text, or of the call, in any session."""

    @property
    def order(self) -> str:
        """Decides which of two claims keeps the id; not by the order of arrival."""
        return content_hash(*map(str, self))

    def id_in_place_of(self, name: str) -> str:
        """Return the id of this content, if another one has its id."""
        key = f"{name}\x1f{self.text}"
        at = from_ms(self.at_ms)
        return event_id(self.agent, self.session_id, self.type, key, at)


def list_claimed(ids: Iterable[str]) -> set[str]:
    """Return those of these ids that no source has confirmed."""
    return existing_keys("claimed_ids", ids)


def confirm(batch: Iterable[Event | Thought]) -> list[str]:
    """Give the ids of these events and thoughts, which are of sources, to them.

    Returns the ids of deleted events, of which these are the true ones: they are added
    next, and then ``adopt_copies`` is called.
    """
    contents = {_id(item): _content(item) for item in batch}
    claimed = list_claimed(contents)
    if not claimed:
        return []
    _delete_copies(claimed)
    changed: set[int] = set()
    replaced = [
        name
        for name, stored in _read_contents(claimed).items()
        if stored != contents[name] and _displace(name, stored, contents[name], changed)
    ]
    _recount(changed)
    execute(f"DELETE FROM claimed_ids WHERE id {IN_JSON}", json.dumps([*claimed]))
    return replaced


def accept(batch: Sequence[_Item]) -> tuple[list[_Item], list[str]]:
    """Note the ids of these events and thoughts as claims.

    Returns those that are not false, or are to be stored under the id they have now;
    and the ids of deleted events, as ``confirm`` does.
    """
    by_id: dict[str, dict[_Content, _Item]] = {}
    for item in batch:
        by_id.setdefault(_id(item), {}).setdefault(_content(item), item)
    only_named = fetch_column(
        f"SELECT id FROM claimed_ids WHERE is_only_named AND id {IN_JSON}",
        json.dumps([*by_id]),
    )
    _delete_copies(only_named)
    stored = _read_contents(by_id)
    claimed = list_claimed(by_id)
    copied = _read_copied_texts(by_id)
    changed: set[int] = set()
    accepted, replaced = [], []
    for name, items in by_id.items():
        contents = list(items)
        if len(contents) > 1:
            contents.sort(key=lambda content: content.order)
        for content in contents:
            own = name
            if name in copied and not _is_copy(content.text, copied[name]):
                own = content.id_in_place_of(name)
                stored |= _read_contents([own])
            while (before := stored.get(own)) and before != content:
                if own in claimed and content.order < before.order:
                    if _displace(own, before, content, changed):
                        replaced.append(own)
                    claimed.discard(own)
                    break
                if content.fingerprint == before.fingerprint:
                    own = ""
                    break
                own = content.id_in_place_of(own)
                if own not in stored:
                    stored |= _read_contents([own])
                    claimed |= list_claimed([own])
            if own:
                stored[own] = content
                accepted.append(_with_id(items[content], own))
    _recount(changed)
    _note(accepted)
    return accepted, replaced


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


def _note(items: Iterable[Event | Thought]) -> None:
    # What is stored and not claimed is confirmed.
    execute(
        "INSERT INTO claimed_ids SELECT value, 0 FROM json_each(?) WHERE value NOT IN"
        " (SELECT id FROM events) AND value NOT IN (SELECT id FROM thoughts)"
        " AND value NOT IN (SELECT copy_id FROM source_copies)"
        " ON CONFLICT DO UPDATE SET is_only_named = 0",
        json.dumps([_id(item) for item in items]),
    )


def _displace(
    name: str, before: _Content, content: _Content, changed: set[int]
) -> bool:
    """Make way for another content under an id; return whether it replaces an event.

    Adds the numbers of sessions that lose events to ``changed``.
    """
    if before.fingerprint != content.fingerprint:
        _move(name, before, changed)
        return False
    if before.type == _THOUGHT:
        execute("DELETE FROM thoughts WHERE id = ?", name)
        return False
    execute("PRAGMA defer_foreign_keys = ON")
    (number,) = fetch_column("SELECT session_id FROM events WHERE id = ?", name)
    _delete_named_copies(name)
    sql = "UPDATE source_copies SET session_id = ? WHERE event_id = ?"
    execute(f"{sql} AND session_id IS NULL", number, name)
    with unlocked():
        execute("DELETE FROM events WHERE id = ?", name)
    _note_change(number, before.at_ms, name)
    changed.add(number)
    return True


def _note_change(number: int, at_ms: int, *names: str) -> None:
    queues.add_segment_updates([(name, at_ms, number) for name in names])
    segments.request_summary_at(number, at_ms)


def _recount(numbers: Iterable[int]) -> None:
    for number in numbers:
        sessions.recount(number)


def _delete_named_copies(name: str) -> None:
    execute(
        f"DELETE FROM source_copies AS c WHERE event_id = ? AND {IS_ONLY_NAMED}", name
    )


def _move(name: str, content: _Content, changed: set[int]) -> None:
    """Store an event or a thought under another id than it claims."""
    own = content.id_in_place_of(name)
    while (before := _read_contents([own]).get(own)) not in (None, content):
        own = content.id_in_place_of(own)
    with unlocked():
        if content.type == _THOUGHT:
            sql = "UPDATE OR REPLACE thoughts SET id = ? WHERE id = ?"
            execute(sql, own, name)
        else:
            changed.add(_move_event(name, own, is_stored=before is not None))
    execute("INSERT INTO claimed_ids VALUES (?, 0) ON CONFLICT DO NOTHING", own)


def _move_event(name: str, own: str, *, is_stored: bool) -> int:
    """Store an event under another id; return the number of its session."""
    (row,) = fetch_dicts("SELECT * FROM events WHERE id = ?", name)
    number, at_ms = row["session_id"], row["at_ms"]
    if not is_stored:
        changes = {"route": FALSE_CLAIM, "fingerprint": b"", "source_hash": None}
        insert("events", [row | {"id": own} | changes])
        queues.add_events(*last_rowids(1), at_ms)
    _delete_named_copies(name)
    execute("UPDATE source_copies SET event_id = ? WHERE event_id = ?", own, name)
    execute("DELETE FROM events WHERE id = ?", name)
    _note_change(number, at_ms, own, name)
    return int(number)


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


def _read_copied_texts(ids: Iterable[str]) -> dict[str, str]:
    """Return the texts of events of which there are copies with these ids."""
    sql = "SELECT c.copy_id, e.text FROM source_copies c JOIN events e"
    condition = f"ON e.id = c.event_id WHERE c.copy_id {IN_JSON}"
    return dict(fetch(f"{sql} {condition}", json.dumps([*ids])))


def _is_copy(text: str, other: str) -> bool:
    """Return whether a text may be a copy: of a call, or of a part of a message."""
    if text.partition("\n")[0] == other.partition("\n")[0]:
        return True
    plain, plain_other = (" ".join(value.split()) for value in (text, other))
    return plain in plain_other or plain_other in plain


def _id(item: Event | Thought) -> str:
    return item.event_id if isinstance(item, Event) else item.thought_id


def _with_id(item: _Item, name: str) -> _Item:
    if isinstance(item, Event):
        if item.event_id == name:
            return item
        return replace(item, event_id=name, provenance=Provenance(FALSE_CLAIM))
    return item if item.thought_id == name else replace(item, thought_id=name)


def _content(item: Event | Thought) -> _Content:
    if isinstance(item, Event):
        kind, role, at_ms = item.event_type.value, item.role.value, item.timestamp_ms
        metadata = item.metadata
    else:
        kind, role, at_ms, metadata = _THOUGHT, "", to_ms(item.at), {}
    return _Content(
        item.agent,
        item.session_id,
        kind,
        role,
        item.subagent,
        item.text,
        at_ms,
        content_fingerprint("", kind, item.text, metadata),
    )


def _read_contents(ids: Iterable[str]) -> dict[str, _Content]:
    """Return what is stored under these ids, as far as it can be read."""
    names = json.dumps([*ids])
    contents = {}
    for name, *columns, text, at_ms, metadata in fetch(_SELECT_CONTENTS, names, names):
        with suppress(ValueError, TypeError, AttributeError):  # It may be damaged.
            agent, session_id, kind, role, subagent = columns
            fields = json.loads(metadata or "{}")
            key = content_fingerprint("", kind, text, fields)
            contents[name] = _Content(
                agent, session_id, kind, role, subagent, text, int(at_ms), key
            )
    return contents
