"""GitHub Copilot CLI's sessions: one JSON object a line, one file a session.

A tool call and its result are one event, at the result's time. A subagent is named by
the call that started it; its events belong to the parent's session. The files are
``~/.copilot/session-state/<session>/events.jsonl``, in older versions
``<session>.jsonl``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memtui.capture.formats.base import (
    EventBuilder,
    InvalidRecord,
    ParsedItem,
    PendingCalls,
    Position,
    RecentTexts,
    Record,
    SkippedRecord,
    ToolCall,
    as_text,
    join_texts,
    parse_time,
    placeholder,
    result_text,
)
from memtui.capture.formats.jsonl import JsonLinesFormat
from memtui.model.events import EventRole, EventType, clean
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.text import tool_calls

AGENT = "copilot-cli"

SKIPPED_TYPES = frozenset(
    """assistant.turn_start assistant.turn_end assistant.intent assistant.usage
    assistant.message_start assistant.message_delta assistant.reasoning_delta
    assistant.streaming_delta hook.start hook.end permission.requested
    permission.completed system.message session.permissions_changed session.truncation
    session.usage_info session.usage_checkpoint session.auto_mode_resolved session.idle
    session.compaction_start session.info session.warning session.mode_changed
    session.plan_changed session.workspace_file_changed session.snapshot_rewind
    session.tools_updated session.skills_loaded session.custom_agents_updated
    session.mcp_servers_loaded session.mcp_server_status_changed
    session.extensions_loaded session.background_tasks_changed session.binary_asset
    session.remote_steerable_changed session.custom_notification session.task_complete
    session.import_legacy pending_messages.modified tool.user_requested
    tool.execution_partial_result tool.execution_progress subagent.selected
    subagent.deselected user_input.requested user_input.completed elicitation.requested
    elicitation.completed external_tool.requested external_tool.completed command.queued
    command.execute command.completed commands.changed exit_plan_mode.requested
    exit_plan_mode.completed sampling.requested sampling.completed mcp.oauth_required
    mcp.oauth_completed capabilities.changed""".split()  # noqa: SIM905
)
"""Types that hold nothing of the conversation, or what other records hold too."""

_TYPE_PREFIXES = (
    "session.",
    "assistant.",
    "user.",
    "tool.",
    "hook.",
    "subagent.",
    "system.",
)

_TYPES_WITH_FOLDER = ("session.start", "session.resume", "session.context_changed")
_Fields = Mapping[str, object]


class CopilotFormat(JsonLinesFormat):
    name, title = AGENT, "GitHub Copilot CLI"

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        return any(_is_own_record(record.fields) for record in head)

    def reader(
        self, path: Path, agent: str, now: datetime, state: Mapping[str, object]
    ) -> "_SessionReader":
        return _SessionReader(path, now, state)


FORMAT = CopilotFormat()


def _is_own_record(fields: _Fields) -> bool:
    kind = fields.get("type")
    has_shape = isinstance(fields.get("data"), dict) and "id" in fields
    return isinstance(kind, str) and kind.startswith(_TYPE_PREFIXES) and has_shape


class _SessionReader:
    needs_reread = False

    def __init__(self, path: Path, now: datetime, state: _Fields) -> None:
        self._builder = EventBuilder(AGENT, now)
        self._calls = PendingCalls(state.get("calls"))
        self._recent = RecentTexts(state.get("recent"))
        facts = state.get("facts")
        self._facts: dict[str, str] = dict(facts) if isinstance(facts, dict) else {}
        file_name = path.parent.name if path.stem == "events" else path.stem
        self._session_id = as_text(state.get("session")) or file_name
        self._is_introduced = False
        self._has_call = False
        """The record being read holds a tool call."""

    def state(self) -> Mapping[str, object]:
        return {
            "calls": self._calls.state(),
            "recent": self._recent.state(),
            "facts": dict(self._facts),
            "session": self._session_id,
        }

    def finish(self) -> Iterator[ParsedItem]:
        yield from self._calls.pending_records()
        yield from self._session_facts()

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        kind, data = record.fields.get("type"), record.fields.get("data")
        if not isinstance(kind, str) or not kind:
            yield InvalidRecord("a record without type", record.line)
        elif kind in SKIPPED_TYPES:
            yield SkippedRecord(kind, record.line)
        elif kind not in READ_TYPES:
            yield SkippedRecord(f"unknown record type {kind}", record.line)
        elif not isinstance(data, dict):
            yield InvalidRecord("a record without data", record.line)
        else:
            timestamp = record.fields.get("timestamp")
            at = self._builder.parse_time(timestamp, record.line)
            if isinstance(at, InvalidRecord):
                yield at
            else:
                yield from self._read(kind, record, data, at)

    def _read(
        self, kind: str, record: Record, data: _Fields, at: datetime
    ) -> Iterator[ParsedItem]:
        self._learn(kind, data, at)
        if not self._is_introduced:
            self._is_introduced = True
            yield from self._session_facts()
        fields = record.fields
        subagent = as_text(data.get("parentToolCallId") or fields.get("agentId"))
        key = as_text(fields.get("id"))
        position = Position(record.line, at, self._session_id, subagent, key)
        is_empty, self._has_call = True, False
        for item in READ_TYPES[kind](self, position, data):
            is_empty = False
            yield item
        if is_empty and not self._has_call:
            yield SkippedRecord(kind, record.line)

    def _learn(self, kind: str, data: _Fields, at: datetime) -> None:
        """Learn what a record says of the session."""
        if kind == "session.start" and (name := clean(as_text(data.get("sessionId")))):
            self._session_id = name.strip() or self._session_id
        facts = {
            "model": data.get("newModel") or data.get("selectedModel"),
            "title": data.get("title") if kind == "session.title_changed" else "",
            "created_by": data.get("producer"),
        }
        if kind == "assistant.message" and not data.get("parentToolCallId"):
            facts["model"] = data.get("model")
        if kind in _TYPES_WITH_FOLDER:
            inner = data.get("context")
            context: _Fields = inner if isinstance(inner, Mapping) else data
            facts["branch"] = context.get("branch")
            if "cwd" not in self._facts:
                facts |= {"cwd": context.get("cwd"), "root": context.get("gitRoot")}
                self._facts["at"] = at.isoformat()
        for name, value in facts.items():
            if text := " ".join(clean(as_text(value)).split()):
                self._facts[name] = text

    def _session_facts(self) -> Iterator[SessionMetadata]:
        facts = dict(self._facts)
        at = parse_time(facts.pop("at", None))
        if facts and self._session_id:
            yield SessionMetadata(AGENT, self._session_id, at=at, **facts)

    def _user_message(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        text = join_texts((as_text(data.get("content")), *_attachments(data)))
        source = as_text(data.get("source"))
        if text and source not in ("", "user"):
            yield self._builder.system_message(position, text, source)
        elif text:
            kind, role = EventType.USER_MESSAGE, EventRole.USER
            yield self._builder.event(position, kind, text, role=role)

    def _assistant_message(
        self, position: Position, data: _Fields
    ) -> Iterator[ParsedItem]:
        thought = as_text(data.get("reasoningText"))
        if self._is_new_thought(position, thought, "message"):
            yield self._builder.thought(position, thought, key="")
        if (text := as_text(data.get("content"))).strip():
            kind = EventType.ASSISTANT_MESSAGE
            yield self._builder.event(position, kind, text)
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else ():
            if isinstance(request, Mapping):
                yield from self._tool_start(position, request)

    def _reasoning(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        text = as_text(data.get("content"))
        if self._is_new_thought(position, text, "record"):
            yield self._builder.thought(position, text)

    def _is_new_thought(self, position: Position, text: str, writer: str) -> bool:
        return bool(text.strip()) and self._recent.is_new(
            "thought", text, writer, position.at
        )

    def _tool_start(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        """Remember a call that is requested or started: the first record counts."""
        call = ToolCall.make(
            as_text(data.get("toolCallId")),
            as_text(data.get("toolName") or data.get("name")),
            _arguments(data.get("arguments")),
            position,
        )
        self._has_call = True
        if other := self._calls.replace(call):
            yield from self._builder.interrupted_calls([other])

    def _tool_complete(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        call = self._calls.pop(as_text(data.get("toolCallId")))
        if not call.tool_name and data.get("toolName"):
            name = as_text(data.get("toolName"))
            call = replace(call, tool_name=name, summary=name)
        is_error = "true" if data.get("success") is False else ""
        result = _result(data)
        yield self._builder.tool_result(position, call, result, is_error=is_error)

    def _subagent_started(
        self, position: Position, data: _Fields
    ) -> Iterator[ParsedItem]:
        call_id, kind = as_text(data.get("toolCallId")), as_text(data.get("agentName"))
        if call_id:
            task = _task(self._calls.get(call_id))
            yield SubagentMetadata(
                AGENT, position.session_id, call_id, kind, call_id, task
            )
        yield self._subagent_event(position, EventType.SUBAGENT_START, data)

    def _subagent_ended(
        self, position: Position, data: _Fields
    ) -> Iterator[ParsedItem]:
        yield self._subagent_event(position, EventType.SUBAGENT_STOP, data)

    def _subagent_event(
        self, position: Position, kind: EventType, data: _Fields
    ) -> ParsedItem:
        return self._builder.event(
            position,
            kind,
            as_text(data.get("error")),
            agent_id=as_text(data.get("toolCallId")),
            agent_type=as_text(data.get("agentName")),
        )

    def _session_start(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        kind = EventType.SESSION_START
        yield self._builder.event(position, kind, "", source="startup")

    def _session_resume(
        self, position: Position, data: _Fields
    ) -> Iterator[ParsedItem]:
        kind = EventType.SESSION_START
        yield self._builder.event(position, kind, "", source="resume")

    def _compaction(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        if data.get("success") is not False:
            kind, text = EventType.SESSION_START, as_text(data.get("summaryContent"))
            yield self._builder.event(position, kind, text, source="compact")

    def _shutdown(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        reason = as_text(data.get("shutdownType"))
        yield self._builder.event(position, EventType.SESSION_END, "", reason=reason)

    def _abort(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        """The user interrupted: calls without a result will get none."""
        calls = self._calls.pop_conversation(
            position.session_id, position.subagent, with_subagents=True
        )
        yield from self._builder.interrupted_calls(calls)
        text = f"[aborted: {as_text(data.get('reason')) or 'interrupted'}]"
        yield self._builder.system_message(position, text, "interruption")

    def _notification(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        if (text := as_text(data.get("content"))).strip():
            yield self._builder.system_message(position, text, "notification")

    def _error(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        if (text := as_text(data.get("message"))).strip():
            yield self._builder.system_message(position, text, "error")

    def _skill(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        parts = as_text(data.get("name")), as_text(data.get("content"))
        if text := "\n".join(filter(str.strip, parts)):
            yield self._builder.system_message(position, text, "skill")

    def _handoff(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        if text := join_texts(as_text(data.get(n)) for n in ("summary", "context")):
            yield self._builder.system_message(position, text, "handoff")

    def _no_event(self, position: Position, data: _Fields) -> Iterator[ParsedItem]:
        """Read a record that only says something of the session."""
        yield from ()


_Read = Callable[[_SessionReader, Position, _Fields], Iterator[ParsedItem]]

READ_TYPES: dict[str, _Read] = {
    "session.start": _SessionReader._session_start,
    "session.resume": _SessionReader._session_resume,
    "session.shutdown": _SessionReader._shutdown,
    "session.compaction_complete": _SessionReader._compaction,
    "session.error": _SessionReader._error,
    "session.handoff": _SessionReader._handoff,
    "session.model_change": _SessionReader._no_event,
    "session.context_changed": _SessionReader._no_event,
    "session.title_changed": _SessionReader._no_event,
    "user.message": _SessionReader._user_message,
    "assistant.message": _SessionReader._assistant_message,
    "assistant.reasoning": _SessionReader._reasoning,
    "tool.execution_start": _SessionReader._tool_start,
    "tool.execution_complete": _SessionReader._tool_complete,
    "subagent.started": _SessionReader._subagent_started,
    "subagent.completed": _SessionReader._subagent_ended,
    "subagent.failed": _SessionReader._subagent_ended,
    "system.notification": _SessionReader._notification,
    "skill.invoked": _SessionReader._skill,
    "abort": _SessionReader._abort,
}
"""The method that reads each record type."""


def _attachments(data: _Fields) -> list[str]:
    attachments = data.get("attachments")
    return [
        _attachment(one)
        for one in (attachments if isinstance(attachments, list) else ())
        if isinstance(one, Mapping)
    ]


def _attachment(fields: _Fields) -> str:
    """Return what stands for an attachment: type and name or size, not its bytes."""
    kind = as_text(fields.get("type")) or "attachment"
    data = fields.get("data")
    if isinstance(data, str) and data:
        return placeholder("image", fields.get("mimeType"), data)
    names = (fields.get(name) for name in ("path", "displayName", "filePath"))
    name = as_text(next(filter(None, names), ""))
    return f"[{kind}: {name}]" if name else f"[{kind}]"


def _result(data: _Fields) -> str:
    result, error = data.get("result"), data.get("error")
    fields = result if isinstance(result, Mapping) else {"content": result}
    text = result_text(fields.get("content") or fields.get("detailedContent"))
    contents = fields.get("contents")
    images = [
        _attachment(one)
        for one in (contents if isinstance(contents, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "image"
    ]
    if images:
        text = "\n".join(filter(None, (text, *images)))
    if not text.strip() and error:
        return as_text(error.get("message") if isinstance(error, Mapping) else error)
    return text


def _arguments(value: object) -> object:
    """Return a call's arguments, parsed where they are JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def _task(call: ToolCall) -> str:
    """Return what a subagent was asked to do, from the call that started it."""
    arguments = _arguments(call.tool_input)
    fields = arguments if isinstance(arguments, Mapping) else {}
    return tool_calls.describe_task(
        as_text(fields.get("description") or fields.get("prompt"))
    )
