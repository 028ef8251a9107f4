"""How answers are written: lines for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from datetime import datetime, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any


def lines(told: Iterable[str]) -> None:
    """Print lines; a reader that stops listening ends them without complaint."""
    for line in told:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def as_json(value: Any) -> None:
    """Print a value as JSON: dataclasses as objects, times as ISO 8601 in UTC."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:
    """A value in JSON's own types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def clock(at: datetime, zone: tzinfo) -> str:
    """A time of day: ``10:05``."""
    return at.astimezone(zone).strftime("%H:%M")


def date(at: datetime, zone: tzinfo) -> str:
    """A date and time of day: ``2024-01-18 10:05``."""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def number_of(count: int, one: str, many: str = "") -> str:
    """A count with its noun: ``1 session``, ``1,204 sessions``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def short(place: Path | str) -> str:
    """A place as a person writes it, with ``~`` for their home."""
    home, given = Path.home(), Path(place)
    return f"~/{given.relative_to(home)}" if given.is_relative_to(home) else str(place)


def mark(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with the matched words between asterisks."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], "*", text[start:end], "*"]
        at = end
    return "".join([*parts, text[at:]])
