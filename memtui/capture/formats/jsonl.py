"""Files of JSON lines: read from a cursor on, however they grew since.

Whatever is whole is saved, whatever is not is named. Of a line that is not ended yet
the whole objects are taken, and the rest is awaited.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Record,
)

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""A longer line is not read: it would need more than a gigabyte of memory."""


RECORDS_PER_CURSOR = 500
"""How many records are read between two cursors."""


FINGERPRINT_BYTES = 4096
"""How much of a file's beginning, and of what lies before the cursor, is compared."""


TOO_DEEP = "nested too deeply"
"""Why a record is refused whose values lie in each other a thousand times."""


_DECODER = json.JSONDecoder(strict=False)


_BETWEEN = "\ufeff \t\r\n\0,"
"""What may stand between the objects of a line, and around them."""


class Reader(Protocol):
    """Reads the records of one file, in their order."""

    def take(self, record: Record) -> Iterator[ParsedItem]:
        """Read one record."""

    def rest(self) -> Iterator[ParsedItem]:
        """Say what is known when there is nothing more to read for now."""

    def state(self) -> Mapping[str, object]:
        """What another reader must be given to go on, in JSON's own types."""

    @property
    def is_held(self) -> bool:
        """Whether something is held back that ``rest`` will give a little later."""


MakeReader = Callable[[Mapping[str, object]], Reader]
"""Makes a reader that goes on from a state; an empty one at a file's start."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a line of a file is."""

    records: Callable[[bytes, int], Iterator[Record | InvalidRecord]]
    """The records of one line, given its number."""
    whole: Callable[[bytes], int]
    """How many bytes of a line that no newline ends are whole all the same."""


def read(
    path: Path, start: Cursor | None, make: MakeReader, form: Form | None = None
) -> Iterator[ParsedItem]:
    """Read a file from a cursor to its end.

    Args:
        path: The file.
        start: Where an earlier reading ended; None to read from the start.
        make: Makes the reader of its records.
        form: What its lines are; JSON when None.

    Yields:
        The readings, and a cursor after every few records and at the end. First of
        all ``Restarted`` if what the earlier reading read is not there any more.

    Raises:
        OSError: The file cannot be read.
    """
    with require_regular_file(path).open("rb") as file:
        at = start or Cursor()
        if at.offset and (reason := _changed(file, at)):
            yield FileReplaced(reason)
            at = Cursor()
        yield from _read(file, at, make(at.state), form or JSON_LINES)


def _read(
    file: BinaryIO, at: Cursor, reader: Reader, form: Form
) -> Iterator[ParsedItem]:
    file.seek(at.offset)
    offset, number = at.offset, at.line
    torn = False
    for count, raw in enumerate(_lines(file), 1):
        if raw is None:
            size = f"{MAX_RECORD_BYTES // 1024**2} MB"
            yield InvalidRecord(f"a line longer than {size}", number + 1)
            offset = file.tell()
        else:
            whole = len(raw) if raw.endswith(b"\n") else form.whole(raw)
            for record in form.records(raw[:whole], number + 1) if whole else ():
                if isinstance(record, InvalidRecord):
                    yield record
                else:
                    yield from taken(reader, record)
            offset += whole
            if whole < len(raw):
                torn = bool(_plain(raw[whole:]))
                break
        if raw is None or raw.endswith(b"\n"):
            number += 1
        if count % RECORDS_PER_CURSOR == 0:
            # The state is taken now: what reads on changes it.
            yield Cursor(offset, number, _fingerprint(file, offset), reader.state())
            file.seek(offset)
    yield from reader.rest()
    if torn:
        yield PendingRecord("the last line is cut off", number + 1)
    print_ = _fingerprint(file, offset)
    yield Cursor(offset, number, print_, reader.state(), reader.is_held)


