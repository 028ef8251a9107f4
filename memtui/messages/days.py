"""What the screen of the days hears."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from datetime import date

    from memtui.memory.days import Span, Year


class DaysRead(Message):
    """Years have been read, and between which days anything is kept."""

    def __init__(
        self,
        span: "Span | None",
        years: "Sequence[Year]",
        counts: Sequence[int],
        *,
        is_again: bool = False,
    ) -> None:
        super().__init__()
        self.span, self.years, self.counts = span, years, counts
        self.is_again = is_again
        """Whether they were read before, and have changed since."""


class DayPointedAt(Message):
    """The cursor is on another day."""

    def __init__(self, day: "date") -> None:
        super().__init__()
        self.day = day


class DayChosen(Message):
    """The day the cursor is on is to be opened."""


class YearsShown(Message):
    """Other years are in sight, which may have to be read."""


class NearestFound(Message):
    """The node that lies nearest to a wanted one has been looked for."""

    def __init__(self, wanted: str, found: str) -> None:
        super().__init__()
        self.wanted, self.found = wanted, found
