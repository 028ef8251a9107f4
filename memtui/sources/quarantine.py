"""What lies in ``bad/``: hook files that could not be taken, and what becomes of them.

A name is a file's name and never a path. Where a file goes is one rename: whoever looks
meanwhile finds it in one place or in the other.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.errors import SpoolError
from memtui.memory.events import clean, from_ms
from memtui.sources.spool import REASON, Letter, unplaced

UNKNOWN = "no reason is known"
"""Why a file lies there that has no reasons beside it."""

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """One file in ``bad/``."""

    file_name: str
    size: int
    mtime_ns: int
    is_regular: bool

    @property
    def name(self) -> str:
        """What it is called, as it can be shown and asked for."""
        return clean(self.file_name)

    @property
    def received_at(self) -> datetime:
        """When a hook left it."""
        return from_ms(self.mtime_ns // _NS_PER_MS)

    @property
    def letter(self) -> Letter:
        """What its name and time say, without its bytes."""
        return Letter(self.file_name, b"", self.received_at)


class Quarantine:
    """The ``bad/`` of a hooks directory."""

    def __init__(self, folder: Path) -> None:
        """Remember the hooks directory."""
        self._new, self._bad = folder / "new", folder / "bad"

    def files(self) -> list[Found]:
        """All files that lie there, the newest first.

        Raises:
            SpoolError: The folder cannot be read.
        """
        try:
            return sorted(self._files(), key=_age, reverse=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._bad}: {error.strerror}") from error

    def _files(self) -> Iterator[Found]:
        with os.scandir(self._bad) as entries:
            for entry in entries:
                if _is_name(entry.name):
                    try:
                        yield _found(entry.name, entry.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        continue

    def read(self, file: Found, limit: int | None = None) -> bytes:
        """The bytes of a file, or the first of them.

        Raises:
            SpoolError: It cannot be read.
        """
        if not file.is_regular:
            raise SpoolError("not a regular file")
        try:
            with (self._bad / file.file_name).open("rb") as opened:
                return opened.read(-1 if limit is None else limit)
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def reasons(self, file: Found) -> list[str]:
        """Why a file lies there, a reason for each record, with its line."""
        beside = self._bad / f"{file.file_name}{REASON}"
        try:
            return clean(beside.read_text("utf-8", "replace")).splitlines()
        except OSError:
            return []

    def counted(self, file: Found) -> list[str]:
        """The reasons by which a file is counted: without lines, and at least one."""
        return [unplaced(reason) for reason in self.reasons(file)] or [UNKNOWN]

    def tidy(self) -> None:
        """Delete reasons that were left behind; only while nobody takes hook files."""
        try:
            there = {entry.name for entry in os.scandir(self._bad)}
        except OSError:
            return
        for name in there:
            if name.endswith(REASON) and name.removesuffix(REASON) not in there:
                (self._bad / name).unlink(missing_ok=True)

    def give_back(self, file: Found) -> None:
        """Put a file where it will be taken again.

        Raises:
            SpoolError: It is gone, or another one of its name waits there.
        """
        target = self._new / file.file_name
        if target.is_symlink() or target.exists():
            raise SpoolError(f"{file.name}: another file of this name waits already")
        try:
            self._new.mkdir(mode=0o700, parents=True, exist_ok=True)
            # First: once it is back it may be refused again, for other reasons.
            self._forget_reasons(file)
            (self._bad / file.file_name).rename(target)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error

    def drop(self, file: Found) -> None:
        """Delete a file, and the reasons beside it.

        Raises:
            SpoolError: It cannot be deleted.
        """
        path = self._bad / file.file_name
        if path.is_dir() and not path.is_symlink():
            raise SpoolError(f"{path}: a folder, which memtui leaves alone")
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error
        self._forget_reasons(file)

    def _forget_reasons(self, file: Found) -> None:
        (self._bad / f"{file.file_name}{REASON}").unlink(missing_ok=True)


def _is_name(name: str) -> bool:
    return name[0] != "." and not name.endswith(REASON)


def _found(name: str, status: os.stat_result) -> Found:
    is_regular = stat.S_ISREG(status.st_mode)
    return Found(name, status.st_size, status.st_mtime_ns, is_regular)


def _age(file: Found) -> tuple[int, str]:
    return file.mtime_ns, file.file_name
