"""Divide the events of a session into segments.

A segment ends with the session, at a long pause, or when it would have more tokens
than a model should read at once. It also ends where the work changes: before a new
request, once a commit was made. While no event arrives, ``store.segments.close_paused``
ends it after the pause.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, EventRole, EventType
from memtui.settings import Settings
from memtui.summarize import tool_actions
from memtui.text import titles

_DEFAULTS = Settings()

MIN_MESSAGES = 2
"""Where the work changes, each side must have this number of messages."""

_GOES_ON = re.compile(
    r"\W*(?:please |ok(?:ay)?,? |now |then |and |also |yes,? )*"
    r"(?:commit|push|merge|amend|rebase|squash|continue|why|it|that|this)\b",
    re.IGNORECASE,
)
"""A request that belongs to the work before it."""


@dataclass(frozen=True, slots=True)
class SegmentRules:
    """The limits of segments and their overlap; the defaults are those of settings."""

    max_pause_s: float = _DEFAULTS.segments_max_gap_min * 60
    """A longer pause, in seconds, ends a segment."""
    max_tokens: int = _DEFAULTS.segments_max_tokens
    """The most tokens of a segment, unless one event alone has more."""
    overlap_s: float = _DEFAULTS.segments_overlap_min * 60
    """The overlap with what is before a segment starts at most this much earlier."""
    overlap_tokens: int = _DEFAULTS.segments_overlap_tokens
    """The most tokens of the overlap."""


def split_events(events: Sequence[Event], rules: SegmentRules) -> list[list[Event]]:
    """Split the events of a session into the runs that segments consist of.

    A run without a message is not a segment: it is added to the next run. The last one
    is added to the run before it if it contains tool results; otherwise it waits for
    further events.

    Args:
        events: The events of one session in order, without those of subagents. Of
            their text, only the start of requests and of commits is needed.
        rules: The limits.

    Returns:
        The runs in order, each with a message.
    """
    runs: list[list[Event]] = []
    run: list[Event] = []
    tokens = messages = 0
    has_commit = False
    for at, event in enumerate(events):
        is_new_work = (
            has_commit
            and messages >= MIN_MESSAGES
            and _is_new_request(event)
            and _is_followed_by_message(events, at, rules)
        )
        if messages and (is_new_work or _ends_before(event, run[-1], tokens, rules)):
            runs.append(run)
            run, tokens, messages, has_commit = [], 0, 0, False
        run.append(event)
        tokens += event.tokens
        messages += event.is_message
        has_commit = has_commit or _is_commit(event)
    if messages:
        runs.append(run)
    elif runs and any(event.is_tool_call for event in run):
        runs[-1].extend(run)
    return runs


def _ends_before(event: Event, last: Event, tokens: int, rules: SegmentRules) -> bool:
    """Return whether a segment with so many tokens ends between two events."""
    is_full = tokens + event.tokens > rules.max_tokens
    return is_full or _ends_with(last, event.timestamp, rules)


def _ends_with(last: Event, now: datetime, rules: SegmentRules) -> bool:
    """Return whether a segment ends with an event: it ends the session, or a long pause
    follows it."""
    return last.event_type is EventType.SESSION_END or _is_pause(last, now, rules)


def _is_pause(last: Event, at: datetime, rules: SegmentRules) -> bool:
    """Return whether the time after an event is a long pause."""
    return (at - last.timestamp).total_seconds() > rules.max_pause_s


def _is_new_request(event: Event) -> bool:
    """Return whether the user asks for further work."""
    if (
        event.event_type is not EventType.USER_MESSAGE
        or event.role is not EventRole.USER
    ):
        return False
    return not _GOES_ON.match(event.text) and bool(titles.request_title(event.text))


def _is_commit(event: Event) -> bool:
    return event.is_tool_call and tool_actions.is_commit_call(event.text)


def _is_followed_by_message(
    events: Sequence[Event], at: int, rules: SegmentRules
) -> bool:
    """Return whether a message follows an event without a long pause."""
    for place in range(at + 1, len(events)):
        event, last = events[place], events[place - 1]
        if _is_pause(last, event.timestamp, rules):
            return False
        if event.is_message:
            return True
    return False


def is_finished(run: Sequence[Event], now: datetime, rules: SegmentRules) -> bool:
    """Return whether the last run of a session is complete, by its end or a pause."""
    return _ends_with(run[-1], now, rules)


def overlap_before(
    before: Sequence[Event], first: Event, rules: SegmentRules
) -> tuple[Event, ...]:
    """Return the events just before a segment that help to understand it.

    Args:
        before: The events before the segment in order.
        first: The segment's first event.
        rules: The limits, in seconds and in tokens; both apply.
    """
    overlap: list[Event] = []
    tokens = 0
    for event in reversed(before):
        age_s = (first.timestamp - event.timestamp).total_seconds()
        tokens += event.tokens
        if age_s > rules.overlap_s or tokens > rules.overlap_tokens:
            break
        overlap.append(event)
    return tuple(reversed(overlap))
