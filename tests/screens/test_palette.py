"""Commands, palette, help and themes."""

from contextlib import nullcontext

import pytest
from textual.binding import Binding

from memtui.pipeline.progress import PipelineProgress
from memtui.tui import commands
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.filter import FilterScreen
from memtui.tui.widgets.status_line import StatusLine
from memtui.workspace import Workspace
from tests.pilots import Settle

TWINS = (
    {"search", "find_here"},
    {"toggle_expanded", "pause_job"},
    {"older_sibling", "next_prompt"},
    {"newer_sibling", "previous_prompt"},
    {"next_source", "next_match"},
    {"previous_source", "previous_match", "next_part"},
    {"retry", "toggle_thinking"},
    {"retry_all", "accept"},
    {"run_now", "reject"},
    {"show_withheld", "undo_judgement"},
    {"show_calendar", "ask_model"},
    {"open_demo", "toggle_card", "mark_done"},
    {"show_points", "switch_points"},
)
"""Commands that share a key, each in a place of its own."""


def test_key_has_one_meaning() -> None:
    by_key: dict[str, set[str]] = {}
    for row in commands.COMMANDS:
        for key in row.keys.split():
            by_key.setdefault(key, set()).add(row.name)
    shared = [names for names in by_key.values() if len(names) > 1]
    assert [names for names in shared if names not in TWINS] == []


def test_every_command_has_help() -> None:
    for row in commands.COMMANDS:
        has_help = row.help[:1].isupper() and row.help.endswith(".")
        assert has_help or not row.help, row.name
        with nullcontext() if has_help else pytest.raises(ValueError, match=row.name):
            commands.bindings(row.name)
    with pytest.raises(KeyError):
        commands.bindings(no_such_command="It does nothing.")


async def test_every_binding_has_an_action(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        for holder in (app, app.screen, *app.screen.walk_children()):
            for binding in type(holder).__dict__.get("BINDINGS", ()):
                assert isinstance(binding, Binding)
                name = binding.action.partition("(")[0]
                assert hasattr(holder, f"action_{name}"), (holder, name)


async def test_theme_is_chosen_in_the_palette(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        titles = [entry.title for entry in app.get_system_commands(app.screen)]
        assert titles[-4:] == [
            "Theme: light", "Theme: contrast", "Theme: dusk", "Theme: paper"
        ]  # fmt: skip
        await pilot.press("ctrl+p", *"contrast", "enter")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert app.theme == "memtui-contrast"


@pytest.mark.full
async def test_palette_runs_a_command_of_the_screen_below(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        for keys in (("ctrl+p", *"filter"), ("enter",)):
            await pilot.press(*keys)
            await settle(pilot)
        assert isinstance(app.screen, FilterScreen)


async def test_notices_disappear_with_their_screen(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("backspace")
        assert [said.message for said in app._notifications] == [
            "There is no jump to take back."
        ]
        await pilot.press("s")
        await settle(pilot)
        assert not app._notifications


async def test_q_quits(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("q")
    assert app.return_value is None
    assert app.return_code == 0


@pytest.mark.parametrize("key", ["question_mark", "v", "Q"])
@pytest.mark.full
async def test_q_quits_on_every_screen(
    app: MemtuiApp, settle: Settle, key: str
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press(key)
        await settle(pilot)
        assert not isinstance(app.screen, ContentsScreen)
        await pilot.press("q")
    assert not app.is_running and app.return_code == 0


async def test_reports_of_a_thread_reach_the_screen(
    full_workspace: Workspace, settle: Settle
) -> None:
    app = MemtuiApp(lambda: full_workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        status = app.screen.query_one(StatusLine)
        while status.work.plain == "starting":
            await pilot.pause()
        assert status.work.plain == "idle"


async def test_traceback_has_no_local_variables(
    settle: Settle, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> Workspace:
        said = "a word of a session".upper()
        raise RuntimeError(f"{len(said)} characters")

    with pytest.raises(RuntimeError, match="19 characters"):
        async with MemtuiApp(fails).run_test() as pilot:
            await settle(pilot)
    printed = capsys.readouterr().err
    assert "RuntimeError: 19 characters" in printed
    assert "WORD" not in printed


async def test_missing_store_is_reported_until_it_is_back(
    app: MemtuiApp, settle: Settle
) -> None:
    why = "the store at /m/memory.db is gone. Put it back or quit; nothing is written"
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for _ in range(2):
            app.post_message(
                ProgressReported(PipelineProgress("", error=why, is_store_gone=True))
            )
            await settle(pilot)
        assert [notice.message for notice in app._notifications] == [f"T{why[1:]}."]
        assert str(app.screen.query_one(StatusLine).work).startswith("✗ the store")
        app.post_message(ProgressReported(PipelineProgress("")))
        await settle(pilot)
        assert not app._notifications
