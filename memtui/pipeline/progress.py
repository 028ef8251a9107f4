"""The progress of the pipeline: what the results of its steps tell the screens."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from memtui.errors import DISK_FULL, StoreGoneError
from memtui.model.jobs import ModelHealth, ModelProgress
from memtui.store import database, queues, segments, sources

REPORT_S = 0.2
"""Seconds between reports while work goes on."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step of a stage."""

    stage: str
    done: int
    error: Exception | None = None


class ChangedNodes:
    """Ids of nodes that changed; filled by the pipeline, emptied by the app."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._lock = threading.Lock()

    def update(self, *id_groups: Iterable[str]) -> None:
        with self._lock:
            self._ids.update(*id_groups)

    def take(self) -> frozenset[str]:
        with self._lock:
            taken, self._ids = frozenset(self._ids), set()
        return taken


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The state of the model and the node it works on."""

    health: ModelHealth | None = None
    """None if it was not checked yet or no model is used."""
    node_id: str = ""
    """The node it writes a version of; "" while idle."""
    progress: ModelProgress | None = None
    pending: int = 0
    """The number of nodes of that level in the rewrite queue, this one included."""
    started_at: datetime | None = None
    is_requested: bool = False
    """True if the settings name a model, so that a missing one is reported."""
    was_ready: bool = False
    """True if it was ready before, since the start of the program."""
    paused_until: datetime | None = None
    """The time of the next request, in the store's time zone; None if it is not
    paused."""
    held_segments: int = 0
    """The number of segments that wait for a paused job."""

    def with_health(self, health: ModelHealth) -> "ModelStatus":
        was_ready = self.was_ready or health.is_ready
        return replace(self, health=health, was_ready=was_ready)

    @property
    def is_missing(self) -> bool:
        """True if a model is expected but not ready."""
        is_away = self.health is not None and not self.health.is_ready
        return is_away and (self.is_requested or self.was_ready)

    @property
    def activity(self) -> tuple[object, ...]:
        """Return what differs as soon as the model does something else."""
        condition = self.health and self.health.condition
        step = self.progress and replace(self.progress, written=0, limit=0)
        return condition, self.node_id, step, self.paused_until, self.held_segments


@dataclass(frozen=True, slots=True)
class PipelineProgress:
    """The state of the pipeline after a step."""

    stage: str
    """The stage that worked last, or ``import``; empty while all are idle."""
    done: int = 0
    queued: int = 0
    skipped: int = 0
    is_active: bool = True
    """False while another process runs the pipeline."""
    changed: frozenset[str] = frozenset()
    """Ids of the nodes that may have changed."""
    total: int = 0
    """The number of files of an import."""
    error: str = ""
    """The error of this stage."""
    failing: tuple[tuple[str, str], ...] = ()
    """Every failing stage and its error, the oldest first."""
    is_store_gone: bool = False
    """True if the store's file is gone."""
    model: ModelStatus = ModelStatus()


Report = Callable[[PipelineProgress], None]


class PipelineState(Protocol):
    """The state of the pipeline in a report, besides the result of a step."""

    @property
    def is_active(self) -> bool: ...

    @property
    def model(self) -> ModelStatus: ...

    def take_changed_nodes(self) -> frozenset[str]: ...


class ProgressReporter:
    """Turns the results of steps into reports; called by both worker threads."""

    def __init__(self, pipeline: PipelineState, report: Report) -> None:
        self._pipeline, self._report = pipeline, report
        self._lock = threading.Lock()
        self._last_s = 0.0
        self._stage = ""
        self._failing: dict[str, str] = {}
        self._is_gone = False
        self._queued, self._skipped = 0, 0
        self._model_activity: tuple[object, ...] = ()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._failing.items())

    def step_done(self, result: StepResult) -> None:
        with self._lock:
            self._stage = result.stage
            if self._is_gone and not result.error:
                self._is_gone = False
                self._failing.clear()
            has_failed = bool(self._failing or result.error)
            self._record(result)
            if self._is_due() or has_failed or not result.stage:
                self._queued, self._skipped = count_pending()
                self._send(result.done)

    def model_step_done(self, result: StepResult) -> None:
        with self._lock:
            self._record(result)
            if result.stage:
                self._send(0)

    def model_changed(self) -> None:
        """Report the model's progress; always if it does something else now."""
        with self._lock:
            if self._is_due() or self._pipeline.model.activity != self._model_activity:
                self._send(0)

    def _record(self, result: StepResult) -> None:
        if result.error:
            self._is_gone = isinstance(result.error, StoreGoneError)
            self._failing[result.stage] = _describe(result.error)
        elif not self._is_gone:
            self._failing.pop(result.stage, None)

    def _is_due(self) -> bool:
        return time.monotonic() - self._last_s >= REPORT_S

    def _send(self, done: int) -> None:
        self._last_s = time.monotonic()
        model = self._pipeline.model
        self._model_activity = model.activity
        self._report(
            PipelineProgress(
                stage=self._stage,
                done=done,
                queued=self._queued,
                skipped=self._skipped,
                is_active=self._pipeline.is_active,
                changed=self._pipeline.take_changed_nodes(),
                error=self._failing.get("") or self._failing.get(self._stage, ""),
                failing=self.failing,
                is_store_gone=self._is_gone,
                model=model,
            )
        )


def _describe(error: Exception) -> str:
    """Return an error and its cause; for a full disk, what to do."""
    if database.is_disk_full(error):
        return f"{DISK_FULL} ({database.path().parent})"
    text = str(error).strip() or type(error).__name__
    cause = str(error.__cause__ or "")
    has_more = cause not in text and not isinstance(error, StoreGoneError)
    return f"{text}: {cause}" if has_more else text


def count_pending() -> tuple[int, int]:
    """Return the number of pending steps and of skipped records; 0 without a store.

    A pending segment counts for the steps that follow from it, so that the number only
    falls.
    """
    with suppress(StoreGoneError), database.connection():
        steps = (
            4 * segments.count_pending()
            + 2 * queues.count_rollups()
            + queues.count_rows()
        )
        return steps, sources.count_damaged()
    return 0, 0
