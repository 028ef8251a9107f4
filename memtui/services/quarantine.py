"""The quarantine: input that could not be stored, to show, retry or delete.

Hook files lie in the quarantine folder; transcripts belong to their agents and are only
listed. Names are looked up in the list and never used as paths.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path

from memtui.capture.formats import hooks
from memtui.capture.spool import (
    UNKNOWN,
    QuarantinedFile,
    Spool,
    SpoolFile,
    decode,
    redact_file,
    split_records,
)
from memtui.errors import MemtuiError, SpoolError
from memtui.model.events import clean
from memtui.model.quantities import byte_size, plural
from memtui.redaction import redact as secrets
from memtui.store import database, sources
from memtui.store.sources import HOOKS, Problem

MAX_SENDER_BYTES = 64 * 1024
"""The agent and event of a larger file are not read."""

MARGIN_BYTES = 4096
"""The number of bytes read beyond those shown, so that no secret is cut in two."""

MAX_NAME_CHARS = 40

UNKNOWN_AGENT = "unknown agent"

BATCH_FILES = 200
"""The number of files moved or deleted before they are counted."""

Item = QuarantinedFile | Problem
"""A hook file, or damaged records of a transcript."""


class EntryKind(StrEnum):
    HOOK = "hook"
    TRANSCRIPT = "transcript"
    """Records of a transcript, which stays where its agent keeps it."""


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    name: str
    """Its name in the list; not a path."""
    kind: EntryKind
    at: datetime
    """The time at which the hook wrote it, or the last record was noticed."""
    agent: str
    event: str
    file: str
    """The transcript; empty for a hook file."""
    line: int
    """The line of the latest record, from 1; 0 where there are no lines."""
    count: int
    size: int
    reasons: tuple[str, ...]

    @property
    def place(self) -> str:
        """The file and line of the transcript; empty for a hook file."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def amount(self) -> str:
        """The number of records of a transcript, or the size of a hook file."""
        is_hook = self.kind is EntryKind.HOOK
        return byte_size(self.size) if is_hook else plural(self.count, "record")

    def describe(self, when: str) -> str:
        """Return a line of its time, its origin and how much it is."""
        parts = when, self.agent or UNKNOWN_AGENT, self.event, self.amount
        return " · ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class QuarantineContent:
    entry: QuarantineEntry
    text: str
    """Without secrets and control characters; empty where there is nothing to show."""
    is_cut: bool
    note: str
    """Why there is nothing to show; else empty."""


@dataclass(frozen=True, slots=True)
class QuarantinePage:
    entries: tuple[QuarantineEntry, ...]
    offset: int
    total: int
    records: int
    """The number of records: an entry may have many."""


@dataclass(frozen=True, slots=True)
class RetryResult:
    names: tuple[str, ...]
    files: tuple[Path, ...]
    """The transcripts to be read again from their start."""
    problems: tuple[str, ...]


class RetryState(StrEnum):
    TAKEN = "taken"
    REFUSED = "refused again"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class RetryOutcome:
    name: str
    state: RetryState
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropResult:
    files: int
    notes: int
    """Entries of transcripts."""
    problems: tuple[str, ...]


