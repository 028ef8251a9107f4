"""The checks of ``memtui doctor``: what is wrong, and how to fix it.

``CHECKS`` lists them in order. Each is a function that yields findings: whether all is
well, a message, and what to do next. The checks only read. They take no lock, and
create or change no store, so that a store can be checked while another process uses it,
or if it is damaged or read-only.
"""

import logging
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.capture import formats, tail
from memtui.capture.spool import Spool
from memtui.errors import MemtuiError, SearchError, StoreBusyError, StoreError
from memtui.files import walk_files
from memtui.integrations import agents
from memtui.integrations.agents import HookStatus
from memtui.integrations.config_files import Machine
from memtui.model.events import IN_THE_FUTURE, clean, to_ms
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.quantities import byte_size, plural
from memtui.paths import Paths, transcript_folders
from memtui.redaction import RULES_VERSION
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.services.capture_sources import FOLDERS, CaptureSource, list_sources
from memtui.settings import EXTRACTIVE, OLLAMA, Settings
from memtui.store import (
    backup,
    database,
    events,
    integrity,
    meta,
    nodes,
    queues,
    schema,
    segments,
    sources,
    versions,
)
from memtui.store import sessions as store_sessions
from memtui.store.sources import ProblemKind
from memtui.summarize.ollama.models import ModelOptions
from memtui.text import date_format, tokens

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    is_ok: bool
    message: str
    remedy: str = ""  # A command or a sentence. If all is well: what could be improved.
    subject: str = ""  # The agent, file or folder, if a check has several.
    name: str = ""  # The name of the check; it is the same in every version of memtui.


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
    words: int  # Of records of a type that is not stored.


@dataclass(frozen=True, slots=True)
class NamedCount:
    name: str
    count: int


@dataclass(slots=True)
class Report:
    """The findings and counts. If the store cannot be read, its counts are empty."""

    findings: list[Finding] = field(default_factory=list)
    model: ModelCheck | None = None
    skipped: list[SkippedRecords] = field(default_factory=list)
    redacted: list[NamedCount] = field(default_factory=list)  # Kinds of secrets.
    zone: tzinfo = UTC

    @property
    def is_ok(self) -> bool:
        return all(finding.is_ok for finding in self.findings)


SPOOL_TIMEOUT = timedelta(days=3)  # Hook files that wait for longer are reported,
WORKER_TIMEOUT = timedelta(minutes=15)  # or for this long while memtui is running.
MAX_HOOK_DELAY = timedelta(minutes=15)  # How far a transcript may be ahead of hooks.
SETTLE_TIME = timedelta(minutes=5)  # Files that changed later may be about to be read.
EXPIRY_WARNING = timedelta(days=7)  # Unread transcripts deleted sooner are reported.
MIN_FREE_BYTES = 200_000_000
MIN_FREE_FILES = 1000
LARGE_STORE_BYTES = 50_000_000  # Checking a larger store takes a moment.
OLLAMA_TIMEOUT_S = 2.0

WORK = "memtui work --until-idle"
RESTORE = (
    "restore a backup: memtui restore FILE; without a backup, move the file away and"
    " run memtui import"
)
WORKER_NAME = "the running memtui"


def _ok(message: str, advice: str = "", subject: str = "") -> Finding:
    return Finding(True, message, advice, subject)


def _wrong(message: str, remedy: str, subject: str = "") -> Finding:
    return Finding(False, message, remedy, subject)


