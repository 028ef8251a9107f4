"""Schedules of roll-ups: cron expressions in the store's time zone.

Times are in UTC, since local ones are out of order in the hour that occurs twice. A
time that a change of clocks skips comes as soon as possible; one that occurs twice
comes once, the first time, unless the expression means every hour.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice

from cronsim import CronSim, CronSimError

from memtui.model.events import content_hash
from memtui.model.jobs import Job

CRON_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")

MAX_MISSED = 1000
"""The maximum count of missed times."""

_SECOND = timedelta(seconds=1)

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
        before = self._last_cron(after)
        if before and (late := self._with_jitter(before)) > after:
            return late
        for at in self._crons(after):
            return self._with_jitter(at)
        raise ValueError(f"{self.cron!r} never comes")

    def last_due(self, before: datetime) -> datetime | None:
        """Return the last time up to this one, included, in UTC; None if none."""
        at = self._last_cron(before)
        if at and self._with_jitter(at) > before:
            at = self._last_cron(at - _SECOND)
        return self._with_jitter(at) if at else None

    def last_missed(self, since: datetime, now: datetime) -> datetime | None:
        due = self.last_due(now)
        return due if due and due > since else None

    def count(self, after: datetime, until: datetime) -> int:
        """Count the times after one and up to another, up to a maximum."""
        for number in range(MAX_MISSED):
            after = self.next_run(after)
            if after > until:
                return number
        return MAX_MISSED

    def describe(self) -> str:
        """Return the expression in words: ``at 01:00 every day``."""
        words = CronSim(self.cron, _ANY_TIME).explain()
        return f"{words[:1].lower()}{words[1:]}"

    def _with_jitter(self, at: datetime) -> datetime:
        """Return a time with its delay, so that many stores do not start together.

        The delay follows from the store, the job and the time: the status, the
        scheduler and a restarted memtui must agree, or a run is shown wrongly, run
        twice or believed to be missed. It never reaches the next time.
        """
        max_s = self.jitter_s
        for following in self._crons(at):
            max_s = min(max_s, int((following - at).total_seconds()) - 1)
            break
        random = int(content_hash(self.store, self.job, at.isoformat()), 16)
        return at + timedelta(seconds=random % (max_s + 1))

    def _crons(self, after: datetime) -> Iterator[datetime]:
        """Yield the times of the expression strictly after a time, without delay."""
        last = after
        for local in CronSim(self.cron, after.astimezone(self.zone)):
            at = local.astimezone(UTC)
            if at > last:
                last = at
                yield at

    def _last_cron(self, before: datetime) -> datetime | None:
        """Return the last of these times up to a time; None if there is none.

        Iterating backwards misses some times where clocks change; so this goes back
        two steps, and forward from there.
        """
        start = (before + _SECOND).astimezone(self.zone)
        back = list(islice(CronSim(self.cron, start, reverse=True), 2))
        last = None
        if back:
            for at in self._crons(back[-1].astimezone(UTC) - _SECOND):
                if at > before:
                    break
                last = at
        return last


@dataclass(frozen=True, slots=True)
class Schedules:
    """The schedules of all jobs of one store."""

    crons: Mapping[Job, str]
    zone: tzinfo
    jitter_s: int
    store: str
    """The identity of the store."""

    def for_job(self, job: Job) -> JobSchedule | None:
        cron = self.crons.get(job)
        if cron is None:
            return None
        return JobSchedule(job, cron, self.zone, self.jitter_s, self.store)


def find_cron_error(cron: str) -> str:
    """Return what is wrong with a cron expression; "" if it is valid."""
    fields = len(cron.split())
    if fields not in (5, 6):
        names = ", ".join(CRON_FIELDS)
        return f"it has {fields} of five fields: {names}; before them may be second"
    try:
        times = CronSim(cron, _ANY_TIME)
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-of-", " of the ")
        return f"that is no {field}"
    except (ValueError, AssertionError):
        return "it cannot be read"
    return "" if next(times, None) else "it never comes"
