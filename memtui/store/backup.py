"""Copies of the store: made while it is in use, looked at, put in its place.

A copy is one moment of the store, whoever writes meanwhile. It is written beside where
it belongs and takes its name when it is whole, checked and on the disk; what is put in
the store's place is there all at once or not at all, for everybody who has it open.
"""

import glob
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memtui import store
from memtui.errors import StoreBusy, StoreError
from memtui.model.events import Event, Thought, from_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import database, dedup, tombstones
from memtui.store import meta as store_meta
from memtui.store import schema as store_schema
from memtui.store.database import db
from memtui.store.tombstones import Kind, Tombstone

PAGES_AT_ONCE = 4096
"""How much is copied before ctrl+c is heard again: 16 MB."""


ABANDONED_S = 3600.0
"""A draft that nobody wrote to for so long was left by a copying that was killed."""


DRAFT = ".restoring"
"""What stands behind the store's name in that of what is to take its place."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What is in a store."""

    schema: int
    sessions: int
    events: int
    last_at: datetime | None
    """When the last of them happened."""
    forgotten: frozenset[Tombstone]
    redacted_by: int
    """The version of the rules by which it is free of secrets; 0: none."""


def make(file: Path, *, may_replace: bool = False) -> Outline:
    """Copy the open store into a file of its own.

    Args:
        file: The copy; only its owner may read it.
        may_replace: Whether a file of this name may be written over.

    Raises:
        StoreError: It cannot be written, exists already, or the store is damaged.
    """
    with written(file, may_replace=may_replace) as draft:
        check(database.path(), is_quick=True)
        _copy(database.path(), draft)
        with closing(sqlite3.connect(draft)) as alone:
            alone.execute("PRAGMA journal_mode = delete")
        return outline(draft)


@contextmanager
def written(file: Path, *, may_replace: bool = False) -> Iterator[Path]:
    """A draft that takes a file's name when all is written; nothing is left of it else.

    Args:
        file: The file; only its owner may read it.
        may_replace: Whether a file of this name may be written over.

    Raises:
        StoreError: It cannot be written, or exists already.
    """
    if file.is_dir():
        raise StoreError(f"{file} is a folder; name a file in it")
    if file.exists() and file.samefile(database.path()):
        raise StoreError(f"{file} is the store itself")
    if file.exists() and not may_replace:
        raise StoreError(f"{file} exists already; --force writes over it")
    with database.translated_file_errors(file), database.translated_errors(file):
        with _draft(file) as draft:
            yield draft
            _sync(draft)
            draft.replace(file)
        _sync(file.parent)


def outline(file: Path) -> Outline:
    """What is in a store, or in a copy of one; it is only read.

    Raises:
        StoreVersionError: Another version of memtui made it.
        StoreError: It is none, or cannot be read.
    """
    if not file.is_file():
        raise StoreError(f"there is no file {file}")
    none = f"{file} is no copy of a memtui store"
    with database.translated_errors(file), closing(_opened(file)) as opened:
        try:
            asked = opened.execute("SELECT name, value FROM meta")
            meta = {str(name): str(value) for name, value in asked}
            schema = int(meta[store_schema.VERSION_KEY])
        except (KeyError, ValueError) as error:
            raise StoreError(none) from error
        except sqlite3.DatabaseError as error:
            said = str(error)
            if "no such" in said or "not a database" in said:
                raise StoreError(none) from error
            raise
        store_schema.check_version(schema, file)
        return _outline(opened, schema, int(meta.get("redacted_by", "0")))


def _outline(opened: sqlite3.Connection, schema: int, redacted_by: int) -> Outline:
    counted = "SELECT count(*), max(updated_ms) FROM sessions"
    sessions, last_ms = opened.execute(counted).fetchone()
    (events,) = opened.execute("SELECT count(*) FROM events").fetchone()
    stones = opened.execute(tombstones.NAMED).fetchall()
    return Outline(
        schema=schema,
        sessions=int(sessions),
        events=int(events),
        last_at=None if last_ms is None else from_ms(last_ms),
        forgotten=frozenset(
            Tombstone(Kind(kind), subject, agent, at_ms)
            for kind, agent, subject, at_ms, *_ in stones
        ),
        redacted_by=redacted_by,
    )


def check(file: Path, *, is_quick: bool = False) -> None:
    """See whether a store, or a copy of one, is undamaged.

    Args:
        file: The database.
        is_quick: Look at all of it but whether its indexes are in step.

    Raises:
        StoreError: It is damaged.
    """
    how = "quick_check" if is_quick else "integrity_check"
    with database.translated_errors(file), closing(_opened(file)) as opened:
        found = [str(row[0]) for row in opened.execute(f"PRAGMA {how}(3)")]
    if found != ["ok"]:
        raise StoreError(f"{file} is damaged: {'; '.join(found)}")


def prepare(file: Path, place: Path) -> Path:
    """Copy a copy to beside where it belongs, check it, and bring it up to date.

    Args:
        file: The copy; it stays as it is.
        place: Where the store is.

    Returns:
        What ``put`` is to put in the store's place. Its index is to be made anew.

    Raises:
        StoreError: It cannot be read or written, is no store, or is damaged.
    """
    if place.exists() and file.samefile(place):
        raise StoreError(f"{file} is the store itself")
    check(file)
    draft = discard(place)
    with database.translated_file_errors(draft), database.translated_errors(draft):
        os.close(os.open(draft, os.O_CREAT | os.O_RDWR, store.PRIVATE_FILE))
        _copy(file, draft)
    store.open_at(draft)
    with database.transaction():
        store_meta.reset_indexes()
    database.close()
    return draft


