"""Reads a conversation in parts, and the events that a bullet cites.

Only the positions of its events are read at once, which takes about 1 µs for each.
"""

from collections.abc import Collection, Sequence
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
from memtui.model.sessions import Session
from memtui.store import conversations, database, events, nodes, sessions, versions

MAX_INPUT_TEXTS = 20
"""The strings in the input of a call that may be the prompt of a subagent."""

MAX_THOUGHTS = 2_500
"""The most thoughts that are given with a part: the first ones."""


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
class ConversationInfo:
    """The details of a conversation, without its texts."""

    session: Session
    thoughts: int
    """Their number."""
    positions: Sequence[EventPosition]
    """Those of all events, in their order."""


def get_info(key: ConversationKey) -> ConversationInfo:
    """Return what is known of a conversation.

    Raises:
        ConversationGoneError: It is not stored any more.
    """
    with database.connection():
        number = find_number(key)
        session = sessions.get_many([number])[number]
        thoughts = events.count_thoughts(number, key.subagent)
        positions = conversations.list_positions(number, key.subagent)
        return ConversationInfo(session, thoughts, positions)


def read_turns(
    key: ConversationKey, positions: Sequence[EventPosition], start: int, end: int
) -> tuple[Turn, ...]:
    """Return the events of a part of a conversation, except those that are unreadable.

    Args:
        positions: Those of all events.
        start, end: The indexes of the first one, and of the one after the last.
    """
    with database.connection():
        names = [event_id for *_, event_id in positions[start:end]]
        by_id = events.get(names)
        page = [by_id[name] for name in names if name in by_id]
        before_at = from_ms(positions[start - 1][0]) if start else None
        return add_thoughts(find_number(key), key.subagent, page, before_at)


def find_position(event_id: str) -> EventPosition | None:
    """Return the position of an event, by its id or that of a copy of it."""
    with database.connection():
        location = conversations.locate([event_id]).get(event_id)
        return location and location.position


def find_text(key: ConversationKey, words: str) -> Sequence[EventPosition]:
    """Return the positions of all events with these words, in any case."""
    with database.connection():
        return conversations.find_text(find_number(key), key.subagent, words)


def find_number(key: ConversationKey) -> int:
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


@dataclass(frozen=True, slots=True)
class CitedMessage:
    """The message that a grip or an event leads to."""

    session: Session
    at: datetime
    excerpt: str
    """The quoted part of it; "" for an event."""
    text: str
    """All of it; "" if it cannot be read."""


def read_sources(names: Collection[str]) -> dict[str, CitedMessage]:
    """Return the sources of grips and events, by their whole ids.

    Those that are not stored any more are left out.
    """
    with database.connection():
        grips = versions.get_grips(names)
        cited = {n: grips[n].event_id_start if n in grips else n for n in names}
        locations = conversations.locate(cited.values())
        by_id = events.get(cited.values())
        by_number = sessions.get_many({at.number for at in locations.values()})
    sources = {}
    for name, event_id in cited.items():
        if place := locations.get(event_id):
            session, grip = by_number[place.number], grips.get(name)
            at = grip.timestamp if grip else from_ms(place.at_ms)
            text = by_id[event_id].text if event_id in by_id else ""
            sources[name] = CitedMessage(
                session, at, grip.excerpt if grip else "", text
            )
    return sources


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
