"""Codex's rollouts: one JSON object a line, one file a session, fork or subagent.

A message is recorded twice, as an item of the model's history and as an event of the
program; the first one counts. A tool call and its result are one event, at the result's
time; codex_tool_calls reads both. A fork begins with a copy of another session's
records.

The files are in ``$CODEX_HOME/sessions`` (``~/.codex/sessions``), by year, month and
day; archived ones in ``archived_sessions`` beside it. Codex compresses rollouts that
have not changed for a week. ``session_index.jsonl`` beside these folders has the names
that sessions were given.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from uuid import UUID

from memtui.capture.formats import codex_tool_calls
from memtui.capture.formats.base import (
    Cursor,
    Fields,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    Position,
    Record,
    SkippedRecord,
    Source,
    State,
    ToolCall,
    as_object,
    as_objects,
    as_text,
    describe_task,
    first_text,
    parse_json,
    parse_time,
    repository_name,
    text_digest,
    unique_id,
)
from memtui.capture.formats.codex_tool_calls import (
    UNKNOWN_IMAGE,
    content_parts,
    content_text,
    image_placeholder,
    join_parts,
    snake_case,
)
from memtui.capture.formats.jsonl import (
    COMPRESSED,
    JsonLinesFormat,
    JsonParser,
    RecordReader,
    SessionReader,
    read_head,
    read_lines,
)
from memtui.capture.formats.prompts import (
    clean_title,
    find_system_kind,
    split_elements,
    split_prompt,
)
from memtui.model.events import (
    Event,
    EventRole,
    EventType,
    Thought,
    clean,
    event_id,
    to_ms,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.tool_calls import CallEnd
from memtui.text.stopwords import word_set

AGENT = codex_tool_calls.AGENT

ENVELOPES = word_set(
    """session_meta response_item event_msg realtime_item turn_context compacted
    world_state
    inter_agent_communication inter_agent_communication_metadata"""
)

_FLAT_TYPES = (
    codex_tool_calls.CALLS
    | codex_tool_calls.RESULTS
    | word_set("message reasoning web_search_call")
)
"""Items that were lines of their own before there were envelopes."""

_PLAN = "proposed_plan"

_CITATION = re.compile(r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)", re.DOTALL)

_FILE_NAME = re.compile(r"(?:rollout-[\d\-T]{10,19}-)?(.+)")
"""A rollout's file name: the time, then the session's id."""

_COPIED = "copied from the session it was forked from"

_COPIED_WITHIN_MS = 1000
"""A copy is written at once: after a longer pause it is over."""

_MAX_BACKGROUND_CALLS = 50
"""The number of such calls that are remembered."""

_TURN_KINDS = ("task_started", "turn_started", "turn_context")
_SUBAGENT_STARTS = ("collab_agent_spawn_end", "sub_agent_activity", "SubAgentActivity")
_SUBAGENT_KIND_FIELDS = ("agent_role", "agent_nickname")


def _is_record(fields: dict[str, object]) -> bool:
    kind = fields.get("type")
    has_payload = isinstance(fields.get("payload"), dict)
    if has_payload and isinstance(kind, str) and kind in ENVELOPES:
        return True
    is_flat = fields.get("record_type") == "state" or _is_flat_header(fields)
    return is_flat or _is_typed_prompt(fields)


def _is_typed_prompt(fields: Fields) -> bool:
    """Return whether a record is a prompt in ``history.jsonl``, as it was typed."""
    return {"session_id", "ts", "text"} <= fields.keys()


INDEX = "session_index.jsonl"
"""The file with the names of sessions, beside the folder of rollouts."""


def _is_index_record(fields: Fields) -> bool:
    """Return whether a record names a session, as in ``session_index.jsonl``."""
    return {"id", "thread_name"} <= fields.keys() and "type" not in fields


def _is_flat_header(fields: Fields) -> bool:
    """Return whether a record is the first of one of the oldest rollouts."""
    has_id = isinstance(fields.get("id"), str) and "timestamp" in fields
    return has_id and "type" not in fields and "instructions" in fields


@dataclass(frozen=True, slots=True)
class _CodexRecord:
    """One record, taken out of its envelope."""

    kind: str
    """The payload's type where it has one, else the envelope's."""
    label: str
    """Its name in reports: ``event_msg/token_count``."""
    payload: Fields
    is_item: bool = False
    """Part of the model's history, not an event of the program."""
    is_flat: bool = False
    """Without an envelope, as in the oldest rollouts."""

    @property
    def item_id(self) -> str:
        return as_text(self.payload.get("id")) if self.is_item else ""

    @property
    def writer(self) -> str:
        """The kind of source: records of two kinds may repeat each other's text."""
        return "item" if self.is_item else self.kind

    @classmethod
    def parse(cls, fields: Fields) -> "_CodexRecord | None":
        """Take a record out of its envelope; None if it does not say what it is."""
        kind, payload = fields.get("type"), as_object(fields.get("payload"))
        if kind is None:
            return cls._parse_untyped(fields)
        if not isinstance(kind, str) or not kind:
            return None
        if kind not in ENVELOPES:
            is_item = kind in _FLAT_TYPES
            # "?" keeps it apart from a payload's type of the same name.
            return cls(kind if is_item else f"?{kind}", kind, fields, is_item, True)
        if kind not in ("response_item", "event_msg", "realtime_item"):
            return cls(kind, kind, payload)
        name = as_text(payload.get("type")) or ("message" if "role" in payload else "")
        item = payload.get("item")
        if name == "item_completed" and isinstance(item, dict):
            # Names are in PascalCase, camelCase or snake_case.
            words = snake_case(as_text(item.get("type"))).split("_")
            name = "".join(map(str.capitalize, words))
            item = {snake_case(field): value for field, value in item.items()}
            return cls(name, f"{kind}/item_completed/{name}", item)
        return cls(name, f"{kind}/{name}", payload, kind != "event_msg")

    @classmethod
    def _parse_untyped(cls, fields: Fields) -> "_CodexRecord | None":
        if "role" in fields:
            content = fields.get("content", fields.get("message"))
            return cls("message", "message", {**fields, "content": content}, True, True)
        if _is_flat_header(fields):
            return cls("session_meta", "session_meta", fields, is_flat=True)
        if isinstance(fields.get("record_type"), str):
            return cls("state", "state", fields, is_flat=True)
        return None


