"""What the loops tell of their work."""

from dataclasses import dataclass, replace
from datetime import datetime

from memtui.memory.summarizers import Doing, Health


@dataclass(frozen=True, slots=True)
class Model:
    """How the model is that summarises, and what it does now."""

    health: Health | None = None
    """None if nobody has looked yet, or none is to be asked."""
    node_id: str = ""
    """Of what it writes a version; "" while it rests."""
    doing: Doing | None = None
    waiting: int = 0
    """How many nodes of that level want a version, this one with them."""
    began_at: datetime | None = None
    """When it began with that node, aware; None while it rests."""
    is_wanted: bool = False
    """Whether a person asked for a model, so that the want of one is to be told."""
    was_ready: bool = False
    """Whether it could be asked before, since this memtui was started."""

    until: datetime | None = None
    """Until when it rests, in the store's time zone; None if it does not."""
    paused: int = 0
    """How many segments wait for their job, which a person wants to rest."""

    def looked_at(self, health: Health) -> "Model":
        """The same, at rest, as it is found now."""
        was_ready = self.was_ready or health.is_ready
        return replace(self.resting(), health=health, was_ready=was_ready)

    def of(
        self, node_id: str, waiting: int, began_at: datetime | None = None
    ) -> "Model":
        """The same, at work on a node."""
        rested = self.resting()
        return replace(rested, node_id=node_id, waiting=waiting, began_at=began_at)

    def at(self, doing: Doing) -> "Model":
        """The same, so far."""
        return replace(self, doing=doing)

    def resting(self) -> "Model":
        """The same, at work on nothing."""
        return replace(self, node_id="", doing=None, began_at=None)

    @property
    def is_missed(self) -> bool:
        """Whether it should be there, and cannot be asked."""
        is_away = self.health is not None and not self.health.is_ready
        return is_away and (self.is_wanted or self.was_ready)

    @property
    def state(self) -> tuple[object, ...]:
        """What it does, without how much of it is done."""
        condition = self.health and self.health.condition
        doing = self.doing and (self.doing.phase, self.doing.part, self.doing.parts)
        return (condition, self.node_id, doing, self.until, self.paused)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the work stands after a step."""

    stage: str
    """The stage that worked last: ``ingest``, ``segment``, ``summarize``, ``rollup``,
    ``index``, ``import``; empty while all rest."""
    done: int = 0
    queued: int = 0
    problems: int = 0
    is_ours: bool = True
    """Whether this process works the store; False while another one does."""
    changed: frozenset[str] = frozenset()
    """Ids of the nodes whose line or page may have changed."""
    total: int = 0
    """Of an import: how many files there are in all."""
    error: str = ""
    """What this stage could not do."""
    failing: tuple[tuple[str, str], ...] = ()
    """Every stage that fails, the first that did first, and what it could not do."""
    is_gone: bool = False
    """Whether the error is that the store is not where it was."""
    model: Model = Model()
