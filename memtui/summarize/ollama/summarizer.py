"""The summarizer that asks a model of Ollama.

The rest of the program uses ``Ollama``. A ``SummaryTask`` makes one summary: it chooses
the model, and asks it once, or once for each part of a record that is longer than the
window.

Requests are repeated after faults of the server, never for other words.
"""

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.jobs import (
    PULL,
    ModelCondition,
    ModelHealth,
    ModelPhase,
    ModelProgress,
)
from memtui.model.nodes import GenerationStats, Summary
from memtui.model.sessions import PeriodWork
from memtui.model.work import Facts
from memtui.summarize.ollama import models, prompts, replies
from memtui.summarize.ollama.errors import (
    ContextOverflowError,
    EmptyLogError,
    InvalidReplyError,
    ModelNotFoundError,
    OfflineError,
    OllamaError,
    OutOfMemoryError,
    RequestCancelled,
)
from memtui.summarize.ollama.models import Model, ModelOptions
from memtui.summarize.ollama.record import PromptRecord, period_record, session_record

if TYPE_CHECKING:
    from memtui.summarize.ollama.client import Client, ModelReply


Result = TypeVar("Result")

SEED, ATTEMPT_TEMPERATURE = 1, 0.3
"""The first seed, at temperature 0; further attempts have other seeds and this
temperature, since the reply would be the same otherwise."""

MAX_OVERFLOWS = 3
"""The number of times a record is divided again because a prompt was too long."""

WIDENING = 1.5
"""By how much the estimate grows if a prompt was too long."""

OFFLINE = "Ollama is not running: summaries are extracts for now."
"""The message if no server answers."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks that the caller of the summarizer provides."""

    report: Callable[[ModelProgress], None] = lambda _: None
    """Called with the progress of a summary, on the thread that asks."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


NO_MODEL = Model("")


@dataclass(frozen=True, slots=True)
class Discovery:
    """A server and the model that summarizes."""

    server: str = ""
    """The server's version."""
    model: Model = NO_MODEL
    window: int = 0
    models: tuple[Model, ...] = ()
    """All models of the server."""

    @property
    def reply_tokens(self) -> int:
        return prompts.reply_budget(self.window, can_think=self.model.can_think)

    @property
    def prompt_tokens(self) -> int:
        return prompts.prompt_budget(self.window, self.reply_tokens)


async def discover(
    client: "Client", options: ModelOptions, excluded: Collection[str] = ()
) -> Discovery:
    """Ask a server for its models, and choose one.

    Args:
        client: The connection to the server.
        options: The settings.
        excluded: The names of models that are not to be chosen.

    Raises:
        OllamaError: No server answers, or there is no model that may summarize.
    """
    server = models.read_field(await client.ask("/api/version"), "version", str)
    tags, running = await client.ask("/api/tags"), await client.ask("/api/ps")
    installed = models.parse_models(tags, running)
    memory_bytes = models.machine_memory() if client.is_local else 0
    unsuitable = set(excluded)
    while True:
        model = models.choose(installed, options.model, unsuitable, memory_bytes)
        details = await client.ask("/api/show", {"model": model.name})
        model = models.with_details(model, details)
        window = models.choose_window(model, options.window_tokens)
        reason = models.objection(model, window)
        if not reason:
            return Discovery(server, model, window, tuple(installed))
        if options.model:
            raise ModelNotFoundError(
                f"{model.name} cannot summarize: {reason}",
                remedy=f"{PULL}, and name that in summaries.model",
            )
        unsuitable.add(model.name)


