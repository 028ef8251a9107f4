"""The message index: the terms of all messages, in an SQLite file with FTS5 tables.

The texts are in the store; this file contains the terms and the time of each message.
One process writes, any number of processes may read. It can be deleted at any time and
is rebuilt from the store. No other module depends on SQLite here.

The rowid of a message is its time: sixteenths of a second since 2000, or the next free
number. So the newest messages have the highest rowids, whatever the order of indexing,
and a period is a range of rowids.
"""

import json
import os
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from memtui.errors import SearchError
from memtui.files import PRIVATE
from memtui.model.events import EventRole, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.search.weights import SESSION_BULLETS, SESSION_SUMMARY, SESSION_TITLE
from memtui.store import database
from memtui.store.events import IndexableEvent, SessionTexts
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency

BUSY_TIMEOUT_S = 5.0
CACHE_KB = 16_000
"""SQLite's page cache of a connection."""

MAX_PENDING_BYTES = 32_000_000
"""The memory for terms of a transaction. With FTS5's default, 1 MB, a large transaction
writes them in several parts, which are merged later."""

VERSION = "7"
"""Raise it when the indexed content changes; existing indexes are then rebuilt."""

EPOCH_MS = 946_684_800_000
"""Rowid 0: 2000-01-01, UTC."""

ROWIDS_A_SECOND = 16

MAX_ROWID_SHIFT = 16 * 3_600
"""The maximum distance of a message's rowid from that of its time, if many messages
have the same time: an hour, in rowids."""

MAX_ROWID = 2**62

MAX_PER_TERM = 3_000
"""The number of messages read for one term, the newest ones."""

MAX_SCORED = 600
"""The number of messages scored: those with the rarest terms."""

MAX_COMBINED_TERMS = 3
"""The number of frequent terms, rarest first, looked up together with others."""

MAX_SESSIONS = 50
MAX_CALLS = 100

MIN_MESSAGES = 5
"""With fewer messages than this, calls of tools whose names match are returned too."""

MAX_LISTED_SESSIONS = 20
"""Up to this many sessions are listed in an FTS5 query; the messages of more sessions
are checked one by one. Those of an agent and a project are looked up by its term."""

_SEPARATORS = re.compile(r'[\x00-\x20"\x7f]+')
"""FTS5 would split a term at these."""

_SESSION, _SUBAGENT, _AGENT, _PROJECT, _ROLE = map(chr, range(0xE000, 0xE005))
"""The first characters of filter terms; no text contains them."""

_IN_JSON = "IN (SELECT value FROM json_each(?))"

_REMOVED = 0
"""The conversation of messages that were removed; no other has this number."""

_ROLES = (EventRole.USER, EventRole.ASSISTANT, EventRole.SYSTEM, EventRole.TOOL)
_CODES = {role: code for code, role in enumerate(_ROLES)}
_TOOL = _CODES[EventRole.TOOL]

_PUNCTUATION = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
_TOKENIZER = f"ascii tokenchars '{_PUNCTUATION}'''"
"""Terms are split only at spaces: ``analyzer`` has made them."""

