"""A finding of ``doctor``: one thing that was looked at, and what to do about it."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui import workspace
from memtui.capture import spool as capture_spool
from memtui.capture import watcher
from memtui.capture.spool import SpoolStatus
from memtui.cli import hooks as cli_hooks
from memtui.cli import output, sources
from memtui.errors import MemtuiError, StoreBusyError, StoreError
from memtui.integrations import hooks as integrations_hooks
from memtui.integrations import known_agents
from memtui.integrations.hooks import HookStatus
from memtui.model.model_state import ModelCondition, ModelHealth
from memtui.paths import Paths, transcript_folders
from memtui.pipeline import worker_lock
from memtui.search.node_index import NodeIndex
from memtui.services import checks
from memtui.services.capture_sources import CaptureSource
from memtui.services.checks import Account, Opened, Step, Work, account
from memtui.settings import EXTRACTIVE, OLLAMA, Settings
from memtui.store.outbox import INDEX_EVENT, INDEX_NODE, INDEX_SESSION, UPDATE_TOC
from memtui.text import date_format
from memtui.text.tokens import ENCODING, find_vocabulary

if TYPE_CHECKING:
    from memtui.summarize.ollama.models import ModelOptions


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    """What was looked at: ``store``, ``hooks``; the same word from release to
    release."""
    is_well: bool
    says: str
    cure: str = ""
    """What to do: a command to type, or a sentence. Of what is well: what could be
    done, and need not be."""
    subject: str = ""
    """Of which agent or place, where several are looked at under one name."""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at."""

    places: Paths
    """Where everything lies, the store where the settings have it."""
    settings: Settings
    now: datetime
    is_separate: bool = False
    """Whether the store keeps one project alone."""


Check = Callable[[Patient], Iterable[Finding]]


def told_by(name: str, check: Check, patient: Patient) -> list[Finding]:
    """What a check finds; that it cannot be made is a finding too."""
    try:
        return list(check(patient))
    except MemtuiError as error:
        return [Finding(name, False, str(error), "first what is wrong with the store")]
    except OSError as error:
        return [of_error(name, error)]


def of_error(name: str, error: OSError) -> Finding:
    """The finding that something cannot be looked at."""
    says = f"{error.filename}: {(error.strerror or str(error)).lower()}"
    return Finding(name, False, says, f"make it yours: chmod -R u+rwX {error.filename}")


def size(count: float) -> str:
    """A number of bytes: ``232 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def clock() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)


OLD = timedelta(days=3)
"""What lies in the spool for longer is said, though nothing is lost there."""

TAKEN = timedelta(minutes=15)
"""How soon a memtui that is at work has taken what hooks leave."""

SILENT = timedelta(minutes=15)
"""How much later than a hook's last word a transcript may be before that is odd."""


def spool(patient: Patient) -> Iterator[Finding]:
    """Whether hooks can leave something, and how long that waits."""
    folder = patient.places.spool
    found = capture_spool.spool_status(folder)
    if found.closed:
        cure = f"make room, or make it writable: chmod -R u+rwX {folder}"
        yield Finding(
            "spool", False, f"hooks cannot leave anything: {found.closed}", cure
        )
    else:
        yield _waiting(found, patient)
    if found.refused:
        files = output.plural(found.refused, "file")
        says = f"{files} of hooks could not be taken"
        yield Finding("quarantine", False, says, "memtui quarantine list")


def _waiting(found: SpoolStatus, patient: Patient) -> Finding:
    says = "nothing waits; hooks can leave more"
    cure = ""
    if found.oldest_at:
        waiting = output.plural(found.waiting, "event")
        since = date_format.age(found.oldest_at, patient.now)
        says = f"{waiting} of hooks waiting (oldest {since})"
        is_worked = bool(worker_lock.find_holder(patient.places.worker_lock))
        is_old = patient.now - found.oldest_at > (TAKEN if is_worked else OLD)
        if patient.is_separate:
            says += ", of this project or of others"
        elif is_old and is_worked:
            says += ", and the memtui that is at work does not take them"
            cure = f"see {patient.places.log}"
        elif is_old:
            cure = "memtui work --until-idle"
    if found.unfinished:
        files = output.plural(found.unfinished, "file")
        says += f"; {files} that hooks never finished in {patient.places.spool / 'tmp'}"
    return Finding("spool", not cure, says, cure)


