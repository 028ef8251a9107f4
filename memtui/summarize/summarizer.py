"""The interface of all summarizers, and the summarizer that needs no model."""

from collections.abc import Sequence
from typing import Protocol

from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.nodes import Summary
from memtui.model.sessions import PeriodWork
from memtui.model.work import Facts
from memtui.summarize import card, rollup


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
        """Stop the current request and refuse all others; callable from any thread."""

    def summarize_events(
        self,
        events: Sequence[Event],
        facts: Facts,
        *,
        earlier_request: str = "",
        attempt: int = 0,
    ) -> Summary:
        """Summarize consecutive events of a session: a segment, or all of them.

        Args:
            events: The events, oldest first.
            facts: What they show.
            earlier_request: The user's last message before them.
            attempt: How often they were summarized before; a user who asks again wants
                a different wording.
        """

    def summarize_children(
        self,
        level: TocLevel,
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        """Summarize a node above the segments from the work of its sessions.

        Args:
            level: The level of the node.
            works: The work of each session in the node's period, the oldest first.
            attempt: How often it was summarized already.
        """


class ExtractiveSummarizer:
    """Summarizes by quoting and counting; never fails or waits."""

    @property
    def identity(self) -> str:
        """Return the name and version of its rules."""
        return card.IDENTITY

    def health(self) -> ModelHealth:
        """Return that it is ready, as it always is."""
        return ModelHealth(ModelCondition.READY)

    def cancel(self) -> None:
        """Do nothing: a summary takes milliseconds."""

    def summarize_events(
        self,
        events: Sequence[Event],
        facts: Facts,
        *,
        earlier_request: str = "",
        attempt: int = 0,
    ) -> Summary:
        return card.summarize_segment(facts, earlier_request)

    def summarize_children(
        self,
        level: TocLevel,
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        return rollup.summarize_period(level, works)
