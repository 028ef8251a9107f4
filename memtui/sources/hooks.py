"""What agents hand to their hooks: one normaliser for all the dialects (decisions §2).

An event with a name we do not know is refused, never taken for a message. What a
payload says of itself comes before what was said when its hook was installed.

Older Copilots name no session. What was said to them is kept all the same, as one
session for each folder and day: words that are refused cannot be had again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.memory import calls, events
from memtui.memory.events import Event, EventRefused, EventRole, EventType
from memtui.memory.sessions import SessionFacts
from memtui.sources import blocks, hook_dialects
from memtui.sources.lines import TOO_DEEP, of_payload
from memtui.sources.records import (
    Left,
    Reading,
    Record,
    Refused,
    text_of,
    time_of,
)

Fields = dict[str, object]

COPILOT = "copilot-cli"

_AGENT_FOLDERS = {
    "/.codex/": "codex",
    "/.gemini/": "gemini-cli",
    "/.copilot/": COPILOT,
}
"""Whose hook it was, by where the transcript lies."""

_OTHERWISE = "claude-code"
"""Whose hook it was if nothing says so."""

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


@dataclass(frozen=True, slots=True)
class _Payload:
    name: str
    fields: Fields
    at: datetime
    agent: str
    session_id: str
    line: int

    def text(self, *names: str) -> str:
        """The first of these fields that says something."""
        return next(filter(None, (text_of(self.fields.get(n)) for n in names)), "")


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known of a payload beside its own words."""

    received_at: datetime
    agent: str
    event: str


def read(
    raw: bytes,
    *,
    received_at: datetime,
    now: datetime,
    agent: str = "",
    event: str = "",
) -> Iterator[Reading]:
    """Read one spool file; every record in it gives at least one reading.

    Args:
        raw: What the hook was given.
        received_at: When it was given it: the time of payloads that name none.
        now: The time, to refuse what claims to come from the future.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    if not raw.strip():
        yield Refused("an empty file")
        return
    told = _Told(received_at, agent, event)
    for record in of_payload(raw):
        if isinstance(record, Refused):
            yield record
            continue
        try:
            yield from _take(record, told, now)
        except RecursionError:
            yield Refused(TOO_DEEP, record.line)
        except OverflowError:
            yield Refused("a timestamp out of the calendar", record.line)


def sender(raw: bytes, *, agent: str = "", event: str = "") -> tuple[str, str]:
    """Whose hook left a spool file and for which event, as far as anything says.

    Args:
        raw: What the hook was given.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    told = _Told(datetime.fromtimestamp(0, UTC), agent, event)
    for record in of_payload(raw):
        if isinstance(record, Record):
            try:
                payload = _payload(record, told)
            except (OverflowError, RecursionError):
                continue
            return events.clean(payload.agent), payload.name
    return agent, event


def _take(record: Record, told: _Told, now: datetime) -> Iterator[Reading]:
    payload = _payload(record, told)
    kind = payload.name.replace("_", "").lower()
    if kind in NOT_KEPT:
        yield Left(f"hook {payload.name}", record.line)
    elif kind not in _KINDS:
        said = f"unknown hook event {payload.name!r}" if kind else "no event name"
        yield Refused(said, record.line)
    elif reason := events.unfit(payload.session_id, payload.agent):
        yield Refused(reason, record.line)
    elif events.is_too_late(payload.at, now):
        yield Refused("a timestamp in the future", record.line)
    else:
        try:
            yield from _KINDS[kind](payload)
            yield _facts(payload)
        except EventRefused as refusal:
            yield Refused(str(refusal), record.line)


def _payload(record: Record, told: _Told) -> _Payload:
    fields = hook_dialects.common(record.fields)
    name = fields.get("hook_event_name") or fields.get("event_type") or told.event
    transcript = text_of(fields.get("transcript_path")).replace("\\", "/")
    agent = next((a for f, a in _AGENT_FOLDERS.items() if f in transcript), "")
    agent = text_of(fields.get("agent")) or agent or told.agent or _OTHERWISE
    at = time_of(fields.get("timestamp")) or told.received_at
    session_id = text_of(fields.get("session_id"))
    cwd = text_of(fields.get("cwd"))
    if agent == COPILOT and cwd and not session_id.strip():
        session_id = f"{at.astimezone(UTC):%Y-%m-%d} {cwd}"
    return _Payload(
        name=events.clean(text_of(name)),
        fields=fields,
        at=at,
        agent=agent,
        session_id=session_id,
        line=record.line,
    )


def _facts(payload: _Payload) -> SessionFacts:
    cwd = payload.text("cwd")
    return SessionFacts(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        cwd=cwd,
        project="",
        model=payload.text("model"),
        at=payload.at,
    )


def _make(
    payload: _Payload,
    event_type: EventType,
    text: str,
    *,
    key: str = "",
    metadata: dict[str, str] | None = None,
    role: EventRole | None = None,
    subagent: str = "",
) -> Event:
    return events.make(
        agent=payload.agent,
        session_id=payload.session_id,
        timestamp=payload.at,
        event_type=event_type,
        text=text,
        key=key,
        role=role,
        metadata={k: v for k, v in (metadata or {}).items() if v},
        subagent=subagent,
    )


def _prompt(payload: _Payload) -> Iterator[Event]:
    text = payload.text("prompt", "content", "message", "text")
    yield _make(payload, EventType.USER_MESSAGE, text)


def _said(payload: _Payload) -> Iterator[Event]:
    text = payload.text("content", "message", "text", "prompt_response")
    yield _make(payload, EventType.ASSISTANT_MESSAGE, text)


def _tool(payload: _Payload) -> Iterator[Event]:
    fields = payload.fields
    answer = fields.get("tool_response", fields.get("content"))
    error = payload.text("error")
    name, given = payload.text("tool_name"), fields.get("tool_input")
    said = error or _answer_text(answer)
    key = payload.text("tool_use_id")
    yield _make(
        payload,
        EventType.TOOL_RESULT,
        f"{calls.describe(name, given)}\n{said}".rstrip(),
        key=key,
        metadata={
            "tool_name": name,
            "tool_input": calls.compact(given),
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
                error = text_of(answer.get("stderr"))
                text = blocks.result_text(answer[name])
                return f"{text}\n{error}" if error else text
        if answer.get("stderr"):
            return text_of(answer["stderr"])
    return blocks.result_text(answer)


def _stop(payload: _Payload) -> Iterator[Event]:
    text = payload.text("last_assistant_message", "prompt_response")
    if text.strip():
        yield _make(payload, EventType.ASSISTANT_MESSAGE, text)
    yield _make(payload, EventType.ASSISTANT_STOP, "")


def _subagent(event_type: EventType) -> Callable[[_Payload], Iterator[Event]]:
    def take(payload: _Payload) -> Iterator[Event]:
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


def _boundary(event_type: EventType) -> Callable[[_Payload], Iterator[Event]]:
    def take(payload: _Payload) -> Iterator[Event]:
        why = {name: payload.text(name) for name in ("source", "reason")}
        yield _make(payload, event_type, "", metadata=why)

    return take


def _info(payload: _Payload) -> Iterator[SessionFacts]:
    """What a session is called and was about: no event, and no news of its folder."""
    yield SessionFacts(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        title=payload.text("title"),
        summary=payload.text("summary"),
    )


_KINDS: dict[str, Callable[[_Payload], Iterator[Event | SessionFacts]]] = {
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
