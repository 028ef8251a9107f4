"""What a Gemini CLI session's messages become: events in the order they are given."""

import re
from dataclasses import dataclass
from datetime import datetime

from memtui.memory import events, hashes, thoughts
from memtui.memory.events import Event, EventRefused, EventRole, EventType
from memtui.sources.records import Left, Reading, Refused, text_of, time_of

AGENT = "gemini-cli"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_TELLING = ("name", "args", "subject", "description", "text")
"""What of a call or a thought stays the same when it is told again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands."""

    session_id: str
    subagent: str
    line: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message whose time is known."""

    place: Place
    name: str
    at: datetime
    fields: dict[str, object]


class Events:
    """Makes the events of one session."""

    def __init__(self, now: datetime, number: int) -> None:
        """Go on after the last one that was made before.

        Args:
            now: The time, to refuse what claims to come from the future.
            number: How many were made.
        """
        self._now = now
        self.number = number

    def make(
        self,
        message: Message,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
        *,
        key: str,
    ) -> Event | Refused:
        """An event of a message's, or why there can be none."""
        self.number += 1
        origin = ""
        if _UUID.fullmatch(message.name):
            origin = "/".join(dict.fromkeys((message.name, key)))
        try:
            return events.make(
                agent=AGENT,
                session_id=message.place.session_id,
                timestamp=message.at,
                event_type=event_type,
                text=text,
                key=key,
                role=role,
                metadata=metadata,
                subagent=message.place.subagent,
                ordinal=self.number,
                origin=origin,
            )
        except EventRefused as refusal:
            return Refused(str(refusal), message.place.line)

    def thought(self, message: Message, told: object, key: str) -> Reading:
        """What was thought before a message was said."""
        fields = told if isinstance(told, dict) else {"description": told}
        parts = text_of(fields.get("subject")), text_of(fields.get("description"))
        text = "\n".join(part for part in parts if part.strip())
        at = time_of(fields.get("timestamp")) or message.at
        if not text.strip() or events.is_too_late(at, self._now):
            return Left("thinking that says nothing", message.place.line)
        try:
            return thoughts.make(
                agent=AGENT,
                session_id=message.place.session_id,
                at=at,
                text=text,
                key=key if message.name else "",
                subagent=message.place.subagent,
            )
        except EventRefused as refusal:
            return Refused(str(refusal), message.place.line)


def named(message: Message, told: object) -> str:
    """A message's name; of one without, what tells a piece of it from those of others.

    Args:
        message: The message.
        told: The piece: a thought, or a call before it has its answer.
    """
    if message.name:
        return message.name
    known = told if isinstance(told, dict) else {"text": told}
    what = {name: known.get(name) for name in _TELLING if name in known}
    return hashes.of(text_of(what))
