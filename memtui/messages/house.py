"""What the app hears of the house and of the work in it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.house import History
    from memtui.house.household import House
    from memtui.stages.progress import Progress


class HouseOpened(Message):
    """The store is open, and the first screen can be shown."""

    def __init__(self, house: "House") -> None:
        super().__init__()
        self.house = house


class WorkReported(Message, bubble=False):
    """A worker has done something, failed at something, or found nothing to do.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self.progress = progress


class LookedInside(Message):
    """The store has been asked whether anything is kept."""

    def __init__(self, is_empty: bool) -> None:
        super().__init__()
        self.is_empty = is_empty


class HistoriesFound(Message):
    """This machine has been searched for what agents keep."""

    def __init__(self, histories: "Sequence[History]") -> None:
        super().__init__()
        self.histories = histories
