"""Score how surprising a segment is, compared with the sessions before it.

The terms of a segment are weighted like keywords and by how few earlier sessions
contain them. Terms missing from the most similar earlier session are surprising; terms
that no earlier session contains are more so. 0 is expected, 0.3 a small step, 0.7 a
new subject, 1.0 unlike anything before.

The store indexes sessions by term. A segment is compared by its forty terms among the
sessions that started earlier, so the cost does not depend on the length of the history;
for very common terms the newest sessions and an estimated count suffice. A session
imported late changes what later ones are compared with; these keep their score until
they are summarized again.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping

from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency

TERMS_PER_SEGMENT = 40
"""Number of highest-weighted terms by which a segment is compared."""

FEW_TERMS = 12
"""A segment of fewer terms has a proportionally lower score."""

NEW_TERMS_WEIGHT = 0.3
"""The weight of terms that are new, against terms the most similar session lacks."""

SHARPNESS = 1.6
"""The exponent that gives work like the day before 0.3, and a new subject in a known
project 0.7."""

MAX_SESSIONS_PER_TERM = 100
"""The most sessions containing a term that need to be known individually."""


def surprise_terms(word_weights: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a segment by which it is compared, with their weights.

    Args:
        word_weights: The weights of its words by stem, from ``keywords.weigh_words``.
    """
    weights: dict[str, float] = defaultdict(float)
    for root, weight in word_weights.items():
        # A keyword in a script without spaces may be a clause, which rarely recurs.
        parts = [root] if root.isascii() else analyzer.query_terms(root)
        for part in parts:
            weights[part] += weight / len(parts)
    best = sorted(weights, key=lambda term: (-weights[term], term))
    return {
        term: weights[term] for term in best[:TERMS_PER_SEGMENT] if weights[term] > 0
    }


def surprise_score(
    term_weights: Mapping[str, float],
    holders: Mapping[str, Collection[int]],
    sessions: int,
    known_counts: Mapping[str, int] | None = None,
) -> float:
    """Return how surprising a segment is: 0 to 1.

    Args:
        term_weights: The segment's terms, from ``surprise_terms``.
        holders: For each term the numbers of the earlier sessions that contain it; a
            term without any may be left out.
        sessions: Number of earlier sessions.
        known_counts: Number of earlier sessions with a term of which ``holders`` has
            only some.
    """
    earlier = max(sessions, 1)
    counts = {term: len(holders.get(term, ())) for term in term_weights}
    counts |= dict(known_counts or {})
    weights = {
        term: weight
        * inverse_document_frequency(earlier, min(counts[term] or 1, earlier))
        for term, weight in term_weights.items()
    }
    total = sum(weights.values())
    if not total:
        return 0.0
    shared: dict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        for session in holders.get(term, ()):
            shared[session] += weight
    difference = 1.0 - max(shared.values(), default=0.0) / total
    new = sum(w for term, w in weights.items() if not holders.get(term)) / total
    novelty = (1.0 - NEW_TERMS_WEIGHT) * difference + NEW_TERMS_WEIGHT * new
    completeness = min(1.0, len(term_weights) / FEW_TERMS)
    return round(math.pow(max(novelty, 0.0), SHARPNESS) * completeness, 3)
