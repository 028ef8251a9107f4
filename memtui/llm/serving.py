"""Serving: one model of one server, loaded once in its window, asked and measured."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from memtui.llm import budgets, looking, models, probing, prompts
from memtui.llm.budgets import Scale
from memtui.llm.faults import (
    BadReply,
    Busy,
    Fault,
    ModelMissing,
    ModeRefused,
    OutOfMemory,
    Overflow,
    TooLong,
    Unwell,
)
from memtui.llm.looking import Found, Wishes
from memtui.llm.probing import Capability, Mode
from memtui.llm.prompts import Log
from memtui.llm.standing import Memory, Tools, Tries
from memtui.llm.streams import Written
from memtui.llm.transport import Transport
from memtui.model.model_state import ModelPhase, ModelProgress
from memtui.model.summaries import GenerationStats

WIDER = 1.3
"""How much the estimate grows when a prompt was too long by nobody knows how much."""


class Serving:
    """The model that writes one summary."""

    def __init__(
        self, transport: Transport, wishes: Wishes, memory: Memory, tools: Tools
    ) -> None:
        """Remember whom to ask; ``choose`` finds the model."""
        self._transport, self._wishes = transport, wishes
        self.memory, self.tools = memory, tools
        self.found = Found("", models.Model(""), 0)
        self.mode = Mode.QUIET
        self.facts = GenerationStats()
        self.part, self.parts = 1, 1
        """Which part is asked about, and how many are known of."""
        self._avoided: set[str] = set()

    async def choose(self) -> None:
        """Find a model, load it in its window, and learn how it is asked.

        Raises:
            Fault: There is none that can be used now.
        """
        short: OutOfMemory | None = None
        while True:
            try:
                await self._look()
            except ModelMissing as fault:
                raise short or fault from None
            try:
                await self._load()
                self.memory.check(self.found.model)
                await self._learn()
                return
            except OutOfMemory as fault:
                short = fault
                self._avoid_larger(fault)
            except ModelMissing as fault:
                self._avoid(fault)

    async def without(self, fault: ModelMissing) -> None:
        """Choose another model than this one, which has gone.

        Raises:
            Fault: There is none, or this one was asked for by its name.
        """
        self._avoid(fault)
        await self.choose()

    def _avoid(self, fault: ModelMissing) -> None:
        if self._wishes.model:
            raise fault
        self._avoided.add(self.found.model.key)

    async def smaller(self, fault: OutOfMemory) -> None:
        """Choose a smaller model.

        Raises:
            Fault: There is none; it is the one that was.
        """
        self._avoid_larger(fault)
        try:
            await self.choose()
        except ModelMissing:
            raise fault from None

    def _avoid_larger(self, fault: OutOfMemory) -> None:
        if self._wishes.model:
            raise fault
        smaller = models.smaller(self.found.others, self.found.model)
        self._avoided |= {one.key for one in self.found.others} - {
            one.key for one in smaller
        }

    async def _look(self) -> None:
        memory, poor = self.memory, self.memory.record.poor
        # A poor model may be asked for, but is no way out where a better one failed.
        avoided = self._avoided | poor if self._avoided else set[str]()
        async with self._counted():
            self.found = await looking.look(
                self._transport, self._wishes, memory.windows, avoided, poor
            )
        memory.windows[self.found.model.digest] = self.found.window

    async def _load(self) -> None:
        if self.found.model.loaded_window == self.found.window:
            return
        body = {
            "model": self.found.model.name,
            "keep_alive": self._wishes.loads_for,
            "options": {"num_ctx": self.found.window},
            "stream": False,
        }
        tries, load_s = Tries(), self._transport.deadlines.load_s
        while True:
            self.tell(ModelPhase.LOADING)
            try:
                async with self._counted():
                    await self._transport.post("/api/generate", body, load_s)
                    self.found = await looking.loaded(self._transport, self.found)
                return
            except (Busy, Unwell) as fault:
                await self.rest(tries, fault)

    async def _learn(self) -> None:
        """Find out how the model is held to the schema, unless that is known."""
        key = self.found.server, self.found.model.digest
        if known := self.memory.modes.get(key):
            self.mode = known
            return
        self.mode = Mode.LENIENT
        for mode in probing.modes(self.found.model):
            if mode is Mode.LENIENT or await self._keeps(mode):
                self.mode = mode
                break
        self.memory.modes[key] = self.mode
        self.tools.learned(Capability(*key, self.mode))

    async def relearn(self) -> None:
        """Find out anew how the model is asked: what was known is refused."""
        self.memory.modes.pop((self.found.server, self.found.model.digest), None)
        await self._learn()

    async def _keeps(self, mode: Mode) -> bool:
        """Whether the model keeps to the schema in a mode."""
        self.mode, tries = mode, Tries()
        while True:
            try:
                text = await self.write(probing.LOG, tries)
            except (ModeRefused, BadReply, TooLong):
                return False
            except (Busy, Unwell) as fault:
                await self.rest(tries, fault)
            else:
                return probing.keeps_shape(text)

    async def write(self, log: Log, tries: Tries) -> str:
        """What the model writes about one log, with one request.

        Raises:
            Fault: It writes nothing, or not to its end.
        """
        window, most = self.found.window, self._reply_tokens
        estimated = self.scale.prompt(log, with_schema=self.mode.has_schema)
        options = {
            "num_ctx": window,
            "num_predict": most,
            "temperature": tries.temperature,
            "seed": tries.seed,
        }
        self.facts = replace(
            self.facts,
            requests=self.facts.requests + 1,
            options=json.dumps(options, separators=(",", ":")),
        )
        body = probing.body(
            self.found.model, log, self.mode, options, self._wishes.keep_alive
        )
        deadlines = self._transport.deadlines
        first_s = deadlines.first_s + estimated * deadlines.token_s
        self.tell(ModelPhase.READING)
        try:
            async with self._counted():
                with self._spent():
                    written = await self._transport.chat(
                        body, first_s, lambda n: self.tell(ModelPhase.WRITING, n, most)
                    )
        except Overflow as fault:
            self._widen(estimated, fault.tokens)
            raise
        self.memory.breaker.succeeded()
        self._measure(estimated, written)
        if not written.is_whole:
            raise TooLong(written.text)
        return written.text

    def _measure(self, estimated: int, written: Written) -> None:
        """Add what a reply took, and correct the estimate.

        Raises:
            Overflow: The server seems to have cut the prompt.
        """
        facts, counted = self.facts, written.prompt_tokens
        self.facts = replace(
            facts,
            prompt_tokens=facts.prompt_tokens + counted,
            reply_tokens=facts.reply_tokens + written.reply_tokens,
            load_ms=facts.load_ms + written.load_ms,
            prompt_ms=facts.prompt_ms + written.prompt_ms,
            reply_ms=facts.reply_ms + written.reply_ms,
        )
        if budgets.was_cut(estimated, counted, self.found.window):
            self._widen(estimated, 0)
            raise Overflow("the server seems to have cut the prompt", 0, counted)
        scale = self.scale.after(estimated, counted)
        if scale != self.scale:
            self.memory.scales[self.found.model.digest] = scale

    @property
    def is_counted(self) -> bool:
        """Whether the model has counted anything yet."""
        return self.found.model.digest in self.memory.scales

    @property
    def scale(self) -> Scale:
        """How the model counts."""
        return self.memory.scales.get(self.found.model.digest, Scale())

    def _widen(self, estimated: int, counted: int) -> None:
        """Correct the estimate after a prompt that was too long."""
        wider = self.scale.after(estimated, counted)
        if wider.factor <= self.scale.factor:
            wider = Scale(self.scale.factor * WIDER)
        self.memory.scales[self.found.model.digest] = wider

    @property
    def _reply_tokens(self) -> int:
        thinks = self.mode is Mode.THINKING or self.found.model.thinks_always
        return budgets.reply_tokens(self.found.window, thinks=thinks)

    def cut(self, log: Log) -> list[Log]:
        """A log in parts that each fit a request."""
        window, reply = self.found.window, self._reply_tokens
        room = budgets.room(window, reply, is_counted=self.is_counted)
        has_schema = self.mode.has_schema
        return budgets.parts(
            log, room, self.scale, prompts.TURNS, with_schema=has_schema
        )

    async def rest(self, tries: Tries, fault: Fault) -> None:
        """Wait before the next try.

        Raises:
            Fault: There is none; it is the one that was.
        """
        wait = tries.again(fault)
        if wait is None:
            raise fault
        self.tell(ModelPhase.WAITING)
        await self.tools.sleep(wait * self.tools.jitter())

    def tell(self, phase: ModelPhase, written: int = 0, most: int = 0) -> None:
        """Tell how far the summary has come."""
        self.tools.report(ModelProgress(phase, self.part, self.parts, written, most))

    @contextmanager
    def _spent(self) -> Iterator[None]:
        """Counts the time that a model works without a graphics card."""
        began = self.tools.clock()
        try:
            yield
        finally:
            if self.memory.runs_on_cpu(self.found.model):
                self.memory.allowance.spend(self.tools.clock() - began)

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        """Counts a fault towards the breaker."""
        try:
            yield
        except Fault as fault:
            self.memory.breaker.failed(fault)
            raise