def watched(origins: Sequence[CaptureSource], *, is_kept: bool) -> Iterator[Finding]:
    """Whose transcripts are read as they are written, and by what changes are found."""
    names = [one.title for one in origins if one.is_watched]
    if not names:
        says = "no transcripts are read as they are written"
        cure = "memtui sources watch all, where hooks do not tell of everything"
        yield Finding("watching", True, says, cure)
        return
    says = f"{', '.join(names)}: read as they are written"
    places = [place for one in origins if one.is_watched for place in one.places]
    untold = (watcher.polling_reason(place) for place in places if place.exists())
    blind = checks.blind() if is_kept else ""
    if reason := blind or next(filter(None, untold), ""):
        says += f"; changes are found by looking every 2 s, since {reason}"
    yield Finding("watching", True, says)


def unread(
    patient: Patient, origins: Sequence[CaptureSource], accounts: Mapping[str, Account]
) -> Iterator[Finding]:
    """Transcripts that are not read, and those that are soon deleted."""
    is_worked = bool(worker_lock.find_holder(patient.places.worker_lock))
    for origin in origins:
        if found := accounts.get(origin.name):
            finding = _unread(origin, found, patient, is_worked=is_worked)
            if finding:
                yield finding


def _unread(
    origin: CaptureSource, found: Account, patient: Patient, *, is_worked: bool
) -> Finding | None:
    cure = _reading(origin, patient, is_worked=is_worked)
    is_refused = not origin.is_watched and not origin.is_undecided
    if found.doomed_at:
        files = output.plural(found.doomed, "transcript")
        is_due = found.doomed_at <= patient.now
        when = (
            "at any moment" if is_due else f"from {date_format.day(found.doomed_at)} on"
        )
        says = f"{origin.title} deletes {files} {when} that are not read here in full"
        return Finding("transcripts", is_refused, says, cure, origin.name)
    if missing := found.late if origin.is_watched else found.grown:
        files = output.plural(missing, "transcript")
        says = f"{origin.title}: {files} changed since memtui last read there"
        return Finding("transcripts", is_refused, says, cure, origin.name)
    if found.unread and not is_refused:
        says = f"{origin.title}: {found.unread:,} of {found.files:,} were never read"
        return Finding("transcripts", True, says, cure, origin.name)
    return None


def _reading(origin: CaptureSource, patient: Patient, *, is_worked: bool) -> str:
    """What brings an agent's transcripts in."""
    if origin.is_watched and is_worked:
        return f"wait a minute; if it stays so, see {patient.places.log}"
    if origin.is_watched:
        return "memtui work --until-idle"
    return f"memtui sources watch {origin.name}, or once: memtui import"


def accounts(
    patient: Patient, origins: Sequence[CaptureSource], *, is_kept: bool
) -> dict[str, Account]:
    """Each agent's transcripts against what was read of them."""
    days = known_agents.claude_cleanup_days(
        cli_hooks.this_machine(patient.places, None)
    )
    places = transcript_folders()
    return {
        one.name: account(
            one.name,
            places[one.name],
            patient.now,
            keep=timedelta(days=days) if one.name == "claude-code" else None,
            is_kept=is_kept,
        )
        for one in origins
        if one.name in places
    }


def origins(patient: Patient, *, is_kept: bool) -> list[CaptureSource]:
    """Every agent, and what was heard of it."""
    return sources.look(patient.settings, is_kept=is_kept)


def hooks(
    patient: Patient, origins: Sequence[CaptureSource], accounts: Mapping[str, Account]
) -> Iterator[Finding]:
    """Whether the hooks that are installed run, and are heard of."""
    there = _installed(patient)
    newest = capture_spool.spool_status(patient.places.spool).newest_at
    heard = {one.name: one for one in origins}
    for one in there:
        if one.problem:
            yield Finding(
                "hooks", False, f"{one.title}: {one.problem}", _mend(one), one.agent
            )
        elif one.is_installed:
            last = _last(heard.get(one.agent), newest)
            yield _heard(one, last, accounts.get(one.agent), patient.now)
    if not any(one.is_installed or one.problem for one in there):
        says = "none are installed; agents tell memtui nothing as it happens"
        yield Finding("hooks", True, says, "memtui hooks install")


