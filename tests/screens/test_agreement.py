"""Footer, palette, help and key bindings agree on every screen."""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from memtui import settings
from memtui.errors import MemtuiError
from memtui.integrations.config_files import Machine
from memtui.settings_file import SettingsEditor
from memtui.store import database, sources
from memtui.tui import commands, palette, screens
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.base import GAP, KeyLine
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.themes import THEMES
from memtui.tui.widgets.status_line import StatusLine
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import Settle
from tests.screens import help_text

OPENED: dict[str, Sequence[str]] = {
    "ContentsScreen": (),
    "CalendarScreen": ("c",),
    "DateScreen": ("g",),
    "DismissScreen": ("Q", "D"),
    "ExportScreen": ("s", "enter", "e"),
    "FilterScreen": ("F",),
    "HelpScreen": ("question_mark",),
    "HooksScreen": ("H",),
    "JobsScreen": ("w",),
    "QuarantineScreen": ("Q",),
    "ReaderScreen": ("s", "enter"),
    "ResumeScreen": ("s", "enter", "r"),
    "SessionsScreen": ("s",),
    "SettingScreen": ("comma", "enter"),
    "SettingsScreen": ("comma",),
    "SearchScreen": ("slash",),
    "VersionsScreen": ("v",),
    "WelcomeScreen": ("i",),
}
"""How each screen is reached from the contents: a new one belongs in here."""


