"""Citations: the shortest name by which a quote can be opened again.

``grip:1705330800000:1a2b`` is the beginning of a grip's id, ``evt:01HMCSS…`` that of an
event's and ``toc:segment:2024-01-15:01HMCSS…`` that of a segment's; all are looked up
by how they begin, whole ids included.
"""

import re

from memtui.model.events import clean

HASH_CHARS = 4
"""How much of a grip's hash tells it from others of its moment."""

EVENT_CHARS = 14
"""How much of an event's id tells it from others: its time and 20 bits."""

CONTEXT_EVENTS = 3
"""How many events are shown on each side of those that one stands for, unless more are
asked for."""

SEGMENT_PREFIX = "toc:segment:"
"""How a segment's id begins."""

_GRIP = re.compile(r"grip:\d{1,16}(?::[0-9a-z]*)?", re.I)

_EVENT = re.compile(
    r"evt:(?:\d{13}:)?(?P<start>[0-9A-HJKMNP-TV-Z]{1,26})"
    rf"|(?P<bare>[0-9A-HJKMNP-TV-Z]{{{EVENT_CHARS},26}})"
)


def cite_grip(grip_id: str) -> str:
    """The citation of a grip; an id of another form as it is."""
    prefix, _, key = grip_id.rpartition(":")
    return f"{prefix}:{key[:HASH_CHARS]}" if prefix.count(":") == 1 else grip_id


def cite_event(event_id: str) -> str:
    """The citation of an event."""
    return f"evt:{event_id[:EVENT_CHARS]}"


def cite_node(node_id: str) -> str:
    """The citation of a node; of all but a segment its id, which is short."""
    if not node_id.startswith(SEGMENT_PREFIX):
        return node_id
    day, _, key = node_id.rpartition(":")
    return f"{day}:{key[:EVENT_CHARS]}"


def strip(text: str) -> str:
    """A citation as it was meant, whatever an agent put around it."""
    return clean(text).strip().strip("[]()<>\"'`.,; \n")


def parse_grip(text: str) -> str:
    """How the id of a cited grip begins; "" where no grip is cited."""
    return text.lower() if _GRIP.fullmatch(text) else ""


def parse_event(text: str) -> str:
    """How the id of a cited event begins; "" where no event is cited."""
    found = _EVENT.fullmatch(text)
    return (found["start"] or found["bare"]) if found else ""
