"""``doctor``: what is wrong, and what to do about it; what was not taken, and why.

It only looks: it takes no lock, makes no store and changes none, so that it can be
asked of a memory that another memtui works, that is broken, or that cannot be written.
What it answers in JSON is told in docs/doctor.md.
"""

import os
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from memtui import workspace
from memtui.capture import spool
from memtui.cli import doctor_checks, output
from memtui.cli.arguments import Parser
from memtui.cli.context import Context, start_log
from memtui.cli.doctor_checks import (
    Finding,
    ModelCheck,
    Patient,
    clock,
    of_error,
    told_by,
)
from memtui.errors import MemtuiError, SettingsError
from memtui.services import checks, status
from memtui.services.capture_sources import CaptureSource
from memtui.services.checks import Account
from memtui.settings import Settings
from memtui.store import database
from memtui.store.cursors import SourceActivity
from memtui.store.problems import Problem, ProblemKind
from memtui.text import date_format

WIDTH = 80
"""How wide the lines are, in characters."""

INDENT = 15
"""Where what a finding says begins."""

LATEST = 20
"""How many of the latest damaged records are told."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Records that were not taken, for one reason."""

    reason: str
    kind: ProblemKind
    count: int


@dataclass(frozen=True, slots=True)
class Counted:
    """How many there are of something that has a name."""

    name: str
    count: int


@dataclass(slots=True)
class Report:
    """All that was found; what could not be asked stays empty."""

    findings: list[Finding] = field(default_factory=list)
    heard: list[SourceActivity] = field(default_factory=list)
    not_taken: list[Reason] = field(default_factory=list)
    unknown: list[Counted] = field(default_factory=list)
    redacted: list[Counted] = field(default_factory=list)
    quarantined: list[Counted] = field(default_factory=list)
    latest: list[Problem] = field(default_factory=list)
    model: ModelCheck | None = None
    zone: tzinfo = UTC

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.is_well for finding in self.findings)


TITLES = {
    ProblemKind.DAMAGED: "Records that could not be taken",
    ProblemKind.INCOMPLETE: "Records that are not whole yet",
    ProblemKind.SKIPPED: "Records that are not kept",
}
"""What is said of records that were not taken."""


def add_options(parser: Parser, command: str) -> None:
    """Add nothing: doctor has no options."""


def run(args: Namespace, context: Context) -> int:
    """Look at everything; the exit code is 1 if anything is wrong."""
    os.umask(0o077)
    problem = None
    try:
        settings = context.settings
    except SettingsError as error:
        settings, problem = Settings(), error
    start_log(context.paths.log, settings.log_level)
    places, as_json = context.paths, args.json
    project, placed = workspace.resolve_paths(places, settings)
    patient = Patient(placed, settings, clock(), is_separate=bool(project))
    try:
        report = _look(patient, problem)
    finally:
        database.close()
    code = 0 if report.is_well else 1
    if as_json:
        return output.print_json(_plain(report), code=code)
    output.print_lines(_told(report))
    return code


def _look(patient: Patient, problem: MemtuiError | None) -> Report:
    report = Report()
    found = report.findings
    if problem:
        cure = "mend it; until then memtui stops, and doctor takes what is built in"
        found.append(Finding("settings", False, str(problem), cure))
    else:
        found += told_by("settings", doctor_checks.settings, patient)
    stored, can_be_asked = _store(patient)
    found.append(stored)
    if can_be_asked:
        found += told_by("work", doctor_checks.work, patient)
        found += told_by("index", doctor_checks.index, patient)
        found += told_by("messages", doctor_checks.messages, patient)
        found += told_by("secrets", doctor_checks.secrets, patient)
    found += told_by("spool", doctor_checks.spool, patient)
    _look_at_capture(report, patient, can_be_asked=can_be_asked)
    if can_be_asked:
        found += told_by("zone", doctor_checks.zone, patient)
    found += told_by("tokens", doctor_checks.tokens, patient)
    found += told_by("disk", doctor_checks.disk, patient)
    told, report.model = doctor_checks.model(patient.settings)
    found.append(told)
    if can_be_asked:
        seen, zone = doctor_checks.at_work, report.zone
        found += told_by("model", lambda p: seen(p, zone), patient)
    return report


def _store(patient: Patient) -> tuple[Finding, bool]:
    try:
        return doctor_checks.look(patient)
    except OSError as error:
        return of_error("store", error), False


