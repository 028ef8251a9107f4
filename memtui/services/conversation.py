"""Reads a conversation around any position, and the events that a bullet cites.

Opening it takes the same time however long it is; its length is counted separately.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.errors import MemtuiError
from memtui.model import citations, tool_calls
from memtui.model.citations import CONTEXT_EVENTS, Expansion, Grip
from memtui.model.events import (
    Event,
    EventPosition,
    EventType,
    Thought,
    clean,
    content_fingerprint,
    from_ms,
    to_ms,
)
from memtui.model.sessions import Session, SubagentMetadata
from memtui.store import conversations, database, events, nodes, sessions, versions

PAGE_SIZE = 60
"""The events that are read at once, on each side of a position."""

MAX_INPUT_TEXTS = 20
"""The strings in the input of a call that may be the prompt of a subagent."""

MAX_THOUGHTS = 500
"""The most thoughts that are given with a page: the first ones."""


class ConversationGoneError(MemtuiError):
    """A session is not stored any more."""


@dataclass(frozen=True, slots=True)
class ConversationKey:
    """Names a conversation: of a session, or of one of its subagents."""

    agent: str
    session_id: str
    subagent: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """An event with the time of the event before it, and what belongs to it."""

    event: Event
    previous_at: datetime | None = None
    """None for the first of the conversation."""
    thoughts: tuple[Thought, ...] = ()
    """Those before it."""
    subagent: str = ""
    """The subagent that a tool call started."""

    @property
    def position(self) -> EventPosition:
        return self.event.position


@dataclass(frozen=True, slots=True)
class TurnRange:
    """A part of a conversation, in its order."""

    turns: tuple[Turn, ...]
    at_start: bool
    at_end: bool


@dataclass(frozen=True, slots=True)
class ConversationUpdate:
    """The changes in a conversation that is shown."""

    turns: TurnRange
    replaces: bool
    """The turns replace those shown; otherwise they follow them."""


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """The details of a conversation that do not require counting its events."""

    session: Session
    subagents: tuple[SubagentMetadata, ...]
    thoughts: int


@dataclass(frozen=True, slots=True)
class ConversationLength:
    """The number of events of a conversation, and of those before a position."""

    total: int
    before: int


def get_info(key: ConversationKey) -> ConversationInfo:
    """Return what is known of a conversation.

    Raises:
        ConversationGoneError: It is not stored any more.
    """
    with database.connection():
        number = _number(key)
        session = sessions.get_many([number])[number]
        subagents = tuple(sessions.list_subagents(key.agent, key.session_id))
        thoughts = events.count_thoughts(number, key.subagent)
        return ConversationInfo(session, subagents, thoughts)


def read_before(
    key: ConversationKey, position: EventPosition | None, most: int = PAGE_SIZE
) -> TurnRange:
    """Return the events before a position; the last ones if it is None."""
    with database.connection():
        number = _number(key)
        # One more gives the time of the event before the first of them.
        page = conversations.list_before(number, key.subagent, position, most + 1)
        is_first = len(page) <= most
        before_at = None if is_first else page[0].timestamp
        own = page if is_first else page[1:]
        turns = add_thoughts(number, key.subagent, own, before_at)
        return TurnRange(turns, is_first, position is None)


def read_after(
    key: ConversationKey, position: EventPosition | None, most: int = PAGE_SIZE
) -> TurnRange:
    """Return the events after a position; the first ones if it is None."""
    with database.connection():
        number = _number(key)
        page = conversations.list_after(number, key.subagent, position, most)
        before_at = from_ms(position[0]) if position else None
        turns = add_thoughts(number, key.subagent, page, before_at)
        return TurnRange(turns, position is None, len(page) < most)


def read_around(
    key: ConversationKey, position: EventPosition, most: int = PAGE_SIZE
) -> TurnRange:
    """Return the events on both sides of a position, and the one there."""
    here = position[0], position[1], position[2][:-1]  # right before it
    with database.connection():
        ahead, behind = read_before(key, here, most), read_after(key, here, most)
    return TurnRange(ahead.turns + behind.turns, ahead.at_start, behind.at_end)


def find_update(
    key: ConversationKey,
    displayed: TurnRange,
    here: EventPosition,
    most: int,
    *,
    has_changed: bool = False,
) -> ConversationUpdate | None:
    """Return what is new after the part that is shown, or changed within it.

    If some were inserted or deleted, or if something else has changed, at most ``most``
    events around ``here`` are read again.
    """
    with database.connection():
        number, places = _number(key), [turn.position for turn in displayed.turns]
        first = None if displayed.at_start else places[0]
        span = first, places[-1], len(places) + 1
        positions = conversations.list_positions(number, key.subagent, *span)
        if has_changed or positions != places:
            around = read_around(key, here, most // 2)
            return ConversationUpdate(around, replaces=True)
        if not displayed.at_end:
            return None
        later = read_after(key, places[-1])
        return ConversationUpdate(later, replaces=False) if later.turns else None


def find_event(event_id: str) -> tuple[ConversationKey, EventPosition] | None:
    """Return the conversation and the position of an event; None if it is unknown."""
    with database.connection():
        event = events.get([event_id]).get(event_id)
    if event is None:
        return None
    key = ConversationKey(event.agent, event.session_id, event.subagent)
    return key, event.position


def find_by_rank(key: ConversationKey, rank: int) -> EventPosition | None:
    """Return the position of the event with a rank, counted from 0."""
    with database.connection():
        return conversations.find_position(_number(key), key.subagent, rank)


def measure_length(
    key: ConversationKey, position: EventPosition | None
) -> ConversationLength:
    """Count the events, and those before a position."""
    with database.connection():
        whose = _number(key), key.subagent
        total = conversations.count_events(*whose)
        before = conversations.count_events(*whose, position) if position else 0
        return ConversationLength(total, before)


def find_text(key: ConversationKey, words: str) -> Sequence[EventPosition]:
    """Return the positions of all events with these words, in any case."""
    with database.connection():
        return conversations.find_text(_number(key), key.subagent, words)


def _number(key: ConversationKey) -> int:
    number = sessions.get_number(key.agent, key.session_id)
    if number is None:
        raise ConversationGoneError("this session is no longer stored")
    return number


def add_thoughts(
    number: int, subagent: str, page: Sequence[Event], before_at: datetime | None
) -> tuple[Turn, ...]:
    """Return events in a row with the thoughts before each, and started subagents.

    The time is that of the event before the first one; None if there is none.
    """
    if not page:
        return ()
    since_ms = to_ms(before_at) + 1 if before_at else 0
    waiting = events.thoughts_between(
        number,
        since_ms,
        page[-1].timestamp_ms,
        subagent=subagent,
        limit=MAX_THOUGHTS,
    )
    waiting.reverse()
    started = _find_started(number, page)
    turns: list[Turn] = []
    for event in page:
        mine: list[Thought] = []
        while waiting and waiting[-1].at <= event.timestamp:
            mine.append(waiting.pop())
        name = started.get(event.event_id, "")
        turns.append(Turn(event, before_at, tuple(mine), name))
        before_at = event.timestamp
    return tuple(turns)


def _find_started(number: int, page: Sequence[Event]) -> dict[str, str]:
    """Return the subagents that calls started, by the ids of the calls' events.

    Where the agent does not name the call, it is the one whose input has the first
    message of the subagent.
    """
    calls = [event for event in page if event.is_tool_call]
    if not calls:
        return {}
    subagent_by_call = {
        subagent.tool_use_id: subagent.subagent
        for subagent in sessions.list_subagents(calls[0].agent, calls[0].session_id)
        if subagent.tool_use_id
    }
    prompts: dict[str, list[bytes]] = {}
    for call in calls:
        texts = tool_calls.list_texts(call.metadata.get("tool_input", ""))
        prompts[call.event_id] = [
            content_fingerprint(call.session_id, EventType.USER_MESSAGE, text, {})
            for text in texts[:MAX_INPUT_TEXTS]
        ]
    prompted = conversations.find_subagents(
        number, {key for keys in prompts.values() for key in keys}
    )
    started: dict[str, str] = {}
    for call in calls:
        named = subagent_by_call.get(call.metadata.get("tool_use_id", ""))
        names = [named, *map(prompted.get, prompts[call.event_id])]
        started[call.event_id] = next(
            (name for name in names if name and name != call.subagent), ""
        )
    return started


# The events of a grip

WINDOW_MS = 3_600_000
"""The time before and after the excerpt in which the events around it may lie."""


def expand(
    grip_id: str, *, before: int = CONTEXT_EVENTS, after: int = CONTEXT_EVENTS
) -> Expansion:
    """Return the events of a grip and those around them, of the same session.

    The window reaches from an hour before the first event of the excerpt to an hour
    after its last. The beginning of a grip's or an event's id is enough. An unknown
    grip has no events, and one whose events cannot be read only those around them.
    """
    grip_id = clean(grip_id)
    with database.connection():
        grip = versions.get_grips([grip_id]).get(grip_id) or _cited_grip(grip_id)
        if grip is None:
            event_id = find_cited_event(grip_id)
            return expand_event(event_id, before=before, after=after)
        return _surround(grip, before, after)


def expand_event(
    event_id: str,
    excerpt: str = "",
    *,
    before: int = CONTEXT_EVENTS,
    after: int = CONTEXT_EVENTS,
) -> Expansion:
    """Return an event, with an excerpt to mark in it, and those around it."""
    with database.connection():
        location = conversations.locate([event_id]).get(event_id)
        if location is None:
            return Expansion()
        grip = Grip("", excerpt, event_id, event_id, from_ms(location.at_ms), "search")
        return _surround(grip, before, after)


def _cited_grip(citation: str) -> Grip | None:
    start = citations.parse_grip(citations.strip(citation))
    grip_id = nodes.find_grip(start) if start else ""
    return versions.get_grips([grip_id]).get(grip_id) if grip_id else None


def find_cited_event(citation: str) -> str:
    """Return the id of a cited event, "" if there is none."""
    start = citations.parse_event(citations.strip(citation))
    return nodes.find_event(start) if start else ""


def _surround(grip: Grip, before: int, after: int) -> Expansion:
    names = grip.event_id_start, grip.event_id_end
    locations = conversations.locate(names)
    ends = [locations[name] for name in names if name in locations]
    if not ends:
        return Expansion(grip=grip)
    first, last = ends[0], ends[-1]
    whose = first.number, first.subagent
    ahead = conversations.list_before(*whose, first.position, max(before, 0))
    own = events.between(first.number, first.at_ms, last.at_ms, subagent=whose[1])
    behind = conversations.list_after(*whose, last.position, max(after, 0))
    earliest, latest = first.at_ms - WINDOW_MS, last.at_ms + WINDOW_MS
    return Expansion(
        grip=grip,
        session=sessions.get_many([first.number])[first.number],
        events_before=tuple(e for e in ahead if e.timestamp_ms >= earliest),
        excerpt_events=tuple(
            e for e in own if first.position <= e.position <= last.position
        ),
        events_after=tuple(e for e in behind if e.timestamp_ms <= latest),
    )