_SCHEMA = f"""
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, subagent TEXT NOT NULL,
    project TEXT NOT NULL, messages INTEGER NOT NULL DEFAULT 0,
    length INTEGER NOT NULL DEFAULT 0, UNIQUE (session, subagent, project)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, event TEXT UNIQUE, conversation INTEGER NOT NULL,
    role INTEGER NOT NULL, length INTEGER NOT NULL
);
CREATE TABLE tools (
    conversation INTEGER, name TEXT, PRIMARY KEY (conversation, name)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE message_terms USING fts5 (
    terms, content='', detail=none, columnsize=0, prefix='2 3', tokenize="{_TOKENIZER}"
);
INSERT INTO message_terms (message_terms, rank)
    VALUES ('hashsize', {MAX_PENDING_BYTES});
CREATE VIRTUAL TABLE call_terms USING fts5 (
    terms, content='', detail=none, columnsize=0, prefix='2 3', tokenize="{_TOKENIZER}"
);
CREATE VIRTUAL TABLE session_terms USING fts5 (
    title, summary, bullets, tokenize="{_TOKENIZER}"
);
"""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    term: str
    prefix: str = ""
    """Terms that begin so match too; "" if only the term itself does."""
    weight: float = 1.0
    """The factor on its idf."""
    is_whole: bool = False
    """True if it is a complete identifier whose parts are terms, too: it adds to the
    score, and a message without it may match fully."""

    def matches(self, terms: frozenset[str]) -> bool:
        return self.term in terms or (
            bool(self.prefix) and any(term.startswith(self.prefix) for term in terms)
        )


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """A filter of the messages that a search may return."""

    sessions: frozenset[int] | None = None
    """The sessions that the filters let pass; None for all."""
    filters: Filters = EVERYTHING
    """An index may also return messages a little after its end."""
    excluded: tuple[tuple[QueryTerm, ...], ...] = ()
    """Groups of terms; a message that contains all terms of one is not returned."""


class Candidate(NamedTuple):
    """A message that contains some of the terms."""

    id: int
    """Its rowid in the index: later messages have higher ones."""
    event_id: str
    role: EventRole
    length: int
    """Its number of terms."""
    session: int
    """The number of its session in the store."""
    session_length: int
    """The number of terms of all messages of the session."""
    mask: int
    """The query's terms that it contains, one bit for each."""


@dataclass(slots=True)
class Matches:
    """The matches of a query, and the statistics that BM25 needs."""

    terms: Sequence[QueryTerm]
    candidates: list[Candidate] = field(default_factory=list)
    """The messages to score: those that contain the rarest terms."""
    sessions: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    """The sessions whose title, summary or bullets match best: the terms of these."""
    frequencies: list[int] = field(default_factory=list)
    """The number of messages that contain each term."""
    common: list[str] = field(default_factory=list)
    """Terms for which only the newest messages were looked up."""
    total: int = 0
    """The number of messages and sessions that were looked up."""
    message_count: int = 0
    """The number of messages that pass the filter."""
    length: int = 0
    """The number of their terms."""
    session_count: int = 0
    """The number of their sessions."""

    def __post_init__(self) -> None:
        """Count nothing for each term, unless frequencies are given."""
        self.frequencies = self.frequencies or [0] * len(self.terms)

    def idfs(self) -> list[float]:
        """Return the inverse document frequency of each term, times its weight."""
        return [
            term.weight * inverse_document_frequency(self.message_count, count)
            for term, count in zip(self.terms, self.frequencies, strict=True)
        ]

    def mask(self, terms: frozenset[str]) -> int:
        """Return which of the query's terms these terms match, one bit for each."""
        return sum(term.matches(terms) << bit for bit, term in enumerate(self.terms))

    def specific_terms(self, mask: int) -> tuple[QueryTerm, ...]:
        """Return the terms in a mask that belong to specific words."""
        terms = (self.terms[bit] for bit in bits(mask))
        return tuple(term for term in terms if term.weight == 1 and not term.is_whole)


