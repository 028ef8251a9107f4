"""Pending work, failing stages, and skipped input."""

import fcntl
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from memtui.capture.ingest import SpoolIngester
from tests.cli_runner import run_memtui
from tests.doctor.findings import (
    Ask,
    failed_findings,
    listing,
    open_database,
)


def test_waiting_work_is_found(home: Path, ask: Ask) -> None:
    hour_ago = int((time.time() - 3600) * 1000)
    with open_database(home) as connection:
        connection.execute(
            "INSERT INTO outbox (action, subject_id, at_ms) SELECT 'index_node',"
            " node_id, ? FROM nodes LIMIT 2",
            (hour_ago,),
        )
    finding = failed_findings(ask())["work"]
    assert "2 steps of work waiting (oldest 1 hour ago)" in finding["message"]
    assert "memtui is not running" in finding["message"]
    run_memtui(home, *finding["remedy"].split()[1:])
    assert ask()["is_ok"]


def test_failing_work_is_found(home: Path, ask: Ask) -> None:
    later = int((time.time() + 3600) * 1000)
    with open_database(home) as connection:
        connection.execute(
            "UPDATE nodes SET is_dirty = 1, attempts = 3, retry_ms = ?"
            " WHERE level = 'day'",
            (later,),
        )
    assert "failed and will be retried" in failed_findings(ask())["work"]["message"]


def test_hook_files_waiting_for_days_are_found(home: Path, ask: Ask) -> None:
    file = home / "spool" / "new" / "1.json"
    file.write_text("{}")
    assert ask()["is_ok"]
    four_days_ago = time.time() - 4 * 86_400
    os.utime(file, (four_days_ago, four_days_ago))
    finding = failed_findings(ask())["spool"]
    assert "1 hook event waiting (oldest 4 days ago)" in finding["message"]
    assert finding["remedy"] == "memtui work --until-idle"


@listing
def test_hook_files_that_a_running_memtui_does_not_store_are_found(
    home: Path, ask: Ask
) -> None:
    file = home / "spool" / "new" / "1.json"
    file.write_text("{}")
    hour_ago = time.time() - 3600
    os.utime(file, (hour_ago, hour_ago))
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        finding = failed_findings(ask())["spool"]
    assert "1 hook event waiting (oldest 1 hour ago)" in finding["message"]
    assert finding["remedy"] == f"see {home / 'memtui.log'}"


def test_hook_files_that_cannot_be_stored_are_found(
    home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "spool" / "new" / "1.json").write_text("{}")

    def fail(*_: object) -> None:
        raise ValueError("no way")

    with monkeypatch.context() as patch:
        patch.setattr(SpoolIngester, "_store", fail)
        patch.setattr(SpoolIngester, "_store_one", fail)
        run_memtui(home, "work", "--until-idle", code=1)
    finding = failed_findings(ask())["spool"]
    assert "storing them failed: ValueError: no way" in finding["message"]
    run_memtui(home, "work", "--until-idle")
    assert "spool" not in failed_findings(ask())


def test_a_spool_that_is_not_a_folder_is_found(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "spool")
    (home / "spool").write_text("")
    assert "is not a folder" in failed_findings(ask())["spool"]["message"]


def test_quarantined_files_are_counted(home: Path, ask: Ask) -> None:
    for number, payload in enumerate(("{", "{", '{"hook_event_name": "Sneeze"}')):
        (home / "spool" / "new" / f"{number}.json").write_text(payload)
    run_memtui(home, "work", "--until-idle")
    finding = failed_findings(ask())["quarantine"]
    assert finding["message"] == "3 hook files skipped"
    assert finding["remedy"] == "memtui quarantine list"


def test_redacted_and_skipped_records_are_counted(
    home: Path, ask: Ask, tmp_path: Path
) -> None:
    records = [
        {"type": "zork", "sessionId": "s1", "timestamp": "2025-03-14T10:00:00Z"},
        {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s1",
            "timestamp": "2025-03-14T10:00:00Z",
            "message": {"content": "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
        },
    ]
    file = tmp_path / "s1.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records) + "[1]\n")
    run_memtui(home, "import", str(file))
    report = ask()
    left_out = {row["reason"]: row["count"] for row in report["skipped"]}
    assert left_out["zork"] == 1
    assert [row["count"] for row in report["redacted"]] == [1]
    assert {row["kind"] for row in report["skipped"]} == {"damaged", "skipped"}
    words = ask(words=True)
    assert "zork" in words
    assert "ghp_" not in words


def test_words_of_skipped_records_are_counted(
    home: Path, ask: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    records = [
        {"type": "user", "message": {"content": "Fix the cart"}},
        {"type": "sermon", "message": {"content": "Four words in here"}},
    ]
    common = {"sessionId": "s1", "timestamp": "2025-03-14T10:00:00Z"}
    lines = [json.dumps(r | common | {"uuid": r["type"]}) for r in records]
    file.write_text("".join(f"{line}\n" for line in lines))
    run_memtui(home, "import", str(file))
    (skipped,) = [row for row in ask()["skipped"] if "sermon" in row["reason"]]
    assert (skipped["count"], skipped["words"]) == (1, 4)
    assert "(4 words)" in ask(words=True)


def test_records_from_the_future_are_explained(home: Path, ask: Ask) -> None:
    payload = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    payload |= {"prompt": "Hello", "timestamp": "2999-01-01T00:00:00Z"}
    (home / "spool" / "new" / "1.json").write_text(json.dumps(payload))
    run_memtui(home, "work", "--until-idle")
    (finding,) = [f for f in ask()["findings"] if f["subject"] == "clock"]
    assert "1 skipped record is from the future" in finding["message"]
    assert "once their time has come" in finding["remedy"]
