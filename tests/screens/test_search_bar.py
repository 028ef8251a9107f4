"""The views of the search bar, on results made by hand, and their targets."""

import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from memtui.errors import MemtuiError
from memtui.model.events import Event, EventRole
from memtui.model.filters import FILTER_FIELDS
from memtui.model.hit import Hits
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.store import database, events, sessions
from memtui.tui.app import MemtuiApp
from memtui.tui.screens import search
from memtui.tui.screens.search import SearchHistory, SearchScreen
from memtui.tui.themes import DARK, LIGHT
from memtui.tui.widgets.node_page import BulletList
from memtui.tui.widgets.panes import DetailPane
from memtui.tui.widgets.result_list import SearchFunction, SearchView
from memtui.tui.widgets.source_pane import SourcePane
from memtui.tui.widgets.text_block import Stack
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.pilots import Compare, footer_keys
from tests.screens.search_results import (
    FINDINGS,
    MESSAGES,
    FakeSearch,
    SearchApp,
    marked,
    message_hit,
    session,
    session_hit,
    title_hit,
)
from tests.screens.test_search import answered, note

Pilots = Pilot[str | MemtuiError]
Settle = Callable[[Pilots], Awaitable[None]]
Answering = Callable[[str], Hits]
SIZE = (120, 40)


