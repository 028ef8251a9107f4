"""Where events come from: one module per format, bytes in and events out."""

from collections.abc import Collection, Mapping
from itertools import chain
from pathlib import Path

from memtui.capture.formats import (
    aider,
    claude_code,
    codex,
    copilot,
    gemini,
    jsonl,
    opencode,
    plain,
)
from memtui.capture.formats.base import Source
from memtui.capture.watcher import under
from memtui.errors import SourceError
from memtui.model.sessions import History

ALL: tuple[Source, ...] = (
    codex.SOURCE,
    copilot.SOURCE,
    plain.SOURCE,
    gemini.SOURCE,
    opencode.SOURCE,
    aider.SOURCE,
    claude_code.SOURCE,
)
"""Every format of files, the most telling first."""


BY_NAME = {source.name: source for source in ALL}


LOOK_AHEAD = 50
"""How many lines are read to tell a file's format."""


def files(path: Path) -> list[Path]:
    """The files to import under a path, in a fixed order.

    Raises:
        SourceError: There is nothing at the path, or it cannot be read.
    """
    try:
        if path.is_dir():
            found = (f for f in under(path) if any(s.may_be(f) for s in ALL))
            return sorted(found)
        if path.is_file():
            return [path]
        if path.exists():
            raise SourceError(f"{path} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    raise SourceError(f"{path} does not exist")


def candidate(path: Path, name: str) -> Source | None:
    """The format a file could be of, by its path alone.

    Args:
        path: The file.
        name: The source whose folder it lies in; "" for a folder of any.
    """
    some = (BY_NAME[name],) if name else ALL
    return next((source for source in some if source.may_be(path)), None)


def of(path: Path) -> Source | None:
    """The format of a file; None if it holds nothing yet.

    Raises:
        SourceError: The file cannot be read, or its format is not known.
    """
    try:
        first = jsonl.head(path, LOOK_AHEAD)
        for source in chain(
            (s for s in ALL if s.may_be(path)), (s for s in ALL if not s.may_be(path))
        ):
            if source.fits(path, first):
                return source
        if path.stat().st_size:
            raise SourceError(f"{path} is of no format memtui knows")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    return None


def histories(places: Mapping[str, Collection[Path]]) -> list[History]:
    """The histories found where the agents keep them.

    Args:
        places: The folders and files of each agent, by its source's name.
    """
    found = []
    for name, some in places.items():
        for place in some:
            number = sum(map(BY_NAME[name].may_be, under(place)))
            if number:
                found.append(History(name, place, number))
    return found
