"""The payloads that agents pass to their hooks: one parser for all agents.

An event with an unknown name is invalid; it is never taken for a message.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from memtui.capture.formats import codex_tool_calls
from memtui.capture.formats.base import (
    UNNAMED_HOOK,
    InvalidRecord,
    ParsedItem,
    Record,
    SkippedRecord,
    ToolCall,
    as_object,
    as_text,
    count_edit_lines,
    count_words,
    first_text,
    parse_json,
    parse_time,
    result_text,
    unique_id,
)
from memtui.capture.formats.codex_tool_calls import snake_case
from memtui.capture.formats.endings import (
    EXIT_STATUS_FIELDS,
    read_ending,
    read_fields,
    read_flags,
    unwrapped,
    without_output,
)
from memtui.capture.formats.jsonl import (
    TOO_DEEP,
    as_record,
    decode,
    parse_values,
    split_line,
)
from memtui.capture.formats.prompts import clean_title, parse_prompt, split_messages
from memtui.model import events
from memtui.model.events import (
    Event,
    EventRefused,
    EventRole,
    EventType,
    Provenance,
)
from memtui.model.sessions import SessionMetadata
from memtui.model.tool_calls import Ending, is_command
from memtui.text.stopwords import word_set

_COPILOT = "copilot-cli"

DEFAULT_AGENT = "claude-code"
"""The agent whose hooks do not name it; others run them, too."""

_AGENT_BY_PATH = {
    "/.cursor/": "cursor",
    "/.codex/": "codex",
    "/.gemini/antigravity-cli/": "antigravity-cli",
    "/rollout-": "codex",  # if CODEX_HOME is set
    "/antigravity": "antigravity-cli",  # in ~/.gemini
    "/.gemini/": "gemini-cli",
    "/.copilot/": _COPILOT,
    "/session-state/": _COPILOT,  # if COPILOT_HOME is set
    "/GitHub.copilot-chat/": _COPILOT,  # in the folder of VS Code
    "/projects/": DEFAULT_AGENT,
}
"""Parts of the paths of transcripts, which most payloads name, and their agents."""

_CONVERSATION_ID = "conversation_id"
"""Cursor's name for the id of a session."""

_CURSOR_FIELDS = (_CONVERSATION_ID, "cursor_version")
"""Fields that only Cursor's payloads have."""

_GEMINI_EVENTS = ("beforeagent", "afteragent", "beforetool", "aftertool")
"""Events of Gemini CLI that no other agent has, in lower case."""

_SYNONYMS = {
    "tool_args": "tool_input",
    "tool_result": "tool_response",
    "tool_output": "tool_response",
    "agent_name": "agent_type",
    "subagent_id": "agent_id",
    "subagent_type": "agent_type",
    "response": "last_assistant_message",
    "error_message": "error",
    _CONVERSATION_ID: "session_id",
}
"""The names that other agents have for Claude Code's fields, in snake_case."""

_TURN_IDS = ("prompt_id", "turn_id", "generation_id")
"""The fields with the id of what follows a prompt: Claude Code's, Codex's, Cursor's."""

_REPEATING_EVENTS = word_set(
    """pretooluse userpromptexpansion messagedisplay permissionrequest posttoolbatch
    beforetool beforetoolselection beforemodel aftermodel
    userprompttransformed beforeshellexecution aftershellexecution beforemcpexecution
    aftermcpexecution beforereadfile afterfileedit"""
)
"""Events whose text another event repeats, in lower case."""

SKIPPED_EVENTS = _REPEATING_EVENTS | word_set(
    """notification precompact setup instructionsloaded taskcreated
    taskcompleted teammateidle configchange cwdchanged directoryadded filechanged
    worktreecreate worktreeremove elicitation elicitationresult premodelswitch
    postmodelswitch precompress erroroccurred interrupt afteragentthought
    beforetabfileread aftertabfileedit workspaceopen"""
)
"""Known events that are not stored, in lower case."""

_FAILURES = ("posttoolusefailure", "permissiondenied")
"""Events of calls that failed, or were not allowed, in lower case."""

