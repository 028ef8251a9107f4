"""The whole house, put together for one set of places and settings.

This is where the clock, the disk and the summariser come from; every room behind is
handed what it needs.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui import settings as settings_module
from memtui import store as store_module
from memtui.errors import MemtuiError, StoreError
from memtui.model.jobs import ROLLUP_JOBS, Job
from memtui.model.model_state import ModelCondition, ModelProgress, RewriteOutlook
from memtui.model.schedule import Schedules
from memtui.model.sessions import AgentHistory
from memtui.model.summaries import Summary
from memtui.paths import Paths, transcript_folders
from memtui.pipeline import worker_lock
from memtui.services import jobs
from memtui.settings import CHOSEN, EVERY, EXTRACTIVE, OLLAMA, Settings
from memtui.store import database, meta

if TYPE_CHECKING:
    from memtui.agents.questions import AgentQuestions
    from memtui.pipeline.pipeline import Pipeline, Setup
    from memtui.pipeline.progress import Progress
    from memtui.search.combined import Search
    from memtui.search.message_index import MessageIndex
    from memtui.search.messages import MessageSearcher, SessionSearch
    from memtui.search.nodes import Teleport
    from memtui.services.quarantine import QuarantineService, Retried
    from memtui.services.status import WorkStatus
    from memtui.summarize.ollama.models import Capability, ModelOptions
    from memtui.summarize.ollama.prompts import Log
    from memtui.summarize.summarizer import Summarizer
    from memtui.text.tokens import Counter


log = logging.getLogger(__name__)


Report = Callable[["Progress"], None]


def resolve_paths(
    paths: Paths, settings: Settings, *, is_demo: bool = False
) -> tuple[str, Paths]:
    """The one project that is kept apart, if they are, and the places in use."""
    project = _project() if settings.has_separate_stores and not is_demo else ""
    if project:
        paths = paths.for_project(Path(project))
    return project, paths.with_store_file(settings.store_file)


def _project() -> str:
    """The folder of the project memtui was started in: its repository's, or itself."""
    from memtui.capture import projects

    here = str(Path.cwd())
    return projects.locate_project(here).root or here


def resolve_zone() -> tzinfo:
    """The time zone of the store that is open.

    Raises:
        StoreError: This machine does not know it.
    """
    with database.connection():
        name = meta.time_zone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise StoreError(
            f"this machine does not know the time zone {name!r}"
        ) from error


def machine_zone() -> str:
    """The time zone of this machine, or UTC where it has none by name."""
    try:
        linked = str(Path("/etc/localtime").readlink())
        name = linked.partition("zoneinfo/")[2]
        return ZoneInfo(name).key if name else "UTC"
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return "UTC"


