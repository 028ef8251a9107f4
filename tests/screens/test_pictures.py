"""Snapshots of the screens at fixed sizes, times and cursor positions."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.errors import MemtuiError
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.model.sessions import AgentHistory
from memtui.pipeline.progress import ModelStatus, PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens import search
from memtui.tui.screens.search import SearchScreen
from memtui.tui.widgets.status_line import StatusLine
from memtui.workspace import Workspace
from tests.pilots import AppOf, Compare, Settle, steps

TO_THE_DAY = ["left"]
"""From the session that the contents open at."""


@pytest.mark.journey
def test_contents_full(app: MemtuiApp, settle: Settle, snap_compare: Compare) -> None:
    run = steps(settle)
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_contents_light_with_quotes_unfolded(
    app: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    app.theme = "memtui-light"
    run = steps(settle, *TO_THE_DAY, "enter", "space", "down")
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


@pytest.mark.parametrize("theme", ["contrast", "dusk", "paper"])
def test_contents_in_other_colours(
    app: MemtuiApp, settle: Settle, snap_compare: Compare, theme: str
) -> None:
    app.theme = f"memtui-{theme}"
    run = steps(settle, *TO_THE_DAY, "enter", "space", "down")
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_contents_empty(
    workspace: Workspace, app_of: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    run = steps(settle, "escape")
    assert snap_compare(app_of(workspace), terminal_size=(120, 40), run_before=run)


@pytest.mark.parametrize("entered", [0, 1, 2], ids=["tree", "page", "source"])
def test_contents_narrow(
    app: MemtuiApp, settle: Settle, snap_compare: Compare, entered: int
) -> None:
    run = steps(settle, *["enter"] * entered)
    assert snap_compare(app, terminal_size=(80, 24), run_before=run)


def test_contents_wide(app: MemtuiApp, settle: Settle, snap_compare: Compare) -> None:
    run = steps(settle, *TO_THE_DAY)
    assert snap_compare(app, terminal_size=(200, 60), run_before=run)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "full"])
def test_contents_while_a_model_writes(
    app: MemtuiApp, settle: Settle, snap_compare: Compare, size: tuple[int, int]
) -> None:
    doing = ModelProgress(ModelPhase.WRITING, 2, 3, written=48, limit=700)
    ready = ModelStatus().with_health(
        ModelHealth(ModelCondition.READY, model="qwen3:4b")
    )
    model = replace(ready, node_id="toc:day:2024-02-19", pending=14, progress=doing)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        line = pilot.app.screen.query_one(StatusLine)
        while line.work.plain == "starting":
            await pilot.pause()
        pilot.app.post_message(
            ProgressReported(PipelineProgress("index", queued=3, model=model))
        )
        while "qwen3:4b" not in line.work.plain:
            await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=run)


def test_contents_failing(
    app: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("memtui.services.browse.list_children", broken)
    run = steps(settle)
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


@pytest.mark.journey
def test_teleport_results(
    app: MemtuiApp,
    full_workspace: Workspace,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = full_workspace.search.find

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await steps(settle, "slash")(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, SearchScreen)
        screen.query_one(Input).cursor_blink = False
        await pilot.press(*"session")
        while screen.is_waiting:
            await pilot.pause()
        await settle(pilot)

    # Whether it has been searched by then depends on the machine.
    monkeypatch.setattr(search, "TOOLS_PAUSE_S", 60)
    monkeypatch.setattr(
        full_workspace.search,
        "find",
        lambda text, **others: replace(find(text, **others), took_ms=6.0),
    )
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


@pytest.mark.journey
def test_help(app: MemtuiApp, settle: Settle, snap_compare: Compare) -> None:
    run = steps(settle, "question_mark")
    assert snap_compare(app, terminal_size=(120, 60), run_before=run)


@pytest.mark.journey
def test_welcome(
    workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    histories = [AgentHistory("claude-code", Path("/srv/agents/projects"), 214)]
    monkeypatch.setattr(workspace, "histories", lambda: histories)
    run = steps(settle)
    assert snap_compare(app_of(workspace), terminal_size=(120, 40), run_before=run)