@lru_cache(maxsize=4096)
def bits(mask: int) -> tuple[int, ...]:
    """Return the places of the bits that are set."""
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The contents and progress of the index."""

    messages: int
    is_complete: bool
    """True if all events stored before the index was created are indexed."""
    oldest_id: str
    """The oldest indexed event of those stored before the index was created, or ""."""
    events_read: int
    """The number of those events that have been read."""


class MessageIndex:
    """The message index of one store.

    An error of reading or writing is raised as a ``SearchError``.
    """

    def __init__(self, path: Path, *, with_tools: bool = False) -> None:
        """Remember the file; it is opened for each use.

        Of tool calls the text is indexed only ``with_tools``, otherwise the name.
        """
        self.path, self.with_tools = path, with_tools

    # The file

    def exists(self) -> bool:
        """Return True if the file exists, in any version and state."""
        try:
            return self.path.exists()
        except PermissionError:
            return False

    def name(self) -> str:
        """Return the store's identifier of the index.

        "" if it cannot be used, or was created for other contents.
        """
        try:
            with self._reading() as db:
                meta = _read_meta(db)
        except SearchError:
            return ""
        is_same = bool(meta["with_tools"]) == self.with_tools
        return str(meta["name"]) if is_same else ""

    def create(self, name: str) -> None:
        """Create an empty index in place of the one that is there."""
        self.delete()
        counts = ("messages", "is_complete", "events_read")
        meta = {
            "version": VERSION,
            "name": name,
            "with_tools": int(self.with_tools),
            **dict.fromkeys(counts, 0),
        }
        with self._translate_errors():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
            with closing(sqlite3.connect(self.path)) as db:
                db.execute("PRAGMA journal_mode = wal")
                db.executescript(
                    "BEGIN; CREATE TABLE meta (name TEXT PRIMARY KEY, value)"
                    f" WITHOUT ROWID; {_SCHEMA}"
                )
                db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
                db.execute("COMMIT")

    def delete(self) -> None:
        with self._translate_errors():
            # The database goes first: without it the other files mean nothing.
            for suffix in ("", "-wal", "-shm", "-journal", "-suspect"):
                with suppress(FileNotFoundError):
                    self.path.with_name(f"{self.path.name}{suffix}").unlink()

    @property
    def is_suspect(self) -> bool:
        """True if a reader has reported damage since the index was created."""
        return self._suspect.exists()

    @property
    def _suspect(self) -> Path:
        return self.path.with_name(f"{self.path.name}-suspect")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as db:
            db.execute("BEGIN")
            try:
                if _read_meta(db).get("version") != VERSION:
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
        if not self.exists():
            raise SearchError(f"{self.path} is missing")
        uri = database.file_uri(str(self.path.absolute()))
        if not os.access(self.path.parent, os.W_OK):
            uri = database.read_only_uri(self.path)
        with (
            self._translate_errors(),
            closing(
                sqlite3.connect(
                    uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
                )
            ) as db,
        ):
            db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            db.execute("PRAGMA temp_store = memory")
            db.execute("PRAGMA journal_size_limit = 1000000")
            yield db

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

    # The contents

    def status(self) -> IndexStatus:
        with self._reading() as db:
            meta = _read_meta(db)
        return IndexStatus(
            messages=int(meta["messages"]),
            is_complete=bool(meta["is_complete"]),
            oldest_id=str(meta.get("oldest_id", "")),
            events_read=int(meta["events_read"]),
        )

    def list_events(self, after: str, limit: int) -> list[tuple[str, bool]]:
        """Return the next indexed events by their ids, and whether each is a call."""
        with self._reading() as db:
            sql = (
                f"SELECT event, role = {_TOOL} FROM messages WHERE event > ?"
                " ORDER BY event LIMIT ?"
            )
            return db.execute(sql, (after, limit)).fetchall()

    def hash_sessions(self) -> dict[str, int]:
        """Return a hash of what is indexed of each session; see ``hash_terms``."""
        with self._reading() as db:
            rows = db.execute("SELECT rowid, * FROM session_terms")
            return {str(number): hash(tuple(terms)) for number, *terms in rows}

    # Writing

    def add(self, events: Iterable[IndexableEvent]) -> None:
        """Index events; those that are indexed already are skipped.

        An event that has moved to another session or project is indexed again, and
        copies of an event under other ids are removed.
        """
        entries = self._make_entries(events)
        with self._writing() as db:
            _add(db, entries)

    def add_older(self, events: Sequence[IndexableEvent]) -> None:
        """Index the next events before ``oldest_id``, and record how far back it got.

        The latest come first; none are given if there are no more.
        """
        entries = self._make_entries(events)
        with self._writing() as db:
            _add(db, entries)
            changes: dict[str, object] = {"is_complete": int(not events)}
            if events:
                changes["oldest_id"] = events[-1].event_id
            db.executemany("REPLACE INTO meta VALUES (?, ?)", changes.items())
            _increase(db, "events_read", len(events))

    def set_session_texts(self, sessions: Iterable[SessionTexts]) -> None:
        """Index the titles and summaries of sessions, in place of the old ones."""
        rows = [(texts.session, *_join_terms(texts)) for texts in sessions]
        with self._writing() as db:
            db.executemany(
                "DELETE FROM session_terms WHERE rowid = ?", [row[:1] for row in rows]
            )
            db.executemany(
                "INSERT INTO session_terms (rowid, title, summary, bullets)"
                " VALUES (?, ?, ?, ?)",
                rows,
            )

    def _make_entries(self, events: Iterable[IndexableEvent]) -> "list[_Entry]":
        entries = []
        for event in events:
            role = event.indexed_role
            if role is None:
                continue
            is_only_name = role is EventRole.TOOL and not self.with_tools
            terms = analyzer.term_text(event.tool if is_only_name else event.text)
            if terms or role is not EventRole.TOOL:
                entries.append(_Entry(event, role, terms, is_only_name))
        return entries

    # Searching

    def search(
        self,
        terms: Sequence[QueryTerm],
        within: MessageFilter,
        *,
        required: Sequence[str] = (),
        with_sessions: bool = False,
    ) -> Matches:
        """Return the messages to rank for a query.

        For a very frequent term only the newest messages are read, and older ones that
        also contain a rarer term.

        Args:
            terms: The query's terms, each once; 62 at most.
            required: Terms that each message must contain.
            with_sessions: Whether to search the titles of sessions as well.
        """
        with self._reading() as db:
            matches = Matches(terms)
            masks = _find(db, matches, within)
            if required:
                rowids = _Lookup(db, within).newest(
                    " AND ".join(map(_quote, required)), MAX_PER_TERM
                )
                own = matches.mask(frozenset(required))
                masks = {rowid: masks.get(rowid, 0) | own for rowid in rowids}
            matches.total = len(masks)
            masks = select(masks, matches.idfs())
            if self.with_tools or len(masks) < MIN_MESSAGES:
                calls = _Lookup(db, within, "call_terms")
                match = " AND ".join(
                    _match(term) for term in terms if not term.is_whole
                )
                rowids = calls.newest(match, MAX_CALLS)
                masks |= dict.fromkeys(rowids, (1 << len(terms)) - 1)
            matches.candidates = _read_candidates(db, masks)
            if with_sessions:
                matches.sessions = _find_sessions(db, terms, within.sessions)
                matches.total += len(matches.sessions)
        return matches

    def count_by_session(
        self, terms: Iterable[QueryTerm], within: MessageFilter
    ) -> dict[int, int]:
        """Return how many messages of each session contain all of some terms."""
        with self._reading() as db:
            lookup = _Lookup(db, within)
            return lookup.count_by_session(" AND ".join(map(_match, terms)))


def _join_terms(texts: SessionTexts) -> tuple[str, ...]:
    return tuple(" ".join(analyzer.terms(text)) for text in texts[1:])


def hash_terms(texts: SessionTexts) -> int:
    """Return the hash of what is indexed of a session, the same in one process."""
    return hash(_join_terms(texts))


_ConversationKey = tuple[int, str, str]
"""Session, subagent and project; those of another project have moved."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An event to index, with its terms, each followed by a space."""

    event: IndexableEvent
    role: EventRole
    terms: str
    only_first_call: bool
    """True if only the first call of its tool in a conversation is indexed."""

    @property
    def conversation(self) -> "_ConversationKey":
        return self.event.session, self.event.subagent, self.event.project

    @property
    def length(self) -> int:
        return self.terms.count(" ")


