"""The background work of one store: its stages in order, on two worker threads.

capture → segmentation → summarization → rollup → indexes; the model worker has a
thread of its own. One process at a time runs the pipeline of a store.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from memtui.capture.ingest import LOCK_TIMEOUT_S, SpoolIngester, TranscriptReader
from memtui.capture.policy import CapturePolicy
from memtui.capture.spool import Spool
from memtui.capture.tail import Tail
from memtui.capture.watcher import FileWatcher
from memtui.errors import StoreBusyError
from memtui.model.schedule import Schedules
from memtui.pipeline.indexers import NODES_AT_ONCE, MessageIndexer, NodeIndexer
from memtui.pipeline.model_worker import MakeSummarizer, ModelWorker
from memtui.pipeline.progress import ModelStatus, ProgressReporter, Report
from memtui.pipeline.rollup import RollupStage
from memtui.pipeline.schedule import JobScheduler
from memtui.pipeline.segmentation import SegmentationStage
from memtui.pipeline.summarization import SummaryStage
from memtui.pipeline.worker import ChangedNodes, Step, StepResult, Worker, WorkerLock
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.store import backup, database, outbox, versions
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import Summarizer
from memtui.text.tokens import TokenCounter

MODEL_IDLE_WAITS_S = (1.0,)
"""Seconds the model worker waits when it has nothing to do."""

WatchedPaths = Callable[[], Mapping[str, Collection[Path]]]


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """The configuration of the stages."""

    spool: Path
    node_index: Path
    message_index: Path
    lock_file: Path
    zone: tzinfo
    rules: SegmentRules
    counter: TokenCounter
    summarizer: Summarizer
    """The summarizer that needs no model."""
    clock: Callable[[], datetime]
    agent: str
    """The agent of imported events without one."""
    with_subagents: bool = False
    with_tools: bool = False
    """True if arguments and results of tools are searchable."""
    policy: CapturePolicy = field(default_factory=CapturePolicy)
    watched: WatchedPaths = dict
    """Folders and files of transcripts to follow, by agent."""
    make_model: MakeSummarizer | None = None
    """Creates the summarizer that uses a model; None for none."""
    is_model_requested: bool = False
    """True if a missing model is reported."""
    schedules: Schedules | None = None
    """The times at which a model rolls up."""


class Pipeline:
    """The stages of one store."""

    def __init__(self, setup: PipelineConfig) -> None:
        self._setup = setup
        self.lock = WorkerLock(setup.lock_file)
        spool = Spool(setup.spool)
        spool.create()
        self._ingester = SpoolIngester(spool, setup.counter, setup.clock, setup.policy)
        self._tail = Tail(self.importer(), setup.watched, setup.clock)
        self._segmenter = SegmentationStage(
            setup.rules, setup.zone, setup.clock, with_subagents=setup.with_subagents
        )
        self._segment_summarizer = SummaryStage(
            setup.summarizer, setup.rules, setup.zone, setup.clock
        )
        self._rollup = RollupStage(
            setup.summarizer, setup.zone, setup.clock, lambda: self._tail.is_behind
        )
        self._node_indexer = NodeIndexer(NodeIndex(setup.node_index), setup.clock)
        self._message_indexer = MessageIndexer(
            MessageIndex(setup.message_index, with_tools=setup.with_tools)
        )
        self._reporter: ProgressReporter | None = None
        self._model_worker: ModelWorker | None = None
        self._worker: Worker | None = None
        self._model_thread: Worker | None = None
        self._watcher: FileWatcher | None = None
        self._done_before_index = 0
        self._last_seen_version = 0
        self._changed_by_others = ChangedNodes()
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
        self._tail.use_watcher(self._watcher, self._setup.spool / "new")
        self._worker.start()
        self._model_worker = self._make_model_worker()
        if self._model_worker:
            self._start_model(self._model_worker, reporter)

    @property
    def is_active(self) -> bool:
        return self.lock.is_held

    @property
    def model(self) -> ModelStatus:
        return self._model_worker.model if self._model_worker else ModelStatus()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        """Return every failing stage and its error."""
        return self._reporter.failing if self._reporter else ()

    def stop(self, *, wait_s: float = 0.5) -> None:
        """Stop after the current step and release the lock.

        Args:
            wait_s: Seconds to wait for all threads together.
        """
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

    def _make_model_worker(self) -> ModelWorker | None:
        setup = self._setup
        if setup.make_model is None or setup.schedules is None:
            return None
        schedule = JobScheduler(setup.schedules)
        rules, zone = setup.rules, setup.zone
        return ModelWorker(
            setup.make_model,
            schedule,
            rules,
            zone,
            setup.clock,
            self._model_changed,
            is_requested=setup.is_model_requested,
        )

    def _model_changed(self) -> None:
        if self._reporter:
            self._reporter.model_changed()

    def _start_model(self, model: ModelWorker, reporter: ProgressReporter) -> None:
        self._model_thread = Worker(
            (("improve", model.step),),
            reporter.model_step_done,
            lambda: self.lock.is_held,
            idle_waits_s=MODEL_IDLE_WAITS_S,
            on_exit=model.end_runs,
        )
        self._model_thread.start()

    def run_until_idle(self, report: Report) -> list[Exception]:
        """Run on this thread until nothing is left; return the last errors."""
        errors: list[Exception] = []
        reporter = ProgressReporter(self, report)
        if self.lock.is_held:
            self._tidy()

        def note(stepped: StepResult) -> None:
            if stepped.error:
                errors.append(stepped.error)
            reporter.step_done(stepped)

        loop = Worker(self._stages(), note)
        last_s = time.monotonic()
        with database.connection():
            while True:
                errors.clear()
                if loop.run_round():
                    last_s = time.monotonic()
                elif not _is_busy(errors) or time.monotonic() - last_s > LOCK_TIMEOUT_S:
                    return errors

    def importer(self) -> TranscriptReader:
        """Return an import into this store; it may run beside the stages."""
        setup = self._setup
        return TranscriptReader(
            agent=setup.agent,
            counter=setup.counter,
            clock=setup.clock,
            policy=setup.policy,
        )

    def reindex(self) -> None:
        """Recreate both indexes; the stages then fill them."""
        self._node_indexer.rebuild()
        self._message_indexer.rebuild()

    def recount_skipped(self) -> None:
        """Count the skipped files of the spool again; only with the lock held."""
        self._ingester.recount_quarantine()

    def take_changed_nodes(self) -> frozenset[str]:
        """Return and clear the ids of the nodes that changed, in any process."""
        stages = (
            self._segment_summarizer,
            self._rollup,
            self._node_indexer,
            self._model_worker,
        )
        changed = (stage.changed for stage in stages if stage)
        return frozenset[str]().union(
            *(c.take() for c in (*changed, self._changed_by_others))
        )

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
        self._changed_by_others.update(names)
        return False

    def _stages(self) -> Sequence[tuple[str, Callable[[], int]]]:
        stages = (
            ("ingest", self._counted(self._ingester.step, is_first=True)),
            ("tail", self._counted(self._tail.step)),
            ("segment", self._counted(self._segmenter.step)),
            ("summarize", self._counted(self._segment_summarizer.step)),
            ("rollup", self._counted(self._rollup.step)),
            ("index", self._index),
            ("messages", self._message_indexer.step),
        )
        return [(name, partial(_with_store, step)) for name, step in stages]

    def _counted(
        self, step: Callable[[], int], *, is_first: bool = False
    ) -> Callable[[], int]:
        def noted() -> int:
            if is_first:
                self._done_before_index = 0
            done = step()
            self._done_before_index += done
            return done

        return noted

    def _index(self) -> int:
        """Index when the other stages are idle or a full batch is waiting."""
        if self._done_before_index:
            with database.connection():
                if outbox.count(outbox.INDEX_NODE) < NODES_AT_ONCE:
                    return 0
        return self._node_indexer.step()


def _with_store(step: Step) -> int:
    """Run a step only while the store's file is there."""
    database.check_file()
    return step()


def _is_busy(errors: Sequence[Exception]) -> bool:
    """Return whether another process blocks the store; then waiting helps."""
    return any(isinstance(error, StoreBusyError) for error in errors)
