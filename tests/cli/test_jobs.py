"""The ``jobs`` command, in real processes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui import store
from memtui.model.events import to_ms
from memtui.model.jobs import Job, JobRun, RunReason, RunResult
from memtui.pipeline.worker import PROC_LOCKS, WorkerLock
from memtui.store import database, jobs
from tests.cli_runner import json_data, run_memtui

NAMES = "segments, rollup_day, rollup_week, rollup_month, rollup_year"
BEGAN = datetime(2024, 5, 2, 1, 0, 5, tzinfo=UTC)

listing = pytest.mark.skipif(
    not PROC_LOCKS.exists(), reason="this system does not list who holds a lock"
)


def statuses(home: Path, *words: str) -> dict[str, Any]:
    output = json_data(run_memtui(home, *words, "jobs", "--json").stdout)
    return {status["job"]: status for status in output["jobs"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two runs of the day job, of which the second failed."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[store]\ntime_zone = "Europe/Berlin"\n')
    store.open_at(home / "memory.db", time_zone="Europe/Berlin")
    ended = BEGAN + timedelta(minutes=4, seconds=2)
    late = BEGAN + timedelta(days=1)
    late_end = late + timedelta(hours=1, minutes=2)
    with database.transaction():
        jobs.save_run(
            JobRun(
                Job.DAY,
                RunReason.SCHEDULE,
                BEGAN,
                heartbeat_at=ended,
                ended_at=ended,
                result=RunResult.DONE,
                created=1204,
                rejected=2,
                failed=1,
                waiting=3,
                skipped=1,
            )
        )
        jobs.save_run(
            JobRun(
                Job.DAY,
                RunReason.SCHEDULE,
                late,
                heartbeat_at=late_end,
                ended_at=late_end,
                result=RunResult.FAILED,
                error="the model did not answer within 600 s",
            )
        )
        jobs.follow_schedules([Job.DAY], to_ms(late_end))
    return home


def test_jobs_are_listed_with_schedule_and_last_run(home: Path) -> None:
    output = run_memtui(home, "--set", "jobs.week=30 4 * * 1", "jobs").stdout
    lines = output.splitlines()
    day = lines.index("rollup_day    at 01:00 every day")
    assert lines[day + 1 : day + 5] == [
        "    last Fri 3 May 2024 03:00 (on schedule), 1h 2m, failed",
        "    0 written",
        "    error: the model did not answer within 600 s",
        "    next as soon as memtui runs: it is overdue",
    ]
    assert "segments      whenever there is something" in lines
    assert "rollup_week   at 04:30 on Monday" in lines
    assert lines[-1] == "Times are those of Europe/Berlin."
    jobs_told = [line.split()[0] for line in lines[:-1] if line and line[0] != " "]
    assert jobs_told == NAMES.split(", ")


def test_json_has_the_same_as_the_list(home: Path) -> None:
    day = statuses(home)["rollup_day"]
    assert (day["cron"], day["schedule"]) == ("0 1 * * *", "at 01:00 every day")
    assert (day["is_paused"], day["is_running"], day["is_overdue"]) == (0, 0, 1)
    assert day["last"]["result"] == "failed"
    assert day["last"]["started_at"] == "2024-05-03T01:00:05Z"
    due = datetime.fromisoformat(day["next_at"])
    assert timedelta() < due - datetime.now(UTC) < timedelta(days=1, hours=2)
    assert statuses(home)["segments"]["next_at"] is None


def test_jobs_stay_paused_until_they_are_resumed(home: Path) -> None:
    output = run_memtui(home, "jobs", "pause", "rollup_day", "rollup_week").stdout
    assert output == "rollup_day: paused.\nrollup_week: paused.\n"
    by_job = statuses(home)
    paused = [name for name, status in by_job.items() if status["is_paused"]]
    assert paused == ["rollup_day", "rollup_week"]
    assert by_job["rollup_day"]["next_at"] is None
    listing_text = run_memtui(home, "jobs").stdout
    assert "rollup_day    at 01:00 every day · paused\n" in listing_text
    assert run_memtui(home, "jobs", "resume", "all").stdout.count(": resumed.") == len(
        Job
    )
    assert not any(status["is_paused"] for status in statuses(home).values())


@listing
def test_request_says_which_process_will_run_it(home: Path) -> None:
    output = run_memtui(home, "jobs", "run", "rollup_day").stdout
    assert output == (
        "rollup_day: requested.\nIt is done next, as soon as memtui is running,"
        " if there is a model (memtui doctor).\n"
    )
    assert "requested at" in run_memtui(home, "jobs").stdout
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    try:
        output = run_memtui(home, "jobs", "run", "rollup_week").stdout
        answer = json_data(run_memtui(home, "jobs", "run", "segments", "--json").stdout)
    finally:
        claim.release()
    assert "It is done next, by the running memtui, if there is a model" in output
    assert answer["has_worker"] is True
    assert answer["note"] in output
    assert [status["job"] for status in answer["jobs"]] == ["segments"]
    asked = [name for name, status in statuses(home).items() if status["requested_at"]]
    assert asked == ["segments", "rollup_day", "rollup_week"]


def test_jobs_say_that_no_model_is_used(home: Path) -> None:
    setting = ("--set", "summaries.provider=extractive")
    expected = "No model is used while summaries.provider is extractive (command line)"
    assert expected in run_memtui(home, *setting, "jobs", "run", "all").stdout
    assert expected in run_memtui(home, *setting, "jobs").stdout
    assert "No model is used" not in run_memtui(home, "jobs").stdout


def test_the_history_lists_every_run_latest_first(home: Path) -> None:
    output = run_memtui(home, "jobs", "history").stdout.splitlines()
    assert output == [
        "rollup_day    Fri 3 May 2024 03:00 (on schedule), 1h 2m, failed · 0 written",
        "    error: the model did not answer within 600 s",
        "rollup_day    Thu 2 May 2024 03:00 (on schedule), 4m, done · 1,204"
        " written, 2 rejected, 1 failed, 3 left, 1 time skipped",
    ]
    shorter = run_memtui(home, "jobs", "history", "--limit", "1").stdout.splitlines()
    assert shorter == output[:2]
    answer = json_data(
        run_memtui(home, "jobs", "history", "rollup_day", "--json").stdout
    )
    assert [run["created"] for run in answer["runs"]] == [0, 1204]
    told_of_week = run_memtui(home, "jobs", "history", "rollup_week").stdout
    assert told_of_week == "rollup_week has not run yet.\n"


@listing
def test_run_without_end_is_interrupted_unless_a_process_works(home: Path) -> None:
    with database.transaction():
        jobs.save_run(JobRun(Job.WEEK, RunReason.REQUESTED, BEGAN, BEGAN))
    database.close()
    output = run_memtui(home, "jobs").stdout
    assert "last Thu 2 May 2024 03:00 (requested), <1m, interrupted" in output
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    try:
        output = run_memtui(home, "jobs").stdout
        history = run_memtui(home, "jobs", "history", "rollup_week").stdout
    finally:
        claim.release()
    assert "    running since Thu 2 May 2024 03:00 (requested)\n" in output
    assert "rollup_week   Thu 2 May 2024 03:00 (requested), still running" in history


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pause", "rollup_hour"), f"there is no job 'rollup_hour': {NAMES}"),
        (("run", "rollup_day", "x"), f"there is no job 'x': {NAMES}"),
        (("history", "x"), f"there is no job 'x': {NAMES}"),
        (("resume",), f"name the jobs: memtui jobs resume NAME…|all: {NAMES}"),
        (("stop", "all"), "invalid choice: 'stop'"),
        (("history", "segments", "rollup_day"), "history takes one name at most"),
    ],
)
def test_wrong_arguments_are_explained(
    home: Path, words: tuple[str, ...], expected: str
) -> None:
    assert expected in run_memtui(home, "jobs", *words, code=2).stderr
    assert not any(status["requested_at"] for status in statuses(home).values())


def test_invalid_schedule_is_named_with_its_key(home: Path) -> None:
    with (home / "config.toml").open("a") as file:
        file.write("[jobs]\nday = 'every night'\n")
    output = run_memtui(home, "jobs", code=1).stderr
    assert f"{home / 'config.toml'}:4: jobs.day cannot be 'every night'" in output