def _increase(db: sqlite3.Connection, name: str, more: int) -> None:
    db.execute("UPDATE meta SET value = value + ? WHERE name = ?", (more, name))


def _rowid(at_ms: int) -> int:
    """Return the first rowid of a time."""
    return max(0, at_ms - EPOCH_MS) * ROWIDS_A_SECOND // 1000


# Writing


def _add(db: sqlite3.Connection, entries: Sequence[_Entry]) -> None:
    conversations = _open_conversations(db, entries)
    fresh = _replace_known(db, entries, conversations)
    numbers = [conversations[entry.conversation] for entry in fresh]
    rowids = _free_rowids(db, [entry.event.at_ms for entry in fresh])
    _insert(db, list(zip(rowids, numbers, fresh, strict=True)))


def _open_conversations(
    db: sqlite3.Connection, entries: Sequence[_Entry]
) -> dict[_ConversationKey, int]:
    """Return the numbers of the entries' conversations; missing ones are added."""
    keys = {entry.conversation for entry in entries}
    db.executemany(
        "INSERT OR IGNORE INTO conversations (session, subagent, project)"
        " VALUES (?, ?, ?)",
        sorted(keys),
    )
    sql = (
        "SELECT id FROM conversations WHERE session = ? AND subagent = ?"
        " AND project = ?"
    )
    return {key: db.execute(sql, key).fetchone()[0] for key in keys}


