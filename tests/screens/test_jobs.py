"""The jobs screen: live progress, pausing and running jobs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from textual.widgets import Static

from memtui.model.jobs import (
    Job,
    JobRun,
    ModelCondition,
    ModelHealth,
    ModelPhase,
    ModelProgress,
    RunReason,
    RunResult,
)
from memtui.pipeline.progress import ModelStatus, PipelineProgress
from memtui.store import database, jobs
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.jobs import JobList, JobsScreen, describe_model
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import AppOf, Compare, Settle, notices, steps

READY = ModelStatus().with_health(ModelHealth(ModelCondition.READY, model="qwen3:4b"))
BUSY = replace(
    READY,
    node_id="toc:day:2024-01-15",
    pending=14,
    started_at=NOW - timedelta(seconds=72),
    progress=ModelProgress(ModelPhase.WRITING, 2, 3, written=48, limit=700),
)
NO_MODEL = ModelHealth(
    ModelCondition.MODEL_MISSING,
    "no model is there that would do",
    "ollama pull qwen3:4b-instruct",
)


WHY_NO_MODEL = Workspace.why_no_model
"""The property itself, which the workspace of these tests replaces."""


@pytest.fixture
def workspace_with_runs(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """The full workspace; a model is asked, and its day job has failed once."""
    schedules = {
        job: replace(schedule, jitter_s=0)
        for job, schedule in full_workspace.schedules.items()
    }
    monkeypatch.setattr(Workspace, "schedules", schedules)
    monkeypatch.setattr(Workspace, "now", lambda _: NOW)
    monkeypatch.setattr(Workspace, "why_no_model", "")
    start = NOW - timedelta(hours=1)
    end = start + timedelta(seconds=95)
    with database.transaction():
        jobs.save_run(
            JobRun(
                Job.DAY,
                RunReason.SCHEDULE,
                start,
                heartbeat_at=end,
                ended_at=end,
                result=RunResult.FAILED,
                error="the model's reply was cut [short]",
                created=2,
                failed=1,
                waiting=3,
            )
        )
    return full_workspace


def chosen(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#details", Static).visual)


def model(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#model", Static).visual)


def row(app: MemtuiApp, name: str) -> str:
    return str(app.screen.query_one(JobList).get_option(name).prompt)


@pytest.mark.journey
async def test_a_job_shows_its_runs_and_can_be_paused_resumed_and_run(
    workspace_with_runs: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace_with_runs)
    async with app.run_test() as pilot:
        await steps(settle, "w", *["down"] * 8)(pilot)
        assert isinstance(app.screen, JobsScreen)
        counts = "failed, 1m, on schedule: 2 written, 1 failed, 3 left"
        assert counts in chosen(app)
        assert "the model's reply was cut [short]" in chosen(app)
        await steps(settle, "space")(pilot)
        assert "paused" in row(app, Job.DAY)
        with database.connection():
            assert jobs.get_states()[Job.DAY].is_paused
        await steps(settle, "space", "x")(pilot)
        with database.connection():
            state = jobs.get_states()[Job.DAY]
        assert not state.is_paused and state.requested_at == NOW
        assert "requested" in row(app, Job.DAY)
        assert [said.split(".")[0] for said in notices(app)] == [
            "Model: days: paused",
            "Model: days: resumed",
            "Model: days: requested",
        ]
        await steps(settle, "enter", "escape", "escape")(pilot)
        assert isinstance(app.screen, ContentsScreen)


async def test_reports_are_displayed_at_once_and_the_cursor_stays(
    workspace_with_runs: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace_with_runs)
    async with app.run_test() as pilot:
        await steps(settle, "w", "down", "down")(pilot)
        app.post_message(
            ProgressReported(PipelineProgress("segment", done=3, model=BUSY))
        )
        await settle(pilot)
        assert "● working" in row(app, "segment")
        assert model(app) == (
            "● qwen3:4b: part 2 of 3, writing  48 of 700 · 14 to go\n"
            "  Mon 15 Jan 2024 · for 1m"
        )
        app.post_message(
            ProgressReported(PipelineProgress("segment", error="the disk is full"))
        )
        await settle(pilot)
        assert "✗ the disk is full" in row(app, "segment")
        assert "memtui will retry." in chosen(app)
        assert app.screen.query_one(JobList).current == "segment"


@pytest.mark.parametrize(
    ("health", "said"),
    [
        (
            ModelHealth(ModelCondition.READY, model="qwen3:4b"),
            "✓ qwen3:4b is available, idle.",
        ),
        (
            ModelHealth(ModelCondition.OFFLINE, "no Ollama answers"),
            "✗ No Ollama answers; try: start Ollama, or install it from"
            " ollama.com, then: ollama pull qwen3:4b-instruct."
            "\n  memtui will check again; x on a job checks now.",
        ),
        (
            NO_MODEL,
            "✗ No model is there that would do; try: ollama pull qwen3:4b-instruct."
            "\n  memtui will check again; x on a job checks now.",
        ),
    ],
    ids=["ready", "offline", "missing"],
)
def test_the_state_of_ollama_is_shown_with_its_fix(
    health: ModelHealth, said: str
) -> None:
    state = ModelStatus().with_health(health)
    assert str(describe_model(state, "", None, NOW)) == said


async def test_keys_that_cannot_act_say_why(
    workspace_with_runs: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace_with_runs)
    onlooker = PipelineProgress("", is_active=False)
    async with app.run_test() as pilot:
        await steps(settle, "w", "x", "end", progress=onlooker)(pilot)
        await steps(settle, "space", "x")(pilot)
        why = "Another memtui is running. Do it there, or in a shell: "
        assert notices(app) == [
            "A stage runs by itself whenever something is queued for it.",
            f"{why}memtui jobs pause rollup_year",
            f"{why}memtui jobs run rollup_year",
        ]
        with database.connection():
            assert not jobs.get_states()[Job.YEAR].is_paused
        # What the stages do is not known here.
        assert row(app, "ingest").split("  ")[-1] == "in another memtui"
        await steps(settle, "home")(pilot)
        assert "Another memtui does this now" in chosen(app)


EXTRACTIVE = (
    "No model is used while summaries.provider is extractive (the file, line 3); with"
    " auto one is, where there is one."
)


async def test_a_job_without_a_model_is_not_said_to_be_due(
    workspace_with_runs: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Workspace, "why_no_model", EXTRACTIVE)
    app = app_of(workspace_with_runs)
    async with app.run_test() as pilot:
        await steps(settle, "w", *["down"] * 8, "x", "space")(pilot)
        assert model(app) == EXTRACTIVE
        assert row(app, Job.DAY).split("  ")[-1].startswith("no model")
        assert "summaries are extracts" in chosen(app)
        assert "next" not in chosen(app) + row(app, Job.DAY)
        assert notices(app) == [EXTRACTIVE] * 2
        with database.connection():
            state = jobs.get_states()[Job.DAY]
        assert not state.is_paused and state.requested_at is None


async def test_job_waits_for_a_missing_model_and_can_be_requested(
    workspace_with_runs: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace_with_runs)
    missing = PipelineProgress("", model=ModelStatus().with_health(NO_MODEL))
    async with app.run_test() as pilot:
        await steps(settle, "w", *["down"] * 8, progress=missing)(pilot)
        assert "no model" in row(app, Job.DAY)
        assert "This waits until a model is available" in chosen(app)
        await steps(settle, "x")(pilot)
        assert notices(app) == [
            "Model: days: requested. It will run once a model is available."
        ]
        app.post_message(ProgressReported(PipelineProgress("", model=READY)))
        await settle(pilot)
        assert "requested" in row(app, Job.DAY)
        assert "waits until" not in chosen(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.journey(only="(120, 40)")
def test_pictures(
    workspace_with_runs: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
) -> None:
    report = PipelineProgress("index", queued=3, model=BUSY)
    run = steps(settle, "w", *["down"] * 8, progress=report)
    assert snap_compare(app_of(workspace_with_runs), terminal_size=size, run_before=run)


def test_picture_of_what_fails(
    workspace_with_runs: Workspace, app_of: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    health = ModelStatus(is_requested=True).with_health(NO_MODEL)
    report = PipelineProgress("index", error="the disk is full", model=health)
    run = steps(settle, "w", *["down"] * 5, progress=report)
    assert snap_compare(
        app_of(workspace_with_runs), terminal_size=(80, 24), run_before=run
    )


def test_picture_of_the_demo(
    workspace_with_runs: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Workspace, "why_no_model", WHY_NO_MODEL)
    monkeypatch.setattr(workspace_with_runs, "is_demo", True)
    run = steps(settle, "w", *["down"] * 8, progress=PipelineProgress(""))
    assert snap_compare(
        app_of(workspace_with_runs), terminal_size=(80, 24), run_before=run
    )


async def test_a_small_model_is_warned_of_once(app: MemtuiApp, settle: Settle) -> None:
    warning = "tiny:1b is small: with 1B parameters …"
    health = ModelHealth(ModelCondition.READY, warning, model="tiny:1b")
    progress = PipelineProgress("", model=ModelStatus(health))
    async with app.run_test() as pilot:
        await settle(pilot)
        for _ in range(2):
            app.post_message(ProgressReported(progress))
            await settle(pilot)
        assert notices(app) == [f"{warning}."]
