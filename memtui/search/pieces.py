"""Pieces: the segments Whoosh keeps, each written once and read whole.

What a piece says never changes; only which of its documents are deleted does. So what
was read of one is kept for as long as it is part of the index.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import nlargest
from typing import Any

from memtui.search import postings, schema
from memtui.search.documents import LEAF

Ranked = tuple[int, bytes]
"""How many documents hold a term, and the term."""


class Vocabulary:
    """The sorted terms of a piece, and how many of its documents hold each."""

    def __init__(self, terms: Sequence[bytes], counts: Sequence[int]) -> None:
        """Take them as they were read."""
        self.terms, self.counts = terms, counts

    def count(self, term: bytes) -> int:
        """How many documents hold a term."""
        at = bisect_left(self.terms, term)
        found = at < len(self.terms) and self.terms[at] == term
        return self.counts[at] if found else 0

    def between(self, start: bytes) -> range:
        """The places of the terms that begin so."""
        # No byte of UTF-8 is 255.
        end = bisect_left(self.terms, start + b"\xff")
        return range(bisect_left(self.terms, start), end)

    def commonest(self, start: bytes, most: int) -> list[bytes]:
        """The terms that begin so and are held most often."""
        places = nlargest(most, self.between(start), key=self.counts.__getitem__)
        return [self.terms[at] for at in places]


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