class QuarantineService:
    def __init__(self, spool: Path) -> None:
        self._spool = Spool(spool)

    def page(self, offset: int = 0, limit: int = 50) -> QuarantinePage:
        files = self._spool.quarantined()
        with database.connection():
            items: list[Item] = [*files, *_list_damaged(offset + limit)]
            items.sort(key=_received_at, reverse=True)
            total = len(files) + sources.count_damaged_rows(besides=HOOKS)
            entries = tuple(self._to_entries(items[offset : offset + limit]))
            return QuarantinePage(entries, offset, total, sources.count_damaged())

    def show(self, name: str, limit: int | None = None) -> QuarantineContent:
        """Return an entry with its text.

        Raises:
            MemtuiError: There is no such entry.
        """
        with database.connection():
            (item,) = self._find([name])
            (entry,) = self._to_entries([item])
        if isinstance(item, QuarantinedFile):
            return QuarantineContent(entry, *self._read_file(item, limit))
        return QuarantineContent(entry, *_read_line(item, limit))

    def retry(self, names: Sequence[str] | None = None) -> RetryResult:
        """Have hook files stored again, and transcripts read from their start.

        Raises:
            MemtuiError: There is no such entry; then nothing is done.
        """
        with database.connection():
            items = self._find(names)
        damaged = [item for item in items if isinstance(item, Problem)]
        files = {item.source: Path(item.source) for item in damaged}
        existing = {source for source, file in files.items() if file.is_file()}
        done, failures = self._process_files(items, self._spool.retry)
        missing = [source for source in files if source not in existing]
        failures += [f"{source}: no longer exists" for source in missing]
        with database.transaction():
            sources.delete_cursors(sorted(existing))
        done += [problem_name(item) for item in damaged if item.source in existing]
        transcripts = tuple(files[source] for source in sorted(existing))
        return RetryResult(tuple(done), transcripts, tuple(failures))

    def outcomes(self, names: Iterable[str]) -> list[RetryOutcome]:
        # In this order, input that is rejected at the same time is found at least once.
        waiting = set(self._spool.names())
        with database.connection():
            items = self._list_items()
        return [self._outcome(name, items.get(name), waiting) for name in names]

    def _outcome(self, name: str, item: Item | None, waiting: set[str]) -> RetryOutcome:
        if isinstance(item, QuarantinedFile):
            reasons = self._spool.reason_lines("bad", item.file_name)
            return RetryOutcome(name, RetryState.REFUSED, tuple(reasons))
        if item is not None:
            where = f"line {item.line}: " if item.line else ""
            return RetryOutcome(name, RetryState.REFUSED, (f"{where}{item.reason}",))
        state = RetryState.WAITING if name in waiting else RetryState.TAKEN
        return RetryOutcome(name, state)

    def count(self, names: Sequence[str] | None = None) -> DropResult:
        """Return what ``drop`` would delete."""
        with database.connection():
            items = self._find(names)
        files = sum(isinstance(item, QuarantinedFile) for item in items)
        return DropResult(files, len(items) - files, ())

    def drop(self, names: Sequence[str] | None = None) -> DropResult:
        """Delete hook files, and the entries of transcripts.

        Raises:
            MemtuiError: There is no such entry; then nothing is done.
        """
        with database.connection():
            items = self._find(names)
        done, failures = self._process_files(items, self._spool.drop)
        damaged = [item for item in items if isinstance(item, Problem)]
        with database.transaction():
            for item in damaged:
                sources.subtract_problems(item.source, item.reason, item.count)
        return DropResult(len(done), len(damaged), tuple(failures))

    def _process_files(
        self, items: Sequence[Item], process: Callable[[QuarantinedFile], None]
    ) -> tuple[list[str], list[str]]:
        """Move or delete the hook files; return their names, and the failures."""
        done: list[str] = []
        failures: list[str] = []
        files = [item for item in items if isinstance(item, QuarantinedFile)]
        for start in range(0, len(files), BATCH_FILES):
            counts: Counter[str] = Counter()
            for file in files[start : start + BATCH_FILES]:
                reasons = self._spool.counted_reasons(file)
                try:
                    process(file)
                except SpoolError as error:
                    failures.append(str(error))
                    continue
                done.append(file.name)
                counts.update(reasons)
            with database.transaction():
                for reason, count in counts.items():
                    sources.subtract_problems(HOOKS, reason, count)
        return done, failures

    def _find(self, names: Sequence[str] | None) -> list[Item]:
        items = self._list_items()
        if names is None:
            return list(items.values())
        for name in names:
            if name not in items:
                raise MemtuiError(
                    f"nothing in the quarantine is called {name!r};"
                    " memtui quarantine list shows all entries"
                )
        return [items[name] for name in dict.fromkeys(names)]

    def _list_items(self) -> dict[str, Item]:
        damaged: dict[str, Item] = {problem_name(p): p for p in _list_damaged(None)}
        return damaged | {file.name: file for file in self._spool.quarantined()}

    def _to_entries(self, items: Sequence[Item]) -> Iterator[QuarantineEntry]:
        paths = (item.source for item in items if isinstance(item, Problem))
        formats = sources.get_formats(paths)
        for item in items:
            if isinstance(item, QuarantinedFile):
                yield self._hook_entry(item)
            else:
                yield _transcript_entry(item, formats.get(item.source, ""))

    def _hook_entry(self, file: QuarantinedFile) -> QuarantineEntry:
        raw = b""
        if file.size <= MAX_SENDER_BYTES:
            with suppress(SpoolError):
                raw = self._spool.read_quarantined(file, None)
        named = SpoolFile(file.file_name, raw, file.received_at)
        sender = hooks.sender(raw, agent=named.agent, event=named.event)
        reasons = self._spool.reason_lines("bad", file.file_name) or [UNKNOWN]
        return QuarantineEntry(
            name=file.name,
            kind=EntryKind.HOOK,
            at=file.received_at,
            agent=_shorten(sender[0]),
            event=_shorten(sender[1]),
            file="",
            line=0,
            count=len(reasons),
            size=file.size if file.is_regular else 0,
            reasons=tuple(
                _redact(reason).removeprefix("line 0: ") for reason in reasons
            ),
        )

    def _read_file(
        self, file: QuarantinedFile, limit: int | None
    ) -> tuple[str, bool, str]:
        """Return a hook file's text, whether it is cut, or why there is none."""
        max_bytes = None if limit is None else limit + MARGIN_BYTES
        try:
            raw = self._spool.read_quarantined(file, max_bytes)
        except SpoolError as error:
            return "", False, f"It cannot be read: {error}."
        if not raw:
            return "", False, "The file is empty."
        return *_to_text(raw, limit), ""


