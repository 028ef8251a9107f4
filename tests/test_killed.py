"""Killed with -9 at any moment and started again, the memory is as if nothing was."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from memtui import demo

KILLS = 20


def importing(home: Path, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), "import", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finished(home: Path, folder: Path) -> None:
    process = importing(home, folder)
    _, said = process.communicate()
    assert (process.returncode, said) == (0, b"")


def home_at(place: Path) -> Path:
    place.mkdir()
    (place / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    return place


@pytest.mark.slow
def test_twenty_kills_leave_no_trace(
    tmp_path: Path, tree_of: Callable[[Path], dict[str, Any]]
) -> None:
    folder = tmp_path / "history"
    demo.write(folder, today=date(2025, 6, 2), zone=UTC)
    undisturbed = home_at(tmp_path / "undisturbed")
    begun_s = time.monotonic()
    finished(undisturbed, folder)
    took_s = time.monotonic() - begun_s
    wanted = json.dumps(tree_of(undisturbed), sort_keys=True)
    assert wanted.count("toc:day:") > 100

    chance = random.Random(20)
    killed = places = 0
    while killed < KILLS:
        places += 1
        home = home_at(tmp_path / f"disturbed-{places}")
        is_over = False
        while not is_over and killed < KILLS:
            process = importing(home, folder)
            try:
                process.wait(chance.uniform(0.1, 0.7) * took_s)
                is_over = True
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.communicate()
        finished(home, folder)
        assert json.dumps(tree_of(home), sort_keys=True) == wanted
