"""What can be told of who summarises: how it is, and how far it has come."""

from dataclasses import dataclass
from enum import StrEnum


class ModelCondition(StrEnum):
    """How a summariser is."""

    READY = "ready"
    OFFLINE = "offline"
    """Nobody answers where the server should be."""
    MODEL_MISSING = "model missing"
    """The server has no model that would do."""
    REFUSED = "refused"
    """It must not be asked: another host, or a model that is not on this machine."""
    RESTING = "resting"
    """It failed too often; it is asked again later."""
    UNWELL = "unwell"
    """It answers, but not as it should."""


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """How a summariser is, and what stands behind it."""

    condition: ModelCondition
    message: str = ""
    """What to tell a person, in a sentence; "" when all is well."""
    remedy: str = ""
    """What a person can do: a command, or a sentence; "" if nothing is known."""
    model: str = ""
    digest: str = ""
    server: str = ""
    """The server's version."""
    window_tokens: int = 0
    is_loaded: bool = False
    """Whether the model is in memory; what it runs on is known only then."""
    on_cpu: bool = False
    """Whether the model, as it is loaded, uses no graphics card at all."""
    retry_after_s: float = 0.0
    """In how many seconds to ask again; 0 for whenever one likes."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        return self.condition is ModelCondition.READY

    @property
    def summary(self) -> str:
        """How it is, and what can be done, in one line."""
        says = self.message or self.condition.value
        return f"{says}; try: {self.remedy}" if self.remedy else says


@dataclass(frozen=True, slots=True)
class RewriteOutlook:
    """What can be promised to a person who asks for something of a model."""

    message: str
    """Who does it and when, or why nobody does, in a sentence or two."""
    is_possible: bool = True
    """Whether somebody does it, as far as is known."""


class ModelPhase(StrEnum):
    """What a model is doing."""

    WAITING = "waiting"
    """Before it is asked again."""
    LOADING = "loading"
    READING = "reading"
    WRITING = "writing"
    AUDITING = "auditing"
    """Its draft is held against the source."""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """How far a summary has come."""

    phase: ModelPhase
    part: int = 1
    parts: int = 1
    """How many parts are known of; a merge of their summaries is one more."""
    written: int = 0
    """How many tokens of this part's reply are there."""
    limit: int = 0
    """How many there can be."""
