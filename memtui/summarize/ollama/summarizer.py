"""The summarizer that asks a model of Ollama.

The rest of the program uses ``Ollama``. A ``SummaryTask`` makes one summary: it chooses
the model, loads it once in its window, and asks it once, or once for each part of a
record that is longer than the window. ``ModelState`` keeps facts about models between
summaries.

Requests are repeated after faults of the server, never for other words.
"""

import asyncio
import json
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.model.nodes import GenerationStats, Summary, TocNode
from memtui.model.sessions import PeriodWork
from memtui.model.work import Facts
from memtui.summarize.ollama import models, prompts, replies
from memtui.summarize.ollama.errors import (
    PULL,
    Breaker,
    BusyError,
    CircuitOpenError,
    ContextOverflowError,
    EmptyLogError,
    InvalidReplyError,
    ModelNotFoundError,
    NotAllowedError,
    OfflineError,
    OldServerError,
    OllamaError,
    OutOfMemoryError,
    RequestCancelled,
    TransientError,
)
from memtui.summarize.ollama.models import Discovery, Model, ModelOptions
from memtui.summarize.ollama.prompts import TokenScale
from memtui.summarize.ollama.record import Record, period_record, session_record

if TYPE_CHECKING:
    from memtui.summarize.ollama.client import Client, ModelReply


Result = TypeVar("Result")

SEED, ATTEMPT_TEMPERATURE = 1, 0.3
"""The first seed, at temperature 0; further attempts have other seeds and this
temperature, since the reply would be the same otherwise."""

MAX_OVERFLOWS = 3
"""The number of times a record is divided anew because a prompt was too long."""

WIDENING = 1.5
"""By how much the estimate grows if a prompt was too long."""

JITTER = 0.2
"""By how much of itself a wait is made longer or shorter at random."""

OFFLINE = "Ollama is not running: summaries are extracts for now."
"""The message if no server answers."""

START = f"start Ollama, or install it from ollama.com, then: {PULL}"
"""Advice if no server answers."""


@dataclass(slots=True)
class ModelState:
    """The knowledge about models that is shared by all summaries."""

    breaker: Breaker
    scales: dict[str, TokenScale] = field(default_factory=dict)
    """The token scale of each model, by its digest, for which a prompt was too long."""


