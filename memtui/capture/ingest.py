"""From the sources to the store: the spool's hook files, and transcripts.

A hook file is deleted once it is stored. A transcript is read from where reading last
stopped: how far is stored in the transaction that stores what was read, so that reading
can stop anywhere, and storing an event again changes nothing.
"""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from memtui import redaction
from memtui.capture import formats
from memtui.capture.formats.base import (
    HOOK,
    UNNAMED_HOOK,
    Cursor,
    FileReplaced,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
    SourceFormat,
)
from memtui.capture.formats.hooks import DEFAULT_AGENT
from memtui.capture.policy import OTHER_PROJECT, CapturePolicy, IngestFilter
from memtui.capture.spool import (
    InvalidPart,
    Spool,
    SpoolFile,
    extract_invalid,
    reason_line,
    redact_file,
    shorten_reason,
)
from memtui.errors import SourceError, SpoolError, StoreBusyError, StoreError
from memtui.files import require_regular_file
from memtui.model.events import Event, Thought, clean, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.usage import Usage
from memtui.store import (
    database,
    meta,
    segments,
    sessions,
    source_copies,
    sources,
    tombstones,
    usage,
)
from memtui.store import events as store_events
from memtui.store.sources import (
    HOOKS,
    FileCursor,
    FileStamp,
    ProblemCount,
    ProblemHistory,
    ProblemKind,
    read_stamp,
)
from memtui.text.tokens import TokenCounter

Item = TypeVar("Item", bound=ParsedItem)

log = logging.getLogger(__name__)

# The spool

FILES_AT_ONCE = 200

BYTES_AT_ONCE = 32 * 1024 * 1024
"""The most bytes that one transaction stores, unless one file is larger."""

DRAFTS_INTERVAL_S = 60.0
"""The interval between two searches for drafts of killed hooks, and for files in the
quarantine whose time has come."""

ABANDONED_AFTER = timedelta(minutes=10)
"""A draft that was last written before this time is left over from a killed hook."""


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    name: str
    items: Sequence[ParsedItem] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    invalid_part: InvalidPart | None = None
    """The part that is quarantined; None if the file cannot be read."""

    def of_type(self, *types: type[Item]) -> list[Item]:
        return [item for item in self.items if isinstance(item, types)]

    @property
    def is_of_other_project(self) -> bool:
        """True if all of it belongs to the store of another project."""
        skipped = self.of_type(SkippedRecord)
        return bool(skipped) and all(item.reason == OTHER_PROJECT for item in skipped)


