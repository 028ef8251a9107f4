"""The configuration of the pipeline."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from memtui.capture.policy import CapturePolicy
from memtui.model.jobs import ModelProgress, Schedules
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import Summarizer
from memtui.text.tokens import TokenCounter

WatchedPaths = Callable[[], Mapping[str, Collection[Path]]]

MakeSummarizer = Callable[[Callable[[ModelProgress], None]], Summarizer]
"""Creates a summarizer that reports its progress."""


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """The configuration of all stages of one store."""

    spool: Path
    node_index: Path
    message_index: Path
    lock_file: Path
    zone: tzinfo
    rules: SegmentRules
    counter: TokenCounter
    summarizer: Summarizer
    """The summarizer that needs no model."""
    clock: Callable[[], datetime]
    agent: str
    """The agent of imported events without one."""
    with_subagents: bool = False
    with_tools: bool = False
    """True if arguments and results of tools are searchable."""
    policy: CapturePolicy = field(default_factory=CapturePolicy)
    watched: WatchedPaths = dict
    """Folders and files of transcripts to follow, by agent."""
    make_model_summarizer: MakeSummarizer | None = None
    """Creates the summarizer that uses a model; None for none."""
    reports_missing_model: bool = False
    """True if a missing model is reported."""
    schedules: Schedules | None = None
    """The times at which a model rolls up."""