def _replace_known(
    db: sqlite3.Connection,
    entries: Sequence[_Entry],
    conversations: Mapping[_ConversationKey, int],
) -> list[_Entry]:
    """Return the entries to insert, in the order of time; remove what they replace."""
    names = [
        name
        for entry in entries
        for name in (entry.event.event_id, *entry.event.copy_ids)
    ]
    rows = db.execute(
        f"SELECT event, id, conversation FROM messages WHERE event {_IN_JSON}",
        (json.dumps(names),),
    )
    indexed = {event: (rowid, number) for event, rowid, number in rows}
    fresh, replaced = dict[str, _Entry](), set[tuple[int, int]]()
    for entry in entries:
        here = indexed.get(entry.event.event_id)
        replaced.update(
            indexed[copy] for copy in entry.event.copy_ids if copy in indexed
        )
        if here and here[1] == conversations[entry.conversation]:
            continue
        if here:
            replaced.add(here)
        fresh[entry.event.event_id] = entry
    _remove(db, replaced)
    return sorted(
        fresh.values(),
        key=lambda entry: (
            entry.event.at_ms,
            entry.event.ordinal,
            entry.event.event_id,
        ),
    )


def _remove(db: sqlite3.Connection, removed: Iterable[tuple[int, int]]) -> None:
    """Remove messages; their terms stay, but lead to no conversation."""
    for rowid, conversation in removed:
        length, role = db.execute(
            "SELECT length, role FROM messages WHERE id = ?", (rowid,)
        ).fetchone()
        if role != _TOOL:
            _count(db, {conversation: (-1, -length)})
        db.execute(
            "UPDATE messages SET event = NULL, conversation = ? WHERE id = ?",
            (_REMOVED, rowid),
        )


def _free_rowids(db: sqlite3.Connection, times_ms: Sequence[int]) -> list[int]:
    """Return a rowid for each time: its own, or the next free one."""
    own = list(map(_rowid, times_ms))
    among = f"SELECT id FROM messages WHERE id {_IN_JSON}"
    taken = {rowid for (rowid,) in db.execute(among, (json.dumps(own),))}
    rowids: list[int] = []
    least = 0
    for rowid in own:
        if rowid < least or rowid in taken:
            rowid = _next_free_rowid(db, max(rowid, least))
        rowids.append(rowid)
        least = rowid + 1
    return rowids


def _next_free_rowid(db: sqlite3.Connection, rowid: int) -> int:
    """Return a rowid if it is free, or the next free one."""
    if not db.execute("SELECT 1 FROM messages WHERE id = ?", (rowid,)).fetchone():
        return rowid
    row = db.execute(
        "SELECT id + 1 FROM messages m WHERE id >= ? AND NOT EXISTS (SELECT 1"
        " FROM messages n WHERE n.id = m.id + 1) ORDER BY id LIMIT 1",
        (rowid,),
    ).fetchone()
    return int(row[0])


