"""The jobs of the model, their runs and their schedules; and the state of the model.

A schedule is a cron expression in the store's time zone. Its times are in UTC, since
local ones are out of order in the hour that occurs twice. A time that a change of
clocks skips comes as soon as possible; one that occurs twice comes once, the first
time, unless the expression means every hour.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

from memtui.errors import UsageError
from memtui.model.calendar import TocLevel
from memtui.model.events import content_hash

if TYPE_CHECKING:
    from cronsim import CronSim


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
    """The reason for a run of a job."""

    SCHEDULE = "schedule"
    """Its scheduled time has come, or passed while it could not run."""
    REQUESTED = "requested"
    PENDING = "pending"
    """Segments are pending; or all are written, so that they can be rolled up."""


class RunResult(StrEnum):
    """The result of a run."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The user paused it or quit."""
    INTERRUPTED = "interrupted"
    """The process ended abruptly."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job."""

    job: Job
    reason: RunReason
    started_at: datetime
    heartbeat_at: datetime
    """The last sign of life."""
    ended_at: datetime | None = None
    """None while it runs."""
    result: RunResult | None = None
    """None while it runs."""
    error: str = ""
    created: int = 0
    """Versions that are shown now."""
    rejected: int = 0
    """Versions that their sources do not support."""
    failed: int = 0
    """Nodes for which no version could be made."""
    waiting: int = 0
    """The amount left at the last sign of life."""
    skipped: int = 0
    """The number of scheduled times that passed while it ran."""
    withheld: Mapping[str, int] = field(default_factory=dict)
    """The number of lines that are withheld, by reason."""

    @property
    def took_s(self) -> float:
        until = self.ended_at or self.heartbeat_at
        return max(0.0, (until - self.started_at).total_seconds())


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job."""

    is_paused: bool = False
    requested_at: datetime | None = None
    """The time of a request for a run that is not over yet."""
    since: datetime | None = None
    """The time from which its schedule is followed: the end of its last run, or the
    first start of memtui; None before that."""


def find_job(word: str) -> Job:
    """Return the job of a name; for a roll-up the level is enough.

    Raises:
        UsageError: There is no such job; the message lists all jobs.
    """
    try:
        return Job(word if word in set(Job) else _ROLL_UP + word)
    except ValueError:
        raise UsageError(f"there is no job {word!r}: {', '.join(Job)}") from None


def find_jobs(words: Sequence[str]) -> list[Job]:
    """Return the jobs of some names, or of ``all``, each once in order.

    Raises:
        UsageError: There is no job of one of the names.
    """
    if ALL_JOBS in words:
        return list(Job)
    named = {find_job(word) for word in words}
    return [job for job in Job if job in named]


# Schedules

CRON_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")

MAX_SKIPPED = 1000
"""The maximum count of skipped times of a schedule."""

_ANY_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""From where the first time of an expression is searched."""


@dataclass(frozen=True, slots=True)
class JobSchedule:
    """The schedule of one job of one store."""

    job: Job
    cron: str
    zone: tzinfo
    jitter_s: int
    """The maximum delay of a run, in seconds."""
    store: str
    """The identity of the store."""

    def next_run(self, after: datetime) -> datetime:
        """Return the first time strictly after this one, in UTC.

        Raises:
            ValueError: The expression is invalid.
        """
        for at in self._iterate(after - timedelta(seconds=self.jitter_s)):
            if (delayed := self._with_jitter(at)) > after:
                return delayed
        raise ValueError(f"{self.cron!r} never comes")

    def is_due(self, since: datetime, now: datetime) -> bool:
        """Return whether a time came after one, up to now."""
        return self.next_run(since) <= now

    def count(self, after: datetime, until: datetime) -> int:
        """Count the times after one and up to another, up to a maximum."""
        for number in range(MAX_SKIPPED):
            after = self.next_run(after)
            if after > until:
                return number
        return MAX_SKIPPED

    def describe(self) -> str:
        """Return the expression in words: ``at 01:00 every day``."""
        words = _times(self.cron, _ANY_TIME).explain()
        return f"{words[:1].lower()}{words[1:]}"

    def _with_jitter(self, at: datetime) -> datetime:
        """Return a time with its delay, so that many stores do not start together.

        The delay follows from the store, the job and the time: the status, the
        scheduler and a restarted memtui must agree, or a run is shown wrongly, run
        twice or believed to be missed. It never reaches the next time.
        """
        following = next(self._iterate(at), at + timedelta(days=1))
        max_s = min(self.jitter_s, int((following - at).total_seconds()) - 1)
        random = int(content_hash(self.store, self.job, at.isoformat()), 16)
        return at + timedelta(seconds=random % (max_s + 1))

    def _iterate(self, after: datetime) -> Iterator[datetime]:
        """Yield the times of the expression strictly after a time, without delay."""
        last = after
        for local in _times(self.cron, after.astimezone(self.zone)):
            at = local.astimezone(UTC)
            if at > last:
                last = at
                yield at


