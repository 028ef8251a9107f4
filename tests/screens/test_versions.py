"""The versions screen: showing, pinning, unpinning and regenerating."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.nodes import TocEntry, TocHistory
from memtui.paths import in_home
from memtui.pipeline.pipeline import Pipeline
from memtui.pipeline.progress import ModelStatus, PipelineProgress
from memtui.services import versions
from memtui.settings import Settings
from memtui.store import database, queues
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.versions import (
    NOT_SUMMARIZED,
    VersionList,
    VersionsScreen,
)
from memtui.tui.widgets.node_page import NodePage
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.text_block import Paragraph, Stack
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests import model_versions
from tests.conftest import HISTORY, NOW, OWN
from tests.pilots import AppOf, Compare, Run, Settle, notices, press
from tests.tables import NodeRow

DAY = "toc:day:2024-01-18"
TO_THE_DAY = ["g", *DAY.rpartition(":")[2], "enter"]
WHY = "2 of 4 bullets are not supported by the source"
SIZE = (120, 40)
READY = ModelHealth(ModelCondition.READY, model=model_versions.MODEL)
SIZES = [(80, 24), SIZE, (200, 60)]


def at_one_time(workspace: Workspace) -> Workspace:
    """A workspace whose works take the same time for now."""
    setup = replace(
        workspace._pipeline_config(), clock=lambda: NOW - timedelta(days=2, hours=3)
    )
    workspace._pipeline = Pipeline(setup)
    return workspace


@pytest.fixture(scope="module")
def digested_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the history, all of it made at one time."""
    home = tmp_path_factory.mktemp("made") / "home"
    workspace = at_one_time(Workspace(in_home(home), OWN))
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture
def dated_workspace(
    digested_home: Path, tmp_path: Path, settings: Settings
) -> Iterator[Workspace]:
    """The full workspace, all of it made at one time."""
    shutil.copytree(digested_home, tmp_path / "home")
    workspace = at_one_time(Workspace(in_home(tmp_path / "home"), settings))
    yield workspace
    workspace.stop()


@pytest.fixture
def workspace_with_versions(dated_workspace: Workspace) -> Workspace:
    """The same, of one of whose days a model wrote two versions."""
    model_versions.add_model_version(
        DAY, "Tokens refreshed", with_weak="42 sessions in payments.py"
    )
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "Moons counted", rejected=WHY, held=held)
    return dated_workspace


@pytest.fixture
def app_with_model(app_of: AppOf) -> AppOf:
    """Makes the app of a workspace that asks a model, if there is one."""

    def make(workspace: Workspace) -> MemtuiApp:
        workspace.settings = replace(workspace.settings, summaries_provider="auto")
        return app_of(workspace)

    return make


@pytest.fixture
def app_with_versions(
    workspace_with_versions: Workspace, app_with_model: AppOf
) -> MemtuiApp:
    return app_with_model(workspace_with_versions)


def steps(settle: Settle, *keys: str) -> Run:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        await press(pilot, settle, *TO_THE_DAY, "v", *keys)

    return run


def history() -> TocHistory:
    node_history = versions.get_history(DAY)
    assert node_history is not None
    return node_history


def displayed_version() -> tuple[int, bool]:
    version = history().displayed
    assert version is not None
    return version.version, version.is_pinned


def rows(app: MemtuiApp) -> list[str]:
    listed = app.screen.query_one(VersionList)
    visuals = [option.prompt for option in listed.options]
    return [
        visual.lay_out(60).plain for visual in visuals if isinstance(visual, Paragraph)
    ]


