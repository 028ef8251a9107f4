"""A grip: the link from a bullet to the events that say it."""

from dataclasses import dataclass
from datetime import datetime

from memtui.memory.events import Event
from memtui.memory.sessions import Session


@dataclass(frozen=True, slots=True)
class Grip:
    """An excerpt, verbatim, and the events it stands in (seed 1)."""

    grip_id: str
    excerpt: str
    event_id_start: str
    event_id_end: str
    timestamp: datetime
    source: str
    """Which process made it: ``segment_summarizer``, ``day_rollup``."""
    toc_node_id: str | None = None


@dataclass(frozen=True, slots=True)
class Expansion:
    """A grip with its events and those around them; all empty for an unknown grip."""

    grip: Grip | None = None
    session: Session | None = None
    events_before: tuple[Event, ...] = ()
    excerpt_events: tuple[Event, ...] = ()
    events_after: tuple[Event, ...] = ()
