"""All the work behind one store: the stages in their order, and who may do it."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from memtui.capture.ingest import CapturePolicy, SpoolIngester
from memtui.capture.spool import Spool
from memtui.capture.tail import Tail
from memtui.capture.transcripts import LOCK_TIMEOUT_S, Importer, TranscriptReader
from memtui.capture.watcher import FileWatcher
from memtui.errors import StoreBusyError
from memtui.model.schedule import Schedules
from memtui.model.segments import SegmentRules
from memtui.pipeline.indexers import NODES_AT_ONCE, Follow, Listen
from memtui.pipeline.model_worker import Improve, MakeSummarizer
from memtui.pipeline.progress import ModelStatus, Report, Teller
from memtui.pipeline.rollup import RollUp
from memtui.pipeline.schedule import Schedule
from memtui.pipeline.segmentation import Cut
from memtui.pipeline.summarization import Summarize
from memtui.pipeline.worker import ChangedNodes, Step, StepResult, Worker
from memtui.pipeline.worker_lock import WorkerLock
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.store import backup, database, outbox, versions
from memtui.summarize.summarizer import Summarizer
from memtui.text.tokens import TokenCounter

MODEL_RESTS_S = (1.0,)
"""How long the model's loop rests when there is nothing for it, in seconds."""

Watched = Callable[[], Mapping[str, Collection[Path]]]


@dataclass(frozen=True, slots=True)
class Setup:
    """What the stages are handed."""

    spool: Path
    index: Path
    messages: Path
    """The file of the index of messages."""
    claim: Path
    zone: tzinfo
    rules: SegmentRules
    counter: TokenCounter
    summarizer: Summarizer
    """Who summarises at once, and without a model."""
    clock: Callable[[], datetime]
    agent: str
    """The agent of imported events that name none."""
    with_subagents: bool = False
    with_tools: bool = False
    """Whether what tools were told and answered is found by its words too."""
    admission: CapturePolicy = field(default_factory=CapturePolicy)
    """Whose conversations are kept."""
    watched: Watched = dict
    """The folders and files whose transcripts are read as they are written."""
    model: MakeSummarizer | None = None
    """Makes who summarises with a model; None if no model is to be asked."""
    is_model_wanted: bool = False
    """Whether the want of that model is to be told."""
    plan: Schedules | None = None
    """When a model rolls up; needed if there is one."""


