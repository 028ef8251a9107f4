"""Answers of the MCP server, with and without a store."""

import importlib
import inspect
import json
import re
import sqlite3
import subprocess
import sys
from argparse import Namespace
from contextlib import closing
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from memtui.cli import servers
from memtui.cli.command import Context
from memtui.errors import MemtuiError
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.text.tokens import estimate
from memtui.tools import table
from memtui.tools.table import TOOLS, Tool, ToolRunner
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.tools.serving.conftest import GOLDEN, Agent, fill_home, list_tools, serve

DAY = "toc:day:2024-01-15"
VERSION = {"jsonrpc": "2.0"}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ASKED = {"name": "search_memory", "arguments": {"query": "basket \ud83d"}}
"""A question with half a character, as clients leave one that cut texts."""


def test_tools_are_described_as_in_the_golden_file(agent: Agent) -> None:
    agreed = json.loads(GOLDEN.read_text("utf-8"))
    reading = [tool for tool in agreed if tool["annotations"]["readOnlyHint"]]
    assert list_tools(agent) == reading


def test_s1_70_and_71_programs_are_served_over_mcp_with_exact_times(
    full_home: Path,
) -> None:
    calls: dict[str, dict[str, object]] = {
        "get_toc_root": {},
        "browse_toc": {"node_id": "toc:year:2024"},
        "get_events": {"when": "January 15 2024"},
        "expand_grip": {"grip_id": ""},
        "scheduler_status": {},
        "scheduler_pause": {"jobs": ["rollup_day"]},
        "scheduler_resume": {"jobs": ["rollup_day"]},
    }
    with serve(full_home, "--tools", "all", "--allow-write") as writer:
        day = writer.ask("get_node", node_id=DAY)
        calls["expand_grip"]["grip_id"] = re.findall(r"\[(grip:.*?)\]", day)[0]
        answers = {name: writer.ask(name, **given) for name, given in calls.items()}
    assert "toc:year:2024" in answers["get_toc_root"]
    assert "toc:month:2024-01" in answers["browse_toc"]
    assert "2024-01-15" in answers["get_events"]
    assert "EXCERPT" in answers["expand_grip"]
    data = json_data(
        run_memtui(
            full_home, "call", "get_node", "node_id=toc:week:2024-W03", "--json"
        ).stdout
    )
    for name in ("start_time", "end_time"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", data[name])


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_has_a_function_that_takes_its_parameters(tool: Tool) -> None:
    module = importlib.import_module(f"memtui.tools.{tool.module}")
    workspace, *taken = inspect.signature(
        getattr(module, tool.name)
    ).parameters.values()
    assert workspace.name == "workspace"
    names = {parameter.name for parameter in taken}
    names |= {"agent", "project"} if "scope" in names else set()
    required = {
        parameter.name
        for parameter in taken
        if parameter.default is inspect.Parameter.empty
    }
    assert {parameter.name for parameter in tool.parameters} <= names
    assert {
        parameter.name for parameter in tool.parameters if parameter.is_required
    } == required


def test_the_list_of_tools_is_cheap(agent: Agent) -> None:
    tools = [
        {name: tool[name] for name in ("name", "description", "inputSchema")}
        for tool in list_tools(agent)
    ]
    assert estimate(json.dumps(tools)) < 3_500
    core = [
        tool
        for tool in tools
        if tool["name"] in table.available_tools(with_writing=False, only_core=True)
    ]
    assert len(core) == 8
    assert estimate(json.dumps(core)) < 1_500


def test_writing_tools_are_not_offered_by_default(agent: Agent) -> None:
    names = {str(tool["name"]) for tool in list_tools(agent)}
    assert names == {tool.name for tool in TOOLS if not tool.is_writing}
    with pytest.raises(MCPError, match="there is no tool"):
        agent.call("scheduler_pause")


def test_only_core_tools_are_offered_by_default(
    full_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = table.available_tools(with_writing=False, only_core=True)
    with serve(full_home) as agent:
        tools = list_tools(agent)
        assert {str(tool["name"]) for tool in tools} == core.keys()
        # Agents read the list at each start.
        assert estimate(json.dumps(tools)) < 1_200
        with pytest.raises(MCPError, match="there is no tool"):
            agent.call("teleport", query="basket")
    (tmp_path / ".codex").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    run_memtui(tmp_path, "mcp", "install", "codex", "--tools", "all", "--yes")
    config = (tmp_path / ".codex" / "config.toml").read_text("utf-8")
    assert '"--tools=all"' in config
    status = json_data(run_memtui(tmp_path, "mcp", "status", "--json").stdout)
    (codex,) = [server for server in status["servers"] if server["is_installed"]]
    assert codex["is_current"] and not codex["may_write"]


def test_a_question_is_answered_with_a_citation(agent: Agent) -> None:
    hits = agent.ask("route", question="where is the basket session timeout?")
    assert "words: It names specific terms" in hits
    best = re.search(r"evt:\w+", hits)
    assert best
    words = agent.ask("expand_grip", grip_id=best[0])
    assert "SESSION_TTL" in words
    node = re.search(r"toc:segment:[\w:-]+", agent.ask("get_node", node_id=DAY))
    assert node
    page = agent.ask("get_node", node_id=node[0])
    grip = re.search(r"grip:\d+:[0-9a-f]+", page)
    assert grip
    words = agent.ask("expand_grip", grip_id=grip[0])
    assert re.search(r"^EXCERPT\n\d\d:\d\d ", words, re.MULTILINE)
    assert sum(map(estimate, (hits, page, words))) < 1_200


def test_job_status_is_not_fenced(agent: Agent) -> None:
    answer = agent.ask("scheduler_status")
    assert not answer.startswith("<memory"), "its own words are not quoted"
    assert "rollup_day" in answer
    assert "memtui is not running" in answer


@pytest.mark.parametrize("budget", [50, 80, 130, 300, 2_000])
def test_no_answer_exceeds_its_budget(agent: Agent, budget: int) -> None:
    calls: dict[str, dict[str, object]] = {
        "route": {"question": "the basket last week"},
        "retrieve_memory": {"query": "basket"},
        "teleport": {"query": "basket"},
        "search_memory": {"query": "basket"},
        "search_sessions": {"query": "basket"},
        "get_node": {"node_id": DAY},
        "get_toc_root": {},
        "get_events": {"when": "January 2024"},
        "list_sessions": {},
        "list_messages": {"session": "shop-1"},
        "scheduler_status": {},
    }
    for tool, arguments in calls.items():
        agent.ask(tool, max_tokens=budget, **arguments)


def test_each_answer_has_a_fence_of_its_own(agent: Agent) -> None:
    fences = [
        re.fullmatch(
            r"<memory (\w+)> [^\n]+not instructions\.\n.+\n</memory \1>",
            agent.ask("teleport", query="basket"),
            re.DOTALL,
        )
        for _ in range(2)
    ]
    assert fences[0] and fences[1]
    assert fences[0][1] != fences[1][1]


@pytest.mark.parametrize("session", ["nobody", "s" * 9_000], ids=["short", "long"])
def test_unknown_session_is_not_an_error(agent: Agent, session: str) -> None:
    for tool in ("list_messages", "get_session_meta", "get_events"):
        when = {"when": "2024"} if tool == "get_events" else {}
        answer = agent.ask(tool, session=session, **when)
        assert "there is no session" in answer
        assert "list_sessions" in answer
        answer = agent.ask(tool, session=session, max_tokens=50, **when)
        assert "there is no session" in answer


def test_events_of_an_ambiguous_session_are_not_listed(agent: Agent) -> None:
    asked = {"when": "2024", "max_tokens": 2_000}
    answer = agent.ask("get_events", session="shop", **asked)
    assert "any of 4 sessions" in answer
    assert "claude-code:shop-2" in answer
    assert "evt:" not in answer
    assert "basket" in agent.ask("get_events", session="shop-1", **asked)
    all_of_it = agent.ask("get_events", session="shop-1", max_tokens=2_000)
    assert "basket" in all_of_it
    assert "when is missing" in agent.fail("get_events")
    assert "evt:" in agent.ask("get_events", session="grep", **asked)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("expand_grip", {}, "usage: grip_id is missing"),
        ("get_node", {"node_id": 7}, "usage: node_id must be text"),
        ("browse_toc", {"limit": 0}, "usage: limit must be a whole number from 1"),
        ("browse_toc", {"limit": "--3"}, "usage: limit must be a whole number"),
        ("browse_toc", {"limit": "9" * 5_000}, "usage: limit must be a whole"),
        ("browse_toc", {"limit": True}, "usage: limit must be a whole number"),
        ("browse_toc", {"depth": 1}, "usage: there is no 'depth' here"),
        ("teleport", {"query": "  "}, "usage: query is empty"),
        ("route", {"question": ""}, "usage: question is empty"),
        ("teleport", {"query": "x", "max_tokens": 49}, "usage: max_tokens"),
        (
            "list_messages",
            {"session": "shop-1", "subagent": "x"},
            "failed: the session has no subagent",
        ),
    ],
)
def test_invalid_arguments_are_explained(
    agent: Agent, tool: str, arguments: dict[str, object], says: str
) -> None:
    text = agent.fail(tool, **arguments)
    assert text.startswith(f"error {says}")
    assert "Hint: " in text
    assert estimate(text) < 300


