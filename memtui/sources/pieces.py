"""What one file of the hooks directory holds, piece by piece.

Whatever can be read as JSON is a piece for each value; of a file in JSON lines that
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
    """The record; None for what is none."""


def of(raw: bytes) -> list[Piece]:
    """The pieces of a file; together they are all of it."""
    values = lines.values_of(raw)
    if values:
        alone = raw if len(values) == 1 else None
        return [_of_value(value, alone) for value in values]
    by_line = [list(_of_line(line)) for line in raw.splitlines() if line.strip()]
    if any(piece.fields for pieces in by_line for piece in pieces):
        return [piece for pieces in by_line for piece in pieces]
    return [Piece(raw, None)]


def _of_value(value: object, raw: bytes | None) -> Piece:
    return Piece(
        _dumped(value) if raw is None else raw,
        value if isinstance(value, dict) else None,
    )


def _of_line(line: bytes) -> Iterator[Piece]:
    found = list(lines.of_line(line, 1))
    if len(found) == 1 and isinstance(found[0], Record):
        yield Piece(line, found[0].fields)
    elif found and all(isinstance(record, Record) for record in found):
        for record in found:
            if isinstance(record, Record):
                yield _of_value(record.fields, None)
    else:
        yield Piece(line, None)


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def joined(pieces: list[Piece]) -> bytes:
    """The bytes of a file with these pieces."""
    return b"\n".join(piece.raw.strip(b"\n") for piece in pieces) + b"\n"
