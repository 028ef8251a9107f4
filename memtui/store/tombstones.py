"""Tombstones: forgotten content that must not be stored again.

A tombstone contains no text: ids, names, dates, and hashes that identify copies of
forgotten content. Those hashes (kinds ``fingerprint`` to ``subagent``) share the time
of creation of the tombstone they belong to, and are removed with it.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from memtui.model.events import (
    MAX_TIME_DIFFERENCE_MS,
    MESSAGES,
    Event,
    Thought,
    clean,
    fingerprint,
    from_ms,
    hash_source_id,
    source_hash,
    to_ms,
)
from memtui.model.usage import Usage
from memtui.store.database import IN_JSON, db, execute, fetch, fetch_column, fetch_value


class TombstoneKind(StrEnum):
    """The kind of data that a tombstone marks as forgotten."""

    EVENT = "event"
    SESSION = "session"
    PROJECT = "project"
    BEFORE = "before"
    FINGERPRINT = "fingerprint"
    """The fingerprint of an event, by which copies of other routes are recognized."""
    SOURCE = "source"
    """The source hash of an event, by which copies in other sessions are recognized."""
    TITLE = "title"
    """The hash of a title that may contain forgotten text."""
    THOUGHT = "thought"
    """The hash of a thought, by which copies in other sessions are recognized."""
    SUBAGENT = "subagent"


NAMED = (
    TombstoneKind.EVENT,
    TombstoneKind.SESSION,
    TombstoneKind.PROJECT,
    TombstoneKind.BEFORE,
)
"""The kinds that the user names; the others are hashes."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One thing that was forgotten."""

    kind: TombstoneKind
    subject: str = ""
    """The id of an event or session, a hash, or a project; empty for a date.

    A project is named by its folder, or by its name where no folder is known.
    """
    agent: str = ""
    """The agent of a session, or the route of a fingerprint; else empty."""
    at_ms: int = 0
    """The date before which all was forgotten, or the time of a fingerprint."""

    def name(self, zone: tzinfo) -> str:
        """Return the name or date to pass to ``memtui forget``."""
        if self.kind is TombstoneKind.BEFORE:
            return f"{from_ms(self.at_ms).astimezone(zone):%Y-%m-%d}"
        return f"{self.agent}:{self.subject}" if self.agent else self.subject


def add(tombstones: Iterable[Tombstone], now_ms: int) -> None:
    """Add tombstones that do not exist yet; all of them are removed together."""
    db.connection().executemany(
        "INSERT INTO tombstones (kind, subject, agent, at_ms, created_ms)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(*astuple(tombstone), now_ms) for tombstone in tombstones],
    )


def remove(tombstone: Tombstone) -> None:
    """Remove a tombstone with its hashes."""
    sql = "DELETE FROM tombstones WHERE created_ms = ?"
    execute(sql, get_created_ms(tombstone))


def exists(tombstone: Tombstone) -> bool:
    return get_created_ms(tombstone) is not None


def get_created_ms(tombstone: Tombstone) -> int | None:
    created_ms: int | None = fetch_value(
        "SELECT created_ms FROM tombstones"
        " WHERE kind = ? AND agent = ? AND subject = ? AND at_ms = ?",
        tombstone.kind.value,
        tombstone.agent,
        tombstone.subject,
        tombstone.at_ms,
    )
    return created_ms


LIST_SQL = (
    "SELECT kind, agent, subject, at_ms, created_ms, min(CASE kind WHEN 'before' THEN 0"
    " WHEN 'project' THEN 1 WHEN 'session' THEN 2 ELSE 3 END) FROM tombstones"
    " WHERE kind IN ('event', 'session', 'project', 'before')"
    " GROUP BY created_ms ORDER BY created_ms DESC, subject"
)
"""Lists the tombstones that the user named, without their hashes; SQLite takes the
other columns from the row with the minimum."""


def list_all() -> list[tuple[Tombstone, datetime]]:
    """Return all that the user forgot, as they named it, and when, the latest first."""
    return [
        (Tombstone(TombstoneKind(kind), subject, agent, at_ms), from_ms(created_ms))
        for kind, agent, subject, at_ms, created_ms, _ in fetch(LIST_SQL)
    ]


def latest_ms() -> int:
    return int(fetch_value("SELECT max(created_ms) FROM tombstones") or 0)


def any_exist() -> bool:
    return bool(fetch("SELECT 1 FROM tombstones LIMIT 1"))


def filter_events(batch: Sequence[Event], *, route: str) -> list[Event]:
    """Return those of a batch of events that were not forgotten.

    Projects are not checked: an event does not know its own.
    """
    if not batch or not any_exist():
        return list(batch)
    keys = [(e.event_id, e.agent, e.session_id, e.timestamp_ms) for e in batch]
    forgotten = _find_forgotten(keys)
    allowed = [event for event in batch if event.event_id not in forgotten]
    hashes = {e.event_id: (source_hash(e) or b"").hex() for e in allowed}
    sources = _find_subjects(TombstoneKind.SOURCE, filter(None, hashes.values()))
    allowed = [e for e in allowed if (e.agent, hashes[e.event_id]) not in sources]
    prints = {e.event_id: fingerprint(e).hex() for e in allowed}
    times = _find_fingerprints(list(prints.values()), route)
    return [
        event
        for event in allowed
        if not any(
            abs(at_ms - event.timestamp_ms) <= MAX_TIME_DIFFERENCE_MS
            for at_ms in times.get(prints[event.event_id], ())
        )
    ]


