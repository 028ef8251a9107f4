"""One assistant message of several records: held together until it has ended.

Claude Code writes each block of a message as a record of its own; they share the
message's id. The text of a message is one event, named by its first record.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from memtui.memory.events import Event, EventRole, EventType
from memtui.sources.records import Reading, Refused, text_of, time_of

PATIENCE = timedelta(seconds=20)
"""How long the rest of a message is waited for; what comes later is another event."""


class Held:
    """The messages, one a conversation at most, that have not ended yet."""

    def __init__(self, state: object = ()) -> None:
        """Go on with what an earlier reading held back."""
        kept = state if isinstance(state, list) else []
        events = [event_of(f) for f in kept if isinstance(f, dict)]
        self._held = {(e.session_id, e.subagent): e for e in events}

    @property
    def is_full(self) -> bool:
        """Whether any message is held back."""
        return bool(self._held)

    def add(self, said: Event | Refused, name: str) -> Iterator[Reading]:
        """Hold a text back, together with those of the same message before it."""
        if isinstance(said, Refused) or not name:
            yield said
            return
        whose = said.session_id, said.subagent
        before = self._held.get(whose)
        self._held[whose] = _joined(before, said) if before else said

    def ended(
        self, session_id: str, subagent: str, *, unless: str = ""
    ) -> Iterator[Event]:
        """Give the message of a conversation, if it is not the one of this name."""
        held = self._held.get((session_id, subagent))
        if held and held.metadata.get("message_id") != (unless or None):
            del self._held[session_id, subagent]
            yield held

    def given_up(self, now: datetime) -> Iterator[Event]:
        """Give the messages that have been waited for long enough."""
        for whose, held in list(self._held.items()):
            if now - held.timestamp > PATIENCE:
                del self._held[whose]
                yield held

    def state(self) -> list[dict[str, object]]:
        """What another reading must know of them."""
        return [fields_of(held) for held in self._held.values()]


def _joined(before: Event, after: Event) -> Event:
    """Two texts of a message; the later may be the earlier one, told further."""
    text = after.text
    if not text.startswith(before.text):
        text = f"{before.text}\n\n{text}"
    return replace(before, text=text)


def fields_of(event: Event) -> dict[str, object]:
    """An event as a reader's state keeps it."""
    return asdict(event) | {"timestamp": event.timestamp.isoformat()}


def event_of(fields: dict[str, object]) -> Event:
    """The event that a reader's state keeps."""
    at = time_of(fields.get("timestamp"))
    metadata = fields.get("metadata")
    assert at is not None
    return Event(
        event_id=text_of(fields.get("event_id")),
        session_id=text_of(fields.get("session_id")),
        timestamp=at,
        event_type=EventType(text_of(fields.get("event_type"))),
        role=EventRole(text_of(fields.get("role"))),
        text=text_of(fields.get("text")),
        metadata=metadata if isinstance(metadata, dict) else {},
        agent=text_of(fields.get("agent")),
        subagent=text_of(fields.get("subagent")),
        ordinal=int(text_of(fields.get("ordinal"))),
        origin=text_of(fields.get("origin")),
    )
