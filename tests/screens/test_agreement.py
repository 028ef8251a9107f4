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
from textual.widgets._footer import FooterKey

from memtui import settings
from memtui.errors import MemtuiError
from memtui.integrations.config_files import Machine
from memtui.model.filters import ALL
from memtui.settings_file import SettingsEditor
from memtui.store import database, sources
from memtui.tui import commands, screens
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.help import KEY_CELLS
from memtui.tui.themes import THEMES
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.workers import Memtui
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import Settle
from tests.screens import help_text

PATH = screens.__path__

OPENED: dict[str, Sequence[str]] = {
    "AuditScreen": ("A",),
    "ChoiceScreen": ("X",),
    "ContentsScreen": (),
    "CalendarScreen": ("c",),
    "DateScreen": ("g",),
    "DismissScreen": ("Q", "D"),
    "ExportScreen": ("s", "enter", "e"),
    "FilterScreen": ("F",),
    "HelpScreen": ("question_mark",),
    "HooksScreen": ("H",),
    "JobsScreen": ("w",),
    "LineScreen": ("T",),
    "PointsScreen": ("L",),
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
"""The keys that open each screen from the contents; a new screen belongs in here."""


@pytest.fixture
def app(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> MemtuiApp:
    """The app with all it may have: skipped input, hooks of agents, settings."""
    with database.transaction():
        counts = [
            sources.ProblemCount("not valid JSON", sources.ProblemKind.DAMAGED, 57, 12)
        ]
        sources.add_problems("/srv/attic/session.jsonl", counts, 1)
    monkeypatch.setattr(full_workspace, "start", lambda _: None)
    monkeypatch.setattr(full_workspace, "histories", lambda: [])
    file = full_workspace.paths.config
    editor = SettingsEditor(lambda: settings.load(file), settings.load(file), file)
    machine = Machine(tmp_path, {}, "python3", tmp_path / "hook.py", tmp_path)
    return MemtuiApp(
        lambda: full_workspace,
        lambda: NOW,
        hooks_machine=lambda: machine,
        settings=editor,
    )


def screen_classes() -> set[str]:
    """Return the names of the screens that can be opened, without base classes."""
    names = [f"memtui.tui.screens.{m.name}" for m in pkgutil.iter_modules(PATH)]
    modules = [importlib.import_module(name) for name in names]
    return {
        cls.__name__
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, Screen)
        and not cls.__subclasses__()
        and cls.__module__ == module.__name__
    }


@pytest.mark.journey
def test_every_screen_is_opened_here() -> None:
    assert screen_classes() == {*OPENED}


def test_app_has_what_screens_use(app: MemtuiApp) -> None:
    protocol: Memtui = app
    assert protocol.scope == ALL


async def go_to(pilot: Pilot[str | MemtuiError], settle: Settle, name: str) -> None:
    while not isinstance(pilot.app.screen, ContentsScreen):
        pilot.app.pop_screen()
        await settle(pilot)
    for key in OPENED[name]:
        await pilot.press(key)
        await settle(pilot)
    assert type(pilot.app.screen).__name__ == name


def bound_commands(app: MemtuiApp) -> set[str]:
    """Return the commands whose keys work, checked against the table."""
    names = set()
    for key, active in app.screen.active_bindings.items():
        name = active.binding.id
        if not name:
            continue
        row = commands.get_command(name)
        assert key in row.keys.split() or key == "ctrl+q", (key, name)
        assert active.binding.description == row.label, name
        assert active.tooltip.endswith("."), name
        assert hasattr(active.node, f"action_{name}"), (active.node, name)
        names.add(name)
    return names


def footer_keys(app: MemtuiApp) -> list[FooterKey]:
    return [*app.screen.query(FooterKey)]


def footer_labels(app: MemtuiApp) -> set[str]:
    return {key.description for key in footer_keys(app)} - {"palette"}


def palette_titles(app: MemtuiApp) -> set[str]:
    titles = [entry.title for entry in commands.system_commands(app, app.screen)]
    return {*titles[: len(titles) - len(THEMES) + 1]}


def palette_title(row: commands.Command) -> str:
    name = row.label.capitalize()
    return f"{name}  ({row.key_names})" if row.keys else name


async def test_footer_palette_and_help_agree(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            bound = bound_commands(app)
            table = [row for row in commands.COMMANDS if row.name in bound]
            listed = [row for row in commands.COMMANDS if row in table or not row.keys]
            listed = [row for row in listed if row not in commands.MOVING]
            titles = {palette_title(row) for row in listed if row.in_palette}
            assert palette_titles(app) == titles, name
            texts = [row.help for row in commands.available_commands(app.screen)]
            if not isinstance(app.screen, ModalScreen):
                labels = footer_labels(app)
                in_footer = [row for row in table if row.in_footer]
                left_out = [row for row in in_footer if row.label not in labels]
                # The key that opened a screen does nothing there.
                screens = [row for row in in_footer if row.name.startswith("show_")]
                opening = [row for row in screens if row.keys in OPENED[name][-1:]]
                assert left_out == opening, name
                assert labels <= {row.label for row in table}, name
            if "help" in bound:
                await pilot.press("question_mark")
                await settle(pilot)
                assert sorted(help_text.help_texts(app)) == sorted(texts), name
                other = [row for row in commands.COMMANDS if row.where]
                other = [row for row in other if row.name not in bound]
                for row, line in zip(other, help_text.elsewhere(app), strict=True):
                    assert line.startswith(f"{row.key_names} ")
                    assert line[KEY_CELLS + 1 :].startswith(f"{row.where[1:]}: ")


async def test_help_lists_keys_of_focused_pane_first(
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
            parts = [heading, "On this screen", "Everywhere", "Moving"]
            assert parts == help_text.headings(app)[:4]
            listed = help_text.keys(app)
            assert {"/", "enter", "?"} <= {*listed} and "d" not in listed
            assert help_text.help_texts(app)[0] == first
            await pilot.press("escape")
        await go_to(pilot, settle, "ContentsScreen")
        await pilot.press("question_mark")
        await settle(pilot)
        assert help_text.headings(app)[-1] == "Marks"
        assert "✗" in help_text.keys(app)


async def test_narrow_footer_leaves_out_whole_keys(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            screen = app.screen.region
            keys = footer_keys(app)
            assert all(screen.contains_region(key.region) for key in keys), name
            if not isinstance(app.screen, ModalScreen):
                assert app.screen.query_one(StatusLine).region.y == 0, name
                labels = footer_labels(app)
                assert {"all keys", "quit"} <= labels, name
                assert name == "ContentsScreen" or "back" in labels, name


async def test_dialog_shows_its_own_keys_in_the_footer(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for name in OPENED:
            await go_to(pilot, settle, name)
            if not isinstance(app.screen, ModalScreen):
                continue
            displayed = {key.key_display for key in footer_keys(app)}
            last, _ = app.screen.get_widget_at(0, 23)
            assert last is not app.screen, name
            assert "esc" in displayed and "/" not in displayed, name


async def test_idle_key_says_that_it_does_nothing(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[str] = []
    monkeypatch.setattr(app, "notify", lambda text, **_: notices.append(text))
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
            notices.clear()
            for key in idle:
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            await settle(pilot)
            assert notices == [commands.explain_idle_key(key) for key in idle], name
            assert all("does nothing here." in text for text in notices)
            assert type(app.screen).__name__ == name


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ("g", "in the contents and the calendar (c)"),
        (
            "u",
            "in the contents and versions or in the audit (A)"
            " and in what is left open (L)",
        ),
        ("slash", "in the sessions (s), a session or the settings (,)"),
    ],
)
def test_idle_key_names_each_place_where_it_works(key: str, places: str) -> None:
    assert commands.explain_idle_key(key).endswith(f"{places}.")


async def test_key_of_the_open_screen_says_so(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[str] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(app, "notify", lambda text, **_: notices.append(text))
        for name in ("CalendarScreen", "HooksScreen", "QuarantineScreen"):
            await go_to(pilot, settle, name)
            await pilot.press(*OPENED[name])
        assert notices == ["This screen is already open. Esc goes back."] * 3


@pytest.mark.journey
async def test_pasted_lines_are_joined(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await go_to(pilot, settle, "SearchScreen")
        app.post_message(events.Paste("token\r\n  refresh \n\nfails\n"))
        await settle(pilot)
        assert app.screen.query_one(Input).value == "token refresh fails"


async def test_page_keys_before_the_first_drawing_do_no_harm(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for opener in ("ctrl+p", "Q", "H", "comma", "v"):
            for key in (opener, "pageup", "pagedown"):
                app.post_message(events.Key(key, None))
            await settle(pilot)
            assert not isinstance(app.screen, ContentsScreen), opener
            app.pop_screen()
            await settle(pilot)
        await pilot.resize_terminal(5, 6)
        await pilot.press("H")
        await settle(pilot)
        assert type(app.screen).__name__ == "HooksScreen"
