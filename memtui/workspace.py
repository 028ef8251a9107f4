"""One open store: ``Workspace`` makes its search, its services and its pipeline.

They get their paths, settings and clock from here.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui import settings as settings_module
from memtui import store as store_module
from memtui.errors import MemtuiError, StoreError
from memtui.model.jobs import (
    ROLLUP_JOBS,
    JobSchedule,
    ModelProgress,
    RewriteForecast,
    Schedules,
)
from memtui.model.sessions import AgentHistory
from memtui.paths import Paths, transcript_folders
from memtui.pipeline import worker
from memtui.pipeline.progress import PipelineProgress, count_pending
from memtui.settings import CHOSEN, EVERY, EXTRACTIVE, OLLAMA, Settings
from memtui.store import database, meta

if TYPE_CHECKING:
    from memtui.pipeline.config import PipelineConfig
    from memtui.pipeline.pipeline import Pipeline
    from memtui.search.quotes import QuoteSearch
    from memtui.search.ranking import MessageRanker
    from memtui.search.search import MessageSearch, SessionSearch
    from memtui.search.teleport import Teleport
    from memtui.services.quarantine import QuarantineService, RetryResult
    from memtui.summarize.ollama.models import ModelOptions
    from memtui.summarize.ollama.summarizer import Ollama
    from memtui.summarize.summarizer import Summarizer
    from memtui.text.tokens import TokenCounter


log = logging.getLogger(__name__)
ReportProgress = Callable[[PipelineProgress], None]


def resolve_paths(
    paths: Paths, settings: Settings, *, is_demo: bool = False
) -> tuple[str, Paths]:
    """Return the project and the paths in use; "" if it has no store of its own."""
    project = _project() if settings.has_separate_stores and not is_demo else ""
    if project:
        paths = paths.for_project(Path(project))
    return project, paths.with_store_file(settings.store_file)


def _project() -> str:
    """Return the repository that contains the working folder, or the folder itself."""
    from memtui.capture import policy

    here = str(Path.cwd())
    return policy.locate_project(here).root or here


def resolve_zone() -> tzinfo:
    """Return the time zone of the open store.

    Raises:
        StoreError: This machine does not know the time zone.
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
    """Return the name of this machine's time zone, or UTC if it has no name."""
    try:
        linked = str(Path("/etc/localtime").readlink())
        name = linked.partition("zoneinfo/")[2]
        return ZoneInfo(name).key if name else "UTC"
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return "UTC"


