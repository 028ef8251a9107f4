"""GitHub Copilot CLI's files: one JSON object a line, one file a session.

A call and its answer are one event, at the answer's time. A helper that a call started
is named by that call; its events belong to the session of its parent.

The files lie in ``~/.copilot/session-state``: ``<session>/events.jsonl``, in older
versions ``<session>.jsonl``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import base, jsonl
from memtui.capture.formats.base import (
    TRANSCRIPT,
    Call,
    Cursor,
    InvalidRecord,
    ParsedItem,
    Place,
    Record,
    SkippedRecord,
    SourceFormat,
    Teller,
    Twins,
    Waiting,
    as_text,
    parse_time,
)
from memtui.model import events
from memtui.model.events import EventRole, EventType, clean
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.text import tool_calls

KindsFields = Mapping[str, object]


NOT_KEPT = frozenset(
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
"""Types that say nothing of the conversation, or what other records say too."""


_FAMILIES = (
    "session.",
    "assistant.",
    "user.",
    "tool.",
    "hook.",
    "subagent.",
    "system.",
)


def fits_record(fields: KindsFields) -> bool:
    """Whether a record looks like one of Copilot's."""
    kind = fields.get("type")
    has_shape = isinstance(fields.get("data"), dict) and "id" in fields
    return isinstance(kind, str) and kind.startswith(_FAMILIES) and has_shape


def subagent_of(fields: KindsFields, about: KindsFields) -> str:
    """The helper a record belongs to: the call that started it names it."""
    return as_text(about.get("parentToolCallId") or fields.get("agentId"))


def attachments(about: KindsFields) -> list[str]:
    """What stands for what the person sent along: sort and name, never bytes."""
    sent = about.get("attachments")
    return [
        _attachment(one)
        for one in (sent if isinstance(sent, list) else ())
        if isinstance(one, Mapping)
    ]


def _attachment(sent: KindsFields) -> str:
    kind = as_text(sent.get("type")) or "attachment"
    kept, media = sent.get("data"), as_text(sent.get("mimeType"))
    if isinstance(kept, str) and kept:
        source = {"media_type": media or "unknown type", "data": kept}
        return base.placeholder({"type": "image", "source": source})
    name = as_text(sent.get("path") or sent.get("displayName") or sent.get("filePath"))
    return f"[{kind}: {name}]" if name else f"[{kind}]"


def answer(about: KindsFields) -> str:
    """What a tool answered."""
    result, error = about.get("result"), about.get("error")
    told = result if isinstance(result, Mapping) else {"content": result}
    text = base.result_text(told.get("content") or told.get("detailedContent"))
    if shown := _shown(told.get("contents")):
        text = "\n".join(filter(None, (text, *shown)))
    if not text.strip() and error:
        return as_text(error.get("message") if isinstance(error, Mapping) else error)
    return text


