"""Which jobs run at which times, on a real store."""

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtui import store
from memtui.model.calendar import TocLevel
from memtui.model.jobs import (
    ROLLUP_JOBS,
    Job,
    JobRun,
    RunReason,
    RunResult,
)
from memtui.pipeline.scheduler import DueJob, JobScheduler
from memtui.services import jobs
from memtui.store import database
from tests.pipeline.model_bench import SCHEDULES
from tests.tables import NodeRow

SECOND = timedelta(seconds=1)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
"""A Wednesday."""
NIGHT = datetime(2024, 5, 2, 1, tzinfo=UTC)
"""When a day is due next."""

KILLED = """
import os, signal, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from memtui import store
from memtui.model.jobs import Job, JobSchedule
from memtui.pipeline.scheduler import JobScheduler
store.open_at(Path(sys.argv[1]))
now = datetime.fromisoformat(sys.argv[2])
scheduler = JobScheduler({Job.DAY: JobSchedule(Job.DAY, "0 1 * * *", UTC, 0, "a")})
due = scheduler.list_due(now)[0]
assert due.job is Job.DAY, due
scheduler.begin(due, now)
scheduler.record(due.job, "node", now + timedelta(seconds=90), created=2)
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A process that begins the first due job and is killed."""


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    """A store with a pending segment, so that no roll-up is pending."""
    file = tmp_path / "memory.db"
    store.open_at(file)
    add_pending(TocLevel.SEGMENT, "toc:segment:2024-05-01:a")
    return file


@pytest.fixture
def scheduler() -> JobScheduler:
    """A scheduler that was opened on Wednesday at noon."""
    return restart(NOON)


def restart(now: datetime) -> JobScheduler:
    scheduler = JobScheduler(SCHEDULES)
    scheduler.list_due(now)
    return scheduler


def add_pending(level: TocLevel, name: str) -> None:
    """Add a node that needs a version by a model."""
    with database.transaction():
        NodeRow.create(
            node_id=name, level=level, start_ms=0, is_dirty=False, needs_model=True
        )


def write_segment() -> None:
    """Mark all nodes as written."""
    with database.transaction():
        NodeRow.update(needs_model=False).execute()


def rollups(scheduler: JobScheduler, now: datetime) -> list[tuple[Job, RunReason]]:
    """Return the roll-ups that are due, with the reasons."""
    due_jobs = scheduler.list_due(now)
    return [(due.job, due.reason) for due in due_jobs if due.job in ROLLUP_JOBS]


def run_first(
    scheduler: JobScheduler,
    now: datetime,
    result: RunResult = RunResult.DONE,
    took: timedelta = timedelta(),
) -> None:
    """Run the first job that is due; it makes one version."""
    due = scheduler.list_due(now)[0]
    scheduler.begin(due, now)
    scheduler.record(due.job, "node", now + took, created=1)
    scheduler.end(due.job, result, now + took)


def list_runs(job: Job | None = None) -> list[JobRun]:
    return jobs.history(job, limit=500, has_worker=True)


def run_killed(file: Path, now: datetime) -> None:
    argv = [sys.executable, "-c", KILLED, str(file), now.isoformat()]
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr


SCHEDULED_DAY = [(Job.DAY, RunReason.SCHEDULE)]
REQUESTED_DAY = [(Job.DAY, RunReason.REQUESTED)]


def test_new_store_has_missed_nothing() -> None:
    scheduler = JobScheduler(SCHEDULES)
    assert scheduler.list_due(NOON) == [DueJob(Job.SEGMENTS, RunReason.PENDING)]


def test_job_is_due_once_from_the_second_of_its_time(scheduler: JobScheduler) -> None:
    assert rollups(scheduler, NIGHT - SECOND) == []
    assert rollups(scheduler, NIGHT) == SCHEDULED_DAY
    run_first(scheduler, NIGHT)
    assert rollups(scheduler, NIGHT + SECOND) == []
    next_night = NIGHT + timedelta(days=1)
    assert rollups(scheduler, next_night - SECOND) == []
    assert rollups(scheduler, next_night) == SCHEDULED_DAY


def test_running_job_keeps_its_reason_and_has_one_run(scheduler: JobScheduler) -> None:
    (day, _) = scheduler.list_due(NIGHT)
    scheduler.begin(day, NIGHT)
    assert scheduler.is_running(Job.DAY)
    assert rollups(scheduler, NIGHT + SECOND) == SCHEDULED_DAY
    scheduler.begin(day, NIGHT + SECOND)
    assert len(list_runs()) == 1


