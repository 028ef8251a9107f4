"""The background work of one store: its stages in order, on two worker threads.

capture → segmentation → summarization → rollup → indexes; the model worker has a
thread of its own. One process at a time runs the pipeline of a store.
"""

import secrets
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from memtui.capture.ingest import LOCK_TIMEOUT_S, SpoolIngester, TranscriptReader
from memtui.capture.spool import Spool
from memtui.capture.tail import FileWatcher, Tail
from memtui.errors import SearchError, StoreBusyError
from memtui.model import calendar
from memtui.model.events import Event, to_ms
from memtui.pipeline import summarization
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.model_worker import ModelWorker
from memtui.pipeline.progress import (
    ChangedNodes,
    ModelStatus,
    ProgressReporter,
    Report,
    StepResult,
)
from memtui.pipeline.scheduler import JobScheduler
from memtui.pipeline.summarization import (
    RollupFailedError,
    RollupStage,
    SummaryFailedError,
    SummaryStage,
)
from memtui.pipeline.worker import Step, Worker, WorkerLock
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex, node_documents
from memtui.store import (
    backup,
    database,
    events,
    meta,
    nodes,
    queues,
    segments,
    sessions,
    versions,
)
from memtui.store.queues import ChangedSession
from memtui.store.segments import SegmentRange
from memtui.summarize import segmenter

MODEL_IDLE_WAITS_S = (1.0,)
"""Seconds the model worker waits when it has nothing to do."""


