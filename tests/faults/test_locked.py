"""Another process locks the store: memtui waits, says so, and continues."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memtui.model.sessions import AgentHistory
from memtui.paths import in_home
from memtui.pipeline.progress import PipelineProgress
from memtui.services import status
from memtui.settings import Settings
from memtui.tui.widgets import status_line
from memtui.workspace import Workspace
from tests.faults.conftest import ForkServer
from tests.test_end_to_end import ReportWaiter

HomeOf = Callable[[str], Path]
Kept = Callable[[Path], str]

HOLDS = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(store: Path) -> Iterator[Callable[[], None]]:
    """Another process writes to a store and does not end."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        try:
            yield holder.stdin.close
        finally:
            holder.stdin.close()


@pytest.fixture
def expected(fork_server: ForkServer, folder: Path, home_of: HomeOf, kept: Kept) -> str:
    """What is kept where nobody locks anything."""
    home = home_of("undisturbed")
    assert fork_server.run(home, "import", str(folder))["code"] == 0
    return kept(home)


HELD_S = 6
"""Longer than SQLite itself waits."""


@pytest.mark.full
def test_an_import_waits_for_a_locked_store(
    home_of: HomeOf,
    folder: Path,
    expected: str,
    kept: Kept,
    settings: Settings,
) -> None:
    home = home_of("locked")
    Workspace(in_home(home), settings).stop()
    words = ("--home", str(home), "--set", "store.time_zone=UTC", "import", str(folder))
    with (
        locked(home / "memory.db") as let_go,
        subprocess.Popen(
            [sys.executable, "-m", "memtui", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as importing,
    ):
        with pytest.raises(subprocess.TimeoutExpired):
            importing.wait(HELD_S)
        let_go()
        _, said = importing.communicate(timeout=60)
    assert (importing.returncode, said) == (0, b"")
    assert kept(home) == expected


@pytest.mark.parametrize(
    "held_s", [HELD_S, pytest.param(30, marks=pytest.mark.torture)]
)
@pytest.mark.full
def test_workers_report_a_locked_store_and_continue(
    home_of: HomeOf,
    folder: Path,
    expected: str,
    kept: Kept,
    settings: Settings,
    held_s: float,
) -> None:
    home = home_of("locked")
    workspace = Workspace(in_home(home), settings)
    watched = ReportWaiter()
    said: list[str] = []

    def tell(progress: PipelineProgress) -> None:
        said.append(status_line.describe_work(progress).plain)
        watched(progress)

    with locked(workspace.paths.store):
        begun_s = time.monotonic()
        workspace.start(tell)
        history = AgentHistory("claude-code", folder, 1)
        workspace.start_import([history], tell, is_watched=False)
        watched.wait_until(
            lambda: any("is in use by another process" in s for s in said)
        )
        watched.wait_until(lambda: time.monotonic() - begun_s > held_s)
        assert status.read_stats().events == 0
    watched.wait_until(
        lambda: status.read_stats().messages > 40 and status.read_stats().pending == 0
    )
    watched.wait_until(lambda: "in use" not in said[-1])
    workspace.stop()
    assert kept(home) == expected
