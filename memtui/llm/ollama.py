"""Ollama: the summariser that asks a model on this machine.

Its event loop runs on the thread that asks, so that whoever calls waits, and anybody
else can call it off: cancelling a task ends a request within milliseconds, where
closing a connection from another thread does not.
"""

import asyncio
import math
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from memtui.llm import hosts, looking, prompts
from memtui.llm.asking import SummaryRequest
from memtui.llm.breaker import HOUR_S, Allowance, Breaker, Record, Spent
from memtui.llm.faults import (
    PULL,
    Busy,
    Cancelled,
    Fault,
    ModelMissing,
    Offline,
    Refused,
    Resting,
)
from memtui.llm.looking import Found, Wishes
from memtui.llm.probing import Capability
from memtui.llm.prompts import Log
from memtui.llm.serving import Serving
from memtui.llm.standing import Memory, Tools
from memtui.llm.transport import Connect, Transport, through_ollama
from memtui.model.model_state import ModelCondition, ModelHealth, ModelProgress
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.segments import Segment
from memtui.model.summaries import Summary

Answer = TypeVar("Answer")


JITTER = 0.2
"""By how much of itself a wait is made longer or shorter, by chance."""


START = f"start Ollama, or install it from ollama.com, then: {PULL}"
"""What to do where nobody answers."""


_CONDITIONS: dict[type[Fault], ModelCondition] = {
    Offline: ModelCondition.OFFLINE,
    ModelMissing: ModelCondition.MODEL_MISSING,
    Refused: ModelCondition.REFUSED,
    Busy: ModelCondition.RESTING,
    Cancelled: ModelCondition.RESTING,
}


def _with_cure(health: ModelHealth, fault: Fault) -> ModelHealth:
    if isinstance(fault, ModelMissing):
        return replace(health, message=fault.said, remedy=fault.cure)
    return replace(health, remedy=START) if isinstance(fault, Offline) else health


def _no_report(_: ModelProgress) -> None:
    """Tell nobody."""


def _nothing_learned(_: Capability) -> None:
    """Keep nothing."""


def _nothing_spent(_: Spent) -> None:
    """Keep nothing."""


def _anything(_: Summary, __: Log) -> str:
    """Accept any draft."""
    return ""


