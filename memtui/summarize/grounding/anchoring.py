"""Anchor bullets in events: create the grips of a segment's summary.

A bullet is anchored at the events that contain most of its words. Among events that fit
about as well, those it cites are preferred, then those near the anchors of adjacent
bullets, since neighbours in a summary come from neighbouring turns. A bullet composed
of parts is anchored where its parts are.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.model.citations import Grip, grip_id
from memtui.model.events import Event
from memtui.model.nodes import DraftBullet
from memtui.model.sessions import counted_text
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency, length_norms
from memtui.text.prose import best_excerpt

EXTEND_SHARE = 0.8
"""Adjacent events with at least this share of the best score join the anchor."""

MIN_COVERAGE = 0.3
"""A bullet with a smaller share of its weighted terms found has no anchor."""

MIN_PART_COVERAGE = 0.5
"""The same for a part of a bullet."""

MAX_ANCHORS = 3
"""The maximum number of anchors of a bullet composed of parts."""

CITED_SHARE = 0.8
"""A cited event with at least this share of the best score is preferred."""

CANDIDATE_SHARE = 0.7
"""Adjacent bullets decide between events with at least this share of the best score."""

NEIGHBOUR_WEIGHTS = (1.0, 0.5)
"""The weights of the bullets one and two places away."""

NEIGHBOUR_EVENTS = 6
"""The most events between a bullet's anchor and those of adjacent bullets."""


TEXT_B, WINDOW_B = 0.4, 0.2
"""BM25's b for a text and for a window: how much long ones are discounted."""

WINDOW_WEIGHTS = (1.0, 0.22, 0.05)
"""The weights of a text in the window around it, and of those one and two away."""


@dataclass(frozen=True, slots=True)
class _TermScores:
    """The scores of one term, computed once for all phrases."""

    rarity: float
    """Its inverse document frequency."""
    alone: dict[int, float]
    """Its score in each text that contains it."""
    near: dict[int, float]
    """Its score in each text that contains it or is near one that does."""


class NeighbourIndex:
    """A BM25 index of consecutive texts that also scores the texts around each."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._terms: dict[str, _TermScores] = {}
        lengths = []
        for at, text in enumerate(texts):
            found = analyzer.terms(text)
            lengths.append(len(found))
            for term, count in Counter(found).items():
                self._counts[term][at] = count
        near = _window_counts(dict(enumerate(lengths)), len(lengths))
        self._alone = length_norms(lengths, TEXT_B)
        self._near = length_norms(list(near.values()), WINDOW_B)

    def _term(self, term: str) -> _TermScores:
        if term not in self._terms:
            self._terms[term] = self._weigh(term)
        return self._terms[term]

    def _weigh(self, term: str) -> _TermScores:
        matched = self._counts.get(term, {})
        weight = inverse_document_frequency(self._size, len(matched))
        around = _window_counts(matched, self._size)
        return _TermScores(
            weight,
            {at: weight * n / (n + self._alone[at]) for at, n in matched.items()},
            {at: weight * n / (n + self._near[at]) for at, n in around.items()},
        )

    def term_weights(self, phrase: str) -> dict[str, float]:
        """Return the query terms of a phrase with their weights."""
        return {term: self._term(term).rarity for term in analyzer.query_terms(phrase)}

    def total_weight(self, phrase: str) -> float:
        """Return the sum of a phrase's term weights."""
        return sum(self.term_weights(phrase).values())

    def scores(self, phrase: str) -> dict[int, float]:
        """Return the texts that contain a term of the phrase, with scores from 0 to
        2."""
        alone: dict[int, float] = {}
        near: dict[int, float] = {}
        for term in dict.fromkeys(analyzer.terms(phrase)):
            if term not in self._counts:
                continue
            gains = self._term(term)
            for at, gain in gains.alone.items():
                alone[at] = alone.get(at, 0.0) + gain
            for at, gain in gains.near.items():
                near[at] = near.get(at, 0.0) + gain
        if not alone:
            return {}
        best_alone, best_near = max(alone.values()), max(near.values())
        return {
            at: score / best_alone + near[at] / best_near for at, score in alone.items()
        }

    def terms_in(self, terms: Iterable[str], start: int, end: int) -> frozenset[str]:
        """Return the terms that the texts from start to end contain."""
        places = range(start, end + 1)
        return frozenset(
            term
            for term in terms
            if (holding := self._counts.get(term))
            and any(at in holding for at in places)
        )

    def coverage(self, phrase: str, start: int, end: int) -> float:
        """Return the share of the phrase's weight that the texts contain: 0 to 1."""
        weights = self.term_weights(phrase)
        matched = sum(weights[term] for term in self.terms_in(weights, start, end))
        return matched / (sum(weights.values()) or 1.0)


def _window_counts(counts: Mapping[int, int], size: int) -> dict[int, float]:
    """Return the counts in the window around each text."""
    around = {at: float(count) for at, count in counts.items()}
    for away, share in enumerate(WINDOW_WEIGHTS[1:], start=1):
        for at, count in counts.items():
            for place in (at - away, at + away):
                if 0 <= place < size:
                    around[place] = around.get(place, 0.0) + share * count
    return around


@dataclass(frozen=True, slots=True)
class Anchor:
    """The best event for a bullet or a part of one, and the range around it."""

    text: str
    best: int
    start: int
    end: int
    coverage: float
    """The share of the text's weight that the range contains: 0 to 1."""


