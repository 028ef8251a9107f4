"""Errors of a model, each kind with its handling.

* ModelError
  - OllamaError
    + OfflineError           no server: it is asked less and less often
    + BusyError              too many requests are queued: wait and ask again
    + TransientError         asked again twice, then less and less often
      . StalledError         the server fell silent
      . IncompleteReplyError the reply broke off
      . ServerError          the server failed, or its answer cannot be read
    + OutOfMemoryError       use a smaller model
    + ContextOverflowError   the prompt was longer than estimated: cut it again
    + ModelNotFoundError     choose another model, or say what to pull
    + InvalidReplyError      there is no summary by this model
    + NotAllowedError        must not be asked at all
    + EmptyLogError          there is no text to summarize
    + RequestCancelled       the job is left untouched
"""

import json
import re
from typing import Any

from memtui.errors import ModelError
from memtui.model.jobs import PULL, ModelCondition

MESSAGE_CHARS = 300
"""The maximum length of a server's error message."""


class OllamaError(ModelError):
    """Base of all that goes wrong with a model."""

    condition = ModelCondition.FAULTY
    """The condition of a model that fails like this."""
    retry_delays_s: tuple[float, ...] = ()
    """The delays before each retry with the same text, in seconds."""

    def __init__(self, reason: str, *, remedy: str = "", retry_s: float = 0.0) -> None:
        """Store what is wrong, what a person can do, and when to ask again."""
        super().__init__(f"{reason}; try: {remedy}" if remedy else reason)
        self.reason, self.remedy, self.retry_s = reason, remedy, retry_s


class OfflineError(OllamaError):
    """No server answers at the address."""

    condition = ModelCondition.OFFLINE


class BusyError(OllamaError):
    """Too many requests are queued at the server, which is fine otherwise."""

    condition = ModelCondition.RESTING
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
    """The prompt is longer than the window."""


class ModelNotFoundError(OllamaError):
    """The server does not have the model, or the model cannot be asked like this."""

    condition = ModelCondition.MODEL_MISSING

    def __init__(self, reason: str, *, remedy: str = PULL) -> None:
        super().__init__(reason, remedy=remedy)


class InvalidReplyError(OllamaError):
    """The reply is no summary: no JSON, or empty."""


class NotAllowedError(OllamaError):
    """The server or the model must not be asked."""

    condition = ModelCondition.REFUSED

    def __init__(self, reason: str) -> None:
        super().__init__(reason, retry_s=1800.0)


class EmptyLogError(OllamaError):
    """There is no text to summarize."""


class RequestCancelled(OllamaError):
    """The request was cancelled by ``Ollama.cancel``."""

    condition = ModelCondition.RESTING


_FLAGS = re.IGNORECASE | re.DOTALL

_PATTERNS: tuple[tuple[type[OllamaError], re.Pattern[str]], ...] = (
    (
        ContextOverflowError,
        re.compile(
            r"exceed_context_size|(?:input|prompt|request)\b.*\b(?:exceeds|longer than"
            r"|too long)|context (?:size|length|window) (?:is )?exceeded",
            _FLAGS,
        ),
    ),
    (BusyError, re.compile(r"server busy|maximum pending requests", _FLAGS)),
    (
        OutOfMemoryError,
        re.compile(
            r"out of memory|more (?:system|gpu|vram)? ?memory|insufficient memory"
            r"|not enough memory|cannot allocate memory|unable to allocate"
            r"|failed to allocate|alloc\w* failed|signal: killed",
            _FLAGS,
        ),
    ),
    (
        ModelNotFoundError,
        re.compile(
            r"model\b.*\bnot found|try pulling it|does not support"
            r"|invalid (?:think|format)|\bgrammar\b|\bformat\b|json.?schema",
            _FLAGS,
        ),
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
    matches = (kind for kind, pattern in _PATTERNS if pattern.search(message))
    kind = _STATUSES.get(status) or next(matches, ServerError)
    if kind is NotAllowedError or 300 <= status < 400:
        return NotAllowedError(f"the server answered {status}: {line}")
    return kind(line)


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
