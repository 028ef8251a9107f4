"""How the memory is: how much is kept, what waits, what went wrong."""

from dataclasses import dataclass
from datetime import datetime

from memtui.store import counts, database, dirty, grips, outbox, problems, segments, toc
from memtui.store.problems import Kind as Kind
from memtui.store.problems import Problem


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


def stats() -> Stats:
    """Count what is kept."""
    with database.connected():
        events, helpers = counts.events()
        nodes, bullets, supported = toc.count()
        agents = counts.messages_by("agent")
        span = counts.span()
        return Stats(
            sessions=counts.sessions(),
            events=events,
            messages=sum(number for _, number in agents),
            subagent_events=helpers,
            segments=segments.count(),
            nodes=nodes,
            bullets=bullets,
            supported=supported,
            grips=grips.count(),
            queued=outbox.length() + segments.count_waiting() + dirty.count(),
            problems=problems.faults(),
            first_at=span[0] if span else None,
            last_at=span[1] if span else None,
            agents=tuple(agents),
            projects=tuple(counts.messages_by("project")),
        )


def is_empty() -> bool:
    """Whether nothing at all is kept yet."""
    with database.connected():
        return counts.is_empty()


def latest_problems(*, limit: int = 200) -> list[Problem]:
    """Damaged records, by where they came from and why, the latest first."""
    with database.connected():
        return problems.latest(limit, kind=Kind.FAULT)


def left_out() -> list[tuple[str, Kind, int]]:
    """All that was not taken: (reason, its kind, how many), most first."""
    with database.connected():
        return problems.by_reason()
