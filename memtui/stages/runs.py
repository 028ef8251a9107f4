"""The runs of the model's jobs: begun, and ended with what came of them."""

from collections.abc import Callable
from datetime import datetime

from memtui.memory.jobs import Job, Result
from memtui.memory.toc import TocLevel
from memtui.stages.rewrite import Kind, Outcome
from memtui.stages.schedule import Due, Schedule
from memtui.store import database, wanted


class Runs:
    """Remembers what went wrong in a run until it ends."""

    def __init__(self, schedule: Schedule, clock: Callable[[], datetime]) -> None:
        """Remember where runs are noted.

        Args:
            schedule: Says which job runs, and is told.
            clock: The time, aware.
        """
        self._schedule, self._clock = schedule, clock
        self._despite_pause: set[Job] = set()
        self._done: set[Job] = set()
        self._errors: dict[Job, dict[str, str]] = {job: {} for job in Job}

    def are_held(self, job: Job) -> bool:
        """Whether a job is paused, and did not begin in spite of it."""
        return self._schedule.is_paused(job) and job not in self._despite_pause

    def begin(self, due: Due, now: datetime) -> None:
        """Begin a run, paused or not: a person asked, or nothing holds it."""
        if self._schedule.is_paused(due.job):
            self._despite_pause.add(due.job)
        self._schedule.begin(due.job, due.reason, now)
        self._count(due.job, Kind.NOTHING)

    def note(self, job: Job, name: str, outcome: Outcome) -> None:
        """Note what came of a node."""
        self._errors[job].pop(name, None)
        if outcome.error and outcome.kind is not Kind.REJECTED:
            self._errors[job][name] = outcome.error
        self._done.add(job)
        self._count(job, outcome.kind)

    def end(self, job: Job, result: Result, error: str = "") -> None:
        """End a run; what was made after all in another try is no failure of it."""
        if result is Result.DONE and self._schedule.is_asked(job):
            error = error or self._why_nothing(job)
        self._despite_pause.discard(job)
        self._done.discard(job)
        errors = [*self._errors[job].values(), error]
        self._errors[job].clear()
        if any(errors) and result is Result.DONE:
            result = Result.FAILED
        said = next(filter(None, reversed(errors)), "")
        self._schedule.end(job, result, self._clock(), said)

    def _why_nothing(self, job: Job) -> str:
        """Why a run that a person asked for did nothing, though something waits."""
        with database.connected():
            if job in self._done or not wanted.count(job.level):
                return ""
            waiting = wanted.count(TocLevel.SEGMENT)
        if waiting and job is not Job.SEGMENTS:
            return f"what is below comes first: {waiting:,} segments wait"
        return "what waits is not over yet, or is tried again later"

    def _count(self, job: Job, kind: Kind) -> None:
        """Remember what came of a node, and how many are left."""
        with database.connected():
            waiting = wanted.count(job.level)
        self._schedule.noted(
            job,
            self._clock(),
            made=kind is Kind.MADE,
            rejected=kind is Kind.REJECTED,
            failed=kind is Kind.FAILED,
            waiting=waiting,
        )
