"""How the memory is: how much is kept, what waits, what went wrong."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is kept and how much waits."""

    sessions: int
    events: int
    messages: int
    subagent_events: int
    segments: int
    nodes: int
    bullets: int
    supported: int
    grips: int
    queued: int
    """Rows in the outbox and nodes not yet rolled up: work that waits."""
    problems: int
    """Records that could not be taken."""
    first_at: datetime | None
    last_at: datetime | None
    agents: tuple[tuple[str, int], ...]
    """Each agent with its number of messages."""
    projects: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Records that could not be taken, by where they came from and why."""

    source: str
    """The file."""
    line: int
    """The line of the latest of them, from 1; 0 where there are no lines."""
    reason: str
    count: int
    last_at: datetime


def stats() -> Stats:
    """Count what is kept."""
    raise NotImplementedError


def is_empty() -> bool:
    """Whether nothing at all is kept yet."""
    raise NotImplementedError


def problems(*, limit: int = 200) -> list[Problem]:
    """What could not be taken, the latest first."""
    raise NotImplementedError
