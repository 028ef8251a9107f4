"""The last reply of a Gemini CLI session: held back while it may be told further.

A message is told again whenever a piece of it is new, and its words may have grown by
then. The longest telling is taken; what is told otherwise afterwards is counted.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from memtui.memory.events import Event
from memtui.sources.claude.messages import PATIENCE, event_of, fields_of
from memtui.sources.records import Reading, Refused, text_of


class Held:
    """The reply that is held back, if any."""

    def __init__(self, state: object = None) -> None:
        """Go on with what an earlier reading held back."""
        self._event: Event | None = None
        self._name = ""
        for kept in state if isinstance(state, list) else ():
            self._event, self._name = event_of(kept), text_of(kept.get("name"))

    @property
    def is_full(self) -> bool:
        """Whether a reply is held back."""
        return self._event is not None

    def state(self) -> list[dict[str, object]]:
        """What another reading must know of it."""
        return [fields_of(self._event) | {"name": self._name}] if self._event else []

    def add(self, said: Event | Refused, name: str) -> Iterator[Reading]:
        """Hold a reply back; one without a name is never told again."""
        if isinstance(said, Refused) or not name:
            yield said
        else:
            self._event, self._name = said, name

    def grow(self, name: str, text: str) -> bool:
        """Whether a reply's longer telling took the place of the one that is held."""
        if self._event is None or name != self._name:
            return False
        if len(text) <= len(self._event.text):
            return False
        self._event = replace(self._event, text=text)
        return True

    def ended(self, *, unless: str = "") -> Iterator[Event]:
        """Give the reply, if it is not the one of this name."""
        if self._event and not (unless and unless == self._name):
            event, self._event = self._event, None
            yield event

    def given_up(self, now: datetime, *, is_last: bool) -> Iterator[Event]:
        """Give the reply if it was waited for long enough, or nothing can follow."""
        if self._event and (is_last or now - self._event.timestamp > PATIENCE):
            yield from self.ended()
