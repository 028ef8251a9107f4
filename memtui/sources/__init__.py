"""Where events come from: one module per format, bytes in and events out."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from pathlib import Path

from memtui.errors import SourceError
from memtui.memory.sessions import History
from memtui.sources import claude_code, claude_kinds, claude_sessions, plain
from memtui.sources.records import Reading, Record, of_file

TRANSCRIPT, JSONL, HOOK = "transcript", "jsonl", "hook"
"""The routes by which an event can be told."""

LOOK_AHEAD = 50
"""How many records are read to tell a file's format."""


def files(path: Path) -> list[Path]:
    """The files to import under a path, in a fixed order.

    Raises:
        SourceError: There is nothing at the path, or it cannot be read.
    """
    try:
        if path.is_dir():
            return sorted(file for file in path.rglob("*.jsonl") if file.is_file())
        if path.is_file():
            return [path]
        if path.exists():
            raise SourceError(f"{path} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    raise SourceError(f"{path} does not exist")


def histories(claude_projects: Path) -> list[History]:
    """The histories found where the agents keep them."""
    found = [file for file in claude_projects.glob("*/*.jsonl") if file.is_file()]
    if not found:
        return []
    return [History(claude_sessions.AGENT, claude_projects, len(found))]


@dataclass(frozen=True, slots=True)
class Opened:
    """A file whose format is known: the route it stands for, and what it holds."""

    route: str
    readings: Iterator[Reading]


def read(path: Path, *, agent: str, now: datetime) -> Iterator[Opened]:
    """Open a file and read it by the format its first records have.

    Args:
        path: A transcript or a file of the plain format.
        agent: The agent of events that name none.
        now: The time, to refuse what claims to come from the future.

    Yields:
        The opened file, once: its readings can be taken until it is closed.

    Raises:
        SourceError: The file cannot be read, or its format is not known.
    """
    try:
        with path.open("rb") as file:
            records = of_file(file)
            first = list(islice(records, LOOK_AHEAD))
            rest = chain(first, records)
            named = [record.fields for record in first if isinstance(record, Record)]
            if any(map(plain.fits, named)):
                yield Opened(JSONL, plain.read(rest, agent=agent, now=now))
            elif any(map(claude_kinds.fits, named)):
                yield Opened(TRANSCRIPT, claude_code.read(rest, path=path, now=now))
            elif first:
                raise SourceError(f"{path} is of no format memtui knows")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
