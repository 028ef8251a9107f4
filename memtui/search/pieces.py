"""Pieces: the segments Whoosh keeps, each written once and read whole.

What a piece says never changes; only which of its documents are deleted does. So what
was read of one is kept for as long as it is part of the index.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import accumulate
from typing import Any

from memtui.search import postings, schema
from memtui.search.documents import LEAF

BLOCK = 32
"""Of so many terms of a vocabulary the first is known by itself."""


class Vocabulary:
    """The sorted terms of a piece, and how many of its documents hold each.

    They stay one text, of which the first of every few terms is known by itself: as an
    object each, those of a million messages took 120 MB.
    """

    def __init__(self, text: bytes, counts: Sequence[int]) -> None:
        """Take them as they were read.

        Args:
            text: The terms in their order, a line each.
            counts: How many documents hold each.
        """
        self._text, self._counts = text, counts
        terms = text.split(b"\n") if counts else []
        self._heads = terms[::BLOCK]
        lengths = (
            sum(map(len, block)) + len(block)
            for block in (terms[at : at + BLOCK] for at in range(0, len(terms), BLOCK))
        )
        self._starts = array("Q", accumulate(lengths, initial=0))

    def count(self, term: bytes) -> int:
        """How many documents hold a term."""
        block = bisect_right(self._heads, term) - 1
        if block < 0:
            return 0
        terms = self._blocks(block, block + 1)
        at = bisect_left(terms, term)
        found = at < len(terms) and terms[at] == term
        return self._counts[block * BLOCK + at] if found else 0

    def beginning(self, start: bytes) -> list[bytes]:
        """The terms that begin so."""
        return self._terms(self._between(start))

    def commonest(self, start: bytes, most: int) -> list[bytes]:
        """The terms that begin so and are held most often."""
        places = nlargest(most, self._between(start), key=self._counts.__getitem__)
        return [term for at in places for term in self._terms(range(at, at + 1))]

    def _between(self, start: bytes) -> range:
        # No byte of UTF-8 is 255.
        return range(self._place(start), self._place(start + b"\xff"))

    def _place(self, term: bytes) -> int:
        """The place of the first term that is not before this one."""
        block = max(bisect_right(self._heads, term) - 1, 0)
        return block * BLOCK + bisect_left(self._blocks(block, block + 1), term)

    def _terms(self, places: range) -> list[bytes]:
        first, last = places.start // BLOCK, -(-places.stop // BLOCK)
        skipped = first * BLOCK
        found = self._blocks(first, last)
        return found[places.start - skipped : places.stop - skipped]

    def _blocks(self, first: int, last: int) -> list[bytes]:
        """The terms of these blocks; none where there are no terms at all."""
        last = min(last, len(self._heads))
        if first >= last:
            return []
        return self._text[self._starts[first] : self._starts[last] - 1].split(b"\n")


class Contents:
    """What is read of a piece, each when it is first needed."""

    def __init__(self, reader: Any) -> None:
        """Remember who reads; another may later, of the same piece."""
        self.reader = reader

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its terms."""
        return Vocabulary(*postings.vocabulary(self.reader))

    @cached_property
    def began(self) -> "array[int]":
        """The minute each document begins in."""
        return schema.column(self.reader, "began")

    @cached_property
    def ended(self) -> "array[int]":
        """The minute each document ends in."""
        return schema.column(self.reader, "ended")

    @cached_property
    def leaves(self) -> list[int]:
        """The documents of segments of the table of contents, in order of time."""
        ids, _ = postings.listed(self.reader, "marks", schema.encoded(LEAF))
        return sorted(ids, key=self.began.__getitem__)

    @cached_property
    def newest(self) -> int:
        """The last minute any document tells of."""
        return max(self.ended, default=0)


class Piece:
    """One piece as it is now."""

    def __init__(self, reader: Any, contents: Contents) -> None:
        """Take its reader, and what is known of it already."""
        self._reader = reader
        self.contents = contents
        contents.reader = reader
        self.size: int = reader.doc_count_all()
        self.gone: frozenset[int] = reader.deleted_docs_set

    def listed(self, term: str) -> postings.Listed:
        """The documents that hold a term, deleted ones too, and what it is worth."""
        return postings.listed(self._reader, "terms", schema.encoded(term))

    def marked(self, name: str) -> "array[int]":
        """The documents with a mark."""
        return postings.listed(self._reader, "marks", schema.encoded(name))[0]

    def placed(self, node_id: str) -> "array[int]":
        """The documents of a node."""
        return postings.listed(self._reader, *schema.place(node_id))[0]

    def frequency(self, term: str) -> int:
        """How many documents hold a term, deleted ones too."""
        return int(self._reader.doc_frequency("terms", schema.encoded(term)))

    def stored(self, number: int) -> dict[str, str]:
        """What a document is called."""
        found: dict[str, str] = self._reader.stored_fields(number)
        return found

    def leaves_between(self, began: int, ended: int) -> Iterator[int]:
        """The segments that begin in a span of minutes, both ends included."""
        leaves, begins = self.contents.leaves, self.contents.began
        start = bisect_left(leaves, began, key=begins.__getitem__)
        end = bisect_left(leaves, ended + 1, key=begins.__getitem__)
        return iter(leaves[start:end])
