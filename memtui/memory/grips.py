"""A grip: the link from a bullet to the events that say it.

A bullet is anchored by its wording (decisions §6): an event scores by how well it and
its near neighbourhood hold the bullet's terms, rare terms weighing more. What too
little of the source says gets no grip, and shows as unsupported.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.memory import places
from memtui.memory.events import Event
from memtui.memory.excerpts import excerpt
from memtui.memory.fits import Fits
from memtui.memory.segments import counted_text
from memtui.memory.sessions import Session
from memtui.memory.summaries import Claim

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


def anchor(
    claims: Sequence[Claim], events: Sequence[Event], *, node_id: str, source: str
) -> list[tuple[Grip, ...]]:
    """Find what each bullet rests on.

    Args:
        claims: The bullets of one node; their ``refs`` decide between events that fit
            about as well.
        events: The events of its segment in their order, the overlap left out.
        node_id: The node the grips belong to.
        source: The process that asks.

    Returns:
        For each claim its grips: none for an unsupported one, several for a claim
        whose pieces stand in different places.
    """
    fits = Fits([counted_text(event) for event in events])
    return [
        tuple(
            Grip(
                grip_id=grip_id(node_id, claim.text, events[place.start]),
                excerpt=excerpt(
                    counted_text(events[place.best]), fits.weights(place.piece)
                ),
                event_id_start=events[place.start].event_id,
                event_id_end=events[place.end].event_id,
                timestamp=events[place.best].timestamp,
                source=source,
                toc_node_id=node_id,
            )
            for place in found
        )
        for claim, found in zip(claims, places.find(claims, fits), strict=True)
    ]


def grip_id(node_id: str, bullet: str, start: Event) -> str:
    """The id a grip has whenever it is made again (decisions §6)."""
    named = "\x1f".join((node_id, bullet, start.event_id)).encode("utf-8", "replace")
    digest = hashlib.blake2b(named, digest_size=ID_BYTES).hexdigest()
    return f"grip:{start.timestamp_ms}:{digest}"