class Pipeline:
    """The stages of one store."""

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.lock = WorkerLock(config.lock_file)
        spool = Spool(config.spool)
        spool.create()
        self._ingester = SpoolIngester(
            spool, config.counter, config.clock, config.policy
        )
        self._tail = Tail(self.importer(), config.watched, config.clock)
        self._changed = ChangedNodes()
        self._segmenter = SegmentationStage(config)
        self._segment_summarizer = SummaryStage(config, self._changed)
        self._rollup = RollupStage(
            config, self._changed, is_more_read=lambda: self._tail.is_behind
        )
        self._node_indexer = NodeIndexer(
            NodeIndex(config.node_index), config.clock, self._changed
        )
        self._message_indexer = MessageIndexer(
            MessageIndex(config.message_index, with_tools=config.with_tools)
        )
        self._reporter: ProgressReporter | None = None
        self._model_worker: ModelWorker | None = None
        self._worker: Worker | None = None
        self._model_thread: Worker | None = None
        self._watcher: FileWatcher | None = None
        self._last_seen_version = 0
        self._is_tidy = False

    def start(self, report: Report) -> None:
        """Run on threads until ``stop``; wait while another process holds the lock."""
        self._reporter = reporter = ProgressReporter(self, report)
        with database.connection():
            self._last_seen_version = versions.latest_id()
        self._worker = Worker(
            self._stages(), reporter.step_done, self._can_work, database.connection
        )
        self._watcher = FileWatcher(self._worker.wake)
        self._tail.use_watcher(self._watcher, self._config.spool / "new")
        self._worker.start()
        self._start_model(reporter)

    @property
    def is_active(self) -> bool:
        return self.lock.is_held

    @property
    def model(self) -> ModelStatus:
        return self._model_worker.model if self._model_worker else ModelStatus()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        return self._reporter.failing if self._reporter else ()

    def stop(self, *, wait_s: float = 0.5) -> None:
        """Stop after the current step and release the lock."""
        if self._model_worker:
            self._model_worker.stop()
        loops = [loop for loop in (self._model_thread, self._worker) if loop]
        for loop in loops:
            loop.stop()
        until_s = time.monotonic() + wait_s
        for loop in loops:
            loop.stop(wait_s=max(0.0, until_s - time.monotonic()))
        self._worker = self._model_thread = None
        if self._watcher:
            self._watcher.stop()
        self.lock.release()

    def _start_model(self, reporter: ProgressReporter) -> None:
        config = self._config
        if config.make_model_summarizer is None or config.schedules is None:
            return
        self._model_worker = model = ModelWorker(
            config.make_model_summarizer,
            JobScheduler(config.schedules),
            config.zone,
            config.clock,
            reporter.model_changed,
            is_requested=config.reports_missing_model,
            changed=self._changed,
        )
        self._model_thread = Worker(
            (("improve", model.step),),
            reporter.model_step_done,
            lambda: self.lock.is_held,
            idle_waits_s=MODEL_IDLE_WAITS_S,
            on_exit=model.end_runs,
        )
        self._model_thread.start()

    def run_until_idle(self, report: Report) -> list[Exception]:
        """Run on this thread until nothing is left; return the last errors.

        Those of segments and nodes that are tried again later are among them.
        """
        errors: list[Exception] = []
        failures: dict[str, Exception] = {}
        reporter = ProgressReporter(self, report)
        if self.lock.is_held:
            self._tidy()

        def note(stepped: StepResult) -> None:
            if stepped.error:
                errors.append(stepped.error)
            if isinstance(stepped.error, SummaryFailedError | RollupFailedError):
                failures[stepped.stage] = stepped.error
            reporter.step_done(stepped)

        self._worker = worker = Worker(self._stages(), note)
        last_s = time.monotonic()
        with database.connection():
            while True:
                errors.clear()
                if worker.run_round():
                    last_s = time.monotonic()
                    continue
                # Waiting helps while another process blocks the store.
                is_busy = any(isinstance(error, StoreBusyError) for error in errors)
                if not is_busy or time.monotonic() - last_s > LOCK_TIMEOUT_S:
                    return errors or list(failures.values())

    def importer(self) -> TranscriptReader:
        """Return an import into this store; it may run beside the stages."""
        config = self._config
        return TranscriptReader(
            agent=config.agent,
            counter=config.counter,
            clock=config.clock,
            policy=config.policy,
        )

    def reindex(self) -> None:
        """Recreate both indexes; the stages then fill them."""
        self._node_indexer.rebuild()
        self._message_indexer.rebuild()

    def take_changed_nodes(self) -> frozenset[str]:
        """Return and clear the ids of the nodes that changed, in any process."""
        return self._changed.take()

    def _tidy(self) -> None:
        """Delete, once, what an interrupted restore left."""
        if not self._is_tidy:
            with suppress(OSError):
                backup.discard_restore(database.path())
            self._is_tidy = True

    def _can_work(self) -> bool:
        """Take the lock; if another process holds it, note the nodes it changed."""
        database.check_file()
        if self.lock.acquire():
            self._tidy()
            return True
        with database.connection():
            self._last_seen_version, names = versions.list_since(
                self._last_seen_version
            )
        self._changed.update(names)
        return False

    def _stages(self) -> Sequence[tuple[str, Callable[[], int]]]:
        stages = (
            ("ingest", self._ingester.step),
            ("tail", self._tail.step),
            ("segment", self._segmenter.step),
            ("summarize", self._segment_summarizer.step),
            ("rollup", self._rollup.step),
            ("index", self._index),
            ("messages", self._message_indexer.step),
        )
        return [(name, partial(_with_store, step)) for name, step in stages]

    def _index(self) -> int:
        """Index when the other stages are idle or a full batch is waiting."""
        if self._worker and self._worker.done_in_round:
            with database.connection():
                if queues.count_rows(queues.INDEX_NODE) < NODES_AT_ONCE:
                    return 0
        return self._node_indexer.step()


def _with_store(step: Step) -> int:
    database.check_file()
    return step()


# Segmentation (events → segments). Where a segment ends depends on nothing before its
# first event. So only the segments from the one before the earliest new event on are
# cut again.

SESSIONS_AT_ONCE = 20


