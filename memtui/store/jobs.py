"""The state and the runs of each job, and the checkpoints of roll-ups."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memtui import redaction
from memtui.model.calendar import TocLevel
from memtui.model.events import clean, from_ms, to_ms
from memtui.model.jobs import Job, JobRun, JobState, RunReason, RunResult
from memtui.store.schema import CheckpointRow, JobRow, JobRunRow

MAX_RUNS = 200

ERROR_CHARS = 500


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The work of a run since its last update."""

    created: int = 0
    rejected: int = 0
    failed: int = 0
    withheld: Mapping[str, int] = field(default_factory=dict)


def get_states() -> dict[Job, JobState]:
    states = dict.fromkeys(Job, JobState())
    for row in JobRow.select():
        states[Job(row.name)] = JobState(
            row.is_paused, _to_time(row.requested_ms), _to_time(row.active_since_ms)
        )
    return states


def _to_time(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else from_ms(at_ms)


def set_paused(jobs: Iterable[Job], is_paused: bool) -> None:
    """Pause or resume jobs; pausing cancels requested runs."""
    for job in jobs:
        if is_paused:
            _update(job, is_paused=True, requested_ms=None)
        else:
            _update(job, is_paused=False)


def request_run(job: Job, now_ms: int) -> None:
    """Request a run; a repeated request keeps its first place."""
    _update(job)
    JobRow.update(requested_ms=now_ms).where(
        JobRow.name == job, JobRow.requested_ms.is_null()
    ).execute()


def activate(jobs: Iterable[Job], now_ms: int) -> None:
    """Note since when the schedules of jobs are followed, if that is not noted yet.

    A time in the future was set by a clock that has been set back since.
    """
    for job in jobs:
        _update(job)
        JobRow.update(active_since_ms=now_ms).where(
            JobRow.name == job,
            JobRow.active_since_ms.is_null() | (JobRow.active_since_ms > now_ms),
        ).execute()


def start_run(job: Job, reason: RunReason, now_ms: int) -> int:
    """Add a run and delete the oldest ones; return its number."""
    if reason is RunReason.REQUESTED:
        _update(job, requested_ms=None)
    number: int = JobRunRow.insert(
        job=job, reason=reason, started_ms=now_ms, heartbeat_ms=now_ms
    ).execute()
    rows = JobRunRow.select(JobRunRow.id).where(JobRunRow.job == job)
    older = rows.order_by(JobRunRow.id.desc()).limit(1).offset(MAX_RUNS).scalar()
    if older:
        JobRunRow.delete().where(JobRunRow.job == job, JobRunRow.id <= older).execute()
    return number


def update_run(
    number: int, now_ms: int, progress: RunProgress, waiting: int | None
) -> None:
    left: dict[str, object] = {} if waiting is None else {"waiting": waiting}
    if progress.withheld:
        row = JobRunRow.get_by_id(number)
        withheld = Counter(_read_counts(row.withheld)) + Counter(progress.withheld)
        left["withheld"] = json.dumps(withheld)
    JobRunRow.update(
        heartbeat_ms=now_ms,
        created=JobRunRow.created + progress.created,
        rejected=JobRunRow.rejected + progress.rejected,
        failed=JobRunRow.failed + progress.failed,
        **left,
    ).where(JobRunRow.id == number).execute()


def end_run(
    number: int, result: RunResult, now_ms: int, *, error: str = "", skipped: int = 0
) -> None:
    """Note the end of a run.

    ``skipped`` is how many times of its schedule passed meanwhile.
    """
    text = " ".join(redaction.redact(clean(error)).text.split())
    JobRunRow.update(
        heartbeat_ms=now_ms,
        ended_ms=now_ms,
        result=result,
        error=text if len(text) <= ERROR_CHARS else f"{text[: ERROR_CHARS - 1]}…",
        skipped=skipped,
    ).where(JobRunRow.id == number).execute()


def delete_empty_run(number: int) -> None:
    JobRunRow.delete().where(
        JobRunRow.id == number,
        JobRunRow.result == RunResult.DONE,
        JobRunRow.created + JobRunRow.rejected + JobRunRow.failed == 0,
    ).execute()


def interrupt_runs() -> None:
    """Mark every run without an end as interrupted at its last sign of life.

    Only the process with the worker lock may do so: runs of another have not ended.
    """
    JobRunRow.update(
        result=RunResult.INTERRUPTED, ended_ms=JobRunRow.heartbeat_ms
    ).where(JobRunRow.ended_ms.is_null()).execute()


def list_runs(job: Job | None = None, limit: int | None = None) -> list[JobRun]:
    rows = JobRunRow.select().order_by(JobRunRow.id.desc()).limit(limit)
    return [_to_run(row) for row in (rows.where(JobRunRow.job == job) if job else rows)]


def last_finished_run(job: Job, now_ms: int) -> JobRun | None:
    """Return the last run of a job that succeeded or failed; None if there is none.

    A run that ended in the future was noted by a clock that has been set back since.
    """
    is_finished = JobRunRow.result.in_([RunResult.DONE, RunResult.FAILED])
    rows = JobRunRow.select().where(JobRunRow.job == job, is_finished)
    past = rows.where(JobRunRow.ended_ms <= now_ms)
    return next(map(_to_run, past.order_by(JobRunRow.id.desc()).limit(1)), None)


def _update(job: Job, **values: object) -> None:
    JobRow.insert(name=job).on_conflict_ignore().execute()
    if values:
        JobRow.update(**values).where(JobRow.name == job).execute()


def _read_counts(stored: str) -> dict[str, int]:
    return json.loads(stored) if stored else {}


def _to_run(row: JobRunRow) -> JobRun:
    return JobRun(
        job=Job(row.job),
        reason=RunReason(row.reason),
        started_at=from_ms(row.started_ms),
        heartbeat_at=from_ms(row.heartbeat_ms),
        ended_at=_to_time(row.ended_ms),
        result=RunResult(row.result) if row.result else None,
        error=row.error,
        created=row.created,
        rejected=row.rejected,
        failed=row.failed,
        waiting=row.waiting,
        skipped=row.skipped,
        withheld=_read_counts(row.withheld),
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The progress of a job."""

    job_name: str
    level: TocLevel
    last_processed_time: datetime
    processed_count: int
    created_at: datetime


def save_checkpoint(checkpoint: Checkpoint) -> None:
    CheckpointRow.insert(
        job_name=checkpoint.job_name,
        level=checkpoint.level.value,
        last_processed_ms=to_ms(checkpoint.last_processed_time),
        processed_count=checkpoint.processed_count,
        created_ms=to_ms(checkpoint.created_at),
    ).on_conflict_replace().execute()


def get_checkpoint(job_name: str) -> Checkpoint | None:
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
