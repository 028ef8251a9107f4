"""Run blocking reads and writes on worker threads."""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from textual.dom import DOMNode
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

if TYPE_CHECKING:
    from memtui.model.filters import Scope
    from memtui.model.jobs import RewriteForecast
    from memtui.model.sessions import AgentHistory
    from memtui.workspace import Workspace

T = TypeVar("T")

SLOW_S = 0.3  # A load that takes longer shows a placeholder.
LOADING = "loading…"  # That placeholder.
RETRY_S = 1.0  # The delay before a failed load is repeated.
WILL_RETRY = "memtui will try again."


class Loader(DOMNode):
    """A mix-in for the app, screens and widgets that read and write on threads."""

    def show_error(self, error: BaseException, group: str) -> None:
        """Show why a thread of a group failed."""
        raise NotImplementedError

    def load(
        self,
        read: Callable[[], T],
        show: Callable[[T], object],
        group: str,
        slow: Callable[[], object] | None = None,
        *,
        exclusive: bool = True,
    ) -> None:
        """Call `read` on a thread, then `show` with its result on the event loop.

        If `read` raises, ``show_error`` is called instead. If there is no result after
        `SLOW_S`, `slow` is called first.

        A thread cannot be stopped: the result of an exclusive read is dropped if the
        same group was started again meanwhile, so that it never replaces a newer one.
        """
        is_delivered = False

        def work() -> None:
            try:
                call: Callable[[], object] = partial(show, read())
            except Exception as error:
                call = partial(self.show_error, error, group)
            self.call_later(deliver, get_current_worker(), call)

        def deliver(worker: Worker[None], call: Callable[[], object]) -> None:
            # On the event loop, where loads are started too: no new load can come
            # between.
            nonlocal is_delivered
            is_delivered = True
            if not worker.is_cancelled:
                call()

        def show_slow() -> None:
            if slow and not (is_delivered or worker.is_cancelled):
                slow()

        worker = self.run_worker(
            work, group=group, exit_on_error=False, exclusive=exclusive, thread=True
        )
        if slow:
            self.set_timer(SLOW_S, show_slow)

    def execute(
        self, action: Callable[[], T], done: Callable[[T], object], group: str
    ) -> None:
        """Run an action like ``load``, but several of a group may run at once."""
        self.load(action, done, group, exclusive=False)


class Memtui(Protocol):
    """The parts of the app that screens and widgets use."""

    scope: "Scope"
    now: Callable[[], datetime]

    @property
    def workspace(self) -> "Workspace": ...
    def ask(self, screen: Screen[T], then: Callable[[T], object]) -> None: ...
    def show_screen(self, screen: Screen[T], then: Callable[[T], object]) -> None: ...
    def rewrite_forecast(self) -> "RewriteForecast": ...
    def start_import(
        self, histories: "Sequence[AgentHistory]", *, is_watched: bool
    ) -> None: ...


class AppNode(Loader):
    """A mix-in for the screens and widgets of the app."""

    @property
    def memtui(self) -> Memtui:
        return cast(Memtui, self.app)

    @property
    def workspace(self) -> "Workspace":
        return self.memtui.workspace

    @property
    def zone(self) -> tzinfo:
        return self.workspace.zone

    def now(self) -> datetime:
        return self.memtui.now()
