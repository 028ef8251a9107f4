"""From the spool to the store: what hooks left is stored, then deleted."""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from memtui.capture import quarantine
from memtui.capture.formats.base import (
    HOOK,
    InvalidRecord,
    ParsedItem,
    SkippedRecord,
)
from memtui.capture.policy import OTHER_PROJECT, CapturePolicy, IngestFilter
from memtui.capture.quarantine import InvalidPart
from memtui.capture.spool import Spool, SpoolFile
from memtui.errors import SpoolError, StoreError
from memtui.model.events import Event, Thought, clean, to_ms
from memtui.model.segments import counted_text
from memtui.model.sessions import SessionMetadata
from memtui.store import (
    copies,
    cursors,
    database,
    meta,
    problems,
    segments,
    sessions,
)
from memtui.store import events as store_events
from memtui.store.problems import HOOKS, ProblemCount, ProblemKind
from memtui.text import secrets
from memtui.text.tokens import TokenCounter

Item = TypeVar("Item", bound=ParsedItem)

log = logging.getLogger(__name__)

FILES_AT_ONCE = 200

BYTES_AT_ONCE = 32 * 1024 * 1024
"""The most bytes that one transaction stores, unless one file alone is larger."""

DRAFTS_INTERVAL_S = 60.0
"""The interval between two searches for drafts of killed hooks."""

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
        return bool(skipped) and all(one.reason == OTHER_PROJECT for one in skipped)


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
        self._failure: str | None = None
        self._is_counted = False
        """The problems in the store match the quarantine."""

    def step(self) -> int:
        """Store a batch of files; return how many."""
        try:
            count = self._store_batch()
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
                meta.write(meta.SPOOL_FAILURE, secrets.redact(clean(reason)).text)
            self._failure = reason

    def _store_batch(self) -> int:
        if not self._is_counted:
            self.recount_quarantine()
        now_s = time.monotonic()
        if now_s >= self._next_drafts_s:
            self._next_drafts_s = now_s + DRAFTS_INTERVAL_S
            self._spool.recover_drafts(self._clock() - ABANDONED_AFTER)
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
        # If one of them cannot be moved, it will be counted again.
        self._is_counted = False
        for file in files:
            self._remove(file)
        self._is_counted = True
        return len(files)

    def recount_quarantine(self) -> None:
        """Make the counted problems match the quarantine, as after a crash."""
        spool = self._spool
        spool.delete_stray_reasons()
        reasons = map(spool.counted_reasons, spool.quarantined())
        actual = Tally(reason for some in reasons for reason in some)
        with database.connection(), database.transaction():
            counted = Tally(problems.get_damaged(HOOKS))
            missing = [
                ProblemCount(reason, ProblemKind.DAMAGED, 0, number)
                for reason, number in (actual - counted).items()
            ]
            problems.add(HOOKS, missing, to_ms(self._clock()))
            for reason, number in (counted - actual).items():
                problems.subtract(HOOKS, reason, number)
        self._is_counted = True

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
        part, redacted = None, ingest_filter.redaction_counts
        if any(isinstance(item, InvalidRecord) for item in items):
            part = quarantine.extract_invalid(file, now, ingest_filter.payload_reason)
            items = [item for item in items if not isinstance(item, InvalidRecord)]
            items += [*part.invalid, *part.skipped]
            redacted += Tally(part.redacted_kinds)
        return _ParsedFile(file.name, items, redacted, part)

    def _store(self, files: Sequence[_ParsedFile]) -> None:
        if not files:
            return
        events = [event for file in files for event in file.of_type(Event)]
        now_ms = to_ms(self._clock())
        with database.transaction(durable=True):
            added = store_events.add(count_tokens(events, self._counter), route=HOOK)
            created = set(added.created)
            new = [event for event in events if event.event_id in created]
            cursors.add_activity(HOOKS, new, now_ms)
            # Files that were stored, but not deleted before a crash, count only once.
            stored_before = meta.stored_hook_files()
            for file in files:
                store_events.add_thoughts(file.of_type(Thought))
                store_session_metadata(file.of_type(SessionMetadata))
                problems.add(HOOKS, _problems(file, InvalidRecord), now_ms)
                if file.name not in stored_before:
                    problems.add_redactions(file.redacted, now_ms)
                    problems.add(HOOKS, _problems(file, SkippedRecord), now_ms)
            meta.set_stored_hook_files(file.name for file in files)
            copies.update_owners()

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
        invalid = InvalidRecord(secrets.redact(clean(reason)).text)
        try:
            file = self._spool.read(name)
        except SpoolError:
            file = None
        if file is None:
            return _ParsedFile(name, [invalid])
        raw, kinds = quarantine.redact_file(file.raw)
        part = InvalidPart(raw, raw != file.raw, (invalid,), redacted_kinds=kinds)
        return _ParsedFile(name, [invalid], Tally(kinds), part)

    def _remove(self, file: _ParsedFile) -> None:
        invalid = file.of_type(InvalidRecord)
        if not invalid:
            self._spool.delete(file.name)
            return
        reasons = [
            f"line {one.line}: {quarantine.redacted_reason(one)}" for one in invalid
        ]
        part = file.invalid_part
        raw = part.raw if part and part.is_changed else None
        self._spool.quarantine(file.name, reasons, raw)


def _problems(
    file: _ParsedFile, record_type: type[InvalidRecord] | type[SkippedRecord]
) -> Iterator[ProblemCount]:
    is_damage = record_type is InvalidRecord
    kind = ProblemKind.DAMAGED if is_damage else ProblemKind.SKIPPED
    for one in file.items:
        if isinstance(one, record_type):
            words = one.words if isinstance(one, SkippedRecord) else 0
            yield ProblemCount(one.reason, kind, one.line, 1, words)


def count_tokens(events: Iterable[Event], counter: TokenCounter) -> list[Event]:
    """Return events with their number of tokens, unless it was exported with them."""
    return [
        event
        if event.token_counter
        else replace(
            event, tokens=counter.count(counted_text(event)), token_counter=counter.name
        )
        for event in events
    ]


def store_session_metadata(found: Iterable[SessionMetadata]) -> None:
    """Store what is known of sessions; summarize those again that change projects."""
    for metadata in found:
        moved = sessions.update_metadata(metadata)
        if moved is not None:
            segments.request_session_summaries(moved)