class SegmentationStage:
    """Cuts sessions into segments."""

    def __init__(self, config: PipelineConfig) -> None:
        self._rules, self._zone, self._clock = config.rules, config.zone, config.clock
        self._with_subagents = config.with_subagents

    def step(self) -> int:
        """Cut a batch of sessions, close paused segments; return how many changed."""
        now = self._clock()
        before_ms = to_ms(now - timedelta(seconds=self._rules.max_pause_s))
        with database.connection():
            has_changed = bool(queues.list_changed_sessions(1))
            if not has_changed and not segments.has_paused(before_ms):
                return 0
        with database.transaction():
            done = segments.close_paused(before_ms)
            for touched in queues.list_changed_sessions(SESSIONS_AT_ONCE):
                self._segment_session(touched, now)
                queues.delete_session(touched)
                done += 1
        return done

    def _segment_session(self, session: ChangedSession, now: datetime) -> None:
        from_ms = segments.find_safe_start(session.number, session.start_ms)
        recent_events = events.outline(session.number, start_ms=from_ms)
        with_subagents = self._with_subagents or not events.has_main(session.number)
        if not with_subagents and segments.begins_with_subagent(session.number):
            # The session was only one of subagents until now.
            from_ms, recent_events = 0, events.outline(session.number)
        main = [
            event for event in recent_events if with_subagents or not event.subagent
        ]
        subagent_times = [
            event.timestamp_ms
            for event in recent_events
            if event.subagent and not with_subagents
        ]
        runs = segmenter.split_events(main, self._rules)
        new_segments = list(self._ranges(session.number, runs, subagent_times, now))
        before = {
            segment.segment_id: segment
            for segment in segments.list_since(session.number, from_ms)
        }
        after = {segment.segment_id for segment in new_segments}
        gone = [name for name in before if name not in after]
        segments.delete(gone)
        nodes.delete(gone)
        changed = [
            segment
            for segment in new_segments
            if before.get(segment.segment_id) != segment
        ]
        segments.save(changed)
        if gone:
            summarization.update_sessions([session.number], self._zone)
        queues.add_nodes(gone, to_ms(now))
        days = {str(calendar.parent_id(name)) for name in gone}
        queues.add_rollups(days, self._zone)
        if not new_segments:
            sessions.delete_if_empty(session.number)

    def _ranges(
        self,
        number: int,
        runs: Sequence[Sequence[Event]],
        subagent_times: Sequence[int],
        now: datetime,
    ) -> Iterator[SegmentRange]:
        for place, run in enumerate(runs):
            is_last = place == len(runs) - 1
            first, last = run[0], run[-1]
            beyond = len(subagent_times)
            if not is_last:
                beyond = bisect_left(subagent_times, runs[place + 1][0].timestamp_ms)
            day = calendar.local_day(first.timestamp, self._zone)
            yield SegmentRange(
                segment_id=calendar.segment_id(day, first.event_id),
                session_number=number,
                first_id=first.event_id,
                last_id=last.event_id,
                start_ms=first.timestamp_ms,
                end_ms=last.timestamp_ms,
                tokens=sum(event.tokens for event in run),
                events=len(run),
                messages=sum(event.is_message for event in run),
                subagent_events=beyond
                - bisect_left(subagent_times, first.timestamp_ms),
                is_open=is_last and not segmenter.is_finished(run, now, self._rules),
            )


# Indexing. What the outbox names is indexed; then its rows are deleted. Indexing again
# is harmless. The store has the name of the index that was made for it; an index of
# another name, or none, is made again.

NODES_AT_ONCE = 500
"""The number of outbox rows followed by one commit of the index."""