def filter_thoughts(batch: Sequence[Thought]) -> list[Thought]:
    """Return those of a batch of thoughts that were not forgotten."""
    if not batch or not any_exist():
        return list(batch)
    keys = [(t.thought_id, t.agent, t.session_id, to_ms(t.at)) for t in batch]
    forgotten = _find_forgotten(keys)
    copies = {t.thought_id: for_thought(t.agent, to_ms(t.at), t.text) for t in batch}
    hashes = (tombstone.subject for tombstone in copies.values())
    forgotten_copies = _find_subjects(TombstoneKind.THOUGHT, hashes)
    return [
        thought
        for thought in batch
        if thought.thought_id not in forgotten
        and (thought.agent, copies[thought.thought_id].subject) not in forgotten_copies
    ]


def filter_usage(batch: Sequence[Usage]) -> list[Usage]:
    """Return that of a batch of usage whose reply was not forgotten."""
    keys = [(str(n), u.agent, u.session_id, to_ms(u.at)) for n, u in enumerate(batch)]
    forgotten = _find_forgotten(keys)
    copies = _find_subjects(TombstoneKind.SOURCE, (usage.key for usage in batch))
    return [
        usage
        for usage, (number, agent, *_) in zip(batch, keys, strict=True)
        if number not in forgotten and (agent, usage.key) not in copies
    ]


def _find_forgotten(keys: Sequence[tuple[str, str, str, int]]) -> set[str]:
    """Return the ids that are forgotten themselves, with their session, or by date.

    The keys are id, agent, session and time in milliseconds of events or thoughts.
    """
    sql = "SELECT max(at_ms) FROM tombstones WHERE kind = 'before'"
    before_ms = fetch_value(sql) or 0
    ids = _find_subjects(TombstoneKind.EVENT, (key[0] for key in keys))
    sessions = _find_subjects(TombstoneKind.SESSION, {key[2] for key in keys})
    return {
        name
        for name, agent, session_id, at_ms in keys
        if at_ms < before_ms or ("", name) in ids or (agent, session_id) in sessions
    }


def covers_project(project: str, folder: str) -> bool:
    subject = folder or project
    return bool(subject) and exists(Tombstone(TombstoneKind.PROJECT, subject))


def find_projects(name: str) -> list[str]:
    """Return the forgotten projects of a name: their folders, or the name itself."""
    sql = "SELECT subject FROM tombstones WHERE kind = 'project' ORDER BY subject"
    return [s for (s,) in fetch(sql) if name in (s, s.rpartition("/")[2])]


def find_agents(session_id: str) -> list[str]:
    sql = "SELECT agent FROM tombstones WHERE kind = 'session' AND subject = ?"
    return sorted(fetch_column(sql, session_id))


def covers_subagent(agent: str, session_id: str, subagent: str) -> bool:
    return exists(Tombstone(TombstoneKind.SESSION, session_id, agent)) or exists(
        for_subagent(agent, session_id, subagent)
    )


def for_subagent(agent: str, session_id: str, subagent: str) -> Tombstone:
    subject = f"{session_id}\x1f{subagent}"
    return Tombstone(TombstoneKind.SUBAGENT, subject, agent)


def for_thought(agent: str, at_ms: int, text: str) -> Tombstone:
    """Return the tombstone of a thought; a fork repeats it with its time."""
    return Tombstone(TombstoneKind.THOUGHT, _hash_text(f"{at_ms} {text}"), agent)


def covers_title(title: str) -> bool:
    return bool(title) and exists(for_title(title))


def covers_source_id(agent: str, source_id: str) -> bool:
    """Return whether a message was forgotten, by its id in its source."""
    hashes = (hash_source_id(agent, kind, source_id).hex() for kind in MESSAGES)
    return any(exists(Tombstone(TombstoneKind.SOURCE, key, agent)) for key in hashes)


def for_title(title: str) -> Tombstone:
    return Tombstone(TombstoneKind.TITLE, _hash_text(title))


def _hash_text(text: str) -> str:
    plain = " ".join(clean(text).split()).encode("utf-8", "replace")
    return hashlib.blake2b(plain, digest_size=12).hexdigest()


def _find_subjects(
    kind: TombstoneKind, subjects: Iterable[str]
) -> set[tuple[str, str]]:
    """Return those of some subjects that have a tombstone, with its agent."""
    sql = f"SELECT agent, subject FROM tombstones WHERE kind = ? AND subject {IN_JSON}"
    return set(fetch(sql, kind.value, json.dumps(list(subjects))))


def _find_fingerprints(prints: Sequence[str], route: str) -> dict[str, list[int]]:
    times: dict[str, list[int]] = {}
    for subject, at_ms in fetch(
        "SELECT subject, at_ms FROM tombstones WHERE kind = 'fingerprint'"
        f" AND agent <> ? AND subject {IN_JSON}",
        route,
        json.dumps(prints),
    ):
        times.setdefault(subject, []).append(at_ms)
    return times
