"""Unread transcripts, and hooks that are broken or silent."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli_runner import run_memtui
from tests.doctor.findings import (
    Ask,
    failed_findings,
    get_finding,
    get_findings,
    set_age,
)


@pytest.fixture
def transcript() -> Path:
    """A conversation with Claude Code that was never read."""
    folder = Path.home() / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2025-03-14T10:00:00Z",
        "message": {"content": "Fix the cart"},
    }
    file = folder / "s1.jsonl"
    file.write_text(json.dumps(record) + "\n")
    return file


def test_unread_transcripts_are_wrong_only_before_they_are_deleted(
    ask: Ask, transcript: Path
) -> None:
    report = ask()
    assert report["is_ok"]
    assert (
        "1 of 1 transcript has never been read"
        in get_finding(report, "transcripts")["message"]
    )
    set_age(transcript, timedelta(days=22))
    assert ask()["is_ok"]
    set_age(transcript, timedelta(days=25))
    finding = failed_findings(ask())["transcripts"]
    assert (
        "Claude Code will delete 1 transcript that memtui has not read, from"
        in finding["message"]
    )
    assert "memtui sources watch claude-code" in finding["remedy"]
    set_age(transcript, timedelta(days=40))
    assert "at any moment" in failed_findings(ask())["transcripts"]["message"]


def test_files_that_nothing_is_kept_of_are_said(ask: Ask, transcript: Path) -> None:
    transcript.with_name("notes.md").write_text("x" * 2_000)
    (transcript.parent / "s1").mkdir()
    (transcript.parent / "s1" / "shot.png").write_bytes(b"x" * 1_000)
    said = "nothing is kept of 2 other files, 3.0 kB: "
    findings = get_findings(ask(), "transcripts")
    assert any(f"Claude Code: {said}" in finding["message"] for finding in findings)
    (home,) = {Path(f["subject"]) for f in get_findings(ask(), "store")}
    assert said in run_memtui(home.parent, "sources").stdout


def test_the_setting_of_claude_code_decides_when_transcripts_are_deleted(
    ask: Ask, transcript: Path
) -> None:
    set_age(transcript, timedelta(days=40))
    settings = Path.home() / ".claude" / "settings.json"
    settings.write_text('{"cleanupPeriodDays": 365}')
    assert ask()["is_ok"]
    settings.write_text('{"cleanupPeriodDays": 1e300}')
    assert ask()["is_ok"]
    settings.write_text('{"cleanupPeriodDays": 45}')
    assert "transcripts" in failed_findings(ask())


def test_without_a_store_transcripts_about_to_be_deleted_are_found(
    home: Path, ask: Ask, transcript: Path
) -> None:
    shutil.rmtree(home)
    set_age(transcript, timedelta(days=25))
    assert "transcripts" in failed_findings(ask())
    assert not home.exists()


def test_a_transcript_that_was_read_may_be_deleted(
    home: Path, ask: Ask, transcript: Path
) -> None:
    set_age(transcript, timedelta(days=25))
    run_memtui(home, "import")
    assert ask()["is_ok"]


def test_a_changed_transcript_is_found(home: Path, ask: Ask, transcript: Path) -> None:
    run_memtui(home, "import")
    with transcript.open("a") as file:
        file.write('{"type": "mode", "sessionId": "s1"}\n')
    assert ask()["is_ok"], "it may be about to be read"
    set_age(transcript, timedelta(hours=1))
    finding = failed_findings(ask())["transcripts"]
    assert "1 transcript changed since" in finding["message"]
    run_memtui(home, "sources", "watch", "codex")
    assert ask()["is_ok"], "a person decided against it"
    run_memtui(home, "sources", "watch", "claude-code")
    remedy = failed_findings(ask())["transcripts"]["remedy"]
    run_memtui(home, *remedy.split()[1:])
    assert ask()["is_ok"]


def test_a_new_transcript_is_reported_only_later(
    home: Path, ask: Ask, transcript: Path
) -> None:
    run_memtui(home, "sources", "watch", "claude-code")
    assert ask()["is_ok"]
    set_age(transcript, timedelta(hours=1))
    assert (
        "1 transcript changed since" in failed_findings(ask())["transcripts"]["message"]
    )


@pytest.fixture
def hooked(home: Path, transcript: Path) -> Path:
    """Claude Code's settings, with the hooks installed a day ago."""
    run_memtui(home, "hooks", "install", "claude-code", "--yes")
    settings = Path.home() / ".claude" / "settings.json"
    set_age(settings, timedelta(days=1))
    set_age(transcript, timedelta(days=2))
    run_memtui(home, "import")
    return settings


def test_hooks_that_run_are_ok(ask: Ask, hooked: Path) -> None:
    report = ask()
    assert report["is_ok"]
    assert "the command runs; no event" in get_finding(report, "hooks")["message"]


def test_a_hook_whose_command_does_not_run_is_found(ask: Ask, hooked: Path) -> None:
    there = json.loads(hooked.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    hooked.write_text(hooked.read_text().replace(there, "/no/such/python"))
    finding = failed_findings(ask())["hooks"]
    assert "the command it names does not run" in finding["message"]
    assert finding["remedy"] == "memtui hooks install claude-code"


def test_hooks_of_the_project_are_checked_once(
    home: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checked_agents() -> list[str]:
        hooks = get_findings(ask(), "hooks")
        return [finding["subject"] for finding in hooks]

    run_memtui(home, "hooks", "install", "codex", "--yes")
    monkeypatch.chdir(Path.home())
    assert checked_agents() == ["codex"]
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    run_memtui(home, "hooks", "install", "gemini-cli", "--project", "--yes")
    assert checked_agents() == ["codex", "gemini-cli"]
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "shop" / "src")
    assert checked_agents() == ["codex", "gemini-cli"]


def test_invalid_settings_of_an_agent_are_found(ask: Ask, hooked: Path) -> None:
    hooked.write_text("{")
    assert failed_findings(ask())["hooks"]["remedy"] == f"correct {hooked}"


def test_hooks_without_events_are_found(
    home: Path, ask: Ask, hooked: Path, transcript: Path
) -> None:
    os.utime(transcript)
    finding = failed_findings(ask())["hooks"]
    assert "installed, but no events arrive" in finding["message"]
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s2",
        "prompt": "And the basket",
        "transcript_path": str(transcript),
    }
    (home / "spool" / "new" / "2.json").write_text(json.dumps(payload))
    assert "hooks" not in failed_findings(ask()), "what waits was heard"
    run_memtui(home, "work", "--until-idle")
    report = ask()
    assert "hooks" not in failed_findings(report)
    assert "last event" in get_finding(report, "hooks")["message"]