class Workspace:
    """One memtui: its store, its work, its search."""

    def __init__(
        self, paths: Paths, settings: Settings, *, is_demo: bool = False
    ) -> None:
        """Open the store, making it where it is missing.

        Raises:
            MemtuiError: It cannot be opened; the message says why.
        """
        self.project, paths = resolve_paths(paths, settings, is_demo=is_demo)
        with database.translate_file_errors(paths.store):
            paths.make_folders()
        zone = settings.store_time_zone or machine_zone()
        store_module.open_at(paths.store, time_zone=zone)
        self.paths, self.settings, self.is_demo = paths, settings, is_demo
        self.zone: tzinfo = resolve_zone()
        self._pipeline: Pipeline | None = None
        self._pipeline_lock, self._start_lock = threading.Lock(), threading.Lock()
        self._is_stopped = False

    @property
    def pipeline(self) -> "Pipeline":
        """The work behind, put together when it is first asked for.

        It brings Whoosh and the summariser with it (90 ms), which the first screen
        does without.
        """
        # The workers' thread and an import's may both be the first to ask.
        with self._pipeline_lock:
            if self._pipeline is None:
                from memtui.pipeline.pipeline import Pipeline

                self._pipeline = Pipeline(self._pipeline_setup())
            return self._pipeline

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has; may take a while the first time."""
        return self.counter.count(text)

    # What the first screen does not need is imported when it is used: importing it all
    # takes longer than showing the contents.

    @cached_property
    def teleport(self) -> "Teleport":
        """The search in nodes and their sources."""
        from memtui.search.nodes import Teleport

        return Teleport(self.paths.index, self.zone, _now)

    @cached_property
    def search(self) -> "Search":
        """Who answers questions from everything there is."""
        from memtui.search.combined import Search

        return Search(self.teleport, self._message_searcher, self.zone, _now)

    @cached_property
    def session_search(self) -> "SessionSearch":
        """Who answers questions from what was said in sessions."""
        from memtui.search.messages import SessionSearch

        return SessionSearch(self._message_searcher, self.zone, _now)

    @cached_property
    def asking(self) -> "AgentQuestions":
        """Who answers agents, within any budget."""
        from memtui.agents.questions import AgentQuestions
        from memtui.search.engines import Finders
        from memtui.search.quotes import Quoting

        quoting = Quoting(self.search, self._message_searcher, self.zone, _now)
        return AgentQuestions(
            Finders(self.teleport, quoting, self.session_search, self.zone, _now)
        )

    @cached_property
    def counter(self) -> "Counter":
        """By what tokens are counted."""
        from memtui.text import vocabulary

        return vocabulary.counter(self.paths.vocabulary)

    @cached_property
    def _message_searcher(self) -> "MessageSearcher":
        from memtui.search.messages import MessageSearcher

        return MessageSearcher(
            self._message_index, with_tools=self.settings.search_include_tools
        )

    @cached_property
    def _message_index(self) -> "MessageIndex":
        from memtui.search.message_index import MessageIndex

        return MessageIndex(self.paths.message_index, is_kept=True)

    @property
    def quarantine(self) -> "QuarantineService":
        """What could not be taken."""
        from memtui.services.quarantine import QuarantineService

        return QuarantineService(self.paths.spool)

    @property
    def jobs(self) -> "JobsController":
        """Who looks at the work behind, and steers the model's jobs."""

        return JobsController(self.paths, self.settings, lambda: self.schedules, _now)

    @property
    def schedules(self) -> "Schedules":
        """When the model's jobs are due."""

        return job_schedules(self.settings, self.zone, self.paths.store)

    def _pipeline_setup(self) -> "Setup":
        from memtui.capture.ingest import CapturePolicy
        from memtui.capture.policy import Exclusions
        from memtui.model.segments import SegmentRules
        from memtui.pipeline.pipeline import Setup
        from memtui.summarize.summarizer import Extractive

        settings = self.settings
        return Setup(
            spool=self.paths.spool,
            index=self.paths.index,
            messages=self.paths.message_index,
            claim=self.paths.worker_lock,
            zone=self.zone,
            rules=SegmentRules(
                silence_s=settings.segments_max_gap_min * 60,
                limit_tokens=settings.segments_max_tokens,
                overlap_s=settings.segments_overlap_min * 60,
                overlap_tokens=settings.segments_overlap_tokens,
            ),
            counter=self.counter,
            summarizer=Extractive(),
            clock=_now,
            agent="agent",
            with_subagents=settings.segments_include_subagents,
            with_tools=settings.search_include_tools,
            admission=CapturePolicy(
                Exclusions(settings.exclude_patterns), self.project
            ),
            watched=self.watched_folders,
            model=None if self.uses_no_model else self._summarizer,
            is_model_wanted=self._wants_model,
            plan=self.schedules,
        )

    @property
    def uses_no_model(self) -> bool:
        """Whether no model is ever asked."""
        return self.is_demo or self.settings.summaries_provider == EXTRACTIVE

    @property
    def _wants_model(self) -> bool:
        """Whether a person said that there is to be one, or which, or where."""
        settings = self.settings
        is_named = settings.is_set("summaries.model") or settings.is_set(
            "summaries.url"
        )
        return is_named or settings.summaries_provider == OLLAMA

    def _summarizer(self, tell: "Callable[[ModelProgress], None]") -> "Summarizer":

        return create_ollama(self.settings, tell)

    def start(self, report: Report) -> None:
        """Start the workers; reports come from their threads.

        They are put together on a thread too: that takes longer than a frame.
        """
        thread = threading.Thread(
            target=self._start, args=(report,), name="start", daemon=True
        )
        thread.start()

    def _start(self, report: Report) -> None:
        works = self.pipeline
        with self._start_lock:
            if not self._is_stopped:
                works.start(report)

    def stop(self) -> None:
        """Stop the workers after what they are doing now."""
        with self._start_lock:
            self._is_stopped = True
            if self._pipeline is not None:
                self._pipeline.stop()
        if "teleport" in self.__dict__:
            self.teleport.close()
        if "_message_index" in self.__dict__:
            self._message_index.close()
        database.close()

    def histories(self) -> list[AgentHistory]:
        """The histories of agents found on this machine."""
        from memtui.capture import formats

        return formats.find_histories(transcript_folders())

    def transcript_folders(self) -> dict[str, tuple[Path, ...]]:
        """Where they are looked for, by the agent's name."""
        return transcript_folders()

    def watched_folders(self) -> dict[str, tuple[Path, ...]]:
        """The places of transcripts that are read as they are written."""
        if self.is_demo:
            return {}
        settings, places = self.settings, transcript_folders()
        with database.connection():
            agreed = meta.watched_sources() or ()
        names = set(settings.capture_sources)
        if CHOSEN in names:
            names |= set(agreed)
        everyone = EVERY in names
        chosen = {n: some for n, some in places.items() if everyone or n in names}
        return {"": settings.watched_folders, **chosen}

    def set_watched(self, names: Iterable[str], *, watched: bool = True) -> None:
        """Remember which agents' transcripts are to be read as they are written.

        Args:
            names: The agents.
            watched: Whether they are, from now on.
        """
        with database.transaction():
            before = set(meta.watched_sources() or ())
            meta.set_watched_sources(
                before | {*names} if watched else before - {*names}
            )

    def start_import(
        self, histories: Sequence[AgentHistory], report: Report, *, is_watched: bool
    ) -> None:
        """Import histories on a thread of its own; the workers digest them meanwhile.

        Args:
            histories: What is imported.
            report: Told how far that is.
            is_watched: Whether they are read on as they grow, from then on.
        """
        folders = [one.folder for one in histories]
        agents = {one.agent for one in histories} if is_watched else set()
        thread = threading.Thread(
            target=self._import,
            args=(folders, agents, report),
            name="import",
            daemon=True,
        )
        thread.start()

    def _import(
        self, folders: Sequence[Path], agents: set[str], report: Report
    ) -> None:
        from memtui.capture import formats

        error = ""
        done = total = 0
        try:
            total = sum(len(formats.find_files(folder)) for folder in folders)
            for imported in self.pipeline.importer().run(folders):
                done = imported.files
                report(self._importing(done, total, imported.waits_for))
            if agents:
                self.set_watched(agents)
        except Exception as reason:  # the thread's edge: nobody else would hear of it
            log.exception("the import stopped")
            error = str(reason) if isinstance(reason, MemtuiError) else repr(reason)
        report(self._importing(done, total, error))

    def start_retry(
        self, names: Sequence[str] | None, told: "Callable[[Retried], None]"
    ) -> None:
        """Try again what could not be taken, on a thread of its own.

        Args:
            names: What it is called in the quarantine; all of it when None.
            told: Told what is tried, once transcripts are read again; the workers
                take the hook files.
        """
        thread = threading.Thread(
            target=self._retry, args=(names, told), name="retry", daemon=True
        )
        thread.start()

    def _retry(
        self, names: Sequence[str] | None, told: "Callable[[Retried], None]"
    ) -> None:
        from memtui.services.quarantine import Retried

        tried = Retried((), (), ())
        why_not: tuple[str, ...] = ()
        try:
            tried = self.quarantine.retry(names)
            for _ in self.pipeline.importer().run(tried.files):
                pass
        except Exception as reason:  # the thread's edge: nobody else would hear of it
            log.exception("what could not be taken could not be tried again")
            why_not = (str(reason) or repr(reason),)
        told(replace(tried, problems=tried.problems + why_not))

    def _importing(self, done: int, total: int, error: str = "") -> "Progress":
        from memtui.pipeline.progress import Progress, counts

        queued, faults = counts()
        told = Progress("import", done, queued, faults, total=total, error=error)
        works = self.pipeline
        return replace(
            told, is_ours=works.is_ours, failing=works.failing, model=works.model
        )


