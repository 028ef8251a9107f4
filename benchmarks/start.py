"""How long memtui takes to its first paint, beside an empty Textual app.

Both are real processes on a terminal of their own; the first paint is the first
visible character that reaches it. Run it from the checkout:

    python -m benchmarks.start [--store FOLDER]

Without a folder the store of the last measured import is opened, or else the demo's.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from datetime import UTC, date
from pathlib import Path
from statistics import median

from benchmarks.processes import (
    CHECKOUT,
    MEMTUI,
    STORE,
    environment,
    machine,
    run,
    size_of,
)
from memtui import demo

RUNS = 11
"""How often each is started, in turns; the medians count."""

ROWS, COLUMNS = 40, 120
"""The size of the terminal."""

PATIENCE_S = 30.0
"""After this many seconds without a visible character a start has failed."""

EMPTY = (sys.executable, "-m", "benchmarks.empty_app")

_CONTROL = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\)|[()*+][ -~]|[ -Z\\^-~])",
    re.DOTALL,
)
_UNFINISHED = re.compile(rb"\x1b.*\Z", re.DOTALL)
_VISIBLE = re.compile(rb"[!-~\x80-\xff]")


def has_text(output: bytes) -> bool:
    """Whether something to see is among what a process wrote to its terminal."""
    return _VISIBLE.search(_UNFINISHED.sub(b"", _CONTROL.sub(b"", output))) is not None


def first_paint_s(argv: Sequence[str]) -> float:
    """Start a process on a new terminal; the seconds until it shows something.

    Raises:
        SystemExit: It ended, or waited too long, without showing anything.
    """
    begun = time.perf_counter()
    process, terminal = pty.fork()
    if not process:
        os.chdir(CHECKOUT)
        env = environment() | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execve(argv[0], list(argv), env)
    size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    try:
        return _wait_for_text(terminal, begun, argv)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def _wait_for_text(terminal: int, begun: float, argv: Sequence[str]) -> float:
    output = b""
    while (taken_s := time.perf_counter() - begun) < PATIENCE_S:
        if not select.select([terminal], [], [], PATIENCE_S - taken_s)[0]:
            break
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:
            break
        if has_text(output):
            return time.perf_counter() - begun
    raise SystemExit(f"{' '.join(argv)} showed nothing")


def small_store(folder: Path) -> Path:
    """A store with the demo's three months."""
    demo.write(folder / "demo", today=date(2026, 1, 1), zone=UTC)
    home = folder / "home"
    run([*MEMTUI, "--home", str(home), "import", str(folder / "demo")])
    return home


def measure(store: Path) -> None:
    """Start both in turns and print what they took."""
    empty: list[float] = []
    whole: list[float] = []
    memtui = [*MEMTUI, "--home", str(store)]
    # Once unmeasured each: byte code and the page cache.
    first_paint_s(EMPTY)
    first_paint_s(memtui)
    for _ in range(RUNS):
        empty.append(first_paint_s(EMPTY))
        whole.append(first_paint_s(memtui))
    print(f"empty app  {median(empty) * 1000:6.0f} ms  (best {min(empty) * 1000:.0f})")
    print(f"memtui     {median(whole) * 1000:6.0f} ms  (best {min(whole) * 1000:.0f})")
    print(f"ratio      {median(whole) / median(empty):6.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as scratch:
        store = given.store or (STORE if STORE.exists() else small_store(Path(scratch)))
        print(
            f"{size_of(store) / 1_000_000:,.0f} MB of store, medians of {RUNS} starts"
        )
        measure(store)


if __name__ == "__main__":
    main()
