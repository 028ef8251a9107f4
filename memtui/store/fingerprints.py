"""Hashes by which copies of an event are recognized.

Copies that came by different routes have the same fingerprint, copies in other sessions
the same source hash.
"""

import hashlib
import re
from dataclasses import replace

from memtui.model.events import Event

MAX_TIME_DIFFERENCE_MS = 600_000
"""How far the times of two copies of one event may differ, in milliseconds."""

_PLACEHOLDER = re.compile(r"\[(?:image|document|file)(?:: [^\]\n]+)?\]")
"""What transcript readers write in place of a picture or file; hooks leave it out."""


def fingerprint(event: Event) -> bytes:
    """Return a hash of an event's content, the same by whichever route it came.

    A tool call is identified by its name and input, since hooks and transcripts write
    its result differently; all other events by their text.
    """
    tool_input = event.metadata.get("tool_input", "")
    content = event.text
    if tool_input:
        content = f"{event.metadata.get('tool_name', '')}{tool_input}"
    plain = " ".join(content.split())
    if not tool_input and "[" in plain:
        plain = " ".join(_PLACEHOLDER.sub(" ", plain).split()) or plain
    key = "\x1f".join((event.session_id, event.event_type, plain))
    return hashlib.blake2b(key.strip().encode(), digest_size=8).digest()


def fingerprint_in(session_id: str, event: Event) -> bytes:
    """Return the fingerprint the event would have in another session."""
    return fingerprint(replace(event, session_id=session_id))


def source_hash(event: Event) -> bytes | None:
    """Return a hash of the event's id in its source; None if it has none."""
    if event.provenance:
        return event.provenance.source_hash
    if not event.source_id:
        return None
    key = "\x1f".join((event.agent, event.event_type, event.source_id))
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
