"""The protocol of every summarizer, and the summarizer that needs no model."""

from collections.abc import Sequence
from typing import Protocol

from memtui.model.model_state import ModelCondition, ModelHealth
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.segments import Segment
from memtui.model.summaries import Summary
from memtui.summarize import extractive, rollup


class Summarizer(Protocol):
    """Turns events into a summary, and summaries into a shorter one.

    It returns a draft with the facts of its making: redaction, grounding, grips and
    storage are done by the caller, so that every summarizer passes the same checks. It
    returns or raises a ``ModelError``, and is used by one thread at a time.
    """

    @property
    def identity(self) -> str:
        """The summarizer and its version; another identity makes another version."""

    def health(self) -> ModelHealth:
        """Check whether it can be asked now; quick, and never raises."""

    def cancel(self) -> None:
        """Stop the current request and refuse new ones; callable from any thread."""

    def resume(self) -> None:
        """Accept requests again after ``cancel``."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Summarize a segment; its ``refs`` are indexes into ``segment.events``.

        Args:
            segment: The segment.
            attempt: How often it was summarized already: a person who asks again wants
                other words, if there are any.
        """

    def summarize_children(
        self, level: TocLevel, children: Sequence[TocNode], *, attempt: int = 0
    ) -> Summary:
        """Summarize a node from its children.

        Args:
            level: The level of the node the summary is for.
            children: Its children, oldest first, none of them pending.
            attempt: How often it was summarized already.

        Returns:
            A summary whose ``refs`` are indexes into all the children's bullets, child
            by child.
        """


class ExtractiveSummarizer:
    """Summarizes by quoting, so that nothing can be invented; never fails or waits."""

    @property
    def identity(self) -> str:
        """The name and version of its rules."""
        return "extractive-2"

    def health(self) -> ModelHealth:
        """Return that it is ready, as it always is."""
        return ModelHealth(ModelCondition.READY)

    def cancel(self) -> None:
        """Do nothing: a summary takes milliseconds."""

    def resume(self) -> None:
        """Do nothing: it never stops."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Summarize a segment in its own sentences."""
        return extractive.summarize_segment(segment.events, segment.overlap_events)

    def summarize_children(
        self, level: TocLevel, children: Sequence[TocNode], *, attempt: int = 0
    ) -> Summary:
        """Summarize a node with bullets of its children."""
        return rollup.summarize_children(level, children)
