"""The tokens that replies of models took, as transcripts state them, and prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.quantities import check_number

KINDS = ("input", "output", "cache_read", "cache_write")
"""The kinds of tokens; input is without those read from or written to a cache."""

Tokens = Sequence[int | None]
"""A number of tokens of each kind; None if it is not stated."""

MAX_TOKENS = 10**12
"""A greater number of tokens of one reply is an error."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one reply of a model took."""

    agent: str
    session_id: str
    at: datetime
    key: str
    """A hash of its id in the source, which copies in other sessions share."""
    model: str
    tokens: Tokens
    cost: float | None
    """Its cost in dollars, if its source states that."""


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The usage of some replies."""

    tokens: Mapping[str, int | None]
    """By kind."""
    name: str = ""
    """A session, as ``agent:id``, a day, a project or a model."""
    title: str = ""
    """That of a session."""
    active_ms: int | None = None
    """How long the sessions were active; None for a model."""
    stated_cost: float | None = None
    """In dollars: of the replies whose sources state it."""
    cost: float | None = None
    """That of the others by their prices; None if none of them has a price."""
    without_price: str | None = None
    """The models of the others that have no price."""


def parse_price(text: str) -> tuple[str, list[float]]:
    """Parse a model's name and what a million tokens of each kind cost.

    For example, "claude-opus-4 15 75 1.5 18.75" is the price of all models whose names
    begin with the first word.

    Raises:
        ValueError: The text is something else.
    """
    name, *numbers = text.split() or [""]
    if len(numbers) != len(KINDS):
        raise ValueError(f"write a model and the prices of {', '.join(KINDS)}")
    return name.lower(), [
        float(check_number(number, is_whole=False, minimum=0)) for number in numbers
    ]
