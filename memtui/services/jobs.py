"""The model's jobs: when they run, when they ran, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memtui.model.events import to_ms
from memtui.model.jobs import Job, JobRun, JobState, RunResult
from memtui.model.schedule import Schedules
from memtui.store import database, jobs

LIMIT = 20
"""How many runs are told unless fewer or more are asked for."""

NO_TIMES = "whenever there is something"
"""What is said of the schedule of a job without times."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a job stands."""

    job: Job
    cron: str
    """Empty for a job without times."""
    schedule: str
    """The same in words."""
    is_paused: bool
    requested_at: datetime | None
    """When a run was asked for that has not begun yet."""
    last: JobRun | None
    """The last run, or the one that goes on; None if there was none."""
    is_running: bool
    is_overdue: bool
    """Whether its time has come and it has not run since."""
    next_at: datetime | None
    """Its next time; None if it has none or is paused."""


def statuses(
    plan: Schedules, now: datetime, *, has_worker: bool | None
) -> list[JobStatus]:
    """How every job stands.

    Args:
        plan: Their times.
        now: The time.
        has_worker: Whether any process works this store: if none does, no job runs,
            whatever is noted; None if that is not known.
    """
    with database.connection():
        states = jobs.get_states()
        return [_status(job, states[job], plan, now, has_worker) for job in Job]


def history(
    job: Job | None = None, *, limit: int = LIMIT, has_worker: bool | None
) -> list[JobRun]:
    """The runs of a job, or of all, the latest first.

    Args:
        job: Whose; everyone's when None.
        limit: How many.
        has_worker: Whether any process works this store; None if that is not known.
    """
    with database.connection():
        return [_with_result(run, has_worker) for run in jobs.list_runs(job, limit)]


def _status(
    job: Job, state: JobState, plan: Schedules, now: datetime, is_worked: bool | None
) -> JobStatus:
    last = next((_with_result(run, is_worked) for run in jobs.list_runs(job, 1)), None)
    is_running = last is not None and last.ended_at is None
    times = plan.for_job(job)
    is_free = times is not None and not state.is_paused
    return JobStatus(
        job=job,
        cron=times.cron if times else "",
        schedule=times.describe() if times else NO_TIMES,
        is_paused=state.is_paused,
        requested_at=state.requested_at,
        last=last,
        is_running=is_running,
        is_overdue=is_free and not is_running and _is_overdue(job, state, plan, now),
        next_at=times.next_run(now) if times and is_free else None,
    )


def _is_overdue(job: Job, state: JobState, plan: Schedules, now: datetime) -> bool:
    times, over = plan.for_job(job), jobs.last_finished_run(job, to_ms(now))
    since = [state.active_since, over.ended_at if over else None]
    known = [at for at in since if at and at <= now]
    return bool(times and known and times.last_missed(max(known), now))


def _with_result(run: JobRun, is_worked: bool | None) -> JobRun:
    """A run as it is: one that nobody goes on with was broken off."""
    if run.ended_at is None and is_worked is False:
        return replace(run, result=RunResult.INTERRUPTED, ended_at=run.heartbeat_at)
    return run


def pause(chosen: Sequence[Job]) -> None:
    """Let jobs rest, also over restarts, until they are resumed.

    They run then only when they are asked for; what was asked before is dropped.
    """
    with database.transaction():
        jobs.set_paused(chosen, True)


def resume(chosen: Sequence[Job]) -> None:
    """Let jobs run again; a time that they missed is made up for once."""
    with database.transaction():
        jobs.set_paused(chosen, False)


def request_run(chosen: Sequence[Job], now: datetime) -> None:
    """Ask for a run now, or as soon as a memtui works."""
    with database.transaction():
        for job in chosen:
            jobs.request_run(job, to_ms(now))
