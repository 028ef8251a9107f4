"""Counts of what is stored, pending and skipped; words for stages."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.errors import MemtuiError
from memtui.model.calendar import TocLevel
from memtui.store import (
    backup,
    database,
    events,
    nodes,
    queues,
    schema,
    segments,
    sessions,
    sources,
    versions,
)


@dataclass(frozen=True, slots=True)
class Stats:
    """The numbers of what is stored and indexed."""

    sessions: int
    events: int
    messages: int
    subagent_events: int
    segments: int
    nodes: int
    bullets: int
    supported: int
    grips: int
    pending: int
    """Rows of the outbox, and segments and nodes that wait for a summary."""
    skipped: int
    """Records that could not be read."""
    first_at: datetime | None
    last_at: datetime | None
    agents: tuple[tuple[str, int], ...]
    """Each agent with its number of messages."""
    projects: tuple[tuple[str, int], ...]


def read_stats() -> Stats:
    with database.connection():
        events, subagent_events = sessions.count_events()
        node_count, bullets, supported = nodes.count()
        agents = sessions.count_messages_by("agent")
        first_at, last_at = sessions.time_span() or (None, None)
        pending = (
            queues.count_rows() + segments.count_pending() + queues.count_rollups()
        )
        return Stats(
            sessions=sessions.count(),
            events=events,
            messages=sum(count for _, count in agents),
            subagent_events=subagent_events,
            segments=segments.count(),
            nodes=node_count,
            bullets=bullets,
            supported=supported,
            grips=versions.count_grips(),
            pending=pending,
            skipped=sources.count_damaged(),
            first_at=first_at,
            last_at=last_at,
            agents=tuple(agents),
            projects=tuple(sessions.count_messages_by("project")),
        )


def count_unreadable_events() -> int:
    """Count the events met since the start that cannot be read."""
    return len(events.unreadable)


def count_waiting_for_model() -> int:
    """Count the nodes that wait for a new summary by the model."""
    with database.connection():
        return sum(queues.count_rewrites(level) for level in TocLevel)


def is_damaged(store: Path) -> bool:
    """Return whether a store has damages; takes a moment."""
    try:
        if backup.open_read_only(store) != schema.VERSION:
            return False
        with database.connection():
            return bool(backup.find_damages())
    except MemtuiError:
        return False


def is_empty() -> bool:
    with database.connection():
        return not sessions.count_events()[0]


ACTIVITIES = {
    "ingest": "reading new events",
    "tail": "reading transcripts",
    "segment": "segmenting",
    "summarize": "summarizing",
    "rollup": "rolling up",
    "index": "indexing",
    "messages": "indexing messages",
    "improve": "asking the model",
    "import": "importing",
}


def activity_name(stage: str) -> str:
    return ACTIVITIES.get(stage, "working")
