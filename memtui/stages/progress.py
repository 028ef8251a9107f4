"""What the loops tell of their work."""

from dataclasses import dataclass


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
