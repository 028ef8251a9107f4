"""The terms of segments, and their surprise: how unlike earlier sessions they are.

A segment is compared with the sessions that began before its own. Its terms are stored
with it as hashes. The table ``terms`` lists the sessions that contain each term, by the
time they began, and counts the segments of the session that contain it, so that a
segment can be removed again.
"""

import hashlib
import json
import struct
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtui.store.database import IN_JSON, db, fetch, next_id
from memtui.store.schema import SegmentRow, SessionRow

HASH_FORMAT = "<i"
"""With four bytes, about five pairs of 200,000 terms have the same hash."""

MAX_START_TIMES = 2000
"""About this many start times of sessions are read; of more sessions, a sample."""

_SESSIONS_WITH_TERM = (
    "SELECT j.value, (SELECT json_insert(json_group_array(session), '$[#]',"
    " min(start_s)) FROM (SELECT session, start_s FROM terms"
    " WHERE term = j.value AND start_s < ? ORDER BY start_s DESC LIMIT ?))"
    " FROM json_each(?) j"
)

_ADD = (
    "INSERT INTO terms (term, start_s, session, segments) VALUES (?, ?, ?, 1)"
    " ON CONFLICT DO UPDATE SET segments = segments + 1"
)

_SUBTRACT = (
    "UPDATE terms SET segments = segments - 1"
    " WHERE term = ? AND start_s = ? AND session = ?"
)

_DELETE = (
    "DELETE FROM terms WHERE term = ? AND start_s = ? AND session = ? AND segments < 1"
)

TermKey = tuple[int, int, int]
"""A term's hash, the second its session began, and the session's number."""

Score = Callable[
    [Mapping[str, float], Mapping[str, Collection[int]], int, Mapping[str, int]], float
]
"""Returns the surprise of a segment from its terms, the earlier sessions with each of
them, the number of earlier sessions, and the number of sessions with common terms."""


@dataclass(frozen=True, slots=True)
class SegmentTerms:
    """The terms a segment is compared by."""

    segment_id: str
    number: int
    """The number of its session."""
    terms: Mapping[str, float]
    """The weights of the terms."""


def add(segments: Sequence[SegmentTerms], score: Score, max_sessions: int) -> None:
    """Score segments and store their terms for later ones.

    Each is compared with those before it, too. At most ``max_sessions`` of the sessions
    with a common term are read.
    """
    before = _read_keys([segment.segment_id for segment in segments])
    starts = _read_starts({segment.number for segment in segments})
    count_before = _session_counter()
    for segment in segments:
        if segment.segment_id not in before or segment.number not in starts:
            continue
        start_s = starts[segment.number]
        hashes = {term: hash_term(term) for term in segment.terms}
        sessions, common = _read_sessions_with_terms(
            hashes, start_s, count_before, max_sessions
        )
        surprise = score(segment.terms, sessions, count_before(start_s), common)
        row = sorted(set(hashes.values()))
        after = {(number, start_s, segment.number) for number in row}
        _replace_keys(before[segment.segment_id], after)
        packed = struct.pack(f"<{len(row) + 1}i", start_s, *row)
        db.execute_sql(
            "UPDATE segments SET surprise = ?, terms = ? WHERE id = ?",
            (surprise, packed, segment.segment_id),
        )


def get(segment_ids: Iterable[str]) -> dict[str, float]:
    """Return the surprise of segments, 0 to 1; those without a score are left out."""
    rows = SegmentRow.select(SegmentRow.id, SegmentRow.surprise).where(
        SegmentRow.id.in_(list(segment_ids)), SegmentRow.surprise.is_null(False)
    )
    return dict(rows.tuples())


def remove(segment_ids: Iterable[str]) -> None:
    """Remove the terms and scores of segments; call it before deleting segments."""
    before = _read_keys(segment_ids)
    for keys in before.values():
        _replace_keys(keys, set())
    db.connection().executemany(
        "UPDATE segments SET surprise = NULL, terms = NULL WHERE id = ?",
        [(name,) for name, keys in before.items() if keys],
    )


def hash_term(term: str) -> int:
    """Return the hash of a term."""
    raw = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest()
    return int(struct.unpack(HASH_FORMAT, raw)[0])


def _read_keys(segment_ids: Iterable[str]) -> dict[str, set[TermKey]]:
    """Return the stored terms of segments; missing segments are left out."""
    sql = f"SELECT id, session_id, terms FROM segments WHERE id {IN_JSON}"
    found: dict[str, set[TermKey]] = {}
    for name, session, packed in fetch(sql, json.dumps(list(segment_ids))):
        start_s, *terms = (
            struct.unpack(f"<{len(packed) // 4}i", packed) if packed else (0,)
        )
        found[name] = {(term, start_s, session) for term in terms}
    return found


def _replace_keys(before: set[TermKey], after: set[TermKey]) -> None:
    removed = sorted(before - after)
    db.connection().executemany(_SUBTRACT, removed)
    db.connection().executemany(_DELETE, removed)
    db.connection().executemany(_ADD, sorted(after - before))


def _read_starts(numbers: Iterable[int]) -> dict[int, int]:
    """Return when sessions began, in seconds."""
    sql = f"SELECT id, created_ms / 1000 FROM sessions WHERE id {IN_JSON}"
    return dict(fetch(sql, json.dumps(list(numbers))))


def _session_counter() -> Callable[[int], int]:
    """Return a function that counts the sessions that began before a second."""
    step = max(1, next_id(SessionRow) // MAX_START_TIMES)
    sql = "SELECT created_ms / 1000 FROM sessions WHERE id % ? = 0 ORDER BY created_ms"
    starts = [start_s for (start_s,) in fetch(sql, step)]
    return lambda at_s: bisect_left(starts, at_s) * step


def _read_sessions_with_terms(
    hashes: Mapping[str, int],
    start_s: int,
    count_before: Callable[[int], int],
    max_sessions: int,
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """Find the earlier sessions with each of some terms.

    Returns:
        The numbers of the sessions, and for common terms an estimate of their count.
    """
    values = start_s, max_sessions, json.dumps(list(hashes.values()))
    sessions: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    total = count_before(start_s)
    for number, found in fetch(_SESSIONS_WITH_TERM, *values):
        *numbers, first_s = json.loads(found)
        sessions[number] = set(numbers)
        if len(numbers) == max_sessions:
            # Assume it is as frequent overall as since the oldest session read.
            among = max(total - count_before(first_s), 1)
            counts[number] = round(max_sessions * max(total / among, 1.0))
    return (
        {term: sessions.get(number, set()) for term, number in hashes.items()},
        {term: counts[number] for term, number in hashes.items() if number in counts},
    )
