"""``demo``: a store to throw away, filled with a made-up quarter of a year."""

from datetime import datetime

from memtui import demo
from memtui.workspace import Workspace


def fill(house: Workspace) -> None:
    """Write the made-up history, import it and digest it."""
    today = datetime.now(house.zone).date()
    folder = house.paths.store.parent / "history"
    demo.write(folder, today=today, zone=house.zone)
    for _ in house.pipeline.importer().run([folder]):
        pass
    house.pipeline.claim.acquire()
    house.pipeline.until_idle(lambda _: None)
