"""The tokens that replies of models took, as transcripts state them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

KINDS = ("input", "output", "cache_read", "cache_write")
"""The kinds of tokens; input is without those read from or written to a cache."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and the cost of one reply of a model."""

    agent: str
    session_id: str
    at: datetime
    key: str
    """A hash of its id in the source, which copies in other sessions share."""
    model: str
    tokens: Sequence[int | None]
    """Their number of each kind; None if it is not stated."""
    cost: float | None
    """In dollars, if the source states it."""


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The usage of some replies."""

    tokens: Mapping[str, int | None]
    """Their number by kind."""
    name: str
    """A session, as ``agent:id``, a day, a project or a model."""
    title: str
    """That of a session."""
    active_ms: int | None
    """The time in which the sessions were active; None for a model."""
    cost: float | None
    """In dollars, as stated or by the prices; None if neither is known."""
    without_price: str | None
    """The models of the replies whose cost is not known."""
