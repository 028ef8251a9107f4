"""A snapshot: the index between two commits, its words and how often they are held."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from memtui.memory import scores
from memtui.search.masks import Conditions, Mask, mask
from memtui.search.pieces import Contents, Piece

MASKS = 16
"""How many conditions' masks are kept."""


class Snapshot:
    """The pieces of the index as a searcher sees them."""

    def __init__(self, searcher: Any, known: Mapping[str, Contents]) -> None:
        """Take a searcher, and what is known of its pieces."""
        self.contents: dict[str, Contents] = {}
        self.pieces: list[Piece] = []
        for reader, _ in searcher.reader().leaf_readers():
            if reader.doc_count_all():
                name = reader.segment().segment_id()
                self.contents[name] = known.get(name) or Contents(reader)
                self.pieces.append(Piece(reader, self.contents[name]))
        self.size = sum(piece.size for piece in self.pieces)
        self.alive = self.size - sum(len(piece.gone) for piece in self.pieces)
        self.frequency = lru_cache(maxsize=4096)(self._frequency)
        self.completions = lru_cache(maxsize=256)(self._completions)
        self.masks = lru_cache(maxsize=MASKS)(self._masks)

    @property
    def newest(self) -> int:
        """The last minute any document tells of."""
        return max((piece.contents.newest for piece in self.pieces), default=0)

    def _frequency(self, term: str) -> int:
        return sum(piece.frequency(term) for piece in self.pieces)

    def _completions(self, start: str) -> tuple[str, ...]:
        """The words that begin so and are held by most documents."""
        begun = start.encode("utf-8", "replace")
        known = [piece.contents.vocabulary for piece in self.pieces]
        found = {
            term
            for one in known
            for term in one.commonest(begun, scores.EXPANSIONS + 1)
        } - {begun}
        ranked = sorted((-sum(one.count(t) for one in known), t) for t in found)
        return tuple(term.decode() for _, term in ranked[: scores.EXPANSIONS])

    def _masks(self, wanted: Conditions) -> list[Mask]:
        """What each piece may answer with."""
        return [mask(piece, wanted) for piece in self.pieces]
