"""A segment: consecutive events of one session that are summarized together.

Where segments end is decided in ``summarize.segmenter``.
"""

from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, EventRole

TOOL_CHARS = 1000
"""Only this much of a tool's text is counted and summarized."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive events of one session, oldest first; never empty."""

    segment_id: str
    events: tuple[Event, ...]
    overlap_events: tuple[Event, ...] = ()
    is_open: bool = False
    earlier_prompts: tuple[Event, ...] = ()
    """The user's last messages before it, the latest first."""
    session_title: str = ""
    """The agent's own title of the session, if the segment is the start of it."""

    @property
    def start_time(self) -> datetime:
        """Return the time of the first event, without the overlap."""
        return self.events[0].timestamp

    @property
    def end_time(self) -> datetime:
        return self.events[-1].timestamp


def counted_text(event: Event) -> str:
    """Return the part of an event's text that is counted and summarized.

    Tool output is shortened; so is text that the agent itself inserted, such as a
    compaction summary.
    """
    if event.role in (EventRole.TOOL, EventRole.SYSTEM):
        return event.text[:TOOL_CHARS]
    return event.text
