"""What goes wrong with a model, each kind with what is to be done about it.

* ModelError
  - Fault
    + Offline         nobody answers                      the breaker opens at once
    + Busy            too many requests wait there        wait and ask again
    + Unwell          asked again twice, then the breaker counts
      . Stalled       it fell silent
      . CutOff        the reply broke off
      . ServerFault   it failed, or answered what nobody can read
    + OutOfMemory     half the text, then a smaller model
    + Overflow        the prompt was longer than estimated: less text
    + ModelMissing    choose again, or say what to pull
    + ModeRefused     the model cannot think, or keeps to no schema: another mode
    + TooLong         the reply reached its limit: its whole bullets, or half the text
    + BadReply        one other try, then it counts against the model
    + Refused         must not be asked at all
    + Resting         the breaker is open, or the minutes are used
    + NothingToSay    there is no text to summarise
    + Cancelled       the job goes back untouched
"""

import json
import re
from typing import Any

from memtui.errors import ModelError
from memtui.model.summaries import Summary

PULL = "ollama pull qwen3:4b"
"""What gives a server a model that summarises well."""


SAID_CHARS = 300
"""How much of a server's own words is kept."""


class Fault(ModelError):
    """The base of all that goes wrong with a model."""

    waits_s: tuple[float, ...] = ()
    """How long to wait before each further try with the same text, in seconds."""


class Offline(Fault):
    """Nobody answers where the server should be."""


class Busy(Fault):
    """Too many requests wait at the server; it is well all the same."""

    waits_s = (1.0, 2.0, 4.0, 8.0, 16.0)


class Unwell(Fault):
    """The server did not do what it should; it may the next time."""

    waits_s = (1.0, 5.0)


class Stalled(Unwell):
    """The server fell silent for longer than is plausible."""


class CutOff(Unwell):
    """The reply ended before it was done."""


class ServerFault(Unwell):
    """The server says it failed, or what it says cannot be read."""


class OutOfMemory(Fault):
    """The model does not fit this machine's memory, with this much text or at all."""


class Overflow(Fault):
    """The prompt is longer than the window, or was cut to fit it."""

    def __init__(self, message: str, tokens: int = 0, window: int = 0) -> None:
        """Remember how long the prompt really was, in the model's tokens, if told."""
        super().__init__(message)
        self.tokens, self.window = tokens, window


class ModelMissing(Fault):
    """The server does not have the model."""

    def __init__(self, said: str, cure: str = PULL) -> None:
        """Remember what is missing, and what a person can do."""
        super().__init__(f"{said}; try: {cure}")
        self.said, self.cure = said, cure


class ModeRefused(Fault):
    """The server refuses to think, or to keep to a schema, with this model."""


class TooLong(Fault):
    """The reply reached its limit; ``text`` is what there is of it."""

    def __init__(self, text: str) -> None:
        """Remember what was written."""
        super().__init__("the model's reply was too long")
        self.text = text


class BadReply(Fault):
    """The reply is no summary: no JSON, no bullets, endless, or the wrong language.

    ``summary`` is what could be read of it, if anything could.
    """

    def __init__(self, message: str, summary: Summary | None = None) -> None:
        """Remember what was written."""
        super().__init__(message)
        self.summary = summary


class Refused(Fault):
    """What must not be asked: another host, or a model that is not on this machine."""


class Resting(Fault):
    """It is not asked for a while; ``retry_s`` says for how many seconds."""

    def __init__(self, message: str, retry_s: float) -> None:
        """Remember when to ask again."""
        super().__init__(message)
        self.retry_s = retry_s


class NothingToSay(Fault):
    """There is no text to summarise."""


class Cancelled(Fault):
    """It was called off from outside."""


_MEMORY = re.compile(
    r"out of memory|more (?:system|gpu|vram)? ?memory|insufficient memory"
    r"|not enough memory|cannot allocate memory|unable to allocate|failed to allocate"
    r"|alloc\w* failed|signal: killed",
    re.IGNORECASE,
)


_LENGTH = re.compile(
    r"exceed_context_size"
    r"|(?:input|prompt|request)\b.*\b(?:exceeds|longer than|too long)"
    r"|context (?:size|length|window) (?:is )?exceeded",
    re.IGNORECASE | re.DOTALL,
)


_MODE = re.compile(
    r"does not support (?:thinking|structured)|invalid (?:think|format)"
    r"|\bgrammar\b|\bformat\b|json.?schema",
    re.IGNORECASE,
)


_GONE = re.compile(r"model\b.*\bnot found|try pulling it", re.IGNORECASE)


_BUSY = re.compile(r"server busy|maximum pending requests", re.IGNORECASE)


def of_reply(status: int, body: bytes) -> Fault:
    """The fault that an answer which is no reply tells of.

    Args:
        status: HTTP's status; 200 for an error in the middle of a stream.
        body: What was answered, whatever it is: JSON, JSON in JSON, HTML, nothing.
    """
    said, about = _words(body)
    shown = " ".join(said.split())[:SAID_CHARS] or f"HTTP {status}"
    if _LENGTH.search(said):
        tokens, window = about.get("n_prompt_tokens"), about.get("n_ctx")
        return Overflow(shown, _whole(tokens), _whole(window))
    if status == 503 or _BUSY.search(said):
        return Busy(shown)
    if _MEMORY.search(said):
        return OutOfMemory(shown)
    if status == 404 or _GONE.search(said):
        return ModelMissing(shown)
    if status in (401, 403) or 300 <= status < 400:
        return Refused(f"the server answered {status}: {shown}")
    if _MODE.search(said):
        return ModeRefused(shown)
    return ServerFault(shown)


def of_error(error: object) -> Fault:
    """The fault that an ``error`` in the middle of a stream tells of."""
    return of_reply(200, json.dumps({"error": error}).encode())


def _words(body: bytes) -> tuple[str, dict[str, Any]]:
    """What an error says, and its fields: the text may itself be JSON."""
    said: Any = body.decode(errors="replace")
    about: dict[str, Any] = {}
    for _ in range(5):
        if isinstance(said, str) and said.lstrip().startswith("{"):
            try:
                said = json.loads(said)
            except (ValueError, RecursionError):
                break
        if not isinstance(said, dict):
            break
        about = said
        said = said.get("error", said.get("message", ""))
    kind = str(about.get("type", ""))
    text = said if isinstance(said, str) else str(said)
    return (f"{kind}: {text}" if kind else text), about


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
