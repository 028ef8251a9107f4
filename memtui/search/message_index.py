"""The index of messages: the words of all that was said, in a SQLite file of its own.

What was said lies in the store; here are the terms of its words (FTS5), when it was
said and where it stands in its conversation. One process writes, any number read; the
file may be deleted at any time and is made anew from the store.

A message's number is its time: sixteenths of a second since 2000, the next free one.
So the newest come first by number, whatever order they came in, and a stretch of time
is a range of numbers.
"""

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from memtui.errors import SearchError
from memtui.files import PRIVATE
from memtui.model.events import MESSAGES, EventRole, EventType
from memtui.search import message_scoring
from memtui.search.message_scoring import WEIGHED, Corpus
from memtui.store.connection_pool import ConnectionPool
from memtui.store.database import db
from memtui.store.outbox import EventRange

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


class MessageIndex:
    """A file with an index of messages in it."""

    def __init__(self, path: Path, *, is_kept: bool = False) -> None:
        """Remember the file; nothing is opened yet.

        Args:
            path: The file.
            is_kept: Whether who reads it keeps it open, until it is closed.
        """
        self.path = path
        self._kept = ConnectionPool(path, self._connect_for_long) if is_kept else None

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

    def create(self, name: str) -> None:
        """Make an empty index in place of the one that is there.

        Raises:
            SearchError: The file cannot be written.
        """
        self.delete()
        with self._said_plainly():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
            with closing(sqlite3.connect(self.path)) as db:
                db.execute("PRAGMA journal_mode = wal")
                db.executescript(f"BEGIN; {_SCHEMA}")
                counts = (("messages", 0), ("size", 0))
                facts = (("version", VERSION), ("name", name), *counts, *_EMPTY.facts)
                db.executemany("INSERT INTO facts VALUES (?, ?)", facts)
                db.execute("COMMIT")

    def delete(self) -> None:
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
    def _opened(
        self, kept: ConnectionPool | None = None
    ) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise SearchError(f"{self.path} is missing")
        lent = kept.connection if kept else lambda: closing(self._connect())
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


NOBODY = 0
"""The thread of messages that are forgotten: no other has this number."""

OF_SESSION, OF_SUBAGENT = "\ue000", "\ue001"
"""How the terms begin that say whose a message is: no text has these letters."""

_ROWS_AT_ONCE = 500


class Kind(IntEnum):
    """What a message is, as the index numbers it."""

    USER = 0
    ASSISTANT = 1
    SYSTEM = 2
    TOOL = 3


@dataclass(frozen=True, slots=True)
class Said:
    """An event to be indexed."""

    event_id: bytes
    """The 16 bytes of its ULID."""
    session: int
    """Its session's number in the store."""
    subagent: str
    at_ms: int
    kind: Kind
    terms: Sequence[str]
    """The terms of its words."""
    tool: str = ""
    """The tool that was called."""
    is_once: bool = False
    """Whether of a conversation's calls of that tool only the first is indexed."""
    ordinal: int = 0
    """Which comes first of the same moment."""
    told_ids: tuple[bytes, ...] = ()
    """Other ids by which it was told."""

    @property
    def order(self) -> tuple[int, int, bytes]:
        """Where it stands among all that was said."""
        return self.at_ms, self.ordinal, self.event_id


def put(
    index: MessageIndex, batch: Sequence[Said], facts: Sequence[tuple[str, object]]
) -> None:
    """Index events, in one transaction with how far that is.

    Args:
        index: Where.
        batch: The events; those that are indexed already are passed over.
        facts: What is to be remembered of the filling: (name, value).

    Raises:
        SearchError: The index is missing, broken or in use.
    """
    with index.writing() as db:
        threads = _threads(db, batch)
        fresh = _fresh(db, batch, threads)
        mine = [threads[one.session, one.subagent] for one in fresh]
        numbers = _numbers(db, [one.at_ms for one in fresh])
        _insert(db, list(zip(numbers, mine, fresh, strict=True)))
        if facts:
            db.executemany("REPLACE INTO facts VALUES (?, ?)", facts)


