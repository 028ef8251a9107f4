"""The part of a conversation that has been read, between what has not been.

What is unread has an estimated height, so that the scrollbar tells where one is. When
it turns out higher or lower, who scrolls goes by a turn that is in sight, never by the
number of a line.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from memtui.memory.events import Place
from memtui.recall.conversation import Stretch, Turn
from memtui.widgets.turn_lines import Laid

MOST = 600
"""How many turns are kept laid out; those furthest from the place read give way."""

FIRST_GUESS = 3.0
"""How high a turn is as long as none is known, in lines."""


class TurnWindow:
    """Turns in their order, each laid out, and what is guessed around them."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.laid: list[Laid] = []
        self.is_first = self.is_last = True
        self.turns_ahead = self.turns_behind = 0
        self.edition = 0
        """Another one after each change."""
        self._tops: list[int] = [0]

    # What stands where

    @property
    def ahead(self) -> int:
        """The guessed height of what stands before it, in lines."""
        return 0 if self.is_first else max(1, round(self.turns_ahead * self._mean))

    @property
    def behind(self) -> int:
        """The guessed height of what stands behind it, in lines."""
        return 0 if self.is_last else max(1, round(self.turns_behind * self._mean))

    @property
    def height(self) -> int:
        """How high what has been read is, in lines."""
        return self._tops[-1]

    @property
    def total(self) -> int:
        """The height of all, in lines."""
        return self.ahead + self.height + self.behind

    @property
    def _mean(self) -> float:
        return self.height / len(self.turns) if self.turns else FIRST_GUESS

    def top(self, at: int) -> int:
        """The first line of a turn, in the whole."""
        return self.ahead + self._tops[at]

    def body(self, at: int) -> int:
        """The first line of a turn itself, after its day and its thoughts."""
        return self.top(at) + self.laid[at].body

    def bottom(self, at: int) -> int:
        """The line after a turn's last."""
        return self.ahead + self._tops[at + 1]

    def at_line(self, y: int) -> int | None:
        """The turn a line belongs to; None where nothing has been read."""
        inside = y - self.ahead
        if not 0 <= inside < self.height:
            return None
        return bisect_right(self._tops, inside) - 1

    def nearest(self, y: int) -> int:
        """The turn of a line, or the nearest to it; -1 where there is none."""
        inside = min(max(y - self.ahead, 0), self.height - 1)
        found = self.at_line(self.ahead + inside)
        return -1 if found is None else found

    def find(self, place: Place) -> int | None:
        """Where the turn of a place stands here, if it has been read."""
        low, high = 0, len(self.turns)
        while low < high:
            middle = (low + high) // 2
            if self.turns[middle].place < place:
                low = middle + 1
            else:
                high = middle
        is_here = low < len(self.turns) and self.turns[low].place == place
        return low if is_here else None

    def rank(self, y: int) -> int:
        """About how many turns stand before a line."""
        if y < self.ahead:
            return round(self.turns_ahead * y / self.ahead)
        beyond = y - self.ahead - self.height
        share = beyond / max(1, self.behind)
        known = self.turns_ahead + len(self.turns)
        return known + round(self.turns_behind * min(1.0, max(0.0, share)))

    # What changes

    def replace(
        self, stretch: Stretch, laid: Sequence[Laid], ahead: int, total: int
    ) -> None:
        """Keep nothing but a stretch.

        Args:
            stretch: What was read.
            laid: Its turns laid out.
            ahead: About how many turns stand before it.
            total: About how many there are in all.
        """
        self.turns, self.laid = [*stretch.turns], [*laid]
        self.is_first, self.is_last = stretch.is_first, stretch.is_last
        self._reckon()
        self.measure(ahead, total)

    def measure(self, ahead: int, total: int) -> None:
        """Take it that so many turns stand before the first, of so many in all."""
        self.turns_ahead = 0 if self.is_first else max(1, ahead)
        rest = total - self.turns_ahead - len(self.turns)
        self.turns_behind = 0 if self.is_last else max(1, rest)

    def put_anew(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
        """Keep nothing but a stretch of the same place, of which more is known now."""
        total = self.turns_ahead + len(self.turns) + self.turns_behind
        at = self.find(stretch.turns[0].place) if stretch.turns else None
        self.replace(stretch, laid, self.turns_ahead + (at or 0), total)

    def put_before(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
        """Put a stretch before these."""
        self.turns[:0], self.laid[:0] = stretch.turns, laid
        self.is_first = stretch.is_first
        self.turns_ahead = max(1, self.turns_ahead - len(laid))
        if (more := len(self.turns) - MOST) > 0:
            del self.turns[-more:], self.laid[-more:]
            self.turns_behind = more + (0 if self.is_last else self.turns_behind)
            self.is_last = False
        self._reckon()

    def put_behind(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
        """Put a stretch behind these."""
        self.turns += stretch.turns
        self.laid += laid
        self.is_last = stretch.is_last
        self.turns_behind = max(1, self.turns_behind - len(laid))
        if (more := len(self.turns) - MOST) > 0:
            self.turns_ahead = more + (0 if self.is_first else self.turns_ahead)
            self.is_first = False
            del self.turns[:more], self.laid[:more]
        self._reckon()

    def lay(self, laid: Mapping[str, Laid]) -> None:
        """Take other lines for some of the turns, by their events' ids."""
        self.laid = [
            laid.get(turn.event.event_id, before)
            for turn, before in zip(self.turns, self.laid, strict=True)
        ]
        self._reckon()

    def _reckon(self) -> None:
        self.edition += 1
        self._tops = [0, *accumulate(len(one.lines) for one in self.laid)]
