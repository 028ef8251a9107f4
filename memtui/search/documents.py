"""What of a node and of a grip is indexed, and how much each part weighs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtui.memory.grips import Grip
from memtui.memory.hits import HitKind
from memtui.memory.toc import TocNode

TITLE, HEADLINE, KEYWORD, BULLET, EXCERPT = 2.0, 2.5, 2.0, 1.0, 1.0
"""What a word weighs in each part, against one in a bullet."""


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to be found: its parts with their weights."""

    kind: HitKind
    target_id: str
    node_id: str
    parts: tuple[tuple[str, float], ...]
    agents: tuple[str, ...] = ()
    """Whose work it tells of."""
    projects: tuple[str, ...] = ()


def of_node(node: TocNode, grips: Sequence[Grip]) -> Iterator[Document]:
    """The documents of a node: itself, and the grips that were made for it."""
    parts = [(node.title, TITLE), (" ".join(node.words), KEYWORD)]
    if node.headline != node.title:
        parts.append((node.headline, HEADLINE))
    parts += [(bullet.text, BULLET) for bullet in node.bullets]
    made = (node.agents, node.projects)
    yield Document(HitKind.NODE, node.node_id, node.node_id, tuple(parts), *made)
    for grip in grips:
        excerpt = ((grip.excerpt, EXCERPT),)
        yield Document(HitKind.GRIP, grip.grip_id, node.node_id, excerpt, *made)
