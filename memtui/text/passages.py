"""Passages: the stretch of a text that says most of a phrase.

The texts of a source are cut into sentences; a passage is one of them, or up to three
that follow each other as long as each adds enough.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memtui.text import analyzer, prose
from memtui.text.stopwords import NARRATION_STEMS

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


class NeighbourIndex:
    """The terms of a run of texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._held: dict[str, dict[int, int]] = defaultdict(dict)
        self._terms: dict[str, _Term] = {}
        lengths = []
        for at, text in enumerate(texts):
            found = analyzer.terms(text)
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
        return {term: self._term(term).rarity for term in analyzer.query_terms(phrase)}

    def weight(self, phrase: str) -> float:
        """What all of a phrase's terms weigh."""
        return sum(self.weights(phrase).values())

    def scores(self, phrase: str) -> dict[int, float]:
        """The places that hold a term of the phrase, and how well they fit: 0 to 2."""
        alone: dict[int, float] = {}
        near: dict[int, float] = {}
        for term in dict.fromkeys(analyzer.terms(phrase)):
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


QUOTED_CHARS, LONG_CHARS = 30, 80
"""How many characters, blanks aside, a quotation has at least, and one that need not
end where a line or a sentence does."""

_BEGINS = re.compile(r"(?:\A|\n|[.!?:;。！？])\W*\Z")
_ENDS = re.compile(r"\s*(?:\Z|\n|[.!?;。！？])")

SENTENCE_CHARS = 400
"""A longer sentence is cut on a word: a log or a blob, that would hold anything."""

PASSAGE_CHARS = 600
"""The most characters of a passage: more is no place that somebody could be shown."""

WRAPPED_CHARS = 40
"""A line of more characters may go on in one that begins with a small letter."""

TRIED = 6
"""How many of the sentences that hold most are looked at with their neighbours."""

SPANS = ((0, 0), (-1, 0), (0, 1), (-1, 1), (-2, 0), (0, 2))
"""The stretches around a sentence that can be a passage."""

LONGER = 0.03
"""What each further sentence has to add to the share of the phrase that is held."""

EXACT = 0.03
"""What saying a word in the very same form counts beside saying it at all."""

TELLING = 0.3
"""What a word counts with which a summary tells who said what."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one text and what it holds of a phrase."""

    text_index: int
    """Which text it stands in."""
    start: int
    end: int
    """Offsets of characters in that text."""
    sentences: range
    """Which of all sentences it is made of."""
    matched: frozenset[str]
    """The phrase's terms that it holds."""
    coverage: float
    """The share of the phrase's weight that these are: 0 to 1."""


