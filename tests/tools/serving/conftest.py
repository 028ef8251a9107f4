"""An MCP server in a process of its own, and the SDK's client."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.text.tokens import estimate
from memtui.tools.replies import DEFAULT_TOKENS
from memtui.workspace import Workspace
from tests.conftest import HISTORY, TESTS

GOLDEN = TESTS / "data" / "mcp_tools.json"
"""The tools as agents are told them; written anew by the tests where it is missing."""


class Agent:
    """A client that is connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self.client = portal, client

    def get(self, method: Any, *words: Any) -> Any:
        """Ask the client for anything."""
        return self._portal.call(method, *words)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        answer: CallToolResult = self._portal.call(
            self.client.call_tool, tool, arguments
        )
        return answer

    def ask(self, tool: str, **arguments: Any) -> str:
        """What a tool answers; it keeps within its budget."""
        answer = self.call(tool, **arguments)
        text = answer_text(answer)
        assert not answer.is_error, text
        assert estimate(text) <= arguments.get("max_tokens", DEFAULT_TOKENS)
        return text

    def fail(self, tool: str, **arguments: Any) -> str:
        """Why a tool does not answer."""
        answer = self.call(tool, **arguments)
        text = answer_text(answer)
        assert answer.is_error, text
        return text


def answer_text(answer: CallToolResult) -> str:
    """The text of an answer, which is all there is of it."""
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


def list_tools(agent: Agent) -> list[dict[str, Any]]:
    """The tools as an agent is told them."""
    listed = agent.get(agent.client.list_tools).tools
    return [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in listed
    ]


@contextmanager
def serve(home: Path, *words: str) -> Iterator[Agent]:
    """A server of a home, and a client that asks it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memtui", "--home", str(home), "mcp", *words],
        env={
            "MEMTUI_SUMMARIES__PROVIDER": "extractive",
            "MEMTUI_STORE__TIME_ZONE": "UTC",
        },
        cwd=Path.cwd(),
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server))) as client,
    ):
        yield Agent(portal, client)


def fill_home(home: Path) -> Path:
    """A home with the history of ``tests/data``, summarized and indexed."""
    settings = Settings(store_time_zone="UTC", summaries_provider="extractive")
    workspace = Workspace(in_home(home), settings)
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture(scope="module")
def full_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests of a module share, and do not change."""
    return fill_home(tmp_path_factory.mktemp("served") / "home")


@pytest.fixture(scope="module")
def agent(full_home: Path) -> Iterator[Agent]:
    """An agent that may read."""
    with serve(full_home, "--tools", "all") as agent:
        yield agent
