"""Measure the cost of a hook, compared with an interpreter that does nothing.

Each way to run the hook is a process that is given one event and waited for, in turns
with ``python -c pass``; medians are printed. The console script is run as an installer
writes it, with the same interpreter. Run it from the checkout:

    python -m benchmarks.hook [--runs N]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.processes import CHECKOUT, environment, machine

RUNS = 50
"""How often each is run, in turns."""

LIMIT = 1.15
"""How much longer than the empty interpreter the hook may take."""

FLOOR = "python -c pass"

EVENT = json.dumps(
    {
        "session_id": "5d4c0a61-6d0f-4f0c-9a52-0d8e6a3d2b11",
        "cwd": "/home/ada/shop",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "x" * 4000, "stderr": ""},
    }
).encode()
"""What each is handed: the size of a common tool's answer."""

Command = tuple[Sequence[str], Mapping[str, str]]
"""Words, and what is added to the environment."""


def commands(scratch: Path) -> dict[str, Command]:
    """Every way to run the hook that is measured, by what it is called."""
    python = sys.executable
    script = scratch / "memtui-hook"
    text = (CHECKOUT / "scripts" / "memtui-hook").read_text(encoding="utf-8")
    script.write_text(text.replace("#!python", f"#!{python}", 1), encoding="utf-8")
    script.chmod(0o700)
    hook = str(CHECKOUT / "memtui" / "hook.py")
    isolated = (python, "-I", "-S", hook)
    return {
        FLOOR: ((python, "-c", "pass"), {}),
        "as installed (-I -S hook.py)": (isolated, {}),
        "the same, with fsync": (isolated, {"MEMTUI_HOOK_FSYNC": "1"}),
        "memtui-hook": ((str(script),), {"PYTHONPATH": str(CHECKOUT)}),
        "python -m memtui.hook": ((python, "-m", "memtui.hook"), {}),
        "memtui-hook.sh": ((str(CHECKOUT / "scripts" / "memtui-hook.sh"),), {}),
    }


def took_ms(command: Command, spool: Path) -> float:
    """How long one event took.

    Raises:
        SystemExit: The command failed.
    """
    words, more = command
    env = {**environment(), **more, "MEMTUI_SPOOL": str(spool)}
    begun = time.perf_counter()
    ended = subprocess.run(
        words, input=EVENT, env=env, cwd=CHECKOUT, capture_output=True
    )
    wall_ms = (time.perf_counter() - begun) * 1000
    if ended.returncode or ended.stdout or ended.stderr:
        raise SystemExit(f"{' '.join(words)}: {ended}")
    return wall_ms


def measure(runs: int) -> dict[str, list[float]]:
    """The milliseconds each took, run by run."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        measured = commands(scratch)
        taken: dict[str, list[float]] = {name: [] for name in measured}
        # The first turn is not counted: files come into the page cache.
        for turn in range(runs + 1):
            for name, command in measured.items():
                wall_ms = took_ms(command, scratch / "spool")
                if turn:
                    taken[name].append(wall_ms)
    return taken


def main() -> int:
    """Measure and print; 1 if the installed command is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    print(machine())
    taken = measure(runs)
    floor = median(taken[FLOOR])
    print(f"{runs} runs of each, in turns; an event of {len(EVENT):,} bytes")
    ratios = {name: median(each) / floor for name, each in taken.items()}
    for name, each in taken.items():
        print(
            f"{name:<30} {median(each):7.2f} ms  {ratios[name]:5.2f} x"
            f"  ({min(each):.2f} to {max(each):.2f} ms)"
        )
    held = ("as installed (-I -S hook.py)", "memtui-hook")
    slow = [name for name in held if ratios[name] > LIMIT]
    print(f"over {LIMIT} x: {', '.join(slow) or 'none of what is promised'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
