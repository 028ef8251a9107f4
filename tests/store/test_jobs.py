"""The jobs and their runs, in a real file."""

from dataclasses import replace
from pathlib import Path

import pytest

from memtui import store
from memtui.model.events import from_ms
from memtui.model.jobs import Job, JobRun, JobState, RunReason, RunResult
from memtui.store import database, jobs

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    store.open_at(file)
    return file


def make_run(
    job: Job, start_ms: int, end_ms: int | None = None, **values: object
) -> JobRun:
    run = JobRun(job, RunReason.SCHEDULE, from_ms(start_ms), from_ms(start_ms))
    if end_ms is not None:
        end = from_ms(end_ms)
        run = replace(run, heartbeat_at=end, ended_at=end, result=RunResult.DONE)
    return replace(run, **values)  # type: ignore[arg-type]


def test_a_new_store_has_jobs_without_state_or_runs() -> None:
    with database.connection():
        assert jobs.get_states() == dict.fromkeys(Job, JobState())
        assert jobs.list_runs() == []


def test_states_and_runs_survive_a_restart(file: Path) -> None:
    run = make_run(Job.DAY, 7, 17, withheld={"no source": 2})
    with database.transaction():
        jobs.set_paused([Job.WEEK], True)
        jobs.request_run(Job.DAY, 5)
        jobs.save_run(run)
    store.open_at(file)
    with database.connection():
        states = jobs.get_states()
        assert jobs.list_runs() == [run]
    assert states[Job.WEEK] == JobState(is_paused=True)
    assert states[Job.DAY] == JobState(requested_at=from_ms(5))


def test_a_run_that_is_over_deletes_only_its_own_request() -> None:
    with database.transaction():
        jobs.request_run(Job.DAY, 5)
        jobs.set_run_over(Job.DAY, 10, None)
        assert jobs.get_states()[Job.DAY].requested_at == from_ms(5)
        jobs.request_run(Job.DAY, 9)
        jobs.set_run_over(Job.DAY, 10, from_ms(5))
        assert jobs.get_states()[Job.DAY].requested_at == from_ms(9)
        jobs.set_run_over(Job.DAY, 11, from_ms(9))
        assert jobs.get_states()[Job.DAY] == JobState(since=from_ms(11))


def test_a_pause_cancels_requests() -> None:
    with database.transaction():
        jobs.request_run(Job.DAY, 5)
        jobs.request_run(Job.WEEK, 6)
        jobs.set_paused([Job.DAY], True)
        assert jobs.get_states()[Job.DAY] == JobState(is_paused=True)
        assert jobs.get_states()[Job.WEEK] == JobState(requested_at=from_ms(6))
        jobs.set_paused([Job.DAY], False)
        assert jobs.get_states()[Job.DAY] == JobState()


def get_since(now_ms: int) -> int:
    """When the schedule of days is followed from, after a start at this time."""
    with database.transaction():
        jobs.follow_schedules([Job.DAY], now_ms)
        since = jobs.get_states()[Job.DAY].since
    assert since is not None
    return round(since.timestamp() * 1000)


def test_schedules_are_followed_from_the_first_start_or_the_last_run() -> None:
    assert get_since(50) == 50
    assert get_since(60) == 50
    # A clock that was set back would else keep the job waiting until then.
    assert get_since(40) == 40
    with database.transaction():
        jobs.set_run_over(Job.DAY, 70, None)
    assert get_since(80) == 70


def test_a_run_is_stored_anew_as_it_goes_on() -> None:
    run = make_run(Job.DAY, 1_000, created=2, rejected=1, waiting=7)
    with database.transaction():
        number = jobs.save_run(run)
        assert jobs.list_runs(Job.DAY) == [run]
        assert (run.ended_at, run.result, run.took_s) == (None, None, 0.0)
        run = replace(
            run,
            heartbeat_at=from_ms(9_000),
            ended_at=from_ms(9_000),
            result=RunResult.FAILED,
            error="no",
            failed=1,
            skipped=2,
        )
        jobs.save_run(run, number)
        assert jobs.list_runs(Job.DAY) == [run]
    assert run.took_s == 8.0


def test_an_error_is_stored_without_secrets_in_one_short_line() -> None:
    text = f"refused \x1b[31m{KEY}\n" + "word " * 500
    with database.transaction():
        jobs.save_run(make_run(Job.DAY, 1, 2, error=text))
        (run,) = jobs.list_runs()
    assert KEY not in run.error
    assert run.error.startswith("refused [redacted: ")
    assert len(run.error) == jobs.ERROR_CHARS
    assert run.error.isprintable()


def test_the_last_runs_of_each_job_are_kept_and_numbers_never_return() -> None:
    with database.transaction():
        first = jobs.save_run(make_run(Job.YEAR, 0, 10))
        numbers = [
            jobs.save_run(make_run(Job.DAY, at, at + 10))
            for at in range(jobs.MAX_RUNS + 5)
        ]
        runs = jobs.list_runs(Job.DAY)
        assert len(runs) == jobs.MAX_RUNS
        assert runs[0].started_at == from_ms(jobs.MAX_RUNS + 4)
        assert runs[-1].started_at == from_ms(5)
        assert len(jobs.list_runs(Job.YEAR)) == 1
        assert len(jobs.list_runs(limit=3)) == 3
        assert len(set(numbers)) == len(numbers)
        assert first < numbers[0]


def test_a_run_without_an_end_was_interrupted_at_its_last_sign_of_life() -> None:
    with database.transaction():
        jobs.save_run(make_run(Job.DAY, 1, 11))
        jobs.save_run(make_run(Job.DAY, 1_000, heartbeat_at=from_ms(3_000), created=4))
        jobs.interrupt_runs()
        interrupted, done = jobs.list_runs(Job.DAY)
    assert interrupted.result is RunResult.INTERRUPTED
    assert (interrupted.took_s, interrupted.created) == (2.0, 4)
    assert done.result is RunResult.DONE
