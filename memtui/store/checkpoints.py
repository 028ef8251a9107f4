"""How far each job has come, kept for resuming after a crash (decisions §7)."""

from dataclasses import dataclass
from datetime import datetime

from memtui.memory.events import from_ms, to_ms
from memtui.memory.toc import TocLevel
from memtui.store.tables.working import CheckpointRow


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a job stands (seed 0)."""

    job_name: str
    level: TocLevel
    last_processed_time: datetime
    processed_count: int
    created_at: datetime


def put(checkpoint: Checkpoint) -> None:
    """Keep where a job stands."""
    CheckpointRow.insert(
        job_name=checkpoint.job_name,
        level=checkpoint.level.value,
        last_processed_ms=to_ms(checkpoint.last_processed_time),
        processed_count=checkpoint.processed_count,
        created_ms=to_ms(checkpoint.created_at),
    ).on_conflict_replace().execute()


def get(job_name: str) -> Checkpoint | None:
    """Where a job stands; None if it never ran."""
    row = CheckpointRow.get_or_none(CheckpointRow.job_name == job_name)
    if row is None:
        return None
    return Checkpoint(
        row.job_name,
        TocLevel(row.level),
        from_ms(row.last_processed_ms),
        row.processed_count,
        from_ms(row.created_ms),
    )
