"""The circuit breaker: when not to ask a server that failed.

It does not wait itself, and the caller provides the clock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from memtui.summarize.ollama.errors import (
    CircuitOpenError,
    ContextOverflowError,
    InvalidReplyError,
    OfflineError,
    OllamaError,
    OutOfMemoryError,
    ReplyTooLongError,
    TransientError,
)

FIRST_S, LONGEST_S = 60.0, 1800.0
"""The time for which the breaker stays open at first, and at most; it doubles in
between."""

THRESHOLDS = {TransientError: 3, OutOfMemoryError: 2, OfflineError: 1}
"""The number of errors of a kind, with no success between them, that open the
breaker."""

SERVER_WORKS = (InvalidReplyError, ContextOverflowError, ReplyTooLongError)
"""Errors of a model or a prompt, which only a server that works can report."""

RECHECK_S, MAX_RECHECK_S = 30.0, 600.0
"""In how many seconds to look again for a server that is offline, at first and at most:
as long as it has been offline, so that each wait is twice the one before."""


@dataclass(slots=True)
class Breaker:
    """Opens after errors, and lets a request through when it is time."""

    clock: Callable[[], float]
    """Monotonic seconds."""
    _errors: dict[type[OllamaError], int] = field(default_factory=dict)
    _open_s: float = 0.0
    _until: float | None = None
    _offline_since: float | None = None

    def wait_s(self) -> float:
        """Return for how many seconds nothing should be asked."""
        return 0.0 if self._until is None else max(0.0, self._until - self.clock())

    def check(self) -> None:
        """Raise unless a request may be sent.

        Raises:
            CircuitOpenError: The breaker is open.
        """
        if wait := self.wait_s():
            message = "the model's server failed; it is asked again later"
            raise CircuitOpenError(message, wait)

    def record(self, error: OllamaError) -> None:
        """Count an error; one that only a working server can report closes."""
        if isinstance(error, SERVER_WORKS):
            self.reset()
            return
        kind = next((kind for kind in THRESHOLDS if isinstance(error, kind)), None)
        if kind is None:
            return
        count = self._errors.get(kind, 0) + 1
        self._errors[kind] = count
        if count >= THRESHOLDS[kind] or self._open_s:
            self._open_s = min(self._open_s * 2 or FIRST_S, LONGEST_S)
            self._until = self.clock() + self._open_s

    def reset(self) -> None:
        """Close, and forget all errors."""
        self._errors.clear()
        self._open_s, self._until = 0.0, None

    def note_offline(self) -> float:
        """Note that no server answers; return in how many seconds to look again."""
        now = self.clock()
        if self._offline_since is None:
            self._offline_since = now
        return min(RECHECK_S + now - self._offline_since, MAX_RECHECK_S)

    def note_online(self) -> None:
        """Close if it opened only because no server answered."""
        self._offline_since = None
        if self._errors and set(self._errors) <= {OfflineError}:
            self.reset()