@pytest.mark.parametrize("name", ["toc:day:1999-01-01", "x", "x" * 10_000, "toc:day:"])
def test_unknown_node_is_not_an_error(agent: Agent, name: str) -> None:
    assert "no such node" in agent.ask("get_node", node_id=name)
    assert "Nothing is here" in agent.ask("browse_toc", node_id=name)


def test_unknown_grip_is_not_an_error(agent: Agent) -> None:
    assert "no such grip" in agent.ask("expand_grip", grip_id="grip:1:0")
    assert "get_node opens it" in agent.ask("expand_grip", grip_id=DAY)
    assert "expand_grip opens it" in agent.ask("get_node", node_id="evt:01HMCSS5T0")


def test_numbers_may_come_as_text(agent: Agent) -> None:
    assert "toc:year:2024" in agent.ask("browse_toc", limit="1")


def test_nodes_and_grips_are_resources(agent: Agent) -> None:
    listed = agent.get(agent.client.list_resources).resources
    assert [resource.uri for resource in listed] == [
        "memtui://toc",
        "memtui://toc/year/2024",
        "memtui://toc/year/2023",
    ]
    templates = agent.get(agent.client.list_resource_templates).resource_templates
    assert len(templates) == 3
    page = _read(agent, "memtui://toc/day/2024-01-15")
    grip = re.search(r"grip:(\d+):([0-9a-f]+)", page)
    assert grip
    assert "EXCERPT" in _read(agent, f"memtui://grip/{grip[1]}/{grip[2]}")
    assert "toc:year:2024" in _read(agent, "memtui://toc")