_Fields = dict[str, object]


def normalize_fields(fields: Mapping[str, object]) -> _Fields:
    """Return a payload with Claude Code's field names and shapes."""
    result = {snake_case(name): value for name, value in fields.items()}
    result |= {name: fields[name] for name in result.keys() & fields.keys()}
    for theirs, ours in _SYNONYMS.items():
        if theirs in result and result.get(ours) in (None, ""):
            result[ours] = result[theirs]
    roots = result.get("workspace_roots")
    if not result.get("cwd") and isinstance(roots, list) and roots:
        result["cwd"] = roots[0]
    if not isinstance(result.get("cwd"), str):
        result.pop("cwd", None)
    if "tool_input" in result:
        result["tool_input"] = parse_json(result["tool_input"])
    if "tool_output" in result:
        result["tool_response"] = parse_json(result["tool_response"])
    response = result.get("tool_response")
    if isinstance(response, dict):
        _normalize_copilot_response(result, response)
        _normalize_gemini_response(result, response)
    return result


def _normalize_copilot_response(result: _Fields, response: _Fields) -> None:
    text = response.get("textResultForLlm", response.get("text_result_for_llm"))
    if text is None:
        return
    status = first_text(response, "resultType", "result_type") or "success"
    result["tool_response"], result["result_type"] = text, status
    if status != "success" and not result.get("error"):
        result["error"] = as_text(text) or as_text(status)


_DISPLAY = "memtui_display"
"""The field for what the user was shown of a result."""


def _normalize_gemini_response(result: _Fields, response: _Fields) -> None:
    if "llmContent" not in response:
        return
    if (error := response.get("error")) and not result.get("error"):
        result["error"] = as_object(error).get("message") or error
    result[_DISPLAY] = response.get("returnDisplay")
    parts = response["llmContent"]
    result["tool_response"] = "\n".join(
        unwrapped(as_text(part.get("text", part) if isinstance(part, dict) else part))
        for part in (parts if isinstance(parts, list) else [parts])
    )


def _kind(event_name: str) -> str:
    return event_name.replace("_", "").lower()


def _find_agent(fields: Mapping[str, object], event_name: str) -> str:
    """Return the agent that ran a hook, judged by the payload; "" if none shows."""
    path = as_text(fields.get("transcript_path")).replace("\\", "/")
    for part, agent in _AGENT_BY_PATH.items():
        if part in path:
            return agent
    if not fields.keys().isdisjoint(_CURSOR_FIELDS):
        return "cursor"
    return "gemini-cli" if _kind(event_name) in _GEMINI_EVENTS else ""


@dataclass(frozen=True, slots=True)
class Payload:
    """One record of a hook's input."""

    event_name: str
    fields: _Fields
    at: datetime
    agent: str
    session_id: str
    line: int
    is_unnamed: bool = False
    """The hook names no agent, or another agent than the one that ran it."""

    @classmethod
    def parse(
        cls, record: Record, received_at: datetime, agent: str, event: str
    ) -> "Payload":
        fields = normalize_fields(record.fields)
        name = fields.get("hook_event_name") or fields.get("event_type") or event
        name = events.clean(as_text(name))
        stated = as_text(fields.get("agent"))
        ran_by = stated or _find_agent(fields, name)
        is_own = bool(stated or as_text(fields.get("source_key"))) or (
            ran_by == (agent or DEFAULT_AGENT) if ran_by else bool(agent)
        )
        agent = ran_by or agent or DEFAULT_AGENT
        at = parse_time(fields.get("timestamp")) or received_at
        session_id = as_text(fields.get("session_id"))
        cwd = as_text(fields.get("cwd"))
        if agent == _COPILOT and cwd and not session_id.strip():
            # Older versions send no session id: one session per folder and day.
            session_id = f"{at.astimezone(UTC):%Y-%m-%d} {cwd}"
        return cls(name, fields, at, agent, session_id, record.line, not is_own)

    @property
    def kind(self) -> str:
        return _kind(self.event_name)

    def text(self, *names: str) -> str:
        return first_text(self.fields, *names)

    def metadata(self) -> dict[str, str]:
        """Return the map of further values that a program may send with an event."""
        values = as_object(self.fields.get("metadata"))
        return {name: as_text(value) for name, value in values.items() if value}

    def session_facts(self) -> SessionMetadata:
        return SessionMetadata(
            agent=self.agent,
            session_id=events.clean(self.session_id),
            cwd=self.text("cwd"),
            model=self.text("model"),
            title=clean_title(self.text("session_title")),
            created_by=self.text("sender", "created_by"),
            at=self.at,
            facts_at=self.at,
        )


