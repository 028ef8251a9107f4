"""Run blocking reads and writes on worker threads, and debounce values that flicker."""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from textual.dom import DOMNode
from textual.worker import Worker, get_current_worker

T = TypeVar("T")

SLOW_S = 0.3
"""A load that takes longer shows a placeholder."""

LOADING = "loading…"
"""That placeholder."""

RETRY_S = 1.0
"""The delay before a failed load is repeated."""

WILL_RETRY = "memtui will try again."


def load(
    node: DOMNode, read: Callable[[], T], show: Callable[[T], object], group: str
) -> None:
    """Call `read` on a thread, then `show` with its result on the event loop.

    A thread cannot be stopped: the result is dropped if the same group was loaded
    again meanwhile, so that an older result never replaces a newer one. If `read`
    raises, `node` receives `Worker.StateChanged`.
    """
    _start(node, read, show, group, exclusive=True)


def run(
    node: DOMNode, action: Callable[[], T], done: Callable[[T], object], group: str
) -> None:
    """Call `action` on a thread, then `done`; several of a group may run at once."""
    _start(node, action, done, group, exclusive=False)


def _start(
    node: DOMNode,
    action: Callable[[], T],
    done: Callable[[T], object],
    group: str,
    *,
    exclusive: bool,
) -> None:
    def work() -> None:
        result = action()
        node.call_later(_deliver, get_current_worker(), done, result)

    node.run_worker(
        work, group=group, thread=True, exclusive=exclusive, exit_on_error=False
    )


def _deliver(worker: Worker[Any], done: Callable[[T], object], result: T) -> None:
    # On the event loop, where loads are started too: no new load can come between.
    if not worker.is_cancelled:
        done(result)


Shown = TypeVar("Shown")

SHOWN_AFTER_S = 0.3
"""A value that lasts shorter than this is not shown."""

REPLACED_AFTER_S = 1.0
"""A shown value is replaced after this time, however briefly the new one lasts."""


class Debouncer(Generic[Shown]):
    """Debounce a value that changes often, so that what is shown does not flicker."""

    def __init__(
        self, kind: Callable[[Shown], Hashable], clock: Callable[[], float]
    ) -> None:
        """Start with nothing shown.

        Args:
            kind: Values of the same kind replace each other at once.
            clock: A monotonic clock, in seconds.
        """
        self._kind, self._clock = kind, clock
        self.shown: Shown | None = None
        self._latest: Shown | None = None
        self._since_s = self._stale_s = 0.0

    def put(self, latest: Shown, *, at_once: bool = False) -> float:
        """Take a new value, and show it `at_once` or if it is due.

        Returns:
            The seconds after which to call `again`; 0 if the value is shown.
        """
        now, kind = self._clock(), self._kind(latest)
        before, self._latest = self._latest, latest
        if self.shown is None or at_once or kind == self._kind(self.shown):
            self.shown = latest
            return 0.0
        if before is None or self._kind(before) == self._kind(self.shown):
            self._stale_s = now
        if before is None or self._kind(before) != kind:
            self._since_s = now
        wait = (
            min(self._since_s + SHOWN_AFTER_S, self._stale_s + REPLACED_AFTER_S) - now
        )
        if wait > 0:
            return wait
        self.shown = latest
        return 0.0

    def again(self) -> float:
        """Reconsider the latest value after the delay that `put` returned."""
        return self.put(self._latest) if self._latest is not None else 0.0
