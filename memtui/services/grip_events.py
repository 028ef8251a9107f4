"""Read the events that a bullet or a search result rests on, and those around them."""

from memtui.model import citations
from memtui.model.citations import CONTEXT_EVENTS
from memtui.model.events import Event, clean
from memtui.model.grips import Expansion, Grip
from memtui.store import database, events, grips, nodes, sessions

WINDOW_MS = 3_600_000
"""The time before and after the excerpt in which the events around it may lie."""


def expand(
    grip_id: str, *, before: int = CONTEXT_EVENTS, after: int = CONTEXT_EVENTS
) -> Expansion:
    """Return the events of a grip and those around them, of the same session.

    The window reaches from an hour before the first event of the excerpt to an hour
    after its last. An unknown grip has no events.

    Args:
        grip_id: Its id, or a citation: the beginning of its id, or of an event's.
        before: The most events before the excerpt.
        after: The most events after it.
    """
    grip_id = clean(grip_id)
    with database.connection():
        grip = grips.get([grip_id]).get(grip_id) or _cited_grip(grip_id)
        if grip is None:
            event_id = _cited_event(grip_id)
            return expand_event(event_id, before=before, after=after)
        ends = events.get([grip.event_id_start, grip.event_id_end])
        first, last = ends.get(grip.event_id_start), ends.get(grip.event_id_end)
        # If one of them cannot be read, the other is used for both.
        first, last = first or last, last or first
        if first is None or last is None:
            return Expansion(grip=grip)
        return _around(grip, first, last, max(before, 0), max(after, 0))


def expand_event(
    event_id: str,
    excerpt: str = "",
    *,
    before: int = CONTEXT_EVENTS,
    after: int = CONTEXT_EVENTS,
) -> Expansion:
    """Return an event and those around it, of the same session.

    Args:
        event_id: The event; an unknown one has no events around it.
        excerpt: The part of it to be marked.
        before: The most events before it.
        after: The most events after it.
    """
    with database.connection():
        event = events.get([event_id]).get(event_id)
        if event is None:
            return Expansion()
        found = Grip("", excerpt, event_id, event_id, event.timestamp, "search")
        return _around(found, event, event, max(before, 0), max(after, 0))


def _cited_grip(citation: str) -> Grip | None:
    start = citations.parse_grip(citations.strip(citation))
    found = nodes.find_grip(start) if start else ""
    return grips.get([found]).get(found) if found else None


def _cited_event(citation: str) -> str:
    """Return the id of a cited event, "" if there is none."""
    start = citations.parse_event(citations.strip(citation))
    return nodes.find_event(start) if start else ""


def _around(
    grip: Grip, first: Event, last: Event, before: int, after: int
) -> Expansion:
    number = sessions.get_number(first.agent, first.session_id)
    assert number is not None
    start_ms, end_ms = first.timestamp_ms, last.timestamp_ms
    subagent = first.subagent
    earlier = events.between(number, start_ms - WINDOW_MS, start_ms, subagent=subagent)
    own = events.between(number, start_ms, end_ms, subagent=subagent)
    later = events.between(number, end_ms, end_ms + WINDOW_MS, subagent=subagent)
    ahead = [event for event in earlier if event.position < first.position]
    behind = [event for event in later if event.position > last.position]
    return Expansion(
        grip=grip,
        session=sessions.get(first.agent, first.session_id),
        events_before=tuple(ahead[max(len(ahead) - before, 0) :]),
        excerpt_events=tuple(
            e for e in own if first.position <= e.position <= last.position
        ),
        events_after=tuple(behind[:after]),
    )
