"""Measure the time to memtui's first paint, compared with an empty Textual app.

Both are real processes on a terminal of their own; the first paint is the first visible
character. For memtui, the time until the tree of the store can be read is measured,
too. Run it from the checkout:

    python -m benchmarks.start [--store FOLDER]

Without a folder it opens the store of the last measured import, or else the demo's.
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
from collections.abc import Callable, Sequence
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


def visible(output: bytes) -> bytes:
    """What is to be seen of what a process wrote to its terminal."""
    return _UNFINISHED.sub(b"", _CONTROL.sub(b"", output))


def has_text(output: bytes) -> bool:
    """Whether something to see is among what a process wrote to its terminal."""
    return _VISIBLE.search(visible(output)) is not None


def has_contents(output: bytes) -> bool:
    """Whether the contents are shown, with the count of what is kept."""
    return b" sessions " in visible(output)


def cpu_s(process: int) -> float | None:
    """Return the CPU time of a running process; None without /proc."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    # The fields after the name, which is in parentheses: the third is the first.
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_s(argv: Sequence[str], is_there: Callable[[bytes], bool]) -> float:
    """Start a process on a new terminal; the seconds until it shows something.

    They are of CPU time, or of the clock where that is not known.

    Args:
        argv: The process.
        is_there: Tells from all that was written whether it is shown.

    Raises:
        SystemExit: It ended, or waited too long, without showing it.
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
        clock_s = _wait(terminal, begun, argv, is_there)
        used_s = cpu_s(process)
        return clock_s if used_s is None else used_s
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def _wait(
    terminal: int, begun: float, argv: Sequence[str], is_there: Callable[[bytes], bool]
) -> float:
    output = b""
    while (taken_s := time.perf_counter() - begun) < PATIENCE_S:
        if not select.select([terminal], [], [], PATIENCE_S - taken_s)[0]:
            break
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:
            break
        if is_there(output):
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
    contents: list[float] = []
    memtui = [*MEMTUI, "--home", str(store)]
    # Once unmeasured each: byte code and the page cache.
    wait_s(EMPTY, has_text)
    wait_s(memtui, has_contents)
    for _ in range(RUNS):
        empty.append(wait_s(EMPTY, has_text))
        whole.append(wait_s(memtui, has_text))
        contents.append(wait_s(memtui, has_contents))
    rows = (("empty app", empty), ("memtui", whole), ("contents", contents))
    unit = "the clock" if cpu_s(os.getpid()) is None else "CPU"
    for name, taken in rows:
        ratio = median(taken) / median(empty)
        print(
            f"{name:<10} {median(taken) * 1000:6.0f} ms of {unit}"
            f"  (best {min(taken) * 1000:.0f})  ratio {ratio:.2f}"
        )


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
