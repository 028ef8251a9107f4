"""Deleting can be killed at any moment and finished by running it again."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from memtui import demo
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.store.schema import SessionRow
from memtui.workspace import Workspace
from tests.cli_runner import json_data
from tests.conftest import HISTORY
from tests.faults.conftest import ForkServer
from tests.faults.conftest import fork_server as fork_server

KILLS = 12

BROKEN_OFF = """
import os, runpy, signal, sys
from memtui.store import deletion
deletion.enable_secure_delete = lambda: os.kill(os.getpid(), signal.SIGKILL)
sys.argv = ["memtui", *sys.argv[1:]]
runpy.run_module("memtui", run_name="__main__")
"""
"""memtui, killed where what is forgotten is noted and nothing is deleted yet."""


def run(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "memtui", "--home", str(home), *words)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def secrets_said(home: Path) -> dict[str, Any]:
    shown = json_data(run(home, "doctor", "--json").stdout)
    (found,) = [one for one in shown["findings"] if one["name"] == "secrets"]
    return dict(found)


def events(home: Path) -> int:
    return int(json_data(run(home, "stats", "--json").stdout)["events"])


@pytest.fixture
def broken_off(tmp_path: Path) -> Path:
    """A home in which forgetting shop-1 was killed before anything was deleted."""
    home = tmp_path / "home"
    run(home, "import", str(HISTORY))
    words = ("--home", str(home), "forget", "session", "shop-1", "--yes")
    shown = subprocess.run([sys.executable, "-c", BROKEN_OFF, *words], check=False)
    assert shown.returncode == -signal.SIGKILL
    assert events(home) == 44
    return home


@pytest.mark.parametrize(
    "words",
    [("redact",), ("forget", "session", "shop-2", "--yes")],
    ids=("redact", "forget"),
)
@pytest.mark.full
def test_a_noted_deletion_is_finished_by_the_next_process(
    broken_off: Path, words: tuple[str, ...]
) -> None:
    said = secrets_said(broken_off)
    assert (said["is_ok"], said["remedy"]) == (False, "memtui redact")
    assert "interrupted" in said["message"]
    run(broken_off, "redact", "--dry-run")
    assert not secrets_said(broken_off)["is_ok"]

    shown = run(broken_off, *words)
    assert shown.returncode == 0, shown.stderr
    if words == ("redact",):
        assert shown.stdout.startswith("An interrupted forget was completed first:")
    assert "there is no session" in run(broken_off, "session", "shop-1").stdout
    assert secrets_said(broken_off)["is_ok"]
    assert b"customers lose their basket" not in (broken_off / "memory.db").read_bytes()


@pytest.mark.full
def test_what_may_come_back_after_all_is_not_deleted(broken_off: Path) -> None:
    shown = run(broken_off, "forget", "session", "shop-1", "--undo")
    assert shown.returncode == 0, shown.stderr
    run(broken_off, "redact")
    assert events(broken_off) == 44
    assert secrets_said(broken_off)["is_ok"]


@pytest.mark.torture
def test_killed_at_any_moment_it_ends_the_same(
    tmp_path: Path,
    settings: Settings,
    fork_server: ForkServer,
    tree: Callable[[Workspace], dict[str, Any]],
) -> None:
    folder = tmp_path / "history"
    demo.write(folder, today=date(2025, 6, 2), zone=UTC)
    start = tmp_path / "start"
    start.mkdir()
    (start / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    workspace = Workspace(in_home(start), settings)
    for _ in workspace.pipeline.importer().run([folder]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        row = SessionRow.select().where(SessionRow.project != "").get()
    project, name = row.project, row.name
    workspace.stop()
    bad = start / "spool" / "bad" / "1.1.a.json"
    bad.write_text(json.dumps({"session_id": name, "hook_event_name": "Novel"}))

    def kept(home: Path) -> str:
        workspace = Workspace(in_home(home), settings)
        said = tree(workspace)
        workspace.stop()
        said["spool"] = sorted(f.name for f in (home / "spool").rglob("*.json"))
        return json.dumps(said, sort_keys=True, default=repr)

    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(start, undisturbed)
    begun_s = time.monotonic()
    words = ("forget", "project", project, "--yes")
    assert fork_server.run(undisturbed, *words)["code"] == 0
    took_s = time.monotonic() - begun_s
    wanted = kept(undisturbed)
    assert '"spool": []' in wanted

    chance = random.Random(12)
    for place in range(KILLS):
        home = tmp_path / f"disturbed-{place}"
        shutil.copytree(start, home)
        after_s = chance.uniform(0.1, 0.95) * took_s
        assert fork_server.run(home, *words, after_s=after_s)["code"] in (0, -9)
        assert fork_server.run(home, *words)["code"] == 0
        assert kept(home) == wanted
        shutil.rmtree(home)
