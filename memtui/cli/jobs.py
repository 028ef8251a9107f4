"""``jobs``: when the model's jobs run, what came of them, and a hand on the brake."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from memtui import workspace
from memtui.cli import output
from memtui.errors import UsageError
from memtui.model.jobs import Job, JobRun, RunReason, find_job, find_jobs
from memtui.services import jobs
from memtui.services.jobs import JobStatus
from memtui.text import date_format
from memtui.workspace import Workspace

REASONS = {
    RunReason.SCHEDULE: "on schedule",
    RunReason.REQUESTED: "asked for",
    RunReason.MISSED: "made up for",
    RunReason.SEGMENTS_DONE: "after the segments",
    RunReason.WAITING: "segments waited",
}
"""Why a job ran, in words."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Do what was asked for."""
    action, *names = given.words or ["list"]
    if action == "list" and not names:
        return show(house, as_json=given.json)
    if action == "history" and len(names) <= 1:
        job = find_job(names[0]) if names else None
        return tell(house, job, given.limit or jobs.LIMIT, as_json=given.json)
    if action in ("pause", "resume", "run") and names:
        return steer(house, action, find_jobs(names), as_json=given.json)
    if action in ("pause", "resume", "run"):
        raise UsageError(f"say which: memtui jobs {action} NAME…|all: {_known()}")
    raise UsageError(
        "say what to do: memtui jobs | jobs pause NAME…|all | jobs resume NAME…|all |"
        " jobs run NAME…|all | jobs history [NAME]"
    )


def _known() -> str:
    return ", ".join(Job)


def show(house: Workspace, *, as_json: bool) -> int:
    """Print how every job stands."""
    is_worked = workspace.has_active_worker(house.paths)
    found = jobs.statuses(house.schedules, datetime.now(UTC), is_worked=is_worked)
    if as_json:
        said = {"is_worked": is_worked, "time_zone": str(house.zone)}
        output.as_json({**said, "jobs": found})
        return 0
    for one in found:
        output.print_lines(_told(one, house.zone))
    output.print_lines(["", f"Times are those of {house.zone}."])
    if note := workspace.why_no_model(house.settings):
        output.print_lines([note])
    return 0


def _told(one: JobStatus, zone: tzinfo) -> Iterator[str]:
    paused = " · paused" if one.is_paused else ""
    yield f"{one.job:<13} {one.schedule}{paused}"
    if one.last is None:
        yield "    has not run yet"
    elif one.is_running:
        began = date_format.moment(one.last.started_at, zone)
        yield f"    runs since {began} ({REASONS[one.last.reason]})"
        yield f"    {_counts(one.last)}"
    else:
        yield f"    last {_line(one.last, zone)}"
        yield f"    {_counts(one.last)}"
    if one.last and one.last.error:
        yield f"    error: {one.last.error}"
    if one.asked_at:
        asked = date_format.moment(one.asked_at, zone)
        yield f"    asked for at {asked}, not begun yet"
    if one.is_overdue:
        yield "    next as soon as a memtui works: its time has passed"
    elif one.next_at:
        yield f"    next {date_format.moment(one.next_at, zone)}"


def _line(run: JobRun, zone: tzinfo) -> str:
    """When a run was, why, how long it took and how it ended."""
    began, why = date_format.moment(run.started_at, zone), REASONS[run.reason]
    if run.result is None:
        return f"{began} ({why}), still runs"
    took = date_format.duration(timedelta(seconds=run.took_s))
    return f"{began} ({why}), {took}, {run.result}"


def _counts(run: JobRun) -> str:
    told = [f"{run.created:,} made", f"{run.rejected:,} rejected"]
    told += [f"{run.failed:,} failed", f"{run.waiting:,} left"]
    if run.skipped:
        told.append(f"{output.plural(run.skipped, 'time')} skipped")
    return " · ".join(told)


def tell(house: Workspace, job: Job | None, limit: int, *, as_json: bool) -> int:
    """Print the runs of a job, or of all, the latest first."""
    found = jobs.history(
        job, limit=limit, is_worked=workspace.has_active_worker(house.paths)
    )
    if as_json:
        output.as_json({"runs": found})
    elif found:
        output.print_lines(_runs(found, house.zone))
    else:
        output.print_lines(
            [f"{job} has not run yet." if job else "No job has run yet."]
        )
    return 0


def _runs(found: Sequence[JobRun], zone: tzinfo) -> Iterator[str]:
    for one in found:
        yield f"{one.job:<13} {_line(one, zone)} · {_counts(one)}"
        yield from [f"    error: {one.error}"] * bool(one.error)


def steer(
    house: Workspace, action: str, chosen: Sequence[Job], *, as_json: bool
) -> int:
    """Pause jobs, resume them, or ask for a run, and say who will do it."""
    now = datetime.now(UTC)
    if action == "run":
        jobs.request_run(chosen, now)
    elif action == "pause":
        jobs.pause(chosen)
    else:
        jobs.resume(chosen)
    is_worked = workspace.has_active_worker(house.paths)
    note = _note(house, action, chosen, is_worked)
    if as_json:
        found = jobs.statuses(house.schedules, now, is_worked=is_worked)
        mine = [one for one in found if one.job in chosen]
        output.as_json({"is_worked": is_worked, "jobs": mine, "note": note})
        return 0
    done = {"run": "asked for", "pause": "paused", "resume": "resumed"}[action]
    output.print_lines(f"{job}: {done}." for job in chosen)
    output.print_lines([note] * bool(note))
    return 0


def _note(
    house: Workspace, action: str, chosen: Sequence[Job], is_worked: bool | None
) -> str:
    """What comes of it, and when."""
    if action == "pause":
        return "What is being written is finished first." if is_worked else ""
    if action != "run":
        return ""
    found = jobs.statuses(house.schedules, datetime.now(UTC), is_worked=is_worked)
    paused = [one.job for one in found if one.job in chosen and one.is_paused]
    once = (
        f" It stays paused: it runs this once ({', '.join(paused)})." if paused else ""
    )
    return workspace.describe_turn(house.settings, is_worked) + once
