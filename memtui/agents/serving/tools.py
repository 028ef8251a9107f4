"""A tool: what an agent can ask for, what it takes, and who answers."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.memory.replies import Reply, budgets

Run = Callable[[Memory, Given], Reply]

MOST_TOKENS: Final = 20_000
"""The largest budget of an answer: clients cut what is longer."""

MAX_TOKENS: Final = Parameter(
    "max_tokens",
    "integer",
    default=budgets.DEFAULT,
    least=budgets.LEAST,
    most=MOST_TOKENS,
)
"""What every tool takes that answers with stored text."""

TOKEN: Final = Parameter("token", says="where the page before ended")
OFFSET: Final = Parameter("offset", "integer", default=0, least=0, most=10_000_000)


def deed(name: str) -> Run:
    """What a tool does, loaded when it is first asked: the server starts without it.

    Args:
        name: The function and its module beside this one: ``keeping.new_session``.
    """
    module, _, function = name.partition(".")

    def run(memory: Memory, given: Given) -> Reply:
        there = importlib.import_module(f"{__package__}.{module}")
        told: Reply = getattr(there, function)(memory, given)
        return told

    return run


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
