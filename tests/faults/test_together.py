"""Several memtuis on one store: one runs the pipeline, and nothing is lost."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
house = Workspace(in_home(Path(sys.argv[1])), settings)
house.start(lambda p: print(json.dumps([p.is_active, p.queued, p.error]), flush=True))
sys.stdin.read()
house.stop()
"""
"""What the app does behind its screens."""


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
    is_ours, queued, error = json.loads(process.stdout.readline())
    return is_ours, queued, error


def memtui(home: Path, *words: str) -> list[str]:
    zone = ("--set", "store.time_zone=UTC")
    return [sys.executable, "-m", "memtui", "--home", str(home), *zone, *words]


@pytest.mark.full
def test_one_works_another_waits_and_both_imports_are_kept_once(
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
    wanted = without_versions(json.loads(kept(undisturbed)))
    late = home / "spool" / "new" / "0002.000000.json"
    aside = late.rename(tmp_path / late.name)

    with working(home) as first, working(home) as second:
        told = {first: heard(first)[0], second: heard(second)[0]}
        at_work, waiting = (first, second) if told[first] else (second, first)
        while not heard(at_work)[0]:
            pass
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
        assert [one.wait(60) for one in imports] == [0, 0]
        at_work.kill()
        subprocess.run(
            memtui(home, "import", str(more)), stdout=subprocess.DEVNULL, check=True
        )
        aside.rename(late)
        house = Workspace(in_home(home), settings)
        while (now := status.read_stats()).pending or now.messages < wanted["stats"][
            "messages"
        ]:
            assert heard(waiting)[2] == ""
        house.stop()
    assert without_versions(json.loads(kept(home))) == wanted
