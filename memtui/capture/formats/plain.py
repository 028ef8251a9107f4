"""The plain event format: one JSON object a line, for tools without their own format.

``memtui export`` writes it, too. docs/jsonl.md describes the lines.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memtui.capture.formats.base import (
    HISTORY,
    HOOK,
    JSONL,
    TRANSCRIPT,
    UNNAMED_HOOK,
    EventBuilder,
    ParsedItem,
    Record,
    SkippedRecord,
    Source,
    State,
    as_object,
    as_objects,
    as_text,
    compact_json,
    describe_call,
    parse_time,
)
from memtui.capture.formats.jsonl import JsonLinesFormat, RecordReader, parse_object
from memtui.capture.formats.prompts import clean_title, parse_prompt
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
    content_hash,
    is_event_id,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.tool_calls import decide_ending

SESSION, SUBAGENT, THOUGHT = "session", "subagent", "thought"
"""The values of ``record`` in lines that are not events."""

_CALL_FIELDS = ("tool_name", "tool_input", "tool_use_id")

_ENDING_FIELDS = ("call_end", "exit_status", "is_error")

_MAX_NUMBER = 2**53
"""Larger numbers are not the same in every program that reads JSON."""

_SOURCE_HASH_BYTES = 8

_TYPE_OF_ROLE = {
    EventRole.USER: EventType.USER_MESSAGE,
    EventRole.ASSISTANT: EventType.ASSISTANT_MESSAGE,
    EventRole.TOOL: EventType.TOOL_RESULT,
}

_ROUTES = frozenset({HISTORY, HOOK, JSONL, TRANSCRIPT, UNNAMED_HOOK})

_SESSION_FIELDS = (
    *("session_id", "cwd", "project", "root", "branch", "model", "title"),
    *("created_by", "forked_from", "summary", "own_name"),
)

_TEXT_FIELDS = (
    *_SESSION_FIELDS,
    *("agent", "event_type", "key", "kind", "role", "subagent", "task"),
    *("text", "tool_use_id"),
)

_STORED_FIELDS = ("id", "tokens", "counter", "route", "source_hash", "copies")
"""Facts on an event that only memtui knows, ignored in a line that was changed."""

_FOREIGN_ID = "an id that memtui did not make"
_WRITTEN_IF_ZERO = frozenset({"tokens", "ordinal"})
_Fields = dict[str, object]

_SessionKey = tuple[str, str]


class _PlainReader(RecordReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self._agent = source.agent
        self._facts: dict[_SessionKey, SessionMetadata] = {}
        self._with_events: set[_SessionKey] = set()
        """The sessions with events yielded by this reading."""
        self._waiting: dict[str, _Fields] = dict(context.get("waiting", {}))
        """The records of sessions whose events may follow, without titles."""
        self._current: dict[str, _Fields] = dict(context.get("current", {}))
        """The record of the session of the last event, if it has one."""
        for fields in (*self._waiting.values(), *self._current.values()):
            self._learn(_parse_session(fields, self._agent))

    def context(self) -> State:
        if not (self._waiting or self._current):
            return {}
        return {"waiting": self._waiting, "current": self._current}

    def facts_so_far(self) -> Iterator[ParsedItem]:
        yield from self._facts.values()

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        for name in _TEXT_FIELDS:
            if isinstance(record.fields.get(name), dict | list | bool):
                raise EventRefused(f"{name} is not a text")
        kind = record.fields.get("record")
        if kind is None:
            yield from self._event(record)
        elif kind == SESSION:
            session = _parse_session(record.fields, self._agent)
            self._learn(session)
            place = replace(
                session, title="", summary="", own_name="", is_title_given=False
            )
            # A context may hold the old value.
            self._waiting = self._waiting | {_name(session): to_fields(place)}
            yield session
        elif kind == SUBAGENT:
            yield _parse_subagent(record.fields, self._agent)
        elif kind == THOUGHT:
            yield _parse_thought(record.fields, self._agent, self.now)
        else:
            yield SkippedRecord(f"record {as_text(kind)}", record.line)

    def _event(self, record: Record) -> Iterator[ParsedItem]:
        event = _parse_event(record.fields, self._agent, self.now)
        key = event.agent, event.session_id
        facts = self._facts[key] = _add_event_fields(
            self._facts.get(key), event, record.fields
        )
        name = _name(event)
        is_waiting = name in self._waiting
        if is_waiting:
            self._current = {name: self._waiting[name]}
            self._waiting = {n: self._waiting[n] for n in self._waiting if n != name}
        elif name not in self._current:
            self._current = {}
        is_first = key not in self._with_events
        self._with_events.add(key)
        if is_first:
            # The event's project must be known before the event.
            yield facts
        yield event
        if is_first and is_waiting:
            # The session's record was yielded when the session had no event yet.
            yield facts

    def _learn(self, session: SessionMetadata) -> None:
        key = session.agent, session.session_id
        self._facts[key] = _merge(self._facts.get(key), session)


def _name(item: SessionMetadata | Event) -> str:
    return f"{item.agent} {item.session_id}"


def _parse_event(fields: _Fields, agent: str, now: datetime) -> Event:
    at = EventBuilder(agent, now).parse_time(fields.get("timestamp"))
    if not _has_valid_check(fields):
        fields = {name: fields[name] for name in fields if name not in _STORED_FIELDS}
    metadata = _event_metadata(fields)
    text = original = clean(as_text(fields.get("text")))
    try:
        role = EventRole(as_text(fields["role"])) if fields.get("role") else None
        event_type = _event_type(fields, role)
        if not fields.get("id"):
            if event_type is EventType.TOOL_RESULT:
                text = _tool_text(metadata, text)
                metadata = _with_ending(metadata, fields)
            elif event_type is EventType.USER_MESSAGE and role is not EventRole.SYSTEM:
                prompt = parse_prompt(text, metadata.get("kind", ""))
                text, metadata = prompt.text, metadata | prompt.metadata
                role = EventRole.SYSTEM if prompt.kind else role
        event = events.make(
            agent=as_text(fields.get("agent")) or agent,
            session_id=as_text(fields.get("session_id")),
            timestamp=at,
            event_type=event_type,
            text=text,
            source_key=as_text(fields.get("key")) or original,
            role=role,
            metadata=metadata,
            subagent=as_text(fields.get("subagent")),
            ordinal=_number(fields.get("ordinal")),
        )
    except ValueError as error:
        raise EventRefused(str(error)) from error
    return _with_stored_values(event, fields) if fields.get("id") else event


def with_check(fields: _Fields) -> _Fields:
    """Return an exported record with a hash of its fields, which shows changes."""
    others = {name: fields[name] for name in fields if name != "check"}
    return others | {"check": content_hash(json.dumps(others, sort_keys=True))}


def _has_valid_check(fields: _Fields) -> bool:
    return fields == with_check(fields)


def _event_metadata(fields: _Fields) -> dict[str, str]:
    """Return an event's metadata; the values of a tool call may be beside them."""
    values = as_object(fields.get("metadata"))
    call = {name: fields[name] for name in _CALL_FIELDS if fields.get(name)}
    return {
        name: compact_json(value)
        if isinstance(value, dict | list)
        else "true"
        if value is True
        else as_text(value)
        for name, value in (values | call).items()
    }


