"""Threads that read for a screen: of what is asked twice the later answer counts.

A thread cannot be stopped. What it tells goes through here, and is dropped where the
same was asked again meanwhile: no older answer comes after a newer one.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from textual.dom import DOMNode
from textual.message import Message
from textual.worker import Worker, get_current_worker

SLOW_S = 0.3
"""After so many seconds it is said that an answer takes its time."""


READING = "reading…"
"""What is said then, beside what is to be read."""


AGAIN_S = 1.0
"""How soon it is asked again what could not be read, in seconds."""


TRIED_AGAIN = "It is tried again by itself."
"""What is said of that."""


def ask(of: DOMNode, reading: Callable[[], None], group: str) -> None:
    """Read something on a thread; what was asked before in this group gives way.

    Args:
        of: The screen or widget; it is told ``Worker.StateChanged`` if that fails.
        reading: Reads, and tells what it read by ``tell``.
        group: What is asked.
    """
    of.run_worker(
        reading, group=group, thread=True, exclusive=True, exit_on_error=False
    )


def do(of: DOMNode, doing: Callable[[], None], group: str) -> None:
    """Do something on a thread, whatever else is done; it posts what came of it."""
    of.run_worker(doing, group=group, thread=True, exit_on_error=False)


def tell(of: DOMNode, message: Message) -> None:
    """Tell what was read, from the thread that read it; dropped if it gave way."""
    of.call_later(_pass_on, of, get_current_worker(), message)


def _pass_on(of: DOMNode, worker: Worker[Any], message: Message) -> None:
    # On the thread of the screens, where it is asked: nothing comes in between.
    if not worker.is_cancelled:
        of.post_message(message)


Shown = TypeVar("Shown")


LASTS_S = 0.3
"""What lasts shorter than this is not shown, in seconds."""


STALE_S = 1.0
"""After so long something newer is shown, however short it lasts, in seconds."""


class Calm(Generic[Shown]):
    """What is shown, and since when it is not the latest any more."""

    def __init__(
        self, kind: Callable[[Shown], Hashable], clock: Callable[[], float]
    ) -> None:
        """Nothing is shown yet.

        Args:
            kind: What two of them have in common between which only numbers differ.
            clock: Seconds that only go forward.
        """
        self._kind, self._clock = kind, clock
        self.shown: Shown | None = None
        self._latest: Shown | None = None
        self._since_s = self._stale_s = 0.0

    def put(self, latest: Shown, *, at_once: bool = False) -> float:
        """Take what is the case now.

        Args:
            latest: What is the case.
            at_once: Whether it is to be shown however short it lasts.

        Returns:
            In how many seconds it is to be put again, if nothing else is before; 0 if
            it is shown.
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
        wait = min(self._since_s + LASTS_S, self._stale_s + STALE_S) - now
        if wait > 0:
            return wait
        self.shown = latest
        return 0.0

    def again(self) -> float:
        """Put the latest again, as ``put`` said."""
        return self.put(self._latest) if self._latest is not None else 0.0
