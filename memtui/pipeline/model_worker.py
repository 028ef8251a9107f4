"""Let a model write better versions of nodes: of a session in one request, or of a
day, week, month or year.

Requested nodes come first, then the roll-ups that are due from the days up, then the
sessions from the newest on. If anything fails, the extract stays.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.jobs import (
    Job,
    ModelCondition,
    ModelHealth,
    ModelPhase,
    ModelProgress,
    RunReason,
    RunResult,
)
from memtui.model.nodes import GenerationStats
from memtui.model.verdicts import Objection
from memtui.pipeline import summarization
from memtui.pipeline.config import MakeSummarizer
from memtui.pipeline.progress import ChangedNodes, ModelStatus
from memtui.pipeline.scheduler import DueJob, JobScheduler
from memtui.pipeline.versions import (
    NewVersion,
    ParentInput,
    SessionInput,
    read_parent_input,
    read_session_input,
    redact_reason,
)
from memtui.pipeline.worker import may_be_of_item
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
    ContextOverflowError,
    EmptyLogError,
    InvalidReplyError,
    OfflineError,
    OllamaError,
    OutOfMemoryError,
    RequestCancelled,
    TransientError,
)
from memtui.summarize.summarizer import Summarizer

log = logging.getLogger(__name__)


class RewriteResult(StrEnum):
    """The result of rewriting a node."""

    MADE = "made"
    REJECTED = "rejected"
    FAILED = "failed"
    NOTHING = "nothing"
    """There was nothing to do, or the node changed meanwhile."""


# The rewriting of a node

PERMANENT_ERRORS = (InvalidReplyError, ContextOverflowError)
"""Errors that the same model would repeat with the same text."""

RETRYABLE_ERRORS = (TransientError, OutOfMemoryError)
"""Errors that may be caused by the text: other nodes are tried first."""

MIN_SESSIONS = 2
"""A period with fewer sessions is described by the session alone."""

Input = SessionInput | ParentInput


@dataclass(frozen=True, slots=True)
class RewriteOutcome:
    """The result for one node, and what follows from it."""

    result: RewriteResult
    error: str = ""
    failure: OllamaError | None = None
    """The error of the model or its server, after which it is left alone for a time."""
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
            source = self._read(name)
            if source is None:
                return self._finish([name])
            if isinstance(source, ParentInput) and len(source.works) < MIN_SESSIONS:
                outcome = self._finish([name])
                session = self._read_only_session(source) if is_requested else None
                if session is None:
                    return outcome
                source, name = session, session.node_ids[-1]
            attempt = self._attempt(source) if is_requested else 0
            if not is_requested and (reused := self._reuse(source)):
                return reused
        digest = self._hash(source, attempt)
        try:
            draft = source.draft(self._summarizer, attempt)
            self._on_progress(ModelProgress(ModelPhase.CHECKING))
            with database.connection():
                new_versions = source.make_versions(
                    draft, self._summarizer.identity, digest
                )
            return self._save(name, source, new_versions)
        except OllamaError as error:
            return self._handle_error(name, source, error, attempt)
        except Exception as error:
            if not may_be_of_item(error):
                raise
            log.exception("%s could not be rewritten", name)
            return self._retry_later(source, repr(error))

    def _read(self, name: str) -> Input | None:
        """Read the input of a node; None for a segment that no longer exists."""
        if calendar.period(name).level is TocLevel.SEGMENT:
            return read_session_input(name)
        return read_parent_input(name, self._zone)

    def _read_only_session(self, source: ParentInput) -> SessionInput | None:
        """Read the session that describes a period by itself; None if it is gone."""
        for work in source.works:
            number = sessions.get_number(work.agent, work.session_id)
            names = [] if number is None else segments.list_ids(number)
            return read_session_input(names[-1]) if names else None
        return None

    def _hash(self, source: Input, attempt: int = 0) -> str:
        return source.input_hash(self._summarizer.identity, attempt)

    def _attempt(self, source: Input) -> int:
        attempt = 0
        while versions.find_from_model(source.node_ids, self._hash(source, attempt)):
            attempt += 1
        return attempt

    def _reuse(self, source: Input) -> RewriteOutcome | None:
        """Show the versions that the same model made from the same input, if any."""
        before = versions.find_from_model(source.node_ids, self._hash(source))
        if not before:
            return None
        usable = {name: row for name, row, rejection in before if not rejection}
        with database.transaction():
            for node_id, row in usable.items():
                versions.set_latest(node_id, row)
            return self._announce(source, list(usable))

    def _save(
        self, name: str, source: Input, new_versions: Sequence[NewVersion]
    ) -> RewriteOutcome:
        now_ms = to_ms(self._clock())
        with database.transaction():
            fresh = self._read(name)
            if fresh is None or self._hash(fresh) != self._hash(source):
                return NOTHING
            changed = []
            for version in new_versions:
                versions.add_grips(version.grips)
                if versions.add_from_model(version.node, now_ms):
                    changed.append(version.node.node_id)
            if changed:
                others = {*source.node_ids} - {
                    version.node.node_id for version in new_versions
                }
                changed += versions.show_extracts(others)
            outcome = self._announce(source, changed)
        rejections = [version.node.rejection for version in new_versions]
        if new_versions and all(rejections):
            return replace(
                outcome,
                result=RewriteResult.REJECTED,
                error=rejections[0],
                changed=frozenset(version.node.node_id for version in new_versions),
            )
        withheld = Counter(
            bullet.verdict.objection
            for version in new_versions
            for bullet in version.node.withheld
        )
        return replace(outcome, result=RewriteResult.MADE, withheld=withheld)

    def _announce(self, source: Input, changed: Sequence[str]) -> RewriteOutcome:
        """Queue the index and the nodes above for versions that are shown now."""
        for node_id in source.node_ids:
            queues.remove_rewrite(node_id)
        queues.add_nodes(changed, to_ms(self._clock()))
        above = {above for name in changed for above in calendar.rolled_into(name)}
        queues.add_rollups(above, self._zone)
        if isinstance(source, SessionInput):
            summarization.update_sessions([source.number], self._zone)
        affected = {
            node_id
            for name in changed
            for node_id in (*calendar.path(name), *calendar.parent_ids(name))
        }
        result = RewriteResult.MADE if changed else RewriteResult.NOTHING
        return RewriteOutcome(result, changed=frozenset(affected))

    def _finish(self, node_ids: Sequence[str]) -> RewriteOutcome:
        with database.transaction():
            for node_id in node_ids:
                queues.remove_rewrite(node_id)
        return NOTHING

    def _handle_error(
        self, name: str, source: Input, error: OllamaError, attempt: int
    ) -> RewriteOutcome:
        """Decide whether the text, the model or the server caused an error."""
        if isinstance(error, RequestCancelled):
            raise error
        if isinstance(error, EmptyLogError):
            return self._finish(source.node_ids)
        if isinstance(error, PERMANENT_ERRORS):
            return self._reject(name, source, error, attempt)
        outcome = RewriteOutcome(RewriteResult.NOTHING, str(error))
        if isinstance(error, RETRYABLE_ERRORS):
            outcome = self._retry_later(source, str(error))
        return replace(outcome, failure=error)

    def _retry_later(self, source: Input, error: str) -> RewriteOutcome:
        """Try this session or period again later, others first."""
        with database.transaction():
            for node_id in source.node_ids:
                queues.set_rewrite_failed(node_id, to_ms(self._clock()))
        return RewriteOutcome(RewriteResult.FAILED, error)

    def _reject(
        self, name: str, source: Input, error: OllamaError, attempt: int
    ) -> RewriteOutcome:
        """Store the extract once more, as a version of the model with the reason."""
        health = self._summarizer.health()
        identity = self._summarizer.identity
        with database.connection():
            extracts = nodes.get_extracts([name])
            if not extracts:
                return self._finish(source.node_ids)
        rejected = replace(
            extracts[0],
            summarizer=identity,
            input_hash=self._hash(source, attempt),
            generation=GenerationStats(
                health.model or identity, health.digest, health.server
            ),
            rejection=redact_reason(str(error)),
        )
        return self._save(name, source, [NewVersion(rejected)])


# The worker

MIN_PAUSE, MAX_PAUSE = timedelta(seconds=30), timedelta(minutes=30)
"""The shortest and the longest pause after a check or a request that failed."""

MAX_DOUBLED_PAUSE = timedelta(minutes=10)
"""After each failure of the server the pause is twice as long, up to this."""

SERVER_FAILURES = (OfflineError, *RETRYABLE_ERRORS)

FAILED = "the model's server failed; it is asked again later"
"""The message while a server that failed is left alone."""

MIN_AGES = {
    TocLevel.DAY: timedelta(hours=1),
    TocLevel.WEEK: timedelta(hours=24),
    TocLevel.MONTH: timedelta(hours=24),
    TocLevel.YEAR: timedelta(days=7),
}
"""The time after the end of a period at which a model may summarize it."""

OPEN_PERIODS = 2
"""The number of nodes of a level that can have started long enough ago and not
ended."""


@dataclass(frozen=True, slots=True)
class _Task:
    """The next work for the model."""

    name: str
    """The node to write; "" for a requested job that has nothing to do."""
    due: DueJob | None = None
    """The job that writes it; None for a requested node."""


class ModelWorker:
    """Chooses the next node for the model, and pauses while no model is ready."""

    def __init__(
        self,
        make: MakeSummarizer,
        scheduler: JobScheduler,
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
        self._summarizer = make(self.set_progress)
        self._scheduler, self._on_change = scheduler, on_change
        self._zone, self._clock = zone, clock
        self._rewriter = Rewriter(self._summarizer, zone, clock, self.set_progress)
        self._record: ModelRecord | None = None
        self._paused_until: datetime | None = None
        self._failures = 0
        """The failures of the server since the last request that it answered."""
        self._checked_ms = 0
        self._summarizer_version = ""
        self.model = ModelStatus(is_requested=is_requested)
        self.changed = changed or ChangedNodes()

    def set_progress(self, progress: ModelProgress) -> None:
        self._set_status(replace(self.model, progress=progress))

    def stop(self) -> None:
        """Cancel the present request and all later ones; from any thread."""
        self._summarizer.cancel()

    def end_runs(self) -> None:
        """End all runs; no step follows."""
        self._scheduler.stop_all(self._clock())

    def _set_status(self, model: ModelStatus) -> None:
        self.model = model
        self._on_change()

    def step(self) -> int:
        """Write a version of one node; return how many were tried."""
        now = self._clock()
        self._update_held()
        if self._is_paused(now) and not self._has_new_request():
            return 0
        task = self._find_task(now)
        if task is None:
            if self.model.is_missing:
                self._set_status(replace(self.model, health=None))
            return 0
        if not self._is_ready(now):
            self._give_up(now)
        elif task.name:
            return self._rewrite_node(task, now)
        elif task.due:
            self._scheduler.finish(task.due, now)
        return 0

    def _find_task(self, now: datetime) -> _Task | None:
        """Return the next node; end the runs of jobs that have nothing more to do."""
        with database.connection():
            if names := queues.list_requested_rewrites(to_ms(now), 1):
                return _Task(names[0])
            tasks = []
            is_held_up = False
            for due in self._scheduler.list_due(now):
                if due.job is Job.SEGMENTS:
                    is_held_up = False
                if is_held_up:
                    continue
                name = self._next_node(due.job, now)
                is_new = not self._scheduler.is_running(due.job)
                if name or (is_new and due.reason is RunReason.REQUESTED):
                    tasks.append(_Task(name, due))
                elif due.job is Job.SEGMENTS or not queues.has_dirty(
                    due.job.level, to_ms(now - MIN_AGES[due.job.level])
                ):
                    self._scheduler.finish(due, now)
                    continue
                # Roll-ups above build on what this one writes, or waits for.
                is_held_up = True
        return tasks[0] if tasks else None

    def _next_node(self, job: Job, now: datetime) -> str:
        now_ms = to_ms(now)
        if job is Job.SEGMENTS:
            return next(iter(queues.list_segment_rewrites(now_ms, 1)), "")
        latest_end = now - MIN_AGES[job.level]
        names = queues.list_parent_rewrites(
            job.level, now_ms, 1 + OPEN_PERIODS, before_ms=to_ms(latest_end)
        )
        for name in names:
            if calendar.bounds(name, self._zone)[1] <= latest_end:
                return name
        return ""

    def _update_held(self) -> None:
        """Count the segments that wait for their paused job."""
        with database.connection():
            is_paused = jobs.get_states()[Job.SEGMENTS].is_paused
            held = queues.count_rewrites(TocLevel.SEGMENT) if is_paused else 0
        if held != self.model.held_segments:
            self._set_status(replace(self.model, held_segments=held))

    def _has_new_request(self) -> bool:
        """Return whether a node or a run was requested since the last check."""
        with database.connection():
            times_ms = [queues.last_request_ms()]
            for state in jobs.get_states().values():
                if state.requested_at:
                    times_ms.append(to_ms(state.requested_at))
        return max(times_ms) > self._checked_ms

    def _check_model(self, *, has_failed: bool = False) -> ModelHealth:
        """Update the status, and store the model's condition if it changed."""
        health, until = self._summarizer.health(), None
        if has_failed and health.is_ready:
            health = replace(health, condition=ModelCondition.RESTING, message=FAILED)
        if health.condition is ModelCondition.RESTING and self._paused_until:
            until = self._paused_until.astimezone(self._zone)
        record = ModelRecord(health.condition, health.message, until, self._clock())
        with database.connection():
            pending = queues.count_rewrites(TocLevel.SEGMENT)
            former = self._record and replace(
                self._record, checked_at=record.checked_at
            )
            if record != former:
                with database.transaction():
                    meta.set_model_record(record)
                self._record = record
        status = self.model.with_health(health)
        self._set_status(replace(status, paused_until=until, pending=pending))
        return health

    def _is_ready(self, now: datetime) -> bool:
        """Check the model; pause if it is not ready."""
        self._checked_ms, self._paused_until = to_ms(now), None
        health = self._check_model()
        if not health.is_ready:
            is_offline = health.condition is ModelCondition.OFFLINE
            self._pause(health.retry_after_s, is_server_failure=is_offline)
            return False
        version = self._summarizer.identity.split(" ")[0] + " "
        if version != self._summarizer_version:
            with database.transaction():
                queues.add_outdated_rewrites(version)
            self._summarizer_version = version
        return True

    def _is_paused(self, now: datetime) -> bool:
        until = self._paused_until
        return until is not None and now < until <= now + MAX_PAUSE

    def _pause(self, seconds: float, *, is_server_failure: bool) -> None:
        pause = min(max(timedelta(seconds=seconds), MIN_PAUSE), MAX_PAUSE)
        if is_server_failure:
            pause = min(MIN_PAUSE * 2 ** min(self._failures, 9), MAX_DOUBLED_PAUSE)
            self._failures += 1
        self._paused_until = self._clock() + pause

    def _give_up(self, now: datetime) -> None:
        """End the requested and the running jobs with the model's error.

        Running ones go on if the model only rests.
        """
        health = self.model.health
        is_resting = health is not None and health.condition is ModelCondition.RESTING
        for due in self._scheduler.list_due(now):
            is_running = self._scheduler.is_running(due.job)
            is_requested = due.reason is RunReason.REQUESTED
            if not is_resting if is_running else is_requested:
                self._scheduler.begin(due, now)
                error = health.summary if health else ""
                self._scheduler.end(due.job, RunResult.FAILED, now, error)
                self._scheduler.note_change()

    def _rewrite_node(self, task: _Task, now: datetime) -> int:
        if task.due:
            self._scheduler.begin(task.due, now)
        with database.connection():
            pending = queues.count_rewrites(calendar.period(task.name).level)
        self._set_status(
            replace(self.model, node_id=task.name, pending=pending, started_at=now)
        )
        try:
            outcome = self._rewriter.run(task.name, is_requested=task.due is None)
        except RequestCancelled:
            self.end_runs()
            return 0
        finally:
            idle = replace(self.model, node_id="", progress=None, started_at=None)
            self._set_status(idle)
        self.changed.update(outcome.changed)
        if failure := outcome.failure:
            is_server_failure = isinstance(failure, SERVER_FAILURES)
            self._pause(failure.retry_s, is_server_failure=is_server_failure)
            self._check_model(has_failed=True)
        elif outcome.result in (RewriteResult.MADE, RewriteResult.REJECTED):
            self._failures = 0
        if task.due:
            self._scheduler.record(
                task.due.job,
                task.name,
                self._clock(),
                created=outcome.result is RewriteResult.MADE,
                rejected=outcome.result is RewriteResult.REJECTED,
                failed=outcome.result is RewriteResult.FAILED,
                error=outcome.error,
                withheld={str(why): count for why, count in outcome.withheld.items()},
            )
        elif outcome.result is RewriteResult.MADE:
            self._scheduler.note_change()
        return 1
