"""Registering the MCP server in the settings files of agents, and removing it."""

import json
import re
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import HooksError
from memtui.integrations import config_files
from memtui.integrations.agents import AGENT_NAMES, AGENTS, Agent, find_agent
from memtui.integrations.config_files import (
    ConfigEntry,
    Machine,
    find_project_root,
)
from tests.cli_runner import json_data, run_memtui
from tests.conftest import often

COMMENT = re.compile(r"// (?:one|three)\n|/\* two \*/")
COMMAND = ["/usr/bin/python3", "-P", "-m", "memtui", "mcp"]
OTHER = "/opt/memtui", "mcp"
EACH_AGENT = pytest.mark.parametrize("agent", AGENTS, ids=AGENT_NAMES)
CLAUDE_CODE = find_agent("claude-code")
CODEX = find_agent("codex")
GEMINI = find_agent("gemini-cli")
OPENCODE = find_agent("opencode")

TOML = """\
# My settings, with care.
model = "o9"   # the big one

[mcp_servers.docs]
command = "docs-server"
args = ["--fast"]

[profiles.quick]
model = "o9-mini"
"""


def install(entry: ConfigEntry, machine: Machine) -> Path:
    config_files.write(config_files.plan_installation(entry, machine))
    assert config_files.plan_installation(entry, machine).is_empty
    return entry.path(machine)


def uninstall(entry: ConfigEntry, machine: Machine) -> None:
    config_files.write(config_files.plan_removal(entry, machine))
    assert config_files.plan_removal(entry, machine).is_empty


def write_settings(entry: ConfigEntry, machine: Machine, text: str) -> Path:
    file = entry.path(machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="")
    return file


def read_plain(text: str) -> dict[str, Any]:
    """Parse JSON with comments, independently of the code under test."""
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\r\n]*|/\*(?s:.*?)\*/', r"\1", text)
    text = re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])', r"\1", text)
    settings: dict[str, Any] = json.loads(text)
    return settings


@pytest.fixture
def machine(machine: Machine) -> Machine:
    return replace(machine, server=tuple(COMMAND))


@EACH_AGENT
def test_each_agent_gets_its_command(agent: Agent, machine: Machine) -> None:
    text = install(agent.server, machine).read_text("utf-8")
    settings = tomllib.loads(text) if agent is CODEX else json.loads(text)
    server = next(iter(settings.values()))["memtui"]
    command = server["command"]
    words = command if isinstance(command, list) else [command, *server["args"]]
    assert words == COMMAND


@EACH_AGENT
def test_uninstalling_leaves_nothing_of_new_files(
    agent: Agent, machine: Machine
) -> None:
    for entry in (agent.server, agent.skill):
        install(entry, machine)
    for entry in (agent.skill, agent.server):
        uninstall(entry, machine)
    assert not [path for path in machine.home.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "text",
    [
        '{"model": "opus", "n": 1.10, "m": 1e5, "list": [1,  2], "s": "a\\/b"}',
        '{\n  "a": [\n 1 ],\n  "hooks": {}\n}',
    ],
)
def test_uninstalling_restores_a_file_that_nobody_changed(
    text: str, machine: Machine
) -> None:
    file = write_settings(GEMINI.server, machine, text)
    install(GEMINI.server, machine)
    assert file.read_text("utf-8") != text
    uninstall(GEMINI.server, machine)
    assert file.read_text("utf-8") == text
    assert [path for path in file.parent.iterdir() if path.is_file()] == [file]


