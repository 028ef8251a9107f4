"""Finding: the best documents of a snapshot, and where the wide ones lead."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from memtui.model.hits import HitKind, IndexMatch, IndexMatches
from memtui.model.nodes import TocLevel
from memtui.search import scoring
from memtui.search.gathering import Gathered, gather
from memtui.search.masks import Conditions
from memtui.search.pieces import Piece
from memtui.search.scoring import Unit
from memtui.search.snapshots import Snapshot

MINUTES_A_DAY = 24 * 60


MANY = 200
"""Answers with so many matches take long to make, and are remembered."""


def find(
    snapshot: Snapshot,
    units: Sequence[Unit],
    wanted: Conditions,
    limit: int,
    *,
    is_recent_first: bool,
) -> IndexMatches:
    """The best documents that hold any of the terms, the best first.

    Args:
        snapshot: What is looked through.
        units: The query's terms.
        wanted: What a document must be besides.
        limit: The most of them.
        is_recent_first: Whether old ones are worth less.
    """
    if not units or not snapshot.pieces:
        return IndexMatches()
    find = partial(_find, snapshot, units, wanted, limit, is_recent_first)
    if limit < MANY:
        return find()
    return snapshot.remembered((tuple(units), wanted, limit, is_recent_first), find)


def _find(
    snapshot: Snapshot,
    units: Sequence[Unit],
    wanted: Conditions,
    limit: int,
    is_recent_first: bool,
) -> IndexMatches:
    least = scoring.LASTING if is_recent_first else 1.0
    gathered = _gather(snapshot, units, wanted, limit, least)
    ranked = [
        (score, place, number)
        for place, one in enumerate(gathered)
        for score, number in _ranked(one, least, snapshot)
    ]
    # Among equals what was written last comes first, however many are asked for.
    ranked.sort(reverse=True)
    leads = _Leads(snapshot, units, wanted, gathered)
    matches = tuple(
        _match(score, snapshot.pieces[place], number, leads)
        for score, place, number in ranked[:limit]
    )
    left_out = dict.fromkeys(u.term for g in gathered for u in g.left_out)
    return IndexMatches(matches, tuple(left_out))


def _gather(
    snapshot: Snapshot,
    units: Sequence[Unit],
    wanted: Conditions,
    limit: int,
    least: float,
) -> list[Gathered]:
    masks = snapshot.masks(wanted)
    return [
        gather(piece, units, allowed, most=limit, least=least)
        for piece, allowed in zip(snapshot.pieces, masks, strict=True)
    ]


def _ranked(
    gathered: Gathered, least: float, snapshot: Snapshot
) -> list[tuple[float, int]]:
    """The documents of a piece that may be among the best, with their scores."""
    best, ended = gathered.best(), gathered.piece.contents.ended
    if least < 1.0:
        newest = snapshot.newest
        aged = (scoring.recency((newest - ended[n]) / MINUTES_A_DAY) for _, n in best)
        best = [(raw * age, n) for (raw, n), age in zip(best, aged, strict=True)]
    bound = gathered.bound
    return [(raw / bound, number) for raw, number in best]


def _match(score: float, piece: Piece, number: int, leads: "_Leads") -> IndexMatch:
    told = piece.stored(number)
    kind = HitKind(told["kind"])
    is_wide = kind is HitKind.NODE and told["level"] != TocLevel.SEGMENT
    lead = leads.of(piece, number) if is_wide else told["node"]
    return IndexMatch(kind, told["target"], score, lead or told["node"])


class _Leads:
    """Knows the segment of each wide node that answers best."""

    def __init__(
        self,
        snapshot: Snapshot,
        units: Sequence[Unit],
        wanted: Conditions,
        gathered: Sequence[Gathered],
    ) -> None:
        self._snapshot, self._units, self._wanted = snapshot, units, wanted
        self._gathered: Sequence[Gathered] | None = gathered
        if wanted.levels and TocLevel.SEGMENT not in wanted.levels:
            self._gathered = None

    def of(self, piece: Piece, number: int) -> str:
        """The segment's id; "" where none answers."""
        if self._gathered is None:
            wanted = replace(self._wanted, levels=frozenset())
            self._gathered = _gather(self._snapshot, self._units, wanted, 1, 1.0)
        span = piece.contents.began[number], piece.contents.ended[number]
        found = [
            (*best, one.piece)
            for one in self._gathered
            if (best := one.best_among(one.piece.leaves_between(*span)))
        ]
        if not found:
            return ""
        _, leaf, where = max(found, key=lambda told: told[0])
        return where.stored(leaf)["node"]
