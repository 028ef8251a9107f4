"""Sample documents, and helpers that search them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from memtui.model.hits import HitKind, IndexMatch, IndexMatches
from memtui.model.nodes import TocLevel
from memtui.search import node_documents
from memtui.search import query as search_query
from memtui.search.node_documents import SEGMENT, Document, filter_token
from memtui.search.node_index import NodeIndex
from memtui.search.scoring import NodeField

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
    own = [filter_token(node_documents.LEVEL, level)]
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


def find(
    index: NodeIndex,
    query: str,
    limit: int = 50,
    *,
    is_exact: bool = True,
    is_recent_first: bool = False,
) -> IndexMatches:
    how = {"is_exact": is_exact, "is_recent_first": is_recent_first}
    return index.search(search_query.parse(query, UTC), limit, among=None, **how)


def find_ids(index: NodeIndex, query: str, limit: int = 50, **how: bool) -> list[str]:
    return [match.target_id for match in find(index, query, limit, **how).matches]


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
