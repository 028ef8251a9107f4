"""Which version a model writes next, and what is recorded of its runs."""

from datetime import UTC, timedelta

import pytest

from memtui.model import calendar
from memtui.model.events import to_ms
from memtui.model.jobs import Job, ModelCondition, RunReason, RunResult
from memtui.model.nodes import NodeStatus
from memtui.pipeline.model_worker import MIN_AGES, ModelWorker
from memtui.services import jobs
from memtui.store import database, meta, queues
from memtui.summarize.ollama import prompts
from tests.pipeline.model_bench import (
    CONVERSATION,
    DAY,
    MONDAY,
    MONTH,
    NOW,
    WEEK,
    YEAR,
    Bench,
    make_conversation,
    make_records,
)
from tests.stub import faults, personas
from tests.stub.personas import Prompt
from tests.stub.server import Stub

HOUR = timedelta(hours=1)
MS = timedelta(milliseconds=1)
TUESDAY = "toc:day:2025-03-11"
WEDNESDAY = "toc:day:2025-03-12"


def import_hours(bench: Bench, count: int, days: int = 0) -> None:
    """Import conversations of one day, an hour apart."""
    begin = MONDAY + timedelta(days=days)
    bench.import_records(
        *(make_records(begin + n * HOUR, *make_conversation(n)) for n in range(count))
    )


def test_newest_segments_come_first_then_periods_from_the_days_up(
    bench: Bench,
) -> None:
    import_hours(bench, 2)
    import_hours(bench, 2, days=1)
    newest = bench.segments(TUESDAY) + bench.segments(DAY)
    assert bench.run_model() == [*newest, TUESDAY, DAY, WEEK, MONTH]
    assert all(bench.node(name).is_by_model for name in [*newest, DAY, WEEK, MONTH])
    assert bench.count_pending() == {
        "year": 1,
        "month": 0,
        "week": 0,
        "day": 0,
        "segment": 0,
    }
    bench.check_invariants()


def test_requested_nodes_come_first(bench: Bench) -> None:
    import_hours(bench, 3)
    newest, middle, oldest = bench.segments()
    bench.request_version(oldest)
    bench.clock.advance(seconds=1)
    bench.request_version(WEEK)
    bench.request_version(oldest)
    assert bench.run_model()[:4] == [oldest, WEEK, newest, middle]
    assert bench.history(oldest).requested_at is None


def test_due_rollups_come_before_segments(bench: Bench) -> None:
    import_hours(bench, 1)
    assert bench.step()
    import_hours(bench, 2, days=1)
    bench.run_stages()
    jobs.request_run([Job.DAY], bench.clock())
    assert bench.run_model()[:3] == [DAY, *bench.segments(TUESDAY)]


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "job"),
    [
        (DAY, Job.DAY),
        (WEEK, Job.WEEK),
        (MONTH, Job.MONTH),
        (YEAR, Job.YEAR),
    ],
)
def test_s3_47_and_57_period_is_rolled_up_after_its_minimum_age(
    bench: Bench, name: str, job: Job
) -> None:
    _, end = calendar.bounds(name, bench.workspace.zone)
    bench.clock.now = end + MIN_AGES[job.level] - MS
    import_hours(bench, 2)
    assert name not in bench.run_model()
    jobs.request_run([job], bench.clock())
    assert bench.run_model() == []
    assert (bench.node(name).is_by_model, bench.needs_version(name)) == (False, True)
    bench.clock.now += MS
    jobs.request_run([job], bench.clock())
    assert bench.run_model() == [name]
    assert bench.node(name).is_by_model


def test_minimum_ages() -> None:
    assert [age / HOUR for age in MIN_AGES.values()] == [1, 24, 24, 7 * 24]


def test_a_day_waits_for_its_segments(bench: Bench) -> None:
    import_hours(bench, 2)
    jobs.request_run([Job.DAY], bench.clock())
    assert bench.step() == 0
    assert bench.step() == 1
    (run,) = bench.runs(Job.DAY)
    assert (run.result, run.created) == (RunResult.FAILED, 0)
    assert run.error == "lower levels come first: 2 segments pending"
    assert bench.order == [bench.segments()[0]]
    assert bench.run_model() == [bench.segments()[1], DAY, WEEK, MONTH]


