"""The hooks directory: a spool like a mail folder's.

Hooks write into ``tmp/`` and rename into ``new/``; what cannot be taken goes to
``bad/``, with its reason beside it. The directory is the truth: whatever lies in
``new/`` is still to be taken, however it came there.

A file's bytes are what an agent said. Whoever installed the hook may have said beside
them which agent and which event it is for, where the bytes do not: that stands in the
name, ``<time>.<pid>.<random>.<agent>.<event>.json``. A name of any other form says
nothing.
"""

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.errors import SpoolError
from memtui.memory.events import from_ms

PRIVATE = 0o700

_NAME = re.compile(
    r"\d{1,20}\.\d{1,10}\.[0-9A-Za-z]{1,40}"
    r"\.(?P<agent>[0-9A-Za-z_-]{0,40})\.(?P<event>[0-9A-Za-z_-]{0,40})\.json",
    re.ASCII,
)
"""A name that says who told it; either word may be missing."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One file that a hook left."""

    name: str
    raw: bytes
    received_at: datetime

    @property
    def agent(self) -> str:
        """Whose hook it was, where whoever installed it said so."""
        return self._named("agent")

    @property
    def event(self) -> str:
        """The event the hook was installed for, where that was said."""
        return self._named("event")

    def _named(self, which: str) -> str:
        said = _NAME.fullmatch(self.name)
        return said[which] if said else ""


class Spool:
    """A hooks directory."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; ``make`` makes it."""
        self.folder = folder
        self._new, self._bad = folder / "new", folder / "bad"

    def make(self) -> None:
        """Make what is missing of the directory.

        Raises:
            SpoolError: It cannot be made.
        """
        try:
            for folder in (self.folder / "tmp", self._new, self._bad):
                folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise SpoolError(f"{self.folder}: {error.strerror}") from error

    def names(self) -> list[str]:
        """The files to take, in the order of their names; hidden ones are not ours."""
        try:
            return sorted(
                entry.name for entry in self._new.iterdir() if entry.name[0] != "."
            )
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._new}: {error.strerror}") from error

    def read(self, name: str) -> Letter | None:
        """Read a file; None if it is gone meanwhile.

        Raises:
            SpoolError: It is there and cannot be read.
        """
        file = self._new / name
        try:
            if not stat.S_ISREG(file.stat().st_mode):
                raise SpoolError("not a regular file")
            mtime_ms = file.stat().st_mtime_ns // 1_000_000
            return Letter(name, file.read_bytes(), from_ms(mtime_ms))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def done(self, name: str) -> None:
        """Delete a file whose events are kept."""
        (self._new / name).unlink(missing_ok=True)

    def refuse(self, name: str, reasons: Sequence[str]) -> None:
        """Move a file to ``bad/``, with the reasons beside it, a line each."""
        self._bad.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        said = "".join(f"{reason}\n" for reason in reasons)
        (self._bad / f"{name}.reason").write_text(said, encoding="utf-8")
        (self._new / name).rename(self._bad / name)

    def bad(self) -> int:
        """How many files lie in ``bad/``."""
        try:
            return sum(entry.suffix != ".reason" for entry in self._bad.iterdir())
        except OSError:
            return 0
