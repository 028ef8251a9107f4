"""The SQLite database: one file for a process, one connection for a thread.

Read inside ``connection()`` and write inside ``transaction()``. Writes take the lock at
once (``BEGIN IMMEDIATE``): a transaction that reads first and writes later would fail
as soon as two threads meet.
"""

import errno
import json
import os
import shutil
import sqlite3
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import peewee

from memtui.errors import (
    DISK_FULL,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreGoneError,
)
from memtui.model.events import MAX_MS, MIN_MS

IDENTITY_KEY = "identity"
"""The key of a store's random identity in ``meta``."""

MISSING = (
    "the store at {} is gone. Put it back or quit; nothing is written meanwhile, and"
    " hook events wait in the spool"
)

REPLACED = (
    "another store is at {} now. Put the former one back, or quit and start memtui"
    " again to read it; nothing is written meanwhile"
)

BUSY_TIMEOUT_S = 5.0
"""The time for which a write waits for another one to end, in seconds."""

MIN_FREE_BYTES = 65_536
"""With less free space a disk counts as full: a database page may not fit."""

MIN_RETRY_MS = 60_000

MAX_RETRY_MS = 6 * 3_600_000

PRAGMAS = {
    "journal_mode": "wal",
    "foreign_keys": 1,
    "synchronous": "normal",
    "cache_size": -16_000,
    "temp_store": "memory",
}

db = peewee.SqliteDatabase(None, autoconnect=False)
"""The one database of this process; use ``connection()`` and ``transaction()``."""


@dataclass(slots=True)
class _OpenFile:
    path: str
    identity: str
    inode: tuple[int, int]
    was_missing: bool = False


_open_file: _OpenFile | None = None


def set_open_file(path: str, identity: str) -> None:
    global _open_file
    _open_file = _OpenFile(path, identity, _read_inode(path))


def check_file() -> None:
    """Check that the store is still at the path where it was opened.

    Raises:
        StoreGoneError: Nothing is there, or another store.
    """
    expected, file = _open_file, str(path())
    if expected is None or expected.path != file:
        return
    try:
        inode = _read_inode(file)
    except OSError as error:
        expected.was_missing = True
        checkpoint()
        raise StoreGoneError(MISSING.format(file)) from error
    # An inode number may have been reused by another file.
    if inode == expected.inode and not expected.was_missing:
        return
    expected.was_missing = True
    if read_identity(file) != expected.identity:
        checkpoint()
        raise StoreGoneError(REPLACED.format(file))
    expected.inode, expected.was_missing = inode, False


