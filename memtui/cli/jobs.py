"""``jobs``: list, pause, resume and run the jobs of the model."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import timedelta, tzinfo

from memtui.cli import output
from memtui.cli.command import Context, Parser, add_number
from memtui.errors import UsageError
from memtui.model.jobs import ALL_JOBS, Job, JobRun, find_job, find_jobs
from memtui.model.quantities import plural
from memtui.services import jobs
from memtui.services.jobs import LIMIT, REASONS, JobStatus
from memtui.text import date_format
from memtui.workspace import Workspace

DONE = {"pause": "paused", "resume": "resumed", "run": "requested"}


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=("list", *DONE, "history"),
        help="list jobs with their next runs (the default); pause them until they are"
        " resumed; run them once, now; print the history of their runs",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(Job)}, or {ALL_JOBS}"
    )
    text = f"how many runs history prints (default {LIMIT})"
    add_number(parser, "--limit", LIMIT, text, minimum=1)


def run(args: Namespace, context: Context) -> int:
    action, names = args.action, args.names
    with context.workspace() as workspace:
        if action == "list" and not names:
            return _list_jobs(args, workspace)
        if action == "history" and len(names) <= 1:
            job = find_job(names[0]) if names else None
            return _print_history(args, workspace, job)
        if action in DONE and names:
            return _change(args, workspace, action, find_jobs(names))
    if action in DONE:
        names = ", ".join(Job)
        raise UsageError(f"name the jobs: memtui jobs {action} NAME…|all: {names}")
    raise UsageError(
        f"{action} takes {'one name at most' if action == 'history' else 'no names'}"
    )


def _statuses(workspace: Workspace) -> list[JobStatus]:
    has_worker = workspace.has_worker
    return jobs.statuses(workspace.schedules, workspace.now(), has_worker=has_worker)


def _list_jobs(args: Namespace, workspace: Workspace) -> int:
    statuses, zone = _statuses(workspace), workspace.zone
    has_worker = workspace.has_worker
    data = {"has_worker": has_worker, "time_zone": str(zone), "jobs": statuses}
    lines = [line for status in statuses for line in _job_lines(status, zone)]
    lines += ["", f"Times are those of {zone}."]
    if note := workspace.why_no_model:
        lines.append(note)
    return output.print_result(args, data, lines)


def _job_lines(status: JobStatus, zone: tzinfo) -> Iterator[str]:
    paused = " · paused" if status.is_paused else ""
    yield f"{status.job:<13} {status.schedule}{paused}"
    if status.last is None:
        yield "    has not run yet"
    elif status.is_running:
        at = date_format.moment(status.last.started_at, zone)
        yield f"    running since {at} ({REASONS[status.last.reason]})"
    else:
        yield f"    last {_run_text(status.last, zone)}"
    if status.last:
        yield f"    {jobs.describe_counts(status.last)}"
        if status.last.error:
            yield f"    error: {status.last.error}"
    if status.rolled_up:
        until = date_format.moment(status.rolled_up.last_processed_time, zone)
        nodes = plural(status.rolled_up.processed_count, "roll-up")
        yield f"    extracts up to {until}, {nodes} so far"
    if status.requested_at:
        at = date_format.moment(status.requested_at, zone)
        yield f"    requested at {at}, not started yet"
    if status.is_overdue:
        yield "    next as soon as memtui runs: it is overdue"
    elif status.next_at:
        yield f"    next {date_format.moment(status.next_at, zone)}"


def _run_text(run: JobRun, zone: tzinfo) -> str:
    start, reason = date_format.moment(run.started_at, zone), REASONS[run.reason]
    if run.result is None:
        return f"{start} ({reason}), still running"
    took = date_format.duration(timedelta(seconds=run.took_s))
    return f"{start} ({reason}), {took}, {run.result}"


def _print_history(args: Namespace, workspace: Workspace, job: Job | None) -> int:
    runs = jobs.history(job, limit=args.limit, has_worker=workspace.has_worker)
    lines = [] if runs else [f"{job or 'No job'} has {'not ' if job else ''}run yet."]
    for run in runs:
        text = _run_text(run, workspace.zone)
        lines.append(f"{run.job:<13} {text} · {jobs.describe_counts(run)}")
        lines += [f"    error: {run.error}"] if run.error else []
    return output.print_result(args, {"runs": runs}, lines)


def _change(
    args: Namespace, workspace: Workspace, action: str, selected: Sequence[Job]
) -> int:
    note = ""
    if action == "run":
        jobs.request_run(selected, workspace.now())
        note = workspace.describe_when_due()
    elif action == "pause":
        jobs.pause(selected)
        note = "The current summary is finished first." if workspace.has_worker else ""
    else:
        jobs.resume(selected)
    statuses = [status for status in _statuses(workspace) if status.job in selected]
    paused = [status.job for status in statuses if status.is_paused]
    if action == "run" and paused:
        note += f" It stays paused and runs this once ({', '.join(paused)})."
    data = {"has_worker": workspace.has_worker, "jobs": statuses, "note": note}
    lines = [f"{job}: {DONE[action]}." for job in selected]
    return output.print_result(args, data, [*lines, note] if note else lines)
