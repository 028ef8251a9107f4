"""A search index in an SQLite file of its own.

One process writes, any number of processes may read. The file can be deleted at any
time and is rebuilt from the store.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from memtui.errors import SearchError
from memtui.files import PRIVATE
from memtui.store import database

BUSY_TIMEOUT_S = 5.0
CACHE_KB = 16_000
"""SQLite's page cache of a connection that stays open."""

MAX_IDLE = 2
"""How many unused connections stay open."""

FileState = tuple[int, int, int]
"""Inode, size and time of change of a file."""


class IndexFile:
    """The file, its version, and the name by which a store knows it.

    Whatever cannot be read or written is a ``SearchError``.
    """

    def __init__(
        self, path: Path, version: str, schema: str, *, keep_open: bool
    ) -> None:
        """Remember the file; it is opened when it is used.

        Args:
            path: The file.
            version: Of the schema and the contents; an index of another version is not
                used.
            schema: The SQL that creates the tables, besides the table ``meta``.
            keep_open: Whether connections for reading stay open until ``close``.
        """
        self.path, self._version, self._schema = path, version, schema
        self._lock, self._max_idle = threading.Lock(), MAX_IDLE if keep_open else 0
        self._idle: list[tuple[FileState, sqlite3.Connection]] = []
        self._finalizer = weakref.finalize(self, _close_all, self._idle)

    def exists(self) -> bool:
        """Return True if the file can be reached, of whatever version and state."""
        try:
            return self.path.exists()
        except PermissionError:
            return False

    def name(self) -> str:
        """Return the store's identifier of the index; "" if it cannot be used."""
        try:
            with self._reading() as db:
                return str(read_meta(db)["name"])
        except SearchError:
            return ""

    def create(self, name: str) -> None:
        """Create an empty index in place of the one that is there."""
        self.delete()
        meta = {"version": self._version, "name": name, **self._initial_meta()}
        with self._translate_errors():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
            with closing(sqlite3.connect(self.path)) as db:
                db.execute("PRAGMA journal_mode = wal")
                db.executescript(
                    "BEGIN; CREATE TABLE meta (name TEXT PRIMARY KEY, value)"
                    f" WITHOUT ROWID; {self._schema}"
                )
                db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
                db.execute("COMMIT")

    def _initial_meta(self) -> Mapping[str, object]:
        return {}

    def delete(self) -> None:
        """Delete the index."""
        with self._translate_errors():
            # The database goes first: without it the other files mean nothing.
            for suffix in ("", "-wal", "-shm", "-journal", "-suspect"):
                with suppress(FileNotFoundError):
                    self.path.with_name(f"{self.path.name}{suffix}").unlink()

    def close(self) -> None:
        """Close the unused connections; those in use are closed when given back."""
        with self._lock:
            self._max_idle = 0
            _close_all(self._idle)

    @property
    def is_suspect(self) -> bool:
        """Whether a reader has reported damage since the index was created."""
        return self._suspect.exists()

    @property
    def _suspect(self) -> Path:
        return self.path.with_name(f"{self.path.name}-suspect")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction."""
        with self._opened() as db:
            db.execute("BEGIN")
            try:
                if read_meta(db).get("version") != self._version:
                    raise SearchError(f"{self.path} is of another version")
                yield db
            finally:
                db.rollback()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction, durable once it commits."""
        with self._opened() as db:
            db.execute("PRAGMA synchronous = full")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.rollback()
                raise
            db.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Use a connection; after an exception it is closed and not reused."""
        if not self.exists():
            raise SearchError(f"{self.path} is missing")
        with self._translate_errors():
            # Read before opening: a change in between makes the connection old, not
            # wrong.
            status = self.path.stat()
            state = status.st_ino, status.st_size, status.st_mtime_ns
            with self._lock:
                same = [db for known, db in self._idle if known == state]
                outdated = [entry for entry in self._idle if entry[0] != state]
                self._idle[:] = [(state, db) for db in same[1:]]
                _close_all(outdated)
            db = same[0] if same else self._connect()
            is_sound = False
            try:
                yield db
                is_sound = True
            finally:
                with self._lock:
                    if is_sound and len(self._idle) < self._max_idle:
                        self._idle.append((state, db))
                    else:
                        db.close()

    def _connect(self) -> sqlite3.Connection:
        uri = database.file_uri(str(self.path.absolute()))
        if not os.access(self.path.parent, os.W_OK):
            uri = database.read_only_uri(self.path)
        db = sqlite3.connect(
            uri,
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        db.execute("PRAGMA temp_store = memory")
        db.execute("PRAGMA journal_size_limit = 1000000")
        return db

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            is_transient = isinstance(error, sqlite3.OperationalError)
            if not is_transient or "no such" in str(error):
                with suppress(OSError):
                    self._suspect.touch()
            raise SearchError(f"{self.path}: {error}") from error
        except OSError as error:
            raise SearchError(f"{self.path}: {error.strerror or error}") from error


def read_meta(db: sqlite3.Connection) -> dict[str, str | int]:
    """Return the properties of an index."""
    return dict(db.execute("SELECT name, value FROM meta").fetchall())


def _close_all(entries: list[tuple[FileState, sqlite3.Connection]]) -> None:
    while entries:
        entries.pop()[1].close()