def read(
    raw: bytes,
    *,
    received_at: datetime,
    now: datetime,
    agent: str = "",
    event: str = "",
) -> Iterator[ParsedItem]:
    """Read one spool file; every record in it yields at least one item.

    ``received_at``, ``agent`` and ``event`` are those of payloads that have none.
    """
    if not raw.strip():
        yield InvalidRecord("an empty file")
        return
    for record in parse_payload(raw):
        if isinstance(record, InvalidRecord):
            yield record
            continue
        try:
            payload = Payload.parse(record, received_at, agent, event)
            yield from _read(payload, now)
        except RecursionError:
            yield InvalidRecord(TOO_DEEP, record.line)
        except OverflowError:
            yield InvalidRecord("a timestamp out of the calendar", record.line)


def parse_payload(raw: bytes) -> Iterator[Record | InvalidRecord]:
    """Parse a hook's input: one object, pretty-printed or not, an array, or lines."""
    for _, parsed in split_payload(raw):
        yield from parsed


def split_payload(raw: bytes) -> list[tuple[bytes, list[Record | InvalidRecord]]]:
    """Split a hook's input into parts that can be stored separately, with records.

    Input without any object is one invalid part.
    """
    values = _payload_values(raw)
    if values is not None:
        records = [as_record(value, number) for number, value in enumerate(values, 1)]
        if len(records) < 2:
            return [(raw, records or [InvalidRecord("nothing in it", 1)])]
        return [(_to_bytes(v), [r]) for v, r in zip(values, records, strict=True)]
    parts: list[tuple[bytes, list[Record | InvalidRecord]]] = []
    for number, line in enumerate(raw.splitlines(), 1):
        text = decode(line)
        pieces = list(split_line(text, _is_payload))
        if len(pieces) == 1:
            parts.append((line, [pieces[0].record(number)]))
        else:
            for piece in pieces:
                part = text[piece.start : piece.end].encode("utf-8", "replace")
                parts.append((part, [piece.record(number)]))
    has_object = any(
        isinstance(record, Record) and record.fields
        for _, parsed in parts
        for record in parsed
    )
    if len(parts) > 1 and has_object:
        return parts
    return [(raw, [InvalidRecord("not valid JSON", 1)])]


def _is_payload(fields: _Fields) -> bool:
    return bool(
        {"hook_event_name", "event_type", "session_id", *_SYNONYMS}
        & set(map(snake_case, fields))
    )


def _payload_values(raw: bytes) -> list[object] | None:
    """Parse the JSON values of a payload, arrays flattened; None if any is not JSON."""
    values: list[object] = []
    try:
        for value, _ in parse_values(decode(raw)):
            values += value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        return None
    return values


def _to_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def sender(raw: bytes, *, agent: str = "", event: str = "") -> tuple[str, str]:
    """Return the agent and event of a spool file, as far as they are known."""
    for record in parse_payload(raw):
        if isinstance(record, Record):
            try:
                epoch = datetime.fromtimestamp(0, UTC)
                payload = Payload.parse(record, epoch, agent, event)
            except (OverflowError, RecursionError):
                continue
            return events.clean(payload.agent), payload.event_name
    return agent, event


