"""Reading the spool: names, and files that cannot be stored."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.formats import hooks
from memtui.capture.spool import Spool, SpoolFile
from memtui.services import status
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui


def spool_file(name: str) -> SpoolFile:
    return SpoolFile(name, b"{}", datetime(2025, 3, 14, tzinfo=UTC))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1763.7.0a1b.copilot-cli.agentStop.json", ("copilot-cli", "agentStop")),
        ("1763.7.0a1b.copilot-cli..json", ("copilot-cli", "")),
        ("1763.7.0a1b..agentStop.json", ("", "agentStop")),
        ("1763.7.AbCdEf.codex.Stop.json", ("codex", "Stop")),
        ("1763.7.0a1b.json", ("", "")),
        ("1763.7.0a1b.codex.json", ("", "")),
        ("1763.7.0a1b.codex.Stop.more.json", ("", "")),
        ("1763.7.0a1b.co dex.Stop.json", ("", "")),
        ("1763.7.0a1b.codex.Stop.json\n", ("", "")),
        ("1763.7.0a1b.c\u00f6dex.Stop.json", ("", "")),
        (f"1763.7.0a1b.{'x' * 41}.Stop.json", ("", "")),
        ("mine.json", ("", "")),
    ],
)
def test_a_name_contains_agent_and_event(name: str, expected: tuple[str, str]) -> None:
    assert (spool_file(name).agent, spool_file(name).event) == expected


def test_a_file_is_read_with_agent_and_event_of_its_name(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.create()
    (tmp_path / "new" / "1763.7.0a1b.codex.Stop.json").write_bytes(b"{}")
    read = spool.read(spool.names()[0])
    assert read is not None
    assert (read.raw, read.agent, read.event) == (b"{}", "codex", "Stop")


SURROGATES = [r"/w/\udce4", r"/w/\ud83d/x", r"C:\\\udce4"]


def write_payload(home: Path, number: int, cwd: str) -> None:
    spool = Spool(home / "spool")
    spool.create()
    payload = (
        f'{{"session_id": "s{number}", "hook_event_name": "UserPromptSubmit",'
        f' "prompt": "one", "cwd": "{cwd}"}}'
    )
    file = home / "spool" / "new" / f"176400000000000000{number}.1.a{number}.json"
    file.write_text(payload)


@pytest.mark.parametrize("cwd", SURROGATES)
def test_a_folder_that_is_not_utf_8_is_stored(cwd: str, tmp_path: Path) -> None:
    run_memtui(tmp_path, "work", "--until-idle")
    write_payload(tmp_path, 1, cwd)
    write_payload(tmp_path, 2, "/w/x")
    run_memtui(tmp_path, "forget", "before", "2020-01-01", "--dry-run")
    run_memtui(tmp_path, "work", "--until-idle")
    assert list((tmp_path / "spool" / "new").iterdir()) == []
    assert list((tmp_path / "spool" / "bad").iterdir()) == []
    stats = json_data(run_memtui(tmp_path, "stats", "--json").stdout)
    assert (stats["events"], stats["sessions"]) == (2, 2)


@pytest.mark.parametrize(
    "record",
    [
        {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s1",
            "timestamp": "2025-03-14T10:00:00Z",
            "message": {"content": "Hello"},
        },
        {
            "session_id": "s1",
            "timestamp": "2025-03-14T10:00:00Z",
            "role": "user",
            "text": "Hello",
        },
    ],
    ids=["claude-code", "plain"],
)
def test_a_transcript_of_a_folder_that_is_not_utf_8_is_read(
    record: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(record | {"cwd": "/w/\udce4"}) + "\n")
    run_memtui(tmp_path / "home", "import", str(file))
    stats = json_data(run_memtui(tmp_path / "home", "stats", "--json").stdout)
    assert stats["events"] == 1


def test_a_file_that_cannot_be_read_is_quarantined_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(raw: bytes, **details: Any) -> Any:
        if b"s2" in raw:
            raise ZeroDivisionError("of no kind that is expected")
        return original(raw, **details)

    original = hooks.read
    monkeypatch.setattr(hooks, "read", read)
    home = workspace.paths.spool.parent
    for number in range(1, 4):
        write_payload(home, number, "/w")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert status.read_stats().events == 2
    (entry,) = workspace.quarantine.page().entries
    assert "cannot be read: ZeroDivisionError" in entry.reason
    assert workspace.quarantine.show(entry.name).text


def test_reason_of_a_quarantined_file_is_one_short_line(workspace: Workspace) -> None:
    name = "Stop\n\x1b[31m" + "x" * 5000
    payload = {"session_id": "s1", "hook_event_name": name}
    spool = Spool(workspace.paths.spool)
    spool.create()
    (spool.folder / "new" / "1.1.a.json").write_text(json.dumps(payload))
    workspace.pipeline.run_until_idle(lambda _: None)
    (reason,) = spool.reason_lines("bad", "1.1.a.json")
    assert reason.startswith("line 1: unknown hook event")
    assert len(reason) < 250 and "\x1b" not in reason
