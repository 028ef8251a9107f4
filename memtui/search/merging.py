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

ALIKE = 2
"""A piece up to so many times as large as all smaller ones is merged with them."""


def merge(writer: Any, pieces: Sequence[Any]) -> list[Any]:
    """Write small pieces again as part of what is being written.

    Args:
        writer: Who writes a piece.
        pieces: Those there are, as Whoosh describes them.

    Returns:
        Those that stay as they are.
    """
    chosen = _chosen(pieces)
    for piece in chosen:
        reader = Reader(writer.storage, writer.schema, piece)
        start = writer.docnum
        moved = writer.write_per_doc(set(writer.schema.names()), reader)
        writer.fieldwriter.merged.append(Merged(reader, start, moved))
        writer._added = True
    return [piece for piece in pieces if piece not in chosen]


def _chosen(pieces: Sequence[Any]) -> list[Any]:
    emptied = [p for p in pieces if p.doc_count() * 2 < p.doc_count_all()]
    small = [p for p in pieces if p not in emptied and p.doc_count() <= LARGE]
    small.sort(key=lambda piece: int(piece.doc_count()))
    chosen, total = emptied, sum(piece.doc_count() for piece in emptied)
    if len(small) >= PIECES:
        for piece in small:
            if chosen and piece.doc_count() > max(total, 1) * ALIKE:
                break
            chosen.append(piece)
            total += piece.doc_count()
    return chosen
