"""The jobs and their runs, with a row for each, and the checkpoints of roll-ups."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memtui import redaction
from memtui.model.calendar import TocLevel
from memtui.model.events import clean, from_ms, to_ms
from memtui.model.jobs import Job, JobRun, JobState, RunReason, RunResult
from memtui.store.database import execute, fetch, fetch_dicts, insert, next_id

MAX_RUNS = 200

ERROR_CHARS = 500


# Jobs


def get_states() -> dict[Job, JobState]:
    states = dict.fromkeys(Job, JobState())
    sql = "SELECT name, is_paused, requested_ms, active_since_ms FROM jobs"
    for name, is_paused, *times in fetch(sql):
        states[Job(name)] = JobState(bool(is_paused), *map(_to_time, times))
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
        sql = "UPDATE jobs SET requested_ms = NULL WHERE name = ? AND requested_ms = ?"
        execute(sql, job.value, to_ms(requested_at))


def _update(job: Job, **values: object) -> None:
    execute("INSERT OR IGNORE INTO jobs (name) VALUES (?)", job.value)
    changes = ", ".join(f"{column} = ?" for column in values)
    execute(f"UPDATE jobs SET {changes} WHERE name = ?", *values.values(), job.value)


# Runs


def save_run(run: JobRun, number: int = 0) -> int:
    """Store a run under its number; a new run (0) is given one. Return the number.

    With a new run, the oldest ones of its job are deleted.
    """
    if number:
        execute("DELETE FROM job_runs WHERE id = ?", number)
    else:
        number = next_id("job_runs")
    insert("job_runs", [{"id": number, **_to_columns(run)}])
    execute(
        "DELETE FROM job_runs WHERE job = :job AND id <= (SELECT id FROM job_runs"
        " WHERE job = :job ORDER BY id DESC LIMIT 1 OFFSET :kept)",
        job=run.job.value,
        kept=MAX_RUNS,
    )
    return number


def interrupt_runs() -> None:
    """Mark every run without an end as interrupted at its last sign of life.

    Only the process with the worker lock may do so: runs of another have not ended.
    """
    execute(
        "UPDATE job_runs SET result = ?, ended_ms = heartbeat_ms"
        " WHERE ended_ms IS NULL",
        RunResult.INTERRUPTED.value,
    )


def list_runs(job: Job | None = None, limit: int | None = None) -> list[JobRun]:
    """Return the runs of a job, or of all, the latest first."""
    rows = fetch_dicts(
        "SELECT * FROM job_runs WHERE ? IN ('', job) ORDER BY id DESC LIMIT ?",
        job.value if job else "",
        -1 if limit is None else limit,
    )
    return list(map(_to_run, rows))


_SAME = ("error", "created", "rejected", "failed", "waiting", "skipped")
"""The fields of a run that are stored as they are."""


def _to_columns(run: JobRun) -> dict[str, object]:
    error = " ".join(redaction.redact(clean(run.error)).text.split())
    if len(error) > ERROR_CHARS:
        error = f"{error[: ERROR_CHARS - 1]}…"
    return {
        **{name: getattr(run, name) for name in _SAME},
        "job": run.job,
        "reason": run.reason,
        "started_ms": to_ms(run.started_at),
        "heartbeat_ms": to_ms(run.heartbeat_at),
        "ended_ms": to_ms(run.ended_at) if run.ended_at else None,
        "result": run.result,
        "error": error,
        "withheld": json.dumps(dict(run.withheld)) if run.withheld else "",
    }


def _to_run(row: dict[str, Any]) -> JobRun:
    return JobRun(
        job=Job(row["job"]),
        reason=RunReason(row["reason"]),
        started_at=from_ms(row["started_ms"]),
        heartbeat_at=from_ms(row["heartbeat_ms"]),
        ended_at=_to_time(row["ended_ms"]),
        result=RunResult(row["result"]) if row["result"] else None,
        withheld=json.loads(row["withheld"] or "{}"),
        **{name: row[name] for name in _SAME},
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
    execute(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)",
        checkpoint.job_name,
        checkpoint.level.value,
        to_ms(checkpoint.last_processed_time),
        checkpoint.processed_count,
        to_ms(checkpoint.created_at),
    )


def get_checkpoint(job_name: str) -> Checkpoint | None:
    rows = fetch("SELECT * FROM checkpoints WHERE job_name = ?", job_name)
    for name, level, last_ms, count, created_ms in rows:
        return Checkpoint(
            name, TocLevel(level), from_ms(last_ms), count, from_ms(created_ms)
        )
    return None
