"""Divide the events of a session into segments.

A segment is a technical cut: it ends with the session, at a long pause, or before it
would have more tokens than a model should read at once. While no event arrives,
``store.segments.close_paused`` ends it after the pause.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, EventType
from memtui.settings import Settings

_DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class SegmentRules:
    """The limits of segments; the defaults are those of settings."""

    max_pause_s: float = _DEFAULTS.segments_max_gap_min * 60
    """A longer pause, in seconds, ends a segment."""
    max_tokens: int = _DEFAULTS.segments_max_tokens
    """The most tokens of a segment, unless one event alone has more."""


def split_events(events: Sequence[Event], rules: SegmentRules) -> list[list[Event]]:
    """Split the events of a session into the runs that segments consist of.

    A run without a message is not a segment: it is added to the next run. The last one
    is added to the run before it if it contains tool results; otherwise it waits for
    further events.

    Args:
        events: The events of one session in order, without those of subagents.
        rules: The limits.

    Returns:
        The runs in order, each with a message.
    """
    runs: list[list[Event]] = []
    run: list[Event] = []
    tokens = 0
    has_message = False
    for event in events:
        has_ended = bool(run) and _ends_with(run[-1], event.timestamp, rules)
        is_full = tokens + event.tokens > rules.max_tokens
        if has_message and (has_ended or is_full):
            runs.append(run)
            run, tokens, has_message = [], 0, False
        run.append(event)
        tokens += event.tokens
        has_message = has_message or event.is_message
    if has_message:
        runs.append(run)
    elif runs and any(event.is_tool_call for event in run):
        runs[-1].extend(run)
    return runs


def _ends_with(last: Event, now: datetime, rules: SegmentRules) -> bool:
    """Return whether a segment ends with an event: it ends the session, or a long pause
    follows it."""
    pause_s = (now - last.timestamp).total_seconds()
    return last.event_type is EventType.SESSION_END or pause_s > rules.max_pause_s


def is_finished(run: Sequence[Event], now: datetime, rules: SegmentRules) -> bool:
    """Return whether the last run of a session is complete, by its end or a pause."""
    return _ends_with(run[-1], now, rules)
