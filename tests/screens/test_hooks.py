"""The hooks screen, on real settings files."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from memtui import hook
from memtui.errors import MemtuiError
from memtui.integrations.config_files import Machine
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.hooks import HooksScreen
from memtui.tui.widgets.panes import DetailPane
from memtui.workspace import Workspace
from tests.pilots import AppOf, Compare, Settle


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Somebody who has Claude Code, and Gemini with settings that have comments."""
    person = tmp_path / "person"
    (person / ".claude").mkdir(parents=True)
    (person / ".claude" / "settings.json").write_text('{\n  "model": "opus"\n}\n')
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text("{\n  // mine\n}\n")
    return Machine(
        home=person,
        environment={},
        python="python3",
        hook=Path(hook.__file__),
    )


@pytest.fixture
def app_with_hooks(
    full_workspace: Workspace,
    app_of: AppOf,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
) -> MemtuiApp:
    """The app of the full workspace, on that machine."""
    app = app_of(full_workspace)
    monkeypatch.setattr(app, "_hooks_machine", lambda: machine)
    return app


def details(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#details", Static).visual)


def claude_settings(machine: Machine) -> str:
    return (machine.home / ".claude" / "settings.json").read_text("utf-8")


@pytest.mark.journey
async def test_change_is_shown_first_and_written_by_a_second_key(
    app_with_hooks: MemtuiApp, machine: Machine, settle: Settle
) -> None:
    before = claude_settings(machine)
    async with app_with_hooks.run_test() as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert claude_settings(machine) == before
        await pilot.press("enter")
        await settle(pilot)
        assert '"async": true' in details(app_with_hooks)
        assert claude_settings(machine) == before
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert details(app_with_hooks).startswith("Claude Code: hooks installed.")
        assert "hook.py" in claude_settings(machine)
        row = app_with_hooks.screen.query_one(OptionList).get_option("claude-code")
        assert str(row.prompt).startswith("✓ Claude Code")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert details(app_with_hooks) == "Claude Code: hooks removed."
        assert claude_settings(machine) == before


async def test_moving_on_or_going_back_drops_the_change(
    app_with_hooks: MemtuiApp, machine: Machine, settle: Settle
) -> None:
    before = claude_settings(machine)
    async with app_with_hooks.run_test() as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        for key in ("down", "escape"):
            await pilot.press("home", "enter")
            await settle(pilot)
            assert '"async": true' in details(app_with_hooks)
            await pilot.press(key, "ctrl+s")
            await settle(pilot)
            assert isinstance(app_with_hooks.screen, HooksScreen)
            assert claude_settings(machine) == before
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app_with_hooks.screen, ContentsScreen)


async def test_long_change_is_scrolled_by_page(
    app_with_hooks: MemtuiApp, settle: Settle
) -> None:
    async with app_with_hooks.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        pane = app_with_hooks.screen.query_one(DetailPane)
        await pilot.press("pagedown")
        assert pane.scroll_y > 0
        await pilot.press("pageup")
        assert pane.scroll_y == 0


async def test_unreadable_settings_are_reported(
    app_with_hooks: MemtuiApp, machine: Machine, settle: Settle
) -> None:
    async with app_with_hooks.run_test() as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        assert "line 2: expecting property name" in details(app_with_hooks)
        assert "the file was not changed" in details(app_with_hooks)


async def test_file_changed_since_is_not_written(
    app_with_hooks: MemtuiApp, machine: Machine, settle: Settle
) -> None:
    async with app_with_hooks.run_test() as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        (machine.home / ".claude" / "settings.json").write_text("{}")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "has changed; it was not written" in details(app_with_hooks)
        assert claude_settings(machine) == "{}"


async def test_demo_has_no_hooks(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("H")
        await settle(pilot)
        assert isinstance(app.screen, ContentsScreen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "full"])
@pytest.mark.parametrize("keys", [["H"], ["H", "enter"]], ids=["agents", "change"])
@pytest.mark.journey(only="agents-full")
def test_pictures(
    app_with_hooks: MemtuiApp,
    machine: Machine,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    keys: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = replace(
        machine, python="/opt/bin/python3", hook=Path("/opt/memtui/hook.py")
    )
    monkeypatch.setattr(app_with_hooks, "_hooks_machine", lambda: elsewhere)
    (machine.home / ".gemini" / "settings.json").unlink()

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)

    assert snap_compare(app_with_hooks, terminal_size=size, run_before=run)
