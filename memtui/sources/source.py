"""The protocol every format keeps: tell it, and read it from a cursor on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Protocol

from memtui.sources.records import Cursor, Reading, Record

TRANSCRIPT, JSONL, HOOK = "transcript", "jsonl", "hook"
"""The routes by which an event can be told."""


class Read(Protocol):
    """Reads a file of one format."""

    def __call__(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[Reading]:
        """Read a file from a cursor to its end.

        Args:
            path: The file.
            start: Where an earlier reading ended; None to read from the start.
            agent: The agent of events that name none.
            now: The time, to refuse what claims to come from the future.

        Yields:
            The readings in their order; a ``Cursor`` wherever the reading could be
            taken up again, and at the end. Whatever was begun before a cursor and
            not given yet is in its state.

        Raises:
            OSError: The file cannot be read.
        """


State = Mapping[str, Any]
"""What a cursor remembers."""


def _nothing(_: Path) -> Iterable[Path]:
    return ()


def _never(_: State) -> State | None:
    return None


@dataclass(frozen=True, slots=True)
class Source:
    """One format."""

    name: str
    """``claude-code``: the agent's name, by which settings and reports call it."""
    title: str
    """``Claude Code``: the name people know it by."""
    route: str
    may_be: Callable[[PurePath], bool]
    """Whether a file found in a folder could be one of its, by path alone."""
    fits: Callable[[Path, Sequence[Record]], bool]
    """Whether a file is one of its; given the JSON records it begins with, if any."""
    read: Read
    beside: Callable[[Path], Iterable[Path]] = _nothing
    """Files that change when what the file holds has changed, the file itself apart."""
    bare: Callable[[State], State | None] = _never
    """A cursor's state without any words, as good to go on from but for what sessions
    are called; None where something waits whose words are needed."""
