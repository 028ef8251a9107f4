"""The ``sources`` command, and the settings that choose sources."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main
from tests.cli_runner import json_data

Run = Callable[..., Any]


@pytest.fixture
def person() -> Path:
    """Somebody who has one conversation with Claude Code."""
    folder = Path.home() / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2025-03-14T10:00:00Z",
        "cwd": "/home/ada/shop",
        "message": {"content": "Fix the cart"},
    }
    (folder / "s1.jsonl").write_text(json.dumps(record) + "\n")
    return Path.home()


@pytest.fixture
def memtui(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on a home of its own; what it answered."""

    def run(*words: str, code: int = 0) -> Any:
        home = str(tmp_path / "memtui")
        assert main.main(["--home", home, *words]) == code
        shown = capsys.readouterr()
        return json_data(shown.out) if "--json" in words else shown.out + shown.err

    return run


def of(shown: Any, name: str) -> Any:
    return next(one for one in shown["sources"] if one["name"] == name)


def test_every_agent_is_listed_with_what_is_found_of_it(
    memtui: Run, person: Path
) -> None:
    shown = memtui("sources", "--json")
    assert [one["name"] for one in shown["sources"]] == [
        "claude-code",
        "codex",
        "gemini-cli",
        "antigravity-cli",
        "opencode",
        "copilot-cli",
        "aider",
    ]
    claude = of(shown, "claude-code")
    assert claude["places"] == [str(person / ".claude" / "projects")]
    assert (claude["files"], claude["is_watched"]) == (1, False)
    assert claude["reason"] == "you have not been asked yet"
    assert claude["by_transcript"] is None
    assert "no events yet" in memtui("sources")


def test_the_latest_event_of_each_route_is_listed(
    memtui: Run, person: Path, tmp_path: Path
) -> None:
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s2",
        "prompt": "And the basket",
        "transcript_path": str(person / ".claude" / "projects" / "x.jsonl"),
    }
    new = tmp_path / "memtui" / "spool" / "new"
    new.mkdir(parents=True)
    (new / "1.json").write_text(json.dumps(payload))
    memtui("import")
    claude = of(memtui("sources", "--json"), "claude-code")
    assert claude["by_transcript"]["last_event_at"] == "2025-03-14T10:00:00Z"
    assert claude["by_hook"]["source"] == "hooks"


def test_what_was_agreed_is_remembered_and_taken_back(
    memtui: Run, person: Path
) -> None:
    assert "Claude Code: watched (you agreed)" in memtui(
        "sources", "watch", "claude-code"
    )
    shown = memtui("sources", "--json")
    assert of(shown, "claude-code")["is_watched"]
    assert of(shown, "codex")["reason"] == "you did not agree"
    memtui("sources", "unwatch", "claude-code")
    assert not of(memtui("sources", "--json"), "claude-code")["is_watched"]


def test_all_are_watched_but_the_one_that_has_no_place(memtui: Run) -> None:
    memtui("sources", "watch", "all", "--json")
    shown = memtui("sources", "--json")["sources"]
    assert [one["name"] for one in shown if not one["is_watched"]] == ["aider"]


def test_where_settings_go_first_that_is_said(memtui: Run) -> None:
    setting = ("--set", "capture.sources=codex")
    shown = memtui(*setting, "sources", "unwatch", "codex", "--json")
    assert of(shown, "codex")["is_watched"]
    assert "capture.sources" in of(shown, "codex")["reason"]
    assert "the settings override it for Codex" in shown["note"]
    assert "override it" in memtui(*setting, "sources", "watch", "opencode")


def test_folders_of_the_settings_are_listed_too(memtui: Run, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    setting = ("--set", f"capture.folders={tmp_path / 'old'}")
    folders = of(memtui(*setting, "sources", "--json"), "folders")
    assert folders["is_watched"]
    assert folders["places"] == [str(tmp_path / "old")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("watch",), "name the agents, or say all"),
        (("watch", "clippy"), "no agent is called 'clippy'"),
        (("watch", "aider"), "capture.folders"),
    ],
)
def test_what_cannot_be_watched_is_said_so(
    memtui: Run, words: tuple[str, ...], says: str
) -> None:
    assert says in memtui("sources", *words, code=2)
