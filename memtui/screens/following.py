"""Screens that show what the workers change, while they change it.

All is asked on threads. The store is looked at again when something may have changed,
and then not for a while, however often that is said meanwhile; also where it could not
be read, until it can.
"""

from collections.abc import Callable
from typing import ClassVar

from textual.message import Message
from textual.screen import Screen, ScreenResultType

from memtui.widgets import threads

AGAIN = f"{threads.TRIED_AGAIN[:-1]}; esc goes back."
"""What is said where nothing could be read."""


class Following(Screen[ScreenResultType]):
    """A screen that looks again, and rests between."""

    REST_S: ClassVar[float] = threads.AGAIN_S
    """How long it rests before it looks again, in seconds."""

    _is_due = False
    _rests = False

    def ask(self, ask: Callable[[], None], group: str) -> None:
        """Read on a thread; what was asked before in this group gives way."""
        threads.ask(self, ask, group)

    def tell(self, message: Message) -> None:
        """Tell what was asked, from the thread; dropped if that was asked anew."""
        threads.tell(self, message)

    def do(self, doing: Callable[[], None], group: str) -> None:
        """Do something on a thread, which posts what came of it."""
        threads.do(self, doing, group)

    def read_anew(self) -> None:
        """Read what is shown once more."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Look now, or as soon as the screen has rested."""
        self._is_due = True
        self._look_if_rested()

    def look_soon(self) -> None:
        """Look again after a rest: this time it could not be read."""
        self.set_timer(self.REST_S, self.look_again)

    def _look_if_rested(self) -> None:
        if self._is_due and not self._rests:
            self._is_due, self._rests = False, True
            self.read_anew()
            self.set_timer(self.REST_S, self._rested)

    def _rested(self) -> None:
        self._rests = False
        self._look_if_rested()