def _read_inode(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_dev, status.st_ino


def read_identity(path: str) -> str:
    """Return the identity of the store at a path; "" if it has none."""
    sql = "SELECT value FROM meta WHERE name = ?"
    # A log beside it may belong to another store: it must not be written into this one.
    uri = file_uri(path, "immutable=1")
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as opened:
        row = opened.execute(sql, (IDENTITY_KEY,)).fetchone()
        return str(row[0]) if row else ""
    return ""


def file_uri(path: str, options: str = "mode=rw") -> str:
    return f"file:{quote(path)}?{options}"


def read_only_uri(path: Path) -> str:
    """Return the URI by which SQLite only reads a file, also on a read-only disk."""
    log = Path(f"{path}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    # A reader of a log keeps a file beside it, which a read-only disk cannot have.
    is_mutable = has_log or os.access(path.parent, os.W_OK)
    return file_uri(str(path.absolute()), "mode=ro" if is_mutable else "immutable=1")


def path() -> Path:
    name = str(db.database)
    if name.startswith("file:"):
        name = unquote(name.removeprefix("file:").partition("?")[0])
    return Path(name)


def close() -> None:
    if not db.is_closed():
        db.close()


def checkpoint(mode: str = "TRUNCATE") -> None:
    """Write the log into the database file, wherever that is by now.

    A log that is left behind would be taken for that of the file's successor. Mode
    ``TRUNCATE`` waits for readers and empties the log, ``PASSIVE`` does not.
    """
    if not db.is_closed() and not db.in_transaction():
        with suppress(peewee.DatabaseError):
            db.execute_sql(f"PRAGMA wal_checkpoint({mode})")


@contextmanager
def connection() -> Iterator[None]:
    """Use the database on this thread; may be nested."""
    with translate_errors(path()):
        if not db.is_closed():
            yield
            return
        check_file()
        db.connect()
        # The rest of a damaged text can still be read.
        db.connection().text_factory = _decode_text
        try:
            yield
        finally:
            db.close()


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one moment of the store, whatever other processes write."""
    with connection(), db.atomic("DEFERRED"):
        yield


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


@contextmanager
def transaction(*, durable: bool = False) -> Iterator[None]:
    """Write all or nothing.

    If durable, it survives a power cut, not only a killed process: for data whose other
    copy is deleted afterwards.
    """
    with connection():
        if not db.in_transaction():
            check_file()
        if durable:
            db.execute_sql("PRAGMA synchronous = full")
        try:
            with db.atomic("IMMEDIATE"):
                yield
            if durable:
                check_file()
        finally:
            if durable:
                db.execute_sql("PRAGMA synchronous = normal")


def insert(
    table: str,
    rows: Sequence[tuple[object, ...]] | Sequence[Mapping[str, object]],
) -> None:
    """Insert rows: values of all columns in order, or of some columns by their names.

    Uses the driver directly: five times as fast as a statement built for each batch.
    A row whose key exists is an error.
    """
    if not rows:
        return
    columns, places = "", ", ".join("?" * len(rows[0]))
    values: Sequence[Any] = rows
    if isinstance(rows[0], Mapping):
        columns = f" ({', '.join(rows[0])})"
        values = [tuple(row.values()) for row in values]
    sql = f"INSERT INTO {table}{columns} VALUES ({places})"
    db.connection().executemany(sql, values)


def execute(sql: str, *values: object, **named_values: object) -> int:
    """Run a statement that writes; return how many rows it changed."""
    return int(db.execute_sql(sql, named_values or values).rowcount)


def fetch(sql: str, *values: object, **named_values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a statement.

    Its placeholders are ``?``, or names such as ``:limit`` where a value occurs more
    than once. Numbers (``?1``) would raise a warning in some releases of Python 3.12.
    """
    rows: list[tuple[Any, ...]]
    rows = db.execute_sql(sql, named_values or values).fetchall()
    return rows


def fetch_dicts(sql: str, *values: object) -> list[dict[str, Any]]:
    """Return the rows of a statement by the names of their columns."""
    cursor = db.execute_sql(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def fetch_column(sql: str, *values: object) -> list[Any]:
    """Return the first value of each row of a statement."""
    return [row[0] for row in db.execute_sql(sql, values)]


def fetch_value(sql: str, *values: object) -> Any:
    row = db.execute_sql(sql, values).fetchone()
    return row[0] if row else None


def last_rowids(count: int) -> tuple[int, int]:
    """Return the first and the last rowid of the rows inserted just now.

    Only in the transaction that inserted them, and for a table without integer key.
    """
    last = int(fetch_value("SELECT last_insert_rowid()"))
    return last - count + 1, last


def existing_keys(table: str, keys: Iterable[str], column: str = "id") -> set[str]:
    """Return those of these primary keys that the table has."""
    sql = f"SELECT {column} FROM {table} WHERE {column} {IN_JSON}"
    return set(fetch_column(sql, json.dumps(list(keys))))


IN_JSON = "IN (SELECT value FROM json_each(?))"
"""The condition to be in a JSON list: the same statement for any number of values."""

LIKE_ESCAPE = "\\"

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""The translation that ``LOWER`` applies in SQLite."""


def like_pattern(text: str) -> str:
    """Return the LIKE pattern of texts that contain a text."""
    for character in (LIKE_ESCAPE, "%", "_"):
        text = text.replace(character, LIKE_ESCAPE + character)
    return f"%{text}%"


def keyword_prefix(keyword: str) -> str:
    """Return how the entry of a keyword begins in a stored list, in lower case."""
    stored = json.dumps([keyword], ensure_ascii=False).removesuffix("]")
    return f"{stored}, ".translate(_ASCII_LOWER)


def case_variants(word: str) -> list[str]:
    """Return a word in the cases to look for: LIKE ignores case only in ASCII."""
    if word.isascii():
        return [word]
    return [*dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))]


def prefix_range(prefix: str) -> tuple[str, str]:
    """Return the bounds between which all texts with a prefix are sorted."""
    return prefix, prefix + "\U0010ffff"


def valid_ms(column: str) -> str:
    """Return the expression of the time in a column; NULL if it is damaged."""
    is_time = f"typeof({column}) = 'integer' AND {column} BETWEEN {MIN_MS} AND {MAX_MS}"
    return f"CASE WHEN {is_time} THEN {column} END"


def is_due(column: str, now_ms: int) -> str:
    """Return the condition that the time of a retry has come.

    A time further ahead than the longest wait was set by a clock that has been set back
    since.
    """
    return f"({column} <= {now_ms} OR {column} > {now_ms + MAX_RETRY_MS})"


def retry_later(
    attempts: str, retry_ms: str, now_ms: int, first_wait_ms: int = MIN_RETRY_MS
) -> str:
    """Return the assignments that count a failure; the wait doubles with each."""
    wait_ms = f"min({first_wait_ms} << min({attempts}, 20), {MAX_RETRY_MS})"
    return f"{attempts} = {attempts} + 1, {retry_ms} = {now_ms} + {wait_ms}"


def next_id(table: str) -> int:
    """Return the lowest integer key that was never used.

    Only in the transaction that uses it. For a table without AUTOINCREMENT, return the
    first key above all others.
    """
    last = fetch_value(f"SELECT max(id) FROM {table}")
    sql = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    return max(last or 0, fetch_value(sql, table) or 0) + 1


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate the database's errors into ``StoreError`` with a clear message."""
    try:
        yield
    except (peewee.OperationalError, sqlite3.OperationalError) as error:
        raise _store_error(path, _first_message(error)) from error
    except (peewee.DatabaseError, sqlite3.DatabaseError) as error:
        if isinstance(error, peewee.IntegrityError):
            raise
        raise StoreDamagedError(f"{path} is damaged: {error}") from error


@contextmanager
def translate_file_errors(path: Path) -> Iterator[None]:
    """Translate errors of files and folders into ``StoreError`` likewise."""
    try:
        yield
    except PermissionError as error:
        place = Path(error.filename or path)
        raise _unreadable(place) or StoreError(f"{place} cannot be written") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(f"{error.filename} is not a folder") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error


def _first_message(error: BaseException) -> str:
    """Return the message of the first error: a failed rollback would hide its cause."""
    message = str(error)
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, peewee.OperationalError | sqlite3.OperationalError):
            message = str(error)
    return message


def is_disk_full(error: BaseException | None) -> bool:
    while error is not None:
        message = str(error)
        if isinstance(error, peewee.OperationalError | sqlite3.OperationalError):
            is_full = "full" in message or ("I/O" in message and not _has_room(path()))
        else:
            is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        if is_full or message.startswith(DISK_FULL):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_room(path: Path) -> bool:
    """Return whether the disk has room; SQLite does not always say that it is full."""
    try:
        return shutil.disk_usage(path.parent).free >= MIN_FREE_BYTES
    except OSError:
        return True


def _store_error(path: Path, message: str) -> StoreError:
    if "locked" in message or "busy" in message:
        return StoreBusyError(
            f"{path} is in use by another process that does not let go"
        )
    if "full" in message or ("I/O" in message and not _has_room(path)):
        return StoreError(f"{DISK_FULL} ({path})")
    if "readonly" in message or "unable to open" in message:
        return _unreadable(path) or StoreError(f"{path} cannot be opened for writing")
    return StoreError(f"{path}: {message}")


def _unreadable(path: Path) -> StoreError | None:
    """Return the error for a file that exists and may not be read; without opening it.

    Opening and closing a database file would drop SQLite's locks on it.
    """
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
