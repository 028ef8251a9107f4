"""The settings screen: finding, explaining and changing a setting."""

import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui import settings as settings_module
from memtui.errors import MemtuiError
from memtui.settings import SETTINGS, Settings
from memtui.settings_file import SettingEntry, SettingsEditor
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.settings import SettingList, SettingScreen, SettingsScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import Compare, Run, Settle, notices

OWN = """# My own words.
[segments]
max_gap_min = 45   # long walks

[capture]
exclude = ["secret-*", "/srv/attic"]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings' file, named without the folder of the run: pictures show it."""
    folder = tmp_path / "person"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    file = Path("config.toml")
    file.write_text(OWN)
    return file


@pytest.fixture
def app(
    workspace: Workspace,
    file: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> MemtuiApp:
    monkeypatch.setenv("MEMTUI_SUMMARIES__MODEL", "qwen3:4b")

    def load() -> Settings:
        return settings_module.load(file, assignments=["log.level=debug"])

    monkeypatch.setattr(workspace, "start", lambda _: None)
    monkeypatch.setattr(workspace, "histories", lambda: [])
    return MemtuiApp(
        lambda: workspace, lambda: NOW, settings=SettingsEditor(load, load(), file)
    )


def entries(app: MemtuiApp) -> SettingList:
    return app.screen.query_one(SettingList)


def details(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#details", Static).visual)


def open_settings(settle: Settle, *keys: str) -> Run:
    """From the welcome of an empty store to the settings, and further."""

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        for key in ("escape", "comma", *keys):
            await pilot.press(key)
            await settle(pilot)
        for line in pilot.app.screen.query(Input):
            line.cursor_blink = False

    return run


async def test_every_setting_has_meaning_and_origin(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle)(pilot)
        assert isinstance(app.screen, SettingsScreen)
        measure = app.screen.query_one("#list-pane PaneTitle", PaneTitle).info
        assert measure == str(len(SETTINGS))
        await open_settings(settle, *["slash", *"pause longer", "enter"])(pilot)
        assert len(entries(app).items) == 1
        assert details(app).split("\n") == [
            "A longer pause ends a segment.",
            "",
            "value     45.0 minutes",
            "set by    config.toml:3",
            "default   30.0 minutes",
            "at least  0.01 minutes",
            "",
            "Press enter to change it. A change takes effect at the next start.",
        ]
        await pilot.press("escape")
        assert len(entries(app).items) == len(SETTINGS)
        assert entries(app).has_focus
        await pilot.press("tab", "escape", "escape")
        assert isinstance(app.screen, ContentsScreen)


@pytest.mark.journey
async def test_value_is_checked_and_saved(
    app: MemtuiApp, file: Path, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle, "slash", *"max_gap", "enter", "enter")(pilot)
        assert isinstance(app.screen, SettingScreen)
        line, wrong = (
            app.screen.query_one(Input),
            app.screen.query_one("#error", Static),
        )
        line.value = "soon"
        await pilot.press("enter")
        await settle(pilot)
        assert str(wrong.visual) == (
            "✗ segments.max_gap_min is a number from 0.01, not 'soon'."
            " Nothing was saved."
        )
        assert file.read_text() == OWN
        line.value = "20"
        await pilot.press("enter")
        await settle(pilot)
        assert file.read_text() == OWN.replace("45  ", "20.0  ")
        assert notices(app) == [
            "segments.max_gap_min is 20.0; takes effect at the next start."
        ]
        assert "in effect 45.0 minutes, until memtui is restarted" in details(app)


async def test_choices_can_be_stepped_and_theme_changes_at_once(
    app: MemtuiApp, file: Path, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        keys = ("slash", *"theme", "enter", "enter", "down", "down", "up", "enter")
        await open_settings(settle, *keys)(pilot)
        assert app.theme == "memtui-light"
        assert settings_module.load(file).screen_theme == "memtui-light"
        assert notices(app) == ["screen.theme is memtui-light; takes effect now."]
        app.action_switch_theme()
        await settle(pilot)
        assert settings_module.load(file).screen_theme == app.theme == "memtui-contrast"


async def test_locked_setting_says_why(
    app: MemtuiApp, file: Path, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle, "slash", *"log.level", "enter", "enter")(pilot)
        assert isinstance(app.screen, SettingsScreen)
        assert notices(app)[0].startswith("log.level was set on the command line")
        assert "MEMTUI_SUMMARIES__MODEL" not in details(app)
        await open_settings(settle, "slash", *"qwen", "enter", "enter")(pilot)
        assert notices(app)[-1].startswith("MEMTUI_SUMMARIES__MODEL in the environment")
        assert file.read_text() == OWN


async def test_broken_file_is_reported_and_kept(
    app: MemtuiApp, file: Path, settle: Settle
) -> None:
    file.write_text(broken := OWN + "[log\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle, "end", "up", "enter")(pilot)
        words = str(app.screen.query_one("#broken", Static).visual)
        assert words.startswith("✗ config.toml: ") and "line 7" in words
        assert "config.toml" in notices(app)[0]
        assert file.read_text() == broken
        file.write_text(OWN)
        await pilot.press("question_mark", "escape")
        await settle(pilot)
        assert not app.screen.query_one("#broken").display


PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "full": ((120, 40), ("down",) * 8),
    "narrow": ((80, 24), ("down",) * 8),
    "changing": ((120, 40), ("slash", *"theme", "enter", "enter", *"x", "enter")),
    "broken": ((120, 40), ()),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.journey(only="full")
def test_pictures(
    app: MemtuiApp, file: Path, settle: Settle, snap_compare: Compare, name: str
) -> None:
    size, keys = PICTURES[name]
    if name == "broken":
        file.write_text(OWN + "[log\n")
    run = open_settings(settle, *keys)
    assert snap_compare(app, terminal_size=size, run_before=run)


async def test_escape_waits_for_saving(
    app: MemtuiApp, file: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, change = threading.Event(), SettingsEditor.change

    def slow(desk: SettingsEditor, name: str, text: str) -> SettingEntry:
        may.wait()
        return change(desk, name, text)

    monkeypatch.setattr(SettingsEditor, "change", slow)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle, "slash", *"max_gap", "enter", "enter")(pilot)
        app.screen.query_one(Input).value = "20"
        await pilot.press("enter", "escape", "enter")
        try:
            assert isinstance(app.screen, SettingScreen)
            wrong = app.screen.query_one("#error", Static)
            assert str(wrong.visual) == "Saving…"
        finally:
            may.set()
        await settle(pilot)
        assert isinstance(app.screen, SettingsScreen)
        (said,) = notices(app)
        assert said.startswith("segments.max_gap_min is 20.0;")


async def test_time_zone_of_a_store_does_not_change(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_settings(settle, "slash", *"time_zone", "enter", "enter")(pilot)
        app.screen.query_one(Input).value = "Asia/Tokyo"
        await pilot.press("enter")
        await settle(pilot)
        (said,) = notices(app)
        keeps = "this one keeps its time zone."
        assert said.endswith(keeps) and details(app).endswith(keeps)
        assert "in effect" not in details(app)
