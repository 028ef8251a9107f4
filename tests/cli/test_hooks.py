"""``memtui hooks`` for people and for programs."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.integrations import agents
from tests import cli_runner
from tests.cli_runner import json_data
from tests.process_state import restored_state


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The home of somebody who has Claude Code."""
    person = tmp_path / "person"
    (person / ".claude").mkdir(parents=True)
    (person / ".claude" / "settings.json").write_text('{\n  "model": "opus"\n}\n')
    return person


def memtui(
    person: Path, *words: str, code: int = 0, cwd: Path | None = None
) -> cli_runner.CommandOutput:
    with restored_state():
        os.environ.clear()
        os.environ.update(surroundings(person))
        os.chdir(cwd or Path.cwd())
        return cli_runner.run_in_process(*words, code=code)


def surroundings(person: Path) -> dict[str, str]:
    root = str(Path(agents.__file__).parents[2])
    return {"HOME": str(person), "PATH": os.defpath, "PYTHONPATH": root}


def settings(person: Path) -> str:
    return (person / ".claude" / "settings.json").read_text("utf-8")


def test_nothing_is_written_without_confirmation(person: Path) -> None:
    output = memtui(person, "hooks", "install", code=2).stdout
    assert "Found on this machine: Claude Code." in output
    assert '+            "async": true' in output
    assert "say --yes" in output
    memtui(person, "hooks", "install", "--dry-run", "--yes")
    assert json_data(memtui(person, "hooks", "install", "--json", code=2).stdout)
    assert [path.name for path in person.iterdir()] == [".claude"]
    assert settings(person) == '{\n  "model": "opus"\n}\n'


def test_hooks_are_installed_and_removed(person: Path) -> None:
    memtui(person, "hooks", "install", "--yes")
    output = memtui(person, "hooks", "install").stdout
    assert "memtui's hooks are already in" in output
    status: Any = json_data(memtui(person, "hooks", "status", "--json").stdout)
    (claude,) = [hook for hook in status["hooks"] if hook["agent"] == "claude-code"]
    assert (claude["is_installed"], claude["is_current"], claude["runs"]) == (True,) * 3
    assert "the command runs" in memtui(person, "hooks", "status", "claude-code").stdout
    memtui(person, "hooks", "uninstall", code=2)
    memtui(person, "hooks", "uninstall", "--yes")
    assert settings(person) == '{\n  "model": "opus"\n}\n'
    none_there = memtui(person, "hooks", "uninstall", code=1).stderr
    assert none_there == "memtui: no hooks of memtui are in your agents' settings\n"


def test_a_hook_writes_to_the_spool_of_its_memtui(person: Path, tmp_path: Path) -> None:
    home = str(tmp_path / "elsewhere")
    memtui(person, "--home", home, "hooks", "install", "claude-code", "--yes")
    (stop,) = json.loads(settings(person))["hooks"]["Stop"][0]["hooks"]
    payload = b'{"session_id": "s", "hook_event_name": "Stop"}'
    words = [stop["command"], *stop["args"]]
    subprocess.run(words, input=payload, env={"HOME": str(person)}, check=True)
    memtui(person, "--home", home, "work", "--until-idle")
    output = memtui(person, "--home", home, "stats", "--json").stdout
    assert json_data(output)["events"] == 1


def test_invalid_settings_of_an_agent_do_not_affect_others(person: Path) -> None:
    (person / ".codex").mkdir()
    (person / ".codex" / "hooks.json").write_text("{ // mine\n}")
    output = memtui(person, "hooks", "install", "--yes", code=1)
    assert ".codex/hooks.json: line 1: expecting property name" in output.stderr
    assert "memtui-hook" not in (person / ".codex" / "hooks.json").read_text()
    assert "hook.py" in settings(person)
    assert "✗ Codex" in memtui(person, "hooks", "status", code=1).stdout


def test_options_may_stand_before_agents(person: Path) -> None:
    project = person / "shop"
    project.mkdir()
    output = memtui(
        person, "hooks", "install", "--project", "--yes", "copilot-cli", cwd=project
    ).stdout
    assert "keep the file out of commits" in output
    assert (project / ".github" / "hooks" / "memtui.json").exists()
    assert "no agent is called 'cursor'" in (
        memtui(person, "hooks", "install", "--yes", "cursor", code=2).stderr
    )
    assert "unrecognized" in memtui(person, "hooks", "status", "-x", code=2).stderr


def test_outdated_hooks_of_a_project_are_replaced(person: Path) -> None:
    project = person / "shop"
    project.mkdir()
    memtui(person, "hooks", "install", "copilot-cli", "--project", "--yes", cwd=project)
    file = project / ".github" / "hooks" / "memtui.json"
    file.write_text(
        file.read_text("utf-8").replace(sys.executable, "/opt/python"), "utf-8"
    )
    words = ("hooks", "status", "copilot-cli", "--project")
    output = memtui(person, *words, code=1, cwd=project).stdout
    (line,) = (line for line in output.splitlines() if "corrects it" in line)
    assert line == "    memtui hooks install copilot-cli --project corrects it"
    command = line.split()[1:-2]
    memtui(person, *command, "--yes", cwd=project)
    memtui(person, *words, cwd=project)


def test_without_an_agent_no_hook_is_installed(tmp_path: Path) -> None:
    output = memtui(tmp_path, "hooks", "install", "--yes", code=1).stderr
    assert "none of the agents memtui knows was found" in output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("answer", "is_written"), [("y\n", True), ("\n", False)])
def test_on_a_terminal_the_user_is_asked(
    answer: str, is_written: bool, person: Path
) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "hooks", "install"],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**surroundings(person), "TERM": "dumb"},
    )
    os.close(child)
    output = b""
    while b"[y/N]" not in output:
        output += os.read(parent, 1024)
    os.write(parent, answer.encode())
    try:
        while chunk := os.read(parent, 1024):
            output += chunk
    except OSError:
        pass  # how a terminal says that nobody is there any more
    os.close(parent)
    assert process.wait() == (0 if is_written else 2)
    assert ("hook.py" in settings(person)) is is_written


def test_a_folder_name_that_is_not_utf_8_is_printed(person: Path) -> None:
    project = Path(os.fsdecode(os.fsencode(person) + b"/caf\xe9"))
    project.mkdir()
    output = subprocess.run(
        [sys.executable, "-m", "memtui", "hooks", "status", "--project", "--json"],
        env={**surroundings(person), "PYTHONIOENCODING": "utf-8:strict"},
        cwd=project,
        capture_output=True,
        check=True,
    )
    assert str(project) in json_data(output.stdout.decode())["hooks"][0]["file"]
