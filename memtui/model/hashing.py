"""Hashes of content: of the input of a computation, and of an event.

Copies of an event that came by different routes have the same fingerprint, copies in
other sessions the same source hash.
"""

import hashlib
import re
from collections.abc import Mapping

from memtui.model.events import Event

MAX_TIME_DIFFERENCE_MS = 600_000
"""The maximum difference between the times of two copies of an event, in
milliseconds."""

_PLACEHOLDER = re.compile(r"\[(?:image|document|file)(?:: [^\]\n]+)?\]")
"""The placeholder of transcript readers for a picture or file; hooks leave it out."""


def content_hash(*parts: str) -> str:
    """Return a short hash of several texts; the limits between them count."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


def fingerprint(event: Event, session_id: str | None = None) -> bytes:
    """Return the fingerprint of an event, or the one it would have in a session."""
    name = event.session_id if session_id is None else session_id
    return content_fingerprint(name, event.event_type, event.text, event.metadata)


def content_fingerprint(
    session_id: str, event_type: str, text: str, metadata: Mapping[str, str]
) -> bytes:
    """Return a hash of an event's content, the same by whichever route it came.

    A tool call is identified by its name and input, since hooks and transcripts write
    its result differently; all other events by their text.
    """
    tool_input = metadata.get("tool_input", "")
    content = f"{metadata.get('tool_name', '')}{tool_input}" if tool_input else text
    plain = " ".join(content.split())
    if not tool_input and "[" in plain:
        plain = " ".join(_PLACEHOLDER.sub(" ", plain).split()) or plain
    key = "\x1f".join((session_id, event_type, plain))
    return hashlib.blake2b(key.strip().encode(), digest_size=8).digest()


def source_hash(event: Event) -> bytes | None:
    """Return a hash of the event's id in its source; None if it has none."""
    if event.provenance:
        return event.provenance.source_hash
    if not event.source_id:
        return None
    key = "\x1f".join((event.agent, event.event_type, event.source_id))
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