def _shown(contents: object) -> list[str]:
    """What stands for the images among a tool's answers."""
    images = [
        one
        for one in (contents if isinstance(contents, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "image"
    ]
    return [_attachment(one) for one in images]


def arguments(given: object) -> object:
    """What a call was given, where it stands as JSON text; else as it stands."""
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        return json.loads(given, strict=False)
    except (ValueError, RecursionError):
        return given


def task(call: Call) -> str:
    """What a helper was asked to do, by the call that started it, in a line."""
    given = arguments(call.tool_input)
    about = given if isinstance(given, Mapping) else {}
    told = as_text(about.get("description") or about.get("prompt"))
    return tool_calls.task(told)


AGENT = "copilot-cli"


Fields = Mapping[str, object]


Readings = Iterator[ParsedItem]


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of Copilot's."""
    return any(fits_record(record.fields) for record in head)


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[ParsedItem]:
    """Read one session; see ``memtui.sources.source.Read``."""
    return jsonl.read(path, start, partial(_Session, path, now))


SOURCE = SourceFormat(AGENT, "GitHub Copilot CLI", TRANSCRIPT, _may_be, fits, read)


class _Session:
    is_held = False

    def __init__(self, path: PurePath, now: datetime, state: Fields) -> None:
        self._teller = Teller(AGENT, now)
        self._waiting = Waiting(state.get("calls"))
        self._twins = Twins(state.get("twins"))
        facts = state.get("facts")
        self._facts: dict[str, str] = dict(facts) if isinstance(facts, dict) else {}
        named = path.parent.name if path.stem == "events" else path.stem
        self._name = as_text(state.get("session")) or named
        self._is_told = False
        self._has_call = False

    def state(self) -> Mapping[str, object]:
        """What another reading must know to go on."""
        return {
            "calls": self._waiting.state(),
            "twins": self._twins.state(),
            "facts": dict(self._facts),
            "session": self._name,
        }

    def rest(self) -> Readings:
        """Say what was learnt of the session, and which calls have no answer yet."""
        yield from self._waiting.awaited()
        yield from self._told()

    def take(self, record: Record) -> Readings:
        """Read one record."""
        kind, about = record.fields.get("type"), record.fields.get("data")
        if not isinstance(kind, str) or not kind:
            yield InvalidRecord("a record without type", record.line)
        elif kind in NOT_KEPT:
            yield SkippedRecord(kind, record.line)
        elif kind not in _TAKEN:
            yield SkippedRecord(f"unknown record type {kind}", record.line)
        elif not isinstance(about, dict):
            yield InvalidRecord("a record without data", record.line)
        else:
            at = self._teller.time(record.fields.get("timestamp"), record.line)
            if isinstance(at, InvalidRecord):
                yield at
            else:
                yield from self._taken(kind, record, about, at)

    def _taken(
        self, kind: str, record: Record, about: Fields, at: datetime
    ) -> Readings:
        self._learn(kind, about, at)
        if not self._is_told:
            self._is_told = True
            yield from self._told()
        subagent = subagent_of(record.fields, about)
        place = Place(record.line, at, self._name, subagent)
        name = as_text(record.fields.get("id"))
        is_empty, self._has_call = True, False
        for reading in _TAKEN[kind](self, place, about, name):
            is_empty = False
            yield reading
        if is_empty and not self._has_call:
            yield SkippedRecord(kind, record.line)

    def _learn(self, kind: str, about: Fields, at: datetime) -> None:
        """Learn what a record tells of the session."""
        if kind == "session.start" and (name := clean(as_text(about.get("sessionId")))):
            self._name = name.strip() or self._name
        where = about.get("context") if kind in _PLACES else {}
        context: Fields = where if isinstance(where, Mapping) else about
        told = {
            "model": about.get("newModel") or about.get("selectedModel"),
            "branch": context.get("branch") if kind in _PLACES else "",
            "title": about.get("title") if kind == "session.title_changed" else "",
            "created_by": about.get("producer"),
        }
        if kind == "assistant.message" and not about.get("parentToolCallId"):
            told["model"] = about.get("model")
        if kind in _PLACES and "cwd" not in self._facts:
            told |= {"cwd": context.get("cwd"), "root": context.get("gitRoot")}
            self._facts["at"] = at.isoformat()
        for name, value in told.items():
            if said := " ".join(clean(as_text(value)).split()):
                self._facts[name] = said

    def _told(self) -> Readings:
        about = dict(self._facts)
        at = parse_time(about.pop("at", None))
        if about and self._name:
            yield SessionMetadata(AGENT, self._name, at=at, **about)

    def _prompt(self, place: Place, about: Fields, name: str) -> Readings:
        words = as_text(about.get("content"))
        text = "\n\n".join(filter(str.strip, (words, *attachments(about))))
        source = as_text(about.get("source"))
        if source not in ("", "user"):
            if text.strip():
                yield self._teller.injected(place, text, source, key=name)
        elif text.strip():
            kind, role = EventType.USER_MESSAGE, EventRole.USER
            yield self._teller.event(place, kind, text, role=role, key=name)

    def _reply(self, place: Place, about: Fields, name: str) -> Readings:
        yield from self._thought(place, {"content": about.get("reasoningText")}, "")
        if (text := as_text(about.get("content"))).strip():
            kind = EventType.ASSISTANT_MESSAGE
            yield self._teller.event(place, kind, text, key=name)
        asked = about.get("toolRequests")
        for request in asked if isinstance(asked, list) else ():
            if isinstance(request, Mapping):
                yield from self._begun(place, request, "")

    def _thought(self, place: Place, about: Fields, name: str) -> Readings:
        text = as_text(about.get("content"))
        teller = "record" if name else "message"
        if text.strip() and self._twins.is_first("thought", text, teller, place.at):
            yield self._teller.thought(place, text, key=name)

    def _begun(self, place: Place, about: Fields, name: str) -> Readings:
        """A call was asked for, or is begun: the first to say so counts."""
        key = as_text(about.get("toolCallId"))
        call = base.call(
            key,
            as_text(about.get("toolName") or about.get("name")),
            arguments(about.get("arguments")),
            session_id=place.session_id,
            subagent=place.subagent,
            line=place.line,
            at_ms=events.to_ms(place.at),
        )
        self._has_call = True
        if other := self._waiting.replaced(call):
            yield self._teller.unanswered(other)

    def _answer(self, place: Place, about: Fields, name: str) -> Readings:
        call = self._waiting.answered(as_text(about.get("toolCallId")))
        if not call.tool_name and about.get("toolName"):
            named = as_text(about.get("toolName"))
            call = replace(call, tool_name=named, said=named)
        is_error = "true" if about.get("success") is False else ""
        said = answer(about)
        yield self._teller.answer(place, call, said, is_error=is_error)

    def _helper(self, place: Place, about: Fields, name: str) -> Readings:
        helper = as_text(about.get("toolCallId"))
        kind = as_text(about.get("agentName"))
        started = self._waiting.answered(helper)
        if started.line:
            self._waiting.add(started)
        if helper:
            yield SubagentMetadata(
                AGENT, place.session_id, helper, kind, helper, task(started)
            )
        yield self._edge(place, EventType.SUBAGENT_START, about, name)

    def _helped(self, place: Place, about: Fields, name: str) -> Readings:
        yield self._edge(place, EventType.SUBAGENT_STOP, about, name)

    def _edge(
        self, place: Place, kind: EventType, about: Fields, name: str
    ) -> ParsedItem:
        helper, sort = as_text(about.get("toolCallId")), as_text(about.get("agentName"))
        error = as_text(about.get("error"))
        return self._teller.event(
            place, kind, error, key=name, agent_id=helper, agent_type=sort
        )

    def _started(self, place: Place, about: Fields, name: str) -> Readings:
        kind = EventType.SESSION_START
        yield self._teller.event(place, kind, "", key=name, source="startup")

    def _resumed(self, place: Place, about: Fields, name: str) -> Readings:
        kind = EventType.SESSION_START
        yield self._teller.event(place, kind, "", key=name, source="resume")

    def _compacted(self, place: Place, about: Fields, name: str) -> Readings:
        kind, text = EventType.SESSION_START, as_text(about.get("summaryContent"))
        if about.get("success") is not False:
            yield self._teller.event(place, kind, text, key=name, source="compact")

    def _shut(self, place: Place, about: Fields, name: str) -> Readings:
        kind, why = EventType.SESSION_END, as_text(about.get("shutdownType"))
        yield self._teller.event(place, kind, "", key=name, reason=why)

    def _aborted(self, place: Place, about: Fields, name: str) -> Readings:
        """The person broke in: the calls still open will have no answer."""
        for state in self._waiting.state():
            call = Call(**state)  # type: ignore[arg-type]
            if place.subagent in ("", call.subagent):
                yield self._teller.unanswered(self._waiting.answered(call.key))
        text = f"[aborted: {as_text(about.get('reason')) or 'interrupted'}]"
        yield self._teller.injected(place, text, "interruption", key=name)

    def _notice(self, place: Place, about: Fields, name: str) -> Readings:
        if (text := as_text(about.get("content"))).strip():
            yield self._teller.injected(place, text, "notification", key=name)

    def _error(self, place: Place, about: Fields, name: str) -> Readings:
        if (text := as_text(about.get("message"))).strip():
            yield self._teller.injected(place, text, "error", key=name)

    def _skill(self, place: Place, about: Fields, name: str) -> Readings:
        said = (as_text(about.get("name")), as_text(about.get("content")))
        if text := "\n".join(filter(str.strip, said)):
            yield self._teller.injected(place, text, "skill", key=name)

    def _handoff(self, place: Place, about: Fields, name: str) -> Readings:
        said = (as_text(about.get("summary")), as_text(about.get("context")))
        if text := "\n\n".join(filter(str.strip, said)):
            yield self._teller.injected(place, text, "handoff", key=name)

    def _fact(self, place: Place, about: Fields, name: str) -> Readings:
        yield from ()


_PLACES = ("session.start", "session.resume", "session.context_changed")
"""The types that tell where the session works."""


_TAKEN: dict[str, Callable[[_Session, Place, Fields, str], Readings]] = {
    "session.start": _Session._started,
    "session.resume": _Session._resumed,
    "session.shutdown": _Session._shut,
    "session.compaction_complete": _Session._compacted,
    "session.error": _Session._error,
    "session.handoff": _Session._handoff,
    "session.model_change": _Session._fact,
    "session.context_changed": _Session._fact,
    "session.title_changed": _Session._fact,
    "user.message": _Session._prompt,
    "assistant.message": _Session._reply,
    "assistant.reasoning": _Session._thought,
    "tool.execution_start": _Session._begun,
    "tool.execution_complete": _Session._answer,
    "subagent.started": _Session._helper,
    "subagent.completed": _Session._helped,
    "subagent.failed": _Session._helped,
    "system.notification": _Session._notice,
    "skill.invoked": _Session._skill,
    "abort": _Session._aborted,
}
"""How each type that says something is read."""
