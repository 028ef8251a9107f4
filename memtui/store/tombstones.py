"""What a person has forgotten: it does not come back, however often it is told.

A tombstone holds no text: ids, names, dates, and hashes that tell another copy of what
was forgotten. Those hashes are its echoes; they share the moment of what they belong
to, and go when it may come back.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from memtui.model.events import Event, Thought, clean, from_ms, to_ms
from memtui.store.database import db, transaction
from memtui.store.schema import MetaRow, TombstoneRow, UnlockRow

TWIN_MS = 600_000
"""How far apart two source_copies of one event may be, in milliseconds."""


class Kind(StrEnum):
    """What can be forgotten."""

    EVENT = "event"
    SESSION = "session"
    PROJECT = "project"
    BEFORE = "before"
    TWIN = "twin"
    """An echo: how an event would look if another route told it."""
    COPY = "copy"
    """An echo: an event's own name, by which copies in other sessions are known."""
    TITLE = "title"
    """An echo: a title that says what was forgotten."""
    HELPER = "helper"
    """An echo: a subagent whose task says what was forgotten."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One thing that was forgotten."""

    kind: Kind
    subject: str = ""
    """An event's id, a session's name or a project's; empty for a date.

    A project's is its folder, or its name where no folder is known.
    """
    agent: str = ""
    """Whose session it was, or by which route a twin was told; else empty."""
    at_ms: int = 0
    """Before when all was forgotten; when a twin was told."""


def put(tombstones: Iterable[Tombstone], now_ms: int) -> None:
    """Note what was forgotten."""
    for stone in tombstones:
        TombstoneRow.insert(
            kind=stone.kind.value,
            agent=stone.agent,
            subject=stone.subject,
            at_ms=stone.at_ms,
            created_ms=now_ms,
        ).on_conflict_ignore().execute()


def lift(stone: Tombstone) -> bool:
    """Let something come back, with all that was noted for it; whether it was noted."""
    row = TombstoneRow.get_or_none(*_is(stone))
    if row is None:
        return False
    TombstoneRow.delete().where(TombstoneRow.created_ms == row.created_ms).execute()
    return True


def has(stone: Tombstone) -> bool:
    """Whether just this was forgotten before."""
    return moment_of(stone) is not None


def moment_of(stone: Tombstone) -> int | None:
    """When just this was forgotten, in milliseconds; None if it was not."""
    # Asked for every session that is told of: building it would cost more than it does.
    asked = (
        "SELECT created_ms FROM tombstones"
        " WHERE kind = ? AND agent = ? AND subject = ? AND at_ms = ?"
    )
    about = (stone.kind.value, stone.agent, stone.subject, stone.at_ms)
    row = db.execute_sql(asked, about).fetchone()
    return int(row[0]) if row else None


def _is(stone: Tombstone) -> tuple[Any, ...]:
    return (
        TombstoneRow.kind == stone.kind.value,
        TombstoneRow.agent == stone.agent,
        TombstoneRow.subject == stone.subject,
        TombstoneRow.at_ms == stone.at_ms,
    )


NAMED = (
    "SELECT kind, agent, subject, at_ms, created_ms, min(CASE kind WHEN 'before' THEN 0"
    " WHEN 'project' THEN 1 WHEN 'session' THEN 2 ELSE 3 END) FROM tombstones"
    " WHERE kind IN ('event', 'session', 'project', 'before')"
    " GROUP BY created_ms ORDER BY created_ms DESC, subject"
)
"""What a person named, without all that went with it; SQLite takes the other columns
from the row with the least."""


def all_of_them() -> list[tuple[Tombstone, datetime]]:
    """All that a person forgot, as they named it, and when, the latest first."""
    return [
        (Tombstone(Kind(kind), subject, agent, at_ms), from_ms(created_ms))
        for kind, agent, subject, at_ms, created_ms, _ in db.execute_sql(NAMED)
    ]


