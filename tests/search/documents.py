"""Sample documents, and helpers that search them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from memtui.model.calendar import TocLevel
from memtui.search import node_index
from memtui.search import query as search_query
from memtui.search.node_index import (
    SEGMENT,
    Document,
    NodeIndex,
    NodeMatch,
    filter_token,
)
from memtui.search.node_scoring import NodeField, WeightedTerm
from memtui.search.query import Query

DAY = datetime(2025, 3, 10, tzinfo=UTC)


def document(
    name: str,
    text: str,
    *,
    part: NodeField = NodeField.BULLETS,
    level: TocLevel = TocLevel.SEGMENT,
    day: int = 0,
    days: int = 0,
    filters: Iterable[str] = (),
) -> Document:
    """Return a document that starts on a day and covers some days; 20 minutes for 0."""
    start = DAY + timedelta(days=day)
    end = start + (timedelta(days=days) or timedelta(minutes=20))
    own = [filter_token(node_index.LEVEL, level)]
    own += [SEGMENT] if level is TocLevel.SEGMENT else []
    texts = ((part, text),)
    return Document(name, texts, level, (*own, *filters), start, end)


def search(
    index: NodeIndex,
    query: Query,
    limit: int = 50,
    *,
    among: Collection[str] | None = None,
    is_exact: bool = True,
) -> tuple[Sequence[NodeMatch], set[str]]:
    """Return the matches, and the terms that were too common."""
    return index.read(
        lambda reader: reader.search(query, limit, among=among, is_exact=is_exact)
    )


def find(
    index: NodeIndex, query: str, limit: int = 50, *, is_exact: bool = True
) -> Sequence[NodeMatch]:
    parsed = search_query.parse(query, UTC)
    return search(index, parsed, limit, is_exact=is_exact)[0]


def find_ids(index: NodeIndex, query: str, limit: int = 50, **how: bool) -> list[str]:
    return [match.node_id for match in find(index, query, limit, **how)]


def find_skipped(index: NodeIndex, query: str) -> set[str]:
    """Return the terms that were too common to be looked up everywhere."""
    return search(index, search_query.parse(query, UTC))[1]


def suggest(index: NodeIndex, query: str, *, has_few: bool = False) -> str:
    parsed = search_query.parse(query, UTC)
    return index.read(lambda reader: reader.suggestion(parsed, has_few=has_few))


def score_document(
    terms: Sequence[WeightedTerm], weights: Mapping[str, float]
) -> float:
    """Return the score that the formula gives a document."""
    best = [
        max(
            (form.factor * weights.get(form.term, 0.0) for form in term.forms),
            default=0,
        )
        for term in terms
    ]
    most = sum(term.idf for term in terms) * len(terms)
    total = sum(term.idf * weight for term, weight in zip(terms, best, strict=True))
    return sum(weight > 0 for weight in best) * total / most


def score(index: NodeIndex, query: str, name: str) -> float:
    matches = {match.node_id: match for match in find(index, query)}
    return matches[name].score


def make_word(number: int) -> str:
    """Return a word that has no parts and no other form."""
    return f"q{chr(97 + number // 26)}{chr(97 + number % 26)}"


def make_documents(count: int) -> list[Document]:
    return [
        document(
            f"n{i:04}",
            " ".join(
                ["file"] * (i % 3) + ["test"] * (i % 5) + ["code", make_word(i % 97)]
            ),
            part=NodeField.TITLE if i % 50 == 0 else NodeField.BULLETS,
            day=i,
        )
        for i in range(count)
    ]
