"""Find the passage of a source that contains most of a phrase.

The texts of a source are split into sentences. A passage is one sentence, or up to
three in a row if each adds enough.
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

BM25_K1 = 1.2
"""BM25's k1: how soon further occurrences of a term stop to count."""

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
        weight = rarity(self._size, len(matched))
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


def rarity(texts: int, holding: int) -> float:
    """Return BM25's inverse document frequency."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _window_counts(counts: Mapping[int, int], size: int) -> dict[int, float]:
    """Return the counts in the window around each text."""
    around = {at: float(count) for at, count in counts.items()}
    for away, share in enumerate(WINDOW_WEIGHTS[1:], start=1):
        for at, count in counts.items():
            for place in (at - away, at + away):
                if 0 <= place < size:
                    around[place] = around.get(place, 0.0) + share * count
    return around


def length_norms(lengths: Sequence[float], length_weight: float) -> list[float]:
    """Return BM25's length normalization of each text."""
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return [
        BM25_K1 * (1 - length_weight + length_weight * length / mean)
        for length in lengths
    ]


MIN_VERBATIM_CHARS, LONG_VERBATIM_CHARS = 30, 80
"""The minimum length of a verbatim quotation, and of one that may end within a
sentence; spaces do not count."""

_STARTS_SENTENCE = re.compile(r"(?:\A|\n|[.!?:;。！？])\W*\Z")
_ENDS_SENTENCE = re.compile(r"\s*(?:\Z|\n|[.!?;。！？])")

SENTENCE_CHARS = 400
"""A longer sentence is a log or a blob, and is split at a word."""

PASSAGE_CHARS = 600
"""The maximum length of a passage."""

WRAPPED_CHARS = 40
"""A longer line may continue in one that starts with a lower-case letter."""

CANDIDATE_SENTENCES = 6
"""Number of best sentences that are considered, with their neighbours."""

_PASSAGE_SHAPES = ((0, 0), (-1, 0), (0, 1), (-1, 1), (-2, 0), (0, 2))
"""The ranges around a sentence that may be a passage."""

EXTENSION_COST = 0.03
"""The share that each further sentence must add."""

EXACT_FORM_WEIGHT = 0.03
"""The weight of the exact form of a word, relative to its stem."""

NARRATION_WEIGHT = 0.3
"""The weight of words with which a summary says who spoke."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one text, and what it contains of a phrase."""

    text_index: int
    """The index of its text."""
    start: int
    end: int
    """Offsets of characters in that text."""
    sentences: range
    """The indexes of its sentences among all."""
    matched: frozenset[str]
    """The phrase's terms that it contains."""
    coverage: float
    """Their share of the phrase's weight: 0 to 1."""


