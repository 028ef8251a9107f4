"""Verdicts: how well the source supports a bullet, and why.

"Supported" means wording found in the source, never truth.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

QUOTE_HASH_BYTES = 16

SUPPORTED_SHARE = 0.70
"""From this share of its weighted wording on a bullet is supported, unless a name or a
number is missing or something contradicts it."""


class Support(StrEnum):
    """The degree to which the source supports a bullet."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


_BY_SEVERITY = tuple(Support)


def worst(verdicts: Collection[Support]) -> Support:
    return max(verdicts, key=_BY_SEVERITY.index)


@dataclass(frozen=True, slots=True)
class VerdictFeatures:
    """The measurements behind a verdict, stored so that its limits can be changed."""

    covered: float = 0.0
    """The share of the bullet's weighted terms that the passage has: 0 to 1."""
    terms: int = 0
    names_and_numbers: tuple[str, ...] = ()
    """The bullet's names and numbers."""
    missing: tuple[str, ...] = ()
    """Those of them that are not in the passage."""
    conflicts: tuple[str, ...] = ()
    """Contradictions in words: "planned, not done"."""


class Objection(StrEnum):
    """An exact reason to withhold the line of a model."""

    NONE = ""
    EMPTY = "says nothing"
    REPEATED = "said twice"
    NUMBER = "a number that is nowhere in the session"
    NAME = "a name that is nowhere in the session"
    AGAINST_FACTS = "against the facts: not committed, pushed or merged"
    NO_SOURCE = "no source"


@dataclass(frozen=True, slots=True)
class SourceQuote:
    """A quote from one of several texts that supports a bullet."""

    index: int
    start: int
    end: int
    """Character offsets in that text."""
    text_hash: str
    """The hash of the quoted text, to detect changes."""


@dataclass(frozen=True, slots=True)
class EventQuote:
    """A quote from an event."""

    event_id: str
    start: int
    end: int
    text_hash: str

    def matches(self, text: str) -> bool:
        """Return whether the event's text still has this quote."""
        return hash_quote(text[self.start : self.end]) == self.text_hash


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one bullet."""

    support: Support
    features: VerdictFeatures = VerdictFeatures()
    matched: tuple[str, ...] = ()
    """The bullet's terms that the source has, to be highlighted."""
    quotes: tuple[SourceQuote, ...] = ()
    """The best passage, or one for each clause or action; empty if no word of the
    bullet is found."""
    spans: tuple[EventQuote, ...] = ()
    """The same quotes in the events, if these are known."""
    is_repaired: bool = False
    """True if the bullet is linked to the text that supports it best, not to the one
    that the model cited."""
    is_by_model: bool = False
    """True if a model worded the bullet; else it was taken from the source."""
    objection: Objection = Objection.NONE
    """The reason for which a line of a model is withheld."""


SUPPORTED = Verdict(Support.SUPPORTED)
"""A supported bullet without details."""

UNCHECKED = Verdict(Support.UNSUPPORTED)
"""A bullet that was not checked yet; until then it counts as unsupported."""


def hash_quote(quoted: str) -> str:
    raw = quoted.encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=QUOTE_HASH_BYTES).hexdigest()