@EACH_AGENT
def test_settings_of_a_project_are_separate(agent: Agent, machine: Machine) -> None:
    project = machine.home / "shop"
    project.mkdir()
    in_project = replace(machine, project=project)
    for entry in (agent.server, agent.skill):
        assert install(entry, in_project).is_relative_to(project)
    assert "out of commits" in agent.note_for(agent.server, in_project)


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"opus"}',
        '{\n\t"mcpServers": {\n\t\t"docs": {"command": "x"}\n\t},\n\t"a": 1\n}\n',
        '{\r\n  "mcpServers": {}\r\n}\r\n',
        '{"mcpServers": {"memtui-2": {"command": "y"}}, "z": [1, 2]}',
    ],
)
def test_other_settings_in_json_stay(text: str, machine: Machine) -> None:
    file = write_settings(GEMINI.server, machine, text)
    install(GEMINI.server, machine)
    installed = file.read_text("utf-8")
    assert json.loads(installed)["mcpServers"].pop("memtui")
    file.write_text(installed.replace("opus", "sonnet"), "utf-8", newline="")
    uninstall(GEMINI.server, machine)
    remaining = json.loads(file.read_text("utf-8")) if file.exists() else {}
    expected = json.loads(text.replace("opus", "sonnet"))
    assert remaining == {key: value for key, value in expected.items() if value != {}}


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // whose it is\n  "model": "opus", // the dear one\n}\n',
        '{\n  "mcp": {\n    "docs": {"type": "remote"}, // of the team\n  },\n}\n',
        '{\r\n\t"mcp": {\r\n\t\t"docs": {} /* one */\r\n\t}\r\n}\r\n',
        '{\n  "mcp": {\n    // none yet\n  }\n}\n',
        "{ // nothing\n}\n",
        '{"url": "https://a.example/*", "k": [1, 2,],}',
        '/* a */ {\n  "a": {"b": "// no comment"}, /* more\n lines */\n  "c": 1\n}',
        '{\n  // "mcp": {"memtui": {}}\n  "keybinds": {},\n\n  // end\n}\n',
    ],
)
def test_comments_in_settings_of_opencode_stay(text: str, machine: Machine) -> None:
    file = write_settings(OPENCODE.server, machine, text)
    comments = re.findall(r"(?s)(?:^|\s)(//[^\r\n]*|/\*.*?\*/)", text)
    before = read_plain(text)
    install(OPENCODE.server, machine)
    installed = file.read_bytes().decode()
    settings = read_plain(installed)
    assert settings["mcp"].pop("memtui")["command"] == COMMAND
    assert settings == {"mcp": {}} | before
    assert all(comment in installed for comment in comments)
    install(OPENCODE.server, replace(machine, server=OTHER))
    changed = file.read_bytes().decode()
    assert read_plain(changed)["mcp"]["memtui"]["command"] == list(OTHER)
    assert all(comment in changed for comment in comments)
    uninstall(OPENCODE.server, machine)
    remaining = file.read_bytes().decode()
    assert all(comment in remaining for comment in comments)
    without_empty = {key: value for key, value in before.items() if value != {}}
    assert {k: v for k, v in read_plain(remaining).items() if v != {}} == without_empty
    assert ("\r\n" in remaining) is ("\r\n" in text)


def test_comments_in_removed_objects_stay(machine: Machine) -> None:
    text = '{"a": 1, "mcp": {/* one */ "memtui": {"enabled": true} /* two */}, "b": 2}'
    file = write_settings(OPENCODE.server, machine, text)
    uninstall(OPENCODE.server, machine)
    remaining = file.read_text("utf-8")
    assert read_plain(remaining) == {"a": 1, "b": 2}
    assert "/* one */" in remaining and "/* two */" in remaining


GAPS = st.sampled_from(["", " ", "\n  ", "// one\n", " /* two */ ", "\n// three\n"])


@st.composite
def commented_objects(draw: st.DrawFn, key: str = "", depth: int = 0) -> str:
    """Return an object with comments between its members, and perhaps a key."""
    names = draw(st.lists(st.sampled_from(["a", "z//", key or "b"]), unique=True))
    members = []
    for name in names:
        value = draw(st.sampled_from(["1", '"x // y"', "[1, 2]", "{}"]))
        if name == key or (value == "{}" and depth < 2):
            value = draw(commented_objects("docs", depth + 1))
        members.append(f'{draw(GAPS)}"{name}": {value}{draw(GAPS)}')
    end = draw(st.sampled_from(["", ","])) if members else ""
    return f"{{{draw(GAPS)}{','.join(members)}{end}{draw(GAPS)}}}"


