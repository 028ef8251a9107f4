"""What could not be taken, as a person is shown it: hook files, records of transcripts.

Nothing is shown with its secrets, nor with what would disturb a terminal, however it
lies on the disk.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path

from memtui.errors import SpoolError
from memtui.memory import secrets
from memtui.memory.events import clean
from memtui.sources import hooks, pieces, remnants
from memtui.sources.quarantine import UNKNOWN, Found, Quarantine
from memtui.store.problems import Problem

GLANCE_BYTES = 64 * 1024
"""How much of a file is read to say whose it is."""

MARGIN_BYTES = 4096
"""How much more is read than shown, so that no secret is cut in two."""

MOST_CHARS = 40
"""How long an agent's or event's name may be."""

NOWHERE = "line 0: "
"""What stands before a reason that is no line's."""

_PREFIX = "fault-"
_WHOLE_DOCUMENTS = frozenset({".db", ".json", ".sqlite"})
"""Files whose records stand on no line of their own."""


class Kind(StrEnum):
    """What could not be taken."""

    HOOK = "hook"
    """A hook's file, which lies in the quarantine."""
    TRANSCRIPT = "transcript"
    """Records of a transcript, which stays where its agent keeps it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that could not be taken."""

    name: str
    """What it is called in the list: no path."""
    kind: Kind
    at: datetime
    """When the hook left it; of a transcript, when the last record was noticed."""
    agent: str
    event: str
    file: str
    """The transcript; empty for a hook's file."""
    line: int
    """The line of the latest of the records, from 1; 0 where there are no lines."""
    count: int
    """How many records."""
    size: int
    """In bytes, of a hook's file."""
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One of them with what it says."""

    entry: Entry
    text: str
    """Without secrets and control characters; empty where there is nothing to show."""
    is_cut: bool
    """Whether there is more of it."""
    note: str
    """Why there is nothing to show; else empty."""


def of_hook(found: Found, box: Quarantine) -> Entry:
    """A hook's file in the list."""
    letter = found.letter
    said = letter.agent, letter.event
    if found.is_regular and found.size <= GLANCE_BYTES:
        with suppress(SpoolError):
            said = hooks.sender(box.read(found), agent=said[0], event=said[1])
    reasons = box.reasons(found) or [UNKNOWN]
    return Entry(
        name=found.name,
        kind=Kind.HOOK,
        at=found.received_at,
        agent=_word(said[0]),
        event=_word(said[1]),
        file="",
        line=0,
        count=len(reasons),
        size=found.size if found.is_regular else 0,
        reasons=tuple(_plain(reason).removeprefix(NOWHERE) for reason in reasons),
    )


def of_fault(fault: Problem, agent: str) -> Entry:
    """Records of a transcript in the list."""
    return Entry(
        name=name_of(fault),
        kind=Kind.TRANSCRIPT,
        at=fault.last_at,
        agent=agent,
        event="",
        file=fault.source,
        line=fault.line,
        count=fault.count,
        size=0,
        reasons=(_plain(fault.reason),),
    )


def name_of(fault: Problem) -> str:
    """What records of a transcript that fail for one reason are called."""
    named = f"{fault.source}\x1f{fault.reason}".encode("utf-8", "replace")
    return _PREFIX + hashlib.blake2b(named, digest_size=5).hexdigest()


def content(found: Found, box: Quarantine, limit: int | None) -> tuple[str, bool, str]:
    """What a hook's file says: the text, whether it is cut, or why there is none.

    Args:
        found: The file.
        box: Where it lies.
        limit: How many bytes to read of it; all when None.
    """
    most = None if limit is None else limit + MARGIN_BYTES
    try:
        raw = box.read(found, most)
    except SpoolError as error:
        return "", False, f"It cannot be read: {error}."
    if not raw:
        return "", False, "The file is empty."
    return *_legible(raw, limit), ""


def line(file: Path, number: int, limit: int | None) -> tuple[str, bool, str]:
    """What a line of a transcript says now, as ``content`` tells it."""
    if not number or file.suffix in _WHOLE_DOCUMENTS:
        return "", False, "The record stands on no line of its own."
    most = -1 if limit is None else limit + MARGIN_BYTES
    try:
        if not file.is_file():
            return "", False, "The file is not there any more."
        with file.open("rb") as opened:
            for _ in islice(opened, number - 1):
                pass
            raw = opened.readline(most)
    except OSError as error:
        return "", False, f"It cannot be read: {error.strerror}."
    if not raw.strip():
        return "", False, "The file has nothing on this line any more."
    return *_legible(raw, limit), ""


def _legible(raw: bytes, limit: int | None) -> tuple[str, bool]:
    cleaned, _ = remnants.without_secrets(raw)
    text = "\n".join(_parts(cleaned)).strip("\n")
    if limit is None or len(raw) <= limit:
        return text, False
    return text[:limit], True


def _parts(raw: bytes) -> Iterator[str]:
    """The text of every piece, records one field a line."""
    for piece in pieces.of(raw):
        if piece.fields is not None:
            try:
                yield clean(json.dumps(piece.fields, ensure_ascii=False, indent=2))
                continue
            except RecursionError:
                pass
        yield clean(remnants.decoded(piece.raw))


def _word(said: str) -> str:
    return " ".join(_plain(said).split())[:MOST_CHARS]


def _plain(said: str) -> str:
    return secrets.redact(clean(said)).text
