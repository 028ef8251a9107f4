"""When jobs run, step by step at chosen times, on a real store."""

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtui import store
from memtui.model.jobs import ROLLUP_JOBS, Job, JobRun, RunReason, RunResult, Schedules
from memtui.pipeline.model_worker import (
    LATE_AFTER,
    MAX_INTERRUPTED,
    DueJob,
    JobScheduler,
)
from memtui.services import jobs

PLAN = Schedules(
    {
        Job.DAY: "0 1 * * *",
        Job.WEEK: "0 2 * * 0",
        Job.MONTH: "0 3 1 * *",
        Job.YEAR: "0 4 1 1 *",
    },
    UTC,
    0,
    "a",
)
SECOND = timedelta(seconds=1)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
"""A Wednesday."""
ONE = datetime(2024, 5, 2, 1, tzinfo=UTC)
"""When a day is due next."""

KILLED = """
import os, signal, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from memtui import store
from memtui.model.jobs import Job
from memtui.model.jobs import Schedules
from memtui.pipeline.model_worker import JobScheduler
store.open_at(Path(sys.argv[1]))
now = datetime.fromisoformat(sys.argv[2])
schedule = JobScheduler(Schedules({Job.DAY: "0 1 * * *"}, UTC, 0, "a"))
due = schedule.next_due(now)
assert due is not None and due.job is Job.DAY, due
schedule.begin(due.job, due.reason, now)
schedule.update(due.job, now + timedelta(seconds=90), made=2, waiting=5)
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A process that begins what is due and is killed."""


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    store.open_at(file)
    return file


@pytest.fixture
def schedule() -> JobScheduler:
    """One that was looked at first on Wednesday at noon."""
    schedule = JobScheduler(PLAN)
    assert schedule.next_due(NOON) is None
    return schedule


def ran(
    schedule: JobScheduler,
    due: DueJob | None,
    now: datetime,
    result: RunResult = RunResult.DONE,
    took: timedelta = timedelta(),
) -> None:
    assert due is not None
    schedule.begin(due.job, due.reason, now)
    schedule.update(due.job, now + took, made=1)
    schedule.end(due.job, result, now + took)


def runs(job: Job | None = None) -> list[JobRun]:
    return jobs.history(job, limit=500, has_worker=True)


def killed(file: Path, now: datetime) -> None:
    argv = [sys.executable, "-c", KILLED, str(file), now.isoformat()]
    shown = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert shown.returncode == -signal.SIGKILL, shown.stderr


def test_a_new_store_has_missed_nothing() -> None:
    assert JobScheduler(PLAN).next_due(NOON) is None


def test_a_job_is_due_from_its_second_on_and_once(schedule: JobScheduler) -> None:
    assert schedule.next_due(ONE - SECOND) is None
    assert schedule.next_due(ONE) == DueJob(Job.DAY, RunReason.SCHEDULE)
    ran(schedule, schedule.next_due(ONE), ONE)
    assert schedule.next_due(ONE + SECOND) is None
    assert schedule.next_due(ONE + timedelta(days=1) - SECOND) is None
    assert schedule.next_due(ONE + timedelta(days=1)) == DueJob(
        Job.DAY, RunReason.SCHEDULE
    )


def test_what_runs_already_is_not_due(schedule: JobScheduler) -> None:
    schedule.begin(Job.DAY, RunReason.SCHEDULE, ONE)
    assert schedule.is_running(Job.DAY)
    assert schedule.next_due(ONE + SECOND) is None
    with pytest.raises(RuntimeError, match="rollup_day runs already"):
        schedule.begin(Job.DAY, RunReason.REQUESTED, ONE)


def test_what_is_due_together_goes_from_the_days_up(schedule: JobScheduler) -> None:
    start = datetime(2024, 12, 1, 12, tzinfo=UTC)
    for _ in ROLLUP_JOBS:
        if due := schedule.next_due(start):
            ran(schedule, due, start)
    now = datetime(2025, 1, 5, 12, tzinfo=UTC)
    found = []
    while due := schedule.next_due(now):
        found.append(due.job)
        ran(schedule, due, now)
    assert found == list(ROLLUP_JOBS)


def test_times_that_pass_while_a_job_runs_are_skipped_and_counted(
    schedule: JobScheduler,
) -> None:
    took = timedelta(days=2)
    ran(schedule, schedule.next_due(ONE), ONE, took=took - SECOND)
    assert runs()[0].skipped == 1
    assert schedule.next_due(ONE + took - SECOND) is None
    assert schedule.next_due(ONE + took) == DueJob(Job.DAY, RunReason.SCHEDULE)


