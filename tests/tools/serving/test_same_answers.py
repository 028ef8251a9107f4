"""The same question has the same answer over MCP, over HTTP and in a shell."""

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from memtui.tools.table import TOOLS
from tests.cli_runner import run_memtui
from tests.tools.serving.conftest import Agent

DAY = "toc:day:2024-01-15"
SETTINGS = ("--set=store.time_zone=UTC", "--set=summaries.provider=extractive")

MAX_TOKENS = 20_000
"""No answer is cut: its fence has a random number, whose cost decides what fits."""

QUESTIONS: list[tuple[str, dict[str, str]]] = [
    ("route", {"question": "why does the token refresh fail?"}),
    ("route", {"question": "the basket last week"}),
    ("search_memory", {"query": "basket"}),
    ("search_memory", {"query": "zeppelin"}),
    ("search_file", {"path": "settings.py"}),
    ("search_error", {"error": "redirect_uri_mismatch"}),
    ("get_node", {}),
    ("get_node", {"node_id": DAY}),
    ("get_node", {"node_id": "toc:day:1999-01-01"}),
    ("expand_grip", {"grip_id": "grip:1705572650000:a080"}),
    ("expand_grip", {"grip_id": "grip:1:0"}),
    ("list_sessions", {"limit": "2"}),
    ("list_messages", {"session": "shop-1"}),
    ("list_messages", {"session": "nobody"}),
    ("retrieve_memory", {"query": "token refresh", "detail_limit": "5"}),
    ("teleport", {"query": "mutex"}),
    ("search_sessions", {"query": "lose their basket"}),
    ("get_toc_root", {}),
    ("browse_toc", {"node_id": "toc:year:2024", "limit": "1"}),
    ("browse_toc", {"when": "January 2024"}),
    ("browse_toc", {"keyword": "token"}),
    ("get_events", {"when": "2024-01-18"}),
    ("get_session_meta", {"session": "shop-1"}),
    ("list_points", {}),
    ("list_points", {"kind": "decided", "project": "shop"}),
    ("scheduler_status", {}),
]


def test_each_reading_tool_is_asked() -> None:
    asked = {tool for tool, _ in QUESTIONS}
    assert asked == {tool.name for tool in TOOLS if not tool.is_writing}


@pytest.fixture(scope="module")
def ask_over_http(full_home: Path) -> Iterator[Callable[[str, dict[str, Any]], str]]:
    command = [sys.executable, "-m", "memtui", "--home", str(full_home), *SETTINGS]
    with subprocess.Popen(
        [*command, "serve", "--port=0"], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr
        printed = server.stderr.readline() + server.stderr.readline()
        address = re.search(r"http://(\S+?)/api", printed)
        key = re.search(r"everything: (\S+)", printed)
        assert address and key

        def ask(tool: str, arguments: dict[str, Any]) -> str:
            client = http.client.HTTPConnection(urlsplit(f"//{address[1]}").netloc)
            headers = {"Content-Type": "application/json"}
            path = f"/api/v0/{tool}?key={key[1]}"
            client.request("POST", path, json.dumps(arguments), headers)
            response = client.getresponse()
            text = response.read().decode()
            assert response.status == 200, text
            client.close()
            return text

        yield ask
        server.terminate()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    QUESTIONS,
    ids=[" ".join([tool, *arguments.values()]) for tool, arguments in QUESTIONS],
)
def test_answers_over_mcp_http_and_in_a_shell_are_equal(
    agent: Agent,
    ask_over_http: Callable[[str, dict[str, Any]], str],
    full_home: Path,
    tool: str,
    arguments: dict[str, str],
) -> None:
    pairs = [f"{name}={value}" for name, value in arguments.items()]
    words = ["call", tool, *pairs, f"--max-tokens={MAX_TOKENS}"]
    answers = [
        agent.ask(tool, **arguments, max_tokens=MAX_TOKENS),
        ask_over_http(tool, arguments | {"max_tokens": MAX_TOKENS}),
        run_memtui(full_home, *SETTINGS, *words).stdout.removesuffix("\n"),
    ]
    # The fence of each answer has a number of its own.
    texts = {re.sub(r"(?m)^(</?memory) \w+>", r"\1>", answer) for answer in answers}
    assert len(texts) == 1
