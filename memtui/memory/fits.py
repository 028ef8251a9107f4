"""How well the texts of a run fit a phrase, each with its near neighbourhood.

BM25 (Robertson & Zaragoza, 2009) on single texts and on windows of five around them,
each divided by its best, added. Prepared once for a run, then asked for each phrase.
"""

import math
from collections import Counter
from collections.abc import Sequence

from memtui.memory import words

SATURATION = 1.2
"""BM25's k1: how soon saying a term again stops to count."""

LENGTH_WEIGHT = 0.75
"""BM25's b: how much a long text has to hold more to count as much."""

RADIUS = 2
"""How many texts on either side belong to the neighbourhood."""


class Fits:
    """The terms of a run of texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []
        for at, text in enumerate(texts):
            counts = Counter(words.terms(text))
            self._lengths.append(counts.total())
            for term, count in counts.items():
                self._postings.setdefault(term, []).append((at, count))
        self._near = [
            sum(self._lengths[max(0, at - RADIUS) : at + RADIUS + 1])
            for at in range(len(texts))
        ]

    def rarity(self, term: str) -> float:
        """How much a term weighs: its idf among the texts, most when none holds it."""
        holding = len(self._postings.get(term, ()))
        return math.log(1 + (len(self._lengths) - holding + 0.5) / (holding + 0.5))

    def weights(self, phrase: str) -> dict[str, float]:
        """The phrase's terms, each in its loosest form, and what they weigh."""
        return {term: self.rarity(term) for term in words.needed(phrase)}

    def weight(self, phrase: str) -> float:
        """What all of a phrase's terms weigh."""
        return sum(self.weights(phrase).values())

    def scores(self, phrase: str) -> dict[int, float]:
        """The places that hold a term of the phrase, and how well they fit: 0 to 2."""
        alone: Counter[int] = Counter()
        near: dict[int, float] = {}
        for term in dict.fromkeys(words.terms(phrase)):
            postings = self._postings.get(term, ())
            rarity = self.rarity(term)
            around: Counter[int] = Counter()
            for at, count in postings:
                alone[at] += rarity * _bm25(count, self._lengths, at)  # type: ignore
                for place in range(at - RADIUS, at + RADIUS + 1):
                    around[place] += count
            for place, count in around.items():
                if 0 <= place < len(self._lengths):
                    gain = rarity * _bm25(count, self._near, place)
                    near[place] = near.get(place, 0.0) + gain
        if not alone:
            return {}
        best_alone, best_near = max(alone.values()), max(near.values())
        return {
            at: score / best_alone + near[at] / best_near for at, score in alone.items()
        }

    def covered(self, phrase: str, start: int, end: int) -> float:
        """The share of the phrase's weight that the texts start to end hold: 0 to 1."""
        weights = self.weights(phrase)
        held = sum(
            weight
            for term, weight in weights.items()
            if any(start <= at <= end for at, _ in self._postings.get(term, ()))
        )
        return held / (sum(weights.values()) or 1.0)


def _bm25(count: int, lengths: Sequence[int], at: int) -> float:
    mean = sum(lengths) / len(lengths) or 1.0
    longer = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths[at] / mean
    return count * (SATURATION + 1) / (count + SATURATION * longer)
