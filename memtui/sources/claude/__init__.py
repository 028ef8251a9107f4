"""Claude Code's transcripts: one JSON object a line, one file a session or subagent.

What the person said is told from what the program put into their mouth (command
wrappers, caveats, reminders, compaction summaries): those are kept with the role
``system`` and a ``kind``. A call and its answer are one event, at the answer's time;
the records of one assistant message are one event too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.memory import events, thoughts
from memtui.memory.events import EventRefused, EventRole, EventType, from_ms
from memtui.sources import blocks, lines, tool_calls
from memtui.sources.claude import kinds as kinds
from memtui.sources.claude.envelopes import Envelope, Envelopes
from memtui.sources.claude.messages import Held
from memtui.sources.claude.sessions import AGENT, Sessions, bare
from memtui.sources.records import (
    Cursor,
    Left,
    Reading,
    Record,
    Refused,
    text_of,
)
from memtui.sources.source import TRANSCRIPT, Source
from memtui.sources.tool_calls import Call, Waiting

_LINE_PLACES = 100
"""How many events of one line can be told apart by their ordinal."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of Claude Code's."""
    told = [record.fields for record in head]
    return any(map(kinds.fits, told)) and not any(map(kinds.is_others, told))


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read one transcript; see ``memtui.sources.source.Read``."""
    return lines.read(path, start, partial(_Transcript, path, now))


SOURCE = Source(AGENT, "Claude Code", TRANSCRIPT, _may_be, fits, read, bare=bare)


@dataclass(slots=True)
class _Transcript:
    path: PurePath
    now: datetime
    given: Mapping[str, object]
    waiting: Waiting = field(init=False)
    sessions: Sessions = field(init=False)
    held: Held = field(init=False)
    envelopes: Envelopes = field(init=False)
    place: int = 0

    def __post_init__(self) -> None:
        self.waiting = Waiting(self.given.get("calls"))
        self.sessions = Sessions(self.given.get("sessions"))
        self.held = Held(self.given.get("held"))
        known = self.given.get("roots")
        self.envelopes = Envelopes(self.path, self.now, self.sessions, known)

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

    def rest(self) -> Iterator[Reading]:
        """Say what was learnt of each session, and which calls have no answer yet."""
        yield from self.held.given_up(self.now)
        yield from self.waiting.awaited()
        if self.envelopes.is_subagents:
            yield from self.sessions.helper(Path(self.path))
        yield from self.sessions.all()

    @property
    def is_held(self) -> bool:
        """Whether a message is held back because more of it may come."""
        return self.held.is_full

    def state(self) -> Mapping[str, object]:
        """What another reading must know to go on."""
        return {
            "calls": self.waiting.state(),
            "sessions": self.sessions.state(),
            "held": self.held.state(),
            "roots": self.envelopes.roots,
        }

    def _message(self, line: int, fields: dict[str, object]) -> Iterator[Reading]:
        envelope = self.envelopes.of(line, fields)
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

    def _user(
        self, envelope: Envelope, fields: dict[str, object], content: object
    ) -> Iterator[Reading]:
        yield from self.held.ended(envelope.session_id, envelope.subagent)
        is_answer = False
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                is_answer = True
                yield from self._answer(envelope, block)
        yield from self._unknown(envelope, "user", content)
        text = "\n\n".join(part for part in blocks.texts(content) if part.strip())
        if not text.strip():
            if not is_answer:
                yield Left("a message without text", envelope.line)
            return
        text = kinds.typed(fields, text) or text
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
        self, envelope: Envelope, fields: dict[str, object], message: dict[str, object]
    ) -> Iterator[Reading]:
        content, name = message["content"], text_of(message.get("id"))
        whose = envelope.session_id, envelope.subagent
        yield from self.held.ended(*whose, unless=name)
        text = "\n\n".join(part for part in blocks.texts(content) if part.strip())
        if text.strip():
            metadata = {"message_id": name} if name else {}
            if fields.get("isApiErrorMessage"):
                metadata["kind"] = "api_error"
            kind, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
            said = self._event(envelope, kind, text, role, metadata)
            yield from self.held.add(said, name)
        is_silent = not text.strip()
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and kinds.is_begun(block):
                is_silent = False
                yield from self._begun(envelope, block)
        yield from self._unknown(envelope, "assistant", content)
        if is_silent:
            yield Left("a message without text", envelope.line)
        if message.get("stop_reason"):
            yield from self.held.ended(*whose)

    def _unknown(
        self, envelope: Envelope, whose: str, content: object
    ) -> Iterator[Left]:
        """Name the blocks of a message that nobody knows."""
        for name in kinds.unknown_blocks(content):
            yield Left(f"unknown record type {whose}/{name}", envelope.line)

    def _begun(self, envelope: Envelope, block: dict[str, object]) -> Iterator[Reading]:
        """A call the assistant makes, or what it thinks before it speaks."""
        if block.get("type") == "tool_use":
            call = tool_calls.call(
                text_of(block.get("id")),
                text_of(block.get("name")),
                block.get("input"),
                session_id=envelope.session_id,
                subagent=envelope.subagent,
                uuid=envelope.uuid,
                line=envelope.line,
                at_ms=events.to_ms(envelope.at),
            )
            if other := self.waiting.replaced(call):
                yield self._broken_off(other)
            return
        thought = text_of(block.get("thinking"))
        if not thought.strip():
            yield Left("thinking that says nothing", envelope.line)
            return
        yield self._thought(envelope, thought)

    def _thought(self, envelope: Envelope, thought: str) -> Reading:
        try:
            return thoughts.make(
                agent=AGENT,
                session_id=envelope.session_id,
                at=envelope.at,
                text=thought,
                key=envelope.uuid,
                subagent=envelope.subagent,
            )
        except EventRefused as refusal:
            return Refused(str(refusal), envelope.line)

    def _answer(
        self, envelope: Envelope, block: dict[str, object]
    ) -> Iterator[Reading]:
        call = self.waiting.answered(text_of(block.get("tool_use_id")))
        answer = blocks.result_text(block.get("content"))
        is_error = "true" if block.get("is_error") else ""
        yield self._tool_event(envelope, call, answer, is_error=is_error)

    def _unanswered(self, envelope: Envelope) -> Iterator[Reading]:
        """The person broke in: calls of this thread still open have no answer."""
        whose = envelope.session_id, envelope.subagent
        yield from map(self._broken_off, self.waiting.broken_off(*whose))

    def _broken_off(self, call: Call) -> Reading:
        """A call that will have no answer, at its own time."""
        at, session = from_ms(call.at_ms), call.session_id
        begun = Envelope(call.line, at, session, call.uuid, call.subagent)
        return self._tool_event(begun, call, "", is_broken_off="true")

    def _tool_event(
        self, envelope: Envelope, call: Call, answer: str, **more: str
    ) -> Reading:
        return self._event(
            envelope,
            EventType.TOOL_RESULT,
            call.text(answer),
            EventRole.TOOL,
            call.metadata(**more),
            key=call.key,
        )

    def _boundary(self, record: Record) -> Iterator[Reading]:
        envelope = self.envelopes.of(record.line, record.fields)
        if isinstance(envelope, Refused):
            yield envelope
            return
        text = text_of(record.fields.get("content"))
        details = {"source": "compact"}
        kind, role = EventType.SESSION_START, EventRole.SYSTEM
        yield self._event(envelope, kind, text, role, details)

    def _event(
        self,
        envelope: Envelope,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
        *,
        key: str = "",
    ) -> events.Event | Refused:
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
                origin=key or envelope.uuid,
            )
        except EventRefused as refusal:
            return Refused(str(refusal), envelope.line)