class SpoolIngester:
    def __init__(
        self,
        spool: Spool,
        counter: TokenCounter,
        clock: Callable[[], datetime],
        policy: CapturePolicy,
    ) -> None:
        self._spool, self._counter, self._clock = spool, counter, clock
        self._policy = policy
        self._of_other_projects: set[str] = set()
        self._next_drafts_s = 0.0
        self._due: dict[str, datetime | None] = {}
        """The times from which quarantined files are valid; None if not by waiting."""
        self._failure: str | None = None
        self._counted_change = -1
        """The last change of the quarantine whose files have been counted."""

    def step(self) -> int:
        try:
            count = self._store_batch()
            self._count_quarantined()
        except StoreError:
            raise
        except Exception as error:
            self._record_failure(f"{type(error).__name__}: {error}")
            raise
        self._record_failure("")
        return count

    def _record_failure(self, reason: str) -> None:
        """Store why the spool does not drain, for doctor; "" if it does."""
        if reason == self._failure:
            return
        with suppress(StoreError), database.connection(), database.transaction():
            if meta.read(meta.SPOOL_FAILURE) != reason:
                meta.write(meta.SPOOL_FAILURE, redaction.redact(clean(reason)).text)
            self._failure = reason

    def _store_batch(self) -> int:
        now_s = time.monotonic()
        if now_s >= self._next_drafts_s:
            self._next_drafts_s = now_s + DRAFTS_INTERVAL_S
            self._spool.recover_drafts(self._clock() - ABANDONED_AFTER)
            self._retry_due()
        names = [n for n in self._spool.names() if n not in self._of_other_projects]
        with database.connection():
            files = list(self._parse_files(names[:FILES_AT_ONCE]))
        # Files of other projects stay in the spool for the memtui of that project.
        self._of_other_projects.update(f.name for f in files if f.is_of_other_project)
        files = [file for file in files if not file.is_of_other_project]
        try:
            self._store(files)
        except StoreError:
            raise
        except Exception:
            log.exception("a batch of spool files could not be stored; one by one")
            files = [self._store_one(file) for file in files]
        for file in files:
            self._remove(file)
        return len(files)

    def _retry_due(self) -> None:
        """Take files out of the quarantine whose time, once in the future, has come."""
        due: dict[str, datetime | None] = {}
        now = self._clock()
        for file in self._spool.quarantined():
            name = file.name
            due_at = self._due[name] if name in self._due else self._spool.due_at(file)
            if due_at and due_at <= now:
                with suppress(SpoolError):
                    self._spool.retry(file)
            else:
                due[name] = due_at
        self._due = due

    def _count_quarantined(self) -> None:
        """Store the number of files in the quarantine if it has changed."""
        if self._counted_change < 0:
            self._spool.delete_stray_reasons()
        change = self._spool.last_quarantine_change()
        if change != self._counted_change:
            with database.connection(), database.transaction():
                sources.set_quarantined(self._spool.count_quarantined())
            self._counted_change = change

    def _parse_files(self, names: Sequence[str]) -> Iterator[_ParsedFile]:
        size = 0
        for name in names:
            try:
                file = self._spool.read(name)
            except SpoolError as error:
                yield _ParsedFile(name, [InvalidRecord(str(error))])
                continue
            if file is None:
                continue
            try:
                yield self._parse(file)
            except StoreError:
                raise
            except Exception as error:
                log.exception("the spool file %s could not be read", name)
                reason = f"cannot be read: {type(error).__name__}: {error}"
                yield self._invalid_file(name, reason)
            size += len(file.raw)
            if size > BYTES_AT_ONCE:
                return

    def _parse(self, file: SpoolFile) -> _ParsedFile:
        now = self._clock()
        ingest_filter = IngestFilter(self._policy)
        # A session's project must be known before its events can be filtered.
        ordered = sorted(
            file.parse(now), key=lambda item: not isinstance(item, SessionMetadata)
        )
        items = list(ingest_filter.filter_items(ordered))
        part, redacted = None, ingest_filter.take_redactions()
        if any(isinstance(item, InvalidRecord) for item in items):
            part = extract_invalid(file, now, ingest_filter.why_not_quarantined)
            items = [item for item in items if not isinstance(item, InvalidRecord)]
            items += [*part.invalid, *part.skipped]
            redacted += Tally(part.redacted_kinds)
        return _ParsedFile(file.name, items, redacted, part)

    def _store(self, files: Sequence[_ParsedFile]) -> None:
        if not files:
            return
        now_ms = to_ms(self._clock())
        with database.transaction(durable=True):
            files = _name_agents(files)
            events = [event for file in files for event in file.of_type(Event)]
            added = store_events.add(events, route=HOOK, counter=self._counter)
            created = set(added.created)
            new = [event for event in events if event.event_id in created]
            sources.add_activity(HOOKS, new, now_ms)
            # Files that were stored, but not deleted before a crash, count only once.
            stored_before = meta.stored_hook_files()
            for file in files:
                store_events.add_thoughts(file.of_type(Thought))
                store_session_metadata(file.of_type(SessionMetadata))
                if file.name not in stored_before:
                    sources.add_redactions(file.redacted, now_ms)
                    skipped = map(_as_problem, file.of_type(SkippedRecord))
                    sources.add_problems(HOOKS, skipped, now_ms)
            meta.set_stored_hook_files(file.name for file in files)
            source_copies.update_owners()

    def _store_one(self, file: _ParsedFile) -> _ParsedFile:
        """Store one file, or quarantine it so that it does not block those after it."""
        try:
            self._store([file])
        except StoreError:
            raise
        except Exception as error:
            reason = f"cannot be stored: {type(error).__name__}: {error}"
            file = self._invalid_file(file.name, reason)
            self._store([file])
        return file

    def _invalid_file(self, name: str, reason: str) -> _ParsedFile:
        invalid = InvalidRecord(redaction.redact(clean(reason)).text)
        try:
            file = self._spool.read(name)
        except SpoolError:
            file = None
        if file is None:
            return _ParsedFile(name, [invalid])
        raw, kinds = redact_file(file.raw)
        part = InvalidPart(raw, raw != file.raw, (invalid,), redacted_kinds=kinds)
        return _ParsedFile(name, [invalid], Tally(kinds), part)

    def _remove(self, file: _ParsedFile) -> None:
        invalid = file.of_type(InvalidRecord)
        if not invalid:
            self._spool.delete(file.name)
            return
        reasons = list(map(reason_line, invalid))
        part = file.invalid_part
        raw = part.raw if part and part.is_changed else None
        self._spool.quarantine(file.name, reasons, raw)


