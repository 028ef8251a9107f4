"""``mcp``: the memory as an MCP server, for agents to ask."""

import importlib.util
import sys
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtui.agents.questions import AgentQuestions
    from memtui.model.schedule import Schedules
    from memtui.text.tokens import Counter
    from memtui.workspace import Workspace


SDK = "mcp"
"""The package that speaks the protocol; memtui does without it elsewhere."""


MISSING = (
    "the MCP server needs the package mcp, which is not here; get it with:"
    " pipx install 'memtui[mcp]' (or: uv tool install 'memtui[mcp]',"
    " pip install 'memtui[mcp]')"
)
"""What is said where the SDK is not installed."""


AT_A_TERMINAL = (
    "memtui: this serves agents over standard input and output; to tell yours of it:"
    " memtui mcp install. Ctrl+C ends it."
)
"""What is said where a person runs it by hand."""


class Served:
    """An open house, as the server needs it."""

    def __init__(self, house: "Workspace") -> None:
        """Remember the house."""
        self._house = house

    @property
    def zone(self) -> tzinfo:
        """The store's time zone."""
        return self._house.zone

    @property
    def asking(self) -> "AgentQuestions":
        """Who answers."""
        return self._house.asking

    @property
    def counter(self) -> "Counter":
        """By what tokens are counted."""
        return self._house.counter

    @property
    def plan(self) -> "Schedules":
        """When the model's jobs are due."""
        return self._house.schedules

    @property
    def spool(self) -> Path:
        """Where events are left that are to be kept."""
        return self._house.paths.spool

    def now(self) -> datetime:
        """The time."""
        return datetime.now(UTC)

    def is_worked(self) -> bool | None:
        """Whether any process works the store."""
        from memtui import workspace

        return workspace.has_active_worker(self._house.paths)

    def promise(self) -> str:
        """Who will do what is asked of a model, and when."""
        from memtui import workspace

        return workspace.describe_turn(self._house.settings, self.is_worked())


def has_sdk() -> bool:
    """Whether the package that speaks the protocol is here."""
    return importlib.util.find_spec(SDK) is not None


def serve(
    opened: "Callable[[], Workspace]",
    is_there: "Callable[[], bool]",
    *,
    with_writing: bool,
    is_structured: bool,
) -> int:
    """Serve standard input and output until the client goes.

    Args:
        opened: Opens the house; asked when the first question comes.
        is_there: Whether there is a memory: only who writes makes one.
        with_writing: Whether tools that change something are offered.
        is_structured: Whether answers are told as data beside the text. Some clients
            then show their model nothing else, and data costs more tokens than text.

    Raises:
        MemtuiError: The SDK is not installed.
    """
    if not has_sdk():
        raise MemtuiError(MISSING)
    from memtui.agents import mcp_server
    from memtui.agents.api import Calls

    pass

    if sys.stdin.isatty():
        print(AT_A_TERMINAL, file=sys.stderr)
    calls = Calls(
        lambda: Served(opened()), is_there=is_there, is_structured=is_structured
    )
    mcp_server.run(calls, with_writing=with_writing)
    return 0
