"""What we keep: one SQLite file. The only SQL; rows never leave this folder.

Each module is named as its twin in ``memtui.memory`` and is called with its name:
``events.add(...)``, ``toc.node(...)``. Everything is done inside
``database.connected()`` to read and ``database.writing()`` to write.
"""

import os
from pathlib import Path

from memtui.store import database, meta, schema

PRIVATE_FILE = 0o600
"""The mode of the database's file."""


def open_at(path: Path, *, time_zone: str = "UTC") -> None:
    """Open the store at a path, making or bringing it up to date where needed.

    Args:
        path: The database's file.
        time_zone: The calendar's zone (an IANA name) for a store that is new; one
            that exists keeps its own.

    Raises:
        StoreVersionError: Another version of memtui made it.
        StoreError: It cannot be opened or written; the message says why.
    """
    database.close()
    with database.translate_file_errors(path), database.translate_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
        path.chmod(PRIVATE_FILE)
        # Once it is there, nobody makes it again.
        database.db.init(
            database.file_uri(str(path)),
            pragmas=database.PRAGMAS,
            timeout=database.BUSY_TIMEOUT_S,
            uri=True,
        )
        with database.connection():
            schema.open_schema(time_zone)
            database.set_open_file(str(path), meta.identity())
            if not database.read_identity(str(path)):
                # By its own file alone, without its log, it is told from others.
                database.checkpoint("PASSIVE")