@dataclass
class Doctor:
    """The settings and files to check; ``examine`` runs the checks."""

    paths: Paths
    settings: Settings  # The defaults if there is an error in them.
    settings_error: str
    has_separate_stores: bool
    worker: int | None
    """The process that runs the pipeline: 0 for none, None if that cannot be known."""
    machines: tuple[Machine, Machine]
    """With the user's hooks, and with those of the project in the working folder."""
    model_options: ModelOptions
    has_store: bool = False  # The store exists and can be read.
    is_new: bool = False  # There is no store yet.
    is_damaged: bool = False  # Some of it cannot be read, and is in no index.
    newest: dict[str, datetime] = field(default_factory=dict)
    """The time at which each agent's newest transcript was written."""
    report: Report = field(default_factory=Report)

    @cached_property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @cached_property
    def spool(self) -> Spool:
        return Spool(self.paths.spool)

    @cached_property
    def sources(self) -> list[CaptureSource]:
        """All agents; none if the store cannot be read, which knows what was read."""
        if not self.has_store and not self.is_new:
            return []
        return list_sources(self.settings, has_store=self.has_store)

    @property
    def see_log(self) -> str:
        return f"see {self.paths.log}"

    def examine(self) -> Report:
        try:
            for check in CHECKS:
                if self.has_store or not check.needs_store:
                    for finding in self._run(check):
                        self.report.findings.append(replace(finding, name=check.name))
        finally:
            database.close()
        return self.report

    def _run(self, check: "Check") -> Iterator[Finding]:
        """Yield the findings of a check; an error becomes a finding."""
        try:
            yield from check.run(self)
        except MemtuiError as error:
            if isinstance(error.__cause__, PermissionError):
                yield _no_access(error.__cause__)
            else:
                yield _wrong(str(error), "first solve the problem of the store")
        except OSError as error:
            yield _no_access(error)
        except Exception as error:  # the other checks may still help
            log.exception("the check %s failed", check.name)
            message = f"this check failed: {type(error).__name__}: {error}"
            yield _wrong(message, self.see_log)


def _no_access(error: OSError) -> Finding:
    """Name the outermost folder that cannot be entered: chmod works from there."""
    message = f"{error.filename}: {(error.strerror or str(error)).lower()}"
    path = Path(error.filename or "")
    with suppress(OSError):
        while True:
            try:
                path.stat()
                break
            except PermissionError:
                path = path.parent
    return _wrong(message, f"give yourself access: chmod -R u+rwX {path}")


# Settings and files


def check_settings(doctor: Doctor) -> Iterator[Finding]:
    settings = doctor.settings
    if doctor.settings_error:
        remedy = "correct it; until then only doctor works, with the defaults"
        yield _wrong(doctor.settings_error, remedy)
        return
    for path in settings.watched_folders:
        if not path.exists():
            message = f"{path} in capture.folders does not exist"
            yield _wrong(
                message, "create it, or remove it from the settings", str(path)
            )
    for pattern in settings.exclude_patterns:
        is_path = pattern.startswith("/") and "*" not in pattern
        if is_path and not Path(pattern).exists():
            message = f"{pattern} in capture.exclude does not exist"
            yield _ok(
                message, "if that is a mistake, correct it in the settings", pattern
            )
    for name in settings.capture_sources:
        folders = transcript_folders().get(name, ())
        if name == "aider" and not settings.watched_folders:
            message = "aider in capture.sources has no fixed folder"
            remedy = "add the folders in which you use it to capture.folders"
            yield _wrong(message, remedy, name)
        elif folders and not any(folder.exists() for folder in folders):
            yield _ok(f"{name} in capture.sources has no transcripts here", "", name)
    origins = settings.origins.values()
    files = sorted({origin.rpartition(":")[0] for origin in origins} - {""})
    yield _ok(f"read from {', '.join(files)}" if files else "the defaults")


def check_owners(doctor: Doctor) -> Iterator[Finding]:
    """Find files that belong to other users or are links."""
    paths = doctor.paths
    for path in (paths.store.parent, paths.store, paths.spool, paths.config):
        if not path.exists():
            continue
        owner = path.stat().st_uid
        if owner != os.geteuid():
            message = f"{path} belongs to another user (id {owner})"
            remedy = f"sudo chown -R {os.geteuid()} {path}, or use another: --home"
            yield _wrong(message, remedy, str(path))
        elif path.is_symlink():
            yield _ok(f"{path} is a link to {path.resolve()}", "", str(path))


