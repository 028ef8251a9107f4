"""GitHub Copilot CLI's sessions: one JSON object a line, one file a session.

A tool call and its result are one event, at the result's time. A subagent is named by
the call that started it; its events belong to the parent's session. The files are
``~/.copilot/session-state/<session>/events.jsonl``, in older versions
``<session>.jsonl``; ``workspace.yaml`` beside the former has the session's name.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath

from memtui.capture.formats import saved_results
from memtui.capture.formats.base import (
    Fields,
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
    count_diff_lines,
    describe_task,
    first_text,
    join_texts,
    parse_json,
    parse_time,
    placeholder,
    repository_name,
    result_text,
)
from memtui.capture.formats.endings import read_ending, read_fields
from memtui.capture.formats.jsonl import JsonLinesFormat, SessionReader
from memtui.capture.formats.prompts import clean_title
from memtui.files import read_small_file
from memtui.model.events import EventType, clean
from memtui.model.sessions import SessionMetadata, SubagentMetadata

AGENT = "copilot-cli"

_TYPE_PREFIXES = (
    *("session.", "assistant.", "user.", "tool."),
    *("hook.", "subagent.", "system.", "abort", "skill."),
)

_EDITING = ("edit", "create")

_TYPES_WITH_FOLDER = ("session.start", "session.resume", "session.context_changed")


def _is_record(fields: dict[str, object]) -> bool:
    kind = fields.get("type")
    has_shape = isinstance(fields.get("data"), dict) and "id" in fields
    return isinstance(kind, str) and kind.startswith(_TYPE_PREFIXES) and has_shape


class _CopilotReader(SessionReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        path = source.path
        file_name = path.parent.name if path.stem == "events" else path.stem
        self.session_id = self.session_id or file_name
        self._workspace = _read_workspace(path.with_name(WORKSPACE))

    @property
    def is_open(self) -> bool:
        # A thought of this turn may be recorded once more.
        return bool(self.recent) or super().is_open

    def finish(self) -> Iterator[ParsedItem]:
        yield from super().finish()
        names = [
            clean_title(self._workspace.get(name, "")) for name in ("name", "summary")
        ]
        if self.session_id and self._workspace:
            at = parse_time(self._workspace.get("updated_at"))
            is_given = bool(names[0]) and self._workspace.get("user_named") == "true"
            if not is_given:  # The user may have taken a name away.
                yield SessionMetadata(
                    AGENT, self.session_id, is_title_given=True, facts_at=at
                )
            yield SessionMetadata(
                AGENT,
                self.session_id,
                title=names[0] or names[1],
                is_title_given=is_given,
                summary=names[1],
                facts_at=at,
            )

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        kind, data = record.fields.get("type"), record.fields.get("data")
        if not isinstance(kind, str) or not kind:
            yield InvalidRecord("a record without type", record.line)
        elif kind not in READ_TYPES:
            yield SkippedRecord(kind, record.line)
        elif not isinstance(data, dict):
            yield InvalidRecord("a record without data", record.line)
        else:
            at = self.builder.parse_time(record.fields.get("timestamp"))
            yield from self._read(kind, record, data, at)

    def _read(
        self, kind: str, record: Record, data: Fields, at: datetime
    ) -> Iterator[ParsedItem]:
        self._learn(kind, data, at)
        yield from self.introduce()
        fields, calls = record.fields, self.calls.count
        subagent = as_text(data.get("parentToolCallId") or fields.get("agentId"))
        key = as_text(fields.get("id"))
        position = Position(record.line, at, self.session_id, subagent, key)
        yield from self._usage(position, data)
        is_empty = True
        if kind in _BOUNDARIES:
            items = iter([self._boundary(position, data, *_BOUNDARIES[kind])])
        elif kind in _NOTICES:
            name, *texts = _NOTICES[kind]
            items = self.notice(position, name, *map(data.get, texts))
        elif kind in _FACTS:
            items = iter(())
        else:
            items = _READERS[kind](self, position, data)
        for item in items:
            is_empty = False
            yield item
        if is_empty and self.calls.count == calls:
            yield SkippedRecord(kind, record.line, is_stored_elsewhere=True)

    def _usage(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        """Read the totals of each model, which stand at the end."""
        for model, metrics in as_object(data.get("modelMetrics")).items():
            start = data.get("sessionStartTime", position.key)
            reply_id = f"{self.session_id}/{start}/{model}"
            stated = as_object(as_object(metrics).get("usage"))
            yield from self.builder.usage(position, reply_id, model, stated)

    def _learn(self, kind: str, data: Fields, at: datetime) -> None:
        if kind == "session.start":
            name = clean(as_text(data.get("sessionId"))).strip()
            self.session_id = name or self.session_id
        self.learn("model", first_text(data, "newModel", "selectedModel"))
        self.learn("created_by", data.get("producer"))
        if kind == "session.title_changed":
            self.learn("title", data.get("title"))
            self.learn("title_at", at.isoformat())
        if kind == "assistant.message" and not data.get("parentToolCallId"):
            self.learn("model", data.get("model"))
        if kind in _TYPES_WITH_FOLDER:
            context = as_object(data.get("context")) or data
            self.learn("branch", context.get("branch"))
            if "cwd" not in self.facts:
                self.learn("cwd", context.get("cwd"))
                self.learn("root", context.get("gitRoot"))
                self.learn("project", repository_name(context.get("repository")))
                self.learn("at", at.isoformat())
        if "cwd" not in self.facts:
            self.learn("cwd", self._workspace.get("cwd"))
            self.learn("root", self._workspace.get("git_root"))

    def _user_message(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        files = map(_attachment, as_objects(data.get("attachments")))
        text = join_texts((as_text(data.get("content")), *files))
        # The message that a context was cleared with may be recorded once more.
        is_new = self.recent.is_new("prompt", text, "message", position.at)
        self.recent.clear()
        is_program = data.get("isAutopilotContinuation") is True
        source = "autopilot" if is_program else as_text(data.get("source"))
        if not is_new:
            return
        if text and source not in ("", "user"):
            yield self.builder.system_message(position, text, source)
        elif text:
            yield self.builder.prompt(position, text)

    def _assistant_message(
        self, position: Position, data: Fields
    ) -> Iterator[ParsedItem]:
        thought = as_text(data.get("reasoningText"))
        if self._is_new_thought(position, thought, "message"):
            yield self.builder.thought(position, thought)
        if (text := as_text(data.get("content"))).strip():
            yield self.builder.event(position, EventType.ASSISTANT_MESSAGE, text)
        for request in as_objects(data.get("toolRequests")):
            yield from self._tool_start(position, request)

    def _reasoning(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        text = as_text(data.get("content"))
        if self._is_new_thought(position, text, "record"):
            yield self.builder.thought(position, text)

    def _is_new_thought(self, position: Position, text: str, writer: str) -> bool:
        is_empty = not text.strip()
        return not is_empty and self.recent.is_new("thought", text, writer, position.at)

    def _tool_start(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        """Remember a call that is requested or started: the first record counts."""
        call = ToolCall.make(
            as_text(data.get("toolCallId")),
            first_text(data, "toolName", "name"),
            parse_json(data.get("arguments")),
            position,
        )
        if other := self.calls.replace(call):
            yield from self.unfinished_calls([other])

    def _tool_complete(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        call = self.calls.pop(as_text(data.get("toolCallId")))
        if not call.tool_name and data.get("toolName"):
            name = as_text(data.get("toolName"))
            call = replace(call, tool_name=name, summary=name)
        diff = as_object(data.get("result")).get("detailedContent")
        if call.tool_name in _EDITING:
            call = replace(call, lines=count_diff_lines(diff))
        result, stated = _result(data), read_fields(data)
        for part in _contents(data):
            stated |= read_fields(part)
        ending = read_ending(AGENT, call.tool_name, result, **stated)
        if saved_results.find_path(result):  # a temporary file
            yield saved_results.missing(result, position.line)
        yield self.builder.tool_result(position, replace(call, ending=ending), result)

    def _subagent_started(
        self, position: Position, data: Fields
    ) -> Iterator[ParsedItem]:
        if call_id := as_text(data.get("toolCallId")):
            given = as_object(parse_json(self.calls.get(call_id).tool_input))
            yield SubagentMetadata(
                AGENT,
                position.session_id,
                call_id,
                as_text(data.get("agentName")),
                call_id,
                describe_task(first_text(given, "description", "prompt")),
            )
        yield self._boundary(position, data, EventType.SUBAGENT_START)

    def _boundary(
        self, position: Position, data: Fields, kind: EventType, source: str = ""
    ) -> ParsedItem:
        return self.builder.event(
            position,
            kind,
            as_text(data.get("error")),
            source=source,
            reason=as_text(data.get("shutdownType")),
            agent_id=as_text(data.get("toolCallId")),
            agent_type=as_text(data.get("agentName")),
        )

    def _compaction(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        if data.get("success") is not False:
            kind, text = EventType.SESSION_START, as_text(data.get("summaryContent"))
            yield self.builder.event(position, kind, text, source="compact")

    def _context_cleared(
        self, position: Position, data: Fields
    ) -> Iterator[ParsedItem]:
        yield self._boundary(position, data, EventType.SESSION_START, "clear")
        text = as_text(data.get("initialMessage")).strip()
        if text and self.recent.is_new("prompt", text, "clear", position.at):
            yield self.builder.prompt(position, text)

    def _task_complete(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        if text := as_text(data.get("summary")).strip():
            kind = EventType.ASSISTANT_MESSAGE
            yield self.builder.event(position, kind, text, kind="task_complete")

    def _abort(self, position: Position, data: Fields) -> Iterator[ParsedItem]:
        yield from self.break_off_calls(position, with_subagents=True)
        text = f"[aborted: {as_text(data.get('reason')) or 'interrupted'}]"
        yield self.builder.system_message(position, text, "interruption")


_BOUNDARIES: dict[str, tuple[EventType, str]] = {
    "session.start": (EventType.SESSION_START, "startup"),
    "session.resume": (EventType.SESSION_START, "resume"),
    "session.shutdown": (EventType.SESSION_END, ""),
    "subagent.completed": (EventType.SUBAGENT_STOP, ""),
    "subagent.failed": (EventType.SUBAGENT_STOP, ""),
}
"""The events of the types that say what began or ended."""

_NOTICES = {
    "session.error": ("error", "message"),
    "session.handoff": ("handoff", "summary", "context"),
    "session.schedule_created": ("schedule", "prompt"),
    "system.notification": ("notification", "content"),
    "skill.invoked": ("skill", "name", "content"),
}
"""The types of the program's own texts: their kind, and the fields with the text."""

