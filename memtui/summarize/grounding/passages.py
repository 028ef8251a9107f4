"""Find the passage of a source that contains most of a phrase.

The texts of a source are split into sentences. A passage is one sentence, or up to
three in a row if each adds enough.
"""

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from memtui.model.events import EventRole
from memtui.model.verdicts import SourceQuote, hash_quote
from memtui.summarize.grounding import numbers
from memtui.text import analyzer, prose
from memtui.text.analyzer import inverse_document_frequency, stem
from memtui.text.stopwords import (
    NARRATION_STEMS,
    word_set,
)
from memtui.text.synonyms import COMMON_STEMS, SYNONYMS

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

REPORT_STEMS = NARRATION_STEMS | frozenset(
    stem(word)
    for word in word_set("""
    want wish agree decide choose complain warn argue propose recommend advise conclude
    expect think find prefer point agent ai
    """)
)
"""Their stems, and those of words with which it says what somebody thought."""

CONTEXT_TEXTS, CONTEXT_WEIGHT = 1, 0.5
"""The number of texts before and after that of a passage whose words count, too, and
what they count."""

_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
"""A capitalized word within a sentence. If one is in no text, others do not count."""

MAX_CONTEXT_GAIN, MAX_CONTEXT_SHARE = 1.2, 0.5
"""These words raise the coverage at most by this factor, or up to this share."""

COMMON_WEIGHT = 0.5
"""The weight of a common word that does not occur: it may stand for others."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one text, and what it contains of a phrase."""

    text_index: int
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
        self._capitalized: dict[str, bool] = {}

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

    def _sentences_with(self, term: str) -> Collection[int]:
        """Return the indexes of the sentences with a term or one of its synonyms."""
        exact = self._sentences_by_term.get(term, ())
        same = numbers.spellings(term) if term.isdigit() else SYNONYMS.get(term, ())
        others = [found for one in same if (found := self._sentences_by_term.get(one))]
        if len(term) > 3 and term.isdigit():
            parts = f"{int(term):,}".split(",")
            places = [set(self._sentences_by_term.get(one, ())) for one in parts]
            others.append(sorted(set.intersection(*places)))
        return {*exact, *chain.from_iterable(others)} if others else exact

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for term in self._sentences_by_term:
            if "/" in term:
                found[term.rstrip("/").rpartition("/")[2]].append(term)
        return found

    def role_of(self, text_index: int) -> EventRole | None:
        """Return the role of the event of a text, if known."""
        return None

    def is_followed_by_change(self, text_index: int) -> bool:
        """Return whether a change to a file comes right after a text, if known."""
        return False

    def has_failed(self, terms: Collection[str]) -> bool:
        """Return whether a call with these terms has failed, if known."""
        return False

    def contains(self, term: str) -> bool:
        """Return whether a term occurs in these texts."""
        return term in self._sentences_by_term

    def is_capitalized(self, word: str) -> bool:
        """Return whether a word is capitalized within a sentence of these texts."""
        if word not in self._capitalized:
            inside = re.compile(rf"[\w,;)] {re.escape(word)}\b")
            found = any(word in text and inside.search(text) for text in self.texts)
            self._capitalized[word] = found
        return self._capitalized[word]

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
            for at in self._sentences_with(term):
                if places is None or self._sentence_spans[at][0] in places:
                    matched.setdefault(at, set()).add(term)
        total = math.fsum(weights.values()) or 1.0
        gain = {
            at: math.fsum(map(weights.__getitem__, one)) / total
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
                    share = math.fsum(map(weights.__getitem__, terms)) / total
                score = round(share - EXTENSION_COST * (end - start), 6)
                if score > most:
                    best, most = (start, end), score
        if not tried:
            return None
        has_unknown_name = any(
            not self._sentences_with(name.lower()) for name in _NAME.findall(phrase)
        )
        return self._passage(*best, matched, weights, has_unknown_name=has_unknown_name)

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
        occurrences = [self._sentences_by_term.get(term, []) for term in terms]
        rarest = min(occurrences, key=len, default=[])
        for at in rarest:
            place, start, end = self._sentence_spans[at]
            if place in places and all(at in one for one in occurrences):
                sentences = range(at, at + 1)
                yield Passage(place, start, end, sentences, frozenset(terms), 1.0)

    def text_of(self, passage: Passage) -> str:
        return self.texts[passage.text_index][passage.start : passage.end]

    def quote(self, text_index: int, start: int, end: int) -> SourceQuote:
        text_hash = hash_quote(self.texts[text_index][start:end])
        return SourceQuote(text_index, start, end, text_hash)

    def quote_of(self, passage: Passage) -> SourceQuote:
        return self.quote(passage.text_index, passage.start, passage.end)

    def quoted_text(self, quote: SourceQuote) -> str:
        return self.texts[quote.index][quote.start : quote.end]

    def sentences_of(self, passage: Passage) -> list[str]:
        spans = (self._sentence_spans[at] for at in passage.sentences)
        return [self.texts[place][start:end] for place, start, end in spans]

    def sentences_near(
        self, passage: Passage, texts: int, roles: Collection[EventRole] | None
    ) -> Iterator[str]:
        """Yield the sentences of some texts before, of and after that of a passage,
        by these roles if given."""
        first, last = passage.sentences.start, passage.sentences.stop - 1
        place = passage.text_index
        while first and place - self._sentence_spans[first - 1][0] <= texts:
            first -= 1
        while (
            last + 1 < len(self._sentence_spans)
            and self._sentence_spans[last + 1][0] - place <= texts
        ):
            last += 1
        for at, start, end in self._sentence_spans[first : last + 1]:
            if roles is None or (role := self.role_of(at)) is None or role in roles:
                yield self.texts[at][start:end]

    def term_weights(self, phrase: str) -> dict[str, float]:
        """Return the phrase's terms with their weights.

        The stem of a word has nearly all its weight. A term that does not occur weighs
        no more than one that occurs once.
        """
        if phrase not in self._weights:
            self._weights[phrase] = self._weigh(phrase)
        return self._weights[phrase]

    def _weigh(self, phrase: str) -> dict[str, float]:
        phrase = numbers.to_figures(phrase)
        size = len(self._sentence_spans)
        most = inverse_document_frequency(size, 1)
        loose = {}
        for term in analyzer.query_terms(phrase):
            count = len(self._sentences_with(term))
            weight = min(most, inverse_document_frequency(size, count))
            if term in REPORT_STEMS:
                weight *= NARRATION_WEIGHT
            elif not count and term in COMMON_STEMS:
                weight *= COMMON_WEIGHT
            loose[term] = weight
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
        *,
        has_unknown_name: bool,
    ) -> Passage:
        terms = _matched_terms(matched, start, end)
        place, first, _ = self._sentence_spans[start]
        found, total = (
            math.fsum(map(weights.__getitem__, terms)),
            math.fsum(weights.values()),
        )
        if len(terms) < len(weights) and not has_unknown_name:
            near = {
                term
                for at, one in matched.items()
                if abs(self._sentence_spans[at][0] - place) <= CONTEXT_TEXTS
                for term in one
            }
            context = CONTEXT_WEIGHT * math.fsum(map(weights.__getitem__, near - terms))
            most = max(MAX_CONTEXT_GAIN * found, MAX_CONTEXT_SHARE * total)
            found = min(found + context, most)
        share = found / (total or 1.0)
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
