"""What of a node and of a grip is indexed, and what either can be filtered by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memtui.model.filters import SummaryMaker
from memtui.model.grips import Grip
from memtui.model.hits import HitKind
from memtui.model.nodes import TocLevel, TocNode
from memtui.search.scoring import Part, Said

AGENT, PROJECT, LEVEL, HAS, BY = "agent", "project", "level", "has", "by"
"""What marks say."""


LEAF = "leaf"
"""The mark of a node that is a segment: where wider ones lead to."""


MOMENT = timedelta(milliseconds=1)
"""Times are kept in milliseconds."""


_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to be found."""

    kind: HitKind
    target_id: str
    node_id: str
    said: tuple[Said, ...]
    level: TocLevel = TocLevel.SEGMENT
    marks: tuple[str, ...] = ()
    """What it can be filtered by, as ``mark`` gives it."""
    began: datetime = _EPOCH
    ended: datetime = _EPOCH
    """The first and the last moment it tells of."""


def mark(name: str, value: str) -> str:
    """What a document is marked with to be filtered by."""
    return f"{name}\x1f{value}"


def of_node(node: TocNode, grips: Sequence[Grip]) -> Iterator[Document]:
    """The documents of a node: itself, and the grips that were made for it."""
    by = SummaryMaker.MODEL if node.is_by_model else SummaryMaker.EXTRACTIVE
    whose = [mark(AGENT, name) for name in node.agents]
    whose += [mark(PROJECT, name) for name in node.projects]
    whose += [mark(LEVEL, node.level), mark(BY, by)]
    supports = {bullet.support for bullet in node.bullets}
    marks = [*whose, *(mark(HAS, support) for support in sorted(supports))]
    ended = node.end_time
    if node.level is TocLevel.SEGMENT:
        marks.append(LEAF)
    else:
        # The first moment it no longer covers.
        ended -= MOMENT
    span = node.start_time, ended
    yield Document(
        HitKind.NODE,
        node.node_id,
        node.node_id,
        tuple(said_by(node)),
        node.level,
        tuple(marks),
        *span,
    )
    for grip in grips:
        resting = {b.support for b in node.bullets if grip.grip_id in b.grip_ids}
        yield Document(
            HitKind.GRIP,
            grip.grip_id,
            node.node_id,
            ((Part.EXCERPT, grip.excerpt),),
            node.level,
            (*whose, *(mark(HAS, support) for support in sorted(resting))),
            grip.timestamp,
            grip.timestamp,
        )


def said_by(node: TocNode) -> Iterator[Said]:
    """All that is looked up of a node itself."""
    yield Part.TITLE, node.title
    if node.headline and node.headline != node.title:
        yield Part.HEADLINE, node.headline
    yield Part.KEYWORDS, " ".join(node.words)
    for bullet in node.bullets:
        yield Part.BULLETS, bullet.text
