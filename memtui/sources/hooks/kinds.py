"""What each hook event says: which are kept, and what they become."""

from collections.abc import Callable, Iterator

from memtui.memory import calls, events
from memtui.memory.events import Event, EventRole, EventType
from memtui.memory.sessions import SessionFacts
from memtui.sources import blocks
from memtui.sources.hooks.payloads import Payload
from memtui.sources.records import text_of

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
        key=key,
        role=role,
        metadata={k: v for k, v in (metadata or {}).items() if v},
        subagent=subagent,
        origin=f"{payload.session_id}\x1f{named}" if named else "",
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


def _info(payload: Payload) -> Iterator[SessionFacts]:
    """What a session is called and was about: no event, and no news of its folder."""
    yield SessionFacts(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        title=payload.text("title"),
        summary=payload.text("summary"),
    )


KEPT: dict[str, Callable[[Payload], Iterator[Event | SessionFacts]]] = {
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