def latest_ms() -> int:
    """When something was last forgotten, in milliseconds; 0 if nothing ever was."""
    row = db.execute_sql("SELECT max(created_ms) FROM tombstones").fetchone()
    return int(row[0] or 0)


def spared(
    batch: Sequence[Event],
    *,
    route: str = "",
    twin_of: Callable[[Event], bytes] | None = None,
    origin_of: Callable[[Event], bytes | None] | None = None,
) -> list[Event]:
    """Those of a batch that were not forgotten.

    Projects are not looked at here: an event does not know its own.

    Args:
        batch: The events.
        route: How they were told.
        twin_of: The hash of what an event says.
        origin_of: The hash of its source's own name for it.
    """
    if not batch or not any_at_all():
        return list(batch)
    before_ms = _before()
    events = _subjects(Kind.EVENT, [e.event_id for e in batch])
    sessions = _subjects(Kind.SESSION, list({e.session_id for e in batch}))
    spared = [
        event
        for event in batch
        if event.timestamp_ms >= before_ms
        and ("", event.event_id) not in events
        and (event.agent, event.session_id) not in sessions
    ]
    if origin_of:
        named = {e.event_id: (origin_of(e) or b"").hex() for e in spared}
        copies = _subjects(Kind.COPY, [name for name in named.values() if name])
        spared = [e for e in spared if (e.agent, named[e.event_id]) not in copies]
    if twin_of:
        twins = {e.event_id: twin_of(e).hex() for e in spared}
        told = _twins(list(twins.values()), route)
        spared = [
            event
            for event in spared
            if not any(
                abs(at_ms - event.timestamp_ms) <= TWIN_MS
                for at_ms in told.get(twins[event.event_id], ())
            )
        ]
    return spared


def spared_thoughts(batch: Sequence[Thought]) -> list[Thought]:
    """Those of a batch of thoughts that were not forgotten."""
    if not batch or not any_at_all():
        return list(batch)
    before_ms = _before()
    ids = _subjects(Kind.EVENT, [thought.thought_id for thought in batch])
    sessions = _subjects(Kind.SESSION, list({t.session_id for t in batch}))
    return [
        thought
        for thought in batch
        if to_ms(thought.at) >= before_ms
        and ("", thought.thought_id) not in ids
        and (thought.agent, thought.session_id) not in sessions
    ]


def covers_project(project: str, folder: str) -> bool:
    """Whether a project was forgotten.

    Args:
        project: Its name.
        folder: Its folder, which tells it from others of its name; "" if not known.
    """
    subject = folder or project
    return bool(subject) and has(Tombstone(Kind.PROJECT, subject))


def projects_called(name: str) -> list[str]:
    """The projects of a name that were forgotten: their folders, or the name itself."""
    rows = TombstoneRow.select(TombstoneRow.subject).where(
        TombstoneRow.kind == Kind.PROJECT.value
    )
    every = (subject for (subject,) in rows.order_by(TombstoneRow.subject).tuples())
    return [subject for subject in every if name in (subject, _last_of(subject))]


def _last_of(folder: str) -> str:
    return folder.rpartition("/")[2]


def covers_session(agent: str, session_id: str) -> bool:
    """Whether a session was forgotten."""
    return has(Tombstone(Kind.SESSION, session_id, agent))


def agents_of(session_id: str) -> list[str]:
    """The agents of which a session of this name was forgotten."""
    rows = TombstoneRow.select(TombstoneRow.agent).where(
        TombstoneRow.kind == Kind.SESSION.value, TombstoneRow.subject == session_id
    )
    return [agent for (agent,) in rows.order_by(TombstoneRow.agent).tuples()]


def covers_helper(agent: str, session_id: str, subagent: str) -> bool:
    """Whether what is said of a subagent was forgotten."""
    if covers_session(agent, session_id):
        return True
    return has(helper_stone(agent, session_id, subagent))


def helper_stone(agent: str, session_id: str, subagent: str) -> Tombstone:
    """The echo of a subagent."""
    return Tombstone(Kind.HELPER, f"{session_id}\x1f{subagent}", agent)


