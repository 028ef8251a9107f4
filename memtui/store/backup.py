"""Copies of the store: made while it is in use, checked, and restored.

A copy is one moment of the store, even if another process writes. A file is replaced
when its content is complete, checked and on the disk. Restoring is one transaction, so
that processes with an open store see it at once.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from memtui import files
from memtui.errors import StoreBusyError, StoreError
from memtui.model.calendar import TocLevel
from memtui.model.events import MAX_MS, MIN_MS, EventRole, EventType, from_ms
from memtui.model.jobs import Job, RunReason, RunResult
from memtui.model.nodes import BulletKind, NodeStatus
from memtui.model.quantities import plural
from memtui.model.verdicts import Support
from memtui.store import database, meta, schema, tombstones
from memtui.store.database import db
from memtui.store.sources import ProblemKind
from memtui.store.tombstones import Tombstone, TombstoneKind

COPY_PAGES = 4096
"""The number of pages copied at a time (16 MB), so that Ctrl+C is noticed."""

DRAFT_SUFFIX = ".restoring"

READ_TIMEOUT_S = 1.0

READ_PRAGMAS = {"query_only": 1, "cache_size": -16_000, "temp_store": "memory"}

MAX_DAMAGES = 10


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """The content of a store."""

    schema: int
    sessions: int
    events: int
    last_at: datetime | None
    forgotten: frozenset[Tombstone]
    redaction_version: int
    """The version of the rules by which it is redacted; 0 for none."""


def create(file: Path, *, may_replace: bool = False) -> StoreInfo:
    """Copy the open store into a new file.

    Only its owner may read the file.

    Raises:
        StoreError: It cannot be written, exists already, or the store is damaged.
    """
    with replacement(file, may_replace=may_replace) as draft:
        check(database.path(), is_quick=True)
        _copy(database.path(), draft)
        with closing(sqlite3.connect(draft)) as opened:
            opened.execute("PRAGMA journal_mode = delete")
        return read_info(draft)


@contextmanager
def replacement(file: Path, *, may_replace: bool = False) -> Iterator[Path]:
    """Yield a temporary file that becomes this file at the end, if no error occurs.

    Only its owner may read the file.

    Raises:
        StoreError: It cannot be written, or exists already.
    """
    if file.is_dir():
        raise StoreError(f"{file} is a folder; name a file in it")
    if file.exists() and file.samefile(database.path()):
        raise StoreError(f"{file} is the store itself")
    if file.exists() and not may_replace:
        raise StoreError(f"{file} exists already; --force overwrites it")
    with (
        database.translate_file_errors(file),
        database.translate_errors(file),
        files.replacement(file) as draft,
    ):
        try:
            yield draft
        finally:
            for beside in _database_files(draft)[1:]:
                beside.unlink(missing_ok=True)


def read_info(file: Path) -> StoreInfo:
    """Return the content of a store, or of a copy of one, without changing it.

    Raises:
        StoreVersionError: Another version of memtui made it.
        StoreError: It is not a store, or cannot be read.
    """
    if not file.is_file():
        raise StoreError(f"there is no file {file}")
    not_a_store = f"{file} is not a backup of memtui"
    with database.translate_errors(file), closing(_open_file(file)) as opened:
        try:
            rows = opened.execute("SELECT name, value FROM meta")
            values = {str(name): str(value) for name, value in rows}
            version = int(values[schema.VERSION_KEY])
        except (KeyError, ValueError) as error:
            raise StoreError(not_a_store) from error
        except sqlite3.DatabaseError as error:
            message = str(error)
            if "no such" in message or "not a database" in message:
                raise StoreError(not_a_store) from error
            raise
        schema.check_version(version, file)
        sql = "SELECT count(*), max(updated_ms) FROM sessions"
        sessions, last_ms = opened.execute(sql).fetchone()
        (events,) = opened.execute("SELECT count(*) FROM events").fetchone()
        return StoreInfo(
            schema=version,
            sessions=int(sessions),
            events=int(events),
            last_at=None if last_ms is None else from_ms(last_ms),
            forgotten=frozenset(
                Tombstone(TombstoneKind(kind), subject, agent, at_ms)
                for kind, agent, subject, at_ms, *_ in opened.execute(
                    tombstones.LIST_SQL
                )
            ),
            redaction_version=int(values.get("redacted_by", "0")),
        )


def check(file: Path, *, is_quick: bool = False) -> None:
    """Check that a store, or a copy of one, is undamaged.

    A quick check skips the comparison of indexes with their tables.

    Raises:
        StoreError: It is damaged.
    """
    pragma = "quick_check" if is_quick else "integrity_check"
    with database.translate_errors(file), closing(_open_file(file)) as opened:
        messages = [str(row[0]) for row in opened.execute(f"PRAGMA {pragma}(3)")]
    if messages != ["ok"]:
        raise StoreError(f"{file} is damaged: {'; '.join(messages)}")


def prepare_restore(file: Path, place: Path) -> Path:
    """Copy a copy to beside the store and check it; return the draft for ``restore``.

    Raises:
        StoreError: It cannot be read or written, is not a store, or is damaged.
    """
    if place.exists() and file.samefile(place):
        raise StoreError(f"{file} is the store itself")
    check(file)
    read_info(file)
    draft = discard_restore(place)
    with database.translate_file_errors(draft), database.translate_errors(draft):
        os.close(os.open(draft, os.O_CREAT | os.O_RDWR, files.PRIVATE))
        _copy(file, draft)
        with closing(sqlite3.connect(draft)) as opened, opened:
            names = meta.NODE_INDEX, meta.MESSAGE_INDEX
            opened.execute("DELETE FROM meta WHERE name IN (?, ?)", names)
    return draft


def restore(draft: Path, place: Path) -> None:
    """Replace the content of the store by a prepared draft.

    Raises:
        StoreError: It cannot be written; the store is unchanged.
    """
    with database.translate_file_errors(place), database.translate_errors(place):
        try:
            os.close(os.open(place, os.O_CREAT | os.O_RDWR, files.PRIVATE))
            _copy(draft, place)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # It is too damaged to write to; its log must not meet another store.
            for beside in _database_files(place)[1:]:
                beside.unlink(missing_ok=True)
            files.sync(draft)
            draft.replace(place)
            files.sync(place.parent)
    discard_restore(place)


def discard_restore(place: Path) -> Path:
    """Delete the draft prepared for a store, and return its path."""
    draft = place.with_name(f"{place.name}{DRAFT_SUFFIX}")
    for file in _database_files(draft):
        file.unlink(missing_ok=True)
    return draft


def _open_file(file: Path) -> sqlite3.Connection:
    uri = database.read_only_uri(file)
    return sqlite3.connect(uri, uri=True, timeout=database.BUSY_TIMEOUT_S)


def _copy(origin: Path, target: Path) -> None:
    """Copy one moment of a store over another database, in one transaction there."""
    with (
        closing(_open_file(origin)) as source,
        closing(sqlite3.connect(target, timeout=database.BUSY_TIMEOUT_S)) as copy,
    ):
        source.isolation_level = None
        copy.execute("PRAGMA synchronous = full")
        # In this transaction later writes are not seen: the copy never starts again.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        progress = _busy_timeout(target)
        source.backup(copy, pages=COPY_PAGES, progress=progress, sleep=0.05)
        source.execute("COMMIT")


def _busy_timeout(target: Path) -> Callable[[int, int, int], None]:
    """Return a callback that ends a copy that waits too long for another process."""
    since_s = time.monotonic()

    def check_progress(status: int, _remaining: int, _total: int) -> None:
        nonlocal since_s
        if status not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            since_s = time.monotonic()
        elif time.monotonic() - since_s > database.BUSY_TIMEOUT_S:
            raise StoreBusyError(f"{target} is in use by another process")

    return check_progress


def _database_files(file: Path) -> list[Path]:
    suffixes = ("", "-journal", "-wal", "-shm")
    return [file.with_name(f"{file.name}{suffix}") for suffix in suffixes]


def open_read_only(path: Path) -> int:
    """Open a store without changing anything, also on a read-only disk.

    Returns its schema version.

    Raises:
        StoreBusyError: Another process has locked it against readers.
        StoreError: It is damaged, or cannot be read.
    """
    database.close()
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} cannot be read")
    uri = database.read_only_uri(path)
    db.init(uri, pragmas=READ_PRAGMAS, timeout=READ_TIMEOUT_S, uri=True)
    with database.connection():
        db.execute_sql("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return schema.read_version()


def find_damages() -> list[str]:
    """Return what is wrong with the open store; empty if all is well.

    Takes a second for a few hundred megabytes.
    """
    rows = database.fetch(f"PRAGMA quick_check({MAX_DAMAGES})")
    messages = [str(message) for (message,) in rows]
    if messages != ["ok"]:
        return messages
    rows = database.fetch(
        'SELECT "table", parent, COUNT(*) FROM pragma_foreign_key_check()'
        " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"
    )
    db.connection().create_function("is_utf8", 1, _is_utf8, deterministic=True)
    damages = [
        f"{count:,} of {table} refer to {parent} that are not there"
        for table, parent, count in rows
    ]
    # SQLite has tables of its own, "sqlite_…", which declare no types.
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB ?"
    for table in database.fetch_column(sql, "sqlite_*"):
        if count := _count_unreadable(table):
            damaged = f"{plural(count, 'row')} of {table}"
            if table == "events":
                damaged = plural(count, "event")
            damages.append(f"{damaged} cannot be read")
    return damages


def _count_unreadable(table: str) -> int:
    conditions = []
    sql = "SELECT name, type FROM pragma_table_info(?)"
    for column, declared_type in database.fetch(sql, table):
        stored_type = _STORED_TYPES[declared_type]
        conditions.append(f"typeof({column}) NOT IN ('{stored_type}', 'null')")
        if stored_type == "text":
            conditions.append(f"NOT is_utf8(CAST({column} AS BLOB))")
        if declared_type == "BOOL":
            conditions.append(f"{column} NOT IN (0, 1)")
        if column.endswith("_ms"):
            conditions.append(f"{column} NOT BETWEEN {MIN_MS} AND {MAX_MS}")
        if values := _ENUMS.get((table, column)):
            listed = ", ".join(f"'{value}'" for value in values)
            conditions.append(f"{column} NOT IN ({listed})")
        if json_type := _JSON_TYPES.get((table, column)):
            conditions.append(
                f"CASE WHEN json_valid({column})"
                f" THEN json_type({column}) <> '{json_type}' ELSE 1 END"
            )
    if table == "events":
        conditions.append(_HAS_BAD_METADATA)
    sql = f"SELECT count(*) FROM {table} WHERE {' OR '.join(conditions)}"
    return int(database.fetch_value(sql))


def _is_utf8(raw: bytes | None) -> bool:
    try:
        (raw or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


_STORED_TYPES = {
    "INTEGER": "integer",
    "BOOL": "integer",
    "TEXT": "text",
    "BLOB": "blob",
    "REAL": "real",
}
"""SQLite's storage class for the values of a column, by the declared type."""

