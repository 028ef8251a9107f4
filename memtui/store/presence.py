"""Presence: whether the store that was opened still lies where it was opened.

SQLite makes a file where there is none, and goes on writing into one that was moved or
deleted: what is kept would be lost either way. So all who connect or write ask here
first. A store is known by a word of its own, so that the same one may come back.
"""

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from memtui.errors import StoreGone

IDENTITY = "identity"
"""The name under which a store's own word stands in it."""

GONE = (
    "the memory at {} is gone. Put it back or quit; nothing is written meanwhile, and"
    " what agents tell waits in the spool"
)

ANOTHER = (
    "another memory lies at {} now. Put the former one back, or quit and start memtui"
    " again to read it; nothing is written meanwhile"
)


@dataclass(slots=True)
class _Opened:
    path: str
    identity: str
    look: tuple[int, int]
    was_away: bool = False


_opened: _Opened | None = None


def remember(path: str, identity: str) -> None:
    """Take it that this store lies there, from now on."""
    global _opened
    _opened = _Opened(path, identity, _look(path))


def check(path: str) -> None:
    """Make sure that a store lies where it was opened; others are not known here.

    Raises:
        StoreGone: Nothing lies there, or something else.
    """
    opened = _opened
    if opened is None or opened.path != path:
        return
    try:
        look = _look(path)
    except OSError as error:
        opened.was_away = True
        raise StoreGone(GONE.format(path)) from error
    # A number may have been given anew to another file.
    if look == opened.look and not opened.was_away:
        return
    opened.was_away = True
    if identity(path) != opened.identity:
        raise StoreGone(ANOTHER.format(path))
    opened.look, opened.was_away = look, False


def _look(path: str) -> tuple[int, int]:
    found = Path(path).stat()
    return found.st_dev, found.st_ino


def identity(path: str) -> str:
    """The word of the store that lies there; "" if it has none."""
    asked = "SELECT value FROM meta WHERE name = ?"
    # A log that lies beside it may be another one's: it must not be written into it.
    named = uri(path, "immutable=1")
    with suppress(sqlite3.Error), closing(sqlite3.connect(named, uri=True)) as db:
        row = db.execute(asked, (IDENTITY,)).fetchone()
        return str(row[0]) if row else ""
    return ""


def uri(path: str, how: str = "mode=rw") -> str:
    """How SQLite is told to open a file, and to make none."""
    return f"file:{quote(path)}?{how}"
