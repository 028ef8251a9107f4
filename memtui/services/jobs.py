"""The model's jobs and the queues of the pipeline: their state, pause and requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memtui.model.events import to_ms
from memtui.model.jobs import (
    Job,
    JobRun,
    JobSchedule,
    JobState,
    RunReason,
    RunResult,
    Schedules,
)
from memtui.model.quantities import plural
from memtui.store import database, jobs, meta, queues, segments
from memtui.store.jobs import Checkpoint
from memtui.store.meta import ModelRecord

REASONS = {
    RunReason.SCHEDULE: "on schedule",
    RunReason.REQUESTED: "requested",
    RunReason.PENDING: "work pending",
}

LIMIT = 20
"""The most runs that ``history`` returns by default."""

MAX_RUNS = 50
"""The most runs of each job that ``read_work`` returns."""

NO_SCHEDULE = "whenever there is something"
"""The schedule of a job without times."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    job: Job
    cron: str
    """Empty for a job without times."""
    schedule: str
    """The cron expression in words."""
    is_paused: bool
    requested_at: datetime | None
    """The time at which a run was requested that has not started yet."""
    last: JobRun | None
    """The last run, or the one that is running; None if there was none."""
    is_running: bool
    is_overdue: bool
    """True if its time has passed and it has not run since."""
    next_at: datetime | None
    """Its next time; None if it has none or is paused."""
    rolled_up: Checkpoint | None = None
    """The progress of the roll-up of its level; None if nothing is rolled up."""


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """The queues of the pipeline and the jobs, at one moment."""

    queues: Mapping[str, int]
    """The length of the queue of each stage."""
    failing: int
    """The number of summaries and roll-ups that failed and wait for another try."""
    jobs: Sequence[JobStatus]
    requests: Mapping[Job, int]
    """The number of nodes that wait for a version by each job."""
    runs: Mapping[Job, Sequence[JobRun]]
    """The runs of each job, the latest first."""
    model: ModelRecord | None
    """The model as the worker last found it; None if none has looked yet."""


def describe_withheld(counts: Mapping[str, int]) -> str:
    """Return how many lines are withheld, and why; "" for none.

    As in "2 lines withheld: said twice; no source".

    Args:
        counts: The number of lines by reason.
    """
    if not counts:
        return ""
    reasons = sorted(counts, key=lambda reason: -counts[reason])
    count = plural(sum(counts.values()), "line")
    return f"{count} withheld: {'; '.join(reasons)}"


def describe_counts(run: JobRun) -> str:
    """Return what came of a run, as in "3 written, 1 failed, 2 left"."""
    counts = [f"{run.created:,} written"]
    for count, name in (
        (run.rejected, "rejected"),
        (run.failed, "failed"),
        (run.waiting, "left"),
    ):
        if count:
            counts.append(f"{count:,} {name}")
    if run.skipped:
        counts.append(f"{plural(run.skipped, 'time')} skipped")
    if run.withheld:
        counts.append(describe_withheld(run.withheld))
    return ", ".join(counts)


def read_work(
    spool: Path, schedules: Schedules, now: datetime, *, has_worker: bool | None
) -> WorkStatus:
    from memtui.capture.spool import Spool

    now_ms = to_ms(now)
    with database.connection():
        lengths = {
            "ingest": len(Spool(spool).names()),
            "segment": queues.count_rows(queues.UPDATE_TOC),
            "summarize": segments.count_pending(),
            "rollup": queues.count_rollups(),
            "index": queues.count_rows(queues.INDEX_NODE),
            "messages": queues.list_latest_unindexed_events(0)[1],
        }
        failing = segments.count_failing(now_ms) + queues.count_failing_rollups(now_ms)
        model = meta.model_record()
        requests = {job: queues.count_rewrites(job.level) for job in Job}
    runs = {job: history(job, limit=MAX_RUNS, has_worker=has_worker) for job in Job}
    states = statuses(schedules, now, has_worker=has_worker)
    return WorkStatus(lengths, failing, states, requests, runs, model)


def statuses(
    schedules: Schedules, now: datetime, *, has_worker: bool | None
) -> list[JobStatus]:
    """Return the state of every job.

    If no process runs the pipeline, no job is running, whatever the store says.
    """
    with database.connection():
        states = jobs.get_states()
        return [
            _get_status(job, states[job], schedules.get(job), now, has_worker)
            for job in Job
        ]


def history(
    job: Job | None = None, *, limit: int = LIMIT, has_worker: bool | None
) -> list[JobRun]:
    """Return the runs of a job, or of all, the latest first."""
    with database.connection():
        return [
            _mark_interrupted(run, has_worker) for run in jobs.list_runs(job, limit)
        ]


def _get_status(
    job: Job,
    state: JobState,
    schedule: JobSchedule | None,
    now: datetime,
    has_worker: bool | None,
) -> JobStatus:
    last = next(iter(history(job, limit=1, has_worker=has_worker)), None)
    requested_at = state.requested_at
    is_running = last is not None and last.ended_at is None
    if last and is_running and requested_at and requested_at <= last.started_at:
        requested_at = None  # it runs
    is_overdue = False
    next_at = None
    if schedule and not state.is_paused:
        next_at = schedule.next_run(now)
        since = state.since and min(state.since, now)
        is_overdue = not is_running and bool(since and schedule.is_due(since, now))
    return JobStatus(
        job=job,
        cron=schedule.cron if schedule else "",
        schedule=schedule.describe() if schedule else NO_SCHEDULE,
        is_paused=state.is_paused,
        requested_at=requested_at,
        last=last,
        is_running=is_running,
        is_overdue=is_overdue,
        next_at=next_at,
        rolled_up=jobs.get_checkpoint(job),
    )


def _mark_interrupted(run: JobRun, has_worker: bool | None) -> JobRun:
    """Mark a run without an end as interrupted, if no process continues it."""
    if run.ended_at is None and has_worker is False:
        return replace(run, result=RunResult.INTERRUPTED, ended_at=run.heartbeat_at)
    return run


def pause(selected: Sequence[Job]) -> None:
    """Pause jobs until they are resumed, also over restarts.

    They run only when a run is requested; earlier requests are dropped.
    """
    with database.transaction():
        jobs.set_paused(selected, True)


def resume(selected: Sequence[Job]) -> None:
    """Let jobs run again; a missed run is made up for once."""
    with database.transaction():
        jobs.set_paused(selected, False)


def request_run(selected: Sequence[Job], now: datetime) -> None:
    """Request a run of jobs, at once or as soon as memtui runs."""
    with database.transaction():
        for job in selected:
            jobs.request_run(job, to_ms(now))