def check_disk(doctor: Doctor) -> Iterator[Finding]:
    devices = set()
    for path in (doctor.paths.store.parent, doctor.paths.spool):
        existing = next(parent for parent in (path, *path.parents) if parent.exists())
        device = existing.stat().st_dev
        if device in devices:
            continue
        devices.add(device)
        free, disk = shutil.disk_usage(existing).free, os.statvfs(existing)
        lacks_files = bool(disk.f_files) and disk.f_favail < MIN_FREE_FILES
        message = f"{byte_size(free)} free at {existing}"
        if lacks_files:
            message += f", with room for {disk.f_favail:,} files"
        if free < MIN_FREE_BYTES or lacks_files:
            yield _wrong(message, "free some space", str(existing))
        else:
            yield _ok(message, "", str(existing))


# The store


def check_store(doctor: Doctor) -> Iterator[Finding]:
    """Check the store; find out whether it can be read."""
    file = doctor.paths.store
    parent = next(path for path in file.parents if path.exists())
    if file.is_dir():
        finding = _wrong(f"{file} is a folder, not a file", f"mv {file} {file}.away")
    elif file.exists():
        finding = _check_store_file(doctor, file)
    elif parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
        finding = _ok("nothing is stored yet", "memtui import")
    else:
        message = f"there is no store, and {parent} is not writable"
        remedy = f"chmod u+rwx {parent}, or choose another folder: --home DIR"
        finding = _wrong(message, remedy)
    doctor.is_new = not file.exists()
    yield replace(finding, subject=str(file))


def _check_store_file(doctor: Doctor, file: Path) -> Finding:
    try:
        version = backup.open_read_only(file)
        if version == schema.VERSION:
            finding = _check_content(doctor, file)
            doctor.has_store = True
            return finding
    except StoreBusyError as error:
        return _wrong(str(error), f"end the program that uses it: fuser {file}")
    except StoreError as error:
        is_damaged = "damaged" in str(error)
        return _wrong(str(error), RESTORE if is_damaged else f"chmod u+rw {file}")
    if version:
        message = (
            f"{file} was made by another version of memtui (schema {version}; this"
            f" version reads schema {schema.VERSION})"
        )
        return _wrong(message, "use that version of memtui")
    if file.stat().st_size:
        message = f"{file} is the database of another program"
        return _wrong(message, "choose another file: store.path in the settings")
    if NodeIndex(doctor.paths.index).name():
        return _wrong(f"{file} is empty, but it had content before", RESTORE)
    return _ok("nothing is stored yet", "memtui import")


def _check_content(doctor: Doctor, file: Path) -> Finding:
    """Check a store that has the right schema."""
    size = file.stat().st_size
    if size > LARGE_STORE_BYTES and sys.stderr.isatty():
        print(f"memtui: checking the store ({byte_size(size)}) …", file=sys.stderr)
    with database.connection():
        if damages := backup.find_damages():
            doctor.is_damaged = True
            return _wrong("; ".join(damages), RESTORE)
        event_count = plural(store_sessions.count_events()[0], "event")
        session_count = plural(store_sessions.count(), "session")
    message = f"{event_count} in {session_count}, {byte_size(size)}, undamaged"
    for path in (file, file.parent):
        if not os.access(path, os.W_OK):
            message += f", but {path} is not writable: nothing new is stored"
            return _wrong(message, f"chmod u+rwX {path}, or mount the disk read-write")
    return _ok(message)


def check_work(doctor: Doctor) -> Iterator[Finding]:
    now_ms = to_ms(doctor.now)
    with database.connection():
        rows = queues.count_rows_by_action()
        steps = sum(row.count for row in rows)
        steps += segments.count_pending() + queues.count_rollups()
        failing = segments.count_failing(now_ms) + queues.count_failing_rollups(now_ms)
    message = f"{plural(steps, 'step')} of work waiting"
    if rows:
        oldest = min(row.oldest_at for row in rows)
        message += f" (oldest {date_format.age(oldest, doctor.now)})"
    if doctor.worker:
        message += f"; memtui is running (process {doctor.worker})"
    elif steps and doctor.worker == 0:
        message += "; memtui is not running"
    if failing:
        message += f"; {failing:,} failed and will be retried"
        yield _wrong(message, f"{doctor.see_log}, then: {WORK}")
    elif steps and not doctor.worker:
        yield _wrong(message, WORK)
    else:
        yield _ok(message)


