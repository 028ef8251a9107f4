"""Antigravity CLI's conversations: one JSON object a step, one file a conversation.

The files are ``transcript.jsonl`` and, with nothing cut off, ``transcript_full.jsonl``
in ``~/.gemini/antigravity-cli/brain/<conversation>/.system_generated/logs``; of the two
the full one is read. Google does not document the format: this is what other programs
found in them. A tool's result does not name its call. It is that of the first call
without one, even if it is written before the call, as happens.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from memtui.capture.formats.base import (
    HOLD_TIME,
    CallBeforeStart,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Position,
    Record,
    SkippedRecord,
    Source,
    State,
    ToolCall,
    as_object,
    as_objects,
    as_text,
    join_texts,
    parse_time,
)
from memtui.capture.formats.endings import read_ending, read_fields
from memtui.capture.formats.jsonl import JsonLinesFormat, SessionReader
from memtui.capture.formats.prompts import parse_prompt, split_elements
from memtui.model.events import EventType
from memtui.model.tool_calls import is_running

AGENT = "antigravity-cli"

_REQUEST = "USER_REQUEST"
"""The element with the user's text, among text that the program adds."""

_MODEL = re.compile(r"`Model Selection` from .{1,99}? to (.{1,99}?)\. ")
_TIMES = re.compile(r"(?:(?:Created|Completed) At: \S+\s*)+")
_FIRST_CHECKPOINT = "{{ CHECKPOINT 0 }}"

SKIPPED_TYPES = frozenset({"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE"})
"""Types that repeat the content of other steps."""


class _StepReader(SessionReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        path = source.path
        folder = path.absolute().parents[2 if path.parent.name == "logs" else 0].name
        is_named = path.stem.removesuffix("_full") != "transcript"
        self.session_id = path.stem if is_named else folder
        self._early: list[Record] = []
        """Results that were read before their calls."""

    @property
    def is_open(self) -> bool:
        return self.holds_text or super().is_open

    @property
    def holds_text(self) -> bool:
        return bool(self._early)

    def finish(self) -> Iterator[ParsedItem]:
        early, self._early = self._early, []
        for record in early:
            at = parse_time(record.fields.get("created_at"))
            if at and self.now - at <= HOLD_TIME:
                self._early.append(record)
                yield PendingRecord("a result without its call yet", record.line)
            else:
                self.calls.replace(ToolCall(f"step {record.fields.get('step_index')}"))
                yield from self.read_record(record)
        yield from super().finish()

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        fields, line = record.fields, record.line
        kind, source = as_text(fields.get("type")), as_text(fields.get("source"))
        text = as_text(fields.get("content"))
        if not kind:
            yield InvalidRecord("a record without type", line)
            return
        if kind in SKIPPED_TYPES:
            yield SkippedRecord(kind, line)
            return
        at = self.builder.parse_time(fields.get("created_at"))
        self.facts.setdefault("at", at.isoformat())
        step = as_text(fields.get("step_index"))
        position = Position(line, at, self.session_id, "", f"step-{step}")
        if kind == "USER_INPUT":
            yield from self._user(position, source, text)
        elif kind == "PLANNER_RESPONSE":
            yield from self._reply(position, fields)
        elif kind == "CHECKPOINT" and not text.startswith(_FIRST_CHECKPOINT):
            yield from self.introduce()
            start = EventType.SESSION_START
            yield self.builder.event(position, start, text, source="compact")
        elif source == "MODEL" or (kind == "ERROR_MESSAGE" and self.calls.keys()):
            yield from self._result(position, record)
        elif text.strip():
            yield from self.introduce()
            yield self.builder.system_message(position, text, kind.lower())
        else:
            yield SkippedRecord(kind, line)

    def _user(self, position: Position, source: str, text: str) -> Iterator[ParsedItem]:
        if match := _MODEL.search(text):
            self.learn("model", match[1])
        yield from self.introduce()
        context, requests = split_elements(text, [_REQUEST])
        opening, closing = len(f"<{_REQUEST}>"), len(f"</{_REQUEST}>")
        prompts = [request[opening:-closing].strip() for request in requests]
        words = join_texts(prompts) if prompts else text
        is_user = source in ("", "USER_EXPLICIT")
        prompt = parse_prompt(words, "" if is_user else source.lower())
        added = context.strip() if prompts else "", prompt.added
        if prompt.text.strip():
            yield self.builder.event(
                position,
                EventType.USER_MESSAGE,
                prompt.text,
                role=prompt.role,
                kind=prompt.kind,
                added="\n".join(filter(None, added)),
            )
        else:
            yield SkippedRecord("a message without text", position.line)

    def _reply(
        self, position: Position, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        calls = as_objects(fields.get("tool_calls"))
        for call in calls:
            if "cwd" not in self.facts:
                self.learn("cwd", _unquote(as_object(call.get("args")).get("Cwd")))
        yield from self.introduce()
        is_empty = not calls
        if (thought := as_text(fields.get("thinking"))).strip():
            is_empty = False
            yield self.builder.thought(position, thought)
        if (text := as_text(fields.get("content"))).strip():
            is_empty = False
            yield self.builder.event(position, EventType.ASSISTANT_MESSAGE, text)
        for number, call in enumerate(calls):
            key, name = f"{position.key}-{number}", as_text(call.get("name"))
            args = as_object(call.get("args"))
            given = {field: _unquote(value) for field, value in args.items()}
            self.calls.replace(ToolCall.make(key, name, given, position))
        if is_empty:
            yield SkippedRecord("a message without text", position.line)
        early, self._early = self._early, []
        for record in early:
            yield from self.read_record(record)

    def _result(self, position: Position, record: Record) -> Iterator[ParsedItem]:
        status = record.fields.get("status")
        text = _TIMES.sub("", as_text(record.fields.get("content")), count=1)
        if is_running(status) and not text.strip():
            yield SkippedRecord("a call that is running", position.line)
            return
        if self.calls.earlier:
            raise CallBeforeStart
        keys = self.calls.keys()
        if not keys:
            self._early.append(record)
            return
        yield from self.introduce()
        call = self.calls.pop(keys[0])
        stated = read_fields(record.fields)
        if is_running(status):
            # With a text, the call ended: its command went on in the background.
            stated["status"] = "background"
        if record.fields.get("type") == "ERROR_MESSAGE":
            stated["has_failed"] = True
        ending = read_ending(
            AGENT,
            call.tool_name,
            text,
            **stated,
        )
        yield self.builder.tool_result(position, replace(call, ending=ending), text)


def _unquote(value: object) -> object:
    """Return an argument of a call without the quotes in which its text is stored."""
    if not (isinstance(value, str) and value[:1] == value[-1:] == '"'):
        return value
    try:
        return json.loads(value, strict=False)
    except ValueError:
        return value[1:-1]


def _is_record(fields: dict[str, object]) -> bool:
    return {"step_index", "source", "type"} <= fields.keys()


class AntigravityFormat(JsonLinesFormat):
    def matches_path(self, path: PurePath) -> bool:
        if path.name == "transcript_full.jsonl":
            return True
        is_short = path.name == "transcript.jsonl"
        return is_short and not Path(path).with_name("transcript_full.jsonl").exists()


FORMAT = AntigravityFormat(AGENT, "Antigravity CLI", _is_record, _StepReader)
