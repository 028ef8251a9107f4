"""Surprise: how little of a segment the sessions before it led one to expect.

A segment's terms are weighed like keywords, and by how few earlier sessions hold them.
What the one earlier session most like it does not hold is surprising, and what none of
them holds is more so (decisions §9). 0 is expected, 0.3 a minor gain, 0.7 a pivot, 1.0
breaks the picture.

What a store has to keep: for every session the terms of its segments (``terms``, forty
a segment) in a table indexed by term, and how many sessions there are. To weigh a
segment it looks up its own forty terms among the sessions that began earlier, so that
the work follows from the segment and not from the history; of a term that very many
sessions hold the newest ``COMMON`` will do, and about how many they are. Then the
segment's terms are added to those of its session. A session imported late changes what
the later ones were compared with: these keep their figure until they are summarised
again.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping

from memtui.text import analyzer
from memtui.text.bm25 import inverse_document_frequency

TERMS_PER_SEGMENT = 40
"""Number of highest-weighted terms by which a segment is compared."""

FEW = 12
"""A segment of fewer terms says too little to surprise, in proportion."""

FIRST_SEEN = 0.3
"""What terms count that nobody used before, against what the likest session lacks."""

SHARPNESS = 1.6
"""The power that puts a day's work like the day before at 0.3, and a new subject in a
known project at 0.7."""

MAX_SESSIONS_PER_TERM = 100
"""Of how many sessions that hold a term it is enough to know which they are."""


def surprise_terms(word_weights: Mapping[str, float]) -> dict[str, float]:
    """The weightiest terms of a segment and what they weigh in it.

    Args:
        word_weights: What its words weigh by their roots, as ``keywords.weigh`` tells.
    """
    weights: dict[str, float] = defaultdict(float)
    for root, weight in word_weights.items():
        # Of a script without blanks a keyword may be a clause, which never comes again.
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
    counts_of_common: Mapping[str, int] | None = None,
) -> float:
    """How surprising a segment is: 0 to 1.

    Args:
        term_weights: The segment's terms, as ``terms`` gives them.
        holders: For each of these the numbers of the earlier sessions that hold it; a
            term without any may be left out.
        sessions: How many earlier sessions there are.
        counts_of_common: How many earlier sessions hold a term of which not all are given.
    """
    earlier = max(sessions, 1)
    counts = {term: len(holders.get(term, ())) for term in term_weights} | dict(
        counts_of_common or {}
    )
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
    first_seen = sum(w for term, w in weights.items() if not holders.get(term)) / total
    novel = (1.0 - FIRST_SEEN) * difference + FIRST_SEEN * first_seen
    completeness = min(1.0, len(term_weights) / FEW)
    return round(math.pow(max(novel, 0.0), SHARPNESS) * completeness, 3)
