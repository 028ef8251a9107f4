"""A search index in an SQLite file of its own.

One process writes, any number of processes may read. The file can be deleted at any
time and is rebuilt from the store.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
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

FileState = tuple[int, int, int, int]
"""Device, inode, size and time of change of a file."""


class ConnectionPool:
    """Connections to one file, each used by one thread at a time.

    Those opened before the file changed are not reused.
    """

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


class IndexFile:
    """The file, its version, and the name by which a store knows it."""

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
        self._pool = ConnectionPool(path, self._connect_pooled) if keep_open else None

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
        """Create an empty index in place of the one that is there.

        Raises:
            SearchError: The file cannot be written.
        """
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
        """Delete the index.

        Raises:
            SearchError: It cannot be deleted.
        """
        with self._translate_errors():
            # The database goes first: without it the other files mean nothing.
            for suffix in ("", "-wal", "-shm", "-journal", "-suspect"):
                with suppress(FileNotFoundError):
                    self.path.with_name(f"{self.path.name}{suffix}").unlink()

    def close(self) -> None:
        """Close the connections that were kept open."""
        if self._pool:
            self._pool.close()

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
        with self._opened(self._pool) as db:
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
    def _opened(
        self, pool: ConnectionPool | None = None
    ) -> Iterator[sqlite3.Connection]:
        if not self.exists():
            raise SearchError(f"{self.path} is missing")
        connect = pool.connection if pool else lambda: closing(self._connect())
        with self._translate_errors(), connect() as db:
            yield db

    def _connect(self, *, check_same_thread: bool = True) -> sqlite3.Connection:
        uri = database.file_uri(str(self.path.absolute()))
        if not os.access(self.path.parent, os.W_OK):
            uri = database.read_only_uri(self.path)
        return sqlite3.connect(
            uri,
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=check_same_thread,
        )

    def _connect_pooled(self) -> sqlite3.Connection:
        db = self._connect(check_same_thread=False)
        db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        db.execute("PRAGMA temp_store = memory")
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
