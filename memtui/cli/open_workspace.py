"""The house opened from the command line, with the log it writes, or seen not to be."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.paths import Paths
    from memtui.settings import Settings
    from memtui.workspace import Workspace


LOG_BYTES = 1_000_000
"""When the log is full: it is put aside then, in place of the one before it."""


def house(
    places: "Paths", settings: "Settings", *, is_demo: bool = False
) -> "Workspace":
    """Open the house of these places; its files are for this person alone."""
    from memtui.workspace import Workspace

    os.umask(0o077)
    opened = Workspace(places, settings, is_demo=is_demo)
    log_to(places.log, settings.log_level.upper())
    return opened


def log_to(file: Path, level: str) -> None:
    """Write what happens into a file, from this level on."""
    from logging.handlers import RotatingFileHandler

    logging.raiseExceptions = False  # a full disk must not write over the screen
    # Opened by the first line: a disk that takes none must not stop who only reads.
    handler = RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(
        handlers=[handler],
        level=level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it tells every change


def missing(places: "Paths", settings: "Settings") -> Path | None:
    """The folder of a store that is not there but could be: a question makes none."""
    from memtui import workspace

    _, places = workspace.resolve_paths(places, settings)
    folder = places.store.parent
    try:
        above = next(one for one in (folder, *folder.parents) if one.exists())
        return None if places.store.exists() or not above.is_dir() else folder
    except OSError:
        return None
