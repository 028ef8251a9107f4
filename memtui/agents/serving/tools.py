"""A tool: what an agent can ask for, what it takes, and who answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memtui.agents.serving.answers import (
    LEAST_TOKENS,
    MOST_TOKENS,
    USUAL_TOKENS,
    Answer,
)
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.errors import MemtuiError

Run = Callable[[Memory, Given], Answer]

MAX_TOKENS: Final = Parameter(
    "max_tokens", "integer", default=USUAL_TOKENS, least=LEAST_TOKENS, most=MOST_TOKENS
)
"""What every tool that answers with stored text takes."""

FIRST_TOKEN: Final = Parameter("token", says="from the page before")


class Unknown(MemtuiError):
    """There is nothing of that name; the message says how to find what there is."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    says: str
    """When to choose it, in a line."""
    run: Run
    takes: tuple[Parameter, ...] = ()
    is_writing: bool = False
    """Whether it changes anything: offered only where that was allowed."""
    is_repeatable: bool = True
    """Whether a second call with the same words changes nothing more."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All it takes."""
        return self.takes if self.is_writing else (*self.takes, MAX_TOKENS)


def limit(usual: int, most: int) -> Parameter:
    """How many items a page of an answer has."""
    return Parameter("limit", "integer", default=usual, least=1, most=most)


def offset(given: Given) -> int:
    """Where a page begins that a token of the page before names.

    Raises:
        Unknown: It is no such token.
    """
    token = given["token"]
    if token and not (token.isdecimal() and len(token) < len(str(1 << 62))):
        raise Unknown(f"{line_of(token)} is no token of a page; leave it out to begin")
    return int(token or 0)


def line_of(word: str) -> str:
    """A word an agent gave, short enough to be given back."""
    shortest = 80
    return repr(word if len(word) <= shortest else f"{word[:shortest]}…")
