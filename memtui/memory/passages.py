"""Passages: the stretch of a text that says most of a phrase.

The texts of a source are cut into sentences; a passage is one of them or up to three
that follow each other, as long as each adds enough.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from memtui.memory import excerpts
from memtui.memory.fits import Fits, rarity
from memtui.memory.vocabulary import NARRATION

SENTENCE_CHARS = 400
"""A longer sentence is cut on a word: a log or a blob, that would hold anything."""

WRAPPED_CHARS = 40
"""A line of more characters may go on in one that begins with a small letter."""

TRIED = 6
"""How many of the sentences that fit best are looked at with their neighbours."""

SPANS = ((0, 0), (-1, 0), (0, 1), (-1, 1), (-2, 0), (0, 2))
"""The stretches around a sentence that can be a passage."""

LONGER = 0.03
"""What each further sentence has to add to the share of the phrase that is held."""

FITTING = 0.01
"""What fitting well counts between passages that hold as much."""


TELLING = 0.3
"""What a word counts with which a summary tells who said what."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one text and what it holds of a phrase."""

    place: int
    """Which text it stands in."""
    start: int
    end: int
    """Offsets of characters in that text."""
    sentences: range
    """Which of all sentences it is made of."""
    held: frozenset[str]
    """The phrase's terms that it holds, in their loosest form."""
    covered: float
    """The share of the phrase's weight that these are: 0 to 1."""
    worth: float
    """What passages are compared by."""


class Passages:
    """The sentences of some texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._spans = [
            (place, start, end)
            for place, text in enumerate(texts)
            for start, end in _sentences(text)
        ]
        self._fits = Fits([texts[at][start:end] for at, start, end in self._spans])
        self._most = rarity(len(self._spans), 1)

    def best(
        self, phrase: str, places: Collection[int] | None = None
    ) -> Passage | None:
        """The passage that holds most of a phrase; None if none holds a word of it.

        Args:
            phrase: What is looked for.
            places: The texts that may hold it; any if None.
        """
        scores = self._fits.scores(phrase)
        if places is not None:
            scores = {at: n for at, n in scores.items() if self._spans[at][0] in places}
        tried = sorted(scores, key=lambda at: (-scores[at], at))[:TRIED]
        weights = self.weights(phrase)
        found = (
            self._passage(start, end, weights, FITTING * scores[at])
            for at in tried
            for start, end in self._stretches(at)
        )
        return max(found, key=lambda one: (one.worth, -one.place), default=None)

    def text(self, passage: Passage) -> str:
        """A passage's words, exactly as they stand in their text."""
        return self.texts[passage.place][passage.start : passage.end]

    def sentences(self, passage: Passage) -> list[str]:
        """The sentences of a passage."""
        spans = (self._spans[at] for at in passage.sentences)
        return [self.texts[place][start:end] for place, start, end in spans]

    def weights(self, phrase: str) -> dict[str, float]:
        """The phrase's terms, each in its loosest form, and what they weigh.

        A word that is not said weighs no more than one said once.
        """
        return {
            term: min(weight, self._most) * (TELLING if term in NARRATION else 1.0)
            for term, weight in self._fits.weights(phrase).items()
        }

    def _stretches(self, at: int) -> Iterator[tuple[int, int]]:
        """The stretches around a sentence that do not leave its text."""
        place, last = self._spans[at][0], len(self._spans) - 1
        for before, after in SPANS:
            start, end = at + before, at + after
            if (
                start >= 0
                and end <= last
                and self._spans[start][0] == place == self._spans[end][0]
            ):
                yield start, end

    def _passage(
        self, start: int, end: int, weights: dict[str, float], bonus: float
    ) -> Passage:
        held = self._fits.held(weights, start, end)
        covered = sum(weights[term] for term in held) / (sum(weights.values()) or 1.0)
        place, first, _ = self._spans[start]
        worth = covered - LONGER * (end - start) + bonus
        return Passage(
            place, first, self._spans[end][2], range(start, end + 1), held, covered, worth
        )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end, wrapped lines joined and long ones cut."""
    start = end = 0
    for first, last in excerpts.sentences(text[: excerpts.READ_CHARS]):
        if start < end and _wraps(text, start, end, first):
            end = last
            continue
        yield from _cut(text, start, end)
        start, end = first, last
    yield from _cut(text, start, end)


def _wraps(text: str, start: int, end: int, following: int) -> bool:
    """Whether a line goes on in the one that follows."""
    return (
        text[end:following] == "\n"
        and end - text.rfind("\n", start, end) > WRAPPED_CHARS
        and text[following].islower()
        and text[end - 1] not in ".!?:;{}"
    )


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > SENTENCE_CHARS:
        cut = start + max(len(excerpts.shorten(text[start:end], SENTENCE_CHARS)), 1)
        yield start, cut
        start = cut
    if start < end:
        yield start, end
