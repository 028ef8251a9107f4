"""transcripts → events: each file is read from where it was left.

A reading can be stopped anywhere and taken up again: how far a file has been read is
stored together with what was read, and what is stored already stays as it is.
"""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from memtui.capture import formats
from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
    SourceFormat,
)
from memtui.capture.ingest import (
    CapturePolicy,
    IngestFilter,
    count_tokens,
    store_session_metadata,
)
from memtui.errors import SourceError, StoreBusyError, StoreError
from memtui.files import require_regular_file
from memtui.model.events import Event, Thought, clean, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import (
    archive,
    cursors,
    database,
    owners,
    problems,
    sessions,
    tombstones,
)
from memtui.store import events as store_events
from memtui.store.cursors import FileCursor, FileStamp, read_stamp
from memtui.store.problems import ProblemCount, ProblemHistory, ProblemKind
from memtui.text.tokens import TokenCounter


@dataclass(slots=True)
class Batch:
    """What one transaction will store."""

    events: list[Event] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    facts: list[SessionMetadata] = field(default_factory=list)
    latest: dict[tuple[str, str], SessionMetadata] = field(default_factory=dict)
    helpers: list[SubagentMetadata] = field(default_factory=list)
    missed: Tally[tuple[str, ProblemKind]] = field(default_factory=Tally)
    lines: dict[tuple[str, ProblemKind], int] = field(default_factory=dict)
    restarted: str = ""

    def take(self, reading: ParsedItem) -> None:
        """Add what was read."""
        match reading:
            case Event():
                self.events.append(reading)
            case Thought():
                self.thoughts.append(reading)
            case SessionMetadata():
                key = reading.agent, reading.session_id
                if self.latest.get(key) != reading:
                    self.latest[key] = reading
                    self.facts.append(reading)
            case SubagentMetadata():
                self.helpers.append(reading)
            case FileReplaced():
                self.restarted = reading.reason
            case InvalidRecord() | SkippedRecord() | PendingRecord():
                key = reading.reason, _KINDS[type(reading)]
                self.missed[key] += 1
                self.lines[key] = reading.line

    def counts(self) -> Iterator[ProblemCount]:
        """What was not taken, by why."""
        for (reason, kind), number in self.missed.items():
            yield ProblemCount(reason, kind, self.lines[reason, kind], number)


_KINDS = {
    InvalidRecord: ProblemKind.DAMAGED,
    SkippedRecord: ProblemKind.SKIPPED,
    PendingRecord: ProblemKind.INCOMPLETE,
}

log = logging.getLogger(__name__)

EVENTS_AT_ONCE = 1000
"""How many events one transaction stores."""

UNFINISHED = FileStamp(-1, -1)
"""How a file looks that has been read in part: never as it does on the disk."""


@dataclass(slots=True)
class ImportProgress:
    """What reading files has brought."""

    files: int = 0
    unchanged: int = 0
    """Files that were read before and have not changed since."""
    created: int = 0
    known: int = 0
    refused: int = 0
    left: int = 0
    unreadable: int = 0
    forgotten: int = 0
    """Events that a person had forgotten, and that did not come back."""
    waits_for: str = ""
    """Why nothing goes on for now; empty while it does."""


