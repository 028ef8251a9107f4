"""Jumping anywhere: from a few words to nodes and grips."""

from pathlib import Path

from memtui.memory.hits import Answer

LIMIT = 50
"""How many hits are answered unless fewer are asked for."""


class Teleport:
    """Finds nodes and grips through the index; through the store while it is missing."""

    def __init__(self, folder: Path) -> None:
        """Remember where the index lies; it is opened by the first question."""
        self._folder = folder

    def find(self, query: str, *, limit: int = LIMIT) -> Answer:
        """The best hits of a query as it is being typed; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.
        """
        raise NotImplementedError
