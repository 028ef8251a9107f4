"""nodes → better versions by a model, one at a time, as long as there is one.

A person's own wish comes first, then the roll-ups that are due, from the days up, then
the segments, the newest first. Whatever goes wrong, what was made at once stays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from memtui.model import calendar
from memtui.model.events import to_ms
from memtui.model.jobs import ROLLUP_JOBS, Job, RunReason, RunResult
from memtui.model.model_state import ModelCondition, ModelPhase, ModelProgress
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.segments import SegmentRules
from memtui.model.summaries import GenerationStats, Summary
from memtui.pipeline import summarization
from memtui.pipeline.progress import ModelStatus
from memtui.pipeline.retries import next_retry_ms, try_item
from memtui.pipeline.schedule import Due, Schedule
from memtui.pipeline.summarization import Made, OfChildren, OfSegment
from memtui.pipeline.worker import ChangedNodes
from memtui.store import (
    database,
    grips,
    meta,
    nodes,
    outbox,
    rewrite_queue,
    rollup_queue,
    segments,
    sessions,
    versions,
)
from memtui.store.meta import ModelRecord
from memtui.summarize.ollama.errors import (
    CircuitOpenError,
    ContextOverflowError,
    EmptyLogError,
    InvalidReplyError,
    NotAllowedError,
    OllamaError,
    OutOfMemoryError,
    ReplyTooLongError,
    RequestCancelled,
    TransientError,
    UnsupportedModeError,
)
from memtui.summarize.summarizer import Summarizer

LOOK_AGAIN = timedelta(seconds=30)
"""How long to leave a summariser alone that cannot be asked."""


class Finder:
    """Looks how a summariser is, and writes down what is another since."""

    def __init__(
        self, summarizer: Summarizer, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to look at.

        Args:
            summarizer: Who summarises.
            zone: The store's time zone.
            clock: The time, aware.
        """
        self._summarizer, self._zone, self._clock = summarizer, zone, clock
        self._last: tuple[ModelCondition, str, datetime | None] | None = None

    def look(self, model: ModelStatus) -> ModelStatus:
        """The same model as it is found now, at rest, with how much waits for it."""
        health, until = self._summarizer.health(), None
        if health.condition is ModelCondition.RESTING:
            rest = max(timedelta(seconds=health.retry_after_s), LOOK_AGAIN)
            until = (self._clock() + rest).astimezone(self._zone)
        found = health.condition, health.message, until
        with database.connection():
            waiting = rewrite_queue.count(TocLevel.SEGMENT)
            if found != self._last:
                with database.transaction():
                    meta.set_model_record(ModelRecord(*found, self._clock()))
                self._last = found
        return replace(model.with_health(health), paused_until=until, pending=waiting)


LAST_WORDS = (InvalidReplyError, ContextOverflowError, ReplyTooLongError)
"""Faults that the same model would only repeat with the same text."""

OF_THE_TEXT = (TransientError, OutOfMemoryError, UnsupportedModeError)
"""Faults that may lie in the text: others are tried before it is tried again."""

PUT_OFF_S = 600.0
"""How much later what is above a node follows, in seconds: a model writes for hours,
and each of its versions would make four more."""

FORBIDDEN_S = 1800.0
"""How long to ask nothing of a server that passed a prompt on, or refused it."""

Work = OfSegment | OfChildren


class Kind(StrEnum):
    """What came of it."""

    MADE = "made"
    REJECTED = "rejected"
    FAILED = "failed"
    NOTHING = "nothing"
    """There was nothing to say, or something has changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one node."""

    kind: Kind
    error: str = ""
    rest_s: float | None = None
    """For how long nothing should be asked; None if it may be."""
    changed: frozenset[str] = frozenset()
    """The nodes whose line or page is another now."""


NOTHING = Outcome(Kind.NOTHING)


