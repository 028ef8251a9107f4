"""A segment: a run of events of one session that belong together.

Two rules end a segment, the gap checked first: a silence, or more text than a model
should read at once (decisions §4). Neither looks at what the events say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, EventRole, EventType

MAX_GAP_S = 1800.0
"""A pause strictly longer than this, in seconds, ends a segment (decisions §4)."""

MAX_TOKENS = 4000
"""The most tokens a segment holds, unless one event alone is longer."""

OVERLAP_S = 300.0
"""How far back the context before a segment may reach, in seconds."""

OVERLAP_TOKENS = 500
"""How long the context before a segment may be, in tokens."""

TOOL_CHARS = 1000
"""How much of a tool's text counts and is shown to a summariser, in characters."""


@dataclass(frozen=True, slots=True)
class SegmentRules:
    """Where segments end."""

    silence_s: float = MAX_GAP_S
    limit_tokens: int = MAX_TOKENS
    overlap_s: float = OVERLAP_S
    overlap_tokens: int = OVERLAP_TOKENS


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive events of one session, oldest first (seed 1). Never empty."""

    segment_id: str
    events: tuple[Event, ...]
    overlap_events: tuple[Event, ...] = ()
    is_open: bool = False

    @property
    def start_time(self) -> datetime:
        """When its first event happened, the overlap not counted."""
        return self.events[0].timestamp

    @property
    def end_time(self) -> datetime:
        """When its last event happened."""
        return self.events[-1].timestamp


def counted_text(event: Event) -> str:
    """The part of an event's text that counts: all of it, or a tool's first part.

    What the agent's machinery wrote (a compaction summary, say) is shortened like a
    tool's text: it is not what this stretch of the conversation said.
    """
    if event.role in (EventRole.TOOL, EventRole.SYSTEM):
        return event.text[:TOOL_CHARS]
    return event.text


def cut(events: Sequence[Event], rules: SegmentRules) -> list[list[Event]]:
    """Cut one session's events into the runs that segments are made of.

    A run that holds no message of a person or an assistant is not a segment: it is
    carried into the run that follows. The last one joins the run before it if tools
    ran in it; boundaries alone wait for what comes.

    Args:
        events: Events of one session in their order, subagents' events left out.
        rules: The limits.

    Returns:
        The runs in order; each holds a message. Empty when no event is a message.
        Boundaries that wait are in none.
    """
    runs: list[list[Event]] = []
    run: list[Event] = []
    tokens = 0
    spoken = False
    for event in events:
        if run and spoken and _ends(run[-1], event, tokens, rules):
            runs.append(run)
            run, tokens, spoken = [], 0, False
        run.append(event)
        tokens += event.tokens
        spoken = spoken or event.is_message
    if spoken:
        runs.append(run)
    elif runs and any(event.event_type is EventType.TOOL_RESULT for event in run):
        runs[-1].extend(run)
    return runs


def _ends(last: Event, following: Event, tokens: int, rules: SegmentRules) -> bool:
    pause_s = (following.timestamp - last.timestamp).total_seconds()
    return (
        pause_s > rules.silence_s
        or tokens + following.tokens > rules.limit_tokens
        or last.event_type is EventType.SESSION_END
    )


def is_over(run: Sequence[Event], now: datetime, rules: SegmentRules) -> bool:
    """Whether the last run of a session is closed: ended, or silent for long."""
    last = run[-1]
    silent_s = (now - last.timestamp).total_seconds()
    return last.event_type is EventType.SESSION_END or silent_s > rules.silence_s


def overlap(
    before: Sequence[Event], first: Event, rules: SegmentRules
) -> tuple[Event, ...]:
    """The events just before a segment that help to understand it (seed 0).

    Args:
        before: The events before the segment in their order.
        first: The segment's first event.
        rules: How far back to reach, in seconds and in tokens; both hold.
    """
    kept: list[Event] = []
    tokens = 0
    for event in reversed(before):
        pause_s = (first.timestamp - event.timestamp).total_seconds()
        tokens += event.tokens
        if pause_s > rules.overlap_s or tokens > rules.overlap_tokens:
            break
        kept.append(event)
    return tuple(reversed(kept))
