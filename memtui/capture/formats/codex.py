"""Codex's rollouts: one JSON object a line, one file a session, a fork or a subagent.

A message stands there twice, as an item of the model's history and as an event of the
program: the first is taken, whichever it is. A fork begins with a copy of another
session: what is said in it has the names it has there, and whose it is the store
decides. A call and its answer are one event, at the answer's time.

The files lie in ``$CODEX_HOME/sessions`` (``~/.codex/sessions``), by year, month and
day; those put away lie in ``archived_sessions`` beside it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import base, codex_content, codex_tools, jsonl
from memtui.capture.formats.base import (
    TRANSCRIPT,
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
)
from memtui.capture.formats.codex_sessions import AGENT, Thread, bare
from memtui.model import events
from memtui.model.events import Event, EventRole, EventType, Thought
from memtui.model.sessions import SubagentMetadata
from memtui.text import tool_calls

MessagesReadings = Iterator[ParsedItem]


class Messages:
    """What is said in one rollout."""

    def __init__(self, teller: Teller, state: object = None) -> None:
        """Go on with what an earlier reading was told."""
        kept = state if isinstance(state, Mapping) else {}
        self._teller = teller
        self._twins = Twins(kept.get("twins"))
        self._has_reply = kept.get("has_reply") is True

    def state(self) -> Mapping[str, object]:
        """What another reading must know of it."""
        return {"twins": self._twins.state(), "has_reply": self._has_reply}

    def is_first(
        self, place: Place, what: str, text: str, told: codex_content.Told
    ) -> bool:
        """Whether this was not told before by a record of another kind."""
        teller = "item" if told.is_item else told.kind
        return self._twins.is_first(what, text, teller, place.at)

    def message(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """An item of the history, by its role."""
        role = told.payload.get("role")
        if role == "assistant":
            yield from self.reply(place, told)
        elif role == "user":
            yield from self.prompt(place, told)
        elif text := codex_content.plain(told.payload.get("content")).strip():
            kind = role if isinstance(role, str) else "message"
            yield self._teller.injected(place, text, kind, key=told.name)

    def prompt(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """What the person said, and what the program said in the person's name."""
        payload = told.payload
        content = payload.get("message", payload.get("content"))
        images = [
            one
            for name in ("images", "local_images")
            if isinstance(some := payload.get(name), list)
            for one in some
        ]
        said = codex_content.of_person(content, images)
        if said.injected and self.is_first(
            place, *_marked(said.kind, said.injected), told
        ):
            yield self._teller.injected(place, said.injected, said.kind)
        if said.text and self.is_first(place, "prompt", said.words, told):
            yield self._teller.event(
                place,
                EventType.USER_MESSAGE,
                said.text,
                role=EventRole.USER,
                key=told.name,
                context=said.context,
            )

    def reply(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """What the assistant said."""
        payload = told.payload
        content = payload.get("message", payload.get("content", payload.get("text")))
        for number, said in enumerate(codex_content.of_assistant(content)):
            if self.is_first(place, "reply", said.words, told):
                self._has_reply = True
                yield self._teller.event(
                    place,
                    EventType.ASSISTANT_MESSAGE,
                    said.text,
                    key=f"{told.name}/{number}" if told.name and number else told.name,
                    kind="plan" if told.kind == "Plan" else said.kind,
                    phase=as_text(payload.get("phase")),
                )

    def reasoning(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """What the assistant thought."""
        found = [
            text
            for name in ("summary", "content", "text", "summary_text", "raw_content")
            if name in told.payload
            for text in codex_content.texts_of(told.payload[name])
            if text.strip()
        ]
        for text in found:
            if self.is_first(place, "thought", text, told):
                yield self._teller.thought(place, text)
        if not found and told.payload.get("encrypted_content"):
            yield SkippedRecord(f"{told.label}, encrypted", place.line)

    def ended(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """The end of a turn; its last words count where they stand nowhere else."""
        if not self._has_reply:
            last = {"message": told.payload.get("last_agent_message")}
            yield from self.reply(place, told.with_payload(last))
        self._has_reply = False
        if error := told.payload.get("error"):
            about = error if isinstance(error, Mapping) else {"message": error}
            yield from self.error(place, told.with_payload(about))

    def error(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """What went wrong."""
        about = told.payload.get("error")
        within = about if isinstance(about, Mapping) else told.payload
        text = as_text(within.get("message"))
        if text.strip() and self.is_first(place, "error", text, told):
            yield self._teller.injected(place, text, "error")

    def review(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """A review was asked for."""
        if hint := as_text(told.payload.get("user_facing_hint")).strip():
            yield self._teller.injected(place, f"Review {hint}", "review")

    def letter(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """What another agent wrote to this one."""
        text = codex_content.plain(told.payload.get("content")).strip()
        if told.is_item and text:
            author = as_text(told.payload.get("author"))
            said = f"{author}: {text}" if author else text
            yield self._teller.injected(place, said, "agent", key=told.name)
        elif told.is_item:
            yield SkippedRecord(f"{told.label}, encrypted", place.line)
        else:
            yield from self.reply(place, told)

    def compacted(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """The history was replaced by a summary."""
        if self.is_first(place, "compacted", "", told):
            text = as_text(told.payload.get("message"))
            start = EventType.SESSION_START
            yield self._teller.event(place, start, text, source="compact")

    def interrupted(self, place: Place, told: codex_content.Told) -> MessagesReadings:
        """The turn was ended, by the person mostly."""
        self._has_reply = False
        why = as_text(told.payload.get("reason")) or "interrupted"
        if self.is_first(place, *_marked("interruption", ""), told):
            text = f"[turn aborted: {why}]"
            yield self._teller.injected(place, text, "interruption")


def _marked(kind: str, text: str) -> tuple[str, str]:
    """What an injected text is known by: a turn is aborted once, in whatever words."""
    return ("interruption", "") if kind == "interruption" else ("injected", text)


ExchangesReadings = Iterator[ParsedItem]


ANSWERED = 300
"""How many answered calls are remembered, to know what tells of them again."""


class Calls:
    """The calls of one rollout."""

    def __init__(
        self, teller: Teller, messages: Messages, state: object = None
    ) -> None:
        """Go on with the calls of an earlier reading."""
        kept = state if isinstance(state, Mapping) else {}
        self._teller, self._messages = teller, messages
        self._waiting = Waiting(kept.get("waiting"))
        self.awaited = self._waiting.awaited
        answered = kept.get("answered")
        self._answered = list(answered) if isinstance(answered, list) else []

    def state(self) -> Mapping[str, object]:
        """What another reading must know of them."""
        return {"waiting": self._waiting.state(), "answered": list(self._answered)}

    def broken_off(self, place: Place) -> Iterator[Event | InvalidRecord]:
        """The calls that get no answer: the turn was aborted."""
        whose = place.session_id, place.subagent
        return self._teller.broken_off(self._waiting, *whose)

    def begun(self, place: Place, told: codex_content.Told) -> ExchangesReadings:
        """A call was made."""
        key = codex_tools.key(told.payload)
        name, given = codex_tools.asked(told.payload)
        if (before := self._waiting.answered(key)).line:
            yield self._teller.unanswered(before)
        self._answered = [known for known in self._answered if known != key]
        self._waiting.add(
            base.call(
                key,
                name,
                given,
                session_id=place.session_id,
                subagent=place.subagent,
                line=place.line,
                at_ms=events.to_ms(place.at),
            )
        )

    def answered(self, place: Place, told: codex_content.Told) -> ExchangesReadings:
        """A call was answered."""
        key = codex_tools.key(told.payload)
        call = self._waiting.answered(key)
        if call.line or not self._is_answered(key):
            self._remember(key)
            text, failed = codex_tools.answered(told.payload)
            is_error = "true" if failed else ""
            yield self._teller.answer(place, call, text, is_error=is_error)

    def whole(self, place: Place, told: codex_content.Told) -> ExchangesReadings:
        """A call told together with its answer, if no item tells of it."""
        kind = codex_tools.ITEMS.get(told.kind, told.kind)
        shape = kind if kind in codex_tools.ENDS else _SHAPES[kind]
        key = codex_tools.key(told.payload)
        name, given, text, failed = codex_tools.ended(shape, told.payload)
        call = base.call(key, name, given)
        if shape == "web_search_end":
            if not self._messages.is_first(place, "search", call.said, told):
                return
        elif self._is_answered(key) or self._is_waiting(key):
            return
        self._remember(key)
        is_error = "true" if failed else ""
        yield self._teller.answer(place, call, text, is_error=is_error)

    def _is_answered(self, key: str) -> bool:
        return bool(key) and key in self._answered

    def _is_waiting(self, key: str) -> bool:
        call = self._waiting.answered(key)
        if call.line:
            self._waiting.add(call)
        return bool(call.line)

    def _remember(self, key: str) -> None:
        self._answered = [*self._answered[1 - ANSWERED :], key]


_SHAPES = {
    "web_search_call": "web_search_end",
    "image_generation_call": "image_generation_end",
}
"""The event that each item is told like which is call and answer in one."""


Fields = Mapping[str, object]


Readings = Iterator[ParsedItem]


_COPIED = "copied from the session it was forked from"


_NAME = re.compile(r"(?:rollout-[\d\-T]{10,19}-)?(.+)")
"""A rollout's file name: its time, then the session's id."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of Codex's."""
    return any(codex_content.fits(record.fields) for record in head)


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[ParsedItem]:
    """Read one rollout; see ``memtui.sources.source.Read``."""
    return jsonl.read(path, start, partial(_Rollout, path, now))


SOURCE = SourceFormat(
    AGENT, "Codex", TRANSCRIPT, _may_be, fits, read, state_without_text=bare
)


class _Rollout:
    is_held = False

    def __init__(self, path: PurePath, now: datetime, state: Fields) -> None:
        self._teller, self._name = Teller(AGENT, now), path.stem
        self._thread = Thread.of(state.get("thread"))
        self._messages = Messages(self._teller, state.get("messages"))
        self._calls = Calls(self._teller, self._messages, state.get("calls"))
        header = state.get("header")
        self._header = header if isinstance(header, str) else ""

    def state(self) -> Mapping[str, object]:
        """What another reading must know to go on."""
        return {
            "thread": self._thread.state(),
            "messages": self._messages.state(),
            "calls": self._calls.state(),
            "header": self._header,
        }

    def rest(self) -> Readings:
        """Say what was learnt of the session, and which calls have no answer yet."""
        yield from self._calls.awaited()
        yield from self._thread.facts()

    def take(self, record: Record) -> Readings:
        """Read one record."""
        told = codex_content.of(record.fields)
        if told is None:
            yield InvalidRecord("a record without type", record.line)
            return
        time = told.time or (self._header if told.is_flat else None)
        at = self._teller.time(time, record.line)
        when = None if isinstance(at, InvalidRecord) else at
        if told.label == "session_meta":
            self._open(told, when)
            yield SkippedRecord(told.label, record.line)
        elif not self._thread.passes(told.kind, told.payload, when) and (
            self._thread.subagent or told.kind not in _TAKEN
        ):
            yield SkippedRecord(_COPIED, record.line)
        elif told.kind in _FACTS:
            yield from _FACTS[told.kind](self._thread, told.payload)
            yield SkippedRecord(told.label, record.line)
        elif (take := _TAKEN.get(told.kind)) is None:
            known = told.kind in codex_content.KNOWN
            reason = told.label if known else f"unknown record type {told.label}"
            yield SkippedRecord(reason, record.line)
        elif isinstance(at, InvalidRecord):
            yield at
        else:
            yield from self._taken(take, told, record.line, at)

    def _open(self, told: codex_content.Told, when: datetime | None) -> None:
        self._thread.open(told.payload, when)
        if told.is_flat and when:
            self._header = when.isoformat()

    def _taken(
        self, take: "_Take", told: codex_content.Told, line: int, at: datetime
    ) -> Readings:
        if not self._thread.own:
            found = _NAME.fullmatch(self._name)
            self._thread.open({"id": found[1] if found else self._name}, at)
        yield from self._thread.introduced()
        place = Place(line, at, self._thread.session_id, self._thread.subagent)
        is_empty = True
        for reading in take(self._messages, self._calls, place, told):
            is_empty = False
            if isinstance(reading, Event):
                yield self._thread.named(reading)
            elif self._thread.is_copy and isinstance(reading, Thought):
                yield SkippedRecord(_COPIED, line)
            else:
                yield reading
        if is_empty and told.kind not in codex_tools.CALLS:
            yield SkippedRecord(f"{told.label}, told before or empty", line)


_Take = Callable[[Messages, Calls, Place, codex_content.Told], Readings]


def _said(take: Callable[[Messages, Place, codex_content.Told], Readings]) -> _Take:
    return lambda messages, _, place, told: take(messages, place, told)


def _called(take: Callable[[Calls, Place, codex_content.Told], Readings]) -> _Take:
    return lambda _, calls, place, told: take(calls, place, told)


def _aborted(
    messages: Messages, calls: Calls, place: Place, told: codex_content.Told
) -> Readings:
    yield from calls.broken_off(place)
    yield from messages.interrupted(place, told)


_TAKEN: dict[str, _Take] = {
    "message": _said(Messages.message),
    "user_message": _said(Messages.prompt),
    "UserMessage": _said(Messages.prompt),
    "agent_message": _said(Messages.letter),
    "AgentMessage": _said(Messages.reply),
    "Plan": _said(Messages.reply),
    "reasoning": _said(Messages.reasoning),
    "agent_reasoning": _said(Messages.reasoning),
    "agent_reasoning_raw_content": _said(Messages.reasoning),
    "Reasoning": _said(Messages.reasoning),
    "task_complete": _said(Messages.ended),
    "turn_complete": _said(Messages.ended),
    "error": _said(Messages.error),
    "entered_review_mode": _said(Messages.review),
    "compacted": _said(Messages.compacted),
    "context_compacted": _said(Messages.compacted),
    "turn_aborted": _aborted,
    **dict.fromkeys(codex_tools.CALLS, _called(Calls.begun)),
    **dict.fromkeys(codex_tools.ANSWERS, _called(Calls.answered)),
    **dict.fromkeys(
        (*codex_tools.WHOLE, *codex_tools.ENDS, *codex_tools.ITEMS),
        _called(Calls.whole),
    ),
}
"""How each kind of record that says something is read."""


def _turn(thread: Thread, told: Fields) -> Readings:
    thread.learn("model", told.get("model"))
    yield from ()


def _named(thread: Thread, told: Fields) -> Readings:
    thread.learn("title", told.get("thread_name", told.get("name")))
    yield from ()


def _spawned(thread: Thread, told: Fields) -> Readings:
    """A helper was started; the helper's own file does not know by which call."""
    name, session = as_text(told.get("new_thread_id")), thread.session_id
    if name and session:
        kind = as_text(told.get("new_agent_role") or told.get("new_agent_nickname"))
        task = tool_calls.task(as_text(told.get("prompt")))
        yield SubagentMetadata(AGENT, session, name, kind, codex_tools.key(told), task)


_FACTS: dict[str, Callable[[Thread, Fields], Readings]] = {
    "turn_context": _turn,
    "thread_name_updated": _named,
    "collab_agent_spawn_end": _spawned,
}
"""What tells of the session and its helpers, by its kind."""
