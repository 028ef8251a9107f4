"""Calm: what is seen of something that changes quickly.

What lasts shorter than can be read is left out; what is only counted on is shown at
once. Nothing here waits or looks at a clock of its own.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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
