"""Disks that are full or read-only."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doctor.findings import Ask, failed_findings, get_finding


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "memtui-test", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_found(
    ask: Ask, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = small_disk / "spool"
    for box in ("tmp", "new", "bad"):
        (spool / box).mkdir(parents=True)
    monkeypatch.setenv("MEMTUI_SPOOL", str(spool))
    findings = failed_findings(ask())
    assert "MB free" in findings["disk"]["message"]
    assert "spool" not in findings
    with pytest.raises(OSError), (small_disk / "full").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    assert "no space left" in failed_findings(ask())["spool"]["message"]


def test_a_read_only_disk_is_found(home: Path, ask: Ask, small_disk: Path) -> None:
    shutil.copytree(home, small_disk, dirs_exist_ok=True)
    shutil.rmtree(home)
    home.symlink_to(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    report = ask()
    assert "44 events" in failed_findings(report)["store"]["message"]
    assert "is not writable" in failed_findings(report)["store"]["message"]
    assert "cannot be written" in failed_findings(report)["spool"]["message"]
    assert get_finding(report, "index")["is_ok"]
