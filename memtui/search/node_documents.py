"""The documents of the node index: what is indexed of a node and of a grip."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip
from memtui.model.filters import Filters, SummarizerKind
from memtui.model.hits import HitKind
from memtui.model.nodes import TocNode
from memtui.search.scoring import FieldText, NodeField

AGENT, PROJECT, LEVEL, HAS, BY = "agent", "project", "level", "has", "by"

SEGMENT = "segment"
"""The filter token of nodes that are segments: hits of wider nodes lead to one."""

LAST_MOMENT = timedelta(milliseconds=1)
"""A wide node ends so long before the next one begins: times are milliseconds."""

MINUTE_S = 60

_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of the index."""

    kind: HitKind
    target_id: str
    node_id: str
    texts: tuple[FieldText, ...]
    level: TocLevel = TocLevel.SEGMENT
    filters: tuple[str, ...] = ()
    """Its filter tokens, as ``filter_token`` makes them."""
    start: datetime = _EPOCH
    end: datetime = _EPOCH


def filter_token(name: str, value: str) -> str:
    """Return the token a document has if a filter lets it pass."""
    return f"{name}\x1f{value}"


def filter_groups(filters: Filters) -> list[set[str]]:
    """Return groups of filter tokens; a document passes if it has one of each group."""
    values: dict[str, Iterable[str | None]] = {
        AGENT: [filters.scope.agent],
        PROJECT: [filters.scope.project],
        LEVEL: filters.levels,
        HAS: filters.support,
        BY: [filters.summarizer_kind],
    }
    groups = (
        {filter_token(name, value) for value in allowed if value}
        for name, allowed in values.items()
    )
    return [group for group in groups if group]


def node_documents(node: TocNode, grips: Iterable[Grip]) -> Iterator[Document]:
    """Return the documents of a node: the node itself and its grips."""
    maker = SummarizerKind.MODEL if node.is_by_model else SummarizerKind.EXTRACTIVE
    common = [filter_token(AGENT, name) for name in node.agents]
    common += [filter_token(PROJECT, name) for name in node.projects]
    common += [filter_token(LEVEL, node.level), filter_token(BY, maker)]
    supports = sorted({bullet.support for bullet in node.bullets})
    own = [*common, *(filter_token(HAS, support) for support in supports)]
    start, end = node_times(node)
    if node.level is TocLevel.SEGMENT:
        own.append(SEGMENT)
    yield Document(
        HitKind.NODE,
        node.node_id,
        node.node_id,
        tuple((field, text) for field, text, _ in node_texts(node)),
        node.level,
        tuple(own),
        start,
        end,
    )
    for grip in grips:
        cited = {b.support for b in node.bullets if grip.grip_id in b.grip_ids}
        yield Document(
            HitKind.GRIP,
            grip.grip_id,
            node.node_id,
            ((NodeField.EXCERPT, grip.excerpt),),
            node.level,
            (*common, *(filter_token(HAS, support) for support in sorted(cited))),
            grip.timestamp,
            grip.timestamp,
        )


def node_times(node: TocNode) -> tuple[datetime, datetime]:
    """Return the first and the last moment of a node."""
    end = node.end_time
    is_segment = node.level is TocLevel.SEGMENT
    return node.start_time, end if is_segment else end - LAST_MOMENT


def node_texts(node: TocNode) -> Iterator[tuple[NodeField, str, tuple[str, ...]]]:
    """Yield the searchable texts of a node, each with the ids of its grips."""
    yield NodeField.TITLE, node.title, ()
    if node.headline and node.headline != node.title:
        yield NodeField.HEADLINE, node.headline, ()
    yield NodeField.KEYWORDS, " · ".join(node.keyword_texts), ()
    for bullet in node.searched_bullets:
        yield NodeField.BULLETS, bullet.text, bullet.grip_ids


def minute(at: datetime) -> int:
    return int(at.timestamp() // MINUTE_S)
