"""The folder an index lies in: what is ours in it, and that it lasts.

A mark of ours says what the folder is. It comes first and goes last, so that what is
half made, or half deleted, is ours as well.
"""

import os
import shutil
from pathlib import Path


def is_free(folder: Path, mark: Path) -> bool:
    """Whether an index may be made in a folder: it holds nothing, or one of ours."""
    return mark.is_file() or not folder.exists() or not any(folder.iterdir())


def empty(folder: Path, mark: Path) -> None:
    """Make a folder ours, and delete all in it but the mark, which says nothing more.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark.write_text("", encoding="utf-8")
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != mark:
            entry.unlink()


def sync(folder: Path) -> None:
    """Have all of a folder on the disk: nothing less is to be believed later.

    Raises:
        OSError: It cannot be written.
    """
    for path in (*filter(Path.is_file, folder.iterdir()), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
