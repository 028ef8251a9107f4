"""What agents hand to their hooks: one normaliser for all the dialects (decisions §2).

An event with a name we do not know is refused, never taken for a message.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.capture.formats import base
from memtui.capture.formats.base import (
    InvalidRecord,
    ParsedItem,
    Record,
    SkippedRecord,
    as_text,
    parse_time,
)
from memtui.capture.formats.jsonl import TOO_DEEP, parse_payload
from memtui.model import events
from memtui.model.events import Event, EventRefused, EventRole, EventType
from memtui.model.sessions import SessionMetadata
from memtui.text import tool_calls

Fields = dict[str, object]


_COPILOT = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolResult": "tool_response",
    "tool_result": "tool_response",
    "agentId": "agent_id",
    "agentType": "agent_type",
    "agentName": "agent_type",
    "response": "last_assistant_message",
}
"""GitHub Copilot's words, and the one it keeps when it speaks Claude Code's."""


_TEXTS = ("textResultForLlm", "text_result_for_llm")


_VERDICTS = ("resultType", "result_type")


def common(fields: Mapping[str, object]) -> Fields:
    """A payload in the common words."""
    said = dict(fields)
    for theirs, ours in _COPILOT.items():
        if theirs in said and said.get(ours) in (None, ""):
            said[ours] = said[theirs]
    if "toolArgs" in said:
        said["tool_input"] = _from_json(said["tool_input"])
    answer = said.get("tool_response")
    if isinstance(answer, dict):
        _copilot_answer(said, answer)
        _gemini_answer(said, answer)
    return said


def _from_json(given: object) -> object:
    """What a JSON text stands for; anything else as it is."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _copilot_answer(said: Fields, answer: Fields) -> None:
    text = next((answer[name] for name in _TEXTS if name in answer), None)
    if text is None:
        return
    verdict = next((answer[name] for name in _VERDICTS if name in answer), "success")
    said["tool_response"] = text
    if verdict != "success" and not said.get("error"):
        said["error"] = as_text(text) or as_text(verdict)


def _gemini_answer(said: Fields, answer: Fields) -> None:
    if "llmContent" not in answer:
        return
    if answer.get("error") and not said.get("error"):
        error = answer["error"]
        is_told = isinstance(error, dict) and error.get("message")
        said["error"] = error["message"] if is_told else error  # type: ignore[index]
    parts = answer["llmContent"]
    said["tool_response"] = "\n".join(
        as_text(part.get("text", part) if isinstance(part, dict) else part)
        for part in (parts if isinstance(parts, list) else [parts])
    )


PayloadsFields = dict[str, object]


COPILOT = "copilot-cli"


_AGENT_FOLDERS = {
    "/.codex/": "codex",
    "/.gemini/": "gemini-cli",
    "/.copilot/": COPILOT,
}
"""Whose hook it was, by where the transcript lies."""