class TranscriptReader:
    """Reads files into the store."""

    def __init__(
        self,
        *,
        agent: str,
        counter: TokenCounter,
        clock: Callable[[], datetime],
        admission: CapturePolicy,
    ) -> None:
        """Remember how events are made.

        Args:
            agent: The agent of events that name none.
            counter: How tokens are counted.
            clock: The time, aware.
            admission: Whose conversations are kept.
        """
        self._agent, self._counter, self._clock = agent, counter, clock
        self._admission = admission
        self.progress = ImportProgress()

    def read_file(self, file: Path) -> Iterator[ImportProgress]:
        """Read a file from where it was left, if it has changed since.

        Yields:
            The state after each transaction.
        """
        name = clean(str(file.resolve()))
        try:
            with database.connection():
                place = cursors.get(name)
                if place and not place.source and place.stamp == read_stamp(file):
                    self.progress.unreadable += 1
                    return
                source = _source(require_regular_file(file), place)
                if source is None:
                    return
                look = read_stamp(file, source.related_files(file))
                if place and place.stamp == look and not place.has_pending:
                    self.progress.unchanged += 1
                    return
                yield from self._read(name, file, source, place, look)
        except StoreError:
            raise
        except _Overtaken:
            return
        except SourceError as error:
            self._give_up(name, str(error), file)
        except OSError as error:
            self._give_up(name, error.strerror or "not readable")
        except Exception as error:  # one file's surprise must not stop the others
            log.exception("%s could not be read", name)
            self._give_up(name, f"{type(error).__name__}: {error}")

    def _read(
        self,
        name: str,
        file: Path,
        source: SourceFormat,
        place: FileCursor | None,
        look: FileStamp,
    ) -> Iterator[ImportProgress]:
        start = None
        if place and place.source == source.name:
            start = Cursor(place.offset, place.line, place.fingerprint, place.state)
        gate = IngestFilter(self._admission, name)
        given = source.read(file, start, agent=self._agent, now=self._clock())
        began = place.offset if place else None
        told = _Telling(self, name, source, gate, began)
        told.start(start)
        at = Cursor()
        for reading in gate.filter_items(given):
            if isinstance(reading, Cursor):
                at = reading
            else:
                told.batch.take(reading)
            full = len(told.batch.events)
            if full >= EVENTS_AT_ONCE * (1 if isinstance(reading, Cursor) else 4):
                told.keep(at if isinstance(reading, Cursor) else None, UNFINISHED)
                yield self.progress
        told.keep(at, look, is_last=True)

    def _give_up(self, name: str, reason: str, file: Path | None = None) -> None:
        """Note why a file cannot be read.

        Args:
            name: The file's name in the store.
            reason: What is wrong.
            file: The file, if there is no use in trying again before it changes.
        """
        self.progress.unreadable += 1
        said = reason.removeprefix(f"{name} ").removeprefix(f"{name}: ")
        with database.transaction():
            now_ms = to_ms(self._clock())
            noted = problems.clear(name)
            problems.add(
                name, [ProblemCount(said, ProblemKind.DAMAGED, 0, 1)], now_ms, noted
            )
            if file and file.exists():
                status = file.stat()
                look = FileStamp(status.st_size, status.st_mtime_ns)
                cursors.save(name, FileCursor("", look, 0, 0, "", {}, False), now_ms)


class _Overtaken(Exception):
    """Another reading of the same file has come further."""


