"""Queries: what was typed, parsed into words, phrases, exclusions and filters.

Any text is a query. Text that is not syntax is searched for as it is: ``std::vec``,
``http://…``, ``--force`` and an unbalanced quote.

====================  =========================================================
``token refresh``     either word, in any form; the last may be unfinished
``"exact words"``     these words in this order, punctuation included
``refr*``             words that begin so
``-term``             nothing that contains it; ``-rf`` and ``--force`` are text
``agent:codex``       a filter; see ``filters.FILTER_FIELDS``
====================  =========================================================
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters
from memtui.model.hits import ReadDate
from memtui.text import analyzer
from memtui.text.stopwords import ASKING_WORDS, VAGUE_WORDS

if TYPE_CHECKING:
    from memtui.text.dates import DatePeriod

NO_WORD = 'Type a word to search for; symbols alone need quotes: "=>".'

MAX_CHARS = 10_000
"""The number of characters of a query that are read."""

MAX_WORDS = 64
"""The number of different words of a query that are searched for: its first ones."""

FLAG_CHARS = 2
"""Up to this many letters after a hyphen are a flag (``-rf``), more an exclusion."""

PART_CHARS = 3
"""An unfinished identifier is completed from its last part if that is so long."""

VAGUE_WEIGHT = 0.5
"""The weight of a word that says nothing about the topic, such as "decide"."""

_TOKEN = re.compile(
    r'(?P<name>[A-Za-z]+):(?P<value>"[^"]*"|\S+)|(?P<not>-)?"(?P<quoted>[^"]+)"|\S+'
)
_EXCLUDED = re.compile(rf"-(\w[\w.@/-]{{{FLAG_CHARS},}}\*?)$")
_EXCLUDED_FILTER = re.compile(r"-([^:]+):")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    """The word as it was typed."""
    terms: tuple[str, ...]
    """A text matches if it has all of these; see ``analyzer.query_terms``."""
    exact: str = ""
    """The term of the word exactly as typed, if it is another one: texts that have it
    match better."""
    prefix: str = ""
    """Terms that begin so match as well as the last of ``terms``; "" for none. It is as
    typed: "retries" does not match "retrieve"."""

    @property
    def is_prefix(self) -> bool:
        return bool(self.prefix)

    @property
    def is_specific(self) -> bool:
        """True if it can be the topic of a question."""
        return (
            analyzer.is_indexed(self.text)
            and analyzer.fold(self.text) not in VAGUE_WORDS
        )

    @property
    def whole(self) -> str:
        """The term of a complete identifier, such as ``some_flag``; "" for a word."""
        is_plain = len(self.terms) == 1 and self.text.replace("'", "").isalpha()
        return "" if is_plain else self.exact

    def matches(self, terms: set[str]) -> bool:
        *first, last = self.terms
        return terms.issuperset(first) and (
            last in terms
            or (self.is_prefix and any(term.startswith(self.prefix) for term in terms))
        )


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    """The query as it was typed, without the dates that were read."""
    words: tuple[Word, ...] = ()
    """The words to search for, those of phrases included, each once."""
    phrases: tuple[str, ...] = ()
    """Texts that must occur as they are, folded."""
    phrase_terms: tuple[str, ...] = ()
    excluded: tuple[Word, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    """Texts that must not occur, folded."""
    filters: Filters = EVERYTHING
    hints: tuple[str, ...] = ()
    """Sentences about what could not be understood."""
    stop_words: int = 0
    """The number of typed words that no index contains."""
    periods: "tuple[DatePeriod, ...]" = ()
    """The dates that were read; see ``query_dates``."""

    def covers(self, at: datetime) -> bool:
        """Return True if a time lies in one of the periods."""
        return any(_is_in(at, period) for period in self.periods)

    def describe_periods(self, times: Collection[datetime]) -> tuple[ReadDate, ...]:
        """Describe the periods, and whether the time of a hit lies in each."""
        return tuple(
            ReadDate(period.label, any(_is_in(at, period) for at in times))
            for period in self.periods
        )

    @property
    def has_topic(self) -> bool:
        """True if a word or phrase names a topic."""
        return bool(self.phrases) or any(word.is_specific for word in self.words)

    def weight(self, word: Word) -> float:
        """Return how much a word counts: less if only others name the topic."""
        return 1.0 if word.is_specific or not self.has_topic else VAGUE_WEIGHT

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(t for word in self.words for t in word.terms))

    @property
    def prefixes(self) -> frozenset[str]:
        return frozenset(word.prefix for word in self.words if word.is_prefix)

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases)

    @property
    def has_only_stop_words(self) -> bool:
        """True if no index contains any of its words."""
        return not any(analyzer.is_indexed(word.text) for word in self.words)

    @property
    def needs_text(self) -> bool:
        """True if the terms of a text cannot decide whether it matches."""
        return bool(self.phrases or self.excluded or self.excluded_phrases)

    def matches(self, text: str) -> bool:
        """Return True if a text has all phrases and nothing excluded."""
        if not self.needs_text:
            return True
        folded = analyzer.fold(text)
        if not all(phrase in folded for phrase in self.phrases):
            return False
        if any(phrase in folded for phrase in self.excluded_phrases):
            return False
        return not (self.excluded and self._has_excluded(text))

    def _has_excluded(self, text: str) -> bool:
        # Stop words are no terms, but can be excluded.
        terms = {*analyzer.terms(text), *map(analyzer.fold, analyzer.words(text))}
        return any(word.matches(terms) for word in self.excluded)


def _is_in(at: datetime, period: "DatePeriod") -> bool:
    return (period.start is None or period.start <= at) and (
        period.end is None or at < period.end
    )


def parse(text: str, zone: tzinfo, filters: Filters = EVERYTHING) -> Query:
    """Parse any text; filters in it replace the others."""
    tokens: list[tuple[str, bool]] = []  # and whether it is the end of the query
    phrases: list[str] = []
    excluded: list[tuple[str, bool]] = []
    excluded_phrases: list[str] = []
    hints: list[str] = []
    # A shell may pass bytes that are no text.
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MAX_CHARS:
        hints.append(f"Only the first {MAX_CHARS:,} characters were read.")
    for match in _TOKEN.finditer(text[:MAX_CHARS]):
        token, name = match.group(), (match["name"] or "").lower()
        quoted = (match["quoted"] or "").strip()
        excluded_filter = _EXCLUDED_FILTER.match(token)
        if one := FILTER_FIELDS.get(name):
            value = match["value"].strip('"')
            try:
                filters = one.read(filters, value, zone)
            except ValueError:
                hints.append(f"{name}: takes {one.description}, not “{value}”.")
        elif excluded_filter and excluded_filter[1].lower() in FILTER_FIELDS:
            hints.append(f"{token}: a filter says what to keep, not what to drop.")
        elif quoted and match["not"]:
            excluded_phrases.append(quoted)
        elif quoted:
            phrases.append(quoted)
            tokens.append((quoted, False))
        elif found := _EXCLUDED.match(token):
            excluded.append((found[1], False))
        else:
            tokens.append((token, match.end() == len(text)))
    words = _words(tokens)
    if len(words) > MAX_WORDS:
        hints.append(f"Only the first {MAX_WORDS} words were searched for.")
    return Query(
        text=text,
        words=tuple(words[:MAX_WORDS]),
        phrases=tuple(dict.fromkeys(map(analyzer.fold, phrases))),
        phrase_terms=_phrase_terms(phrases),
        excluded=tuple(_words(excluded)),
        excluded_phrases=tuple(map(analyzer.fold, excluded_phrases)),
        filters=filters,
        hints=tuple(dict.fromkeys(hints)),
        stop_words=sum(
            not analyzer.is_indexed(word)
            for token, _ in tokens
            for word in analyzer.words(token)
        ),
    )


def correct(typed: str, searched: str, corrected: str) -> str:
    """Correct the misspelt words in all that was typed, dates included.

    The part that was searched for has been corrected already, or is "".
    """
    for word, right in zip(searched.split(), corrected.split(), strict=False):
        if word != right:
            typed = typed.replace(word, right, 1)
    return typed if corrected else ""


def _words(tokens: list[tuple[str, bool]]) -> list[Word]:
    """Return the words of tokens; stop words only if there are no others.

    Words that only ask for what was said are left out where others name a topic.
    """
    words = [word for token in tokens for word in _token_words(*token)]
    indexed = [word for word in words if analyzer.is_indexed(word.text)]
    if any(word.is_specific for word in indexed):
        indexed = [
            word for word in indexed if analyzer.fold(word.text) not in ASKING_WORDS
        ]
    return list({word.terms: word for word in indexed or words}.values())


def _token_words(token: str, is_last: bool) -> list[Word]:
    is_unfinished = token.endswith("*") or (is_last and token[-1].isalnum())
    found = [_word(text) for text in analyzer.words(token)]
    found = [word for word in found if word.terms]
    if is_unfinished and found:
        found[-1] = replace(found[-1], prefix=_prefix(found[-1].text))
    return found


def _prefix(text: str) -> str:
    part = analyzer.last_part(text)
    return part if len(part) >= PART_CHARS else analyzer.fold(text)


def _word(text: str) -> Word:
    folded = analyzer.fold(text)
    if _HASH.fullmatch(folded):
        return Word(text, (folded,), prefix=folded)
    terms = tuple(analyzer.query_terms(text))
    exact = analyzer.terms(text)[0]
    return Word(text, terms, "" if exact in terms else exact)


def _phrase_terms(phrases: list[str]) -> tuple[str, ...]:
    words = [word for phrase in phrases for word in analyzer.words(phrase)]
    indexed = filter(analyzer.is_indexed, words)
    return tuple(
        dict.fromkeys(term for word in indexed for term in analyzer.query_terms(word))
    )
