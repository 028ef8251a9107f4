"""From bytes to JSON records: whatever is whole is saved, whatever is not is named."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from memtui.memory.events import Event
from memtui.memory.sessions import SessionFacts

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""A longer line is not read: it would need more than a gigabyte of memory."""

_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be taken, and why."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """A record of a kind that is known and not kept."""

    reason: str
    line: int = 0


Reading = Event | SessionFacts | Refused | Left
"""What a source gives: events, what it learnt of sessions, what it did not take."""


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and the line it stands on, from 1."""

    line: int
    fields: dict[str, object]


def of_file(file: BinaryIO) -> Iterator[Record | Refused]:
    """Read a file of JSON lines, one object or several to a line."""
    number = 0
    while raw := file.readline(MAX_RECORD_BYTES):
        number += 1
        if len(raw) == MAX_RECORD_BYTES and not raw.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and rest[-1:] != b"\n":
                pass
            size = f"{MAX_RECORD_BYTES // 1024**2} MB"
            yield Refused(f"a line longer than {size}", number)
            continue
        yield from of_line(raw, number)


def of_line(raw: bytes, number: int) -> Iterator[Record | Refused]:
    """Read the objects of one line."""
    text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n\0")
    is_cut = not raw.endswith(b"\n")
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            reason = "the last line is cut off" if is_cut else "not valid JSON"
            yield Refused(reason, number)
            return
        text = text[end:].lstrip(" \t\r\0,")
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            yield Refused("not a JSON object", number)


def of_payload(raw: bytes) -> Iterator[Record | Refused]:
    """Read what a hook was given: objects, pretty or not, an array, or JSON lines."""
    text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n\0")
    values = _values(text)
    if values is None and b"\n" in raw.strip():
        for number, line in enumerate(raw.splitlines(keepends=True), 1):
            yield from of_line(line, number)
    elif values is None:
        yield Refused("not valid JSON", 1)
    for number, item in enumerate(values or (), 1):
        if isinstance(item, dict):
            yield Record(number, item)
        else:
            yield Refused("not a JSON object", number)


def _values(text: str) -> list[object] | None:
    """All JSON values of a text, arrays taken apart; None if any of it is no JSON."""
    values: list[object] = []
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        values += value if isinstance(value, list) else [value]
        text = text[end:].lstrip(" \t\r\n\0,")
    return values


def time_of(value: object) -> datetime | None:
    """An aware time from ISO 8601 text or from milliseconds since 1970; else None.

    Text without a zone is read as UTC.
    """
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None


def text_of(value: object) -> str:
    """A value as text: itself if it is text, nothing if it is nothing, else JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
