"""The calls of a Codex rollout: each is told once, with its answer."""

from collections.abc import Iterator, Mapping

from memtui.memory import events
from memtui.memory.events import Event
from memtui.sources import tool_calls
from memtui.sources.codex import kinds as kinds
from memtui.sources.codex import tools as tools
from memtui.sources.codex.messages import Messages
from memtui.sources.records import Reading, Refused
from memtui.sources.telling import Place, Teller
from memtui.sources.tool_calls import Waiting

Readings = Iterator[Reading]

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

    def broken_off(self, place: Place) -> Iterator[Event | Refused]:
        """The calls that get no answer: the turn was aborted."""
        whose = place.session_id, place.subagent
        return self._teller.broken_off(self._waiting, *whose)

    def begun(self, place: Place, told: kinds.Told) -> Readings:
        """A call was made."""
        key = tools.key(told.payload)
        name, given = tools.asked(told.payload)
        if (before := self._waiting.answered(key)).line:
            yield self._teller.unanswered(before)
        self._answered = [known for known in self._answered if known != key]
        self._waiting.add(
            tool_calls.call(
                key,
                name,
                given,
                session_id=place.session_id,
                subagent=place.subagent,
                line=place.line,
                at_ms=events.to_ms(place.at),
            )
        )

    def answered(self, place: Place, told: kinds.Told) -> Readings:
        """A call was answered."""
        key = tools.key(told.payload)
        call = self._waiting.answered(key)
        if call.line or not self._is_answered(key):
            self._remember(key)
            text, failed = tools.answered(told.payload)
            is_error = "true" if failed else ""
            yield self._teller.answer(place, call, text, is_error=is_error)

    def whole(self, place: Place, told: kinds.Told) -> Readings:
        """A call told together with its answer, if no item tells of it."""
        kind = tools.ITEMS.get(told.kind, told.kind)
        shape = kind if kind in tools.ENDS else _SHAPES[kind]
        key = tools.key(told.payload)
        name, given, text, failed = tools.ended(shape, told.payload)
        call = tool_calls.call(key, name, given)
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
