"""Screens that show what the workers change, while they change it.

All is asked on threads. The store is looked at again when something may have changed,
and then not for a while, however often that is said meanwhile.
"""

from collections.abc import Callable
from typing import ClassVar

from textual.screen import Screen, ScreenResultType


class Following(Screen[ScreenResultType]):
    """A screen that looks again, and rests between."""

    REST_S: ClassVar[float] = 1.0
    """How long it rests before it looks again, in seconds."""

    _is_due = False
    _rests = False

    def ask(self, ask: Callable[[], None], group: str) -> None:
        """Do something on a thread; what was asked before in this group gives way."""
        self.run_worker(
            ask, group=group, thread=True, exclusive=True, exit_on_error=False
        )

    def read_anew(self) -> None:
        """Read what is shown once more."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Look now, or as soon as the screen has rested."""
        self._is_due = True
        self._look_if_rested()

    def _look_if_rested(self) -> None:
        if self._is_due and not self._rests:
            self._is_due, self._rests = False, True
            self.read_anew()
            self.set_timer(self.REST_S, self._rested)

    def _rested(self) -> None:
        self._rests = False
        self._look_if_rested()