def _installed(patient: Patient) -> list[HookStatus]:
    """The person's own hooks, and those of the project memtui is started in."""
    own = integrations_hooks.hook_statuses(cli_hooks.this_machine(patient.places, None))
    here = cli_hooks.this_machine(patient.places, Path.cwd())
    files = {one.file for one in own}
    return own + [
        one
        for one in integrations_hooks.hook_statuses(here)
        if one.is_installed and one.file not in files
    ]


def _mend(one: HookStatus) -> str:
    if not one.is_installed or one.is_off:
        return f"mend {one.file}"
    where = " --project" if one.scope == "project" else ""
    return f"memtui hooks install {one.agent}{where}"


def _last(origin: CaptureSource | None, newest: datetime | None) -> datetime | None:
    """When hooks were last heard: what waits in the spool may be anybody's."""
    told = origin.by_hook.last_event_at if origin and origin.by_hook else None
    return max(filter(None, (told, newest)), default=None)


def _heard(
    one: HookStatus, last: datetime | None, found: Account | None, now: datetime
) -> Finding:
    said = f"last heard {date_format.age(last, now)}" if last else "nothing heard yet"
    says = f"{one.title}: installed, the command runs; {said}"
    newest = found.newest_at if found else None
    since = datetime.fromtimestamp(one.file.stat().st_mtime, now.tzinfo)
    if newest and newest > max(filter(None, (last, since))) + SILENT:
        says = (
            f"{one.title}: installed, but silent: {said}, and it wrote a transcript"
            f" {date_format.age(newest, now)}"
        )
        cure = f"start {one.title} anew: it reads its hooks when it starts."
        note = f" {one.note}" if one.note else ""
        return Finding("hooks", False, says, f"{cure}{note}", one.agent)
    return Finding("hooks", True, says, subject=one.agent)


LOW_BYTES = 200_000_000
"""With less room than this on a disk something is wrong."""

LOW_FILES = 1000
"""With room for fewer files than this, too."""

WAITS = {
    UPDATE_TOC: "event to cut",
    INDEX_NODE: "node to index",
    INDEX_EVENT: "batch of messages to index",
    INDEX_SESSION: "title to index",
}
"""What a row of the outbox is that waits."""

AT_WORK = "the memtui that works"
"""Whose look at the model is told beside our own."""


def settings(patient: Patient) -> Iterator[Finding]:
    """What the settings name that is not there."""
    given = patient.settings
    missing = [folder for folder in given.watched_folders if not folder.exists()]
    for folder in missing:
        origin = given.origin("capture.folders")
        says = f"capture.folders names {folder}, which is not there ({origin})"
        cure = "make it, or take it out of the settings"
        yield Finding("settings", False, says, cure, str(folder))
    for rule in given.exclude_patterns:
        place = Path(rule)
        if place.is_absolute() and "*" not in rule and not place.exists():
            says = f"capture.exclude names {rule}, which is not there"
            cure = "if that is a slip, mend it in the settings"
            yield Finding("settings", True, says, cure, rule)
    if "aider" in given.capture_sources and not given.watched_folders:
        says = "capture.sources names aider, whose histories lie in no one place"
        cure = "name the folders it works in, in capture.folders"
        yield Finding("settings", False, says, cure, "aider")
    for name in given.capture_sources:
        places = transcript_folders().get(name, ())
        if places and not any(place.exists() for place in places):
            says = f"capture.sources names {name}, of which nothing is there"
            yield Finding("settings", True, says, subject=name)
    if not missing:
        set_by = {origin.rpartition(":")[0] for origin in given.origins.values()}
        files = sorted(name for name in set_by if name)
        says = f"read from {', '.join(files)}" if files else "as they are built in"
        yield Finding("settings", True, says)