def _insert(db: sqlite3.Connection, entries: Sequence[tuple[int, int, _Entry]]) -> None:
    """Insert (rowid, conversation, entry), in the order of the rowids."""
    messages = [row for row in entries if row[2].role is not EventRole.TOOL]
    calls = [
        row
        for row in entries
        if row[2].role is EventRole.TOOL and _is_new_call(db, row[1], row[2])
    ]
    counts: dict[int, tuple[int, int]] = {}
    for _, conversation, entry in messages:
        count, length = counts.get(conversation, (0, 0))
        counts[conversation] = count + 1, length + entry.length
    db.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?)",
        [
            (
                rowid,
                entry.event.event_id,
                conversation,
                _CODES[entry.role],
                entry.length,
            )
            for rowid, conversation, entry in (*messages, *calls)
        ],
    )
    for table, rows in (("message_terms", messages), ("call_terms", calls)):
        db.executemany(
            f"INSERT INTO {table} (rowid, terms) VALUES (?, ?)",
            [
                (rowid, entry.terms + " ".join(_filter_terms(entry)))
                for rowid, _, entry in rows
            ],
        )
    _count(db, counts)


def _is_new_call(db: sqlite3.Connection, conversation: int, entry: _Entry) -> bool:
    """Return True if a tool call is to be indexed; record that the tool was called."""
    first = "INSERT OR IGNORE INTO tools VALUES (?, ?)"
    is_first = db.execute(first, (conversation, entry.event.tool)).rowcount == 1
    return is_first or not entry.only_first_call


def _filter_terms(entry: _Entry) -> list[str]:
    event = entry.event
    return [
        _session_term(event.session),
        *_scope_terms(event.agent, event.project),
        _role_term(entry.role),
        *([_SUBAGENT] if event.subagent else []),
    ]


def _role_term(role: EventRole) -> str:
    return f"{_ROLE}{_CODES[role]}"


def _scope_terms(agent: str, project: str) -> list[str]:
    return [
        f"{kind}{zlib.crc32(name.encode()):x}"
        for kind, name in ((_AGENT, agent), (_PROJECT, project))
        if name
    ]


def _session_term(session: int) -> str:
    return f"{_SESSION}{session:x}"


def _count(db: sqlite3.Connection, counts: Mapping[int, tuple[int, int]]) -> None:
    """Add (messages, terms) to those of conversations."""
    db.executemany(
        "UPDATE conversations SET messages = messages + ?, length = length + ?"
        " WHERE id = ?",
        [(*more, conversation) for conversation, more in counts.items()],
    )
    _increase(db, "messages", sum(messages for messages, _ in counts.values()))


# Searching


