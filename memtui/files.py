"""Write files atomically, read small ones, and find those of a folder.

While a file is written, a reader sees the old content or the new, never a part.
"""

import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE = 0o600
"""The mode of files that only their owner may read."""

MAX_SMALL_BYTES = 16 * 1024 * 1024
"""The most bytes of a file that is read whole, such as a settings file."""

ABANDONED_S = 3600.0
"""A temporary file not written to for this long is left over from a crash."""

_DRAFT_PREFIX, _DRAFT_ENDING = ".memtui-", ".part"
"""The beginning and end of the name of a temporary file."""


def write_atomically(path: Path, data: bytes, *, keep_attributes: bool = False) -> None:
    """Write a file so that it has its old content or the new one, even after a crash.

    Args:
        path: The file; a missing folder is an error.
        data: The new content.
        keep_attributes: Keep the owner and permissions of an existing file.

    Raises:
        OSError: It cannot be written, or is not a regular file.
    """
    with replacement(path) as draft:
        draft.write_bytes(data)
        if keep_attributes and path.exists():
            status = path.stat()
            with suppress(PermissionError):
                os.chown(draft, status.st_uid, status.st_gid)
            draft.chmod(stat.S_IMODE(status.st_mode))


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces a file at the end, if no error occurs.

    It lies in the same folder and is on the disk before it takes the file's name.
    Those that killed processes left there are deleted.

    Raises:
        OSError: It cannot be written, or the file is not a regular file.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(f"{path} is not a regular file")
    for draft in drafts_in(path.parent):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > ABANDONED_S:
                draft.unlink()
    descriptor, name = tempfile.mkstemp(_DRAFT_ENDING, _DRAFT_PREFIX, path.parent)
    os.close(descriptor)
    draft = Path(name)
    try:
        draft.chmod(PRIVATE)
        yield draft
        sync(draft)
        draft.replace(path)
        sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def drafts_in(folder: Path) -> list[Path]:
    """Return the temporary files in a folder, with what SQLite wrote beside them."""
    return list(folder.glob(f"{_DRAFT_PREFIX}*{_DRAFT_ENDING}*"))


def resolve_link(path: Path) -> Path:
    """Return the file that a path leads to, which may be missing.

    Raises:
        OSError: A link leads to itself; ``Path.resolve`` raises RuntimeError for it
            before Python 3.13, and nothing since.
    """
    target = Path(os.path.realpath(path))
    try:
        target.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            reason = "a link that leads to itself"
            raise OSError(errno.ELOOP, reason, str(path)) from error
    return target


def require_regular_file(path: Path) -> Path:
    """Return a path that is safe to open, or raise OSError: a pipe would wait."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def read_small_file(path: Path) -> bytes:
    """Return the content of a regular file that is not too large to be read whole.

    Raises:
        OSError: It cannot be read, is not a regular file or is too large.
    """
    with require_regular_file(path).open("rb") as file:
        content = file.read(MAX_SMALL_BYTES + 1)
    if len(content) > MAX_SMALL_BYTES:
        raise OSError(errno.EFBIG, "too large", str(path))
    return content


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def walk_files(place: Path) -> Iterator[Path]:
    """Yield all regular files at a place: the file itself, or those of a folder.

    Links are followed; each real file comes once.
    """
    if place.is_file():
        yield place
        return
    folders = [(str(place), os.path.realpath(place))]
    folder_links: list[str] = []
    file_links: list[str] = []
    seen: set[str] = set()
    while folders or folder_links:
        if folders:
            folder, real = folders.pop()
        else:
            folder = folder_links.pop(0)
            real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(folder):
            is_folder, is_file = _kind(entry)
            if entry.is_symlink():
                if is_folder:
                    folder_links.append(entry.path)
                elif is_file:
                    file_links.append(entry.path)
            elif is_folder:
                path = f"{real.rstrip(os.sep)}{os.sep}{entry.name}"
                folders.append((entry.path, path))
            elif is_file:
                yield Path(entry.path)
    linked_files: set[str] = set()
    for link in file_links:
        real = os.path.realpath(link)
        folder = real.rpartition(os.sep)[0] or os.sep
        if real not in linked_files and folder not in seen:
            linked_files.add(real)
            yield Path(link)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _kind(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    """Return whether an entry leads to a folder, and whether to a regular file."""
    try:
        return entry.is_dir(), entry.is_file()
    except OSError:
        return False, False
