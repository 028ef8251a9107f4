"""The plain event format: one JSON object a line, for what has no format of its own.

It is also what ``memtui export`` writes. docs/jsonl.md says what a line may say.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from memtui.capture.formats import jsonl
from memtui.capture.formats.base import (
    HOOK,
    JSONL,
    TRANSCRIPT,
    Cursor,
    InvalidRecord,
    ParsedItem,
    Record,
    SkippedRecord,
    SourceFormat,
    ahead,
    as_text,
    parse_time,
)
from memtui.model import events
from memtui.model.events import (
    Event,
    EventRefused,
    EventRole,
    EventType,
    Provenance,
    SourceCopy,
    Thought,
    clean,
    is_event_id,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata

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


def read_event(record: Record, agent: str, now: datetime) -> Event | InvalidRecord:
    """The event a record is, under the id it says or, by default, the one it has."""
    fields = record.fields
    at = _at(record, now)
    if isinstance(at, InvalidRecord):
        return at
    try:
        role = EventRole(as_text(fields["role"])) if fields.get("role") else None
        kind = _type(fields, role)
    except ValueError as error:
        return _refused(record, str(error))
    metadata = fields.get("metadata")
    try:
        told = events.make(
            agent=as_text(fields.get("agent")) or agent,
            session_id=as_text(fields.get("session_id")),
            timestamp=at,
            event_type=kind,
            text=as_text(fields.get("text")),
            source_key=as_text(fields.get("key")),
            role=role,
            metadata={k: as_text(v) for k, v in metadata.items()}
            if isinstance(metadata, dict)
            else {},
            subagent=as_text(fields.get("subagent")),
            ordinal=_number(fields.get("ordinal")),
        )
    except EventRefused as refusal:
        return _refused(record, str(refusal))
    return _as_kept(told, record) if fields.get("id") else told


def _as_kept(told: Event, record: Record) -> Event | InvalidRecord:
    """An event as the memory kept it that wrote the record."""
    fields = record.fields
    name, route = as_text(fields.get("id")), as_text(fields.get("route"))
    tokens = _number(fields.get("tokens"))
    if not is_event_id(name):
        return _refused(record, NO_ID)
    is_counted = tokens is not None and tokens >= 0
    counter = clean(as_text(fields.get("counter"))) if is_counted else ""
    return replace(
        told,
        event_id=name,
        tokens=tokens if tokens and counter else 0,
        token_counter=counter,
        provenance=Provenance(
            route=route if route in _ROUTES else JSONL,
            source_hash=_hash(fields.get("origin")),
            copies=tuple(_tellings(fields.get("told"))),
        ),
    )


def _tellings(told: object) -> Iterator[SourceCopy]:
    for one in told if isinstance(told, list) else ():
        if isinstance(one, dict) and is_event_id(as_text(one.get("id"))):
            route = as_text(one.get("route"))
            route = route if route in _ROUTES else JSONL
            session_id = clean(as_text(one.get("session_id")))
            yield SourceCopy(as_text(one.get("id")), route, session_id)


def _hash(said: object) -> bytes | None:
    try:
        found = bytes.fromhex(as_text(said))
    except ValueError:
        return None
    return found if len(found) == _ORIGIN_BYTES else None


def _number(said: object) -> int | None:
    if not isinstance(said, int) or isinstance(said, bool):
        return None
    return said if abs(said) < MOST else None


def thought(record: Record, agent: str, now: datetime) -> Thought | InvalidRecord:
    """The thought a record is."""
    fields, at = record.fields, _at(record, now)
    if isinstance(at, InvalidRecord):
        return at
    try:
        told = events.make_thought(
            agent=as_text(fields.get("agent")) or agent,
            session_id=as_text(fields.get("session_id")),
            at=at,
            text=as_text(fields.get("text")),
            key=as_text(fields.get("key")),
            subagent=as_text(fields.get("subagent")),
        )
    except EventRefused as refusal:
        return _refused(record, str(refusal))
    name = as_text(fields.get("id"))
    if name and not is_event_id(name):
        return _refused(record, NO_ID)
    return replace(told, thought_id=name) if name else told


def _at(record: Record, now: datetime) -> datetime | InvalidRecord:
    said = record.fields.get("timestamp")
    at = parse_time(said)
    if at is None:
        return _refused(record, "no timestamp" if said is None else "a bad timestamp")
    if events.is_in_future(at, now):
        return ahead(at, record.line)
    return at


def _type(fields: dict[str, object], role: EventRole | None) -> EventType:
    named = as_text(fields.get("event_type"))
    if named:
        return EventType(named)
    if role not in _TYPE_OF_ROLE:
        raise ValueError(f"an event of the role {role} must name its event_type")
    return _TYPE_OF_ROLE[role]


def subagent(record: Record, agent: str) -> SubagentMetadata | InvalidRecord:
    """What a record says of a subagent."""
    said = {
        name: as_text(record.fields.get(name))
        for name in ("session_id", "subagent", "kind", "started_by", "task")
    }
    for name in ("session_id", "subagent"):
        if not said[name].strip():
            return _refused(record, f"no {name.replace('_', ' ')}")
    said["tool_use_id"] = said.pop("started_by")
    return SubagentMetadata(agent=as_text(record.fields.get("agent")) or agent, **said)


def session(record: Record, agent: str) -> SessionMetadata | InvalidRecord:
    """What a record says of a session."""
    fields = record.fields
    said = {name: clean(as_text(fields.get(name))) for name in _OF_SESSIONS}
    if not said["session_id"].strip():
        return _refused(record, "no session id")
    named = clean(as_text(fields.get("agent"))) or agent
    return SessionMetadata(agent=named, at=parse_time(fields.get("timestamp")), **said)


_OF_SESSIONS = (
    *("session_id", "cwd", "project", "root", "branch", "model", "title"),
    *("created_by", "forked_from", "summary"),
)


def facts(
    event: Event, fields: Fields, before: SessionMetadata | None
) -> SessionMetadata:
    """What is known of an event's session, and what its record says besides."""
    known = before or SessionMetadata(event.agent, event.session_id, at=event.timestamp)
    known = replace(known, title=as_text(fields.get("title")) or known.title)
    cwd, project = as_text(fields.get("cwd")), as_text(fields.get("project"))
    is_placed = bool(known.cwd or known.project)
    is_later = known.at is not None and known.at <= event.timestamp
    if not (cwd or project) or (is_placed and is_later):
        return known
    return replace(known, cwd=cwd, project=project, at=event.timestamp)


