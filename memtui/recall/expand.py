"""Opening a grip: from a bullet back to the events that say it."""

from memtui.memory.grips import Expansion

BEFORE = 3
"""How many events are shown before the excerpt unless more are asked for."""

AFTER = 3
"""How many events are shown after it."""


def expand(grip_id: str, *, before: int = BEFORE, after: int = AFTER) -> Expansion:
    """The grip's own events and those around them, of the same session alone.

    The window reaches from an hour before the first event of the excerpt to an hour
    after its last (decisions §6). An unknown grip gives an empty answer.
    """
    raise NotImplementedError