def test_week_waits_for_the_extracts_of_its_days(bench: Bench) -> None:
    import_hours(bench, 2)
    while DAY not in bench.order:
        bench.run_stages()
        bench.step()
    for _ in range(3):
        assert bench.step() == 0
    assert bench.runs(Job.WEEK) == []
    assert not bench.node(WEEK).is_by_model
    bench.run_stages()
    assert bench.step() == 1
    assert bench.order[-1] == WEEK and bench.node(WEEK).is_by_model


def test_day_follows_each_version_of_its_segments(bench: Bench) -> None:
    import_hours(bench, 2)
    before = bench.node(DAY).version
    bench.step()
    with database.connection():
        due = queues.list_due_rollups(Job.DAY.level, to_ms(bench.clock()), 9)
    assert due == [DAY]
    assert bench.node(DAY).status is NodeStatus.STALE
    bench.run_stages()
    node = bench.node(DAY)
    assert (node.version, node.is_by_model) == (before + 1, False)
    newest, _ = bench.segments()
    assert bench.node(newest).headline in node.headline


def test_a_period_of_one_session_is_not_asked_about(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 1)
    bench.run_model()
    assert len(stub.chats()) == 1
    (segment,) = bench.segments()
    assert bench.node(segment).is_by_model
    for name in (DAY, WEEK, MONTH):
        assert not bench.node(name).is_by_model and not bench.needs_version(name)
        assert bench.node(name).headline == bench.node(segment).headline


# When Ollama does not answer


def test_without_a_server_nothing_changes_and_it_is_checked_again(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 2)
    before = bench.dump("jobs", "meta")
    stub.close()
    assert bench.step() == 0
    health = bench.improve.model.health
    assert health is not None and health.condition is ModelCondition.OFFLINE
    assert bench.dump("jobs", "meta") == before
    asked = len(stub.received)
    stub.start()
    bench.clock.advance(seconds=29)
    assert bench.step() == 0
    assert len(stub.received) == asked
    bench.clock.advance(seconds=1)
    assert bench.step() == 1
    assert bench.node(bench.segments()[0]).is_by_model


def test_requested_run_fails_with_the_reason_why_no_model_is_ready(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 1)
    stub.close()
    jobs.request_run([Job.DAY], bench.clock())
    assert bench.step() == 0
    (run,) = bench.runs(Job.DAY)
    assert (run.reason, run.result) == (RunReason.REQUESTED, RunResult.FAILED)
    assert "Ollama is not running" in run.error
    assert bench.count_pending()["segment"] == 1


def test_s3_60_server_that_stops_ends_the_run_and_work_goes_on_later(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 3)
    assert bench.step() == 1
    stub.close()
    assert bench.step() == 0
    (run,) = bench.runs()
    assert (run.result, run.created, run.waiting) == (RunResult.FAILED, 1, 2)
    assert "Ollama is not running" in run.error
    stub.start()
    bench.clock.advance(minutes=2)
    bench.run_model()
    assert [run.result for run in bench.runs(Job.SEGMENTS)] == [
        RunResult.DONE,
        RunResult.FAILED,
    ]
    assert bench.count_pending()["segment"] == 0


def test_run_goes_on_after_the_model_has_rested(bench: Bench, stub: Stub) -> None:
    for day in range(3):
        import_hours(bench, 2, days=day)
    while not {TUESDAY, WEDNESDAY} & set(bench.order):
        bench.step()
        bench.run_stages()
    stub.always(faults.CRASHED)
    while not bench.improve.model.paused_until:
        bench.step()
    until = bench.improve.model.paused_until
    assert bench.clock() < until
    with database.connection():
        record = meta.model_record()
    assert record is not None and record.paused_until == until
    assert record.condition is ModelCondition.RESTING and "failed" in record.message
    assert bench.runs(Job.DAY)[0].result is None
    stub.clear_script()
    bench.clock.advance(hours=1)
    assert DAY in bench.run_model()
    (run,) = bench.runs(Job.DAY)
    assert (run.reason, run.result, run.created) == (
        RunReason.PENDING,
        RunResult.DONE,
        3,
    )