def taken(reader: Reader, record: Record) -> Iterator[ParsedItem]:
    """Read one record, or say that it is nested too deeply for that."""
    try:
        yield from reader.take(record)
    except RecursionError:
        yield InvalidRecord(TOO_DEEP, record.line)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is too long."""
    while raw := file.readline(MAX_RECORD_BYTES):
        if len(raw) == MAX_RECORD_BYTES and not raw.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and rest[-1:] != b"\n":
                pass
            yield None
        else:
            yield raw


def _changed(file: BinaryIO, at: Cursor) -> str:
    """Why a file is not the one that was read up to a cursor; "" if it is."""
    if os.fstat(file.fileno()).st_size < at.offset:
        return "the file is shorter than it was"
    if _fingerprint(file, at.offset) != at.fingerprint:
        return "the file was rewritten"
    return ""


def _fingerprint(file: BinaryIO, offset: int) -> str:
    """A hash of a file's beginning and of the bytes just before an offset.

    Whoever rewrites the middle of a file nearly always moves what comes after it.
    """
    file.seek(0)
    digest = hashlib.blake2b(file.read(min(FINGERPRINT_BYTES, offset)), digest_size=16)
    file.seek(max(0, offset - FINGERPRINT_BYTES))
    digest.update(file.read(min(FINGERPRINT_BYTES, offset)))
    return digest.hexdigest()


def read_head(path: Path, limit: int) -> list[Record]:
    """The records among the first lines of a file, for telling its format.

    Raises:
        OSError: The file cannot be read.
    """
    found: list[Record] = []
    with require_regular_file(path).open("rb") as file:
        for number, raw in enumerate(_lines(file), 1):
            found += [
                r for r in parse_line(raw or b"", number) if isinstance(r, Record)
            ]
            if number >= limit:
                break
    return found


def require_regular_file(path: Path) -> Path:
    """A path that is safe to open: reading a pipe would wait for its writer.

    Raises:
        OSError: There is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def _whole(raw: bytes) -> int:
    """How many bytes at the beginning of a line are whole objects."""
    text = raw.decode("utf-8", "surrogateescape")  # so that places can be told in bytes
    at = _after(text, 0)
    whole = 0
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            break
        whole = at = _after(text, end)
    return len(text[:whole].encode("utf-8", "surrogateescape"))


def _after(text: str, at: int) -> int:
    """The place of the next character that does not only stand between objects."""
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def parse_line(raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
    """Read the objects of one line."""
    text = _plain(raw)
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            yield InvalidRecord("not valid JSON", number)
            return
        text = text[end:].lstrip(_BETWEEN)
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            yield InvalidRecord("not a JSON object", number)


JSON_LINES = Form(parse_line, _whole)


def parse_payload(raw: bytes) -> Iterator[Record | InvalidRecord]:
    """Read what a hook was given: objects, pretty or not, an array, or JSON lines."""
    values = _values(_plain(raw))
    if values is None and b"\n" in raw.strip():
        yield from _of_lines(raw)
    elif values is None:
        yield InvalidRecord("not valid JSON", 1)
    elif not values:
        yield InvalidRecord("nothing in it", 1)
    for number, item in enumerate(values or (), 1):
        if isinstance(item, dict):
            yield Record(number, item)
        else:
            yield InvalidRecord("not a JSON object", number)


def _of_lines(raw: bytes) -> Iterator[Record | InvalidRecord]:
    """Read a payload by its lines; if no object says anything, it is one fault."""
    refused: list[InvalidRecord] = []
    is_any = False
    for number, line in enumerate(raw.splitlines(keepends=True), 1):
        for one in parse_line(line, number):
            if isinstance(one, Record) and one.fields and not is_any:
                is_any = True
                yield from refused
            if is_any:
                yield one
            elif isinstance(one, InvalidRecord):
                refused.append(one)
    if not is_any:
        yield InvalidRecord("not valid JSON", 1)


def payload_values(raw: bytes) -> list[object] | None:
    """The JSON values of a payload, arrays taken apart; None if some is no JSON."""
    return _values(_plain(raw))


def _values(text: str) -> list[object] | None:
    values: list[object] = []
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        values += value if isinstance(value, list) else [value]
        text = text[end:].lstrip(_BETWEEN)
    return values


def _plain(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip(_BETWEEN)
