"""Draw the pictures of the README: screens of the demo's store, as SVG files.

Run it from the checkout: ``python docs/picture.py [NAME…]``.
"""

import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

from textual.pilot import Pilot
from textual.worker import WorkerError

from memtui import demo
from memtui.errors import MemtuiError
from memtui.paths import in_home
from memtui.settings import EXTRACTIVE, Settings
from memtui.tui.app import MemtuiApp
from memtui.workspace import Workspace

TODAY = date(2026, 7, 31)
"""The day on which the demo's three months end."""

os.environ["COLORTERM"] = "truecolor"

SIZE = (120, 36)
"""Columns and lines."""

BULLET = ("enter", "down")
"""From the latest session to the second bullet of its page."""

PICTURES: dict[str, tuple[str, ...]] = {
    "contents": BULLET,
    "source": (*BULLET, "enter", "z"),
    "search": ("slash", *"retry", "space", *"timeout", "down"),
    "sessions": ("s", "down", "down"),
    "reader": ("s", "down", "enter"),
    "days": ("c", "left", "left"),
}
"""The keys that lead to each picture, from the first screen."""

SETTINGS = Settings(store_time_zone="UTC", summaries_provider=EXTRACTIVE)


async def draw(folder: Path, keys: tuple[str, ...]) -> str:
    """Press keys in the app over a filled store, and return its screen as SVG."""
    now = datetime.combine(TODAY, datetime.min.time(), UTC).replace(hour=12)
    app = MemtuiApp(
        lambda: Workspace(in_home(folder), SETTINGS, is_demo=True), now=lambda: now
    )
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        return app.export_screenshot(title="memtui")


async def settle(pilot: Pilot[str | MemtuiError]) -> None:
    """Wait until everything is loaded and shown."""
    while True:
        await pilot.pause(0.3)
        refreshed = asyncio.Event()
        pilot.app.call_after_refresh(refreshed.set)
        await refreshed.wait()
        running = [worker for worker in pilot.app.workers if not worker.is_finished]
        if not running:
            return
        for worker in running:
            with suppress(WorkerError):
                await worker.wait()


def fill(folder: Path) -> None:
    """Fill a store with the demo's conversations."""
    workspace = Workspace(in_home(folder), SETTINGS)
    demo.write(folder / "history", today=TODAY, zone=UTC)
    for _ in workspace.pipeline.importer().run([folder / "history"]):
        pass
    workspace.pipeline.run_until_idle(lambda _: None)
    workspace.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        fill(Path(scratch))
        for name in sys.argv[1:] or PICTURES:
            picture = asyncio.run(draw(Path(scratch), PICTURES[name]))
            file = Path(__file__).with_name(f"{name}.svg")
            file.write_text(picture, encoding="utf-8")
            print(file)