_OTHERWISE = "claude-code"
"""Whose hook it was if nothing says so."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One record of what a hook was handed."""

    name: str
    fields: PayloadsFields
    at: datetime
    agent: str
    session_id: str
    line: int

    def text(self, *names: str) -> str:
        """The first of these fields that says something."""
        return next(filter(None, (as_text(self.fields.get(n)) for n in names)), "")


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a payload beside its own words."""

    received_at: datetime
    agent: str
    event: str


def of(record: Record, told: Told) -> Payload:
    """Read one record of what a hook was handed."""
    fields = common(record.fields)
    name = fields.get("hook_event_name") or fields.get("event_type") or told.event
    transcript = as_text(fields.get("transcript_path")).replace("\\", "/")
    agent = next((a for f, a in _AGENT_FOLDERS.items() if f in transcript), "")
    agent = as_text(fields.get("agent")) or agent or told.agent or _OTHERWISE
    at = parse_time(fields.get("timestamp")) or told.received_at
    session_id = as_text(fields.get("session_id"))
    cwd = as_text(fields.get("cwd"))
    if agent == COPILOT and cwd and not session_id.strip():
        session_id = f"{at.astimezone(UTC):%Y-%m-%d} {cwd}"
    return Payload(
        name=events.clean(as_text(name)),
        fields=fields,
        at=at,
        agent=agent,
        session_id=session_id,
        line=record.line,
    )


def facts(payload: Payload) -> SessionMetadata:
    """What a payload says of its session."""
    cwd = payload.text("cwd")
    return SessionMetadata(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        cwd=cwd,
        project="",
        model=payload.text("model"),
        at=payload.at,
    )


NOT_KEPT = frozenset(
    """pretooluse notification precompact postcompact setup instructionsloaded
    userpromptexpansion messagedisplay permissionrequest permissiondenied posttoolbatch
    taskcreated taskcompleted stopfailure teammateidle configchange cwdchanged
    directoryadded filechanged worktreecreate worktreeremove elicitation
    elicitationresult premodelswitch postmodelswitch beforetool beforetoolselection
    beforemodel aftermodel precompress erroroccurred userprompttransformed
    interrupt""".split()  # noqa: SIM905 - thirty names read better in rows
)
"""Names, lower case, of hook events that say nothing a memory keeps."""


def _make(
    payload: Payload,
    event_type: EventType,
    text: str,
    *,
    key: str = "",
    metadata: dict[str, str] | None = None,
    role: EventRole | None = None,
    subagent: str = "",
) -> Event:
    # Who leaves events on its own account may name them: what is left again under its
    # name is known by it, whenever that is.
    named = payload.text("source_key")
    if named:
        key = f"{named}\x1f{text}"
    return events.make(
        agent=payload.agent,
        session_id=payload.session_id,
        timestamp=payload.at,
        event_type=event_type,
        text=text,
        source_key=key,
        role=role,
        metadata={k: v for k, v in (metadata or {}).items() if v},
        subagent=subagent,
        source_id=f"{payload.session_id}\x1f{named}" if named else "",
    )


def _prompt(payload: Payload) -> Iterator[Event]:
    text = payload.text("prompt", "content", "message", "text")
    yield _make(payload, EventType.USER_MESSAGE, text)


def _said(payload: Payload) -> Iterator[Event]:
    text = payload.text("content", "message", "text", "prompt_response")
    yield _make(payload, EventType.ASSISTANT_MESSAGE, text)


def _tool(payload: Payload) -> Iterator[Event]:
    fields = payload.fields
    answer = fields.get("tool_response", fields.get("content"))
    error = payload.text("error")
    name, given = payload.text("tool_name"), fields.get("tool_input")
    said = error or _answer_text(answer)
    key = payload.text("tool_use_id")
    yield _make(
        payload,
        EventType.TOOL_RESULT,
        f"{tool_calls.describe(name, given)}\n{said}".rstrip(),
        key=key,
        metadata={
            "tool_name": name,
            "tool_input": tool_calls.compact(given),
            "tool_use_id": key,
            "is_error": "true" if error else "",
        },
        subagent=payload.text("agent_id"),
    )


def _answer_text(answer: object) -> str:
    """A tool's answer; of a structured one the parts that were meant to be read."""
    if isinstance(answer, dict):
        for name in ("stdout", "content", "result"):
            if answer.get(name):
                error = as_text(answer.get("stderr"))
                text = base.result_text(answer[name])
                return f"{text}\n{error}" if error else text
        if answer.get("stderr"):
            return as_text(answer["stderr"])
    return base.result_text(answer)


def _stop(payload: Payload) -> Iterator[Event]:
    text = payload.text("last_assistant_message", "prompt_response")
    if text.strip():
        yield _make(payload, EventType.ASSISTANT_MESSAGE, text)
    yield _make(payload, EventType.ASSISTANT_STOP, "")


