"""The teleport: typing, choosing, leaving, failing."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from memtui.app import MemtuiApp
from memtui.errors import MemtuiError
from memtui.house import House
from memtui.memory.hits import Answer, Hit, HitKind, Snippet
from memtui.memory.toc import TocLevel
from memtui.messages import Answered
from memtui.recall import browse
from memtui.screens.contents import ContentsScreen
from memtui.screens.teleport import TeleportScreen
from memtui.widgets.bullet_list import BulletList
from memtui.widgets.source_pane import Reader, SourcePane
from memtui.widgets.toc_tree import TocTree

Settle = Callable[[Pilot[str | MemtuiError]], Awaitable[None]]
SIZE = (120, 40)


async def ask(
    pilot: Pilot[str | MemtuiError], settle: Settle, words: str
) -> TeleportScreen:
    await pilot.press("slash")
    for letter in words:
        await pilot.press("space" if letter == " " else letter)
    screen = pilot.app.screen
    assert isinstance(screen, TeleportScreen)
    while screen.is_waiting:
        await pilot.pause()
    await settle(pilot)
    return screen


def note(screen: TeleportScreen) -> str:
    return str(screen.query_one("#note", Static).visual)


async def test_typing_finds_and_enter_goes_to_the_node_however_deep(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        node = next(hit for hit in screen.hits if hit.kind is HitKind.NODE)
        await pilot.press(*["down"] * screen.hits.index(node), "enter")
        await settle(pilot)
        tree = app.screen.query_one(TocTree)
        assert tree.pointed_at is not None
        assert tree.pointed_at.node_id == node.node_id
        assert app.focused is tree


async def test_enter_on_a_source_opens_it_with_its_bullet_chosen(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        grip = next(hit for hit in screen.hits if hit.kind is HitKind.GRIP)
        await pilot.press(*["down"] * screen.hits.index(grip), "enter")
        await settle(pilot)
        assert isinstance(app.focused, Reader)
        shown = app.screen.query_one(SourcePane).expansion.grip
        assert shown is not None and shown.grip_id == grip.target_id
        bullets = app.screen.query_one(BulletList)
        assert bullets.place is not None
        assert grip.target_id in bullets.bullets[bullets.place[0]].grip_ids


async def test_escape_puts_everything_back_as_it_was(
    app: MemtuiApp, settle: Settle
) -> None:
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


async def test_an_answer_to_an_older_question_is_dropped(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        hits = screen.hits
        screen.post_message(Answered("sess", Answer("sess")))
        await settle(pilot)
        assert screen.hits == hits


async def test_nothing_found_says_what_to_try(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "xyzzy")
        assert note(screen).startswith("Nothing found for “xyzzy”. Try fewer words")
        await pilot.press("enter")
        assert app.screen is screen


async def test_a_search_that_fails_says_why_and_leaves_the_contents(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(query: str) -> Answer:
        raise OSError("disk on fire")

    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        monkeypatch.setattr(app.house.teleport, "find", broken)
        screen = await ask(pilot, settle, "session")
        assert "The search failed: disk on fire." in note(screen)
        await pilot.press("escape")
        assert isinstance(app.screen, ContentsScreen)


async def test_the_words_of_last_time_are_there_and_typing_replaces_them(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await ask(pilot, settle, "session")
        await pilot.press("escape")
        screen = await ask(pilot, settle, "")
        assert screen.query_one(Input).value == "session"
        assert screen.hits
        await pilot.press("x")
        assert screen.query_one(Input).value == "x"


async def test_a_click_on_a_hit_goes_there(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "session")
        first = screen.hits[0]
        await pilot.click(OptionList, offset=(4, 0))
        await settle(pilot)
        tree = app.screen.query_one(TocTree)
        assert tree.pointed_at is not None
        assert tree.pointed_at.node_id == first.node_id


async def test_markup_in_a_hit_is_shown_as_it_is(
    app: MemtuiApp, full_house: House, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    year = browse.years()[0]
    wild = Hit(
        kind=HitKind.NODE,
        target_id=year.node_id,
        node_id=year.node_id,
        level=TocLevel.YEAR,
        title="[/b] list[int]",
        at=datetime(2024, 1, 1, tzinfo=UTC),
        score=0.9,
        snippet=Snippet("a [red]word[/red]", ((2, 7),)),
    )
    monkeypatch.setattr(
        full_house.teleport, "find", lambda query: Answer(query, (wild,))
    )
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        screen = await ask(pilot, settle, "word")
        lines = [screen.query_one(OptionList).render_line(y).text for y in range(3)]
        assert "[/b] list[int]" in lines[0]
        assert "excellent · year" in lines[0]
        assert "a [red]word[/red]" in lines[2]
