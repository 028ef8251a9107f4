"""A restoring killed with -9 at any moment leaves one of the two stores, whole."""

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from memtui.house import House
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import copies

KILLS = 20
ROWS = 4000


def restoring(home: Path, file: Path) -> "subprocess.Popen[bytes]":
    words = ("--home", str(home), "restore", str(file), "--yes")
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def titles(store: Path) -> set[str]:
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {title for (title,) in db.execute("SELECT title FROM sessions")}


def fill(store: Path, title: str) -> None:
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE sessions SET title = ?", (title,))
        for place in range(ROWS):
            said = (f"{title} {place}", title * 300)
            db.execute("INSERT INTO redactions VALUES (?, 1, 1)", (" ".join(said),))


def test_what_was_prepared_goes_when_work_begins(full_house: House) -> None:
    place = full_house.paths.store
    left = [place.with_name(f"memory.db.restoring{end}") for end in ("", "-wal")]
    for file in left:
        file.write_text("half a copy")
    assert full_house.works.until_idle(lambda _: None) == []
    assert all(file.exists() for file in left), "another memtui may be restoring"
    assert full_house.works.claim.take()
    assert full_house.works.until_idle(lambda _: None) == []
    assert not any(file.exists() for file in left)


@pytest.mark.slow
@pytest.mark.parametrize("is_damaged", (False, True))
def test_killed_at_any_moment_one_of_the_two_is_there(
    full_house: House, settings: Settings, tmp_path: Path, *, is_damaged: bool
) -> None:
    full_house.stop()
    start, file = tmp_path / "home", tmp_path / "memory.bak"
    fill(start / "memory.db", "Copied")
    house = House(in_home(start), settings)
    copies.make(file)
    house.stop()
    with closing(sqlite3.connect(start / "memory.db")) as db, db:
        db.execute("DELETE FROM redactions")
    fill(start / "memory.db", "Later")
    if is_damaged:
        (start / "memory.db").write_bytes(b"no database" * 1000)

    chance = random.Random(3)
    took_s, before = 0.0, 0
    for place in range(KILLS):
        home = tmp_path / f"home-{place}"
        shutil.copytree(start, home)
        begun_s = time.monotonic()
        process = restoring(home, file)
        try:
            process.wait(chance.uniform(0.3, 1.0) * took_s if place else None)
        except subprocess.TimeoutExpired:
            process.kill()
        _, said = process.communicate()
        took_s = took_s or time.monotonic() - begun_s
        assert not said
        if not is_damaged or (home / "memory.db").read_bytes()[:2] != b"no":
            found = titles(home / "memory.db")
            assert found in ({"Copied"}, {"Later"})
            before += found == {"Later"}
        process = restoring(home, file)
        _, said = process.communicate()
        assert (process.returncode, said) == (0, b"")
        assert titles(home / "memory.db") == {"Copied"}
        assert not list(home.glob("*restoring*"))
        shutil.rmtree(home)
    assert is_damaged or before