def check_node_index(doctor: Doctor) -> Iterator[Finding]:
    folder = doctor.paths.index
    if folder.is_dir():
        any(folder.iterdir())  # An error says that it may not be read.
    with database.connection():
        name = meta.read(meta.NODE_INDEX)
        expected = nodes.count()[0] + versions.count_grips()
        pending = queues.count_rows(queues.INDEX_NODE)
    index = NodeIndex(folder)
    count = None
    if name and index.name() == name and not index.is_suspect:
        with suppress(SearchError):
            count = index.count()
    exists = index.exists()
    index.close()
    yield _check_index(doctor, exists, count, expected, pending)


def check_message_index(doctor: Doctor) -> Iterator[Finding]:
    with_tools = doctor.settings.search_include_tools
    index = MessageIndex(doctor.paths.message_index, with_tools=with_tools)
    with database.connection():
        name = meta.read(meta.MESSAGE_INDEX)
        expected = events.count_messages()
        pending = queues.list_latest_unindexed_events(0)[1]
    count = None
    if name and index.name() == name:
        with suppress(SearchError):
            contents = index.status()
            count = contents.messages
            if not contents.is_complete:
                pending = max(0, expected - count)
    yield _check_index(doctor, index.exists(), count, expected, pending)


def _check_index(
    doctor: Doctor, exists: bool, count: int | None, expected: int, pending: int
) -> Finding:
    """Return whether an index is complete; its count is None if it cannot be used."""
    if not exists:
        problem = "there is no index" if expected else ""
    elif count is None:
        problem = "it is damaged, of another store, or of another version of memtui"
    else:
        is_settled = not (pending or doctor.worker or doctor.is_damaged)
        is_wrong = is_settled and count != expected
        problem = f"it contains {count:,} of {expected:,} entries" if is_wrong else ""
    if problem:
        return _wrong(problem, "memtui reindex")
    state = f"{pending:,} waiting" if pending else "up to date"
    return _ok(f"{plural(count or 0, 'entry', 'entries')}; {state}")


def check_judgements(doctor: Doctor) -> Iterator[Finding]:
    """Run the part of ``memtui audit`` that takes no time."""
    with database.connection():
        damages = list(integrity.check(("judgement",)))
    for damage in damages:
        yield _wrong(f"{damage.message}: {damage.ids[0]}", RESTORE, damage.ids[0])
    if not damages:
        yield _ok("as they were made; memtui audit checks all that they are about")


def check_secrets(doctor: Doctor) -> Iterator[Finding]:
    with database.connection():
        has_traces, is_in_log = meta.needs_cleanup(), meta.is_in_log()
        is_redacted = meta.redaction_version() >= RULES_VERSION
    log_file = Path(f"{doctor.paths.store}-wal")
    if is_in_log and not (log_file.exists() and log_file.stat().st_size):
        has_traces = False
    if has_traces and is_in_log:
        message = (
            f"what was removed stays in the files of {doctor.paths.store} until the"
            " programs end that read it"
        )
        yield _wrong(message, f"end them (fuser {log_file}), then: memtui redact")
    elif has_traces:
        message = "a deletion was interrupted: traces of the content may remain"
        yield _wrong(message, "memtui redact")
    elif not is_redacted:
        message = "content stored by an older version may contain secrets"
        yield _wrong(message, "memtui redact")
    else:
        yield _ok("removed from everything that is stored")


def check_zone(doctor: Doctor) -> Iterator[Finding]:
    with database.connection():
        name = meta.time_zone()
    try:
        doctor.report.zone = ZoneInfo(name)
        yield _ok(f"days begin in the time zone {name}")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"this machine does not know the store's time zone, {name}"
        yield _wrong(message, "install the time zone data (package tzdata)")


