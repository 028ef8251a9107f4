"""Commands on the selected session, from every screen that lists or shows one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.errors import MemtuiError
from memtui.model.sessions import Session
from memtui.pipeline.progress import PipelineProgress
from memtui.services import sessions
from memtui.services import versions as version_service
from memtui.store import database, versions
from memtui.text import fencing
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools import handover, replies
from memtui.tui import terminal
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.dialogs import (
    ChoiceScreen,
    ExportScreen,
    LineScreen,
    ResumeScreen,
)
from memtui.tui.screens.search import SearchScreen
from memtui.tui.widgets.node_page import NodePage
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.pilots import AppOf, Settle, notices, press
from tests.screens import long_session
from tests.screens.test_search import wait_for_results

Pilots = Pilot[str | MemtuiError]

RELOAD_S = ContentsScreen.RELOAD_INTERVAL_S

PLACES = {
    "contents": (),
    "page": ("tab",),
    "sessions": ("s",),
    "reader": ("s", "enter"),
}


def selected(app: MemtuiApp) -> Session:
    row = app.screen.query_one(TocTree).session
    assert row is not None
    return row.session


@pytest.mark.parametrize("place", PLACES)
async def test_keys_act_on_the_selected_session(
    app: MemtuiApp, settle: Settle, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "")
    monkeypatch.delenv("VISUAL", raising=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        session = selected(app)
        await press(pilot, settle, *PLACES[place])
        for key, dialog in (("r", ResumeScreen), ("e", ExportScreen)):
            await press(pilot, settle, key)
            assert isinstance(app.screen, dialog)
            await press(pilot, settle, "escape")
        await press(pilot, settle, "o")
        assert notices(app)[-1].startswith("No editor is set.")
        await press(pilot, settle, "T")
        assert isinstance(app.screen, LineScreen)
        assert app.screen.query_one(Input).value == session.title
        app.screen.query_one(Input).value = "A name of my own"
        await press(pilot, settle, "enter")
        details = sessions.get_details(session.agent, session.session_id)
        assert details.session.title == "A name of my own"
        await press(pilot, settle, "y")
        assert app.clipboard


async def test_enter_submits_what_was_typed_just_before(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "T")
        for key in (*"Mine", "enter"):  # The old name is selected.
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot)
        await settle(pilot)
        assert selected(app).title == "Mine"


async def test_new_name_is_shown_and_an_empty_one_takes_it_back(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        before = selected(app).title
        for typed, title in (("Mine [b]", "Mine [b]"), ("", before)):
            await press(pilot, settle, "T")
            app.screen.query_one(Input).value = typed
            await press(pilot, settle, "enter")
            await settle(pilot)
            assert selected(app).title == title
        await press(pilot, settle, "y")
        assert app.clipboard.startswith(f"{before} — ")
        assert app.clipboard.endswith(f"session {selected(app).full_name}")


@pytest.mark.parametrize("place", [*PLACES, "shell"])
async def test_contents_show_a_name_that_was_given_elsewhere(
    app: MemtuiApp, full_workspace: Workspace, settle: Settle, place: str
) -> None:
    pipeline = full_workspace.pipeline
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        session = selected(app)
        for typed, title in (("Mine", "Mine"), ("", session.title)):
            if place == "shell":
                key = session.agent, session.session_id
                if typed:
                    sessions.rename(*key, typed, full_workspace.zone)
                else:
                    sessions.undo_rename(*key, full_workspace.zone)
            else:
                await press(pilot, settle, *PLACES[place], "T")
                app.screen.query_one(Input).value = typed
                await press(pilot, settle, "enter")
                while not isinstance(app.screen, ContentsScreen):
                    await press(pilot, settle, "escape")
            # All that a process learns whose pipeline is run by another one.
            with database.connection():
                last, _ = versions.list_since(0)
            assert pipeline.run_until_idle(lambda _: None) == []
            with database.connection():
                changed = frozenset(versions.list_since(last)[1])
            report = PipelineProgress("index", 1, changed=changed)
            app.post_message(ProgressReported(report))
            await pilot.pause(RELOAD_S)
            await settle(pilot)
            assert selected(app).title == title
            node = app.screen.query_one(NodePage).node
            assert node is not None and title in (node.title, node.headline)


async def test_hits_have_the_same_commands_with_alt(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(160, 50)) as pilot:
        await settle(pilot)
        await pilot.press("slash")
        app.screen.query_one(Input).value = "timeout"
        await wait_for_results(pilot, settle)
        for key, dialog in (
            ("alt+r", ResumeScreen),
            ("alt+e", ExportScreen),
            ("alt+t", LineScreen),
        ):
            # Most terminals send escape and the letter.
            app.post_message(events.Key(key, key[-1]))
            await settle(pilot)
            assert isinstance(app.screen, dialog)
            await press(pilot, settle, "escape")
        assert isinstance(app.screen, SearchScreen)
        await press(pilot, settle, "alt+y")
        assert "claude-code:shop-1" in app.clipboard
        assert app.screen.query_one(Input).value == "timeout"


async def test_row_without_session_says_so(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "T")
        assert isinstance(app.screen, ContentsScreen)
        assert notices(app) == ["Select a session first."]


async def test_contents_request_a_new_version(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "R")
        (notice,) = notices(app)
        assert notice.startswith("A new version is requested.")
        row = app.screen.query_one(TocTree).current
        assert row is not None
        history = version_service.get_history(row.node_id)
        assert history is not None and history.requested_at


async def test_message_and_its_code_are_copied_as_they_are(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(5)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "enter", "home", "down")
        copies = []
        for _ in range(3):
            await press(pilot, settle, "y")
            copies.append(app.clipboard)
        text = f"Answer 1. {long_session.CODE}"
        code = "def grind(grain: str) -> str:\n    return grain  # [b]"
        assert copies == [text, code, text]
        await press(pilot, settle, "Y")
        assert ":mill), " in app.clipboard and ", evt:" in app.clipboard


# Pages, reports and context packs


async def test_period_is_exported_as_a_report(
    app: MemtuiApp, settle: Settle, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for opened, name in (((), "a.md"), (("c",), "b.html")):
            await press(pilot, settle, *opened or ("home",), "e")
            line = app.screen.query_one(Input)
            assert Path(line.value).name.startswith("report-2024")
            line.value = str(tmp_path / name)
            await press(pilot, settle, "enter")
        assert "## shop\n\n### Worked on" in (tmp_path / "a.md").read_text("utf-8")
        page = (tmp_path / "b.html").read_text("utf-8")
        assert page.startswith("<!DOCTYPE html>") and "<h2>shop</h2>" in page


async def test_report_of_a_line_about_a_project_is_of_that_project(
    app: MemtuiApp, settle: Settle, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "tab", "down", "e")
        app.screen.query_one(Input).value = str(tmp_path / "a.md")
        await press(pilot, settle, "enter")
        text = (tmp_path / "a.md").read_text("utf-8")
        assert text.startswith("# 2024 · logsift\n")


@pytest.mark.parametrize("place", ["contents", "page", "sessions"])
async def test_page_is_copied_as_markdown(
    app: MemtuiApp, settle: Settle, place: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        title = selected(app).title
        await press(pilot, settle, *PLACES[place], "Y")
        assert app.clipboard.startswith(f"# {title}\n")
        assert "\n## Sources\n\n[1] " in app.clipboard
        if place == "contents":
            await press(pilot, settle, "home", "Y")
            assert app.clipboard.startswith("# 2024\n")


@pytest.mark.parametrize("place", [*PLACES, "calendar", "search"])
async def test_selected_row_is_handed_over(
    app: MemtuiApp, settle: Settle, place: str, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        key = "X"
        if place == "search":
            await pilot.press("slash")
            app.screen.query_one(Input).value = "timeout"
            await wait_for_results(pilot, settle)
            key = "alt+x"
        await press(pilot, settle, *PLACES.get(place, ("c",) if key == "X" else ()))
        await press(pilot, settle, key)
        assert isinstance(app.screen, ChoiceScreen)
        await press(pilot, settle, "enter")
        pack = app.clipboard
        assert fencing.NOTICE in pack and "\n## " in pack
        assert replies.cost(pack, ESTIMATING_COUNTER) <= handover.TOKENS
        is_source = place not in ("contents", "sessions", "calendar")
        assert ("\n- chosen: " in pack) is is_source
        await press(pilot, settle, key, "down", "enter")
        app.screen.query_one(Input).value = str(tmp_path / "pack.md")
        await press(pilot, settle, "enter")
        assert "\n## " in (tmp_path / "pack.md").read_text("utf-8")


async def test_agent_starts_with_the_pack(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name == "codex" else None)
    runs: list[Sequence[str]] = []
    monkeypatch.setattr(terminal, "run", lambda _, argv, folder: runs.append(argv))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "X", "down", "down", "enter")
    ((program, prompt),) = runs
    file = Path(prompt.split()[1].removesuffix(":"))
    assert program == "codex" and fencing.NOTICE in file.read_text("utf-8")
