"""Journeys through tree, page and source, on a real store."""

import threading
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model import citations, nodes
from memtui.model.calendar import TocLevel
from memtui.model.citations import Expansion
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, TocEntry
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, conversation
from memtui.services.browse import LoadedBranches
from memtui.text.tokens import estimate
from memtui.tui import workers
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.filter import FilterScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.widgets.node_page import BulletList, NodePage
from memtui.tui.widgets.panes import Breadcrumbs, DetailPane, PaneTitle
from memtui.tui.widgets.source_pane import SourceExcerpt, SourcePane
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.message_factory import make_message, store_messages
from tests.pilots import AppOf, Settle, press

HISTORY = Path(__file__).parent.parent / "data" / "history.jsonl"
SIZE = (120, 40)
NARROW = (80, 24)


def tree(pilot: Pilot[str | MemtuiError]) -> TocTree:
    return pilot.app.screen.query_one(TocTree)


def current_row(pilot: Pilot[str | MemtuiError]) -> TocEntry:
    line = tree(pilot).current
    assert isinstance(line, TocEntry)
    return line


def page(pilot: Pilot[str | MemtuiError]) -> NodePage:
    return pilot.app.screen.query_one(NodePage)


def source(pilot: Pilot[str | MemtuiError]) -> SourcePane:
    return pilot.app.screen.query_one(SourcePane)


