"""Standing: what is remembered of models and tries, and what asking is handed."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from memtui.llm.breaker import Allowance, Breaker, Record
from memtui.llm.budgets import Scale
from memtui.llm.faults import Busy, Fault, Unwell
from memtui.llm.models import Model
from memtui.llm.probing import Capability, Mode
from memtui.llm.prompts import Log
from memtui.model.model_state import ModelProgress
from memtui.model.summaries import Summary

SEED = 1
"""The first seed; a further try takes the next, so that it is another request."""


@dataclass(slots=True)
class Memory:
    """What is remembered from one summary to the next."""

    breaker: Breaker
    record: Record
    allowance: Allowance
    windows: dict[str, int] = field(default_factory=dict)
    """The window each model was last asked in, by its digest."""
    on_cpu: dict[str, bool] = field(default_factory=dict)
    """Whether each model ran on the CPU alone when it was last loaded, by its key."""
    scales: dict[str, Scale] = field(default_factory=dict)
    """How each model counts that has counted something, by its digest."""
    modes: dict[tuple[str, str], Mode] = field(default_factory=dict)
    """How each model is asked, by server version and digest."""

    def runs_on_cpu(self, model: Model) -> bool:
        """Whether a model runs on the CPU alone, as it is loaded or last was.

        Of one that this process has not seen loaded it is what the last process saw of
        any: it is not loaded just to be told that there are no minutes left.
        """
        if model.is_loaded:
            self.on_cpu[model.key] = model.on_cpu
        return self.on_cpu.get(model.key, self.allowance.is_used)

    def check(self, model: Model) -> None:
        """Let a model work, or not.

        Raises:
            Resting: It has used its minutes.
        """
        if self.runs_on_cpu(model):
            self.allowance.check()


@dataclass(frozen=True, slots=True)
class Tools:
    """What asking is handed."""

    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]
    """Seconds that only go forward."""
    jitter: Callable[[], float]
    """What a wait is multiplied by, about 1."""
    report: Callable[[ModelProgress], None]
    learned: Callable[[Capability], None]
    """Told what was found out about a model, to be kept."""
    accept: Callable[[Summary, Log], str]
    """Why a draft is not to be taken; "" if it is."""


@dataclass(slots=True)
class Tries:
    """What has been tried with one prompt."""

    temperature: float = 0.0
    seed: int = SEED
    _waits: dict[type[Fault], Iterator[float]] = field(default_factory=dict)

    def again(self, fault: Fault) -> float | None:
        """Go on to the next try: how long to wait for it; None if there is none."""
        kind = Busy if isinstance(fault, Busy) else Unwell
        self.seed += kind is Unwell
        return next(self._waits.setdefault(kind, iter(fault.waits_s)), None)