class NodeIndexer:
    """Keeps the index in step with the table of contents."""

    def __init__(
        self, index: NodeIndex, clock: Callable[[], datetime], changed: ChangedNodes
    ) -> None:
        self._index, self._clock, self._changed = index, clock, changed
        self._is_checked = False

    def step(self) -> int:
        """Index a batch of nodes; return how many rows of the outbox were done."""
        if not self._is_checked or not self._index.exists() or self._index.is_suspect:
            self.check()
        with database.connection():
            rows = queues.list_unindexed_nodes(NODES_AT_ONCE)
            if not rows:
                return 0
            names = list(dict.fromkeys(name for _, name in rows))
            documents = [
                document
                for node in nodes.get_many(names)
                for document in node_documents(node, versions.list_indexed_grips(node))
            ]
        try:
            self._index.update(documents, names)
        except SearchError:
            self._is_checked = False
            raise
        with database.transaction():
            queues.delete_rows([row for row, _ in rows])
            queues.add_sessions(set(segments.get_sessions(names).values()))
        self._changed.update(names)
        return len(rows)

    def check(self) -> None:
        """Rebuild the index unless it is the one made for this store."""
        with database.connection():
            name = meta.read(meta.NODE_INDEX)
        if not name or self._index.name() != name or not self._index.is_sound():
            self.rebuild()
        self._is_checked = True

    def rebuild(self) -> None:
        """Create an empty index, which the next steps fill."""
        name = secrets.token_hex(8)
        self._index.create(name)
        with database.transaction():
            queues.clear_rows(queues.INDEX_NODE)
            queues.add_nodes(nodes.list_ids(), to_ms(self._clock()))
            meta.write(meta.NODE_INDEX, name)
        self._is_checked = True


EVENTS_AT_ONCE = 2_000
"""About how many events one step indexes. With a thousand, indexing takes a tenth
longer; with 5,000 it is hardly faster, and takes 35 MB more."""

TITLES_AT_ONCE = 200

RANGES_AT_ONCE = 200
"""The number of outbox rows that one step reads."""


class MessageIndexer:
    """Keeps the message index up to date."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
        self._is_checked = self._is_complete = False

    def step(self) -> int:
        """Index a batch of events or titles; return how many were read."""
        if not (self._is_checked and self._index.exists()) or self._index.is_suspect:
            self.check()
        try:
            return self._add_new() or self._add_older() or self._add_titles()
        except SearchError:
            self._is_checked = False
            raise

    def check(self) -> None:
        """Rebuild the index unless it is the one made for this store."""
        with database.connection():
            name = meta.read(meta.MESSAGE_INDEX)
        if not name or self._index.name() != name or self._index.is_suspect:
            self.rebuild()
        self._is_complete = self._index.status().is_complete
        self._is_checked = True

    def rebuild(self) -> None:
        """Create an empty index, which the next steps fill from the store."""
        name, self._next = secrets.token_hex(8), None
        self._index.create(name)
        with database.transaction():
            queues.clear_rows(queues.INDEX_EVENT)
            queues.clear_rows(queues.INDEX_SESSION)
            queues.add_sessions(events.list_session_numbers())
            meta.write(meta.MESSAGE_INDEX, name)
        self._is_checked = False

    def _add_new(self) -> int:
        with database.connection():
            ranges = _first_batch(queues.list_unindexed_events(RANGES_AT_ONCE))
            if not ranges:
                return 0
            new = events.list_indexable(ranges)
        self._index.add(new)
        with database.transaction():
            queues.delete_rows([event_range.row for event_range in ranges])
        return sum(event_range.count for event_range in ranges)

    def _add_older(self) -> int:
        """Index the next events that were stored before the index was made."""
        if self._is_complete:
            return 0
        oldest_id = self._index.status().oldest_id
        with database.connection():
            older = events.list_indexable_before(oldest_id, EVENTS_AT_ONCE)
        self._index.add_older(older)
        self._is_complete = not older
        return len(older)

    def _add_titles(self) -> int:
        with database.connection():
            rows = queues.list_unindexed_sessions(TITLES_AT_ONCE)
            if not rows:
                return 0
            texts = events.read_session_texts({session for _, session in rows})
        self._index.set_session_texts(texts)
        with database.transaction():
            queues.delete_rows([row for row, _ in rows])
        return len(rows)


def _first_batch(ranges: Sequence[queues.EventRange]) -> list[queues.EventRange]:
    """Return the first ranges that make about EVENTS_AT_ONCE together; at least one."""
    batch: list[queues.EventRange] = []
    count = 0
    for event_range in ranges:
        if batch and count + event_range.count > EVENTS_AT_ONCE:
            break
        batch.append(event_range)
        count += event_range.count
    return batch
