"""The formats of conversation files: one module per agent, bytes in and events out."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
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
from memtui.model.events import clean
from memtui.model.quantities import byte_size, plural
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

MAX_KINDS = 5

MAX_KIND_CHARS = 20

END_BYTES = 512
"""The bytes at both ends by which a JSON file is judged."""

_FIELD_NAME = re.compile(rb'"(\w{1,40})"\s*:')


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
            to_import, ignored = _sort_folder(path, "")
            return list(to_import), ignored
        if path.is_file():
            return [path], []
        if path.exists():
            raise SourceError(f"{path} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    raise SourceError(f"{path} does not exist")


def _sort_folder(
    folder: Path, name: str
) -> tuple[dict[Path, SourceFormat], list[Path]]:
    """Return the files to import with their formats, and those not kept."""
    to_import, ignored = dict[Path, SourceFormat](), list[Path]()
    for file in sorted(walk_files(folder)):
        if any(source.is_beside(file) for source in FORMATS):
            continue
        if source := format_for_path(file, name):
            to_import[file] = source
        else:
            ignored.append(file)
    return to_import, ignored


def sort_sessions(name: str, places: Collection[Path]) -> tuple[int, list[Path]]:
    """Return how many files have sessions of a format, and those not kept.

    ``name`` is the format's, or "" for folders of any format.
    """
    count, others = 0, list[Path]()
    for place in places:
        to_import, ignored = _sort_folder(place, name)
        count += sum(source.has_session(file) for file, source in to_import.items())
        others += ignored
    return count, others


def describe_ignored(files: Sequence[Path]) -> str:
    """Return how much is in files that nothing is kept of, with their kinds, or ""."""
    if not files:
        return ""
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
    kinds = Counter(
        clean(file.suffix[:MAX_KIND_CHARS]) or "no ending" for file in files
    )
    counts = [f"{count:,} {kind}" for kind, count in kinds.most_common(MAX_KINDS)]
    if (more := len(kinds) - len(counts)) > 0:
        counts.append(plural(more, "more kind"))
    return f"{plural(len(files), 'other file')}, {byte_size(size)}: {', '.join(counts)}"


def format_for_path(path: Path, name: str) -> SourceFormat | None:
    """Return the format that a file could have, judged by its path.

    ``name`` is the format whose folder it is in; "" for a folder of any format. There a
    JSON file is judged by the fields at its beginning and its end, too.
    """
    formats = (FORMATS_BY_NAME[name],) if name else FORMATS
    matches = [source for source in formats if source.matches_path(path)]
    if not (matches or name) and path.suffix == ".json":
        names = _read_field_names(path)
        matches = [source for source in FORMATS if source.matches_names(names)]
    return next(iter(matches), None)


def _read_field_names(path: Path) -> frozenset[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(END_BYTES)
            file.seek(max(len(raw), path.stat().st_size - END_BYTES))
            raw += file.read(END_BYTES)
    except OSError:
        return frozenset()
    return frozenset(name.decode() for name in _FIELD_NAME.findall(raw))


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
            count, ignored = sort_sessions(name, [path])
            if count:
                description = describe_ignored(ignored)
                histories.append(AgentHistory(name, path, count, description))
    return histories
