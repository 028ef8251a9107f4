"""Masks: which documents of a piece a query may find, a byte for each.

A mask is made once for a query's conditions and serves every keystroke under them.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from memtui.model.filters import Filters
from memtui.model.nodes import TocLevel
from memtui.search import documents, schema
from memtui.search.documents import mark
from memtui.search.pieces import Piece
from memtui.search.query import Query, Word

Mask = bytes | None
"""A 1 for each document that may be found; None where all may."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a document must be, whatever it says."""

    marks: tuple[frozenset[str], ...] = ()
    """Sets of marks, of each of which it has one."""
    levels: frozenset[TocLevel] = frozenset()
    """The levels of which it is one; any where empty."""
    since: int | None = None
    """The minute it must not have ended before."""
    until: int | None = None
    """The minute it must have begun before."""
    among: frozenset[str] | None = None
    """The nodes it must be of."""
    quoted: tuple[str, ...] = ()
    """Terms it must hold."""
    without: tuple[Word, ...] = ()
    """Words it must not hold."""


def conditions(
    query: Query, among: Iterable[str] | None, *, is_exact: bool
) -> Conditions:
    """The conditions of a query.

    Args:
        query: What is asked.
        among: The nodes that may be found; all where None.
        is_exact: Whether all terms of its phrases must be there.
    """
    filters = query.filters
    return Conditions(
        marks=tuple(filter(None, _marks(filters))),
        levels=filters.levels,
        since=None if filters.since is None else schema.minute(filters.since),
        until=None if filters.until is None else schema.minute(filters.until),
        among=None if among is None else frozenset(among),
        quoted=query.quoted if is_exact else (),
        without=query.without,
    )


def _marks(filters: Filters) -> Iterable[frozenset[str]]:
    by, of = filters.maker, filters.scope
    yield frozenset(mark(documents.AGENT, name) for name in (of.agent,) if name)
    yield frozenset(mark(documents.PROJECT, name) for name in (of.project,) if name)
    yield frozenset(mark(documents.HAS, support) for support in filters.support)
    yield frozenset(mark(documents.BY, one) for one in (by,) if one)


def mask(piece: Piece, of: Conditions) -> Mask:
    """Which documents of a piece fulfil all conditions and are not deleted."""
    levels = {mark(documents.LEVEL, level) for level in of.levels}
    marks = [*of.marks, levels] if levels else of.marks
    told = [
        _only(piece.size, group)
        for group in (
            *(_union(map(piece.marked, group)) for group in marks),
            *(set(piece.listed(term)[0]) for term in of.quoted),
        )
    ]
    if of.among is not None:
        told.append(_only(piece.size, _union(map(piece.placed, of.among))))
    if of.since is not None:
        told.append(bytes(map(of.since.__le__, piece.contents.ended)))
    if of.until is not None:
        told.append(bytes(map(of.until.__gt__, piece.contents.began)))
    gone = set(piece.gone).union(*(_holding(piece, word) for word in of.without))
    if gone:
        told.append(_only(piece.size, gone, says=0))
    return reduce(_both, told) if told else None


def _holding(piece: Piece, word: Word) -> set[int]:
    """The documents that hold a word, as far as it is finished."""
    *whole, last = word.terms
    found = set(piece.listed(last)[0])
    if word.is_begun:
        begun = piece.contents.vocabulary.beginning(schema.encoded(word.begun))
        found |= _union(piece.listed(term.decode())[0] for term in begun)
    return found.intersection(*(piece.listed(term)[0] for term in whole))


def _union(lists: Iterable["array[int]"]) -> set[int]:
    return set[int]().union(*lists)


def _only(size: int, numbers: Iterable[int], says: int = 1) -> bytes:
    """A mask that says one thing of some documents and the opposite of all others."""
    made = bytearray([1 - says]) * size
    for number in numbers:
        made[number] = says
    return bytes(made)


def _both(one: bytes, other: bytes) -> bytes:
    kept = int.from_bytes(one, "big") & int.from_bytes(other, "big")
    return kept.to_bytes(len(one), "big")
