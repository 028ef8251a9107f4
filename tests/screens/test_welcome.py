"""The first start."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.widgets import Static

from memtui.model.sessions import AgentHistory
from memtui.pipeline.progress import PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens import welcome
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.welcome import EMPTY, WelcomeScreen
from memtui.tui.widgets.status_line import IMPORT_ELSEWHERE, StatusLine
from memtui.workspace import Workspace
from tests.pilots import AppOf, Settle

FOUND = [AgentHistory("claude-code", Path("/srv/agents/projects"), 214)]


def offer(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#offer", Static).visual)


@pytest.mark.journey
async def test_empty_store_offers_an_import(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Sequence[AgentHistory], bool]] = []
    monkeypatch.setattr(workspace, "histories", lambda: FOUND)

    def start(
        histories: Sequence[AgentHistory], report: object, *, is_watched: bool
    ) -> None:
        asked.append((histories, is_watched))

    monkeypatch.setattr(workspace, "start_import", start)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert offer(app) == EMPTY.plain + (
            "Press i to import the 214 Claude Code sessions"
            " found on this machine and watch for new messages."
        )
        await pilot.press("i")
        await settle(pilot)
        assert asked == [(FOUND, True)]
        assert isinstance(app.screen, ContentsScreen)
        app.post_message(
            ProgressReported(PipelineProgress("import", done=3, total=214))
        )
        await settle(pilot)
        status = app.screen.query_one(StatusLine)
        assert status.work.plain == "● importing 3 of 214"


async def test_what_nothing_is_kept_of_is_said_below_the_history(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "2 other files, 3.0 kB: 1 .md, 1 .[b]png"
    history = AgentHistory("claude-code", Path("/srv/agents/projects"), 214, other)
    monkeypatch.setattr(workspace, "histories", lambda: [history])
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        rows = str(app.screen.query_one("#histories", Static).visual)
        assert f"nothing is kept of {other}" in rows


async def test_without_histories_searched_folders_are_listed(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"claude-code": (Path("/srv/agents/projects"),)}
    monkeypatch.setattr(welcome, "transcript_folders", lambda: places)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert offer(app).endswith(
            "No agent's conversations were found on this machine."
        )
        text = str(app.screen.query_one("#histories", Static).visual)
        assert "Claude Code        /srv/agents/projects" in text
        assert text.endswith("Elsewhere? Run: memtui import PATH…")
        further = str(app.screen.query_one("#choices", Static).visual)
        assert "memtui demo" in further and "imports" not in further
        await pilot.press("i")
        await settle(pilot)
        assert isinstance(app.screen, WelcomeScreen)
        (said,) = app._notifications
        assert said.message.startswith("No conversations were found.")
        await pilot.press("d")
        await settle(pilot)
    assert app.return_value == "demo"


async def test_failed_search_for_histories_is_reported(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[AgentHistory]:
        raise OSError("no entry")

    monkeypatch.setattr(workspace, "histories", broken)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert offer(app).endswith("The search failed: no entry")


async def test_filled_store_opens_at_the_contents(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        assert isinstance(app.screen, ContentsScreen)
        await pilot.press("i")
        await settle(pilot)
        assert offer(app) == "No agent's conversations were found on this machine."
        await pilot.press("escape")
        assert isinstance(app.screen, ContentsScreen)


async def test_another_process_prevents_an_import(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Sequence[AgentHistory], bool]] = []
    monkeypatch.setattr(workspace, "histories", lambda: FOUND)

    def start(
        histories: Sequence[AgentHistory], report: object, *, is_watched: bool
    ) -> None:
        asked.append((histories, is_watched))

    monkeypatch.setattr(workspace, "start_import", start)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        app.post_message(ProgressReported(PipelineProgress("", is_active=False)))
        await settle(pilot)
        assert offer(app) == f"{EMPTY.plain}{IMPORT_ELSEWHERE}"
        await pilot.press("i", "escape", "i")
        await settle(pilot)
        assert isinstance(app.screen, ContentsScreen) and not asked
        notices = [notice.message for notice in app._notifications]
        assert {*notices} == {IMPORT_ELSEWHERE}