@pytest.fixture(autouse=True)
def _something_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar without a workspace is over a memory that holds something."""
    monkeypatch.setattr(
        browse, "list_scopes", lambda: ScopeChoices(agents=(("codex", 1),))
    )


def bar(pilot: Pilots) -> SearchScreen:
    screen = pilot.app.screen
    assert isinstance(screen, SearchScreen)
    return screen


async def ask(pilot: Pilots, settle: Settle, typed: str) -> SearchScreen:
    """Put a question there, as if it were pasted, and wait for its answer."""
    screen = bar(pilot)
    screen.query_one(Input).value = typed
    await pilot.pause()
    await answered(pilot, settle)
    return screen


def told(screen: SearchScreen, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).visual)


def drawn(screen: SearchScreen) -> list[str]:
    rows = screen.query_one(OptionList)
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


def three() -> dict[str, SearchFunction]:
    return {
        "all": FakeSearch(lambda _: FINDINGS),
        "summaries": FakeSearch(
            lambda text: Hits(text, notes=("The index is being built.",))
        ),
        "messages": FakeSearch(lambda _: MESSAGES),
    }


@pytest.mark.journey
async def test_tab_goes_from_view_to_view_and_each_answers_the_same_words(
    settle: Settle,
) -> None:
    finders = three()
    async with SearchApp(None, **finders).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session timeout")
        assert told(screen, "views") == "[all]  summaries  messages"
        assert told(screen, "count") == "3 hits · 6 ms"
        assert any("unsummarized" in row for row in drawn(screen))
        await pilot.press("tab")
        await answered(pilot, settle)
        assert told(screen, "views") == "all  [summaries]  messages"
        assert "The index is being built." in note(screen)
        await pilot.press("shift+tab", "shift+tab")
        await answered(pilot, settle)
        assert told(screen, "views") == "all  summaries  [messages]"
        said = next(row for row in drawn(screen) if "The session timeout" in row)
        assert re.search(r"┃ claude +The session timeout is 600 seconds", said)
        for finder in finders.values():
            assert isinstance(finder, FakeSearch) and "session timeout" in finder.asked


async def test_the_view_and_the_words_of_last_time_are_there_again(
    settle: Settle,
) -> None:
    asked = SearchHistory()
    async with SearchApp(asked, **three()).run_test(size=SIZE) as pilot:
        await ask(pilot, settle, "session")
        await pilot.press("tab", "tab", "escape")
    async with SearchApp(asked, **three()).run_test(size=SIZE) as pilot:
        await answered(pilot, settle)
        assert bar(pilot).view is SearchView.MESSAGES
        assert bar(pilot).query_one(Input).value == "session"
        assert bar(pilot).results


def behind(gate: threading.Event) -> Callable[[str], Hits]:
    """An answer that is slow: it waits for a gate to open."""

    def slow(text: str) -> Hits:
        assert text == "memtui " or gate.wait(10)
        return Hits(text, (session_hit(title=f"Of {text}", node_id=text),))

    return slow


async def test_a_slow_answer_keeps_no_key_waiting_and_only_the_last_words_count(
    settle: Settle,
) -> None:
    gate = threading.Event()
    fake = FakeSearch(behind(gate))
    async with SearchApp(all=fake).run_test(size=SIZE) as pilot:
        screen = bar(pilot)
        await pilot.press("a")
        while fake.asked[-1:] != ["a"]:
            await pilot.pause()
        await pilot.press("b", "c")
        assert screen.query_one(Input).value == "abc"
        assert screen.is_waiting and not screen.results
        while told(screen, "count") != "searching…":
            await pilot.pause()
        gate.set()
        await answered(pilot, settle)
        assert [line.title for line in screen.results] == ["Of abc"]
        assert [text for text in fake.asked if text != "memtui "] == ["a", "abc"]


async def test_enter_before_the_answer_goes_to_the_best_of_what_is_typed() -> None:
    gate = threading.Event()
    app = SearchApp(all=FakeSearch(behind(gate)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("a", "b", "enter")
        assert bar(pilot).is_waiting
        gate.set()
        while app.is_running and app.return_value is None:
            await pilot.pause()
    assert app.return_value == "ab"


async def test_without_a_question_it_says_how_to_ask_with_every_filter(
    settle: Settle,
) -> None:
    async with SearchApp(None, **three()).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        how = bar(pilot).query_one("#how", Static)
        assert how.display and how.region.bottom < 24
        assert isinstance(how.visual, Stack)
        for example in (*(f"{name}:" for name in FILTER_FIELDS), "refr*", "last week"):
            assert example in how.visual.lay_out(60).plain
        await ask(pilot, settle, "session")
        assert not how.display
        await ask(pilot, settle, "  ")
        assert how.display and not bar(pilot).results


async def test_nothing_found_says_what_of_the_question_to_change(
    settle: Settle,
) -> None:
    async with SearchApp(all=FakeSearch(Hits)).run_test(size=SIZE) as pilot:
        for typed, says in (
            ("wibble agent:codex", "without the filter"),
            ('"wibble wobble"', "without the quotes"),
            ("wibble wobble", "fewer words"),
            ("wibble -wobble", "without the excluded words (-)"),
            ("…!?", "“…!?” contains no word"),
        ):
            assert says in note(await ask(pilot, settle, typed))


async def test_what_was_probably_meant_is_taken_by_a_key(settle: Settle) -> None:
    def meant(text: str) -> Hits:
        if text == "session timeout":
            return FINDINGS
        return Hits(text, suggestion="session timeout")

    async with SearchApp(all=FakeSearch(meant)).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "sesion timeout")
        assert "Did you mean “session timeout”? (ctrl+s)" in note(screen)
        await pilot.press("ctrl+s")
        await answered(pilot, settle)
        assert screen.query_one(Input).value == "session timeout"
        assert len(screen.results) == 3


async def test_notes_are_four_lines_at_the_most_and_a_time_is_explained(
    settle: Settle,
) -> None:
    many = replace(FINDINGS, notes=("One. " * 30, "Two.", "Three."))
    finders = {"all": FakeSearch(lambda text: many if text == "many" else FINDINGS)}
    async with SearchApp(None, **finders).run_test(size=(80, 24)) as pilot:
        screen = await ask(pilot, settle, "session")
        assert note(screen) == "last month: February 2024 comes first."
        screen = await ask(pilot, settle, "many")
        assert screen.query_one("#note", Static).size.height == 4
        assert note(screen).endswith("…")


async def test_while_an_index_is_made_the_answer_follows_by_itself(
    settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.tui.screens.search.RETRY_S", 0.05)
    first = Hits("", notes=("The index is being built: 300 nodes to go.",))
    fake = FakeSearch(lambda _: first if len(fake.asked) < 4 else FINDINGS)
    async with SearchApp(all=fake).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session")
        while not screen.results:
            await pilot.pause(0.01)
        assert "being built" not in note(screen)
        assert len(fake.asked) == 4


async def test_what_was_asked_before_comes_back_by_keys(settle: Settle) -> None:
    asked = SearchHistory()
    asked.add("first")
    asked.add("second")
    async with SearchApp(asked, **three()).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "third")
        seen = []
        for key in ("alt+up", "alt+up", "alt+up", "alt+down", "alt+down", "alt+down"):
            await pilot.press(key)
            seen.append(screen.query_one(Input).value)
        assert seen == ["second", "first", "first", "second", "third", "third"]


async def test_a_message_of_a_session_without_segments_is_not_opened_yet(
    workspace: Workspace, settle: Settle
) -> None:
    async with SearchApp(messages=FakeSearch(lambda _: MESSAGES)).run_test(
        size=SIZE
    ) as pilot:
        screen = await ask(pilot, settle, "session")
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.screen is screen
        assert "the contents do not have it yet" in note(screen)


async def test_the_mark_is_where_the_cursor_is(settle: Settle) -> None:
    many = Hits("x", tuple(session_hit(title=f"Number {n}") for n in range(40)))
    async with SearchApp(all=FakeSearch(lambda _: many)).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "x")
        for keys, title in (
            (("down", "down", "up"), "Number 1 "),
            (("up", "up"), "Number 39 "),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            (row,) = (row for row in drawn(screen) if row.startswith(" ▸"))
            assert title in row
        await pilot.press("down", "pagedown")
        await pilot.pause()
        place = screen.query_one(OptionList).highlighted
        assert place is not None and 2 < place < 39


# What it looks like


BROKEN = (
    "The search index is missing or broken: until it is made anew, the newest nodes"
    " are read."
)
PICTURES: dict[str, tuple[tuple[int, int], str, Sequence[str], Answering]] = {
    "all-narrow": ((80, 24), DARK.name, (), lambda _: FINDINGS),
    "all-wide": ((200, 60), LIGHT.name, ("down",), lambda _: FINDINGS),
    "messages-narrow": ((80, 24), LIGHT.name, (), lambda _: MESSAGES),
    "messages-full": ((120, 40), DARK.name, ("down",), lambda _: MESSAGES),
    "how-narrow": ((80, 24), DARK.name, ("ctrl+u",), lambda _: FINDINGS),
    "nothing-full": (
        (120, 40),
        DARK.name,
        (),
        lambda text: Hits(text, suggestion="session timeout", took_ms=3.0),
    ),
    "broken-full": (
        (120, 40),
        DARK.name,
        (),
        lambda _: replace(FINDINGS, notes=(BROKEN,)),
    ),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.journey(only="all-wide")
def test_pictures(name: str, settle: Settle, snap_compare: Compare) -> None:
    size, theme, keys, answer = PICTURES[name]
    finders = {view.value: FakeSearch(Hits) for view in SearchView}
    shown = SearchView.MESSAGES if name.startswith("messages") else SearchView.ALL
    app = SearchApp(None, **finders | {shown.value: FakeSearch(answer)})
    app.theme = theme

    async def run(pilot: Pilots) -> None:
        screen = bar(pilot)
        screen.query_one(Input).cursor_blink = False
        while screen.view is not shown:
            await pilot.press("tab")
        await ask(pilot, settle, "sesion timeout")
        await pilot.press(*keys)
        await answered(pilot, settle)

    assert snap_compare(app, terminal_size=size, run_before=run)


# Where a line leads


async def found_in(
    app: MemtuiApp, pilot: Pilots, settle: Settle, **finders: SearchFunction
) -> None:
    """Open the bar over the contents, and ask those who answer by hand."""
    by_view = {SearchView(name): one for name, one in finders.items()}
    with patch.object(search, "make_finders", lambda *_: by_view):
        await pilot.press("slash")
    await ask(pilot, settle, "x")
    await pilot.press("enter")
    await settle(pilot)


def said_in(name: str) -> list[Event]:
    """The events of a session."""
    with database.connection():
        number = sessions.get_number("claude-code", name)
        assert number is not None
        return events.between(number, 0, 2**60)


@pytest.mark.journey
async def test_enter_on_a_message_opens_it_word_for_word_at_its_segment(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        event = next(e for e in said_in("shop-1") if "sliding" in e.text)
        found = session_hit(
            node_id="",
            event_id=event.event_id,
            role=EventRole.USER,
            at=event.timestamp,
            snippet=marked(event.text, "sliding"),
        )
        fake = FakeSearch(lambda text: Hits(text, (found,)))
        await found_in(app, pilot, settle, all=fake)
        assert isinstance(app.focused, DetailPane)
        shown = app.screen.query_one(SourcePane).expansion
        assert [one.event_id for one in shown.excerpt_events] == [event.event_id]
        assert shown.events_before and shown.events_after
        pointed = app.screen.query_one(TocTree).current
        assert pointed is not None
        assert pointed.node_id.startswith("toc:segment:2024-01-15")
        await pilot.press("plus")
        await settle(pilot)
        wider = app.screen.query_one(SourcePane).expansion
        assert len(wider.events_before) + len(wider.events_after) > 6
        await pilot.press("y")
        assert event.event_id in app.clipboard
        await pilot.press("n")
        await settle(pilot)
        grip = app.screen.query_one(SourcePane).expansion.grip
        assert grip is not None and grip.grip_id
        assert app.screen.query_one(BulletList).current is not None


async def test_a_session_found_by_its_title_opens_at_its_first_segment(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        first = said_in("shop-2")[0]
        whole = session(session_id="shop-2", created_at=first.timestamp)
        hit = title_hit(session=whole, at=first.timestamp)
        fake = FakeSearch(lambda text: Hits(text, (hit,)))
        await found_in(app, pilot, settle, messages=fake)
        tree = app.screen.query_one(TocTree)
        assert tree.current is not None and app.focused is tree
        assert tree.current.node_id.endswith(first.event_id)


async def test_ctrl_o_asks_for_one_message_of_each_session_and_back(
    settle: Settle,
) -> None:
    asked, finders = SearchHistory(), three()
    async with SearchApp(asked, **finders).run_test(size=(80, 24)) as pilot:
        screen = await ask(pilot, settle, "session")
        await pilot.press("ctrl+o")
        assert "works in the messages view" in note(screen)
        await pilot.press("shift+tab")
        await answered(pilot, settle)
        assert {"esc", "ctrl+o"} <= {*footer_keys(pilot.app)}
        messages = finders["messages"]
        assert isinstance(messages, FakeSearch)
        before = len(messages.asked)
        await pilot.press("ctrl+o")
        await answered(pilot, settle)
        assert asked.one_per_session and len(messages.asked) == before + 1


async def test_right_takes_what_a_filter_is_completed_to(settle: Settle) -> None:
    async with SearchApp(None, **three()).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "")
        await pilot.press(*"level:we")
        await pilot.pause()
        await pilot.press("right")
        assert screen.query_one(Input).value == "level:week"
        await answered(pilot, settle)


async def test_only_the_line_chosen_last_is_gone_to(
    settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def node_at(agent: str, session_id: str, at: object) -> str:
        assert session_id != "first" or gate.wait(10)
        return f"of {session_id}"

    monkeypatch.setattr("memtui.services.browse.find_session_node", node_at)
    names = ("first", "second")
    both = Hits(
        "x", tuple(message_hit("x", "x", session=session(session_id=n)) for n in names)
    )
    app = SearchApp(None, messages=FakeSearch(lambda _: both))
    async with app.run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "x")
        await pilot.press("enter")
        screen.land(screen.results[1].target, "of nobody")
        await pilot.press("down", "enter")
        gate.set()
        await settle(pilot)
    assert app.return_value == "of second"


async def test_a_narrow_terminal_keeps_the_keys_that_lead_on_and_back(
    settle: Settle,
) -> None:
    async with SearchApp(None, **three()).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert {"enter", "esc"} <= {*footer_keys(pilot.app)}
