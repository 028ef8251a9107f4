"""What the screen of versions hears."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.toc import TocHistory, TocNode


class HistoryRead(Message):
    """All versions of a node are known; none when it is not kept."""

    def __init__(self, history: "TocHistory | None") -> None:
        super().__init__()
        self.history = history


class EditionRead(Message):
    """A version of a node has been read whole; none when it is not kept."""

    def __init__(self, version: int, node: "TocNode | None") -> None:
        super().__init__()
        self.version, self.node = version, node


class VersionChosen(Message):
    """It was noted what a person wants to see of a node."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.said = said