def test_interrupted_rollup_is_made_up_for_when_the_server_is_back(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 2)
    import_hours(bench, 2, days=1)
    while TUESDAY not in bench.order:
        bench.step()
        bench.run_stages()
    stub.close()
    bench.step()
    assert bench.runs(Job.DAY)[0].result is RunResult.FAILED
    stub.start()
    bench.clock.advance(minutes=2)
    assert bench.run_model(8) == [DAY, WEEK, MONTH]


def test_offline_server_is_checked_less_and_less_often(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 2)
    stub.close()
    assert list_pauses_s(bench, 7) == [30, 60, 120, 240, 480, 600, 600]
    stub.start()
    bench.clock.advance(minutes=10)
    assert bench.step() == 1
    stub.close()
    assert list_pauses_s(bench, 1) == [30]


def test_failing_server_is_asked_less_and_less_often(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 8)
    stub.always(faults.CRASHED)
    assert list_pauses_s(bench, 3) == [30, 60, 120]
    assert bench.step() == 1
    asked = len(stub.chats())
    assert bench.step() == 0 and len(stub.chats()) == asked
    bench.request_version(bench.segments()[0])
    bench.step()
    assert len(stub.chats()) > asked
    stub.clear_script()
    bench.clock.advance(hours=1)
    assert bench.step() == 1
    stub.always(faults.CRASHED)
    assert list_pauses_s(bench, 1) == [30]


def test_invalid_reply_is_no_failure_of_the_server(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 3)
    stub.always(faults.saying("I cannot do that."))
    for _ in range(3):
        assert bench.step() == 1
    assert bench.improve.model.paused_until is None


def test_damaged_row_of_a_segment_does_not_hold_up_others(bench: Bench) -> None:
    import_hours(bench, 3)
    damaged = bench.segments()[-1]
    with database.connection():
        database.execute(
            "CREATE TRIGGER one_fails BEFORE INSERT ON node_versions"
            f" WHEN NEW.node_id = '{damaged}'"
            " BEGIN SELECT RAISE(ABORT, 'damaged'); END"
        )
    for _ in range(4):
        bench.step()
    by_model = [name for name in bench.segments() if bench.node(name).is_by_model]
    assert sorted(by_model) == sorted({*bench.segments()} - {damaged})
    (run, *_) = bench.runs()
    assert run.failed == 1 and "damaged" in run.error


def list_pauses_s(bench: Bench, count: int) -> list[float]:
    """Return for how long the worker leaves a server alone each time."""
    pauses_s = []
    for _ in range(count):
        bench.step()
        until = bench.improve._paused_until
        assert until is not None
        pauses_s.append((until - bench.clock()).total_seconds())
        bench.clock.now = until
    return pauses_s


def test_without_work_no_server_is_asked(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 2)
    bench.run_model()
    asked = len(stub.received)
    stub.close()
    bench.start()
    assert bench.run_model(8) == []
    bench.clock.advance(days=1)
    assert bench.run_model(8) == []
    assert bench.improve.model.health is None
    assert len(stub.received) == asked
    (run, _) = bench.runs(Job.DAY)
    assert (run.reason, run.result, run.error) == (
        RunReason.SCHEDULE,
        RunResult.DONE,
        "",
    )


def test_clock_set_back_does_not_lengthen_a_pause(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 1)
    stub.close()
    bench.step()
    stub.start()
    bench.clock.advance(days=-3)
    assert bench.step() == 1


# What is remembered of runs


