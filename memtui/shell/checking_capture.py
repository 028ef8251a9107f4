"""What ``doctor`` looks at of what comes in: that it does, and that nothing is lost."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from memtui.agents import installations, purging
from memtui.agents.installations import Installation
from memtui.memory.times.since import elapsed
from memtui.paths import transcripts
from memtui.recall import checkups
from memtui.recall.origins import Origin
from memtui.recall.transcripts import Account, account
from memtui.shell import hooking, output, sourcing
from memtui.shell.diagnosing import Finding, Patient
from memtui.sources import boxes, watching
from memtui.sources.boxes import Stand
from memtui.stages import claim

OLD = timedelta(days=3)
"""What lies in the spool for longer is said, though nothing is lost there."""

TAKEN = timedelta(minutes=15)
"""How soon a memtui that is at work has taken what hooks leave."""

SILENT = timedelta(minutes=15)
"""How much later than a hook's last word a transcript may be before that is odd."""


def spool(patient: Patient) -> Iterator[Finding]:
    """Whether hooks can leave something, and how long that waits."""
    folder = patient.places.spool
    found = boxes.stand(folder)
    if found.closed:
        cure = f"make room, or make it writable: chmod -R u+rwX {folder}"
        yield Finding(
            "spool", False, f"hooks cannot leave anything: {found.closed}", cure
        )
    else:
        yield _waiting(found, patient)
    if found.refused:
        files = output.number_of(found.refused, "file")
        says = f"{files} of hooks could not be taken"
        yield Finding("quarantine", False, says, "memtui quarantine list")


def _waiting(found: Stand, patient: Patient) -> Finding:
    says = "nothing waits; hooks can leave more"
    cure = ""
    if found.oldest_at:
        waiting = output.number_of(found.waiting, "event")
        since = elapsed(found.oldest_at, patient.now)
        says = f"{waiting} of hooks waiting (oldest {since})"
        is_worked = bool(claim.holder(patient.places.claim))
        is_old = patient.now - found.oldest_at > (TAKEN if is_worked else OLD)
        if patient.is_separate:
            says += ", of this project or of others"
        elif is_old and is_worked:
            says += ", and the memtui that is at work does not take them"
            cure = f"see {patient.places.log}"
        elif is_old:
            cure = "memtui work --until-idle"
    if found.unfinished:
        files = output.number_of(found.unfinished, "file")
        says += f"; {files} that hooks never finished in {patient.places.spool / 'tmp'}"
    return Finding("spool", not cure, says, cure)


def watched(origins: Sequence[Origin], *, is_kept: bool) -> Iterator[Finding]:
    """Whose transcripts are read as they are written, and by what changes are found."""
    names = [one.title for one in origins if one.is_watched]
    if not names:
        says = "no transcripts are read as they are written"
        cure = "memtui sources watch all, where hooks do not tell of everything"
        yield Finding("watching", True, says, cure)
        return
    says = f"{', '.join(names)}: read as they are written"
    places = [place for one in origins if one.is_watched for place in one.places]
    untold = (watching.why_untold(place) for place in places if place.exists())
    blind = checkups.blind() if is_kept else ""
    if reason := blind or next(filter(None, untold), ""):
        says += f"; changes are found by looking every 2 s, since {reason}"
    yield Finding("watching", True, says)


def unread(
    patient: Patient, origins: Sequence[Origin], accounts: Mapping[str, Account]
) -> Iterator[Finding]:
    """Transcripts that are not read, and those that are soon deleted."""
    is_worked = bool(claim.holder(patient.places.claim))
    for origin in origins:
        if found := accounts.get(origin.name):
            finding = _unread(origin, found, patient, is_worked=is_worked)
            if finding:
                yield finding


