"""The summariser that needs no model: it quotes, and so it cannot invent."""

from collections.abc import Sequence

from memtui.model.model_state import ModelCondition, ModelHealth
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.segments import Segment
from memtui.model.summaries import Summary
from memtui.summarize import extractive, rollup


class Extractive:
    """Summarises by choosing among what was said; never fails, never waits."""

    @property
    def identity(self) -> str:
        """The name and the version of its rules."""
        return "extractive-2"

    def health(self) -> ModelHealth:
        """It is always ready."""
        return ModelHealth(ModelCondition.READY)

    def cancel(self) -> None:
        """Do nothing: it is done before anybody could ask for that."""

    def resume(self) -> None:
        """Do nothing: it never stopped."""

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Say what a segment holds in its own sentences."""
        return extractive.summarize(segment.events, segment.overlap_events)

    def summarize_children(
        self, level: TocLevel, children: Sequence[TocNode], *, attempt: int = 0
    ) -> Summary:
        """Say what a node holds in its children's bullets."""
        return rollup.summarize(level, children)
