"""Events without their secrets: one rule for what comes in and for what is kept."""

from dataclasses import replace

from memtui.memory import secrets
from memtui.memory.events import Event

_NAMES_AND_KINDS = frozenset(
    {"agent_id", "agent_type", "is_broken_off", "is_error", "kind", "message_id"}
    | {"source", "tool_name", "tool_use_id"}
)
"""What metadata says in a word of the agent's own: no place for a secret."""


def cleaned(event: Event) -> tuple[Event, tuple[str, ...]]:
    """An event without its secrets, itself if it has none, and the kind of each.

    One that had some is to be counted anew.
    """
    text = secrets.redact(event.text)
    kinds = text.kinds
    metadata = dict(event.metadata)
    for name, said in event.metadata.items():
        if name not in _NAMES_AND_KINDS:
            redacted = secrets.redact(said)
            metadata[name] = redacted.text
            kinds += redacted.kinds
    if not kinds:
        return event, ()
    changed = replace(event, text=text.text, metadata=metadata, tokens=0, counter="")
    return changed, kinds