def test_a_run_lists_the_result_for_each_node(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 4)
    good = faults.GOOD
    bad = faults.saying("I cannot do that.")
    worse = faults.refused(500, "the model fell over")
    stub.script(good, bad, good, worse, worse, worse)
    for _ in range(3):
        assert bench.step() == 1
    (run,) = bench.runs()
    assert (run.created, run.rejected, run.failed, run.waiting) == (2, 1, 0, 1)
    assert run.result is None
    assert bench.step() == 1
    (run,) = bench.runs()
    assert (run.created, run.rejected, run.failed, run.waiting) == (2, 1, 1, 1)
    bench.clock.advance(seconds=59)
    assert bench.step() == 0
    (run,) = bench.runs()
    assert (run.result, run.error) == (RunResult.FAILED, "the model fell over")


def test_run_that_made_up_for_its_failures_is_done(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 2)
    stub.script(*[faults.BUSY] * 6)
    assert bench.step() == 1
    (run,) = bench.runs()
    assert (run.result, run.created, run.failed) == (None, 0, 0)
    bench.clock.advance(seconds=30)
    bench.run_model()
    (run,) = bench.runs(Job.SEGMENTS)
    assert (run.result, run.error, run.created) == (RunResult.DONE, "", 2)


def test_a_pause_ends_a_run_and_a_resume_goes_on(bench: Bench) -> None:
    import_hours(bench, 3)
    assert bench.step() == 1
    jobs.pause([Job.SEGMENTS])
    assert bench.run_model() == []
    (run,) = bench.runs()
    assert (run.result, run.created) == (RunResult.STOPPED, 1)
    bench.start()
    assert bench.run_model() == []
    jobs.resume([Job.SEGMENTS])
    bench.run_model()
    assert bench.count_pending()["segment"] == 0


def test_paused_rollup_runs_only_on_request(
    bench: Bench,
) -> None:
    jobs.pause([Job.DAY])
    import_hours(bench, 1)
    bench.run_model()
    assert DAY not in bench.order
    jobs.request_run([Job.DAY], bench.clock())
    bench.run_model()
    assert DAY in bench.order


def test_requested_node_is_written_although_its_job_is_paused(bench: Bench) -> None:
    import_hours(bench, 1)
    jobs.pause(list(Job))
    bench.request_version(DAY)
    assert bench.run_model() == [DAY]


def test_missed_runs_are_made_up_for_once_at_the_start_by_the_model(
    bench: Bench,
) -> None:
    bench.clock.now = MONDAY + 13 * HOUR
    import_hours(bench, 1)
    bench.run_model()
    assert bench.runs(Job.DAY) == []
    assert not bench.node(DAY).is_by_model
    bench.clock.now = NOW
    bench.start()
    assert bench.run_model() == [DAY, WEEK, MONTH]
    assert {run.job: run.reason for run in bench.runs()[:3]} == {
        Job.DAY: RunReason.SCHEDULE,
        Job.WEEK: RunReason.SCHEDULE,
        Job.MONTH: RunReason.SCHEDULE,
    }
    bench.start()
    assert bench.run_model() == []


def test_rollup_runs_on_schedule_while_memtui_runs(bench: Bench) -> None:
    bench.clock.now = MONDAY + 13 * HOUR
    import_hours(bench, 2)
    bench.run_model()
    bench.clock.now = MONDAY.replace(hour=0, minute=59) + timedelta(days=1)
    assert bench.run_model() == []
    bench.clock.advance(minutes=1)
    assert bench.run_model() == [DAY]
    (run,) = bench.runs(Job.DAY)
    assert (run.reason, run.result, run.created) == (
        RunReason.SCHEDULE,
        RunResult.DONE,
        1,
    )


# Nodes that fail


def test_failing_node_is_retried_less_often_and_blocks_no_other(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 3)
    poison, *others = bench.segments()
    waits = []
    for _ in range(3):
        stub.script(*[faults.reset(0)] * 3)
        while bench.step() == 0:
            bench.clock.advance(seconds=30)
        waits.append(bench.retry_in_s(poison))
        bench.clock.advance(seconds=60)
        bench.run_model()
        bench.clock.advance(seconds=waits[-1])
    assert waits == [120, 240, 480]
    assert bench.order == [poison, *others, DAY, WEEK, MONTH, poison]
    assert not bench.node(poison).is_by_model and bench.needs_version(poison)
    bench.run_model()
    assert bench.node(poison).is_by_model


