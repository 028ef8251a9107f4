"""Large results of tools, which agents keep in files of their own.

The result in the transcript has a part of it, and says where the file is::

    <persisted-output>
    Output too large (73KB). Full output saved to: /home/ada/.claude/…/b1k2.txt
"""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PureWindowsPath

from memtui.capture.formats.base import SkippedRecord, as_objects, result_text
from memtui.files import require_regular_file

MAX_RESULT_BYTES = 300_000
"""Of a larger result, the middle is left out."""

MAX_FILE_BYTES = 16 * 1024**2
"""Of a larger file, only the beginning and the end are read."""

_CHARS_PER_WORD = 6
"""The mean length of words, by which those are estimated that are not read."""

_SIZE = re.compile(
    r"[^()\n]{0,200}\n?[^()\n]{0,200}\(([\d,.]{1,20}) ?(KB|MB|characters)",
    re.IGNORECASE,
)
"""The size of the whole result, in the first two lines."""

_UNITS = {"kb": 1024, "mb": 1024**2, "characters": 1}

_PATH = re.compile(
    r"\A\s{0,9}(?:<persisted-output>\s{0,9}|(?=Output too large|Error: result \("
    r"|Tool output was too large))[^\n]{0,300}?(?:\n[^\n]{0,300}?)?"
    r"(?:saved to|full output see):?\s{1,9}([^\n]{1,4096})(?:\n|\Z)",
    re.IGNORECASE,
)


def find_path(text: str) -> str:
    """Return the path of the file that has the whole of a result, or ""."""
    match = _PATH.match(text)
    return match[1].rstrip().removesuffix(".") if match else ""


def file_name(path: str) -> str:
    """Return the name of a file, whose path may be that of another machine."""
    return PureWindowsPath(path).name


def read_whole(
    root: Path, places: Iterable[Path], part: str, line: int = 0
) -> tuple[str, list[SkippedRecord]]:
    """Return a result from its file, and what is missing in it.

    The first file is read that exists at one of the places below the root. No link
    below the root is followed: nobody meant that to be read. Without the file, the
    part in the transcript is returned.
    """
    for place in places:
        with suppress(OSError, ValueError):
            return _read(root.resolve() / place, line)
    return part, [missing(part, line)]


def missing(part: str, line: int) -> SkippedRecord:
    """Return what is missing if only this part of a result is in the transcript."""
    size = _SIZE.match(part)
    chars = 0.0
    if size:
        with suppress(ValueError):
            chars = float(size[1].replace(",", "")) * _UNITS[size[2].lower()]
    words = max(int(chars) - len(part), _CHARS_PER_WORD) // _CHARS_PER_WORD
    return SkippedRecord("the file of a large tool result is missing", line, words)


def _read(file: Path, line: int) -> tuple[str, list[SkippedRecord]]:
    if file.resolve() != file:
        raise ValueError(f"a link to {file.resolve()}")
    half = MAX_RESULT_BYTES // 2
    with require_regular_file(file).open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if size > MAX_FILE_BYTES:
            start = opened.read(half)
            opened.seek(size - half)
            end = opened.read(half)
        else:
            raw = _without_blocks(opened.read(MAX_FILE_BYTES))
            size = len(raw)
            start, end = raw[:half], raw[max(half, size - half) :]
    omitted = size - len(start) - len(end)
    if not omitted:
        return (start + end).decode("utf-8", "replace"), []
    note = f"\n[{omitted // 1024:,} kB left out]\n"
    text = note.join(part.decode("utf-8", "replace") for part in (start, end))
    words = max(omitted // _CHARS_PER_WORD, 1)
    return text, [SkippedRecord("the middle of a large tool result", line, words)]


def _without_blocks(raw: bytes) -> bytes:
    """Return the texts of a result that is a list of blocks, as JSON."""
    if not raw.startswith(b"["):
        return raw
    try:
        blocks = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    is_text = blocks and all(
        block.get("type") == "text" for block in as_objects(blocks)
    )
    if not is_text or len(as_objects(blocks)) < len(blocks):
        return raw
    return result_text(blocks).encode("utf-8", "replace")
