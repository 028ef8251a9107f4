"""Sample documents, and helpers that search them."""

from collections.abc import Collection, Iterable, Sequence
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
from memtui.search.node_scoring import NodeField
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
) -> Sequence[NodeMatch]:
    return index.read(
        lambda reader: reader.search(query, limit, among=among, is_exact=is_exact)
    )


def find(
    index: NodeIndex, query: str, limit: int = 50, *, is_exact: bool = True
) -> Sequence[NodeMatch]:
    parsed = search_query.parse(query, UTC)
    return search(index, parsed, limit, is_exact=is_exact)


def find_ids(index: NodeIndex, query: str, limit: int = 50, **how: bool) -> list[str]:
    return [match.node_id for match in find(index, query, limit, **how)]


def suggest(index: NodeIndex, query: str, *, has_few: bool = False) -> str:
    parsed = search_query.parse(query, UTC)
    return index.read(lambda reader: reader.suggestion(parsed, has_few=has_few))


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
