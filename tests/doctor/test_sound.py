"""The report on a sound memory; the checks change nothing."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.cli.doctor import WIDTH
from memtui.services import doctor
from tests.cli_runner import run_memtui
from tests.doctor.findings import Ask, failed_findings, get_finding, listing


def test_a_sound_store_is_ok(ask: Ask) -> None:
    report = ask()
    assert report["is_ok"]
    assert "44 events in 6 sessions" in get_finding(report, "store")["message"]
    assert "up to date" in get_finding(report, "index")["message"]


def test_output_fits_80_columns(ask: Ask) -> None:
    lines = ask(words=True).splitlines()
    assert "Everything is well." in lines
    assert max(len(line) for line in lines if "/" not in line) <= WIDTH


def test_doctor_does_not_create_a_store(tmp_path: Path) -> None:
    report = run_memtui(tmp_path / "new", "doctor").stdout
    assert "nothing is stored yet" in report
    assert not (tmp_path / "new").exists()


def test_doctor_changes_no_file(home: Path, ask: Ask) -> None:
    def contents() -> dict[Path, bytes]:
        files = (f for f in home.rglob("*") if f.is_file())
        return {f: f.read_bytes() for f in files if f.suffix not in (".db-shm",)}

    before = contents()
    ask()
    after = contents()
    assert {f: content for f, content in after.items() if f in before} == before
    assert [content for f, content in after.items() if f not in before] in ([], [b""])


@listing
def test_the_running_memtui_is_named_and_keeps_its_lock(home: Path, ask: Ask) -> None:
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        assert f"process {os.getpid()}" in get_finding(ask(), "work")["message"]
    assert "is running" not in get_finding(ask(), "work")["message"]


def test_a_check_that_fails_does_not_stop_others(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: doctor.Doctor) -> Iterator[doctor.Finding]:
        raise ZeroDivisionError("division by zero")

    checks = [
        check._replace(run=fail) if check.name == "work" else check
        for check in doctor.CHECKS
    ]
    monkeypatch.setattr(doctor, "CHECKS", checks)
    report = ask()
    problem = "this check failed: ZeroDivisionError: division by zero"
    assert failed_findings(report)["work"]["message"] == problem
    assert get_finding(report, "model")