def _now() -> datetime:
    return datetime.now(UTC)


NEXT, AFTER = "It is next.", "It comes after the one being written."
"""When the app that works does it itself."""


def has_active_worker(places: Paths) -> bool | None:
    """Whether a memtui works this store; None on a system that does not tell."""
    holder = worker_lock.holder(places.worker_lock)
    return None if holder is None else bool(holder)


def describe_turn(settings: Settings, is_worked: bool | None) -> str:
    """Who will do what was asked for, and when.

    Args:
        settings: They say whether a model is asked at all.
        is_worked: Whether a memtui works this store; None if that is not known.
    """
    if note := why_no_model(settings):
        return note
    if is_worked is None:
        return "It comes next where a memtui is at work, or once one is."
    if is_worked:
        return "It comes next in the memtui that is at work."
    return "No memtui works now: it is done when memtui next runs."


def rewrite_outlook(
    settings: Settings, progress: "Progress | None", *, is_demo: bool = False
) -> RewriteOutlook:
    """The same in the app, which works itself or sees that another memtui does.

    Args:
        settings: They say whether a model is asked at all.
        progress: What was last reported, if anything was.
        is_demo: Whether this is the made-up memory, for which none is asked.
    """
    if is_demo:
        return RewriteOutlook("The demo asks no model.", is_possible=False)
    if note := why_no_model(settings):
        return RewriteOutlook(note, is_possible=False)
    if progress is not None and not progress.is_ours:
        return RewriteOutlook(describe_turn(settings, is_worked=True))
    if progress is None:
        return RewriteOutlook(NEXT)
    health = progress.model.health
    if health is None or health.is_ready:
        return RewriteOutlook(AFTER if progress.model.node_id else NEXT)
    why = f"{health.message[:1].upper()}{health.message[1:]}."
    return RewriteOutlook(
        f"{why} {_CURES.get(health.condition, _WAIT)}", is_possible=False
    )


