"""The hooks directory: a spool like a mail folder's.

Hooks write into ``tmp/`` and rename into ``new/``; what cannot be taken goes to
``bad/``, with its reason beside it. The directory is the truth: whatever lies in
``new/`` is still to be taken, however it came there.

A file's bytes are what an agent said. Whoever installed the hook may have said beside
them which agent and which event it is for, where the bytes do not: that stands in the
name, ``<time>.<pid>.<random>.<agent>.<event>.json``. A name of any other form says
nothing.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.errors import SpoolError
from memtui.memory.events import from_ms

PRIVATE = 0o700

DRAFTS = "tmp"
"""The box of what hooks are still writing."""

BOXES = (DRAFTS, "new", "bad")
REASON = ".reason"

_NAME = re.compile(
    r"\d{1,20}\.\d{1,10}\.[0-9A-Za-z]{1,40}"
    r"\.(?P<agent>[0-9A-Za-z_-]{0,40})\.(?P<event>[0-9A-Za-z_-]{0,40})\.json",
    re.ASCII,
)
"""A name that says who told it; either word may be missing."""


_LINE = re.compile(r"^line \d+: ")


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


@contextmanager
def _said_plainly(folder: Path) -> Iterator[None]:
    """Say of a folder's files what went wrong; that one is gone is no fault."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise SpoolError(f"{folder}: {error.strerror}") from error


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
            for folder in (self.folder / DRAFTS, self._new, self._bad):
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
        """Delete a file whose events are kept.

        Raises:
            SpoolError: It cannot be deleted.
        """
        with _said_plainly(self._new):
            (self._new / name).unlink(missing_ok=True)

    def refuse(
        self, name: str, reasons: Sequence[str], raw: bytes | None = None
    ) -> None:
        """Move a file to ``bad/``, with the reasons beside it, a line each.

        Args:
            name: The file.
            reasons: Why.
            raw: What is to lie there; the file as it is when None.

        Raises:
            SpoolError: It cannot be moved.
        """
        with _said_plainly(self._bad):
            self._put_aside(name, reasons, raw)

    def _put_aside(self, name: str, reasons: Sequence[str], raw: bytes | None) -> None:
        self._bad.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        said = "".join(f"{reason}\n" for reason in reasons)
        beside = self._bad / f"{name}{REASON}"
        beside.touch(mode=0o600)
        beside.write_text(said, encoding="utf-8")
        file = self._new / name
        if raw is None:
            file.rename(self._bad / name)
        else:
            draft = _draft(self.folder / "tmp" / name, raw, file.stat())
            draft.replace(self._bad / name)
            file.unlink()

    def take_up(self, before: datetime) -> None:
        """Take up drafts that were last written to before a time.

        A hook that is killed while it writes cannot say so: what it wrote is taken as
        all others are, or refused if it is not whole.

        Raises:
            SpoolError: They cannot be moved.
        """
        with _said_plainly(self.folder / DRAFTS):
            for draft in (self.folder / DRAFTS).iterdir():
                status = draft.lstat()
                if not stat.S_ISREG(status.st_mode) or draft.name[0] == ".":
                    continue
                if status.st_mtime >= before.timestamp():
                    continue
                # One that has a namesake was ours, on its way to be quarantined.
                if status.st_size and not (self._new / draft.name).exists():
                    draft.rename(self._new / draft.name)
                else:
                    draft.unlink()

    def everything(self) -> Iterator[tuple[str, Letter]]:
        """Every file of every box, with its box: drafts, news and the quarantined.

        Raises:
            SpoolError: One of them cannot be read.
        """
        for box in BOXES:
            folder = self.folder / box
            try:
                files = sorted(folder.iterdir()) if folder.is_dir() else []
                for file in files:
                    is_reason = box == "bad" and file.suffix == REASON
                    if is_reason or not stat.S_ISREG(file.lstat().st_mode):
                        continue
                    mtime_ms = file.stat().st_mtime_ns // 1_000_000
                    at = from_ms(mtime_ms)
                    yield box, Letter(file.name, file.read_bytes(), at)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise SpoolError(f"{folder}: {error.strerror}") from error

    def reasons(self, box: str, name: str) -> list[str]:
        """Why a file was quarantined, a reason for each record."""
        return [unplaced(line) for line in self.said(box, name)]

    def said(self, box: str, name: str) -> list[str]:
        """The lines that stand beside a quarantined file: its reasons, with places."""
        file = self.folder / box / f"{name}{REASON}"
        try:
            return file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []

    def remove(self, box: str, name: str) -> None:
        """Delete a file, and the reasons that stand beside it."""
        file = self.folder / box / name
        file.unlink(missing_ok=True)
        file.with_name(f"{name}{REASON}").unlink(missing_ok=True)

    def rewrite(
        self, box: str, letter: Letter, raw: bytes, reasons: Sequence[str]
    ) -> None:
        """Put other bytes in a file's place; it keeps the time it was received.

        Args:
            box: Where it lies.
            letter: The file as it is.
            raw: What it is to hold.
            reasons: Why it was quarantined, for one that was.
        """
        file = self.folder / box / letter.name
        draft = _draft(file.with_name(f".{letter.name}"), raw, file.stat())
        draft.replace(file)
        beside = file.with_name(f"{letter.name}{REASON}")
        if beside.exists():
            said = "".join(f"{reason}\n" for reason in reasons)
            beside.write_text(said, encoding="utf-8")

    def bad(self) -> int:
        """How many files lie in ``bad/``."""
        try:
            return sum(entry.suffix != REASON for entry in self._bad.iterdir())
        except OSError:
            return 0


def unplaced(reason: str) -> str:
    """A reason without the line it names."""
    return _LINE.sub("", reason)


def _draft(file: Path, raw: bytes, like: os.stat_result) -> Path:
    """A file with other bytes, for its owner alone, as old as another one."""
    file.touch(mode=0o600)
    file.write_bytes(raw)
    os.utime(file, ns=(like.st_atime_ns, like.st_mtime_ns))
    return file