def work(patient: Patient) -> Iterator[Finding]:
    """What waits, and whether anybody works."""
    holder = worker_lock.find_holder(patient.places.worker_lock)
    found = checks.work(patient.now)
    says = _checking_memory_waiting(found, patient)
    if holder:
        says += f"; a memtui is at work (process {holder})"
    elif found.count:
        says += "; no memtui is at work" if holder == 0 else ""
    if found.failing:
        says += f"; {found.failing:,} could not be done and are tried again"
        cure = f"see {patient.places.log}, then: memtui work --until-idle"
        yield Finding("work", False, says, cure)
    elif found.count and not holder:
        yield Finding("work", False, says, "memtui work --until-idle")
    else:
        yield Finding("work", True, says)


def at_work(patient: Patient, zone: tzinfo) -> Iterator[Finding]:
    """How the memtui that works finds its model, which may be otherwise than we do."""
    found = checks.model()
    if found is None or found.condition is ModelCondition.READY:
        return
    if not worker_lock.find_holder(patient.places.worker_lock):
        return
    at = date_format.clock(found.checked_at, zone)
    how, cure = found.condition.value, ""
    if found.paused_until is not None:
        how += f" until {date_format.clock(found.paused_until, zone)}"
    elif found.condition is ModelCondition.UNWELL:
        cure = "another model may do better: name it in summaries.model"
    says = f"{AT_WORK}: {how}, {found.message}".rstrip(", ")
    yield Finding("model", True, f"{says} (seen at {at})", cure, AT_WORK)


def _checking_memory_waiting(found: Work, patient: Patient) -> str:
    told = []
    for row in found.waiting:
        what = WAITS[row.action]
        one, _, work = what.partition(" ")
        many = f"{one}{'es' if one == 'batch' else 's'} {work}"
        since = date_format.age(row.oldest_at, patient.now)
        told.append(f"{output.plural(row.count, what, many)} (oldest {since})")
    if found.segments:
        many = "segments to sum up"
        told.append(output.plural(found.segments, "segment to sum up", many))
    if found.nodes:
        told.append(output.plural(found.nodes, "node to roll up", "nodes to roll up"))
    return ", ".join(told) or "nothing waits"


def index(patient: Patient) -> Iterator[Finding]:
    """Whether the search index is there and keeps step."""
    found = checks.step(patient.places.index)
    is_worked = bool(worker_lock.find_holder(patient.places.worker_lock))
    wrong = _out_of_step(found, is_worked=is_worked)
    if wrong:
        yield Finding("index", False, wrong, "memtui reindex")
    elif not found.is_there:
        yield Finding("index", True, "it is made with the first node")
    else:
        says = f"{found.documents:,} nodes and quotes can be found"
        more = f"; {found.waiting:,} nodes to go" if found.waiting else ""
        yield Finding("index", True, f"{says}{more or ', in step with the store'}")


def messages(patient: Patient) -> Iterator[Finding]:
    """Whether the index of messages is there and keeps step."""
    with_tools = patient.settings.search_include_tools
    found = checks.heed(patient.places.message_index, with_tools=with_tools)
    is_worked = bool(worker_lock.find_holder(patient.places.worker_lock))
    wrong = _out_of_step(found, is_worked=is_worked, what="messages")
    if wrong:
        yield Finding("messages", False, wrong, "memtui reindex")
    elif not found.is_there:
        yield Finding("messages", True, "their index is made with the first one")
    else:
        more = f"; {found.waiting:,} to go" if found.waiting else ""
        says = f"{found.documents:,} messages can be found"
        yield Finding("messages", True, f"{says}{more or ', in step with the store'}")


def _out_of_step(
    found: Step, *, is_worked: bool, what: str = "nodes and quotes"
) -> str:
    """What is wrong with an index; "" if nothing is."""
    if not found.is_there:
        return "there is no index" if found.wanted else ""
    if not found.is_ours:
        return "it is broken, of another store, or of an older memtui"
    if not found.is_sound:
        return "it is broken"
    if found.documents != found.wanted and not found.waiting and not is_worked:
        return f"it holds {found.documents:,} of {found.wanted:,} {what}"
    return ""