def joined(before: SessionMetadata | None, told: SessionMetadata) -> SessionMetadata:
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


def _refused(record: Record, reason: str) -> InvalidRecord:
    return InvalidRecord(reason, record.line)


SESSION, SUBAGENT, THOUGHT = "session", "subagent", "thought"
"""What a line may be that is no event, as its ``record`` says."""


_NOT_GUESSED = frozenset({"tokens", "ordinal"})
"""Numbers that are said even where they are nothing."""


def line(told: SessionMetadata | Event | SubagentMetadata | Thought) -> str:
    """One line, with its end."""
    return f"{json.dumps(fields(told), ensure_ascii=False)}\n"


def fields(
    told: SessionMetadata | Event | SubagentMetadata | Thought,
) -> dict[str, Any]:
    """What a line says."""
    match told:
        case SessionMetadata():
            said = _session(told)
        case SubagentMetadata():
            said = _subagent(told)
        case Thought():
            said = _thought(told)
        case Event():
            said = _event(told)
    return {name: v for name, v in said.items() if v or name in _NOT_GUESSED}


def _session(facts: SessionMetadata) -> dict[str, Any]:
    return {
        "record": SESSION,
        "session_id": facts.session_id,
        "agent": facts.agent,
        "timestamp": facts.at.isoformat() if facts.at else "",
        "project": facts.project,
        "cwd": facts.cwd,
        "root": facts.root,
        "branch": facts.branch,
        "model": facts.model,
        "title": facts.title,
        "summary": facts.summary,
        "created_by": facts.created_by,
        "forked_from": facts.forked_from,
    }


def _subagent(helper: SubagentMetadata) -> dict[str, Any]:
    return {
        "record": SUBAGENT,
        "session_id": helper.session_id,
        "agent": helper.agent,
        "subagent": helper.subagent,
        "kind": helper.kind,
        "started_by": helper.tool_use_id,
        "task": helper.task,
    }


