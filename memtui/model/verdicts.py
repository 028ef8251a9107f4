"""Verdicts: what an audit finds of a bullet, with all that it follows from.

"Supported" means wording found in the source, never truth.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

HASH_BYTES = 16
"""How long the hash of a quoted text is, in bytes."""

WEAK_SHARE = 0.35
"""Below this share of its weighted wording a bullet is unsupported."""

SUPPORTED_SHARE = 0.60
"""From this share on it is supported, if nothing speaks against it."""


class Support(StrEnum):
    """How much of a bullet's wording its source holds."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class VerdictFeatures:
    """What a verdict follows from, kept so that its limits can be set anew."""

    covered: float = 0.0
    """The share of the bullet's weighted wording that the passage holds: 0 to 1."""
    terms: int = 0
    """How many terms the bullet has."""
    hard: tuple[str, ...] = ()
    """The bullet's names and numbers."""
    missing: tuple[str, ...] = ()
    """Those of them that the passage lacks."""
    negation_differs: bool = False
    opposites: tuple[tuple[str, str], ...] = ()
    """Words of the bullet, each with the opposite that the passage says instead."""

    @property
    def is_contradicted(self) -> bool:
        """Whether something in the wording speaks against the bullet."""
        return bool(self.missing or self.negation_differs or self.opposites)

    @property
    def support(self) -> Support:
        """The verdict they give."""
        if self.covered < WEAK_SHARE:
            return Support.UNSUPPORTED
        if self.is_contradicted or self.covered < SUPPORTED_SHARE:
            return Support.WEAK
        return Support.SUPPORTED


@dataclass(frozen=True, slots=True)
class SourceQuote:
    """The stretch of the source that a bullet rests on."""

    index: int
    """Which of the texts it stands in."""
    start: int
    end: int
    """Offsets of characters in that text."""
    text_hash: str
    """BLAKE2b of the quoted text, which shows later that it still says the same."""


@dataclass(frozen=True, slots=True)
class EventQuote:
    """The same of an event, wherever it is met."""

    event_id: str
    start: int
    end: int
    text_hash: str

    def matches(self, text: str) -> bool:
        """Whether a text, the event's, still says there what was quoted of it."""
        return hash_quote(text[self.start : self.end]) == self.text_hash


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the audit found of one bullet."""

    support: Support
    features: VerdictFeatures = VerdictFeatures()
    matched: tuple[str, ...] = ()
    """The bullet's terms that the source holds, for ``words.spans`` to mark."""
    quotes: tuple[SourceQuote, ...] = ()
    """The closest wording there is: one passage, or one for each clause or deed; none
    when no word of the bullet is said."""
    spans: tuple[EventQuote, ...] = ()
    """The quoted stretches of the events themselves, where these are known."""
    is_repaired: bool = False
    """Whether another text supports it better than those it cites."""


SUPPORTED = Verdict(Support.SUPPORTED)
"""The verdict on what is supported, and nothing more is known."""

UNSUPPORTED = Verdict(Support.UNSUPPORTED)
"""The verdict on what nobody has looked for yet."""


def hash_quote(quoted: str) -> str:
    """The hash to keep of a quoted text."""
    raw = quoted.encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=HASH_BYTES).hexdigest()
