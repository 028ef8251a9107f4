"""How a reader of JSON lines tells what it read: events and thoughts, or why not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from memtui.memory import events, thoughts
from memtui.memory.events import (
    EARLIEST,
    TYPICAL_ROLE,
    Event,
    EventRefused,
    EventRole,
    EventType,
    from_ms,
)
from memtui.memory.thoughts import Thought
from memtui.sources.records import Refused, ahead, time_of
from memtui.sources.tool_calls import Call, Waiting

LINE_PLACES = 100
"""How many events of one line can be told apart by their ordinal."""

_UNIQUE = re.compile(r"(?=.*\d)[\w-]{20,}")


def unique(name: str) -> str:
    """A record's name if no other session can have it by chance; else nothing.

    Agents that talk to other models pass on call ids such as ``call_1``.
    """
    return name if _UNIQUE.fullmatch(name) else ""


@dataclass(slots=True)
class Place:
    """Where in a source something is said, and when."""

    line: int
    at: datetime
    session_id: str
    subagent: str = ""
    told: int = field(default=0, compare=False)
    """How many events of this place were told."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Makes what one agent's files tell."""

    agent: str
    now: datetime

    def time(self, value: object, line: int) -> datetime | Refused:
        """A record's time, or why it cannot be taken."""
        at = time_of(value)
        if at is None:
            return Refused("a bad timestamp" if value else "no timestamp", line)
        if events.is_too_late(at, self.now):
            return ahead(at, line)
        if at < EARLIEST:
            return Refused(f"the timestamp {at:%Y-%m-%d} is before 2000", line)
        return at

    def event(
        self,
        place: Place,
        event_type: EventType,
        text: str,
        *,
        role: EventRole | None = None,
        key: str = "",
        **metadata: str,
    ) -> Event | Refused:
        """An event, or why there is none.

        Args:
            place: Where it stands.
            event_type: What happened.
            text: What was said.
            role: Who wrote it; the type's typical role when None.
            key: What the source calls it.
            metadata: Whatever else is told; what is empty is left out.
        """
        place.told = min(place.told + 1, LINE_PLACES - 1)
        try:
            return events.make(
                agent=self.agent,
                session_id=place.session_id,
                timestamp=place.at,
                event_type=event_type,
                text=text,
                key=key,
                role=role or TYPICAL_ROLE[event_type],
                metadata={k: v for k, v in metadata.items() if v},
                subagent=place.subagent,
                ordinal=place.line * LINE_PLACES + place.told,
                origin=unique(key),
            )
        except EventRefused as refusal:
            return Refused(str(refusal), place.line)

    def injected(
        self, place: Place, text: str, kind: str, *, key: str = ""
    ) -> Event | Refused:
        """A message that the program wrote, not the person."""
        kind_of, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        return self.event(place, kind_of, text, role=role, key=key, kind=kind)

    def thought(self, place: Place, text: str, *, key: str = "") -> Thought | Refused:
        """A thought, or why there is none."""
        try:
            return thoughts.make(
                agent=self.agent,
                session_id=place.session_id,
                at=place.at,
                text=text,
                key=key,
                subagent=place.subagent,
            )
        except EventRefused as refusal:
            return Refused(str(refusal), place.line)

    def answer(
        self, place: Place, call: Call, answer: str, **more: str
    ) -> Event | Refused:
        """A call together with its answer, at the answer's time."""
        if call.subagent and call.subagent != place.subagent:
            place = replace(place, subagent=call.subagent)
        said, about = call.text(answer), call.metadata(**more)
        kind, role = EventType.TOOL_RESULT, EventRole.TOOL
        return self.event(place, kind, said, role=role, key=call.key, **about)

    def unanswered(self, call: Call) -> Event | Refused:
        """A call that will have no answer, at its own time."""
        at = from_ms(call.at_ms)
        place = Place(call.line, at, call.session_id, call.subagent)
        return self.answer(place, call, "", is_broken_off="true")

    def broken_off(
        self, waiting: Waiting, session_id: str, subagent: str
    ) -> Iterator[Event | Refused]:
        """The calls of a conversation that was interrupted."""
        for call in waiting.broken_off(session_id, subagent):
            yield self.unanswered(call)
