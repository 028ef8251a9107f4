"""Claude Code's transcripts: one JSON object a line, one file a session or subagent.

What the person said is told from what the program put into their mouth (command
wrappers, caveats, reminders, compaction summaries): those are kept with the role
``system`` and a ``kind``. A call and its answer are one event, at the answer's time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from memtui.memory import calls, events
from memtui.memory.events import EventRefused, EventRole, EventType
from memtui.sources import blocks
from memtui.sources import claude_kinds as kinds
from memtui.sources.claude_sessions import AGENT, Sessions
from memtui.sources.records import Left, Reading, Record, Refused, text_of, time_of

_LINE_PLACES = 100
"""How many events of one line can be told apart by their ordinal."""


def read(
    records: Iterable[Record | Refused], *, path: PurePath, now: datetime
) -> Iterator[Reading]:
    """Read one transcript from its start.

    Args:
        records: The file's records in their order.
        path: The file, which tells a subagent and its parent session.
        now: The time, to refuse what claims to come from the future.
    """
    transcript = _Transcript(path, now)
    for record in records:
        if isinstance(record, Refused):
            yield record
        else:
            yield from transcript.take(record)
    yield from transcript.end()


@dataclass(frozen=True, slots=True)
class _Envelope:
    """What surrounds every message: when, in which session, by which helper."""

    line: int
    at: datetime
    session_id: str
    uuid: str
    subagent: str


@dataclass(slots=True)
class _Call:
    envelope: _Envelope
    tool_name: str
    tool_input: object


@dataclass(slots=True)
class _Transcript:
    path: PurePath
    now: datetime
    calls: dict[str, _Call] = field(default_factory=dict)
    sessions: Sessions = field(default_factory=Sessions)
    roots: dict[str, str] = field(default_factory=dict)
    place: int = 0
    is_subagents: bool = field(init=False)
    """Whether the file is of a folder of subagents."""

    def __post_init__(self) -> None:
        self.is_subagents = self.path.parent.name == "subagents"

    def take(self, record: Record) -> Iterator[Reading]:
        """Read one record."""
        kind = record.fields.get("type")
        self.place = 0
        if not isinstance(kind, str):
            yield Refused("a record without type", record.line)
        elif kind in kinds.TITLES:
            self.sessions.name(record.fields)
            yield Left(kind, record.line)
        elif kind in ("user", "assistant"):
            yield from self._message(record.line, record.fields)
        elif kind == "progress" and kinds.nested(record.fields):
            yield from self._message(record.line, kinds.nested(record.fields))
        elif kind == "attachment" and kinds.queued(record.fields):
            yield from self._message(record.line, kinds.queued(record.fields))
        elif record.fields.get("subtype") == "compact_boundary":
            yield from self._boundary(record)
        else:
            detail = record.fields.get("subtype")
            known = kind if kind in kinds.KNOWN else f"unknown record type {kind}"
            yield Left(f"{known}/{detail}" if detail else known, record.line)

    def end(self) -> Iterator[Reading]:
        """Say what was learnt of each session, and which calls have no answer yet."""
        for call in self.calls.values():
            yield Left("tool call without an answer yet", call.envelope.line)
        yield from self.sessions.all()

    def _message(self, line: int, fields: dict[str, object]) -> Iterator[Reading]:
        envelope = self._envelope(line, fields)
        message = fields.get("message")
        if isinstance(envelope, Refused):
            yield envelope
            return
        yield from self.sessions.introduced(envelope.session_id)
        if not isinstance(message, dict) or "content" not in message:
            yield Refused("a message without content", line)
        elif fields["type"] == "user":
            yield from self._user(envelope, fields, message["content"])
        else:
            yield from self._assistant(envelope, fields, message)

    def _envelope(self, line: int, fields: dict[str, object]) -> _Envelope | Refused:
        at = time_of(fields.get("timestamp"))
        session = text_of(fields.get("sessionId"))
        if at is None:
            reason = "no timestamp" if "timestamp" not in fields else "a bad timestamp"
            return Refused(reason, line)
        if events.is_too_late(at, self.now):
            return Refused("a timestamp in the future", line)
        if self.is_subagents and session.startswith("agent-"):
            session = self.path.parent.parent.name
        if not session.strip():
            return Refused("no session id", line)
        uuid = text_of(fields.get("uuid"))
        self.sessions.meet(session, uuid, fields, at)
        return _Envelope(line, at, session, uuid, self._subagent(uuid, fields))

    def _subagent(self, uuid: str, fields: dict[str, object]) -> str:
        """Which helper a record belongs to: by its file, its name or its root."""
        if self.is_subagents:
            return self.path.stem.removeprefix("agent-")
        if not fields.get("isSidechain"):
            return ""
        parent = text_of(fields.get("parentUuid"))
        self.roots[uuid] = self.roots.get(parent, uuid[:8] or "sidechain")
        return text_of(fields.get("agentId")) or self.roots[uuid]

    def _user(
        self, envelope: _Envelope, fields: dict[str, object], content: object
    ) -> Iterator[Reading]:
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield from self._answer(envelope, block)
        text = "\n\n".join(part for part in blocks.texts(content) if part.strip())
        if not text.strip():
            return
        kind = kinds.injected(fields, text)
        metadata = {"kind": kind} if kind else {}
        if kind == "interruption":
            yield from self._unanswered(envelope)
        elif not kind:
            reminders = kinds.REMINDER.findall(text)
            if reminders and (said := kinds.REMINDER.sub("", text).strip()):
                text, metadata = said, {"reminders": "\n".join(reminders)}
        role = EventRole.SYSTEM if kind else EventRole.USER
        yield self._event(envelope, EventType.USER_MESSAGE, text, role, metadata)

    def _assistant(
        self, envelope: _Envelope, fields: dict[str, object], message: dict[str, object]
    ) -> Iterator[Reading]:
        content = message["content"]
        text = "\n\n".join(part for part in blocks.texts(content) if part.strip())
        if text.strip():
            metadata = {"message_id": text_of(message.get("id"))}
            if fields.get("isApiErrorMessage"):
                metadata["kind"] = "api_error"
            yield self._event(
                envelope,
                EventType.ASSISTANT_MESSAGE,
                text,
                EventRole.ASSISTANT,
                {name: value for name, value in metadata.items() if value},
            )
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                name = text_of(block.get("name"))
                call = _Call(envelope, name, block.get("input"))
                self.calls[text_of(block.get("id"))] = call
            elif isinstance(block, dict) and "thinking" in str(block.get("type")):
                yield Left("thinking", envelope.line)

    def _answer(
        self, envelope: _Envelope, block: dict[str, object]
    ) -> Iterator[Reading]:
        key = text_of(block.get("tool_use_id"))
        call = self.calls.pop(key, None) or _Call(envelope, "", None)
        answer = blocks.result_text(block.get("content"))
        is_error = bool(block.get("is_error"))
        metadata = {"is_error": "true"} if is_error else {}
        yield self._tool_event(envelope, call, key, answer, metadata)

    def _unanswered(self, envelope: _Envelope) -> Iterator[Reading]:
        """The person broke in: calls of this thread still open have no answer."""
        for key, call in list(self.calls.items()):
            same = call.envelope.session_id == envelope.session_id
            if same and call.envelope.subagent == envelope.subagent:
                del self.calls[key]
                broken = {"is_broken_off": "true"}
                yield self._tool_event(call.envelope, call, key, "", broken)

    def _tool_event(
        self,
        envelope: _Envelope,
        call: _Call,
        key: str,
        answer: str,
        metadata: dict[str, str],
    ) -> Reading:
        text = f"{calls.describe(call.tool_name, call.tool_input)}\n{answer}".rstrip()
        about = {
            "tool_name": call.tool_name,
            "tool_input": calls.compact(call.tool_input),
            "tool_use_id": key,
        }
        kept = {name: value for name, value in about.items() if value} | metadata
        return self._event(
            envelope, EventType.TOOL_RESULT, text, EventRole.TOOL, kept, key=key
        )

    def _boundary(self, record: Record) -> Iterator[Reading]:
        envelope = self._envelope(record.line, record.fields)
        if isinstance(envelope, Refused):
            yield envelope
            return
        text = text_of(record.fields.get("content"))
        details = {"source": "compact"}
        kind, role = EventType.SESSION_START, EventRole.SYSTEM
        yield self._event(envelope, kind, text, role, details)

    def _event(
        self,
        envelope: _Envelope,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
        *,
        key: str = "",
    ) -> Reading:
        self.place += 1
        try:
            return events.make(
                agent=AGENT,
                session_id=envelope.session_id,
                timestamp=envelope.at,
                event_type=event_type,
                text=text,
                key=key or envelope.uuid,
                role=role,
                metadata=metadata,
                subagent=envelope.subagent,
                ordinal=envelope.line * _LINE_PLACES
                + min(self.place, _LINE_PLACES - 1),
            )
        except EventRefused as refusal:
            return Refused(str(refusal), envelope.line)
