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

from memtui.memory import calls
from memtui.memory.events import Event
from memtui.memory.sessions import Helper
from memtui.memory.thoughts import Thought
from memtui.sources import lines
from memtui.sources.codex import kinds as kinds
from memtui.sources.codex import tools as tools
from memtui.sources.codex.exchanges import Calls
from memtui.sources.codex.messages import Messages
from memtui.sources.codex.sessions import AGENT, Thread, bare
from memtui.sources.records import Cursor, Left, Reading, Record, Refused, text_of
from memtui.sources.source import TRANSCRIPT, Source
from memtui.sources.telling import Place, Teller

Fields = Mapping[str, object]
Readings = Iterator[Reading]

_COPIED = "copied from the session it was forked from"

_NAME = re.compile(r"(?:rollout-[\d\-T]{10,19}-)?(.+)")
"""A rollout's file name: its time, then the session's id."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of Codex's."""
    return any(kinds.fits(record.fields) for record in head)


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read one rollout; see ``memtui.sources.source.Read``."""
    return lines.read(path, start, partial(_Rollout, path, now))


SOURCE = Source(AGENT, "Codex", TRANSCRIPT, _may_be, fits, read, bare=bare)


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
        told = kinds.of(record.fields)
        if told is None:
            yield Refused("a record without type", record.line)
            return
        time = told.time or (self._header if told.is_flat else None)
        at = self._teller.time(time, record.line)
        when = None if isinstance(at, Refused) else at
        if told.label == "session_meta":
            self._open(told, when)
            yield Left(told.label, record.line)
        elif not self._thread.passes(told.kind, told.payload, when) and (
            self._thread.subagent or told.kind not in _TAKEN
        ):
            yield Left(_COPIED, record.line)
        elif told.kind in _FACTS:
            yield from _FACTS[told.kind](self._thread, told.payload)
            yield Left(told.label, record.line)
        elif (take := _TAKEN.get(told.kind)) is None:
            known = told.kind in kinds.KNOWN
            reason = told.label if known else f"unknown record type {told.label}"
            yield Left(reason, record.line)
        elif isinstance(at, Refused):
            yield at
        else:
            yield from self._taken(take, told, record.line, at)

    def _open(self, told: kinds.Told, when: datetime | None) -> None:
        self._thread.open(told.payload, when)
        if told.is_flat and when:
            self._header = when.isoformat()

    def _taken(
        self, take: "_Take", told: kinds.Told, line: int, at: datetime
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
                yield Left(_COPIED, line)
            else:
                yield reading
        if is_empty and told.kind not in tools.CALLS:
            yield Left(f"{told.label}, told before or empty", line)


_Take = Callable[[Messages, Calls, Place, kinds.Told], Readings]


def _said(take: Callable[[Messages, Place, kinds.Told], Readings]) -> _Take:
    return lambda messages, _, place, told: take(messages, place, told)


def _called(take: Callable[[Calls, Place, kinds.Told], Readings]) -> _Take:
    return lambda _, calls, place, told: take(calls, place, told)


def _aborted(
    messages: Messages, calls: Calls, place: Place, told: kinds.Told
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
    **dict.fromkeys(tools.CALLS, _called(Calls.begun)),
    **dict.fromkeys(tools.ANSWERS, _called(Calls.answered)),
    **dict.fromkeys((*tools.WHOLE, *tools.ENDS, *tools.ITEMS), _called(Calls.whole)),
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
    name, session = text_of(told.get("new_thread_id")), thread.session_id
    if name and session:
        kind = text_of(told.get("new_agent_role") or told.get("new_agent_nickname"))
        task = calls.task(text_of(told.get("prompt")))
        yield Helper(AGENT, session, name, kind, tools.key(told), task)


_FACTS: dict[str, Callable[[Thread, Fields], Readings]] = {
    "turn_context": _turn,
    "thread_name_updated": _named,
    "collab_agent_spawn_end": _spawned,
}
"""What tells of the session and its helpers, by its kind."""