@dataclass(frozen=True, slots=True)
class Title:
    """What a session is called, and what it is summed up by."""

    session: int
    terms: Sequence[str]
    """Of its title."""
    summary: Sequence[str]
    """Of its summary."""


def put_titles(index: MessageIndex, titles: Sequence[Title]) -> None:
    """Index sessions by their titles, in place of those they had.

    Raises:
        SearchError: The index is missing, broken or in use.
    """
    with index.writing() as db:
        db.executemany(
            "DELETE FROM about WHERE rowid = ?", [(one.session,) for one in titles]
        )
        db.executemany(
            "INSERT INTO about (rowid, title, summary) VALUES (?, ?, ?)",
            [
                (one.session, " ".join(one.terms), " ".join(one.summary))
                for one in titles
            ],
        )


def _threads(
    db: sqlite3.Connection, batch: Sequence[Said]
) -> dict[tuple[int, str], int]:
    """The conversations of a batch, by session and subagent; made where missing."""
    keys = {(one.session, one.subagent) for one in batch}
    db.executemany(
        "INSERT OR IGNORE INTO threads (session, subagent) VALUES (?, ?)", sorted(keys)
    )
    asked = "SELECT id FROM threads WHERE session = ? AND subagent = ?"
    return {key: db.execute(asked, key).fetchone()[0] for key in keys}


