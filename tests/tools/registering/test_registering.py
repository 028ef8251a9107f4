"""Registering the MCP server in the settings files of agents, and removing it."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.errors import HooksError
from memtui.integrations import config_files
from memtui.integrations.agents import AGENT_NAMES, AGENTS, Agent, find_agent
from memtui.integrations.config_files import (
    ConfigEntry,
    Machine,
    find_project_root,
)
from tests.cli_runner import json_data, run_memtui

COMMAND = ["/usr/bin/python3", "-P", "-m", "memtui", "mcp"]
OTHER = "/opt/memtui", "mcp"
EVERY = pytest.mark.parametrize("client", AGENTS, ids=AGENT_NAMES)
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


def put(writing: ConfigEntry, machine: Machine) -> Path:
    config_files.write(config_files.plan_installation(writing, machine), machine)
    assert config_files.plan_installation(writing, machine).is_empty
    return writing.path(machine)


def take(writing: ConfigEntry, machine: Machine) -> None:
    config_files.write(config_files.plan_removal(writing, machine), machine)
    assert config_files.plan_removal(writing, machine).is_empty


def settled(writing: ConfigEntry, machine: Machine, text: str) -> Path:
    file = writing.path(machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="")
    return file


@pytest.fixture
def here(machine: Machine) -> Machine:
    backups = machine.home.parent / "memtui" / "servers"
    return replace(machine, backups=backups, server=tuple(COMMAND))


@EVERY
def test_each_agent_gets_its_command(client: Agent, here: Machine) -> None:
    text = put(client.server, here).read_text("utf-8")
    said = tomllib.loads(text) if client is CODEX else json.loads(text)
    (held,) = said.values() if client is CODEX else [next(iter(said.values()))]
    server = held["memtui"]
    command = server["command"]
    output = command if isinstance(command, list) else [command, *server["args"]]
    assert output == COMMAND


@EVERY
def test_what_was_not_there_is_gone_again(client: Agent, here: Machine) -> None:
    for writing in (client.server, client.skill):
        put(writing, here)
    for writing in (client.skill, client.server):
        take(writing, here)
    assert list(here.home.iterdir()) == []
    assert list(here.backups.iterdir()) == []


@EVERY
def test_a_projects_settings_are_its_own(client: Agent, here: Machine) -> None:
    project = here.home / "shop"
    project.mkdir()
    ours = replace(here, project=project)
    for writing in (client.server, client.skill):
        assert put(writing, ours).is_relative_to(project)
    assert "out of commits" in client.note_for(client.server, ours)


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"opus"}',
        '{\n\t"mcpServers": {\n\t\t"docs": {"command": "x"}\n\t},\n\t"a": 1\n}\n',
        '{\r\n  "mcpServers": {}\r\n}\r\n',
        '{"mcpServers": {"memtui-2": {"command": "y"}}, "z": [1, 2]}',
    ],
)
def test_all_else_in_json_stays_as_it_was(text: str, here: Machine) -> None:
    file = settled(GEMINI.server, here, text)
    put(GEMINI.server, here)
    grown = file.read_text("utf-8")
    assert json.loads(grown)["mcpServers"].pop("memtui")
    file.write_text(grown.replace("opus", "sonnet"), "utf-8", newline="")
    take(GEMINI.server, here)
    rest = json.loads(file.read_text("utf-8"))
    expected = json.loads(text.replace("opus", "sonnet"))
    assert rest == expected | ({"mcpServers": {}} if "mcpServers" in rest else {}) or (
        {k: v for k, v in expected.items() if v != {}} == rest
    )


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
def test_comments_in_opencodes_settings_stay_where_they_were(
    text: str, here: Machine
) -> None:
    file = settled(OPENCODE.server, here, text)
    put(OPENCODE.server, here)
    grown = file.read_bytes().decode()
    comments = re.findall(r"(?s)(?:^|\s)(//[^\r\n]*|/\*.*?\*/)", text)
    output = json.loads(config_files.remove_json_comments(grown))
    assert output["mcp"].pop("memtui")["command"] == COMMAND
    before = json.loads(config_files.remove_json_comments(text))
    assert output == {"mcp": {}} | before
    assert all(comment in grown for comment in comments)
    put(OPENCODE.server, here)
    assert file.read_bytes().decode() == grown
    take(OPENCODE.server, here)
    assert file.read_bytes().decode() == text


def test_what_an_agent_could_not_read_is_refused_with_its_line(here: Machine) -> None:
    settled(OPENCODE.server, here, '{\n  // fine\n  "a": ,\n}\n')
    with pytest.raises(HooksError, match="line 3"):
        put(OPENCODE.server, here)
    settled(GEMINI.server, here, "{\n  // not read by all\n}\n")
    with pytest.raises(HooksError, match="line 2"):
        put(GEMINI.server, here)


@pytest.mark.parametrize(
    "text", [TOML, TOML.rstrip("\n"), TOML.replace("\n", "\r\n"), "# only this\n"]
)
def test_comments_and_tables_of_toml_stay_as_they_were(
    text: str, here: Machine
) -> None:
    file = settled(CODEX.server, here, text)
    put(CODEX.server, here)
    grown = file.read_bytes().decode()
    lines = iter(grown.splitlines())
    assert all(line in lines for line in text.splitlines())
    assert tomllib.loads(grown)["mcp_servers"]["memtui"]["command"] == COMMAND[0]
    take(CODEX.server, here)
    assert file.read_bytes().decode() == text


def test_a_table_in_the_midst_of_toml_is_cut_out(here: Machine) -> None:
    ours = (
        '\n[mcp_servers.memtui]\ncommand = "old"\n[mcp_servers.memtui.env]\nA = "1"\n'
    )
    head, middle, tail = TOML.partition("\n[profiles")
    file = settled(CODEX.server, here, f"{head}{ours}{middle}{tail}")
    take(CODEX.server, here)
    assert file.read_text("utf-8") == TOML


def test_another_command_is_put_in_the_place_of_the_one_before(here: Machine) -> None:
    for client in AGENTS:
        file = put(client.server, here)
        put(client.server, replace(here, server=OTHER))
        text = file.read_text("utf-8")
        assert "/opt/memtui" in text
        assert COMMAND[0] not in text
        take(client.server, here)
        assert not file.exists()


OWN = """\
[mcp_servers.memtui]
command = "old"
url = "https://old.example"
startup_timeout_sec = 20.5
enabled = false
enabled_tools = ["route"]

