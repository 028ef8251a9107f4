"""Measure the delays of the app's event loop, for everything done by keys.

The real app runs without a terminal, at 120 columns by 40 lines, on stores of ten
thousand to a million messages; once at rest, and once while workers of the same process
import. Each is measured in its own process. Run it from the checkout:

    python -m benchmarks.ui [--sizes 10000 100000 1000000] [--only rest import]
"""

import argparse
import asyncio
import gc
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path

from textual.pilot import Pilot

from benchmarks import generate, summarized_stores
from benchmarks.event_loop import Stalls, watched
from benchmarks.processes import CACHE, machine, run
from memtui.errors import MemtuiError
from memtui.model.sessions import AgentHistory
from memtui.paths import Paths, in_home
from memtui.pipeline.progress import PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.workspace import Workspace

SIZES = (10_000, 100_000, 1_000_000)
"""How many messages the stores hold."""

SIZE = (120, 40)
"""Columns and lines of the screen."""

IMPORTED = 20_000
"""How many messages the import brings that is digested meanwhile."""

ROUNDS = 3
"""How often all is done."""

MOVES = 50
"""By so many rows one moves."""

LETTER_S = 0.08
"""How fast letters are typed, in seconds for each."""

QUERY = "ferry harbour"

PATIENCE_S = 20.0
"""How long at most is waited for what a key asks for, in seconds."""

Pilots = Pilot[str | MemtuiError]
Steps = dict[str, Stalls]
Act = Callable[[Pilots], Awaitable[None]]


def keys(*pressed: str) -> Act:
    """Press keys, one after another."""

    async def act(pilot: Pilots) -> None:
        for key in pressed:
            await pilot.press(key)

    return act


async def typed(pilot: Pilots) -> None:
    """Type a question as a person does."""
    for letter in QUERY:
        await pilot.press("space" if letter == " " else letter)
        await asyncio.sleep(LETTER_S)


JOURNEY: tuple[tuple[str, Act], ...] = (
    ("open a year", keys("right")),
    ("open a month", keys("right", "right")),
    ("open a week", keys("right", "right")),
    ("open a day", keys("right", "right")),
    ("open a segment", keys("right", "right")),
    (f"move by {MOVES} rows", keys(*["down"] * MOVES)),
    ("next and previous day", keys("left", "]", "]", "[")),
    ("open a bullet's source", keys("right", "enter", "down", "enter")),
    ("more around it", keys("plus", "plus", "minus")),
    ("go back", keys("escape", "escape", "escape")),
    ("teleport: open", keys("slash")),
    ("teleport: type", typed),
    ("teleport: move and open", keys("down", "down", "enter")),
    ("sessions: open", keys("s")),
    (f"sessions: move by {MOVES}", keys(*["down"] * MOVES)),
    ("sessions: the last one", keys("end", "pageup")),
    ("sessions: back", keys("escape")),
    ("days: open", keys("c")),
    (f"days: move by {MOVES}", keys(*["left"] * MOVES)),
    ("days: back", keys("escape")),
    ("settings", keys("comma", "escape")),
    ("help", keys("question_mark", "escape")),
)
"""What is done, in its order, each from where the one before it ends."""


async def settled(pilot: Pilots) -> None:
    """Wait until all that was asked for is read and shown."""
    async with asyncio.timeout(PATIENCE_S):
        await pilot.pause()
        while any(not worker.is_finished for worker in pilot.app.workers):
            await asyncio.sleep(0.01)
        await pilot.pause()


@asynccontextmanager
async def opened(paths: Paths, steps: Steps) -> AsyncIterator[Pilots]:
    """The app with its first screen; how that came about is noted."""
    app = MemtuiApp(lambda: Workspace(paths, summarized_stores.settings()))
    async with watched(steps.setdefault("start", Stalls())):
        context = app.run_test(size=SIZE)
        pilot = await context.__aenter__()
        await settled(pilot)
        await settled(pilot)
    try:
        yield pilot
    finally:
        await context.__aexit__(None, None, None)


async def travel(pilot: Pilots, steps: Steps) -> None:
    """Do all that is done."""
    for name, act in JOURNEY:
        async with watched(steps.setdefault(name, Stalls())):
            await act(pilot)
            await settled(pilot)


async def measure(paths: Paths, *, imported: Path | None) -> Steps:
    """All delays over one store."""
    steps: Steps = {}
    gc.disable()  # as the command line does
    async with opened(paths, steps) as pilot:
        if imported is None:
            for _ in range(ROUNDS):
                await travel(pilot, steps)
        else:
            await while_importing(pilot, imported, steps)
    return steps


async def while_importing(pilot: Pilots, folder: Path, steps: Steps) -> None:
    """The same over and over until an import is digested."""
    assert isinstance(pilot.app, MemtuiApp)
    reports: list[PipelineProgress] = []
    workspace = pilot.app.workspace
    workspace.start_import(
        [AgentHistory("claude-code", folder, 0)], reports.append, is_watched=False
    )
    async with watched(steps.setdefault("all the while", Stalls())):
        while not reports or reports[-1].done < reports[-1].total:
            await travel(pilot, steps)
            assert not (reports and reports[-1].error), reports[-1]


def memory_mb() -> dict[str, float]:
    """What this process holds of the memory, and its files apart, in megabytes."""
    status = Path("/proc/self/status").read_text("utf-8")
    rows = dict(line.split(":", 1) for line in status.splitlines())
    names = ("VmRSS", "RssAnon", "RssFile", "VmHWM")
    return {name: int(rows[name].split()[0]) / 1000 for name in names if name in rows}


def measure_here(size: int, kind: str) -> dict[str, object]:
    """Measure in this process."""
    paths = summarized_stores.home(size)
    imported, copy = None, CACHE / f"ui-copy-{os.getpid()}"
    if kind == "import":
        imported = CACHE / f"transcripts-{generate.VERSION}-{IMPORTED}"
        if not imported.exists():
            generate.write(imported, IMPORTED)
        shutil.copytree(paths.store.parent, copy)
        paths = in_home(copy)
    try:
        steps = asyncio.run(measure(paths, imported=imported))
        return {
            "steps": {name: asdict(step) for name, step in steps.items()},
            "memory": memory_mb(),
        }
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def show(size: int, kind: str) -> None:
    """Measure in a process of its own, and print the table."""
    command = [sys.executable, "-m", "benchmarks.ui", "--child", str(size), kind]
    measured = json.loads(run(command).output.splitlines()[-1])
    doing = "while an import is digested" if kind == "import" else "at rest"
    print(f"\n{size:,} messages, {doing}")
    print(f"{'ms the loop was late':<30}      p50      p99      max      own    whole")
    for name, noted in measured["steps"].items():
        print(f"  {name:<28}{Stalls(**noted).row()}", flush=True)
    held = ", ".join(f"{name} {mb:.0f} MB" for name, mb in measured["memory"].items())
    print(f"  memory: {held}", flush=True)


def main() -> None:
    """Measure every size, at rest and while an import is digested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", default=("rest", "import"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure_here(int(given.child[0]), given.child[1])))
        return
    load = os.getloadavg()[0]
    print(
        f"{machine()}, memtui {version('memtui')}, Textual {version('textual')};"
        f" {date.today():%Y-%m-%d}; {load:.1f} at work before"
    )
    for size in given.sizes:
        for kind in given.only:
            show(size, kind)


if __name__ == "__main__":
    main()