def check_tokens(doctor: Doctor) -> Iterator[Finding]:
    if tokens.find_vocabulary(doctor.paths.vocabulary):
        yield _ok(f"counted with tiktoken's {tokens.ENCODING}")
    else:
        yield _ok("estimated; for exact counts: memtui tokens fetch")


# Capture


def check_spool(doctor: Doctor) -> Iterator[Finding]:
    """Find out whether hooks can write, and whether their files are stored."""
    waiting = list(_written_at(doctor.paths.spool / "new"))
    if problem := doctor.spool.write_problem():
        remedy = f"free some space, or: chmod -R u+rwX {doctor.paths.spool}"
        yield _wrong(f"hooks cannot write: {problem}", remedy)
        return
    if not waiting:
        yield _ok("no event is waiting; hooks can write")
        return
    oldest, failure = min(waiting), ""
    message = f"{plural(len(waiting), 'hook event')} waiting"
    message += f" (oldest {date_format.age(oldest, doctor.now)})"
    if doctor.has_store:
        with database.connection():
            failure = meta.read(meta.SPOOL_FAILURE)
    timeout = WORKER_TIMEOUT if doctor.worker else SPOOL_TIMEOUT
    if failure:
        yield _wrong(f"{message}; storing them failed: {failure}", doctor.see_log)
    elif doctor.now - oldest < timeout or doctor.has_separate_stores:
        yield _ok(message)  # With separate stores, they may be of another project.
    else:
        yield _wrong(message, doctor.see_log if doctor.worker else WORK)


def check_quarantine(doctor: Doctor) -> Iterator[Finding]:
    files = doctor.spool.quarantined()
    if files:
        message = f"{plural(len(files), 'hook file')} skipped"
        yield _wrong(message, "memtui quarantine list")
    reasons = Counter(
        line.partition(": ")[2]
        for file in files
        for line in doctor.spool.reason_lines("bad", file.path.name)
    )
    if doctor.has_store:
        with database.connection():
            rows = sources.count_problems_by_reason()
        reasons.update({reason: count for reason, _, count in rows})
    if count := reasons[IN_THE_FUTURE]:
        records = plural(count, "skipped record is", "skipped records are")
        message = f"{records} from the future: was this machine's clock wrong?"
        advice = "set the clock; memtui stores them once their time has come"
        yield _ok(message, advice, "clock")


def read_counts(doctor: Doctor) -> Iterator[Finding]:
    """Fill in the counts of the report; there is only a finding if that fails."""
    report = doctor.report
    with database.connection():
        report.redacted = [NamedCount(*row) for row in sources.list_redactions()]
        words = {reason: n for reason, _, n in sources.list_unread_types()}
        report.skipped = [
            SkippedRecords(*row, words.get(row[0], 0))
            for row in sources.count_problems_by_reason()
        ]
    yield from ()


def check_watching(doctor: Doctor) -> Iterator[Finding]:
    if not doctor.sources:
        return
    watched = [source for source in doctor.sources if source.is_watched]
    if not watched:
        advice = "memtui sources watch all, to store what hooks do not report"
        yield _ok("no transcripts are watched", advice)
        return
    message = f"watched: {', '.join(source.title for source in watched)}"
    reasons = []
    if doctor.has_store:
        with database.connection():
            reasons.append(meta.read(meta.POLLING_REASON))
    places = [path for source in watched for path in source.places if path.exists()]
    reasons += map(tail.polling_reason, places)
    if reason := next(filter(None, reasons), ""):
        message += f"; polled every 2 s, because {reason}"
    yield _ok(message)


def check_transcripts(doctor: Doctor) -> Iterator[Finding]:
    """Find unread transcripts, those that will be deleted soon, and other files."""
    for source in doctor.sources:
        if source.name != FOLDERS:
            yield from _check_source(doctor, source)
        if source.ignored:
            message = f"{source.title}: nothing is kept of {source.ignored}"
            yield _ok(message, "", source.name)


