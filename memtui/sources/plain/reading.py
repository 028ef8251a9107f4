"""The plain format's records, one by one: what each says, and why it is refused."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from memtui.memory import events, thoughts
from memtui.memory.events import (
    Event,
    EventRefused,
    EventRole,
    EventType,
    clean,
    is_event_id,
)
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.tellings import Kept, Telling
from memtui.memory.thoughts import Thought
from memtui.sources.records import Record, Refused, ahead, text_of, time_of
from memtui.sources.source import HOOK, JSONL, TRANSCRIPT

Fields = dict[str, object]

NO_ID = "an id that memtui did not make"

MOST = 2**53
"""Larger numbers are not the same in every program that reads JSON."""

_ORIGIN_BYTES = 8

_TYPE_OF_ROLE = {
    EventRole.USER: EventType.USER_MESSAGE,
    EventRole.ASSISTANT: EventType.ASSISTANT_MESSAGE,
    EventRole.TOOL: EventType.TOOL_RESULT,
}
"""What an event is when it says only who wrote it."""

_ROUTES = frozenset({HOOK, JSONL, TRANSCRIPT})


def event(record: Record, agent: str, now: datetime) -> Event | Refused:
    """The event a record is, under the id it says or, by default, the one it has."""
    fields = record.fields
    at = _at(record, now)
    if isinstance(at, Refused):
        return at
    try:
        role = EventRole(text_of(fields["role"])) if fields.get("role") else None
        kind = _type(fields, role)
    except ValueError as error:
        return _refused(record, str(error))
    metadata = fields.get("metadata")
    try:
        told = events.make(
            agent=text_of(fields.get("agent")) or agent,
            session_id=text_of(fields.get("session_id")),
            timestamp=at,
            event_type=kind,
            text=text_of(fields.get("text")),
            key=text_of(fields.get("key")),
            role=role,
            metadata={k: text_of(v) for k, v in metadata.items()}
            if isinstance(metadata, dict)
            else {},
            subagent=text_of(fields.get("subagent")),
            ordinal=_number(fields.get("ordinal")),
        )
    except EventRefused as refusal:
        return _refused(record, str(refusal))
    return _as_kept(told, record) if fields.get("id") else told


def _as_kept(told: Event, record: Record) -> Event | Refused:
    """An event as the memory kept it that wrote the record."""
    fields = record.fields
    name, route = text_of(fields.get("id")), text_of(fields.get("route"))
    tokens = _number(fields.get("tokens"))
    if not is_event_id(name):
        return _refused(record, NO_ID)
    is_counted = tokens is not None and tokens >= 0
    counter = clean(text_of(fields.get("counter"))) if is_counted else ""
    return replace(
        told,
        event_id=name,
        tokens=tokens if tokens and counter else 0,
        counter=counter,
        kept=Kept(
            route=route if route in _ROUTES else JSONL,
            origin=_hash(fields.get("origin")),
            told=tuple(_tellings(fields.get("told"))),
        ),
    )


def _tellings(told: object) -> Iterator[Telling]:
    for one in told if isinstance(told, list) else ():
        if isinstance(one, dict) and is_event_id(text_of(one.get("id"))):
            route = text_of(one.get("route"))
            route = route if route in _ROUTES else JSONL
            session_id = clean(text_of(one.get("session_id")))
            yield Telling(text_of(one.get("id")), route, session_id)


def _hash(said: object) -> bytes | None:
    try:
        found = bytes.fromhex(text_of(said))
    except ValueError:
        return None
    return found if len(found) == _ORIGIN_BYTES else None


def _number(said: object) -> int | None:
    if not isinstance(said, int) or isinstance(said, bool):
        return None
    return said if abs(said) < MOST else None


def thought(record: Record, agent: str, now: datetime) -> Thought | Refused:
    """The thought a record is."""
    fields, at = record.fields, _at(record, now)
    if isinstance(at, Refused):
        return at
    try:
        told = thoughts.make(
            agent=text_of(fields.get("agent")) or agent,
            session_id=text_of(fields.get("session_id")),
            at=at,
            text=text_of(fields.get("text")),
            key=text_of(fields.get("key")),
            subagent=text_of(fields.get("subagent")),
        )
    except EventRefused as refusal:
        return _refused(record, str(refusal))
    name = text_of(fields.get("id"))
    if name and not is_event_id(name):
        return _refused(record, NO_ID)
    return replace(told, thought_id=name) if name else told


def _at(record: Record, now: datetime) -> datetime | Refused:
    said = record.fields.get("timestamp")
    at = time_of(said)
    if at is None:
        return _refused(record, "no timestamp" if said is None else "a bad timestamp")
    if events.is_too_late(at, now):
        return ahead(at, record.line)
    return at


def _type(fields: dict[str, object], role: EventRole | None) -> EventType:
    named = text_of(fields.get("event_type"))
    if named:
        return EventType(named)
    if role not in _TYPE_OF_ROLE:
        raise ValueError(f"an event of the role {role} must name its event_type")
    return _TYPE_OF_ROLE[role]


def subagent(record: Record, agent: str) -> Helper | Refused:
    """What a record says of a subagent."""
    said = {
        name: text_of(record.fields.get(name))
        for name in ("session_id", "subagent", "kind", "started_by", "task")
    }
    for name in ("session_id", "subagent"):
        if not said[name].strip():
            return _refused(record, f"no {name.replace('_', ' ')}")
    return Helper(agent=text_of(record.fields.get("agent")) or agent, **said)


def session(record: Record, agent: str) -> SessionFacts | Refused:
    """What a record says of a session."""
    fields = record.fields
    said = {name: clean(text_of(fields.get(name))) for name in _OF_SESSIONS}
    if not said["session_id"].strip():
        return _refused(record, "no session id")
    named = clean(text_of(fields.get("agent"))) or agent
    return SessionFacts(agent=named, at=time_of(fields.get("timestamp")), **said)


_OF_SESSIONS = (
    *("session_id", "cwd", "project", "root", "branch", "model", "title"),
    *("created_by", "forked_from", "summary"),
)


def facts(event: Event, fields: Fields, before: SessionFacts | None) -> SessionFacts:
    """What is known of an event's session, and what its record says besides."""
    known = before or SessionFacts(event.agent, event.session_id, at=event.timestamp)
    known = replace(known, title=text_of(fields.get("title")) or known.title)
    cwd, project = text_of(fields.get("cwd")), text_of(fields.get("project"))
    is_placed = bool(known.cwd or known.project)
    is_later = known.at is not None and known.at <= event.timestamp
    if not (cwd or project) or (is_placed and is_later):
        return known
    return replace(known, cwd=cwd, project=project, at=event.timestamp)


def joined(before: SessionFacts | None, told: SessionFacts) -> SessionFacts:
    """What is known of a session after another word on it.

    The latest word counts, but of the place the earliest, and of the maker the first.
    """
    if before is None:
        return told
    is_placed = bool(before.cwd or before.project)
    is_later = told.at is None or (before.at is not None and before.at <= told.at)
    place = before if is_placed and is_later else told
    return replace(
        place,
        branch=told.branch or before.branch,
        model=told.model or before.model,
        title=told.title or before.title,
        summary=told.summary or before.summary,
        created_by=before.created_by or told.created_by,
        forked_from=told.forked_from or before.forked_from,
    )


def _refused(record: Record, reason: str) -> Refused:
    return Refused(reason, record.line)