class PassageIndex:
    """The sentences of some texts, indexed by term."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._weights: dict[str, dict[str, float]] = {}

    @cached_property
    def _sentence_spans(self) -> list[tuple[int, int, int]]:
        return [
            (place, start, end)
            for place, text in enumerate(self.texts)
            for start, end in _sentences(text)
        ]

    @cached_property
    def _sentences_by_term(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, (place, start, end) in enumerate(self._sentence_spans):
            for term in set(analyzer.terms(self.texts[place][start:end])):
                found[term].append(at)
        return found

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for term in self._sentences_by_term:
            if "/" in term:
                found[term.rstrip("/").rpartition("/")[2]].append(term)
        return found

    def paths_ending_in(self, name: str) -> list[str]:
        """Return the paths in these texts that end in a folded name."""
        return self._paths.get(name, [])

    def best_passage(
        self, phrase: str, places: Collection[int] | None = None
    ) -> Passage | None:
        """Return the passage that contains most of a phrase; None if there is none.

        Args:
            phrase: The phrase to look for.
            places: The texts that may contain it; None for any.
        """
        weights = self.term_weights(phrase)
        matched: dict[int, set[str]] = {}
        for term in weights:
            for at in self._sentences_by_term.get(term, ()):
                if places is None or self._sentence_spans[at][0] in places:
                    matched.setdefault(at, set()).add(term)
        total = sum(weights.values()) or 1.0
        gain = {
            at: sum(map(weights.__getitem__, one)) / total
            for at, one in matched.items()
        }
        tried = heapq.nsmallest(
            CANDIDATE_SENTENCES,
            gain,
            key=lambda at: (-gain[at], self._length(at, at), at),
        )
        best, most = (0, -1), 0.0
        for at in tried:
            for start, end in self._passages_around(at):
                if most >= 1.0 - EXTENSION_COST * (end - start):
                    continue
                share = gain[at]
                if start < end:
                    terms = _matched_terms(matched, start, end)
                    share = sum(map(weights.__getitem__, terms)) / total
                worth = round(share - EXTENSION_COST * (end - start), 6)
                if worth > most:
                    best, most = (start, end), worth
        return self._passage(*best, matched, weights) if tried else None

    def find_verbatim(
        self, phrase: str, places: Collection[int] | None = None
    ) -> tuple[int, int, int] | None:
        """Find a long phrase verbatim, except for whitespace.

        It must start a line or a sentence, so that no "not" precedes it, and end one
        unless it is very long.

        Args:
            phrase: The phrase to look for; an ellipsis at its end stands for the rest.
            places: The texts that may contain it; None for any.

        Returns:
            The index of the text, and the offsets; None if not found.
        """
        words = phrase.removesuffix("…").split()
        length = sum(map(len, words))
        if length < MIN_VERBATIM_CHARS:
            return None
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        for place in range(len(self.texts)) if places is None else sorted(places):
            text = self.texts[place]
            for found in pattern.finditer(text) if words[0] in text else ():
                start, end = found.span()
                is_whole = length >= LONG_VERBATIM_CHARS or _ENDS_SENTENCE.match(
                    text, end
                )
                if is_whole and _STARTS_SENTENCE.search(
                    text[max(start - 9, 0) : start]
                ):
                    return place, start, end
        return None

    def sentences_with(
        self, terms: Collection[str], places: Collection[int]
    ) -> Iterator[Passage]:
        """Yield the sentences of some texts that contain all of these terms."""
        found = [self._sentences_by_term.get(term, []) for term in terms]
        rarest = min(found, key=len, default=[])
        for at in rarest:
            place, start, end = self._sentence_spans[at]
            if place in places and all(at in one for one in found):
                sentences = range(at, at + 1)
                yield Passage(place, start, end, sentences, frozenset(terms), 1.0)

    def text_of(self, passage: Passage) -> str:
        """Return the text of a passage."""
        return self.texts[passage.text_index][passage.start : passage.end]

    def sentences_of(self, passage: Passage) -> list[str]:
        """Return the sentences of a passage."""
        spans = (self._sentence_spans[at] for at in passage.sentences)
        return [self.texts[place][start:end] for place, start, end in spans]

    def term_weights(self, phrase: str) -> dict[str, float]:
        """Return the phrase's terms with their weights.

        The stem of a word has nearly all its weight. A term that does not occur weighs
        no more than one that occurs once.
        """
        if phrase not in self._weights:
            self._weights[phrase] = self._weigh(phrase)
        return self._weights[phrase]

    def _weigh(self, phrase: str) -> dict[str, float]:
        size = len(self._sentence_spans)
        most = rarity(size, 1)
        loose = {
            term: min(most, rarity(size, len(self._sentences_by_term.get(term, ()))))
            * (NARRATION_WEIGHT if term in NARRATION_STEMS else 1.0)
            for term in analyzer.query_terms(phrase)
        }
        exact = EXACT_FORM_WEIGHT * most
        return dict.fromkeys(analyzer.terms(phrase), exact) | loose

    def _passages_around(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the possible passages around a sentence."""
        place, last = self._sentence_spans[at][0], len(self._sentence_spans) - 1
        for before, after in _PASSAGE_SHAPES:
            start, end = at + before, at + after
            if (
                start >= 0
                and end <= last
                and self._sentence_spans[start][0]
                == place
                == self._sentence_spans[end][0]
                and (start == end or self._length(start, end) <= PASSAGE_CHARS)
            ):
                yield start, end

    def _length(self, start: int, end: int) -> int:
        return self._sentence_spans[end][2] - self._sentence_spans[start][1]

    def _passage(
        self,
        start: int,
        end: int,
        matched: Mapping[int, set[str]],
        weights: Mapping[str, float],
    ) -> Passage:
        terms = _matched_terms(matched, start, end)
        share = sum(map(weights.__getitem__, terms)) / (sum(weights.values()) or 1.0)
        place, first, _ = self._sentence_spans[start]
        last = self._sentence_spans[end][2]
        return Passage(place, first, last, range(start, end + 1), terms, share)


def _matched_terms(
    matched: Mapping[int, set[str]], start: int, end: int
) -> frozenset[str]:
    """Return the terms that the sentences from start to end contain."""
    return frozenset().union(*(matched.get(at, ()) for at in range(start, end + 1)))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences start and end; wrapped lines are joined, long ones
    split."""
    start = end = 0
    for first, last in prose.sentence_spans(text[: prose.EXCERPT_SOURCE_CHARS]):
        if start < end and _wraps(text, start, end, first):
            end = last
            continue
        yield from _split_long(text, start, end)
        start, end = first, last
    yield from _split_long(text, start, end)


def _wraps(text: str, start: int, end: int, following: int) -> bool:
    """Return whether a line continues in the following one."""
    return (
        following == end + 1
        and text[end] == "\n"
        and text[following].islower()
        and end - text.rfind("\n", start, end) > WRAPPED_CHARS
        and text[end - 1] not in ".!?:;{}"
    )


def _split_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > SENTENCE_CHARS:
        cut = start + max(len(prose.truncate(text[start:end], SENTENCE_CHARS)), 1)
        yield start, cut
        start = cut
    if start < end:
        yield start, end
