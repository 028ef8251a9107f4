"""What the index is made of: its fields, and how their terms come to lie on the disk.

One field holds every term with its weight folded in: five fields would make a query
three to five times as slow. Words are cut by ``memory.words`` on both sides.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from whoosh import fields, formats
from whoosh.codec.whoosh3 import W3Codec

from memtui.memory import words

VERSION = "3"
"""Raised whenever what is indexed changes; an index of another one is made anew."""

Part = tuple[str, float]
"""A text of a document, and what one of its words weighs."""


class Terms(fields.FieldType):  # type: ignore[misc] # Whoosh has no hints
    """The terms of a document's parts, handed to Whoosh already counted and weighed.

    Whoosh's own way, a token for each word, takes twice as long.
    """

    def __init__(self) -> None:
        """Keep nothing with a posting: its weight stands beside it anyway."""
        super().__init__(formats.Existence(), analyzer=None, scorable=True)

    def index(
        self, value: Sequence[Part], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Give each term's bytes, count and weight; Whoosh asks for a payload too."""
        counts: Counter[str] = Counter()
        weights: dict[str, float] = {}
        for text, weight in value:
            found = Counter(words.terms(text))
            counts.update(found)
            for term, count in found.items():
                weights[term] = weights.get(term, 0.0) + weight * count
        for term, count in counts.items():
            yield term.encode("utf-8", "replace"), count, weights[term], b""


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
            yield name.encode("utf-8", "replace"), 1, 1.0, b""


def schema() -> fields.Schema:
    """The fields of a document."""
    return fields.Schema(
        target=fields.STORED,
        kind=fields.STORED,
        node=fields.ID,
        agents=Names(),
        projects=Names(),
        terms=Terms(),
    )


def codec() -> W3Codec:
    """How postings are written: most terms have few, which packing only slows down.

    Nor are the lengths of documents looked up again for each of their postings; a
    bound of a block's best score is a little higher for that, and still a bound.
    """
    chosen = W3Codec(compression=0)
    chosen.length_stats = False
    return chosen