def _fresh(
    db: sqlite3.Connection,
    batch: Sequence[Said],
    threads: dict[tuple[int, str], int],
) -> list[Said]:
    """Those that are not indexed, in the order of time; what they replace goes."""
    ids = [name for one in batch for name in (one.event_id, *one.told_ids)]
    known: dict[bytes, tuple[int, int]] = {}
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        some = ids[start : start + _ROWS_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = db.execute(
            f"SELECT event, id, thread FROM messages WHERE event IN ({marks})", some
        )
        known |= {event: (number, thread) for event, number, thread in rows}
    fresh, gone = {}, set[tuple[int, int]]()
    for one in batch:
        here = known.get(one.event_id)
        gone.update(known[name] for name in one.told_ids if name in known)
        if here and here[1] == threads[one.session, one.subagent]:
            continue
        if here:
            gone.add(here)
        fresh[one.event_id] = one
    _forget(db, gone)
    return sorted(fresh.values(), key=lambda one: one.order)


def _forget(db: sqlite3.Connection, gone: Iterable[tuple[int, int]]) -> None:
    for number, thread in gone:
        (size, kind) = db.execute(
            "SELECT size, kind FROM messages WHERE id = ?", (number,)
        ).fetchone()
        if kind != Kind.TOOL:
            _count(db, {thread: (-1, -size)})
        db.execute(
            "UPDATE messages SET event = NULL, thread = ? WHERE id = ?",
            (NOBODY, number),
        )


def _numbers(db: sqlite3.Connection, times_ms: Sequence[int]) -> list[int]:
    """A number for each time: the moment's own, or the next that is free."""
    numbers: list[int] = []
    free = 0
    for at_ms in times_ms:
        wanted = max(number_at(at_ms), free)
        taken = "SELECT 1 FROM messages WHERE id = ?"
        if db.execute(taken, (wanted,)).fetchone():
            wanted = _next_free(db, wanted)
        numbers.append(wanted)
        free = wanted + 1
    return numbers


def _next_free(db: sqlite3.Connection, taken: int) -> int:
    """The first number after a taken one that is not."""
    row = db.execute(
        "SELECT id + 1 FROM messages m WHERE id >= ? AND NOT EXISTS"
        " (SELECT 1 FROM messages n WHERE n.id = m.id + 1) ORDER BY id LIMIT 1",
        (taken,),
    ).fetchone()
    return int(row[0])


def _insert(db: sqlite3.Connection, found: Sequence[tuple[int, int, Said]]) -> None:
    """Index messages and calls in the order of their numbers."""
    talk = [one for one in found if one[2].kind is not Kind.TOOL]
    calls = [one for one in found if one[2].kind is Kind.TOOL and _is_told(db, one)]
    by_thread: dict[int, list[int]] = {}
    counts: dict[int, tuple[int, int]] = {}
    for number, thread, said in talk:
        by_thread.setdefault(thread, []).append(number)
        messages, size = counts.get(thread, (0, 0))
        counts[thread] = messages + 1, size + len(said.terms)
    places, mixed = _places(db, by_thread)
    rows = [
        (
            number,
            said.event_id,
            thread,
            places.get(number, 0),
            said.kind,
            len(said.terms),
        )
        for number, thread, said in (*talk, *calls)
    ]
    db.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", rows)
    for table, some in (("said", talk), ("called", calls)):
        db.executemany(
            f"INSERT INTO {table} (rowid, terms) VALUES (?, ?)",
            [(number, " ".join([*one.terms, *_whose(one)])) for number, _, one in some],
        )
    for thread in mixed:
        _put_in_order(db, thread)
    _count(db, counts)


def _is_told(db: sqlite3.Connection, found: tuple[int, int, Said]) -> bool:
    """Whether a call is indexed: each, or a conversation's first one of its tool."""
    _, thread, said = found
    first = "INSERT OR IGNORE INTO tools VALUES (?, ?)"
    is_first = db.execute(first, (thread, said.tool)).rowcount == 1
    return is_first or not said.is_once


def _whose(said: Said) -> list[str]:
    """The terms by which a filter finds a message."""
    return [session_term(said.session), *([OF_SUBAGENT] if said.subagent else [])]


def session_term(session: int) -> str:
    """The term that all messages of a session have."""
    return f"{OF_SESSION}{session:x}"


def _places(
    db: sqlite3.Connection, by_thread: Mapping[int, Sequence[int]]
) -> tuple[dict[int, int], list[int]]:
    """Where in their conversations messages stand, and which must be put in order.

    Neighbours have neighbouring places. What comes after or before all that is known
    goes on counting; what comes between takes any place until it is put in order.
    """
    places: dict[int, int] = {}
    mixed = []
    asked = (
        "SELECT place, id FROM messages WHERE thread = ? AND kind < 3 ORDER BY place"
    )
    for thread, numbers in by_thread.items():
        first = db.execute(f"{asked} LIMIT 1", (thread,)).fetchone()
        last = db.execute(f"{asked} DESC LIMIT 1", (thread,)).fetchone()
        start = 0
        if first and numbers[-1] < first[1]:
            start = first[0] - len(numbers)
        elif last:
            start = last[0] + 1
            if numbers[0] < last[1]:
                mixed.append(thread)
        places |= {number: start + at for at, number in enumerate(numbers)}
    return places, mixed


def _put_in_order(db: sqlite3.Connection, thread: int) -> None:
    db.execute(
        "UPDATE messages SET place = o.place FROM (SELECT id, row_number() OVER"
        " (ORDER BY id) AS place FROM messages WHERE thread = ? AND kind < 3) AS o"
        " WHERE messages.id = o.id AND messages.place <> o.place",
        (thread,),
    )


def _count(db: sqlite3.Connection, counts: Mapping[int, tuple[int, int]]) -> None:
    """Count messages and terms into their conversations and into the whole."""
    db.executemany(
        "UPDATE threads SET messages = messages + ?, size = size + ? WHERE id = ?",
        [(*more, thread) for thread, more in counts.items()],
    )
    for at, name in enumerate(("messages", "size")):
        more = sum(count[at] for count in counts.values())
        db.execute("UPDATE facts SET value = value + ? WHERE name = ?", (more, name))


_COLUMNS = (
    "SELECT e.id, e.session_id, e.subagent, e.at_ms, e.ordinal, e.type, e.role, e.text,"
    " CASE e.type WHEN 'tool_result' THEN e.metadata ELSE '' END,"
    " (SELECT group_concat(copy_id) FROM source_copies t WHERE t.event_id = e.id)"
    " FROM events e"
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An event that may be indexed."""

    event_id: str
    session: int
    """Its session's number."""
    subagent: str
    at_ms: int
    ordinal: int
    type: EventType
    role: EventRole
    text: str
    tool: str
    """The tool it is the answer of, if it is one."""
    told_ids: tuple[str, ...]
    """Other ids by which it was told."""

    @property
    def kind(self) -> Kind | None:
        """What it is to an index of words; None for what is none of its matter."""
        if self.type is EventType.TOOL_RESULT:
            return Kind.TOOL if self.tool or self.text else None
        if self.type not in MESSAGES:
            return None
        if self.role is EventRole.USER:
            return Kind.USER
        return Kind.ASSISTANT if self.role is EventRole.ASSISTANT else Kind.SYSTEM


def of_runs(runs: Iterable[EventRange]) -> list[Spoken]:
    """The events of these runs that are still there, in the order of their ids."""
    asked = f"{_COLUMNS} WHERE e.rowid BETWEEN ? AND ?"
    rows = [
        row
        for run in runs
        for row in db.execute_sql(asked, (run.first, run.last)).fetchall()
    ]
    return [_spoken(*row) for row in sorted(rows)]


def before(event_id: str, limit: int) -> list[Spoken]:
    """The events before one, the newest first.

    Args:
        event_id: Which; "" for the newest of all.
        limit: The most that are given.
    """
    asked = f"{_COLUMNS} WHERE e.id < ? ORDER BY e.id DESC LIMIT ?"
    rows = db.execute_sql(asked, (event_id or "~", limit)).fetchall()
    return [_spoken(*row) for row in rows]


def count() -> int:
    """How many messages there are to be found, injected ones included."""
    asked = (
        "SELECT count(*) FROM events"
        " WHERE type IN ('user_message', 'assistant_message')"
    )
    return int(db.execute_sql(asked).fetchone()[0])


def sessions() -> list[int]:
    """The numbers of all sessions."""
    return [
        number for (number,) in db.execute_sql("SELECT id FROM sessions").fetchall()
    ]


def session_titles(numbers: Iterable[int]) -> list[tuple[int, str, str]]:
    """What sessions are called and what their segments are about: (number, …)."""
    rows = db.execute_sql(
        "SELECT s.id, coalesce(nullif(s.title, ''), s.first_prompt),"
        " s.summary || char(10) || coalesce((SELECT"
        " group_concat(v.headline, char(10)) FROM segments g"
        " JOIN nodes n ON n.node_id = g.id JOIN node_versions v ON v.id ="
        " n.latest_id WHERE g.session_id = s.id), '') FROM sessions s"
        " WHERE s.id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(numbers)),),
    )
    return [(number, title, summary) for number, title, summary in rows.fetchall()]


def newest(limit: int) -> list[Spoken]:
    """The newest messages, in the order of their ids."""
    asked = (
        f"{_COLUMNS} WHERE e.type IN ('user_message', 'assistant_message')"
        " ORDER BY e.id DESC LIMIT ?"
    )
    rows = db.execute_sql(asked, (limit,)).fetchall()
    return [_spoken(*row) for row in reversed(rows)]


def _spoken(
    event_id: str,
    session: int,
    subagent: str,
    at_ms: int,
    ordinal: int,
    kind: str,
    role: str,
    text: str,
    metadata: str,
    told: str | None,
) -> Spoken:
    tool = json.loads(metadata).get("tool_name", "") if metadata else ""
    return Spoken(
        event_id,
        session,
        subagent,
        at_ms,
        ordinal,
        EventType(kind),
        EventRole(role),
        text,
        tool,
        tuple(told.split(",")) if told else (),
    )


def to_bytes(event_id: str) -> bytes:
    """The 16 bytes of an event's id."""
    number = 0
    for letter in event_id:
        number = number << 5 | _VALUES[letter]
    return number.to_bytes(17, "big")[1:]


def to_id(raw: bytes) -> str:
    """The event's id of 16 bytes."""
    number = int.from_bytes(raw, "big")
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))