class Rewrite:
    """Lets a model write versions of nodes."""

    def __init__(
        self,
        summarizer: Summarizer,
        rules: SegmentRules,
        zone: tzinfo,
        clock: Callable[[], datetime],
        tell: Callable[[ModelProgress], None],
    ) -> None:
        """Remember who summarises, and whom to tell how far it is."""
        self._summarizer, self._rules = summarizer, rules
        self._zone, self._clock, self._tell = zone, clock, tell

    def run(self, name: str, *, is_asked: bool) -> Outcome:
        """Let the model write a version of a node.

        Args:
            name: The node.
            is_asked: Whether a person asked: then it is written anew even if there is
                one already that was made from the same.

        Raises:
            RequestCancelled: It was called off; the node is as it was.
        """
        with database.connection():
            work, shown = self._read(name), nodes.get(name)
            if work is None or shown is None:
                return self._done(name, Kind.NOTHING)
            attempt = self._attempt(work) if is_asked else 0
            if not is_asked and (kept := self._kept(work)):
                return kept
        draft = try_item(lambda: self._draft(work, attempt))
        if isinstance(draft, OllamaError):
            return self._failed(work, shown, draft, attempt)
        if isinstance(draft, Exception):
            return self._later(name, repr(draft))
        self._tell(ModelProgress(ModelPhase.AUDITING))
        digest = self._hash(work, attempt)
        identity = self._summarizer.identity
        with database.connection():
            made = try_item(lambda: work.made(draft, identity, digest, shown.headline))
        if isinstance(made, Exception):
            return self._later(name, repr(made))
        return self._keep(work, made)

    def _draft(self, work: Work, attempt: int) -> Summary | OllamaError:
        try:
            return work.draft(self._summarizer, attempt)
        except OllamaError as fault:
            return fault

    def _read(self, name: str) -> Work | None:
        """What a node is made from; None if there is nothing any more."""
        if calendar.period(name).level is not TocLevel.SEGMENT:
            work = summarization.parent(name, self._zone)
            return work if work.children else None
        stretch = segments.get(name)
        if stretch is None:
            return None
        told_in = sessions.get_many([stretch.number])
        return summarization.segment(stretch, told_in, self._rules)

    def _hash(self, work: Work, attempt: int = 0) -> str:
        return work.input_hash(self._summarizer.identity, attempt)

    def _attempt(self, work: Work) -> int:
        """Which attempt at the same comes next."""
        attempt = 0
        while versions.find_from_model(work.name, self._hash(work, attempt)):
            attempt += 1
        return attempt

    def _kept(self, work: Work) -> Outcome | None:
        """Show what the same model made of the same before, if it did."""
        before = versions.find_from_model(work.name, self._hash(work))
        if before is None:
            return None
        row, rejected = before
        if rejected:
            return self._done(work.name, Kind.NOTHING)
        with database.transaction():
            rewrite_queue.remove(work.name)
            versions.set_latest(work.name, row)
            return self._announced(work.name, Kind.MADE)

    def _keep(self, work: Work, made: Made) -> Outcome:
        name, node = work.name, made.node
        now_ms = to_ms(self._clock())
        with database.transaction():
            fresh = self._read(name)
            if fresh is None or self._hash(fresh) != self._hash(work):
                return NOTHING
            grips.add(made.grips)
            is_shown = versions.add_from_model(node, now_ms)
            rewrite_queue.remove(name)
            if is_shown:
                return self._announced(name, Kind.MADE)
        kind = Kind.REJECTED if node.rejection else Kind.MADE
        return Outcome(kind, node.rejection, changed=frozenset([name]))

    def _announced(self, name: str, kind: Kind) -> Outcome:
        """Let search and the nodes above follow a version that is shown now."""
        now_ms = to_ms(self._clock())
        outbox.add_nodes([name], now_ms)
        if above := calendar.parent_id(name):
            later_ms = now_ms + round(PUT_OFF_S * 1000)
            rollup_queue.add([above], self._zone, from_ms=later_ms)
        return Outcome(kind, changed=frozenset([name, *calendar.path(above or name)]))

    def _done(self, name: str, kind: Kind) -> Outcome:
        with database.transaction():
            rewrite_queue.remove(name)
        return Outcome(kind)

    def _failed(
        self, work: Work, shown: TocNode, fault: OllamaError, attempt: int
    ) -> Outcome:
        """Put a fault down to the text, to the model, or to the server."""
        if isinstance(fault, RequestCancelled):
            raise fault
        if isinstance(fault, EmptyLogError):
            return self._done(work.name, Kind.NOTHING)
        if isinstance(fault, LAST_WORDS):
            return self._refused(work, shown, fault, attempt)
        if isinstance(fault, OF_THE_TEXT):
            return self._later(work.name, str(fault))
        return Outcome(Kind.NOTHING, str(fault), rest_s=_rest_s(fault))

    def _later(self, name: str, error: str) -> Outcome:
        """Try this node again, but others first."""
        with database.transaction():
            # Later than the server that it made fail is asked again: others come first.
            at_ms = next_retry_ms(
                rewrite_queue.count_attempts(name) + 1, to_ms(self._clock())
            )
            rewrite_queue.set_failed(name, at_ms)
        return Outcome(Kind.FAILED, error)

    def _refused(
        self, work: Work, shown: TocNode, fault: OllamaError, attempt: int
    ) -> Outcome:
        """Keep what a model wrote that could not be used, and why."""
        health = self._summarizer.health()
        identity = self._summarizer.identity
        facts = GenerationStats(health.model or identity, health.digest, health.server)
        draft = fault.summary if isinstance(fault, InvalidReplyError) else None
        if draft is None or not draft.generation.model:
            draft = replace(draft or Summary(shown.headline, ()), generation=facts)
        with database.connection():
            digest = self._hash(work, attempt)
            made = work.made(draft, identity, digest, shown.headline)
        return self._keep(work, made.rejected(str(fault)))


