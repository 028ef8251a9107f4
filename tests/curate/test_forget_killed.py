"""A forgetting killed with -9 at any moment and taken up again ends all the same."""

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from memtui import demo
from memtui.house import House
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.store.tables import SessionRow

KILLS = 12


def forgetting(home: Path, project: str) -> "subprocess.Popen[bytes]":
    words = ("--home", str(home), "forget", "project", project, "--yes")
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finished(home: Path, project: str) -> None:
    process = forgetting(home, project)
    _, said = process.communicate()
    assert (process.returncode, said) == (0, b"")


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_the_same(
    tmp_path: Path, settings: Settings, tree: Callable[[House], dict[str, Any]]
) -> None:
    folder = tmp_path / "history"
    demo.write(folder, today=date(2025, 6, 2), zone=UTC)
    start = tmp_path / "start"
    start.mkdir()
    (start / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    house = House(in_home(start), settings)
    for _ in house.works.importer().run([folder]):
        pass
    assert house.works.until_idle(lambda _: None) == []
    with database.connected():
        row = SessionRow.select().where(SessionRow.project != "").get()
    project, name = row.project, row.name
    house.stop()
    bad = start / "spool" / "bad" / "1.1.a.json"
    bad.write_text(json.dumps({"session_id": name, "hook_event_name": "Novel"}))

    def kept(home: Path) -> str:
        house = House(in_home(home), settings)
        said = tree(house)
        house.stop()
        said["spool"] = sorted(f.name for f in (home / "spool").rglob("*.json"))
        return json.dumps(said, sort_keys=True, default=repr)

    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(start, undisturbed)
    begun_s = time.monotonic()
    finished(undisturbed, project)
    took_s = time.monotonic() - begun_s
    wanted = kept(undisturbed)
    assert '"spool": []' in wanted

    chance = random.Random(12)
    for place in range(KILLS):
        home = tmp_path / f"disturbed-{place}"
        shutil.copytree(start, home)
        process = forgetting(home, project)
        try:
            process.wait(chance.uniform(0.1, 0.95) * took_s)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        finished(home, project)
        assert kept(home) == wanted
        shutil.rmtree(home)
