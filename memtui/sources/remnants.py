"""What is kept of a hook's file that could not be taken: what was refused of it.

What was taken is not kept a second time: trying the file again must not tell it twice.
Secrets are taken out, also of what cannot be read; all else stays byte for byte, so
that whoever learns to read it later still finds it there.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from memtui.memory import secrets
from memtui.memory.events import clean
from memtui.sources import hooks, pieces
from memtui.sources.pieces import Piece
from memtui.sources.records import Left, Refused
from memtui.sources.spool import Letter

_UTF8 = "utf-8"

Kinds = list[str]
Fields = dict[str, object]
WhyNot = Callable[[Fields], str]
Redact = Callable[[str], secrets.Redacted]


@dataclass(frozen=True, slots=True)
class Remnant:
    """What is put aside of one file."""

    raw: bytes
    is_changed: bool
    """Whether these are other bytes than the file's own."""
    refused: tuple[Refused, ...]
    """Why, for each record, with the line it stands on here; none if none is left."""
    left: tuple[Left, ...] = ()
    """Why other records that were refused are not put aside either."""
    kinds: tuple[str, ...] = ()
    """The kinds of the secrets that were taken out."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words, each with its line."""
        return tuple(f"line {one.line}: {one.reason}" for one in self.refused)


def _nobody(_: Fields) -> str:
    return ""


def of(letter: Letter, now: datetime, why_not: WhyNot = _nobody) -> Remnant:
    """What was refused of a file.

    Args:
        letter: The file; some of it is refused.
        now: The time by which it is.
        why_not: Says of a record why nothing of it may be kept; "" if it may.
    """
    held = pieces.of(letter.raw)
    refused = [piece for piece in held if _is_refused(piece, letter, now)] or held
    left = {id(p): why for p in refused if p.fields and (why := why_not(p.fields))}
    kept = [piece for piece in refused if id(piece) not in left]
    told = tuple(map(Left, left.values()))
    if not kept:
        return Remnant(b"", is_changed=True, refused=(), left=told)
    raw, kinds = _clean(letter.raw, kept, is_whole=len(kept) == len(held))
    reasons = tuple(map(_plain, _refusals(raw, letter, now)))
    return Remnant(raw, raw != letter.raw, reasons, told, kinds)


def _is_refused(piece: Piece, letter: Letter, now: datetime) -> bool:
    return any(True for _ in _refusals(piece.raw, letter, now))


def _plain(refused: Refused) -> Refused:
    return replace(refused, reason=reason(refused))


def without_secrets(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """All of a file but its secrets, and their kinds."""
    return _clean(raw, pieces.of(raw), is_whole=True)


def decoded(raw: bytes) -> str:
    """The text that bytes are, or would be."""
    return raw.decode(_encoding(raw), "replace")


def reason(refused: Refused) -> str:
    """Why something was refused, in words that can be kept."""
    return secrets.redact(clean(refused.reason)).text


def _refusals(raw: bytes, letter: Letter, now: datetime) -> Iterator[Refused]:
    readings = hooks.read(
        raw,
        received_at=letter.received_at,
        now=now,
        agent=letter.agent,
        event=letter.event,
    )
    return (reading for reading in readings if isinstance(reading, Refused))


def _clean(
    raw: bytes, held: list[Piece], *, is_whole: bool
) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of some pieces without secrets; the file's own where it has none."""
    kinds: Kinds = []
    cleaned = list(_cleaned(held, kinds))
    if is_whole and not kinds:
        return raw, ()
    return pieces.joined(cleaned), tuple(kinds)


def _cleaned(held: list[Piece], kinds: Kinds) -> Iterator[Piece]:
    """The pieces without secrets; what is damaged may share one with its neighbour."""
    for is_damaged, some in groupby(held, lambda piece: piece.fields is None):
        if is_damaged:
            raw = pieces.joined(list(some))
            yield Piece(_in_bytes(raw, kinds, secrets.redact_torn), None)
        else:
            yield from (_in_record(piece, kinds) for piece in some)


def _in_record(piece: Piece, kinds: Kinds) -> Piece:
    raw = piece.raw
    try:
        fields, found = secrets.redact_strings(piece.fields)
        if found:
            raw = json.dumps(fields, ensure_ascii=False).encode(_UTF8, "replace")
            kinds += found
    except RecursionError:
        pass
    # A name that stands in it twice hides what it said first.
    return Piece(_in_bytes(raw, kinds, secrets.redact), piece.fields)


def _in_bytes(raw: bytes, kinds: Kinds, redact: Redact) -> bytes:
    """Bytes without the secrets of the text they are, or would be."""
    encoding = _encoding(raw)
    errors = "surrogateescape" if encoding == _UTF8 else "surrogatepass"
    end = len(raw) if encoding == _UTF8 else len(raw) // 2 * 2
    redacted = redact(raw[:end].decode(encoding, errors))
    if not redacted.kinds:
        return raw
    kinds += redacted.kinds
    return redacted.text.encode(encoding, errors) + raw[end:]


def _encoding(raw: bytes) -> str:
    """How to read bytes: as UTF-16 where every other one is zero, else as UTF-8."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if raw[first::2].count(0) > len(raw) // 4:
            return encoding
    return _UTF8