def _rest_s(fault: OllamaError) -> float:
    """For how long a server is left alone: very long where it must not be asked."""
    if isinstance(fault, CircuitOpenError):
        return fault.retry_s
    return FORBIDDEN_S if isinstance(fault, NotAllowedError) else 0.0


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

    def end(self, job: Job, result: RunResult, error: str = "") -> None:
        """End a run; what was made after all in another try is no failure of it."""
        if result is RunResult.DONE and self._schedule.is_asked(job):
            error = error or self._why_nothing(job)
        self._despite_pause.discard(job)
        self._done.discard(job)
        errors = [*self._errors[job].values(), error]
        self._errors[job].clear()
        if any(errors) and result is RunResult.DONE:
            result = RunResult.FAILED
        said = next(filter(None, reversed(errors)), "")
        self._schedule.end(job, result, self._clock(), said)

    def _why_nothing(self, job: Job) -> str:
        """Why a run that a person asked for did nothing, though something waits."""
        with database.connection():
            if job in self._done or not rewrite_queue.count(job.level):
                return ""
            waiting = rewrite_queue.count(TocLevel.SEGMENT)
        if waiting and job is not Job.SEGMENTS:
            return f"what is below comes first: {waiting:,} segments wait"
        return "what waits is not over yet, or is tried again later"

    def _count(self, job: Job, kind: Kind) -> None:
        """Remember what came of a node, and how many are left."""
        with database.connection():
            waiting = rewrite_queue.count(job.level)
        self._schedule.noted(
            job,
            self._clock(),
            made=kind is Kind.MADE,
            rejected=kind is Kind.REJECTED,
            failed=kind is Kind.FAILED,
            waiting=waiting,
        )


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

MakeSummarizer = Callable[[Callable[[ModelProgress], None]], Summarizer]
"""Makes a summariser that tells how far it is."""