def about(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#about", Static).visual)


def details(app: MemtuiApp) -> str:
    visual = app.screen.query_one("#details", Static).visual
    assert isinstance(visual, Stack | Content)
    return visual.lay_out(80).plain if isinstance(visual, Stack) else visual.plain


def title(app: MemtuiApp) -> tuple[str, str]:
    pane = app.screen.query_one("#detail-pane PaneTitle", PaneTitle)
    return pane.title, pane.info


async def test_versions_are_listed_and_the_shown_one_is_selected(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        assert isinstance(app_with_versions.screen, VersionsScreen)
        rejected, model, first = rows(app_with_versions)
        assert rejected.startswith("  3  qwen3:4b 2bfd38a7daaf")
        assert "✓ 2 supported · ✗ 1 unsupported" in " ".join(rejected.split())
        assert f"rejected: {WHY}" in " ".join(rejected.split())
        assert model.splitlines()[0].endswith("shown")
        counts = "Tue 20 Feb 2024 03:30 · ✓ 2 supported · ~ 1 weak"
        assert counts in " ".join(model.split())
        assert first.startswith("  1  extract (extractive-")
        assert title(app_with_versions) == ("Version 2", "shown")
        assert "Tokens refreshed" in details(app_with_versions)
        assert "~ 42 sessions in payments.py" in details(app_with_versions)
        why = "weak: not there: payments.py, 42"
        assert why in details(app_with_versions)
        assert "1,204 tokens read, 310 written, 12.4 s" in details(app_with_versions)


async def test_cursor_shows_each_version(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "up")(pilot)
        assert title(app_with_versions) == ("Version 3", "")
        assert f"Rejected: {WHY}" in details(app_with_versions)
        assert "Withheld, because it was not accepted:" in details(app_with_versions)
        assert "✗ The moon was counted" in details(app_with_versions)
        await press(pilot, settle, "end")
        assert title(app_with_versions) == ("Version 1", "")
        before = versions.get_version(DAY, 1)
        assert before is not None and before.bullets
        words = " ".join(details(app_with_versions).split())
        assert all(" ".join(bullet.text.split()) in words for bullet in before.bullets)


async def test_enter_goes_to_the_version_and_escape_back(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "enter")(pilot)
        assert not app_with_versions.screen.query_one(VersionList).has_focus
        await press(pilot, settle, "escape")
        assert app_with_versions.screen.query_one(VersionList).has_focus
        await press(pilot, settle, "escape")
        assert isinstance(app_with_versions.screen, ContentsScreen)


@pytest.mark.journey
async def test_page_shows_the_pinned_version(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "end", "P")(pilot)
        assert displayed_version() == (1, True)
        output = "Version 1 is pinned: newer versions do not replace it."
        assert notices(app_with_versions) == [output]
        assert rows(app_with_versions)[2].splitlines()[0].endswith("pinned")
        assert title(app_with_versions) == ("Version 1", "pinned")
        assert "You pinned version 1 (P: unpin)." in about(app_with_versions)
        await press(pilot, settle, "escape")
        page = app_with_versions.screen.query_one(NodePage)
        assert page.node is not None
        assert (page.node.version, page.node.is_pinned) == (1, True)
        line = app_with_versions.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.is_pinned
        assert notices(app_with_versions) == [], "what was said goes with its screen"
        await press(pilot, settle, "v", "P")
        assert displayed_version() == (2, False)
        assert notices(app_with_versions)[-1].startswith(
            "Unpinned. Version 2, the newest,"
        )
        await press(pilot, settle, "escape")
        then = app_with_versions.screen.query_one(NodePage).node
        assert then is not None and then.headline == "Tokens refreshed"


async def test_rejected_version_needs_a_second_press_to_pin(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "up", "P")(pilot)
        assert displayed_version() == (2, False)
        (warning,) = notices(app_with_versions)
        assert warning == (
            f"Version 3 was rejected: {WHY}.\nPress P again to pin it anyway."
        )
        await press(pilot, settle, "down", "up", "P")
        assert displayed_version() == (2, False)
        await press(pilot, settle, "P")
        assert displayed_version() == (3, True)


async def test_requested_version_names_the_model(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "R")(pilot)
        assert history().requested_at == NOW
        (output,) = notices(app_with_versions)
        assert output.startswith("A new version is requested. It is next, if")
        assert "You requested a new one just now." in about(app_with_versions)


async def test_u_says_that_versions_hide_nothing(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "u")(pilot)
        (output,) = notices(app_with_versions)
        assert output.startswith("All claims are shown here")


async def test_extract_says_that_a_version_was_rejected(
    workspace_with_versions: Workspace, app_with_versions: MemtuiApp, settle: Settle
) -> None:
    versions.pin(DAY, 1, workspace_with_versions.zone, NOW)
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        await press(pilot, settle, "escape")
        head = str(app_with_versions.screen.query_one("#head", Static).visual)
        assert "extract (a model's version was rejected: v)" in head


async def test_without_model_advice_is_given(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    origins = {"summaries.provider": "config.toml:3"}
    full_workspace.settings = replace(full_workspace.settings, origins=origins)
    app = app_of(full_workspace)
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        why = "No model is used while summaries.provider is extractive (config.toml:3)"
        assert "This is the only version." in about(app)
        assert f"No model has written one yet. {why}" in about(app)
        await press(pilot, settle, "R")
        assert why in notices(app)[0]


async def test_unusable_model_is_explained(
    full_workspace: Workspace, app_with_model: AppOf, settle: Settle
) -> None:
    app = app_with_model(full_workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        health = ModelHealth(
            ModelCondition.OFFLINE, "Ollama does not answer at http://127.0.0.1:11434"
        )
        app.post_message(
            ProgressReported(PipelineProgress("", model=ModelStatus(health)))
        )
        await settle(pilot)
        await steps(settle)(pilot)
        output = (
            "Ollama does not answer at http://127.0.0.1:11434."
            " Try: start Ollama, or install it"
        )
        assert f"No model has written one yet. {output}" in about(app)
        app.post_message(
            ProgressReported(PipelineProgress("", model=ModelStatus(READY)))
        )
        await settle(pilot)
        await press(pilot, settle, "escape", "v")
        assert "No model has written one yet. Press R to request one." in about(app)
        app.post_message(
            ProgressReported(PipelineProgress("", model=ModelStatus(READY, DAY)))
        )
        await settle(pilot)
        assert "A model is writing a new one." in about(app)


async def test_node_without_version_says_so(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    with database.transaction():
        queues.add_rollups(["toc:day:2024-06-01"], full_workspace.zone)
    app = app_of(full_workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "g", *"2024-06-01", "enter", "v")
        assert rows(app) == []
        assert "Not summarized yet." in about(app)
        await press(pilot, settle, "P", "R")
        assert notices(app) == [NOT_SUMMARIZED] * 2


async def test_new_versions_appear_and_cursor_stays(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "end")(pilot)
        model_versions.add_model_version(DAY, "Tokens refreshed again")
        report = PipelineProgress("index", 1, queued=7, changed=frozenset({DAY}))
        app_with_versions.post_message(ProgressReported(report))
        await settle(pilot)
        assert [row[:3] for row in rows(app_with_versions)] == [
            "  4",
            "  3",
            "  2",
            "  1",
        ]
        assert title(app_with_versions)[0] == "Version 1"
        assert "7 queued" in app_with_versions.screen.query_one(StatusLine).work.plain


async def test_pin_of_another_process_is_shown(
    workspace_with_versions: Workspace, app_with_versions: MemtuiApp, settle: Settle
) -> None:
    assert workspace_with_versions.pipeline.run_until_idle(lambda _: None) == []
    workspace_with_versions.pipeline.take_changed_nodes()
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, *TO_THE_DAY)
        line = app_with_versions.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.headline == "Tokens refreshed"
        versions.pin(DAY, 1, workspace_with_versions.zone, NOW)
        assert workspace_with_versions.pipeline.run_until_idle(lambda _: None) == []
        changed = workspace_with_versions.pipeline.take_changed_nodes()
        app_with_versions.post_message(
            ProgressReported(PipelineProgress("index", 1, changed=changed))
        )
        await settle(pilot)
        line = app_with_versions.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.is_pinned
        assert line.headline != "Tokens refreshed"
        page = app_with_versions.screen.query_one(NodePage).node
        assert page is not None and page.version == 1


async def test_unwritable_store_is_reported(
    app_with_versions: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemtuiError("no room is left on the disk")

    monkeypatch.setattr("memtui.services.versions.pin", full)
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle, "end", "P")(pilot)
        assert notices(app_with_versions) == ["✗ no room is left on the disk"]
        assert displayed_version() == (2, False)


async def test_deleted_node_is_reported(
    app_with_versions: MemtuiApp, settle: Settle
) -> None:
    async with app_with_versions.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        with database.transaction():
            NodeRow.delete().where(NodeRow.node_id == DAY).execute()
        report = PipelineProgress("rollup", 1, changed=frozenset({DAY}))
        app_with_versions.post_message(ProgressReported(report))
        await settle(pilot)
        assert "This is no longer in the contents." in about(app_with_versions)
        assert rows(app_with_versions) == []
        await press(pilot, settle, "P", "escape")
        assert isinstance(app_with_versions.screen, ContentsScreen)


async def test_unreadable_versions_are_reported_and_read_again(
    app_with_versions: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    async with app_with_versions.run_test(size=SIZE) as pilot:
        with monkeypatch.context() as now:
            now.setattr("memtui.services.versions.get_history", broken)
            await steps(settle)(pilot)
            assert "✗ Not loaded: the disk is gone. memtui will try again" in about(
                app_with_versions
            )
            assert rows(app_with_versions) == []
        while len(rows(app_with_versions)) != 3:
            await settle(pilot)


async def test_v_in_an_empty_store_explains_itself(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "escape", "v")
        assert notices(app) == ["Select a line of the contents first."]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("keys", [[], ["up"]], ids=["shown", "rejected"])
@pytest.mark.journey(only="shown-(120, 40)")
def test_pictures(
    app_with_versions: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    keys: list[str],
) -> None:
    assert snap_compare(
        app_with_versions, terminal_size=size, run_before=steps(settle, *keys)
    )


def test_picture_of_what_is_pinned_and_out_of_date(
    workspace_with_versions: Workspace,
    app_with_versions: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
) -> None:
    versions.pin(DAY, 1, workspace_with_versions.zone, NOW)
    versions.request(DAY, NOW)
    with database.transaction():
        NodeRow.update(is_outdated=True).where(NodeRow.node_id == DAY).execute()
    assert snap_compare(app_with_versions, terminal_size=SIZE, run_before=steps(settle))


def test_picture_of_the_only_version_light(
    dated_workspace: Workspace,
    app_with_model: AppOf,
    settle: Settle,
    snap_compare: Compare,
) -> None:
    app = app_with_model(dated_workspace)
    app.theme = "memtui-light"
    assert snap_compare(app, terminal_size=(80, 24), run_before=steps(settle))
