"""What one file of the hooks directory holds, piece by piece.

Whatever can be read as JSON is a piece for each record; of a file in JSON lines that
are partly damaged each line is one; what cannot be read at all is one piece whole.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.sources import lines
from memtui.sources.records import Record

Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that can be kept or deleted by itself."""

    raw: bytes
    fields: Fields | None
    """The record; None for what cannot be read."""


def of(raw: bytes) -> list[Piece]:
    """The pieces of a file; together they are all of it."""
    whole = list(lines.of_payload(raw))
    if all(isinstance(record, Record) for record in whole):
        found = [record for record in whole if isinstance(record, Record)]
        if len(found) == 1:
            return [Piece(raw, found[0].fields)]
        return [Piece(_dumped(record.fields), record.fields) for record in found]
    by_line = [list(_of_line(line)) for line in raw.splitlines() if line.strip()]
    if any(piece.fields is not None for pieces in by_line for piece in pieces):
        return [piece for pieces in by_line for piece in pieces]
    return [Piece(raw, None)]


def _of_line(line: bytes) -> Iterator[Piece]:
    found = list(lines.of_line(line, 1))
    if len(found) == 1 and isinstance(found[0], Record):
        yield Piece(line, found[0].fields)
    elif found and all(isinstance(record, Record) for record in found):
        for record in found:
            if isinstance(record, Record):
                yield Piece(_dumped(record.fields), record.fields)
    else:
        yield Piece(line, None)


def _dumped(fields: Fields) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def joined(pieces: list[Piece]) -> bytes:
    """The bytes of a file with these pieces."""
    return b"\n".join(piece.raw.strip(b"\n") for piece in pieces) + b"\n"
