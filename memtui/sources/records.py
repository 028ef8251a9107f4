"""What a source gives: readings, and the small things all sources read with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memtui.memory.events import Event
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and the line it stands on, from 1."""

    line: int
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be taken, and why."""

    reason: str
    line: int = 0
    until: datetime | None = field(default=None, compare=False)
    """Until when it cannot be taken, if it can be then: it comes from the future."""


@dataclass(frozen=True, slots=True)
class Left:
    """A record of a kind that is known and not kept, or of a kind nobody knows."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a file has begun and not ended yet: a torn last line, an unanswered call.

    Said anew whenever the file is read, so it is counted for now, not for ever.
    """

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a file has been read; all that was read so far has been given before."""

    offset: int = 0
    """Bytes from the start of the file, at the end of a record."""
    line: int = 0
    """How many lines these are."""
    fingerprint: str = ""
    """What shows that these bytes are still the same."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What a reader must remember to go on from here, in JSON's own types."""
    is_held: bool = False
    """Whether something is held back that is to be given soon, though nothing more
    should be written."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The file is not the one that was read before; it is read from its start."""

    reason: str


Reading = (
    Event
    | Thought
    | SessionFacts
    | Helper
    | Refused
    | Left
    | Awaited
    | Cursor
    | Restarted
)
"""What a source gives: what was said, what it learnt of sessions, what it did not take,
and how far it has come."""


def ahead(at: datetime, line: int = 0) -> Refused:
    """Refuse a record of a time that is still to come, unless the clock is wrong."""
    return Refused("a timestamp in the future", line, at)


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
