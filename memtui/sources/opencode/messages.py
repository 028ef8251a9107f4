"""OpenCode's messages, wherever they lie: a message and its parts, as readings.

A message is given once, when it is finished: OpenCode marks an assistant's message as
completed, and writes all parts of a prompt at once. What is still being written is held
back. What changes in a message afterwards changes nothing of what was given.

A fork is a copy under new names: its messages keep their times and their words, and by
these they are known.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memtui.memory import events, thoughts
from memtui.memory.events import EventRefused, EventRole, EventType
from memtui.memory.sessions import Helper
from memtui.sources import tool_calls
from memtui.sources.opencode import parts as parts
from memtui.sources.opencode.parts import Message, Part
from memtui.sources.records import Left, Reading, Refused, ahead, text_of, time_of

AGENT = "opencode"

_ENDED = frozenset({"completed", "success", "error"})
"""The states of a call that has its answer."""

_LEFT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
"""Parts that say nothing of the conversation."""

_ABORTED = "MessageAbortedError"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose message it is: a session's, or a helper's of a session."""

    session_id: str
    subagent: str = ""


@dataclass(slots=True)
class _Told:
    """One message, being told."""

    message: Message
    owner: Owner
    at: datetime
    now: datetime
    fields: dict[str, object] = field(default_factory=dict)
    number: int = 0


def read(message: Message, owner: Owner, now: datetime) -> Iterator[Reading]:
    """Tell one message: its events and thoughts, and what of it was not taken."""
    fields, at = message.fields, message.at
    role = text_of((fields or {}).get("role"))
    refusal: Reading | None = None
    if fields is None:
        refusal = Refused("not a JSON object")
    elif not role:
        refusal = Refused("a record without type")
    elif role not in ("user", "assistant"):
        refusal = Left(f"unknown record type {role}")
    elif at is None:
        known = parts.inner(fields, "time").get("created", message.created) is not None
        refusal = Refused("a bad timestamp" if known else "no timestamp")
    elif events.is_too_late(at, now):
        refusal = ahead(at)
    if refusal or fields is None or at is None:
        yield from [refusal or Refused("no timestamp")] * (1 + len(message.parts))
        return
    told = _Told(message, owner, at, now, fields)
    yield from (_user if role == "user" else _assistant)(told)
    for part in message.parts:
        told.number += 1
        yield from _other(told, part)


def _user(told: _Told) -> Iterator[Reading]:
    said: dict[str, list[str]] = {"": [], "synthetic": [], "subtask": []}
    for part in told.message.parts:
        fields = part.fields or {}
        if part.kind == "text":
            is_injected = fields.get("synthetic") or fields.get("ignored")
            kind = "synthetic" if is_injected else ""
            said[kind].append(text_of(fields.get("text")))
        elif part.kind == "file":
            said[""].append(parts.file(fields))
        elif part.kind == "subtask":
            said["subtask"].append(text_of(fields.get("prompt")))
    is_empty = True
    for kind, texts in said.items():
        text = parts.joined(texts)
        if text:
            role = EventRole.SYSTEM if kind else EventRole.USER
            about = {"kind": kind} if kind else {}
            key = ":".join(filter(None, (told.message.name, kind)))
            event_type = EventType.USER_MESSAGE
            yield _event(told, told.at, event_type, text, role, about, key=key)
            is_empty = False
    if is_empty:
        yield Left("a message without text")


def _assistant(told: _Told) -> Iterator[Reading]:
    texts, at = [], None
    for part in told.message.parts:
        fields = part.fields or {}
        if part.kind == "text":
            texts.append(text_of(fields.get("text")))
            began = parts.inner(fields, "time").get("start")
            at = at or (time_of(began) if texts[-1].strip() else None)
        elif part.kind == "file":
            texts.append(parts.file(fields))
    error, text = parts.inner(told.fields, "error"), parts.joined(texts)
    about = _trouble(error)
    event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
    if told.fields.get("summary") is True:
        # What the agent wrote for itself when the conversation grew too long.
        event_type, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        about = {"kind": "compact_summary"} | about
    if not text and error and error.get("name") != _ABORTED:
        text = about.pop("error", "")
        about["kind"] = "api_error"
    if text:
        yield _event(told, at or told.at, event_type, text, role, about)
    else:
        yield Left("a message without text")


