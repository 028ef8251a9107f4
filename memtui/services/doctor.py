"""The checks of ``memtui doctor``: what is wrong, and how to fix it.

The checks only read. They take no lock, and create or change no store, so that a store
can be checked while another process uses it, or if it is damaged or read-only.
"""

import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.capture import formats, spool, watcher
from memtui.capture.spool import SpoolStatus
from memtui.errors import MemtuiError, SearchError, StoreBusyError, StoreError
from memtui.integrations import agents
from memtui.integrations.agents import HookStatus
from memtui.integrations.config_files import Machine
from memtui.model.events import clean, to_ms
from memtui.model.model_state import ModelCondition, ModelHealth
from memtui.paths import Paths, transcript_folders
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.services import status
from memtui.services.capture_sources import CaptureSource
from memtui.settings import EXTRACTIVE, OLLAMA, Settings
from memtui.store import (
    backup,
    cursors,
    database,
    grips,
    index_input,
    meta,
    nodes,
    outbox,
    problems,
    rollup_queue,
    schema,
    segments,
    tombstones,
)
from memtui.store import sessions as store_sessions
from memtui.store.cursors import SourceActivity
from memtui.store.problems import Problem, ProblemKind
from memtui.summarize.ollama.models import ModelOptions
from memtui.text import date_format, tokens
from memtui.text.quantities import byte_size, plural
from memtui.text.secrets import RULES_VERSION

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check."""

    name: str
    """The name of the check; it is the same in every version of memtui."""
    is_ok: bool
    message: str
    remedy: str = ""
    """A command or a sentence. If nothing is wrong: what could be improved."""
    subject: str = ""
    """The agent, file or folder, if a check has several."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The model that writes summaries."""

    provider: str
    url: str
    health: ModelHealth | None = None
    """None if no model is used."""


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records that were not stored, for one reason."""

    reason: str
    kind: ProblemKind
    count: int


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A name with a count."""

    name: str
    count: int


@dataclass(slots=True)
class Report:
    """The findings and counts. If the store cannot be read, its counts are empty."""

    findings: list[Finding] = field(default_factory=list)
    model: ModelCheck | None = None
    quarantined: list[NamedCount] = field(default_factory=list)
    skipped: list[SkippedRecords] = field(default_factory=list)
    latest_damaged: list[Problem] = field(default_factory=list)
    activity: list[SourceActivity] = field(default_factory=list)
    redacted: list[NamedCount] = field(default_factory=list)
    unknown_types: list[NamedCount] = field(default_factory=list)
    zone: tzinfo = UTC

    @property
    def is_ok(self) -> bool:
        return all(finding.is_ok for finding in self.findings)


@dataclass(frozen=True, slots=True)
class IndexState:
    """A search index, compared with the store."""

    exists: bool
    is_ours: bool
    """Whether it was made from this store."""
    is_valid: bool
    count: int
    expected: int
    pending: int


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """The transcripts of an agent, compared with what memtui has read."""

    files: int
    newest_at: datetime | None
    unread: int
    """The number of those that have never been read."""
    changed: int
    """Those that changed since they were read, more than ``SETTLE_TIME`` ago."""
    late: int
    """The unread and changed ones that last changed more than ``SETTLE_TIME`` ago."""
    expiring: int
    """The unread and changed ones that the agent deletes within ``EXPIRY_WARNING``."""
    expires_at: datetime | None
    """When the first of these is deleted; may be in the past."""


MAX_LATEST = 20
"""The maximum number of the latest damaged records in the report."""

SPOOL_TIMEOUT = timedelta(days=3)
"""Hook files that have been waiting for longer are reported; nothing is lost."""

WORKER_TIMEOUT = timedelta(minutes=15)
"""The same while memtui is running, which normally stores them at once."""

MAX_HOOK_DELAY = timedelta(minutes=15)
"""If a transcript is this much newer than the last hook event, the hooks are broken."""

SETTLE_TIME = timedelta(minutes=5)
"""A file that has changed more recently may be read soon, and is not reported."""

EXPIRY_WARNING = timedelta(days=7)
"""Unread transcripts that an agent deletes within this time are reported."""

