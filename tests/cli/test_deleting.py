"""The commands that delete and copy: confirmations, output and errors."""

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memtui.pipeline.worker import WorkerLock
from tests.cli_runner import json_data, run_at_terminal, run_memtui, run_with_answer

HISTORY = Path(__file__).parents[1] / "data" / "history.jsonl"


def events(home: Path) -> Any:
    return json_data(run_memtui(home, "stats", "--json").stdout)["events"]


@pytest.fixture(scope="module")
def imported_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the written history in it, made once."""
    home = tmp_path_factory.mktemp("imported") / "home"
    home.mkdir()
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    run_memtui(home, "import", str(HISTORY))
    return home


@pytest.fixture
def home(imported_home: Path, tmp_path: Path) -> Path:
    """A home with the written history in it."""
    return Path(shutil.copytree(imported_home, tmp_path / "home"))


FORGET = ("forget", "session", "shop-1")


def test_forget_without_a_terminal_needs_yes(home: Path) -> None:
    output = run_memtui(home, *FORGET, code=2)
    assert output.stdout == ""
    assert "--yes" in output.stderr and "--dry-run" in output.stderr
    assert events(home) == 44


def test_forget_asks_for_confirmation(home: Path) -> None:
    printed, terminal = run_with_answer(home, *FORGET, answer="no")
    assert printed == "Nothing was done.\n"
    assert "11 events" in terminal and "would be forgotten" in terminal
    assert "  Sessions time out after ten minutes, customers lose their…  (shop)" in (
        terminal
    )
    assert events(home) == 44
    printed, _ = run_with_answer(home, *FORGET, answer="y")
    assert "11 events" in printed and ": forgotten." in printed
    assert events(home) == 33


def test_dry_run_of_forget_is_reported_in_json(home: Path) -> None:
    output = json_data(run_memtui(home, *FORGET, "--dry-run", "--json").stdout)
    assert output["is_done"] is False
    assert output["counts"]["events"] == 11
    assert events(home) == 44


def test_forgotten_sessions_are_listed_and_can_be_imported_after_undo(
    home: Path,
) -> None:
    assert run_memtui(home, "forget", "--list").stdout == "Nothing was forgotten.\n"
    run_memtui(home, *FORGET, "--yes")
    assert (
        "session  claude-code:shop-1\n" in run_memtui(home, "forget", "--list").stdout
    )
    (listed,) = json_data(run_memtui(home, "forget", "--list", "--json").stdout)
    assert listed["tombstone"]["subject"] == "shop-1"
    run_memtui(home, *FORGET, "--undo")
    run_memtui(home, "import", str(HISTORY))
    assert events(home) == 44


def test_forget_needs_the_worker_lock(home: Path) -> None:
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    output = run_memtui(home, *FORGET, "--yes", code=1)
    assert "another memtui is running on this store: quit the app" in output.stderr
    claim.release()
    assert events(home) == 44


def test_forget_needs_names(home: Path) -> None:
    assert "name what to forget" in run_memtui(home, "forget", code=2).stderr
    output = run_memtui(home, "forget", "session", "nobody", "--yes", code=1)
    assert output.stderr.startswith("memtui: there is no session 'nobody'")


KEY = "ghp_Zr4Tq9Xw2Lm8Nv5Kd3Jf6Hs1Ga7Bp0Yc5Wd2"
"""What looks like a token of GitHub's; it opens nothing."""


def test_doctor_reports_older_redaction_rules(home: Path) -> None:
    def find_secrets_check() -> Any:
        code = 1 if row else 0
        output = json_data(run_memtui(home, "doctor", "--json", code=code).stdout)
        (check,) = [
            finding for finding in output["findings"] if finding["name"] == "secrets"
        ]
        return check["is_ok"], check["remedy"]

    row = ""
    assert find_secrets_check() == (True, "")
    for row in ("DELETE FROM meta WHERE name = 'redacted_by'",
                "INSERT INTO meta VALUES ('needs_cleanup', '1')"):  # fmt: skip
        with closing(sqlite3.connect(home / "memory.db")) as db, db:
            db.execute(row)
        assert find_secrets_check() == (False, "memtui redact")
        run_memtui(home, "redact")
    row = ""
    assert find_secrets_check() == (True, "")


def quarantined_file(home: Path) -> Path:
    file = home / "spool" / "bad" / "1.1.a.json"
    file.write_text(json.dumps({"hook_event_name": "Novel", "prompt": f"use {KEY}"}))
    return file


def test_redact_counts_secrets_by_kind_without_printing_them(
    home: Path,
) -> None:
    file = quarantined_file(home)
    tried = run_memtui(home, "redact", "--dry-run").stdout
    assert (
        tried == "1 secret would be removed from 1 hook file:\n       1  github token\n"
    )
    assert KEY in file.read_text()
    output = run_memtui(home, "redact").stdout
    assert output == "1 secret removed from 1 hook file:\n       1  github token\n"
    assert KEY not in file.read_text()
    assert run_memtui(home, "redact").stdout == "No secret was found.\n"


def test_redact_is_reported_in_json(home: Path) -> None:
    quarantined_file(home)
    output = json_data(run_memtui(home, "redact", "--json").stdout)
    assert (output["is_done"], output["kinds"]) == (True, {"github token": 1})
    assert (output["hook_files"], output["events"], output["errors"]) == (1, 0, [])