def test_a_time_at_the_very_end_of_a_run_is_skipped_too(schedule: JobScheduler) -> None:
    ran(schedule, schedule.next_due(ONE), ONE, took=timedelta(days=1))
    assert runs()[0].skipped == 1
    assert schedule.next_due(ONE + timedelta(days=1)) is None


def test_what_was_missed_is_made_up_for_once_at_the_start(
    schedule: JobScheduler,
) -> None:
    ran(schedule, schedule.next_due(ONE), ONE)
    later = ONE + timedelta(days=9, hours=7)
    again = JobScheduler(PLAN)
    found = []
    while due := again.next_due(later):
        found.append(due)
        ran(again, due, later)
    assert found == [
        DueJob(Job.DAY, RunReason.MISSED),
        DueJob(Job.WEEK, RunReason.MISSED),
    ]
    assert JobScheduler(PLAN).next_due(later + SECOND) is None


def test_a_time_just_passed_when_memtui_starts_was_missed(
    schedule: JobScheduler,
) -> None:
    assert JobScheduler(PLAN).next_due(ONE + SECOND) == DueJob(
        Job.DAY, RunReason.MISSED
    )
    assert JobScheduler(PLAN).next_due(ONE) == DueJob(Job.DAY, RunReason.SCHEDULE)


def test_a_run_that_comes_late_says_that_it_makes_up(schedule: JobScheduler) -> None:
    assert schedule.next_due(ONE + LATE_AFTER) == DueJob(Job.DAY, RunReason.SCHEDULE)
    assert schedule.next_due(ONE + LATE_AFTER + SECOND) == DueJob(
        Job.DAY, RunReason.MISSED
    )


def test_what_is_asked_for_comes_first_and_in_the_order_it_was_asked(
    schedule: JobScheduler,
) -> None:
    jobs.request_run([Job.YEAR], NOON + SECOND)
    jobs.request_run([Job.SEGMENTS, Job.DAY], NOON + 2 * SECOND)
    found = []
    while due := schedule.next_due(ONE):
        found.append(due)
        ran(schedule, due, ONE)
    wanted = [Job.YEAR, Job.SEGMENTS, Job.DAY]
    assert found == [DueJob(job, RunReason.REQUESTED) for job in wanted]


def test_asking_again_while_it_runs_gives_another_run(schedule: JobScheduler) -> None:
    jobs.request_run([Job.DAY], NOON)
    schedule.begin(Job.DAY, RunReason.REQUESTED, NOON)
    jobs.request_run([Job.DAY], NOON + SECOND)
    assert schedule.next_due(NOON + SECOND) is None
    schedule.end(Job.DAY, RunResult.DONE, NOON + 2 * SECOND)
    assert schedule.next_due(NOON + 2 * SECOND) == DueJob(Job.DAY, RunReason.REQUESTED)


def test_a_paused_job_is_due_only_when_it_is_asked_for(schedule: JobScheduler) -> None:
    jobs.pause(list(Job))
    assert schedule.is_paused(Job.SEGMENTS)
    schedule.segments_done()
    assert schedule.next_due(ONE) is None
    jobs.request_run([Job.DAY], ONE)
    assert schedule.next_due(ONE) == DueJob(Job.DAY, RunReason.REQUESTED)
    ran(schedule, schedule.next_due(ONE), ONE)
    assert schedule.next_due(ONE) is None
    assert schedule.is_paused(Job.DAY)


def test_what_is_resumed_makes_up_for_what_it_missed(schedule: JobScheduler) -> None:
    jobs.pause([Job.DAY])
    assert schedule.next_due(ONE) is None
    jobs.resume([Job.DAY])
    assert not schedule.is_paused(Job.DAY)
    assert schedule.next_due(ONE + SECOND) == DueJob(Job.DAY, RunReason.SCHEDULE)


def test_what_a_pause_stopped_goes_on_when_it_is_resumed(
    schedule: JobScheduler,
) -> None:
    schedule.begin(Job.DAY, RunReason.SCHEDULE, ONE)
    jobs.pause([Job.DAY])
    schedule.end(Job.DAY, RunResult.STOPPED, ONE + SECOND)
    assert schedule.next_due(ONE + 2 * SECOND) is None
    jobs.resume([Job.DAY])
    assert schedule.next_due(ONE + 3 * SECOND) == DueJob(Job.DAY, RunReason.SCHEDULE)


