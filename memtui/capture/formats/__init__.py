"""The formats of conversation files: one module per agent, bytes in and events out."""

from collections.abc import Collection, Mapping
from pathlib import Path

from memtui.capture.formats import (
    aider,
    antigravity,
    claude_code,
    codex,
    copilot,
    gemini,
    jsonl,
    opencode,
    plain,
)
from memtui.capture.formats.base import SourceFormat
from memtui.errors import SourceError
from memtui.files import walk_files
from memtui.model.sessions import AgentHistory

FORMATS: tuple[SourceFormat, ...] = (
    codex.FORMAT,
    copilot.FORMAT,
    plain.FORMAT,
    antigravity.FORMAT,
    gemini.FORMAT,
    opencode.FORMAT,
    aider.FORMAT,
    claude_code.FORMAT,
)
"""All formats, those that are recognized most reliably first."""

FORMATS_BY_NAME = {source.name: source for source in FORMATS}

HEAD_LINES = 50

BEGINNING_BYTES = 256
"""The bytes by which a JSON file is judged."""


def find_files(path: Path) -> list[Path]:
    """Return the files to import under a path, sorted.

    Raises:
        SourceError: There is nothing at the path, or it cannot be read.
    """
    return sort_files(path)[0]


def sort_files(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files to import under a path, and those that nothing is kept of.

    Files that are read with another one are in neither list.

    Raises:
        SourceError: There is nothing at the path, or it cannot be read.
    """
    try:
        if path.is_dir():
            to_import, ignored = list[Path](), list[Path]()
            for file in sorted(walk_files(path)):
                if format_for_path(file, ""):
                    to_import.append(file)
                elif not any(source.is_beside(file) for source in FORMATS):
                    ignored.append(file)
            return to_import, ignored
        if path.is_file():
            return [path], []
        if path.exists():
            raise SourceError(f"{path} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    raise SourceError(f"{path} does not exist")


def format_for_path(path: Path, name: str) -> SourceFormat | None:
    """Return the format that a file could have, judged by its path.

    ``name`` is the format whose folder it is in; "" for a folder of any format. There a
    JSON file is judged by its beginning, too.
    """
    formats = (FORMATS_BY_NAME[name],) if name else FORMATS
    matches = [source for source in formats if source.matches_path(path)]
    if not (matches or name) and path.suffix == ".json":
        beginning = _read_beginning(path)
        matches = [source for source in FORMATS if source.matches_beginning(beginning)]
    return next(iter(matches), None)


def _read_beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(BEGINNING_BYTES)
    except OSError:
        return b""


def detect_format(path: Path) -> SourceFormat | None:
    """Return the format of a file; None if the file is still empty.

    Raises:
        SourceError: The file cannot be read, or its format is not known.
    """
    try:
        head = jsonl.read_head(path, HEAD_LINES)
        for source in sorted(FORMATS, key=lambda source: not source.matches_path(path)):
            if source.matches_content(path, head):
                return source
        if path.stat().st_size:
            raise SourceError(f"{path} has an unknown format")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    return None


def find_histories(places: Mapping[str, Collection[Path]]) -> list[AgentHistory]:
    """Return the past sessions in the folders and files of each agent."""
    histories = []
    for name, paths in places.items():
        for path in paths:
            count = sum(map(FORMATS_BY_NAME[name].has_session, walk_files(path)))
            if count:
                histories.append(AgentHistory(name, path, count))
    return histories
