"""What the screen of what could not be taken hears."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.curate.quarantine import Dropped, Outcome, Page, Retried
    from memtui.curate.refusals import Shown


class QuarantineRead(Message):
    """Some of what could not be taken has been read, and what became of retries."""

    def __init__(self, page: "Page", outcomes: "Sequence[Outcome]") -> None:
        super().__init__()
        self.page, self.outcomes = page, outcomes


class MoreWanted(Message):
    """The end of what is listed is near, and there is more."""


class RefusalRead(Message):
    """One thing that could not be taken has been read, with what it says."""

    def __init__(self, shown: "Shown") -> None:
        super().__init__()
        self.shown = shown


class RetryMade(Message):
    """Some of what could not be taken is being tried again."""

    def __init__(self, retried: "Retried") -> None:
        super().__init__()
        self.retried = retried


class DropMade(Message):
    """Some of what could not be taken has been dropped."""

    def __init__(self, dropped: "Dropped") -> None:
        super().__init__()
        self.dropped = dropped
