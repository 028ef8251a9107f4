"""Surprises: what sessions spoke of, kept small, and how far segments differ from it.

Every segment keeps the terms it is compared by, each as a number made by hashing; the
table ``terms`` holds for each such number the sessions that have it, by the time they
began. A segment is weighed against the sessions that began before its own; how many
of a session's segments hold a term is counted, so that taking one away leaves what the
others say.
"""

import hashlib
import json
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtui.store.database import db, next_id
from memtui.store.schema import SegmentRow, SessionRow
from memtui.summarize import surprise

NUMBER = "<i"
"""How a number is kept: four bytes keep 200,000 terms apart but for five pairs."""

RANKED = 2000
"""Of about so many sessions it is looked at when they began; of more by share."""

_HOLDING = (
    "SELECT j.value, (SELECT json_insert(json_group_array(session), '$[#]',"
    " min(start_s)) FROM (SELECT session, start_s FROM terms"
    " WHERE term = j.value AND start_s < ? ORDER BY start_s DESC LIMIT ?))"
    " FROM json_each(?) j"
)

_ADD = (
    "INSERT INTO terms (term, start_s, session, segments) VALUES (?, ?, ?, 1)"
    " ON CONFLICT DO UPDATE SET segments = segments + 1"
)

_LESS = (
    "UPDATE terms SET segments = segments - 1"
    " WHERE term = ? AND start_s = ? AND session = ?"
)

_NONE = (
    "DELETE FROM terms WHERE term = ? AND start_s = ? AND session = ? AND segments < 1"
)

Said = tuple[int, int, int]
"""The key of a row: a term's number, the second its session began, the session."""


@dataclass(frozen=True, slots=True)
class SegmentTerms:
    """What a segment is compared by."""

    segment_id: str
    number: int
    """Its session's number in the store."""
    terms: Mapping[str, float]
    """As ``memory.keywords.surprise.terms`` gives them."""


def add(segments: Sequence[SegmentTerms]) -> None:
    """Weigh segments and keep their terms for those that come later.

    Args:
        segments: Each is weighed against what the ones before it have said, too.
    """
    before = _kept([told.segment_id for told in segments])
    began = _began({told.number for told in segments})
    earlier = _earlier()
    for told in segments:
        if told.segment_id not in before or told.number not in began:
            continue
        start_s = began[told.number]
        numbers = {term: hash_term(term) for term in told.terms}
        figure = _weighed(told.terms, numbers, start_s, earlier)
        row = sorted(set(numbers.values()))
        says = {(number, start_s, told.number) for number in row}
        _replace(before[told.segment_id], says)
        db.execute_sql(
            "UPDATE segments SET surprise = ?, terms = ? WHERE id = ?",
            (figure, struct.pack(f"<{len(row) + 1}i", start_s, *row), told.segment_id),
        )


def get(segment_ids: Iterable[str]) -> dict[str, float]:
    """How surprising segments are, 0 to 1; those not weighed yet are left out."""
    rows = SegmentRow.select(SegmentRow.id, SegmentRow.surprise).where(
        SegmentRow.id.in_(list(segment_ids)), SegmentRow.surprise.is_null(False)
    )
    return dict(rows.tuples())


def remove(segment_ids: Iterable[str]) -> None:
    """Take away what segments have said; for before they are deleted, too."""
    before = _kept(segment_ids)
    for said in before.values():
        _replace(said, set())
    db.connection().executemany(
        "UPDATE segments SET surprise = NULL, terms = NULL WHERE id = ?",
        [(name,) for name, said in before.items() if said],
    )


def hash_term(term: str) -> int:
    """The number that stands for a term."""
    raw = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
    return int(struct.unpack(NUMBER, raw)[0])


def _kept(segment_ids: Iterable[str]) -> dict[str, set[Said]]:
    """What these segments have said until now; those there are not are left out."""
    rows = db.execute_sql(
        "SELECT id, session_id, terms FROM segments"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(segment_ids)),),
    ).fetchall()
    found: dict[str, set[Said]] = {}
    for name, session, kept in rows:
        start_s, *terms = struct.unpack(f"<{len(kept) // 4}i", kept) if kept else (0,)
        found[name] = {(term, start_s, session) for term in terms}
    return found


def _replace(said: set[Said], says: set[Said]) -> None:
    gone = sorted(said - says)
    db.connection().executemany(_LESS, gone)
    db.connection().executemany(_NONE, gone)
    db.connection().executemany(_ADD, sorted(says - said))


def _began(numbers: Iterable[int]) -> dict[int, int]:
    """When sessions began, in seconds."""
    rows = SessionRow.select(SessionRow.id, SessionRow.created_ms).where(
        SessionRow.id.in_(list(numbers))
    )
    return {number: at_ms // 1000 for number, at_ms in rows.tuples()}


def _earlier() -> Callable[[int], int]:
    """What tells how many sessions began before a second."""
    each = max(1, next_id(SessionRow) // RANKED)
    asked = (
        "SELECT created_ms / 1000 FROM sessions WHERE id % ? = 0 ORDER BY created_ms"
    )
    begins = [start_s for (start_s,) in db.execute_sql(asked, (each,)).fetchall()]
    return lambda at_s: bisect_left(begins, at_s) * each


def _weighed(
    told: Mapping[str, float],
    numbers: Mapping[str, int],
    start_s: int,
    earlier: Callable[[int], int],
) -> float:
    asked = (
        start_s,
        surprise.MAX_SESSIONS_PER_TERM,
        json.dumps(list(numbers.values())),
    )
    held: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    every = earlier(start_s)
    for number, told_by in db.execute_sql(_HOLDING, asked).fetchall():
        *sessions, first_s = json.loads(told_by)
        held[number] = set(sessions)
        if len(sessions) == surprise.MAX_SESSIONS_PER_TERM:
            # As often as among the sessions since the first of these.
            among = max(every - earlier(first_s), 1)
            counts[number] = round(
                surprise.MAX_SESSIONS_PER_TERM * max(every / among, 1.0)
            )
    return surprise.surprise_score(
        told,
        {term: held.get(number, set()) for term, number in numbers.items()},
        every,
        {term: counts[number] for term, number in numbers.items() if number in counts},
    )
