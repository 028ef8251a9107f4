"""A grip: the link from a bullet to the events that say it.

A bullet is anchored by its wording (decisions §6): an event scores by how well it and
its near neighbourhood hold the bullet's terms, rare terms weighing more. What too
little of the source says gets no grip, and shows as unsupported.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event
from memtui.model.sessions import Session

ID_BYTES = 8
"""How long the hash in a grip's id is, in bytes."""


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


def grip_id(node_id: str, bullet: str, start: Event) -> str:
    """The id a grip has whenever it is made again (decisions §6)."""
    named = "\x1f".join((node_id, bullet, start.event_id)).encode("utf-8", "replace")
    digest = hashlib.blake2b(named, digest_size=ID_BYTES).hexdigest()
    return f"grip:{start.timestamp_ms}:{digest}"
