"""What ``doctor`` looks at of the memory itself: is it sound, in step, and has it room?

Nothing here takes the right to work, makes a file or changes the store.
"""

import os
import shutil
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.house import settling, tokenizer
from memtui.memory.summarizers import Condition
from memtui.memory.times.since import elapsed
from memtui.paths import transcripts
from memtui.recall import checkups
from memtui.recall.checkups import Step, Work
from memtui.shell import output
from memtui.shell.diagnosing import Finding, Patient, size
from memtui.stages import claim
from memtui.store.outbox import (
    INDEX_EVENT,
    INDEX_NODE,
    INDEX_SESSION,
    UPDATE_TOC,
)

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
    missing = [folder for folder in given.folders if not folder.exists()]
    for folder in missing:
        origin = given.held["capture.folders"].origin
        says = f"capture.folders names {folder}, which is not there ({origin})"
        cure = "make it, or take it out of the settings"
        yield Finding("settings", False, says, cure, str(folder))
    for rule in given.exclude:
        place = Path(rule)
        if place.is_absolute() and "*" not in rule and not place.exists():
            says = f"capture.exclude names {rule}, which is not there"
            cure = "if that is a slip, mend it in the settings"
            yield Finding("settings", True, says, cure, rule)
    if "aider" in given.sources and not given.folders:
        says = "capture.sources names aider, whose histories lie in no one place"
        cure = "name the folders it works in, in capture.folders"
        yield Finding("settings", False, says, cure, "aider")
    for name in given.sources:
        places = transcripts().get(name, ())
        if places and not any(place.exists() for place in places):
            says = f"capture.sources names {name}, of which nothing is there"
            yield Finding("settings", True, says, subject=name)
    if not missing:
        set_by = {held.origin.rpartition(":")[0] for held in given.held.values()}
        files = sorted(name for name in set_by if name)
        says = f"read from {', '.join(files)}" if files else "as they are built in"
        yield Finding("settings", True, says)


def work(patient: Patient) -> Iterator[Finding]:
    """What waits, and whether anybody works."""
    holder = claim.holder(patient.places.claim)
    found = checkups.work(patient.now)
    says = _waiting(found, patient)
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
    found = checkups.model()
    if found is None or found.condition is Condition.READY:
        return
    if not claim.holder(patient.places.claim):
        return
    at = f"{found.at.astimezone(zone):%H:%M}"
    how, cure = found.condition.value, ""
    if found.until is not None:
        how += f" until {found.until.astimezone(zone):%H:%M}"
    elif found.condition is Condition.UNWELL:
        cure = "another model may do better: name it in summaries.model"
    says = f"{AT_WORK}: {how}, {found.says}".rstrip(", ")
    yield Finding("model", True, f"{says} (seen at {at})", cure, AT_WORK)


def _waiting(found: Work, patient: Patient) -> str:
    told = []
    for row in found.waiting:
        what = WAITS[row.action]
        one, _, work = what.partition(" ")
        many = f"{one}{'es' if one == 'batch' else 's'} {work}"
        since = elapsed(row.oldest_at, patient.now)
        told.append(f"{output.number_of(row.count, what, many)} (oldest {since})")
    if found.segments:
        many = "segments to sum up"
        told.append(output.number_of(found.segments, "segment to sum up", many))
    if found.nodes:
        told.append(
            output.number_of(found.nodes, "node to roll up", "nodes to roll up")
        )
    return ", ".join(told) or "nothing waits"


def index(patient: Patient) -> Iterator[Finding]:
    """Whether the search index is there and keeps step."""
    found = checkups.step(patient.places.index)
    is_worked = bool(claim.holder(patient.places.claim))
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
    with_tools = patient.settings.with_tools
    found = checkups.heed(patient.places.messages, with_tools=with_tools)
    is_worked = bool(claim.holder(patient.places.claim))
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
    kept = checkups.cleanness()
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
    name, here = checkups.time_zone(), settling.machine_zone()
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
    if tokenizer.find(patient.places.vocabulary):
        yield Finding("tokens", True, f"counted by tiktoken-{tokenizer.ENCODING}")
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