_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}

ENDLESS = 2**62
"""No message has so high a number."""

LISTED = 400
"""Up to so many sessions are named in a question; of more, each message is asked."""

NUMBERED = 150_000
"""Of more sessions than that, up to so many messages' numbers are written down first;
of still more, each message is asked for its conversation."""

COUNTED = 10_000
"""Up to so many messages that hold a word are counted; of more, samples are."""

SAMPLES, SAMPLED = 4, 2_000
"""How many samples are taken, from all times alike, and of how many messages each."""

SPELT = 300
"""Up to so many terms that begin so are asked for one by one: each time it is asked for
a beginning, FTS5 goes through all messages that hold any of them."""

PREFIX = 3
"""Of beginnings up to so long the index knows the messages itself."""

_LAST = "\U0010ffff"
"""No text has this letter."""

_CUTS = re.compile(r'[\x00-\x20"\x7f]+')
"""What stands between terms in the index (``messages``): no term has it."""


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """A word to be looked up."""

    term: str
    begun: str = ""
    """Terms that begin so will do as well; "" for none but itself."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which messages may be found."""

    sessions: frozenset[int] | None = None
    """The numbers of the sessions; None for all."""
    kinds: frozenset[Kind] = frozenset()
    """What they may be; anything if empty."""
    first: int = 0
    """The first number."""
    last: int = ENDLESS
    """The last number."""
    with_subagents: bool = True
    without: tuple[tuple[MatchQuery, ...], ...] = ()
    """Words that must not be there, each by the terms that it takes."""

    @property
    def is_of_moments(self) -> bool:
        """Whether they are of single messages, not of whole sessions."""
        return bool(self.kinds or self.first or self.last < ENDLESS)


