"""Looking: from a query to the terms that are looked up, whoever keeps them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from memtui.search import scoring
from memtui.search.query import Query, Word
from memtui.search.scoring import TermForm, WeightedTerm

TERMS = 64
"""How many terms of a query are looked up: its first ones."""


class Lexicon(Protocol):
    """Who knows which terms there are."""

    size: int
    """How many documents there are."""

    def frequency(self, term: str, /) -> int:
        """How many documents hold a term."""
        ...

    def completions(self, start: str, /) -> Sequence[str]:
        """The commonest of the other terms that begin so, as many as are wanted."""
        ...


def units(query: Query, lexicon: Lexicon) -> tuple[WeightedTerm, ...]:
    """The terms of a query with the forms there are of each, and how rare they are."""
    forms: dict[str, dict[str, float]] = {}
    for word in query.words:
        for term, known in _forms(word, lexicon):
            kept = forms.setdefault(term, {})
            for form, factor in known.items():
                kept[form] = max(factor, kept.get(form, 0.0))
    first = list(forms.items())[:TERMS]
    return tuple(_unit(term, known, lexicon) for term, known in first)


def _forms(word: Word, lexicon: Lexicon) -> Iterator[tuple[str, dict[str, float]]]:
    """The terms of a word, each with the forms that answer it."""
    shared = {word.exact: 1.0} if word.exact else {}
    if word.is_prefix and word.exact:
        shared = _begun(word.exact, lexicon) | shared
    for place, term in enumerate(word.terms, 1):
        forms = {term: scoring.STEMMED if word.exact else 1.0}
        if word.is_prefix and place == len(word.terms):
            forms = _begun(word.prefix, lexicon) | forms
        yield term, forms | shared


def _begun(start: str, lexicon: Lexicon) -> dict[str, float]:
    return dict.fromkeys(lexicon.completions(start), scoring.COMPLETED)


def _unit(term: str, forms: Mapping[str, float], lexicon: Lexicon) -> WeightedTerm:
    """A term that is nowhere is as rare as all that it may go on to be."""
    counts = {form: lexicon.frequency(form) for form in forms}
    count = counts[term] or min(sum(counts.values()), lexicon.size)
    ranked = sorted(forms.items(), key=lambda one: (-one[1], -counts[one[0]]))
    told = tuple(TermForm(*one) for one in ranked if counts[one[0]])
    return WeightedTerm(term, told, scoring.idf(count, lexicon.size))