def test_jobs_due_together_are_listed_from_the_days_up(scheduler: JobScheduler) -> None:
    now = datetime(2025, 1, 5, 12, tzinfo=UTC)
    due = [job for job, _ in rollups(scheduler, now)]
    assert due == list(ROLLUP_JOBS)


def test_times_that_pass_during_a_run_are_skipped_and_counted(
    scheduler: JobScheduler,
) -> None:
    took = timedelta(days=2)
    run_first(scheduler, NIGHT, took=took - SECOND)
    assert list_runs()[0].skipped == 1
    assert rollups(scheduler, NIGHT + took - SECOND) == []
    assert rollups(scheduler, NIGHT + took) == SCHEDULED_DAY


def test_time_at_the_very_end_of_a_run_is_skipped(scheduler: JobScheduler) -> None:
    run_first(scheduler, NIGHT, took=timedelta(days=1))
    assert list_runs()[0].skipped == 1
    assert rollups(scheduler, NIGHT + timedelta(days=1)) == []


def test_missed_runs_are_made_up_for_once_at_the_start(
    scheduler: JobScheduler,
) -> None:
    run_first(scheduler, NIGHT)
    later = NIGHT + timedelta(days=9, hours=7)
    again = restart(later)
    jobs_run = []
    while due := rollups(again, later):
        jobs_run.append(due[0])
        run_first(again, later)
    assert jobs_run == [
        (Job.DAY, RunReason.SCHEDULE),
        (Job.WEEK, RunReason.SCHEDULE),
    ]
    assert rollups(restart(later + SECOND), later + SECOND) == []


def test_requested_jobs_are_due_whatever_the_time(scheduler: JobScheduler) -> None:
    jobs.request_run([Job.YEAR, Job.SEGMENTS], NOON + SECOND)
    due = scheduler.list_due(NOON + SECOND)
    at = NOON + SECOND
    assert due == [
        DueJob(Job.YEAR, RunReason.REQUESTED, at),
        DueJob(Job.SEGMENTS, RunReason.REQUESTED, at),
    ]
    run_first(scheduler, at)
    assert rollups(scheduler, at) == []


def test_request_during_a_run_gives_another_run(scheduler: JobScheduler) -> None:
    jobs.request_run([Job.DAY], NOON)
    scheduler.begin(scheduler.list_due(NOON)[0], NOON)
    jobs.request_run([Job.DAY], NOON + SECOND)
    scheduler.end(Job.DAY, RunResult.DONE, NOON + 2 * SECOND)
    assert rollups(scheduler, NOON + 2 * SECOND) == REQUESTED_DAY
    run_first(scheduler, NOON + 3 * SECOND)
    assert rollups(scheduler, NOON + 4 * SECOND) == []


def test_paused_job_is_due_only_when_requested(scheduler: JobScheduler) -> None:
    jobs.pause(list(Job))
    write_segment()
    assert scheduler.list_due(NIGHT) == []
    jobs.request_run([Job.DAY], NIGHT)
    assert rollups(scheduler, NIGHT) == REQUESTED_DAY
    run_first(scheduler, NIGHT)
    assert scheduler.list_due(NIGHT) == []


def test_resumed_job_makes_up_for_a_missed_run(scheduler: JobScheduler) -> None:
    jobs.pause([Job.DAY])
    assert rollups(scheduler, NIGHT) == []
    jobs.resume([Job.DAY])
    assert rollups(scheduler, NIGHT + SECOND) == SCHEDULED_DAY


def test_run_that_a_pause_stopped_goes_on_when_resumed(scheduler: JobScheduler) -> None:
    scheduler.begin(scheduler.list_due(NIGHT)[0], NIGHT)
    jobs.pause([Job.DAY])
    assert rollups(scheduler, NIGHT + SECOND) == []
    assert list_runs()[0].result is RunResult.STOPPED
    jobs.resume([Job.DAY])
    assert rollups(scheduler, NIGHT + 3 * SECOND) == SCHEDULED_DAY


def test_pause_outlives_a_restart(file: Path, scheduler: JobScheduler) -> None:
    jobs.pause([Job.DAY])
    store.open_at(file)
    assert rollups(restart(NIGHT), NIGHT) == []


