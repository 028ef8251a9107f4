"""Measure the cost of reading transcripts as they are written.

It measures reading the growth of a transcript of any size, compared with opening it and
parsing the new bytes; checking transcripts that have not changed, compared with reading
their sizes; and the time from an append to the stored event, with notifications and by
polling. Files over 200 MB are sparse: the first lines are followed by a hole. Run it
from the checkout:

    python -m benchmarks.tail [--sizes 10 200 2000] [--files 1000 10000] [--runs N]
"""

import argparse
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.import_minimum import INSERT, TABLE, text_of
from benchmarks.processes import machine
from memtui.capture import tail as capture_tail
from memtui.capture.ingest import TranscriptReader
from memtui.capture.policy import CapturePolicy
from memtui.capture.tail import Tail
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace

MB = 1_000_000

SIZES_MB = (10, 200, 2000)
"""How long the growing transcripts are."""

DENSE_MB = 200
"""A longer transcript is sparse."""

BEFORE_HOLE_MB = 10
"""How much of a sparse transcript is lines."""

FILES = (1000, 10_000)
"""How many transcripts are looked at."""

RUNS = 30
"""How often each is done; the medians count."""

GROWTH = 10
"""How many records a transcript grows by."""

BEGIN = datetime(2025, 1, 6, 8, tzinfo=UTC)


def record(number: int, session: str) -> bytes:
    """One record of a transcript, about as long as they are."""
    fields = {
        "type": "user",
        "uuid": f"{session}-{number:08}",
        "sessionId": session,
        "timestamp": (BEGIN + timedelta(seconds=number)).isoformat(),
        "cwd": f"/home/robin/{session}",
        "message": {"role": "user", "content": f"said {number} " + "a word " * 90},
    }
    return json.dumps(fields).encode() + b"\n"


def transcript(path: Path, size: int) -> int:
    """Write a transcript of a size in bytes; how many records it holds."""
    number, dense = 0, size if size <= DENSE_MB * MB else BEFORE_HOLE_MB * MB
    with path.open("wb") as out:
        while out.tell() < dense:
            out.write(record(number, path.stem))
            number += 1
        if out.tell() < size:
            out.seek(size)
            out.write(b"\n")
    return number


@contextmanager
def opened(home: Path, *folders: Path) -> Iterator[Workspace]:
    """A workspace that watches folders."""
    settings = Settings(capture_folders=tuple(map(str, folders)))
    workspace = Workspace(in_home(home), settings)
    try:
        with database.connection():
            yield workspace
    finally:
        workspace.stop()


def reader() -> TranscriptReader:
    """What reads files into the store."""
    return TranscriptReader(
        agent="",
        counter=ESTIMATING_COUNTER,
        clock=lambda: datetime.now(UTC),
        policy=CapturePolicy(),
    )


def take(file: Path) -> None:
    """Take what a transcript grew by."""
    for _ in reader().read_file(file):
        pass


def parse(file: Path, offset: int) -> list[tuple[str, ...]]:
    """The floor: open a file, read what is new, and parse it."""
    with file.open("rb") as grown:
        grown.seek(offset)
        records = [json.loads(line) for line in grown]
    return [
        (r["uuid"], r["sessionId"], r["timestamp"], r["type"], text_of(r["message"]))
        for r in records
    ]


def kept(file: Path, offset: int, floor: sqlite3.Connection) -> None:
    """The floor, and a row for each record in a table without an index."""
    rows = parse(file, offset)
    floor.execute("BEGIN IMMEDIATE")
    floor.executemany(INSERT, rows)
    floor.execute("COMMIT")


class Growing:
    """A transcript that grows, beside a plain database that keeps the same records."""

    def __init__(self, folder: Path, size: int) -> None:
        """Write it, and read it for the first time."""
        self.file = folder / f"grown-{size}.jsonl"
        self._number = transcript(self.file, size)
        self.taken: dict[str, list[float]] = {
            "first": [took_ms(partial(take, self.file))],
            **{name: [] for name in ("parsed", "kept", "taken")},
        }
        self._floor = sqlite3.connect(folder / f"{size}.db", isolation_level=None)
        self._floor.execute("PRAGMA journal_mode = WAL")
        self._floor.execute("PRAGMA synchronous = NORMAL")
        self._floor.execute(TABLE)

    def grow(self) -> None:
        """Let it grow once, and measure what that costs."""
        file, offset, taken = self.file, self.file.stat().st_size, self.taken
        with file.open("ab") as grown:
            for _ in range(GROWTH):
                grown.write(record(self._number, file.stem))
                self._number += 1
        taken["parsed"].append(took_ms(partial(parse, file, offset)))
        taken["kept"].append(took_ms(partial(kept, file, offset, self._floor)))
        taken["taken"].append(took_ms(partial(take, file)))

    def end(self) -> None:
        """Make sure that all was stored, and take the transcript away.

        Raises:
            SystemExit: It was not; the figures would mean nothing.
        """
        sql = "SELECT event_count FROM sessions WHERE name = ?"
        if database.fetch_value(sql, self.file.stem) != self._number:
            raise SystemExit(f"of {self.file} not all was stored")
        self._floor.close()
        self.file.unlink()


def growing(folder: Path, sizes: list[int], runs: int) -> list[dict[str, list[float]]]:
    """The milliseconds to take what transcripts grew by, for each size in bytes.

    They grow in turns: what else the machine does then hinders all of them alike.
    """
    files = [Growing(folder, size) for size in sizes]
    for _ in range(runs + 1):
        for file in files:
            file.grow()
    for file in files:
        file.end()
    # The first turn is not counted: it warms what all of them share.
    return [
        {name: each[1:] or each for name, each in file.taken.items()} for file in files
    ]


