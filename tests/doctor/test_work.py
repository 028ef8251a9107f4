"""Pending work, failing stages, and skipped input."""

import fcntl
import json
import os
import shutil
import time
from datetime import timedelta
from pathlib import Path

import pytest

from memtui.capture.ingest import SpoolIngester
from tests.cli_runner import run_memtui
from tests.doctor.findings import (
    Ask,
    failed_findings,
    get_finding,
    listing,
    open_database,
    set_age,
)


def test_work_that_nobody_does_is_found(home: Path, ask: Ask) -> None:
    hour_ago = int((time.time() - 3600) * 1000)
    with open_database(home) as connection:
        connection.execute(
            "INSERT INTO outbox (action, subject_id, at_ms) SELECT 'index_node',"
            " node_id, ? FROM nodes LIMIT 2",
            (hour_ago,),
        )
    found = failed_findings(ask())["work"]
    assert "2 nodes to index (oldest 1 hour ago)" in found["message"]
    assert "memtui is not running" in found["message"]
    run_memtui(home, *found["remedy"].split()[1:])
    assert ask()["is_ok"]


def test_what_fails_again_and_again_is_found(home: Path, ask: Ask) -> None:
    later = int((time.time() + 3600) * 1000)
    with open_database(home) as connection:
        connection.execute(
            "UPDATE nodes SET is_dirty = 1, attempts = 3, retry_ms = ?"
            " WHERE level = 'day'",
            (later,),
        )
    assert "failed and will be retried" in failed_findings(ask())["work"]["message"]


def test_what_lies_in_the_spool_for_days_is_found(home: Path, ask: Ask) -> None:
    letter = home / "spool" / "new" / "1.json"
    letter.write_text("{}")
    assert ask()["is_ok"]
    four_days_ago = time.time() - 4 * 86_400
    os.utime(letter, (four_days_ago, four_days_ago))
    found = failed_findings(ask())["spool"]
    assert "1 hook event waiting (oldest 4 days ago)" in found["message"]
    assert found["remedy"] == "memtui work --until-idle"


@listing
def test_what_a_working_memtui_does_not_take_is_found(home: Path, ask: Ask) -> None:
    letter = home / "spool" / "new" / "1.json"
    letter.write_text("{}")
    hour_ago = time.time() - 3600
    os.utime(letter, (hour_ago, hour_ago))
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        assert "does not store them" in failed_findings(ask())["spool"]["message"]


def test_a_spool_that_does_not_drain_is_found(
    home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "spool" / "new" / "1.json").write_text("{}")

    def fail(*_: object) -> None:
        raise ValueError("no way")

    with monkeypatch.context() as patch:
        patch.setattr(SpoolIngester, "_store", fail)
        patch.setattr(SpoolIngester, "_store_one", fail)
        run_memtui(home, "work", "--until-idle", code=1)
    found = failed_findings(ask())["spool"]
    assert "which cannot be stored: ValueError: no way" in found["message"]
    run_memtui(home, "work", "--until-idle")
    assert "spool" not in failed_findings(ask())


def test_what_hooks_never_finished_is_counted(home: Path, ask: Ask) -> None:
    draft = home / "spool" / "tmp" / "1.json"
    draft.write_text('{"promp')
    assert "left unfinished" not in get_finding(ask(), "spool")["message"]
    set_age(draft, timedelta(hours=1))
    assert "1 file left unfinished by hooks" in get_finding(ask(), "spool")["message"]


def test_a_spool_that_is_no_folder_is_found(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "spool")
    (home / "spool").write_text("")
    assert "is not a folder" in failed_findings(ask())["spool"]["message"]


def test_the_quarantined_are_counted_by_their_reasons(home: Path, ask: Ask) -> None:
    for number, said in enumerate(("{", "{", '{"hook_event_name": "Sneeze"}')):
        (home / "spool" / "new" / f"{number}.json").write_text(said)
    run_memtui(home, "work", "--until-idle")
    shown = ask()
    assert "3 hook files" in failed_findings(shown)["quarantine"]["message"]
    reasons = {row["name"]: row["count"] for row in shown["quarantined"]}
    assert reasons["not valid JSON"] == 2
    assert reasons["unknown hook event 'Sneeze'"] == 1


def test_what_was_taken_out_and_left_out_is_counted(
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
    shown = ask()
    left_out = {row["reason"]: row["count"] for row in shown["skipped"]}
    assert left_out["zork"] == 1
    assert [row["count"] for row in shown["redacted"]] == [1]
    assert {row["kind"] for row in shown["skipped"]} == {"damaged", "skipped"}
    assert shown["latest_damaged"][0]["source"] == str(file)
    assert shown["latest_damaged"][0]["kind"] == "damaged"
    words = ask(words=True)
    assert "zork" in words
    assert "ghp_" not in words


def test_the_words_of_records_that_are_not_stored_are_counted(
    home: Path, ask: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    records = [
        {"type": "user", "message": {"content": "Fix the cart"}},
        {"type": "sermon", "message": {"content": "Four words in here"}},
    ]
    common = {"sessionId": "s1", "timestamp": "2025-03-14T10:00:00Z"}
    lines = [json.dumps(one | common | {"uuid": one["type"]}) for one in records]
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
    (found,) = [f for f in ask()["findings"] if f["subject"] == "clock"]
    assert "1 skipped record is from the future" in found["message"]
    assert "memtui quarantine retry --all" in found["remedy"]
