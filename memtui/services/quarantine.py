"""The quarantine: input that could not be stored, to show, retry or delete.

Hook files lie in the quarantine folder; transcripts belong to their agents and are only
listed. Names are looked up in the list and never used as paths.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from memtui import redaction
from memtui.capture.spool import (
    QuarantinedFile,
    Spool,
    decode,
    redact_file,
    split_records,
)
from memtui.errors import MemtuiError, SpoolError
from memtui.files import require_regular_file
from memtui.model.events import clean
from memtui.store import database, sources
from memtui.store.sources import Problem

MARGIN_BYTES = 4096
"""The number of bytes read beyond those shown, so that no secret is cut in two."""

MAX_REASONS = 3
"""The most reasons that are listed of one file."""

_REASON_LINE = re.compile(r"line (\d+): (.*)")

_WHOLE_FILES = (".db", ".json", ".sqlite")
"""The suffixes of transcripts that do not have a record on each line."""

Item = QuarantinedFile | Problem
"""A hook file, or the records of a transcript that have one reason."""


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """A hook file, or the records of a transcript that have one reason."""

    name: str
    """Its name in the list; not a path."""
    file: str
    """The path of the file in the quarantine, or of the transcript."""
    line: int
    """The line of the first invalid record, of a transcript's latest; 0 for none."""
    reason: str
    count: int
    """The number of invalid records."""
    at: datetime
    """The time at which the hook wrote it, or the last record was noticed."""
    is_hook: bool

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class QuarantineContent:
    entry: QuarantineEntry
    text: str
    """Without secrets and control characters; empty where there is nothing to show."""
    is_cut: bool
    note: str
    """The reason for which there is nothing to show; else empty."""


@dataclass(frozen=True, slots=True)
class QuarantinePage:
    entries: tuple[QuarantineEntry, ...]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class RetryResult:
    names: tuple[str, ...]
    files: tuple[Path, ...]
    """The transcripts to be read again from their start."""
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DropResult:
    count: int
    problems: tuple[str, ...]


