"""A snapshot: the index between two commits, its words and how often they are held."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from memtui.model.hits import IndexMatches
from memtui.search import scoring
from memtui.search.masks import Conditions, Mask, mask
from memtui.search.pieces import Contents, Piece

MASKS = 16
"""How many conditions' masks are kept."""


KEPT = 4096
"""How many terms' counts and completions are kept."""


ANSWERS = 8
"""How many long answers are kept: of an agent's question some are asked for twice."""


class Snapshot:
    """The pieces of the index as a reader sees them."""

    def __init__(self, reader: Any, known: Mapping[str, Contents]) -> None:
        """Take a reader, and what is known of its pieces."""
        self.contents: dict[str, Contents] = {}
        self.pieces: list[Piece] = []
        for leaf, _ in reader.leaf_readers():
            if leaf.doc_count_all():
                name = leaf.segment().segment_id()
                self.contents[name] = known.get(name) or Contents(leaf)
                self.pieces.append(Piece(leaf, self.contents[name]))
        self.size = sum(piece.size for piece in self.pieces)
        self.alive = self.size - sum(len(piece.gone) for piece in self.pieces)
        self._counts: dict[str, int] = {}
        self._begun: dict[str, tuple[str, ...]] = {}
        self._masks: dict[Conditions, list[Mask]] = {}
        self._answers: dict[Hashable, IndexMatches] = {}

    def let_go(self) -> None:
        """Let go of the files: what was read of them stays known."""
        self.pieces = []
        for contents in self.contents.values():
            contents.reader = None

    @property
    def newest(self) -> int:
        """The last minute any document tells of."""
        return max((piece.contents.newest for piece in self.pieces), default=0)

    def frequency(self, term: str) -> int:
        """How many documents hold a term."""
        if term not in self._counts:
            if len(self._counts) >= KEPT:
                self._counts.clear()
            self._counts[term] = sum(piece.frequency(term) for piece in self.pieces)
        return self._counts[term]

    def completions(self, start: str) -> tuple[str, ...]:
        """The words that begin so and are held by most documents."""
        if start not in self._begun:
            if len(self._begun) >= KEPT:
                self._begun.clear()
            self._begun[start] = self._commonest(start.encode("utf-8", "replace"))
        return self._begun[start]

    def _commonest(self, start: bytes) -> tuple[str, ...]:
        known = [piece.contents.vocabulary for piece in self.pieces]
        most = scoring.EXPANSIONS
        found = {t for one in known for t in one.commonest(start, most + 1)} - {start}
        ranked = sorted((-sum(one.count(t) for one in known), t) for t in found)
        return tuple(term.decode() for _, term in ranked[:most])

    def masks(self, wanted: Conditions) -> list[Mask]:
        """What each piece may answer with."""
        if wanted not in self._masks:
            if len(self._masks) >= MASKS:
                self._masks.clear()
            self._masks[wanted] = [mask(piece, wanted) for piece in self.pieces]
        return self._masks[wanted]

    def remembered(
        self, asked: Hashable, find: Callable[[], IndexMatches]
    ) -> IndexMatches:
        """What was answered when the same was asked, or is found now."""
        if asked not in self._answers:
            if len(self._answers) >= ANSWERS:
                del self._answers[next(iter(self._answers))]
            self._answers[asked] = find()
        return self._answers[asked]