def put(draft: Path, place: Path) -> None:
    """Put what was prepared in the store's place.

    Raises:
        StoreError: It cannot be written; the store is as it was.
    """
    with database.translated_file_errors(place), database.translated_errors(place):
        try:
            os.close(os.open(place, os.O_CREAT | os.O_RDWR, store.PRIVATE_FILE))
            _copy(draft, place)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # It is too damaged to be written to; its log must not meet another store.
            for beside in _with_what_is_beside(place)[1:]:
                beside.unlink(missing_ok=True)
            _sync(draft)
            draft.replace(place)
            _sync(place.parent)
    discard(place)


def discard(place: Path) -> Path:
    """Delete what was prepared for a store's place, and say where that was."""
    draft = place.with_name(f"{place.name}{DRAFT}")
    _delete(draft)
    return draft


def _opened(file: Path) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=database.BUSY_TIMEOUT_S)


def _copy(origin: Path, target: Path) -> None:
    """Copy one moment of a store over another database, in one transaction of it."""
    with (
        closing(_opened(origin)) as ours,
        closing(sqlite3.connect(target, timeout=database.BUSY_TIMEOUT_S)) as theirs,
    ):
        ours.isolation_level = None
        theirs.execute("PRAGMA synchronous = full")
        # While this reads, what others write is not seen: the copy never starts anew.
        ours.execute("BEGIN")
        ours.execute("SELECT count(*) FROM sqlite_master").fetchone()
        ours.backup(theirs, pages=PAGES_AT_ONCE, progress=_patience(target), sleep=0.05)
        ours.execute("COMMIT")


def _patience(target: Path) -> Callable[[int, int, int], None]:
    """Ends a copying that waits too long for another process."""
    since_s = time.monotonic()

    def watch(status: int, _remaining: int, _total: int) -> None:
        nonlocal since_s
        if status not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            since_s = time.monotonic()
        elif time.monotonic() - since_s > database.BUSY_TIMEOUT_S:
            raise StoreBusy(f"{target} is in use by another process")

    return watch


@contextmanager
def _draft(of: Path) -> Iterator[Path]:
    """A new file beside another one, for its owner alone; gone if it is not renamed."""
    prefix, ending = f".{of.name}.", ".part"
    for left in of.parent.glob(f"{glob.escape(prefix)}*{ending}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED_S:
                left.unlink()
    number, name = tempfile.mkstemp(ending, prefix, of.parent)
    os.close(number)
    draft = Path(name)
    try:
        yield draft
    finally:
        _delete(draft)


def _delete(file: Path) -> None:
    for path in _with_what_is_beside(file):
        path.unlink(missing_ok=True)


def _with_what_is_beside(file: Path) -> list[Path]:
    """A database's file, and those in which SQLite keeps what is under way."""
    endings = ("", "-journal", "-wal", "-shm")
    return [file.with_name(f"{file.name}{ending}") for ending in endings]


def _sync(path: Path) -> None:
    """See that a file, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


AT_ONCE = 500
"""How many rows are fetched together."""


_SESSIONS = (
    "SELECT id, agent, name, cwd, project, branch, title, model, project_ms, root,"
    " created_by, forked_from, summary FROM sessions ORDER BY created_ms, agent, name"
)


_EVENTS = f"{dedup.WHOLE} WHERE e.session_id = ? ORDER BY e.at_ms, e.ordinal, e.id"


_HELPERS = (
    "SELECT agent, session_name, subagent, kind, tool_use_id, task FROM subagents"
    " ORDER BY agent, session_name, subagent"
)


_THOUGHTS = (
    "SELECT t.id, s.agent, s.name, t.at_ms, t.text, t.subagent FROM thoughts t"
    " JOIN sessions s ON s.id = t.session_id ORDER BY t.id"
)


def told() -> Iterator[SessionMetadata | Event | SubagentMetadata | Thought]:
    """Everything as it is at one moment, whoever writes meanwhile."""
    with db.atomic():
        for number, *about in db.execute_sql(_SESSIONS).fetchall():
            yield _facts(*about)
            for page in _pages(_EVENTS, number):
                yield from dedup.whole(page)
        for page in _pages(_HELPERS):
            for row in page:
                yield SubagentMetadata(*row)
        for page in _pages(_THOUGHTS):
            for name, agent, session_id, at_ms, text, subagent in page:
                at = from_ms(at_ms)
                yield Thought(name, agent, session_id, at, text, subagent)


def _facts(
    agent: str,
    name: str,
    cwd: str,
    project: str,
    branch: str,
    title: str,
    model: str,
    project_ms: int | None,
    root: str,
    created_by: str,
    forked_from: str,
    summary: str,
) -> SessionMetadata:
    return SessionMetadata(
        agent=agent,
        session_id=name,
        cwd=cwd,
        project=project,
        branch=branch,
        title=title,
        model=model,
        at=None if project_ms is None else from_ms(project_ms),
        root=root,
        created_by=created_by,
        forked_from=forked_from,
        summary=summary,
    )


def _pages(asked: str, *values: object) -> Iterator[list[Any]]:
    rows = db.execute_sql(asked, values)
    while page := rows.fetchmany(AT_ONCE):
        yield page
