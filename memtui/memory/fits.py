"""How well the texts of a run fit a phrase, each with its near neighbourhood.

BM25 (Robertson & Zaragoza, 2009) on single texts and on windows of five around them,
each divided by its best, added. Prepared once for a run, then asked for each phrase.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from memtui.memory import words

SATURATION = 1.2
"""BM25's k1: how soon saying a term again stops to count."""

ALONE_LENGTH, NEAR_LENGTH = 0.4, 0.2
"""BM25's b, for a text and for a window: how much a long one has to hold more."""

RADIUS = 2
"""How many texts on either side belong to the neighbourhood."""


class Fits:
    """The terms of a run of texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        lengths: list[int] = []
        for at, text in enumerate(texts):
            counts = Counter(words.terms(text))
            lengths.append(counts.total())
            for term, count in counts.items():
                self._postings.setdefault(term, []).append((at, count))
        near = [
            sum(lengths[max(0, at - RADIUS) : at + RADIUS + 1])
            for at in range(self._size)
        ]
        self._alone = _damping(lengths, ALONE_LENGTH)
        self._near = _damping(near, NEAR_LENGTH)

    def rarity(self, term: str) -> float:
        """How much a term weighs: its idf among the texts, most when none holds it."""
        holding = len(self._postings.get(term, ()))
        return math.log(1 + (self._size - holding + 0.5) / (holding + 0.5))

    def weights(self, phrase: str) -> dict[str, float]:
        """The phrase's terms, each in its loosest form, and what they weigh."""
        return {term: self.rarity(term) for term in words.needed(phrase)}

    def weight(self, phrase: str) -> float:
        """What all of a phrase's terms weigh."""
        return sum(self.weights(phrase).values())

    def scores(self, phrase: str) -> dict[int, float]:
        """The places that hold a term of the phrase, and how well they fit: 0 to 2."""
        alone: dict[int, float] = defaultdict(float)
        near: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(words.terms(phrase)):
            postings = self._postings.get(term)
            if postings is None:
                continue
            rarity = self.rarity(term)
            around: dict[int, int] = defaultdict(int)
            for at, count in postings:
                alone[at] += rarity * count / (count + self._alone[at])
                for place in range(at - RADIUS, at + RADIUS + 1):
                    around[place] += count
            for place, count in around.items():
                if 0 <= place < self._size:
                    near[place] += rarity * count / (count + self._near[place])
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


def _damping(lengths: Sequence[int], length_weight: float) -> list[float]:
    """What BM25 adds to each text's counts below the line: more for a longer text."""
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return [
        SATURATION * (1 - length_weight + length_weight * length / mean)
        for length in lengths
    ]
