"""What an event is known by when it is told again: hashes of what it says and is named.

Two source_copies of one event have the same twin, in whichever way each came; copies of it
in other sessions have the same origin.
"""

import hashlib
import re
from dataclasses import replace

from memtui.model.events import Event

_SHOWN = re.compile(r"\[(?:image|document|file)(?:: [^\]\n]+)?\]")
"""What our readers write in place of a picture or a file: hooks are silent of it."""


def twin_of(event: Event) -> bytes:
    """A hash of what an event says, the same in whichever way it is told.

    A tool's call is known by its name and input, since its answer is written
    differently by hooks and transcripts; all others by their words.
    """
    said = event.metadata.get("tool_input", "")
    words = f"{event.metadata.get('tool_name', '')}{said}" if said else event.text
    plain = " ".join(words.split())
    if not said and "[" in plain:
        plain = " ".join(_SHOWN.sub(" ", plain).split()) or plain
    named = "\x1f".join((event.session_id, event.event_type, plain))
    return hashlib.blake2b(named.strip().encode(), digest_size=8).digest()


def twin_in(session_id: str, event: Event) -> bytes:
    """The same hash if it were another session's event."""
    return twin_of(replace(event, session_id=session_id))


def origin_of(event: Event) -> bytes | None:
    """A hash of the source's own name for an event; None if it has none."""
    if event.provenance:
        return event.provenance.source_hash
    if not event.source_id:
        return None
    named = "\x1f".join((event.agent, event.event_type, event.source_id))
    return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=8).digest()