def any_at_all() -> bool:
    """Whether anything was ever forgotten."""
    return bool(TombstoneRow.select().limit(1).exists())


def _before() -> int:
    rows = TombstoneRow.select(TombstoneRow.at_ms).where(
        TombstoneRow.kind == Kind.BEFORE.value
    )
    return max((at_ms for (at_ms,) in rows.tuples()), default=0)


def _subjects(kind: Kind, names: Sequence[str]) -> set[tuple[str, str]]:
    rows = db.execute_sql(
        "SELECT agent, subject FROM tombstones WHERE kind = ?"
        " AND subject IN (SELECT value FROM json_each(?))",
        (kind.value, json.dumps(names)),
    )
    return set(rows.fetchall())


def _twins(names: Sequence[str], route: str) -> dict[str, list[int]]:
    """When events that say the same were told by other routes than this one."""
    rows = db.execute_sql(
        "SELECT subject, at_ms FROM tombstones WHERE kind = ? AND agent <> ?"
        " AND subject IN (SELECT value FROM json_each(?))",
        (Kind.TWIN.value, route, json.dumps(names)),
    )
    found: dict[str, list[int]] = {}
    for subject, at_ms in rows.fetchall():
        found.setdefault(subject, []).append(at_ms)
    return found


def stone(title: str) -> Tombstone:
    """The echo of a title."""
    return Tombstone(Kind.TITLE, _hash(title))


def is_covered(title: str) -> bool:
    """Whether a title says what was forgotten."""
    return bool(title) and has(stone(title))


def without(state: object) -> Any:
    """A value of JSON's types without the titles that say what was forgotten."""
    rows = TombstoneRow.select(TombstoneRow.subject).where(
        TombstoneRow.kind == Kind.TITLE.value
    )
    hashes = {subject for (subject,) in rows.tuples()}
    return _blanked(state, hashes) if hashes else state


def _blanked(value: object, hashes: set[str]) -> object:
    if isinstance(value, str):
        return "" if value and _hash(value) in hashes else value
    if isinstance(value, dict):
        return {name: _blanked(held, hashes) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_blanked(held, hashes) for held in value]
    return value


def _hash(title: str) -> str:
    plain = " ".join(clean(title).split()).encode("utf-8", "replace")
    return hashlib.blake2b(plain, digest_size=12).hexdigest()


_FORGETTING = "forgetting"


def note(kind: Kind, stones: Sequence[Tombstone]) -> None:
    """Note what is to go; inside the transaction that notes its tombstones."""
    told = [[s.kind.value, s.subject, s.agent, s.at_ms] for s in stones]
    said = json.dumps({"kind": kind.value, "stones": told})
    MetaRow.insert(name=_FORGETTING, value=said).on_conflict_replace().execute()


def noted() -> tuple[Kind, list[Tombstone]] | None:
    """What is still to go, of which kind; None if all of it is gone."""
    row = MetaRow.get_or_none(MetaRow.name == _FORGETTING)
    if row is None:
        return None
    said = json.loads(row.value)
    stones = [Tombstone(Kind(kind), *rest) for kind, *rest in said["stones"]]
    return Kind(said["kind"]), stones


def done() -> None:
    """Note that nothing is left to go; inside the transaction that deletes it."""
    MetaRow.delete().where(MetaRow.name == _FORGETTING).execute()


def spare(stones: Sequence[Tombstone]) -> None:
    """Leave out what may come back after all."""
    left = noted()
    if left is None:
        return
    kind, before = left
    after = [stone for stone in before if stone not in stones]
    if after:
        note(kind, after)
    else:
        done()


@contextmanager
def door() -> Iterator[None]:
    """A transaction in which the database lets events be changed and deleted."""
    with transaction(), allowed():
        yield


@contextmanager
def allowed() -> Iterator[None]:
    """Within a transaction: the database lets events be changed and deleted."""
    UnlockRow.create(id=1)
    yield
    UnlockRow.delete().execute()
