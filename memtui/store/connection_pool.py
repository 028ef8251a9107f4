"""A pool of SQLite connections to one file, each used by one thread at a time."""

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_IDLE = 2
"""How many unused connections stay open."""

FileState = tuple[int, int, int, int]
"""Device, inode, size and time of change of a file."""


class ConnectionPool:
    """Connections to one file; those opened before the file changed are not reused."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        """Create an empty pool.

        Args:
            path: The file.
            connect: Opens a connection that any thread may use.
        """
        self._path, self._connect = path, connect
        self._lock, self._is_closed = threading.Lock(), False
        self._idle: list[tuple[FileState, sqlite3.Connection]] = []
        self._finalizer = weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Use a connection; after an exception it is closed and not reused.

        Raises:
            OSError: The file is missing or cannot be examined.
            sqlite3.Error: It cannot be opened.
        """
        # Read before opening: a change in between makes the connection old, not wrong.
        state = self._read_state()
        db = self._take(state) or self._connect()
        is_sound = False
        try:
            yield db
            is_sound = True
        finally:
            self._give_back(state, db, is_sound=is_sound)

    def close(self) -> None:
        """Close the unused connections; those in use are closed when given back."""
        with self._lock:
            self._is_closed = True
            _close_all(self._idle)

    def _read_state(self) -> FileState:
        try:
            status = self._path.stat()
        except OSError:
            with self._lock:
                _close_all(self._idle)
            raise
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _take(self, state: FileState) -> sqlite3.Connection | None:
        with self._lock:
            outdated = [entry for entry in self._idle if entry[0] != state]
            self._idle[:] = [entry for entry in self._idle if entry[0] == state]
            _close_all(outdated)
            return self._idle.pop()[1] if self._idle else None

    def _give_back(
        self, state: FileState, db: sqlite3.Connection, *, is_sound: bool
    ) -> None:
        with self._lock:
            if is_sound and not self._is_closed and len(self._idle) < MAX_IDLE:
                self._idle.append((state, db))
            else:
                db.close()


def _close_all(entries: list[tuple[FileState, sqlite3.Connection]]) -> None:
    while entries:
        entries.pop()[1].close()
