"""A summary: what a summariser makes of events, before its claims are checked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One bullet as a summariser writes it.

    ``refs`` are places in what the summariser was given: of events for a segment, of
    the children's bullets (all of them in a row) for a roll-up. They are a hint; what
    a bullet rests on is decided by its wording.
    """

    text: str
    refs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A title, a few claims and the words to find them by (seed 0)."""

    title: str
    bullets: tuple[Claim, ...]
    keywords: tuple[str, ...]