class Ollama:
    """Summarises with a model of an Ollama server; keeps the summariser's protocol."""

    def __init__(
        self,
        wishes: Wishes,
        *,
        report: Callable[[ModelProgress], None] = _no_report,
        known: Iterable[Capability] = (),
        learned: Callable[[Capability], None] = _nothing_learned,
        spent: Spent = (),
        spend: Callable[[Spent], None] = _nothing_spent,
        accept: Callable[[Summary, Log], str] = _anything,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = lambda: random.uniform(1 - JITTER, 1 + JITTER),
        connect: Connect = through_ollama,
    ) -> None:
        """Remember what is wanted; nobody is asked yet.

        Args:
            wishes: The server, the model and the limits.
            report: Told how far a summary has come, on the thread that asks.
            known: What was found out about models before.
            learned: Told what is found out, so that it can be kept.
            spent: When a model worked before without a graphics card.
            spend: Told all of that whenever it is more, so that it can be kept.
            accept: Why a draft is not to be taken, "" if it is; a draft that is not
                gets one other try.
            clock: Seconds that only go forward.
            sleep: Waits so many seconds before a further try.
            jitter: What such a wait is multiplied by.
            connect: Makes the HTTP client.
        """
        self._wishes, self._connect = wishes, connect
        allowance = Allowance(wishes.cpu_minutes, clock, spend)
        allowance.remember(spent)
        self._memory = Memory(Breaker(clock), Record(clock), allowance)
        for one in known:
            self._memory.modes[one.server, one.digest] = one.mode
        self._tools = Tools(sleep, clock, jitter, report, learned, accept)
        self._found: Found | None = None
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
        """Look at the server and its models; without asking any of them."""
        try:
            found = self._run(self._look)
            self._memory.breaker.seen()
            self._check(found)
        except Resting as fault:
            return self._health(ModelCondition.RESTING, str(fault), fault.retry_s)
        except Fault as fault:
            kinds = (c for kind, c in _CONDITIONS.items() if isinstance(fault, kind))
            is_off = isinstance(fault, Offline)
            wait = self._memory.breaker.missed() if is_off else 0.0
            health = self._health(next(kinds, ModelCondition.UNWELL), str(fault), wait)
            return _with_cure(health, fault)
        if wait := self._memory.record.wait_s(found.model.key):
            return self._poor(found.model.name, wait)
        return self._health(ModelCondition.READY)

    def _poor(self, name: str, wait: float) -> ModelHealth:
        """How it is when there are only models that were tried and do not do."""
        hours = math.ceil(wait / HOUR_S)
        says = (
            f"{name} rarely writes a summary that can be used: it is tried again in"
            f" {hours} h, and for what you ask for yourself"
        )
        return replace(self._health(ModelCondition.UNWELL, says), is_poor=True)

    def _health(
        self, condition: ModelCondition, says: str = "", wait: float = 0
    ) -> ModelHealth:
        found = self._found
        if found is None or condition in (
            ModelCondition.OFFLINE,
            ModelCondition.REFUSED,
        ):
            return ModelHealth(condition, says, retry_s=wait)
        return ModelHealth(
            condition,
            says,
            model=found.model.name,
            digest=found.model.digest,
            server=found.server,
            window_tokens=found.window,
            is_loaded=found.model.is_loaded,
            on_cpu=found.model.on_cpu,
            retry_s=wait,
        )

    async def _look(self, transport: Transport) -> Found:
        memory, poor = self._memory, self._memory.record.poor
        self._found = found = await looking.look(
            transport, self._wishes, memory.windows, poor=poor
        )
        return found

    def _check(self, found: Found | None) -> None:
        """Whether a model may be asked now.

        Raises:
            Resting: It may not, for a while.
        """
        self._memory.breaker.check()
        if found:
            self._memory.check(found.model)

    def cancel(self) -> None:
        """End what is being asked, and refuse what comes; from any thread."""
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
        """Say what a segment holds.

        Raises:
            Fault: Not now, or not with this model; its kind says why.
        """
        return self._summarize(prompts.of_segment(segment), attempt)

    def summarize_children(
        self, level: TocLevel, children: Sequence[TocNode], *, attempt: int = 0
    ) -> Summary:
        """Say what a node holds, out of its children's bullets.

        Raises:
            Fault: Not now, or not with this model; its kind says why.
        """
        return self._summarize(prompts.of_children(level, children), attempt)

    def _summarize(self, log: Log, attempt: int) -> Summary:
        self._check(self._found)

        async def ask(transport: Transport) -> Summary:
            serving = Serving(transport, self._wishes, self._memory, self._tools)
            try:
                return await SummaryRequest(serving, attempt).summary(log)
            finally:
                if serving.found.model.name:
                    self._found = serving.found

        return self._run(ask)

    def _run(self, ask: Callable[[Transport], Coroutine[Any, Any, Answer]]) -> Answer:
        """Run requests on this thread until they are answered or called off."""
        address = hosts.address(self._wishes.url, self._wishes.allowed_hosts)

        async def asked() -> Answer:
            task = asyncio.current_task()
            assert task is not None
            running = (asyncio.get_running_loop(), task)
            with self._lock:
                if self._is_cancelled:
                    raise Cancelled("it was called off")
                self._running.add(running)
            try:
                transport = Transport(address, self._wishes.deadlines, self._connect)
                async with transport:
                    return await ask(transport)
            except asyncio.CancelledError:
                if not self._is_cancelled:
                    raise
                raise Cancelled("it was called off") from None
            finally:
                with self._lock:
                    self._running.discard(running)

        with asyncio.Runner() as runner:
            return runner.run(asked())