class QuarantineService:
    def __init__(self, spool: Path) -> None:
        self._spool = Spool(spool)

    def page(self, offset: int = 0, limit: int = 50) -> QuarantinePage:
        """Return entries, the latest first."""
        items = self._list_items()
        ordered = sorted(items, key=lambda name: _time_of(items[name]), reverse=True)
        names = ordered[offset : offset + limit]
        entries = tuple(self._to_entry(name, items[name]) for name in names)
        return QuarantinePage(entries, offset, len(items))

    def find(self, names: Sequence[str]) -> list[QuarantineEntry]:
        """Return those of the named entries that exist."""
        items = self._list_items()
        return [self._to_entry(name, items[name]) for name in names if name in items]

    def show(self, name: str, limit: int | None = None) -> QuarantineContent:
        """Return an entry with its text, of which at most ``limit`` bytes.

        Raises:
            MemtuiError: There is no such entry.
        """
        item = self._choose([name])[name]
        entry = self._to_entry(name, item)
        max_bytes = -1 if limit is None else limit + MARGIN_BYTES
        try:
            if isinstance(item, QuarantinedFile):
                with require_regular_file(item.path).open("rb") as opened:
                    raw, note = opened.read(max_bytes), "The file is empty."
            elif not item.line or Path(item.source).suffix in _WHOLE_FILES:
                raw, note = b"", "Applies to the whole file."
            else:
                raw = _read_line(Path(item.source), item.line, max_bytes)
                note = "The file has nothing on this line any more."
        except FileNotFoundError:
            raw, note = b"", "The file no longer exists."
        except OSError as error:
            raw, note = b"", f"It cannot be read: {error.strerror or error}."
        if not raw.strip():
            return QuarantineContent(entry, "", is_cut=False, note=note)
        text = "\n".join(_format_records(redact_file(raw)[0])).strip("\n")
        is_cut = limit is not None and len(raw) > limit
        return QuarantineContent(entry, text[:limit] if is_cut else text, is_cut, "")

    def retry(self, names: Sequence[str] | None = None) -> RetryResult:
        """Have hook files stored again, and transcripts read from their start.

        Args:
            names: The entries; None for all.

        Raises:
            MemtuiError: There is no such entry; then nothing is done.
        """
        retried: list[str] = []
        problems: list[str] = []
        transcripts: dict[str, Path] = {}
        for name, item in self._choose(names).items():
            try:
                if isinstance(item, QuarantinedFile):
                    self._spool.retry(item)
                elif Path(item.source).is_file():
                    transcripts[item.source] = Path(item.source)
                else:
                    raise SpoolError(f"{item.source}: no longer exists")
                retried.append(name)
            except SpoolError as error:
                problems.append(str(error))
        with database.connection(), database.transaction():
            sources.delete_cursors(transcripts)
        self._count()
        files = tuple(transcripts.values())
        return RetryResult(tuple(retried), files, tuple(problems))

    def count(self, names: Sequence[str] | None = None) -> int:
        """Return the number of entries that ``drop`` would delete.

        Raises:
            MemtuiError: There is no such entry.
        """
        return len(self._choose(names))

    def drop(self, names: Sequence[str] | None = None) -> DropResult:
        """Delete hook files, and the entries of transcripts.

        Raises:
            MemtuiError: There is no such entry; then nothing is done.
        """
        problems: list[str] = []
        items = self._choose(names).values()
        for item in items:
            try:
                if isinstance(item, QuarantinedFile):
                    self._spool.drop(item)
            except SpoolError as error:
                problems.append(str(error))
        with database.connection(), database.transaction():
            for item in items:
                if isinstance(item, Problem):
                    sources.delete_problem(item.source, item.reason)
        self._count()
        return DropResult(len(items) - len(problems), tuple(problems))

    def _count(self) -> None:
        with database.connection(), database.transaction():
            sources.set_quarantined(self._spool.count_quarantined())

    def _choose(self, names: Sequence[str] | None) -> dict[str, Item]:
        items = self._list_items()
        if names is None:
            return items
        for name in names:
            if name not in items:
                raise MemtuiError(
                    f"nothing in the quarantine is called {name!r};"
                    " memtui quarantine list shows all entries"
                )
        return {name: items[name] for name in names}

    def _list_items(self) -> dict[str, Item]:
        with database.connection():
            problems = sources.list_damaged()
        items: dict[str, Item] = {problem_name(item): item for item in problems}
        return items | {file.name: file for file in self._spool.quarantined()}

    def _to_entry(self, name: str, item: Item) -> QuarantineEntry:
        if isinstance(item, Problem):
            return QuarantineEntry(
                name=name,
                file=item.source,
                line=item.line,
                reason=_redact(item.reason),
                count=item.count,
                at=item.last_at,
                is_hook=False,
            )
        reasons = self._spool.reason_lines("bad", item.path.name)
        match = _REASON_LINE.match(reasons[0]) if reasons else None
        listed = [match[2], *reasons[1:]] if match else reasons
        text = "; ".join(listed[:MAX_REASONS])
        if (more := len(listed) - MAX_REASONS) > 0:
            text += f"; and {more:,} more"
        return QuarantineEntry(
            name=name,
            file=clean(str(item.path)),
            line=int(match[1]) if match else 0,
            reason=_redact(text) or "no reason is known",
            count=max(1, len(reasons)),
            at=item.received_at,
            is_hook=True,
        )


def problem_name(problem: Problem) -> str:
    key = f"{problem.source}\x1f{problem.reason}".encode("utf-8", "replace")
    return f"fault-{hashlib.blake2b(key, digest_size=5).hexdigest()}"


def _time_of(item: Item) -> datetime:
    return item.received_at if isinstance(item, QuarantinedFile) else item.last_at


def _read_line(file: Path, line: int, max_bytes: int) -> bytes:
    with require_regular_file(file).open("rb") as opened:
        for _ in islice(opened, line - 1):
            pass
        return opened.readline(max_bytes)


def _format_records(raw: bytes) -> Iterator[str]:
    """Yield the text of every record, those in JSON with a field on each line."""
    for record in split_records(raw):
        if record.fields is not None:
            try:
                yield clean(json.dumps(record.fields, ensure_ascii=False, indent=2))
                continue
            except RecursionError:
                pass
        yield clean(decode(record.raw))


def _redact(text: str) -> str:
    return redaction.redact(clean(text)).text