def _with_ending(metadata: dict[str, str], fields: _Fields) -> dict[str, str]:
    """Return the metadata of a call with how it ended, if its line says it."""
    stated = {name: metadata.get(name, "") for name in _ENDING_FIELDS}
    stated |= {name: as_text(fields[name]) for name in stated if name in fields}
    ending = decide_ending(
        exit_status=stated["exit_status"],
        status=stated["call_end"],
        has_failed={"true": True, "false": False}.get(stated["is_error"]),
    )
    others = {name: metadata[name] for name in metadata if name not in stated}
    return others | {name: text for name, text in ending.metadata().items() if text}


def _tool_text(metadata: Mapping[str, str], text: str) -> str:
    tool_input = metadata.get("tool_input", "")
    if not (tool_input or metadata.get("tool_name")):
        return text
    given = parse_object(tool_input) or tool_input
    call = describe_call(metadata.get("tool_name", ""), given)
    return text if text.partition("\n")[0] == call else f"{call}\n{text}".rstrip()


def _event_type(fields: _Fields, role: EventRole | None) -> EventType:
    if name := as_text(fields.get("event_type")):
        return EventType(name)
    if role not in _TYPE_OF_ROLE:
        raise ValueError(f"an event of the role {role} must name its event_type")
    return _TYPE_OF_ROLE[role]


def _with_stored_values(event: Event, fields: _Fields) -> Event:
    """Give an exported event the id and values that it was stored with."""
    name, tokens = as_text(fields.get("id")), _number(fields.get("tokens"))
    if not is_event_id(name):
        raise EventRefused(_FOREIGN_ID)
    is_counted = tokens is not None and tokens >= 0
    counter = clean(as_text(fields.get("counter"))) if is_counted else ""
    return replace(
        event,
        event_id=name,
        tokens=tokens if tokens and counter else 0,
        token_counter=counter,
        provenance=Provenance(
            route=_route(fields),
            source_hash=_source_hash(fields.get("source_hash")),
            copies=tuple(_copies(fields.get("copies"))),
        ),
    )


def _route(fields: _Fields) -> str:
    route = as_text(fields.get("route"))
    return route if route in _ROUTES else JSONL


def _copies(value: object) -> Iterator[SourceCopy]:
    for fields in as_objects(value):
        if is_event_id(as_text(fields.get("id"))):
            session_id = clean(as_text(fields.get("session_id")))
            yield SourceCopy(as_text(fields.get("id")), _route(fields), session_id)


def _source_hash(value: object) -> bytes | None:
    try:
        digest = bytes.fromhex(as_text(value))
    except ValueError:
        return None
    return digest if len(digest) == _SOURCE_HASH_BYTES else None


