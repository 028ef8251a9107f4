"""The requests and runs of each job, in a real file."""

from pathlib import Path

import pytest

from memtui import store
from memtui.model.events import from_ms
from memtui.model.jobs import Job, JobState, RunReason, RunResult
from memtui.store import backup, database, jobs, schema
from memtui.store.jobs import RunProgress

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    store.open_at(file)
    return file


def ran(job: Job, now_ms: int, result: RunResult = RunResult.DONE) -> int:
    number = jobs.start_run(job, RunReason.SCHEDULE, now_ms)
    jobs.end_run(number, result, now_ms + 10)
    return number


def test_nothing_is_wanted_of_a_job_nobody_spoke_of() -> None:
    with database.connection():
        assert jobs.get_states() == dict.fromkeys(Job, JobState())
        assert jobs.list_runs() == []


def test_what_is_wanted_and_what_was_done_survive_a_restart(file: Path) -> None:
    with database.transaction():
        jobs.set_paused([Job.WEEK], True)
        jobs.request_run(Job.DAY, 5)
        ran(Job.DAY, 7)
    before = (jobs.get_states, jobs.list_runs)
    with database.connection():
        shown = [ask() for ask in before]
    store.open_at(file)
    with database.connection():
        assert [ask() for ask in before] == shown
        states = jobs.get_states()
    assert states[Job.WEEK] == JobState(is_paused=True)
    assert states[Job.DAY] == JobState(requested_at=from_ms(5))


def test_who_asks_twice_is_served_once_and_keeps_the_first_place() -> None:
    with database.transaction():
        jobs.request_run(Job.DAY, 5)
        jobs.request_run(Job.DAY, 9)
        assert jobs.get_states()[Job.DAY].requested_at == from_ms(5)
        jobs.start_run(Job.DAY, RunReason.REQUESTED, 10)
        assert jobs.get_states()[Job.DAY].requested_at is None


def test_a_run_for_another_reason_leaves_what_is_asked_for() -> None:
    with database.transaction():
        jobs.request_run(Job.DAY, 5)
        jobs.start_run(Job.DAY, RunReason.SCHEDULE, 10)
        assert jobs.get_states()[Job.DAY].requested_at == from_ms(5)


def test_a_job_that_is_to_rest_is_no_longer_asked_for() -> None:
    with database.transaction():
        jobs.request_run(Job.DAY, 5)
        jobs.request_run(Job.WEEK, 6)
        jobs.set_paused([Job.DAY], True)
        assert jobs.get_states()[Job.DAY] == JobState(is_paused=True)
        assert jobs.get_states()[Job.WEEK] == JobState(requested_at=from_ms(6))
        jobs.set_paused([Job.DAY], False)
        assert jobs.get_states()[Job.DAY] == JobState()


def test_times_are_kept_from_when_they_were_first_looked_at() -> None:
    with database.transaction():
        jobs.activate([Job.DAY], 50)
        jobs.activate([Job.DAY], 60)
        assert jobs.get_states()[Job.DAY].active_since == from_ms(50)
        # A clock that was set back would else keep the job waiting till then.
        jobs.activate([Job.DAY], 40)
        assert jobs.get_states()[Job.DAY].active_since == from_ms(40)


def test_a_run_counts_up_and_remembers_what_is_left() -> None:
    with database.transaction():
        number = jobs.start_run(Job.DAY, RunReason.SEGMENTS_DONE, 1_000)
        jobs.update_run(number, 2_000, RunProgress(created=2, rejected=1), 7)
        jobs.update_run(number, 4_000, RunProgress(created=1, failed=1), None)
        (run,) = jobs.list_runs(Job.DAY)
        assert (run.created, run.rejected, run.failed, run.waiting) == (3, 1, 1, 7)
        assert (run.ended_at, run.result, run.took_s) == (None, None, 3.0)
        jobs.end_run(number, RunResult.FAILED, 9_000, error="no", skipped=2)
        (run,) = jobs.list_runs(Job.DAY)
    assert (run.result, run.error, run.skipped) == (RunResult.FAILED, "no", 2)
    assert run.took_s == 8.0