def _unread(
    origin: Origin, found: Account, patient: Patient, *, is_worked: bool
) -> Finding | None:
    cure = _reading(origin, patient, is_worked=is_worked)
    is_refused = not origin.is_watched and not origin.is_undecided
    if found.doomed_at:
        files = output.number_of(found.doomed, "transcript")
        is_due = found.doomed_at <= patient.now
        when = "at any moment" if is_due else f"from {found.doomed_at:%Y-%m-%d} on"
        says = f"{origin.title} deletes {files} {when} that are not read here in full"
        return Finding("transcripts", is_refused, says, cure, origin.name)
    if missing := found.late if origin.is_watched else found.grown:
        files = output.number_of(missing, "transcript")
        says = f"{origin.title}: {files} changed since memtui last read there"
        return Finding("transcripts", is_refused, says, cure, origin.name)
    if found.unread and not is_refused:
        says = f"{origin.title}: {found.unread:,} of {found.files:,} were never read"
        return Finding("transcripts", True, says, cure, origin.name)
    return None


def _reading(origin: Origin, patient: Patient, *, is_worked: bool) -> str:
    """What brings an agent's transcripts in."""
    if origin.is_watched and is_worked:
        return f"wait a minute; if it stays so, see {patient.places.log}"
    if origin.is_watched:
        return "memtui work --until-idle"
    return f"memtui sources watch {origin.name}, or once: memtui import"


def accounts(
    patient: Patient, origins: Sequence[Origin], *, is_kept: bool
) -> dict[str, Account]:
    """Each agent's transcripts against what was read of them."""
    days = purging.days(hooking.machine(patient.places, None))
    places = transcripts()
    return {
        one.name: account(
            one.name,
            places[one.name],
            patient.now,
            keep=timedelta(days=days) if one.name == purging.AGENT else None,
            is_kept=is_kept,
        )
        for one in origins
        if one.name in places
    }


def origins(patient: Patient, *, is_kept: bool) -> list[Origin]:
    """Every agent, and what was heard of it."""
    return sourcing.look(patient.settings, is_kept=is_kept)


def hooks(
    patient: Patient, origins: Sequence[Origin], accounts: Mapping[str, Account]
) -> Iterator[Finding]:
    """Whether the hooks that are installed run, and are heard of."""
    there = _installed(patient)
    newest = boxes.stand(patient.places.spool).newest_at
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


def _installed(patient: Patient) -> list[Installation]:
    """The person's own hooks, and those of the project memtui is started in."""
    own = installations.installed(hooking.machine(patient.places, None))
    here = hooking.machine(patient.places, Path.cwd())
    files = {one.file for one in own}
    return own + [
        one
        for one in installations.installed(here)
        if one.is_installed and one.file not in files
    ]


def _mend(one: Installation) -> str:
    if not one.is_installed or one.is_off:
        return f"mend {one.file}"
    where = " --project" if one.scope == "project" else ""
    return f"memtui hooks install {one.agent}{where}"


def _last(origin: Origin | None, newest: datetime | None) -> datetime | None:
    """When hooks were last heard: what waits in the spool may be anybody's."""
    told = origin.by_hook.last_event_at if origin and origin.by_hook else None
    return max(filter(None, (told, newest)), default=None)


def _heard(
    one: Installation, last: datetime | None, found: Account | None, now: datetime
) -> Finding:
    said = f"last heard {elapsed(last, now)}" if last else "nothing heard yet"
    says = f"{one.title}: installed, the command runs; {said}"
    newest = found.newest_at if found else None
    since = datetime.fromtimestamp(one.file.stat().st_mtime, now.tzinfo)
    if newest and newest > max(filter(None, (last, since))) + SILENT:
        says = (
            f"{one.title}: installed, but silent: {said}, and it wrote a transcript"
            f" {elapsed(newest, now)}"
        )
        cure = f"start {one.title} anew: it reads its hooks when it starts."
        note = f" {one.note}" if one.note else ""
        return Finding("hooks", False, says, f"{cure}{note}", one.agent)
    return Finding("hooks", True, says, subject=one.agent)
