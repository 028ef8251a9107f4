"""The search bar on a real store: typing, choosing, leaving, errors."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from memtui.errors import MemtuiError
from memtui.model.hit import Hit, Hits
from memtui.services import browse
from memtui.tui import format
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.search import SearchScreen
from memtui.tui.widgets.node_page import BulletList
from memtui.tui.widgets.panes import Breadcrumbs, DetailPane
from memtui.tui.widgets.result_list import SearchView, hit_kind, jump_target
from memtui.tui.widgets.source_pane import SourceExcerpt, SourcePane
from memtui.tui.widgets.text_block import Stack
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.pilots import AppOf, Settle

SIZE = (120, 40)


async def ask(
    pilot: Pilot[str | MemtuiError],
    settle: Settle,
    words: str,
    view: SearchView = SearchView.SUMMARIES,
) -> SearchScreen:
    await pilot.press("slash")
    for letter in words:
        await pilot.press("space" if letter == " " else letter)
    screen = pilot.app.screen
    assert isinstance(screen, SearchScreen)
    while screen.view is not view:
        await pilot.press("tab")
    await wait_for_results(pilot, settle)
    return screen


async def wait_for_results(pilot: Pilot[str | MemtuiError], settle: Settle) -> None:
    screen = pilot.app.screen
    assert isinstance(screen, SearchScreen)
    while screen.is_waiting:
        await pilot.pause()
    await settle(pilot)


def note(screen: SearchScreen) -> str:
    notes = screen.query_one("#note", Static)
    return str(notes.visual).replace("\n", " ")


def first(screen: SearchScreen, kind: str) -> tuple[int, Hit]:
    return next(
        (at, result)
        for at, result in enumerate(screen.hits.hits)
        if hit_kind(result) == kind
    )


async def test_search_bar_covers_whole_panes(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        below = app.screen
        await ask(pilot, settle, "session")
        bar = app.screen.query_one("#search").region
        assert bar.x == below.query_one("#reading").region.x
        assert bar.y == below.query_one(Breadcrumbs).region.bottom
        assert bar.bottom == app.size.height - 1
        await pilot.press("escape", "z", "slash")
        await settle(pilot)
        assert app.screen.query_one("#search").region.width == 100


@pytest.mark.journey
async def test_enter_goes_to_the_node_of_a_hit(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        at, line = first(await ask(pilot, settle, "session"), "segment")
        await pilot.press(*["down"] * at, "enter")
        await settle(pilot)
        tree = app.screen.query_one(TocTree)
        assert tree.current is not None
        assert tree.current.node_id == jump_target(line).node_id
        assert app.focused is tree


async def test_message_is_previewed_with_what_is_around_it(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "make it sliding", SearchView.MESSAGES)
        excerpt = screen.query_one("#preview Static", Static).visual
        assert isinstance(excerpt, SourceExcerpt)
        (event,) = excerpt.expansion.excerpt_events
        assert event.event_id == screen.hits.hits[0].event_id
        assert excerpt.marks[event.event_id].matched
        assert excerpt.expansion.events_before or excerpt.expansion.events_after


async def test_page_of_a_day_is_previewed(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        at, hit = first(await ask(pilot, settle, "session"), "day")
        await pilot.press(*["down"] * at)
        await settle(pilot)
        page = app.screen.query_one("#preview Static", Static).visual
        node = browse.get_node(hit.node_id)
        assert isinstance(page, Stack) and node is not None and node.bullets
        text = " ".join(page.lay_out(300).plain.split())
        assert all(" ".join(line.text.split()) in text for line in node.bullets)


async def test_repeated_line_is_one_hit(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        hits = (await ask(pilot, settle, "session")).hits.hits
        texts = [hit.snippet.text for hit in hits if hit_kind(hit) != "source"]
        assert texts and len(texts) == len({*texts})


async def test_enter_on_a_source_selects_its_bullet(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        at, line = first(await ask(pilot, settle, "session"), "source")
        await pilot.press(*["down"] * at, "enter")
        await settle(pilot)
        assert isinstance(app.focused, DetailPane)
        grip = app.screen.query_one(SourcePane).expansion.grip
        assert grip is not None and grip.grip_id == jump_target(line).grip_id
        bullets = app.screen.query_one(BulletList)
        assert bullets.current is not None
        assert jump_target(line).grip_id in bullets.bullets[bullets.current[0]].grip_ids


@pytest.mark.parametrize("view", [SearchView.ALL, SearchView.MESSAGES])
async def test_message_hit_opens_the_message(
    app: MemtuiApp, settle: Settle, view: SearchView
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "make it sliding", view)
        best = screen.hits.hits[0]
        assert best.event is not None and format.speaker(best.event) == "you"
        assert best.snippet.text == "Make it sliding, one hour."
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.focused, DetailPane)
        expansion = app.screen.query_one(SourcePane).expansion
        assert [event.text for event in expansion.excerpt_events] == [best.snippet.text]
        pointed = app.screen.query_one(TocTree).current
        assert pointed is not None
        assert pointed.node_id.startswith("toc:segment:2024-01-15")


async def test_escape_restores_the_screen(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("right", "down")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        before = app.export_screenshot(title="", simplify=True)
        focused = app.focused
        await ask(pilot, settle, "session")
        await pilot.press("down", "down", "escape")
        await settle(pilot)
        assert app.focused is focused
        assert app.export_screenshot(title="", simplify=True) == before


async def test_result_of_an_older_query_is_dropped(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        lines = screen.hits.hits
        screen.show_result(screen.view, "sess", Hits())
        screen.show_result(SearchView.MESSAGES, "session", Hits())
        await wait_for_results(pilot, settle)
        assert lines and screen.hits.hits == lines


async def test_no_hits_gives_advice(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "xyzzy")
        assert note(screen).startswith("Nothing found for “xyzzy”. Try the beginning")
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen is screen


ODD = {
    "only stop words": "the",
    "only a time": "last week",
    "a quote": '"unbalanced quotes',
    "every mark": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "control characters": "\x07\x1b[31m\x00",
    "Arabic": "الجلسة انتهت",
    "emoji": "👩‍💻🔥",
    "10,000 characters": "session " * 1250,
    "markup": "[/b] list[int]",
    "filters": "level:century has: by:nobody after:soon",
}


async def test_any_query_gets_hits_or_a_note(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "", SearchView.ALL)
        for name, typed in ODD.items():
            screen.query_one(Input).value = typed
            await pilot.pause()
            await wait_for_results(pilot, settle)
            assert screen.hits.hits or note(screen), name
            assert "failed" not in note(screen), name


async def test_broken_index_is_reported_and_rebuilt(
    app: MemtuiApp, full_workspace: Workspace, settle: Settle
) -> None:
    full_workspace.teleport.close()
    for file in (
        *full_workspace.paths.index.iterdir(),
        full_workspace.paths.message_index,
    ):
        file.write_bytes(b"broken" * 100)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for view in (SearchView.ALL, SearchView.SUMMARIES, SearchView.MESSAGES):
            screen = await ask(pilot, settle, "session", view)
            assert screen.hits.hits and "is rebuilt" in note(screen)
            await pilot.press("escape")


async def test_failed_search_is_reported_and_repeated(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(query: str, **_: object) -> Hits:
        raise OSError("disk on fire")

    monkeypatch.setattr("memtui.tui.screens.search.RETRY_S", 0.05)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(app.workspace.teleport, "find", broken)
            screen = await ask(pilot, settle, "sessio")
            assert "The search failed: disk on fire." in note(screen)
            assert str(screen.query_one("#count", Static).visual) == ""
        while not screen.hits.hits:
            await pilot.pause()
        assert "failed" not in note(screen)
        await pilot.press("escape")
        assert isinstance(app.screen, ContentsScreen)


async def test_last_query_is_replaced_by_typing(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await ask(pilot, settle, "session")
        await pilot.press("escape")
        screen = await ask(pilot, settle, "")
        assert screen.query_one(Input).value == "session"
        assert screen.hits.hits
        await pilot.press("x")
        assert screen.query_one(Input).value == "x"


async def test_click_on_a_hit_opens_it(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        node_id = jump_target(screen.hits.hits[0]).node_id
        await pilot.click(OptionList, offset=(4, 0))
        await settle(pilot)
        tree = app.screen.query_one(TocTree)
        assert tree.current is not None
        assert tree.current.node_id == node_id


async def test_empty_store_says_how_to_import(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("escape", "slash")
        await settle(pilot)
        assert isinstance(app.screen, SearchScreen)
        how = str(app.screen.query_one("#how", Static).visual)
        assert how.startswith("No conversations yet") and "i to import" in how