class Workspace:
    """An open store with its search, its services and its background work."""

    def __init__(
        self, paths: Paths, settings: Settings, *, is_demo: bool = False
    ) -> None:
        """Open the store, or create it.

        Raises:
            MemtuiError: The store cannot be opened; the message says why.
        """
        self.project, paths = resolve_paths(paths, settings, is_demo=is_demo)
        if not store_module.is_read_only(paths.store):
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
        """The background work; it is made at the first use."""
        # The thread of the pipeline and that of an import may both come first.
        with self._pipeline_lock:
            if self._pipeline is None:
                from memtui.pipeline.pipeline import Pipeline

                self._pipeline = Pipeline(self._pipeline_config())
            return self._pipeline

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text; the first call may take a second."""
        return self.counter.count(text)

    # What the first screen does not need is imported when it is used: importing it all
    # takes longer than showing the contents.

    @cached_property
    def teleport(self) -> "Teleport":
        from memtui.search.teleport import Teleport

        return Teleport(self.paths.index, self.zone, self.now)

    @cached_property
    def search(self) -> "SessionSearch":
        from memtui.search.search import SessionSearch

        return SessionSearch(self.teleport, self._message_ranker, self.zone, self.now)

    @cached_property
    def message_search(self) -> "MessageSearch":
        from memtui.search.search import MessageSearch

        return MessageSearch(self._message_ranker, self.zone, self.now)

    @cached_property
    def quotes(self) -> "QuoteSearch":
        from memtui.search.quotes import QuoteSearch

        return QuoteSearch(self.search, self._message_ranker, self.zone, self.now)

    def now(self) -> datetime:
        return datetime.now(UTC)

    @cached_property
    def counter(self) -> "TokenCounter":
        from memtui.text import tokens

        return tokens.load_counter(self.paths.vocabulary)

    @cached_property
    def _message_ranker(self) -> "MessageRanker":
        from memtui.search.message_index import MessageIndex
        from memtui.search.ranking import MessageRanker

        with_tools = self.settings.search_include_tools
        return MessageRanker(
            MessageIndex(self.paths.message_index, with_tools=with_tools)
        )

    @property
    def quarantine(self) -> "QuarantineService":
        from memtui.services.quarantine import QuarantineService

        return QuarantineService(self.paths.spool)

    @property
    def schedules(self) -> Schedules:
        return job_schedules(self.settings, self.zone, self.paths.store)

    def _pipeline_config(self) -> "PipelineConfig":
        from memtui.capture.policy import CapturePolicy, Exclusions
        from memtui.pipeline.config import PipelineConfig
        from memtui.summarize.segmenter import SegmentRules
        from memtui.summarize.summarizer import ExtractiveSummarizer

        settings = self.settings
        make_model_summarizer = partial(create_ollama, settings)
        return PipelineConfig(
            spool=self.paths.spool,
            node_index=self.paths.index,
            message_index=self.paths.message_index,
            lock_file=self.paths.worker_lock,
            zone=self.zone,
            rules=SegmentRules(
                max_pause_s=settings.segments_max_gap_min * 60,
                max_tokens=settings.segments_max_tokens,
            ),
            counter=self.counter,
            summarizer=ExtractiveSummarizer(),
            clock=self.now,
            agent="agent",
            with_subagents=settings.segments_include_subagents,
            with_tools=settings.search_include_tools,
            policy=CapturePolicy(Exclusions(settings.exclude_patterns), self.project),
            watched=self.watched_folders,
            make_model_summarizer=None if self.uses_no_model else make_model_summarizer,
            reports_missing_model=self._is_model_configured,
            schedules=None if self.uses_no_model else self.schedules,
        )

    @property
    def uses_no_model(self) -> bool:
        """True if summaries never use a model."""
        return self.is_demo or self.settings.summaries_provider == EXTRACTIVE

    @property
    def why_no_model(self) -> str:
        """Return the reason why summaries never use a model; "" if they do."""
        if self.is_demo:
            return "The demo asks no model; the lines of one in it are made up."
        if not self.uses_no_model:
            return ""
        origin = self.settings.origin("summaries.provider")
        return (
            f"No model is used while summaries.provider is {EXTRACTIVE} ({origin});"
            " with auto, a model is used if there is one."
        )

    @property
    def has_worker(self) -> bool | None:
        """True if a process runs the pipeline; None if this system cannot tell."""
        holder = worker.find_holder(self.paths.worker_lock)
        return None if holder is None else bool(holder)

    def describe_when_due(self) -> str:
        """Return when a requested job or version is due, as a sentence."""
        if note := self.why_no_model:
            return note
        has_worker = self.has_worker
        when = "as soon as memtui is running"
        if has_worker is None:
            when = "if memtui is running, or as soon as it is"
        elif has_worker:
            when = "by the running memtui"
        return f"It is done next, {when}, if there is a model (memtui doctor)."

    def rewrite_forecast(self, progress: "PipelineProgress | None") -> RewriteForecast:
        """Return when the model will write a requested version, as far as is known.

        Args:
            progress: The last report of the pipeline.
        """
        if note := self.why_no_model:
            return RewriteForecast(note, is_possible=False)
        if progress is not None and not progress.is_active:
            return RewriteForecast(self.describe_when_due())
        health = progress.model.health if progress is not None else None
        if progress is None or health is None:
            return RewriteForecast("It is next, if a model is found.")
        if health.is_ready:
            is_busy = bool(progress.model.node_id)
            return RewriteForecast(
                "It follows the summary being written." if is_busy else "It is next."
            )
        message = health.message.rstrip(".")
        reason = f"{message[:1].upper()}{message[1:]}."
        remedy = "memtui retries automatically."
        if health.advice:
            remedy = f"Try: {health.advice}; memtui does the rest."
        return RewriteForecast(f"{reason} {remedy}", is_possible=False)

    def write_version(self, node_id: str, summarizer: "Summarizer") -> None:
        """Let a summarizer write a version of a node, as a model would."""
        from memtui.pipeline.model_worker import Rewriter

        rewriter = Rewriter(summarizer, self.zone, self.now, lambda _: None)
        rewriter.run(node_id, is_requested=True)

    @property
    def _is_model_configured(self) -> bool:
        """True if the user has set up a model; if so, a missing one is reported."""
        settings = self.settings
        is_named = map(settings.is_set, ("summaries.model", "summaries.url"))
        return any(is_named) or settings.summaries_provider == OLLAMA

    def start(self, report: ReportProgress) -> None:
        """Start the pipeline in the background; ``report`` is called on its threads."""

        def start() -> None:
            pipeline = self.pipeline
            with self._start_lock:
                if not self._is_stopped:
                    pipeline.start(report)

        threading.Thread(target=start, name="start", daemon=True).start()

    def stop(self) -> None:
        """Stop the pipeline after its current step, and close the store."""
        with self._start_lock:
            self._is_stopped = True
            if self._pipeline is not None:
                self._pipeline.stop()
        if "teleport" in self.__dict__:
            self.teleport.close()
        database.close()

    def histories(self) -> list[AgentHistory]:
        """Find the transcripts of agents on this machine, which may take a while."""
        from memtui.capture import formats

        return formats.find_histories(transcript_folders())

    def watched_folders(self) -> dict[str, tuple[Path, ...]]:
        """Return the watched folders by agent; ``capture.folders`` have the key ""."""
        if self.is_demo:
            return {}
        names = set(self.settings.capture_sources)
        if CHOSEN in names:
            with database.connection():
                names |= set(meta.watched_sources() or ())
        folders = {
            name: paths
            for name, paths in transcript_folders().items()
            if EVERY in names or name in names
        }
        return {"": self.settings.watched_folders, **folders}

    def set_watched(self, names: Iterable[str], *, watched: bool = True) -> None:
        """Choose whether the transcripts of agents are read as they are written."""
        with database.transaction():
            before = set(meta.watched_sources() or ())
            meta.set_watched_sources(
                before | {*names} if watched else before - {*names}
            )

    def start_import(
        self,
        histories: Sequence[AgentHistory],
        report: ReportProgress,
        *,
        is_watched: bool,
    ) -> None:
        """Import histories on a thread, while the pipeline runs.

        Args:
            histories: The transcripts to import.
            report: Called with the progress, from that thread.
            is_watched: Watch the agents from then on.
        """
        folders = [history.folder for history in histories]
        agents = {history.agent for history in histories} if is_watched else set()

        def run() -> None:
            from memtui.capture import formats

            error = ""
            done = total = 0
            try:
                total = sum(len(formats.find_files(folder)) for folder in folders)
                for imported in self.pipeline.importer().run(folders):
                    done = imported.files
                    reason = imported.waiting_reason
                    report(self._import_progress(done, total, reason))
                if agents:
                    self.set_watched(agents)
            except Exception as failure:  # nothing else reports an error of this thread
                log.exception("the import failed")
                is_known = isinstance(failure, MemtuiError)
                error = str(failure) if is_known else repr(failure)
            report(self._import_progress(done, total, error))

        threading.Thread(target=run, name="import", daemon=True).start()

    def _import_progress(self, done: int, total: int, error: str) -> PipelineProgress:
        queued, problems = count_pending()
        pipeline = self.pipeline
        return PipelineProgress(
            "import",
            done,
            queued,
            problems,
            total=total,
            error=error,
            is_active=pipeline.is_active,
            failing=pipeline.failing,
            model=pipeline.model,
        )

    def retry_skipped(self, names: Sequence[str] | None = None) -> "RetryResult":
        """Retry skipped input: read its transcripts again, which may take long.

        The files of hooks are left to the pipeline.

        Args:
            names: The names in the quarantine; None for all.
        """
        result = self.quarantine.retry(names)
        for _ in self.pipeline.importer().run(result.files):
            pass
        return result

    def start_retry(
        self, names: Sequence[str] | None, report: "Callable[[RetryResult], None]"
    ) -> None:
        """Retry skipped input on a thread, which does not keep the app from ending."""
        from memtui.services.quarantine import RetryResult

        def run() -> None:
            try:
                result = self.retry_skipped(names)
            except Exception as error:  # nothing else reports an error of this thread
                log.exception("the retry failed")
                result = RetryResult((), (), (str(error) or repr(error),))
            report(result)

        threading.Thread(target=run, name="retry", daemon=True).start()


JITTER_S = 300
"""The maximum delay of a store's runs, so that several stores on one machine do not ask
the model at the same time."""


def job_schedules(settings: Settings, zone: tzinfo, store: Path) -> Schedules:
    identity = str(store.resolve())
    crons = {job: str(settings.value(f"jobs.{job.level}")) for job in ROLLUP_JOBS}
    return {
        job: JobSchedule(job, cron, zone, JITTER_S, identity)
        for job, cron in crons.items()
    }


def create_ollama(
    settings: Settings, report: Callable[[ModelProgress], None]
) -> "Ollama":
    """Return Ollama's summarizer.

    Args:
        settings: The settings.
        report: Called with the progress of a summary, on the thread that asks.
    """
    from memtui.summarize.ollama.summarizer import Callbacks, Ollama

    return Ollama(model_options(settings), Callbacks(report=report))


def model_options(settings: Settings) -> "ModelOptions":
    from memtui.summarize.ollama.models import ModelOptions

    return ModelOptions(
        url=settings.summaries_url,
        allowed_hosts=settings.summaries_allowed_hosts,
        model=settings.summaries_model,
        window_tokens=settings.summaries_window_tokens,
        keep_alive=settings_module.keep_alive(settings.summaries_keep_alive),
        timeout_s=settings.summaries_timeout_s,
    )
