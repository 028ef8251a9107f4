"""Calls: a tool asked with what it was told, its answer or its error held to a budget.

The memory is opened by the first call and not before: a server that cannot open it
still starts, and says with every call what is wrong and what to do.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memtui.agents.serving import hints, parameters, resources
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import BadArguments
from memtui.agents.serving.tools import MAX_TOKENS, Tool
from memtui.errors import MemtuiError
from memtui.memory import replies, tokens
from memtui.memory.replies import Reply, budgets, envelopes
from memtui.memory.replies.fencing import line
from memtui.memory.tokens import Counter

log = logging.getLogger(__name__)

BAD_ARGUMENTS: Final = "bad_arguments"
INTERNAL: Final = "internal"

_LONGEST: Final = 600
"""How much of an error's own words is told, in characters."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as it is sent."""

    text: str
    data: dict[str, Any] | None = None
    """The same for programs, where it was wanted."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call has no answer."""

    code: str
    message: str
    hint: str

    @property
    def text(self) -> str:
        """All of it in a line."""
        hint = f" Hint: {self.hint}." if self.hint else ""
        return f"error {self.code}: {self.message}.{hint}"


class Calls:
    """Answers calls from any thread."""

    def __init__(
        self,
        opened: Callable[[], Memory],
        *,
        is_there: Callable[[], bool] = lambda: True,
        is_structured: bool = False,
    ) -> None:
        """Remember how the memory is opened.

        Args:
            opened: Opens it, and makes it where there is none.
            is_there: Whether there is one: a question makes none.
            is_structured: Whether answers are told as data too.
        """
        self._opened, self._is_there = opened, is_there
        self._is_structured = is_structured
        self._memory: Memory | None = None
        self._opening = threading.Lock()

    def call(self, tool: Tool, told: Mapping[str, Any]) -> Told | Failed:
        """Ask a tool."""
        try:
            given = parameters.read(tool.parameters, told)
            most = given.get(MAX_TOKENS.name, MAX_TOKENS.default)
            if not tool.is_writing and not self._is_kept():
                return self._told(replies.none_kept(), tokens.ESTIMATED, most)
            memory = self._open()
            return self._told(tool.run(memory, given), memory.counter, most)
        except MemtuiError as error:
            return failed(error)
        except Exception as error:  # the edge: nobody else would hear of it
            log.exception("%s failed", tool.name)
            return Failed(
                INTERNAL,
                type(error).__name__,
                "ask the person to look into memtui's log",
            )

    def read(self, uri: str) -> Told:
        """Read a resource.

        Raises:
            MemtuiError: There is none, or the memory cannot be read.
        """
        if not self._is_kept():
            return Told(replies.NOTHING_KEPT)
        memory = self._open()
        reply = resources.read(memory, uri)
        return Told(replies.fitted(reply, resources.MOST_TOKENS, memory.counter).text)

    def roots(self) -> list[tuple[str, str]]:
        """The resources to begin with.

        Raises:
            MemtuiError: The memory cannot be read.
        """
        if not self._is_kept():
            return []
        self._open()
        return resources.roots()

    def _is_kept(self) -> bool:
        return self._memory is not None or self._is_there()

    def _open(self) -> Memory:
        with self._opening:
            if self._memory is None:
                self._memory = self._opened()
            return self._memory

    def _told(self, reply: Reply, counter: Counter, most: int) -> Told:
        if not self._is_structured:
            return Told(replies.fitted(reply, most, counter).text)
        told = replies.fitted(reply, most // 2, counter)
        room = most - told.tokens
        if room < budgets.LEAST:
            return Told(told.text)
        data = replies.fitted_json(reply, room, counter, lambda plain: plain)
        return Told(told.text, json.loads(data.text))


def failed(error: MemtuiError) -> Failed:
    """An error as an agent is told it."""
    found = envelopes.problem(error)
    code = BAD_ARGUMENTS if isinstance(error, BadArguments) else found.code
    said = hints.for_agents(found.message)
    return Failed(code, _said(said), _said(hints.hint(found.hint)))


def _said(text: str) -> str:
    return line(text)[:_LONGEST].rstrip(".")