def test_an_error_is_kept_without_secrets_and_in_one_short_line() -> None:
    with database.transaction():
        number = jobs.start_run(Job.DAY, RunReason.REQUESTED, 1)
        said = f"refused \x1b[31m{KEY}\n" + "word " * 500
        jobs.end_run(number, RunResult.FAILED, 2, error=said)
        (run,) = jobs.list_runs()
    assert KEY not in run.error
    assert run.error.startswith("refused [redacted: ")
    assert len(run.error) == jobs.ERROR_CHARS
    assert run.error.isprintable()


def test_the_last_runs_of_each_job_are_kept_and_numbers_never_return() -> None:
    with database.transaction():
        kept_apart = ran(Job.YEAR, 0)
        numbers = [ran(Job.DAY, at) for at in range(jobs.MAX_RUNS + 5)]
        runs = jobs.list_runs(Job.DAY)
        assert len(runs) == jobs.MAX_RUNS
        assert runs[0].started_at == from_ms(jobs.MAX_RUNS + 4)
        assert runs[-1].started_at == from_ms(5)
        assert len(jobs.list_runs(Job.YEAR)) == 1
        assert len(jobs.list_runs(limit=3)) == 3
        assert len(set(numbers)) == len(numbers)
        assert kept_apart < numbers[0]


def test_what_did_nothing_is_taken_back_and_what_did_something_is_not() -> None:
    with database.transaction():
        jobs.delete_empty_run(ran(Job.DAY, 1))
        assert jobs.list_runs() == []
        jobs.delete_empty_run(ran(Job.DAY, 2, RunResult.FAILED))
        number = jobs.start_run(Job.DAY, RunReason.SEGMENTS_DONE, 3)
        jobs.update_run(number, 4, RunProgress(rejected=1), 0)
        jobs.end_run(number, RunResult.DONE, 5)
        jobs.delete_empty_run(number)
        assert [run.result for run in jobs.list_runs()] == [
            RunResult.DONE,
            RunResult.FAILED,
        ]


def test_what_never_ended_was_broken_off_when_it_was_last_seen() -> None:
    with database.transaction():
        ran(Job.DAY, 1)
        number = jobs.start_run(Job.DAY, RunReason.SCHEDULE, 1_000)
        jobs.update_run(number, 3_000, RunProgress(created=4), 1)
        jobs.interrupt_runs()
        broken, whole = jobs.list_runs(Job.DAY)
    assert (broken.result, broken.took_s, broken.created) == (
        RunResult.INTERRUPTED,
        2.0,
        4,
    )
    assert whole.result is RunResult.DONE


def test_a_run_counts_as_over_if_it_came_to_an_end_before_now() -> None:
    with database.transaction():
        ran(Job.DAY, 100)
        ran(Job.DAY, 200, RunResult.FAILED)
        ran(Job.DAY, 300, RunResult.STOPPED)
        jobs.start_run(Job.DAY, RunReason.SCHEDULE, 400)
        jobs.interrupt_runs()
        over = jobs.last_finished_run(Job.DAY, 500)
        assert over is not None
        assert over.started_at == from_ms(200)
        earlier = jobs.last_finished_run(Job.DAY, 209)
        assert earlier is not None
        assert earlier.started_at == from_ms(100)
        assert jobs.last_finished_run(Job.DAY, 109) is None
        assert jobs.last_finished_run(Job.WEEK, 500) is None


def test_a_run_of_another_version_has_an_unknown_result() -> None:
    with database.transaction():
        number = ran(Job.DAY, 5)
        values = {"result": "broken off", "reason": "by hand"}
        schema.JobRunRow.update(values).where(schema.JobRunRow.id == number).execute()
    with database.connection():
        (run,) = jobs.list_runs()
        assert (run.result, run.reason) == (RunResult.UNKNOWN, RunReason.UNKNOWN)
        assert not run.is_over
        assert backup.find_damages() == []