@pytest.fixture
def app(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> MemtuiApp:
    """The app with all it may have: a refusal, agents' hooks, settings."""
    with database.transaction():
        counts = [
            sources.ProblemCount("not valid JSON", sources.ProblemKind.DAMAGED, 57, 12)
        ]
        sources.add_problems("/srv/attic/session.jsonl", counts, 1)
    monkeypatch.setattr(full_workspace, "start", lambda _: None)
    monkeypatch.setattr(full_workspace, "histories", lambda: [])
    file = full_workspace.paths.config
    desk = SettingsEditor(lambda: settings.load(file), settings.load(file), file)
    machine = Machine(tmp_path, {}, "python3", tmp_path / "hook.py", tmp_path)
    return MemtuiApp(
        lambda: full_workspace,
        lambda: NOW,
        hooks_machine=lambda: machine,
        settings=desk,
    )


def screen_classes() -> set[str]:
    found = set()
    modules = [*pkgutil.iter_modules(screens.__path__)]
    for module in modules:
        importlib.import_module(f"memtui.tui.screens.{module.name}")
    for module in modules:
        held = vars(importlib.import_module(f"memtui.tui.screens.{module.name}"))
        found |= {
            name
            for name, one in held.items()
            if isinstance(one, type)
            and issubclass(one, Screen)
            and not one.__subclasses__()
            and one.__module__ == f"memtui.tui.screens.{module.name}"
            and not one.__subclasses__()
        }
    return found


@pytest.mark.journey
def test_every_screen_is_looked_at() -> None:
    assert screen_classes() == {*OPENED}


async def go_to(pilot: Pilot[str | MemtuiError], settle: Settle, name: str) -> None:
    while not isinstance(pilot.app.screen, ContentsScreen):
        pilot.app.pop_screen()
        await settle(pilot)
    for key in OPENED[name]:
        await pilot.press(key)
        await settle(pilot)
    assert type(pilot.app.screen).__name__ == name


def rows_here(app: MemtuiApp) -> set[str]:
    """The commands of the table whose keys work, checked against the table."""
    here = set()
    for key, one in app.screen.active_bindings.items():
        name = one.binding.id
        if not name:
            continue
        row = commands.get_command(name)
        assert key in row.keys.split() or key == "ctrl+q", (key, name)
        assert one.binding.description == row.label, name
        assert one.tooltip.endswith("."), name
        assert hasattr(one.node, f"action_{name}"), (one.node, name)
        here.add(name)
    return here


def said_in_footer(app: MemtuiApp) -> set[str]:
    return {key.binding.description for key in app.screen.query_one(KeyLine).hints}


def said_in_palette(app: MemtuiApp) -> set[str]:
    titles = [one.title for one in palette.system_commands(app, app.screen)]
    return {*titles[: len(titles) - len(THEMES) + 1]}


def called(row: commands.Command) -> str:
    name = row.label.capitalize()
    return f"{name}  ({row.shown})" if row.shown else name


async def test_all_that_names_the_commands_names_the_same(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            here = rows_here(app)
            table = [row for row in commands.COMMANDS if row.name in here]
            able = [row for row in commands.COMMANDS if row in table or not row.keys]
            shown = [row for row in able if row not in commands.MOVING]
            offered = {called(row) for row in shown if row.in_palette}
            assert said_in_palette(app) == offered, name
            says = [one.help for one in palette.available_commands(app.screen)]
            if not isinstance(app.screen, ModalScreen):
                footer = said_in_footer(app)
                assert {row.label for row in table if row.in_footer} <= footer, name
                assert footer <= {row.label for row in table}, name
            if "help" in here:
                await pilot.press("question_mark")
                await settle(pilot)
                assert sorted(help_text.help_texts(app)) == sorted(says), name


async def test_help_lists_the_keys_of_the_focused_pane_first(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        for keys, heading, first in (
            ((), "In the contents", "Open the page of this row."),
            (("tab",), "On the page", "Open the source of this bullet."),
            (("s",), "In the list of sessions", "Read this session."),
        ):
            await pilot.press(*keys)
            await settle(pilot)
            await pilot.press("question_mark")
            await settle(pilot)
            parts = [heading, "On this screen", "Everywhere"]
            assert parts == help_text.headings(app)[:3]
            assert help_text.help_texts(app)[0] == first
            await pilot.press("escape")


async def test_a_narrow_footer_leaves_out_whole_entries(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            line = [*app.screen.query_one(KeyLine).hints]
            cells = sum(hint.text.cell_length + GAP for hint in line) - GAP
            assert cells <= 78, name
            if not isinstance(app.screen, ModalScreen):
                assert app.screen.query_one(StatusLine).region.y == 0, name
                assert "write" not in said_in_footer(app), name
                assert [key.key_display for key in line][-2:] == ["?", "q"], name
                assert name == "ContentsScreen" or "back" in said_in_footer(app), name


async def test_a_question_shows_its_own_keys_over_those_of_the_screen_below(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            if not isinstance(app.screen, ModalScreen):
                continue
            output = {key.key_display for key in app.screen.query_one(KeyLine).hints}
            last, _ = app.screen.get_widget_at(0, 23)
            assert last is not app.screen, name
            assert "esc" in output and "/" not in output, name


async def test_a_key_that_can_do_nothing_says_why(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(app, "notify", lambda words, **_: said.append(words))
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            if isinstance(app.focused, Input):
                continue
            bound = app.screen.active_bindings
            rows = [row for row in commands.COMMANDS if row.name != "palette"]
            keys = {key for row in rows for key in row.keys.split()}
            idle = sorted(keys - bound.keys())
            said.clear()
            for key in idle:
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            await settle(pilot)
            assert said == [commands.explain_idle_key(key) for key in idle], name
            assert all("does nothing here." in text for text in said)
            assert type(app.screen).__name__ == name


async def test_a_key_of_a_screen_says_where_the_reader_is_already(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(app, "notify", lambda words, **_: said.append(words))
        for name in ("CalendarScreen", "HooksScreen", "QuarantineScreen"):
            await go_to(pilot, settle, name)
            await pilot.press(*OPENED[name])
        assert said == ["This screen is already open. Esc goes back."] * 3


@pytest.mark.journey
async def test_several_pasted_lines_become_one(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await go_to(pilot, settle, "SearchScreen")
        app.post_message(events.Paste("token\r\n  refresh \n\nfails\n"))
        await settle(pilot)
        assert app.screen.query_one(Input).value == "token refresh fails"


async def test_keys_that_come_before_a_list_is_drawn_do_no_harm(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for way in ("ctrl+p", "Q", "H", "comma", "v"):
            for key in (way, "pageup", "pagedown"):
                app.post_message(events.Key(key, None))
            await settle(pilot)
            assert not isinstance(app.screen, ContentsScreen), way
            app.pop_screen()
            await settle(pilot)
        await pilot.resize_terminal(5, 6)
        await pilot.press("H")
        await settle(pilot)
        assert type(app.screen).__name__ == "HooksScreen"