def secrets(_: Patient) -> Iterator[Finding]:
    """Whether secrets can still stand in what is kept."""
    kept = checks.cleanness()
    if kept.is_forgetting:
        says = "a forgetting was broken off and what is to go is still there"
        yield Finding("secrets", False, says, "memtui redact")
    elif kept.has_traces:
        says = "what was forgotten or redacted may have left traces: it was broken off"
        yield Finding("secrets", False, says, "memtui redact")
    elif not kept.is_redacted:
        says = "what was kept by an older memtui may hold secrets"
        yield Finding("secrets", False, says, "memtui redact")
    else:
        yield Finding("secrets", True, "taken out of all that is kept")


def zone(_: Patient) -> Iterator[Finding]:
    """Whose days the table of contents follows."""
    name, here = checks.time_zone(), workspace.machine_zone()
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        says = f"this machine does not know {name}, which the store follows"
        yield Finding("zone", False, says, "install the time zones: tzdata")
        return
    apart = (
        "" if here == name else f" (this machine's is {here}; a store keeps its own)"
    )
    yield Finding("zone", True, f"days are those of {name}{apart}")


def tokens(patient: Patient) -> Iterator[Finding]:
    """How tokens are counted."""
    if find_vocabulary(patient.places.vocabulary):
        yield Finding("tokens", True, f"counted by tiktoken-{ENCODING}")
    else:
        yield Finding(
            "tokens", True, "estimated; for exact counts: memtui tokens fetch"
        )


def disk(patient: Patient) -> Iterator[Finding]:
    """Whether there is room where memtui writes."""
    seen = set()
    for place in (patient.places.store.parent, patient.places.spool):
        there = next(p for p in (place, *place.parents) if p.exists())
        device = there.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        free, status = shutil.disk_usage(there).free, os.statvfs(there)
        is_short = bool(status.f_files) and status.f_favail < LOW_FILES
        says = f"{size(free)} free at {there}"
        if is_short:
            says += f", with room for {status.f_favail:,} files"
        is_well = free >= LOW_BYTES and not is_short
        yield Finding("disk", is_well, says, "" if is_well else "make room", str(there))


PATIENCE_S = 2.0
"""How long to wait for all that a server answers, in seconds."""

OWN = "memtui's own summariser is used"
WISH = "to have summaries by a model: "


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """Who was asked to summarise, and how it is."""

    provider: str
    url: str
    health: ModelHealth | None = None
    """None if nobody is to be asked."""


def model(settings: Settings) -> tuple[Finding, ModelCheck]:
    """How it stands with the model; the want of one is wrong only where it is set."""
    provider = settings.summaries_provider
    url = settings.summaries_url
    if provider == EXTRACTIVE:
        says = f"no model is asked (summaries.provider); {OWN}"
        return Finding("model", True, says), ModelCheck(provider, url)
    from memtui import workspace

    options = workspace.model_options(settings)
    health = _health(options)
    says, cure = _said(health, options, settings)
    is_well = health.is_ready or provider != OLLAMA
    if not health.is_ready:
        says = f"{says}; {OWN}"
        cure = cure if provider == OLLAMA else f"{WISH}{cure}"
    return Finding("model", is_well, says, cure), ModelCheck(provider, url, health)


def _health(options: "ModelOptions") -> ModelHealth:
    """Return the summarizer's health, as far as it answers in time."""
    # Imported first: the time it takes to import is not the server's.
    from memtui.summarize.ollama import summarizer

    ollama, is_late = summarizer.Ollama(options), threading.Event()

    def give_up() -> None:
        is_late.set()
        ollama.cancel()

    timer = threading.Timer(PATIENCE_S, give_up)
    timer.daemon = True
    timer.start()
    health = ollama.health()
    timer.cancel()
    if is_late.is_set() and not health.is_ready:
        says = f"{options.url} does not answer within {PATIENCE_S:g} s"
        return replace(health, condition=ModelCondition.UNWELL, message=says)
    return health


def _said(
    health: ModelHealth, options: "ModelOptions", settings: Settings
) -> tuple[str, str]:
    """What there is, and what to do."""
    match health.condition:
        case ModelCondition.READY:
            return _ready(health, options), ""
        case ModelCondition.OFFLINE:
            return f"no Ollama answers at {options.url}", health.remedy
        case ModelCondition.MODEL_MISSING:
            return health.message, health.remedy
        case ModelCondition.REFUSED:
            return health.message, _allowing(options, settings)
    return (
        health.message,
        "see whether it is Ollama that answers there, and its own log",
    )


