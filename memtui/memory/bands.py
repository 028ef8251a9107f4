"""Bands: what a score advises (seed 0, "Score Interpretation")."""

from enum import StrEnum

EXCELLENT_FROM = 0.8
"""From this score on, all of the query stands where it says what something is about:
in one title, or several times over."""

GOOD_FROM = 0.5
"""From this score on, all or nearly all of the query is there, if only in passing."""

PARTIAL_FROM = 0.3
"""From this score on, the better part of the query is there. Below, a word or two."""


class Band(StrEnum):
    """How far a hit can be trusted to be what was meant."""

    EXCELLENT = "excellent"
    GOOD = "good"
    PARTIAL = "partial"
    WEAK = "weak"

    @property
    def advice(self) -> str:
        """What to do with such a hit."""
        return _ADVICE[self]


_ADVICE = {
    Band.EXCELLENT: "Jump there.",
    Band.GOOD: "Jump there, and check it against what is around it.",
    Band.PARTIAL: "Look at several hits.",
    Band.WEAK: "Browse the contents instead.",
}


def of(score: float) -> Band:
    """The band a score lies in; a limit belongs to the band above it.

    Args:
        score: 0 to 1.
    """
    if score >= EXCELLENT_FROM:
        return Band.EXCELLENT
    if score >= GOOD_FROM:
        return Band.GOOD
    return Band.PARTIAL if score >= PARTIAL_FROM else Band.WEAK
