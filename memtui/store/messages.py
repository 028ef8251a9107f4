"""The index of messages: the words of all that was said, in a SQLite file of its own.

What was said lies in the store; here are the terms of its words (FTS5), when it was
said and where it stands in its conversation. One process writes, any number read; the
file may be deleted at any time and is made anew from the store.

A message's number is its time: sixteenths of a second since 2000, the next free one.
So the newest come first by number, whatever order they came in, and a stretch of time
is a range of numbers.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import SearchError
from memtui.store import PRIVATE_FILE
from memtui.store.kept import Kept

VERSION = "1"
"""Raised whenever what is indexed changes; an index of another one is made anew."""

BUSY_TIMEOUT_S = 5.0
"""How long a write waits for another one to end, in seconds."""

CACHED_KB = 16_000
"""How much of the index a connection that is kept remembers, in kilobytes."""

EPOCH_MS = 946_684_800_000
"""The first moment that a message can have been said: 2000-01-01, UTC."""

A_SECOND = 16
"""How many numbers a second has."""

_PUNCTUATION = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
_TOKENS = f"ascii tokenchars '{_PUNCTUATION}'''"
"""Terms come apart at blanks alone: they were cut before (``memory.words``)."""

_SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE threads (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, subagent TEXT NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, subagent)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, event BLOB UNIQUE, thread INTEGER NOT NULL,
    place INTEGER NOT NULL, kind INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE INDEX messages_thread ON messages (thread, place) WHERE kind < 3;
CREATE TABLE tools (
    thread INTEGER, name TEXT, PRIMARY KEY (thread, name)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE said USING fts5 (
    terms, content='', detail=none, columnsize=0, prefix='2 3', tokenize="{_TOKENS}"
);
CREATE VIRTUAL TABLE called USING fts5 (
    terms, content='', detail=none, columnsize=0, prefix='2 3', tokenize="{_TOKENS}"
);
CREATE VIRTUAL TABLE about USING fts5 (title, summary, tokenize="{_TOKENS}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (said, row);
"""


View = sqlite3.Connection
"""What an index is asked through."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How far an index is that is being made anew, the newest messages first."""

    is_done: bool
    oldest: str
    """The id of the oldest event it has come to; "" before the first."""
    done: int
    """How many events were looked at."""

    @property
    def facts(self) -> tuple[tuple[str, object], ...]:
        """How the index remembers it."""
        full = int(self.is_done)
        return ("oldest", self.oldest), ("looked", self.done), ("is_full", full)


_EMPTY = Filling(is_done=False, oldest="", done=0)


class Messages:
    """A file with an index of messages in it."""

    def __init__(self, path: Path, *, is_kept: bool = False) -> None:
        """Remember the file; nothing is opened yet.

        Args:
            path: The file.
            is_kept: Whether who reads it keeps it open, until it is closed.
        """
        self.path = path
        self._kept = Kept(path, self._connect_for_long) if is_kept else None

    def close(self) -> None:
        """Close what is kept open; each question opens the file anew from now on."""
        if self._kept:
            self._kept.close()

    def name(self) -> str:
        """The name it was made under; "" if there is none of this version."""
        try:
            with self.reading() as db:
                version, name = _fact(db, "version"), _fact(db, "name")
        except SearchError:
            return ""
        return name if version == VERSION else ""

    def make(self, name: str) -> None:
        """Make an empty index in place of the one that is there.

        Raises:
            SearchError: The file cannot be written.
        """
        self.remove()
        with self._said_plainly():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
            with closing(sqlite3.connect(self.path)) as db:
                db.execute("PRAGMA journal_mode = wal")
                db.executescript(f"BEGIN; {_SCHEMA}")
                counts = (("messages", 0), ("size", 0))
                facts = (("version", VERSION), ("name", name), *counts, *_EMPTY.facts)
                db.executemany("INSERT INTO facts VALUES (?, ?)", facts)
                db.execute("COMMIT")

    def remove(self) -> None:
        """Delete the index; it is made anew when next fed.

        Raises:
            SearchError: It cannot be deleted.
        """
        with self._said_plainly():
            # The file goes first: what it leaves behind belongs to nothing then.
            for end in ("", "-wal", "-shm", "-journal", "-suspect"):
                with suppress(FileNotFoundError):
                    self.path.with_name(f"{self.path.name}{end}").unlink()

    @property
    def is_suspect(self) -> bool:
        """Whether somebody found it damaged; one that is made anew is not."""
        return self._suspect.exists()

    @property
    def _suspect(self) -> Path:
        return self.path.with_name(f"{self.path.name}-suspect")

    def exists(self) -> bool:
        """Whether there is one, of whatever version and state."""
        return self.path.exists()

    def count(self) -> int:
        """How many messages it holds.

        Raises:
            SearchError: It is missing or broken.
        """
        with self.reading() as db:
            return int(_fact(db, "messages") or 0)

    def filling(self) -> Filling:
        """How far it is.

        Raises:
            SearchError: It is missing or broken.
        """
        with self.reading() as db:
            return filling_of(db)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One view of the index; what is written meanwhile is not in it.

        Raises:
            SearchError: It is missing or broken.
        """
        with self._opened(self._kept) as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.rollback()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that writes: all of it is kept, on the disk, or nothing.

        Raises:
            SearchError: It is missing, broken or in use.
        """
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
    def _opened(self, kept: Kept | None = None) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise SearchError(f"{self.path} is missing")
        lent = kept.lent if kept else lambda: closing(self._connect())
        with self._said_plainly(), lent() as db:
            yield db

    def _connect(self, *, is_of_one_thread: bool = True) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=is_of_one_thread,
        )

    def _connect_for_long(self) -> sqlite3.Connection:
        db = self._connect(is_of_one_thread=False)
        db.execute(f"PRAGMA cache_size = -{CACHED_KB}")
        db.execute("PRAGMA temp_store = memory")
        return db

    @contextmanager
    def _said_plainly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            is_passing = isinstance(error, sqlite3.OperationalError)
            if not is_passing or "no such" in str(error):
                with suppress(OSError):
                    self._suspect.touch()
            raise SearchError(f"{self.path}: {error}") from error
        except OSError as error:
            raise SearchError(f"{self.path}: {error.strerror or error}") from error


def filling_of(db: View) -> Filling:
    """How far the index of a view is."""
    return Filling(
        is_done=bool(int(_fact(db, "is_full") or 0)),
        oldest=_fact(db, "oldest"),
        done=int(_fact(db, "looked") or 0),
    )


def _fact(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def full_name(name: str, *, with_tools: bool) -> str:
    """The name of an index: one that holds what tools were told is another one."""
    return f"{name}+tools" if with_tools and name else name


def number_at(at_ms: int) -> int:
    """The first number of a moment.

    Args:
        at_ms: Milliseconds since 1970.
    """
    return max(0, at_ms - EPOCH_MS) * A_SECOND // 1000
