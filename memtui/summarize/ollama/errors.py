"""Errors of a model, each kind with its handling.

* ModelError
  - OllamaError
    + OfflineError           no server: the breaker opens at once
    + BusyError              too many requests are queued: wait and ask again
    + TransientError         asked again twice, then the breaker counts it
      . StalledError         the server fell silent
      . IncompleteReplyError the reply broke off
      . ServerError          the server failed, or its answer cannot be read
    + OutOfMemoryError       use a smaller model
    + ContextOverflowError   the prompt was longer than estimated: cut it again
    + ModelNotFoundError     choose another model, or say what to pull
    + InvalidReplyError      there is no summary by this model
    + NotAllowedError        must not be asked at all
      . RemoteModelError     the model does not run on this machine
      . OldServerError       the server is too old to enforce a schema
    + CircuitOpenError       the breaker is open
    + EmptyLogError          there is no text to summarize
    + RequestCancelled       the job is left untouched

The breaker says when not to ask a server that failed. It does not wait itself, and the
caller provides the clock.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memtui.errors import ModelError

PULL = "ollama pull qwen3:4b-instruct"
"""The command that gets a model that summarizes well and does not think aloud."""

MESSAGE_CHARS = 300
"""The maximum length of a server's error message."""


class OllamaError(ModelError):
    """Base of all that goes wrong with a model."""

    retry_delays_s: tuple[float, ...] = ()
    """The delays before each retry with the same text, in seconds."""


class OfflineError(OllamaError):
    """No server answers at the address."""


class BusyError(OllamaError):
    """Too many requests are queued at the server, which is fine otherwise."""

    retry_delays_s = (1.0, 2.0, 4.0, 8.0, 16.0)


class TransientError(OllamaError):
    """The server did not do what it should; it may the next time."""

    retry_delays_s = (1.0, 5.0)


class StalledError(TransientError):
    """The server was silent for longer than the timeout."""


class IncompleteReplyError(TransientError):
    """The reply ended before it was done."""


class ServerError(TransientError):
    """The server reported a failure, or its answer cannot be read."""


class OutOfMemoryError(OllamaError):
    """The model does not fit into memory."""


class ContextOverflowError(OllamaError):
    """The prompt is longer than the window, or was truncated to fit it."""


class ModelNotFoundError(OllamaError):
    """The server does not have the model, or the model cannot be asked like this."""

    def __init__(self, reason: str, cure: str = PULL) -> None:
        """Store what is missing, and what a person can do."""
        super().__init__(f"{reason}; try: {cure}")
        self.reason, self.remedy = reason, cure


class InvalidReplyError(OllamaError):
    """The reply is no summary: no JSON, empty or endless."""


class NotAllowedError(OllamaError):
    """The server or the model must not be asked."""


class RemoteModelError(NotAllowedError):
    """The model runs on another machine, such as Ollama's cloud."""


class OldServerError(NotAllowedError):
    """The server cannot hold a model to a schema."""


class CircuitOpenError(OllamaError):
    """Nothing is asked for a while; ``retry_s`` says for how many seconds."""

    def __init__(self, message: str, retry_s: float) -> None:
        """Store when to ask again."""
        super().__init__(message)
        self.retry_s = retry_s


class EmptyLogError(OllamaError):
    """There is no text to summarize."""


class RequestCancelled(OllamaError):
    """The request was cancelled by ``Ollama.cancel``."""


_PATTERNS: tuple[tuple[type[OllamaError], str], ...] = (
    (
        ContextOverflowError,
        r"exceed_context_size|(?:input|prompt|request)\b.*\b(?:exceeds|longer than|too"
        r" long)|context (?:size|length|window) (?:is )?exceeded",
    ),
    (BusyError, r"server busy|maximum pending requests"),
    (
        OutOfMemoryError,
        r"out of memory|more (?:system|gpu|vram)? ?memory|insufficient memory"
        r"|not enough memory|cannot allocate memory|unable to allocate"
        r"|failed to allocate|alloc\w* failed|signal: killed",
    ),
    (
        ModelNotFoundError,
        r"model\b.*\bnot found|try pulling it|does not support|invalid (?:think|format)"
        r"|\bgrammar\b|\bformat\b|json.?schema",
    ),
)
"""Patterns of the messages of each kind; the first that matches counts."""

_STATUSES: dict[int, type[OllamaError]] = {
    503: BusyError,
    404: ModelNotFoundError,
    401: NotAllowedError,
    403: NotAllowedError,
}


def from_response(status: int, body: bytes) -> OllamaError:
    """Return the error for a server's error response.

    Args:
        status: HTTP's status; 200 for an error in the middle of a stream.
        body: The body: JSON, JSON in JSON, HTML or nothing.
    """
    message = _parse(body)
    line = " ".join(message.split())[:MESSAGE_CHARS] or f"HTTP {status}"
    kinds = (kind for kind, pattern in _PATTERNS if re.search(pattern, message, _FLAGS))
    kind: type[OllamaError] = _STATUSES.get(status) or next(kinds, ServerError)
    if 300 <= status < 400:
        kind = NotAllowedError
    if kind is NotAllowedError:
        return NotAllowedError(f"the server answered {status}: {line}")
    return kind(line)


_FLAGS = re.IGNORECASE | re.DOTALL


def from_stream(error: object) -> OllamaError:
    """Return the error for an ``error`` field in a response with status 200."""
    return from_response(200, json.dumps({"error": error}).encode())


def _parse(body: bytes) -> str:
    """Return an error's message, which may itself be JSON, with its type."""
    value: Any = body.decode(errors="replace")
    details: dict[str, Any] = {}
    for _ in range(5):
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                break
        if not isinstance(value, dict):
            break
        details = value
        value = value.get("error", value.get("message", ""))
    kind = str(details.get("type", ""))
    message = value if isinstance(value, str) else str(value)
    return f"{kind}: {message}" if kind else message


# The circuit breaker

FIRST_S, LONGEST_S = 60.0, 1800.0
"""The time for which the breaker stays open at first, and at most; it doubles in
between."""

THRESHOLDS = {TransientError: 3, OutOfMemoryError: 2, OfflineError: 1}
"""The number of errors of a kind, with no success between them, that open the
breaker."""

SERVER_WORKS = (InvalidReplyError, ContextOverflowError)
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