[mcp_servers.memtui.env]
"A b" = "\\"1\\""
"""


def test_what_a_person_has_set_for_the_server_stays(here: Machine) -> None:
    file = settled(CODEX.server, here, OWN)
    before = tomllib.loads(OWN)["mcp_servers"]["memtui"]
    put(CODEX.server, here)
    after = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["memtui"]
    assert (after.pop("command"), after.pop("args")) == (COMMAND[0], COMMAND[1:])
    assert after == {n: v for n, v in before.items() if n not in ("command", "url")}
    for client in AGENTS:
        if client is CODEX:
            continue
        under = client.server.wanted(here)[0].key
        output = {"command": "old", "enabled": False, "env": {"A": "1"}}
        file = settled(client.server, here, json.dumps({under: {"memtui": output}}))
        put(client.server, here)
        held = json.loads(file.read_text("utf-8"))[under]["memtui"]
        assert (held["enabled"], held["env"]) == (False, {"A": "1"})
        assert held["command"] != "old"


MIDST = """\
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
def test_a_renamed_table_is_reported_in_its_place(end: str, here: Machine) -> None:
    head, middle, tail = TOML.partition("[profiles")
    text = f"{head}{MIDST}{middle}{tail}".replace("\n", end)
    file = settled(CODEX.server, here, text)
    put(CODEX.server, here)
    put(CODEX.server, replace(here, server=OTHER))
    expected = text.replace('"old"', '"/opt/memtui"')
    args = re.compile(r"url.*?(?=enabled)", re.DOTALL)
    expected = args.sub(f'args = ["mcp"]{end}', expected)
    assert file.read_bytes().decode() == expected
    take(CODEX.server, here)
    assert file.read_bytes().decode() == TOML.replace("\n", end)