_ENUMS: dict[tuple[str, str], type[StrEnum]] = {
    ("events", "type"): EventType,
    ("events", "role"): EventRole,
    ("node_versions", "level"): TocLevel,
    ("node_versions", "status"): NodeStatus,
    ("nodes", "level"): TocLevel,
    ("bullets", "support"): Support,
    ("bullets", "kind"): BulletKind,
    ("problems", "kind"): ProblemKind,
    ("tombstones", "kind"): TombstoneKind,
    ("checkpoints", "level"): TocLevel,
    ("jobs", "name"): Job,
    ("job_runs", "job"): Job,
    ("job_runs", "reason"): RunReason,
    ("job_runs", "result"): RunResult,
}
"""The known values of a column, by table and column."""

_JSON_TYPES = {
    ("node_versions", "keywords"): "array",
    ("node_versions", "child_ids"): "array",
    ("node_versions", "agents"): "array",
    ("node_versions", "projects"): "array",
    ("node_versions", "generation"): "object",
    ("bullets", "verdict"): "object",
    ("judgements", "grip_ids"): "array",
    ("judgements", "event_ids"): "array",
    ("cursors", "state"): "object",
}
"""The type of the JSON in a column, by table and column."""

_HAS_BAD_METADATA = (
    "metadata <> '' AND CASE"
    " WHEN NOT json_valid(metadata) OR json_type(metadata) <> 'object' THEN 1 ELSE"
    " EXISTS (SELECT 1 FROM json_each(metadata) WHERE type <> 'text') END"
)