_WAIT = "It is tried again by itself."


_CURES = {
    ModelCondition.OFFLINE: "Start Ollama (ollama serve); the rest goes by itself then.",
    ModelCondition.MODEL_MISSING: "Once it is there, the rest goes by itself.",
    ModelCondition.REFUSED: "Change that in the settings; see memtui config show.",
}
"""What to do when a model cannot be asked."""


def why_no_model(settings: Settings) -> str:
    """Why no model is ever asked; "" if one is, where there is one."""
    if settings.summaries_provider != EXTRACTIVE:
        return ""
    origin = settings.origin("summaries.provider")
    return (
        f"No model is asked while summaries.provider is {EXTRACTIVE} ({origin});"
        " with auto one is, where there is one."
    )


JITTER_S = 300
"""The most by which the runs of a store are delayed: several stores on one machine do
not ask the model at the same time."""


def job_schedules(settings: Settings, zone: tzinfo, store: Path) -> Schedules:
    """When each job of a store is due."""
    return Schedules(
        crons={job: str(settings.value(f"jobs.{job.level}")) for job in ROLLUP_JOBS},
        zone=zone,
        jitter_s=JITTER_S,
        store=str(store.resolve()),
    )


def create_ollama(
    settings: Settings, report: Callable[[ModelProgress], None]
) -> "Summarizer":
    """Return Ollama's summarizer, which stores the output modes that it finds out.

    Args:
        settings: The settings.
        report: Told the progress of a summary, on the thread that asks.
    """
    from memtui.summarize.ollama.models import Capability, OutputMode
    from memtui.summarize.ollama.summarizer import Callbacks, Ollama

    modes = {mode.value for mode in OutputMode}
    with database.connection():
        known = [
            Capability(server, digest, OutputMode(mode))
            for server, digest, mode in meta.capabilities()
            if mode in modes
        ]
    callbacks = Callbacks(report=report, learned=_store, accept=_rejection)
    return Ollama(model_options(settings), known, callbacks)


def model_options(settings: Settings) -> "ModelOptions":
    """Return the settings of Ollama."""
    from memtui.summarize.ollama.models import ModelOptions

    return ModelOptions(
        url=settings.summaries_url,
        allowed_hosts=settings.summaries_allowed_hosts,
        model=settings.summaries_model,
        window_tokens=settings.summaries_window_tokens,
        keep_alive=settings_module.keep_alive(settings.summaries_keep_alive),
        timeout_s=settings.summaries_timeout_s,
    )


def _store(found: "Capability") -> None:
    with database.transaction():
        meta.add_capability(found.server, found.digest, found.mode.value)


def _rejection(draft: Summary, log: "Log") -> str:
    from memtui.summarize import draft as summarize_draft

    return summarize_draft.why_not(draft, [turn.text for turn in log.turns])


class JobsController:
    """Reads and writes what is noted of the jobs; who works reads it there."""

    def __init__(
        self,
        paths: "Paths",
        settings: "Settings",
        plan: "Callable[[], Schedules]",
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where to look.

        Args:
            paths: The places of the store.
            settings: They say whether a model is asked at all.
            plan: Tells when the jobs are due.
            clock: The time, aware.
        """
        self._paths, self._settings = paths, settings
        self._plan, self._clock = plan, clock

    @property
    def why_no_model(self) -> str:
        """Why no model is ever asked; "" if one is."""
        return why_no_model(self._settings)

    def read_work(self) -> "WorkStatus":
        """What waits for each stage, and how the jobs stand."""
        from memtui.services import status

        is_worked = has_active_worker(self._paths)
        spool, plan = self._paths.spool, self._plan()
        return status.read_work(spool, plan, self._clock(), is_worked=is_worked)

    def pause(self, job: Job) -> None:
        """Let a job rest until it is resumed."""
        jobs.pause([job])

    def resume(self, job: Job) -> None:
        """Let a job run again."""
        jobs.resume([job])

    def request_run(self, job: Job) -> str:
        """Ask for a run now; who does it and when, or why nobody does."""
        jobs.request_run([job], self._clock())
        return describe_turn(self._settings, has_active_worker(self._paths))
