"""Opening a store only to look at it: nothing is made, changed or brought up to date.

It works on a disk that cannot be written, and does not keep those waiting who write.
"""

import os
from pathlib import Path
from urllib.parse import quote

from memtui.errors import StoreBusy, StoreError
from memtui.store import database, schema
from memtui.store.database import db

PATIENCE_S = 1.0
"""How long to wait for a store that somebody else has locked, in seconds."""


PRAGMAS = {"query_only": 1, "cache_size": -16_000, "temp_store": "memory"}


DAMAGES = 10
"""How many damages are told at most."""


def open_to_look(path: Path) -> int:
    """Open a store for reading alone.

    Args:
        path: The database's file, which exists.

    Returns:
        Its schema.

    Raises:
        StoreBusy: Somebody else has locked it against readers.
        StoreError: It is damaged, or cannot be read; the message says so.
    """
    database.close()
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} cannot be read")
    try:
        return _open(path, "mode=ro")
    except StoreBusy:
        raise
    except StoreError:
        beside = Path(f"{path}-wal")
        if beside.exists() and beside.stat().st_size:
            raise
        # A disk that cannot be written has no room for what readers share.
        return _open(path, "immutable=1")


def _open(path: Path, how: str) -> int:
    named = f"file:{quote(str(path))}?{how}"
    db.init(named, pragmas=PRAGMAS, timeout=PATIENCE_S, uri=True)
    with database.connection():
        db.execute_sql("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return schema.read_version()


def latest() -> int:
    """The schema of this memtui."""
    return schema.VERSION


def damages() -> list[str]:
    """What SQLite's own checks find wrong with the file; empty when all is well.

    Takes a second for each few hundred megabytes.
    """
    rows = db.execute_sql(f"PRAGMA quick_check({DAMAGES})").fetchall()
    found = [str(said) for (said,) in rows]
    if found != ["ok"]:
        return found
    return _strays()


def _strays() -> list[str]:
    """Rows that refer to others that are not there, counted by their tables."""
    rows = db.execute_sql(
        'SELECT "table", parent, COUNT(*) FROM pragma_foreign_key_check()'
        " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"
    )
    return [
        f"{count:,} of {table} refer to {parent} that are not there"
        for table, parent, count in rows.fetchall()
    ]
