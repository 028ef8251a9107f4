"""The jobs of the model and their runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.errors import UsageError
from memtui.model.calendar import TocLevel

ALL_JOBS = "all"
"""The name that stands for all jobs."""

_ROLL_UP = "rollup_"


class Job(StrEnum):
    """A job of the model."""

    SEGMENTS = "segments"
    """Versions of segments; it has no schedule and runs whenever there is work."""
    DAY = "rollup_day"
    WEEK = "rollup_week"
    MONTH = "rollup_month"
    YEAR = "rollup_year"

    @property
    def level(self) -> TocLevel:
        if self is Job.SEGMENTS:
            return TocLevel.SEGMENT
        return TocLevel(self.value.removeprefix(_ROLL_UP))


ROLLUP_JOBS = (Job.DAY, Job.WEEK, Job.MONTH, Job.YEAR)
"""The jobs with a schedule, from the bottom up: each builds on the one before."""


class RunReason(StrEnum):
    """Why a job runs."""

    SCHEDULE = "schedule"
    """Its scheduled time has come."""
    REQUESTED = "requested"
    MISSED = "missed"
    """Its scheduled time passed while memtui did not run."""
    SEGMENTS_DONE = "segments done"
    """All segments are written, so that they can be rolled up."""
    WAITING = "waiting"
    """Segments wait."""
    UNKNOWN = "unknown"
    """The reason was stored by another version of memtui."""

    @classmethod
    def _missing_(cls, value: object) -> "RunReason":
        return cls.UNKNOWN


class RunResult(StrEnum):
    """The result of a run."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The user paused it or quit."""
    INTERRUPTED = "interrupted"
    """The process ended abruptly."""
    UNKNOWN = "unknown"
    """The result was stored by another version of memtui."""

    @classmethod
    def _missing_(cls, value: object) -> "RunResult":
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job."""

    job: Job
    reason: RunReason
    started_at: datetime
    heartbeat_at: datetime
    """The last sign of life."""
    ended_at: datetime | None
    """None while it runs."""
    result: RunResult | None
    """None while it runs."""
    error: str
    created: int
    """Versions that are shown now."""
    rejected: int
    """Versions that their sources do not support."""
    failed: int
    """Nodes for which no version could be made."""
    waiting: int
    """The amount left at the last sign of life."""
    skipped: int
    """The number of scheduled times that passed while it ran."""

    @property
    def took_s(self) -> float:
        until = self.ended_at or self.heartbeat_at
        return max(0.0, (until - self.started_at).total_seconds())

    @property
    def is_over(self) -> bool:
        """True if it succeeded or failed, and need not be repeated."""
        return self.result in (RunResult.DONE, RunResult.FAILED)


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job."""

    is_paused: bool = False
    requested_at: datetime | None = None
    """The time of a request for a run that has not started yet."""
    active_since: datetime | None = None
    """Since when its schedule is followed; None if it never was."""


def find_job(word: str) -> Job:
    """Return the job of a name; for a roll-up the level is enough.

    Raises:
        UsageError: There is no such job; the message lists all jobs.
    """
    try:
        return Job(word if word in set(Job) else _ROLL_UP + word)
    except ValueError:
        known = ", ".join(Job)
        raise UsageError(f"there is no job {word!r}: {known}") from None


def find_jobs(words: Sequence[str]) -> list[Job]:
    """Return the jobs of some names, or of ``all``, each once in order.

    Raises:
        UsageError: There is no job of one of the names.
    """
    if ALL_JOBS in words:
        return list(Job)
    found = {find_job(word) for word in words}
    return [job for job in Job if job in found]