@pytest.mark.parametrize(
    ("client", "text", "says"),
    [
        (GEMINI, '{"mcpServers": []}', "line 1: mcpServers is not an object"),
        (GEMINI, "{\n  // mine\n}", "line 2"),
        (GEMINI, '{"mcpServers": {}, "mcpServers": {}}', "occurs a second time"),
        (CODEX, "model = ", "it is not valid TOML"),
        (CODEX, "mcp_servers = 3", "mcp_servers is not a table"),
    ],
)
def test_what_cannot_be_changed_is_left_as_it_is(
    client: Agent, text: str, says: str, here: Machine
) -> None:
    file = settled(client.server, here, text)
    with pytest.raises(HooksError, match=says):
        config_files.plan_installation(client.server, here)
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
def test_servers_of_codex_may_be_written_in_one_line(text: str, here: Machine) -> None:
    file = settled(CODEX.server, here, text)
    put(CODEX.server, here)
    servers = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]
    assert servers.pop("memtui") == {"command": COMMAND[0], "args": COMMAND[1:]}
    rest = tomllib.loads(text)
    rest["mcp_servers"].pop("memtui", None)
    assert servers == rest.pop("mcp_servers")
    take(CODEX.server, here)
    left = tomllib.loads(file.read_text("utf-8"))
    assert left.pop("mcp_servers", {}) == servers
    assert left == rest


def test_a_skill_of_somebody_else_is_left_as_it_is(here: Machine) -> None:
    file = settled(GEMINI.skill, here, "---\nname: memtui\n---\nMine.\n")
    with pytest.raises(HooksError, match="not a file that memtui wrote"):
        config_files.plan_installation(GEMINI.skill, here)
    assert "Mine" in file.read_text("utf-8")


@pytest.mark.parametrize("is_server_first", [True, False])
def test_hooks_and_server_share_a_file_and_leave_it_in_any_order(
    is_server_first: bool, machine: Machine, here: Machine
) -> None:
    hooks = GEMINI.hooks
    text = '{\n  "theme": "dark"\n}\n'
    file = settled(GEMINI.server, here, text)
    put(hooks, machine)
    put(GEMINI.server, here)
    assert {"theme", "hooks", "mcpServers"} == json.loads(file.read_bytes()).keys()
    order: list[tuple[ConfigEntry, Machine]] = [(GEMINI.server, here), (hooks, machine)]
    for writing, where in order if is_server_first else reversed(order):
        take(writing, where)
    assert file.read_text("utf-8") == text


def test_the_command_shows_asks_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, home = tmp_path / "ada", tmp_path / "home"
    (person / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", "/usr/bin")
    file = person / ".codex" / "config.toml"
    shown = run_memtui(home, "mcp", "install", "--dry-run").stdout
    assert "+[mcp_servers.memtui]" in shown
    assert "Claude" not in shown
    run_memtui(home, "mcp", "install", "codex", "--allow-write", "--yes")
    args = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["memtui"]["args"]
    assert args[-4:] == ["--home", str(home), "mcp", "--allow-write"]
    output = json_data(run_memtui(home, "mcp", "status", "--json").stdout)
    (codex,) = [one for one in output["servers"] if one["is_installed"]]
    assert codex["has_skill"] and codex["may_write"] and codex["is_current"]
    said = run_memtui(home, "mcp", "status", "codex").stdout
    assert "✓ Codex        installed, may write, with the skill" in said
    file.write_text(file.read_text("utf-8").replace('"-P"', '"-I"'), "utf-8")
    said = run_memtui(home, "mcp", "status", "codex", code=1).stdout
    assert "this memtui's: mcp install codex --allow-write\n" in said
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    run_memtui(home, "mcp", "install", "codex", "--project", "--yes")
    file = tmp_path / "shop" / ".codex" / "config.toml"
    file.write_text(file.read_text("utf-8").replace('"-P"', '"-I"'), "utf-8")
    said = run_memtui(home, "mcp", "status", "codex", "--project", code=1).stdout
    assert "this memtui's: mcp install codex --project\n" in said
    run_memtui(home, "mcp", "uninstall", "codex", "--project", "--yes")
    run_memtui(home, "mcp", "install", "codex", "--yes")
    assert "may write" not in run_memtui(home, "mcp", "status", "codex").stdout
    run_memtui(home, "mcp", "uninstall", "--yes")
    assert list((person / ".codex").iterdir()) == []


def test_a_skill_is_seen_and_taken_out_whatever_became_of_the_settings(
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
    (gemini,) = [one for one in output["servers"] if one["problem"]]
    assert gemini["has_skill"]
    run_memtui(home, "mcp", "uninstall", "--yes", code=1)
    assert list((person / ".gemini").iterdir()) == [file]


def test_a_folder_within_a_repository_is_of_its_project(tmp_path: Path) -> None:
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