def _look_at_capture(report: Report, patient: Patient, *, can_be_asked: bool) -> None:
    """Look at what comes in, as far as the store can tell of it."""
    found, check = report.findings, doctor_checks
    origins, accounts = list[CaptureSource](), dict[str, Account]()
    try:
        is_kept = patient.places.store.exists()
        if can_be_asked or not is_kept:
            origins = check.origins(patient, is_kept=is_kept)
            accounts = check.accounts(patient, origins, is_kept=is_kept)
            found += check.watched(origins, is_kept=is_kept)
            found += check.unread(patient, origins, accounts)
        if can_be_asked:
            _count(report)
    except MemtuiError as error:
        cure = doctor_checks.UNDAMAGED
        found.append(Finding("transcripts", False, str(error), cure))
    except OSError as error:
        found.append(of_error("transcripts", error))
    found += told_by("hooks", lambda p: check.hooks(p, origins, accounts), patient)
    with suppress(OSError):
        stand = spool.spool_status(patient.places.spool)
        report.quarantined = [Counted(*row) for row in stand.reasons]


def _count(report: Report) -> None:
    report.heard = checks.heard()
    report.not_taken = [Reason(*row) for row in status.count_skipped()]
    report.unknown = [Counted(*row) for row in checks.unknown()]
    report.redacted = [Counted(*row) for row in checks.redacted()]
    report.latest = status.latest_problems(limit=LATEST)
    try:
        report.zone = ZoneInfo(checks.time_zone())
    except (ValueError, OSError, KeyError):
        report.zone = UTC


def _plain(report: Report) -> dict[str, object]:
    return {
        "is_well": report.is_well,
        "model": report.model,
        "findings": report.findings,
        "quarantined": report.quarantined,
        "not_taken": sorted(
            report.not_taken, key=lambda one: one.kind != ProblemKind.DAMAGED
        ),
        "latest": report.latest,
        "heard": report.heard,
        "redacted": report.redacted,
        "unknown": report.unknown,
    }


def _told(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding)
    ill = sum(not finding.is_well for finding in report.findings)
    yield ""
    yield (f"{output.plural(ill, 'thing')} to be put right." if ill else "All is well.")
    yield from _heard(report)
    for kind, title in TITLES.items():
        rows = [(r.reason, r.count) for r in report.not_taken if r.kind == kind]
        yield from _table(title, rows)
        if kind is ProblemKind.DAMAGED:
            yield from _latest(report.latest)
    for title, counted in (
        ("Types of records that memtui does not know", report.unknown),
        ("Quarantined records of hooks", report.quarantined),
        ("Secrets taken out before anything was stored", report.redacted),
    ):
        yield from _table(title, [(row.name, row.count) for row in counted])


def _finding(finding: Finding) -> Iterator[str]:
    lead = f"{_mark(finding)} {finding.name}".ljust(INDENT)
    yield from _wrapped(finding.says, lead)
    if finding.cure:
        yield from _wrapped(f"→ {finding.cure}", " " * INDENT)


def _mark(finding: Finding) -> str:
    """``✗`` for what is wrong, ``○`` for what could be better, ``✓`` for all else."""
    if not finding.is_well:
        return "✗"
    return "○" if finding.cure else "✓"


def _wrapped(said: str, lead: str, indent: int = INDENT) -> list[str]:
    return textwrap.wrap(
        said,
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]


def _heard(report: Report) -> Iterator[str]:
    if report.heard:
        yield ""
        yield "Heard of"
        width = max(len(one.agent) for one in report.heard) + 2
    for one in sorted(report.heard, key=lambda one: (one.agent, one.source)):
        way = "hooks" if one.source == "hooks" else "transcripts"
        at = date_format.moment(one.last_event_at, report.zone)
        events = output.plural(one.events, "event").rjust(16)
        yield f"    {one.agent:<{width}}{way:<13}{at:<21}{events}"


def _table(title: str, rows: Sequence[tuple[str, int]]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
    for said, count in rows:
        yield from _row(said, count)


def _row(said: str, count: int) -> Iterable[str]:
    indent = " " * INDENT
    lead = f"{count:>13,}  "
    return textwrap.wrap(
        said, WIDTH, initial_indent=lead, subsequent_indent=indent
    ) or [lead]


def _latest(problems: Sequence[Problem]) -> Iterator[str]:
    if problems:
        yield ""
        yield "The latest of them"
    for one in problems:
        source = output.with_tilde(one.source)
        where = f"{source}:{one.line}" if one.line else source
        yield from _wrapped(f"{where}: {one.reason} ({one.count:,})", " " * 4, 8)
