"""What the index is made of: its fields, and how their terms come to lie on the disk.

One field holds every term with what it is worth folded in: five fields would make a
query three to five times as slow. Words are cut by ``memory.words`` on both sides.
"""

from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from whoosh import columns, fields, formats

from memtui.model.nodes import TocLevel
from memtui.search import scoring
from memtui.search.documents import Document
from memtui.search.scoring import Said

VERSION = "4"
"""Raised whenever what is indexed changes; an index of another one is made anew."""


MINUTE_S = 60
"""Times are kept in whole minutes."""


class Terms(fields.FieldType):  # type: ignore[misc] # Whoosh has no hints
    """The terms of a document's parts, handed to Whoosh already weighed."""

    def __init__(self) -> None:
        """Keep nothing with a posting: its weight stands beside it anyway."""
        super().__init__(formats.Existence(), analyzer=None)

    def index(
        self, value: tuple[Sequence[Said], TocLevel], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Give each term's bytes and what it is worth; Whoosh asks for more."""
        for term, fit in scoring.fits(*value).items():
            yield encoded(term), 1, fit, b""


class Names(fields.FieldType):  # type: ignore[misc] # Whoosh has no hints
    """Names as they are, each a term: a project's may hold spaces and commas."""

    def __init__(self) -> None:
        """Keep nothing with a posting."""
        super().__init__(formats.Existence(), analyzer=None)

    def index(
        self, value: Sequence[str], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Give each name's bytes, once."""
        for name in dict.fromkeys(value):
            yield encoded(name), 1, 1.0, b""


def schema() -> fields.Schema:
    """The fields of a document."""
    return fields.Schema(
        target=fields.STORED,
        kind=fields.STORED,
        node=fields.STORED,
        level=fields.STORED,
        places=Names(),
        marks=Names(),
        began=fields.COLUMN(columns.NumericColumn("i")),
        ended=fields.COLUMN(columns.NumericColumn("i")),
        terms=Terms(),
    )


def row(document: Document) -> dict[str, Any]:
    """A document's fields."""
    return {
        "target": document.target_id,
        "kind": document.kind.value,
        "node": document.node_id,
        "level": document.level.value,
        "places": (document.node_id,),
        "marks": document.marks,
        "began": minute(document.began),
        "ended": minute(document.ended),
        "terms": (document.said, document.level),
    }


def minute(at: datetime) -> int:
    """The minute a moment lies in."""
    return int(at.timestamp() // MINUTE_S)


def moment(minute: int) -> datetime:
    """The beginning of a minute."""
    return datetime.fromtimestamp(minute * MINUTE_S, UTC)


def encoded(term: str) -> bytes:
    """A term as it lies on the disk."""
    return term.encode("utf-8", "replace")


def place(node_id: str) -> tuple[str, bytes]:
    """The field and the term by which the documents of a node are known."""
    return "places", encoded(node_id)


def column(piece: Any, name: str) -> "array[int]":
    """The times of all documents of a segment, in minutes.

    Whoosh reads one at a time, which takes 0.5 µs each.
    """
    read = piece.column_reader(name, translate=False)
    if isinstance(read, columns.EmptyColumnReader):
        return array("i", read)
    times: array[int] = read._dbfile.get_array(read._basepos, "i", read._count)
    times.extend([0] * (piece.doc_count_all() - len(times)))
    return times
