"""The report on a sound memory; the checks change nothing."""

import fcntl
import os
from pathlib import Path

import pytest

from memtui.cli import doctor
from memtui.services.doctor import Doctor
from tests.cli_runner import run_memtui
from tests.doctor.findings import Ask, failed_findings, get_finding, listing


def test_a_sound_memory_is_said_to_be_well(ask: Ask) -> None:
    shown = ask()
    assert shown["is_ok"]
    assert "44 events in 6 sessions" in get_finding(shown, "store")["message"]
    assert "up to date" in get_finding(shown, "index")["message"]
    assert {one["agent"] for one in shown["activity"]} == {"claude-code", "codex"}


def test_output_fits_80_columns(ask: Ask) -> None:
    lines = ask(words=True).splitlines()
    assert "Everything is well." in lines
    assert max(len(line) for line in lines if "/" not in line) <= doctor.WIDTH


def test_before_anything_is_kept_nothing_is_made(tmp_path: Path) -> None:
    shown = run_memtui(tmp_path / "new", "doctor").stdout
    assert "nothing is stored yet" in shown
    assert not (tmp_path / "new").exists()


def test_looking_changes_no_file_of_the_memory(home: Path, ask: Ask) -> None:
    def contents() -> dict[Path, bytes]:
        files = (f for f in home.rglob("*") if f.is_file())
        return {f: f.read_bytes() for f in files if f.suffix not in (".db-shm",)}

    before = contents()
    ask()
    after = contents()
    assert {f: said for f, said in after.items() if f in before} == before
    assert [said for f, said in after.items() if f not in before] in ([], [b""])


@listing
def test_the_right_to_work_is_not_taken_and_its_holder_is_named(
    home: Path, ask: Ask
) -> None:
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        assert f"process {os.getpid()}" in get_finding(ask(), "work")["message"]
    assert "is running" not in get_finding(ask(), "work")["message"]


def test_a_check_that_fails_leaves_the_others(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Doctor, "_check_work", lambda _: 1 / 0)
    answer = ask()
    problem = "this check failed: ZeroDivisionError: division by zero"
    assert failed_findings(answer)["work"]["message"] == problem
    assert get_finding(answer, "model")
