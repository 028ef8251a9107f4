"""Sums: what the index's files were when they were written, to know them again.

Whoosh reads whatever stands in a file. A piece is written once, so that its sum tells
at any time later whether it is still what it was.
"""

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

NAME = "memtui-sums"
"""The file they are kept in."""


_CHUNK = 1 << 20


def keep(folder: Path) -> None:
    """Note the sums of files that are new, and forget those that are gone.

    Raises:
        OSError: They cannot be read or written.
    """
    known = _known(folder)
    sums = {p.name: known.get(p.name) or _sum(p) for p in _pieces(folder)}
    fresh = folder / f"{NAME}.new"
    fresh.write_text(json.dumps(sums), encoding="utf-8")
    fresh.replace(folder / NAME)


def are_right(folder: Path) -> bool:
    """Whether every file that was summed is what it was; a new one may not be yet."""
    known = _known(folder)
    return all(
        _sum(path) == known[path.name] for path in _pieces(folder) if path.name in known
    )


def _pieces(folder: Path) -> Iterator[Path]:
    return folder.glob("MAIN_*.seg")


def _known(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _sum(path: Path) -> str:
    """A file's length and checksum; "" for one that has just been replaced."""
    total = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                total = zlib.crc32(chunk, total)
            return f"{os.fstat(file.fileno()).st_size}:{total:08x}"
    except FileNotFoundError:
        return ""
