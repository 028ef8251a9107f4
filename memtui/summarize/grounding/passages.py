"""Index the texts of a session, and find the passages that contain most of a phrase.

The texts are split into sentences. A passage is one sentence, or two in a row
of one text if the second adds enough.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memtui.model.events import Event, EventRole, counted_text
from memtui.model.verdicts import EventQuote, SourceQuote, hash_quote
from memtui.model.work import Facts, Line
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency
from memtui.text.sentences import sentence_spans, truncate
from memtui.text.stopwords import NARRATION_STEMS

TEXT_CHARS = 40_000
"""Only this much of a text is indexed."""

SENTENCE_CHARS = 400
"""A longer sentence is a log or a blob, and is split at a word."""

PASSAGE_CHARS = 600
"""The maximum length of a passage."""

CANDIDATE_SENTENCES = 6
"""The number of best sentences that are considered, with their neighbours."""

_PASSAGE_SHAPES = ((0, 0), (-1, 0), (0, 1))
"""The ranges around a sentence that may be a passage."""

EXTENSION_COST = 0.03
"""The share that each further sentence must add."""

PREFERENCE = 0.1
"""The share by which a passage elsewhere must be better than one in preferred texts."""

CONTEXT_TEXTS, CONTEXT_WEIGHT, MAX_CONTEXT_GAIN = 1, 0.5, 1.2
"""The number of texts before and after that of a passage whose words count, too, what
they count, and by how much they raise the coverage at most."""

ABSENT_WEIGHT = 0.5
"""The weight of words that are nowhere: they may stand for others. Names and numbers
are checked by themselves."""


# Numbers in words

_SMALL = re.findall(
    r"\w+",
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """,
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS = (
    {word: str(value) for value, word in enumerate(_SMALL, 2)}
    | {word: str(10 * value) for value, word in enumerate(_TENS, 2)}
    | {
        f"{tens}-{unit}": str(10 * value + digit)
        for value, tens in enumerate(_TENS, 2)
        for digit, unit in enumerate(["one", *_SMALL[:8]], 1)
    }
    | {"twice": "2"}
)
"""Numbers as words; "one" often is no number."""

_WORDS_OF = {
    digits: tuple(word for word, value in NUMBER_WORDS.items() if value == digits)
    for digits in NUMBER_WORDS.values()
}
_NUMBER_WORD = re.compile(
    rf"\b(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\b", re.IGNORECASE
)
_NO_WORD = re.compile(r"[\W_]+")
_GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")


def to_figures(text: str) -> str:
    """Write the numbers of a text in figures: "1,290" and "forty-eight"."""
    return _NUMBER_WORD.sub(lambda word: NUMBER_WORDS[word[0].lower()], ungroup(text))


def ungroup(text: str) -> str:
    """Write the figures of numbers without separators: "1290" for "1,290"."""
    return _GROUPED.sub("", text)


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