def test_failing_requested_node_blocks_no_other(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 2)
    other, poison = bench.segments()
    bench.request_version(poison)
    stub.script(*[faults.reset(0)] * 3)
    assert bench.step() == 1
    assert bench.step() == 0
    bench.clock.advance(seconds=60)
    assert bench.step() == 1
    assert bench.order == [poison, other]
    bench.clock.advance(seconds=60)
    assert bench.run_model()[0] == poison
    assert bench.node(poison).is_by_model


def test_several_failing_nodes_do_not_block_the_others(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 4)
    *poison, good = bench.segments()
    for name in poison:
        stub.script(*[faults.reset(0)] * 3)
        while bench.step() == 0:
            bench.clock.advance(seconds=30)
        assert bench.order[-1] == name
    while bench.step() == 0:
        bench.clock.advance(seconds=30)
    assert bench.order[-1] == good
    assert bench.node(good).is_by_model


def test_failing_segment_does_not_hold_up_its_day(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 2)
    poison, good = bench.segments()
    stub.script(*[faults.ended(0)] * 3)
    assert bench.step() == 1
    while not bench.node(good).is_by_model:
        bench.clock.advance(seconds=30)
        bench.step()
    assert bench.run_model() == [DAY, WEEK, MONTH]
    assert bench.needs_version(poison)
    bench.clock.advance(minutes=2)
    assert bench.run_model() == [poison, DAY, WEEK, MONTH]


# What changes while and after


@pytest.mark.full
def test_late_event_has_only_its_ancestors_rewritten(
    bench: Bench,
) -> None:
    import_hours(bench, 1)
    import_hours(bench, 1, days=1)
    import_hours(bench, 1, days=10)
    bench.run_model()
    other = MONDAY + timedelta(days=2, hours=1)
    bench.import_records(make_records(other, *make_conversation(7)))
    (segment,) = bench.segments("toc:day:2025-03-12")
    anew = bench.run_model()
    assert anew == [segment, "toc:day:2025-03-12", WEEK, MONTH]


@pytest.mark.full
def test_periods_follow_a_requested_version(bench: Bench, stub: Stub) -> None:
    import_hours(bench, 2)
    bench.run_model()
    newest, _ = bench.segments()
    title = "Boats of a quay are late"
    stub.models[0].persona = lambda prompt: prompt.reply(
        [([n], text) for n, text in prompt.sample], title
    )
    bench.request_version(newest)
    assert bench.step() == 1
    stub.models[0].persona = personas.honest
    assert bench.run_model() == [DAY, WEEK, MONTH]
    assert title in bench.last_prompt(DAY)
    assert all(bench.node(name).is_by_model for name in (DAY, WEEK, MONTH))


def test_checkpoints_are_kept_after_each_node(bench: Bench) -> None:
    import_hours(bench, 1)
    bench.run_model()
    rows = {row[0]: row for row in bench.dump()["checkpoints"]}
    assert set(rows) >= {"rollup_day", "rollup_week", "rollup_month", "rollup_year"}


@pytest.mark.full
def test_new_prompts_have_everything_rewritten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_hours(bench, 2)
    first = bench.run_model()
    assert bench.node(DAY).status is NodeStatus.CURRENT
    monkeypatch.setattr(prompts, "VERSION", "next")
    bench.start()
    bench.improve._is_ready(bench.clock())
    assert bench.node(DAY).status is NodeStatus.STALE
    segment = bench.segments()[0]
    assert bench.node(segment).status is NodeStatus.STALE
    kept = bench.node(segment).version
    assert bench.run_model() == first
    assert bench.node(segment).summarizer.startswith("ollama-next ")
    assert bench.node(segment).version > kept
    assert [version.version for version in bench.history(segment).versions] == [3, 2, 1]
    bench.start()
    assert bench.run_model() == []