def problem_name(problem: Problem) -> str:
    key = f"{problem.source}\x1f{problem.reason}".encode("utf-8", "replace")
    return f"fault-{hashlib.blake2b(key, digest_size=5).hexdigest()}"


def _transcript_entry(problem: Problem, agent: str) -> QuarantineEntry:
    return QuarantineEntry(
        name=problem_name(problem),
        kind=EntryKind.TRANSCRIPT,
        at=problem.last_at,
        agent=agent,
        event="",
        file=problem.source,
        line=problem.line,
        count=problem.count,
        size=0,
        reasons=(_redact(problem.reason),),
    )


def _read_line(problem: Problem, limit: int | None) -> tuple[str, bool, str]:
    """Return a line of a transcript, whether it is cut, or why there is none."""
    file = Path(problem.source)
    if not problem.line or file.suffix in (".db", ".json", ".sqlite"):
        return "", False, "Applies to the whole file."
    max_bytes = -1 if limit is None else limit + MARGIN_BYTES
    try:
        if not file.is_file():
            return "", False, "The file no longer exists."
        with file.open("rb") as opened:
            for _ in islice(opened, problem.line - 1):
                pass
            raw = opened.readline(max_bytes)
    except OSError as error:
        return "", False, f"It cannot be read: {error.strerror}."
    if not raw.strip():
        return "", False, "The file has nothing on this line any more."
    return *_to_text(raw, limit), ""


def _to_text(raw: bytes, limit: int | None) -> tuple[str, bool]:
    redacted, _ = redact_file(raw)
    text = "\n".join(_format_records(redacted)).strip("\n")
    if limit is None or len(raw) <= limit:
        return text, False
    return text[:limit], True


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


def _shorten(name: str) -> str:
    return " ".join(_redact(name).split())[:MAX_NAME_CHARS]


def _redact(text: str) -> str:
    return secrets.redact(clean(text)).text


def _list_damaged(limit: int | None) -> list[Problem]:
    return sources.list_damaged(limit, besides=HOOKS)


def _received_at(item: Item) -> datetime:
    return item.received_at if isinstance(item, QuarantinedFile) else item.last_at
