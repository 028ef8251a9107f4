"""A store on a read-only disk can be read, searched, copied and exported."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_runner import run_memtui
from tests.conftest import HISTORY


@pytest.fixture
def read_only_home(tmp_path: Path) -> Iterator[Path]:
    """A home with the written history on a read-only disk."""
    home = tmp_path / "home"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(home)]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("only root can mount a read-only disk")
    try:
        run_memtui(home, "import", str(HISTORY))
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        yield home
    finally:
        subprocess.run(["umount", "-l", str(home)], check=True)


def test_a_read_only_store_can_be_read(read_only_home: Path, tmp_path: Path) -> None:
    home = read_only_home
    assert "2024" in run_memtui(home, "show").stdout
    result = run_memtui(home, "search", "basket")
    assert "basket" in result.stdout and "damaged" not in result.stdout + result.stderr
    assert "44" in run_memtui(home, "stats").stdout
    assert "basket" in run_memtui(home, "session", "shop-1").stdout
    run_memtui(home, "backup", str(tmp_path / "copy.db"))
    run_memtui(tmp_path / "other", "restore", str(tmp_path / "copy.db"), "--yes")
    assert "44" in run_memtui(tmp_path / "other", "stats").stdout
    run_memtui(home, "export", "--events", str(tmp_path / "all.jsonl"))
    assert (tmp_path / "all.jsonl").read_text().count("event_type") == 44


@pytest.mark.parametrize(
    "words",
    [
        ("import", str(HISTORY)),
        ("forget", "session", "shop-1", "--yes"),
        ("redact",),
        ("regenerate", "toc:year:2024"),
        ("work", "--until-idle"),
    ],
    ids=lambda words: words[0],
)
def test_a_read_only_store_cannot_be_changed(
    read_only_home: Path, words: tuple[str, ...]
) -> None:
    result = run_memtui(read_only_home, *words, code=1)
    assert (
        "Read-only" in result.stderr or "cannot be opened for writing" in result.stderr
    )
    assert len(result.stderr.splitlines()) == 1
