"""The schedule of the model's jobs, and the results of their runs.

A job runs when a user requests it, when its scheduled time has come, and when work is
pending: segments at once, roll-ups when all segments are written. A time that passes
while the job runs is skipped and counted. One that passed while memtui did not run, or
while the job was paused, is made up for once. A paused job runs only on request.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.jobs import (
    ROLLUP_JOBS,
    Job,
    JobRun,
    JobState,
    RunReason,
    RunResult,
    Schedules,
)
from memtui.model.quantities import plural
from memtui.store import database, jobs, queues


@dataclass(frozen=True, slots=True)
class DueJob:
    """A job that should run now, or runs."""

    job: Job
    reason: RunReason
    requested_at: datetime | None = None


@dataclass(slots=True)
class _Run:
    row: JobRun
    requested_at: datetime | None
    """The request that this run is for."""
    number: int = 0
    """The number of its row; 0 until it is stored."""
    errors: dict[str, str] = field(default_factory=dict)
    """By node; nodes that succeeded in a later attempt are left out."""
    has_worked: bool = False


class JobScheduler:
    """Decides which jobs run, and records their runs."""

    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules
        self._runs: dict[Job, _Run] = {}
        self._pending = set(ROLLUP_JOBS)
        """The roll-ups that run once all segments are written."""
        self._has_started = False

    def list_due(self, now: datetime) -> list[DueJob]:
        """Return the jobs that run now or should: roll-ups from the days up, segments.

        The runs of jobs that were paused meanwhile end.
        """
        with database.connection():
            states = jobs.get_states()
            if not self._has_started or _is_in_future(states, now):
                self._follow_schedules(now)
                states = jobs.get_states()
            has_segments = queues.has_untried_rewrites(TocLevel.SEGMENT)
        due = []
        for job in (*ROLLUP_JOBS, Job.SEGMENTS):
            state = states[job]
            reason = self._find_reason(job, state, now, has_segments=has_segments)
            if reason:
                due.append(DueJob(job, reason, state.requested_at))
            elif job in self._runs:
                self.end(job, RunResult.STOPPED, now)
        return due

    def _follow_schedules(self, now: datetime) -> None:
        """Follow the schedules from now on.

        At the start, runs that another process did not end are marked.
        """
        with database.transaction():
            if not self._has_started:
                jobs.interrupt_runs()
            jobs.follow_schedules(ROLLUP_JOBS, to_ms(now))
        self._has_started = True

    def _find_reason(
        self, job: Job, state: JobState, now: datetime, *, has_segments: bool
    ) -> RunReason | None:
        """Return why a job runs now; None if it does not."""
        if state.requested_at:
            return RunReason.REQUESTED
        if state.is_paused:
            return None
        if job in self._runs:
            return self._runs[job].row.reason
        schedule = self._schedules.get(job)
        if schedule and state.since and schedule.is_due(state.since, now):
            return RunReason.SCHEDULE
        is_pending = job is Job.SEGMENTS or (job in self._pending and not has_segments)
        return RunReason.PENDING if is_pending else None

    def is_running(self, job: Job) -> bool:
        return job in self._runs

    def note_change(self) -> None:
        """Note that a node was written: what is above it can be rolled up again."""
        self._pending.update(ROLLUP_JOBS)

    def begin(self, due: DueJob, now: datetime) -> None:
        """Begin a run, unless the job runs already."""
        if due.job not in self._runs:
            row = JobRun(due.job, due.reason, started_at=now, heartbeat_at=now)
            self._runs[due.job] = _Run(row, due.requested_at)
            self._save(due.job, now)

    def record(
        self,
        job: Job,
        name: str,
        now: datetime,
        *,
        created: int = 0,
        rejected: int = 0,
        failed: int = 0,
        error: str = "",
        withheld: Mapping[str, int] | None = None,
    ) -> None:
        """Count what came of a node in the run of its job."""
        run = self._runs[job]
        run.has_worked = True
        run.errors.pop(name, None)
        if error and not rejected:
            run.errors[name] = error
        run.row = replace(
            run.row,
            created=run.row.created + created,
            rejected=run.row.rejected + rejected,
            failed=run.row.failed + failed,
            withheld=Counter(run.row.withheld) + Counter(withheld),
        )
        self._save(job, now)
        if job is Job.SEGMENTS and created:
            self.note_change()

    def finish(self, due: DueJob, now: datetime) -> None:
        """End the run of a job that has nothing more to do.

        A scheduled or requested run is also recorded if there was nothing to do.
        """
        if due.reason is not RunReason.PENDING:
            self.begin(due, now)
        self.end(due.job, RunResult.DONE, now)

    def end(self, job: Job, result: RunResult, now: datetime, error: str = "") -> None:
        """End the run of a job, if it runs; ``STOPPED`` if it is to go on later."""
        is_over = result is not RunResult.STOPPED
        if is_over:
            self._pending.discard(job)
        run = self._runs.pop(job, None)
        if run is None:
            return
        if result is RunResult.DONE:
            error = _explain_nothing_done(run)
        error = error or next(reversed(run.errors.values()), "")
        if error and result is RunResult.DONE:
            result = RunResult.FAILED
        schedule = self._schedules.get(job)
        run.row = replace(
            run.row,
            heartbeat_at=now,
            ended_at=now,
            result=result,
            error=error,
            skipped=schedule.count(run.row.started_at, now) if schedule else 0,
        )
        with database.transaction():
            jobs.save_run(run.row, run.number)
            if is_over:
                jobs.set_run_over(job, to_ms(now), run.requested_at)

    def stop_all(self, now: datetime) -> None:
        for job in list(self._runs):
            self.end(job, RunResult.STOPPED, now)

    def _save(self, job: Job, now: datetime) -> None:
        run = self._runs[job]
        with database.transaction():
            waiting = queues.count_rewrites(job.level)
            run.row = replace(run.row, heartbeat_at=now, waiting=waiting)
            run.number = jobs.save_run(run.row, run.number)


def _is_in_future(states: Mapping[Job, JobState], now: datetime) -> bool:
    """Return whether a job was scheduled by a clock that has been set back since."""
    times = [states[job].since for job in ROLLUP_JOBS]
    return any(since and since > now for since in times)


def _explain_nothing_done(run: _Run) -> str:
    """Return why a requested run did nothing although nodes are queued."""
    job = run.row.job
    if run.has_worked or run.row.reason is not RunReason.REQUESTED:
        return ""
    with database.connection():
        if not queues.count_rewrites(job.level):
            return ""
        segments = queues.count_rewrites(TocLevel.SEGMENT)
    if segments and job is not Job.SEGMENTS:
        return f"lower levels come first: {plural(segments, 'segment')} pending"
    return "the queued periods are not over yet, or are retried later"
