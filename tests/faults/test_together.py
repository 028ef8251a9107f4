"""Several memtuis on one store: one runs the pipeline, and nothing is lost."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from memtui.paths import in_home
from memtui.services import status
from memtui.settings import Settings
from memtui.workspace import Workspace
from tests.deduplication.deliveries import (
    session_records,
    without_versions,
    write_hook_files,
)
from tests.faults.conftest import HOOKED, ForkServer

HomeOf = Callable[[str], Path]
Kept = Callable[[Path], str]

WORKS = """
import json, sys
from pathlib import Path
from memtui.workspace import Workspace
from memtui.paths import in_home
from memtui.settings import Settings
settings = Settings(store_time_zone="UTC")
workspace = Workspace(in_home(Path(sys.argv[1])), settings)
report = lambda p: print(json.dumps([p.is_active, p.queued, p.error]), flush=True)
workspace.start(report)
sys.stdin.read()
workspace.stop()
"""
"""What the app does behind its screens."""

WAIT_S = 50.0
"""The longest wait for something that another process does."""


@contextmanager
def working(home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        [sys.executable, "-c", WORKS, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()


def heard(process: "subprocess.Popen[bytes]") -> tuple[bool, int, str]:
    """What a working process tells next: whether it works, what waits, an error."""
    assert process.stdout is not None
    # A process that says nothing is killed: then the line is empty.
    killing = Timer(WAIT_S, process.kill)
    killing.start()
    line = process.stdout.readline()
    killing.cancel()
    assert line, f"nothing was said for {WAIT_S} seconds"
    is_ours, queued, error = json.loads(line)
    return is_ours, queued, error


def wait_until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end_s, f"not so after {WAIT_S} seconds"


def memtui(home: Path, *words: str) -> list[str]:
    zone = ("--set", "store.time_zone=UTC")
    return [sys.executable, "-m", "memtui", "--home", str(home), *zone, *words]


@pytest.mark.full
def test_two_processes_store_both_imports_once(
    fork_server: ForkServer,
    folder: Path,
    home_of: HomeOf,
    kept: Kept,
    settings: Settings,
    tmp_path: Path,
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "s9.jsonl").write_text(session_records("s9", *range(2001, 2040)))
    undisturbed, home = home_of("undisturbed"), home_of("home")
    letters = HOOKED[-4].replace("parquet", "a ferry")
    for place in (undisturbed, home):
        write_hook_files(place / "spool" / "new", 2, letters)
    assert fork_server.run(undisturbed, "import", str(folder), str(more))["code"] == 0
    expected = without_versions(json.loads(kept(undisturbed)))
    late = home / "spool" / "new" / "0002.000000.json"
    aside = late.rename(tmp_path / late.name)

    with working(home) as first, working(home) as second:
        outputs = {first: heard(first)[0], second: heard(second)[0]}
        at_work, waiting = (first, second) if outputs[first] else (second, first)
        wait_until(lambda: heard(at_work)[0])
        assert not heard(waiting)[0]
        asked = subprocess.run(memtui(home, "work"), capture_output=True, check=False)
        assert asked.returncode == 1
        assert b"another memtui is running on this store" in asked.stderr
        imports = [
            subprocess.Popen(
                memtui(home, "import", str(folder)), stdout=subprocess.DEVNULL
            )
            for _ in range(2)
        ]
        assert [path.wait(60) for path in imports] == [0, 0]
        at_work.kill()
        subprocess.run(
            memtui(home, "import", str(more)), stdout=subprocess.DEVNULL, check=True
        )
        aside.rename(late)
        workspace = Workspace(in_home(home), settings)

        def is_complete() -> bool:
            assert heard(waiting)[2] == ""
            now = status.read_stats()
            return not now.pending and now.messages >= expected["stats"]["messages"]

        wait_until(is_complete)
        workspace.stop()
    assert without_versions(json.loads(kept(home))) == expected