def _name_agents(files: Sequence[_ParsedFile]) -> Sequence[_ParsedFile]:
    """Return files with the agents of sessions whose payloads do not name them.

    Other payloads of these sessions may, which are stored or among these files.
    """
    events = [event for file in files for event in file.of_type(Event)]
    unnamed = {event.session_id for event in events if _is_unnamed(event)}
    if not unnamed:
        return files
    agents = sessions.find_agents(unnamed) | {
        event.session_id: event.agent for event in events if not _is_unnamed(event)
    }

    def name(file: _ParsedFile) -> _ParsedFile:
        if not any(map(_is_unnamed, file.of_type(Event))):
            return file
        items = [
            replace(item, agent=agents.get(item.session_id, item.agent))
            if isinstance(item, Event | SessionMetadata)
            else item
            for item in file.items
        ]
        return replace(file, items=items)

    return [name(file) for file in files]


def _is_unnamed(event: Event) -> bool:
    route = event.provenance.route if event.provenance else ""
    return route == UNNAMED_HOOK and event.agent == DEFAULT_AGENT


_PROBLEM_KINDS = {
    InvalidRecord: ProblemKind.DAMAGED,
    SkippedRecord: ProblemKind.SKIPPED,
    PendingRecord: ProblemKind.INCOMPLETE,
}


def _as_problem(item: InvalidRecord | SkippedRecord | PendingRecord) -> ProblemCount:
    words = item.words if isinstance(item, SkippedRecord) else 0
    reason = shorten_reason(item.reason)
    return ProblemCount(reason, _PROBLEM_KINDS[type(item)], item.line, 1, words)


# Transcripts

EVENTS_AT_ONCE = 1000

LOCK_TIMEOUT_S = 120.0

DUE_INTERVAL_MS = 60_000
"""The least time between two readings of a file with records in the future."""

MAX_UNREADABLE = 10

PARTLY_READ = FileStamp(-1, -1)
"""The stamp of a file that has been read in part; no file on disk has it."""