def test_stopped_run_is_made_up_for_after_the_next_start(
    scheduler: JobScheduler,
) -> None:
    run_first(scheduler, NIGHT, RunResult.STOPPED)
    assert rollups(restart(NIGHT + SECOND), NIGHT + SECOND) == SCHEDULED_DAY


def test_failed_run_waits_for_its_next_time(scheduler: JobScheduler) -> None:
    run_first(scheduler, NIGHT, RunResult.FAILED)
    assert rollups(scheduler, NIGHT + SECOND) == []
    assert rollups(restart(NIGHT + SECOND), NIGHT + SECOND) == []


def test_requested_run_that_was_stopped_stays_requested(
    scheduler: JobScheduler,
) -> None:
    jobs.request_run([Job.DAY], NOON)
    run_first(scheduler, NOON, RunResult.STOPPED)
    assert rollups(restart(NOON + SECOND), NOON + SECOND) == REQUESTED_DAY
    jobs.pause([Job.DAY])
    assert rollups(restart(NOON + SECOND), NOON + SECOND) == []


def test_rollups_run_once_after_the_last_pending_segment(
    scheduler: JobScheduler,
) -> None:
    assert rollups(scheduler, NOON) == []
    write_segment()
    assert rollups(scheduler, NOON) == [(job, RunReason.PENDING) for job in ROLLUP_JOBS]
    for job in ROLLUP_JOBS:
        scheduler.finish(DueJob(job, RunReason.PENDING), NOON)
    assert rollups(scheduler, NOON) == []
    assert list_runs() == []


def test_rollups_run_again_after_more_segments_were_written(
    scheduler: JobScheduler,
) -> None:
    write_segment()
    for job in ROLLUP_JOBS:
        scheduler.finish(DueJob(job, RunReason.PENDING), NOON)
    scheduler.begin(DueJob(Job.SEGMENTS, RunReason.PENDING), NOON)
    scheduler.record(Job.SEGMENTS, "node", NOON, rejected=1)
    assert rollups(scheduler, NOON) == []
    scheduler.record(Job.SEGMENTS, "node", NOON, created=1)
    assert [job for job, _ in rollups(scheduler, NOON)] == list(ROLLUP_JOBS)


def test_scheduled_run_serves_pending_work_too(scheduler: JobScheduler) -> None:
    write_segment()
    assert rollups(scheduler, NIGHT)[:2] == [
        (Job.DAY, RunReason.SCHEDULE),
        (Job.WEEK, RunReason.PENDING),
    ]
    run_first(scheduler, NIGHT)
    assert rollups(scheduler, NIGHT)[0] == (Job.WEEK, RunReason.PENDING)


@pytest.mark.parametrize("reason", RunReason)
def test_pending_work_without_effect_makes_no_run(
    scheduler: JobScheduler, reason: RunReason
) -> None:
    scheduler.finish(DueJob(Job.DAY, reason), NOON)
    assert bool(list_runs()) is (reason is not RunReason.PENDING)


def test_requested_run_says_why_it_did_nothing(scheduler: JobScheduler) -> None:
    due = DueJob(Job.DAY, RunReason.REQUESTED, NOON)
    scheduler.finish(due, NOON)
    assert list_runs()[0].result is RunResult.DONE
    add_pending(TocLevel.DAY, "toc:day:2024-05-01")
    scheduler.finish(due, NOON)
    assert list_runs()[0].result is RunResult.FAILED
    assert list_runs()[0].error == "lower levels come first: 1 segment pending"
    with database.transaction():
        NodeRow.delete().where(NodeRow.level == TocLevel.SEGMENT).execute()
    scheduler.finish(due, NOON)
    assert list_runs()[0].error == (
        "the queued periods are not over yet, or are retried later"
    )


def test_run_fails_with_the_errors_that_were_not_made_up_for(
    scheduler: JobScheduler,
) -> None:
    (segments,) = scheduler.list_due(NOON)
    for names in (("a",), ("a", "b")):
        scheduler.begin(segments, NOON)
        scheduler.record(Job.SEGMENTS, "a", NOON, error="it fell silent")
        scheduler.record(Job.SEGMENTS, "b", NOON, failed=1, error="no memory")
        for name in names:
            scheduler.record(Job.SEGMENTS, name, NOON, created=1)
        scheduler.end(Job.SEGMENTS, RunResult.DONE, NOON)
    done, failed = list_runs()
    assert (done.result, done.error, done.failed) == (RunResult.DONE, "", 1)
    assert (failed.result, failed.error) == (RunResult.FAILED, "no memory")


