"""Matches the fields of a node with a query, without an index."""

from collections.abc import Iterator
from dataclasses import dataclass

from memtui.model.nodes import TocNode
from memtui.search.query import Query
from memtui.search.scoring import NodeField
from memtui.search.snippets import matching_terms
from memtui.text import analyzer

FIELD_WEIGHTS = {
    NodeField.TITLE: 1.0,
    NodeField.HEADLINE: 1.0,
    NodeField.KEYWORDS: 0.9,
    NodeField.BULLETS: 0.8,
}
"""The weight of a term in each field."""


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """A text of a node that matches."""

    field: NodeField
    text: str
    score: float
    """0 to 1: the share of the query's terms that it has, times the field's weight."""
    grip_ids: tuple[str, ...] = ()


def match_fields(node: TocNode, query: Query) -> list[FieldMatch]:
    """Return the texts of a node that match, best first.

    Exclusions and phrases of the query apply to each text.
    """
    found = []
    for field, text, grip_ids in _texts(node):
        share = _share(text, query)
        if share and query.matches(text):
            score = round(share * FIELD_WEIGHTS[field], 3)
            found.append(FieldMatch(field, text, score, grip_ids))
    return sorted(found, key=lambda one: -one.score)


def score_node(node: TocNode, query: Query) -> float:
    """Return the share of a query that all texts of a node have together: 0 to 1."""
    best: dict[str, float] = {}
    for field, text, _ in _texts(node):
        for term in _matching_terms(text, query):
            best[term] = max(best.get(term, 0.0), FIELD_WEIGHTS[field])
    count = len(query.terms)
    if not count:
        return 1.0 if query.phrases else 0.0
    return round(sum(best.values()) / count, 3)


def _texts(node: TocNode) -> Iterator[tuple[NodeField, str, tuple[str, ...]]]:
    yield NodeField.TITLE, node.title, ()
    if node.headline and node.headline != node.title:
        yield NodeField.HEADLINE, node.headline, ()
    if node.keywords:
        yield NodeField.KEYWORDS, " · ".join(node.keyword_texts), ()
    for bullet in node.searched_bullets:
        yield NodeField.BULLETS, bullet.text, bullet.grip_ids


def _share(text: str, query: Query) -> float:
    if not query.terms:
        return 1.0 if query.phrases and query.matches(text) else 0.0
    return len(_matching_terms(text, query)) / len(query.terms)


def _matching_terms(text: str, query: Query) -> set[str]:
    """Return the terms of a query that a text has; a completed one counts as typed."""
    found = matching_terms(text, query)
    matching = {term for term in query.terms if term in found}
    if query.prefixes:
        terms = {*analyzer.terms(text)}
        matching |= {
            word.terms[-1]
            for word in query.words
            if word.is_prefix and any(t.startswith(word.prefix) for t in terms)
        }
    return matching
