"""Gathering: what a query's terms are worth in the documents of a piece.

Terms are taken from the rarest to the commonest. Once no document that holds only
those still to come can be among the best, they are looked up in what is found already
and no further (H. Turtle and J. Flood, "Query evaluation: strategies and
optimizations", 1995). After ``POSTINGS`` that is done in any case, so that the work
has a bound that is the same on every machine, however busy it is.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest

from memtui.memory.scores import Unit
from memtui.search.masks import Mask
from memtui.search.pieces import Piece

POSTINGS = 120_000
"""How many postings of a piece a query reads."""

WORTH_ASKING = 4_000
"""With fewer postings to read, it is not asked whether they are needed."""

HELD = 65_536.0
"""Added for each term a document holds; what its fits add up to stays far below."""

FEW = 20
"""With so many times more postings than documents, each document is looked for."""

Lists = list[tuple["array[int]", "array[float]", float]]
"""Documents, what a term is worth in each, and what that is worth in turn."""


@dataclass(slots=True)
class Gathered:
    """What is found in a piece, and what it is worth."""

    piece: Piece
    units: Sequence[Unit]
    most: int
    """How many documents are wanted."""
    least: float
    """What a score may still be multiplied by, at the least."""
    mask: Mask = None
    sums: dict[int, float] = field(default_factory=dict)
    """For each document HELD times the terms it holds, and its weighted fits."""
    left_out: list[Unit] = field(default_factory=list)
    """The terms of which documents were left out that might be among the best."""

    @property
    def bound(self) -> float:
        """What weighted fits can at most add up to, times the number of terms."""
        return sum(unit.idf for unit in self.units) * len(self.units)

    def raw(self, number: int) -> float:
        """A document's score, before it is brought between 0 and 1."""
        held, fits = divmod(self.sums.get(number, 0.0), HELD)
        return held * fits

    def best(self, most: int) -> list[tuple[float, int]]:
        """The best documents with their raw scores, the best first."""
        ranked = ((s // HELD * (s % HELD), n) for n, s in self.sums.items())
        return nlargest(most, ranked)


def gather(
    piece: Piece, units: Sequence[Unit], mask: Mask, *, most: int, least: float
) -> Gathered:
    """Find the documents of a piece that hold any of the terms."""
    found = Gathered(piece, units, most, least, mask)
    listed = [(unit, _lists(piece, unit)) for unit in units]
    listed.sort(key=lambda pair: _size(pair[1]))
    room, rest = POSTINGS, [unit for unit, _ in listed]
    for unit, lists in listed:
        size = _size(lists)
        is_needed = size < WORTH_ASKING or not _is_settled(found, rest)
        if is_needed and (size <= room or not found.sums):
            _add(found, _within(lists, room))
            is_cut = size > room and len(lists) == 1
        else:
            _look_up(found, lists)
            is_cut = is_needed
        if is_cut:
            found.left_out.append(unit)
        room = max(room - size, 0)
        rest.remove(unit)
    return found


def _lists(piece: Piece, unit: Unit) -> Lists:
    told = ((*piece.listed(one.term), one.factor * unit.idf) for one in unit.forms)
    return [found for found in told if found[0]]


def _size(lists: Lists) -> int:
    return sum(len(ids) for ids, _, _ in lists)


def _within(lists: Lists, room: int) -> Lists:
    """As many forms as there is room for; of a first one too long its newest part."""
    ids, fits, worth = lists[0] if lists else (array("I"), array("f"), 0.0)
    kept: Lists = [(ids[-room:], fits[-room:], worth)] if lists else []
    for one in lists[1:]:
        if _size([*kept, one]) > room:
            break
        kept.append(one)
    return kept


def _is_settled(found: Gathered, rest: Sequence[Unit]) -> bool:
    """Whether who holds only the rest of the terms cannot be among the best."""
    if len(found.sums) < found.most:
        return False
    worst = found.best(found.most)[-1][0]
    return sum(unit.idf for unit in rest) * len(rest) < worst * found.least


def _add(found: Gathered, lists: Lists) -> None:
    """Add a term to all documents that hold it."""
    sums, mask = found.sums, found.mask
    get = sums.get
    if len(lists) > 1:
        worths: Iterable[tuple[int, float]] = _best_of(lists).items()
        worth = 1.0
    else:
        ids, fits, worth = lists[0] if lists else ((), (), 1.0)
        worths = zip(ids, fits, strict=True)
    if mask is not None:
        worths = ((number, fit) for number, fit in worths if mask[number])
    for number, fit in worths:
        sums[number] = get(number, 0.0) + (HELD + worth * fit)


def _best_of(lists: Lists) -> dict[int, float]:
    """What the best form of a term is worth in each document."""
    best: dict[int, float] = {}
    get = best.get
    for ids, fits, worth in lists:
        for number, fit in zip(ids, fits, strict=True):
            value = worth * fit
            if value > get(number, 0.0):
                best[number] = value
    return best


def _look_up(found: Gathered, lists: Lists) -> None:
    """Add a term to the documents found already, and to no others."""
    best: dict[int, float] = {}
    for ids, fits, worth in lists:
        for number, fit in _those(found.sums, ids, fits):
            if worth * fit > best.get(number, 0.0):
                best[number] = worth * fit
    for number, value in best.items():
        found.sums[number] += HELD + value


def _those(
    numbers: Iterable[int], ids: "array[int]", fits: "array[float]"
) -> Iterable[tuple[int, float]]:
    """Those of some documents that hold a term, with what it is worth in each."""
    wanted = list(numbers)
    if len(wanted) * FEW > len(ids):
        table = dict(zip(ids, fits, strict=True))
        return [(number, table[number]) for number in wanted if number in table]
    found = []
    for number in wanted:
        at = bisect_left(ids, number)
        if at < len(ids) and ids[at] == number:
            found.append((number, fits[at]))
    return found
