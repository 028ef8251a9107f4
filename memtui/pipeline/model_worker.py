"""Let a model write better versions of nodes: of a session in one request, or of a
day, week, month or year.

Requested nodes come first, then the roll-ups that are due from the days up, then the
sessions from the newest on. If anything fails, the extract stays.

The scheduler decides which job runs next: requested runs come first, then scheduled
ones from the days up, then roll-ups of what has just been summarized. A time that
passes while its job runs is skipped and counted. A paused job runs only on request. A
missed run is made up for once, when the pipeline starts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.jobs import (
    ROLLUP_JOBS,
    Job,
    JobState,
    ModelCondition,
    ModelPhase,
    ModelProgress,
    RunReason,
    RunResult,
    Schedules,
)
from memtui.model.nodes import GenerationStats, Summary
from memtui.model.verdicts import Objection
from memtui.pipeline import summarization
from memtui.pipeline.config import MakeSummarizer
from memtui.pipeline.progress import ChangedNodes, ModelStatus
from memtui.pipeline.versions import (
    NewVersion,
    ParentInput,
    SessionInput,
    read_parent_input,
    read_session_input,
    redact_reason,
)
from memtui.pipeline.worker import try_item
from memtui.store import (
    database,
    jobs,
    meta,
    nodes,
    queues,
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
    RequestCancelled,
    TransientError,
)
from memtui.summarize.summarizer import Summarizer

# The scheduler

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
        withheld: Mapping[Objection, int] | None = None,
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
            withheld=withheld,
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
        withheld: Mapping[Objection, int] | None = None,
    ) -> None:
        reasons = {str(reason): count for reason, count in (withheld or {}).items()}
        counts = jobs.RunProgress(made, rejected, failed, reasons)
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


# The rewriting of a node

PERMANENT_ERRORS = (InvalidReplyError, ContextOverflowError)
"""Errors that the same model would repeat with the same text."""

RETRYABLE_ERRORS = (TransientError, OutOfMemoryError)
"""Errors that may be caused by the text: other nodes are tried first."""

FORBIDDEN_PAUSE_S = 1800.0
"""Seconds to pause after a server that is not allowed was met."""

MIN_SESSIONS = 2
"""A period with fewer sessions is described by the session alone."""

Input = SessionInput | ParentInput


@dataclass(frozen=True, slots=True)
class RewriteOutcome:
    """The result for one node, and what follows from it."""

    result: RewriteResult
    error: str = ""
    pause_s: float | None = None
    """The time for which to pause the model; None if it need not pause."""
    changed: frozenset[str] = frozenset()
    withheld: Mapping[Objection, int] = field(default_factory=dict)
    """The number of lines of shown versions that are withheld, by reason."""


NOTHING = RewriteOutcome(RewriteResult.NOTHING)


class Rewriter:
    """Asks the model about a session or a period, and stores the versions it makes."""

    def __init__(
        self,
        summarizer: Summarizer,
        zone: tzinfo,
        clock: Callable[[], datetime],
        on_progress: Callable[[ModelProgress], None],
    ) -> None:
        self._summarizer = summarizer
        self._zone, self._clock, self._on_progress = zone, clock, on_progress

    def run(self, name: str, *, is_requested: bool) -> RewriteOutcome:
        """Let the model write a version of a node; of a segment, of its whole session.

        If the user requested it, a new one is written even from the same input.

        Raises:
            RequestCancelled: Nothing has changed.
        """
        with database.connection():
            given = self._read(name)
            if given is None:
                return self._finish([name])
            if isinstance(given, ParentInput) and len(given.works) < MIN_SESSIONS:
                outcome = self._finish([name])
                session = self._read_only_session(given) if is_requested else None
                if session is None:
                    return outcome
                given, name = session, session.node_ids[-1]
            attempt = self._attempt(given) if is_requested else 0
            if not is_requested and (reused := self._reuse(given)):
                return reused
        draft = try_item(lambda: self._draft(given, attempt))
        if isinstance(draft, OllamaError):
            return self._handle_error(name, given, draft, attempt)
        if isinstance(draft, Exception):
            return self._retry_later(given, repr(draft))
        self._on_progress(ModelProgress(ModelPhase.CHECKING))
        digest = self._hash(given, attempt)
        with database.connection():
            made = try_item(lambda: self._make_versions(given, draft, digest))
        if isinstance(made, Exception):
            return self._retry_later(given, repr(made))
        return self._save(name, given, made)

    def _draft(self, given: Input, attempt: int) -> Summary | OllamaError:
        try:
            return given.draft(self._summarizer, attempt)
        except OllamaError as error:
            return error

    def _make_versions(
        self, given: Input, draft: Summary, digest: str
    ) -> list[NewVersion]:
        identity = self._summarizer.identity
        if isinstance(given, ParentInput):
            return [given.make_version(draft, identity, digest)]
        extracts = {node.node_id: node for node in nodes.get_extracts(given.node_ids)}
        return given.make_versions(draft, identity, digest, extracts)

    def _read(self, name: str) -> Input | None:
        """Read the input of a node; None if it no longer exists."""
        if calendar.period(name).level is TocLevel.SEGMENT:
            return read_session_input(name)
        given = read_parent_input(name, self._zone)
        return given if given.children else None

    def _read_only_session(self, given: ParentInput) -> SessionInput | None:
        """Read the session that describes a period by itself; None if it is gone."""
        for of in given.works:
            number = sessions.get_number(of.agent, of.session_id)
            names = [] if number is None else segments.list_ids(number)
            return read_session_input(names[-1]) if names else None
        return None

    def _hash(self, given: Input, attempt: int = 0) -> str:
        return given.input_hash(self._summarizer.identity, attempt)

    def _attempt(self, given: Input) -> int:
        attempt = 0
        while versions.find_from_model(given.node_ids, self._hash(given, attempt)):
            attempt += 1
        return attempt

    def _reuse(self, given: Input) -> RewriteOutcome | None:
        """Show the versions that the same model made from the same input, if any."""
        before = versions.find_from_model(given.node_ids, self._hash(given))
        if not before:
            return None
        usable = {name: row for name, row, rejection in before if not rejection}
        with database.transaction():
            for node_id, row in usable.items():
                versions.set_latest(node_id, row)
            return self._announce(given, list(usable))

    def _save(
        self, name: str, given: Input, made: Sequence[NewVersion]
    ) -> RewriteOutcome:
        now_ms = to_ms(self._clock())
        with database.transaction():
            fresh = self._read(name)
            if fresh is None or self._hash(fresh) != self._hash(given):
                return NOTHING
            changed = []
            for version in made:
                versions.add_grips(version.grips)
                if versions.add_from_model(version.node, now_ms):
                    changed.append(version.node.node_id)
            if changed:
                others = {*given.node_ids} - {version.node.node_id for version in made}
                changed += versions.show_extracts(others)
            outcome = self._announce(given, changed)
        rejections = [version.node.rejection for version in made]
        if made and all(rejections):
            return replace(
                outcome,
                result=RewriteResult.REJECTED,
                error=rejections[0],
                changed=frozenset(version.node.node_id for version in made),
            )
        withheld = Counter(
            bullet.verdict.objection
            for version in made
            for bullet in version.node.withheld
        )
        return replace(outcome, result=RewriteResult.MADE, withheld=withheld)

    def _announce(self, given: Input, changed: Sequence[str]) -> RewriteOutcome:
        """Queue the index and the nodes above for versions that are shown now."""
        for node_id in given.node_ids:
            queues.remove_rewrite(node_id)
        queues.add_nodes(changed, to_ms(self._clock()))
        above = {above for name in changed for above in calendar.rolled_into(name)}
        queues.add_rollups(above, self._zone)
        if isinstance(given, SessionInput):
            summarization.update_sessions([given.number], self._zone)
        seen = {
            node_id
            for name in changed
            for node_id in (*calendar.path(name), *calendar.parent_ids(name))
        }
        result = RewriteResult.MADE if changed else RewriteResult.NOTHING
        return RewriteOutcome(result, changed=frozenset(seen))

    def _finish(self, node_ids: Sequence[str]) -> RewriteOutcome:
        with database.transaction():
            for node_id in node_ids:
                queues.remove_rewrite(node_id)
        return NOTHING

    def _handle_error(
        self, name: str, given: Input, error: OllamaError, attempt: int
    ) -> RewriteOutcome:
        """Decide whether the text, the model or the server caused an error."""
        if isinstance(error, RequestCancelled):
            raise error
        if isinstance(error, EmptyLogError):
            return self._finish(given.node_ids)
        if isinstance(error, PERMANENT_ERRORS):
            return self._reject(name, given, error, attempt)
        if isinstance(error, RETRYABLE_ERRORS):
            return self._retry_later(given, str(error))
        return RewriteOutcome(
            RewriteResult.NOTHING, str(error), pause_s=_pause_s(error)
        )

    def _retry_later(self, given: Input, error: str) -> RewriteOutcome:
        """Try this session or period again later, others first."""
        with database.transaction():
            for node_id in given.node_ids:
                queues.set_rewrite_failed(node_id, to_ms(self._clock()))
        return RewriteOutcome(RewriteResult.FAILED, error)

    def _reject(
        self, name: str, given: Input, error: OllamaError, attempt: int
    ) -> RewriteOutcome:
        """Store the extract once more, as a version of the model with the reason."""
        health = self._summarizer.health()
        identity = self._summarizer.identity
        with database.connection():
            extracts = nodes.get_extracts([name])
            if not extracts:
                return self._finish(given.node_ids)
        rejected = replace(
            extracts[0],
            summarizer=identity,
            input_hash=self._hash(given, attempt),
            generation=GenerationStats(
                health.model or identity, health.digest, health.server
            ),
            rejection=redact_reason(str(error)),
        )
        return self._save(name, given, [NewVersion(rejected, (), False)])


def _pause_s(error: OllamaError) -> float:
    if isinstance(error, CircuitOpenError):
        return error.retry_s
    return FORBIDDEN_PAUSE_S if isinstance(error, NotAllowedError) else 0.0


# The worker

RECHECK_AFTER = timedelta(seconds=30)
"""The shortest time before a model that is not ready is checked again."""

MIN_AGES = {
    TocLevel.DAY: timedelta(hours=1),
    TocLevel.WEEK: timedelta(hours=24),
    TocLevel.MONTH: timedelta(hours=24),
    TocLevel.YEAR: timedelta(days=7),
}
"""The time after the end of a period at which a model may summarize it."""

MAX_PAUSE = timedelta(minutes=30)

OPEN_PERIODS = 2
"""The number of nodes of a level that can have started long enough ago and not
ended."""


class ModelWorker:
    """Chooses the next node for the model, and pauses while no model is ready."""

    def __init__(
        self,
        make: MakeSummarizer,
        schedule: JobScheduler,
        zone: tzinfo,
        clock: Callable[[], datetime],
        on_change: Callable[[], None] = lambda: None,
        *,
        is_requested: bool = False,
        changed: ChangedNodes | None = None,
    ) -> None:
        """Create the worker.

        ``on_change`` is called whenever ``model`` changes, and must return quickly;
        ``is_requested`` says whether the settings name a model.
        """
        self._summarizer = summarizer = make(self.set_progress)
        self._schedule, self._on_change = schedule, on_change
        self._zone, self._clock = zone, clock
        self._rewrite = Rewriter(summarizer, zone, clock, self.set_progress)
        self._last_condition: tuple[ModelCondition, str, datetime | None] | None = None
        self._paused_until: datetime | None = None
        self._checked_ms = 0
        self._summarizer_version = ""
        self.model = ModelStatus(is_requested=is_requested)
        self.changed = changed or ChangedNodes()

    def set_progress(self, progress: ModelProgress) -> None:
        self._set_status(self.model.with_progress(progress))

    def stop(self) -> None:
        """Cancel the present request and all later ones; from any thread."""
        self._summarizer.cancel()

    def end_runs(self) -> None:
        """End all runs; no step follows."""
        for job in Job:
            if self._schedule.is_running(job):
                self._end_run(job, RunResult.STOPPED)

    def _begin_run(self, job: Job, reason: RunReason, now: datetime) -> None:
        self._schedule.begin(job, reason, now)
        self._schedule.record(job, now)

    def _end_run(self, job: Job, result: RunResult, error: str = "") -> None:
        self._schedule.end(job, result, self._clock(), error)

    def _set_status(self, model: ModelStatus) -> None:
        self.model = model
        self._on_change()

    def step(self) -> int:
        """Rewrite one node; return how many were tried."""
        now = self._clock()
        self._update_held()
        due = self._schedule.next_due(now)
        is_due_now = due is not None and due.reason is RunReason.REQUESTED
        if self._is_paused(now) and not (is_due_now or self._has_new_request()):
            return 0
        work = self._next_work(now)
        if not due and not work:
            if self.model.is_missing:
                self._set_status(replace(self.model, health=None))
            if not self._is_waiting():
                self._schedule.segments_done()
            return 0
        if due and not is_due_now and self._is_idle(due.job, now):
            self._schedule.begin(due.job, due.reason, now)
            self._end_run(due.job, RunResult.DONE)
            return 0
        if not self._is_ready(now):
            self._give_up(due, now)
            return 0
        if due:
            self._begin_run(due.job, due.reason, now)
            work = self._next_work(now)
        if not work:
            return 0
        job, name = work
        if job is Job.SEGMENTS and not self._schedule.is_running(job):
            self._begin_run(job, RunReason.WAITING, now)
        return self._rewrite_node(job, name)

    def _next_work(self, now: datetime) -> tuple[Job | None, str] | None:
        """Return the next node and its job; end the runs that are done."""
        with database.connection():
            if names := queues.list_requested_rewrites(to_ms(now), 1):
                return None, names[0]
            for job, is_held_up in self._open_jobs(now):
                if name := self._next_node(job, now):
                    return job, name
                if self._schedule.is_running(job) and not is_held_up:
                    self._end_run(job, RunResult.DONE)
        return None

    def _open_jobs(self, now: datetime) -> Iterator[tuple[Job, bool]]:
        """Yield the running jobs from the bottom up, and whether each has to wait.

        A job that waits blocks those above it.
        """
        is_held_up = False
        for job in (*ROLLUP_JOBS, Job.SEGMENTS):
            is_running = self._schedule.is_running(job)
            if self._schedule.is_held(job):
                if is_running:
                    self._end_run(job, RunResult.STOPPED)
            elif job is Job.SEGMENTS:
                yield job, False
            elif is_running and not is_held_up:
                is_held_up = self._must_wait(job, now)
                yield job, is_held_up

    def _is_idle(self, job: Job, now: datetime) -> bool:
        below = ROLLUP_JOBS[: ROLLUP_JOBS.index(job)] if job in ROLLUP_JOBS else ()
        if any(self._schedule.is_running(one) for one in below):
            return False
        with database.connection():
            if self._next_node(job, now):
                return False
            return job is Job.SEGMENTS or not queues.has_dirty(
                job.level, self._latest_start_ms(job.level, now)
            )

    def _next_node(self, job: Job, now: datetime) -> str:
        now_ms = to_ms(now)
        if job is Job.SEGMENTS:
            return next(iter(queues.list_segment_rewrites(now_ms, 1)), "")
        level = job.level
        begun_ms = self._latest_start_ms(level, now)
        names = queues.list_parent_rewrites(
            level, now_ms, 1 + OPEN_PERIODS, before_ms=begun_ms
        )
        old = (
            name for name in names if self._is_old_enough(name, now - MIN_AGES[level])
        )
        return next(old, "")

    def _must_wait(self, job: Job, now: datetime) -> bool:
        """Return whether extracts must be rolled up first."""
        return queues.has_dirty(job.level, self._latest_start_ms(job.level, now))

    def _latest_start_ms(self, level: TocLevel, now: datetime) -> int:
        return to_ms(now - MIN_AGES[level])

    def _is_old_enough(self, name: str, at: datetime) -> bool:
        return calendar.bounds(name, self._zone)[1] <= at

    def _is_waiting(self) -> bool:
        with database.connection():
            return queues.has_untried_rewrites(TocLevel.SEGMENT)

    def _update_held(self) -> None:
        """Count the segments that wait for their paused job."""
        paused = 0
        if self._schedule.is_paused(Job.SEGMENTS):
            with database.connection():
                paused = queues.count_rewrites(TocLevel.SEGMENT)
        if paused != self.model.held_segments:
            self._set_status(replace(self.model, held_segments=paused))

    def _has_new_request(self) -> bool:
        with database.connection():
            return queues.last_request_ms() > self._checked_ms

    def _check_model(self) -> None:
        """Update the status, and store the model's condition if it changed."""
        health, until = self._summarizer.health(), None
        if health.condition is ModelCondition.RESTING:
            rest = max(timedelta(seconds=health.retry_after_s), RECHECK_AFTER)
            until = (self._clock() + rest).astimezone(self._zone)
        found = health.condition, health.message, until
        with database.connection():
            waiting = queues.count_rewrites(TocLevel.SEGMENT)
            if found != self._last_condition:
                with database.transaction():
                    meta.set_model_record(ModelRecord(*found, self._clock()))
                self._last_condition = found
        status = self.model.with_health(health)
        self._set_status(replace(status, paused_until=until, pending=waiting))

    def _is_ready(self, now: datetime) -> bool:
        """Check the model; pause if it is not ready."""
        self._checked_ms = to_ms(now)
        self._check_model()
        health = self.model.health
        assert health is not None
        if not health.is_ready:
            self._pause(health.retry_after_s)
            return False
        self._paused_until = None
        maker = self._summarizer.identity.split(" ")[0] + " "
        if maker != self._summarizer_version:
            with database.transaction():
                queues.add_outdated_rewrites(maker)
            self._summarizer_version = maker
        return True

    def _is_paused(self, now: datetime) -> bool:
        until = self._paused_until
        return until is not None and now < until <= now + MAX_PAUSE

    def _pause(self, seconds: float) -> None:
        rest = max(timedelta(seconds=seconds), RECHECK_AFTER)
        self._paused_until = self._clock() + min(rest, MAX_PAUSE)

    def _give_up(self, due: DueJob | None, now: datetime) -> None:
        """End the running jobs with the model's error, unless it only pauses."""
        health = self.model.health
        error = health.summary if health else ""
        if due and due.reason is RunReason.REQUESTED:
            self._begin_run(due.job, due.reason, now)
            self._end_run(due.job, RunResult.FAILED, error)
        if health and health.condition is ModelCondition.RESTING:
            return
        for job in Job:
            if self._schedule.is_running(job):
                self._end_run(job, RunResult.FAILED, error)
                self._schedule.note_change()

    def _rewrite_node(self, job: Job | None, name: str) -> int:
        with database.connection():
            pending = queues.count_rewrites(calendar.period(name).level)
        self._set_status(self.model.working_on(name, pending, self._clock()))
        try:
            outcome = self._rewrite.run(name, is_requested=job is None)
        except RequestCancelled:
            self.end_runs()
            return 0
        finally:
            self._set_status(self.model.idle())
        self.changed.update(outcome.changed)
        if outcome.pause_s is not None:
            self._check_model()
            self._pause(outcome.pause_s)
        if job:
            self._schedule.record(
                job,
                self._clock(),
                outcome.result,
                name=name,
                error=outcome.error,
                withheld=outcome.withheld,
            )
        elif outcome.result is RewriteResult.MADE:
            self._schedule.note_change()
        return 1