class SummaryTask:
    """The requests for one summary."""

    def __init__(
        self,
        client: "Client",
        options: ModelOptions,
        scales: dict[str, float],
        callbacks: Callbacks,
        attempt: int = 0,
    ) -> None:
        """Store the connection, and how often the same was asked before.

        ``scales`` has the scale of estimates of each model, by its digest, for which a
        prompt was too long.
        """
        self._client, self._options = client, options
        self._scales, self._callbacks, self._attempt = scales, callbacks, attempt
        self.discovery = Discovery()
        self._excluded: set[str] = set()
        self._part, self._parts = 1, 1
        self._requests = 0
        self._replies: list[ModelReply] = []

    async def run(self, record: PromptRecord) -> Summary:
        """Summarize a record; with another model if one cannot be used.

        Raises:
            OllamaError: It cannot be done now, or not with this model.
        """
        if not record.lines:
            raise EmptyLogError("there is no text to summarize")
        began_s = self._callbacks.clock()
        failure: OllamaError | None = None
        while True:
            try:
                await self.discover()
            except ModelNotFoundError as error:
                raise failure or error from None
            try:
                summary = await self._summarize(record)
            except (OutOfMemoryError, ModelNotFoundError) as error:
                if self._options.model:
                    raise
                failure = error
                self._exclude(error)
            else:
                return replace(summary, generation=self._measure(began_s))

    async def discover(self) -> None:
        """Choose the model."""
        self.discovery = await discover(self._client, self._options, self._excluded)

    async def check(self, record: PromptRecord) -> tuple[str, str]:
        await self.discover()
        (asked,) = self._divide(record)
        reply = await self._send(asked)
        return replies.parse_answer(reply.text, asked)

    def _exclude(self, failure: OllamaError) -> None:
        """Exclude the model, and all that need as much memory if it lacks memory."""
        failed = self.discovery.model
        lacks_memory = isinstance(failure, OutOfMemoryError)
        self._excluded.add(failed.name)
        self._excluded |= {
            model.name
            for model in self.discovery.models
            if lacks_memory and model.size_bytes >= failed.size_bytes
        }

    async def _summarize(self, record: PromptRecord) -> Summary:
        """Summarize a record in parts that fit the window.

        If a prompt is too long nevertheless, the estimate grows, and all begins again.
        """
        parts = self._divide(record)
        for _ in range(MAX_OVERFLOWS):
            try:
                return await self._ask_about(parts)
            except ContextOverflowError:
                self._scales[self.discovery.model.digest] = self._scale * WIDENING
                smaller_parts = self._divide(record)
                if smaller_parts == parts:
                    raise
                parts = smaller_parts
        return await self._ask_about(parts)

    def _divide(self, record: PromptRecord) -> list[PromptRecord]:
        return prompts.divide(record, self.discovery.prompt_tokens, self._scale)

    @property
    def _scale(self) -> float:
        digest = self.discovery.model.digest
        return self._scales.get(digest, prompts.INITIAL_SCALE)

    async def _ask_about(self, parts: Sequence[PromptRecord]) -> Summary:
        """Ask about each part; those without a valid reply are left out.

        Raises:
            OllamaError: There is no summary of any part.
        """
        summaries: list[tuple[int, Summary]] = []
        failure: InvalidReplyError | None = None
        self._parts = len(parts)
        for self._part, part in enumerate(parts, start=1):
            reply = await self._send(part)
            self._replies.append(reply)
            try:
                summaries.append((part.size, replies.parse_reply(reply.text, part)))
            except InvalidReplyError as error:
                failure = error
        if failure and not summaries:
            raise failure
        return _join(summaries)

    async def _send(self, record: PromptRecord) -> "ModelReply":
        """Send a request, again after errors that may pass."""
        failures = 0
        while True:
            is_loaded = self._replies or (
                self.discovery.model.loaded_window == self.discovery.window
            )
            self._report(ModelPhase.READING if is_loaded else ModelPhase.LOADING)
            self._requests += 1
            try:
                return await self._client.chat(
                    self._request(record),
                    lambda tokens: self._report(ModelPhase.WRITING, tokens),
                )
            except OllamaError as error:
                if failures >= len(error.retry_delays_s):
                    raise
                delay_s = error.retry_delays_s[failures]
            failures += 1
            self._report(ModelPhase.WAITING)
            await self._callbacks.sleep(delay_s)

    def _request(self, record: PromptRecord) -> dict[str, Any]:
        model = self.discovery.model
        request = {
            "model": model.name,
            "messages": prompts.messages(record),
            "format": prompts.reply_schema(record),
            "options": self._model_options,
            "keep_alive": self._options.keep_alive,
        }
        if model.think_option is not None:
            request["think"] = model.think_option
        return request

    @property
    def _model_options(self) -> dict[str, float]:
        return {
            "num_ctx": self.discovery.window,
            "num_predict": self.discovery.reply_tokens,
            "temperature": ATTEMPT_TEMPERATURE if self._attempt else 0.0,
            "seed": SEED + self._attempt,
        }

    def _measure(self, began_s: float) -> GenerationStats:
        """Return what all requests took."""
        model, received = self.discovery.model, self._replies
        return GenerationStats(
            model=model.name,
            digest=model.digest,
            server=self.discovery.server,
            prompt=prompts.VERSION,
            options=json.dumps(self._model_options, separators=(",", ":")),
            requests=self._requests,
            parts=self._parts,
            prompt_tokens=sum(reply.prompt_tokens for reply in received),
            reply_tokens=sum(reply.reply_tokens for reply in received),
            load_ms=sum(reply.load_ms for reply in received),
            prompt_ms=sum(reply.prompt_ms for reply in received),
            reply_ms=sum(reply.reply_ms for reply in received),
            total_ms=round((self._callbacks.clock() - began_s) * 1000),
            was_truncated=not all(reply.is_whole for reply in received),
        )

    def _report(self, phase: ModelPhase, written: int = 0) -> None:
        limit = self.discovery.reply_tokens
        progress = ModelProgress(phase, self._part, self._parts, written, limit)
        self._callbacks.report(progress)