def _ready(health: ModelHealth, options: "ModelOptions") -> str:
    runs = "on the CPU alone" if health.on_cpu else "on a graphics card"
    where = f"loaded, {runs}" if health.is_loaded else "not loaded now"
    return (
        f"{health.model}, {where}, with a window of {health.window_tokens:,} tokens;"
        f" Ollama {health.server} at {options.url}"
    )


def _allowing(options: "ModelOptions", settings: Settings) -> str:
    """Which setting keeps the server, or its model, from being asked."""
    from memtui.summarize.ollama.client import parse_address
    from memtui.summarize.ollama.errors import NotAllowedError

    pass

    try:
        parse_address(options.url, options.allowed_hosts)
    except NotAllowedError:
        origin = settings.origin("summaries.url")
        return (
            f"mend summaries.url ({origin}), or, if that machine may be sent what was"
            " said, name it in summaries.allowed_hosts"
        )
    if options.model:
        return "name a model of this machine in summaries.model"
    return "name a server that answers in summaries.url"


SLOW_BYTES = 50_000_000
"""A store larger than this takes a moment to be checked, and that is said."""

UNDAMAGED = "memtui restore FILE from a backup; without one move it away: memtui import"
"""What to do with a store that cannot be used."""


def look(patient: Patient) -> tuple[Finding, bool]:
    """How the store is, and whether it can be asked further."""
    file = patient.places.store
    if not file.exists():
        there = next(place for place in file.parents if place.exists())
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            says = f"there is none, and {there} cannot be written"
            cure = f"chmod u+rwx {there}, or name another place: --home DIR"
            return _of_store(file, False, says, cure), False
        return _of_store(file, True, "nothing is kept yet", "memtui import"), False
    if file.is_dir():
        says, cure = f"{file} is a folder, not a file", f"mv {file} {file}.away"
        return _of_store(file, False, says, cure), False
    try:
        opened = checks.look_at(file)
        return _opened(patient, opened)
    except StoreBusyError as error:
        cure = f"end the program that holds it: fuser {file}"
        return _of_store(file, False, str(error), cure), False
    except StoreError as error:
        cure = UNDAMAGED if "damaged" in str(error) else f"chmod u+rw {file}"
        return _of_store(file, False, str(error), cure), False


def _opened(patient: Patient, opened: Opened) -> tuple[Finding, bool]:
    file = patient.places.store
    if not opened.schema:
        return _bare(patient), False
    if opened.schema != opened.latest:
        says = (
            f"{file} was made by another version of memtui (schema {opened.schema};"
            f" this one reads schema {opened.latest})"
        )
        return _of_store(file, False, says, "use that version of memtui"), False
    if damages := _damages(file):
        return _of_store(file, False, "; ".join(damages), UNDAMAGED), True
    events, sessions = checks.kept()
    told = f"{events:,} events in {output.plural(sessions, 'session')}"
    says = f"{told}, {size(file.stat().st_size)}, undamaged"
    for place in (file, file.parent):
        if not os.access(place, os.W_OK):
            says += f", but {place} cannot be written: nothing new is kept"
            cure = f"make it writable: chmod u+rwX {place}, or mount the disk for it"
            return _of_store(file, False, says, cure), True
    return _of_store(file, True, says), True


def _bare(patient: Patient) -> Finding:
    """What a file is that no memtui has put its tables in."""
    file = patient.places.store
    if file.stat().st_size:
        says = f"{file} is the database of another program"
        cure = "name another place for the memory: store.path in the settings"
        return _of_store(file, False, says, cure)
    if not NodeIndex(patient.places.index).name():
        return _of_store(file, True, "nothing is kept yet", "memtui import")
    says = f"{file} is empty, though there was something in it"
    return _of_store(file, False, says, UNDAMAGED)


def _of_store(file: Path, is_well: bool, says: str, cure: str = "") -> Finding:
    return Finding("store", is_well, says, cure, str(file))


def _damages(file: Path) -> list[str]:
    length = file.stat().st_size
    if length > SLOW_BYTES and sys.stderr.isatty():
        print(f"memtui: checking the store ({size(length)}) …", file=sys.stderr)
    return checks.damages()
