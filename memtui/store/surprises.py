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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import surprise
from memtui.store.database import db
from memtui.store.tables import SegmentRow, SessionRow

NUMBER = "<i"
"""How a number is kept: four bytes keep 200,000 terms apart but for five pairs."""

_HOLDING = (
    "SELECT j.value, (SELECT group_concat(session) || ',' || min(began_s)"
    " FROM (SELECT session, began_s FROM terms"
    " WHERE term = j.value AND began_s < ? ORDER BY began_s DESC LIMIT ?))"
    " FROM json_each(?) j"
)
_ADD = (
    "INSERT INTO terms (term, began_s, session, segments) VALUES (?, ?, ?, 1)"
    " ON CONFLICT DO UPDATE SET segments = segments + 1"
)
_LESS = (
    "UPDATE terms SET segments = segments - 1"
    " WHERE term = ? AND began_s = ? AND session = ?"
)
_NONE = (
    "DELETE FROM terms WHERE term = ? AND began_s = ? AND session = ? AND segments < 1"
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a segment is compared by."""

    segment_id: str
    number: int
    """Its session's number in the store."""
    terms: Mapping[str, float]
    """As ``memory.surprise.terms`` gives them."""


def put(segments: Sequence[Told]) -> None:
    """Weigh segments and keep their terms for those that come later.

    Args:
        segments: Each is weighed against what the ones before it have said, too.
    """
    remove([told.segment_id for told in segments])
    began = _began({told.number for told in segments})
    begins = _begins()
    for told in segments:
        if told.number in began:
            began_s = began[told.number]
            numbers = {term: number_of(term) for term in told.terms}
            figure = _weighed(told.terms, numbers, began_s, begins)
            row = sorted(set(numbers.values()))
            db.connection().executemany(_ADD, [(t, began_s, told.number) for t in row])
            SegmentRow.update(
                surprise=figure, terms=struct.pack(f"<{len(row) + 1}i", began_s, *row)
            ).where(SegmentRow.id == told.segment_id).execute()


def of(segment_ids: Iterable[str]) -> dict[str, float]:
    """How surprising segments are, 0 to 1; those not weighed yet are left out."""
    rows = SegmentRow.select(SegmentRow.id, SegmentRow.surprise).where(
        SegmentRow.id.in_(list(segment_ids)), SegmentRow.surprise.is_null(False)
    )
    return dict(rows.tuples())


def remove(segment_ids: Iterable[str]) -> None:
    """Take away what segments have said; for before they are deleted, too."""
    names = json.dumps(list(segment_ids))
    rows = db.execute_sql(
        "SELECT session_id, terms FROM segments WHERE terms IS NOT NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (names,),
    ).fetchall()
    gone = []
    for session, kept in rows:
        began_s, *terms = struct.unpack(f"<{len(kept) // 4}i", kept)
        gone += [(term, began_s, session) for term in terms]
    db.connection().executemany(_LESS, gone)
    db.connection().executemany(_NONE, gone)
    db.execute_sql(
        "UPDATE segments SET surprise = NULL, terms = NULL WHERE terms IS NOT NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (names,),
    )


def number_of(term: str) -> int:
    """The number that stands for a term."""
    raw = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
    return int(struct.unpack(NUMBER, raw)[0])


def _began(numbers: Iterable[int]) -> dict[int, int]:
    """When sessions began, in seconds."""
    rows = SessionRow.select(SessionRow.id, SessionRow.created_ms).where(
        SessionRow.id.in_(list(numbers))
    )
    return {number: at_ms // 1000 for number, at_ms in rows.tuples()}


def _begins() -> list[int]:
    """When all sessions began, in seconds, the earliest first."""
    rows = SessionRow.select(SessionRow.created_ms).order_by(SessionRow.created_ms)
    return [at_ms // 1000 for (at_ms,) in rows.tuples()]


def _weighed(
    told: Mapping[str, float],
    numbers: Mapping[str, int],
    began_s: int,
    begins: Sequence[int],
) -> float:
    asked = (began_s, surprise.COMMON, json.dumps(list(numbers.values())))
    held: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    earlier = bisect_left(begins, began_s)
    for number, joined in db.execute_sql(_HOLDING, asked).fetchall():
        if joined:
            *sessions, first_s = map(int, joined.split(","))
            held[number] = set(sessions)
            if len(sessions) == surprise.COMMON:
                # As often as among the sessions since the first of these.
                among = max(earlier - bisect_left(begins, first_s), 1)
                counts[number] = round(surprise.COMMON * max(earlier / among, 1.0))
    return surprise.of(
        told,
        {term: held.get(number, set()) for term, number in numbers.items()},
        earlier,
        {term: counts[number] for term, number in numbers.items() if number in counts},
    )
