"""A background thread that runs the pipeline's steps in turn until it is stopped.

It is not a Textual worker: those share a small pool with the screens, and quitting
waits for them. A step that fails is reported and does not stop the others.

A file lock lets one process at a time run the pipeline of a store. The operating system
releases it when the process ends, however it ends.

The results of the steps become reports, which the screens show.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memtui.errors import DISK_FULL, StoreError, StoreGoneError
from memtui.model.jobs import ModelHealth, ModelProgress
from memtui.store import database, queues, segments, sources

if TYPE_CHECKING:
    from memtui.pipeline.pipeline import Pipeline


log = logging.getLogger(__name__)

Step = Callable[[], int]
"""Do a batch of work and return how many items were done; 0 if none is left."""

IDLE_S = (0.1, 0.1, 0.2, 0.2, 0.4)
"""Seconds to wait after each empty round; the last value repeats."""

STANDBY_S = 1.0
"""Seconds between attempts of a process that may not work."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step."""

    stage: str
    done: int
    error: Exception | None = None


class Worker:
    """Runs each step in turn on its own thread."""

    def __init__(
        self,
        steps: Sequence[tuple[str, Step]],
        report: Callable[[StepResult], None],
        can_work: Callable[[], bool] = lambda: True,
        context: Callable[[], AbstractContextManager[None]] = nullcontext,
        idle_waits_s: Sequence[float] = IDLE_S,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a worker.

        Args:
            steps: The name and function of each step, in order.
            report: Called after every step that did something, failed or recovered,
                and with an empty name when all steps are idle.
            can_work: Called before each round.
            context: A context manager held while the thread runs.
            idle_waits_s: Seconds to wait after each empty round.
            on_exit: Called last by the thread, after ``stop``.
        """
        self._steps, self._report = steps, report
        self._can_work, self._context = can_work, context
        self._idle_waits_s, self._on_exit = idle_waits_s, on_exit
        self._failing: dict[str, str] = {}
        self._stop_event = threading.Event()
        self._wake_event = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stages", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, wait_s: float = 0.0) -> None:
        """End the thread after its current step; wait up to ``wait_s`` seconds."""
        self._stop_event.set()
        self.wake()
        if wait_s and self._thread.is_alive():
            self._thread.join(wait_s)

    def wake(self) -> None:
        """End an idle wait: there is something to do."""
        self._wake_event.set()

    def run_round(self) -> int:
        """Run every step once and return how much was done in all.

        Raises:
            StoreGoneError: The store's file is gone.
        """
        total = 0
        for stage, step in self._steps:
            if self._stop_event.is_set():
                break
            try:
                done = step()
            except StoreGoneError:
                raise
            except Exception as error:
                self._log_failure(stage, error)
                self._report(StepResult(stage, 0, error))
                continue
            has_recovered = stage in self._failing and bool(done or not total)
            if has_recovered:  # a step that did nothing may not have tried
                del self._failing[stage]
            if done or has_recovered:
                self._report(StepResult(stage, done))
            total += done
        return total

    def _log_failure(self, stage: str, error: Exception) -> None:
        """Log a failure once, however often it repeats."""
        text = repr(error)
        if self._failing.get(stage) != text:
            self._failing[stage] = text
            log.error("%s failed", stage, exc_info=error)

    def _run(self) -> None:
        idle = 0
        while not self._stop_event.is_set():
            try:
                with self._context():
                    self._failing.pop("worker", None)
                    while not self._stop_event.is_set():
                        idle = self._run_once(idle)
            except Exception as error:
                idle = 0
                self._log_failure("worker", error)
                if isinstance(error, StoreGoneError):
                    with suppress(Exception):
                        self._report(StepResult("", 0, error))
                self._stop_event.wait(STANDBY_S)
        try:
            self._on_exit()
        except Exception:
            log.exception("the worker's exit function failed")

    def _run_once(self, idle: int) -> int:
        """Run a round and wait after it; return the number of empty rounds so far."""
        if not self._can_work():
            self._report(StepResult("", 0))
            self._stop_event.wait(STANDBY_S)
            return 0
        if self.run_round():
            return 0
        if idle == 0:
            self._report(StepResult("", 0))
        self._wake_event.wait(
            self._idle_waits_s[min(idle, len(self._idle_waits_s) - 1)]
        )
        self._wake_event.clear()
        return idle + 1


class ChangedNodes:
    """Ids of nodes that changed; filled by the pipeline, emptied by the app."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._lock = threading.Lock()

    def update(self, *some: Iterable[str]) -> None:
        with self._lock:
            self._ids.update(*some)

    def take(self) -> frozenset[str]:
        with self._lock:
            taken, self._ids = frozenset(self._ids), set()
        return taken


T = TypeVar("T")


def try_item(action: Callable[[], T]) -> T | Exception:
    """Call a function that handles one item; log and return its exception.

    Raises:
        StoreError: The store failed, which is not the fault of the item.
    """
    try:
        return action()
    except StoreError:
        raise
    except Exception as error:
        log.exception("one item failed")
        return error


# The lock

PROC_LOCKS = Path("/proc/locks")
"""The file in which Linux lists file locks."""


def find_holder(file: Path, locks: Path = PROC_LOCKS) -> int | None:
    """Return the id of the process that holds the lock, without taking it.

    Returns:
        0 if nobody holds it; None on a system without ``/proc/locks``.
    """
    try:
        held = locks.read_text("utf-8", "replace").splitlines()
        inode = str(file.stat().st_ino)
    except FileNotFoundError:
        return 0 if locks.exists() else None
    except OSError:
        return None
    for line in held:
        # 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF; a waiting process has "->".
        words = line.split()
        if words[1:2] == ["FLOCK"] and words[5].rpartition(":")[2] == inode:
            return int(words[4])
    return 0


class WorkerLock:
    """The lock of a store's pipeline."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Try to take the lock without waiting; return whether it is held.

        Raises:
            StoreError: The file cannot be written.
        """
        if self.is_held:
            if self._is_current():
                return True
            self.release()
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._file, flags, 0o600)
        except OSError as error:
            raise StoreError(f"{self._file}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def _is_current(self) -> bool:
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._file.stat())
        except OSError:
            return False

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


