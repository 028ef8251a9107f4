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

from memtui.search.masks import Mask
from memtui.search.pieces import Piece
from memtui.search.scoring import Unit

POSTINGS = 120_000
"""How many postings of a piece a query reads."""


WORTH_ASKING = 4_000
"""With fewer postings to read, it is not asked whether they are needed."""


HELD = 65_536.0
"""Added for each term a document holds; what its fits add up to stays far below."""


FEW = 20
"""With so many times more postings than documents, each document is looked for."""


CLOSE = 8
"""How many documents that were not read to the end are looked at closely."""


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
    others: dict[int, float] = field(default_factory=dict)
    """The same of documents that cannot be among the best, as far as it was read."""
    unread: list[Lists] = field(default_factory=list)
    """The terms that were not read for those."""
    left_out: list[Unit] = field(default_factory=list)
    """The terms of which documents were left out that might be among the best."""

    @property
    def bound(self) -> float:
        """What weighted fits can at most add up to, times the number of terms."""
        return sum(unit.idf for unit in self.units) * len(self.units)

    def best(self) -> list[tuple[float, int]]:
        """All that may be among the best, whatever they are still multiplied by.

        Returns:
            Raw scores and documents, the best first and the latest among equals.
        """
        raws = self._raws()
        worst = self._worst(raws)
        kept = zip(raws, self.sums, strict=True)
        return sorted([one for one in kept if one[0] >= worst], reverse=True)

    def _raws(self) -> list[float]:
        return [found // HELD * (found % HELD) for found in self.sums.values()]

    def _worst(self, raws: list[float]) -> float:
        """The least raw score that may still be among the best."""
        best = nlargest(self.most, raws)
        return best[-1] * self.least if len(best) == self.most else 0.0

    def best_among(self, numbers: Iterable[int]) -> tuple[float, int] | None:
        """The best of some documents with its raw score; None if none is found.

        Of those that were not read to the end, the most promising ones are.
        """
        sums, others = self.sums, self.others
        known = ((sums.get(n) or others.get(n, 0.0), n) for n in numbers)
        promising = nlargest(CLOSE, ((_raw(s), n) for s, n in known if s))
        whole = ((_raw(sums.get(n) or self._read_on(n)), n) for _, n in promising)
        return max(whole, default=None)

    def _read_on(self, number: int) -> float:
        found = self.others[number]
        for lists in self.unread:
            told = (w * f for i, fs, w in lists for _, f in _those([number], i, fs))
            if best := max(told, default=0.0):
                found += HELD + best
        return found

    def narrow(self, rest: Sequence[Unit]) -> bool:
        """Go on with those alone that may be among the best, if they are known.

        Args:
            rest: The terms that are still to come.

        Returns:
            Whether nobody who holds only these can be among the best.
        """
        if len(self.sums) < self.most:
            return False
        worst = self._worst(self._raws())
        idf, count = sum(unit.idf for unit in rest), len(rest)
        if idf * count >= worst:
            return False
        self.others = self.sums
        self.sums = {
            number: found
            for number, found in self.others.items()
            if (found // HELD + count) * (found % HELD + idf) >= worst
        }
        return True


def _raw(found: float) -> float:
    """A score, before it is brought between 0 and 1."""
    return found // HELD * (found % HELD)


def gather(
    piece: Piece, units: Sequence[Unit], mask: Mask, *, most: int, least: float
) -> Gathered:
    """Find the documents of a piece that hold any of the terms.

    Args:
        piece: Where they are.
        units: The terms.
        mask: Which documents may be found.
        most: How many are wanted.
        least: What a score may still be multiplied by, at the least.
    """
    found = Gathered(piece, units, most, least, mask)
    listed = [(unit, _lists(piece, unit)) for unit in units]
    listed.sort(key=lambda pair: _size(pair[1]))
    room = POSTINGS
    for place, (unit, lists) in enumerate(listed):
        rest, size = [one for one, _ in listed[place:]], _size(lists)
        if found.others or (size >= WORTH_ASKING and found.narrow(rest)):
            found.unread.append(lists)
            _look_up(found, lists)
            continue
        if size <= room or not found.sums:
            _add(found, _within(lists, room))
        else:
            _look_up(found, lists)
        if size > room:
            found.left_out.append(unit)
        room = max(room - size, 0)
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


def _add(found: Gathered, lists: Lists) -> None:
    """Add a term to all documents that hold it."""
    mask, worths = found.mask, _best_of(lists)
    if mask is not None:
        worths = {number: worth for number, worth in worths.items() if mask[number]}
    if not found.sums:
        found.sums = {number: HELD + worth for number, worth in worths.items()}
        return
    sums, get = found.sums, found.sums.get
    for number, worth in worths.items():
        sums[number] = get(number, 0.0) + (HELD + worth)


def _best_of(lists: Lists) -> dict[int, float]:
    """What the best form of a term is worth in each document."""
    best: dict[int, float] = {}
    for ids, fits, worth in lists:
        # As few steps of Python for each posting as can be.
        more = dict(zip(ids, [worth * fit for fit in fits], strict=True))
        both = best.keys() & more.keys() if best else ()
        better = {
            number: best[number] for number in both if best[number] > more[number]
        }
        best |= more
        best |= better
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
