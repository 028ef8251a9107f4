"""Score nodes and grips for a query; the weights are in ``weights``."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memtui.model.calendar import TocLevel
from memtui.model.nodes import TocNode
from memtui.search.query import Query
from memtui.search.weights import (
    COMPLETED,
    FIELD_WEIGHTS,
    LEVEL_WEIGHTS,
    NODE_B,
    NODE_K1,
    PARTS,
    STEMMED,
    TYPICAL_LENGTH,
    NodeField,
)
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency

FieldText = tuple[NodeField, str]
"""A field and a text in it; a field may have several."""

MAX_COMPLETIONS = 8
"""The number of completions of the unfinished word that are looked up."""

MAX_TERMS = 64
"""The number of terms of a query that are looked up in the node index: its first
ones."""


def node_texts(node: TocNode) -> Iterator[tuple[NodeField, str, tuple[str, ...]]]:
    """Yield the searchable texts of a node, each with the ids of its grips."""
    yield NodeField.TITLE, node.title, ()
    if node.headline and node.headline != node.title:
        yield NodeField.HEADLINE, node.headline, ()
    yield NodeField.KEYWORDS, " · ".join(node.keyword_texts), ()
    for bullet in node.searched_bullets:
        yield NodeField.BULLETS, bullet.text, bullet.grip_ids


@dataclass(frozen=True, slots=True)
class TermForm:
    """A form in which a term may occur."""

    term: str
    factor: float
    """Its weight against the best form."""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term of a query with all its forms: the best one in a document counts."""

    term: str
    forms: tuple[TermForm, ...]
    idf: float
    postings: int
    """The number of documents that contain its forms."""


def weighted_terms(
    query: Query,
    size: int,
    frequencies: Callable[[Iterable[str]], Counter[str]],
    complete: Callable[[str], Sequence[str]],
) -> list[WeightedTerm]:
    """Return the terms of a query with those of their forms that occur.

    Two functions read the index: one returns how many of its documents contain each of
    some terms, the other the most frequent terms that begin so.
    """

    def completions(start: str) -> dict[str, float]:
        return dict.fromkeys(complete(start), COMPLETED)

    forms: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    for word in query.words:
        shared = {word.exact: 1.0} if word.exact else {}
        factor = (PARTS if len(word.terms) > 1 else STEMMED) if word.exact else 1.0
        if word.is_prefix and word.exact:
            shared = completions(word.exact) | shared
        for place, term in enumerate(word.terms, 1):
            own = {term: factor}
            if word.is_prefix and place == len(word.terms):
                own = completions(word.prefix) | own
            factors = forms.setdefault(term, {})
            for form, own_factor in (own | shared).items():
                factors[form] = max(own_factor, factors.get(form, 0.0))
            weights[term] = query.weight(word)
    terms = [*forms][:MAX_TERMS]
    counts = frequencies(form for term in terms for form in forms[term])
    weighted = []
    for term in terms:
        own = forms[term]
        total = sum(counts[form] for form in own)
        # An unknown term is as frequent as all of its completions.
        frequency = counts[term] or min(total, size)
        ranked = sorted(own.items(), key=lambda form: (-form[1], -counts[form[0]]))
        weighted.append(
            WeightedTerm(
                term,
                tuple(TermForm(*form) for form in ranked if counts[form[0]]),
                weights[term] * inverse_document_frequency(size, frequency),
                total,
            )
        )
    return weighted


def term_weights(texts: Iterable[FieldText], level: TocLevel) -> dict[str, float]:
    """Return the weight of each term of a document: 0 to less than 1."""
    weights: dict[str, float] = {}
    for name, text in texts:
        counts = Counter(analyzer.terms(text))
        weight = FIELD_WEIGHTS[name]
        if typical := TYPICAL_LENGTH.get(name):
            weight /= 1 - NODE_B + NODE_B * counts.total() / typical
        for term, count in counts.items():
            weights[term] = weights.get(term, 0.0) + weight * count
    factor = LEVEL_WEIGHTS[level]
    return {term: factor * w / (w + NODE_K1) for term, w in weights.items()}