def _read(payload: Payload, now: datetime) -> Iterator[ParsedItem]:
    if payload.kind in SKIPPED_EVENTS:
        is_repeating = payload.kind in _REPEATING_EVENTS
        words = 0 if is_repeating else count_words(payload.fields)
        yield SkippedRecord(f"hook {payload.event_name}", payload.line, words)
    elif payload.kind not in READ_EVENTS:
        reason = f"unknown hook event {payload.event_name!r}"
        yield InvalidRecord(reason if payload.kind else "no event name", payload.line)
    elif reason := events.find_name_error(payload.session_id, payload.agent):
        yield InvalidRecord(reason, payload.line)
    else:
        try:
            events.require_past(payload.at, now)
            yield from READ_EVENTS[payload.kind](payload)
            yield payload.session_facts()
        except EventRefused as error:
            yield InvalidRecord.refused(error, payload.line)


def _event(
    payload: Payload,
    event_type: EventType,
    text: str,
    *,
    key: str = "",
    metadata: Mapping[str, str] | None = None,
    subagent: str = "",
    role: EventRole | None = None,
) -> Event:
    # An event that is sent again is recognized whenever that is, by an id and its text.
    source_key = payload.text("source_key")
    own_id = source_key or key or payload.text(*_TURN_IDS)
    source_id = f"{payload.session_id}\x1f{own_id}" if own_id else ""
    if event_type is EventType.TOOL_RESULT and not source_key:
        source_id = unique_id(key) or source_id  # as in transcripts
    if source_key:
        key = f"{source_key}\x1f{text}"
    event = events.make(
        agent=payload.agent,
        session_id=payload.session_id,
        timestamp=payload.at,
        event_type=event_type,
        text=text,
        source_key=key,
        role=role,
        metadata=payload.metadata() | {k: v for k, v in (metadata or {}).items() if v},
        subagent=subagent,
        source_id=source_id,
    )
    if payload.is_unnamed:
        return replace(event, provenance=Provenance(UNNAMED_HOOK))
    return event


def _prompt(payload: Payload) -> Iterator[Event]:
    whole = payload.text("prompt", "content", "message", "text")
    parts = split_messages(whole, payload.agent)
    # The id that a program gives an event is that of one event.
    for part in [whole] if payload.text("source_key") else parts:
        prompt = parse_prompt(part, agent=payload.agent)
        yield _event(
            payload,
            EventType.USER_MESSAGE,
            prompt.text,
            role=prompt.role,
            metadata=prompt.metadata,
        )


def _reply(payload: Payload) -> Iterator[Event]:
    text = payload.text("content", "message", "text", "prompt_response")
    yield _event(payload, EventType.ASSISTANT_MESSAGE, text)


def _tool_result(payload: Payload) -> Iterator[Event]:
    fields = payload.fields
    response = fields.get("tool_response", fields.get("content"))
    error = payload.text("error")
    key, name = payload.text("tool_use_id"), payload.text("tool_name")
    call = ToolCall.make(key, name, fields.get("tool_input"))
    if payload.agent == codex_tool_calls.AGENT and response is not None:
        text, ending = codex_tool_calls.parse_result(name, {"output": response})
    else:
        text = error or payload.text("reason") or _response_text(response)
        ending = _read_ending(payload, name, text)
    call = replace(call, lines=count_edit_lines(response), ending=ending)
    yield _event(
        payload,
        EventType.TOOL_RESULT,
        call.text(text),
        key=call.event_key,
        metadata=call.metadata(),
        subagent=payload.text("agent_id"),
    )


def _read_ending(payload: Payload, tool_name: str, text: str) -> Ending:
    fields, response = payload.fields, as_object(payload.fields.get("tool_response"))
    has_failed = bool(fields.get("error")) or payload.kind in _FAILURES
    stated: dict[str, object] = {"status": fields.get("result_type")}
    is_claude = payload.agent == DEFAULT_AGENT and "tool_response" in fields
    if has_failed or is_claude:
        # Claude Code has an event of its own for calls that fail.
        stated["has_failed"] = has_failed
    if fields.get("is_interrupt") is True:
        stated["status"] = "interrupted"
    if is_command(tool_name):
        # Some have the exit status beside the result.
        beside = {name: fields[name] for name in EXIT_STATUS_FIELDS if name in fields}
        stated |= read_fields(beside) | read_fields(response)
    else:  # Fields other than flags are the tool's own.
        stated |= read_flags(response)
    text = without_output(text, fields.get(_DISPLAY))
    return read_ending(payload.agent, tool_name, text, **stated)


