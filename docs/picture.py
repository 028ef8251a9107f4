"""Draws the picture of the README: the demo's contents, as an SVG.

Run it from the checkout: ``python docs/picture.py``.
"""

import asyncio
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path

from memtui import demo
from memtui.app import MemtuiApp
from memtui.house import House
from memtui.paths import in_home
from memtui.settings import Held, Settings

TODAY = date(2026, 7, 31)
"""The day the picture was taken: the demo's dates follow it."""

KEYS = ("right",) * 4 + ("down",) * 4 + ("right", "right", "enter", "down")
"""From the year down to a segment, and to its second bullet."""


async def draw(folder: Path) -> str:
    """Fill a store with the demo, walk to a bullet, and take the picture."""
    house = House(in_home(folder / "home"), Settings({"store.time_zone": _UTC}))
    demo.write(folder / "history", today=TODAY, zone=UTC)
    for _ in house.works.importer().run([folder / "history"]):
        pass
    house.works.until_idle(lambda _: None)
    now = datetime.combine(TODAY, datetime.min.time(), UTC).replace(hour=12)
    app = MemtuiApp(lambda: house, now=lambda: now)
    async with app.run_test(size=(120, 36)) as pilot:
        for key in ("", *KEYS):
            if key:
                await pilot.press(key)
            await pilot.pause(0.3)
        return app.export_screenshot(title="memtui")


_UTC = Held("UTC", "picture")

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        picture = asyncio.run(draw(Path(scratch)))
    Path(__file__).with_name("contents.svg").write_text(picture, encoding="utf-8")