MIN_FREE_BYTES = 200_000_000

MIN_FREE_FILES = 1000

LARGE_STORE_BYTES = 50_000_000
"""A note is printed while a larger store is checked, which takes a moment."""

OLLAMA_TIMEOUT_S = 2.0

RESTORE_REMEDY = (
    "restore a backup: memtui restore FILE; without a backup, move the file away and"
    " run memtui import"
)

_UNKNOWN_TYPE = re.compile(r"unknown (?:record type|hook event) (.+)", re.DOTALL)
"""The message of a reader about a record of an unknown type."""


class Doctor:
    """Checks one store and what it depends on."""

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        *,
        settings_error: str = "",
        has_separate_stores: bool,
        worker: int | None,
        machines: tuple[Machine, Machine],
        list_sources: Callable[[bool], list[CaptureSource]],
        machine_zone: str,
        model_options: ModelOptions,
    ) -> None:
        """Make a doctor; ``examine`` runs the checks.

        Args:
            paths: The paths in use.
            settings: The settings; the defaults if they cannot be read.
            settings_error: Why the settings cannot be read; "" if they can.
            has_separate_stores: Whether the store belongs to a single project.
            worker: The id of the process that runs the pipeline; 0 if there is none,
                None if this system cannot tell.
            machines: Where the hooks of the user are, and those of the project in the
                working folder.
            list_sources: Returns the captured agents; its argument says whether there
                is a store.
            machine_zone: The name of this machine's time zone.
            model_options: The options of Ollama.
        """
        self._paths, self._settings = paths, settings
        self._settings_error = settings_error
        self._has_separate_stores, self._worker = has_separate_stores, worker
        self._machines, self._machine_zone = machines, machine_zone
        self._list_sources, self._model_options = list_sources, model_options
        self._now = datetime.now(UTC)
        self._report = Report()
        self._sources: list[CaptureSource] = []
        self._transcripts: dict[str, TranscriptState] = {}

    def examine(self) -> Report:
        """Run all checks."""
        try:
            self._run("settings", self._check_settings)
            self._run("owner", self._check_owners)
            is_readable = self._check_store_file()
            if is_readable:
                self._run("work", self._check_work)
                self._run("index", self._check_node_index)
                self._run("messages", self._check_message_index)
                self._run("secrets", self._check_secrets)
            self._run("spool", lambda: self._check_spool(is_readable))
            if is_readable or not self._store_may_exist():
                self._run("transcripts", lambda: self._check_transcripts(is_readable))
            if is_readable:
                self._run("store", self._fill_counts)
            self._run("hooks", self._check_hooks)
            with suppress(OSError):
                reasons = spool.spool_status(self._paths.spool).reasons
                self._report.quarantined = [NamedCount(*row) for row in reasons]
            if is_readable:
                self._run("zone", self._check_zone)
            self._run("tokens", self._check_vocabulary)
            self._run("disk", self._check_disk)
            self._run("model", self._check_model)
            if is_readable:
                self._run("model", self._check_worker_model)
        finally:
            database.close()
        return self._report

    def _run(self, name: str, check: Callable[[], Iterable[Finding]]) -> None:
        """Run a check and add its findings; an error becomes a finding."""
        try:
            self._report.findings += check()
        except MemtuiError as error:
            remedy = "first solve the problem of the store"
            self._report.findings.append(Finding(name, False, str(error), remedy))
        except OSError as error:
            self._report.findings.append(_unreadable(name, error))
        except Exception as error:  # the other checks may still help
            log.exception("the check %s failed", name)
            message = f"this check failed: {type(error).__name__}: {error}"
            remedy = f"see {self._paths.log}"
            self._report.findings.append(Finding(name, False, message, remedy))

    def _store_may_exist(self) -> bool:
        """Return whether the store exists, or this cannot be found out."""
        try:
            return self._paths.store.exists()
        except OSError:
            return True

    # Settings

    def _check_settings(self) -> Iterator[Finding]:
        if self._settings_error:
            remedy = "correct it; until then only doctor works, with the defaults"
            yield Finding("settings", False, self._settings_error, remedy)
            return
        settings = self._settings
        missing = [path for path in settings.watched_folders if not path.exists()]
        for path in missing:
            origin = settings.origin("capture.folders")
            message = f"{path} in capture.folders does not exist ({origin})"
            remedy = "create it, or remove it from the settings"
            yield Finding("settings", False, message, remedy, str(path))
        for pattern in settings.exclude_patterns:
            path = Path(pattern)
            if path.is_absolute() and "*" not in pattern and not path.exists():
                message = f"{pattern} in capture.exclude does not exist"
                remedy = "if that is a mistake, correct it in the settings"
                yield Finding("settings", True, message, remedy, pattern)
        if "aider" in settings.capture_sources and not settings.watched_folders:
            message = "aider in capture.sources has no fixed folder"
            remedy = "add the folders in which you use it to capture.folders"
            yield Finding("settings", False, message, remedy, "aider")
        for name in settings.capture_sources:
            folders = transcript_folders().get(name, ())
            if folders and not any(folder.exists() for folder in folders):
                message = f"{name} in capture.sources has no transcripts here"
                yield Finding("settings", True, message, subject=name)
        if not missing:
            origins = settings.origins.values()
            files = sorted({origin.rpartition(":")[0] for origin in origins} - {""})
            message = f"read from {', '.join(files)}" if files else "the defaults"
            yield Finding("settings", True, message)

    # The store

    def _check_owners(self) -> Iterator[Finding]:
        """Report what is somebody else's, or is somewhere else than it seems."""
        paths = self._paths
        for path in (paths.store.parent, paths.store, paths.spool, paths.config):
            if not path.exists():
                continue
            owner = path.stat().st_uid
            if owner != os.geteuid():
                message = f"{path} belongs to another user (id {owner})"
                remedy = f"sudo chown -R {os.geteuid()} {path}, or use another: --home"
                yield Finding("owner", False, message, remedy, str(path))
            elif path.is_symlink():
                message = f"{path} is a link to {path.resolve()}"
                yield Finding("owner", True, message, subject=str(path))

    def _check_store_file(self) -> bool:
        """Add a finding on the store; return whether it can be read."""
        try:
            finding, is_readable = self._examine_store(self._paths.store)
        except OSError as error:
            finding, is_readable = _unreadable("store", error), False
        self._report.findings.append(finding)
        return is_readable

    def _examine_store(self, file: Path) -> tuple[Finding, bool]:
        def finding(is_ok: bool, message: str, remedy: str = "") -> Finding:
            return Finding("store", is_ok, message, remedy, str(file))

        if not file.exists():
            parent = next(path for path in file.parents if path.exists())
            if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
                message = f"there is no store, and {parent} is not writable"
                remedy = f"chmod u+rwx {parent}, or choose another folder: --home DIR"
                return finding(False, message, remedy), False
            return finding(True, "nothing is stored yet", "memtui import"), False
        if file.is_dir():
            message = f"{file} is a folder, not a file"
            return finding(False, message, f"mv {file} {file}.away"), False
        try:
            version = backup.open_read_only(file)
            if version == schema.VERSION:
                return self._examine_content(file), True
        except StoreBusyError as error:
            remedy = f"end the program that uses it: fuser {file}"
            return finding(False, str(error), remedy), False
        except StoreError as error:
            remedy = RESTORE_REMEDY if "damaged" in str(error) else f"chmod u+rw {file}"
            return finding(False, str(error), remedy), False
        if version:
            message = (
                f"{file} was made by another version of memtui (schema {version};"
                f" this version reads schema {schema.VERSION})"
            )
            return finding(False, message, "use that version of memtui"), False
        if file.stat().st_size:
            message = f"{file} is the database of another program"
            remedy = "choose another file: store.path in the settings"
            return finding(False, message, remedy), False
        if NodeIndex(self._paths.index).name():
            message = f"{file} is empty, but it had content before"
            return finding(False, message, RESTORE_REMEDY), False
        return finding(True, "nothing is stored yet", "memtui import"), False

    def _examine_content(self, file: Path) -> Finding:
        """Check the content of a store with the right schema."""
        size = file.stat().st_size
        if size > LARGE_STORE_BYTES and sys.stderr.isatty():
            message = f"memtui: checking the store ({byte_size(size)}) …"
            print(message, file=sys.stderr)
        with database.connection():
            if damages := backup.find_damages():
                message = "; ".join(damages)
                return Finding("store", False, message, RESTORE_REMEDY, str(file))
            events = store_sessions.count_events()[0]
            sessions = plural(store_sessions.count(), "session")
        message = f"{events:,} events in {sessions}, {byte_size(size)}, undamaged"
        for path in (file, file.parent):
            if not os.access(path, os.W_OK):
                message += f", but {path} is not writable: nothing new is stored"
                remedy = f"chmod u+rwX {path}, or mount the disk read-write"
                return Finding("store", False, message, remedy, str(file))
        return Finding("store", True, message, subject=str(file))

    def _check_work(self) -> Iterator[Finding]:
        now_ms = to_ms(self._now)
        with database.connection():
            queues = outbox.count_by_action()
            new_segments, dirty_nodes = segments.count_pending(), rollup_queue.count()
            failing = segments.count_failing(now_ms) + rollup_queue.count_failing(
                now_ms
            )
        parts = []
        for queue in queues:
            since = date_format.age(queue.oldest_at, self._now)
            text = plural(queue.count, *QUEUE_NOUNS[queue.action])
            parts.append(f"{text} (oldest {since})")
        if new_segments:
            many = "segments to summarize"
            parts.append(plural(new_segments, "segment to summarize", many))
        if dirty_nodes:
            parts.append(plural(dirty_nodes, "node to roll up", "nodes to roll up"))
        message = ", ".join(parts) or "no work is waiting"
        if self._worker:
            message += f"; memtui is running (process {self._worker})"
        elif parts and self._worker == 0:
            message += "; memtui is not running"
        if failing:
            message += f"; {failing:,} failed and will be retried"
            remedy = f"see {self._paths.log}, then: memtui work --until-idle"
            yield Finding("work", False, message, remedy)
        elif parts and not self._worker:
            yield Finding("work", False, message, "memtui work --until-idle")
        else:
            yield Finding("work", True, message)

    def _check_node_index(self) -> Iterator[Finding]:
        folder = self._paths.index
        if folder.is_dir():
            any(folder.iterdir())  # An error says that it may not be read.
        index = NodeIndex(folder)
        try:
            with database.connection():
                name, expected = meta.read(meta.NODE_INDEX), nodes.count()[0]
                expected += grips.count()
                pending = outbox.count(outbox.INDEX_NODE)
            is_ours = bool(name) and index.name() == name
            is_valid = is_ours and index.is_sound()
            count = index.count() if is_valid else 0
            exists = index.exists()
        finally:
            index.close()
        state = IndexState(exists, is_ours, is_valid, count, expected, pending)
        yield self._index_finding("index", state, "nodes and quotes")

    def _check_message_index(self) -> Iterator[Finding]:
        index = MessageIndex(
            self._paths.message_index,
            with_tools=self._settings.search_include_tools,
        )
        with database.connection():
            name = meta.read(meta.MESSAGE_INDEX)
            expected = index_input.count_messages()
            pending = outbox.list_latest_events(0)[1]
        is_ours = bool(name) and index.name() == name
        count, is_valid = 0, True
        try:
            contents = index.status()
            count = contents.messages
            if not contents.is_complete:
                pending = max(0, expected - count)
        except SearchError:
            is_valid = False
        state = IndexState(index.exists(), is_ours, is_valid, count, expected, pending)
        yield self._index_finding("messages", state, "messages")

    def _index_finding(self, name: str, state: IndexState, items: str) -> Finding:
        """Compare an index with the store."""
        problem = ""
        if not state.exists:
            if not state.expected:
                return Finding(name, True, f"it will be made when there are {items}")
            problem = "there is no index"
        elif not state.is_ours:
            problem = "it is damaged, of another store, or of another version of memtui"
        elif not state.is_valid:
            problem = "it is damaged"
        elif state.count != state.expected and not state.pending and not self._worker:
            problem = f"it contains {state.count:,} of {state.expected:,} {items}"
        if problem:
            return Finding(name, False, problem, "memtui reindex")
        rest = f"{state.pending:,} waiting" if state.pending else "up to date"
        return Finding(name, True, f"{state.count:,} {items}; {rest}")

    def _check_secrets(self) -> Iterator[Finding]:
        with database.connection():
            is_redacted = meta.redaction_version() >= RULES_VERSION
            is_unfinished = tombstones.get_pending() is not None
            has_traces = meta.needs_cleanup()
        problem = ""
        if is_unfinished:
            problem = "memtui forget was interrupted; the content is still stored"
        elif has_traces:
            problem = (
                "traces of deleted content may remain: the deletion was interrupted"
            )
        elif not is_redacted:
            problem = "content stored by an older version may contain secrets"
        if problem:
            yield Finding("secrets", False, problem, "memtui redact")
        else:
            yield Finding("secrets", True, "removed from everything that is stored")

    def _check_zone(self) -> Iterator[Finding]:
        with database.connection():
            name = meta.time_zone()
        try:
            self._report.zone = ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            message = f"this machine does not know the store's time zone, {name}"
            yield Finding(
                "zone", False, message, "install the time zone data (package tzdata)"
            )
            return
        other = ""
        if self._machine_zone != name:
            other = f" (this machine's is {self._machine_zone}; a store keeps its own)"
        yield Finding("zone", True, f"days begin in the time zone {name}{other}")

    def _fill_counts(self) -> Iterable[Finding]:
        """Fill in the counts of the report."""
        report = self._report
        with database.connection():
            report.activity = cursors.list_activity()
            report.redacted = [NamedCount(*row) for row in problems.list_redactions()]
        skipped = [SkippedRecords(*row) for row in status.list_skipped()]
        skipped.sort(key=lambda one: one.kind is not ProblemKind.DAMAGED)
        report.skipped = skipped
        report.unknown_types = [
            NamedCount(match[1].strip("'"), one.count)
            for one in skipped
            if (match := _UNKNOWN_TYPE.fullmatch(one.reason))
        ]
        report.latest_damaged = status.latest_problems(limit=MAX_LATEST)
        return ()

    # Capture

    def _check_spool(self, has_store: bool) -> Iterator[Finding]:
        folder = self._paths.spool
        state = spool.spool_status(folder)
        failure = ""
        if has_store and state.waiting:
            with database.connection():
                failure = meta.read(meta.SPOOL_FAILURE)
        if state.write_problem:
            message = f"hooks cannot write: {state.write_problem}"
            remedy = f"free some space, or: chmod -R u+rwX {folder}"
            yield Finding("spool", False, message, remedy)
        elif failure:
            events = plural(state.waiting, "hook event")
            message = f"{events} waiting, which cannot be stored: {failure}"
            yield Finding("spool", False, message, f"see {self._paths.log}")
        else:
            yield self._spool_finding(state)
        if state.quarantined:
            message = f"{plural(state.quarantined, 'hook file')} skipped"
            yield Finding("quarantine", False, message, "memtui quarantine list")

    def _spool_finding(self, state: SpoolStatus) -> Finding:
        message, remedy = "no event is waiting; hooks can write", ""
        if state.oldest_at:
            since = date_format.age(state.oldest_at, self._now)
            events = plural(state.waiting, "hook event")
            message = f"{events} waiting (oldest {since})"
            limit = WORKER_TIMEOUT if self._worker else SPOOL_TIMEOUT
            is_old = self._now - state.oldest_at > limit
            if self._has_separate_stores:
                message += ", of this project or of others"
            elif is_old and self._worker:
                message += ", and the running memtui does not store them"
                remedy = f"see {self._paths.log}"
            elif is_old:
                remedy = "memtui work --until-idle"
        if state.unfinished:
            files = plural(state.unfinished, "file")
            folder = self._paths.spool / "tmp"
            message += f"; {files} left unfinished by hooks in {folder}"
        return Finding("spool", not remedy, message, remedy)

    def _check_transcripts(self, has_store: bool) -> Iterator[Finding]:
        self._sources = self._list_sources(has_store)
        folders = transcript_folders()
        days = agents.claude_cleanup_days(self._machines[0])
        self._transcripts = {
            source.name: self._read_transcripts(
                source.name,
                folders[source.name],
                keep=timedelta(days=days) if source.name == "claude-code" else None,
                has_store=has_store,
            )
            for source in self._sources
            if source.name in folders
        }
        yield self._watching_finding(has_store)
        for source in self._sources:
            if state := self._transcripts.get(source.name):
                yield from self._transcript_findings(source, state)

    def _watching_finding(self, has_store: bool) -> Finding:
        watched = [source for source in self._sources if source.is_watched]
        if not watched:
            message = "no transcripts are watched"
            remedy = "memtui sources watch all, to store what hooks do not report"
            return Finding("watching", True, message, remedy)
        message = f"watched: {', '.join(source.title for source in watched)}"
        reason = ""
        if has_store:
            with database.connection():
                reason = meta.read(meta.POLLING_REASON)
        folders = [path for one in watched for path in one.places if path.exists()]
        reasons = [reason, *map(watcher.polling_reason, folders)]
        if reason := next(filter(None, reasons), ""):
            message += f"; polled every 2 s, because {reason}"
        return Finding("watching", True, message)

    def _transcript_findings(
        self, source: CaptureSource, state: TranscriptState
    ) -> Iterator[Finding]:
        """Report unread transcripts, and those of them that will be deleted soon."""
        if source.is_watched and self._worker:
            remedy = f"wait a minute; if it does not change, see {self._paths.log}"
        elif source.is_watched:
            remedy = "memtui work --until-idle"
        else:
            remedy = f"memtui sources watch {source.name}, or once: memtui import"
        is_declined = not source.is_watched and not source.is_undecided
        missing = state.late if source.is_watched else state.changed
        if state.expires_at:
            files = plural(state.expiring, "transcript")
            when = f"from {date_format.day(state.expires_at)} on"
            if state.expires_at <= self._now:
                when = "at any moment"
            message = (
                f"{source.title} will delete {files} that memtui has not read, {when}"
            )
        elif missing:
            files = plural(missing, "transcript")
            message = f"{source.title}: {files} changed since memtui last read them"
        elif state.unread and not is_declined:
            files = plural(state.files, "transcript has", "transcripts have")
            message = f"{source.title}: {state.unread:,} of {files} never been read"
            yield Finding("transcripts", True, message, remedy, source.name)
            return
        else:
            return
        yield Finding("transcripts", is_declined, message, remedy, source.name)

    def _read_transcripts(
        self,
        name: str,
        folders: Iterable[Path],
        *,
        keep: timedelta | None,
        has_store: bool,
    ) -> TranscriptState:
        """Compare transcripts with what memtui has read.

        Args:
            name: The agent.
            folders: Where its transcripts are.
            keep: How long the agent keeps them; None for always.
            has_store: Whether there is a store, which knows what was read.
        """
        files = unread = changed = late = 0
        modified: list[datetime] = []
        expiries: list[datetime] = []
        for stamp, known in _file_stamps(name, folders, has_store=has_store):
            files += 1
            at = datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)
            modified.append(at)
            if known == stamp:
                continue
            is_settled = at <= self._now - SETTLE_TIME
            unread += known is None
            changed += known is not None and is_settled
            late += is_settled
            if keep is not None and at + keep < self._now + EXPIRY_WARNING:
                expiries.append(at + keep)
        return TranscriptState(
            files,
            max(modified, default=None),
            unread,
            changed,
            late,
            len(expiries),
            min(expiries, default=None),
        )

    def _check_hooks(self) -> Iterator[Finding]:
        user, project = self._machines
        hooks = [agents.hook_status(one, user) for one in agents.AGENTS]
        files = {hook.file for hook in hooks}
        hooks += [
            hook
            for hook in (agents.hook_status(one, project) for one in agents.AGENTS)
            if hook.is_installed and hook.file not in files
        ]
        newest = spool.spool_status(self._paths.spool).newest_at
        sources = {source.name: source for source in self._sources}
        for hook in hooks:
            if hook.problem:
                message = f"{hook.title}: {hook.problem}"
                yield Finding("hooks", False, message, _hook_remedy(hook), hook.agent)
            elif hook.is_installed:
                source = sources.get(hook.agent)
                stored = source.by_hook if source else None
                stored_at = stored.last_event_at if stored else None
                # The waiting events may be of any agent.
                last = max(filter(None, (stored_at, newest)), default=None)
                yield self._hook_finding(hook, last)
        if not any(hook.is_installed or hook.problem for hook in hooks):
            message = "no hooks are installed: agents do not report their events"
            yield Finding("hooks", True, message, "memtui hooks install")

    def _hook_finding(self, hook: HookStatus, last: datetime | None) -> Finding:
        """Compare the last event of working hooks with the transcripts."""
        last_event = (
            f"last event {date_format.age(last, self._now)}" if last else "no event"
        )
        runs = "the command runs"
        if hook.scope == "project":
            runs = f"in {hook.file}, which runs: {agents.command_line(hook.command)}"
        message = f"{hook.title}: installed, {runs}; {last_event}"
        transcripts = self._transcripts.get(hook.agent)
        newest = transcripts.newest_at if transcripts else None
        since = datetime.fromtimestamp(hook.file.stat().st_mtime, UTC)
        if newest and newest > max(filter(None, (last, since))) + MAX_HOOK_DELAY:
            message = (
                f"{hook.title}: installed, but no events arrive: {last_event}, and it"
                f" wrote a transcript {date_format.age(newest, self._now)}"
            )
            remedy = f"restart {hook.title}, which reads its hooks when it starts."
            note = f" {hook.note}" if hook.note else ""
            return Finding("hooks", False, message, f"{remedy}{note}", hook.agent)
        return Finding("hooks", True, message, subject=hook.agent)

    # This machine

    def _check_vocabulary(self) -> Iterator[Finding]:
        if tokens.find_vocabulary(self._paths.vocabulary):
            message = f"counted with tiktoken's {tokens.ENCODING}"
        else:
            message = "estimated; for exact counts: memtui tokens fetch"
        yield Finding("tokens", True, message)

    def _check_disk(self) -> Iterator[Finding]:
        devices = set()
        for path in (self._paths.store.parent, self._paths.spool):
            existing = next(one for one in (path, *path.parents) if one.exists())
            device = existing.stat().st_dev
            if device in devices:
                continue
            devices.add(device)
            free, disk = shutil.disk_usage(existing).free, os.statvfs(existing)
            lacks_files = bool(disk.f_files) and disk.f_favail < MIN_FREE_FILES
            message = f"{byte_size(free)} free at {existing}"
            if lacks_files:
                message += f", with room for {disk.f_favail:,} files"
            is_ok = free >= MIN_FREE_BYTES and not lacks_files
            remedy = "" if is_ok else "free some space"
            yield Finding("disk", is_ok, message, remedy, str(existing))

    def _check_model(self) -> Iterator[Finding]:
        """Ask Ollama; a missing model is only wrong if a model was set up."""
        provider, url = self._settings.summaries_provider, self._settings.summaries_url
        if provider == EXTRACTIVE:
            self._report.model = ModelCheck(provider, url)
            message = (
                "no model is used (summaries.provider): summaries are made of quotes"
            )
            yield Finding("model", True, message)
            return
        health = self._ask_ollama()
        self._report.model = ModelCheck(provider, url, health)
        if health.is_ready:
            processor = "on the CPU only" if health.on_cpu else "on a graphics card"
            state = f"loaded, {processor}" if health.is_loaded else "not loaded"
            message = (
                f"{health.model}, {state}, with a window of {health.window_tokens:,}"
                f" tokens; Ollama {health.server} at {url}"
            )
            yield Finding("model", True, message)
            return
        message, remedy = health.message, status.advise_on_model(health)
        if health.condition is ModelCondition.OFFLINE:
            message = f"Ollama does not answer at {url}"
        elif health.condition is ModelCondition.REFUSED:
            remedy = self._allow_remedy()
        message += "; until then summaries are made of quotes"
        if provider == OLLAMA:
            yield Finding("model", False, message, remedy)
        else:
            yield Finding("model", True, message, f"for summaries by a model: {remedy}")

    def _ask_ollama(self) -> ModelHealth:
        """Return the health of Ollama; it is given a limited time to answer."""
        # Import first: the time that takes does not count.
        from memtui.summarize.ollama import summarizer

        ollama = summarizer.Ollama(self._model_options)
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            ollama.cancel()

        timer = threading.Timer(OLLAMA_TIMEOUT_S, give_up)
        timer.daemon = True
        timer.start()
        health = ollama.health()
        timer.cancel()
        if is_late.is_set() and not health.is_ready:
            url = self._model_options.url
            message = f"{url} did not answer within {OLLAMA_TIMEOUT_S:g} s"
            return replace(health, condition=ModelCondition.FAULTY, message=message)
        return health

    def _allow_remedy(self) -> str:
        """Return what to change if the server or the model is not allowed."""
        from memtui.summarize.ollama.client import parse_address
        from memtui.summarize.ollama.errors import NotAllowedError

        options = self._model_options
        try:
            parse_address(options.url, options.allowed_hosts)
        except NotAllowedError:
            origin = self._settings.origin("summaries.url")
            return (
                f"correct summaries.url ({origin}), or, if the text of conversations"
                " may be sent to that machine, add it to summaries.allowed_hosts"
            )
        if options.model:
            return "set summaries.model to a model of this machine"
        return "set summaries.url to a server that answers"

    def _check_worker_model(self) -> Iterator[Finding]:
        """Report the model if it is not ready for the running memtui."""
        with database.connection():
            record = meta.model_record()
        if (
            record is None
            or record.condition is ModelCondition.READY
            or not self._worker
        ):
            return
        zone = self._report.zone
        condition, remedy = record.condition.value, ""
        if record.paused_until is not None:
            condition += f" until {date_format.clock(record.paused_until, zone)}"
        elif record.condition is ModelCondition.FAULTY:
            remedy = "another model may work better: set summaries.model"
        details = f"{condition}, {record.message}".rstrip(", ")
        at = date_format.clock(record.checked_at, zone)
        message = f"{WORKER_NAME}: {details} (at {at})"
        yield Finding("model", True, message, remedy, WORKER_NAME)


