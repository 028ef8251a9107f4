"""Run blocking reads and writes on worker threads."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from textual.worker import Worker, get_current_worker

T = TypeVar("T")

SLOW_S = 0.3
"""A load that takes longer shows a placeholder."""

LOADING = "loading…"
"""That placeholder."""

RETRY_S = 1.0
"""The delay before a failed load is repeated."""

WILL_RETRY = "memtui will try again."


class Loader(Protocol):
    """A widget, screen or app that can show why a thread failed."""

    def show_error(self, error: BaseException, group: str) -> object: ...

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool: ...

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> object: ...

    def run_worker(
        self,
        work: Callable[[], None],
        *,
        group: str,
        exit_on_error: bool,
        exclusive: bool,
        thread: bool,
    ) -> Worker[None]: ...


def load(
    node: Loader,
    read: Callable[[], T],
    show: Callable[[T], object],
    group: str,
    slow: Callable[[], object] | None = None,
) -> None:
    """Call `read` on a thread, then `show` with its result on the event loop.

    A thread cannot be stopped: the result is dropped if the same group was loaded
    again meanwhile, so that an older result never replaces a newer one. If `read`
    raises, ``node.show_error`` is called instead; and `slow` after `SLOW_S`, if there
    is no result yet.
    """
    _start(node, read, show, group, slow, exclusive=True)


def run(
    node: Loader,
    action: Callable[[], T],
    done: Callable[[T], object],
    group: str,
    slow: Callable[[], object] | None = None,
) -> None:
    """Do the same as `load`, but several of a group may run at once."""
    _start(node, action, done, group, slow, exclusive=False)


def _start(
    node: Loader,
    action: Callable[[], T],
    done: Callable[[T], object],
    group: str,
    slow: Callable[[], object] | None,
    *,
    exclusive: bool,
) -> None:
    is_delivered = False

    def work() -> None:
        try:
            call = partial(done, action())
        except Exception as error:
            call = partial(node.show_error, error, group)
        node.call_later(deliver, get_current_worker(), call)

    def deliver(worker: Worker[None], call: Callable[[], object]) -> None:
        # On the event loop, where loads are started too: no new load can come between.
        nonlocal is_delivered
        is_delivered = True
        if not worker.is_cancelled:
            call()

    worker = node.run_worker(
        work, group=group, exit_on_error=False, exclusive=exclusive, thread=True
    )
    if slow is not None:
        show_slow = slow
        node.set_timer(
            SLOW_S, lambda: is_delivered or worker.is_cancelled or show_slow()
        )
