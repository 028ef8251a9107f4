"""What was said, put into the index of messages: each event once.

An event that is known under another id, or that another session has taken over, is
put in anew; what stood for it before is forgotten, and its number is never used again.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from memtui.store.messages import Messages, number_at

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
    index: Messages, batch: Sequence[Said], facts: Sequence[tuple[str, object]]
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


def put_titles(index: Messages, titles: Sequence[Title]) -> None:
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