def test_jobs_run_beside_each_other(scheduler: JobScheduler) -> None:
    scheduler.begin(DueJob(Job.SEGMENTS, RunReason.PENDING), NOON)
    run_first(scheduler, NIGHT)
    scheduler.record(Job.SEGMENTS, "node", NIGHT, created=3, withheld={"no source": 2})
    scheduler.record(Job.SEGMENTS, "node", NIGHT, withheld={"no source": 1})
    scheduler.end(Job.SEGMENTS, RunResult.DONE, NIGHT)
    day, segments = list_runs()
    assert (day.job, day.created) == (Job.DAY, 1)
    assert (segments.job, segments.created) == (Job.SEGMENTS, 3)
    assert (segments.withheld, segments.waiting) == ({"no source": 3}, 1)


def test_clock_that_was_set_back_does_not_stop_the_jobs(
    scheduler: JobScheduler,
) -> None:
    ahead = NIGHT + timedelta(days=400)
    before = NOON - timedelta(days=30)
    due = datetime(2024, 4, 2, 1, tzinfo=UTC)
    for again in (scheduler, None):
        run_first(scheduler, ahead)
        again = again or restart(before)
        assert rollups(again, before) == []
        assert rollups(again, due - SECOND) == []
        assert rollups(again, due) == SCHEDULED_DAY
        run_first(again, due)
        assert rollups(again, due + SECOND) == []


def test_killed_run_is_marked_interrupted_by_the_next_process(
    file: Path, scheduler: JobScheduler
) -> None:
    run_killed(file, NIGHT)
    (seen,) = jobs.history(has_worker=True)
    assert (seen.result, seen.ended_at) == (None, None)
    (idle,) = jobs.history(has_worker=False)
    assert (idle.result, idle.took_s) == (RunResult.INTERRUPTED, 90.0)

    later = NIGHT + timedelta(hours=5)
    again = restart(later)
    assert rollups(again, later) == SCHEDULED_DAY
    (run,) = jobs.history(has_worker=True)
    assert (run.result, run.took_s) == (RunResult.INTERRUPTED, 90.0)
    assert run.created == 2
    run_first(again, later)
    assert rollups(restart(later + SECOND), later + SECOND) == []


def test_killed_requested_run_is_still_requested(
    file: Path, scheduler: JobScheduler
) -> None:
    jobs.request_run([Job.DAY], NOON)
    run_killed(file, NOON)
    assert rollups(restart(NOON + SECOND), NOON + SECOND) == REQUESTED_DAY


def test_status_shows_current_missed_and_next_runs(scheduler: JobScheduler) -> None:
    def day(now: datetime, *, has_worker: bool | None = True) -> jobs.JobStatus:
        statuses = jobs.statuses(SCHEDULES, now, has_worker=has_worker)
        assert [status.job for status in statuses] == list(Job)
        return statuses[1]

    fresh = day(NOON)
    assert (fresh.last, fresh.next_at) == (None, NIGHT)
    assert fresh.schedule == "at 01:00 every day"
    assert not day(NIGHT - SECOND).is_overdue
    assert day(NIGHT).is_overdue
    jobs.request_run([Job.DAY], NIGHT)
    assert day(NIGHT).requested_at == NIGHT
    scheduler.begin(scheduler.list_due(NIGHT)[0], NIGHT)
    running = day(NIGHT)
    assert running.is_running and running.requested_at is None
    assert not day(NIGHT).is_overdue
    jobs.request_run([Job.DAY], NIGHT + SECOND)
    assert day(NIGHT).requested_at == NIGHT + SECOND
    assert day(NIGHT, has_worker=None).is_running
    assert not day(NIGHT, has_worker=False).is_running
    scheduler.end(Job.DAY, RunResult.DONE, NIGHT)
    assert not day(NIGHT).is_overdue
    jobs.pause([Job.DAY])
    paused = day(NIGHT + timedelta(days=3))
    assert (paused.is_paused, paused.is_overdue, paused.next_at) == (True, False, None)


def test_segments_have_no_schedule(scheduler: JobScheduler) -> None:
    status = jobs.statuses(SCHEDULES, NOON, has_worker=True)[0]
    assert (status.job, status.cron, status.next_at) == (Job.SEGMENTS, "", None)
    assert status.schedule == jobs.NO_SCHEDULE
    assert not status.is_overdue