def test_a_pause_outlives_a_restart(file: Path, schedule: JobScheduler) -> None:
    jobs.pause([Job.DAY])
    store.open_at(file)
    again = JobScheduler(PLAN)
    assert again.next_due(ONE) is None
    assert again.is_paused(Job.DAY)


def test_what_was_stopped_is_made_up_for_after_the_next_start(
    schedule: JobScheduler,
) -> None:
    ran(schedule, schedule.next_due(ONE), ONE, RunResult.STOPPED)
    assert schedule.next_due(ONE + SECOND) is None
    assert JobScheduler(PLAN).next_due(ONE + SECOND) == DueJob(
        Job.DAY, RunReason.MISSED
    )


def test_what_failed_waits_for_its_next_time(schedule: JobScheduler) -> None:
    ran(schedule, schedule.next_due(ONE), ONE, RunResult.FAILED)
    assert schedule.next_due(ONE + SECOND) is None
    assert JobScheduler(PLAN).next_due(ONE + SECOND) is None


def test_what_was_asked_for_and_stopped_stays_asked_for(schedule: JobScheduler) -> None:
    jobs.request_run([Job.YEAR], NOON)
    ran(schedule, schedule.next_due(NOON), NOON, RunResult.STOPPED)
    assert schedule.next_due(NOON + SECOND) is None
    assert JobScheduler(PLAN).next_due(NOON + SECOND) == DueJob(
        Job.YEAR, RunReason.REQUESTED
    )
    jobs.pause([Job.YEAR])
    assert JobScheduler(PLAN).next_due(NOON + SECOND) is None


def test_once_no_segment_waits_all_is_rolled_up_once(schedule: JobScheduler) -> None:
    schedule.segments_done()
    found = []
    while due := schedule.next_due(NOON):
        found.append(due)
        ran(schedule, due, NOON)
        schedule.segments_done()
    assert found == [DueJob(job, RunReason.SEGMENTS_DONE) for job in ROLLUP_JOBS]


def test_it_is_rolled_up_again_after_more_segments_were_made(
    schedule: JobScheduler,
) -> None:
    schedule.segments_done()
    while due := schedule.next_due(NOON):
        ran(schedule, due, NOON)
    schedule.begin(Job.SEGMENTS, RunReason.WAITING, NOON)
    schedule.update(Job.SEGMENTS, NOON, rejected=1)
    schedule.segments_done()
    assert schedule.next_due(NOON) is None
    schedule.update(Job.SEGMENTS, NOON, made=1)
    schedule.end(Job.SEGMENTS, RunResult.DONE, NOON)
    schedule.segments_done()
    assert schedule.next_due(NOON) == DueJob(Job.DAY, RunReason.SEGMENTS_DONE)


def test_a_run_by_the_clock_serves_what_was_drained_too(schedule: JobScheduler) -> None:
    schedule.segments_done()
    assert schedule.next_due(ONE) == DueJob(Job.DAY, RunReason.SCHEDULE)
    ran(schedule, schedule.next_due(ONE), ONE)
    assert schedule.next_due(ONE) == DueJob(Job.WEEK, RunReason.SEGMENTS_DONE)


@pytest.mark.parametrize(
    ("reason", "is_kept"),
    [
        (RunReason.SEGMENTS_DONE, False),
        (RunReason.WAITING, False),
        (RunReason.REQUESTED, True),
        (RunReason.SCHEDULE, True),
        (RunReason.MISSED, True),
    ],
)
def test_a_scheduled_run_without_effect_is_not_listed(
    schedule: JobScheduler, reason: RunReason, is_kept: bool
) -> None:
    schedule.begin(Job.DAY, reason, NOON)
    schedule.end(Job.DAY, RunResult.DONE, NOON)
    assert bool(runs()) is is_kept
    schedule.begin(Job.DAY, reason, NOON)
    schedule.end(Job.DAY, RunResult.FAILED, NOON, "the model is gone")
    assert runs()[0].error == "the model is gone"


def test_jobs_run_beside_each_other(schedule: JobScheduler) -> None:
    schedule.begin(Job.SEGMENTS, RunReason.WAITING, NOON)
    ran(schedule, schedule.next_due(ONE), ONE)
    schedule.update(Job.SEGMENTS, ONE, made=3)
    schedule.end(Job.SEGMENTS, RunResult.DONE, ONE)
    assert [(run.job, run.created) for run in runs()] == [
        (Job.DAY, 1),
        (Job.SEGMENTS, 3),
    ]