def notices(pilot: Pilot[str | MemtuiError]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


async def show_years(pilot: Pilot[str | MemtuiError], settle: Settle) -> None:
    """Collapse the contents to the years, with the cursor on the first."""
    await settle(pilot)
    for end in ("end", "home"):
        await press(pilot, settle, end)
        while not str(getattr(tree(pilot).current, "node_id", "")).startswith(
            "toc:year"
        ):
            await press(pilot, settle, "left")
        await press(pilot, settle, "left")


def labels(pilot: Pilot[str | MemtuiError]) -> list[str]:
    """Return the ids of the rows, each after those of the nodes that share it."""
    rows = tree(pilot)
    lines = [rows.get_node_at_line(at) for at in range(rows.last_line + 1)]
    ids: list[str] = []
    for row in lines:
        if row and isinstance(row.data, TocEntry | DaySession):
            above = row.data.above if isinstance(row.data, TocEntry) else ()
            ids += [*(entry.node_id for entry in above), row.data.node_id]
    return ids


@pytest.mark.journey
async def test_app_opens_at_the_latest_session(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        (session,) = browse.list_day_sessions("toc:day:2024-02-06")
        newest = browse.get_path_with_session(session.node_id)
        assert labels(pilot)[: len(newest)] == newest
        days = [name for name in labels(pilot) if name.startswith("toc:day:")]
        assert days == sorted(days, reverse=True)
        assert days[-1] == "toc:day:2023-12-11"
        assert current_row(pilot) == session.only_segment
        card = browse.read_page(current_row(pilot))
        assert card is not None
        assert page(pilot).node == card
        assert source(pilot).expansion.grip is not None


async def test_right_goes_down_the_tree_and_left_back(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        while current_row(pilot).level is not TocLevel.SEGMENT:
            await press(pilot, settle, "right")
        card = browse.read_page(current_row(pilot))
        assert card is not None and page(pilot).node == card
        while current_row(pilot).level is not TocLevel.YEAR:
            await press(pilot, settle, "left")
        await press(pilot, settle, "left", "left")
        assert labels(pilot) == ["toc:year:2024", "toc:year:2023"]
        assert notices(pilot) == []


@pytest.mark.journey
async def test_enter_leads_to_the_source_and_escape_back(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "enter")
        assert isinstance(pilot.app.focused, BulletList)
        await press(pilot, settle, "enter")
        assert isinstance(pilot.app.focused, DetailPane)
        await press(pilot, settle, "escape")
        assert isinstance(pilot.app.focused, BulletList)
        await press(pilot, settle, "escape")
        focused: Widget | None = pilot.app.focused
        assert focused is tree(pilot)
        await press(pilot, settle, "escape")
        assert notices(pilot) == []


async def test_narrow_screen_shows_one_pane(app: MemtuiApp, settle: Settle) -> None:
    def visible_panes(pilot: Pilot[str | MemtuiError]) -> list[str]:
        panes = (tree(pilot), page(pilot), source(pilot))
        return [pane.id for pane in panes if pane.id and pane.region.area]

    async with app.run_test(size=NARROW) as pilot:
        await show_years(pilot, settle)
        assert visible_panes(pilot) == ["tree"]
        await press(pilot, settle, "enter")
        assert visible_panes(pilot) == ["page"]
        await press(pilot, settle, "enter")
        assert visible_panes(pilot) == ["source"]
        await press(pilot, settle, "left")
        assert visible_panes(pilot) == ["page"]
        await press(pilot, settle, "left")
        assert visible_panes(pilot) == ["tree"]


async def test_space_expands_and_collapses_quotes(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "enter")
        bullets = page(pilot).bullets
        folded = bullets.option_count
        await press(pilot, settle, "space")
        grips = len(bullets.bullets[0].grip_ids)
        assert bullets.option_count == folded + grips
        await press(pilot, settle, "down")
        assert bullets.current == (0, 0)
        await press(pilot, settle, "left")
        assert bullets.current == (0, -1)
        await press(pilot, settle, "left")
        assert bullets.option_count == folded


async def test_n_and_p_step_through_sources(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        node = page(pilot).node
        assert node is not None
        grips = [grip for bullet in node.bullets for grip in bullet.grip_ids]
        seen = []
        for _ in grips:
            grip = source(pilot).expansion.grip
            assert grip is not None
            seen.append(grip.grip_id)
            await press(pilot, settle, "n")
        assert seen == grips
        assert notices(pilot) == ["This is the last source of this page."]
        await press(pilot, settle, *["p"] * len(grips))
        first = source(pilot).expansion.grip
        assert first is not None and first.grip_id == grips[0]


@pytest.mark.parametrize("keys", ["n", "p", "+", "-", "zn"])
async def test_source_keys_show_the_source_pane(
    app: MemtuiApp, settle: Settle, keys: str
) -> None:
    width = 120 if "z" in keys else 80
    async with app.run_test(size=(width, 24)) as pilot:
        await show_years(pilot, settle)
        await pilot.press(*keys)
        await settle(pilot)
        source = app.screen.query_one(SourcePane)
        assert source.region and source.query_one(DetailPane).has_focus
        assert source.query_one(PaneTitle).title.startswith("Bullet 1, source 1 of")


async def test_plus_and_minus_change_the_context(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        grip = source(pilot).expansion.grip
        assert grip is not None
        await press(pilot, settle, "minus")
        assert source(pilot).expansion.events_after == ()
        await press(pilot, settle, "minus")
        assert notices(pilot)[-1] == "Only the source itself is shown."
        for _ in range(20):
            await press(pilot, settle, "plus")
        whole = conversation.expand(grip.grip_id, before=60, after=60)
        assert source(pilot).expansion.events_before == whole.events_before
        assert source(pilot).expansion.events_after == whole.events_after
        assert "nothing more within an hour" in notices(pilot)[-1]


async def test_brackets_go_to_siblings_across_branches(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        while current_row(pilot).level is not TocLevel.DAY:
            await press(pilot, settle, "right")
        days = [current_row(pilot).node_id]
        while not notices(pilot):
            await press(pilot, settle, "right_square_bracket")
            days.append(current_row(pilot).node_id)
        assert days[:-1] == sorted(set(days), reverse=True)
        assert days[-2].startswith("toc:day:2023-12")
        assert notices(pilot) == ["This is the oldest of its level."]
        await press(pilot, settle, "left_square_bracket")
        assert current_row(pilot).node_id == days[-3]


async def test_y_copies_quote_and_source(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "y")
        expansion = source(pilot).expansion
        assert expansion.grip is not None and expansion.session is not None
        assert expansion.grip.excerpt in pilot.app.clipboard
        assert expansion.session.session_id in pilot.app.clipboard


@pytest.mark.journey
async def test_g_goes_to_a_date_or_rejects_it(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "g", *"soon", "enter")
        meant = pilot.app.screen.query_one("#parsed", Static)
        assert "“soon” is not a past date" in str(meant.visual)
        await press(pilot, settle, "escape", "g", *"15 january")
        meant = pilot.app.screen.query_one("#parsed", Static)
        assert str(meant.visual) == "→ Mon 15 Jan 2024"
        await press(pilot, settle, "enter")
        assert current_row(pilot).node_id == "toc:day:2024-01-15"
        await press(pilot, settle, "g", *"2024-01-14", "enter")
        assert current_row(pilot).node_id == "toc:day:2024-01-15"
        assert notices(pilot) == [
            "Sun 14 Jan 2024 has no conversations. Nearest: Mon 15 Jan 2024."
        ]


async def test_click_selects_and_click_on_mark_expands(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await pilot.click(TocTree, offset=(12, 1))
        await settle(pilot)
        assert current_row(pilot).node_id == "toc:year:2023"
        await pilot.click(TocTree, offset=(1, 1))
        await settle(pilot)
        assert "toc:month:2023-12" in labels(pilot)


async def test_markup_in_stored_text_is_plain_text(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = browse.list_children()[0]
    wild = replace(line, headline="[/b] list[int] [red]stays[/red]")
    monkeypatch.setattr(
        browse, "list_children", lambda node_id, **_: [] if node_id else [wild]
    )
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "[/b] list[int]" in tree(pilot).render_line(0).text


async def test_changes_appear_without_moving_the_cursor(
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
    full_workspace: Workspace,
) -> None:
    years = browse.list_children()
    monkeypatch.setattr(
        browse, "list_children", lambda node_id, **_: [] if node_id else years[1:]
    )
    app = app_of(full_workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "right", "right")
        before = current_row(pilot).node_id
        monkeypatch.setattr(
            browse, "list_children", lambda node_id, **_: [] if node_id else years
        )
        changed = frozenset({years[0].node_id})
        app.post_message(
            ProgressReported(PipelineProgress("rollup", queued=3, changed=changed))
        )
        await settle(pilot)
        assert labels(pilot)[0] == years[0].node_id
        assert current_row(pilot).node_id == before
        row = tree(pilot).cursor_node
        assert row is not None and row.line == tree(pilot).cursor_line
        status = app.screen.query_one(StatusLine)
        assert status.work.plain == "● rolling up · 3 queued"


async def test_another_process_is_reported(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.post_message(ProgressReported(PipelineProgress("", is_active=False)))
        await settle(pilot)
        status = app.screen.query_one(StatusLine)
        assert status.work.plain == "another memtui is running"


async def test_unreadable_branch_is_reported_and_retried(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> list[TocEntry]:
        raise OSError("disk on fire")

    with monkeypatch.context() as patch:
        patch.setattr(browse, "list_children", broken)
        async with app.run_test(size=SIZE) as pilot:
            await settle(pilot)
            row = tree(pilot).render_line(0).text
            assert "Not read (enter: retry): disk on fire" in row
            line = app.screen.query_one(StatusLine)
            app.post_message(ProgressReported(PipelineProgress("index")))
            await settle(pilot)
            assert line.work.plain == "✗ the store cannot be read"
            patch.undo()
            await press(pilot, settle, "enter")
            assert line.work.plain == "idle"
            assert current_row(pilot).node_id == "toc:year:2024"


async def test_unreadable_page_or_source_is_reported(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("disk on fire")

    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        monkeypatch.setattr(conversation, "expand", broken)
        await press(pilot, settle, "n")
        text = pilot.app.screen.query_one("#transcript", Static)
        assert "disk on fire" in str(text.visual)
        monkeypatch.setattr(browse, "get_node", broken)
        await press(pilot, settle, "down")
        head = pilot.app.screen.query_one("#head", Static)
        assert "disk on fire" in str(head.visual)


async def test_contents_count_their_sessions(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        title = app.screen.query_one("#contents PaneTitle", PaneTitle)
        assert title.info == f"{browse.count_day_sessions()} sessions"


async def test_first_rows_appear_after_an_import(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "escape")
        nothing = pilot.app.screen.query_one("#nothing", Static)
        assert nothing.region.area
        for _ in workspace.pipeline.importer().run([HISTORY]):
            pass
        output: set[str] = set()
        workspace.pipeline.run_until_idle(
            lambda progress: output.update(progress.changed)
        )
        changed = workspace.pipeline.take_changed_nodes() | output
        app.post_message(ProgressReported(PipelineProgress("rollup", changed=changed)))
        await settle(pilot)
        assert current_row(pilot).node_id.startswith("toc:segment:2024-02-06:")
        assert not nothing.region.area
        assert page(pilot).node is not None


async def test_long_branch_is_complete(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = browse.list_children()[0]
    many = [replace(first, node_id=f"toc:year:{9998 - at}") for at in range(1200)]

    def years(
        node_id: str, *, limit: int, scope: Scope, **others: object
    ) -> list[TocEntry]:
        assert scope == ALL
        return [] if node_id else many[:limit]

    monkeypatch.setattr(browse, "list_children", years)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert len(labels(pilot)) == 1200
        await press(pilot, settle, "end")
        assert current_row(pilot).node_id == many[-1].node_id
        assert tree(pilot).last_line == 1199


async def test_copied_source_is_never_the_previous_one(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, opened = threading.Event(), conversation.expand

    def slow(grip_id: str, *, before: int = 3, after: int = 3) -> Expansion:
        assert gate.wait(10)
        return opened(grip_id, before=before, after=after)

    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        first = source(pilot).citation()
        monkeypatch.setattr(conversation, "expand", slow)
        await pilot.press("n", "enter", "y")
        assert first and source(pilot).citation() == ""
        assert notices(pilot) == ["There is no source to copy."]
        gate.set()
        await settle(pilot)
        grip, cited = source(pilot).expansion.grip, source(pilot).citation()
        assert grip is not None and cited != first
        session = source(pilot).expansion.session
        assert session is not None and f"({session.full_name}), " in cited
        assert cited.startswith(f"“{grip.excerpt}” — ")
        assert cited.endswith(f", {citations.cite_grip(grip.grip_id)}")


async def test_month_with_one_day_shares_its_row(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        rows = [tree(pilot).render_line(y).text.strip() for y in range(4)]
        assert rows[1].startswith("▾ February › 5–11 Feb › Tue 6 Feb ")
        assert "We decided on Postgres" in rows[2]
        assert rows[3].startswith("▾ January "), "it has two weeks"
        await press(pilot, settle, "g", *"february 2024", "enter")
        assert current_row(pilot).node_id == "toc:month:2024-02"
        node = page(pilot).node
        assert node is not None and node.node_id == "toc:month:2024-02"
        await press(pilot, settle, "down", "up")
        assert current_row(pilot).node_id == "toc:day:2024-02-06"
        await press(pilot, settle, "right_square_bracket")
        assert current_row(pilot).node_id == "toc:day:2024-01-22"


async def test_week_across_two_months_has_a_page_for_each(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    days = {17: "march", 18: "april", 19: "april-2"}
    store_messages(
        *(
            make_message(f"Paint the {name}", day * 86_400, session=name)
            for day, name in days.items()
        )
    )
    workspace.pipeline.run_until_idle(lambda _: None)
    app = app_of(workspace)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "g", *"2025-w14", "enter")
        node = page(pilot).node
        assert node is not None and node.node_id == "toc:week:2025-W14"
        assert {bullet.text for bullet in node.bullets} == {
            "Paint the april (open)",
            "Paint the april-2 (open)",
        }
        row = current_row(pilot)
        await press(pilot, settle, "right_square_bracket")
        assert current_row(pilot).node_id != row.node_id or row.is_part
        await press(pilot, settle, "g", *"31 march 2025", "enter")
        node = page(pilot).node
        assert node is not None and len(node.bullets) == 1


async def test_row_that_was_jumped_to_is_in_the_middle(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 16)) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "asterisk", "g", *"15 january 2024", "enter")
        rows = tree(pilot)
        line = rows.cursor_line - rows.scroll_offset.y
        last = rows.last_line - rows.scroll_offset.y
        assert abs(line - rows.size.height // 2) <= 1 or last < rows.size.height


async def test_selection_is_the_whole_row(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        rows = tree(pilot)
        strip = rows.render_line(rows.cursor_line - rows.scroll_offset.y)
        colors = {segment.style and segment.style.bgcolor for segment in strip}
        assert len(colors) == 1 and strip.cell_length == rows.size.width


async def test_expand_all_zoom_and_cost_of_a_page(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "asterisk")
        loaded = browse.read_below(("", "toc:year:2024"), ALL, UTC, 500)
        rows = [line for lines in loaded.rows.values() for line in lines]
        below = {line.node_id for line in rows}
        for line in rows:
            above = line.above if isinstance(line, TocEntry) else ()
            below |= {entry.node_id for entry in above}
        assert set(labels(pilot)) == {"toc:year:2024", *below, "toc:year:2023"}
        assert current_row(pilot).node_id == "toc:year:2024"
        await press(pilot, settle, "right")
        crumbs = pilot.app.screen.query_one(Breadcrumbs)
        way = "Contents › 2024 › February › 5–11 Feb › Tue 6"
        assert crumbs.render().plain == way
        await press(pilot, settle, "enter", "z")
        node = page(pilot).node
        assert node is not None
        tokens = estimate(nodes.node_text(node))
        measure = page(pilot).query_one(PaneTitle).info
        assert f" · ~{tokens} tokens · " in measure
        assert page(pilot).size.width == SIZE[0] and not tree(pilot).region.area
        await press(pilot, settle, "z")
        assert tree(pilot).region.area and source(pilot).region.area
        count = len(labels(pilot))
        monkeypatch.setattr("memtui.tui.widgets.toc_tree.MAX_EXPANDED", 2)
        await press(pilot, settle, "escape", "home", "asterisk")
        assert "Only the first" in notices(pilot)[0]
        assert len(labels(pilot)) == count


def test_descendants_are_listed_up_to_a_limit(
    full_workspace: Workspace,
) -> None:
    year = ("", "toc:year:2024")
    whole = browse.read_below(year, ALL, UTC, 500)
    assert whole.is_all
    first = browse.read_below(year, ALL, UTC, len(whole.rows[year]))
    assert [*first.rows] == [year] and not first.is_all
    weeks = browse.add_activity(browse.list_children("toc:month:2024-01"))
    assert all(sum(week.activity) == week.counts.messages for week in weeks)


async def test_backspace_returns_from_every_jump(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "backspace")
        assert notices(pilot)[-1] == "There is no jump to take back."
        await press(pilot, settle, "right", "enter", "down", "enter")
        month, grip = current_row(pilot).node_id, source(pilot).expansion.grip
        assert grip is not None and isinstance(pilot.app.focused, DetailPane)
        await press(pilot, settle, "enter")
        reader = pilot.app.screen
        assert isinstance(reader, ReaderScreen)
        await press(pilot, settle, "up")
        message = reader.here.event_id
        await press(pilot, settle, "b", "g", *"2023", "enter")
        assert current_row(pilot).node_id == "toc:year:2023"
        await press(pilot, settle, "backspace")
        stretch = current_row(pilot)
        assert stretch.level is TocLevel.SEGMENT
        await press(pilot, settle, "slash", *"session", "enter")
        assert current_row(pilot) != stretch or source(pilot).shown_target
        await press(pilot, settle, "backspace")
        assert current_row(pilot) == stretch and isinstance(
            pilot.app.focused, BulletList
        )
        await press(pilot, settle, "backspace")
        again = pilot.app.screen
        assert isinstance(again, ReaderScreen) and again is not reader
        assert again.here.event_id == message
        await press(pilot, settle, "escape")
        assert current_row(pilot).node_id == month and isinstance(
            pilot.app.focused, DetailPane
        )
        assert source(pilot).expansion.grip == grip
        await press(pilot, settle, "c", "home", "enter")
        assert current_row(pilot).level is TocLevel.DAY
        await press(pilot, settle, "backspace")
        assert current_row(pilot).node_id == month and isinstance(
            pilot.app.focused, DetailPane
        )


async def test_slow_page_replaces_the_previous_page(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        go_on = threading.Event()
        part, expanded = browse.get_node, conversation.expand

        def slow_part(node_id: str, of: Scope) -> object:
            go_on.wait()
            return part(node_id, of)

        def slow_source(grip_id: str, **around: int) -> Expansion:
            go_on.wait()
            return expanded(grip_id, **around)

        monkeypatch.setattr(browse, "get_node", slow_part)
        monkeypatch.setattr(conversation, "expand", slow_source)
        await pilot.press("down")
        while head(pilot) != "Reading…":
            await pilot.pause()
        assert page(pilot).node is None and transcript(pilot) == ""
        await pilot.press("up", "down")
        assert current_row(pilot).node_id == "toc:year:2023", "keys act meanwhile"
        go_on.set()
        await settle(pilot)
        assert head(pilot) != "Reading…" and source(pilot).expansion.grip is not None
        go_on.clear()
        await pilot.press("n")
        while transcript(pilot) != "Reading…":
            await pilot.pause()
        go_on.set()
        await settle(pilot)
        assert source(pilot).expansion.grip is not None


async def test_slow_branch_shows_that_it_is_loading(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(120, 12)) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "down")
        go_on = threading.Event()
        children = browse.list_children

        def slow(*args: str, **others: object) -> list[TocEntry]:
            go_on.wait()
            raise MemtuiError("the disk is away")

        monkeypatch.setattr(browse, "list_children", slow)
        await pilot.press("right")
        rows = tree(pilot).cursor_node
        assert rows is not None
        while not rows.children:
            await pilot.pause()
        assert rows.children[0].data == workers.LOADING
        await pilot.press("down")
        go_on.set()
        await settle(pilot)
        (failed,) = rows.children
        assert str(failed.label).startswith("Not read (enter: retry)")
        assert tree(pilot).cursor_node is failed
        monkeypatch.setattr(browse, "list_children", children)
        await press(pilot, settle, "enter")
        assert isinstance(rows.children[0].data, TocEntry)


async def test_newest_days_are_expanded_after_a_slow_read(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, read = threading.Event(), browse.read_branches

    def slow(*args: Any, **others: Any) -> LoadedBranches:
        go_on.wait()
        return read(*args, **others)

    monkeypatch.setattr(browse, "read_branches", slow)
    async with app.run_test(size=SIZE) as pilot:
        while not (trees := pilot.app.screen.query(TocTree)):
            await pilot.pause()
        while not (rows := trees.first().root.children):
            await pilot.pause()
        assert rows[0].data == workers.LOADING
        go_on.set()
        await settle(pilot)
        assert "toc:day:2023-12-11" in labels(pilot)


async def test_unreadable_contents_appear_once_readable(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemtuiError("the disk is away")

    monkeypatch.setattr("memtui.tui.workers.RETRY_S", 0.05)
    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        for module, name, key in (
            (browse, "get_node", "down"),
            (conversation, "expand", "n"),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(module, name, broken)
                await press(pilot, settle, key)
                output = head(pilot) + transcript(pilot)
                assert "could not be read: the disk is away" in output
            while source(pilot).expansion.grip is None:
                await settle(pilot)
            assert "could not be read" not in head(pilot)


async def test_failed_refresh_is_repeated_with_the_next(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemtuiError("the disk is away")

    async with app.run_test(size=SIZE) as pilot:
        await show_years(pilot, settle)
        await press(pilot, settle, "right")
        months = [row.node_id for row in browse.list_children("toc:year:2024")]
        assert months[0] in labels(pilot)
        children = browse.list_children
        with monkeypatch.context() as patch:
            patch.setattr(browse, "list_children", broken)
            tree(pilot).refresh_nodes({months[0]})
            await settle(pilot)
            assert months[0] in labels(pilot)

        def without(node_id: str, **others: Any) -> list[TocEntry]:
            rows = children(node_id, **others)
            return [row for row in rows if row.node_id != months[0]]

        monkeypatch.setattr(browse, "list_children", without)
        tree(pilot).refresh_nodes({"toc:year:2023"})
        await settle(pilot)
        assert months[0] not in labels(pilot) and months[1] in labels(pilot)


def head(pilot: Pilot[str | MemtuiError]) -> str:
    return str(pilot.app.screen.query_one("#head", Static).visual)


def transcript(pilot: Pilot[str | MemtuiError]) -> str:
    visual = pilot.app.screen.query_one("#transcript", Static).visual
    return "" if isinstance(visual, SourceExcerpt) else str(visual)


async def test_screen_opened_early_gets_its_style(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, opened = threading.Event(), browse.list_children

    def late(*given: Any, **named: Any) -> Any:
        assert gate.wait(10)
        return opened(*given, **named)

    monkeypatch.setattr(browse, "list_children", late)
    async with app.run_test(size=(120, 40)) as pilot:
        while not isinstance(app.screen, ContentsScreen):
            await pilot.pause()
        await pilot.press("F")
        gate.set()
        await settle(pilot)
        assert isinstance(app.screen, FilterScreen)
        assert app.screen.query_one("#filter").region.width == 80