def _trouble(error: Mapping[str, object]) -> dict[str, str]:
    """What went wrong with a message, as metadata."""
    if not error:
        return {}
    if error.get("name") == _ABORTED:
        return {"is_broken_off": "true"}
    said = text_of(parts.inner(error, "data").get("message")) or text_of(
        error.get("name")
    )
    return {"is_error": "true", "error": said or "an error"}


def _other(told: _Told, part: Part) -> Iterator[Reading]:
    """What a part is beside the text of its message."""
    kind, fields = part.kind, part.fields
    if fields is None:
        yield Refused("not a JSON object")
    elif kind == "tool":
        yield from _tool(told, part, fields)
    elif kind == "reasoning":
        yield _thought(told, part, fields)
    elif kind == "compaction":
        event_type, role = EventType.SESSION_START, EventRole.SYSTEM
        about = {"source": "compact"}
        yield _event(told, told.at, event_type, "", role, about, key=part.name)
    elif kind in _LEFT:
        yield Left(kind)
    elif not kind:
        yield Refused("a part without type")
    elif kind not in ("text", "file", "subtask"):
        yield Left(f"unknown record type {kind}")


def _tool(told: _Told, part: Part, fields: dict[str, object]) -> Iterator[Reading]:
    state = parts.inner(fields, "state")
    given, times = state.get("input"), parts.inner(state, "time")
    began = time_of(times.get("start")) or told.at
    status = text_of(state.get("status"))
    at = time_of(times.get("end")) or began
    key, name = text_of(fields.get("callID")), text_of(fields.get("tool"))
    call = tool_calls.call(key or part.name, name, given)
    is_error = status == "error"
    answer = text_of(state.get("error") if is_error else state.get("output"))
    files = state.get("attachments")
    shown = (
        [parts.file(f) for f in files if isinstance(f, dict)]
        if isinstance(files, list)
        else []
    )
    metadata = call.metadata(
        is_error="true" if is_error else "",
        is_broken_off="" if status in _ENDED else "true",
    )
    if events.is_too_late(at, told.now):
        yield ahead(at)
        return
    text = call.text(parts.joined([answer, *shown]))
    event_type, role = EventType.TOOL_RESULT, EventRole.TOOL
    yield _event(told, at, event_type, text, role, metadata, key=call.key)
    helper = text_of(parts.inner(state, "metadata").get("sessionId"))
    if name == "task" and helper:
        yield Helper(
            agent=AGENT,
            session_id=told.owner.session_id,
            subagent=helper,
            kind=text_of(parts.inner(state, "input").get("subagent_type")),
            started_by=call.key,
            task=text_of(parts.inner(state, "input").get("description")),
        )


def _thought(told: _Told, part: Part, fields: dict[str, object]) -> Reading:
    text = text_of(fields.get("text"))
    at = time_of(parts.inner(fields, "time").get("start")) or told.at
    if not text.strip():
        return Left("thinking that says nothing")
    if events.is_too_late(at, told.now):
        return ahead(at)
    try:
        return thoughts.make(
            agent=AGENT,
            session_id=told.owner.session_id,
            at=at,
            text=text,
            key=part.name,
            subagent=told.owner.subagent,
        )
    except EventRefused as refusal:
        return Refused(str(refusal))


def _event(
    told: _Told,
    at: datetime,
    event_type: EventType,
    text: str,
    role: EventRole,
    metadata: dict[str, str],
    *,
    key: str = "",
) -> Reading:
    if events.is_too_late(at, told.now):
        return ahead(at)
    try:
        return events.make(
            agent=AGENT,
            session_id=told.owner.session_id,
            timestamp=at,
            event_type=event_type,
            text=text,
            key=key or told.message.name,
            role=role,
            metadata=metadata,
            subagent=told.owner.subagent,
            ordinal=told.number,
            origin=_origin(told, at, role, text),
        )
    except EventRefused as refusal:
        return Refused(str(refusal))


def _origin(told: _Told, at: datetime, role: EventRole, text: str) -> str:
    """What a message and its copies in forks have in common."""
    times = (str(events.to_ms(one)) for one in (told.at, at))
    raw = "\x1f".join((*times, role, text)).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
