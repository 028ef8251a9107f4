"""The checks of ``memtui doctor``: what is wrong, and how to fix it.

The checks only read. They take no lock, and create or change no store, so that a store
can be checked while another process uses it, or if it is damaged or read-only.
"""

import logging
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.capture import formats, tail
from memtui.capture.formats.base import IN_THE_FUTURE
from memtui.capture.spool import DRAFTS_FOLDER, Spool
from memtui.errors import (
    MemtuiError,
    SearchError,
    SpoolError,
    StoreBusyError,
    StoreError,
)
from memtui.files import walk_files
from memtui.integrations import agents
from memtui.integrations.agents import HookStatus
from memtui.integrations.config_files import Machine
from memtui.model.events import clean, to_ms
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.quantities import byte_size, plural
from memtui.paths import Paths, transcript_folders
from memtui.redaction import RULES_VERSION
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.services import status
from memtui.services.capture_sources import FOLDERS, CaptureSource, list_sources
from memtui.settings import EXTRACTIVE, OLLAMA, Settings
from memtui.store import (
    backup,
    database,
    events,
    meta,
    nodes,
    queues,
    schema,
    segments,
    sources,
    versions,
)
from memtui.store import sessions as store_sessions
from memtui.store.sources import Problem, ProblemKind, SourceActivity
from memtui.summarize.ollama.models import ModelOptions
from memtui.text import date_format, tokens

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
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
    provider: str
    url: str
    health: ModelHealth | None = None


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records that were not stored, for one reason."""

    reason: str
    kind: ProblemKind
    count: int
    words: int
    """The number of words in records of a type that is not stored."""


@dataclass(frozen=True, slots=True)
class NamedCount:
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
    zone: tzinfo = UTC

    @property
    def is_ok(self) -> bool:
        return all(finding.is_ok for finding in self.findings)


MAX_LATEST = 20

SPOOL_TIMEOUT = timedelta(days=3)
"""Hook files that have been waiting for longer are reported; nothing is lost."""

UNFINISHED_AFTER = timedelta(minutes=10)
"""A draft that was last written before this time counts as unfinished."""

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


class Doctor:
    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        *,
        settings_error: str = "",
        has_separate_stores: bool,
        worker: int | None,
        machines: tuple[Machine, Machine],
        machine_zone: str,
        model_options: ModelOptions,
    ) -> None:
        """Make a doctor; ``examine`` runs the checks.

        The settings are the defaults if there is a ``settings_error``. The worker is
        the id of the process that runs the pipeline: 0 if there is none, None if this
        system cannot tell. One of the machines has the user's hooks, the other those of
        the project in the working folder.
        """
        self._paths, self._settings = paths, settings
        self._settings_error = settings_error
        self._has_separate_stores, self._worker = has_separate_stores, worker
        self._machines, self._machine_zone = machines, machine_zone
        self._model_options = model_options
        self._now = datetime.now(UTC)
        self._report = Report()
        self._has_store = False
        """The store exists and can be read."""
        self._spool = Spool(paths.spool)
        self._sources: list[CaptureSource] = []
        self._newest: dict[str, datetime] = {}
        """The time at which each agent's newest transcript was written."""

    def examine(self) -> Report:
        try:
            self._run("settings", self._check_settings)
            self._run("owner", self._check_owners)
            self._run("store", self._check_store)
            if self._has_store:
                self._run("work", self._check_work)
                self._run("index", self._check_node_index)
                self._run("messages", self._check_message_index)
                self._run("secrets", self._check_secrets)
            self._run("spool", self._check_spool)
            if self._has_store or not self._store_may_exist():
                self._run("transcripts", self._check_transcripts)
            if self._has_store:
                self._run("quarantine", self._check_skipped)
            self._run("hooks", self._check_hooks)
            if self._has_store:
                self._run("zone", self._check_zone)
            self._run("tokens", self._check_vocabulary)
            self._run("disk", self._check_disk)
            self._run("model", self._check_model)
            if self._has_store:
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
            message = f"{error.filename}: {(error.strerror or str(error)).lower()}"
            remedy = f"give yourself access: chmod -R u+rwX {error.filename}"
            self._report.findings.append(Finding(name, False, message, remedy))
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
        """Report files that belong to other users or are links."""
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

    def _check_store(self) -> Iterator[Finding]:
        """Check the store; find out whether it can be read."""
        file = self._paths.store
        message, remedy = "nothing is stored yet", ""
        if not file.exists():
            parent = next(path for path in file.parents if path.exists())
            if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
                message = f"there is no store, and {parent} is not writable"
                remedy = f"chmod u+rwx {parent}, or choose another folder: --home DIR"
        elif file.is_dir():
            message, remedy = (
                f"{file} is a folder, not a file",
                f"mv {file} {file}.away",
            )
        else:
            try:
                version = backup.open_read_only(file)
                if version == schema.VERSION:
                    message, remedy = self._check_content(file)
                    self._has_store = True
                elif version:
                    message = (
                        f"{file} was made by another version of memtui (schema"
                        f" {version}; this version reads schema {schema.VERSION})"
                    )
                    remedy = "use that version of memtui"
                elif file.stat().st_size:
                    message = f"{file} is the database of another program"
                    remedy = "choose another file: store.path in the settings"
                elif NodeIndex(self._paths.index).name():
                    message = f"{file} is empty, but it had content before"
                    remedy = RESTORE_REMEDY
            except StoreBusyError as error:
                message = str(error)
                remedy = f"end the program that uses it: fuser {file}"
            except StoreError as error:
                message, remedy = str(error), f"chmod u+rw {file}"
                if "damaged" in message:
                    remedy = RESTORE_REMEDY
        is_new = message == "nothing is stored yet"
        advice = "memtui import" if is_new else remedy
        yield Finding("store", not remedy, message, advice, str(file))

    def _check_content(self, file: Path) -> tuple[str, str]:
        """Return what a store with the right schema contains, and the remedy."""
        size = file.stat().st_size
        if size > LARGE_STORE_BYTES and sys.stderr.isatty():
            message = f"memtui: checking the store ({byte_size(size)}) …"
            print(message, file=sys.stderr)
        with database.connection():
            if damages := backup.find_damages():
                return "; ".join(damages), RESTORE_REMEDY
            events = plural(store_sessions.count_events()[0], "event")
            sessions = plural(store_sessions.count(), "session")
        message = f"{events} in {sessions}, {byte_size(size)}, undamaged"
        for path in (file, file.parent):
            if not os.access(path, os.W_OK):
                message += f", but {path} is not writable: nothing new is stored"
                return message, f"chmod u+rwX {path}, or mount the disk read-write"
        return message, ""

    def _check_work(self) -> Iterator[Finding]:
        now_ms = to_ms(self._now)
        with database.connection():
            rows = queues.count_rows_by_action()
            new_segments, dirty_nodes = segments.count_pending(), queues.count_rollups()
            failing = segments.count_failing(now_ms) + queues.count_failing_rollups(
                now_ms
            )
        parts = []
        for one in rows:
            since = date_format.age(one.oldest_at, self._now)
            text = plural(one.count, *QUEUE_NOUNS[one.action])
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
        with database.connection():
            name, expected = meta.read(meta.NODE_INDEX), nodes.count()[0]
            expected += versions.count_grips()
            pending = queues.count_rows(queues.INDEX_NODE)
        index = NodeIndex(folder)
        count, is_valid = 0, not index.is_suspect
        try:
            count = index.count()
        except SearchError:
            is_valid = False
        problem = _index_problem(index, name, is_valid, expected)
        index.close()
        yield self._index_finding("index", problem, count, expected, pending)

    def _check_message_index(self) -> Iterator[Finding]:
        index = MessageIndex(
            self._paths.message_index,
            with_tools=self._settings.search_include_tools,
        )
        with database.connection():
            name = meta.read(meta.MESSAGE_INDEX)
            expected = events.count_messages()
            pending = queues.list_latest_unindexed_events(0)[1]
        count, is_valid = 0, True
        try:
            contents = index.status()
            count = contents.messages
            if not contents.is_complete:
                pending = max(0, expected - count)
        except SearchError:
            is_valid = False
        problem = _index_problem(index, name, is_valid, expected)
        yield self._index_finding("messages", problem, count, expected, pending)

    def _index_finding(
        self, name: str, problem: str, count: int, expected: int, pending: int
    ) -> Finding:
        noun, nouns = INDEX_NOUNS[name]
        if not problem and count != expected and not pending and not self._worker:
            problem = f"it contains {count:,} of {plural(expected, noun, nouns)}"
        if problem:
            return Finding(name, False, problem, "memtui reindex")
        rest = f"{pending:,} waiting" if pending else "up to date"
        return Finding(name, True, f"{plural(count, noun, nouns)}; {rest}")

    def _check_secrets(self) -> Iterator[Finding]:
        with database.connection():
            is_redacted = meta.redaction_version() >= RULES_VERSION
            has_traces = meta.needs_cleanup()
        problem = ""
        if has_traces:
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

    def _check_skipped(self) -> Iterator[Finding]:
        """Fill in the counts of the report; advise on records from the future."""
        report = self._report
        with database.connection():
            report.activity = sources.list_activity()
            report.redacted = [NamedCount(*row) for row in sources.list_redactions()]
            report.latest_damaged = sources.list_damaged(MAX_LATEST)
            words = {reason: n for reason, _, n in sources.list_unread_types()}
            skipped = [
                SkippedRecords(*row, words.get(row[0], 0))
                for row in sources.count_problems_by_reason()
            ]
        skipped.sort(key=lambda one: one.kind is not ProblemKind.DAMAGED)
        report.skipped = skipped
        future = sum(row.count for row in skipped if row.reason == IN_THE_FUTURE)
        future += sum(
            row.count for row in report.quarantined if row.name == IN_THE_FUTURE
        )
        if future:
            records = plural(future, "skipped record is", "skipped records are")
            message = f"{records} from the future: was this machine's clock wrong?"
            remedy = "set the clock, then: memtui quarantine retry --all"
            yield Finding("quarantine", True, message, remedy, "clock")

    # Capture

    def _check_spool(self) -> Iterator[Finding]:
        folder, now = self._paths.spool, self._now
        files = []
        with suppress(SpoolError):
            files = self._spool.quarantined()
        reasons = Counter(
            line.partition(": ")[2]
            for file in files
            for line in self._spool.reason_lines("bad", file.path.name)
        )
        self._report.quarantined = [NamedCount(*row) for row in reasons.most_common()]
        waiting = list(_written_at(folder / "new"))
        failure = ""
        if self._has_store and waiting:
            with database.connection():
                failure = meta.read(meta.SPOOL_FAILURE)
        message, remedy = "no event is waiting; hooks can write", ""
        if problem := self._spool.write_problem():
            message = f"hooks cannot write: {problem}"
            remedy = f"free some space, or: chmod -R u+rwX {folder}"
        elif waiting:
            message = (
                f"{plural(len(waiting), 'hook event')} waiting"
                f" (oldest {date_format.age(min(waiting), now)})"
            )
            limit = WORKER_TIMEOUT if self._worker else SPOOL_TIMEOUT
            is_old = now - min(waiting) > limit
            if failure:
                message += f", which cannot be stored: {failure}"
                remedy = f"see {self._paths.log}"
            elif self._has_separate_stores:
                message += ", of this project or of others"
            elif is_old and self._worker:
                message += ", and the running memtui does not store them"
                remedy = f"see {self._paths.log}"
            elif is_old:
                remedy = "memtui work --until-idle"
        drafts = _written_at(folder / DRAFTS_FOLDER)
        if unfinished := sum(now - at > UNFINISHED_AFTER for at in drafts):
            left = plural(unfinished, "file")
            message += f"; {left} left unfinished by hooks in {folder / DRAFTS_FOLDER}"
        yield Finding("spool", not remedy, message, remedy)
        if files:
            message = f"{plural(len(files), 'hook file')} skipped"
            yield Finding("quarantine", False, message, "memtui quarantine list")

    def _check_transcripts(self) -> Iterator[Finding]:
        self._sources = list_sources(self._settings, has_store=self._has_store)
        watched = [source for source in self._sources if source.is_watched]
        if watched:
            message = f"watched: {', '.join(source.title for source in watched)}"
            reason = ""
            if self._has_store:
                with database.connection():
                    reason = meta.read(meta.POLLING_REASON)
            folders = [path for one in watched for path in one.places if path.exists()]
            reasons = [reason, *map(tail.polling_reason, folders)]
            if reason := next(filter(None, reasons), ""):
                message += f"; polled every 2 s, because {reason}"
            yield Finding("watching", True, message)
        else:
            message = "no transcripts are watched"
            remedy = "memtui sources watch all, to store what hooks do not report"
            yield Finding("watching", True, message, remedy)
        for source in self._sources:
            if source.name != FOLDERS:
                yield from self._check_source(source)

    def _check_source(self, source: CaptureSource) -> Iterator[Finding]:
        """Report unread transcripts, and those of them that will be deleted soon."""
        keep = None
        if source.name == "claude-code":
            keep = timedelta(days=agents.claude_cleanup_days(self._machines[0]))
        files = unread = changed = late = 0
        expiries: list[datetime] = []
        for stamp, known in self._file_stamps(source):
            files += 1
            at = datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)
            self._newest[source.name] = max(self._newest.get(source.name, at), at)
            if known == stamp:
                continue
            is_settled = at <= self._now - SETTLE_TIME
            unread += known is None
            changed += known is not None and is_settled
            late += is_settled
            if keep is not None and at + keep < self._now + EXPIRY_WARNING:
                expiries.append(at + keep)
        if source.is_watched and self._worker:
            remedy = f"wait a minute; if it does not change, see {self._paths.log}"
        elif source.is_watched:
            remedy = "memtui work --until-idle"
        else:
            remedy = f"memtui sources watch {source.name}, or once: memtui import"
        is_ok = not source.is_watched and not source.is_undecided
        if expiries:
            when = f"from {date_format.day(min(expiries))} on"
            if min(expiries) <= self._now:
                when = "at any moment"
            message = (
                f"{source.title} will delete {plural(len(expiries), 'transcript')}"
                f" that memtui has not read, {when}"
            )
        elif missing := late if source.is_watched else changed:
            missed = plural(missing, "transcript")
            message = f"{source.title}: {missed} changed since memtui last read them"
        elif unread and not is_ok:
            some = plural(files, "transcript has", "transcripts have")
            message = f"{source.title}: {unread:,} of {some} never been read"
            is_ok = True
        else:
            return
        yield Finding("transcripts", is_ok, message, remedy, source.name)

    def _file_stamps(
        self, source: CaptureSource
    ) -> Iterator[tuple[sources.FileStamp, sources.FileStamp | None]]:
        """Yield the stamp of each transcript, and its stamp when it was last read."""
        for folder in filter(Path.exists, source.places):
            real = folder.resolve()
            known: Mapping[str, sources.FileStamp] = {}
            if self._has_store:
                with database.connection():
                    known = sources.get_stamps(clean(str(real)))
            for file in walk_files(real):
                if reader := formats.format_for_path(file, source.name):
                    with suppress(OSError):
                        stamp = sources.read_stamp(file, reader.related_files(file))
                        if stamp.size:
                            yield stamp, sources.find_stamp(known, file)

    def _check_hooks(self) -> Iterator[Finding]:
        user, project = self._machines
        hooks = agents.hook_statuses(user)
        files = {hook.file for hook in hooks}
        for agent in agents.AGENTS:
            hook = agents.hook_status(agent, project)
            if hook.is_installed and hook.file not in files:
                hooks.append(hook)
        newest = max(_written_at(self._paths.spool / "new"), default=None)
        by_hook = {source.name: source.by_hook for source in self._sources}
        for hook in hooks:
            if hook.problem:
                message = f"{hook.title}: {hook.problem}"
                where = " --project" if hook.scope == "project" else ""
                remedy = f"memtui hooks install {hook.agent}{where}"
                if not hook.is_installed or hook.is_off:
                    remedy = f"correct {hook.file}"
                yield Finding("hooks", False, message, remedy, hook.agent)
            elif hook.is_installed:
                stored = by_hook.get(hook.agent)
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
        newest = self._newest.get(hook.agent)
        since = datetime.fromtimestamp(hook.file.stat().st_mtime, UTC)
        if newest and newest > max(filter(None, (last, since))) + MAX_HOOK_DELAY:
            message = (
                f"{hook.title}: installed, but no events arrive: {last_event}, and it"
                f" wrote a transcript {date_format.age(newest, self._now)}"
            )
            remedy = f"restart {hook.title}, which reads its hooks when it starts."
            remedy = f"{remedy} {hook.note}".rstrip()
            return Finding("hooks", False, message, remedy, hook.agent)
        runs = "the command runs"
        if hook.scope == "project":
            runs = f"in {hook.file}, which runs: {agents.command_line(hook.command)}"
        message = f"{hook.title}: installed, {runs}; {last_event}"
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
        from memtui.summarize.ollama import summarizer

        options = replace(self._model_options, timeout_s=OLLAMA_TIMEOUT_S)
        health = summarizer.Ollama(options).health()
        self._report.model = ModelCheck(provider, url, health)
        if health.is_ready:
            processor = "on the CPU only" if health.on_cpu else "on a graphics card"
            state = f"loaded, {processor}" if health.is_loaded else "not loaded"
            message = (
                f"{health.model}, {state}, with a window of {health.window_tokens:,}"
                f" tokens; Ollama {health.server} at {url}"
            )
            message += f"; {health.message}" if health.message else ""
            yield Finding("model", True, message)
            return
        message, remedy = health.message, status.advise_on_model(health)
        if health.condition is ModelCondition.OFFLINE:
            message = f"Ollama does not answer at {url}"
        elif health.condition is ModelCondition.REFUSED:
            remedy = health.remedy or self._allow_remedy()
        elif health.condition is ModelCondition.FAULTY:
            message = f"{url}: {message}"
        message += "; until then summaries are made of quotes"
        if provider == OLLAMA:
            yield Finding("model", False, message, remedy)
        else:
            yield Finding("model", True, message, f"for summaries by a model: {remedy}")

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


def _index_problem(
    index: NodeIndex | MessageIndex, name: str, is_valid: bool, expected: int
) -> str:
    if not index.exists():
        return "there is no index" if expected else ""
    if not name or index.name() != name:
        return "it is damaged, of another store, or of another version of memtui"
    return "" if is_valid else "it is damaged"


INDEX_NOUNS = {
    "index": ("node and quote", "nodes and quotes"),
    "messages": ("message", "messages"),
}

QUEUE_NOUNS = {
    queues.UPDATE_TOC: ("event to segment", "events to segment"),
    queues.INDEX_NODE: ("node to index", "nodes to index"),
    queues.INDEX_EVENT: ("batch of messages to index", "batches of messages to index"),
    queues.INDEX_SESSION: ("title to index", "titles to index"),
}

WORKER_NAME = "the running memtui"


def _written_at(folder: Path) -> Iterator[datetime]:
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.name[0] != ".":
                    yield datetime.fromtimestamp(file.stat().st_mtime, UTC)
