"""What a person wants of each job, and the runs there were: no words of anybody's."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import clean, from_ms, to_ms
from memtui.model.jobs import Job, JobRun, JobState, RunReason, RunResult
from memtui.model.nodes import TocLevel
from memtui.store.schema import CheckpointRow, JobRow, JobRunRow

MAX_RUNS = 200
"""How many runs of each job are remembered."""

ERROR_CHARS = 500
"""How much of an error is remembered."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run did since it last told."""

    created: int = 0
    rejected: int = 0
    failed: int = 0


def get_states() -> dict[Job, JobState]:
    """What is wanted of every job."""
    found = {row.name: row for row in JobRow.select()}
    return {job: _state(found[job]) if job in found else JobState() for job in Job}


def set_paused(jobs: Iterable[Job], is_paused: bool) -> None:
    """Remember that these jobs rest, or do so no longer.

    A run that was asked for is not wanted any more when its job is to rest.
    """
    for job in jobs:
        values = {"is_paused": is_paused} | (
            {"requested_ms": None} if is_paused else {}
        )
        _change(job, **values)


def request_run(job: Job, now_ms: int) -> None:
    """Remember that a run is asked for; who asked first is served first."""
    _change(job)
    JobRow.update(requested_ms=now_ms).where(
        JobRow.name == job, JobRow.requested_ms.is_null()
    ).execute()


def activate(jobs: Iterable[Job], now_ms: int) -> None:
    """Remember that these jobs' times are kept from now on, unless they were before.

    A time ahead of now was set by a clock that has been set back since.
    """
    for job in jobs:
        _change(job)
        JobRow.update(active_since_ms=now_ms).where(
            JobRow.name == job,
            JobRow.active_since_ms.is_null() | (JobRow.active_since_ms > now_ms),
        ).execute()


def start_run(job: Job, reason: RunReason, now_ms: int) -> int:
    """Remember a run that begins, whose asking is answered; its number."""
    if reason is RunReason.REQUESTED:
        _change(job, requested_ms=None)
    number: int = JobRunRow.insert(
        job=job, reason=reason, started_ms=now_ms, heartbeat_ms=now_ms
    ).execute()
    rows = JobRunRow.select(JobRunRow.id).where(JobRunRow.job == job)
    older = rows.order_by(JobRunRow.id.desc()).limit(1).offset(MAX_RUNS).scalar()
    if older:
        JobRunRow.delete().where(JobRunRow.job == job, JobRunRow.id <= older).execute()
    return number


def update_run(
    number: int, now_ms: int, counts: RunProgress, waiting: int | None
) -> None:
    """Remember what a run did since it last told.

    Args:
        number: The run.
        now_ms: The time, in milliseconds.
        counts: What it did since then.
        waiting: What is left to do; None if that is not known.
    """
    left = {} if waiting is None else {"waiting": waiting}
    JobRunRow.update(
        heartbeat_ms=now_ms,
        created=JobRunRow.created + counts.created,
        rejected=JobRunRow.rejected + counts.rejected,
        failed=JobRunRow.failed + counts.failed,
        **left,
    ).where(JobRunRow.id == number).execute()


def end_run(
    number: int, result: RunResult, now_ms: int, *, error: str = "", skipped: int = 0
) -> None:
    """Remember what came of a run.

    Args:
        number: The run.
        result: How it ended.
        now_ms: The time, in milliseconds.
        error: What went wrong; kept without its secrets.
        skipped: How many times of its job passed meanwhile.
    """
    JobRunRow.update(
        heartbeat_ms=now_ms,
        ended_ms=now_ms,
        result=result,
        error=_kept(error),
        skipped=skipped,
    ).where(JobRunRow.id == number).execute()


def delete_empty_run(number: int) -> None:
    """Take a run back that did nothing."""
    JobRunRow.delete().where(
        JobRunRow.id == number,
        JobRunRow.result == RunResult.DONE,
        JobRunRow.created + JobRunRow.rejected + JobRunRow.failed == 0,
    ).execute()


def interrupt_runs() -> None:
    """Say of every run that never ended that it was broken off when last seen.

    Only who holds the claim may: a run of another process has not ended yet.
    """
    JobRunRow.update(
        result=RunResult.INTERRUPTED, ended_ms=JobRunRow.heartbeat_ms
    ).where(JobRunRow.ended_ms.is_null()).execute()


def list_runs(job: Job | None = None, limit: int | None = None) -> list[JobRun]:
    """The runs of a job, or of all, the latest first.

    Args:
        job: Whose; everyone's when None.
        limit: How many; all when None.
    """
    rows = JobRunRow.select().order_by(JobRunRow.id.desc()).limit(limit)
    return [_run(row) for row in (rows.where(JobRunRow.job == job) if job else rows)]


def last_finished_run(job: Job, now_ms: int) -> JobRun | None:
    """The last run of a job that came to its end, good or bad; None if none did.

    One that ended later than now was noted by a clock that has been set back since.
    """
    over = JobRunRow.result.in_([RunResult.DONE, RunResult.FAILED])
    row = (
        JobRunRow.select()
        .where(JobRunRow.job == job, over, JobRunRow.ended_ms <= now_ms)
        .order_by(JobRunRow.id.desc())
        .first()
    )
    return _run(row) if row else None


def _change(job: Job, **values: object) -> None:
    JobRow.insert(name=job).on_conflict_ignore().execute()
    if values:
        JobRow.update(**values).where(JobRow.name == job).execute()


def _kept(error: str) -> str:
    if not error:
        return ""
    from memtui.text import secrets

    said = " ".join(secrets.redact(clean(error)).text.split())
    return said if len(said) <= ERROR_CHARS else f"{said[: ERROR_CHARS - 1]}…"


def _state(row: JobRow) -> JobState:
    return JobState(
        is_paused=bool(row.is_paused),
        requested_at=None if row.requested_ms is None else from_ms(row.requested_ms),
        active_since=None
        if row.active_since_ms is None
        else from_ms(row.active_since_ms),
    )


def _run(row: JobRunRow) -> JobRun:
    return JobRun(
        job=Job(row.job),
        reason=RunReason(row.reason),
        started_at=from_ms(row.started_ms),
        heartbeat_at=from_ms(row.heartbeat_ms),
        ended_at=None if row.ended_ms is None else from_ms(row.ended_ms),
        result=RunResult(row.result) if row.result else None,
        error=row.error,
        created=row.created,
        rejected=row.rejected,
        failed=row.failed,
        waiting=row.waiting,
        skipped=row.skipped,
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The progress of a job (seed 0)."""

    job_name: str
    level: TocLevel
    last_processed_time: datetime
    processed_count: int
    created_at: datetime


def save_checkpoint(checkpoint: Checkpoint) -> None:
    """Store the progress of a job."""
    CheckpointRow.insert(
        job_name=checkpoint.job_name,
        level=checkpoint.level.value,
        last_processed_ms=to_ms(checkpoint.last_processed_time),
        processed_count=checkpoint.processed_count,
        created_ms=to_ms(checkpoint.created_at),
    ).on_conflict_replace().execute()


def get_checkpoint(job_name: str) -> Checkpoint | None:
    """Return the progress of a job; None if it never ran."""
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
