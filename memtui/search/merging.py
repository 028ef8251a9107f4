"""Merging: small pieces of the index are made one now and then.

A commit writes a piece, and every query looks into all of them. What is merged is
written again, so that a piece is only merged with others of about its size, and a
large one never: each document is written a few times, however many commits there are.
"""

from collections.abc import Sequence
from typing import Any

from memtui.search.postings import Merged, Reader

PIECES = 8
"""From so many small pieces on, some are merged."""


LARGE = 25_000
"""A piece of more documents is left as it is, unless most of them are gone."""


SMALL = 400
"""While single changes are written, which are to be seen within a second, nothing
larger is merged: a document takes up to 0.7 ms."""


ALIKE = 2
"""A piece up to so many times as large as all smaller ones is merged with them."""


def merge(writer: Any, pieces: Sequence[Any], largest: int) -> list[Any]:
    """Write small pieces again as part of what is being written.

    Args:
        writer: Who writes a piece.
        pieces: Those there are, as Whoosh describes them.
        largest: The most documents of a piece that is written again.

    Returns:
        Those that stay as they are.
    """
    chosen = _chosen(pieces, largest)
    for piece in chosen:
        reader = Reader(writer.storage, writer.schema, piece)
        start = writer.docnum
        moved = writer.write_per_doc(set(writer.schema.names()), reader)
        writer.fieldwriter.merged.append(Merged(reader, start, moved))
        writer._added = True
    return [piece for piece in pieces if piece not in chosen]


def _chosen(pieces: Sequence[Any], largest: int) -> list[Any]:
    """The emptiest and the smallest pieces, up to where one is not like the others."""
    within = [piece for piece in pieces if piece.doc_count() <= largest]
    chosen = [p for p in within if p.doc_count() * 2 < p.doc_count_all()]
    small = [piece for piece in within if piece not in chosen]
    small.sort(key=lambda piece: int(piece.doc_count()))
    total = sum(piece.doc_count() for piece in chosen)
    for piece in small if len(small) >= PIECES else ():
        if chosen and piece.doc_count() > max(total, 1) * ALIKE:
            break
        if total > largest:
            break
        chosen.append(piece)
        total += piece.doc_count()
    return chosen