class Improve:
    """Gives nodes versions by a model."""

    def __init__(
        self,
        make: MakeSummarizer,
        schedule: Schedule,
        rules: SegmentRules,
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
        self.model = ModelStatus(is_requested=is_wanted)
        """How it is, and what it does now."""
        self.changed = ChangedNodes()

    def doing(self, doing: ModelProgress) -> None:
        """Note how far the summary has come."""
        self._show(self.model.with_progress(doing))

    def stop(self) -> None:
        """Call off what the model does, for good; from any thread."""
        self._summarizer.cancel()

    def leave(self) -> None:
        """End what runs: somebody quits, and nothing steps any more."""
        for job in Job:
            if self._schedule.is_running(job):
                self._runs.end(job, RunResult.STOPPED)

    def _show(self, model: ModelStatus) -> None:
        self.model = model
        self._told()

    def step(self) -> int:
        """Improve one node; how many were tried."""
        now = self._clock()
        self._see_pause()
        due = self._schedule.due(now)
        is_asked = due is not None and due.reason is RunReason.REQUESTED
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
            self._runs.end(due.job, RunResult.DONE)
            return 0
        if not self._is_ready(now):
            self._give_up(due, now)
            return 0
        if due:
            self._runs.begin(due, now)
            ahead = self._ahead(now)
        if not ahead:
            return 0
        job, name = ahead
        if job is Job.SEGMENTS and not self._schedule.is_running(job):
            self._runs.begin(Due(job, RunReason.WAITING), now)
        return self._improve(job, name)

    # What comes next

    def _ahead(self, now: datetime) -> tuple[Job | None, str] | None:
        """The next node and whose run it belongs to; ends the runs that are done."""
        with database.connection():
            if names := rewrite_queue.list_requested(to_ms(now), 1):
                return None, names[0]
            for job, is_held_up in self._open_jobs(now):
                if name := self._next(job, now):
                    return job, name
                if self._schedule.is_running(job) and not is_held_up:
                    self._runs.end(job, RunResult.DONE)
        return None

    def _open_jobs(self, now: datetime) -> Iterator[tuple[Job, bool]]:
        """The jobs that may go on, from the bottom up; whether each has to wait.

        What waits holds up all above it.
        """
        is_held_up = False
        for job in (*ROLLUP_JOBS, Job.SEGMENTS):
            is_running = self._schedule.is_running(job)
            if self._runs.are_held(job):
                if is_running:
                    self._runs.end(job, RunResult.STOPPED)
            elif job is Job.SEGMENTS:
                yield job, False
            elif is_running and not is_held_up:
                is_held_up = self._must_wait(job, now)
                yield job, is_held_up

    def _is_idle(self, job: Job, now: datetime) -> bool:
        """Whether a run of a job would do nothing: then no model need be there."""
        below = ROLLUP_JOBS[: ROLLUP_JOBS.index(job)] if job in ROLLUP_JOBS else ()
        if any(self._schedule.is_running(one) for one in below):
            return False
        with database.connection():
            if self._next(job, now):
                return False
            return job is Job.SEGMENTS or not rewrite_queue.has_dirty(
                job.level, self._begun_ms(job.level, now)
            )

    def _next(self, job: Job, now: datetime) -> str:
        now_ms = to_ms(now)
        if job is Job.SEGMENTS:
            return next(iter(rewrite_queue.list_segments(now_ms, 1)), "")
        level = job.level
        begun_ms = self._begun_ms(level, now)
        names = rewrite_queue.list_parents(
            level, now_ms, 1 + OPEN_PERIODS, before_ms=begun_ms
        )
        old = (name for name in names if self._is_old(name, now - AGES[level]))
        return next(old, "")

    def _must_wait(self, job: Job, now: datetime) -> bool:
        """Whether something is to be rolled up first, as it is at once."""
        if not rewrite_queue.has_dirty(job.level, self._begun_ms(job.level, now)):
            return False
        with database.transaction():
            rollup_queue.start_delayed()
        return True

    def _begun_ms(self, level: TocLevel, now: datetime) -> int:
        return to_ms(now - AGES[level])

    def _is_old(self, name: str, at: datetime) -> bool:
        return calendar.bounds(name, self._zone)[1] <= at

    def _is_waiting(self) -> bool:
        with database.connection():
            return rewrite_queue.has_untried(TocLevel.SEGMENT)

    def _see_pause(self) -> None:
        """Note how many segments wait for nothing but their job's being resumed."""
        paused = 0
        if self._schedule.is_paused(Job.SEGMENTS):
            with database.connection():
                paused = rewrite_queue.count(TocLevel.SEGMENT)
        if paused != self.model.held_segments:
            self._show(replace(self.model, held_segments=paused))

    def _is_new_wish(self) -> bool:
        """Whether a person asked for a node since the model was last looked at."""
        with database.connection():
            return rewrite_queue.last_requested_ms() > self._looked_ms

    def _is_ready(self, now: datetime) -> bool:
        """Whether the model can be asked; if not, it is left alone for a while."""
        self._looked_ms = to_ms(now)
        self._show(self._finder.look(self.model))
        health = self.model.health
        assert health is not None
        if not health.is_ready:
            self._rest(health.retry_after_s)
            return False
        self._rests_until = None
        maker = self._summarizer.identity.split(" ")[0] + " "
        if maker != self._maker:
            with database.transaction():
                rewrite_queue.add_outdated(maker)
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
        says = health.summary if health else ""
        if due and due.reason is RunReason.REQUESTED:
            self._runs.begin(due, now)
            self._runs.end(due.job, RunResult.FAILED, says)
        if health and health.condition is ModelCondition.RESTING:
            return
        for job in Job:
            if self._schedule.is_running(job):
                self._runs.end(job, RunResult.FAILED, says)
                self._schedule.heard()

    def _improve(self, job: Job | None, name: str) -> int:
        with database.connection():
            waiting = rewrite_queue.count(calendar.period(name).level)
        self._show(self.model.working_on(name, waiting, self._clock()))
        try:
            outcome = self._rewrite.run(name, is_asked=job is None)
        except RequestCancelled:
            self.leave()
            return 0
        finally:
            self._show(self.model.idle())
        self.changed.update(outcome.changed)
        if outcome.rest_s is not None:
            self._show(self._finder.look(self.model))
            self._rest(outcome.rest_s)
        if job:
            self._runs.note(job, name, outcome)
        elif outcome.kind is Kind.MADE:
            self._schedule.heard()
        return 1