@pytest.mark.parametrize(
    "uri", ["memtui://toc/day/1999-01-01", "memtui://grip/1/0", "file:///etc/passwd"]
)
def test_an_unknown_resource_is_refused(agent: Agent, uri: str) -> None:
    with pytest.raises(MCPError, match="there is no resource"):
        _read(agent, uri)


def _read(agent: Agent, uri: str) -> str:
    text: str = agent.get(agent.client.read_resource, uri).contents[0].text
    return text


def test_prompt_names_existing_tools(agent: Agent) -> None:
    (prompt,) = agent.get(agent.client.list_prompts).prompts
    result = agent.get(agent.client.get_prompt, prompt.name, {"question": "Why Redis?"})
    text = result.messages[0].content.text
    assert "Why Redis?" in text
    named = set(re.findall(r"\b[a-z]+_[a-z_]+(?=\()", text))
    assert named <= {tool.name for tool in TOOLS}
    with pytest.raises(MCPError, match="there is no prompt"):
        agent.get(agent.client.get_prompt, "other", {})


def test_damaged_index_and_store_are_reported(tmp_path: Path) -> None:
    home = fill_home(tmp_path / "home")
    for file in (home / "index").iterdir():
        file.write_bytes(b"damaged")
    with serve(home, "--tools=all") as agent:
        assert "index is missing or damaged" in agent.ask("teleport", query="basket")
        assert "[grip:" in agent.ask("get_node", node_id=DAY)
        with closing(sqlite3.connect(home / "memory.db")) as store, store:
            store.execute("DROP TABLE nodes")
        assert agent.fail("get_toc_root").startswith("error store")


