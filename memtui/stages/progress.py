"""What the loops tell of their work."""

from dataclasses import dataclass, replace

from memtui.memory.summarizers import Doing, Health


@dataclass(frozen=True, slots=True)
class Model:
    """How the model is that summarises, and what it does now."""

    health: Health | None = None
    """None if nobody has looked yet, or none is to be asked."""
    node_id: str = ""
    """Of what it writes a version; "" while it rests."""
    doing: Doing | None = None

    def of(self, node_id: str) -> "Model":
        """The same, at work on a node."""
        return replace(self, node_id=node_id, doing=None)

    def at(self, doing: Doing) -> "Model":
        """The same, so far."""
        return replace(self, doing=doing)


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
    model: Model = Model()
