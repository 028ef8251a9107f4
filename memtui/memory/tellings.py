"""How an event came to be known: each way it was told, and each name it was told by."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Telling:
    """Another id that an event was told under."""

    event_id: str
    route: str
    """The way it came: ``hook``, ``transcript``, ``jsonl``."""
    session_id: str = ""
    """The session it was told in, if that is another one: a copy."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How a memory keeps an event."""

    route: str
    """The way it came."""
    origin: bytes | None = None
    """The hash by which copies of it in other sessions are known."""
    told: tuple[Telling, ...] = ()
    """The other ids it was told under."""