@dataclass(slots=True)
class ImportProgress:
    files: int = 0
    unchanged: int = 0
    created: int = 0
    already_stored: int = 0
    invalid: int = 0
    skipped: int = 0
    unreadable: int = 0
    unreadable_files: list[str] = field(default_factory=list)
    """The first of these, each with the reason."""
    forgotten: int = 0
    unread: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The types of records that are not stored but contain words: the number of records
    and of words."""
    waiting_reason: str = ""


@dataclass(slots=True)
class _Batch:
    events: list[Event] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    sessions: list[SessionMetadata] = field(default_factory=list)
    latest: dict[tuple[str, str], SessionMetadata] = field(default_factory=dict)
    subagents: list[SubagentMetadata] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    titles: list[MessageTitle] = field(default_factory=list)
    problems: dict[tuple[str, ProblemKind], ProblemCount] = field(default_factory=dict)
    due_ms: list[int] = field(default_factory=list)
    """The times from which records in the future are valid."""
    is_replaced: bool = False

    def add(self, item: ParsedItem) -> None:
        match item:
            case Event():
                self.events.append(item)
            case Thought():
                self.thoughts.append(item)
            case SessionMetadata():
                key = item.agent, item.session_id
                if self.latest.get(key) != item:
                    self.latest[key] = item
                    self.sessions.append(item)
            case SubagentMetadata():
                self.subagents.append(item)
            case Usage():
                self.usage.append(item)
            case MessageTitle():
                self.titles.append(item)
            case FileReplaced():
                self.is_replaced = True
                self.problems.clear()
                self.due_ms.clear()
            case InvalidRecord() | SkippedRecord() | PendingRecord():
                if isinstance(item, InvalidRecord) and item.due_at:
                    self.due_ms.append(to_ms(item.due_at))
                problem = _as_problem(item)
                key = problem.reason, problem.kind
                if before := self.problems.get(key):
                    count, words = before.count + 1, before.words + problem.words
                    problem = replace(problem, count=count, words=words)
                self.problems[key] = problem


class TranscriptReader:
    def __init__(
        self,
        *,
        agent: str,
        counter: TokenCounter,
        clock: Callable[[], datetime],
        policy: CapturePolicy,
    ) -> None:
        """Create a reader; events that name no agent are those of ``agent``."""
        self.agent, self.counter, self.clock = agent, counter, clock
        self.policy = policy
        self.progress = ImportProgress()

    def run(self, paths: Sequence[Path]) -> Iterator[ImportProgress]:
        """Import files and folders, and yield the progress after each transaction.

        Raises:
            SourceError: A path does not exist.
        """
        with database.connection():
            for file in [file for path in paths for file in formats.find_files(path)]:
                yield from self._wait_and_read(file)
                self.progress.files += 1
                yield self.progress
            # The sessions of their titles may have been imported after them.
            for name in sources.list_with_titles():
                if Path(name).is_file():
                    yield from self._wait_and_read(Path(name))

    def _wait_and_read(self, file: Path) -> Iterator[ImportProgress]:
        started_s = time.monotonic()
        while True:
            try:
                for _ in self.read_file(file):
                    started_s, self.progress.waiting_reason = time.monotonic(), ""
                    yield self.progress
            except StoreBusyError as error:
                if time.monotonic() - started_s > LOCK_TIMEOUT_S:
                    raise
                self.progress.waiting_reason = str(error)
                yield self.progress
            else:
                self.progress.waiting_reason = ""
                return

    def read_file(self, file: Path) -> Iterator[ImportProgress]:
        """Read a file on; yield the progress after each transaction."""
        name = clean(str(file.resolve()))
        try:
            with database.connection():
                stored = sources.get_cursor(name)
                require_regular_file(file)
                source = None
                if stored and stored.offset:
                    source = formats.FORMATS_BY_NAME.get(stored.source)
                source = source or formats.detect_format(file)
                if source is None:
                    return
                stamp = read_stamp(file, source.related_files(file))
                is_pending = stored and (stored.has_pending or self.is_due(stored))
                if stored and stored.stamp == stamp and not is_pending:
                    self.progress.unchanged += 1
                    return
                yield from _FileImport(self, name, source, stored).run(file, stamp)
        except StoreError:
            raise
        except _ReadElsewhereError:
            return
        except SourceError as error:
            self._report(name, str(error), file)
        except OSError as error:
            self._report(name, error.strerror or "not readable")
        except Exception as error:  # one file's error must not stop the others
            log.exception("%s could not be read", name)
            self._report(name, f"{type(error).__name__}: {error}")

    def is_due(self, cursor: FileCursor) -> bool:
        """Return whether the time has come of a record that was in the future."""
        return cursor.due_ms is not None and cursor.due_ms <= to_ms(self.clock())

    def _report(self, name: str, reason: str, file: Path | None = None) -> None:
        """Store why a file cannot be read; with it, it is read when it changes."""
        self.progress.unreadable += 1
        for path in (name, str(file)):
            reason = reason.removeprefix(f"{path} ").removeprefix(f"{path}: ")
        if len(self.progress.unreadable_files) < MAX_UNREADABLE:
            self.progress.unreadable_files.append(f"{name}: {reason}")
        problem = ProblemCount(reason, ProblemKind.DAMAGED, 0, 1)
        with database.transaction():
            now_ms = to_ms(self.clock())
            history = sources.clear_problems(name)
            sources.add_problems(name, [problem], now_ms, history)
            if file and file.exists():
                stamp = read_stamp(file)
                # A cursor without a format marks an unreadable file.
                sources.save_cursor(name, FileCursor("", stamp, 0, 0, ""), now_ms)


class _ReadElsewhereError(Exception):
    """Another process has read the file meanwhile."""


class _FileImport:
    def __init__(
        self,
        reader: TranscriptReader,
        name: str,
        source: SourceFormat,
        stored: FileCursor | None,
    ) -> None:
        self._reader, self._name, self._source = reader, name, source
        self._is_plain = source is formats.plain.FORMAT
        self._filter = IngestFilter(reader.policy, name, is_export=self._is_plain)
        self._batch = _Batch()
        self._stored_offset = stored.offset if stored else None
        is_due = stored is not None and reader.is_due(stored)
        self._is_first_batch = is_due or not self._stored_offset
        self._due_ms = None if is_due or stored is None else stored.due_ms
        self._history: ProblemHistory = {}
        self._titles: dict[tuple[str, str], str] = {}
        """The titles of sessions that are not known yet, by agent and message."""
        self._latest_at: dict[tuple[str, str], datetime] = {}
        """The time of the latest event of each session that was read."""
        self._sessions: set[str] = set()
        """The names of the sessions in this file."""
        self._start: Cursor | None = None
        if stored and stored.source == source.name and not is_due:
            position = stored.offset, stored.line, stored.fingerprint
            self._start = Cursor(*position, stored.state, stored.has_pending)
            for agent, source_id, title in stored.titles:
                self._titles[agent, source_id] = title

    def run(self, file: Path, stamp: FileStamp) -> Iterator[ImportProgress]:
        reader = self._reader
        items = self._source.read(
            file, self._start, agent=reader.agent, now=reader.clock()
        )
        cursor = Cursor()
        for item in self._filter.filter_items(items):
            is_cursor = isinstance(item, Cursor)
            if isinstance(item, Cursor):
                cursor = item
            else:
                self._batch.add(self._with_time(item))
            # Without a cursor to resume from, the batch may grow larger.
            limit = EVENTS_AT_ONCE * (1 if is_cursor else 4)
            if len(self._batch.events) >= limit:
                self._store(cursor if is_cursor else None, PARTLY_READ)
                yield reader.progress
        self._store(cursor, stamp, is_last=True)

    def _with_time(self, item: ParsedItem) -> ParsedItem:
        """Give the facts of a session the time of the latest event before them."""
        if isinstance(item, Event | SessionMetadata):
            key = item.agent, item.session_id
            latest_at = self._latest_at.get(key)
            if isinstance(item, SessionMetadata):
                # What is added to a file later may be facts alone: they hold now.
                first_at = item.at if self._start is None else None
                return replace(item, facts_at=item.facts_at or latest_at or first_at)
            self._latest_at[key] = max(item.timestamp, latest_at or item.timestamp)
        return item

    def _store(
        self, cursor: Cursor | None, stamp: FileStamp, *, is_last: bool = False
    ) -> None:
        reader, batch, progress = self._reader, self._batch, self._reader.progress
        now_ms = to_ms(reader.clock())
        with database.transaction():
            if sources.get_offset(self._name) != self._stored_offset:
                raise _ReadElsewhereError
            added = store_events.add(
                batch.events,
                route=self._source.route,
                counter=reader.counter,
                are_claims=self._is_plain,
            )
            store_events.add_thoughts(batch.thoughts)
            usage.add(batch.usage)
            store_session_metadata(batch.sessions)
            self._sessions.update(clean(item.session_id) for item in batch.sessions)
            sessions.update_subagents(batch.subagents)
            created = set(added.created)
            new = [event for event in batch.events if event.event_id in created]
            sources.add_activity(self._source.name, new, now_ms)
            if batch.is_replaced:
                self._titles, self._due_ms = {}, None
            if batch.due_ms:
                due_ms = max(min(batch.due_ms), now_ms + DUE_INTERVAL_MS)
                self._due_ms = min(self._due_ms or due_ms, due_ms)
            for item in batch.titles:
                self._titles[item.agent, item.source_id] = item.title
            if is_last:
                source_copies.update_owners()
                if self._start is None:
                    sources.request_reading_of_titles()
                self._link_titles()
            self._store_problems(now_ms)
            if cursor is not None:
                stored = FileCursor(
                    source=self._source.name,
                    stamp=stamp,
                    offset=cursor.offset,
                    line=cursor.line,
                    fingerprint=cursor.fingerprint,
                    state=cursor.state,
                    titles=[(*key, title) for key, title in self._titles.items()],
                    has_pending=cursor.needs_reread,
                    due_ms=self._due_ms,
                )
                sources.save_cursor(self._name, stored, now_ms)
                self._stored_offset = cursor.offset
            sources.add_redactions(self._filter.take_redactions(created), now_ms)
        progress.created += len(added.created)
        progress.forgotten += added.forgotten + self._filter.forgotten_count
        self._filter.forgotten_count = 0
        progress.already_stored += (
            len(batch.events) - len(added.created) - added.forgotten
        )
        self._batch = _Batch()

    def _link_titles(self) -> None:
        """Give sessions the titles found in this file, as far as they are stored."""
        for (agent, source_id), title in list(self._titles.items()):
            session = sessions.find_by_message(agent, source_id, self._sessions)
            if tombstones.covers_title(title) or tombstones.covers_source_id(
                agent, source_id
            ):
                del self._titles[agent, source_id]
            elif session:
                if not session.agent_title:
                    titled = SessionMetadata(agent, session.session_id, title=title)
                    store_session_metadata([titled])
                del self._titles[agent, source_id]

    def _store_problems(self, now_ms: int) -> None:
        batch, progress = self._batch, self._reader.progress
        if self._is_first_batch or batch.is_replaced:
            self._history = sources.clear_problems(self._name)
            self._is_first_batch = False
        else:
            sources.clear_problems(self._name, ProblemKind.INCOMPLETE)
        problems = batch.problems.values()
        sources.add_problems(self._name, problems, now_ms, self._history)
        for problem in problems:
            reason, count = problem.reason, problem.count
            if problem.words:
                records, words = progress.unread.get(reason, (0, 0))
                progress.unread[reason] = records + count, words + problem.words
            if problem.kind is ProblemKind.DAMAGED:
                progress.invalid += count
            else:
                progress.skipped += count


def store_session_metadata(items: Iterable[SessionMetadata]) -> None:
    """Store what is known of sessions; summarize those again that change projects."""
    for metadata in items:
        moved = sessions.update_metadata(metadata)
        if moved is not None:
            segments.request_session_summaries(moved)