def _response_text(response: object) -> str:
    if isinstance(response, dict):
        for name in ("stdout", "output", "content", "result"):
            if response.get(name):
                error = as_text(response.get("stderr"))
                text = result_text(response[name])
                return f"{text}\n{error}" if error else text
        if "stdout" in response or "output" in response:
            return as_text(response.get("stderr"))
    return result_text(response)


def _stop(payload: Payload) -> Iterator[Event]:
    names = "last_assistant_message", "prompt_response", "content", "message", "text"
    text = payload.text(*names)
    if text.strip():
        yield _event(payload, EventType.ASSISTANT_MESSAGE, text)
    yield _event(payload, EventType.ASSISTANT_STOP, "")


def _stop_failure(payload: Payload) -> Iterator[Event]:
    """Read the end of a turn that failed: the last message, and the error."""
    if text := payload.text("last_assistant_message").strip():
        yield _event(payload, EventType.ASSISTANT_MESSAGE, text)
    if text := payload.text("error_details", "error"):
        kind, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        yield _event(payload, kind, text, metadata={"kind": "error"}, role=role)
    yield _event(payload, EventType.ASSISTANT_STOP, "")


def _subagent(payload: Payload, event_type: EventType) -> Iterator[Event]:
    text, agent_id = payload.text("last_assistant_message"), payload.text("agent_id")
    if text.strip() and agent_id:
        # The subagent's transcript holds the same text as a message of its own.
        yield _event(payload, EventType.ASSISTANT_MESSAGE, text, subagent=agent_id)
        text = ""
    metadata = {"agent_id": agent_id, "agent_type": payload.text("agent_type")}
    yield _event(payload, event_type, text, key=agent_id, metadata=metadata)


def _compaction(payload: Payload) -> Iterator[Event | SkippedRecord]:
    text = payload.text("compact_summary")
    if text.strip():
        metadata = {"source": "compact", "trigger": payload.text("trigger")}
        yield _event(payload, EventType.SESSION_START, text, metadata=metadata)
    else:
        yield SkippedRecord(f"hook {payload.event_name}", payload.line)


def _boundary(payload: Payload, event_type: EventType) -> Iterator[Event]:
    metadata = {name: payload.text(name) for name in ("source", "reason")}
    yield _event(payload, event_type, "", metadata=metadata)


def _session_info(payload: Payload) -> Iterator[SessionMetadata]:
    """Read a session's title and summary, sent without an event."""
    yield SessionMetadata(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        title=clean_title(payload.text("title")),
        summary=payload.text("summary"),
        created_by=payload.text("sender", "created_by"),
        facts_at=payload.at,
    )


_Read = Callable[[Payload], Iterator[Event | SessionMetadata | SkippedRecord]]

READ_EVENTS: dict[str, _Read] = {
    "userpromptsubmit": _prompt,
    "usermessage": _prompt,
    "userpromptsubmitted": _prompt,
    "beforeagent": _prompt,
    "beforesubmitprompt": _prompt,
    "assistantmessage": _reply,
    "assistantresponse": _reply,
    "afteragentresponse": _reply,
    "posttooluse": _tool_result,
    "posttoolusefailure": _tool_result,
    "permissiondenied": _tool_result,
    "toolresult": _tool_result,
    "aftertool": _tool_result,
    "stop": _stop,
    "assistantstop": _stop,
    "afteragent": _stop,
    "agentstop": _stop,
    "stopfailure": _stop_failure,
    "subagentstart": partial(_subagent, event_type=EventType.SUBAGENT_START),
    "subagentstop": partial(_subagent, event_type=EventType.SUBAGENT_STOP),
    "postcompact": _compaction,
    "sessionstart": partial(_boundary, event_type=EventType.SESSION_START),
    "sessionend": partial(_boundary, event_type=EventType.SESSION_END),
    "sessioninfo": _session_info,
}
