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
from memtui.store.schema import NodeRow
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.help import HelpScreen
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
from tests.screens import help_text

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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the history, all of it made at one time."""
    home = tmp_path_factory.mktemp("made") / "home"
    workspace = at_one_time(Workspace(in_home(home), OWN))
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture
def dated(made: Path, tmp_path: Path, settings: Settings) -> Iterator[Workspace]:
    """The full workspace, all of it made at one time."""
    shutil.copytree(made, tmp_path / "home")
    workspace = at_one_time(Workspace(in_home(tmp_path / "home"), settings))
    yield workspace
    workspace.stop()


@pytest.fixture
def written(dated: Workspace) -> Workspace:
    """The same, of one of whose days a model wrote two versions."""
    model_versions.add_model_version(
        DAY, "Tokens refreshed", with_weak="42 sessions in payments.py"
    )
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "Moons counted", rejected=WHY, held=held)
    return dated


@pytest.fixture
def asking(app_of: AppOf) -> AppOf:
    """Makes the app of a workspace that asks a model, if there is one."""

    def make(workspace: Workspace) -> MemtuiApp:
        workspace.settings = replace(workspace.settings, summaries_provider="auto")
        return app_of(workspace)

    return make


@pytest.fixture
def writing(written: Workspace, asking: AppOf) -> MemtuiApp:
    return asking(written)


def steps(settle: Settle, *keys: str) -> Run:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        await press(pilot, settle, *TO_THE_DAY, "v", *keys)

    return run


def history() -> TocHistory:
    found = versions.get_history(DAY)
    assert found is not None
    return found


def shown() -> tuple[int, bool]:
    one = history().displayed
    assert one is not None
    return one.version, one.is_pinned


def rows(app: MemtuiApp) -> list[str]:
    listed = app.screen.query_one(VersionList)
    visuals = [option.prompt for option in listed.options]
    return [one.lay_out(60).plain for one in visuals if isinstance(one, Paragraph)]


def about(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#about", Static).visual)


def said(app: MemtuiApp) -> str:
    visual = app.screen.query_one("#details", Static).visual
    assert isinstance(visual, Stack | Content)
    return visual.lay_out(80).plain if isinstance(visual, Stack) else visual.plain


def title(app: MemtuiApp) -> tuple[str, str]:
    pane = app.screen.query_one("#detail-pane PaneTitle", PaneTitle)
    return pane.title, pane.info


async def test_every_version_is_listed_and_the_one_shown_is_read_first(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        assert isinstance(writing.screen, VersionsScreen)
        rejected, model, first = rows(writing)
        assert rejected.startswith("  3  qwen3:4b 2bfd38a7daaf")
        assert "✓ 2 supported · ✗ 1 unsupported" in " ".join(rejected.split())
        assert f"rejected: {WHY}" in " ".join(rejected.split())
        assert model.splitlines()[0].endswith("shown")
        counts = "Tue 20 Feb 2024 03:30 · ✓ 2 supported · ~ 1 weak"
        assert counts in " ".join(model.split())
        assert first.startswith("  1  extract (extractive-")
        assert title(writing) == ("Version 2", "shown")
        assert "Tokens refreshed" in said(writing)
        assert "~ 42 sessions in payments.py" in said(writing)
        why = "weak: not there: payments.py, 42"
        assert why in said(writing)
        assert "1,204 tokens read, 310 written, 12.4 s" in said(writing)


async def test_the_cursor_brings_each_version_beside_the_list(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "up")(pilot)
        assert title(writing) == ("Version 3", "")
        assert f"Rejected: {WHY}" in said(writing)
        assert "Withheld, because it was not accepted:" in said(writing)
        assert "✗ The moon was counted" in said(writing)
        await press(pilot, settle, "end")
        assert title(writing) == ("Version 1", "")
        before = versions.get_version(DAY, 1)
        assert before is not None and before.bullets
        words = " ".join(said(writing).split())
        assert all(" ".join(one.text.split()) in words for one in before.bullets)


async def test_enter_goes_to_what_a_version_says_and_escape_back_and_out(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "enter")(pilot)
        assert not writing.screen.query_one(VersionList).has_focus
        await press(pilot, settle, "escape")
        assert writing.screen.query_one(VersionList).has_focus
        await press(pilot, settle, "escape")
        assert isinstance(writing.screen, ContentsScreen)


@pytest.mark.journey
async def test_an_earlier_version_is_pinned_and_let_go_and_the_page_follows(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "end", "P")(pilot)
        assert shown() == (1, True)
        output = "Version 1 is pinned: newer versions do not replace it."
        assert notices(writing) == [output]
        assert rows(writing)[2].splitlines()[0].endswith("pinned")
        assert title(writing) == ("Version 1", "pinned")
        assert "You pinned version 1 (P: unpin)." in about(writing)
        await press(pilot, settle, "escape")
        page = writing.screen.query_one(NodePage)
        assert page.node is not None
        assert (page.node.version, page.node.is_pinned) == (1, True)
        line = writing.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.is_pinned
        assert notices(writing) == [], "what was said goes with its screen"
        await press(pilot, settle, "v", "P")
        assert shown() == (2, False)
        assert notices(writing)[-1].startswith("Unpinned. Version 2, the newest,")
        await press(pilot, settle, "escape")
        then = writing.screen.query_one(NodePage).node
        assert then is not None and then.headline == "Tokens refreshed"


async def test_a_rejected_version_is_pinned_by_a_second_press_after_its_reason(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "up", "P")(pilot)
        assert shown() == (2, False)
        (warning,) = notices(writing)
        assert warning == (
            f"Version 3 was rejected: {WHY}.\nPress P again to pin it anyway."
        )
        await press(pilot, settle, "down", "up", "P")
        assert shown() == (2, False)
        await press(pilot, settle, "P")
        assert shown() == (3, True)


async def test_a_requested_version_names_its_maker(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "R")(pilot)
        assert history().requested_at == NOW
        (output,) = notices(writing)
        assert output.startswith("A new version is requested. It is next.")
        assert "You requested a new one just now." in about(writing)


async def test_u_says_that_nothing_is_hidden_among_the_versions(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "u")(pilot)
        (output,) = notices(writing)
        assert output.startswith("All claims are shown here")


async def test_a_page_in_its_own_words_says_that_a_models_version_was_rejected(
    written: Workspace, writing: MemtuiApp, settle: Settle
) -> None:
    versions.pin(DAY, 1, written.zone, NOW)
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        await press(pilot, settle, "escape")
        head = str(writing.screen.query_one("#head", Static).visual)
        assert "extract (a model's version was rejected: v)" in head


async def test_without_a_model_it_is_said_what_to_do(
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


async def test_it_is_said_what_a_model_lacks_that_cannot_be_asked(
    full_workspace: Workspace, asking: AppOf, settle: Settle
) -> None:
    app = asking(full_workspace)
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
            " Try: start Ollama (ollama serve)"
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


async def test_a_node_without_a_version_says_so(
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


async def test_what_the_workers_change_is_listed_and_the_cursor_stays(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "end")(pilot)
        model_versions.add_model_version(DAY, "Tokens refreshed again")
        report = PipelineProgress("index", 1, queued=7, changed=frozenset({DAY}))
        writing.post_message(ProgressReported(report))
        await settle(pilot)
        assert [row[:3] for row in rows(writing)] == ["  4", "  3", "  2", "  1"]
        assert title(writing)[0] == "Version 1"
        assert "7 queued" in writing.screen.query_one(StatusLine).work.plain


async def test_what_somebody_pins_elsewhere_is_shown_in_a_running_app(
    written: Workspace, writing: MemtuiApp, settle: Settle
) -> None:
    assert written.pipeline.run_until_idle(lambda _: None) == []
    written.pipeline.take_changed_nodes()
    async with writing.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, *TO_THE_DAY)
        line = writing.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.headline == "Tokens refreshed"
        versions.pin(DAY, 1, written.zone, NOW)
        assert written.pipeline.run_until_idle(lambda _: None) == []
        changed = written.pipeline.take_changed_nodes()
        writing.post_message(
            ProgressReported(PipelineProgress("index", 1, changed=changed))
        )
        await settle(pilot)
        line = writing.screen.query_one(TocTree).current
        assert isinstance(line, TocEntry) and line.is_pinned
        assert line.headline != "Tokens refreshed"
        page = writing.screen.query_one(NodePage).node
        assert page is not None and page.version == 1


async def test_a_store_that_cannot_be_written_says_so(
    writing: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemtuiError("no room is left on the disk")

    monkeypatch.setattr("memtui.services.versions.pin", full)
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "end", "P")(pilot)
        assert notices(writing) == ["✗ no room is left on the disk"]
        assert shown() == (2, False)


async def test_a_node_that_is_gone_meanwhile_says_so(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        with database.transaction():
            NodeRow.delete().where(NodeRow.node_id == DAY).execute()
        report = PipelineProgress("rollup", 1, changed=frozenset({DAY}))
        writing.post_message(ProgressReported(report))
        await settle(pilot)
        assert "This is no longer in the contents." in about(writing)
        assert rows(writing) == []
        await press(pilot, settle, "P", "A", "escape")
        assert isinstance(writing.screen, ContentsScreen)


async def test_versions_that_cannot_be_read_say_so_and_are_read_once_they_can_be(
    writing: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    async with writing.run_test(size=SIZE) as pilot:
        with monkeypatch.context() as now:
            now.setattr("memtui.services.versions.get_history", broken)
            await steps(settle)(pilot)
            assert "✗ Not loaded: the disk is gone. memtui will try again" in about(
                writing
            )
            assert rows(writing) == []
        while len(rows(writing)) != 3:
            await settle(pilot)


async def test_the_keys_are_those_of_the_help(
    writing: MemtuiApp, settle: Settle
) -> None:
    async with writing.run_test(size=SIZE) as pilot:
        await steps(settle, "question_mark")(pilot)
        assert isinstance(writing.screen, HelpScreen)
        output = " ".join(help_text.help_texts(writing))
        for words in ("Pin this version", "Ask a model for a new version"):
            assert words in output


async def test_v_before_anything_is_kept_says_what_is_missing(
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
    writing: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    keys: list[str],
) -> None:
    assert snap_compare(writing, terminal_size=size, run_before=steps(settle, *keys))


def test_picture_of_what_is_pinned_and_out_of_date(
    written: Workspace, writing: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    versions.pin(DAY, 1, written.zone, NOW)
    versions.request(DAY, NOW)
    with database.transaction():
        NodeRow.update(is_outdated=True).where(NodeRow.node_id == DAY).execute()
    assert snap_compare(writing, terminal_size=SIZE, run_before=steps(settle))


def test_picture_of_the_only_version_light(
    dated: Workspace, asking: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    app = asking(dated)
    app.theme = "memtui-light"
    assert snap_compare(app, terminal_size=(80, 24), run_before=steps(settle))
