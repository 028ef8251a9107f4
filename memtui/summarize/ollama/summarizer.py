"""The summarizer that asks a model of Ollama.

The rest of the program uses ``Ollama``. A ``SummaryTask`` makes one summary
from its first request to its last, whatever goes wrong between, with a ``ModelSession``
that chooses the model, loads it once in its window, asks and measures it.
``ModelState`` keeps facts about models between summaries.

No prompt is sent again unchanged, unless the server never read it: at temperature 0 it
would give the same reply.
"""

import asyncio
import json
import random
import threading
import time
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.model.nodes import (
    NO_TOTALS,
    GenerationStats,
    ProjectTotals,
    Summary,
    TocNode,
)
from memtui.model.sessions import Segment
from memtui.summarize import acceptance
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
    OllamaError,
    OutOfMemoryError,
    ReplyTooLongError,
    RequestCancelled,
    TransientError,
    UnsupportedModeError,
)
from memtui.summarize.ollama.models import (
    Capability,
    Discovery,
    Model,
    ModelOptions,
    OutputMode,
)
from memtui.summarize.ollama.prompts import PromptInput, TokenScale

if TYPE_CHECKING:
    from memtui.summarize.ollama.client import Client, ModelReply


Result = TypeVar("Result")

SEED = 1
"""The first seed; a retry takes the next, so that it is another request."""

RETRY_TEMPERATURE = 0.3
"""The temperature of the retry after an invalid reply, and of further attempts."""

ATTEMPT_SEEDS = 100
"""The distance between the seeds of attempts; no attempt uses as many."""

HALVINGS = 3
"""The number of times a part is halved before it is given up."""

WIDEN = 1.3
"""By how much the estimate grows if a prompt was too long by an unknown amount."""

JITTER = 0.2
"""By how much of itself a wait is made longer or shorter at random."""

START = f"start Ollama, or install it from ollama.com, then: {PULL}"
"""Advice if no server answers."""


@dataclass(slots=True)
class ModelState:
    """The knowledge about models that is shared by all summaries."""

    breaker: Breaker
    windows: dict[str, int] = field(default_factory=dict)
    """The window each model was last asked in, by its digest."""
    scales: dict[str, TokenScale] = field(default_factory=dict)
    """The token scale of each model, by its digest, once it has counted some."""
    modes: dict[tuple[str, str], OutputMode] = field(default_factory=dict)
    """The output mode of each model, by server version and digest."""