class _RolloutReader(SessionReader):
    """Reads a rollout turn by turn.

    What is remembered to recognize records that repeat others is forgotten when a turn
    is complete.
    """

    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self._file_name = source.path.name.partition(".jsonl")[0]
        self._thread = _Thread(**context.get("thread", {}))
        self.facts = self._thread.facts
        self._done: set[str] = set()
        """The keys of the calls whose results were read."""
        self._has_reply = False
        self._is_in_turn = False
        self._header_time: str = context.get("header_time", "")

    @property
    def is_open(self) -> bool:
        return self._is_in_turn or super().is_open

    def context(self) -> State:
        facts = super().context()["facts"]
        thread = {**asdict(self._thread), "facts": facts}
        return {"thread": thread, "header_time": self._header_time}

    def facts_so_far(self) -> Iterator[ParsedItem]:
        thread, facts = self._thread, dict(self.facts)
        if not thread.session_id:
            return
        if thread.subagent:
            own = thread.session_id, thread.subagent, thread.kind
            yield SubagentMetadata(AGENT, *own)
            of_session = ("at", "cwd", "branch", "project")
            facts = {name: facts[name] for name in of_session if name in facts}
        yield self.make_metadata(thread.session_id, facts)

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        if _is_typed_prompt(record.fields):
            yield self._typed_prompt(record)
            return
        self._is_in_turn = True
        line, rollout = record.line, _CodexRecord.parse(record.fields)
        if rollout is None:
            yield InvalidRecord("a record without type", line)
            return
        time = record.fields.get("timestamp") or record.fields.get("created_at")
        time = time or (self._header_time if rollout.is_flat else None)
        at = parse_time(time)
        kind, thread, payload = rollout.kind, self._thread, rollout.payload
        is_copy = False
        if rollout.label != "session_meta":
            thread.follow(kind, payload, at)
            is_copy = thread.is_copying
        if kind == "token_count" and not is_copy:
            info, at = as_object(payload.get("info")), self.builder.parse_time(time)
            place = Position(line, at, thread.session_id, thread.subagent)
            # A record may repeat the one before, with the same totals.
            reply_id = f"{thread.own_id}/{info.get('total_token_usage')}"
            about = reply_id, self.facts.get("model"), info.get("last_token_usage")
            yield from self.builder.usage(place, *about)
        if is_copy and (thread.subagent or kind not in READ_KINDS):
            yield SkippedRecord(_COPIED, line)
        elif kind not in READ_KINDS:
            self._learn(rollout, at)
            is_start = kind in _SUBAGENT_STARTS
            started = [*self._subagent_started(payload)] if is_start else []
            yield from started
            is_fact = bool(started) or kind == "thread_name_updated"
            yield SkippedRecord(rollout.label, line, is_stored_elsewhere=is_fact)
        else:
            yield from self._read(rollout, line, self.builder.parse_time(time))

    def _typed_prompt(self, record: Record) -> ParsedItem:
        """Read a prompt in ``history.jsonl``, whose times are in seconds."""
        fields, seconds = record.fields, record.fields["ts"]
        ms = seconds * 1000 if isinstance(seconds, int | float) else seconds
        at = self.builder.parse_time(ms)
        position = Position(record.line, at, as_text(fields["session_id"]))
        return self.builder.typed_prompt(position, as_text(fields["text"]))

    def _learn(self, record: _CodexRecord, at: datetime | None) -> None:
        payload = record.payload
        if record.label == "session_meta":
            self._thread.open(payload, at)
            if record.is_flat and at:
                self._header_time = at.isoformat()
        elif record.kind == "turn_context":
            self.learn("model", payload.get("model"))
            if "cwd" not in self.facts:  # The header is torn, or was lost.
                self.learn("cwd", payload.get("cwd"))
        elif record.kind == "thread_name_updated":
            self.facts.pop("title", None)
            self.learn("title", payload.get("thread_name", payload.get("name")))
            self.learn("title_at", at.isoformat() if at else "")
            self.learn("is_title_given", "true")

    def _subagent_started(self, fields: Fields) -> Iterator[ParsedItem]:
        """Read the start of a subagent, whose own file does not name the call."""
        thread_id = first_text(fields, "new_thread_id", "agent_thread_id")
        is_start = fields.get("kind", "started") == "started"
        if thread_id and is_start and self._thread.session_id:
            yield SubagentMetadata(
                AGENT,
                self._thread.session_id,
                thread_id,
                first_text(fields, "new_agent_role", "new_agent_nickname"),
                codex_tool_calls.call_key(fields),
                describe_task(as_text(fields.get("prompt"))),
            )

    def _read(
        self, record: _CodexRecord, line: int, at: datetime
    ) -> Iterator[ParsedItem]:
        thread = self._thread
        if not thread.own_id:
            match = _FILE_NAME.fullmatch(self._file_name)
            thread.open({"id": match[1] if match else self._file_name}, at)
        yield from self.introduce()
        position = Position(
            line, at, thread.session_id, thread.subagent, record.item_id
        )
        is_empty = True
        for item in READ_KINDS[record.kind](self, position, record):
            is_empty = False
            if isinstance(item, Event):
                yield thread.with_source_id(item)
            elif thread.is_copying and isinstance(item, Thought):
                yield SkippedRecord(_COPIED, line)
            else:
                yield item
        if is_empty and record.kind not in codex_tool_calls.CALLS:
            reason = f"{record.label}, a copy or empty"
            yield SkippedRecord(reason, line, is_stored_elsewhere=True)

    def _is_new(
        self, position: Position, kind: str, text: str, record: _CodexRecord
    ) -> bool:
        return self.recent.is_new(kind, text, record.writer, position.at)

    def _message(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        role = record.payload.get("role")
        if role == "assistant":
            yield from self._reply(position, record)
        elif role == "user":
            yield from self._prompt(position, record)
        elif text := content_text(record.payload.get("content")).strip():
            kind = role if isinstance(role, str) else "message"
            yield self.builder.system_message(position, text, kind)

    def _prompt(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        payload = record.payload
        images = [payload.get(name) for name in ("images", "local_images")]
        prompt = _Prompt.parse(payload.get("message", payload.get("content")), images)
        if prompt.system_text:
            key = _duplicate_key(prompt.system_kind, prompt.system_text)
            if self._is_new(position, *key, record):
                yield self.builder.system_message(
                    position, prompt.system_text, prompt.system_kind, key=""
                )
        if prompt.text and self._is_new(position, "prompt", prompt.words, record):
            yield self.builder.event(
                position,
                EventType.USER_MESSAGE,
                prompt.text,
                added=prompt.added,
            )

    def _reply(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        payload = record.payload
        content = payload.get("message", payload.get("content", payload.get("text")))
        if communication := _parse_communication(content):
            message = replace(record, payload=communication)
            yield from self._agent_message(position, message)
            return
        for number, (text, words, kind) in enumerate(_assistant_messages(content)):
            if self._is_new(position, "reply", words, record):
                self._has_reply = True
                item_id = record.item_id
                yield self.builder.event(
                    position,
                    EventType.ASSISTANT_MESSAGE,
                    text,
                    key=f"{item_id}/{number}" if item_id and number else item_id,
                    kind="plan" if record.kind == "Plan" else kind,
                    phase=as_text(payload.get("phase")),
                )

    def _reasoning(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        fields = ("summary", "content", "text", "summary_text", "raw_content")
        texts = [
            text
            for name in fields
            if name in record.payload
            for text in _texts(record.payload[name])
            if text.strip()
        ]
        for text in texts:
            if self._is_new(position, "thought", text, record):
                yield self.builder.thought(position, text)
        if not texts and record.payload.get("encrypted_content"):
            yield SkippedRecord(f"{record.label}, encrypted", position.line)

    def _turn_end(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        """Read the end of a turn; its last message counts if there was no other."""
        if not self._has_reply:
            message = {"message": record.payload.get("last_agent_message")}
            yield from self._reply(position, replace(record, payload=message))
        if error := record.payload.get("error"):
            fields = as_object(error) or {"message": error}
            yield from self._error(position, replace(record, payload=fields))
        self._is_in_turn = self._has_reply = False
        self.recent.clear()
        self._done.clear()
        self._thread.texts = {}

    def _error(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        fields = as_object(record.payload.get("error")) or record.payload
        text = as_text(fields.get("message"))
        if text.strip() and self._is_new(position, "error", text, record):
            yield self.builder.system_message(position, text, "error")

    def _review(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        hint = first_text(record.payload, "user_facing_hint", "review").strip()
        return self.notice(position, "review", hint and f"Review {hint}")

    def _reviewed(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        """Read the result of a review, which is a text or a list of findings."""
        payload = record.payload
        output = as_object(payload.get("review_output"))
        findings = (
            join_parts([first_text(finding, "title"), first_text(finding, "body")])
            for finding in as_objects(output.get("findings"))
        )
        texts = as_text(output.get("overall_explanation")), *findings
        text = as_text(payload.get("review")) or join_parts(texts)
        if text.strip() and self._is_new(position, "reply", text, record):
            kind = EventType.ASSISTANT_MESSAGE
            yield self.builder.event(position, kind, text, kind="review")

    def _goal(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        """Read the goal of the session, which is recorded again with each state."""
        text = as_text(as_object(record.payload.get("goal")).get("objective")).strip()
        digest = text_digest(text)
        if text and digest != self._thread.goal:
            self._thread.goal = digest
            yield self.builder.system_message(position, f"Goal: {text}", "goal")

    def _hook_prompt(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        fragments = as_objects(record.payload.get("fragments"))
        return self.notice(position, "hook", *(part.get("text") for part in fragments))

    def _agent_message(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        """Read a reply, or as an item, what another agent wrote to this one."""
        if not (record.is_item or "author" in record.payload):
            yield from self._reply(position, record)
        elif text := content_text(record.payload.get("content")).strip():
            author = as_text(record.payload.get("author"))
            text = f"{author}: {text}" if author else text
            if self._is_new(position, "agent", text, record):
                yield self.builder.system_message(position, text, "agent")
        else:
            yield SkippedRecord(f"{record.label}, encrypted", position.line)

    def _compaction(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        text = as_text(record.payload.get("message"))
        if self._is_new(position, "compacted", "", record) or text.strip():
            start = EventType.SESSION_START
            yield self.builder.event(position, start, text, source="compact")

    def _turn_aborted(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        yield from self.break_off_calls(position)
        self._has_reply = False
        reason = as_text(record.payload.get("reason")) or "interrupted"
        if self._is_new(position, *_duplicate_key("interruption", ""), record):
            text = f"[turn aborted: {reason}]"
            yield self.builder.system_message(position, text, "interruption")

    def _call(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        key = codex_tool_calls.call_key(record.payload)
        if (before := self.calls.pop(key)).position:
            yield from self.unfinished_calls([before])
        self._done.discard(key)
        name, tool_input = codex_tool_calls.parse_call(record.payload)
        self.calls.replace(ToolCall.make(key, name, tool_input, position))

    def _result(self, position: Position, record: _CodexRecord) -> Iterator[ParsedItem]:
        key = codex_tool_calls.call_key(record.payload)
        call = self.calls.pop(key)
        text, ending = codex_tool_calls.parse_result(call.tool_name, record.payload)
        if call.position or key not in self._done:
            self._mark_done(key)
            if not ending.exit_status and call.ending.end is not CallEnd.UNKNOWN:
                ending = call.ending
            if ending.end is CallEnd.BACKGROUND:
                self._thread.add_background_call(key)
            call = replace(call, ending=ending)
            yield self.builder.tool_result(position, call, text)

    def _complete_call(
        self, position: Position, record: _CodexRecord
    ) -> Iterator[ParsedItem]:
        """Read a record with both call and result, unless items hold them too."""
        key = codex_tool_calls.call_key(record.payload)
        shape = codex_tool_calls.COMPLETE_CALLS[record.kind]
        parsed = codex_tool_calls.parse_complete_call(shape, record.payload)
        call = ToolCall.make(key, parsed.tool_name, parsed.tool_input)
        call = replace(call, lines=parsed.lines, ending=parsed.ending)
        if key in self._thread.background_calls and parsed.ending.exit_status:
            # The call returned before its command ended.
            self._thread.background_calls.remove(key)
            self._mark_done(key)
            call = replace(call, key=f"{key}/ended")
            yield self.builder.tool_result(position, call, parsed.result)
            return
        if key in self.calls:
            open_call = self.calls.pop(key)
            lines = parsed.lines or open_call.lines
            open_call = replace(open_call, lines=lines, ending=parsed.ending)
            self.calls.replace(open_call)
        if shape == "web_search_end":
            if not self._is_new(position, "search", call.summary, record):
                return
        elif key in self.calls or key in self._done:
            return
        self._mark_done(key)
        if parsed.tool_name == "spawn_agent":
            yield from self._subagents_started(record.payload)
        yield self.builder.tool_result(position, call, parsed.result)

    def _subagents_started(self, fields: Fields) -> Iterator[SubagentMetadata]:
        threads = fields.get("receiver_thread_ids")
        for thread_id in threads if isinstance(threads, list) else ():
            yield SubagentMetadata(
                AGENT,
                self._thread.session_id,
                as_text(thread_id),
                "",
                codex_tool_calls.call_key(fields),
                describe_task(as_text(fields.get("prompt"))),
            )

    def _mark_done(self, key: str) -> None:
        if key:
            self._done.add(key)


_Read = Callable[[_RolloutReader, Position, _CodexRecord], Iterator[ParsedItem]]

READ_KINDS: dict[str, _Read] = {
    "message": _RolloutReader._message,
    "user_message": _RolloutReader._prompt,
    "UserMessage": _RolloutReader._prompt,
    "agent_message": _RolloutReader._agent_message,
    "inter_agent_communication": _RolloutReader._agent_message,
    "AgentMessage": _RolloutReader._reply,
    "Plan": _RolloutReader._reply,
    "reasoning": _RolloutReader._reasoning,
    "agent_reasoning": _RolloutReader._reasoning,
    "agent_reasoning_raw_content": _RolloutReader._reasoning,
    "Reasoning": _RolloutReader._reasoning,
    "task_complete": _RolloutReader._turn_end,
    "turn_complete": _RolloutReader._turn_end,
    "error": _RolloutReader._error,
    "entered_review_mode": _RolloutReader._review,
    "EnteredReviewMode": _RolloutReader._review,
    "exited_review_mode": _RolloutReader._reviewed,
    "ExitedReviewMode": _RolloutReader._reviewed,
    "thread_goal_updated": _RolloutReader._goal,
    "HookPrompt": _RolloutReader._hook_prompt,
    "compacted": _RolloutReader._compaction,
    "context_compacted": _RolloutReader._compaction,
    "ContextCompaction": _RolloutReader._compaction,
    "turn_aborted": _RolloutReader._turn_aborted,
    **dict.fromkeys(codex_tool_calls.CALLS, _RolloutReader._call),
    **dict.fromkeys(codex_tool_calls.RESULTS, _RolloutReader._result),
    **dict.fromkeys(codex_tool_calls.COMPLETE_CALLS, _RolloutReader._complete_call),
}


def _parse_communication(content: object) -> Fields:
    """Return what another agent wrote, which may be a reply in JSON, else {}."""
    fields = as_object(parse_json(content_text(content)))
    is_one = {"author", "recipient", "content", "trigger_turn"} <= fields.keys()
    return fields if is_one else {}


def _duplicate_key(kind: str, text: str) -> tuple[str, str]:
    """Return how duplicates of a system text are found: a turn is aborted once."""
    return ("interruption", "") if kind == "interruption" else ("injected", text)


def _texts(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        yield as_text(part.get("text")) if isinstance(part, dict) else as_text(part)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A message in the user's name, sorted by who wrote it."""

    text: str
    """The user's words, with placeholders for images."""
    words: str
    """The same without placeholders."""
    added: str
    """Text that the editor or the program added to them."""
    system_text: str
    system_kind: str

    @classmethod
    def parse(cls, content: object, images: Sequence[object]) -> "_Prompt":
        words: list[str] = []
        texts: list[str] = []
        system: list[tuple[str, str]] = []
        contexts: list[str] = []
        for text, is_image in content_parts(content):
            if is_image:
                texts.append(text)
                continue
            own, added = split_prompt(text, AGENT)
            if kind := find_system_kind(own, AGENT):
                system.append((text, kind))
            elif own.strip():
                contexts.append(added)
                words.append(own)
                texts.append(own)
            elif added:
                system.append((added, "reminder"))
        for links in images:
            texts += map(image_placeholder, links if isinstance(links, list) else ())
        return cls(
            join_parts(texts),
            join_parts(words),
            join_parts(contexts),
            join_parts([text for text, _ in system]),
            system[0][1] if system else "",
        )


def _assistant_messages(content: object) -> Iterator[tuple[str, str, str]]:
    """Yield the reply and the plans of a record: text, text without images, kind."""
    parts = list(content_parts(content))
    words = join_parts([text for text, is_image in parts if not is_image])
    words = _CITATION.sub("", words)
    reply, plans = split_elements(words, [_PLAN])
    reply, opening, closing = reply.strip(), len(f"<{_PLAN}>"), len(f"</{_PLAN}>")
    images = [text for text, is_image in parts if is_image and text != UNKNOWN_IMAGE]
    if reply or images:
        yield join_parts([reply, *images]), reply, ""
    for plan in (element[opening:-closing].strip() for element in plans):
        if plan:
            yield plan, plan, "plan"


@dataclass(slots=True)
class _Thread:
    """One rollout's session, and whether copied records are being read.

    A fork begins with its own ``session_meta`` and then repeats the records of the
    session it was forked from, with the time of the fork. Turns keep their ids, which
    are UUIDs with a time: what comes before the first turn begun after the fork's own
    id was made is a copy.

    Most events have no id of their own, so their source id is made of the turn and the
    text: original and copy get the same one, and the store recognizes them. A turn
    without id is known by its number and its session.
    """

    own_id: str = ""
    parent: str = ""
    """The session whose subagent it is."""
    kind: str = ""
    forked_from: str = ""
    is_copying: bool = False
    """The records read now are copies from another session."""
    created_ms: int = 0
    """The time at which the rollout's own id was made."""
    last_copied_ms: int = 0
    facts: dict[str, str] = field(default_factory=dict)
    copied_from: str = ""
    """The session whose records are being copied."""
    turn: str = ""
    prompts: int = 0
    goal: str = ""
    """A hash of the session's goal."""
    texts: dict[str, int] = field(default_factory=dict)
    """The number of times each text occurred in this turn."""
    background_calls: list[str] = field(default_factory=list)
    """The keys of calls that returned while their commands went on running."""

    @property
    def session_id(self) -> str:
        return self.parent or self.own_id

    @property
    def subagent(self) -> str:
        return self.own_id if self.parent or self.kind else ""

    def open(self, meta: Fields, at: datetime | None) -> None:
        """Learn from a ``session_meta``; the first one is the rollout's own."""
        name = clean(as_text(meta.get("id") or meta.get("session_id"))).strip()
        if not self.own_id and name:
            self._open_own(name, meta, at)
        elif name == self.own_id:
            self.is_copying = False
            self._begin_turn("")
        elif name and not self.forked_from and not self.subagent:
            self.forked_from = self.facts["forked_from"] = name
            self.is_copying = True
        if self.is_copying:
            self.copied_from = name if name != self.own_id else self.forked_from

    def _open_own(self, own_id: str, meta: Fields, at: datetime | None) -> None:
        self.own_id = own_id
        self._learn_parent(meta)
        self.forked_from = clean(as_text(meta.get("forked_from_id")))
        self.is_copying = bool(self.forked_from)
        created = parse_time(meta.get("timestamp")) or at
        self.created_ms = _uuid_ms(own_id) or (to_ms(created) if created else 0)
        self.last_copied_ms = to_ms(at) if at else self.created_ms
        source = meta.get("source")
        git = as_object(meta.get("git"))
        facts = {
            "cwd": as_text(meta.get("cwd")),
            "branch": as_text(git.get("branch")),
            "project": repository_name(git.get("repository_url")),
            "created_by": as_text(meta.get("originator"))
            or (source if isinstance(source, str) else ""),
            "forked_from": "" if self.subagent else self.forked_from,
            "at": created.isoformat() if created else "",
        }
        self.facts |= {name: value for name, value in facts.items() if value}

    def _learn_parent(self, meta: Fields) -> None:
        subagent = as_object(meta.get("source")).get("subagent")
        spawn = as_object(as_object(subagent).get("thread_spawn"))
        if not subagent and meta.get("thread_source") != "subagent":
            return
        root = as_text(meta.get("session_id"))
        parent = as_text(spawn.get("parent_thread_id") or meta.get("parent_thread_id"))
        self.parent = clean(root if root and root != self.own_id else parent)
        kinds = (
            *(spawn.get(name) or meta.get(name) for name in _SUBAGENT_KIND_FIELDS),
            subagent.get("other") if isinstance(subagent, dict) else subagent,
        )
        self.kind = next((clean(k) for k in kinds if isinstance(k, str) and k), "agent")

    def follow(self, kind: str, payload: Fields, at: datetime | None) -> None:
        """Follow the turns, and where the records copied by a fork end."""
        turn = unique_id(as_text(payload.get("turn_id"))) if kind in _TURN_KINDS else ""
        if turn:
            self._begin_turn(turn)
        if not self.forked_from:
            return
        if turn_ms := _uuid_ms(turn):
            self.is_copying = turn_ms < self.created_ms
        elif self.is_copying and at:
            self.is_copying = to_ms(at) - self.last_copied_ms <= _COPIED_WITHIN_MS
            if not self.is_copying and not turn:
                self._begin_turn("")
        if self.is_copying and at:
            self.last_copied_ms = max(self.last_copied_ms, to_ms(at))

    def add_background_call(self, key: str) -> None:
        latest = self.background_calls[1 - _MAX_BACKGROUND_CALLS :]
        self.background_calls = [*latest, key]

    def _begin_turn(self, turn: str) -> None:
        if turn != self.turn:
            self.turn, self.texts = turn, {}

    def with_source_id(self, event: Event) -> Event:
        """Give an event a source id that its copies in forks have as well."""
        if event.event_type is EventType.USER_MESSAGE and event.role is EventRole.USER:
            self.prompts += 1
            if not self.turn:
                self.texts = {}
        if event.source_id:
            return event
        text = text_digest(event.event_type, event.text)
        self.texts[text] = self.texts.get(text, 0) + 1
        session = self.copied_from if self.is_copying else self.own_id
        turn = self.turn or f"{session}/{self.prompts}"
        source_id = f"{turn}/{text}/{self.texts[text]}"
        if not self.is_copying:
            return replace(event, source_id=source_id)
        # Copies of equal texts have the same time: they need ids of their own.
        parts = event.agent, event.session_id, event.event_type, source_id
        return replace(
            event, source_id=source_id, event_id=event_id(*parts, event.timestamp)
        )


def _uuid_ms(name: str) -> int:
    """Return when a UUID of version 7 was made; 0 for any other name."""
    try:
        uuid = UUID(name)
    except ValueError:
        return 0
    return uuid.int >> 80 if uuid.version == 7 else 0


class _IndexReader(RecordReader):
    """Reads the names of sessions; the latest of each counts."""

    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self._names: dict[str, SessionMetadata] = {}

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        session_id = as_text(record.fields.get("id"))
        title = clean_title(as_text(record.fields.get("thread_name")))
        at = parse_time(record.fields.get("updated_at"))
        if not session_id or (title and not at):
            yield InvalidRecord("a name without session or time", record.line)
            return
        before = self._names.get(session_id)
        if not (at and before and before.title_at and before.title_at > at):
            named = SessionMetadata(
                AGENT, session_id, title=title, title_at=at, is_title_given=True
            )
            self._names[session_id] = named

    def facts_so_far(self) -> Iterator[ParsedItem]:
        yield from self._names.values()


class CodexFormat(JsonLinesFormat):
    """Rollouts, and the file with the names of their sessions."""

    def has_session(self, path: PurePath) -> bool:
        return path.name != INDEX and super().has_session(path)

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        is_index = any(_is_index_record(record.fields) for record in head)
        return is_index or super().matches_content(path, head)

    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        if not any(_is_index_record(r.fields) for r in read_head(path, 1)):
            yield from super().read(path, start, agent=agent, now=now)
            return
        make_reader = partial(_IndexReader, Source(path, self.name, now))
        # It is always read from its start, also when there is another session.
        counted = int(start.state.get("damaged", 0)) if start else 0
        damaged, end = 0, Cursor()
        if start and start.offset > path.stat().st_size:
            yield FileReplaced("the file is shorter than it was")
            counted = 0
        for item in read_lines(path, None, make_reader, JsonParser(_is_index_record)):
            if isinstance(item, Cursor):
                end = item
                continue
            damaged += isinstance(item, InvalidRecord)
            if not isinstance(item, InvalidRecord) or damaged > counted:
                yield item
        state: State = {"titles": [], "damaged": damaged}
        yield Cursor(end.offset, end.line, state=state)


FORMAT = CodexFormat(
    AGENT,
    "Codex",
    _is_record,
    _RolloutReader,
    endings=(".jsonl", f".jsonl{COMPRESSED}"),
)