def test_a_clock_that_was_set_back_does_not_stop_the_jobs(
    schedule: JobScheduler,
) -> None:
    ahead = ONE + timedelta(days=400)
    ran(schedule, schedule.next_due(ahead), ahead)
    again = JobScheduler(PLAN)
    assert again.next_due(NOON - timedelta(days=30)) is None
    due = datetime(2024, 4, 2, 1, tzinfo=UTC)
    assert again.next_due(due - SECOND) is None
    assert again.next_due(due) == DueJob(Job.DAY, RunReason.SCHEDULE)
    ran(again, again.next_due(due), due)
    assert again.next_due(due + SECOND) is None


def test_a_killed_run_is_marked_interrupted_by_the_next_process(
    file: Path, schedule: JobScheduler
) -> None:
    killed(file, ONE)
    (seen,) = jobs.history(has_worker=True)
    assert (seen.result, seen.ended_at) == (None, None)
    (idle,) = jobs.history(has_worker=False)
    assert (idle.result, idle.took_s) == (RunResult.INTERRUPTED, 90.0)

    again = JobScheduler(PLAN)
    assert again.next_due(ONE + timedelta(hours=5)) == DueJob(Job.DAY, RunReason.MISSED)
    (run,) = jobs.history(has_worker=True)
    assert (run.result, run.took_s) == (RunResult.INTERRUPTED, 90.0)
    assert (run.created, run.waiting) == (2, 5)
    ran(again, again.next_due(ONE + timedelta(hours=5)), ONE + timedelta(hours=5))
    assert JobScheduler(PLAN).next_due(ONE + timedelta(hours=6)) is None


def test_what_was_asked_for_and_killed_is_asked_for_again(
    file: Path, schedule: JobScheduler
) -> None:
    jobs.request_run([Job.DAY], NOON)
    killed(file, NOON)
    assert JobScheduler(PLAN).next_due(NOON + SECOND) == DueJob(
        Job.DAY, RunReason.REQUESTED
    )


@pytest.mark.full
@pytest.mark.parametrize("is_asked", [True, False])
def test_a_job_that_dies_each_time_waits_for_its_next_time(
    file: Path, schedule: JobScheduler, is_asked: bool
) -> None:
    if is_asked:
        jobs.request_run([Job.DAY], ONE)
    for number in range(MAX_INTERRUPTED):
        killed(file, ONE + number * timedelta(minutes=5))
    again = JobScheduler(PLAN)
    assert again.next_due(ONE + timedelta(hours=1)) is None
    next_day = ONE + timedelta(days=1)
    assert again.next_due(next_day) == DueJob(Job.DAY, RunReason.SCHEDULE)
    assert [run.result for run in runs()] == [RunResult.INTERRUPTED] * MAX_INTERRUPTED


def test_a_status_shows_current_missed_and_next_runs(
    schedule: JobScheduler,
) -> None:
    def day(now: datetime, *, is_worked: bool | None = True) -> jobs.JobStatus:
        found = jobs.statuses(PLAN, now, has_worker=is_worked)
        assert [one.job for one in found] == list(Job)
        return found[1]

    fresh = day(NOON)
    assert (fresh.last, fresh.next_at) == (None, ONE)
    assert fresh.schedule == "at 01:00 every day"
    assert not day(ONE - SECOND).is_overdue
    assert day(ONE).is_overdue
    jobs.request_run([Job.DAY], ONE)
    assert day(ONE).requested_at == ONE
    schedule.begin(Job.DAY, RunReason.SCHEDULE, ONE)
    assert day(ONE).is_running
    assert not day(ONE).is_overdue
    assert day(ONE, is_worked=None).is_running
    assert not day(ONE, is_worked=False).is_running
    schedule.end(Job.DAY, RunResult.DONE, ONE)
    assert not day(ONE).is_overdue
    jobs.pause([Job.DAY])
    paused = day(ONE + timedelta(days=3))
    assert (paused.is_paused, paused.is_overdue, paused.next_at) == (True, False, None)


def test_segments_have_no_times(schedule: JobScheduler) -> None:
    status = jobs.statuses(PLAN, NOON, has_worker=True)[0]
    assert (status.job, status.cron, status.next_at) == (Job.SEGMENTS, "", None)
    assert status.schedule == jobs.NO_SCHEDULE
    assert not status.is_overdue
