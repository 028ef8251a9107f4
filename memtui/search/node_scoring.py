"""Score nodes and grips for a query.

The weight of a term in a document depends on that document alone, so the index stores
it. A score is the sum of the weights times the terms' idf, divided by the most that it
could be, times the share of the query's terms that the document has: 0 to less than 1.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from memtui.model.calendar import TocLevel
from memtui.model.nodes import TocNode
from memtui.search.query import Query
from memtui.text import analyzer


class NodeField(StrEnum):
    """A searchable part of a node or a grip."""

    TITLE = "title"
    HEADLINE = "headline"
    KEYWORDS = "keywords"
    BULLETS = "bullets"
    EXCERPT = "excerpt"


# Raise ``node_index.VERSION`` after a change of a weight: the index stores them.

FIELD_WEIGHTS = {
    NodeField.TITLE: 4.0,
    NodeField.HEADLINE: 4.0,
    NodeField.KEYWORDS: 2.0,
    NodeField.BULLETS: 1.0,
    NodeField.EXCERPT: 2.0,
}

TYPICAL_LENGTH = {NodeField.BULLETS: 20, NodeField.EXCERPT: 25}
"""The usual number of terms of a text; in other fields the length does not matter."""

B = 0.5
"""BM25's b: how much the length matters, from 0 to 1."""

K1 = 0.6
"""BM25's saturation. It is small: one occurrence in a title is worth 0.87,
one in a bullet 0.62."""

LEVEL_WEIGHTS = {
    TocLevel.SEGMENT: 1.0,
    TocLevel.DAY: 0.99,
    TocLevel.WEEK: 0.98,
    TocLevel.MONTH: 0.97,
    TocLevel.YEAR: 0.96,
}
"""Among equals the narrower node comes first."""

STEMMED = 0.95  # another form of a word, against the word as typed
PARTS = 0.8  # the parts of an identifier, against the whole
COMPLETED = 0.8  # a word that begins with the unfinished one

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


class TermForms(NamedTuple):
    """A term of a query; of its forms the best one in a document counts."""

    forms: dict[str, float]
    """The forms in which it may occur, each with its weight against the best one."""
    weight: float
    """The factor on its idf."""


def query_terms(
    query: Query, complete: Callable[[str], Iterable[str]]
) -> list[TermForms]:
    """Return the terms of a query with their forms.

    A function returns the most frequent terms of the index that begin so.
    """

    def completions(start: str) -> dict[str, float]:
        return dict.fromkeys(complete(start), COMPLETED)

    terms: dict[str, TermForms] = {}
    for word in query.words:
        shared = {word.exact: 1.0} if word.exact else {}
        factor = (PARTS if len(word.terms) > 1 else STEMMED) if word.exact else 1.0
        if word.is_prefix and word.exact:
            shared = completions(word.exact) | shared
        for term in word.terms:
            own = {term: factor}
            if word.is_prefix and term == word.terms[-1]:
                own = completions(word.prefix) | own
            forms = terms.setdefault(term, TermForms({}, query.weight(word))).forms
            for form, own_factor in (own | shared).items():
                forms[form] = max(own_factor, forms.get(form, 0.0))
    return [*terms.values()][:MAX_TERMS]


def term_weights(texts: Iterable[FieldText], level: TocLevel) -> dict[str, float]:
    """Return the weight of each term of a document: 0 to less than 1."""
    weights: dict[str, float] = {}
    for name, text in texts:
        counts = Counter(analyzer.terms(text))
        weight = FIELD_WEIGHTS[name]
        if typical := TYPICAL_LENGTH.get(name):
            weight /= 1 - B + B * counts.total() / typical
        for term, count in counts.items():
            weights[term] = weights.get(term, 0.0) + weight * count
    factor = LEVEL_WEIGHTS[level]
    return {term: factor * w / (w + K1) for term, w in weights.items()}
