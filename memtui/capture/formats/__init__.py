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
from memtui.capture.formats.base import SourceFormat
from memtui.capture.watcher import under
from memtui.errors import SourceError
from memtui.model.sessions import AgentHistory

FORMATS: tuple[SourceFormat, ...] = (
    codex.SOURCE,
    copilot.SOURCE,
    plain.SOURCE,
    gemini.SOURCE,
    opencode.SOURCE,
    aider.SOURCE,
    claude_code.SOURCE,
)
"""Every format of files, the most telling first."""


FORMATS_BY_NAME = {source.name: source for source in FORMATS}


HEAD_LINES = 50
"""How many lines are read to tell a file's format."""


def find_files(path: Path) -> list[Path]:
    """The files to import under a path, in a fixed order.

    Raises:
        SourceError: There is nothing at the path, or it cannot be read.
    """
    try:
        if path.is_dir():
            found = (f for f in under(path) if any(s.matches_path(f) for s in FORMATS))
            return sorted(found)
        if path.is_file():
            return [path]
        if path.exists():
            raise SourceError(f"{path} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    raise SourceError(f"{path} does not exist")


def format_for_path(path: Path, name: str) -> SourceFormat | None:
    """The format a file could be of, by its path alone.

    Args:
        path: The file.
        name: The source whose folder it lies in; "" for a folder of any.
    """
    some = (FORMATS_BY_NAME[name],) if name else FORMATS
    return next((source for source in some if source.matches_path(path)), None)


def detect_format(path: Path) -> SourceFormat | None:
    """The format of a file; None if it holds nothing yet.

    Raises:
        SourceError: The file cannot be read, or its format is not known.
    """
    try:
        first = jsonl.read_head(path, HEAD_LINES)
        for source in chain(
            (s for s in FORMATS if s.matches_path(path)),
            (s for s in FORMATS if not s.matches_path(path)),
        ):
            if source.matches_content(path, first):
                return source
        if path.stat().st_size:
            raise SourceError(f"{path} is of no format memtui knows")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    return None


def find_histories(places: Mapping[str, Collection[Path]]) -> list[AgentHistory]:
    """The histories found where the agents keep them.

    Args:
        places: The folders and files of each agent, by its source's name.
    """
    found = []
    for name, some in places.items():
        for place in some:
            number = sum(map(FORMATS_BY_NAME[name].matches_path, under(place)))
            if number:
                found.append(AgentHistory(name, place, number))
    return found
