"""Run blocking reads and writes on worker threads."""

from collections.abc import Callable
from typing import Any, TypeVar

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