def test_the_model_reports_while_it_works(bench: Bench) -> None:
    import_hours(bench, 1)
    bench.step()
    phases = list(dict.fromkeys(doing.phase.value for doing in bench.seen))
    assert phases == ["loading", "writing", "checking"]
    assert bench.improve.model.progress is None
    assert bench.improve.model.node_id == ""
    assert set(bench.improve.changed.take()) >= {bench.segments()[0], DAY, YEAR}


def test_the_number_of_pending_nodes_is_shown(bench: Bench) -> None:
    import_hours(bench, 3)
    assert bench.count_pending()["segment"] == 3
    left = []
    for _ in range(3):
        bench.step()
        left.append(bench.improve.model.pending)
    assert left == [3, 2, 1]


def test_model_that_stops_is_reported_missing_until_it_is_back(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 2)
    bench.step()
    assert bench.improve.model.was_ready and not bench.improve.model.is_missing

    def leaving(prompt: Prompt) -> str:
        stub.close()
        return personas.honest(prompt)

    stub.models[0].persona = leaving
    stub.script(faults.reset(3))
    bench.step()
    assert bench.improve.model.is_missing
    stub.models[0].persona = personas.honest
    stub.start()
    bench.clock.advance(minutes=2)
    bench.step()
    assert not bench.improve.model.is_missing


def test_absent_model_is_reported_missing_only_if_configured(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 1)
    stub.close()
    bench.step()
    assert not bench.improve.model.is_missing
    schedule = bench.schedule
    wanting = ModelWorker(bench._ollama, schedule, UTC, bench.clock, is_requested=True)
    wanting.step()
    assert wanting.model.is_missing
    jobs.pause([Job.SEGMENTS])
    bench.clock.advance(minutes=1)
    wanting.step()
    assert not wanting.model.is_missing, "nobody needs one now"
    assert wanting.model.held_segments == 1
    jobs.resume([Job.SEGMENTS])
    wanting.step()
    assert wanting.model.held_segments == 0


def test_generated_conversations_differ() -> None:
    assert make_conversation(1) != make_conversation(2) != CONVERSATION


def test_request_has_the_model_checked_although_it_rests(
    bench: Bench, stub: Stub
) -> None:
    import_hours(bench, 1)
    stub.always(faults.CRASHED, "/api/tags")
    assert bench.step() == 0
    looked = len(stub.requests_for("/api/tags"))
    assert bench.step() == 0
    assert len(stub.requests_for("/api/tags")) == looked
    stub.always(faults.GOOD, "/api/tags")
    bench.clock.advance(seconds=5)
    (segment,) = bench.segments()
    bench.request_version(segment)
    assert bench.step() == 1
    assert bench.node(segment).is_by_model


def test_interrupted_run_has_the_number_of_pending_nodes(bench: Bench) -> None:
    import_hours(bench, 3)
    bench.step()
    assert bench.runs(Job.SEGMENTS)[0].waiting == 2
    bench.start()
    bench.step()
    assert bench.runs(Job.SEGMENTS)[1].waiting == 2


def test_pause_stops_a_requested_run(bench: Bench) -> None:
    import_hours(bench, 3)
    jobs.request_run([Job.SEGMENTS], bench.clock())
    assert bench.step() == 1
    jobs.pause([Job.SEGMENTS])
    assert bench.step() == 0
    assert bench.runs(Job.SEGMENTS)[0].result is RunResult.STOPPED


def test_requested_rollup_says_that_lower_levels_come_first(bench: Bench) -> None:
    import_hours(bench, 2)
    jobs.pause([Job.SEGMENTS])
    jobs.request_run([Job.DAY], bench.clock())
    bench.step()
    bench.step()
    run = bench.runs(Job.DAY)[0]
    assert run.result is RunResult.FAILED
    assert run.error == "lower levels come first: 2 segments pending"
