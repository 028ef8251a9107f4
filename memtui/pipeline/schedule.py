"""When the model's jobs run: asked between two pieces of work, by one thread.

What a person asked for comes first, then the times that have come, from the days up,
then roll-ups of what has just been summarised. A time that passes while its job runs
is skipped and counted. A paused job runs only if it is asked for by name.

Made anew by whoever takes the claim to work: what was missed till then is made up for
once, and a run that ends as stopped is not taken up again before the next one is made.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memtui.model.events import to_ms
from memtui.model.jobs import ROLLUP_JOBS, Job, JobState, RunReason, RunResult
from memtui.model.schedule import Schedules
from memtui.store import database, jobs

LATE = timedelta(hours=1)
"""A run that begins later than this after its time makes up for one that was missed."""

TRIES = 3
"""After so many runs in a row that were broken off a job waits for its next time."""

_PASSING = frozenset({RunReason.SEGMENTS_DONE, RunReason.WAITING})
"""Runs for these reasons are remembered only if they did something."""


@dataclass(frozen=True, slots=True)
class Due:
    """A job that is to run now."""

    job: Job
    reason: RunReason


class Schedule:
    """Says what is due, and remembers what runs."""

    def __init__(self, plan: Schedules) -> None:
        """Remember the times; nothing is read yet."""
        self._plan = plan
        self._opened_at: datetime | None = None
        self._runs: dict[Job, tuple[int, datetime, RunReason]] = {}
        self._ended: dict[Job, datetime] = {}
        self._quiet: dict[Job, tuple[datetime, datetime]] = {}
        self._paused: set[Job] = set()
        self._drained: set[Job] = set()
        self._has_news = True

    def due(self, now: datetime) -> Due | None:
        """What is to run now, of what does not run already; None if nothing is."""
        with database.connection():
            self._open(now)
            states = jobs.get_states()
            self._see_paused(states)
            asked = {job: at for job in Job if (at := states[job].requested_at)}
            for job in sorted(asked, key=lambda job: asked[job]):
                if job not in self._runs:
                    return Due(job, RunReason.REQUESTED)
            free = [job for job in ROLLUP_JOBS if job not in self._runs]
            free = [job for job in free if job not in self._paused]
            for job in free:
                if at := self._passed(job, states[job], now):
                    return Due(job, self._reason(at, now))
        for job in free:
            if job in self._drained:
                return Due(job, RunReason.SEGMENTS_DONE)
        return None

    def is_paused(self, job: Job) -> bool:
        """Whether a person wants a job to rest."""
        with database.connection():
            return jobs.get_states()[job].is_paused

    def is_running(self, job: Job) -> bool:
        """Whether a run of a job was begun and not ended."""
        return job in self._runs

    def is_asked(self, job: Job) -> bool:
        """Whether a run of it goes on that a person asked for."""
        return job in self._runs and self._runs[job][2] is RunReason.REQUESTED

    def begin(self, job: Job, reason: RunReason, now: datetime) -> None:
        """Remember that a job runs from now on."""
        if job in self._runs:
            raise RuntimeError(f"{job} runs already")
        with database.connection():
            self._open(now)
            with database.transaction():
                number = jobs.start_run(job, reason, to_ms(now))
        self._runs[job] = number, now, reason
        self._drained.discard(job)

    def noted(
        self,
        job: Job,
        now: datetime,
        *,
        made: int = 0,
        rejected: int = 0,
        failed: int = 0,
        waiting: int | None = None,
    ) -> None:
        """Remember what a run did since it last told, and that it goes on.

        Args:
            job: The job that runs.
            now: The time.
            made: Versions that became current.
            rejected: Versions that did not stand up to their sources.
            failed: Nodes of which no version could be made.
            waiting: What is left to do; None if that is not known.
        """
        counts = jobs.RunProgress(made, rejected, failed)
        with database.transaction():
            jobs.update_run(self._runs[job][0], to_ms(now), counts, waiting)
        if job is Job.SEGMENTS and made:
            self._has_news = True

    def end(self, job: Job, result: RunResult, now: datetime, error: str = "") -> None:
        """Remember what came of a run.

        Args:
            job: The job that ran.
            result: ``STOPPED`` if it need not have ended: somebody leaves or paused it.
            now: The time.
            error: What went wrong, as a reader is told it.
        """
        number, began_at, reason = self._runs.pop(job)
        self._ended[job] = now
        self._quiet.pop(job, None)
        times = self._plan.for_job(job)
        skipped = times.count(began_at, now) if times else 0
        with database.transaction():
            jobs.end_run(number, result, to_ms(now), error=error, skipped=skipped)
            if reason in _PASSING:
                jobs.delete_empty_run(number)

    def heard(self) -> None:
        """Say that something is left to be rolled up that no run will come to."""
        self._has_news = True

    def drained(self) -> None:
        """Say that no segment waits: what has come of them can be rolled up now.

        Roll-ups become due by this once, and once more whenever a segment was made
        since, or ``heard`` was said; so it may be said as often as nothing waits.
        """
        if self._has_news:
            self._drained.update(ROLLUP_JOBS)
            self._has_news = False

    def _open(self, now: datetime) -> None:
        """Once, note what was broken off, and ask again for what was asked for."""
        if self._opened_at is not None:
            return
        with database.transaction():
            jobs.interrupt_runs()
            jobs.activate(ROLLUP_JOBS, to_ms(now))
            states = jobs.get_states()
            for job in Job:
                if self._is_owed(job) and not states[job].is_paused:
                    jobs.request_run(job, to_ms(now))
        self._opened_at = now

    def _is_owed(self, job: Job) -> bool:
        """Whether the last run was asked for and did not come to its end."""
        recent = jobs.list_runs(job, TRIES)
        if (
            not recent
            or recent[0].is_over
            or recent[0].reason is not RunReason.REQUESTED
        ):
            return False
        return self._given_up(job) is None

    def _given_up(self, job: Job) -> datetime | None:
        """When a job was given up that is broken off again and again; None if not."""
        recent = jobs.list_runs(job, TRIES)
        broken = [run for run in recent if run.result is RunResult.INTERRUPTED]
        return recent[0].ended_at if len(broken) == TRIES else None

    def _see_paused(self, states: dict[Job, JobState]) -> None:
        paused = {job for job in Job if states[job].is_paused}
        for job in self._paused - paused:
            # What was stopped by the pause is made up for.
            self._ended.pop(job, None)
            self._quiet.pop(job, None)
        self._paused = paused

    def _passed(self, job: Job, state: JobState, now: datetime) -> datetime | None:
        """The time of a job that has come since it last ran; None if none has."""
        looked_at, until = self._quiet.get(job, (now, now))
        if looked_at <= now < until:
            return None
        times = self._plan.for_job(job)
        if times is None:
            return None
        over = jobs.last_finished_run(job, to_ms(now))
        since = [state.active_since, self._ended.get(job), self._given_up(job)]
        since.append(over.ended_at if over else None)
        known = [at for at in since if at and at <= now]
        at = times.last_missed(max(known), now) if known else None
        if at is None:
            self._quiet[job] = now, times.next_run(now)
        return at

    def _reason(self, at: datetime, now: datetime) -> RunReason:
        assert self._opened_at is not None
        is_late = at < self._opened_at or now - at > LATE
        return RunReason.MISSED if is_late else RunReason.SCHEDULE
