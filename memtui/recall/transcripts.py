"""Transcripts on the disk against what was read of them: what is missing, what goes.

Nothing is opened: how a file looks says whether it has changed since it was read.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui import sources
from memtui.memory.events import clean
from memtui.store import cursors, database
from memtui.store.cursors import Look, look_of

SETTLED = timedelta(minutes=5)
"""A file that changed later than this may be about to be read."""

SOON = timedelta(days=7)
"""What is to be deleted within this time is said."""


@dataclass(frozen=True, slots=True)
class Account:
    """One agent's transcripts."""

    agent: str
    title: str
    files: int
    newest_at: datetime | None
    """When one of them was last written to."""
    unread: int
    """How many were never read."""
    grown: int
    """How many were read, and have changed since, not just now."""
    late: int
    """How many of both, the unread and the grown, did not change just now."""
    doomed: int
    """How many of those that are missing here the agent deletes soon."""
    doomed_at: datetime | None
    """When the first of them goes; it may be overdue."""


def account(
    name: str,
    places: Collection[Path],
    now: datetime,
    *,
    keep: timedelta | None = None,
    is_kept: bool = True,
) -> Account:
    """Compare an agent's transcripts with what was read of them.

    Args:
        name: The agent, as its source is called.
        places: Where they lie.
        now: The time, aware.
        keep: How long the agent keeps them; None for always.
        is_kept: Whether there is a store that could tell what was read.
    """
    files = unread = grown = late = 0
    written = [datetime.min.replace(tzinfo=UTC)]
    ends: list[datetime] = []
    for look, known in _looks(name, places, is_kept=is_kept):
        files += 1
        at = datetime.fromtimestamp(look.mtime_ns / 1e9, UTC)
        written.append(at)
        if known == look:
            continue
        is_late = at <= now - SETTLED
        unread += known is None
        grown += known is not None and is_late
        late += is_late
        if keep is not None and at + keep < now + SOON:
            ends.append(at + keep)
    title = sources.BY_NAME[name].title
    newest = max(written) if files else None
    doomed_at = min(ends, default=None)
    counts = (files, newest, unread, grown, late, len(ends), doomed_at)
    return Account(name, title, *counts)


def _looks(
    name: str, places: Collection[Path], *, is_kept: bool
) -> Iterator[tuple[Look, Look | None]]:
    """How each file that says anything looks, and how it did when it was read."""
    for place in places:
        if not place.exists():
            continue
        whole = place.resolve()
        known: dict[str, Look] = {}
        if is_kept:
            with database.connected():
                folder = clean(str(whole))
                known = cursors.looks(folder) | cursors.looks_of(folder)
        for file in sources.under(whole):
            if source := sources.candidate(file, name):
                try:
                    look = look_of(file, source.beside(file))
                except OSError:
                    continue
                if look.size:
                    yield look, cursors.look_among(known, file) if is_kept else None