def _join(parts: Sequence[tuple[int, Summary]]) -> Summary:
    """Join the summaries of parts; the largest part names the whole."""
    _, largest = max(parts, key=lambda part: part[0])
    summaries = [summary for _, summary in parts]
    keywords = dict.fromkeys(
        word for summary in (largest, *summaries) for word in summary.keywords
    )
    return Summary(
        largest.title,
        tuple(bullet for summary in summaries for bullet in summary.bullets),
        tuple(keywords)[: prompts.MAX_KEYWORDS],
    )


class Ollama:
    """A ``Summarizer`` that asks a model of an Ollama server.

    Its event loop runs on the thread that asks, and any other thread can cancel it:
    cancelling a task ends a request within milliseconds, where closing a connection
    from another thread does not.
    """

    def __init__(
        self, options: ModelOptions, callbacks: Callbacks | None = None
    ) -> None:
        """Store the settings; no server is asked yet."""
        self._options = options
        self._callbacks = callbacks or Callbacks()
        self._scales: dict[str, float] = {}
        self._discovery = Discovery()
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()

    @property
    def identity(self) -> str:
        """The prompts' version, and the model as it was last found."""
        model = self._discovery.model
        return f"ollama-{prompts.VERSION} {model.name} {model.digest[:12]}".rstrip()

    def health(self) -> ModelHealth:
        """Check the server and its models, without asking any of them."""
        try:
            self._run(SummaryTask.discover)
        except OfflineError as error:
            return ModelHealth(error.condition, OFFLINE)
        except OllamaError as error:
            health = ModelHealth(
                error.condition, error.reason, error.remedy, retry_after_s=error.retry_s
            )
        else:
            warning = models.size_warning(self._discovery.model)
            health = ModelHealth(ModelCondition.READY, warning)
        model = self._discovery.model
        return replace(
            health,
            model=model.name,
            digest=model.digest,
            server=self._discovery.server,
            window_tokens=self._discovery.window,
            is_loaded=model.is_loaded,
            on_cpu=model.on_cpu,
        )

    def cancel(self) -> None:
        """End the current request, and refuse new ones; from any thread."""
        with self._lock:
            self._is_cancelled = True
            running = list(self._running)
        for loop, task in running:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    def summarize_events(
        self,
        events: Sequence[Event],
        facts: Facts,
        *,
        earlier_request: str = "",
        attempt: int = 0,
    ) -> Summary:
        """Summarize all events of a session, so no request is earlier.

        Raises:
            OllamaError: Not now, or not with this model; its kind says why.
        """
        record = session_record(events, facts)
        return self._run(lambda task: task.run(record), attempt)

    def summarize_children(
        self,
        level: TocLevel,
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        """Summarize a period from the work of its sessions.

        Raises:
            OllamaError: Not now, or not with this model; its kind says why.
        """
        record = period_record(level, works)
        return self._run(lambda task: task.run(record), attempt)

    def check_claim(self, record: PromptRecord) -> tuple[str, str]:
        """Return whether the source of a claim says it, and in which words."""
        return self._run(lambda task: task.check(record))

    def _run(
        self,
        ask: Callable[[SummaryTask], Coroutine[Any, Any, Result]],
        attempt: int = 0,
    ) -> Result:
        """Run requests on this thread until they are answered or cancelled."""
        # httpx takes 60 ms, and Ollama's package 190 ms, to import.
        from memtui.summarize.ollama.client import Client, parse_address

        options = self._options
        address = parse_address(options.url, options.allowed_hosts)

        async def run() -> Result:
            task = asyncio.current_task()
            assert task is not None
            running = (asyncio.get_running_loop(), task)
            with self._lock:
                if self._is_cancelled:
                    raise RequestCancelled("the request was cancelled")
                self._running.add(running)
            try:
                async with Client(address, options.timeout_s) as client:
                    requests = SummaryTask(
                        client, options, self._scales, self._callbacks, attempt
                    )
                    try:
                        return await ask(requests)
                    finally:
                        if requests.discovery.model.name:
                            self._discovery = requests.discovery
            except asyncio.CancelledError:
                if not self._is_cancelled:
                    raise
                raise RequestCancelled("the request was cancelled") from None
            finally:
                with self._lock:
                    self._running.discard(running)

        with asyncio.Runner() as runner:
            return runner.run(run())
