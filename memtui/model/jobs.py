"""Jobs of the model: what they are called, why they run, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.errors import UsageError
from memtui.model.nodes import TocLevel

ALL_JOBS = "all"
"""What stands for all jobs."""

_ROLL_UP = "rollup_"


class Job(StrEnum):
    """What the model does."""

    SEGMENTS = "segments"
    """Better versions of segments, whenever there is something: it has no times."""
    DAY = "rollup_day"
    WEEK = "rollup_week"
    MONTH = "rollup_month"
    YEAR = "rollup_year"

    @property
    def level(self) -> TocLevel:
        """Whose versions it makes."""
        if self is Job.SEGMENTS:
            return TocLevel.SEGMENT
        return TocLevel(self.value.removeprefix(_ROLL_UP))


ROLLUP_JOBS = (Job.DAY, Job.WEEK, Job.MONTH, Job.YEAR)
"""The jobs that have times, from the bottom up: each builds on the one before it."""


class RunReason(StrEnum):
    """Why a job runs."""

    SCHEDULE = "schedule"
    """Its time has come."""
    REQUESTED = "asked"
    """A person asked for it."""
    MISSED = "missed"
    """Its time passed while memtui did not run, or could not."""
    SEGMENTS_DONE = "drained"
    """No segment waits any more, and what they say can be rolled up."""
    WAITING = "waiting"
    """Something waits: why segments are worked without being asked for."""


class RunResult(StrEnum):
    """What came of a run."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """By a person, who paused it or left."""
    INTERRUPTED = "broken off"
    """The process ended without a word."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job."""

    job: Job
    reason: RunReason
    started_at: datetime
    heartbeat_at: datetime
    """When it last gave a sign of life."""
    ended_at: datetime | None
    """None while it runs."""
    result: RunResult | None
    """None while it runs."""
    error: str
    created: int
    """Versions that became current."""
    rejected: int
    """Versions that did not stand up to their sources."""
    failed: int
    """Nodes of which no version could be made."""
    waiting: int
    """What was left when it last gave a sign of life."""
    skipped: int
    """How many of its times passed while it ran."""

    @property
    def took_s(self) -> float:
        """How long it took, or has taken when last seen, in seconds."""
        until = self.ended_at or self.heartbeat_at
        return max(0.0, (until - self.started_at).total_seconds())

    @property
    def is_over(self) -> bool:
        """Whether it came to its end, good or bad, and need not be made up for."""
        return self.result in (RunResult.DONE, RunResult.FAILED)


@dataclass(frozen=True, slots=True)
class JobState:
    """What a person wants of a job, and since when it has its times."""

    is_paused: bool = False
    requested_at: datetime | None = None
    """When "run now" was asked for, and not begun yet."""
    active_since: datetime | None = None
    """Times before this one were nobody's to keep; None if it was never looked at."""


def find_job(word: str) -> Job:
    """The job of a name; of a roll-up the level is enough.

    Raises:
        UsageError: There is none; names those there are.
    """
    try:
        return Job(word if word in set(Job) else _ROLL_UP + word)
    except ValueError:
        known = ", ".join(Job)
        raise UsageError(f"there is no job {word!r}: {known}") from None


def find_jobs(words: Sequence[str]) -> list[Job]:
    """The jobs of some names, each once, or of ``all``, in their own order.

    Raises:
        UsageError: One of them is no job's.
    """
    if ALL_JOBS in words:
        return list(Job)
    chosen = {find_job(word) for word in words}
    return [job for job in Job if job in chosen]