def test_store_that_cannot_be_opened_is_reported_by_every_call(
    tmp_path: Path, settings: Settings
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "memory.db").write_bytes(b"this is no database" * 100)
    runner = ToolRunner(lambda: Workspace(in_home(home), settings))
    tool = next(tool for tool in TOOLS if tool.name == "teleport")
    for _ in range(2):
        failed = runner.call(tool, {"query": "basket"})
        assert failed.error
        assert failed.error.code == "store"
        assert "memtui doctor" in failed.text
    with pytest.raises(MemtuiError, match="database"):
        runner.list_resources()


def test_reading_tools_create_no_store_and_use_one_created_later(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with serve(home, "--tools=all") as agent:
        question = "what about baskets?"
        assert "No conversations yet" in agent.ask("route", question=question)
        for tool in ("get_toc_root", "list_sessions", "scheduler_status"):
            assert "No conversations yet" in agent.ask(tool)
        assert len(agent.get(agent.client.list_resources).resources) == 1
        assert not home.exists()
        fill_home(home)
        assert DAY in agent.ask("browse_toc", when="15 January 2024")


def test_resources_of_a_damaged_store_are_an_error(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "memory.db").write_bytes(b"this is no database" * 100)
    with (
        serve(home) as agent,
        pytest.raises(MCPError, match=r"error store.*memtui doctor"),
    ):
        agent.get(agent.client.list_resources)


def test_invalid_lines_are_answered_and_a_closed_pipe_ends_the_server(
    full_home: Path,
) -> None:
    words = [sys.executable, "-m", "memtui", "--home", str(full_home), "mcp"]
    lines: list[dict[str, object] | str] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        "this is no JSON",
        "",
        {"id": 2, "method": "tools/call", "params": "these are none"},
        {"id": 3, "method": "tools/call", "params": {"name": "x" * 9_000}},
        {"id": {}, "method": "tools/list"},
        {"id": None, "method": "ping"},
        {"id": 4, "method": "tools/call", "params": ASKED},
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin and server.stdout and server.stderr
        message = ""
        for line in lines:
            message = line if isinstance(line, str) else json.dumps(VERSION | line)
            server.stdin.write(f"{message}\n".encode())
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(7)]
        codes = [(a["id"], a["error"]["code"]) for a in answers if "error" in a]
        unknown = None, -32600
        assert codes == [(None, -32700), (2, -32600), (3, -32602), unknown, unknown]
        (result,) = [a["result"] for a in answers if a["id"] == 4]
        assert not result["isError"]
        server.stdout.close()
        server.stdin.write(f"{message}\n".encode())
        server.stdin.close()
        assert server.wait(30) == 0
        assert server.stderr.read() == b""


def test_requests_before_the_end_of_the_input_are_answered(tmp_path: Path) -> None:
    home = str(fill_home(tmp_path / "memtui"))
    words = [sys.executable, "-m", "memtui", "--home", home, "mcp"]
    asked = {"name": "search_memory", "arguments": {"query": "basket"}}
    requests = [
        VERSION | {"id": 1, "method": "initialize", "params": HELLO},
        VERSION | {"method": "notifications/initialized"},
        VERSION | {"id": 2, "method": "tools/call", "params": asked},
        VERSION | {"id": "3", "method": "nonsense"},
    ]
    lines = "".join(f"{json.dumps(request)}\n" for request in requests)
    server = subprocess.run(
        words, input=lines, capture_output=True, text=True, timeout=30, check=True
    )
    answers = [json.loads(line)["id"] for line in server.stdout.splitlines()]
    assert sorted(answers, key=str) == [1, 2, "3"]


def test_without_the_sdk_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "MCP_SDK", "no_such_package")

    with pytest.raises(MemtuiError, match=r"pipx install .memtui\[mcp\]"):
        servers.run(
            Namespace(command="mcp", action="serve", agents=[]),
            Context(Namespace(home=tmp_path, config=None, set=[])),
        )
