"""nodes → better versions by a model, one at a time, as long as there is one.

A person's own wish comes first, then the roll-ups that are due, from the days up, then
the segments, the newest first. Whatever goes wrong, what was made at once stays.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from memtui.llm import Summarizer
from memtui.llm.faults import Cancelled
from memtui.memory import calendar
from memtui.memory.events import to_ms
from memtui.memory.jobs import ROLL_UPS, Job, Reason, Result
from memtui.memory.segments import Rules
from memtui.memory.summarizers import Condition, Doing
from memtui.memory.toc import TocLevel
from memtui.stages.changes import Changes
from memtui.stages.finding import LOOK_AGAIN, Finder
from memtui.stages.progress import Model
from memtui.stages.rewrite import Kind, Rewrite
from memtui.stages.runs import Runs
from memtui.stages.schedule import Due, Schedule
from memtui.store import database, dirty, wanted

AGES = {
    TocLevel.DAY: timedelta(hours=1),
    TocLevel.WEEK: timedelta(hours=24),
    TocLevel.MONTH: timedelta(hours=24),
    TocLevel.YEAR: timedelta(days=7),
}
"""How long a period must be over before a model sums it up (decisions §7)."""

LONGEST_REST = timedelta(minutes=30)

OPEN_PERIODS = 2
"""How many nodes of a level may begin long enough ago and not be over long enough."""


MakeSummarizer = Callable[[Callable[[Doing], None]], Summarizer]
"""Makes a summariser that tells how far it is."""


class Improve:
    """Gives nodes versions by a model."""

    def __init__(
        self,
        make: MakeSummarizer,
        schedule: Schedule,
        rules: Rules,
        zone: tzinfo,
        clock: Callable[[], datetime],
        told: Callable[[], None] = lambda: None,
        *,
        is_wanted: bool = False,
    ) -> None:
        """Remember who summarises, and who says when.

        Args:
            make: Makes who does; told whom to tell how far it is.
            schedule: Says which job runs.
            rules: How segments were cut.
            zone: The time zone whose days are meant.
            clock: The time, aware.
            told: Called whenever ``model`` is another; it must not take long.
            is_wanted: Whether the want of the model is to be told.
        """
        self._summarizer = summarizer = make(self.doing)
        self._schedule, self._told = schedule, told
        self._runs = Runs(schedule, clock)
        self._zone, self._clock = zone, clock
        self._rewrite = Rewrite(summarizer, rules, zone, clock, self.doing)
        self._finder = Finder(summarizer, zone, clock)
        self._rests_until: datetime | None = None
        self._looked_ms = 0
        self._maker = ""
        self.model = Model(is_wanted=is_wanted)
        """How it is, and what it does now."""
        self.changed = Changes()

    def doing(self, doing: Doing) -> None:
        """Note how far the summary has come."""
        self._show(self.model.at(doing))

    def stop(self) -> None:
        """Call off what the model does, for good; from any thread."""
        self._summarizer.cancel()

    def leave(self) -> None:
        """End what runs: somebody quits, and nothing steps any more."""
        for job in Job:
            if self._schedule.is_running(job):
                self._runs.end(job, Result.STOPPED)

    def _show(self, model: Model) -> None:
        self.model = model
        self._told()

    def step(self) -> int:
        """Improve one node; how many were tried."""
        now = self._clock()
        self._see_pause()
        due = self._schedule.due(now)
        is_asked = due is not None and due.reason is Reason.ASKED
        if self._is_resting(now) and not (is_asked or self._is_new_wish()):
            return 0
        ahead = self._ahead(now)
        if not due and not ahead:
            if self.model.is_missed:
                self._show(replace(self.model, health=None))
            if not self._is_waiting():
                self._schedule.drained()
            return 0
        if due and not is_asked and self._is_idle(due.job, now):
            self._schedule.begin(due.job, due.reason, now)
            self._runs.end(due.job, Result.DONE)
            return 0
        is_wish = ahead is not None and ahead[0] is None
        if not self._is_ready(now, is_wish=is_wish):
            self._give_up(due, now)
            return 0
        if due:
            self._runs.begin(due, now)
            ahead = self._ahead(now)
        if not ahead:
            return 0
        job, name = ahead
        if job is Job.SEGMENTS and not self._schedule.is_running(job):
            self._runs.begin(Due(job, Reason.WAITING), now)
        return self._improve(job, name)

    # What comes next

    def _ahead(self, now: datetime) -> tuple[Job | None, str] | None:
        """The next node and whose run it belongs to; ends the runs that are done."""
        with database.connected():
            if names := wanted.asked(to_ms(now), 1):
                return None, names[0]
            for job, is_held_up in self._open_jobs(now):
                if name := self._next(job, now):
                    return job, name
                if self._schedule.is_running(job) and not is_held_up:
                    self._runs.end(job, Result.DONE)
        return None

    def _open_jobs(self, now: datetime) -> Iterator[tuple[Job, bool]]:
        """The jobs that may go on, from the bottom up; whether each has to wait.

        What waits holds up all above it.
        """
        is_held_up = False
        for job in (*ROLL_UPS, Job.SEGMENTS):
            is_running = self._schedule.is_running(job)
            if self._runs.are_held(job):
                if is_running:
                    self._runs.end(job, Result.STOPPED)
            elif job is Job.SEGMENTS:
                yield job, False
            elif is_running and not is_held_up:
                is_held_up = self._must_wait(job, now)
                yield job, is_held_up

    def _is_idle(self, job: Job, now: datetime) -> bool:
        """Whether a run of a job would do nothing: then no model need be there."""
        below = ROLL_UPS[: ROLL_UPS.index(job)] if job in ROLL_UPS else ()
        if any(self._schedule.is_running(one) for one in below):
            return False
        with database.connected():
            if self._next(job, now):
                return False
            return job is Job.SEGMENTS or not wanted.are_dirty(
                job.level, self._begun_ms(job.level, now)
            )

    def _next(self, job: Job, now: datetime) -> str:
        now_ms = to_ms(now)
        if job is Job.SEGMENTS:
            return next(iter(wanted.segments(now_ms, 1)), "")
        level = job.level
        begun_ms = self._begun_ms(level, now)
        names = wanted.parents(level, now_ms, 1 + OPEN_PERIODS, before_ms=begun_ms)
        old = (name for name in names if self._is_old(name, now - AGES[level]))
        return next(old, "")

    def _must_wait(self, job: Job, now: datetime) -> bool:
        """Whether something is to be rolled up first, as it is at once."""
        if not wanted.are_dirty(job.level, self._begun_ms(job.level, now)):
            return False
        with database.writing():
            dirty.hasten()
        return True

    def _begun_ms(self, level: TocLevel, now: datetime) -> int:
        return to_ms(now - AGES[level])

    def _is_old(self, name: str, at: datetime) -> bool:
        return calendar.bounds(name, self._zone)[1] <= at

    def _is_waiting(self) -> bool:
        with database.connected():
            return wanted.are_untried(TocLevel.SEGMENT)

    def _see_pause(self) -> None:
        """Note how many segments wait for nothing but their job's being resumed."""
        paused = 0
        if self._schedule.is_paused(Job.SEGMENTS):
            with database.connected():
                paused = wanted.count(TocLevel.SEGMENT)
        if paused != self.model.paused:
            self._show(replace(self.model, paused=paused))

    def _is_new_wish(self) -> bool:
        """Whether a person asked for a node since the model was last looked at."""
        with database.connected():
            return wanted.last_asked_ms() > self._looked_ms

    def _is_ready(self, now: datetime, *, is_wish: bool = False) -> bool:
        """Whether the model can be asked; if not, it is left alone for a while.

        A poor one is asked for what a person wants of it.
        """
        self._looked_ms = to_ms(now)
        self._show(self._finder.look(self.model))
        health = self.model.health
        assert health is not None
        if not (health.is_ready or (health.is_poor and is_wish)):
            self._rest(health.retry_s)
            return False
        self._rests_until = None
        maker = self._summarizer.identity.split(" ")[0] + " "
        if maker != self._maker:
            with database.writing():
                wanted.want_made_otherwise(maker)
            self._maker = maker
        return True

    def _is_resting(self, now: datetime) -> bool:
        until = self._rests_until
        return until is not None and now < until <= now + LONGEST_REST

    def _rest(self, seconds: float) -> None:
        rest = max(timedelta(seconds=seconds), LOOK_AGAIN)
        self._rests_until = self._clock() + min(rest, LONGEST_REST)

    def _give_up(self, due: Due | None, now: datetime) -> None:
        """End what runs, and say why it cannot be done to a person who asked.

        What only has to rest goes on after it; what is ended becomes due again.
        """
        health = self.model.health
        says = health.told if health else ""
        if due and due.reason is Reason.ASKED:
            self._runs.begin(due, now)
            self._runs.end(due.job, Result.FAILED, says)
        if health and health.condition is Condition.RESTING:
            return
        for job in Job:
            if self._schedule.is_running(job):
                self._runs.end(job, Result.FAILED, says)
                self._schedule.heard()

    def _improve(self, job: Job | None, name: str) -> int:
        with database.connected():
            waiting = wanted.count(calendar.period(name).level)
        self._show(self.model.of(name, waiting, self._clock()))
        try:
            outcome = self._rewrite.run(name, is_asked=job is None)
        except Cancelled:
            self.leave()
            return 0
        finally:
            self._show(self.model.resting())
        self.changed.update(outcome.changed)
        if outcome.rest_s is not None:
            self._show(self._finder.look(self.model))
            self._rest(outcome.rest_s)
        if job:
            self._runs.note(job, name, outcome)
        elif outcome.kind is Kind.MADE:
            self._schedule.heard()
        return 1
