"""The state of the model that writes summaries, and its progress."""

from dataclasses import dataclass
from enum import StrEnum


class ModelCondition(StrEnum):
    """The condition of a model."""

    READY = "ready"
    OFFLINE = "offline"
    """The server does not answer."""
    MODEL_MISSING = "model missing"
    """The server has no suitable model."""
    REFUSED = "refused"
    """It must not be used: another host, or a model not on this machine."""
    RESTING = "resting"
    """It failed too often and is used again later."""
    FAULTY = "faulty"
    """It answers, but wrongly."""


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """The condition of a model, with details."""

    condition: ModelCondition
    message: str = ""
    """A message for the user, as a sentence; "" if there is no problem."""
    remedy: str = ""
    """A remedy: a command or a sentence; "" if none is known."""
    model: str = ""
    digest: str = ""
    server: str = ""
    window_tokens: int = 0
    is_loaded: bool = False
    """True if it is in memory; ``on_cpu`` is known only then."""
    on_cpu: bool = False
    """True if it runs without a graphics card."""
    retry_after_s: float = 0.0
    """After how many seconds to ask again; 0 for any time."""

    @property
    def is_ready(self) -> bool:
        return self.condition is ModelCondition.READY

    @property
    def summary(self) -> str:
        """The condition and the remedy in one line."""
        message = self.message or self.condition.value
        return f"{message}; try: {self.remedy}" if self.remedy else message


@dataclass(frozen=True, slots=True)
class RewriteForecast:
    """A forecast for a requested version."""

    message: str
    """A sentence or two on when it will be written, or why it will not."""
    is_possible: bool = True
    """True if it will be written, as far as is known."""


class ModelPhase(StrEnum):
    """The present activity of a model."""

    WAITING = "waiting"
    """It waits for a retry."""
    LOADING = "loading"
    READING = "reading"
    WRITING = "writing"
    CHECKING = "checking"
    """Its draft is checked against the source."""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """The progress of one summary."""

    phase: ModelPhase
    part: int = 1
    parts: int = 1
    written: int = 0
    """The tokens of this part's reply so far."""
    limit: int = 0