class TextIndex:
    """Texts and their sentences, indexed by term."""

    def __init__(
        self,
        texts: Sequence[str],
        roles: Sequence[EventRole | None] = (),
        facts: Facts = Facts(),  # noqa: B008, as it is never changed
    ) -> None:
        """Index texts.

        Args:
            texts: The texts in order.
            roles: Who wrote each of the first ones; None if unknown.
            facts: What the calls behind the texts show: evidence in words, too.
        """
        self.facts = facts
        self.fact_lines = list(_word_facts(facts))
        texts = [*texts, *(line.text for line in self.fact_lines)]
        self.texts = [text[:TEXT_CHARS] for text in texts]
        self.roles = [*roles, *[None] * (len(texts) - len(roles))]
        """The author of each text; None if unknown."""
        self.term_counts: dict[str, dict[int, int]] = defaultdict(dict)
        """For each term the texts that contain it, and how often."""
        self.text_lengths: list[int] = []
        """The number of terms of each text."""
        self._sentence_spans: list[tuple[int, int, int]] = []
        self._sentences_by_term: dict[str, list[int]] = defaultdict(list)
        self._sentences_of_text: list[tuple[int, int]] = []
        """The first and the last sentence of each text, the latter exclusive."""
        for place, text in enumerate(self.texts):
            counts: Counter[str] = Counter()
            first = len(self._sentence_spans)
            for start, end in _split_sentences(text):
                terms = analyzer.terms(text[start:end])
                counts.update(terms)
                for term in dict.fromkeys(terms):
                    self._sentences_by_term[term].append(len(self._sentence_spans))
                self._sentence_spans.append((place, start, end))
            self._sentences_of_text.append((first, len(self._sentence_spans)))
            self.text_lengths.append(counts.total())
            for term, count in counts.items():
                self.term_counts[term][place] = count
        self._weights: dict[str, dict[str, float]] = {}

    @property
    def raw_texts(self) -> Sequence[str]:
        """The texts in full, in which names and numbers are looked up."""
        return self.texts

    def is_always_capitalized(self, word: str) -> bool:
        """Return whether a word is capitalized within a sentence of these texts, and
        never in lower case."""
        inside = re.compile(rf"[\w,;)] {re.escape(word)}\b")
        lower = word.lower()
        is_inside = any(word in text and inside.search(text) for text in self.texts)
        return is_inside and not any(lower in text for text in self.texts)

    @cached_property
    def lower_text(self) -> str:
        """All texts in full, in lower case."""
        return "\n".join(self.raw_texts).lower()

    @cached_property
    def squeezed_text(self) -> str:
        """The letters and digits of all texts, in lower case."""
        return _NO_WORD.sub("", self.lower_text)

    def contains(self, term: str) -> bool:
        """Return whether a term occurs in the indexed texts."""
        return term in self._sentences_by_term

    def sentences_with(self, term: str) -> Iterator[tuple[EventRole | None, str]]:
        """Yield the sentences with a term, each with the role of its text."""
        for at in self._sentences_with(term):
            place, start, end = self._sentence_spans[at]
            yield self.roles[place], self.texts[place][start:end]

    def _sentences_with(self, term: str) -> Collection[int]:
        """Return the indexes of the sentences with a term; numbers in any writing."""
        sentences: Collection[int] = self._sentences_by_term.get(term, ())
        if not term.isdigit():
            return sentences
        every = set(sentences)
        for word in _WORDS_OF.get(term, ()):
            every.update(self._sentences_by_term.get(word, ()))
        if len(term) > 3:
            groups = f"{int(term):,}".split(",")
            held = [set(self._sentences_by_term.get(group, ())) for group in groups]
            every |= set.intersection(*held)
        return every

    def term_weights(self, phrase: str) -> Mapping[str, float]:
        """Return the phrase's terms with their weights.

        Words with which a summary says who spoke weigh nothing.
        """
        if phrase not in self._weights:
            self._weights[phrase] = self._weigh(to_figures(phrase))
        return self._weights[phrase]

    def _weigh(self, phrase: str) -> dict[str, float]:
        size = len(self._sentence_spans)
        most = inverse_document_frequency(size, 1)
        weights = {}
        for term in analyzer.query_terms(phrase):
            count = len(self._sentences_with(term))
            weights[term] = (
                inverse_document_frequency(size, count)
                if count
                else ABSENT_WEIGHT * most
            )
        spoken = {term: 0.0 for term in NARRATION_STEMS.intersection(weights)}
        return weights | spoken if len(spoken) < len(weights) else weights

    def best_passage(
        self,
        phrase: str,
        places: Collection[int] | None = None,
        preferred: Collection[int] = (),
    ) -> Passage | None:
        """Return the passage that contains most of a phrase; None if there is none.

        Args:
            phrase: The phrase to look for.
            places: The texts that may contain it; None for any.
            preferred: Texts that are preferred if they contain about as much.
        """
        weights = self.term_weights(phrase)
        total = math.fsum(weights.values()) or 1.0
        candidates = self._best_sentences(weights, places, preferred)
        near = {at + away for at in candidates for away in range(-1, 2)}
        matched: dict[int, set[str]] = {at: set() for at in near}
        for term in weights:
            for at in near.intersection(self._sentences_with(term)):
                matched[at].add(term)

        def terms_of(start: int, end: int) -> frozenset[str]:
            return frozenset().union(*(matched[at] for at in range(start, end + 1)))

        def share_of(terms: Collection[str]) -> float:
            return math.fsum(map(weights.__getitem__, terms)) / total

        best, most = (0, 0), -1.0
        for at in candidates:
            is_preferred = self._sentence_spans[at][0] in preferred
            for start, end in self._passages_around(at):
                score = share_of(terms_of(start, end)) - EXTENSION_COST * (end - start)
                score = round(score + PREFERENCE * is_preferred, 6)
                if score > most:
                    best, most = (start, end), score
        if not candidates:
            return None
        start, end = best
        place, first, _ = self._sentence_spans[start]
        terms = terms_of(start, end)
        covered = share_of(terms)
        context = share_of(self._terms_near(place, weights.keys() - terms))
        share = min(covered + CONTEXT_WEIGHT * context, MAX_CONTEXT_GAIN * covered)
        last = self._sentence_spans[end][2]
        return Passage(place, first, last, range(start, end + 1), terms, share)

    def _best_sentences(
        self,
        weights: Mapping[str, float],
        places: Collection[int] | None,
        preferred: Collection[int],
    ) -> list[int]:
        """Return the sentences with the highest weight, short ones first."""
        gains: dict[int, float] = {}
        for term, weight in weights.items():
            for at in self._sentences_with(term):
                gains[at] = gains.get(at, 0.0) + weight
        if places is not None:
            spans = self._sentence_spans
            gains = {at: gain for at, gain in gains.items() if spans[at][0] in places}
        bonus = PREFERENCE * math.fsum(weights.values())
        for place in preferred:
            for at in range(*self._sentences_of_text[place]):
                if at in gains:
                    gains[at] += bonus
        limit = min(heapq.nlargest(CANDIDATE_SENTENCES, gains.values()), default=0.0)
        best = [at for at, gain in gains.items() if gain >= limit]
        best.sort(key=lambda at: (-round(gains[at], 6), self._length(at, at), at))
        return best[:CANDIDATE_SENTENCES]

    def _terms_near(self, place: int, terms: Collection[str]) -> set[str]:
        """Return those of some terms that are in a text or right before or after it."""
        places = range(place - CONTEXT_TEXTS, place + CONTEXT_TEXTS + 1)
        return {
            term
            for term in terms
            if any(at in self.term_counts.get(term, {}) for at in places)
        }

    def text_of(self, passage: Passage) -> str:
        return self.texts[passage.text_index][passage.start : passage.end]

    def sentences_of(self, passage: Passage) -> list[str]:
        spans = (self._sentence_spans[at] for at in passage.sentences)
        return [self.texts[place][start:end] for place, start, end in spans]

    def quote(self, text_index: int, start: int, end: int) -> SourceQuote:
        text_hash = hash_quote(self.texts[text_index][start:end])
        return SourceQuote(text_index, start, end, text_hash)

    def _passages_around(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the first and last sentence of each possible passage around one."""
        place, last = self._sentence_spans[at][0], len(self._sentence_spans) - 1
        for before, after in _PASSAGE_SHAPES:
            start, end = at + before, at + after
            if (
                start >= 0
                and end <= last
                and self._sentence_spans[start][0] == place
                and self._sentence_spans[end][0] == place
                and (start == end or self._length(start, end) <= PASSAGE_CHARS)
            ):
                yield start, end

    def _length(self, start: int, end: int) -> int:
        return self._sentence_spans[end][2] - self._sentence_spans[start][1]


class Evidence(TextIndex):
    """The events of a session, indexed to anchor and to check bullets."""

    def __init__(
        self,
        events: Sequence[Event],
        lines: Sequence[Line] = (),
        facts: Facts = Facts(),  # noqa: B008, as it is never changed
    ) -> None:
        """Index the events of a session.

        Args:
            events: The events in order.
            lines: Further evidence: notes of the system, the branch.
            facts: What the calls in the events show; they are evidence in words, too.
        """
        self.events = events
        self.places = {event.event_id: at for at, event in enumerate(events)}
        """The index of each event."""
        texts = [*map(counted_text, events), *(line.text for line in lines)]
        super().__init__(texts, [event.role for event in events], facts)
        self.lines = [*lines, *self.fact_lines]

    @property
    def raw_texts(self) -> Sequence[str]:
        agents = {event.agent for event in self.events}
        texts = (event.text for event in self.events)
        return [*texts, *(line.text for line in self.lines), *sorted(agents)]

    def event_place(self, text_index: int) -> int | None:
        """Return the index of the event that a text is from; None if it is none of
        these events."""
        if text_index < len(self.events):
            return text_index
        return self.places.get(self.lines[text_index - len(self.events)].event_id)

    def event_quote(self, quote: SourceQuote) -> EventQuote | None:
        """Return a quote as one from its event; None if it is from a further line that
        is not in its event."""
        place = self.event_place(quote.index)
        if place is None:
            return None
        event, start = self.events[place], quote.start
        if quote.index != place:
            quoted = self.texts[quote.index][quote.start : quote.end]
            start = event.text.find(quoted)
        end = start + quote.end - quote.start
        return (
            EventQuote(event.event_id, start, end, quote.text_hash)
            if start >= 0
            else None
        )


def _word_facts(facts: Facts) -> Iterator[Line]:
    """Yield facts in words, as a summary may say them."""
    for commit in facts.commits:
        branch = f" on branch {commit.branch}" if commit.branch else ""
        text = f"committed {commit.hash}{branch}: {commit.subject}"
        yield Line(text, commit.event_id)
    for pull_request in facts.pull_requests:
        text = f"opened pull request #{pull_request.number}: {pull_request.title}"
        yield Line(text, pull_request.event_id)
    yield from (Line(f"pushed {line.text}", line.event_id) for line in facts.pushes)
    yield from (Line(f"merged {line.text}", line.event_id) for line in facts.merges)
    for run in facts.test_runs:
        total = run.passed + run.failed
        counts = f"{run.passed} of {total} tests passed, {run.failed} failed"
        yield Line(f"{counts}: {run.command}", run.event_id)
    for change in facts.files:
        lines = f"{change.added} lines added, {change.removed} removed"
        yield Line(f"changed {change.path}: {lines}", change.event_id)
    for line in facts.failed_commands:
        yield Line(f"failed: {line.text}", line.event_id)


def _split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences start and end; long ones are split."""
    for start, end in sentence_spans(text):
        yield from _split_long(text, start, end)


def _split_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > SENTENCE_CHARS:
        cut = start + max(len(truncate(text[start:end], SENTENCE_CHARS)), 1)
        yield start, cut
        start = cut
    if start < end:
        yield start, end
