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
from memtui.workspace import Workspace
from tests.cli_runner import json_data
from tests.conftest import HISTORY
from tests.faults.conftest import ForkServer
from tests.faults.conftest import fork_server as fork_server
from tests.tables import SessionRow

KILLS = 12

KILLED = """
import os, runpy, signal, sys
from memtui.services import forget
from memtui.store import deletion
kill = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
setattr({place}, kill)
sys.argv = ["memtui", *sys.argv[1:]]
runpy.run_module("memtui", run_name="__main__")
"""
"""memtui, killed in a function."""

BEFORE_COMMIT = 'forget, "delete_from_spool"'
BEFORE_CLEANUP = 'forget, "remove_traces"'


def run(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "memtui", "--home", str(home), *words)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def find_secrets(home: Path) -> dict[str, Any]:
    """Return what doctor finds about secrets."""
    output = json_data(run(home, "doctor", "--json").stdout)
    (finding,) = [f for f in output["findings"] if f["name"] == "secrets"]
    return dict(finding)


def count_events(home: Path) -> int:
    return int(json_data(run(home, "stats", "--json").stdout)["events"])


def kill_forget(home: Path, place: str) -> None:
    """Kill memtui in a function while it forgets shop-1."""
    run(home, "import", str(HISTORY))
    code = KILLED.replace("{place}", place)
    words = ("--home", str(home), "forget", "session", "shop-1", "--yes")
    process = subprocess.run([sys.executable, "-c", code, *words], check=False)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.full
def test_a_deletion_killed_before_its_end_changes_nothing(tmp_path: Path) -> None:
    kill_forget(tmp_path / "home", BEFORE_COMMIT)
    assert count_events(tmp_path / "home") == 44
    assert find_secrets(tmp_path / "home")["is_ok"]
    assert run(tmp_path / "home", "forget", "--list").stdout.startswith("Nothing")


@pytest.mark.parametrize(
    "words",
    [("redact",), ("forget", "session", "shop-2", "--yes")],
    ids=("redact", "forget"),
)
@pytest.mark.full
def test_traces_of_a_killed_deletion_are_removed_by_the_next_process(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    kill_forget(home, BEFORE_CLEANUP)
    assert "there is no session" in run(home, "session", "shop-1").stderr
    finding = find_secrets(home)
    assert (finding["is_ok"], finding["remedy"]) == (False, "memtui redact")
    assert "interrupted" in finding["message"]
    run(home, "redact", "--dry-run")
    assert not find_secrets(home)["is_ok"]
    process = run(home, *words)
    assert process.returncode == 0, process.stderr
    assert find_secrets(home)["is_ok"]
    assert b"customers lose their basket" not in (home / "memory.db").read_bytes()


@pytest.mark.torture
def test_killed_at_any_moment_it_ends_the_same(
    tmp_path: Path,
    settings: Settings,
    fork_server: ForkServer,
    tree: Callable[[Workspace], dict[str, Any]],
    chance: random.Random,
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
    expected = kept(undisturbed)
    assert '"spool": []' in expected

    for place in range(KILLS):
        home = tmp_path / f"disturbed-{place}"
        shutil.copytree(start, home)
        after_s = chance.uniform(0.1, 0.95) * took_s
        assert fork_server.run(home, *words, after_s=after_s)["code"] in (0, -9)
        assert fork_server.run(home, *words)["code"] == 0
        assert kept(home) == expected
        shutil.rmtree(home)
