"""The database: opened once for a process, connected once for a thread.

Writes take the lock at once (``BEGIN IMMEDIATE``): a transaction that reads first and
writes later would fail as soon as two threads meet.
"""

import errno
import json
import os
import shutil
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import peewee

from memtui.errors import NO_ROOM, StoreBusy, StoreDamaged, StoreError, StoreGone

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


def check_presence(path: str) -> None:
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


BUSY_TIMEOUT_S = 5.0
"""How long a write waits for another one to end, in seconds."""


_LEAST_ROOM = 65_536
"""With fewer free bytes than this a disk is full: a database's page may not fit."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a full disk, or of one's share of it."""


LONGEST_WAIT_MS = 6 * 3_600_000
"""The longest wait before another try of what failed, in milliseconds."""


PRAGMAS = {
    "journal_mode": "wal",
    "foreign_keys": 1,
    "synchronous": "normal",
    "cache_size": -16_000,
    "temp_store": "memory",
}
"""How a store is worked with."""


db = peewee.SqliteDatabase(None, autoconnect=False)
"""The one database of this process; ``connected()`` and ``writing()`` are the doors."""


def path() -> Path:
    """The database's file, however it was opened."""
    said = str(db.database)
    if said.startswith("file:"):
        said = unquote(said.removeprefix("file:").partition("?")[0])
    return Path(said)


def close() -> None:
    """Close this thread's connection, if it has one."""
    if not db.is_closed():
        db.close()


def check() -> None:
    """Make sure that the database lies where it was opened.

    Raises:
        StoreGone: It does not.
    """
    try:
        check_presence(str(path()))
    except StoreGone:
        gather()
        raise


def gather(how: str = "TRUNCATE") -> None:
    """Write what stands in the log into the database's file, wherever that is by now.

    The log would stay behind, and be taken for that of whatever comes in its place.

    Args:
        how: ``TRUNCATE`` waits for who reads and empties the log, ``PASSIVE`` not.
    """
    if not db.is_closed() and not db.in_transaction():
        with suppress(peewee.DatabaseError):
            db.execute_sql(f"PRAGMA wal_checkpoint({how})")


@contextmanager
def connected() -> Iterator[None]:
    """Use the database on this thread; may be nested."""
    with said_plainly(path()):
        if not db.is_closed():
            yield
            return
        check()
        db.connect()
        try:
            yield
        finally:
            db.close()


@contextmanager
def writing(*, durable: bool = False) -> Iterator[None]:
    """One transaction that writes: all of it is kept, or nothing.

    Args:
        durable: Survive a power cut too, not only a killed process: for what is
            deleted elsewhere once it is here.
    """
    with connected():
        if not db.in_transaction():
            check()
        if durable:
            db.execute_sql("PRAGMA synchronous = full")
        try:
            with db.atomic("IMMEDIATE"):
                yield
            if durable:
                check()
        finally:
            if durable:
                db.execute_sql("PRAGMA synchronous = normal")


def insert(table: Any, rows: Sequence[tuple[object, ...]], conflict: str = "") -> None:
    """Insert many rows, each with a value for every column of the table in its order.

    Goes to the driver: five times as fast as a statement built for each batch.

    Args:
        table: Where to.
        rows: The values.
        conflict: What to do with a row whose key is there: ``nothing``, or ``update``
            to take the new values; by default that is an error.
    """
    if rows:
        db.connection().executemany(_statement(table, conflict), rows)


def last_rows(count: int) -> tuple[int, int]:
    """The numbers of the first and the last of so many rows inserted just now.

    For the transaction that inserted them, into a table whose key is no number.
    """
    last = int(db.execute_sql("SELECT last_insert_rowid()").fetchone()[0])
    return last - count + 1, last


@cache
def _statement(table: Any, conflict: str) -> str:
    meta = table._meta
    names = [field.column_name for field in meta.sorted_fields]
    key = meta.primary_key.column_name if conflict else ""
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name != key)
    on_conflict = {
        "": "",
        "nothing": f" ON CONFLICT ({key}) DO NOTHING",
        "update": f" ON CONFLICT ({key}) DO UPDATE SET {changes}",
    }[conflict]
    marks = ", ".join("?" * len(names))
    columns = ", ".join(names)
    return f"INSERT INTO {meta.table_name} ({columns}) VALUES ({marks}){on_conflict}"


