"""The files of a folder: its own first, then those that its links lead to.

Each real file comes once, whatever links there are, in circles too. What is no regular
file is left out: a pipe is never opened, since reading it would wait for its writer.
"""

import os
from collections.abc import Iterator
from pathlib import Path


def under(place: Path) -> Iterator[Path]:
    """All regular files at a place: the file itself, or those of a folder."""
    if place.is_file():
        yield place
        return
    folders = [(str(place), os.path.realpath(place))]
    links: list[str] = []
    loose: list[str] = []
    seen: set[str] = set()
    while folders or links:
        folder, real = folders.pop() if folders else _led_by(links.pop(0))
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(folder):
            kind = _kind(entry)
            if kind and entry.is_symlink():
                (links if kind == "folder" else loose).append(entry.path)
            elif kind == "folder":
                folders.append(
                    (entry.path, f"{real.rstrip(os.sep)}{os.sep}{entry.name}")
                )
            elif kind:
                yield Path(entry.path)
    yield from _loose(loose, seen)


def _led_by(link: str) -> tuple[str, str]:
    return link, os.path.realpath(link)


def _loose(links: list[str], seen: set[str]) -> Iterator[Path]:
    """Links to files that lie in none of the folders that were seen."""
    known: set[str] = set()
    for link in links:
        real = os.path.realpath(link)
        if real not in known and (real.rpartition(os.sep)[0] or os.sep) not in seen:
            known.add(real)
            yield Path(link)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:
        return ""