class Pipeline:
    """The stages of one store."""

    def __init__(self, setup: Setup) -> None:
        """Put the stages together; nothing runs yet."""
        self._setup = setup
        self.claim = WorkerLock(setup.claim)
        spool = Spool(setup.spool)
        spool.create()
        self._ingest = SpoolIngester(spool, setup.counter, setup.clock, setup.admission)
        self._tail = Tail(self._files(), setup.watched, setup.clock)
        self._cut = Cut(
            setup.rules, setup.zone, setup.clock, with_subagents=setup.with_subagents
        )
        self._summarize = Summarize(
            setup.summarizer, setup.rules, setup.zone, setup.clock
        )
        self._roll_up = RollUp(
            setup.summarizer, setup.zone, setup.clock, lambda: self._tail.is_behind
        )
        self._follow = Follow(NodeIndex(setup.index), setup.clock)
        self._listen = Listen(MessageIndex(setup.messages), with_tools=setup.with_tools)
        self._teller: Teller | None = None
        self._improve: Improve | None = None
        self._loop: Worker | None = None
        self._model_loop: Worker | None = None
        self._watch: FileWatcher | None = None
        self._earlier = 0
        self._seen = 0
        self._by_others = ChangedNodes()
        self._is_tidy = False

    def start(self, report: Report) -> None:
        """Work on a thread of its own until ``stop``; wait while another one works."""
        self._teller = teller = Teller(self, report)
        with database.connection():
            self._seen = versions.latest_id()
        self._loop = Worker(
            self._stages(), teller.tell, self._may_work, database.connection
        )
        self._watch = FileWatcher(self._loop.wake)
        self._tail.watch(self._watch, self._setup.spool / "new")
        self._loop.start()
        self._improve = self._improver()
        if self._improve:
            self._start_model(self._improve, teller)

    @property
    def is_ours(self) -> bool:
        """Whether this process works the store."""
        return self.claim.is_held

    @property
    def model(self) -> ModelStatus:
        """How the model is, and what it does."""
        return self._improve.model if self._improve else ModelStatus()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        """Every stage that fails, and what it could not do."""
        return self._teller.failing if self._teller else ()

    def stop(self, *, wait_s: float = 0.5) -> None:
        """Stop after the current step, and let another process work.

        Args:
            wait_s: How long to wait for the threads, all together, in seconds.
        """
        if self._improve:
            self._improve.stop()
        loops = [loop for loop in (self._model_loop, self._loop) if loop]
        for loop in loops:
            loop.stop()
        until_s = time.monotonic() + wait_s
        for loop in loops:
            loop.stop(wait_s=max(0.0, until_s - time.monotonic()))
        self._loop = self._model_loop = None
        if self._watch:
            self._watch.stop()
        self.claim.release()

    def _improver(self) -> Improve | None:
        setup = self._setup
        if setup.model is None or setup.plan is None:
            return None
        schedule = Schedule(setup.plan)
        rules, zone = setup.rules, setup.zone
        return Improve(
            setup.model,
            schedule,
            rules,
            zone,
            setup.clock,
            self._hear,
            is_wanted=setup.is_model_wanted,
        )

    def _hear(self) -> None:
        if self._teller:
            self._teller.hear()

    def _start_model(self, improve: Improve, teller: Teller) -> None:
        """Ask the model on a thread of its own, where nothing else waits for it."""
        self._model_loop = Worker(
            (("improve", improve.step),),
            teller.tell_model,
            lambda: self.claim.is_held,
            idle_waits_s=MODEL_RESTS_S,
            on_exit=improve.leave,
        )
        self._model_loop.start()

    def until_idle(self, report: Report) -> list[Exception]:
        """Work on this thread until nothing is left to do; what went wrong last."""
        errors: list[Exception] = []
        teller = Teller(self, report)
        if self.claim.is_held:
            self._tidy()

        def note(stepped: StepResult) -> None:
            if stepped.error:
                errors.append(stepped.error)
            teller.tell(stepped)

        loop = Worker(self._stages(), note)
        last_s = time.monotonic()
        with database.connection():
            while True:
                errors.clear()
                if loop.run_round():
                    last_s = time.monotonic()
                elif not _is_busy(errors) or time.monotonic() - last_s > LOCK_TIMEOUT_S:
                    return errors

    def importer(self) -> Importer:
        """An import into this store; it may run beside the stages."""
        return Importer(self._files())

    def _files(self) -> TranscriptReader:
        setup = self._setup
        return TranscriptReader(
            agent=setup.agent,
            counter=setup.counter,
            clock=setup.clock,
            admission=setup.admission,
        )

    def reindex(self) -> None:
        """Make both indexes anew; the stages then fill them."""
        self._follow.rebuild()
        self._listen.rebuild()

    def recount(self) -> None:
        """Count anew what could not be taken of hooks; only where we hold the claim."""
        self._ingest.recount()

    def take_changed(self) -> frozenset[str]:
        """The nodes that changed since this was last asked, by whomever."""
        stages = (self._summarize, self._roll_up, self._follow, self._improve)
        told = (stage.changed for stage in stages if stage)
        return frozenset[str]().union(*(c.take() for c in (*told, self._by_others)))

    def _tidy(self) -> None:
        """Delete, once, what a restoring left that was killed: nobody does that now."""
        if not self._is_tidy:
            with suppress(OSError):
                backup.discard_restore(database.path())
            self._is_tidy = True

    def _may_work(self) -> bool:
        """Whether the store is ours to work; if not, see what the other one does."""
        database.check_file()
        if self.claim.acquire():
            self._tidy()
            return True
        with database.connection():
            self._seen, names = versions.list_since(self._seen)
        self._by_others.update(names)
        return False

    def _stages(self) -> Sequence[tuple[str, Callable[[], int]]]:
        stages = (
            ("ingest", self._noted(self._ingest.step, is_first=True)),
            ("tail", self._noted(self._tail.step)),
            ("segment", self._noted(self._cut.step)),
            ("summarize", self._noted(self._summarize.step)),
            ("rollup", self._noted(self._roll_up.step)),
            ("index", self._index),
            ("messages", self._listen.step),
        )
        return [(name, partial(_with_store, step)) for name, step in stages]

    def _noted(
        self, step: Callable[[], int], *, is_first: bool = False
    ) -> Callable[[], int]:
        def noted() -> int:
            if is_first:
                self._earlier = 0
            done = step()
            self._earlier += done
            return done

        return noted

    def _index(self) -> int:
        """Index once the others rest, or when there is a whole commit's worth."""
        if self._earlier:
            with database.connection():
                if outbox.count(outbox.INDEX_NODE) < NODES_AT_ONCE:
                    return 0
        return self._follow.step()


def _with_store(step: Step) -> int:
    """Take a step where the store is: without it nothing is to be made beside it."""
    database.check_file()
    return step()


def _is_busy(errors: Sequence[Exception]) -> bool:
    """Whether another process keeps the store to itself; whoever waits goes on then."""
    return any(isinstance(error, StoreBusyError) for error in errors)
