"""The interface of all summarizers, and the summarizer that needs no model."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from memtui.model.calendar import TocLevel
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.nodes import NO_TOTALS, ProjectTotals, Summary, TocNode
from memtui.model.sessions import Segment
from memtui.summarize import extractive, rollup


class Summarizer(Protocol):
    """Summarizes events, and combines summaries into a shorter one.

    It returns a draft and statistics. Redaction, grounding, grips and storage are up to
    the caller, so that all summarizers pass the same checks. It returns or raises a
    ``ModelError``, and is used by one thread at a time.
    """

    @property
    def identity(self) -> str:
        """Return the summarizer and its version; another identity makes another
        version."""

    def health(self) -> ModelHealth:
        """Check whether it can be asked now; quick, and never raises."""

    def cancel(self) -> None:
        """Stop the current request and refuse new ones; callable from any thread."""

    def resume(self) -> None:
        """Accept requests again after ``cancel``."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Summarize a segment; ``refs`` are indexes into ``segment.events``.

        Args:
            segment: The segment.
            attempt: How often it was summarized before; a user who asks again wants a
                different wording.
        """

    def summarize_children(
        self,
        level: TocLevel,
        children: Sequence[TocNode],
        *,
        totals: Mapping[str, ProjectTotals] = NO_TOTALS,
        attempt: int = 0,
    ) -> Summary:
        """Summarize a node from its children.

        Args:
            level: The level of the node the summary is for.
            children: Its children, oldest first, none of them pending.
            totals: The work on each project in the node's period.
            attempt: How often it was summarized already.

        Returns:
            A summary whose ``refs`` are indexes into all the children's bullets, child
            by child.
        """


class ExtractiveSummarizer:
    """Summarizes by quoting; never fails or waits."""

    @property
    def identity(self) -> str:
        """Return the name and version of its rules."""
        return rollup.IDENTITY

    def health(self) -> ModelHealth:
        """Return that it is ready, as it always is."""
        return ModelHealth(ModelCondition.READY)

    def cancel(self) -> None:
        """Do nothing: a summary takes milliseconds."""

    def resume(self) -> None:
        """Do nothing: it never stops."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        return extractive.summarize_segment(
            segment.events,
            segment.earlier_prompts,
            segment.session_title,
            is_in_repository=segment.is_in_repository,
        )

    def summarize_children(
        self,
        level: TocLevel,
        children: Sequence[TocNode],
        *,
        totals: Mapping[str, ProjectTotals] = NO_TOTALS,
        attempt: int = 0,
    ) -> Summary:
        return rollup.summarize_children(level, children, totals)