QUEUE_NOUNS = {
    outbox.UPDATE_TOC: ("event to segment", "events to segment"),
    outbox.INDEX_NODE: ("node to index", "nodes to index"),
    outbox.INDEX_EVENT: ("batch of messages to index", "batches of messages to index"),
    outbox.INDEX_SESSION: ("title to index", "titles to index"),
}

WORKER_NAME = "the running memtui"
"""The subject of the finding on the model of the running memtui."""


def _unreadable(name: str, error: OSError) -> Finding:
    message = f"{error.filename}: {(error.strerror or str(error)).lower()}"
    remedy = f"give yourself access: chmod -R u+rwX {error.filename}"
    return Finding(name, False, message, remedy)


def _hook_remedy(hook: HookStatus) -> str:
    if not hook.is_installed or hook.is_off:
        return f"correct {hook.file}"
    where = " --project" if hook.scope == "project" else ""
    return f"memtui hooks install {hook.agent}{where}"


def _file_stamps(
    name: str, folders: Iterable[Path], *, has_store: bool
) -> Iterator[tuple[cursors.FileStamp, cursors.FileStamp | None]]:
    """Yield the stamp of each transcript, and its stamp when it was last read."""
    for folder in folders:
        if not folder.exists():
            continue
        real = folder.resolve()
        known: Mapping[str, cursors.FileStamp] = {}
        if has_store:
            with database.connection():
                known = cursors.get_stamps(clean(str(real)))
        for file in watcher.walk_files(real):
            if reader := formats.format_for_path(file, name):
                with suppress(OSError):
                    stamp = cursors.read_stamp(file, reader.related_files(file))
                    if stamp.size:
                        yield stamp, cursors.find_stamp(known, file)
