"""Settings of agents that come with somebody else's repository, or are no files."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.capture.policy import locate_project
from memtui.files import MAX_SMALL_BYTES
from tests.cli_runner import json_data, run_memtui

HANDLER = {"type": "command", "command": "./memtui-hook"}
SETTINGS = {
    ".gemini/settings.json": {"hooks": {"SessionEnd": [{"hooks": [HANDLER]}]}},
    ".codex/hooks.json": {"hooks": {"Stop": [{"hooks": [HANDLER]}]}},
    ".claude/settings.local.json": {"hooks": {"Stop": [{"hooks": [HANDLER]}]}},
    ".github/hooks/memtui.json": {
        "hooks": {"sessionEnd": [{"type": "command", "bash": "./memtui-hook"}]}
    },
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a program that is called as memtui's hook is."""
    (tmp_path / "person").mkdir()
    clone = tmp_path / "clone"
    (clone / "memtui").mkdir(parents=True)
    for name in ("memtui-hook", "memtui/hook.py"):
        (clone / name).write_text("#!/bin/sh\ntouch pwned\n")
        (clone / name).chmod(0o755)
    monkeypatch.chdir(clone)
    return clone


@pytest.mark.parametrize("name", SETTINGS)
def test_commands_of_a_project_are_not_run(
    name: str, clone: Path, tmp_path: Path
) -> None:
    file = clone / name
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(SETTINGS[name]))
    home = tmp_path / "home"
    output = run_memtui(home, "doctor", code=1).stdout
    assert "./memtui-hook" in output
    status = "hooks", "status", "--project"
    report = json_data(run_memtui(home, *status, "--json", code=1).stdout)
    (hook,) = [hook for hook in report["hooks"] if hook["is_installed"]]
    assert hook["runs"] is None
    output = run_memtui(home, *status, code=1).stdout
    assert "it runs: ./memtui-hook" in output
    assert not (clone / "pwned").exists()


def test_a_relative_command_of_the_user_is_not_run_in_a_project(
    clone: Path, tmp_path: Path
) -> None:
    file = tmp_path / "person" / ".gemini" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(SETTINGS[".gemini/settings.json"]))
    run_memtui(tmp_path / "home", "doctor", code=1)
    assert not (clone / "pwned").exists()


def test_hooks_of_a_project_are_shown_with_their_command(
    clone: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    run_memtui(home, "hooks", "install", "gemini-cli", "--project", "--yes")
    findings = json_data(run_memtui(home, "doctor", "--json").stdout)["findings"]
    (hook,) = [finding for finding in findings if finding["name"] == "hooks"]
    assert "settings.json, which runs:" in hook["message"]
    assert "hook.py" in hook["message"]
    output = run_memtui(home, "hooks", "status", "--project", "gemini-cli").stdout
    assert "hook.py" in output


def test_terminal_codes_of_a_project_are_not_shown(clone: Path, tmp_path: Path) -> None:
    file = clone / ".gemini" / "settings.json"
    file.parent.mkdir()
    handler = HANDLER | {"command": "./memtui-hook \x1b[2J\x07\x9b2J"}
    events = {"\x1b[2JStop": [{"hooks": [handler]}]}
    file.write_text(json.dumps({"hooks": events, "\x9b": 1}, ensure_ascii=False))
    home = tmp_path / "home"
    for words in (("status",), ("install", "gemini-cli", "--dry-run")):
        output = run_memtui(
            home, "hooks", *words, "--project", code=words == ("status",)
        ).stdout
        assert not {"\x1b", "\x07", "\x9b"} & set(output)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [os.mkfifo, _device, Path.mkdir])
@pytest.mark.parametrize("is_project", [True, False])
def test_settings_that_are_not_regular_files_are_not_opened(
    make: Callable[[Path], None], is_project: bool, clone: Path, tmp_path: Path
) -> None:
    base = clone if is_project else tmp_path / "person"
    file = base / ".claude" / ("settings.local.json" if is_project else "settings.json")
    file.parent.mkdir(parents=True)
    make(file)
    home = tmp_path / "home"
    output = run_memtui(home, "doctor", code=not is_project)
    assert ("not a regular file" in output.stdout) is not is_project
    where = ["--project"] if is_project else []
    for action in ("status", "install"):
        output = run_memtui(home, "hooks", action, "claude-code", *where, code=1)
        assert "not a regular file" in output.stdout + output.stderr
    assert not stat.S_ISREG(file.stat().st_mode)


@pytest.mark.parametrize(
    ("command", "name"),
    [("hooks", ".claude/settings.json"), ("mcp", ".claude.json")],
)
def test_a_device_behind_a_link_is_not_replaced(
    command: str, name: str, tmp_path: Path
) -> None:
    file, device = tmp_path / "person" / name, tmp_path / "null"
    file.parent.mkdir(parents=True)
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        device = Path(os.devnull)  # only the superuser could replace it
    file.symlink_to(device)
    home = tmp_path / "home"
    words = "install", "claude-code", "--yes"
    output = run_memtui(home, command, *words, code=1)
    assert "not a regular file" in output.stderr
    assert stat.S_ISCHR(device.stat().st_mode)
    assert file.is_symlink()


def test_too_large_settings_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "person" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    with file.open("wb") as opened:
        opened.truncate(MAX_SMALL_BYTES + 1)
    output = run_memtui(tmp_path / "home", "hooks", "install", "claude-code", code=1)
    assert "too large" in output.stderr


def test_a_file_with_a_hard_link_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "person" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    other = tmp_path / "dotfiles.json"
    other.hardlink_to(file)
    home = tmp_path / "home"
    output = run_memtui(home, "hooks", "install", "claude-code", "--yes", code=1)
    assert "second name" in output.stderr
    assert file.samefile(other)
    assert other.read_text() == "{}"
    assert not (home / "hooks").exists()


@pytest.mark.parametrize("make", [os.mkfifo, _device])
def test_a_git_entry_that_is_not_a_file_is_not_opened(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / ".git")
    assert locate_project(str(tmp_path / "src")).root == ""
