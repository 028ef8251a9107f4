"""Segments to be summarised, and a server to ask."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memtui.memory import events
from memtui.memory.events import Event, EventType
from memtui.memory.segments import Segment

AT = datetime(2026, 8, 1, 9, tzinfo=UTC)

KINDS = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
    "tool": EventType.TOOL_RESULT,
    "start": EventType.SESSION_START,
}

TALK = (
    ("user", "The login page fails with error 500 since v2.3.1, please fix it."),
    ("tool", "Bash: pytest tests/test_login.py\n1 failed: KeyError: 'session_id'"),
    ("assistant", "The cause is in src/auth/token.py: the cookie is read before set."),
    ("tool", "Edit: src/auth/token.py"),
    ("assistant", "Fixed: token.py sets session_id first; all 42 tests pass now."),
)
"""A short conversation with names, numbers and paths in it."""

SegmentOf = Callable[..., Segment]


def told(talk: Sequence[tuple[str, str]], after_min: int = 0) -> tuple[Event, ...]:
    """Events of who said what."""
    return tuple(
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=AT + timedelta(minutes=after_min, seconds=place),
            event_type=KINDS[who],
            text=text,
            key=f"{after_min}-{place}",
        )
        for place, (who, text) in enumerate(talk)
    )


def segment_of(
    *talk: tuple[str, str], before: Sequence[tuple[str, str]] = ()
) -> Segment:
    """A segment of who said what; the short conversation if nothing is said."""
    return Segment(
        "toc:segment:2026-08-01:01",
        told(talk or TALK, 10),
        overlap_events=told(before),
    )


@pytest.fixture
def segment() -> Segment:
    """The short conversation."""
    return segment_of()
