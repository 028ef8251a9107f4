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
class Stepped:
    """What one step did."""

    stage: str
    done: int
    error: Exception | None = None


class Loop:
    """Takes each stage in turn, while it may."""

    def __init__(
        self,
        stages: Sequence[tuple[str, Step]],
        report: Callable[[Stepped], None],
        may_work: Callable[[], bool] = lambda: True,
        within: Callable[[], AbstractContextManager[None]] = nullcontext,
        rests_s: Sequence[float] = IDLE_S,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        """Remember the work.

        Args:
            stages: Each stage's name and its step, in the order they are taken.
            report: Told of every step that did something, failed or is well again,
                and, with an empty name, when all have come to rest.
            may_work: Asked before each round.
            within: What the thread keeps open while it runs.
            rests_s: How long to rest after each empty round, in seconds.
            leave: Called last by the thread, once it was told to stop.
        """
        self._stages, self._report = stages, report
        self._may_work, self._within = may_work, within
        self._rests_s, self._leave = rests_s, leave
        self._failing: dict[str, str] = {}
        self._stop = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stages", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, *, wait_s: float = 0.0) -> None:
        """Ask the thread to end after its current step.

        Args:
            wait_s: How long to wait for it, in seconds.
        """
        self._stop.set()
        self.wake()
        if wait_s and self._thread.is_alive():
            self._thread.join(wait_s)

    def wake(self) -> None:
        """End a rest: there is something to do."""
        self._woken.set()

    def round(self) -> int:
        """Take one step of every stage and return how much was done in all.

        Raises:
            StoreGoneError: There is nothing to work.
        """
        total = 0
        for stage, step in self._stages:
            if self._stop.is_set():
                break
            try:
                done = step()
            except StoreGoneError:
                raise
            except Exception as error:
                self._log(stage, error)
                self._report(Stepped(stage, 0, error))
                continue
            is_well = stage in self._failing and bool(done or not total)
            if is_well:  # beside other work, what did nothing may not have tried
                del self._failing[stage]
            if done or is_well:
                self._report(Stepped(stage, done))
            total += done
        return total

    def _log(self, stage: str, error: Exception) -> None:
        """Log a failure once, however often it is met again: a disk may be full."""
        said = repr(error)
        if self._failing.get(stage) != said:
            self._failing[stage] = said
            log.error("%s failed", stage, exc_info=error)

    def _run(self) -> None:
        idle = 0
        while not self._stop.is_set():
            try:
                with self._within():
                    self._failing.pop("the loop", None)
                    while not self._stop.is_set():
                        idle = self._turn(idle)
            except Exception as error:
                idle = 0
                self._log("the loop", error)
                if isinstance(error, StoreGoneError):
                    with suppress(Exception):
                        self._report(Stepped("", 0, error))
                self._stop.wait(STANDBY_S)
        try:
            self._leave()
        except Exception:
            log.exception("the loop could not leave as it should")

    def _turn(self, idle: int) -> int:
        """One round, and the rest after it; how many rounds were empty till now."""
        if not self._may_work():
            self._report(Stepped("", 0))
            self._stop.wait(STANDBY_S)
            return 0
        if self.round():
            return 0
        if idle == 0:
            self._report(Stepped("", 0))
        self._woken.wait(self._rests_s[min(idle, len(self._rests_s) - 1)])
        self._woken.clear()
        return idle + 1


class Changes:
    """Ids of nodes whose line or page may be another now."""

    def __init__(self) -> None:
        """Begin with none."""
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def update(self, *some: Iterable[str]) -> None:
        """Add some."""
        with self._lock:
            self._names.update(*some)

    def take(self) -> frozenset[str]:
        """All that were added since this was last asked."""
        with self._lock:
            taken, self._names = frozenset(self._names), set()
        return taken
