"""Killed with -9 at any moment and started again, the memory is as if nothing was."""

import json
import random
import subprocess
import sys
import time
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from memtui import demo
from memtui.house import House
from memtui.paths import in_home
from memtui.recall import browse, health
from memtui.settings import Settings
from memtui.shell.output import plain
from memtui.store import database
from memtui.store.tables import EventRow

KILLS = 20

NOT_THE_MEMORY = {"created_at"}
"""When a version was made differs from run to run; what it says must not."""


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


def tree(settings: Settings, home: Path) -> dict[str, Any]:
    """All that is kept: the events, every node with all it says, and what is found."""
    house = House(in_home(home), settings)
    try:
        with database.connected():
            rows = EventRow.select().order_by(EventRow.id).dicts()
            events = [(row["id"], row["text"], row["tokens"]) for row in rows]
        nodes: dict[str, Any] = {}
        waiting = [line.node_id for line in browse.years()]
        while waiting:
            name = waiting.pop()
            said = plain(browse.node(name))
            nodes[name] = {k: v for k, v in said.items() if k not in NOT_THE_MEMORY}
            waiting += [line.node_id for line in browse.children(name)]
        hits = {
            # Without their scores: these shift with documents an index has replaced.
            query: sorted(
                hit.target_id for hit in house.teleport.find(query, limit=5000).hits
            )
            for query in ("timeout", "migration fails", "parquet")
        }
        kept = plain(health.stats())
        return {"events": events, "nodes": nodes, "hits": hits, "stats": kept}
    finally:
        house.stop()


def home_at(place: Path) -> Path:
    place.mkdir()
    (place / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    return place


@pytest.mark.slow
def test_twenty_kills_leave_no_trace(tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "history"
    demo.write(folder, today=date(2025, 6, 2), zone=UTC)
    undisturbed = home_at(tmp_path / "undisturbed")
    begun_s = time.monotonic()
    finished(undisturbed, folder)
    took_s = time.monotonic() - begun_s
    wanted = json.dumps(tree(settings, undisturbed), sort_keys=True)
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
        assert json.dumps(tree(settings, home), sort_keys=True) == wanted