@often(60)
@given(commented_objects("mcp"))
def test_no_comment_is_lost(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        command = tuple(COMMAND)
        machine = Machine(home, {}, "python3", home / "memtui/hook.py", server=command)
        file = write_settings(OPENCODE.server, machine, text)
        before, comments = read_plain(text), COMMENT.findall(text)
        install(OPENCODE.server, machine)
        installed = file.read_text("utf-8")
        servers = before.get("mcp", {})
        server = read_plain(installed)["mcp"]["memtui"]
        assert read_plain(installed) == before | {"mcp": servers | {"memtui": server}}
        assert sorted(COMMENT.findall(installed)) == sorted(comments)
        config_files.copy_of(file).unlink()  # else the file is restored from it
        uninstall(OPENCODE.server, machine)
        remaining = file.read_text("utf-8") if file.exists() else "{}"
        expected = {k: v for k, v in before.items() if k != "mcp" or v != {}}
        assert read_plain(remaining) == expected
        assert sorted(COMMENT.findall(remaining)) == sorted(comments)


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (OPENCODE, "{\n  // mine\n" + '  "a": 1,\n' * 10_000 + "}"),
        (CODEX, "".join(f"a.b.k{number} = 1\n" for number in range(20_000))),
    ],
)
def test_settings_too_long_to_keep_comments_are_refused(
    machine: Machine, agent: Agent, text: str
) -> None:
    write_settings(agent.server, machine, text)
    with pytest.raises(HooksError, match="too long to keep"):
        install(agent.server, machine)


@pytest.mark.parametrize("value", ["[" * 5_000, "{a = " * 5_000])
def test_toml_nested_too_deeply_is_refused(machine: Machine, value: str) -> None:
    write_settings(CODEX.server, machine, f"a = {value}")
    with pytest.raises(HooksError, match="nested"):
        install(CODEX.server, machine)


def test_long_command_is_not_memtuis(machine: Machine) -> None:
    handler = {"type": "command", "command": "memtui-hook " + "a" * 10_000_000}
    before = {"hooks": {"Stop": [{"hooks": [handler]}]}}
    write_settings(CLAUDE_CODE.hooks, machine, json.dumps(before))
    installed = install(CLAUDE_CODE.hooks, machine).read_text("utf-8")
    assert handler in json.loads(installed)["hooks"]["Stop"][0]["hooks"]


@pytest.mark.parametrize(
    "text", [TOML, TOML.rstrip("\n"), TOML.replace("\n", "\r\n"), "# only this\n"]
)
def test_comments_and_tables_of_toml_stay(text: str, machine: Machine) -> None:
    file = write_settings(CODEX.server, machine, text)
    install(CODEX.server, machine)
    grown = file.read_bytes().decode()
    lines = iter(grown.splitlines())
    assert all(line in lines for line in text.splitlines())
    assert tomllib.loads(grown)["mcp_servers"]["memtui"]["command"] == COMMAND[0]
    uninstall(CODEX.server, machine)
    assert file.read_bytes().decode().rstrip() == text.rstrip()


def test_a_table_among_others_in_toml_is_removed(machine: Machine) -> None:
    server = (
        '\n[mcp_servers.memtui]\ncommand = "old"\n[mcp_servers.memtui.env]\nA = "1"\n'
    )
    head, middle, tail = TOML.partition("\n[profiles")
    file = write_settings(CODEX.server, machine, f"{head}{server}{middle}{tail}")
    uninstall(CODEX.server, machine)
    assert file.read_text("utf-8") == TOML


def test_another_command_replaces_the_older_one(machine: Machine) -> None:
    for agent in AGENTS:
        file = install(agent.server, machine)
        install(agent.server, replace(machine, server=OTHER))
        text = file.read_text("utf-8")
        assert "/opt/memtui" in text
        assert COMMAND[0] not in text
        uninstall(agent.server, machine)
        assert not file.exists()


OLDER_SERVER = """\
[mcp_servers.memtui]
command = "old"
url = "https://old.example"
startup_timeout_sec = 20.5
enabled = false
enabled_tools = ["route"]

[mcp_servers.memtui.env]
"A b" = "\\"1\\""
"""


