"""An agent's settings on the disk: read whole, replaced at once, given back as found.

A copy from before the first change is kept until it is undone, with a note of what the
change made of it: as long as the file is that, undoing is giving back the copy.
"""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import HooksError

_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700


_ANYONE = 0o666
"""The mode of a file that was not there; the umask takes from it what it must."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is remembered of a file that was changed."""

    before: bytes | None
    """What it held; None if there was no file."""
    after: str
    """The hash of what the change made of it."""
    folders: tuple[Path, ...]
    """The folders that were made for it, the innermost last."""

    def fits(self, now: bytes | None) -> bool:
        """Whether nobody has touched the file since."""
        return now is not None and _hash(now) == self.after


def read(file: Path) -> bytes | None:
    """What a file holds; None if there is none.

    Raises:
        HooksError: It cannot be read.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HooksError(f"{file}: {error.strerror}") from error


def replace(file: Path, shown: bytes | None, after: bytes | None) -> None:
    """Put something in a file's place at once, its mode and owner kept.

    Args:
        file: The file itself, not a link to it.
        shown: What it held when the change was planned.
        after: What it is to hold; None takes it away.

    Raises:
        HooksError: It holds something else by now, or cannot be written.
    """
    if read(file) != shown:
        raise HooksError(f"{file} was changed meanwhile; it was left as it is")
    draft = file.with_name(f".{file.name}.memtui-{os.getpid()}")
    try:
        if after is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(draft, after, _ANYONE)
        if shown is not None:
            _take_after(draft, file)
        draft.replace(file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise HooksError(f"{file}: {error.strerror}") from error


def missing_folders(file: Path) -> tuple[Path, ...]:
    """The folders a file would need that are not there, the innermost last."""
    return tuple(reversed([f for f in file.parents if not f.exists()]))


def remove_empty(folders: tuple[Path, ...]) -> None:
    """Take folders away again in which nothing lies."""
    with suppress(OSError):
        for folder in reversed(folders):
            folder.rmdir()


def kept(backups: Path, file: Path) -> Kept | None:
    """What is remembered of a file; None if nothing is, or not readably."""
    note, copy = _places(backups, file)
    try:
        told = json.loads(note.read_bytes())
        before = copy.read_bytes() if told["existed"] else None
        folders = tuple(Path(folder) for folder in told["folders"])
        return Kept(before, str(told["after"]), folders)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(
    backups: Path,
    file: Path,
    before: bytes | None,
    after: bytes,
    folders: tuple[Path, ...],
) -> Path | None:
    """Remember a file before it is changed; where its copy lies, if there is one.

    Args:
        backups: Where copies lie.
        file: Which file.
        before: What undoing the change shall give back.
        after: What the change makes of it.
        folders: What is made for it.

    Raises:
        HooksError: The copy cannot be written.
    """
    note, copy = _places(backups, file)
    said = {
        "file": str(file),
        "existed": before is not None,
        "after": _hash(after),
        "folders": [str(folder) for folder in folders],
    }
    try:
        for folder in missing_folders(backups / "a"):
            folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        if before is not None:
            _anew(copy, before)
        _anew(note, json.dumps(said, indent=2).encode())
    except OSError as error:
        raise HooksError(f"{backups}: {error.strerror}; nothing changed") from error
    return copy if before is not None else None


def forget(backups: Path, file: Path) -> None:
    """Remember a file no longer."""
    for place in _places(backups, file):
        place.unlink(missing_ok=True)


def _places(backups: Path, file: Path) -> tuple[Path, Path]:
    name = _hash(os.fsencode(file))[:16]
    return backups / f"{name}.json", backups / f"{name}.before"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _anew(file: Path, content: bytes) -> None:
    draft = file.with_name(f"{file.name}.part")
    draft.unlink(missing_ok=True)
    _write(draft, content, _PRIVATE_FILE)
    draft.replace(file)


def _write(file: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(descriptor)


def _take_after(draft: Path, file: Path) -> None:
    status = file.stat()
    with suppress(PermissionError):
        os.chown(draft, status.st_uid, status.st_gid)
    draft.chmod(status.st_mode & 0o7777)