def test_redact_needs_the_worker_lock_except_for_a_dry_run(home: Path) -> None:
    file = quarantined_file(home)
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    output = run_memtui(home, "redact", code=1)
    assert "another memtui is running on this store: quit the app" in output.stderr
    assert "1 secret would be removed" in run_memtui(home, "redact", "--dry-run").stdout
    claim.release()
    assert KEY in file.read_text()


def read_years(home: Path) -> Any:
    return json_data(run_memtui(home, "show", "--json").stdout)


def test_restored_store_is_searchable(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    printed = run_memtui(home, "backup", str(file)).stdout
    assert printed.startswith(f"Copied to {file}: 44 events in 6 sessions, the last of")
    assert (
        "exists already; --force"
        in run_memtui(home, "backup", str(file), code=1).stderr
    )
    output = json_data(
        run_memtui(home, "backup", str(file), "--force", "--json").stdout
    )
    assert (output["events"], output["bytes"]) == (44, file.stat().st_size)
    before = read_years(home)
    results = run_at_terminal(home, "search", "timeout")
    run_memtui(home, *FORGET, "--yes")
    assert read_years(home) != before

    refused = run_memtui(home, "restore", str(file), code=2)
    assert "--yes" in refused.stderr
    assert events(home) == 33
    printed = run_memtui(home, "restore", str(file), "--yes").stdout
    first, back, named = printed.splitlines()
    assert first.startswith(f"Restored from {file}: 44 events in 6 sessions")
    assert back == "To delete again what the backup brought back:"
    assert named == "    memtui forget session claude-code:shop-1"
    assert read_years(home) == before
    assert run_at_terminal(home, "search", "timeout") == results
    assert json_data(run_memtui(home, "doctor", "--json").stdout)


def test_restore_into_an_empty_home_needs_no_confirmation(
    home: Path, tmp_path: Path
) -> None:
    file, empty = tmp_path / "memory.bak", tmp_path / "empty"
    run_memtui(home, "backup", str(file))
    empty.mkdir()
    (empty / "config.toml").write_text('[store]\ntime_zone = "Asia/Tokyo"\n')
    output = json_data(run_memtui(empty, "restore", str(file), "--json").stdout)
    assert (output["events"], output["is_done"], output["to_do"]) == (44, True, [])
    assert read_years(empty) == read_years(home)


def test_restore_compares_and_asks_for_confirmation(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    run_memtui(home, "backup", str(file))
    run_memtui(home, *FORGET, "--yes")
    printed, terminal = run_with_answer(home, "restore", str(file), answer="n")
    assert printed == "Nothing was done.\n"
    assert f"{file}: 44 events in 6 sessions" in terminal
    assert "The store now: 33 events in 5 sessions" in terminal
    assert events(home) == 33


def test_restore_needs_the_worker_lock(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    run_memtui(home, "backup", str(file))
    output = run_memtui(home, "restore", str(file), "--yes", code=1)
    assert "another memtui is running on this store: quit the app" in output.stderr
    claim.release()


def test_damaged_store_is_replaced_by_a_backup(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    run_memtui(home, "backup", str(file))
    before = read_years(home)
    store = home / "memory.db"
    store.write_bytes(b"no database" * 1000)
    assert "damaged" in run_memtui(home, "stats", code=1).stderr
    output = run_memtui(home, "restore", str(file), code=2)
    assert "--yes" in output.stderr
    run_memtui(home, "restore", str(file), "--yes")
    assert read_years(home) == before


def test_dry_run_of_restore_changes_nothing(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    run_memtui(home, "backup", str(file))
    run_memtui(home, "forget", "project", "shop", "--yes")
    assert len(run_memtui(home, "forget", "--list").stdout.splitlines()) == 1
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    output = run_memtui(home, "restore", str(file), "--dry-run").stdout.splitlines()
    assert output[0].startswith(f"{file}: 44 events in 6 sessions")
    assert output[1].startswith("The store now: ")
    claim.release()
    raw = bytearray(file.read_bytes())
    raw[8192:12288] = b"?" * 4096
    file.write_bytes(raw)
    output = run_memtui(
        home, "restore", str(file), "--dry-run", code=1
    ).stderr.splitlines()
    assert "is damaged" in output[0]
    assert events(home) < 44
    assert not list(home.glob("*restoring*"))


def test_invalid_backup_changes_nothing(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no backup")
    output = run_memtui(home, "restore", str(file), "--yes", code=1)
    assert output.stderr == f"memtui: {file} is not a backup of memtui\n"
    output = run_memtui(home, "restore", str(tmp_path / "none"), "--yes", code=1)
    assert "there is no file" in output.stderr
    assert events(home) == 44


def test_export_writes_to_a_file_or_standard_output(home: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "said.jsonl", tmp_path / "other"
    printed = run_memtui(home, "export", "--events", str(file)).stdout
    assert printed.startswith(f"Written to {file}: 6 sessions, 44 events, 0.0 MB")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for words in (("--events",), ("--events", "-")):
        assert run_memtui(home, "export", *words).stdout == file.read_text()
    output = run_memtui(home, "export", "--events", str(file), code=1).stderr
    assert "exists already; --force overwrites it" in output
    output = run_memtui(
        home, "export", "--events", str(file), "--force", "--json"
    ).stdout
    assert json_data(output)["records"] == {"session": 6, "event": 44}
    assert "--events" in run_memtui(home, "export", code=2).stderr
    other.mkdir()
    (other / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    run_memtui(other, "import", str(file))
    assert read_years(other) == read_years(home)
