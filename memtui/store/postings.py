"""Which messages hold which of the words asked for, the newest first.

Of a word that very many messages hold only the newest ``CAP`` are looked at, and as
many of the newest that hold it together with other words of the query: a question is
answered in about the same time whatever there is. Which words these are is told.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.memory.relevance import Corpus
from memtui.store.said import OF_SUBAGENT, Kind, session_term

CAP = 3_000
"""How many messages of one word are looked at; of a rarer word all are."""

ENDLESS = 2**62
"""No message has so high a number."""

LISTED = 400
"""Up to so many sessions are named in a question; of more, each message is asked."""

PAIRED = 4
"""How many of the very common words are looked up with the others: the rarest ones.
What the rest of them say is little."""

ENOUGH = 500
"""So many messages that hold all of some very common words are enough."""

TELLING = 0.05
"""A word that is worth less than this share of the query's rarest one is not looked up
with others: it says hardly anything."""

COUNTED = 50_000
"""Up to how many messages are counted that hold a word that begins so."""

TITLE, SUMMARY = 2.0, 3.0
"""What a word weighs in a session's title, and in its summary (decisions §8)."""

TITLES = 50
"""How many sessions are found by their titles at most."""

CALLS = 100
"""How many calls of tools are found at most."""

_CUTS = re.compile(r'[\x00-\x20"\x7f]+')
"""What stands between terms in the index (``messages``): no term has it."""


@dataclass(frozen=True, slots=True)
class Asked:
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
    without: tuple[tuple[Asked, ...], ...] = ()
    """Words that must not be there, each by the terms that it takes."""

    @property
    def is_of_moments(self) -> bool:
        """Whether they are of single messages, not of whole sessions."""
        return bool(self.kinds or self.first or self.last < ENDLESS)


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


def find(db: sqlite3.Connection, asked: Sequence[Asked], bounds: Bounds) -> Found:
    """Look words up in what was said.

    Args:
        db: From ``Messages.reading``.
        asked: The words, each once; 62 at most.
        bounds: Which messages may be found.
    """
    question = _Question(db, bounds)
    found = Found()
    found.messages, found.size, found.threads = question.totals()
    matches = [_match(word) for word in asked]
    for at, match in enumerate(matches):
        numbers = question.numbers(match, CAP + 1)
        found.counts.append(len(numbers))
        if len(numbers) > CAP:
            found.common.append(at)
            numbers.pop()
        found.note(numbers, 1 << at)
    for at in found.common:
        found.counts[at] = question.count(asked[at], matches[at], found.messages)
    _look_up_together(question, matches, found)
    return found


def _look_up_together(
    question: "_Question", matches: Sequence[str], found: Found
) -> None:
    """Look very common words up with others, where they say something.

    Each of the rarest of them with any rarer word or, where there is none, with one
    another; and all of them together, then all but the commonest, until enough hold
    them.
    """
    rarities = Corpus(found.counts, found.messages, 0, 0).rarities()
    least = TELLING * max(rarities, default=0.0)
    common = sorted(
        (at for at in found.common if rarities[at] >= least),
        key=lambda at: (found.counts[at], at),
    )
    rarer = [matches[at] for at in range(len(matches)) if at not in found.common]
    for at in common[:PAIRED]:
        paired = (matches[other] for other in common[:PAIRED] if other != at)
        if others := rarer or list(paired):
            match = f"{matches[at]} AND ({' OR '.join(others)})"
            found.note(question.numbers(match, CAP), 1 << at)
    for count in range(len(common), 1, -1):
        match = " AND ".join(matches[at] for at in common[:count])
        numbers = question.numbers(match, CAP)
        found.note(numbers, sum(1 << at for at in common[:count]))
        if len(numbers) >= ENOUGH:
            break


def all_of(db: sqlite3.Connection, terms: Sequence[str], bounds: Bounds) -> list[int]:
    """The newest messages that hold all of some terms, by their numbers."""
    return _Question(db, bounds).numbers(" AND ".join(map(_quoted, terms)), CAP)


def calls(db: sqlite3.Connection, asked: Sequence[Asked], bounds: Bounds) -> list[int]:
    """The newest calls of tools that hold all the words, by their numbers."""
    match = " AND ".join(map(_match, asked))
    return _Question(db, bounds, "called").numbers(match, CALLS)


