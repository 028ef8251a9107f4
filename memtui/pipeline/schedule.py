"""Decides which job of the model runs next, and records its runs.

Requested runs come first, then scheduled ones from the days up, then roll-ups of what
has just been summarized. A time that passes while its job runs is skipped and counted.
A paused job runs only on request. A missed run is made up for once, when the pipeline
starts.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.jobs import (
    ROLLUP_JOBS,
    Job,
    JobState,
    RunReason,
    RunResult,
    Schedules,
)
from memtui.store import database, jobs, queues

LATE_AFTER = timedelta(hours=1)
"""A run that starts later than this after its time counts as missed."""

MAX_INTERRUPTED = 3
"""After this many interrupted runs in a row a job waits for its next time."""

_UNRECORDED_IF_EMPTY = frozenset({RunReason.SEGMENTS_DONE, RunReason.WAITING})
"""Runs for these reasons are recorded only if they did something."""


class RewriteResult(StrEnum):
    """The result of rewriting a node."""

    MADE = "made"
    REJECTED = "rejected"
    FAILED = "failed"
    NOTHING = "nothing"
    """There was nothing to do, or the node changed meanwhile."""


@dataclass(frozen=True, slots=True)
class DueJob:
    """A job that should run now."""

    job: Job
    reason: RunReason


@dataclass(slots=True)
class _Run:
    number: int
    began_at: datetime
    reason: RunReason
    is_forced: bool
    """True if the job is paused: then it was requested."""
    errors: dict[str, str] = field(default_factory=dict)
    """By node; nodes that succeeded in a later attempt are left out."""
    has_worked: bool = False


class JobScheduler:
    """The state of the jobs: due, running, paused."""

    def __init__(self, plan: Schedules) -> None:
        self._schedules = plan
        self._opened_at: datetime | None = None
        self._runs: dict[Job, _Run] = {}
        self._ended: dict[Job, datetime] = {}
        self._not_due: dict[Job, tuple[datetime, datetime]] = {}
        self._paused: set[Job] = set()
        self._after_segments: set[Job] = set()
        self._has_changes = True

    def next_due(self, now: datetime) -> DueJob | None:
        """Return the next job that is due and does not run yet."""
        with database.connection():
            self._open(now)
            states = jobs.get_states()
            self._update_paused(states)
            requests = {job: at for job in Job if (at := states[job].requested_at)}
            for job in sorted(requests, key=lambda job: requests[job]):
                if job not in self._runs:
                    return DueJob(job, RunReason.REQUESTED)
            free = [job for job in ROLLUP_JOBS if job not in self._runs]
            free = [job for job in free if job not in self._paused]
            for job in free:
                if at := self._missed_time(job, states[job], now):
                    return DueJob(job, self._reason(at, now))
        for job in free:
            if job in self._after_segments:
                return DueJob(job, RunReason.SEGMENTS_DONE)
        return None

    def is_paused(self, job: Job) -> bool:
        with database.connection():
            return jobs.get_states()[job].is_paused

    def is_running(self, job: Job) -> bool:
        return job in self._runs

    def is_held(self, job: Job) -> bool:
        """Return whether a job is paused and was not requested."""
        run = self._runs.get(job)
        return self.is_paused(job) and not (run and run.is_forced)

    def begin(self, job: Job, reason: RunReason, now: datetime) -> None:
        if job in self._runs:
            raise RuntimeError(f"{job} runs already")
        is_paused = self.is_paused(job)
        with database.connection():
            self._open(now)
            with database.transaction():
                number = jobs.start_run(job, reason, to_ms(now))
        self._runs[job] = _Run(number, now, reason, is_paused)
        self._after_segments.discard(job)

    def record(
        self,
        job: Job,
        now: datetime,
        result: RewriteResult = RewriteResult.NOTHING,
        *,
        name: str = "",
        error: str = "",
    ) -> None:
        """Record the result for a node, and the number of nodes left."""
        run = self._runs[job]
        if name:
            run.has_worked = True
            run.errors.pop(name, None)
        if error and result is not RewriteResult.REJECTED:
            run.errors[name] = error
        with database.connection():
            waiting = queues.count_rewrites(job.level)
        self.update(
            job,
            now,
            made=result is RewriteResult.MADE,
            rejected=result is RewriteResult.REJECTED,
            failed=result is RewriteResult.FAILED,
            waiting=waiting,
        )

    def update(
        self,
        job: Job,
        now: datetime,
        *,
        made: int = 0,
        rejected: int = 0,
        failed: int = 0,
        waiting: int | None = None,
    ) -> None:
        counts = jobs.RunProgress(made, rejected, failed)
        with database.transaction():
            jobs.update_run(self._runs[job].number, to_ms(now), counts, waiting)
        if job is Job.SEGMENTS and made:
            self._has_changes = True

    def end(self, job: Job, result: RunResult, now: datetime, error: str = "") -> None:
        """Record the end of a run; ``STOPPED`` if the program or the job stopped it."""
        run = self._runs.pop(job)
        self._ended[job] = now
        self._not_due.pop(job, None)
        if result is RunResult.DONE and run.reason is RunReason.REQUESTED:
            error = error or _explain_nothing_done(job, run)
        error = next(filter(None, [error, *reversed(run.errors.values())]), "")
        if error and result is RunResult.DONE:
            result = RunResult.FAILED
        times = self._schedules.for_job(job)
        skipped = times.count(run.began_at, now) if times else 0
        with database.transaction():
            jobs.end_run(run.number, result, to_ms(now), error=error, skipped=skipped)
            if run.reason in _UNRECORDED_IF_EMPTY:
                jobs.delete_empty_run(run.number)

    def note_change(self) -> None:
        self._has_changes = True

    def segments_done(self) -> None:
        """Note that no segment waits, so that the roll-ups become due.

        Further calls have no effect until something changed.
        """
        if self._has_changes:
            self._after_segments.update(ROLLUP_JOBS)
            self._has_changes = False

    def _open(self, now: datetime) -> None:
        """At the start, mark interrupted runs and request the requested ones again."""
        if self._opened_at is not None:
            return
        with database.transaction():
            jobs.interrupt_runs()
            jobs.activate(ROLLUP_JOBS, to_ms(now))
            states = jobs.get_states()
            for job in Job:
                if self._must_resume(job) and not states[job].is_paused:
                    jobs.request_run(job, to_ms(now))
        self._opened_at = now

    def _must_resume(self, job: Job) -> bool:
        """Return whether the last run was requested and interrupted."""
        recent = jobs.list_runs(job, MAX_INTERRUPTED)
        if (
            not recent
            or recent[0].is_over
            or recent[0].reason is not RunReason.REQUESTED
        ):
            return False
        return self._gave_up_at(job) is None

    def _gave_up_at(self, job: Job) -> datetime | None:
        """Return when a job was interrupted once too often to be resumed, if it was."""
        recent = jobs.list_runs(job, MAX_INTERRUPTED)
        broken = [run for run in recent if run.result is RunResult.INTERRUPTED]
        return recent[0].ended_at if len(broken) == MAX_INTERRUPTED else None

    def _update_paused(self, states: dict[Job, JobState]) -> None:
        paused = {job for job in Job if states[job].is_paused}
        for job in self._paused - paused:
            # Runs stopped by the pause are made up for.
            self._ended.pop(job, None)
            self._not_due.pop(job, None)
        self._paused = paused

    def _missed_time(self, job: Job, state: JobState, now: datetime) -> datetime | None:
        """Return the latest scheduled time since the job last ran, if there is one."""
        looked_at, until = self._not_due.get(job, (now, now))
        if looked_at <= now < until:
            return None
        times = self._schedules.for_job(job)
        if times is None:
            return None
        over = jobs.last_finished_run(job, to_ms(now))
        since = [state.active_since, self._ended.get(job), self._gave_up_at(job)]
        since.append(over.ended_at if over else None)
        known = [at for at in since if at and at <= now]
        at = times.last_missed(max(known), now) if known else None
        if at is None:
            self._not_due[job] = now, times.next_run(now)
        return at

    def _reason(self, at: datetime, now: datetime) -> RunReason:
        assert self._opened_at is not None
        is_late = at < self._opened_at or now - at > LATE_AFTER
        return RunReason.MISSED if is_late else RunReason.SCHEDULE


def _explain_nothing_done(job: Job, run: _Run) -> str:
    """Return why a requested run did nothing although nodes are queued."""
    with database.connection():
        if run.has_worked or not queues.count_rewrites(job.level):
            return ""
        waiting = queues.count_rewrites(TocLevel.SEGMENT)
    if waiting and job is not Job.SEGMENTS:
        return f"lower levels come first: {waiting:,} segments are pending"
    return "the queued periods are not over yet, or are retried later"
