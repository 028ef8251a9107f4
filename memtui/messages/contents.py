"""What is said in the tree of contents, and by it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.scopes import Scope
    from memtui.memory.toc import TocLine
    from memtui.recall.browse import Branches


class PageRead(Message):
    """Lines under a node of the contents have been read; no node means the years."""

    def __init__(
        self, node_id: str, offset: int, lines: "Sequence[TocLine]", of: "Scope"
    ) -> None:
        super().__init__()
        self.node_id, self.offset, self.lines, self.of = node_id, offset, lines, of


class NotRead(Message):
    """Something of the contents could not be read."""


class PathRead(Message):
    """The way down to a node is known; empty when the node is not kept."""

    def __init__(self, node_id: str, path: Sequence[str]) -> None:
        super().__init__()
        self.node_id, self.path = node_id, path


class BranchesRead(Message):
    """Lines that may have changed have been read again, and whole open branches."""

    def __init__(
        self,
        lines: "Sequence[TocLine]",
        branches: "dict[str, Sequence[TocLine]]",
        of: "Scope",
    ) -> None:
        super().__init__()
        self.lines, self.branches, self.of = lines, branches, of


class NodePointedAt(Message):
    """The cursor of the contents is on a node."""

    def __init__(self, line: "TocLine") -> None:
        super().__init__()
        self.line = line


class NodeOpened(Message):
    """A node of the contents is to be read."""


class Revealed(Message):
    """The contents have been opened down to a node, and the cursor is on it."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class PeerFound(Message):
    """The node beside a node is known; an empty id at either end of the list."""

    def __init__(self, node_id: str, step: int) -> None:
        super().__init__()
        self.node_id, self.step = node_id, step


class AllRead(Message):
    """All that is below a node has been read, or as much of it as is reasonable."""

    def __init__(self, node_id: str, branches: "Branches", of: "Scope") -> None:
        super().__init__()
        self.node_id, self.branches, self.of = node_id, branches, of