# Reports


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
        return replace(self.idle(), health=health, was_ready=was_ready)

    def working_on(
        self, node_id: str, pending: int, started_at: datetime | None = None
    ) -> "ModelStatus":
        rested = self.idle()
        return replace(rested, node_id=node_id, pending=pending, started_at=started_at)

    def with_progress(self, progress: ModelProgress) -> "ModelStatus":
        return replace(self, progress=progress)

    def idle(self) -> "ModelStatus":
        return replace(self, node_id="", progress=None, started_at=None)

    @property
    def is_missing(self) -> bool:
        """True if a model is expected but not ready."""
        is_away = self.health is not None and not self.health.is_ready
        return is_away and (self.is_requested or self.was_ready)

    @property
    def state(self) -> tuple[object, ...]:
        """Return what changes when the model does something else."""
        condition = self.health and self.health.condition
        doing = self.progress and (
            self.progress.phase,
            self.progress.part,
            self.progress.parts,
        )
        return (condition, self.node_id, doing, self.paused_until, self.held_segments)


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


REPORT_S = 0.2
"""Seconds between reports while work goes on."""

Report = Callable[[PipelineProgress], None]


class ProgressReporter:
    """Turns the results of steps into reports; called by both worker threads."""

    def __init__(self, pipeline: "Pipeline", report: Report) -> None:
        self._pipeline, self._report = pipeline, report
        self._lock = threading.Lock()
        self._last_s = 0.0
        self._stage = ""
        self._failing: dict[str, str] = {}
        self._is_gone = False
        self._counts = 0, 0
        self._state: tuple[object, ...] = ()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._failing.items())

    def step_done(self, stepped: StepResult) -> None:
        with self._lock:
            self._stage = stepped.stage
            if self._is_gone and not stepped.error:
                self._is_gone = False
                self._failing.clear()
            failed = bool(self._failing)
            self._record(stepped)
            if self._is_due() or failed or stepped.error or not stepped.stage:
                self._counts = count_pending()
                self._send(stepped.done)

    def model_step_done(self, stepped: StepResult) -> None:
        with self._lock:
            self._record(stepped)
            if stepped.stage:
                self._send(0)

    def model_changed(self) -> None:
        """Report the model's progress; always if it does something else now."""
        with self._lock:
            if self._is_due() or self._pipeline.model.state != self._state:
                self._send(0)

    def _record(self, stepped: StepResult) -> None:
        if stepped.error:
            self._is_gone = isinstance(stepped.error, StoreGoneError)
            self._failing[stepped.stage] = _describe(stepped.error)
        elif not self._is_gone:
            self._failing.pop(stepped.stage, None)

    def _is_due(self) -> bool:
        return time.monotonic() - self._last_s >= REPORT_S

    def _send(self, done: int) -> None:
        self._last_s = time.monotonic()
        queued, faults = self._counts
        model = self._pipeline.model
        self._state = model.state
        self._report(
            PipelineProgress(
                stage=self._stage,
                done=done,
                queued=queued,
                skipped=faults,
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
