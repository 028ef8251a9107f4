"""The store: one SQLite file with everything memtui keeps. All SQL is here.

There is a module for each concept, called with its name: ``events.add(...)``,
``sessions.get(...)``. Read inside ``database.connection()``, write inside
``database.transaction()``. Rows of the database never leave this package.
"""

import os
from pathlib import Path

from memtui import files
from memtui.errors import StoreError
from memtui.store import backup, database, events, meta, schema


def open_at(path: Path, *, time_zone: str = "UTC") -> None:
    """Open the store at a path; create it if it does not exist.

    One that may not be written, on a read-only disk for example, can only be read. A
    new store has its calendar in this zone (an IANA name); others keep their own.

    Raises:
        StoreVersionError: Another version of memtui made it.
        StoreError: It cannot be opened or written.
    """
    database.close()
    events.unreadable.clear()
    if is_read_only(path):
        if backup.open_read_only(path):
            with database.connection():
                schema.open_schema(time_zone)
            return
        raise StoreError(f"{path} is not a store, and cannot be written")
    with database.translate_file_errors(path), database.translate_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, files.PRIVATE))
        path.chmod(files.PRIVATE)
        # From now on SQLite must not create the file again if it disappears.
        database.db.init(
            database.file_uri(str(path)),
            pragmas=database.PRAGMAS,
            timeout=database.BUSY_TIMEOUT_S,
            uri=True,
        )
        with database.connection():
            is_new = schema.open_schema(time_zone)
            for suffix in ("-wal", "-shm"):
                if (beside := path.with_name(f"{path.name}{suffix}")).exists():
                    beside.chmod(files.PRIVATE)
            if is_new:
                from memtui.redaction import (
                    RULES_VERSION,  # its patterns take 20 ms
                )

                meta.set_redaction_version(RULES_VERSION)
            database.set_open_file(str(path), meta.identity())
            if not database.read_identity(str(path)):
                # Write the identity from the log into the file, where others read it.
                database.checkpoint("PASSIVE")


def is_read_only(path: Path) -> bool:
    return (
        path.is_file()
        and os.access(path, os.R_OK)
        and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    )
