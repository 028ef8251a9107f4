"""A conversation as it is read: opened anywhere, and read on to both sides.

However long it is, opening it reads one stretch around a place. What has to be counted
to say how long it is can be asked afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.errors import MemtuiError
from memtui.model.events import Event, EventPosition, Thought, from_ms, to_ms
from memtui.model.sessions import Session, SubagentMetadata
from memtui.store import conversations, database, events, sessions

PAGE_SIZE = 60
"""How many events are read at once, on each side of a place."""

MAX_THOUGHTS = 500
"""How many thoughts stand beside a page at most: the first ones."""


class ConversationGoneError(MemtuiError):
    """A session is not kept any more."""


@dataclass(frozen=True, slots=True)
class ConversationKey:
    """Which conversation: a session's, or that of one of its subagents."""

    agent: str
    session_id: str
    subagent: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One event, what was thought before it, and when the one before it was."""

    event: Event
    previous_at: datetime | None = None
    """None for the first of the conversation."""
    thoughts: tuple[Thought, ...] = ()

    @property
    def position(self) -> EventPosition:
        """Where it stands."""
        return self.event.position


@dataclass(frozen=True, slots=True)
class TurnRange:
    """Some of a conversation, in its order."""

    turns: tuple[Turn, ...]
    at_start: bool
    """Whether nothing stands before it."""
    at_end: bool
    """Whether nothing stands behind it."""


@dataclass(frozen=True, slots=True)
class ShownRange:
    """What is shown of a conversation, in its order; at least one event."""

    positions: tuple[EventPosition, ...]
    at_start: bool
    at_end: bool


@dataclass(frozen=True, slots=True)
class ConversationUpdate:
    """What has changed in or behind what is shown."""

    turns: TurnRange
    replaces: bool
    """Whether it is to stand in place of what is shown, else behind it."""


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """What is known of a conversation without counting through it."""

    session: Session
    subagents: tuple[SubagentMetadata, ...]
    thoughts: int


@dataclass(frozen=True, slots=True)
class ConversationLength:
    """How long a conversation is, and how much of it stands before a place."""

    total: int
    before: int


def get_info(whose: ConversationKey) -> ConversationInfo:
    """What is known of it.

    Raises:
        ConversationGoneError: It is not kept any more.
    """
    with database.connection():
        number = _number(whose)
        found = sessions.get(whose.agent, whose.session_id)
        assert found is not None
        helpers = tuple(sessions.list_subagents(whose.agent, whose.session_id))
        return ConversationInfo(
            found, helpers, events.count_thoughts(number, whose.subagent)
        )


def read_start(whose: ConversationKey) -> TurnRange:
    """Its first events."""
    with database.connection():
        return _after(_number(whose), whose, None)


def read_end(whose: ConversationKey) -> TurnRange:
    """Its last events."""
    with database.connection():
        return _before(_number(whose), whose, None)


def read_before(whose: ConversationKey, place: EventPosition) -> TurnRange:
    """The events before a place."""
    with database.connection():
        return _before(_number(whose), whose, place)


def read_after(whose: ConversationKey, place: EventPosition) -> TurnRange:
    """The events after a place."""
    with database.connection():
        return _after(_number(whose), whose, place)


def read_around(whose: ConversationKey, place: EventPosition) -> TurnRange:
    """The events on both sides of a place, with the one that stands there."""
    with database.connection():
        number = _number(whose)
        here = just_before(place)
        ahead, behind = _before(number, whose, here), _after(number, whose, here)
        turns = ahead.turns + behind.turns
        return TurnRange(turns, ahead.at_start, behind.at_end)


def find_update(
    whose: ConversationKey, shown: ShownRange, here: EventPosition, most: int
) -> ConversationUpdate | None:
    """What there is that is not shown: behind it, or anywhere in between.

    Args:
        whose: The conversation.
        shown: What is shown of it.
        here: The place to stay at.
        most: How many events are read at most where some came in between, or went.
    """
    with database.connection():
        number, places = _number(whose), shown.positions
        first = None if shown.at_start else places[0]
        span = first, places[-1], len(places) + 1
        if conversations.list_positions(number, whose.subagent, *span) != [*places]:
            here, half = just_before(here), most // 2
            ahead = _before(number, whose, here, half)
            behind = _after(number, whose, here, half)
            turns = ahead.turns + behind.turns
            return ConversationUpdate(
                TurnRange(turns, ahead.at_start, behind.at_end), replaces=True
            )
        if not shown.at_end:
            return None
        found = _after(number, whose, places[-1])
        return ConversationUpdate(found, replaces=False) if found.turns else None


def just_before(place: EventPosition) -> EventPosition:
    """A place right before another one."""
    return place[0], place[1], place[2][:-1]


def find_event(event_id: str) -> tuple[ConversationKey, EventPosition] | None:
    """Whose an event is and where it stands; None if it is not kept."""
    with database.connection():
        event = events.get([event_id]).get(event_id)
    if event is None:
        return None
    return ConversationKey(
        event.agent, event.session_id, event.subagent
    ), event.position


def find_by_rank(whose: ConversationKey, rank: int) -> EventPosition | None:
    """The place of the event that so many stand before."""
    with database.connection():
        return conversations.find_position(_number(whose), whose.subagent, rank)


def measure_length(
    whose: ConversationKey, place: EventPosition | None
) -> ConversationLength:
    """How long it is, and how much stands before a place; counted one by one."""
    with database.connection():
        number = _number(whose)
        total = conversations.count_events(number, whose.subagent)
        ahead = (
            conversations.count_events(number, whose.subagent, place) if place else 0
        )
        return ConversationLength(total, ahead)


def find_question(
    whose: ConversationKey, place: EventPosition, step: int
) -> EventPosition | None:
    """The nearest thing a person said after a place (1) or before it (-1)."""
    with database.connection():
        return conversations.find_prompt(_number(whose), whose.subagent, place, step)


def find_text(whose: ConversationKey, words: str) -> Sequence[EventPosition]:
    """The places of all events that say these words as they stand, in any case."""
    with database.connection():
        return conversations.find_text(_number(whose), whose.subagent, words)


def _number(whose: ConversationKey) -> int:
    number = sessions.get_number(whose.agent, whose.session_id)
    if number is None:
        raise ConversationGoneError("this session is no longer kept")
    return number


def _after(
    number: int,
    whose: ConversationKey,
    place: EventPosition | None,
    most: int = PAGE_SIZE,
) -> TurnRange:
    found = conversations.list_after(number, whose.subagent, place, most)
    before_at = from_ms(place[0]) if place else None
    turns = _turns(number, whose, found, before_at)
    return TurnRange(turns, place is None, len(found) < most)


def _before(
    number: int,
    whose: ConversationKey,
    place: EventPosition | None,
    most: int = PAGE_SIZE,
) -> TurnRange:
    # One more tells when the event before the first of them was.
    found = conversations.list_before(number, whose.subagent, place, most + 1)
    is_first = len(found) <= most
    before_at = None if is_first else found[0].timestamp
    kept = found if is_first else found[1:]
    return TurnRange(_turns(number, whose, kept, before_at), is_first, place is None)


def _turns(
    number: int,
    whose: ConversationKey,
    found: Sequence[Event],
    before_at: datetime | None,
) -> tuple[Turn, ...]:
    if not found:
        return ()
    since_ms = to_ms(before_at) + 1 if before_at else 0
    waiting = events.thoughts_between(
        number,
        since_ms,
        found[-1].timestamp_ms,
        subagent=whose.subagent,
        limit=MAX_THOUGHTS,
    )
    waiting.reverse()
    turns: list[Turn] = []
    for event in found:
        mine: list[Thought] = []
        while waiting and waiting[-1].at <= event.timestamp:
            mine.append(waiting.pop())
        turns.append(Turn(event, before_at, tuple(mine)))
        before_at = event.timestamp
    return tuple(turns)
