"""Verdicts: how well the source supports a bullet, and why.

"Supported" means wording found in the source, never truth.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

QUOTE_HASH_BYTES = 16

WEAK_SHARE = 0.35
"""Below this share of its weighted wording a bullet is unsupported."""

SUPPORTED_SHARE = 0.60
"""From this share on a bullet is supported, unless something contradicts it."""


class Support(StrEnum):
    """The degree to which the source supports a bullet."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


_BY_SEVERITY = tuple(Support)


def worst(found: Collection[Support]) -> Support:
    return max(found, key=_BY_SEVERITY.index)


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
    negation_differs: bool = False
    opposites: tuple[tuple[str, str], ...] = ()
    """Words of the bullet, each with the opposite word of the passage."""
    conflicts: tuple[str, ...] = ()
    """Other contradictions in words: "planned, not done"."""

    @property
    def has_mismatch(self) -> bool:
        """True if a name or number of the bullet is missing in the source, or anything
        there contradicts it."""
        return bool(
            self.missing or self.negation_differs or self.opposites or self.conflicts
        )

    @property
    def support(self) -> Support:
        if self.covered < WEAK_SHARE:
            return Support.UNSUPPORTED
        if self.has_mismatch or self.covered < SUPPORTED_SHARE:
            return Support.WEAK
        return Support.SUPPORTED


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
    objection: str = ""
    """Why the bullet of a model is withheld although the source may support it: one of
    ``acceptance.Objection``."""
    contradiction: str = ""
    """A bullet of the same node that contradicts it, found when the node is read."""


def is_as_good(one: Verdict, other: Verdict) -> bool:
    """Return whether a verdict is at least as good as another."""
    return _BY_SEVERITY.index(one.support) <= _BY_SEVERITY.index(other.support)


SUPPORTED = Verdict(Support.SUPPORTED)
"""A supported bullet without details."""

UNCHECKED = Verdict(Support.UNSUPPORTED)
"""A bullet that was not checked yet; until then it counts as unsupported."""


def hash_quote(quoted: str) -> str:
    raw = quoted.encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=QUOTE_HASH_BYTES).hexdigest()
