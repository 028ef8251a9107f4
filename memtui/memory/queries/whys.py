"""Whys: what a score is made of, term by term and part by part."""

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.model.nodes import TocLevel
from memtui.search import scoring
from memtui.search.scoring import Part, Said, Unit


@dataclass(frozen=True, slots=True)
class WhyPart:
    """A term in one part of what was found."""

    part: Part
    count: int
    """How often it stands there."""
    weight: float
    """What that weighs, by the part and by how long its text is."""


@dataclass(frozen=True, slots=True)
class WhyTerm:
    """A term of the query, and what it adds."""

    term: str
    idf: float
    """How rare it is."""
    form: str = ""
    """The form of it that stands there and counts; "" where it does not."""
    factor: float = 0.0
    """What that form is worth against the term as it was typed."""
    parts: tuple[WhyPart, ...] = ()
    fit: float = 0.0
    """What it is worth there, once what its parts weigh is saturated: 0 to 1."""
    contribution: float = 0.0
    """What it adds to the score."""


@dataclass(frozen=True, slots=True)
class Why:
    """What a score is made of.

    A term contributes ``idf * factor * fit / bound``, times share, level and recency.
    """

    target_id: str
    terms: tuple[WhyTerm, ...]
    bound: float
    """What the terms could at most add up to: all of them, each all there is."""
    held: int
    """How many of the terms are there."""
    level: TocLevel
    prior: float
    """What its level is worth."""
    recency: float = 1.0
    """What its age leaves; 1 where recent things do not come first."""

    @property
    def share(self) -> float:
        """The share of the terms that are there."""
        return self.held / len(self.terms) if self.terms else 0.0

    @property
    def score(self) -> float:
        """What all contributions add up to."""
        return sum(term.contribution for term in self.terms)


def why(
    target_id: str,
    units: Sequence[Unit],
    said: Sequence[Said],
    level: TocLevel,
    recency: float = 1.0,
) -> Why:
    """Take a score apart.

    Args:
        target_id: What was found.
        units: The query's terms.
        said: What stands in it.
        level: Its level.
        recency: What its age leaves of the score.
    """
    prior, weights = scoring.PRIORS[level], scoring.weights(said)
    fits = {term: scoring.saturated(weight) for term, weight in weights.items()}
    bound = sum(unit.idf for unit in units)
    held = sum(unit.fit(fits) > 0 for unit in units)
    scale = prior * recency * held / len(units) / bound if units else 0.0
    told = tuple(_term(unit, said, fits, scale) for unit in units)
    return Why(target_id, told, bound, held, level, prior, recency)


def _term(
    unit: Unit, said: Sequence[Said], fits: dict[str, float], scale: float
) -> WhyTerm:
    best = unit.best(fits)
    if best is None:
        return WhyTerm(unit.term, unit.idf)
    fit = fits[best.term]
    return WhyTerm(
        unit.term,
        unit.idf,
        best.term,
        best.factor,
        tuple(_parts(best.term, said)),
        fit,
        unit.idf * best.factor * fit * scale,
    )


def _parts(term: str, said: Sequence[Said]) -> list[WhyPart]:
    counts: dict[Part, int] = {}
    weights: dict[Part, float] = {}
    for one in said:
        found = scoring.count(one).get(term, 0)
        if found:
            part = one[0]
            counts[part] = counts.get(part, 0) + found
            weights[part] = weights.get(part, 0.0) + scoring.weights([one])[term]
    return [WhyPart(part, counts[part], weights[part]) for part in counts]