def _subagent(event_type: EventType) -> Callable[[Payload], Iterator[Event]]:
    def take(payload: Payload) -> Iterator[Event]:
        text, whose = payload.text("last_assistant_message"), payload.text("agent_id")
        if text.strip() and whose:
            # Its transcript tells the same words, as a message of the helper's.
            yield _make(payload, EventType.ASSISTANT_MESSAGE, text, subagent=whose)
            text = ""
        yield _make(
            payload,
            event_type,
            text,
            key=payload.text("agent_id"),
            metadata={
                "agent_id": payload.text("agent_id"),
                "agent_type": payload.text("agent_type"),
            },
        )

    return take


def _boundary(event_type: EventType) -> Callable[[Payload], Iterator[Event]]:
    def take(payload: Payload) -> Iterator[Event]:
        why = {name: payload.text(name) for name in ("source", "reason")}
        yield _make(payload, event_type, "", metadata=why)

    return take


def _info(payload: Payload) -> Iterator[SessionMetadata]:
    """What a session is called and was about: no event, and no news of its folder."""
    yield SessionMetadata(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        title=payload.text("title"),
        summary=payload.text("summary"),
    )


KEPT: dict[str, Callable[[Payload], Iterator[Event | SessionMetadata]]] = {
    "userpromptsubmit": _prompt,
    "usermessage": _prompt,
    "userpromptsubmitted": _prompt,
    "beforeagent": _prompt,
    "assistantmessage": _said,
    "assistantresponse": _said,
    "posttooluse": _tool,
    "posttoolusefailure": _tool,
    "toolresult": _tool,
    "aftertool": _tool,
    "stop": _stop,
    "assistantstop": _stop,
    "afteragent": _stop,
    "agentstop": _stop,
    "subagentstart": _subagent(EventType.SUBAGENT_START),
    "subagentstop": _subagent(EventType.SUBAGENT_STOP),
    "sessionstart": _boundary(EventType.SESSION_START),
    "sessionend": _boundary(EventType.SESSION_END),
    "sessioninfo": _info,
}
"""How each event that is kept is read, by its name without case and underscores."""


def read(
    raw: bytes,
    *,
    received_at: datetime,
    now: datetime,
    agent: str = "",
    event: str = "",
) -> Iterator[ParsedItem]:
    """Read one spool file; every record in it gives at least one reading.

    Args:
        raw: What the hook was given.
        received_at: When it was given it: the time of payloads that name none.
        now: The time, to refuse what claims to come from the future.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    if not raw.strip():
        yield InvalidRecord("an empty file")
        return
    told = Told(received_at, agent, event)
    for record in parse_payload(raw):
        if isinstance(record, InvalidRecord):
            yield record
            continue
        try:
            yield from _take(record, told, now)
        except RecursionError:
            yield InvalidRecord(TOO_DEEP, record.line)
        except OverflowError:
            yield InvalidRecord("a timestamp out of the calendar", record.line)


def sender(raw: bytes, *, agent: str = "", event: str = "") -> tuple[str, str]:
    """Whose hook left a spool file and for which event, as far as anything says.

    Args:
        raw: What the hook was given.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    told = Told(datetime.fromtimestamp(0, UTC), agent, event)
    for record in parse_payload(raw):
        if isinstance(record, Record):
            try:
                payload = of(record, told)
            except (OverflowError, RecursionError):
                continue
            return events.clean(payload.agent), payload.name
    return agent, event


def _take(record: Record, told: Told, now: datetime) -> Iterator[ParsedItem]:
    payload = of(record, told)
    kind = payload.name.replace("_", "").lower()
    if kind in NOT_KEPT:
        yield SkippedRecord(f"hook {payload.name}", record.line)
    elif kind not in KEPT:
        said = f"unknown hook event {payload.name!r}" if kind else "no event name"
        yield InvalidRecord(said, record.line)
    elif reason := events.find_name_error(payload.session_id, payload.agent):
        yield InvalidRecord(reason, record.line)
    elif events.is_in_future(payload.at, now):
        yield InvalidRecord("a timestamp in the future", record.line)
    else:
        try:
            yield from KEPT[kind](payload)
            yield facts(payload)
        except EventRefused as refusal:
            yield InvalidRecord(str(refusal), record.line)