def test_fields_added_to_the_server_stay(machine: Machine) -> None:
    file = write_settings(CODEX.server, machine, OLDER_SERVER)
    before = tomllib.loads(OLDER_SERVER)["mcp_servers"]["memtui"]
    install(CODEX.server, machine)
    after = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["memtui"]
    assert (after.pop("command"), after.pop("args")) == (COMMAND[0], COMMAND[1:])
    assert after == {n: v for n, v in before.items() if n not in ("command", "url")}
    for agent in AGENTS:
        if agent is CODEX:
            continue
        key = agent.server.key
        older = {"command": "old", "enabled": False, "env": {"A": "1"}}
        text = json.dumps({key: {"memtui": older}})
        file = write_settings(agent.server, machine, text)
        install(agent.server, machine)
        server = json.loads(file.read_text("utf-8"))[key]["memtui"]
        assert (server["enabled"], server["env"]) == (False, {"A": "1"})
        assert server["command"] != "old"


SERVER_WITH_COMMENTS = """\
[mcp_servers.memtui] # asked by all
# Why it is slow: # the disk's fault.
command = "old" # it's "mine"
url = "https://old.example"
args = [
  "-x", # fast
  "#",
]
enabled = true

[mcp_servers.memtui.env]
A = "1" # set by hand

"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_beside_the_server_in_toml_stay(end: str, machine: Machine) -> None:
    head, middle, tail = TOML.partition("[profiles")
    text = f"{head}{SERVER_WITH_COMMENTS}{middle}{tail}".replace("\n", end)
    file = write_settings(CODEX.server, machine, text)
    install(CODEX.server, machine)
    install(CODEX.server, replace(machine, server=OTHER))
    expected = text.replace('"old"', '"/opt/memtui"')
    args = re.compile(r"url.*?(?=enabled)", re.DOTALL)
    expected = args.sub(f'args = ["mcp"]{end}', expected)
    assert file.read_bytes().decode() == expected
    uninstall(CODEX.server, machine)
    assert file.read_bytes().decode() == TOML.replace("\n", end)


@pytest.mark.parametrize(
    ("agent", "text", "reason"),
    [
        (GEMINI, '{"mcpServers": []}', "mcpServers does not contain named servers"),
        (GEMINI, "{\n  // mine\n}", "line 2"),
        (GEMINI, '{"mcpServers": {}, "mcpServers": {}}', "occurs a second time"),
        (CODEX, "model = ", "it is not valid TOML"),
        (CODEX, "mcp_servers = 3", "mcp_servers does not contain named servers"),
    ],
)
def test_files_that_cannot_be_changed_stay(
    agent: Agent, text: str, reason: str, machine: Machine
) -> None:
    file = write_settings(agent.server, machine, text)
    with pytest.raises(HooksError, match=reason):
        config_files.plan_installation(agent.server, machine)
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { docs = { command = "x" } }\n',
        "mcp_servers = {}\n",
        'mcp_servers.docs.command = "x" # mine\n',
        'mcp_servers.memtui.command = "x"\nmodel = "o9"\n',
    ],
)
def test_all_forms_of_toml_tables_are_changed(text: str, machine: Machine) -> None:
    file = write_settings(CODEX.server, machine, text)
    install(CODEX.server, machine)
    servers = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]
    assert servers.pop("memtui") == {"command": COMMAND[0], "args": COMMAND[1:]}
    others = tomllib.loads(text)
    others["mcp_servers"].pop("memtui", None)
    assert servers == others.pop("mcp_servers")
    uninstall(CODEX.server, machine)
    remaining = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    assert remaining.pop("mcp_servers", {}) == servers
    assert remaining == others


def test_a_skill_of_somebody_else_is_not_changed(machine: Machine) -> None:
    file = write_settings(GEMINI.skill, machine, "---\nname: memtui\n---\nMine.\n")
    with pytest.raises(HooksError, match="not a file that memtui wrote"):
        config_files.plan_installation(GEMINI.skill, machine)
    assert "Mine" in file.read_text("utf-8")


def test_other_files_in_the_folder_of_the_skill_stay(machine: Machine) -> None:
    file = install(GEMINI.skill, machine)
    other = file.with_name("notes.md")
    other.touch()
    uninstall(GEMINI.skill, machine)
    assert list(file.parent.iterdir()) == [other]


@pytest.mark.parametrize("is_server_first", [True, False])
def test_hooks_and_server_share_a_file(is_server_first: bool, machine: Machine) -> None:
    text = '{\n  "theme": "dark"\n}\n'
    file = write_settings(GEMINI.server, machine, text)
    install(GEMINI.hooks, machine)
    install(GEMINI.server, machine)
    assert {"theme", "hooks", "mcpServers"} == json.loads(file.read_bytes()).keys()
    entries: list[ConfigEntry] = [GEMINI.server, GEMINI.hooks]
    for entry in entries if is_server_first else reversed(entries):
        uninstall(entry, machine)
    assert file.read_text("utf-8") == text


def test_the_command_shows_asks_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, home = tmp_path / "ada", tmp_path / "home"
    (person / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", "/usr/bin")
    file = person / ".codex" / "config.toml"
    output = run_memtui(home, "mcp", "install", "--dry-run").stdout
    assert "+[mcp_servers.memtui]" in output
    assert "Claude" not in output
    output = run_memtui(
        home, "mcp", "install", "codex", "--allow-write", "--yes"
    ).stdout
    assert "Codex: memtui's server is installed." in output
    assert "Codex: memtui's skill is installed." in output
    args = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["memtui"]["args"]
    assert args[-4:] == ["--home", str(home), "mcp", "--allow-write"]
    report = json_data(run_memtui(home, "mcp", "status", "--json").stdout)
    (codex,) = [server for server in report["servers"] if server["is_installed"]]
    assert codex["has_skill"] and codex["may_write"] and codex["is_current"]
    output = run_memtui(home, "mcp", "status", "codex").stdout
    assert "✓ Codex        installed, may write, with the skill" in output
    file.write_text(file.read_text("utf-8").replace('"-P"', '"-I"'), "utf-8")
    output = run_memtui(home, "mcp", "status", "codex", code=1).stdout
    assert "this memtui's: mcp install codex --allow-write\n" in output
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    run_memtui(home, "mcp", "install", "codex", "--project", "--yes")
    file = tmp_path / "shop" / ".codex" / "config.toml"
    file.write_text(file.read_text("utf-8").replace('"-P"', '"-I"'), "utf-8")
    output = run_memtui(home, "mcp", "status", "codex", "--project", code=1).stdout
    assert "this memtui's: mcp install codex --project\n" in output
    run_memtui(home, "mcp", "uninstall", "codex", "--project", "--yes")
    run_memtui(home, "mcp", "install", "codex", "--yes")
    assert "may write" not in run_memtui(home, "mcp", "status", "codex").stdout
    run_memtui(home, "mcp", "uninstall", "--yes")
    assert not [path for path in person.rglob("*") if path.is_file()]


def test_a_skill_is_removed_beside_invalid_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, home = tmp_path / "ada", tmp_path / "home"
    (person / ".gemini").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", "/usr/bin")
    run_memtui(home, "mcp", "install", "gemini-cli", "--yes")
    file = person / ".gemini" / "settings.json"
    file.write_text("{\n  // mine\n}\n", "utf-8")
    output = json_data(run_memtui(home, "mcp", "status", "--json", code=1).stdout)
    (gemini,) = [server for server in output["servers"] if server["problem"]]
    assert gemini["has_skill"]
    run_memtui(home, "mcp", "uninstall", "--yes", code=1)
    assert [path for path in person.rglob("*") if path.is_file()] == [file]


def test_the_project_of_a_folder_is_its_repository(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    (shop / "src" / "till").mkdir(parents=True)
    assert find_project_root(shop / "src") == shop / "src"
    (shop / ".git").mkdir()
    assert find_project_root(shop / "src" / "till") == find_project_root(shop) == shop


@pytest.mark.parametrize("command", ["mcp", "hooks"])
def test_an_unknown_agent_is_refused(command: str, tmp_path: Path) -> None:
    for action in ("install", "status"):
        output = run_memtui(tmp_path, command, action, "emacs", code=2)
        assert "no agent is called 'emacs': claude-code" in output.stderr