class _Lookup:
    """Looks terms up in one FTS5 table, within a filter."""

    def __init__(
        self,
        db: sqlite3.Connection,
        within: MessageFilter,
        table: str = "message_terms",
    ) -> None:
        self._db, self._within, self._table = db, within, table
        since, until = within.filters.since, within.filters.until
        self._scope_match = ""
        self._rowids = (
            _rowid(to_ms(since)) if since else 0,
            _rowid(to_ms(until)) + MAX_ROWID_SHIFT - 1 if until else MAX_ROWID,
        )
        # One JSON list of the conversations that are searched; empty for all.
        self._conversations: list[str] = []
        if within.sessions is not None:
            self._add_sessions(within.sessions)

    def _add_sessions(self, sessions: Collection[int]) -> None:
        scope = self._within.filters.scope
        names = _scope_terms(scope.agent, scope.project)
        if len(sessions) <= MAX_LISTED_SESSIONS:
            listed = (_quote(_session_term(session)) for session in sorted(sessions))
            self._scope_match = " OR ".join(listed) or _quote(_session_term(0))
        else:
            self._scope_match = " AND ".join(map(_quote, names))
        rows = self._db.execute(
            f"SELECT id FROM conversations WHERE session {_IN_JSON}",
            (json.dumps(sorted(sessions)),),
        )
        self._conversations = [json.dumps([number for (number,) in rows.fetchall()])]

    def newest(self, match: str, limit: int) -> list[int]:
        """Return the rowids of the newest messages for an FTS5 query, newest first."""
        # As one JSON text: fetching as many rows takes three times as long.
        (rowids,) = self._db.execute(
            "SELECT json_group_array(number)"
            f" FROM (SELECT {self._table}.rowid AS number {self._from_where()}"
            f" ORDER BY {self._table}.rowid DESC LIMIT ?)",
            (*self._values(match), limit),
        ).fetchone()
        return sorted(json.loads(rowids), reverse=True)

    def count_by_session(self, match: str) -> dict[int, int]:
        """Return how many messages of each listed session an FTS5 query matches."""
        rows = self._db.execute(
            "SELECT (SELECT session FROM conversations WHERE id = m.conversation)"
            f" AS number, count(*) {self._from_where()} GROUP BY number",
            self._values(match),
        )
        return dict(rows.fetchall())

    def count(self, match: str) -> int:
        """Return how many messages an FTS5 query matches.

        If the sessions are too many to be listed in a query, others count as well.
        """
        sql = (
            f"SELECT count(*) FROM {self._table} WHERE {self._table} MATCH ?"
            " AND rowid BETWEEN ? AND ?"
        )
        row = self._db.execute(sql, (self._restrict(match), *self._rowids)).fetchone()
        return int(row[0])

    def totals(self) -> tuple[int, int, int]:
        """Return how many messages, terms and sessions are searched."""
        sessions = self._within.sessions
        condition = "" if sessions is None else f"WHERE session {_IN_JSON}"
        row = self._db.execute(
            "SELECT sum(messages), sum(length), count(DISTINCT session)"
            f" FROM conversations {condition}",
            () if sessions is None else (json.dumps(sorted(sessions)),),
        ).fetchone()
        messages, length, count = (int(value or 0) for value in row)
        return messages, length, count

    def _from_where(self) -> str:
        table, joined, condition = self._table, "", ""
        if self._conversations:
            # CROSS makes SQLite begin with the terms.
            joined = f" CROSS JOIN messages m ON m.id = {table}.rowid"
            condition = f" AND m.conversation {_IN_JSON}"
        return (
            f"FROM {table}{joined} WHERE {table} MATCH ?"
            f" AND {table}.rowid BETWEEN ? AND ?{condition}"
        )

    def _values(self, match: str) -> tuple[object, ...]:
        return (self._restrict(match), *self._rowids, *self._conversations)

    def _restrict(self, match: str) -> str:
        if self._scope_match:
            match = f"({match}) AND ({self._scope_match})"
        filters = self._within.filters
        if filters.role:
            match = f"({match}) AND {_quote(_role_term(filters.role))}"
        if not filters.with_subagents:
            match = f"({match}) NOT {_quote(_SUBAGENT)}"
        for terms in self._within.excluded:
            match = f"({match}) NOT ({' AND '.join(map(_match, terms))})"
        return match


def _match(term: QueryTerm) -> str:
    """Return the FTS5 query for a term; a single letter is not completed."""
    if len(term.prefix) < 2:
        return _quote(term.term)
    prefix = _quote(term.prefix)
    if prefix.endswith('"') and len(prefix) > 2:
        prefix += "*"
    if term.prefix == term.term:
        return prefix
    return f"({_quote(term.term)} OR {prefix})"


def _quote(term: str) -> str:
    """Quote a term for FTS5; one that it would split is required in its parts."""
    parts = [f'"{part}"' for part in _SEPARATORS.split(term) if part]
    return f"({' AND '.join(parts)})" if len(parts) > 1 else "".join(parts) or '""'


def _find(
    db: sqlite3.Connection, matches: Matches, within: MessageFilter
) -> dict[int, int]:
    """Look up all terms, and fill in the statistics.

    Returns:
        Which terms each message contains, by rowid.
    """
    lookup = _Lookup(db, within)
    matches.message_count, matches.length, matches.session_count = lookup.totals()
    masks: dict[int, int] = {}
    frequent: list[int] = []
    for bit, term in enumerate(matches.terms):
        rowids = lookup.newest(_match(term), MAX_PER_TERM + 1)
        matches.frequencies[bit] = len(rowids)
        if len(rowids) > MAX_PER_TERM:
            frequent.append(bit)
            count = min(lookup.count(_match(term)), matches.message_count)
            matches.frequencies[bit] = max(count, len(rowids))
            matches.common.append(term.term)
        _add_masks(masks, rowids[:MAX_PER_TERM], 1 << bit)
    _find_older(lookup, matches, frequent, masks)
    return masks