def _thought(thought: Thought) -> dict[str, Any]:
    return {
        "record": THOUGHT,
        "session_id": thought.session_id,
        "timestamp": thought.at.isoformat(),
        "text": thought.text,
        "agent": thought.agent,
        "subagent": thought.subagent,
        "id": thought.thought_id,
    }


def _event(event: Event) -> dict[str, Any]:
    said: dict[str, Any] = {
        "session_id": event.session_id,
        "timestamp": event.timestamp.isoformat(),
        "event_type": event.event_type.value,
        "role": event.role.value,
        "text": event.text,
        "agent": event.agent,
        "subagent": event.subagent,
        "metadata": dict(event.metadata),
        "id": event.event_id,
        "ordinal": event.ordinal,
        "tokens": event.tokens,
        "counter": event.token_counter,
    }
    if kept := event.provenance:
        said["route"] = kept.route
        said["origin"] = kept.source_hash.hex() if kept.source_hash else ""
        said["told"] = [
            {"id": one.event_id, "route": one.route}
            | ({"session_id": one.session_id} if one.session_id else {})
            for one in kept.copies
        ]
    return said


Key = tuple[str, str]
"""A session: its agent and its name."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of the plain format."""
    return any(_fits(record.fields) for record in head)


def _fits(fields: Mapping[str, object]) -> bool:
    # Other programs' records that name a role have a type as well.
    has_role = "role" in fields and "type" not in fields
    is_named = bool({"event_type", "record"} & fields.keys())
    return "session_id" in fields and (is_named or has_role)


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[ParsedItem]:
    """Read a file of the plain format; see ``memtui.sources.source.Read``."""
    return jsonl.read(path, start, partial(_Reader, agent, now))


class _Reader:
    """Reads records: events, and what is said of sessions, subagents and thoughts."""

    is_held = False

    def __init__(self, agent: str, now: datetime, state: Mapping[str, object]) -> None:
        self._agent, self._now = agent, now
        self._facts: dict[Key, SessionMetadata] = {}
        self._met: set[Key] = set()
        """The sessions of which this reading has given an event."""
        self._told: dict[Key, SessionMetadata] = {}
        """What a record of their own said of sessions last: their events need not."""
        self._last: Key | None = None
        before = state.get("sessions")
        for fields in before if isinstance(before, list) else ():
            for _ in self._session(Record(0, fields)):
                pass

    def take(self, record: Record) -> Iterator[ParsedItem]:
        match record.fields.get("record"):
            case None:
                yield from self._event(record)
            case "session":
                yield from self._session(record)
            case "subagent":
                yield subagent(record, self._agent)
            case "thought":
                yield thought(record, self._agent, self._now)
            case other:
                yield SkippedRecord(f"record {as_text(other)}", record.line)

    def _event(self, record: Record) -> Iterator[ParsedItem]:
        event = read_event(record, self._agent, self._now)
        if not isinstance(event, Event):
            yield event
            return
        key = self._last = event.agent, event.session_id
        before = self._facts.get(key)
        self._facts[key] = facts(event, record.fields, before)
        is_first = key not in self._met
        self._met.add(key)
        if is_first:
            # Its project must be known as soon as its first event is.
            yield self._facts[key]
        yield event
        if is_first and key in self._told:
            # What was said before there was any event of it was said too early.
            yield self._facts[key]

    def _session(self, record: Record) -> Iterator[ParsedItem]:
        facts = session(record, self._agent)
        if isinstance(facts, SessionMetadata):
            key = facts.agent, facts.session_id
            self._facts[key] = joined(self._facts.get(key), facts)
            self._told[key] = facts
        yield facts

    def rest(self) -> Iterator[ParsedItem]:
        yield from self._facts.values()

    def state(self) -> Mapping[str, object]:
        # A session told of before its events must be known when they come.
        waiting = [k for k in self._told if k == self._last or k not in self._met]
        held = [fields(self._told[key]) for key in sorted(waiting)]
        return {"sessions": held} if held else {}


SOURCE = SourceFormat("plain", "plain JSONL", JSONL, _may_be, fits, read)
