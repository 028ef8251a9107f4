"""How fast an import is, and how far from the floor.

Runs ``memtui --home … import …``, which stores and digests, on generated transcripts,
and the floor on the same files, before it and after. Run it from the checkout:

    python -m benchmarks.import_ --messages 100000
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import generate
from benchmarks.processes import CACHE, MEMTUI, STORE, machine, run, size_of

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
            [sys.executable, "-m", "benchmarks.floor", str(folder), database]
        ).wall_s


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
    if not given.floor_only:
        shutil.rmtree(STORE, ignore_errors=True)
        STORE.mkdir(parents=True)
        whole = run([*MEMTUI, "--home", str(STORE), "import", str(folder)])
        floors += [floor_s(folder) for _ in range(FLOORS - before)]
    floor = median(floors)
    spread = f"{min(floors):.2f} to {max(floors):.2f}"
    print(
        f"floor   {floor:8.2f} s  {given.messages / floor:8,.0f} messages/s  ({spread})"
    )
    if not given.floor_only:
        rate = given.messages / whole.wall_s
        print(f"import  {whole.wall_s:8.2f} s  {rate:8,.0f} messages/s")
        print(f"ratio   {whole.wall_s / floor:8.2f}")
        print(f"memory  {whole.peak_bytes / MB:8,.0f} MB at its peak")
        print(f"store   {size_of(STORE) / MB:8,.0f} MB")


if __name__ == "__main__":
    main()