class Question:
    """What is asked of one table of words, within bounds."""

    def __init__(
        self, db: sqlite3.Connection, bounds: Bounds, table: str = "said"
    ) -> None:
        self._db, self._bounds, self._table = db, bounds, table
        sessions = bounds.sessions
        self._listed = ""
        self._others: list[str] = []
        self._values: list[object] = [bounds.first, bounds.last]
        if sessions is not None:
            terms = (quoted(session_term(session)) for session in sorted(sessions))
            if len(sessions) <= LISTED:
                self._listed = " OR ".join(terms) or quoted(session_term(0))
            self._within_sessions(sessions)
        if bounds.kinds:
            self._others.append("m.kind IN (SELECT value FROM json_each(?))")
            self._values.append(json.dumps(sorted(bounds.kinds)))

    def _within_sessions(self, sessions: Collection[int]) -> None:
        """Look through these sessions alone."""
        asked = (
            "SELECT id FROM threads WHERE session IN (SELECT value FROM json_each(?))"
        )
        rows = self._db.execute(asked, (json.dumps(sorted(sessions)),)).fetchall()
        threads = json.dumps([number for (number,) in rows])
        among = "thread IN (SELECT value FROM json_each(?))"
        is_written = len(sessions) > LISTED and self.totals()[0] <= NUMBERED
        if is_written and self._table == "said":
            # Gone with the view: no other question meets it.
            self._db.execute("DROP TABLE IF EXISTS temp.mine")
            self._db.execute("CREATE TEMP TABLE mine (id INTEGER PRIMARY KEY)")
            self._db.execute(
                "INSERT INTO mine SELECT id FROM messages"
                f" WHERE kind < {Kind.TOOL.value} AND {among} ORDER BY id",
                (threads,),
            )
            self._others.append("+said.rowid IN temp.mine")
        else:
            self._others.append(f"m.{among}")
            self._values.append(threads)

    def numbers(self, match: str, limit: int) -> list[int]:
        """The numbers of the newest messages of a match, the newest first."""
        table = self._table
        # As one text: that takes two thirds of the time of as many rows.
        (listed,) = self._db.execute(
            f"SELECT json_group_array(number) FROM (SELECT {table}.rowid AS number"
            f" {self._within()} ORDER BY {table}.rowid DESC LIMIT ?)",
            (self._all_of(match), *self._values, limit),
        ).fetchone()
        return sorted(json.loads(listed), reverse=True)

    def count(self, match: str, messages: int) -> int:
        """How many messages a very common word has, more or less.

        Within some sessions it is taken to be as common as anywhere; who said it, and
        when, is not looked at.

        Args:
            match: The word, as FTS5 is asked for it.
            messages: How many there are in these sessions.
        """
        some = f"SELECT 1 FROM said WHERE said MATCH ? LIMIT {COUNTED + 1}"
        counted = f"SELECT count(*) FROM ({some})"
        everywhere = int(self._db.execute(counted, (match,)).fetchone()[0])
        if everywhere <= COUNTED and self._bounds.sessions is None:
            return everywhere
        everything = max(1, _messages(self._db)[0])
        if everywhere > COUNTED:
            everywhere = max(everywhere, int(everything * self._share(match)))
        if self._bounds.sessions is None:
            return everywhere
        return everywhere * messages // everything

    def _share(self, match: str) -> float:
        """The share of all messages that holds a very common word, by the samples."""
        held = "SELECT count(*) FROM said WHERE said MATCH ? AND rowid BETWEEN ? AND ?"
        holding = sum(
            int(self._db.execute(held, (match, first, last)).fetchone()[0])
            for first, last, _ in self._samples
        )
        return holding / max(1, sum(count for _, _, count in self._samples))

    @cached_property
    def _samples(self) -> list[tuple[int, int, int]]:
        """Stretches of messages: the first number, the last and how many there are."""
        # Asked for both at once, SQLite goes through all of them.
        ends = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"
        low, high = self._db.execute(ends).fetchone()
        stretch = (
            "SELECT min(id), max(id), count(*) FROM (SELECT id FROM messages"
            f" WHERE id >= ? ORDER BY id LIMIT {SAMPLED})"
        )
        starts = (low + (high - low) * at // SAMPLES for at in range(SAMPLES))
        rows = (self._db.execute(stretch, (start,)).fetchone() for start in starts)
        return [row for row in rows if row[2]]

    def totals(self) -> tuple[int, int, int]:
        """How many messages, terms and conversations there are."""
        if self._bounds.sessions is None:
            threads = self._db.execute("SELECT max(id) FROM threads").fetchone()[0]
            return *_messages(self._db), int(threads or 0)
        row = self._db.execute(
            "SELECT sum(messages), sum(size), count(*) FROM threads"
            " WHERE session IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(self._bounds.sessions)),),
        ).fetchone()
        messages, size, threads = (int(value or 0) for value in row)
        return messages, size, threads

    def _within(self) -> str:
        table = self._table
        joined = ""
        if any(other.startswith("m.") for other in self._others):
            # From the words on, whatever SQLite thinks of the sessions.
            joined = f" CROSS JOIN messages m ON m.id = {table}.rowid"
        others = "".join(f" AND {other}" for other in self._others)
        return (
            f"FROM {table}{joined} WHERE {table} MATCH ?"
            f" AND {table}.rowid BETWEEN ? AND ?{others}"
        )

    def _all_of(self, match: str) -> str:
        if self._listed:
            match = f"({match}) AND ({self._listed})"
        if not self._bounds.with_subagents:
            match = f"({match}) NOT {quoted(OF_SUBAGENT)}"
        for terms in self._bounds.without:
            match = f"({match}) NOT ({' AND '.join(map(phrase, terms))})"
        return match

    def phrase(self, word: MatchQuery) -> str:
        """A word as this table is asked for it, what it may go on to spelt out."""
        begun = word.begun
        if len(begun) <= PREFIX or quoted(begun) != f'"{begun}"':
            return phrase(word)
        # Letters that the index folds are not compared so by its vocabulary.
        if self._table != "said" or begun != begun.lower():
            return phrase(word)
        rows = self._db.execute(
            "SELECT term FROM vocabulary WHERE term BETWEEN ? AND ? LIMIT ?",
            (begun, begun + _LAST, SPELT + 1),
        ).fetchall()
        terms = dict.fromkeys([word.term, *(term for (term,) in rows)])
        if len(rows) > SPELT:
            return phrase(word)
        return f"({' OR '.join(map(quoted, terms))})"


def _messages(db: sqlite3.Connection) -> tuple[int, int]:
    """How many messages there are, and how many terms they have."""
    asked = "SELECT name, value FROM facts WHERE name IN ('messages', 'size')"
    facts = dict(db.execute(asked).fetchall())
    return int(facts["messages"]), int(facts["size"])


def phrase(word: MatchQuery) -> str:
    """A word as FTS5 is asked for it; a single letter is not looked on from."""
    if len(word.begun) < 2:
        return quoted(word.term)
    begun = quoted(word.begun)
    if begun.endswith('"') and len(begun) > 2:
        begun += "*"
    return begun if word.begun == word.term else f"({quoted(word.term)} OR {begun})"


def quoted(term: str) -> str:
    """A term as FTS5 takes it; one that it would cut is asked for in its parts."""
    parts = [f'"{part}"' for part in _CUTS.split(term) if part]
    return f"({' AND '.join(parts)})" if len(parts) > 1 else "".join(parts) or '""'


CAP = 3_000
"""How many messages of one word are looked at; of a rarer word all are."""

PAIRED = 4
"""How many of the very common words are looked up with the others: the rarest ones.
What the rest of them say is little."""

TELLING = 0.05
"""A word that is worth less than this share of the query's rarest one is not looked up
with others: it says hardly anything."""

TITLE, SUMMARY = 2.0, 3.0
"""What a word weighs in a session's title, and in its summary (decisions §8)."""

TITLES = 50
"""How many sessions are found by their titles at most."""

CALLS = 100
"""How many calls of tools are found at most."""


class Place(NamedTuple):
    """Where a message stands."""

    number: int
    event: bytes
    thread: int
    place: int
    kind: int
    size: int
    """How many terms it has."""
    session: int
    thread_size: int
    """How many terms its whole conversation has."""


@dataclass(slots=True)
class Found:
    """The messages that hold any of the words."""

    held: dict[int, int] = field(default_factory=dict)
    """By the number of a message: which words it holds, a bit for each."""
    counts: list[int] = field(default_factory=list)
    """How many messages hold each word."""
    common: list[int] = field(default_factory=list)
    """The words of which only the newest messages were looked at."""
    messages: int = 0
    """How many messages there are within the bounds."""
    size: int = 0
    """How many terms they have."""
    threads: int = 0
    """How many conversations they are of."""

    def note(self, numbers: Iterable[int], words: int) -> None:
        """Note of messages which words they hold, besides those that are known."""
        held = self.held
        for number in numbers:
            held[number] = held.get(number, 0) | words


def find(db: sqlite3.Connection, asked: Sequence[MatchQuery], bounds: Bounds) -> Found:
    """Look words up in what was said.

    Args:
        db: From ``Messages.reading``.
        asked: The words, each once; 62 at most.
        bounds: Which messages may be found.
    """
    question = Question(db, bounds)
    found = Found()
    found.messages, found.size, found.threads = question.totals()
    matches = [question.phrase(word) for word in asked]
    for at, match in enumerate(matches):
        numbers = question.numbers(match, CAP + 1)
        found.counts.append(len(numbers))
        if len(numbers) > CAP:
            found.common.append(at)
            numbers.pop()
        found.note(numbers, 1 << at)
    for at in found.common:
        count = question.count(matches[at], found.messages)
        found.counts[at] = max(CAP + 1, count)
    _look_up_together(question, matches, found)
    return found


def _look_up_together(question: Question, matches: Sequence[str], found: Found) -> None:
    """Look very common words up with others, where they say something.

    The rarest of them with any rarer word or, where there is none, with one another;
    and several of them together, what is worth most first, until there are so many
    better ones that no more are weighed.
    """
    rarities = Corpus(found.counts, found.messages, 0, 0).rarities()
    least = TELLING * max(rarities, default=0.0)
    common = sorted(
        (at for at in found.common if rarities[at] >= least),
        key=lambda at: (found.counts[at], at),
    )
    rarer = [matches[at] for at in range(len(matches)) if at not in found.common]
    for at in common[:PAIRED] if rarer else ():
        match = f"{matches[at]} AND ({' OR '.join(rarer)})"
        found.note(question.numbers(match, CAP), 1 << at)
    groups = {tuple(common[:count]) for count in range(2, PAIRED + 2)}
    groups |= {tuple(common), *(() if rarer else combinations(common[:PAIRED], 2))}
    together = [(sum(rarities[at] for at in some), some) for some in groups]
    for worth, some in sorted(together, reverse=True):
        if len(some) < 2 or message_scoring.are_enough(found.held, rarities, worth):
            break
        match = " AND ".join(matches[at] for at in some)
        numbers = question.numbers(match, min(CAP, WEIGHED))
        found.note(numbers, sum(1 << at for at in some))


def all_of(db: sqlite3.Connection, terms: Sequence[str], bounds: Bounds) -> list[int]:
    """The newest messages that hold all of some terms, by their numbers."""
    return Question(db, bounds).numbers(" AND ".join(map(quoted, terms)), CAP)


def calls(
    db: sqlite3.Connection, asked: Sequence[MatchQuery], bounds: Bounds
) -> list[int]:
    """The newest calls of tools that hold all the words, by their numbers."""
    match = " AND ".join(map(phrase, asked))
    return Question(db, bounds, "called").numbers(match, CALLS)


def titles(
    db: sqlite3.Connection,
    asked: Sequence[MatchQuery],
    sessions: Collection[int] | None,
) -> dict[int, float]:
    """The sessions whose titles or summaries answer best, with BM25's score.

    Args:
        db: From ``Messages.reading``.
        asked: The words.
        sessions: The numbers of the sessions that may be found; None for all.
    """
    within, values = "", [" OR ".join(map(phrase, asked))]
    if sessions is not None:
        # Not one session after the other: FTS5 would look the words up for each.
        within = " AND +rowid IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(sessions)))
    rows = db.execute(
        f"SELECT rowid, -bm25(about, {TITLE}, {SUMMARY}) AS score FROM about"
        f" WHERE about MATCH ?{within} ORDER BY score DESC, rowid DESC LIMIT {TITLES}",
        values,
    )
    return dict(rows.fetchall())


def places(db: sqlite3.Connection, numbers: Collection[int]) -> list[Place]:
    """Where messages stand; those that are forgotten are left out."""
    rows = db.execute(
        "SELECT m.id, m.event, m.thread, m.place, m.kind, m.size, t.session, t.size"
        " FROM json_each(?) asked CROSS JOIN messages m ON m.id = asked.value"
        " JOIN threads t ON t.id = m.thread",
        (json.dumps(sorted(numbers)),),
    )
    return list(map(Place._make, rows))
