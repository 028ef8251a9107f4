"""Restoring can be killed at any moment: one of the two stores is complete."""

import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import backup
from memtui.workspace import Workspace
from tests.faults.conftest import ForkServer
from tests.faults.conftest import fork_server as fork_server

KILLS = 20
ROWS = 4000


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


def test_the_draft_of_a_restore_is_deleted_when_work_begins(
    full_workspace: Workspace,
) -> None:
    place = full_workspace.paths.store
    left = [place.with_name(f"memory.db.restoring{end}") for end in ("", "-wal")]
    for file in left:
        file.write_text("half a copy")
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert all(file.exists() for file in left), "another memtui may be restoring"
    assert full_workspace.pipeline.lock.acquire()
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert not any(file.exists() for file in left)


@pytest.mark.torture
@pytest.mark.parametrize("is_damaged", (False, True))
def test_a_killed_restore_leaves_the_old_store_or_the_new_one(
    full_workspace: Workspace,
    settings: Settings,
    fork_server: ForkServer,
    tmp_path: Path,
    chance: random.Random,
    *,
    is_damaged: bool,
) -> None:
    full_workspace.stop()
    start, file = tmp_path / "home", tmp_path / "memory.bak"
    fill(start / "memory.db", "Copied")
    workspace = Workspace(in_home(start), settings)
    backup.create(file)
    workspace.stop()
    with closing(sqlite3.connect(start / "memory.db")) as db, db:
        db.execute("DELETE FROM redactions")
    fill(start / "memory.db", "Later")
    if is_damaged:
        (start / "memory.db").write_bytes(b"no database" * 1000)

    took_s, before = 0.0, 0
    for place in range(KILLS):
        home = tmp_path / f"home-{place}"
        shutil.copytree(start, home)
        begun_s = time.monotonic()
        order = {"after_s": chance.uniform(0.1, 1.0) * took_s} if place else {}
        words = ("restore", str(file), "--yes")
        assert fork_server.run(home, *words, **order)["code"] in (0, -9)
        took_s = took_s or time.monotonic() - begun_s
        if not is_damaged or (home / "memory.db").read_bytes()[:2] != b"no":
            stored_titles = titles(home / "memory.db")
            assert stored_titles in ({"Copied"}, {"Later"})
            before += stored_titles == {"Later"}
        assert fork_server.run(home, *words)["code"] == 0
        assert titles(home / "memory.db") == {"Copied"}
        assert not list(home.glob("*restoring*"))
        shutil.rmtree(home)
    assert is_damaged or before