_FACTS = ("session.model_change", "session.context_changed", "session.title_changed")
"""The types that only say something of the session."""

_READERS: dict[
    str, Callable[[_CopilotReader, Position, Fields], Iterator[ParsedItem]]
] = {
    "session.compaction_complete": _CopilotReader._compaction,
    "session.context_cleared": _CopilotReader._context_cleared,
    "session.task_complete": _CopilotReader._task_complete,
    "user.message": _CopilotReader._user_message,
    "assistant.message": _CopilotReader._assistant_message,
    "assistant.reasoning": _CopilotReader._reasoning,
    "tool.execution_start": _CopilotReader._tool_start,
    "tool.execution_complete": _CopilotReader._tool_complete,
    "subagent.started": _CopilotReader._subagent_started,
    "abort": _CopilotReader._abort,
}

READ_TYPES = frozenset({*_BOUNDARIES, *_NOTICES, *_FACTS, *_READERS})


# The file beside the events

WORKSPACE = "workspace.yaml"

_COMMENT = re.compile(r"(?:^|\s)#.*")
"""The file with the session's name and summary."""

_FIELD = re.compile(r"^(\w+):[ \t]*(.*(?:\n(?:[ \t].*)?)*)", re.MULTILINE)
"""A field of the top level, with the indented lines that continue it."""

