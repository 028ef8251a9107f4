"""Progress reports: their content and how often they come."""

import errno
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from memtui.errors import DISK_FULL, SearchError
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.pipeline.progress import (
    ModelStatus,
    PipelineProgress,
    ProgressReporter,
    StepResult,
)
from memtui.store import database
from memtui.workspace import Workspace

NODE = "toc:day:2025-03-10"


@dataclass
class FakePipeline:
    """A pipeline whose model status the test sets."""

    is_active: bool = True
    model: ModelStatus = field(
        default_factory=lambda: ModelStatus().with_health(
            ModelHealth(ModelCondition.READY)
        )
    )

    def take_changed_nodes(self) -> frozenset[str]:
        return frozenset()


@pytest.fixture
def reports() -> list[PipelineProgress]:
    return []


@pytest.fixture
def pipeline() -> FakePipeline:
    return FakePipeline()


@pytest.fixture
def reporter(
    workspace: Workspace, pipeline: FakePipeline, reports: list[PipelineProgress]
) -> ProgressReporter:
    return ProgressReporter(pipeline, reports.append)


def test_every_activity_of_the_model_is_shown_however_short(
    reporter: ProgressReporter, pipeline: FakePipeline, reports: list[PipelineProgress]
) -> None:
    pipeline.model = replace(pipeline.model, node_id=NODE, pending=3)
    doings = [ModelProgress(phase) for phase in ModelPhase] + [
        ModelProgress(ModelPhase.READING, 2, 2)
    ]
    for doing in doings:
        pipeline.model = replace(pipeline.model, progress=doing)
        reporter.model_changed()
    pipeline.model = replace(pipeline.model, node_id="", progress=None)
    reporter.model_changed()
    assert [progress.model.progress for progress in reports] == [*doings, None]


def test_progress_is_not_reported_for_each_word(
    reporter: ProgressReporter, pipeline: FakePipeline, reports: list[PipelineProgress]
) -> None:
    doing = ModelProgress(ModelPhase.WRITING, limit=700)
    for written in range(700):
        pipeline.model = replace(
            pipeline.model, progress=replace(doing, written=written)
        )
        reporter.model_changed()
    assert 1 <= len(reports) < 100


def test_progress_of_stages_and_model_is_reported_together(
    reporter: ProgressReporter, pipeline: FakePipeline, reports: list[PipelineProgress]
) -> None:
    progress = ModelProgress(ModelPhase.READING)
    pipeline.model = replace(pipeline.model, node_id=NODE, pending=3, progress=progress)
    reporter.step_done(StepResult("index", 2))
    assert (reports[-1].stage, reports[-1].done) == ("index", 2)
    assert reports[-1].model.progress == ModelProgress(ModelPhase.READING)


def test_a_failing_stage_is_reported_until_it_works_again(
    reporter: ProgressReporter, reports: list[PipelineProgress]
) -> None:
    reporter.step_done(StepResult("summarize", 0, ValueError("no words")))
    reporter.step_done(StepResult("ingest", 1))
    assert reports[-1].error == ""
    assert reports[-1].failing == (("summarize", "no words"),)
    reporter.step_done(StepResult("summarize", 0))
    assert not reports[-1].failing


def full_index() -> Exception:
    error = SearchError("/index: [Errno 28] No space left on device")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    return error


def lost_in_a_rollback() -> Exception:
    error = sqlite3.OperationalError("cannot rollback - no transaction is active")
    error.__context__ = sqlite3.OperationalError("database or disk is full")
    return error


@pytest.mark.parametrize("made", [full_index, lost_in_a_rollback])
def test_every_stage_reports_a_full_disk_alike(
    reporter: ProgressReporter,
    reports: list[PipelineProgress],
    made: Callable[[], Exception],
) -> None:
    reporter.step_done(StepResult("index", 0, made()))
    assert reports[-1].error == f"{DISK_FULL} ({database.path().parent})"


def test_no_error_is_reported_twice(
    reporter: ProgressReporter, reports: list[PipelineProgress]
) -> None:
    error = SearchError("it is locked")
    error.__cause__ = sqlite3.OperationalError("it is locked")
    reporter.step_done(StepResult("index", 0, error))
    assert reports[-1].error == "it is locked"