def _number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) < _MAX_NUMBER else None


def _parse_thought(fields: _Fields, agent: str, now: datetime) -> Thought:
    return events.make_thought(
        agent=as_text(fields.get("agent")) or agent,
        session_id=as_text(fields.get("session_id")),
        at=EventBuilder(agent, now).parse_time(fields.get("timestamp")),
        text=as_text(fields.get("text")),
        subagent=as_text(fields.get("subagent")),
    )


def _parse_subagent(fields: _Fields, agent: str) -> SubagentMetadata:
    for name in ("session_id", "subagent"):
        if not as_text(fields.get(name)).strip():
            raise EventRefused(f"no {name.replace('_', ' ')}")
    return SubagentMetadata(
        agent=as_text(fields.get("agent")) or agent,
        session_id=as_text(fields.get("session_id")),
        subagent=as_text(fields.get("subagent")),
        kind=as_text(fields.get("kind")),
        tool_use_id=as_text(fields.get("tool_use_id")),
        task=as_text(fields.get("task")),
    )


def _parse_session(fields: _Fields, agent: str) -> SessionMetadata:
    texts = {name: clean(as_text(fields.get(name))) for name in _SESSION_FIELDS}
    values: dict[str, Any] = texts
    if not values["session_id"].strip():
        raise EventRefused("no session id")
    values["title"] = clean_title(values["title"])
    if not _has_valid_check(fields):
        values["own_name"] = ""
    values["is_title_given"] = fields.get("is_title_given") is True
    agent = clean(as_text(fields.get("agent"))) or agent
    at = parse_time(fields.get("timestamp"))
    return SessionMetadata(agent=agent, at=at, **values)


def _add_event_fields(
    before: SessionMetadata | None, event: Event, fields: _Fields
) -> SessionMetadata:
    facts = before or SessionMetadata(event.agent, event.session_id, at=event.timestamp)
    title = clean_title(as_text(fields.get("title")))
    facts = replace(facts, title=title or facts.title)
    cwd, project = as_text(fields.get("cwd")), as_text(fields.get("project"))
    has_place = bool(facts.cwd or facts.project)
    is_later = facts.at is not None and facts.at <= event.timestamp
    if not (cwd or project) or (has_place and is_later):
        return facts
    return replace(facts, cwd=cwd, project=project, at=event.timestamp)


def _merge(before: SessionMetadata | None, new: SessionMetadata) -> SessionMetadata:
    """Return what is known of a session after another record of it.

    The latest record counts, but for the place the earliest, for the creator the
    first, and for the user's own name the last in order of their texts.
    """
    if before is None:
        return new
    has_place = bool(before.cwd or before.project)
    is_later = new.at is None or (before.at is not None and before.at <= new.at)
    is_titled = bool(new.title) and new.is_title_given >= before.is_title_given
    titled = new if is_titled else before
    return replace(
        before if has_place and is_later else new,
        branch=new.branch or before.branch,
        model=new.model or before.model,
        title=titled.title,
        is_title_given=titled.is_title_given,
        summary=new.summary or before.summary,
        own_name=max(new.own_name, before.own_name),
        created_by=before.created_by or new.created_by,
        forked_from=new.forked_from or before.forked_from,
    )


def to_line(item: SessionMetadata | Event | SubagentMetadata | Thought) -> str:
    return f"{json.dumps(to_fields(item), ensure_ascii=False)}\n"


def to_fields(
    item: SessionMetadata | Event | SubagentMetadata | Thought,
) -> dict[str, Any]:
    if isinstance(item, Event):
        fields = _event_fields(item)
    else:
        kind = {SessionMetadata: SESSION, SubagentMetadata: SUBAGENT, Thought: THOUGHT}
        values = asdict(item)
        at = values.pop("at", None)
        fields = {
            "record": kind[type(item)],
            "session_id": item.session_id,
            "timestamp": at.isoformat() if at else "",
            **values,
        }
    fields = {name: v for name, v in fields.items() if v or name in _WRITTEN_IF_ZERO}
    has_check = isinstance(item, Event) or "own_name" in fields
    return with_check(fields) if has_check else fields


def _event_fields(event: Event) -> dict[str, Any]:
    fields: dict[str, Any] = {
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
    if provenance := event.provenance:
        source_hash = provenance.source_hash
        fields["route"] = provenance.route
        fields["source_hash"] = source_hash.hex() if source_hash else ""
        fields["copies"] = [
            {"id": copy.event_id, "route": copy.route}
            | ({"session_id": copy.session_id} if copy.session_id else {})
            for copy in provenance.copies
        ]
    return fields


def _is_record(fields: dict[str, object]) -> bool:
    # Other programs' records that name a role have a type as well.
    has_role = "role" in fields and "type" not in fields
    is_named = bool({"event_type", "record"} & fields.keys())
    return "session_id" in fields and (is_named or has_role)


FORMAT = JsonLinesFormat("plain", "plain JSONL", _is_record, _PlainReader, route=JSONL)
