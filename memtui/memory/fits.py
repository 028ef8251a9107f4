"""How well the texts of a run fit a phrase, each with its near neighbourhood.

BM25 (Robertson & Zaragoza, 2009) on single texts and on the soft windows around them,
each divided by its best, added. Prepared once for a run, then asked for each phrase.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import words

SATURATION = 1.2
"""BM25's k1: how soon saying a term again stops to count."""

ALONE_LENGTH, NEAR_LENGTH = 0.4, 0.2
"""BM25's b, for a text and for a window: how much a long one has to hold more."""

NEARNESS = (1.0, 0.22, 0.05)
"""What a text counts in the window around it, and around one that is so many away."""


@dataclass(frozen=True, slots=True)
class _Term:
    """What one term of a phrase gives: worked out once, asked for by many phrases."""

    rarity: float
    """How much it weighs: its idf among the texts, most when none holds it."""
    alone: dict[int, float]
    """What it adds to each text that holds it."""
    near: dict[int, float]
    """What it adds to each text that holds it or stands near one that does."""


class Fits:
    """The terms of a run of texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._held: dict[str, dict[int, int]] = defaultdict(dict)
        self._terms: dict[str, _Term] = {}
        lengths = []
        for at, text in enumerate(texts):
            found = words.terms(text)
            lengths.append(len(found))
            for term, count in Counter(found).items():
                self._held[term][at] = count
        near = _spread(dict(enumerate(lengths)), len(lengths))
        self._alone = damping(lengths, ALONE_LENGTH)
        self._near = damping(list(near.values()), NEAR_LENGTH)

    def _term(self, term: str) -> _Term:
        if term not in self._terms:
            self._terms[term] = self._weighed(term)
        return self._terms[term]

    def _weighed(self, term: str) -> _Term:
        held = self._held.get(term, {})
        weight = rarity(self._size, len(held))
        around = _spread(held, self._size)
        return _Term(
            weight,
            {at: weight * n / (n + self._alone[at]) for at, n in held.items()},
            {at: weight * n / (n + self._near[at]) for at, n in around.items()},
        )

    def weights(self, phrase: str) -> dict[str, float]:
        """The phrase's terms, each in its loosest form, and what they weigh."""
        return {term: self._term(term).rarity for term in words.needed(phrase)}

    def weight(self, phrase: str) -> float:
        """What all of a phrase's terms weigh."""
        return sum(self.weights(phrase).values())

    def scores(self, phrase: str) -> dict[int, float]:
        """The places that hold a term of the phrase, and how well they fit: 0 to 2."""
        alone: dict[int, float] = {}
        near: dict[int, float] = {}
        for term in dict.fromkeys(words.terms(phrase)):
            if term not in self._held:
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

    def held(self, terms: Iterable[str], start: int, end: int) -> frozenset[str]:
        """Those of some terms that one of the texts start to end holds."""
        places = range(start, end + 1)
        return frozenset(
            term
            for term in terms
            if (holding := self._held.get(term)) and any(at in holding for at in places)
        )

    def covered(self, phrase: str, start: int, end: int) -> float:
        """The share of the phrase's weight that the texts start to end hold: 0 to 1."""
        weights = self.weights(phrase)
        held = sum(weights[term] for term in self.held(weights, start, end))
        return held / (sum(weights.values()) or 1.0)


def rarity(texts: int, holding: int) -> float:
    """BM25's idf: what a term weighs that so many of the texts hold."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _spread(counts: Mapping[int, int], size: int) -> dict[int, float]:
    """What the window around each text holds of something."""
    around = {at: float(count) for at, count in counts.items()}
    for away, share in enumerate(NEARNESS[1:], start=1):
        for at, count in counts.items():
            for place in (at - away, at + away):
                if 0 <= place < size:
                    around[place] = around.get(place, 0.0) + share * count
    return around


def damping(lengths: Sequence[float], length_weight: float) -> list[float]:
    """What BM25 adds to each text's counts below the line: more for a longer text."""
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return [
        SATURATION * (1 - length_weight + length_weight * length / mean)
        for length in lengths
    ]
