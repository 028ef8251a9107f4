"""Run stages on one thread of our own, until told to stop.

Not a Textual worker: those share a small pool with the screens, and quitting waits for
them. The one broad ``except`` around a stage is here: a stage that fails is reported
and does not stop the others.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from memtui.errors import StoreGoneError

log = logging.getLogger(__name__)

Step = Callable[[], int]
"""Do a little work and return how many things were done; 0 means none is left."""

IDLE_S = (0.1, 0.1, 0.2, 0.2, 0.4)
"""How long to rest after each empty round, in seconds; the last one repeats."""

STANDBY_S = 1.0
"""How often a process that may not work asks again, in seconds."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step did."""

    stage: str
    done: int
    error: Exception | None = None


class Worker:
    """Takes each stage in turn, while it may."""

    def __init__(
        self,
        steps: Sequence[tuple[str, Step]],
        report: Callable[[StepResult], None],
        can_work: Callable[[], bool] = lambda: True,
        context: Callable[[], AbstractContextManager[None]] = nullcontext,
        idle_waits_s: Sequence[float] = IDLE_S,
        on_exit: Callable[[], None] = lambda: None,
    ) -> None:
        """Remember the work.

        Args:
            steps: Each stage's name and its step, in the order they are taken.
            report: Told of every step that did something, failed or is well again,
                and, with an empty name, when all have come to rest.
            can_work: Asked before each round.
            context: What the thread keeps open while it runs.
            idle_waits_s: How long to rest after each empty round, in seconds.
            on_exit: Called last by the thread, once it was told to stop.
        """
        self._steps, self._report = steps, report
        self._can_work, self._context = can_work, context
        self._idle_waits_s, self._on_exit = idle_waits_s, on_exit
        self._failing: dict[str, str] = {}
        self._stop_event = threading.Event()
        self._wake_event = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stages", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, *, wait_s: float = 0.0) -> None:
        """Ask the thread to end after its current step.

        Args:
            wait_s: How long to wait for it, in seconds.
        """
        self._stop_event.set()
        self.wake()
        if wait_s and self._thread.is_alive():
            self._thread.join(wait_s)

    def wake(self) -> None:
        """End a rest: there is something to do."""
        self._wake_event.set()

    def run_round(self) -> int:
        """Take one step of every stage and return how much was done in all.

        Raises:
            StoreGoneError: There is nothing to work.
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
            is_well = stage in self._failing and bool(done or not total)
            if is_well:  # beside other work, what did nothing may not have tried
                del self._failing[stage]
            if done or is_well:
                self._report(StepResult(stage, done))
            total += done
        return total

    def _log_failure(self, stage: str, error: Exception) -> None:
        """Log a failure once, however often it is met again: a disk may be full."""
        said = repr(error)
        if self._failing.get(stage) != said:
            self._failing[stage] = said
            log.error("%s failed", stage, exc_info=error)

    def _run(self) -> None:
        idle = 0
        while not self._stop_event.is_set():
            try:
                with self._context():
                    self._failing.pop("the loop", None)
                    while not self._stop_event.is_set():
                        idle = self._run_once(idle)
            except Exception as error:
                idle = 0
                self._log_failure("the loop", error)
                if isinstance(error, StoreGoneError):
                    with suppress(Exception):
                        self._report(StepResult("", 0, error))
                self._stop_event.wait(STANDBY_S)
        try:
            self._on_exit()
        except Exception:
            log.exception("the loop could not leave as it should")

    def _run_once(self, idle: int) -> int:
        """One round, and the rest after it; how many rounds were empty till now."""
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
    """Ids of nodes whose line or page may be another now."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ids: set[str] = set()
        self._lock = threading.Lock()

    def update(self, *some: Iterable[str]) -> None:
        """Add some."""
        with self._lock:
            self._ids.update(*some)

    def take(self) -> frozenset[str]:
        """All that were added since this was last asked."""
        with self._lock:
            taken, self._ids = frozenset(self._ids), set()
        return taken