Schedules = Mapping[Job, JobSchedule]
"""The schedules of the roll-ups of one store."""


def _times(cron: str, start: datetime) -> "CronSim":
    """Return an iterator over the times of a cron expression."""
    from cronsim import CronSim  # not needed at the start

    return CronSim(cron, start)


def find_cron_error(cron: str) -> str:
    """Return what is wrong with a cron expression; "" if it is valid."""
    from cronsim import CronSimError  # not needed at the start

    fields = len(cron.split())
    if fields not in (5, 6):
        names = ", ".join(CRON_FIELDS)
        return f"it has {fields} of five fields: {names}; before them may be second"
    try:
        times = _times(cron, _ANY_TIME)
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-of-", " of the ")
        return f"that is no {field}"
    except (ValueError, AssertionError):
        return "it cannot be read"
    return "" if next(times, None) else "it never comes"


# The state of the model, and its progress


class ModelCondition(StrEnum):
    """The condition of a model."""

    READY = "ready"
    OFFLINE = "offline"
    """The server does not answer."""
    MODEL_MISSING = "model missing"
    """The server has no suitable model."""
    REFUSED = "refused"
    """It must not be used: another host, or a model not on this machine."""
    RESTING = "resting"
    """It failed too often and is used again later."""
    FAULTY = "faulty"
    """It answers, but wrongly."""


PULL = "ollama pull qwen3:4b-instruct"
"""The command that gets a model that summarizes well and does not think aloud."""

_ADVICE = {
    ModelCondition.OFFLINE: (
        f"start Ollama, or install it from ollama.com, then: {PULL}"
    ),
    ModelCondition.MODEL_MISSING: PULL,
    ModelCondition.REFUSED: (
        "set summaries.url and summaries.model to a server and a model of this machine;"
        " or, if the text of conversations may be sent elsewhere, add that machine to"
        " summaries.allowed_hosts"
    ),
    ModelCondition.FAULTY: "check that the server is Ollama, and read its log",
}


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """The condition of a model, with details."""

    condition: ModelCondition
    message: str = ""
    """A message for the user, as a sentence; "" if there is no problem."""
    remedy: str = ""
    """A remedy for this problem: a command or a sentence; "" for the usual one."""
    model: str = ""
    digest: str = ""
    server: str = ""
    window_tokens: int = 0
    is_loaded: bool = False
    """True if it is in memory; ``on_cpu`` is known only then."""
    on_cpu: bool = False
    """True if it runs without a graphics card."""
    retry_after_s: float = 0.0
    """After how many seconds to ask again; 0 for any time."""

    @property
    def is_ready(self) -> bool:
        return self.condition is ModelCondition.READY

    @property
    def advice(self) -> str:
        """Return how to make the model usable; "" if there is nothing to do."""
        return self.remedy or _ADVICE.get(self.condition, "")

    @property
    def summary(self) -> str:
        """The condition and the advice in one line."""
        message = self.message or self.condition.value
        if not self.advice:
            return message
        return f"{message.removesuffix('.')}; try: {self.advice}"


@dataclass(frozen=True, slots=True)
class RewriteForecast:
    """A forecast for a requested version."""

    message: str
    """A sentence or two on when it will be written, or why it will not."""
    is_possible: bool = True
    """True if it will be written, as far as is known."""


class ModelPhase(StrEnum):
    """The present activity of a model."""

    WAITING = "waiting"
    """It waits for a retry."""
    LOADING = "loading"
    READING = "reading"
    WRITING = "writing"
    CHECKING = "checking"
    """Its draft is checked against the source."""


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """The progress of one summary."""

    phase: ModelPhase
    part: int = 1
    parts: int = 1
    written: int = 0
    """The tokens of this part's reply so far."""
    limit: int = 0
