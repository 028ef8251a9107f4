"""A process interrupted or killed in every phase of a request to a model."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtui.cli.main import EXIT_INTERRUPTED
from memtui.model.jobs import Job, RunResult
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.workspace import Workspace
from tests.pipeline.model_bench import MONDAY, Bench, make_conversation, make_records
from tests.stub import faults
from tests.stub.server import PATIENCE_S, Stub, run_stub

pytestmark = pytest.mark.full

GENEROUS_S = 5.0
"""Far more than quitting takes (see the property ``quit_s``). On a busy machine it may
take as long as the process took to start, which is much more work."""

PATIENT = """
import sys
from memtui.cli.main import main
from memtui.pipeline.pipeline import Pipeline
Pipeline.stop.__kwdefaults__["wait_s"] = 60.0
sys.exit(main())
"""
"""memtui, which waits for its threads to note that they were stopped: on a busy machine
half a second may pass before they run at all."""

SETTINGS = Settings(store_time_zone="UTC")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three segments that need a version by a model."""
    folder = tmp_path_factory.mktemp("filled")
    workspace = Workspace(in_home(folder / "home"), SETTINGS)
    with run_stub() as stub:
        bench = Bench(workspace, stub, folder)
        bench.import_records(
            *(
                make_records(MONDAY + timedelta(hours=n), *make_conversation(n))
                for n in range(3)
            )
        )
    workspace.stop()
    return folder / "home"


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "home"))


class Work:
    """A process that runs the pipeline."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self._began = process, time.monotonic()

    def interrupt(self) -> float:
        """Interrupt it as ctrl+c does; return how many seconds it took to end."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(max(GENEROUS_S, began - self._began))
        took = time.monotonic() - began
        assert code == EXIT_INTERRUPTED
        return took


@contextmanager
def working(home: Path, url: str) -> Iterator[Work]:
    """Run the pipeline in a process, which is ended in any case."""
    settings = {"MEMTUI_SUMMARIES__PROVIDER": "auto", "MEMTUI_SUMMARIES__URL": url}
    process = subprocess.Popen(
        [sys.executable, "-c", PATIENT, "--home", str(home), "work"],
        env={**os.environ, **settings},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Work(process)
    finally:
        process.kill()
        process.communicate()


def is_untouched(home: Path) -> sqlite3.Connection:
    """Check that the store is intact and nothing of the model is in it."""
    db = sqlite3.connect(in_home(home).store)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    (models,) = db.execute(
        "SELECT count(*) FROM node_versions WHERE is_by_model"
    ).fetchone()
    (waiting,) = db.execute(
        "SELECT count(*) FROM nodes WHERE needs_model AND level = 'segment'"
    ).fetchone()
    (failed,) = db.execute("SELECT sum(model_attempts) FROM nodes").fetchone()
    assert (models, waiting, failed) == (0, 3, 0)
    return db


def looking(stub: Stub) -> Callable[[], object]:
    stub.script(faults.stalled(-1), path="/api/tags")
    return lambda: stub.wait_for(1, "/api/tags").is_stalled.wait(PATIENCE_S)


def reading(stub: Stub) -> Callable[[], object]:
    stub.script(faults.stalled(-1))
    return lambda: stub.wait_for(1).is_stalled.wait(PATIENCE_S)


def writing(stub: Stub) -> Callable[[], object]:
    stub.script(faults.stalled(7))
    return lambda: stub.wait_for(1).is_stalled.wait(PATIENCE_S)


def waiting(stub: Stub) -> Callable[[], object]:
    stub.always(faults.BUSY)
    return lambda: stub.wait_for(1).is_ended.wait(PATIENCE_S)


def resting(stub: Stub) -> Callable[[], object]:
    stub.script(faults.FORBIDDEN)
    return lambda: stub.wait_for(1).is_ended.wait(PATIENCE_S)


@pytest.mark.parametrize("phase", [looking, reading, writing, waiting, resting])
def test_quits_at_once_whatever_the_model_does(
    home: Path,
    phase: Callable[[Stub], Callable[[], object]],
    record_property: Callable[[str, object], None],
) -> None:
    with run_stub() as stub:
        is_there = phase(stub)
        with working(home, stub.url) as work:
            assert is_there()
            record_property("quit_s", work.interrupt())
    db = is_untouched(home)
    runs = db.execute("SELECT result FROM job_runs").fetchall()
    assert runs == ([] if phase is looking else [(RunResult.STOPPED.value,)])
    db.close()


CONNECTIONS = Path("/proc/net/tcp")
"""The list of the connections of this machine, if it has one."""

CALLING = "02"
"""The state of a connection that is not accepted yet."""


def is_calling(port: int) -> bool:
    """Return whether a connection to a port is not accepted yet."""
    rows = (line.split() for line in CONNECTIONS.read_text().splitlines()[1:])
    return any(row[2].endswith(f":{port:04X}") and row[3] == CALLING for row in rows)


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="this system lists no connections")
def test_quits_at_once_while_connecting(
    home: Path, record_property: Callable[[str, object], None]
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        place = deaf.getsockname()
        with (
            socket.create_connection(place),
            working(home, f"http://127.0.0.1:{place[1]}") as work,
        ):
            until(lambda: is_calling(place[1]))
            record_property("quit_s", work.interrupt())
    is_untouched(home).close()


def test_killed_run_is_interrupted_and_the_next_process_goes_on(
    home: Path, tmp_path: Path
) -> None:
    with run_stub() as stub:
        stub.script(faults.GOOD, faults.stalled(7))
        with working(home, stub.url) as work:
            assert stub.wait_for(2).is_stalled.wait(PATIENCE_S)
            work.process.kill()
            work.process.wait(PATIENCE_S)
        workspace = Workspace(in_home(home), SETTINGS)
        bench = Bench(workspace, stub, tmp_path)
        bench.clock.now = datetime.now(UTC)
        bench.check_invariants()
        (run,) = bench.runs(Job.SEGMENTS)
        assert (run.created, run.result, run.ended_at) == (1, None, None)
        assert bench.count_pending()["segment"] == 2
        bench.run_model()
        done, broken = bench.runs(Job.SEGMENTS)
        assert broken.result is RunResult.INTERRUPTED
        assert (done.result, done.created) == (RunResult.DONE, 2)
        assert all(bench.node(name).is_by_model for name in bench.segments())
        bench.check_invariants()
        workspace.stop()
