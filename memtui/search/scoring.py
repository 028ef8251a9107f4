"""Scores: how well a document answers a query, from 0 to 1.

BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple
weighted fields", 2004): a word's occurrences are weighed by the part they stand in and
by how long that part is, and only then saturated. What a word is worth in a document
(its fit) depends on that document alone, so that an index can keep it.

The score (decisions §8) is what the document's fits add up to, each times its term's
rarity, over what they could at most add up to, times the share of the query's terms
it holds. A fit stays below 1, and so does every score.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memtui.model.nodes import TocLevel
from memtui.text import analyzer


class NodeField(StrEnum):
    """A part of what is found."""

    TITLE = "title"
    HEADLINE = "headline"
    KEYWORDS = "keywords"
    BULLETS = "bullets"
    EXCERPT = "excerpt"


FieldText = tuple[NodeField, str]
"""A text and the part it is of; a part may have several."""

BOOSTS = {
    NodeField.TITLE: 4.0,
    NodeField.HEADLINE: 4.0,
    NodeField.KEYWORDS: 2.0,
    NodeField.BULLETS: 1.0,
    NodeField.EXCERPT: 2.0,
}
"""What an occurrence weighs in each part, against one in a bullet."""

USUAL = {NodeField.BULLETS: 20, NodeField.EXCERPT: 25}
"""How long a text of a part usually is, in terms; the others' length says nothing."""

B = 0.5
"""How much a text's length weighs: 0 not at all, 1 as much as its terms."""

K1 = 0.6
"""BM25's saturation. Small, since what is written once in a title is said: it is worth
0.87 there, 0.62 in a bullet."""

PRIORS = {
    TocLevel.SEGMENT: 1.0,
    TocLevel.DAY: 0.99,
    TocLevel.WEEK: 0.98,
    TocLevel.MONTH: 0.97,
    TocLevel.YEAR: 0.96,
}
"""What a fit is worth at each level: among equals the narrower node comes first."""

STEMMED = 0.95
"""What another form of a word is worth, or its parts, against the word as it stands."""

COMPLETED = 0.8
"""What a word is worth that goes on where the one typed is not finished."""

MAX_COMPLETIONS = 8
"""How many completions of the word being typed are looked up."""

HALF_LIFE_DAYS = 30.0
"""After so many days half of what recency adds is gone."""

MIN_RECENCY = 0.5
"""What of a score no age takes away, where recent things come first."""


@dataclass(frozen=True, slots=True)
class TermForm:
    """One way a term may stand in a document."""

    term: str
    factor: float
    """What it is worth against the best way."""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """One term of a query with all its forms: the best one in a document counts."""

    term: str
    forms: tuple[TermForm, ...]
    idf: float
    """How rare it is: what it weighs among the query's terms."""

    def weight_in(self, fits: Mapping[str, float]) -> float:
        """Return what its best form is worth in a document."""
        factors = ((form.factor, fits.get(form.term, 0.0)) for form in self.forms)
        return max((factor * fit for factor, fit in factors), default=0.0)


def term_weights(said: Iterable[FieldText], level: TocLevel) -> dict[str, float]:
    """Return what each term of a document is worth in it: 0 to less than 1."""
    weights: dict[str, float] = {}
    for part, text in said:
        counts = Counter(analyzer.terms(text))
        boost = BOOSTS[part]
        if usual := USUAL.get(part):
            boost /= 1 - B + B * counts.total() / usual
        for term, times in counts.items():
            weights[term] = weights.get(term, 0.0) + boost * times
    prior = PRIORS[level]
    return {term: prior * w / (w + K1) for term, w in weights.items()}


def idf(holding: int, documents: int) -> float:
    """How rare a term is that so many of all documents hold."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def score_node(units: Sequence[WeightedTerm], held: Mapping[str, float]) -> float:
    """How well a document answers a query.

    Args:
        units: The query's terms.
        held: What each term of the document is worth in it, as ``fits`` says.
    """
    bound = sum(unit.idf for unit in units)
    found = [(unit.idf, unit.weight_in(held)) for unit in units]
    share = sum(fit > 0 for _, fit in found) / len(units) if units else 0.0
    return share * sum(rarity * fit for rarity, fit in found) / bound if share else 0.0


def recency(age_days: float) -> float:
    """What a score is multiplied by where recent things come first: 1 to LASTING.

    Args:
        age_days: How much older than the newest document it is.
    """
    faded: float = 0.5 ** (max(age_days, 0.0) / HALF_LIFE_DAYS)
    return MIN_RECENCY + (1 - MIN_RECENCY) * faded
