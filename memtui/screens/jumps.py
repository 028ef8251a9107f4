"""Jumps: where the reader was before each, so that one key leads back there."""

from dataclasses import dataclass

from memtui.messages.sessions import SessionWanted
from memtui.widgets.found_lines import Landing

MOST = 50
"""How many jumps are remembered."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the contents, and in a session that lies over them."""

    landing: Landing
    """The node, and the source or the message that is shown of it."""
    pane: str = ""
    """Which pane has the focus; "" for the one that what is shown stands in."""
    session: SessionWanted | None = None
    """The session that is read, at the message the cursor is on."""


class Jumps:
    """The places the reader has jumped away from, the latest last."""

    def __init__(self) -> None:
        self._left: list[Spot] = []

    def note(self, spot: Spot) -> None:
        """Remember a place that was left."""
        self._left = [*self._left, spot][-MOST:]

    def back(self) -> Spot | None:
        """The place that was left last, which is forgotten; None if there is none."""
        return self._left.pop() if self._left else None
