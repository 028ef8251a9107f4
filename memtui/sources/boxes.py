"""How a spool stands: what waits, what was refused and why, and whether more goes in.

It is only looked at; to see whether hooks can leave something, something is left in
``tmp`` for a moment and taken away again.
"""

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui.errors import SpoolError
from memtui.memory.events import from_ms
from memtui.sources.spool import Spool

PROBE_BYTES = 4096
"""How much is written to see whether there is room: as much as a small event."""


FINISHED = timedelta(minutes=10)
"""A file that a hook still wrote to before this was never finished."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How a spool stands."""

    waiting: int
    oldest_at: datetime | None
    """When the file came that waits longest."""
    newest_at: datetime | None
    unfinished: int
    """How many files lie in ``tmp`` for longer than a hook takes."""
    refused: int
    """How many files lie in ``bad``."""
    reasons: tuple[tuple[str, int], ...]
    """Why, each with the number of records, most first."""
    closed: str
    """Why hooks cannot leave anything; "" if they can."""


def stand(folder: Path) -> Stand:
    """Look at a spool."""
    spool, closed = Spool(folder), _why_closed(folder)
    try:
        names = spool.names()
    except SpoolError as error:
        names, closed = [], closed or str(error)
    times = [at for at in map(_time, (folder / "new" / name for name in names)) if at]
    refused = _refused(folder / "bad")
    counts = Counter(
        reason for name in refused for reason in spool.reasons("bad", name)
    )
    return Stand(
        waiting=len(names),
        oldest_at=min(times, default=None),
        newest_at=max(times, default=None),
        unfinished=_unfinished(folder / "tmp"),
        refused=len(refused),
        reasons=tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0]))),
        closed=closed,
    )


def _time(file: Path) -> datetime | None:
    try:
        return from_ms(file.stat().st_mtime_ns // 1_000_000)
    except OSError:
        return None


def _unfinished(folder: Path) -> int:
    try:
        times = [_time(file) for file in folder.iterdir()]
    except OSError:
        return 0
    before = datetime.now(UTC) - FINISHED
    return sum(at is not None and at < before for at in times)


def _refused(folder: Path) -> list[str]:
    try:
        names = sorted(file.name for file in folder.iterdir())
    except OSError:
        return []
    return [name for name in names if not name.endswith(".reason") and name[0] != "."]


def _why_closed(folder: Path) -> str:
    """Why nothing can be left in a spool; "" if something can."""
    for box in (folder / "tmp", folder / "new"):
        there = next(place for place in (box, *box.parents) if place.exists())
        if not there.is_dir():
            return f"{there} is not a folder"
        if not os.access(there, os.W_OK | os.X_OK):
            return f"{there} cannot be written"
    draft = folder / "tmp" / f".doctor.{os.getpid()}"
    if not draft.parent.is_dir():
        return ""
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if os.write(descriptor, bytes(PROBE_BYTES)) < PROBE_BYTES:
                return f"no room is left on the disk of {folder}"
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"{folder}: {(error.strerror or str(error)).lower()}"
    finally:
        with suppress(OSError):
            draft.unlink()
    return ""
