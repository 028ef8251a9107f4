"""The circuit breaker: for how long a server that failed is not asked.

It does not wait itself.
"""

import math
from collections import Counter
from collections.abc import Callable

from memtui.summarize.ollama.errors import (
    CircuitOpenError,
    ContextOverflowError,
    InvalidReplyError,
    OfflineError,
    OllamaError,
    OutOfMemoryError,
    TransientError,
)

FIRST_S, LONGEST_S = 30.0, 600.0
"""The time for which the breaker stays open at first, and at most; it doubles in
between."""

THRESHOLDS = {TransientError: 3, OutOfMemoryError: 2, OfflineError: 1}
"""The number of errors of a kind, with no success between them, that open the
breaker."""

SERVER_WORKS = (InvalidReplyError, ContextOverflowError)
"""Errors of a model or a prompt, which only a server that works can report."""


class Breaker:
    """Opens after errors, and lets a request through when it is time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Create a closed one; the clock gives monotonic seconds."""
        self._clock = clock
        self._counts: Counter[type[OllamaError]] = Counter()
        self._open_s = 0.0
        self._until = -math.inf

    def wait_s(self) -> float:
        """Return for how many seconds nothing should be asked."""
        return max(0.0, self._until - self._clock())

    def check(self) -> None:
        """Raise unless a request may be sent.

        Raises:
            CircuitOpenError: The breaker is open.
        """
        if wait_s := self.wait_s():
            message = "the model's server failed; it is asked again later"
            raise CircuitOpenError(message, retry_s=wait_s)

    def record(self, error: OllamaError) -> None:
        """Count an error; one that only a working server can report closes.

        Errors of requests that were sent although the breaker is open do not count.
        """
        if isinstance(error, SERVER_WORKS):
            self.reset()
            return
        kind = next((kind for kind in THRESHOLDS if isinstance(error, kind)), None)
        if kind is None or self.wait_s():
            return
        self._counts[kind] += 1
        if self._counts[kind] >= THRESHOLDS[kind] or self._open_s:
            self._open_s = min(self._open_s * 2 or FIRST_S, LONGEST_S)
            self._until = self._clock() + self._open_s

    def reset(self) -> None:
        """Close, and forget all errors."""
        self._counts.clear()
        self._open_s, self._until = 0.0, -math.inf

    def note_online(self) -> None:
        """Close if it opened only because no server answered."""
        if set(self._counts) <= {OfflineError}:
            self.reset()