def find_anchors(
    claims: Sequence[DraftBullet], index: NeighbourIndex
) -> list[tuple[Anchor, ...]]:
    """Find the anchors of a summary's bullets.

    Args:
        claims: The bullets in order; their ``refs`` are preferred among events that fit
            about as well.
        index: The texts of the events.

    Returns:
        The anchors of each bullet: none if too little of it is found, several if its
        parts are found in different places.
    """
    return [
        _find_bullet_anchors(text, claim.refs, nearest, index)
        for claim, text, nearest in zip(
            claims,
            map(_searched_text, claims),
            nearest_anchors(claims, index),
            strict=True,
        )
    ]


def nearest_anchors(
    claims: Sequence[DraftBullet], index: NeighbourIndex
) -> list[Anchor | None]:
    """Find the best anchor of each whole bullet, however little is found.

    Args:
        claims: The bullets in order.
        index: The texts of the events.

    Returns:
        None for a bullet none of whose words is in an event.
    """
    texts = [_searched_text(claim) for claim in claims]
    scores = [index.scores(text) for text in texts]
    return [
        _find_anchor(text, claim.refs, index, scores[at], _neighbour_scores(scores, at))
        for at, (text, claim) in enumerate(zip(texts, claims, strict=True))
    ]


_ACTION_VERBS = re.compile(
    r"(^|; )(?:wrote|edited|ran|read|searched for|committed) (?=\S)", re.IGNORECASE
)
"""The verb of an action line, which does not occur in the text of calls."""


def _searched_text(claim: DraftBullet) -> str:
    return _ACTION_VERBS.sub(r"\1", claim.text)


def _neighbour_scores(
    scores: Sequence[Mapping[int, float]], at: int
) -> list[tuple[float, Mapping[int, float]]]:
    """Return the scores of adjacent bullets with their weights."""
    return [
        (share, scores[place])
        for away, share in enumerate(NEIGHBOUR_WEIGHTS, start=1)
        for place in (at - away, at + away)
        if 0 <= place < len(scores)
    ]


def _find_bullet_anchors(
    text: str, refs: Sequence[int], nearest: Anchor | None, index: NeighbourIndex
) -> tuple[Anchor, ...]:
    if nearest is not None and nearest.coverage < MIN_COVERAGE:
        nearest = None
    if ";" not in text and nearest is not None:
        return (nearest,)
    found: dict[int, Anchor] = {}
    parts = _split_bullet(text)
    for part in parts if len(parts) > 1 else ():
        anchor = _find_anchor(part, refs, index, index.scores(part))
        if anchor is not None and anchor.coverage >= MIN_PART_COVERAGE:
            found.setdefault(anchor.start, anchor)
    if nearest is not None and len(found) < 2:
        return (nearest,)
    weights = {
        start: index.total_weight(anchor.text) for start, anchor in found.items()
    }
    if sum(weights.values()) < MIN_COVERAGE * index.total_weight(text):
        return ()
    best = sorted(weights, key=lambda start: -weights[start])[:MAX_ANCHORS]
    return tuple(anchor for start, anchor in found.items() if start in best)


def _split_bullet(bullet: str) -> list[str]:
    """Return the parts of a composed bullet: "Edited a.py, b.py; ran pytest"."""
    return [
        name.strip()
        for part in bullet.split("; ")
        for name in part.split(", ")
        if name.strip()
    ]


def _find_anchor(
    text: str,
    refs: Sequence[int],
    index: NeighbourIndex,
    scores: Mapping[int, float],
    around: Sequence[tuple[float, Mapping[int, float]]] = (),
) -> Anchor | None:
    if not scores:
        return None
    most = max(scores.values())
    cited = {at for at in refs if scores.get(at, 0.0) >= CITED_SHARE * most}
    fitting = {
        at: round(scores[at] + (0.0 if cited else _neighbour_score(around, at)), 6)
        for at in cited or scores
        if scores[at] >= CANDIDATE_SHARE * most
    }
    best = max(fitting, key=lambda at: (fitting[at], -at))
    limit = EXTEND_SHARE * scores[best]
    start = end = best
    while scores.get(start - 1, 0.0) >= limit:
        start -= 1
    while scores.get(end + 1, 0.0) >= limit:
        end += 1
    return Anchor(text, best, start, end, index.coverage(text, start, end))


def _neighbour_score(
    around: Sequence[tuple[float, Mapping[int, float]]], at: int
) -> float:
    """Return how well adjacent bullets fit near an event."""
    reach = range(at - NEIGHBOUR_EVENTS, at + NEIGHBOUR_EVENTS + 1)
    return sum(
        share * max(scores.get(place, 0.0) for place in reach)
        for share, scores in around
    )


SOURCE = "segment_summarizer"
"""The process that creates grips, recorded with each."""


def create_grip(text: str, event: Event, excerpt: str, node_id: str) -> Grip:
    return Grip(
        grip_id=grip_id(node_id, text, event),
        excerpt=excerpt,
        event_id_start=event.event_id,
        event_id_end=event.event_id,
        timestamp=event.timestamp,
        source=SOURCE,
        toc_node_id=node_id,
    )


def create_grips(
    claims: Sequence[DraftBullet], events: Sequence[Event], node_id: str
) -> list[tuple[Grip, ...]]:
    """Create the grips of a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are preferred among events that fit about as
            well.
        events: The events of the segment in order, without the overlap.
        node_id: The node the grips belong to.

    Returns:
        The grips of each bullet: none for an unsupported one, several if its parts are
        found in different places.
    """
    index = NeighbourIndex([counted_text(event) for event in events])
    return [
        tuple(
            replace(
                create_grip(
                    claim.text,
                    events[place.start],
                    best_excerpt(
                        counted_text(events[place.best]), index.term_weights(place.text)
                    ),
                    node_id,
                ),
                event_id_end=events[place.end].event_id,
                timestamp=events[place.best].timestamp,
            )
            for place in found
        )
        for claim, found in zip(claims, find_anchors(claims, index), strict=True)
    ]