def _check_source(doctor: Doctor, source: CaptureSource) -> Iterator[Finding]:
    keep = timedelta.max
    if source.name == "claude-code":
        keep = timedelta(days=agents.claude_cleanup_days(doctor.machines[0]))
    files = unread = changed = settled = 0
    expiries: list[datetime] = []
    for stamp, stored in _list_stamps(source, has_store=doctor.has_store):
        files += 1
        at = datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)
        doctor.newest[source.name] = max(doctor.newest.get(source.name, at), at)
        if stored == stamp:
            continue
        is_settled = at <= doctor.now - SETTLE_TIME
        unread += stored is None
        changed += stored is not None and is_settled
        settled += is_settled
        if doctor.now - at > keep - EXPIRY_WARNING:
            expiries.append(at + keep)
    remedy = f"memtui sources watch {source.name}, or once: memtui import"
    if source.is_watched:
        remedy = WORK
        if doctor.worker:
            remedy = f"wait a minute; if it does not change, {doctor.see_log}"
    # If the user has decided against watching, unread transcripts are not wrong.
    is_ok = not source.is_watched and not source.is_undecided
    missing = settled if source.is_watched else changed
    if expiries:
        first = min(expiries)
        is_near = first <= doctor.now
        when = "at any moment" if is_near else f"from {date_format.day(first)} on"
        message = (
            f"will delete {plural(len(expiries), 'transcript')}"
            f" that memtui has not read, {when}"
        )
        yield Finding(is_ok, f"{source.title} {message}", remedy, source.name)
    elif missing:
        message = f"{plural(missing, 'transcript')} changed since memtui last read them"
        yield Finding(is_ok, f"{source.title}: {message}", remedy, source.name)
    elif unread and not is_ok:
        total = plural(files, "transcript has", "transcripts have")
        message = f"{source.title}: {unread:,} of {total} never been read"
        yield _ok(message, remedy, source.name)


def _list_stamps(
    source: CaptureSource, *, has_store: bool
) -> Iterator[tuple[sources.FileStamp, sources.FileStamp | None]]:
    """Yield the stamp of each transcript, and its stamp when it was last read."""
    for folder in filter(Path.exists, source.places):
        real = folder.resolve()
        stored: Mapping[str, sources.FileStamp] = {}
        if has_store:
            with database.connection():
                stored = sources.get_stamps(clean(str(real)))
        for file in walk_files(real):
            if reader := formats.format_for_path(file, source.name):
                with suppress(OSError):
                    stamp = sources.read_stamp(file, reader.related_files(file))
                    if stamp.size:
                        yield stamp, sources.find_stamp(stored, file)


def check_hooks(doctor: Doctor) -> Iterator[Finding]:
    user, project = doctor.machines
    hooks = agents.hook_statuses(user)
    files = {hook.file for hook in hooks}
    in_project = agents.hook_statuses(project)
    hooks += [h for h in in_project if h.is_installed and h.file not in files]
    # The waiting events may be of any agent.
    waiting = max(_written_at(doctor.paths.spool / "new"), default=None)
    by_hook = {source.name: source.by_hook for source in doctor.sources}
    for hook in hooks:
        if hook.problem:
            where = " --project" if hook.scope == "project" else ""
            remedy = f"memtui hooks install {hook.agent}{where}"
            if not hook.is_installed or hook.is_off:
                remedy = f"correct {hook.file}"
            yield _wrong(f"{hook.title}: {hook.problem}", remedy, hook.agent)
        elif hook.is_installed:
            stored = by_hook.get(hook.agent)
            times = [waiting, stored.last_event_at if stored else None]
            yield _check_events(doctor, hook, max(filter(None, times), default=None))
    if not any(hook.is_installed or hook.problem for hook in hooks):
        message = "no hooks are installed: agents do not report their events"
        yield _ok(message, "memtui hooks install")


