"""Which messages hold which of the words asked for, the newest first.

Of a word that very many messages hold only the newest ``CAP`` are looked at, and as
many of the newest that hold it together with other words of the query: a question is
answered in about the same time whatever there is. Which words these are is told.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from memtui.memory.queries import relevance
from memtui.memory.queries.relevance import WEIGHED, Corpus
from memtui.store.matching import Asked, Bounds, Question, phrase, quoted

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


def find(db: sqlite3.Connection, asked: Sequence[Asked], bounds: Bounds) -> Found:
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
        if len(some) < 2 or relevance.are_enough(found.held, rarities, worth):
            break
        match = " AND ".join(matches[at] for at in some)
        numbers = question.numbers(match, min(CAP, WEIGHED))
        found.note(numbers, sum(1 << at for at in some))


def all_of(db: sqlite3.Connection, terms: Sequence[str], bounds: Bounds) -> list[int]:
    """The newest messages that hold all of some terms, by their numbers."""
    return Question(db, bounds).numbers(" AND ".join(map(quoted, terms)), CAP)


def calls(db: sqlite3.Connection, asked: Sequence[Asked], bounds: Bounds) -> list[int]:
    """The newest calls of tools that hold all the words, by their numbers."""
    match = " AND ".join(map(phrase, asked))
    return Question(db, bounds, "called").numbers(match, CALLS)


def titles(
    db: sqlite3.Connection, asked: Sequence[Asked], sessions: Collection[int] | None
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
