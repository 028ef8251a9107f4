"""Matches the parts of a node with a query, without any index."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memtui.model.nodes import TocNode
from memtui.search.query import Query
from memtui.search.snippets import matching_terms
from memtui.text import analyzer


class Field(StrEnum):
    """A part of a node that is looked through."""

    TITLE = "title"
    HEADLINE = "headline"
    KEYWORDS = "keywords"
    BULLETS = "bullets"


WORTH = {
    Field.TITLE: 1.0,
    Field.HEADLINE: 1.0,
    Field.KEYWORDS: 0.9,
    Field.BULLETS: 0.8,
}
"""What a term is worth in each part: what a node is about before what it mentions."""


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """A part of a node that answers."""

    field: Field
    text: str
    score: float
    """0 to 1: the share of the terms asked for that it holds, by what its part is
    worth."""
    grip_ids: tuple[str, ...] = ()


def match_fields(node: TocNode, asked: Query) -> list[FieldMatch]:
    """Return the parts of a node that match, the best first.

    Exclusions and phrases of the query hold for each part.
    """
    found = []
    for name, text, grip_ids in _parts(node):
        share = _share(text, asked)
        if share and asked.matches(text):
            found.append(
                FieldMatch(name, text, round(share * WORTH[name], 3), grip_ids)
            )
    return sorted(found, key=lambda one: -one.score)


def score_node(node: TocNode, asked: Query) -> float:
    """Return the share of a query that all parts of a node have together: 0 to 1."""
    best: dict[str, float] = {}
    for name, text, _ in _parts(node):
        for term in _held(text, asked):
            best[term] = max(best.get(term, 0.0), WORTH[name])
    count = len(asked.terms)
    if not count:
        return 1.0 if asked.phrases else 0.0
    return round(sum(best.values()) / count, 3)


def _parts(node: TocNode) -> Iterator[tuple[Field, str, tuple[str, ...]]]:
    yield Field.TITLE, node.title, ()
    if node.headline and node.headline != node.title:
        yield Field.HEADLINE, node.headline, ()
    if node.keywords:
        yield Field.KEYWORDS, " · ".join(node.words), ()
    for bullet in node.bullets:
        yield Field.BULLETS, bullet.text, bullet.grip_ids


def _share(text: str, asked: Query) -> float:
    if not asked.terms:
        return 1.0 if asked.phrases and asked.matches(text) else 0.0
    return len(_held(text, asked)) / len(asked.terms)


def _held(text: str, asked: Query) -> set[str]:
    """The terms of a query that a text holds, those that may go on counted as one."""
    answers = matching_terms(text, asked)
    held = {term for term in asked.terms if term in answers}
    if asked.prefixes:
        given = {*analyzer.terms(text)}
        held |= {
            word.terms[-1]
            for word in asked.words
            if word.is_prefix and any(t.startswith(word.prefix) for t in given)
        }
    return held
