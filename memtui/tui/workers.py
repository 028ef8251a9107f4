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
    *,
    exclusive: bool = True,
) -> None:
    """Call `read` on a thread, then `show` with its result on the event loop.

    If `read` raises, ``node.show_error`` is called instead. If there is no result after
    `SLOW_S`, `slow` is called first.

    A thread cannot be stopped: the result of an exclusive read is dropped if the same
    group was started again meanwhile, so that it never replaces a newer one.
    """
    is_delivered = False

    def work() -> None:
        try:
            call = partial(show, read())
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


def run(
    node: Loader,
    action: Callable[[], T],
    done: Callable[[T], object],
    group: str,
    slow: Callable[[], object] | None = None,
) -> None:
    """Do the same for an action; several of a group may run at once."""
    load(node, action, done, group, slow, exclusive=False)
