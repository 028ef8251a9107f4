"""What is said between the page of a node and its sources."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.grips import Expansion
    from memtui.memory.scopes import Scope
    from memtui.memory.shares import Part
    from memtui.memory.toc import TocNode
    from memtui.memory.verdicts import Verdict


class NodeRead(Message):
    """A node has been read whole; none when it is not kept."""

    def __init__(
        self,
        node_id: str,
        of: "Scope",
        part: "Part | None",
        *,
        is_refused: bool = False,
    ) -> None:
        """Say what was read.

        Args:
            node_id: Of which node.
            of: What part of the memory was shown.
            part: What that has of the node.
            is_refused: Whether a model's version of it was rejected.
        """
        super().__init__()
        self.node_id, self.of, self.part = node_id, of, part
        self.is_refused = is_refused


class NodeCosted(Message):
    """It is known how many tokens a node takes as text."""

    def __init__(self, node: "TocNode", tokens: int) -> None:
        super().__init__()
        self.node, self.tokens = node, tokens


class QuotesRead(Message):
    """The excerpts behind a bullet have been read, in the order of its grips."""

    def __init__(self, node_id: str, bullet: int, quotes: Sequence[str]) -> None:
        super().__init__()
        self.node_id, self.bullet, self.quotes = node_id, bullet, quotes


class SourceWanted(Message):
    """A bullet is pointed at, and one of its grips; no grip where it has none.

    Or a message that was found: then an event is named, and what of it is to be marked.
    """

    def __init__(
        self,
        grip_id: str,
        place: int,
        among: int,
        why_none: str,
        verdict: "Verdict | None" = None,
        *,
        bullet: int = 0,
        event_id: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__()
        self.grip_id, self.place, self.among = grip_id, place, among
        self.why_none = why_none
        self.verdict, self.bullet = verdict, bullet
        self.event_id, self.excerpt = event_id, excerpt


class SourceOpened(Message):
    """The source of a bullet is to be read."""


class SourceRead(Message):
    """A grip or a message has been opened: its events and those around them."""

    def __init__(self, wanted: SourceWanted, expansion: "Expansion") -> None:
        super().__init__()
        self.wanted, self.expansion = wanted, expansion


class WentBack(Message):
    """The reader wants to leave a pane for the one it was reached from."""
