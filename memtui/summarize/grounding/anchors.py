"""Anchor bullets in events.

A bullet is anchored at the events that contain most of its words. Among events that fit
about as well, those it cites are preferred, then those near the anchors of adjacent
bullets, since neighbours in a summary come from neighbouring turns.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memtui.model.nodes import DraftBullet
from memtui.summarize.grounding.passages import Evidence
from memtui.text import analyzer
from memtui.text.analyzer import BM25_K1, inverse_document_frequency

EXTEND_SHARE = 0.8
"""Adjacent events with at least this share of the best score join the anchor."""

MIN_COVERAGE = 0.3
"""A bullet with a smaller share of its weighted terms found has no anchor."""

CITED_SHARE = 0.8
"""A cited event with at least this share of the best score is preferred."""

CANDIDATE_SHARE = 0.7
"""Adjacent bullets decide between events with at least this share of the best score."""

NEIGHBOUR_WEIGHTS = (1.0, 0.5)
"""The weights of the bullets one and two places away."""

NEIGHBOUR_EVENTS = 6
"""The most events between a bullet's anchor and those of adjacent bullets."""

TEXT_B = 0.4
"""BM25's b: how much long texts are discounted."""

Scores = Mapping[int, float]
"""Events by index, each with its score."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The best event for a bullet, and the range around it, as indexes."""

    best: int
    start: int
    end: int
    coverage: float
    """The share of the bullet's weight that the range contains: 0 to 1."""


def length_norms(lengths: Sequence[float], b: float) -> list[float]:
    """Return what is added to a term's count in the denominator, for each text.

    The higher b is, from 0 to 1, the more long texts are discounted.
    """
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return [BM25_K1 * (1 - b + b * length / mean) for length in lengths]


class EventIndex:
    """A BM25 index of events."""

    def __init__(
        self, term_counts: Mapping[str, Mapping[int, float]], lengths: Sequence[float]
    ) -> None:
        """Rank texts.

        Args:
            term_counts: For each term the texts that contain it, and how often.
            lengths: The number of terms of each text.
        """
        self._counts = term_counts
        self._size = len(lengths)
        self._norms = length_norms(lengths, TEXT_B)

    @classmethod
    def of(cls, evidence: Evidence) -> "EventIndex":
        """Index events; the words of a further line count at its event."""
        size = len(evidence.events)
        lengths: list[float] = [0.0] * size
        counts: dict[str, dict[int, float]] = {}
        places = [evidence.event_place(at) for at in range(len(evidence.texts))]
        for place, length in zip(places, evidence.text_lengths, strict=True):
            if place is not None:
                lengths[place] += length
        for term, by_text in evidence.term_counts.items():
            counts[term] = {}
            for text_index, count in by_text.items():
                place = places[text_index]
                if place is not None:
                    counts[term][place] = counts[term].get(place, 0.0) + count
        return cls(counts, lengths)

    def _rarity(self, term: str) -> float:
        return inverse_document_frequency(self._size, len(self._counts.get(term, ())))

    def scores(self, phrase: str) -> Scores:
        """Return the texts that contain a term of the phrase, with scores from 0 to
        1."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(analyzer.terms(phrase)):
            rarity = self._rarity(term)
            for at, n in self._counts.get(term, {}).items():
                gain = rarity * n / (n + self._norms[at])
                scores[at] = scores.get(at, 0.0) + gain
        best = max(scores.values(), default=1.0)
        return {at: score / best for at, score in scores.items()}

    def coverage(self, phrase: str, places: Collection[int]) -> float:
        """Return the share of the phrase's weight that some texts contain: 0 to 1."""
        weights = {term: self._rarity(term) for term in analyzer.query_terms(phrase)}
        matched = (
            weight
            for term, weight in weights.items()
            if any(at in self._counts.get(term, {}) for at in places)
        )
        return sum(matched) / (sum(weights.values()) or 1.0)


def nearest_anchors(
    drafts: Sequence[DraftBullet], evidence: Evidence
) -> list[Anchor | None]:
    """Find the best anchor of each bullet, however little is found.

    Args:
        drafts: The bullets of a summary in order; the events they cite are preferred
            among those that fit about as well.
        evidence: The events.

    Returns:
        None for a bullet none of whose words is in an event.
    """
    index = EventIndex.of(evidence)
    scores = [index.scores(draft.text) for draft in drafts]
    anchors = []
    for at, draft in enumerate(drafts):
        around = [
            (share, scores[place])
            for away, share in enumerate(NEIGHBOUR_WEIGHTS, start=1)
            for place in (at - away, at + away)
            if 0 <= place < len(scores)
        ]
        places = evidence.places
        cited = [places[name] for name in draft.event_ids if name in places]
        anchors.append(_find_anchor(draft.text, cited, index, scores[at], around))
    return anchors


def _find_anchor(
    text: str,
    cited: Sequence[int],
    index: EventIndex,
    scores: Scores,
    around: Sequence[tuple[float, Scores]],
) -> Anchor | None:
    if not scores:
        return None
    most = max(scores.values())
    fitting = [at for at in cited if scores.get(at, 0.0) >= CITED_SHARE * most]
    totals = {at: scores[at] for at in fitting} or {
        at: round(score + _neighbour_score(around, at), 6)
        for at, score in scores.items()
        if score >= CANDIDATE_SHARE * most
    }
    best = max(totals, key=lambda at: (totals[at], -at))
    limit = EXTEND_SHARE * scores[best]
    start = end = best
    while scores.get(start - 1, 0.0) >= limit:
        start -= 1
    while scores.get(end + 1, 0.0) >= limit:
        end += 1
    return Anchor(best, start, end, index.coverage(text, range(start, end + 1)))


def _neighbour_score(around: Sequence[tuple[float, Scores]], at: int) -> float:
    """Return how well adjacent bullets fit near an event."""
    reach = range(at - NEIGHBOUR_EVENTS, at + NEIGHBOUR_EVENTS + 1)
    return sum(
        share * max(scores.get(place, 0.0) for place in reach)
        for share, scores in around
    )
