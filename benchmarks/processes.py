"""Run benchmarks in processes of their own, and describe the machine."""

import os
import platform
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
CACHE = CHECKOUT / ".cache" / "bench"
"""Where transcripts and the last store stay from one run to the next."""

STORE = CACHE / "store"
"""The home folder of the last measured import; ``start`` opens it."""

MEMTUI = (sys.executable, "-m", "memtui")

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    wall_s: float
    peak_bytes: int
    output: str


def run(argv: Sequence[str]) -> Run:
    """Run a command to its end.

    Raises:
        SystemExit: It failed; what it said is shown.
    """
    begun = time.perf_counter()
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=CHECKOUT,
        env=environment(),
    )
    assert process.stdout is not None
    output = process.stdout.read()
    process.stdout.close()
    # wait4, since RUSAGE_CHILDREN knows only the largest of all children so far.
    _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(argv)} ended with {process.returncode}:\n{output}")
    return Run(wall_s, used.ru_maxrss * _RSS_UNIT, output)


def environment() -> dict[str, str]:
    """This process's environment without memtui's own settings.

    Byte code is written, so that only the first process compiles.
    """
    variables = os.environ.items()
    left_out = "MEMTUI_", "PYTHONDONTWRITEBYTECODE"
    return {k: v for k, v in variables if not k.startswith(left_out)}


def machine() -> str:
    """One line on what the figures were measured with."""
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def size_of(folder: Path) -> int:
    """How many bytes the files in a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
