"""A background thread that runs the pipeline's steps in turn until it is stopped.

It is not a Textual worker: those share a small pool with the screens, and quitting
waits for them. A step that fails is reported and does not stop the others.

A file lock lets one process at a time run the pipeline of a store. The operating system
releases it when the process ends, however it ends.
"""

import errno
import fcntl
import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from memtui.errors import StoreDamagedError, StoreError, StoreGoneError
from memtui.pipeline.progress import StepResult

log = logging.getLogger(__name__)

Step = Callable[[], int]
"""Do a batch of work and return how many items were done; 0 if none is left."""

IDLE_S = (0.1, 0.1, 0.2, 0.2, 0.4)
"""Seconds to wait after each empty round; the last value repeats."""

STANDBY_S = 1.0
"""Seconds between attempts of a process that may not work."""


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
        self.done_in_round = 0
        """The amount of work of the current round so far."""
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
        self.done_in_round = 0
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
            has_recovered = stage in self._failing and bool(
                done or not self.done_in_round
            )
            if has_recovered:  # a step that did nothing may not have tried
                del self._failing[stage]
            if done or has_recovered:
                self._report(StepResult(stage, done))
            self.done_in_round += done
        return self.done_in_round

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


def may_be_of_item(error: Exception) -> bool:
    """Return whether others than the present item may still be handled.

    A damaged row may be of this item alone; other errors of the store concern all.
    """
    return isinstance(error, StoreDamagedError) or not isinstance(error, StoreError)


T = TypeVar("T")


def try_item(action: Callable[[], T]) -> T | Exception:
    """Call a function that handles one item; log and return its exception.

    Raises:
        StoreError: The store failed, which is not the fault of the item.
    """
    try:
        return action()
    except Exception as error:
        if not may_be_of_item(error):
            raise
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
            message = f"{self._file}: {error.strerror}"
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                folder = self._file.parent
                message += f"; chmod -R u+rwX {folder}, or mount the disk read-write"
            raise StoreError(message) from error
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
