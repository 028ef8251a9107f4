"""``doctor``: check everything, and print what is wrong and how to fix it.

The JSON is described in docs/doctor.md.
"""

import os
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from memtui import workspace
from memtui.cli import hooks, output
from memtui.cli.command import Context, start_log
from memtui.errors import SettingsError
from memtui.integrations.config_files import find_project_root
from memtui.model.quantities import plural
from memtui.pipeline import worker
from memtui.services.doctor import Doctor, Finding, Report, SkippedRecords
from memtui.settings import Settings
from memtui.store.sources import ProblemKind

WIDTH = 80

INDENT = 15
"""The column in which the message of a finding begins."""

SKIPPED_TITLES = {
    ProblemKind.DAMAGED: "Records that are damaged",
    ProblemKind.INCOMPLETE: "Records that are not complete yet",
    ProblemKind.SKIPPED: "Records that are not stored",
}


def run(args: Namespace, context: Context) -> int:
    """Run all checks; the exit code is 1 if anything is wrong."""
    os.umask(0o077)
    settings, settings_error = Settings(), ""
    try:
        settings = context.settings
    except SettingsError as error:
        settings_error = str(error)
    start_log(context.paths.log, settings.log_level)
    project, paths = workspace.resolve_paths(context.paths, settings)
    report = Doctor(
        paths,
        settings,
        settings_error=settings_error,
        has_separate_stores=bool(project),
        worker=worker.find_holder(paths.worker_lock),
        machines=(
            hooks.this_machine(paths, None),
            hooks.this_machine(paths, find_project_root(Path.cwd())),
        ),
        model_options=workspace.model_options(settings),
    ).examine()
    code = 0 if report.is_ok else 1
    data = output.to_plain(report) | {"is_ok": report.is_ok}
    del data["zone"]
    return output.print_result(args, data, _report_lines(report), code=code)


def _report_lines(report: Report) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding_lines(finding)
    wrong = sum(not finding.is_ok for finding in report.findings)
    yield ""
    yield f"{plural(wrong, 'thing')} to fix." if wrong else "Everything is well."
    for kind, title in SKIPPED_TITLES.items():
        rows = [row for row in report.skipped if row.kind is kind]
        yield from _table(title, [(_skipped_text(row), row.count) for row in rows])
    title = "Secrets removed before anything was stored"
    yield from _table(title, [(row.name, row.count) for row in report.redacted])


def _skipped_text(row: SkippedRecords) -> str:
    words = f" ({plural(row.words, 'word')})" if row.words else ""
    return f"{row.reason}{words}"


def _finding_lines(finding: Finding) -> Iterator[str]:
    mark = "✓" if not finding.remedy else "○"
    if not finding.is_ok:
        mark = "✗"
    yield from _wrap(finding.message, f"{mark} {finding.name}".ljust(INDENT))
    if finding.remedy:
        yield from _wrap(f"→ {finding.remedy}", " " * INDENT)


def _wrap(text: str, lead: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]


def _table(title: str, rows: Sequence[tuple[str, int]]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
    for text, count in rows:
        yield from _wrap(text, f"{count:>13,}  ")
