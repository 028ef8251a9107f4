"""Matching: a question put to FTS5, within bounds.

What is asked are terms, never FTS5's own language: nothing that is typed reaches it.
"""

import json
import re
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from memtui.store.said import OF_SUBAGENT, Kind, session_term

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

    def phrase(self, word: Asked) -> str:
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


def phrase(word: Asked) -> str:
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
