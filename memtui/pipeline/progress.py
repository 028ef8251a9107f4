"""What the loops tell of their work."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from memtui.errors import DISK_FULL, StoreGoneError
from memtui.model.model_state import ModelHealth, ModelProgress
from memtui.pipeline.worker import StepResult
from memtui.store import database, outbox, rollup_queue, segments
from memtui.store import problems as store_problems


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How the model is that summarises, and what it does now."""

    health: ModelHealth | None = None
    """None if nobody has looked yet, or none is to be asked."""
    node_id: str = ""
    """Of what it writes a version; "" while it rests."""
    progress: ModelProgress | None = None
    pending: int = 0
    """How many nodes of that level want a version, this one with them."""
    started_at: datetime | None = None
    """When it began with that node, aware; None while it rests."""
    is_requested: bool = False
    """Whether a person asked for a model, so that the want of one is to be told."""
    was_ready: bool = False
    """Whether it could be asked before, since this memtui was started."""

    paused_until: datetime | None = None
    """Until when it rests, in the store's time zone; None if it does not."""
    held_segments: int = 0
    """How many segments wait for their job, which a person wants to rest."""

    def with_health(self, health: ModelHealth) -> "ModelStatus":
        """The same, at rest, as it is found now."""
        was_ready = self.was_ready or health.is_ready
        return replace(self.idle(), health=health, was_ready=was_ready)

    def working_on(
        self, node_id: str, waiting: int, began_at: datetime | None = None
    ) -> "ModelStatus":
        """The same, at work on a node."""
        rested = self.idle()
        return replace(rested, node_id=node_id, pending=waiting, started_at=began_at)

    def with_progress(self, doing: ModelProgress) -> "ModelStatus":
        """The same, so far."""
        return replace(self, doing=doing)

    def idle(self) -> "ModelStatus":
        """The same, at work on nothing."""
        return replace(self, node_id="", doing=None, began_at=None)

    @property
    def is_missed(self) -> bool:
        """Whether it should be there, and cannot be asked."""
        is_away = self.health is not None and not self.health.is_ready
        return is_away and (self.is_requested or self.was_ready)

    @property
    def state(self) -> tuple[object, ...]:
        """What it does, without how much of it is done."""
        condition = self.health and self.health.condition
        doing = self.progress and (
            self.progress.phase,
            self.progress.part,
            self.progress.parts,
        )
        return (condition, self.node_id, doing, self.paused_until, self.held_segments)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the work stands after a step."""

    stage: str
    """The stage that worked last: ``ingest``, ``segment``, ``summarize``, ``rollup``,
    ``index``, ``import``; empty while all rest."""
    done: int = 0
    queued: int = 0
    problems: int = 0
    is_ours: bool = True
    """Whether this process works the store; False while another one does."""
    changed: frozenset[str] = frozenset()
    """Ids of the nodes whose line or page may have changed."""
    total: int = 0
    """Of an import: how many files there are in all."""
    error: str = ""
    """What this stage could not do."""
    failing: tuple[tuple[str, str], ...] = ()
    """Every stage that fails, the first that did first, and what it could not do."""
    is_gone: bool = False
    """Whether the error is that the store is not where it was."""
    model: ModelStatus = ModelStatus()


REPORT_S = 0.2
"""How often the state is told while work goes on, in seconds."""

Report = Callable[[Progress], None]


class Worked(Protocol):
    """What a report tells of, beside the steps."""

    @property
    def is_ours(self) -> bool:
        """Whether this process works the store."""

    @property
    def model(self) -> ModelStatus:
        """How the model is, and what it does."""

    def take_changed(self) -> frozenset[str]:
        """The nodes that changed since this was last asked."""


class Teller:
    """Turns steps into reports; told by the threads of both loops."""

    def __init__(self, works: Worked, report: Report) -> None:
        """Remember what to tell of, and whom."""
        self._works, self._report = works, report
        self._lock = threading.Lock()
        self._last_s = 0.0
        self._stage = ""
        self._failing: dict[str, str] = {}
        self._is_gone = False
        self._counts = 0, 0
        self._state: tuple[object, ...] = ()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        """Every stage that fails, the first that did first, and why."""
        return tuple(self._failing.items())

    def tell(self, stepped: StepResult) -> None:
        """Report a step of a stage."""
        with self._lock:
            self._stage = stepped.stage
            if self._is_gone and not stepped.error:
                self._is_gone = False
                self._failing.clear()
            failed = bool(self._failing)
            self._note(stepped)
            if self._is_due() or failed or stepped.error or not stepped.stage:
                self._counts = counts()
                self._say(stepped.done)

    def tell_model(self, stepped: StepResult) -> None:
        """Report a step of the model's."""
        with self._lock:
            self._note(stepped)
            if stepped.stage:
                self._say(0)

    def hear(self) -> None:
        """Report how far the model is; always if it does something else now."""
        with self._lock:
            if self._is_due() or self._works.model.state != self._state:
                self._say(0)

    def _note(self, stepped: StepResult) -> None:
        if stepped.error:
            self._is_gone = isinstance(stepped.error, StoreGoneError)
            self._failing[stepped.stage] = _words(stepped.error)
        elif not self._is_gone:
            self._failing.pop(stepped.stage, None)

    def _is_due(self) -> bool:
        return time.monotonic() - self._last_s >= REPORT_S

    def _say(self, done: int) -> None:
        self._last_s = time.monotonic()
        queued, faults = self._counts
        model = self._works.model
        self._state = model.state
        self._report(
            Progress(
                stage=self._stage,
                done=done,
                queued=queued,
                problems=faults,
                is_ours=self._works.is_ours,
                changed=self._works.take_changed(),
                error=self._failing.get("") or self._failing.get(self._stage, ""),
                failing=self.failing,
                is_gone=self._is_gone,
                model=model,
            )
        )


def _words(error: Exception) -> str:
    """An error and its cause, nothing twice; of a full disk, what to do and where."""
    if database.is_disk_full(error):
        return f"{DISK_FULL} ({database.path().parent})"
    said = str(error).strip() or type(error).__name__
    cause = str(error.__cause__ or "")
    is_told = cause not in said and not isinstance(error, StoreGoneError)
    return f"{said}: {cause}" if is_told else said


def counts() -> tuple[int, int]:
    """How many steps wait, and how many records were not taken; 0 without a store.

    A segment is summed up and indexed, and its day after it: a number that only counted
    what waits now would grow with each.
    """
    with suppress(StoreGoneError), database.connection():
        steps = 4 * segments.count_pending() + 2 * rollup_queue.count() + outbox.count()
        return steps, store_problems.count_damaged()
    return 0, 0