def _ignore(_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks that the caller of the summarizer provides."""

    report: Callable[[ModelProgress], None] = _ignore
    """Called with the progress of a summary, on the thread that asks."""
    save_capability: Callable[[Capability], None] = _ignore
    """Called with the output mode of a model, so that it can be stored."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = lambda: random.uniform(1 - JITTER, 1 + JITTER)
    """The factor for the wait before a retry."""


@dataclass(slots=True)
class _Retries:
    """The temperature, the seed and the waits left for one prompt."""

    temperature: float = 0.0
    seed: int = SEED
    _delays: dict[type[OllamaError], Iterator[float]] = field(default_factory=dict)

    def next_delay(self, error: OllamaError) -> float | None:
        """Return how long to wait before the next retry; None if there is none."""
        if not error.retry_delays_s:
            return None
        kind = BusyError if isinstance(error, BusyError) else TransientError
        self.seed += kind is TransientError
        return next(self._delays.setdefault(kind, iter(error.retry_delays_s)), None)


class ModelSession:
    """The model that writes one summary: chosen, loaded, asked and measured."""

    def __init__(
        self,
        client: "Client",
        options: ModelOptions,
        state: ModelState,
        callbacks: Callbacks,
    ) -> None:
        """Store the connection; ``choose`` finds the model."""
        self._client, self._options = client, options
        self._state, self.callbacks = state, callbacks
        self.found = Discovery("", Model(""), 0)
        self.mode = OutputMode.SCHEMA
        self.generation = GenerationStats()
        self.part, self.parts = 1, 1
        """The part of the log that is asked about, and how many are known of."""
        self._excluded: set[str] = set()

    # Choosing a model

    async def choose(self, failed: OllamaError | None = None) -> None:
        """Choose a model, load it in its window, and find out its output mode.

        Args:
            failed: Why the model that was chosen before cannot be used.

        Raises:
            OllamaError: No model can be used now, or the settings name the
                one that failed.
        """
        while True:
            if failed:
                self._exclude(failed)
            try:
                await self._discover()
            except ModelNotFoundError:
                if isinstance(failed, OutOfMemoryError):
                    raise failed from None
                raise
            try:
                await self._load()
                await self._find_mode()
                return
            except (OutOfMemoryError, ModelNotFoundError) as error:
                failed = error

    def _exclude(self, error: OllamaError) -> None:
        """Exclude the model, and all that need as much memory if it lacks memory."""
        if self._options.model:
            raise error
        self._excluded.add(self.found.model.key)
        if isinstance(error, OutOfMemoryError):
            smaller = models.smaller(self.found.models, self.found.model)
            self._excluded |= {one.key for one in self.found.models} - {
                one.key for one in smaller
            }

    async def _discover(self) -> None:
        state = self._state
        try:
            self.found = await models.discover(
                self._client, self._options, state.windows, self._excluded
            )
        except OllamaError as error:
            state.breaker.record(error)
            raise
        state.windows[self.found.model.digest] = self.found.window

    async def _load(self) -> None:
        model, window = self.found.model, self.found.window
        if model.loaded_window == window:
            return
        keep_alive = self._options.load_keep_alive
        await self._request(
            ModelPhase.LOADING,
            _Retries(),
            lambda: self._client.load(model.name, window, keep_alive),
        )

    async def _find_mode(self) -> None:
        """Find out the output mode, unless it is known."""
        key = self.found.server, self.found.model.digest
        if known := self._state.modes.get(key):
            self.mode = known
            return
        for mode in models.output_modes(self.found.model):
            self.mode = mode
            if mode is OutputMode.LENIENT or await self._matches_schema():
                break
        self._state.modes[key] = self.mode
        self.callbacks.save_capability(Capability(*key, self.mode))

    async def find_mode_again(self) -> None:
        """Find out the output mode again: the known one is not supported."""
        self._state.modes.pop((self.found.server, self.found.model.digest), None)
        await self._find_mode()

    async def _matches_schema(self) -> bool:
        """Return True if the model keeps to the schema in the current mode."""
        try:
            text = await self.ask(models.TEST_LOG, _Retries())
        except (UnsupportedModeError, InvalidReplyError, ReplyTooLongError):
            return False
        return models.matches_schema(text)

    # Asking it

    async def ask(self, log: PromptInput, retries: _Retries) -> str:
        """Ask about a log, and return what the model wrote.

        Raises:
            OllamaError: It wrote nothing, or did not finish.
        """
        estimated = self.scale.prompt_tokens(log)
        try:
            reply = await self._request(
                ModelPhase.READING, retries, lambda: self._chat(log, retries)
            )
        except ContextOverflowError as error:
            self._widen(estimated, error.tokens)
            raise
        self._state.breaker.reset()
        self._measure(estimated, reply)
        if not reply.is_whole:
            raise ReplyTooLongError(reply.text)
        return reply.text

    async def _chat(self, log: PromptInput, retries: _Retries) -> "ModelReply":
        model, most = self.found.model, self._reply_tokens
        options = {
            "num_ctx": self.found.window,
            "num_predict": most,
            "temperature": retries.temperature,
            "seed": retries.seed,
        }
        self.generation = replace(
            self.generation,
            requests=self.generation.requests + 1,
            options=json.dumps(options, separators=(",", ":")),
        )
        return await self._client.chat(
            model.name,
            prompts.messages(log),
            lambda tokens: self.report(ModelPhase.WRITING, tokens, most),
            options=options,
            keep_alive=self._options.keep_alive,
            think=models.think_option(model, self.mode),
            format=prompts.reply_schema(log) if self.mode.has_schema else None,
        )

    async def _request(
        self,
        phase: ModelPhase,
        retries: _Retries,
        send: Callable[[], Awaitable[Result]],
    ) -> Result:
        """Send a request, again after errors that may pass; record all errors."""
        while True:
            self.report(phase)
            try:
                return await send()
            except OllamaError as error:
                self._state.breaker.record(error)
                delay_s = retries.next_delay(error)
                if delay_s is None:
                    raise
            self.report(ModelPhase.WAITING)
            await self.callbacks.sleep(delay_s * self.callbacks.jitter())

    def _measure(self, estimated: int, reply: "ModelReply") -> None:
        """Add up what a reply took, and correct the estimate.

        Raises:
            ContextOverflowError: The server seems to have truncated the prompt.
        """
        facts, counted = self.generation, reply.prompt_tokens
        self.generation = replace(
            facts,
            prompt_tokens=facts.prompt_tokens + counted,
            reply_tokens=facts.reply_tokens + reply.reply_tokens,
            load_ms=facts.load_ms + reply.load_ms,
            prompt_ms=facts.prompt_ms + reply.prompt_ms,
            reply_ms=facts.reply_ms + reply.reply_ms,
        )
        if prompts.was_truncated(estimated, counted, self.found.window):
            self._widen(estimated, 0)
            raise ContextOverflowError("the server seems to have cut the prompt")
        scale = self.scale.corrected(estimated, counted)
        if scale != self.scale:
            self._state.scales[self.found.model.digest] = scale

    @property
    def is_counted(self) -> bool:
        """True if the model has counted any prompt yet."""
        return self.found.model.digest in self._state.scales

    @property
    def scale(self) -> TokenScale:
        """The model's token scale."""
        return self._state.scales.get(self.found.model.digest, TokenScale())

    def _widen(self, estimated: int, counted: int) -> None:
        """Correct the estimate after a prompt that was too long."""
        wider = self.scale.corrected(estimated, counted)
        if wider.factor <= self.scale.factor:
            wider = TokenScale(self.scale.factor * WIDEN)
        self._state.scales[self.found.model.digest] = wider

    @property
    def _reply_tokens(self) -> int:
        thinks = self.mode is OutputMode.SCHEMA_THINKING
        thinks = thinks or self.found.model.always_thinks
        return prompts.reply_budget(self.found.window, thinks=thinks)

    def split(self, log: PromptInput) -> list[PromptInput]:
        """Split a log into parts that each fit a request."""
        budget = prompts.prompt_budget(
            self.found.window, self._reply_tokens, is_counted=self.is_counted
        )
        return prompts.split_log(log, budget, self.scale)

    def report(self, phase: ModelPhase, written: int = 0, most: int = 0) -> None:
        """Report the progress of the summary."""
        self.callbacks.report(
            ModelProgress(phase, self.part, self.parts, written, most)
        )


class _SplitNeeded(Exception):
    """The same text must be asked about in smaller parts; ``error`` says why."""

    def __init__(self, error: OllamaError) -> None:
        super().__init__()
        self.error = error


class _DraftRejectedError(InvalidReplyError):
    """A draft that can be read, and would not be shown."""


class SummaryTask:
    """The requests for one summary.

    A log's parts are judged together: one of them may hold little that can be said with
    its source's words, so that its second draft is taken as it is.
    """

    def __init__(self, session: ModelSession, attempt: int = 0) -> None:
        """Store the session, and how often the same was asked before."""
        self._session, self._attempt = session, attempt
        self._was_halved = self._was_refused = False

    async def run(self, log: PromptInput) -> Summary:
        """Summarize a log.

        Raises:
            OllamaError: It cannot be done now, or not with this model.
        """
        if not log.turns:
            raise EmptyLogError("there is no text to summarize")
        session = self._session
        began_s = session.callbacks.clock()
        await session.choose()
        try:
            summary = await self._summarize(log)
            if session.generation.parts > 1:
                reason = acceptance.check_draft(summary, log.texts, may_add_title=True)
                if reason:
                    raise InvalidReplyError(reason, summary)
        except InvalidReplyError as error:
            error.summary = error.summary and self._with_facts(error.summary, began_s)
            raise
        return self._with_facts(summary, began_s)

    def _with_facts(self, summary: Summary, began_s: float) -> Summary:
        """Add what was measured while a summary was written."""
        session = self._session
        model = session.found.model
        facts = replace(
            session.generation,
            model=model.name,
            digest=model.digest,
            server=session.found.server,
            prompt=prompts.VERSION,
            mode=session.mode.value,
            total_ms=round((session.callbacks.clock() - began_s) * 1000),
        )
        return replace(summary, generation=facts)

    async def _summarize(self, log: PromptInput) -> Summary:
        """Summarize a log of any length, part by part.

        The rest is split again after each part, as the estimate is better then.
        """
        session, done = self._session, list[Summary]()
        waiting = [(log, 0)]
        while waiting:
            whole, depth = waiting.pop()
            part, *others = session.split(whole)
            if others:
                turns = tuple(turn for other in others for turn in other.turns)
                waiting.append((replace(whole, turns=turns, overlap=()), depth))
            session.part = len(done) + 1
            session.parts = session.part + sum(
                len(session.split(rest)) for rest, _ in waiting
            )
            try:
                is_part = bool(depth or waiting or done)
                done.append(await self._ask(part, is_part=is_part))
            except _SplitNeeded as split:
                pieces = prompts.halve_log(part)
                if depth >= HALVINGS or pieces == [part]:
                    raise split.error from None
                is_overflow = isinstance(split.error, ContextOverflowError)
                if is_overflow and len(session.split(part)) > 1:
                    pieces = [part]
                waiting += [(piece, depth + 1) for piece in reversed(pieces)]
        session.generation = replace(session.generation, parts=len(done))
        return done[0] if len(done) == 1 else replies.join_parts(done, log.bullets[1])

    async def _ask(self, log: PromptInput, *, is_part: bool) -> Summary:
        """Summarize one part, after as many retries as the errors allow.

        Args:
            log: The part.
            is_part: Whether it is a part of a longer log.

        Raises:
            _SplitNeeded: It must be asked about in smaller parts.
            OllamaError: There is no summary.
        """
        session, retries = self._session, _Retries()
        if self._attempt:
            retries.temperature = RETRY_TEMPERATURE
            retries.seed = SEED + ATTEMPT_SEEDS * self._attempt
        is_retry, spare = False, None
        while True:
            try:
                text = await session.ask(log, retries)
                return self._parse(text, log, may_add_title=is_retry)
            except InvalidReplyError as error:
                if is_part and isinstance(error, _DraftRejectedError):
                    spare = error.summary
                if is_retry and spare:
                    return spare
                if is_retry:
                    raise
                is_retry = True
                retries.temperature, retries.seed = RETRY_TEMPERATURE, retries.seed + 1
            except ReplyTooLongError as error:
                return self._parse_cut(error, log)
            except ContextOverflowError as error:
                raise _SplitNeeded(error) from error
            except OutOfMemoryError as error:
                if not self._was_halved:
                    self._was_halved = True
                    raise _SplitNeeded(error) from error
                await session.choose(error)
            except ModelNotFoundError as error:
                await session.choose(error)
            except UnsupportedModeError:
                if self._was_refused:
                    raise
                self._was_refused = True
                await session.find_mode_again()

    def _parse(
        self,
        text: str,
        log: PromptInput,
        *,
        is_whole: bool = True,
        may_add_title: bool = False,
    ) -> Summary:
        """Parse what a model wrote into a draft that may be used.

        Raises:
            InvalidReplyError: It may not.
        """
        session = self._session
        reply = replies.parse_reply(text, log, is_whole=is_whole)
        reason = acceptance.check_draft(
            reply.summary, log.texts, may_add_title=may_add_title
        )
        if reason:
            raise _DraftRejectedError(reason, reply.summary)
        left_out = session.generation.dropped_bullets + reply.left_out
        session.generation = replace(
            session.generation, dropped_bullets=left_out, surprise=reply.surprise
        )
        return reply.summary

    def _parse_cut(self, error: ReplyTooLongError, log: PromptInput) -> Summary:
        """Keep the whole bullets of a reply that reached its limit.

        Raises:
            _SplitNeeded: It has none.
        """
        try:
            summary = self._parse(error.text, log, is_whole=False)
        except InvalidReplyError:
            raise _SplitNeeded(error) from error
        self._session.generation = replace(self._session.generation, was_truncated=True)
        return summary


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
        self,
        options: ModelOptions,
        known: Iterable[Capability] = (),
        callbacks: Callbacks | None = None,
    ) -> None:
        """Store the settings; no server is asked yet.

        Args:
            options: The settings.
            known: The output modes that were found out before.
            callbacks: The functions that receive notices.
        """
        self._options = options
        self._callbacks = callbacks or Callbacks()
        modes = {(one.server, one.digest): one.mode for one in known}
        self._state = ModelState(Breaker(self._callbacks.clock), modes=modes)
        self._found: Discovery | None = None
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()

    @property
    def identity(self) -> str:
        """The prompts' version, and the model as it was last found."""
        name = f"ollama-{prompts.VERSION}"
        if self._found is None:
            return name
        model = self._found.model
        return f"{name} {model.name} {model.digest[:12]}"

    def health(self) -> ModelHealth:
        """Check the server and its models, without asking any of them."""
        breaker = self._state.breaker
        try:
            self._found = self._run(
                lambda client: models.discover(
                    client, self._options, self._state.windows
                )
            )
            breaker.note_online()
            breaker.check()
        except OllamaError as error:
            return self._unhealthy(error)
        warning = models.size_warning(self._found.model)
        return self._health(ModelCondition.READY, warning)

    def _unhealthy(self, error: OllamaError) -> ModelHealth:
        kinds = (c for kind, c in _CONDITIONS.items() if isinstance(error, kind))
        condition, message = next(kinds, ModelCondition.FAULTY), str(error)
        if isinstance(error, OfflineError):
            retry_s = self._state.breaker.note_offline()
            return replace(self._health(condition, message, retry_s), remedy=START)
        if isinstance(error, CircuitOpenError):
            return self._health(condition, message, error.retry_s)
        if isinstance(error, ModelNotFoundError):
            return replace(self._health(condition, error.reason), remedy=error.remedy)
        return self._health(condition, message)

    def _health(
        self, condition: ModelCondition, says: str = "", retry_s: float = 0
    ) -> ModelHealth:
        found = self._found
        if found is None or condition in (
            ModelCondition.OFFLINE,
            ModelCondition.REFUSED,
        ):
            return ModelHealth(condition, says, retry_after_s=retry_s)
        return ModelHealth(
            condition,
            says,
            model=found.model.name,
            digest=found.model.digest,
            server=found.server,
            window_tokens=found.window,
            is_loaded=found.model.is_loaded,
            on_cpu=found.model.on_cpu,
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

    def summarize_segment(self, segment: Segment, *, attempt: int = 0) -> Summary:
        """Summarize a segment.

        Raises:
            OllamaError: Not now, or not with this model; its kind says why.
        """
        return self._summarize(prompts.segment_log(segment), attempt)

    def summarize_children(
        self,
        level: TocLevel,
        children: Sequence[TocNode],
        *,
        totals: Mapping[str, ProjectTotals] = NO_TOTALS,
        attempt: int = 0,
    ) -> Summary:
        """Summarize a node from its children's bullets.

        Raises:
            OllamaError: Not now, or not with this model; its kind says why.
        """
        return self._summarize(prompts.children_log(level, children), attempt)

    def _summarize(self, log: PromptInput, attempt: int) -> Summary:
        self._state.breaker.check()

        async def summarize(client: "Client") -> Summary:
            session = ModelSession(client, self._options, self._state, self._callbacks)
            try:
                return await SummaryTask(session, attempt).run(log)
            finally:
                if session.found.model.name:
                    self._found = session.found

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
