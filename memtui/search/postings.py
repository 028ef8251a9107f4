"""How postings and words lie on the disk: lists that are read whole, in one gulp.

Whoosh keeps segments, commits and what is deleted; it reads its own postings one at a
time, which takes 2 µs each. Here a term's documents and what it weighs in each are two
plain arrays, and beside them lies the sorted vocabulary with its counts.
"""

import heapq
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3TermInfo
from whoosh.matching import ListMatcher
from whoosh.reading import SegmentReader, TermNotFound

from memtui.search.mapping import Segment

TERMS = "terms"
"""The field whose vocabulary is kept."""


WORDS = ".voc"
"""The ending of the vocabulary's file."""


IDS, FITS = "I", "f"
"""What arrays hold: numbers of documents, and what a term is worth in each."""


_ID_BYTES = array(IDS).itemsize


_FIT_BYTES = array(FITS).itemsize


Listed = tuple["array[int]", "array[float]"]
"""A term's documents, ascending, and what it is worth in each."""


Key = tuple[str, bytes]
"""A field and a term in it."""


NONE: Listed = (array(IDS), array(FITS))


class Codec(W3Codec):  # type: ignore[misc] # Whoosh has no hints
    """Whoosh's, but for the postings."""

    length_stats = False

    def new_segment(self, storage: Any, indexname: str) -> Segment:
        """Describe a piece that is being written."""
        return Segment(self, indexname)

    def field_writer(self, storage: Any, segment: Any) -> "_Writer":
        """Write postings our way."""
        return _Writer(self, storage, segment)

    def postings_reader(
        self,
        dbfile: Any,
        terminfo: Any,
        format_: Any,
        term: Any = None,
        scorer: Any = None,
    ) -> Any:
        """Postings as Whoosh walks them, to delete and to merge."""
        ids, fits = _read(dbfile, terminfo)
        empty = [b""] * len(ids)
        return ListMatcher(
            ids, fits, empty, format_, scorer=scorer, term=term, terminfo=terminfo
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """A piece that becomes part of the one being written."""

    reader: Any
    start: int
    """The number its first document gets."""
    moved: dict[int, int] | None
    """The numbers documents get; None where none is deleted, and all follow on."""

    def lists(self) -> Iterator[tuple[Key, Listed]]:
        """All terms in their order, with their documents as they will be."""
        for key, ids, fits in self.reader.lists():
            if self.moved is None:
                yield key, (array(IDS, [self.start + number for number in ids]), fits)
                continue
            kept = [at for at, number in enumerate(ids) if number in self.moved]
            if kept:
                yield (
                    key,
                    (
                        array(IDS, [self.moved[ids[at]] for at in kept]),
                        array(FITS, [fits[at] for at in kept]),
                    ),
                )


class _Writer(W3FieldWriter):  # type: ignore[misc] # Whoosh has no hints
    """Writes each term's postings as two arrays."""

    def __init__(self, codec: Codec, storage: Any, segment: Any) -> None:
        super().__init__(codec, storage, segment)
        self.merged: list[Merged] = []
        self._words: list[bytes] = []
        self._counts = array(IDS)

    def add_postings(self, schema: Any, lengths: Any, items: Iterable[Any]) -> None:
        """Write what comes as (field, term, document, weight, value), in order."""
        sources = [_listed(items), *(piece.lists() for piece in self.merged)]
        together = heapq.merge(*sources, key=itemgetter(0))
        for (field, term), group in groupby(together, itemgetter(0)):
            (_, (ids, fits)), *others = group
            for _, (more_ids, more_fits) in others:
                ids, fits = ids + more_ids, fits + more_fits
            self._put(field, term, ids, fits)
        for piece in self.merged:
            piece.reader.close()

    def _put(
        self, field: str, term: bytes, ids: "array[int]", fits: "array[float]"
    ) -> None:
        number = self._fieldmap.setdefault(field, len(self._fieldmap))
        info = W3TermInfo(df=len(ids))
        info.set_extent(self._postfile.tell(), len(ids))
        self._postfile.write(ids.tobytes())
        self._postfile.write(fits.tobytes())
        self._tindex.add(number.to_bytes(2, "big") + term, info.to_bytes())
        if field == TERMS:
            self._words.append(term)
            self._counts.append(len(ids))

    def close(self) -> None:
        """Write the vocabulary, too."""
        with self._create_file(WORDS) as file:
            file.write(len(self._words).to_bytes(_ID_BYTES, "big"))
            file.write(self._counts.tobytes())
            file.write(b"\n".join(self._words))
        super().close()


def _listed(items: Iterable[Any]) -> Iterator[tuple[Key, Listed]]:
    """Postings that come one at a time, a term at a time."""
    for key, group in groupby(items, itemgetter(0, 1)):
        _, _, ids, fits, _ = zip(*group, strict=True)
        yield key, (array(IDS, ids), array(FITS, fits))


class Reader(SegmentReader):  # type: ignore[misc] # Whoosh has no hints
    """Reads a piece that is to be merged with others."""

    def lists(self) -> Iterator[tuple[Key, "array[int]", "array[float]"]]:
        """All terms in their order, with the documents of each."""
        for key, info in self._terms.items():
            yield (key, *_read(self._terms._postfile, info))


def listed(leaf: Any, field: str, term: bytes) -> Listed:
    """A term's postings in a segment, those of deleted documents included."""
    try:
        info = leaf._terms.term_info(field, term)
    except TermNotFound:
        return NONE
    return _read(leaf._terms._postfile, info)


def vocabulary(leaf: Any) -> tuple[bytes, "array[int]"]:
    """A segment's terms in order, a line each, and how many documents hold each."""
    name = leaf.segment().make_filename(WORDS)
    storage = leaf.storage()
    size = storage.file_length(name)
    with storage.open_file(name) as file:
        raw = bytes(file.get(0, size))
    count = int.from_bytes(raw[:_ID_BYTES], "big")
    start = _ID_BYTES * (count + 1)
    counts = array(IDS)
    counts.frombytes(raw[_ID_BYTES:start])
    return raw[start:], counts


def _read(file: Any, info: Any) -> Listed:
    offset, count = info.extent()[0], info.doc_frequency()
    middle = count * _ID_BYTES
    raw = file.get(offset, middle + count * _FIT_BYTES)
    ids: array[int] = array(IDS)
    fits: array[float] = array(FITS)
    ids.frombytes(raw[:middle])
    fits.frombytes(raw[middle:])
    return ids, fits
