"""A grip: the link from a bullet to its source events.

``summarize.grounding.anchoring`` finds the events of a bullet.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event
from memtui.model.sessions import Session

ID_BYTES = 8


@dataclass(frozen=True, slots=True)
class Grip:
    """A verbatim excerpt and the events it is from."""

    grip_id: str
    excerpt: str
    event_id_start: str
    event_id_end: str
    timestamp: datetime
    source: str
    """The process that made it: ``segment_summarizer``, ``day_rollup``."""
    toc_node_id: str | None = None


@dataclass(frozen=True, slots=True)
class Expansion:
    """A grip with its events and those around them; empty for an unknown grip."""

    grip: Grip | None = None
    session: Session | None = None
    events_before: tuple[Event, ...] = ()
    excerpt_events: tuple[Event, ...] = ()
    events_after: tuple[Event, ...] = ()


def grip_id(node_id: str, bullet: str, start: Event) -> str:
    """Return the id of a grip, the same whenever it is made again."""
    key = "\x1f".join((node_id, bullet, start.event_id)).encode("utf-8", "replace")
    digest = hashlib.blake2b(key, digest_size=ID_BYTES).hexdigest()
    return f"grip:{start.timestamp_ms}:{digest}"
