"""Leaving nothing behind: what was deleted is written over, not only let go of."""

from memtui.errors import StoreBusy
from memtui.store.database import close, connected, db, path


def write_over() -> None:
    """From now on, let this connection write over what it deletes."""
    db.execute_sql("PRAGMA secure_delete = on")


def compact() -> None:
    """Write the store anew without the room that deleted rows left, and empty its log.

    Raises:
        StoreBusy: Another process reads the store and does not let go.
    """
    close()
    with connected():
        write_over()
        # The room of a whole copy is asked of the disk, not of memory.
        db.execute_sql("PRAGMA temp_store = file")
        db.execute_sql("VACUUM")
        busy, *_ = db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusy(
                f"{path()}-wal is read by another process; end it and run this again"
            )
    close()
