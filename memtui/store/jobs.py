"""The jobs and their runs, with a row for each, and the checkpoints of roll-ups."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memtui import redaction
from memtui.model.calendar import TocLevel
from memtui.model.events import clean, from_ms, to_ms
from memtui.model.jobs import Job, JobRun, JobState, RunReason, RunResult
from memtui.store.schema import CheckpointRow, JobRow, JobRunRow

MAX_RUNS = 200

ERROR_CHARS = 500


# Jobs


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
    _update(job, requested_ms=now_ms)


def follow_schedules(jobs: Iterable[Job], now_ms: int) -> None:
    """Follow the schedules of jobs from the end of their last run on, else from now on.

    A time in the future was set by a clock that has been set back since.
    """
    states = get_states()
    for job in jobs:
        since = states[job].since
        since_ms = to_ms(since) if since else now_ms
        _update(job, active_since_ms=min(since_ms, now_ms))


def set_run_over(job: Job, now_ms: int, requested_at: datetime | None) -> None:
    """Note the end of a run that need not be repeated, and delete its request."""
    _update(job, active_since_ms=now_ms)
    if requested_at:
        JobRow.update(requested_ms=None).where(
            JobRow.name == job, JobRow.requested_ms == to_ms(requested_at)
        ).execute()


def _update(job: Job, **values: object) -> None:
    JobRow.insert(name=job).on_conflict_ignore().execute()
    JobRow.update(**values).where(JobRow.name == job).execute()


# Runs


def save_run(run: JobRun, number: int = 0) -> int:
    """Store a run under its number; a new run (0) is given one. Return the number.

    With a new run, the oldest ones of its job are deleted.
    """
    if number:
        JobRunRow.update(**_to_columns(run)).where(JobRunRow.id == number).execute()
        return number
    number = JobRunRow.insert(**_to_columns(run)).execute()
    rows = JobRunRow.select(JobRunRow.id).where(JobRunRow.job == run.job)
    oldest = rows.order_by(JobRunRow.id.desc()).limit(1).offset(MAX_RUNS).scalar()
    if oldest:
        JobRunRow.delete().where(
            JobRunRow.job == run.job, JobRunRow.id <= oldest
        ).execute()
    return number


def interrupt_runs() -> None:
    """Mark every run without an end as interrupted at its last sign of life.

    Only the process with the worker lock may do so: runs of another have not ended.
    """
    JobRunRow.update(
        result=RunResult.INTERRUPTED, ended_ms=JobRunRow.heartbeat_ms
    ).where(JobRunRow.ended_ms.is_null()).execute()


def list_runs(job: Job | None = None, limit: int | None = None) -> list[JobRun]:
    """Return the runs of a job, or of all, the latest first."""
    rows = JobRunRow.select().order_by(JobRunRow.id.desc()).limit(limit)
    return [_to_run(row) for row in (rows.where(JobRunRow.job == job) if job else rows)]


def _to_columns(run: JobRun) -> dict[str, object]:
    error = " ".join(redaction.redact(clean(run.error)).text.split())
    if len(error) > ERROR_CHARS:
        error = f"{error[: ERROR_CHARS - 1]}…"
    return {
        "job": run.job,
        "reason": run.reason,
        "started_ms": to_ms(run.started_at),
        "heartbeat_ms": to_ms(run.heartbeat_at),
        "ended_ms": to_ms(run.ended_at) if run.ended_at else None,
        "result": run.result,
        "error": error,
        "created": run.created,
        "rejected": run.rejected,
        "failed": run.failed,
        "waiting": run.waiting,
        "skipped": run.skipped,
        "withheld": json.dumps(dict(run.withheld)) if run.withheld else "",
    }


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
        withheld=json.loads(row.withheld or "{}"),
    )


# Checkpoints


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The progress of the roll-ups of a level, which need no model."""

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
