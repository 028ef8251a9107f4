"""Grips, and citations: short names by which quotes, events and nodes can be opened.

Citations are prefixes of ids: ``grip:1705330800000:1a2b``, ``evt:01HMCSS…`` (with a
label), ``toc:segment:2024-01-15:01HMCSS…``. Full ids are accepted as well.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, clean
from memtui.model.sessions import Session

# Grips; those of a bullet are found by ``summarize.grounding.anchors``

_GRIP_ID_BYTES = 8


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
    digest = hashlib.blake2b(key, digest_size=_GRIP_ID_BYTES).hexdigest()
    return f"grip:{start.timestamp_ms}:{digest}"


# Citations

HASH_CHARS = 4
"""The length of a grip's hash in a citation."""

EVENT_CHARS = 14
"""The length of an event's id in a citation: its time and 20 bits."""

CONTEXT_EVENTS = 3
"""The number of events shown on each side of a cited one by default."""

SEGMENT_PREFIX = "toc:segment:"

_GRIP = re.compile(r"grip:\d{1,16}(?::[0-9a-z]*)?", re.I)

_EVENT = re.compile(
    r"evt:(?:\d{13}:)?(?P<start>[0-9A-HJKMNP-TV-Z]{1,26})"
    rf"|(?P<bare>[0-9A-HJKMNP-TV-Z]{{{EVENT_CHARS},26}})"
)


def cite_grip(grip_id: str) -> str:
    """Return the citation of a grip; an id of another form is returned unchanged."""
    prefix, _, key = grip_id.rpartition(":")
    return f"{prefix}:{key[:HASH_CHARS]}" if prefix.count(":") == 1 else grip_id


def cite_event(event_id: str) -> str:
    return f"evt:{event_id[:EVENT_CHARS]}"


def cite_node(node_id: str) -> str:
    """Return the citation of a node: its id, shortened for a segment."""
    if not node_id.startswith(SEGMENT_PREFIX):
        return node_id
    day, _, key = node_id.rpartition(":")
    return f"{day}:{key[:EVENT_CHARS]}"


def cite(source_id: str) -> str:
    """Return the citation of a grip, a node or an event; "" for none."""
    if source_id.startswith("grip:"):
        return cite_grip(source_id)
    is_event = source_id and not source_id.startswith("toc:")
    return cite_event(source_id) if is_event else cite_node(source_id)


def strip(text: str) -> str:
    """Return a citation without the quotes or brackets around it."""
    return clean(text).strip().strip("[]()<>\"'`.,; \n")


def parse_grip(text: str) -> str:
    """Return the prefix of a cited grip's id; "" if the text cites no grip."""
    return text.lower() if _GRIP.fullmatch(text) else ""


def parse_event(text: str) -> str:
    """Return the prefix of a cited event's id; "" if the text cites no event."""
    match = _EVENT.fullmatch(text)
    return (match["start"] or match["bare"]) if match else ""
