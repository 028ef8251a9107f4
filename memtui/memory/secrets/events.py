"""Events without their secrets: one rule for what comes in and for what is kept."""

from dataclasses import replace

from memtui.memory import secrets
from memtui.memory.events import Event


def cleaned(event: Event) -> tuple[Event, tuple[str, ...]]:
    """An event without its secrets, itself if it has none, and the kind of each.

    What its metadata says goes by the names there too. One that had some is to be
    counted anew.
    """
    text = secrets.redact(event.text)
    metadata, found = secrets.redact_strings(event.metadata)
    kinds = text.kinds + found
    if not kinds or not isinstance(metadata, dict):
        return event, ()
    changed = replace(event, text=text.text, metadata=metadata, tokens=0, counter="")
    return changed, kinds