class _Telling:
    """One reading of one file."""

    def __init__(
        self,
        files: TranscriptReader,
        name: str,
        source: SourceFormat,
        gate: IngestFilter,
        began: int | None,
    ) -> None:
        self._files, self._name, self._source = files, name, source
        self._gate, self._is_first = gate, not began
        self._offset = began
        self._noted: ProblemHistory = {}
        self._has_forgotten = False
        self._bare = Cursor()
        """How far the file was read when there were no words to remember."""
        self.batch = Batch()

    def start(self, at: Cursor | None) -> None:
        """Note where the reading starts."""
        bare = self._source.state_without_text(at.state) if at else None
        if at and bare is not None:
            self._bare = replace(at, state=bare)

    def keep(
        self, at: Cursor | None, look: FileStamp, *, is_last: bool = False
    ) -> None:
        """Store what was read, and how far that is, in one transaction."""
        files, batch, imported = self._files, self.batch, self._files.progress
        gate = self._gate
        now_ms = to_ms(files._clock())
        with database.transaction():
            if cursors.get_offset(self._name) != self._offset:
                raise _Overtaken
            self._count(now_ms)
            if batch.restarted:
                self._bare = Cursor()
            told = batch.events
            count = partial(count_tokens, counter=files._counter)
            added = archive.add(told, route=self._source.route, count_tokens=count)
            store_events.add_thoughts(batch.thoughts)
            store_session_metadata(batch.facts)
            sessions.update_subagents(batch.helpers)
            new = set(added.created)
            cursors.add_activity(
                self._source.name, [e for e in told if e.event_id in new], now_ms
            )
            if is_last:
                owners.update()
            self._has_forgotten |= bool(added.forgotten) or gate.has_forgotten
            at = self._without_forgotten(at, is_last=is_last)
            if at is not None:
                cursors.save(self._name, self._place(at, look), now_ms)
                self._offset = at.offset
            gate.store_redaction_counts(now_ms)
        imported.created += len(added.created)
        imported.forgotten += added.forgotten + gate.forgotten_count
        gate.forgotten_count = 0
        imported.known += len(batch.events) - len(added.created) - added.forgotten
        self.batch = Batch()

    def _without_forgotten(self, at: Cursor | None, *, is_last: bool) -> Cursor | None:
        """How far to say that the file was read.

        What a reader must remember may say what was forgotten. Then it is said how far
        the file was read when there were no words to remember; what comes after that
        is read again whenever the file has changed.
        """
        if at is None or not at.state or not tombstones.any_exist():
            return at
        bare = self._source.state_without_text(at.state)
        if bare is not None:
            self._bare = replace(at, state=bare)
        if not self._has_forgotten:
            return at if is_last or bare is not None else None
        if not is_last:
            return self._bare if bare is not None else None
        return replace(self._bare, needs_reread=at.needs_reread)

    def _count(self, now_ms: int) -> None:
        batch, imported = self.batch, self._files.progress
        if self._is_first or batch.restarted:
            self._noted = problems.clear(self._name)
            self._is_first = False
        else:
            problems.clear(self._name, ProblemKind.INCOMPLETE)
        problems.add(self._name, batch.counts(), now_ms, self._noted)
        for (_, kind), number in batch.missed.items():
            if kind is ProblemKind.DAMAGED:
                imported.refused += number
            else:
                imported.left += number

    def _place(self, at: Cursor, look: FileStamp) -> FileCursor:
        return FileCursor(
            source=self._source.name,
            stamp=look,
            offset=at.offset,
            line=at.line,
            fingerprint=at.fingerprint,
            state=at.state,
            has_pending=at.needs_reread,
        )


def _source(file: Path, place: FileCursor | None) -> SourceFormat | None:
    """The format a file was read by before, else the one it begins like."""
    if place and place.source in formats.FORMATS_BY_NAME and place.offset:
        return formats.FORMATS_BY_NAME[place.source]
    return formats.detect_format(file)


LOCK_TIMEOUT_S = 120.0
"""How long work that has an end waits for a store that another process keeps locked."""


class Importer:
    """Imports files and folders."""

    def __init__(self, files: TranscriptReader) -> None:
        """Remember what reads them."""
        self._files = files

    @property
    def progress(self) -> ImportProgress:
        """What has been done so far."""
        return self._files.progress

    def run(self, paths: Sequence[Path]) -> Iterator[ImportProgress]:
        """Import files and folders.

        Yields:
            The state after each transaction.

        Raises:
            SourceError: A path does not exist.
        """
        with database.connection():
            for file in [file for path in paths for file in formats.find_files(path)]:
                yield from self._taken(file)
                self.progress.files += 1
                yield self.progress

    def _taken(self, file: Path) -> Iterator[ImportProgress]:
        """Read one file, however long another process keeps the store to itself."""
        begun_s = time.monotonic()
        while True:
            try:
                for _ in self._files.read_file(file):
                    begun_s, self.progress.waits_for = time.monotonic(), ""
                    yield self.progress
            except StoreBusyError as busy:
                if time.monotonic() - begun_s > LOCK_TIMEOUT_S:
                    raise
                self.progress.waits_for = str(busy)
                yield self.progress
            else:
                self.progress.waits_for = ""
                return