def _check_events(doctor: Doctor, hook: HookStatus, last: datetime | None) -> Finding:
    """Compare the last event of working hooks with the transcripts."""
    last_event = "no event"
    if last:
        last_event = f"last event {date_format.age(last, doctor.now)}"
    newest = doctor.newest.get(hook.agent)
    since = datetime.fromtimestamp(hook.file.stat().st_mtime, UTC)
    if newest and newest > max(filter(None, (last, since))) + MAX_HOOK_DELAY:
        message = (
            f"{hook.title}: installed, but no events arrive: {last_event}, and it wrote"
            f" a transcript {date_format.age(newest, doctor.now)}"
        )
        remedy = f"restart {hook.title}, which reads its hooks when it starts."
        return _wrong(message, f"{remedy} {hook.note}".rstrip(), hook.agent)
    runs = "the command runs"
    if hook.scope == "project":
        runs = f"in {hook.file}, which runs: {agents.command_line(hook.command)}"
    return _ok(f"{hook.title}: installed, {runs}; {last_event}", "", hook.agent)


# The model


def check_model(doctor: Doctor) -> Iterator[Finding]:
    """Ask Ollama; a missing model is only wrong if a model was set up."""
    provider = doctor.settings.summaries_provider
    url = doctor.settings.summaries_url
    doctor.report.model = ModelCheck(provider, url)
    if provider == EXTRACTIVE:
        yield _ok("no model is used (summaries.provider): summaries are made of quotes")
        return
    from memtui.summarize.ollama import summarizer

    options = replace(doctor.model_options, timeout_s=OLLAMA_TIMEOUT_S)
    health = summarizer.Ollama(options).health()
    doctor.report.model = ModelCheck(provider, url, health)
    if health.is_ready:
        processor = "on the CPU only" if health.on_cpu else "on a graphics card"
        state = f"loaded, {processor}" if health.is_loaded else "not loaded"
        message = (
            f"{health.model}, {state}, with a window of {health.window_tokens:,}"
            f" tokens; Ollama {health.server} at {url}"
        )
        yield _ok(f"{message}; {health.message}" if health.message else message)
        return
    message = health.message
    if health.condition is ModelCondition.OFFLINE:
        message = f"Ollama does not answer at {url}"
    elif health.condition is ModelCondition.FAULTY:
        message = f"{url}: {message}"
    message += "; until then summaries are made of quotes"
    if provider == OLLAMA:
        yield _wrong(message, health.advice)
    else:
        yield _ok(message, f"for summaries by a model: {health.advice}")


def check_worker_model(doctor: Doctor) -> Iterator[Finding]:
    """Report the model if it is not ready for the running memtui."""
    with database.connection():
        record = meta.model_record()
    is_ready = record is None or record.condition is ModelCondition.READY
    if record is None or is_ready or not doctor.worker:
        return
    zone, state, advice = doctor.report.zone, record.condition.value, ""
    if record.paused_until is not None:
        state += f" until {date_format.clock(record.paused_until, zone)}"
    elif record.condition is ModelCondition.FAULTY:
        advice = "another model may work better: set summaries.model"
    details = f"{state}, {record.message}".rstrip(", ")
    at = date_format.clock(record.checked_at, zone)
    yield _ok(f"{WORKER_NAME}: {details} (at {at})", advice, WORKER_NAME)


class Check(NamedTuple):
    name: str
    run: Callable[[Doctor], Iterator[Finding]]
    needs_store: bool = False  # It only runs if the store can be read.


CHECKS = (
    Check("settings", check_settings),
    Check("owner", check_owners),
    Check("store", check_store),
    Check("work", check_work, needs_store=True),
    Check("index", check_node_index, needs_store=True),
    Check("messages", check_message_index, needs_store=True),
    Check("judgements", check_judgements, needs_store=True),
    Check("secrets", check_secrets, needs_store=True),
    Check("spool", check_spool),
    Check("quarantine", check_quarantine),
    Check("counts", read_counts, needs_store=True),
    Check("watching", check_watching),
    Check("transcripts", check_transcripts),
    Check("hooks", check_hooks),
    Check("zone", check_zone, needs_store=True),
    Check("tokens", check_tokens),
    Check("disk", check_disk),
    Check("model", check_model),
    Check("model", check_worker_model, needs_store=True),
)


def _written_at(folder: Path) -> Iterator[datetime]:
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.name[0] != ".":
                    yield datetime.fromtimestamp(file.stat().st_mtime, UTC)