def took_ms(done: Callable[[], object]) -> float:
    """How long something takes, in milliseconds."""
    begun = time.perf_counter()
    done()
    return (time.perf_counter() - begun) * 1000


def idle(folder: Path, files: int, runs: int) -> dict[str, list[float]]:
    """The milliseconds it takes to see that transcripts did not change."""
    for number in range(files):
        place = folder / f"-home-robin-{number % 50}"
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"s{number:06}.jsonl"
        file.write_bytes(record(number, file.stem))
        take(file)
    tail = Tail(reader(), lambda: {"": (folder,)}, lambda: datetime.now(UTC))
    taken: dict[str, list[float]] = {"walked": [], "looked": []}
    for _ in range(runs + 1):
        taken["walked"].append(took_ms(lambda: walk(folder)))
        taken["looked"].append(took_ms(lambda: none_of(tail.find_changed_files())))
    return {name: each[1:] for name, each in taken.items()}


def none_of(paths: Iterator[Path]) -> None:
    """Look at everything.

    Raises:
        SystemExit: Something has changed.
    """
    if changed := list(paths):
        raise SystemExit(f"{changed[0]} has not changed")


def walk(folder: Path) -> int:
    """The floor: ask for the size and the time of every file."""
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                total += walk(Path(entry.path))
            else:
                status = entry.stat()
                total += status.st_size + status.st_mtime_ns > 0
    return total


def waited(scratch: Path, runs: int, *, is_told: bool) -> list[float]:
    """The milliseconds from an append to the stored event, run by run."""
    folder = scratch / "watched"
    folder.mkdir(parents=True)
    file, number = folder / "s1.jsonl", 0
    told_by = capture_tail.MOUNTS
    if not is_told:
        capture_tail.MOUNTS = scratch / "mounts"
        capture_tail.MOUNTS.write_text("elsewhere:/ / nfs4 rw 0 0\n")
    taken = []
    try:
        with opened(scratch / "home", folder) as workspace:
            workspace.pipeline.start(lambda _: None)
            for number in range(runs + 2):
                with file.open("ab") as grown:
                    grown.write(record(number, "s1"))
                taken.append(took_ms(partial(until_stored, number + 1)))
                # Not in step with the looks.
                time.sleep(0.2 + 0.13 * (number % 7))
    finally:
        capture_tail.MOUNTS = told_by
    return taken[2:]


def until_stored(events: int) -> None:
    """Wait for events to be in the store.

    Raises:
        SystemExit: They do not come.
    """
    until = time.monotonic() + 30
    while database.fetch_value("SELECT count(*) FROM events") < events:
        if time.monotonic() > until:
            raise SystemExit("what was appended was not stored")
        time.sleep(0.001)


def line(name: str, each: list[float], floor: float) -> str:
    """A figure beside its floor."""
    ms = median(each)
    return (
        f"  {name:<38} {ms:9.2f} ms  {ms / floor:7.1f} x"
        f"  ({min(each):.2f} to {max(each):.2f} ms)"
    )


def show_growing(scratch: Path, sizes: list[int], runs: int) -> None:
    """Measure and print what growth costs, for each size in bytes."""
    free = shutil.disk_usage(scratch).free
    fitting = [size for size in sizes if free > 4 * min(size, DENSE_MB * MB)]
    for size in sorted({*sizes} - {*fitting}):
        print(f"{size / MB:,.0f} MB: skipped, {free / MB:,.0f} MB are free")
    with opened(scratch / "home"):
        measured = growing(scratch, fitting, runs)
    for size, taken in zip(fitting, measured, strict=True):
        floor = median(taken["parsed"])
        print(
            f"{size / MB:,.0f} MB, read first in {taken['first'][0] / 1000:.1f} s;"
            f" then {GROWTH} records at a time"
        )
        print(line("opened and parsed (the floor)", taken["parsed"], floor))
        print(line("the same, and inserted", taken["kept"], floor))
        print(line("taken into the store", taken["taken"], floor))
    if len(measured) > 1:
        shortest, *_, longest = (median(taken["taken"]) for taken in measured)
        print(f"longest beside shortest: {longest / shortest:.2f} x")


def show_idle(scratch: Path, numbers: list[int], runs: int) -> None:
    """Measure and print what a look costs, for each number of files."""
    for number in numbers:
        with opened(scratch / f"home-of-{number}"):
            taken = idle(scratch / f"unchanged-{number}", number, runs)
        floor = median(taken["walked"])
        print(f"{number:,} transcripts that have not changed")
        print(line("scandir and stat (the floor)", taken["walked"], floor))
        print(line("looked at", taken["looked"], floor))


def show_waited(scratch: Path, runs: int) -> None:
    """Measure and print how long it takes until what is appended is stored."""
    print("from an append to the stored event")
    for name, is_told in (("told by the system", True), ("by looking", False)):
        taken = waited(scratch / name.replace(" ", "-"), runs, is_told=is_told)
        print(
            f"  {name:<38} {median(taken):9.0f} ms"
            f"  ({min(taken):.0f} to {max(taken):.0f} ms)"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES_MB)
    parser.add_argument("--files", type=int, nargs="*", default=FILES)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        disk = shutil.disk_usage(folder)
        print(f"{folder}: {disk.free / MB:,.0f} MB free of {disk.total / MB:,.0f}")
        scratch = Path(folder)
        show_growing(scratch, [size * MB for size in given.sizes], given.runs)
        show_idle(scratch, list(given.files), given.runs)
        show_waited(scratch, given.runs)


if __name__ == "__main__":
    main()
