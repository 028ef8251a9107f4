"""The messages of a Gemini CLI session: each of their pieces is given once.

A message is told again, whole, whenever a piece of it is new. Its text, its calls that
have ended and its thoughts are known by their names, and given when they are first met.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from memtui.memory import events, hashes
from memtui.memory.events import EventRole, EventType, from_ms
from memtui.sources import tool_calls
from memtui.sources.gemini import parts as parts
from memtui.sources.gemini.events import Events, Message, Place, named
from memtui.sources.gemini.held import Held
from memtui.sources.records import Left, Reading, Refused, ahead, text_of, time_of
from memtui.sources.tool_calls import Call, Waiting

_ASSISTANTS = frozenset({"gemini", "model"})
_NOTICES = frozenset({"info", "warning"})

_TELLERS = frozenset({"user", "error", "gemini"})
"""How the names of given messages begin; those of calls with ``c``, thoughts ``t``."""

_ENDED = frozenset({"success", "error", "cancelled"})
"""The states of a call that has its answer."""

REMEMBERED = 2000
"""How many given pieces are remembered, the latest: one that is told again much later
is given again, which changes nothing since its event keeps its id."""


class Messages:
    """The messages of one session, as far as they have been read."""

    def __init__(self, now: datetime, state: object = None) -> None:
        """Go on with what an earlier reading gave."""
        kept = state if isinstance(state, Mapping) else {}
        self._now = now
        self._given: dict[str, str] = dict(kept.get("given", {}))
        self._waiting = Waiting(kept.get("calls"))
        self._events = Events(now, int(kept.get("number", 0)))
        self._twins: set[str] = set()
        self._held = Held(kept.get("held"))
        self._has_begun = False
        self.model = text_of(kept.get("model"))

    def state(self) -> Mapping[str, object]:
        """What another reading must know of them."""
        return {
            "given": dict([*self._given.items()][-REMEMBERED:]),
            "calls": self._waiting.state(),
            "number": self._events.number,
            "held": self._held.state(),
            "model": self.model,
        }

    def awaited(self) -> Iterator[Reading]:
        """Say which calls have no answer yet."""
        return self._waiting.awaited()

    @property
    def is_held(self) -> bool:
        """Whether a reply is held back because more of it may come."""
        return self._held.is_full

    def given_up(self, *, is_last: bool) -> Iterator[Reading]:
        """Give the reply that was waited for long enough, or that nothing follows."""
        return self._held.given_up(self._now, is_last=is_last)

    def meet_again(self, told: list[object]) -> None:
        """Prepare for messages told together: which are old ones with new names.

        A message is an old one if the same was said before under a name that is not
        among these; otherwise the same was said twice.
        """
        names = {text_of(m.get("id")) for m in told if isinstance(m, dict)}
        told_before = ((key.partition(":"), said) for key, said in self._given.items())
        self._twins = {
            said
            for (kind, _, name), said in told_before
            if kind in _TELLERS and name not in names
        }

    def take(self, fields: dict[str, object], place: Place) -> Iterator[Reading]:
        """Read one message."""
        yield from self._held.ended(unless=text_of(fields.get("id")))
        kind = fields.get("type") or fields.get("role")
        if not isinstance(kind, str):
            yield Refused("a record without type", place.line)
            return
        if kind in _NOTICES:
            yield Left(kind, place.line)
            return
        if kind not in _ASSISTANTS and kind not in ("user", "error"):
            yield Left(f"unknown record type {kind}", place.line)
            return
        at = time_of(fields.get("timestamp"))
        if at is None:
            known = "timestamp" in fields
            yield Refused("a bad timestamp" if known else "no timestamp", place.line)
        elif events.is_too_late(at, self._now):
            yield ahead(at, place.line)
        else:
            message = Message(place, text_of(fields.get("id")), at, fields)
            self._has_begun = False
            found = list(self._pieces(message, kind))
            if not found and not self._has_begun:
                found = [Left("a message told again", place.line)]
            yield from found

    def _pieces(self, message: Message, kind: str) -> Iterator[Reading]:
        if kind == "user":
            yield from self._user(message)
        elif kind == "error":
            about = {"kind": "error", "is_error": "true"}
            said = parts.text(message.fields)
            yield from self._said(message, said, EventRole.SYSTEM, about, kind)
        else:
            yield from self._gemini(message)

    def _user(self, message: Message) -> Iterator[Reading]:
        full = parts.text(message.fields)
        said = parts.text({"content": message.fields.get("displayContent")}) or full
        kind = parts.injected(said)
        role = EventRole.SYSTEM if kind else EventRole.USER
        about = {"kind": kind} if kind else {}
        place = message.place
        if not said and parts.holds_answers(message.fields):
            yield Left("answers told with their calls", place.line)
            return
        if role is EventRole.USER:
            yield from self._unanswered(message)
        yield from self._said(message, said, role, about, "user")

    def _gemini(self, message: Message) -> Iterator[Reading]:
        fields, line = message.fields, message.place.line
        self.model = text_of(fields.get("model")) or self.model
        for index, thought in enumerate(parts.thoughts(fields)):
            yield from self._thought(message, index, thought)
        said = parts.text(fields)
        if said:
            yield from self._said(message, said, EventRole.ASSISTANT, {}, "gemini")
        calls = fields.get("toolCalls")
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                key = text_of(call.get("id")) or f"{named(message, call)}:{index}"
                yield from self._call(message, call, key)
            else:
                yield Refused("a call that is no object", line)
        if not said and not calls and not fields.get("thoughts"):
            yield Left("an empty message", line)

    def _said(
        self,
        message: Message,
        text: str,
        role: EventRole,
        about: dict[str, str],
        kind: str,
    ) -> Iterator[Reading]:
        said = hashes.of(kind, text)
        given = f"{kind}:{message.name or said}"
        if given in self._given:
            yield from self._again(message, text, said, given)
            return
        if said in self._twins:
            self._given[given] = said
            return
        event_type = (
            EventType.USER_MESSAGE if kind == "user" else EventType.ASSISTANT_MESSAGE
        )
        self._given[given] = said
        event = self._events.make(
            message, event_type, text, role, about, key=message.name
        )
        if kind == "gemini":
            yield from self._held.add(event, message.name)
            self._has_begun = True
        else:
            yield event

    def _again(
        self, message: Message, text: str, said: str, given: str
    ) -> Iterator[Reading]:
        """A message that was told before: its words may have changed since."""
        if self._given[given] == said:
            return
        self._given[given] = said
        is_held = given.startswith("gemini:")
        if not (is_held and self._held.grow(message.name, events.clean(text))):
            yield Left("a message told again in other words", message.place.line)

    def _thought(self, message: Message, index: int, told: object) -> Iterator[Reading]:
        key = f"{named(message, told)}:{index}"
        if f"t:{key}" in self._given:
            return
        self._given[f"t:{key}"] = ""
        yield self._events.thought(message, told, key)

    def _call(
        self, message: Message, told: dict[str, object], key: str
    ) -> Iterator[Reading]:
        place = message.place
        if f"c:{key}" in self._given:
            return
        at = time_of(told.get("timestamp")) or message.at
        status = text_of(told.get("status"))
        call = tool_calls.call(
            key,
            text_of(told.get("name")),
            told.get("args"),
            session_id=place.session_id,
            subagent=place.subagent,
            uuid=message.name,
            line=place.line,
            at_ms=events.to_ms(at),
        )
        if status not in _ENDED and told.get("result") is None:
            self._has_begun = not self._waiting.has(key) or self._has_begun
            self._waiting.add(call)
            return
        self._waiting.answered(key)
        about = {
            "is_error": "true" if status == "error" else "",
            "is_broken_off": "true" if status == "cancelled" else "",
        }
        yield self._answered(call, parts.answer(told), at, place, about)

    def _unanswered(self, message: Message) -> Iterator[Reading]:
        """The person spoke again: calls that are still open have no answer."""
        place = message.place
        for call in self._waiting.broken_off(place.session_id, place.subagent):
            at = from_ms(call.at_ms)
            yield self._answered(call, "", at, place, {"is_broken_off": "true"})

    def _answered(
        self, call: Call, answer: str, at: datetime, place: Place, about: dict[str, str]
    ) -> Reading:
        self._given[f"c:{call.key}"] = ""
        if events.is_too_late(at, self._now):
            return ahead(at, place.line)
        message = Message(place, call.uuid, at, {})
        said, told = call.text(answer), call.metadata(**about)
        kind, role = EventType.TOOL_RESULT, EventRole.TOOL
        return self._events.make(message, kind, said, role, told, key=call.key)
