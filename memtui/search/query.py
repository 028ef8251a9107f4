"""Queries: what a person typed, read as words, phrases, exclusions and filters.

Any string is a query. What is not grammar is text: ``std::vec``, ``http://…``,
``--force`` and an unbalanced quote are searched for as they stand.

====================  =========================================================
``token refresh``     either word, in any form; the last may be unfinished
``"exact words"``     these words as they stand, punctuation included
``refr*``             words that begin so
``-term``             nothing that holds it; ``-rf`` and ``--force`` are text
``agent:codex``       a filter; see ``filters.NAMES``
====================  =========================================================
"""

import re
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters
from memtui.text import analyzer

MAX_CHARS = 10_000
"""How much of a query is read, in characters."""

MAX_WORDS = 64
"""How many different words of a query are searched for: its first ones."""

FLAG_CHARS = 2
"""After one hyphen, so many letters are a flag (``-rf``), more are an exclusion."""

PART_CHARS = 3
"""From so many letters on, the last part of an identifier is looked on from."""

_TOKEN = re.compile(
    r'(?P<name>[A-Za-z]+):(?P<value>"[^"]*"|\S+)|(?P<not>-)?"(?P<said>[^"]+)"|\S+'
)

_EXCLUDED = re.compile(rf"-(\w[\w.@/-]{{{FLAG_CHARS},}}\*?)$")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Word:
    """One word that is asked for."""

    text: str
    """As it was typed."""
    terms: tuple[str, ...]
    """What answers it: all of these, each as ``words.needed`` gives it."""
    exact: str = ""
    """The term of the word exactly as it stands, if that is another one: a text that
    has it is the better answer."""
    prefix: str = ""
    """How terms begin that answer as well as the last of its own, since it may go on;
    "" if it is whole. That is as it was typed: "retries" goes on to no "retrieve"."""

    @property
    def is_prefix(self) -> bool:
        """Whether it may go on."""
        return bool(self.prefix)


