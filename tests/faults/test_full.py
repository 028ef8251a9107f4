"""The disk fills up at any stage; once there is room, nothing is missing."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from memtui.errors import SearchError
from memtui.search.node_index import NodeIndex
from tests.conftest import HISTORY
from tests.faults.conftest import ForkServer
from tests.search.killable_writers import document

HomeOf = Callable[[str], Path]
Kept = Callable[[Path], str]
Disk = Callable[[Path, int], None]

STEP_KB, ROOM_KB = 20, 65_536


@pytest.fixture
def disk_of() -> Iterator[Disk]:
    """Gives a folder a disk of its own, of a size in KB, or its disk another size."""
    mounted: dict[Path, int] = {}

    def give(folder: Path, size_kb: int) -> None:
        again = "remount," if folder in mounted else ""
        options = f"{again}size={size_kb}k"
        folder.mkdir(parents=True, exist_ok=True)
        process = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        )
        if process.returncode:
            pytest.skip(f"no disk can be mounted: {process.stderr.decode().strip()}")
        mounted[folder] = size_kb

    with ExitStack() as after:
        after.callback(
            lambda: [subprocess.run(["umount", str(f)], check=True) for f in mounted]
        )
        yield give


@pytest.mark.parametrize("words", [("stats",), ("redact",)], ids=("stats", "redact"))
def test_a_full_disk_is_reported(
    disk_of: Disk, tmp_path: Path, words: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    disk_of(home, 4096)
    memtui = (sys.executable, "-m", "memtui", "--home", str(home))
    subprocess.run([*memtui, "import", str(HISTORY)], check=True)
    with suppress(OSError), (home / "full").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"0" * 4096)
    process = subprocess.run([*memtui, *words], capture_output=True, check=False)
    assert process.returncode == 1
    assert b"the disk is full: free some room" in process.stderr


def test_indexing_on_a_full_disk_leaves_no_files(disk_of: Disk, tmp_path: Path) -> None:
    disk, folder = tmp_path / "disk", tmp_path / "disk" / "index"
    disk_of(disk, 600)
    index = NodeIndex(folder)
    index.create("fed")
    index.update([document(number) for number in range(30)], [])
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    more = [document(number) for number in range(30, 60)]
    for left in range(0, 24_576, 4096):
        with suppress(OSError), (disk / "full").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"0" * 4096)
        size = (disk / "full").stat().st_size
        os.truncate(disk / "full", size - left)
        with pytest.raises(SearchError):
            index.update(more, [])
        now = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert now == before, f"{left} bytes were left"
    (disk / "full").unlink()
    index.update(more, [])
    assert index.count() == 60
    index.close()
    gc.collect()  # closes what a failed commit was reading


@pytest.mark.torture
def test_a_full_disk_at_any_stage_loses_nothing(
    fork_server: ForkServer,
    folder: Path,
    home_of: HomeOf,
    kept: Kept,
    disk_of: Disk,
    tmp_path: Path,
) -> None:
    undisturbed = home_of("undisturbed")
    assert fork_server.run(undisturbed, "import", str(folder))["code"] == 0
    expected = kept(undisturbed)
    size_kb, failures, code = 160, 0, 1
    while code:
        disk_of(tmp_path / f"full-{size_kb}", size_kb)
        home = home_of(f"full-{size_kb}")
        code = fork_server.run(home, "import", str(folder))["code"]
        failures += code == 1
        disk_of(home, ROOM_KB)
        assert fork_server.run(home, "import", str(folder))["code"] == 0
        assert kept(home) == expected, f"on a disk of {size_kb} KB"
        size_kb += STEP_KB
    assert failures > 15
