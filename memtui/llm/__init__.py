"""Who summarises: the protocol every summariser keeps."""

from collections.abc import Sequence
from typing import Protocol

from memtui.model.model_state import ModelHealth
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.segments import Segment
from memtui.model.summaries import Summary


class Summarizer(Protocol):
    """Turns events into a summary, and summaries into a shorter one.

    What it answers is a draft with the facts of its making: redaction, sanitising,
    audit, grips and storage are the stage's, so that every summariser passes the same
    gate. It answers or raises a ``ModelError``, and is asked by one thread at a time.
    """

    @property
    def identity(self) -> str:
        """Who it is and by which rules it works; another identity, another version."""

    def health(self) -> ModelHealth:
        """Look whether it can be asked now; quick, and never an exception."""

    def cancel(self) -> None:
        """End what it is doing and refuse what comes; callable from any thread."""

    def resume(self) -> None:
        """Accept requests again after ``cancel``."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Say what a segment holds; its ``refs`` are places in ``segment.events``.

        Args:
            segment: The segment.
            attempt: How often it was summarised already: a person who asks again
                wants other words, if there are any.
        """

    def summarize_children(
        self, level: TocLevel, children: Sequence[TocNode], *, attempt: int = 0
    ) -> Summary:
        """Say what a node of this level holds.

        Args:
            level: The level of the node the summary is for.
            children: Its children, oldest first, none of them pending.
            attempt: How often it was summarised already.

        Returns:
            A summary whose ``refs`` are places in the row of all the children's
            bullets, child by child.
        """