def _find_older(
    lookup: _Lookup, matches: Matches, frequent: Sequence[int], masks: dict[int, int]
) -> None:
    """Add older messages with a frequent term and another one.

    Frequent terms were cut off at the newest messages. Of the rarest of them, older
    messages are looked up that contain a rarer term, too; if there is none, those that
    contain two or three of them.
    """
    rarest = sorted(frequent, key=lambda bit: (matches.frequencies[bit], bit))
    rarest = rarest[:MAX_COMBINED_TERMS]
    terms = [_match(term) for term in matches.terms]
    if rarer := [match for bit, match in enumerate(terms) if bit not in frequent]:
        for bit in rarest:
            match = f"{terms[bit]} AND ({' OR '.join(rarer)})"
            _add_masks(masks, lookup.newest(match, MAX_PER_TERM), 1 << bit)
        return
    for group in (*combinations(rarest, 2), *combinations(rarest, 3)):
        match = " AND ".join(terms[bit] for bit in group)
        rowids = lookup.newest(match, MAX_SCORED)
        _add_masks(masks, rowids, sum(1 << bit for bit in group))


def select(masks: Mapping[int, int], idfs: Sequence[float]) -> dict[int, int]:
    """Return the messages to score: those with the rarest terms, the newest among
    equals."""
    if len(masks) <= MAX_SCORED:
        return dict(masks)
    totals = {
        mask: sum(idfs[bit] for bit in bits(mask)) for mask in set(masks.values())
    }
    ranked = sorted(
        ((totals[mask], rowid) for rowid, mask in masks.items()), reverse=True
    )
    return {rowid: masks[rowid] for _, rowid in ranked[:MAX_SCORED]}


def _add_masks(masks: dict[int, int], rowids: Iterable[int], mask: int) -> None:
    # A loop takes a quarter of the time of merging dictionaries.
    get = masks.get
    for rowid in rowids:
        masks[rowid] = get(rowid, 0) | mask


def _find_sessions(
    db: sqlite3.Connection,
    terms: Sequence[QueryTerm],
    sessions: Collection[int] | None,
) -> dict[int, tuple[str, str, str]]:
    """Return the terms of the sessions whose titles and summaries match best."""
    condition, values = "", [" OR ".join(map(_match, terms))]
    if sessions is not None:
        # The + keeps FTS5 from looking the terms up once for each session.
        condition = f" AND +rowid {_IN_JSON}"
        values.append(json.dumps(sorted(sessions)))
    weights = f"{SESSION_TITLE}, {SESSION_SUMMARY}, {SESSION_BULLETS}"
    rows = db.execute(
        "SELECT rowid, title, summary, bullets FROM session_terms"
        f" WHERE session_terms MATCH ?{condition}"
        f" ORDER BY bm25(session_terms, {weights}), rowid DESC LIMIT {MAX_SESSIONS}",
        values,
    )
    return {
        number: (title, summary, bullets) for number, title, summary, bullets in rows
    }


def _read_candidates(
    db: sqlite3.Connection, masks: Mapping[int, int]
) -> list[Candidate]:
    """Read the messages to score; removed ones are left out."""
    rows = db.execute(
        "SELECT m.id, m.event, m.role, m.length, c.session,"
        " (SELECT sum(length) FROM conversations s WHERE s.session = c.session)"
        " FROM json_each(?) best CROSS JOIN messages m"
        " ON m.id = best.value JOIN conversations c ON c.id = m.conversation",
        (json.dumps(sorted(masks)),),
    )
    return [
        Candidate(rowid, event, _ROLES[code], length, session, total, masks[rowid])
        for rowid, event, code, length, session, total in rows
    ]


def _read_meta(db: sqlite3.Connection) -> dict[str, str | int]:
    return dict(db.execute("SELECT name, value FROM meta").fetchall())
