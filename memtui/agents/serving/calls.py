"""Calls: a tool asked with what it was told, its answer or its error held to a budget.

The memory is opened by the first call and not before: a server that cannot open it
still starts, and says with every call what is wrong and what to do.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memtui.agents.serving import answers, parameters, resources
from memtui.agents.serving.answers import Count, Told
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import BadArguments
from memtui.agents.serving.tools import MAX_TOKENS, Tool, Unknown
from memtui.errors import (
    MemtuiError,
    SearchError,
    StoreBusy,
    StoreError,
    StoreTooNew,
)

log = logging.getLogger(__name__)

_CODES: Final = (
    (BadArguments, "bad_arguments", "See the tool's schema."),
    (Unknown, "not_found", ""),
    (answers.TooSmall, "budget_too_small", "Raise max_tokens."),
    (StoreBusy, "busy", "Try again in a few seconds."),
    (StoreTooNew, "too_new", "A person upgrades memtui."),
    (StoreError, "store", "A person runs: memtui doctor"),
    (SearchError, "index", "A person runs: memtui reindex"),
    (MemtuiError, "failed", ""),
)
"""How each kind of error is called, and what helps."""

_LONGEST: Final = 600
"""How much of an error's own words is told, in characters."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call has no answer."""

    code: str
    message: str
    hint: str

    @property
    def text(self) -> str:
        """All of it in a line."""
        hint = f" Hint: {self.hint}" if self.hint else ""
        return f"error {self.code}: {self.message}.{hint}"


class Calls:
    """Answers calls from any thread."""

    def __init__(
        self, opened: Callable[[], Memory], counter: Callable[[], Count]
    ) -> None:
        """Remember how the memory is opened.

        Args:
            opened: Opens it.
            counter: Makes what counts tokens.
        """
        self._opened, self._counter = opened, counter
        self._memory: Memory | None = None
        self._count: Count | None = None
        self._opening = threading.Lock()

    def call(self, tool: Tool, told: Mapping[str, Any]) -> Told | Failed:
        """Ask a tool."""
        try:
            given = parameters.read(tool.parameters, told)
            most = given.get(MAX_TOKENS.name, answers.USUAL_TOKENS)
            answer = tool.run(self._open(), given)
            return answers.bounded(answer, most, self._counts())
        except MemtuiError as error:
            return failed(error)
        except Exception as error:  # the edge: nobody else would hear of it
            log.exception("%s failed", tool.name)
            return Failed("internal", type(error).__name__, "See memtui's log.")

    def read(self, uri: str) -> Told:
        """Read a resource.

        Raises:
            MemtuiError: There is none, or the memory cannot be read.
        """
        answer = resources.read(self._open(), uri)
        return answers.bounded(answer, resources.MOST_TOKENS, self._counts())

    def roots(self) -> list[tuple[str, str]]:
        """The resources to begin with; none while nothing can be read."""
        try:
            return resources.roots(self._open())
        except MemtuiError:
            log.exception("the years could not be listed")
            return []

    def _open(self) -> Memory:
        with self._opening:
            if self._memory is None:
                self._memory = self._opened()
            return self._memory

    def _counts(self) -> Count:
        if self._count is None:
            self._count = self._counter()
        return self._count


def failed(error: MemtuiError) -> Failed:
    """An error as an agent is told it."""
    message = answers.line(str(error), _LONGEST).rstrip(".")
    for kind, code, hint in _CODES:
        if isinstance(error, kind):
            return Failed(code, message, hint)
    return Failed("failed", message, "")