_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*)")
_DOUBLE_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')

_BLOCK = re.compile(r"[|>][-+\d]*(?: |$)")
"""The mark before the lines of a long text."""


def _read_workspace(file: Path) -> dict[str, str]:
    """Return the texts of a YAML file; empty if there is none that can be read."""
    try:
        text = read_small_file(file).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return {}
    return {name: _yaml_text(value) for name, value in _FIELD.findall(text)}


def _yaml_text(value: str) -> str:
    """Return a text of YAML in one line."""
    line = " ".join(value.split())
    if match := _SINGLE_QUOTED.match(line):
        return match[1].replace("''", "'")
    if match := _DOUBLE_QUOTED.match(line):
        try:
            return as_text(json.loads(match[0]))
        except ValueError:
            return match[0].strip('"')
    if line.startswith(("|", ">")):
        return _BLOCK.sub("", line, count=1)
    plain = _COMMENT.sub("", line)
    return "" if plain.lower() in ("null", "~") else plain


def _attachment(fields: Fields) -> str:
    """Return what stands for an attachment: type and name or size, not its bytes."""
    kind = as_text(fields.get("type")) or "attachment"
    if isinstance(data := fields.get("data"), str) and data:
        return placeholder("image", fields.get("mimeType"), data)
    name = first_text(fields, "path", "displayName", "filePath")
    return f"[{kind}: {name}]" if name else f"[{kind}]"


def _contents(data: Fields) -> list[dict[str, object]]:
    return as_objects(as_object(data.get("result")).get("contents"))


def _result(data: Fields) -> str:
    result, error = data.get("result"), data.get("error")
    fields = result if isinstance(result, dict) else {"content": result}
    parts = _contents(data)
    images = [_attachment(part) for part in parts if part.get("type") == "image"]
    text = result_text(fields.get("content") or fields.get("detailedContent"))
    if text.strip() or images:
        return "\n".join(filter(None, (text, *images)))
    return as_text(as_object(error).get("message") or error)


class CopilotFormat(JsonLinesFormat):
    """``events.jsonl``, with the name of the session in a file beside it."""

    def is_beside(self, path: PurePath) -> bool:
        return path.name == WORKSPACE

    def related_files(self, path: Path) -> Iterator[Path]:
        yield path.with_name(WORKSPACE)


FORMAT = CopilotFormat(AGENT, "GitHub Copilot CLI", _is_record, _CopilotReader)
