"""Measure the speed of an import, compared with the least possible time.

It runs ``memtui --home … import …`` on generated transcripts, then both halves of the
import separately, and ``benchmarks.import_minimum`` on the same files before and after.
Run it from the checkout:

    python -m benchmarks.import_ --messages 100000
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import generate
from benchmarks.processes import CACHE, MEMTUI, STORE, Run, machine, run, size_of

FLOORS = 5
"""How often the floor is measured; the median counts."""

MB = 1_000_000


def transcripts(messages: int) -> Path:
    """The generated files, made once for each number of messages."""
    folder = CACHE / f"transcripts-{generate.VERSION}-{messages}"
    if not folder.exists():
        draft = folder.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        generate.write(draft, messages)
        draft.rename(folder)
    return folder


def floor_s(folder: Path) -> float:
    """How long the floor took this time, in seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        database = str(Path(scratch) / "floor.db")
        return run(
            [sys.executable, "-m", "benchmarks.import_minimum", str(folder), database]
        ).wall_s


def halves_s(folder: Path) -> tuple[float, float]:
    """How long storing and digesting took, each by itself, in seconds."""
    with tempfile.TemporaryDirectory() as home:
        argv = [sys.executable, "-m", "benchmarks.import_stages", str(folder), home]
        store_s, digest_s = json.loads(run(argv).output)
    return store_s, digest_s


def whole(folder: Path) -> Run:
    """The command as a person runs it, into the store that ``start`` opens."""
    shutil.rmtree(STORE, ignore_errors=True)
    STORE.mkdir(parents=True)
    return run([*MEMTUI, "--home", str(STORE), "import", str(folder)])


def line(name: str, took_s: float, messages: int, import_minimum: float) -> str:
    """A figure beside the floor."""
    rate, ratio = messages / took_s, took_s / import_minimum
    return (
        f"{name:<7} {took_s:8.2f} s  {rate:8,.0f} messages/s  {ratio:6.2f} x the floor"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--floor-only", action="store_true")
    given = parser.parse_args()

    folder = transcripts(given.messages)
    print(machine())
    print(f"{given.messages:,} messages, {size_of(folder) / MB:,.0f} MB of transcripts")
    # Once unmeasured: the files come into the page cache for all runs alike.
    floor_s(folder)
    before = FLOORS if given.floor_only else FLOORS // 2 + 1
    floors = [floor_s(folder) for _ in range(before)]
    taken: dict[str, float] = {}
    if not given.floor_only:
        command = whole(folder)
        store_s, digest_s = halves_s(folder)
        taken = {"store": store_s, "digest": digest_s, "import": command.wall_s}
        floors += [floor_s(folder) for _ in range(FLOORS - before)]
    import_minimum = median(floors)
    print(line("floor", import_minimum, given.messages, import_minimum), end="  ")
    print(f"({min(floors):.2f} to {max(floors):.2f} s)")
    for name, took_s in taken.items():
        print(line(name, took_s, given.messages, import_minimum))
    if taken:
        print(f"memory  {command.peak_bytes / MB:8,.0f} MB at its peak")
        print(f"kept    {size_of(STORE) / MB:8,.0f} MB")


if __name__ == "__main__":
    main()