def _ignore(_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks that the caller of the summarizer provides."""

    report: Callable[[ModelProgress], None] = _ignore
    """Called with the progress of a summary, on the thread that asks."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = lambda: random.uniform(1 - JITTER, 1 + JITTER)
    """The factor for the wait before a retry."""


class SummaryTask:
    """The requests for one summary."""

    def __init__(
        self,
        client: "Client",
        options: ModelOptions,
        state: ModelState,
        callbacks: Callbacks,
        attempt: int = 0,
    ) -> None:
        """Store the connection, and how often the same was asked before."""
        self._client, self._options = client, options
        self._state, self._callbacks, self._attempt = state, callbacks, attempt
        self.discovery = Discovery("", Model(""), 0)
        self._stats = GenerationStats()
        self._part, self._parts = 1, 1
        self._excluded: set[str] = set()

    async def run(self, record: Record) -> Summary:
        """Summarize a record.

        Raises:
            OllamaError: It cannot be done now, or not with this model.
        """
        if not record.lines:
            raise EmptyLogError("there is no text to summarize")
        began_s = self._callbacks.clock()
        await self._choose()
        parts = await self._summarize_parts(record)
        model = self.discovery.model
        stats = replace(
            self._stats,
            model=model.name,
            digest=model.digest,
            server=self.discovery.server,
            prompt=prompts.VERSION,
            parts=len(parts),
            total_ms=round((self._callbacks.clock() - began_s) * 1000),
        )
        return replace(_join(parts), generation=stats)

    async def _summarize_parts(self, record: Record) -> list[tuple[int, Summary]]:
        """Return the summary of each part of a record, with the size of the part.

        Raises:
            OllamaError: There is no summary of any part.
        """
        summaries: list[tuple[int, Summary]] = []
        parts, done, overflows = self._divide(record), 0, 0
        invalid: InvalidReplyError | None = None
        while done < len(parts):
            part = parts[done]
            self._part, self._parts = done + 1, len(parts)
            try:
                summaries.append((part.size, await self._ask(part)))
                done += 1
            except InvalidReplyError as error:
                invalid = error
                done += 1
            except (
                ContextOverflowError,
                OutOfMemoryError,
                ModelNotFoundError,
            ) as error:
                if isinstance(error, ContextOverflowError):
                    overflows += 1
                    if overflows > MAX_OVERFLOWS:
                        raise
                else:
                    await self._choose(error)
                turns = tuple(turn for part in parts[done:] for turn in part.turns)
                parts[done:] = self._divide(replace(record, turns=turns))
                is_same = parts[done] == part
                if isinstance(error, ContextOverflowError) and is_same:
                    raise
        if invalid and not summaries:
            raise invalid
        return summaries

    def _divide(self, record: Record) -> list[Record]:
        budget = prompts.prompt_budget(self.discovery.window, self._reply_tokens)
        return prompts.divide(record, budget, self._scale)

    # Choosing a model

    async def _choose(self, failure: OllamaError | None = None) -> None:
        """Choose a model and load it in its window.

        Args:
            failure: Why the model that was chosen before cannot be used.

        Raises:
            OllamaError: No model can be used now, or the settings name the one that
                failed.
        """
        while True:
            if failure:
                self._exclude(failure)
            try:
                await self._discover()
            except ModelNotFoundError:
                if isinstance(failure, OutOfMemoryError):
                    raise failure from None
                raise
            try:
                await self._load()
                return
            except (OutOfMemoryError, ModelNotFoundError) as error:
                failure = error

    def _exclude(self, failure: OllamaError) -> None:
        """Exclude the model, and all that need as much memory if it lacks memory."""
        if self._options.model:
            raise failure
        self._excluded.add(self.discovery.model.key)
        if isinstance(failure, OutOfMemoryError):
            installed = self.discovery.models
            smaller = models.smaller(installed, self.discovery.model)
            self._excluded |= {model.key for model in installed if model not in smaller}

    async def _discover(self) -> None:
        try:
            self.discovery = await models.discover(
                self._client, self._options, self._excluded
            )
        except OllamaError as error:
            self._state.breaker.record(error)
            raise

    async def _load(self) -> None:
        model, window = self.discovery.model, self.discovery.window
        if model.loaded_window != window:
            keep_alive = self._options.load_keep_alive
            await self._request(
                ModelPhase.LOADING,
                lambda: self._client.load(model.name, window, keep_alive),
            )

    # Asking it

    async def _ask(self, record: Record) -> Summary:
        """Ask about a record that fits the window.

        Raises:
            OllamaError: There is no summary.
        """
        estimated = self._scale.prompt_tokens(record)
        try:
            reply = await self._request(ModelPhase.READING, lambda: self._chat(record))
        except ContextOverflowError:
            self._widen()
            raise
        self._state.breaker.reset()
        self._measure(estimated, reply)
        parsed = replies.parse_reply(reply.text, record)
        self._stats = replace(
            self._stats,
            dropped_bullets=self._stats.dropped_bullets + parsed.dropped,
            was_truncated=self._stats.was_truncated or not reply.is_whole,
        )
        return parsed.summary

    async def _chat(self, record: Record) -> "ModelReply":
        model, limit = self.discovery.model, self._reply_tokens
        options = {
            "num_ctx": self.discovery.window,
            "num_predict": limit,
            "temperature": ATTEMPT_TEMPERATURE if self._attempt else 0.0,
            "seed": SEED + self._attempt,
        }
        self._stats = replace(
            self._stats,
            requests=self._stats.requests + 1,
            options=json.dumps(options, separators=(",", ":")),
        )
        return await self._client.chat(
            model.name,
            prompts.messages(record),
            lambda tokens: self._report(ModelPhase.WRITING, tokens, limit),
            options=options,
            keep_alive=self._options.keep_alive,
            think=model.think_option,
            format=prompts.reply_schema(record),
        )

    async def _request(
        self, phase: ModelPhase, send: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Send a request, again after errors that may pass; record all errors."""
        delays: dict[type[OllamaError], Iterator[float]] = {}
        while True:
            self._report(phase)
            try:
                return await send()
            except OllamaError as error:
                self._state.breaker.record(error)
                kind = BusyError if isinstance(error, BusyError) else TransientError
                waits = delays.setdefault(kind, iter(error.retry_delays_s))
                delay_s = next(waits, None) if error.retry_delays_s else None
                if delay_s is None:
                    raise
            self._report(ModelPhase.WAITING)
            await self._callbacks.sleep(delay_s * self._callbacks.jitter())

    def _measure(self, estimated: int, reply: "ModelReply") -> None:
        """Add up what a reply took.

        Raises:
            ContextOverflowError: The server seems to have truncated the prompt.
        """
        stats, counted = self._stats, reply.prompt_tokens
        self._stats = replace(
            stats,
            prompt_tokens=stats.prompt_tokens + counted,
            reply_tokens=stats.reply_tokens + reply.reply_tokens,
            load_ms=stats.load_ms + reply.load_ms,
            prompt_ms=stats.prompt_ms + reply.prompt_ms,
            reply_ms=stats.reply_ms + reply.reply_ms,
        )
        if prompts.was_truncated(estimated, counted, self.discovery.window):
            self._widen()
            raise ContextOverflowError("the server seems to have cut the prompt")

    @property
    def _scale(self) -> TokenScale:
        return self._state.scales.get(self.discovery.model.digest, TokenScale())

    def _widen(self) -> None:
        """Raise the estimate after a prompt that was too long."""
        wider = TokenScale(self._scale.factor * WIDENING)
        self._state.scales[self.discovery.model.digest] = wider

    @property
    def _reply_tokens(self) -> int:
        thinks = self.discovery.model.always_thinks
        return prompts.reply_budget(self.discovery.window, thinks=thinks)

    def _report(self, phase: ModelPhase, written: int = 0, limit: int = 0) -> None:
        progress = ModelProgress(phase, self._part, self._parts, written, limit)
        self._callbacks.report(progress)


def _join(parts: Sequence[tuple[int, Summary]]) -> Summary:
    """Join the summaries of parts; the largest part names the whole."""
    _, largest = max(parts, key=lambda part: part[0])
    bullets = [bullet for _, summary in parts for bullet in summary.bullets]
    keywords = dict.fromkeys(
        word
        for summary in (largest, *(s for _, s in parts))
        for word in summary.keywords
    )
    words = tuple(keywords)[: prompts.MAX_KEYWORDS]
    return Summary(largest.title, tuple(bullets), words)


_CONDITIONS: dict[type[OllamaError], ModelCondition] = {
    OfflineError: ModelCondition.OFFLINE,
    ModelNotFoundError: ModelCondition.MODEL_MISSING,
    NotAllowedError: ModelCondition.REFUSED,
    CircuitOpenError: ModelCondition.RESTING,
    BusyError: ModelCondition.RESTING,
    RequestCancelled: ModelCondition.RESTING,
}


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
        self._state = ModelState(Breaker(self._callbacks.clock))
        self._discovery: Discovery | None = None
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()

    @property
    def identity(self) -> str:
        """The prompts' version, and the model as it was last found."""
        name = f"ollama-{prompts.VERSION}"
        if self._discovery is None:
            return name
        model = self._discovery.model
        return f"{name} {model.name} {model.digest[:12]}"

    def health(self) -> ModelHealth:
        """Check the server and its models, without asking any of them."""
        breaker = self._state.breaker
        try:
            self._discovery = self._run(
                lambda client: models.discover(client, self._options)
            )
            breaker.note_online()
            breaker.check()
        except OllamaError as error:
            return self._unhealthy(error)
        warning = models.size_warning(self._discovery.model)
        return self._health(ModelCondition.READY, warning)

    def _unhealthy(self, error: OllamaError) -> ModelHealth:
        kinds = (c for kind, c in _CONDITIONS.items() if isinstance(error, kind))
        condition = next(kinds, ModelCondition.FAULTY)
        match error:
            case OfflineError():
                retry_s = self._state.breaker.note_offline()
                return ModelHealth(condition, OFFLINE, START, retry_after_s=retry_s)
            case OldServerError():
                return ModelHealth(condition, str(error), models.UPDATE)
            case NotAllowedError():
                return ModelHealth(condition, str(error))
            case CircuitOpenError():
                return self._health(condition, str(error), retry_s=error.retry_s)
            case ModelNotFoundError():
                return self._health(condition, error.reason, error.remedy)
        return self._health(condition, str(error))

    def _health(
        self,
        condition: ModelCondition,
        message: str = "",
        remedy: str = "",
        retry_s: float = 0,
    ) -> ModelHealth:
        discovery = self._discovery or Discovery("", Model(""), 0)
        model = discovery.model
        return ModelHealth(
            condition,
            message,
            remedy,
            model=model.name,
            digest=model.digest,
            server=discovery.server,
            window_tokens=discovery.window,
            is_loaded=model.is_loaded,
            on_cpu=model.on_cpu,
            retry_after_s=retry_s,
        )

    def cancel(self) -> None:
        """End the current request, and refuse new ones; from any thread."""
        with self._lock:
            self._is_cancelled = True
            running = list(self._running)
        for loop, task in running:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    def resume(self) -> None:
        """Accept requests again."""
        with self._lock:
            self._is_cancelled = False

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
        return self._summarize(session_record(events, facts), attempt)

    def summarize_children(
        self,
        level: TocLevel,
        children: Sequence[TocNode],
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        """Summarize a period from the work of its sessions.

        Raises:
            OllamaError: Not now, or not with this model; its kind says why.
        """
        return self._summarize(period_record(level, works), attempt)

    def _summarize(self, record: Record, attempt: int) -> Summary:
        self._state.breaker.check()

        async def summarize(client: "Client") -> Summary:
            task = SummaryTask(
                client, self._options, self._state, self._callbacks, attempt
            )
            try:
                return await task.run(record)
            finally:
                if task.discovery.model.name:
                    self._discovery = task.discovery

        return self._run(summarize)

    def _run(self, ask: Callable[["Client"], Coroutine[Any, Any, Result]]) -> Result:
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
                    return await ask(client)
            except asyncio.CancelledError:
                if not self._is_cancelled:
                    raise
                raise RequestCancelled("the request was cancelled") from None
            finally:
                with self._lock:
                    self._running.discard(running)

        with asyncio.Runner() as runner:
            return runner.run(run())
