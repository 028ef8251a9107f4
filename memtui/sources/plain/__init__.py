"""The plain event format: one JSON object a line, for what has no format of its own.

It is also what ``memtui export`` writes. docs/jsonl.md says what a line may say.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.memory.events import Event
from memtui.memory.sessions import SessionFacts
from memtui.sources import lines
from memtui.sources.plain import reading, writing
from memtui.sources.records import Cursor, Left, Reading, Record, text_of
from memtui.sources.source import JSONL, Source

Key = tuple[str, str]
"""A session: its agent and its name."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of the plain format."""
    return any(_fits(record.fields) for record in head)


def _fits(fields: Mapping[str, object]) -> bool:
    # Other programs' records that name a role have a type as well.
    has_role = "role" in fields and "type" not in fields
    is_named = bool({"event_type", "record"} & fields.keys())
    return "session_id" in fields and (is_named or has_role)


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read a file of the plain format; see ``memtui.sources.source.Read``."""
    return lines.read(path, start, partial(_Reader, agent, now))


class _Reader:
    """Reads records: events, and what is said of sessions, subagents and thoughts."""

    is_held = False

    def __init__(self, agent: str, now: datetime, state: Mapping[str, object]) -> None:
        self._agent, self._now = agent, now
        self._facts: dict[Key, SessionFacts] = {}
        self._met: set[Key] = set()
        """The sessions of which this reading has given an event."""
        self._told: dict[Key, SessionFacts] = {}
        """What a record of their own said of sessions last: their events need not."""
        self._last: Key | None = None
        before = state.get("sessions")
        for fields in before if isinstance(before, list) else ():
            for _ in self._session(Record(0, fields)):
                pass

    def take(self, record: Record) -> Iterator[Reading]:
        match record.fields.get("record"):
            case None:
                yield from self._event(record)
            case writing.SESSION:
                yield from self._session(record)
            case writing.SUBAGENT:
                yield reading.subagent(record, self._agent)
            case writing.THOUGHT:
                yield reading.thought(record, self._agent, self._now)
            case other:
                yield Left(f"record {text_of(other)}", record.line)

    def _event(self, record: Record) -> Iterator[Reading]:
        event = reading.event(record, self._agent, self._now)
        if not isinstance(event, Event):
            yield event
            return
        key = self._last = event.agent, event.session_id
        before = self._facts.get(key)
        self._facts[key] = reading.facts(event, record.fields, before)
        is_first = key not in self._met
        self._met.add(key)
        if is_first:
            # Its project must be known as soon as its first event is.
            yield self._facts[key]
        yield event
        if is_first and key in self._told:
            # What was said before there was any event of it was said too early.
            yield self._facts[key]

    def _session(self, record: Record) -> Iterator[Reading]:
        facts = reading.session(record, self._agent)
        if isinstance(facts, SessionFacts):
            key = facts.agent, facts.session_id
            self._facts[key] = reading.joined(self._facts.get(key), facts)
            self._told[key] = facts
        yield facts

    def rest(self) -> Iterator[Reading]:
        yield from self._facts.values()

    def state(self) -> Mapping[str, object]:
        # A session told of before its events must be known when they come.
        waiting = [k for k in self._told if k == self._last or k not in self._met]
        held = [writing.fields(self._told[key]) for key in sorted(waiting)]
        return {"sessions": held} if held else {}


SOURCE = Source("plain", "plain JSONL", JSONL, _may_be, fits, read)
