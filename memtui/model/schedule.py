"""When roll-ups are due: cron expressions, followed in the store's time zone.

Pure: every process that asks about the same store and time gets the same answer. Times
are told in UTC, since local ones are out of order in the hour that comes twice. A time
that a change of clocks leaves out comes as soon as there is one again, and one that it
brings twice comes once, the first time, unless the expression means every hour.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice

from cronsim import CronSim, CronSimError

from memtui.model import hashing
from memtui.model.jobs import Job

CRON_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
"""What a cron expression tells, in its order."""

MAX_COUNTED = 1000
"""More times than this that passed are not told apart."""

_SECOND = timedelta(seconds=1)

_ANY_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the search for a time begins that any expression must have."""


@dataclass(frozen=True, slots=True)
class JobSchedule:
    """The times of one job of one store."""

    job: Job
    cron: str
    zone: tzinfo
    jitter_s: int
    """How much later than its time a run may begin, in seconds."""
    store: str
    """What tells this store from others."""

    def next_run(self, after: datetime) -> datetime:
        """The first time strictly after this one, in UTC.

        Raises:
            ValueError: There is none: the expression is one that ``fault`` refuses.
        """
        before = self._last_cron(after)
        if before and (late := self._moved(before)) > after:
            return late
        for at in self._crons(after):
            return self._moved(at)
        raise ValueError(f"{self.cron!r} never comes")

    def last_due(self, before: datetime) -> datetime | None:
        """The last time up to this one, itself included, in UTC; None if none ever."""
        at = self._last_cron(before)
        if at and self._moved(at) > before:
            at = self._last_cron(at - _SECOND)
        return self._moved(at) if at else None

    def last_missed(self, since: datetime, now: datetime) -> datetime | None:
        """The last time that has come since something ran; None if none has."""
        due = self.last_due(now)
        return due if due and due > since else None

    def count(self, after: datetime, until: datetime) -> int:
        """How many times lie between two, the latter included; at most so many."""
        for number in range(MAX_COUNTED):
            after = self.next_run(after)
            if after > until:
                return number
        return MAX_COUNTED

    def describe(self) -> str:
        """The expression as a person says it: ``at 01:00 every day``."""
        said = CronSim(self.cron, _ANY_TIME).explain()
        return f"{said[:1].lower()}{said[1:]}"

    def _moved(self, at: datetime) -> datetime:
        """A time as it is kept: a little late, so that many stores do not meet.

        How late is drawn from the store, the job and the time, never by chance: a
        status, the loop and a memtui that was started again within these seconds must
        all name the same moment, or a run is shown wrongly, run twice or thought
        missed. It never reaches the next time, so that times stay in their order.
        """
        most_s = self.jitter_s
        for following in self._crons(at):
            most_s = min(most_s, int((following - at).total_seconds()) - 1)
            break
        drawn = int(hashing.content_hash(self.store, self.job, at.isoformat()), 16)
        return at + timedelta(seconds=drawn % (most_s + 1))

    def _crons(self, after: datetime) -> Iterator[datetime]:
        """What the expression itself says, strictly after a time, in order."""
        last = after
        for local in CronSim(self.cron, after.astimezone(self.zone)):
            at = local.astimezone(UTC)
            if at > last:
                last = at
                yield at

    def _last_cron(self, before: datetime) -> datetime | None:
        """The last of them up to a time.

        Going back misses some where clocks change; so it goes back twice, and from
        there on as everything else does.
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
    """The times of all jobs of one store."""

    crons: Mapping[Job, str]
    zone: tzinfo
    jitter_s: int
    store: str
    """What tells this store from others."""

    def for_job(self, job: Job) -> JobSchedule | None:
        """A job's times; None if it has none."""
        cron = self.crons.get(job)
        if cron is None:
            return None
        return JobSchedule(job, cron, self.zone, self.jitter_s, self.store)


def find_cron_error(cron: str) -> str:
    """What is wrong with a cron expression; "" if nothing is."""
    fields = len(cron.split())
    if fields != len(CRON_FIELDS):
        return f"it has {fields} of five fields: {', '.join(CRON_FIELDS)}"
    try:
        times = CronSim(cron, _ANY_TIME)
    except CronSimError as error:
        said = str(error).removeprefix("Bad ").replace("-of-", " of the ")
        return f"that is no {said}"
    except (ValueError, AssertionError):
        return "it cannot be read"
    return "" if next(times, None) else "it never comes"