@dataclass(frozen=True, slots=True)
class Query:
    """A query, read."""

    text: str
    """What was typed."""
    words: tuple[Word, ...] = ()
    """What is asked for, phrases' words included; each once."""
    phrases: tuple[str, ...] = ()
    """Texts that must stand there as they are, folded."""
    phrase_terms: tuple[str, ...] = ()
    """The terms of these: who holds the words of a phrase has them all."""
    excluded: tuple[Word, ...] = ()
    """Words that must not be there."""
    excluded_phrases: tuple[str, ...] = ()
    """Texts that must not be there, folded."""
    filters: Filters = EVERYTHING
    hints: tuple[str, ...] = ()
    """What of it could not be understood, each a sentence."""

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms that are asked for, each once, in their order."""
        return tuple(dict.fromkeys(t for word in self.words for t in word.terms))

    @property
    def prefixes(self) -> frozenset[str]:
        """How terms begin that answer as well as the last of a word's own."""
        return frozenset(word.prefix for word in self.words if word.is_prefix)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for that could be looked up."""
        return not (self.words or self.phrases)

    @property
    def has_only_stop_words(self) -> bool:
        """Whether it has words, and none that could be looked up."""
        return not any(analyzer.is_indexed(word.text) for word in self.words)

    @property
    def needs_text(self) -> bool:
        """Whether which words a text holds does not tell if it answers."""
        return bool(self.phrases or self.excluded or self.excluded_phrases)

    def matches(self, text: str) -> bool:
        """Whether a text holds every phrase, and nothing that must not be there."""
        if not self.needs_text:
            return True
        said = analyzer.fold(text)
        if not all(phrase in said for phrase in self.phrases):
            return False
        if any(phrase in said for phrase in self.excluded_phrases):
            return False
        return not (self.excluded and self._is_excluded(text))

    def _is_excluded(self, text: str) -> bool:
        # Stop words are no terms, and can be excluded.
        held = {*analyzer.terms(text), *map(analyzer.fold, analyzer.words(text))}
        return any(_holds(word, held) for word in self.excluded)


def _holds(word: Word, held: set[str]) -> bool:
    *whole, last = word.terms
    if not held.issuperset(whole):
        return False
    return last in held or (
        word.is_prefix and any(term.startswith(word.prefix) for term in held)
    )


@dataclass(slots=True)
class _Reading:
    """A query that is being read."""

    zone: tzinfo
    typed: list[tuple[str, bool]] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    without_phrases: list[str] = field(default_factory=list)
    filters: Filters = EVERYTHING
    hints: list[str] = field(default_factory=list)


def parse(text: str, zone: tzinfo, filters: Filters = EVERYTHING) -> Query:
    """Read what was typed.

    Args:
        text: Any string; only its first ``CAP_CHARS`` characters are read.
        zone: The calendar's time zone, in which dates are meant.
        filters: Conditions that hold besides; those typed go before them.
    """
    reading = _Reading(zone, filters=filters)
    # What a shell hands on of bytes that are no text.
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MAX_CHARS:
        reading.hints.append(f"Only the first {MAX_CHARS:,} characters were read.")
    for match in _TOKEN.finditer(text[:MAX_CHARS]):
        _take(reading, match, is_last=match.end() == len(text))
    found = _words(reading.typed)
    if len(found) > MAX_WORDS:
        reading.hints.append(f"Only the first {MAX_WORDS} words were searched for.")
    return Query(
        text=text,
        words=tuple(found[:MAX_WORDS]),
        phrases=tuple(dict.fromkeys(map(analyzer.fold, reading.phrases))),
        phrase_terms=_quoted(reading.phrases),
        excluded=tuple(_words([(word, False) for word in reading.without])),
        excluded_phrases=tuple(map(analyzer.fold, reading.without_phrases)),
        filters=reading.filters,
        hints=tuple(dict.fromkeys(reading.hints)),
    )


def correct(typed: str, looked_up: str, meant: str) -> str:
    """What was typed with its misspelt words put right, times and all.

    Args:
        typed: All that was typed.
        looked_up: What of it was looked up.
        meant: The same, put right; "" where there is nothing to say.
    """
    for word, right in zip(looked_up.split(), meant.split(), strict=False):
        if word != right:
            typed = typed.replace(word, right, 1)
    return typed if meant else ""


def _take(reading: _Reading, match: re.Match[str], *, is_last: bool) -> None:
    typed, name = match.group(), (match["name"] or "").lower()
    if name in FILTER_FIELDS:
        _filter(reading, name, match["value"].strip('"'))
    elif typed[0] == "-" and _named(typed[1:]) in FILTER_FIELDS:
        reading.hints.append(f"{typed}: a filter says what to keep, not what to drop.")
    elif match["said"] and match["said"].strip():
        said = match["said"].strip()
        if match["not"]:
            reading.without_phrases.append(said)
        else:
            reading.phrases.append(said)
            reading.typed.append((said, False))
    elif excluded := _EXCLUDED.match(typed):
        reading.without.append(excluded[1])
    else:
        reading.typed.append((typed, is_last))


def _words(typed: list[tuple[str, bool]]) -> list[Word]:
    """The words of what was typed; stop words only where there is nothing else."""
    found = [
        word for text, is_last in typed for word in _of_token(text, is_last=is_last)
    ]
    telling = [word for word in found if analyzer.is_indexed(word.text)]
    return list({word.terms: word for word in telling or found}.values())


def _named(typed: str) -> str:
    """What stands before a colon, if there is one."""
    name, colon, _ = typed.partition(":")
    return name.lower() if colon else ""


def _quoted(phrases: list[str]) -> tuple[str, ...]:
    """What can be looked up of phrases: their words without stop words."""
    found = [chunk for said in phrases for chunk in analyzer.words(said)]
    telling = filter(analyzer.is_indexed, found)
    return tuple(
        dict.fromkeys(t for chunk in telling for t in analyzer.query_terms(chunk))
    )


def _of_token(token: str, *, is_last: bool) -> list[Word]:
    is_open = token.endswith("*") or (is_last and token[-1].isalnum())
    found = [_word(chunk) for chunk in analyzer.words(token)]
    found = [word for word in found if word.terms]
    if is_open and found:
        found[-1] = replace(found[-1], prefix=_begun(found[-1].text))
    return found


def _begun(chunk: str) -> str:
    """What of an unfinished word goes on: its last part, if it is no mere hint."""
    part = analyzer.last_part(chunk)
    return part if len(part) >= PART_CHARS else analyzer.fold(chunk)


def _word(chunk: str) -> Word:
    folded = analyzer.fold(chunk)
    if _HASH.fullmatch(folded):
        return Word(chunk, (folded,), prefix=folded)
    terms = tuple(analyzer.query_terms(chunk))
    whole = analyzer.terms(chunk)[0]
    return Word(chunk, terms, "" if whole in terms else whole)


def _filter(reading: _Reading, name: str, value: str) -> None:
    """Narrow the query, or say why this does not."""
    try:
        reading.filters = FILTER_FIELDS[name].read(reading.filters, value, reading.zone)
    except ValueError:
        reading.hints.append(
            f"{name}: takes {FILTER_FIELDS[name].description}, not “{value}”."
        )
