"""Connections to a file that are kept open from one question to the next.

To open one, and to read its schema and its first pages again, takes as long as many an
answer. One that was opened on another file of that name, or before the file changed, is
closed and never asked: who deletes, replaces or damages a file is noticed at once.
"""

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

IDLE = 2
"""How many wait for the next question at most; more are closed as they come back."""

State = tuple[int, int, int, int]
"""Which file it is, how long, and when it was written to; a log beside it aside."""


class Kept:
    """The connections to one file; each is lent to one thread at a time."""

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        """Remember the file; nothing is opened yet.

        Args:
            path: The file.
            opened: Opens a connection that any thread may use.
        """
        self._path, self._opened = path, opened
        self._lock, self._is_closed = threading.Lock(), False
        self._idle: list[tuple[State, sqlite3.Connection]] = []
        self._end = weakref.finalize(self, _close, self._idle)

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """A connection; one with which something went wrong is not lent again.

        Raises:
            OSError: There is no file, or none that can be looked at.
            sqlite3.Error: It cannot be opened.
        """
        # Before it is opened: what comes in between makes it an old one, no wrong one.
        state = self._state()
        db = self._taken(state) or self._opened()
        is_sound = False
        try:
            yield db
            is_sound = True
        finally:
            self._take_back(state, db, is_sound=is_sound)

    def close(self) -> None:
        """Close those that wait; what is lent meanwhile is closed as it comes back."""
        with self._lock:
            self._is_closed = True
            _close(self._idle)

    def _state(self) -> State:
        try:
            known = self._path.stat()
        except OSError:
            with self._lock:
                _close(self._idle)
            raise
        return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns

    def _taken(self, state: State) -> sqlite3.Connection | None:
        with self._lock:
            old = [one for one in self._idle if one[0] != state]
            self._idle[:] = [one for one in self._idle if one[0] == state]
            _close(old)
            return self._idle.pop()[1] if self._idle else None

    def _take_back(
        self, state: State, db: sqlite3.Connection, *, is_sound: bool
    ) -> None:
        with self._lock:
            if is_sound and not self._is_closed and len(self._idle) < IDLE:
                self._idle.append((state, db))
            else:
                db.close()


def _close(some: list[tuple[State, sqlite3.Connection]]) -> None:
    while some:
        some.pop()[1].close()
