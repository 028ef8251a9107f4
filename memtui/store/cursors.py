"""Which files have been read to their end, and how they looked then."""

from dataclasses import dataclass

from memtui.store.tables import CursorRow


@dataclass(frozen=True, slots=True)
class Look:
    """What shows whether a file has changed since it was read."""

    size: int
    mtime_ns: int


def get(path: str) -> Look | None:
    """How a file looked when it was last read; None if it never was."""
    row = CursorRow.get_or_none(CursorRow.path == path)
    return Look(row.size, row.mtime_ns) if row else None


def put(path: str, look: Look, now_ms: int) -> None:
    """Note that a file has been read to its end."""
    CursorRow.insert(
        path=path, size=look.size, mtime_ns=look.mtime_ns, read_ms=now_ms
    ).on_conflict_replace().execute()
