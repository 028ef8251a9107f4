"""Sample documents, and helpers that search them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from memtui.model.calendar import TocLevel
from memtui.model.hits import HitKind, IndexMatch, IndexMatches
from memtui.search import node_index
from memtui.search import query as search_query
from memtui.search.node_index import SEGMENT, Document, NodeIndex, filter_token
from memtui.search.query import Query
from memtui.search.scoring import NodeField, WeightedTerm

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
    began = DAY + timedelta(days=day)
    ended = began + (timedelta(days=days) or timedelta(minutes=20))
    own = [filter_token(node_index.LEVEL, level)]
    own += [SEGMENT] if level is TocLevel.SEGMENT else []
    return Document(
        HitKind.NODE,
        name,
        name,
        ((part, text),),
        level,
        (*own, *filters),
        began,
        ended,
    )


def ask(
    index: NodeIndex,
    query: Query,
    limit: int = 50,
    *,
    among: Collection[str] | None = None,
    is_exact: bool = True,
) -> IndexMatches:
    return index.read(
        lambda reader: reader.search(query, limit, among=among, is_exact=is_exact)
    )


def find(
    index: NodeIndex, query: str, limit: int = 50, *, is_exact: bool = True
) -> IndexMatches:
    return ask(index, search_query.parse(query, UTC), limit, is_exact=is_exact)


def find_ids(index: NodeIndex, query: str, limit: int = 50, **how: bool) -> list[str]:
    return [match.target_id for match in find(index, query, limit, **how).matches]


def suggest(index: NodeIndex, query: str, *, has_few: bool = False) -> str:
    asked = search_query.parse(query, UTC)
    return index.read(lambda reader: reader.suggestion(asked, has_few=has_few))


def score_document(
    terms: Sequence[WeightedTerm], weights: Mapping[str, float]
) -> float:
    """The score that the formula gives a document."""
    found = [
        max(
            (form.factor * weights.get(form.term, 0.0) for form in term.forms),
            default=0,
        )
        for term in terms
    ]
    most = sum(term.idf for term in terms) * len(terms)
    total = sum(term.idf * one for term, one in zip(terms, found, strict=True))
    return sum(one > 0 for one in found) * total / most


def score(index: NodeIndex, query: str, name: str) -> float:
    matches: dict[str, IndexMatch] = {
        m.target_id: m for m in find(index, query).matches
    }
    return matches[name].score


def make_word(number: int) -> str:
    """A word that has no parts and no other form."""
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