def titles(
    db: sqlite3.Connection, asked: Sequence[Asked], sessions: Collection[int] | None
) -> dict[int, float]:
    """The sessions whose titles or summaries answer best, with BM25's score.

    Args:
        db: From ``Messages.reading``.
        asked: The words.
        sessions: The numbers of the sessions that may be found; None for all.
    """
    within, values = "", [" OR ".join(map(_match, asked))]
    if sessions is not None:
        within = " AND rowid IN (SELECT value FROM json_each(?))"
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


class _Question:
    """What is asked of one table of words, within bounds."""

    def __init__(
        self, db: sqlite3.Connection, bounds: Bounds, table: str = "said"
    ) -> None:
        self._db, self._bounds, self._table = db, bounds, table
        sessions = bounds.sessions
        self._listed = ""
        self._others: list[str] = []
        self._values: list[object] = [bounds.first, bounds.last]
        if sessions is not None and len(sessions) <= LISTED:
            terms = (_quoted(session_term(session)) for session in sorted(sessions))
            self._listed = " OR ".join(terms) or _quoted(session_term(0))
        if sessions is not None:
            self._others.append("t.session IN (SELECT value FROM json_each(?))")
            self._values.append(json.dumps(sorted(sessions)))
        if bounds.kinds:
            self._others.append("m.kind IN (SELECT value FROM json_each(?))")
            self._values.append(json.dumps(sorted(bounds.kinds)))

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

    def count(self, word: Asked, match: str, messages: int) -> int:
        """How many messages a very common word has, more or less.

        Within some sessions it is taken to be as common as anywhere; who said it, and
        when, is not looked at.

        Args:
            word: Which.
            match: As FTS5 is asked for it.
            messages: How many there are in these sessions.
        """
        everywhere = self._frequency(word, match)
        if self._bounds.sessions is None:
            return everywhere
        everything = max(1, _messages(self._db)[0])
        return max(CAP + 1, everywhere * messages // everything)

    def _frequency(self, word: Asked, match: str) -> int:
        """How many messages of all hold a word."""
        if word.begun:
            some = f"SELECT 1 FROM said WHERE said MATCH ? LIMIT {COUNTED}"
            asked = f"SELECT count(*) FROM ({some})"
            row = self._db.execute(asked, (match,)).fetchone()
        else:
            asked = "SELECT doc FROM vocabulary WHERE term = ?"
            row = self._db.execute(asked, (word.term,)).fetchone()
        return int(row[0]) if row else 0

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
        if self._others:
            joined = (
                f" JOIN messages m ON m.id = {table}.rowid"
                " JOIN threads t ON t.id = m.thread"
            )
        others = "".join(f" AND {other}" for other in self._others)
        return (
            f"FROM {table}{joined} WHERE {table} MATCH ?"
            f" AND {table}.rowid BETWEEN ? AND ?{others}"
        )

    def _all_of(self, match: str) -> str:
        if self._listed:
            match = f"({match}) AND ({self._listed})"
        if not self._bounds.with_subagents:
            match = f"({match}) NOT {_quoted(OF_SUBAGENT)}"
        for terms in self._bounds.without:
            match = f"({match}) NOT ({' AND '.join(map(_match, terms))})"
        return match


def _messages(db: sqlite3.Connection) -> tuple[int, int]:
    """How many messages there are, and how many terms they have."""
    asked = "SELECT name, value FROM facts WHERE name IN ('messages', 'size')"
    facts = dict(db.execute(asked).fetchall())
    return int(facts["messages"]), int(facts["size"])


def _match(word: Asked) -> str:
    """A word as FTS5 is asked for it; a single letter is not looked on from."""
    if len(word.begun) < 2:
        return _quoted(word.term)
    begun = _quoted(word.begun)
    if begun.endswith('"') and len(begun) > 2:
        begun += "*"
    return begun if word.begun == word.term else f"({_quoted(word.term)} OR {begun})"


def _quoted(term: str) -> str:
    """A term as FTS5 takes it; one that it would cut is asked for in its parts."""
    parts = [f'"{part}"' for part in _CUTS.split(term) if part]
    return f"({' AND '.join(parts)})" if len(parts) > 1 else "".join(parts) or '""'
