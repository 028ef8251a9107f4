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
        captured = capsys.readouterr()
        return (
            json_data(captured.out)
            if "--json" in words
            else captured.out + captured.err
        )

    return run


def find_source(answer: Any, name: str) -> Any:
    return next(source for source in answer["sources"] if source["name"] == name)


def test_sources_list_every_agent(memtui: Run, person: Path) -> None:
    answer = memtui("sources", "--json")
    assert [source["name"] for source in answer["sources"]] == [
        "claude-code",
        "codex",
        "gemini-cli",
        "antigravity-cli",
        "opencode",
        "copilot-cli",
        "aider",
    ]
    claude = find_source(answer, "claude-code")
    assert claude["places"] == [str(person / ".claude" / "projects")]
    assert (claude["files"], claude["is_watched"]) == (1, False)
    assert claude["reason"] == "you have not been asked yet"
    assert claude["by_transcript"] is None
    assert "no events yet" in memtui("sources")


def test_latest_events_of_transcripts_and_hooks_are_listed(
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
    claude = find_source(memtui("sources", "--json"), "claude-code")
    assert claude["by_transcript"]["last_event_at"] == "2025-03-14T10:00:00Z"
    assert claude["by_hook"]["source"] == "hooks"


def test_watching_is_stored_and_can_be_ended(memtui: Run, person: Path) -> None:
    assert "Claude Code: watched (you agreed)" in memtui(
        "sources", "watch", "claude-code"
    )
    answer = memtui("sources", "--json")
    assert find_source(answer, "claude-code")["is_watched"]
    assert find_source(answer, "codex")["reason"] == "you did not agree"
    memtui("sources", "unwatch", "claude-code")
    assert not find_source(memtui("sources", "--json"), "claude-code")["is_watched"]


def test_all_watches_every_agent_with_a_folder(memtui: Run) -> None:
    memtui("sources", "watch", "all", "--json")
    sources = memtui("sources", "--json")["sources"]
    assert [source["name"] for source in sources if not source["is_watched"]] == [
        "aider"
    ]


def test_settings_that_override_a_choice_are_reported(memtui: Run) -> None:
    setting = ("--set", "capture.sources=codex")
    answer = memtui(*setting, "sources", "unwatch", "codex", "--json")
    assert find_source(answer, "codex")["is_watched"]
    assert "capture.sources" in find_source(answer, "codex")["reason"]
    assert "the settings override it for Codex" in answer["note"]
    assert "override it" in memtui(*setting, "sources", "watch", "opencode")


def test_folders_in_settings_are_listed(memtui: Run, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    setting = ("--set", f"capture.folders={tmp_path / 'old'}")
    folders = find_source(memtui(*setting, "sources", "--json"), "folders")
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
def test_unknown_agents_cannot_be_watched(
    memtui: Run, words: tuple[str, ...], says: str
) -> None:
    assert says in memtui("sources", *words, code=2)
