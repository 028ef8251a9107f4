"""A tool: what an agent can ask for, what it takes, and who answers."""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from memtui.agents import replies
from memtui.agents.replies import Reply
from memtui.errors import MemtuiError
from memtui.model.events import clean

if TYPE_CHECKING:
    from memtui.agents.questions import AgentQuestions
    from memtui.model.schedule import Schedules
    from memtui.text.tokens import Counter


class Memory(Protocol):
    """A memory that is open. Another process may be at work in it, or none."""

    @property
    def zone(self) -> tzinfo:
        """The store's time zone: all times are told in it."""

    @property
    def asking(self) -> "AgentQuestions":
        """Who answers."""

    @property
    def counter(self) -> "Counter":
        """By what tokens are counted."""

    @property
    def plan(self) -> "Schedules":
        """When the model's jobs are due."""

    @property
    def spool(self) -> Path:
        """Where events are left that are to be kept."""

    def now(self) -> datetime:
        """The time."""

    def is_worked(self) -> bool | None:
        """Whether any process works the store; None if that is not known."""

    def promise(self) -> str:
        """Who will do what is asked of a model, and when."""


Given = Mapping[str, Any]
"""Arguments by their names, read and complete."""


LONGEST: Final = 100_000
"""The longest text that is taken, in characters."""


_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list of words",
}


_NUMBER: Final = re.compile("-?[0-9]{1,18}")


class BadArguments(MemtuiError):
    """A tool was told something it cannot be told; the message says what to tell it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing a tool can be told."""

    name: str
    kind: str = "string"
    """``string``, ``integer``, ``boolean``, or ``array`` of strings."""
    says: str = ""
    """What it is, where its name does not say."""
    default: Any = None
    is_required: bool = False
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    longest: int = LONGEST
    """Of a text, in characters."""

    def schema(self) -> dict[str, Any]:
        """It as JSON Schema."""
        told: dict[str, Any] = {"type": self.kind}
        words: dict[str, Any] = {"enum": list(self.choices)} if self.choices else {}
        if self.kind == "array":
            told["items"] = {"type": "string", **words}
        else:
            told |= words
        if self.says:
            told["description"] = self.says
        bounds = {"minimum": self.least, "maximum": self.most}
        if self.longest != LONGEST:
            bounds["maxLength"] = self.longest
        told |= {name: bound for name, bound in bounds.items() if bound is not None}
        if self.default not in (None, "", ()):
            told["default"] = self.default
        return told

    def read(self, value: Any) -> Any:
        """A value as the tool takes it.

        Raises:
            BadArguments: It is none.
        """
        if value is None:
            return self._missing()
        read = self._of_kind(value)
        for one in read if isinstance(read, tuple) else (read,):
            if self.choices and one not in self.choices:
                raise BadArguments(f"{self.name} is one of {', '.join(self.choices)}")
        if isinstance(read, str) and self.is_required and not value.strip():
            raise BadArguments(f"{self.name} is empty")
        return read

    def _missing(self) -> Any:
        if self.is_required:
            raise BadArguments(f"{self.name} is missing")
        if self.kind == "array":
            return ()
        return "" if self.default is None and self.kind == "string" else self.default

    def _of_kind(self, value: Any) -> Any:
        if self.kind == "string" and isinstance(value, str):
            if len(value) > self.longest:
                most = f"{self.longest:,} characters"
                raise BadArguments(f"{self.name} has more than {most}; say it shorter")
            return clean(value)
        if self.kind == "boolean" and isinstance(value, bool):
            return value
        if self.kind == "array":
            some = [value] if isinstance(value, str) else value
            if isinstance(some, list) and all(isinstance(one, str) for one in some):
                return tuple(some)
        if self.kind == "integer":
            return self._number(value)
        raise BadArguments(f"{self.name} is {_WORDS[self.kind]}")

    def _number(self, value: Any) -> int:
        is_told = isinstance(value, str) and _NUMBER.fullmatch(value.strip())
        is_whole = isinstance(value, float) and value.is_integer()
        if is_told or is_whole:
            value = int(value)
        is_number = isinstance(value, int) and not isinstance(value, bool)
        low = self.least if self.least is not None else value
        high = self.most if self.most is not None else value
        if not is_number or not low <= value <= high:
            bounds = [f"from {self.least:,}"] if self.least is not None else []
            bounds += [f"to {self.most:,}"] if self.most is not None else []
            raise BadArguments(" ".join([f"{self.name} is a whole number", *bounds]))
        return int(value)


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """All that a tool is told, as JSON Schema."""
    told: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: one.schema() for one in parameters},
        "additionalProperties": False,
    }
    if required := [one.name for one in parameters if one.is_required]:
        told["required"] = required
    return told


def read(parameters: Sequence[Parameter], told: Mapping[str, Any]) -> Given:
    """What a tool was told, complete.

    Raises:
        BadArguments: It is not what the tool can be told.
    """
    known = [one.name for one in parameters]
    if strange := [name for name in told if name not in known]:
        takes = ", ".join(known) or "nothing"
        raise BadArguments(f"there is no {strange[0]!r} here; this takes {takes}")
    return {one.name: one.read(told.get(one.name)) for one in parameters}


Run = Callable[[Memory, Given], Reply]


MOST_TOKENS: Final = 20_000
"""The largest budget of an answer: clients cut what is longer."""


MAX_TOKENS: Final = Parameter(
    "max_tokens",
    "integer",
    default=replies.DEFAULT,
    least=replies.LEAST,
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