class PassageIndex:
    """The sentences of some texts, ready to be compared with phrases."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._weights: dict[str, dict[str, float]] = {}

    @cached_property
    def _spans(self) -> list[tuple[int, int, int]]:
        return [
            (place, start, end)
            for place, text in enumerate(self.texts)
            for start, end in _sentences(text)
        ]

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, (place, start, end) in enumerate(self._spans):
            for term in set(analyzer.terms(self.texts[place][start:end])):
                found[term].append(at)
        return found

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for term in self._holding:
            if "/" in term:
                found[term.rstrip("/").rpartition("/")[2]].append(term)
        return found

    def paths(self, name: str) -> list[str]:
        """The paths anywhere in these texts that end in a folded name."""
        return self._paths.get(name, [])

    def best(
        self, phrase: str, places: Collection[int] | None = None
    ) -> Passage | None:
        """The passage that holds most of a phrase; None if none holds a word of it.

        Args:
            phrase: What is looked for.
            places: The texts that may hold it; any if None.
        """
        weights = self.weights(phrase)
        held: dict[int, set[str]] = {}
        for term in weights:
            for at in self._holding.get(term, ()):
                if places is None or self._spans[at][0] in places:
                    held.setdefault(at, set()).add(term)
        total = sum(weights.values()) or 1.0
        gain = {
            at: sum(map(weights.__getitem__, one)) / total for at, one in held.items()
        }
        tried = heapq.nsmallest(
            TRIED, gain, key=lambda at: (-gain[at], self._length(at, at), at)
        )
        best, most = (0, -1), 0.0
        for at in tried:
            for start, end in self._stretches(at):
                if most >= 1.0 - LONGER * (end - start):
                    continue
                share = gain[at]
                if start < end:
                    terms = _together(held, start, end)
                    share = sum(map(weights.__getitem__, terms)) / total
                worth = round(share - LONGER * (end - start), 6)
                if worth > most:
                    best, most = (start, end), worth
        return self._passage(*best, held, weights) if tried else None

    def verbatim(
        self, phrase: str, places: Collection[int] | None = None
    ) -> tuple[int, int, int] | None:
        """Where a long phrase stands word for word, however its blanks are.

        It must begin a line or a sentence, so that no "not" stands before it, and end
        one too unless it is very long.

        Args:
            phrase: What is looked for; an ellipsis at its end stands for the rest.
            places: The texts that may hold it; any if None.

        Returns:
            Which text, and the offsets of its characters; None if nowhere.
        """
        said = phrase.removesuffix("…").split()
        length = sum(map(len, said))
        if length < QUOTED_CHARS:
            return None
        pattern = re.compile(r"\s+".join(map(re.escape, said)))
        for place in range(len(self.texts)) if places is None else sorted(places):
            text = self.texts[place]
            for found in pattern.finditer(text) if said[0] in text else ():
                start, end = found.span()
                is_whole = length >= LONG_CHARS or _ENDS.match(text, end)
                if is_whole and _BEGINS.search(text[max(start - 9, 0) : start]):
                    return place, start, end
        return None

    def holding(
        self, terms: Collection[str], places: Collection[int]
    ) -> Iterator[Passage]:
        """The sentences of some texts that hold all of some terms."""
        found = [self._holding.get(term, []) for term in terms]
        rarest = min(found, key=len, default=[])
        for at in rarest:
            place, start, end = self._spans[at]
            if place in places and all(at in one for one in found):
                sentences = range(at, at + 1)
                yield Passage(place, start, end, sentences, frozenset(terms), 1.0)

    def text(self, passage: Passage) -> str:
        """A passage's words, exactly as they stand in their text."""
        return self.texts[passage.text_index][passage.start : passage.end]

    def sentences(self, passage: Passage) -> list[str]:
        """The sentences of a passage."""
        spans = (self._spans[at] for at in passage.sentences)
        return [self.texts[place][start:end] for place, start, end in spans]

    def weights(self, phrase: str) -> dict[str, float]:
        """The phrase's terms and what they weigh: each word's loosest form nearly all.

        A word that is not said weighs no more than one said once.
        """
        if phrase not in self._weights:
            self._weights[phrase] = self._weighed(phrase)
        return self._weights[phrase]

    def _weighed(self, phrase: str) -> dict[str, float]:
        size = len(self._spans)
        most = rarity(size, 1)
        loose = {
            term: min(most, rarity(size, len(self._holding.get(term, ()))))
            * (TELLING if term in NARRATION_STEMS else 1.0)
            for term in analyzer.query_terms(phrase)
        }
        exact = EXACT * most
        return dict.fromkeys(analyzer.terms(phrase), exact) | loose

    def _stretches(self, at: int) -> Iterator[tuple[int, int]]:
        """The stretches around a sentence that do not leave its text."""
        place, last = self._spans[at][0], len(self._spans) - 1
        for before, after in SPANS:
            start, end = at + before, at + after
            if (
                start >= 0
                and end <= last
                and self._spans[start][0] == place == self._spans[end][0]
                and (start == end or self._length(start, end) <= PASSAGE_CHARS)
            ):
                yield start, end

    def _length(self, start: int, end: int) -> int:
        return self._spans[end][2] - self._spans[start][1]

    def _passage(
        self,
        start: int,
        end: int,
        held: Mapping[int, set[str]],
        weights: Mapping[str, float],
    ) -> Passage:
        terms = _together(held, start, end)
        share = sum(map(weights.__getitem__, terms)) / (sum(weights.values()) or 1.0)
        place, first, _ = self._spans[start]
        last = self._spans[end][2]
        return Passage(place, first, last, range(start, end + 1), terms, share)


def _together(held: Mapping[int, set[str]], start: int, end: int) -> frozenset[str]:
    """What the sentences start to end hold."""
    return frozenset().union(*(held.get(at, ()) for at in range(start, end + 1)))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end, wrapped lines joined and long ones cut."""
    start = end = 0
    for first, last in prose.sentence_spans(text[: prose.EXCERPT_SOURCE_CHARS]):
        if start < end and _wraps(text, start, end, first):
            end = last
            continue
        yield from _cut(text, start, end)
        start, end = first, last
    yield from _cut(text, start, end)


def _wraps(text: str, start: int, end: int, following: int) -> bool:
    """Whether a line goes on in the one that follows."""
    return (
        following == end + 1
        and text[end] == "\n"
        and text[following].islower()
        and end - text.rfind("\n", start, end) > WRAPPED_CHARS
        and text[end - 1] not in ".!?:;{}"
    )


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > SENTENCE_CHARS:
        cut = start + max(len(prose.truncate(text[start:end], SENTENCE_CHARS)), 1)
        yield start, cut
        start = cut
    if start < end:
        yield start, end