def known(table: type[peewee.Model], keys: Iterable[str]) -> set[str]:
    """Those of these primary keys that the table has."""
    meta = table._meta
    column = meta.primary_key.column_name
    wanted = json.dumps(list(keys))
    rows = db.execute_sql(
        f"SELECT {column} FROM {meta.table_name}"
        f" WHERE {column} IN (SELECT value FROM json_each(?))",
        (wanted,),
    )
    return {row[0] for row in rows.fetchall()}


def is_due(column: Any, now_ms: int) -> Any:
    """Whether the time has come for another try.

    One that lies further ahead than anybody waits was set by a clock that has been set
    back since.

    Args:
        column: The time of the next try, in milliseconds.
        now_ms: The time, in milliseconds.
    """
    return (column <= now_ms) | (column > now_ms + LONGEST_WAIT_MS)


def next_id(table: type[peewee.Model]) -> int:
    """A table's first number that was never used, for the transaction that asks.

    Of a table that does not count its numbers: the first that is higher than all.
    """
    last = table.select(peewee.fn.MAX(table._meta.primary_key)).scalar() or 0
    asked = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    used = db.execute_sql(asked, (table._meta.table_name,)).fetchone()
    return max(int(last), int(used[0]) if used else 0) + 1


@contextmanager
def said_plainly(path: Path) -> Iterator[None]:
    """Turn the database's errors into ours, said so that a reader can act on them."""
    try:
        yield
    except (peewee.OperationalError, sqlite3.OperationalError) as error:
        raise _plain(path, _first_said(error)) from error
    except (peewee.DatabaseError, sqlite3.DatabaseError) as error:
        if isinstance(error, peewee.IntegrityError):
            raise
        raise StoreDamaged(f"{path} is damaged: {error}") from error


@contextmanager
def files_said_plainly(path: Path) -> Iterator[None]:
    """The same for the errors of the files and folders a store is opened with."""
    try:
        yield
    except PermissionError as error:
        place = Path(error.filename or path)
        raise _unreadable(place) or StoreError(f"{place} cannot be written") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(f"{error.filename} is not a folder") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error


def _first_said(error: BaseException) -> str:
    """What went wrong first: a failed rollback would hide why there was one."""
    said = str(error)
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, peewee.OperationalError | sqlite3.OperationalError):
            said = str(error)
    return said


def is_for_want_of_room(error: BaseException) -> bool:
    """Whether the disk was full, of the store or of what is written beside it."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    return any(map(_says_full, chain))


def _says_full(error: BaseException) -> bool:
    said = str(error)
    if isinstance(error, peewee.OperationalError | sqlite3.OperationalError):
        return "full" in said or ("I/O" in said and not _has_room(path()))
    is_full = isinstance(error, OSError) and error.errno in _FULL
    return is_full or said.startswith(NO_ROOM)


def _has_room(path: Path) -> bool:
    """Whether the disk takes anything; SQLite does not always say that it is full."""
    try:
        return shutil.disk_usage(path.parent).free >= _LEAST_ROOM
    except OSError:
        return True


def _plain(path: Path, said: str) -> StoreError:
    if "locked" in said or "busy" in said:
        return StoreBusy(f"{path} is in use by another process that does not let go")
    if "full" in said or ("I/O" in said and not _has_room(path)):
        return StoreError(f"{NO_ROOM} ({path})")
    if "readonly" in said or "unable to open" in said:
        return _unreadable(path) or StoreError(f"{path} cannot be opened for writing")
    return StoreError(f"{path}: {said}")


def _unreadable(path: Path) -> StoreError | None:
    """What to say of a file that is there and may not be read; it is not opened."""
    are_effective = os.access in os.supports_effective_ids
    try:
        path.stat()
        if os.access(path, os.R_OK, effective_ids=are_effective):
            return None
    except PermissionError:
        pass
    except OSError:
        return None
    return StoreError(f"{path} may not be read: memtui doctor says what to do")


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
