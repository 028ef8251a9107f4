"""The views of the search bar, on results made by hand, and their targets."""

import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from memtui.errors import MemtuiError
from memtui.model.citations import cite_event
from memtui.model.events import Event, EventRole
from memtui.model.filters import FILTER_FIELDS
from memtui.model.hit import Hit, Hits
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.store import database, events, sessions
from memtui.tui.app import MemtuiApp
from memtui.tui.screens import search
from memtui.tui.screens.search import TOOLS_PAUSE_S, SearchHistory, SearchScreen
from memtui.tui.themes import DARK, LIGHT
from memtui.tui.widgets import preview
from memtui.tui.widgets.node_page import BulletList
from memtui.tui.widgets.panes import DetailPane, PaneTitle
from memtui.tui.widgets.preview import Preview, Previewed
from memtui.tui.widgets.result_list import SearchFunction, SearchView, hit_title
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
from tests.screens.test_search import note, wait_for_results

Pilots = Pilot[str | MemtuiError]
Settle = Callable[[Pilots], Awaitable[None]]
Answering = Callable[[str], Hits]
SIZE = (120, 40)


@pytest.fixture(autouse=True)
def store_has_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar without a workspace is over a memory that holds something."""

    def read_hit(hit: Hit, *_: object) -> Previewed:
        return Previewed(hit_title(hit), "shop", Content(hit.snippet.text))

    monkeypatch.setattr(preview, "read_hit", read_hit)
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
    await wait_for_results(pilot, settle)
    return screen


def text_of(screen: SearchScreen, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).visual)


def visible_rows(screen: SearchScreen) -> list[str]:
    rows = screen.query_one(OptionList)
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


def three_finders() -> dict[str, SearchFunction]:
    return {
        "all": FakeSearch(lambda _: FINDINGS),
        "summaries": FakeSearch(
            lambda text: Hits(text, notes=("The index is being built.",))
        ),
        "messages": FakeSearch(lambda _: MESSAGES),
    }


@pytest.mark.journey
async def test_tab_searches_the_next_view(
    settle: Settle,
) -> None:
    finders = three_finders()
    async with SearchApp(None, **finders).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session timeout")
        assert text_of(screen, "views") == "[all]  summaries  messages"
        assert text_of(screen, "count") == "3 hits · 6 ms"
        await pilot.press("tab")
        await wait_for_results(pilot, settle)
        assert text_of(screen, "views") == "all  [summaries]  messages"
        assert "The index is being built." in note(screen)
        await pilot.press("shift+tab", "shift+tab")
        await wait_for_results(pilot, settle)
        assert text_of(screen, "views") == "all  summaries  [messages]"
        said = next(row for row in visible_rows(screen) if "The session timeout" in row)
        assert re.search(r"claude +The session timeout", said)
        for finder in finders.values():
            assert isinstance(finder, FakeSearch) and "session timeout" in finder.asked


async def test_only_the_newest_selected_hit_is_read_next(
    settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is read, the selection moves on twice: the middle one is not read."""
    go_on, titles = threading.Event(), list[str]()

    def read_slowly(hit: Hit, *_: object) -> Previewed:
        titles.append(hit_title(hit))
        go_on.wait(20)
        return Previewed(hit_title(hit))

    monkeypatch.setattr(preview, "read_hit", read_slowly)
    async with SearchApp(all=FakeSearch(lambda _: FINDINGS)).run_test(
        size=SIZE
    ) as pilot:
        bar(pilot).query_one(Input).value = "session timeout"
        while not titles:
            await pilot.pause()
        await pilot.press("down", "down")
        go_on.set()
        await settle(pilot)
        first, _, last = map(hit_title, FINDINGS.hits)
        assert titles == [first, last]
        title = bar(pilot).query_one("#preview PaneTitle", PaneTitle)
        assert title.title == last


async def test_hits_are_previewed_again_once_there_is_room(settle: Settle) -> None:
    app = SearchApp(all=FakeSearch(lambda _: FINDINGS))
    async with app.run_test(size=(119, 40)) as pilot:
        screen = await ask(pilot, settle, "session timeout")
        pane = screen.query_one(Preview)
        assert not pane.region and not pane.query_one(PaneTitle).title
        await pilot.press("down")
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert pane.region.right == 120
        assert pane.query_one(PaneTitle).title == hit_title(FINDINGS.hits[1])


async def test_unreadable_hit_is_reported_in_its_preview(
    settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Previewed:
        raise OSError("the disk is gone")

    monkeypatch.setattr(preview, "read_hit", fail)
    app = SearchApp(all=FakeSearch(lambda _: FINDINGS))
    async with app.run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session timeout")
        text = str(screen.query_one("#preview Static", Static).visual)
        assert "the disk is gone" in text
        assert text_of(screen, "count") == "3 hits · 6 ms"


async def test_tool_output_is_a_second_tier(settle: Settle) -> None:
    """A row below the hits says how much more there is, and leads to it."""
    in_tools = session_hit(
        role=EventRole.TOOL, event_id="tool", snippet=marked("EACCES 13", "EACCES")
    )
    finders = three_finders() | {
        "tools": FakeSearch(lambda text: Hits(text, (in_tools,), total=4))
    }
    async with SearchApp(None, **finders).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session timeout")
        await pilot.pause(2 * TOOLS_PAUSE_S)
        await settle(pilot)
        assert "4 more in tool output" in note(screen)
        await pilot.press("up")
        rows = [row.strip() for row in visible_rows(screen)]
        assert "▸ 4 more in tool output" in rows
        await pilot.press("enter")
        await wait_for_results(pilot, settle)
        assert text_of(screen, "views") == "all  summaries  messages  [tools]"
        assert any("EACCES 13" in row for row in visible_rows(screen))


async def test_tool_output_is_all_there_is(settle: Settle) -> None:
    finders = {
        "all": FakeSearch(Hits),
        "tools": FakeSearch(lambda text: Hits(text, (session_hit(),), total=1)),
    }
    async with SearchApp(None, **finders).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "EACCES")
        await pilot.pause(2 * TOOLS_PAUSE_S)
        await settle(pilot)
        assert note(screen) == "No message has it, only the output of tools (enter)."
        assert "▸ 1 in tool output" in map(str.strip, visible_rows(screen))
        assert screen.query_one("#preview PaneTitle", PaneTitle).title
        await pilot.press("enter")
        await wait_for_results(pilot, settle)
        assert text_of(screen, "views") == "all  [tools]"
        # The next query is not only for the output of tools.
        await ask(pilot, settle, "EACCES again")
        assert text_of(screen, "views") == "[all]  tools"


async def test_last_view_and_query_are_restored(
    settle: Settle,
) -> None:
    history = SearchHistory()
    async with SearchApp(history, **three_finders()).run_test(size=SIZE) as pilot:
        await ask(pilot, settle, "session")
        await pilot.press("tab", "tab", "escape")
    async with SearchApp(history, **three_finders()).run_test(size=SIZE) as pilot:
        await wait_for_results(pilot, settle)
        assert bar(pilot).view is SearchView.MESSAGES
        assert bar(pilot).query_one(Input).value == "session"
        assert bar(pilot).hits.hits
        screen = await ask(pilot, settle, "another")
        assert screen.view is history.view is SearchView.ALL


def slow_search(gate: threading.Event) -> Callable[[str], Hits]:
    """An answer that is slow: it waits for a gate to open."""

    def slow(text: str) -> Hits:
        assert text == "memtui " or gate.wait(10)
        return Hits(text, (session_hit(title=f"Of {text}", node_id=text),))

    return slow


async def test_slow_search_does_not_delay_typing(
    settle: Settle,
) -> None:
    gate = threading.Event()
    fake = FakeSearch(slow_search(gate))
    async with SearchApp(all=fake).run_test(size=SIZE) as pilot:
        screen = bar(pilot)
        await pilot.press("a")
        while fake.asked[-1:] != ["a"]:
            await pilot.pause()
        await pilot.press("b", "c")
        assert screen.query_one(Input).value == "abc"
        assert screen.is_waiting and not screen.hits.hits
        while text_of(screen, "count") != "searching…":
            await pilot.pause()
        gate.set()
        await wait_for_results(pilot, settle)
        assert [hit_title(hit) for hit in screen.hits.hits] == ["Of abc"]
        assert [text for text in fake.asked if text != "memtui "] == ["a", "abc"]


async def test_enter_before_the_result_opens_the_best_hit() -> None:
    gate = threading.Event()
    app = SearchApp(all=FakeSearch(slow_search(gate)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("a", "b", "enter")
        assert bar(pilot).is_waiting
        gate.set()
        while app.is_running and app.return_value is None:
            await pilot.pause()
    assert app.return_value == "ab"


async def test_empty_query_shows_the_syntax(
    settle: Settle,
) -> None:
    async with SearchApp(None, **three_finders()).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        how = bar(pilot).query_one("#how", Static)
        assert how.display and how.region.bottom < 24
        assert isinstance(how.visual, Stack)
        filters = (f"{name}:" for name in FILTER_FIELDS)
        for example in (*filters, "refr*", "last week", "alt+r"):
            assert example in how.visual.lay_out(60).plain
        await ask(pilot, settle, "session")
        assert not how.display
        await ask(pilot, settle, "  ")
        assert how.display and not bar(pilot).hits.hits


async def test_no_hits_suggests_a_change_of_the_query(
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


async def test_suggestion_is_used_by_a_key(settle: Settle) -> None:
    def meant(text: str) -> Hits:
        if text == "session timeout":
            return FINDINGS
        return Hits(text, suggestion="session timeout")

    async with SearchApp(all=FakeSearch(meant)).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "sesion timeout")
        assert "Did you mean “session timeout”? (ctrl+s)" in note(screen)
        await pilot.press("ctrl+s")
        await wait_for_results(pilot, settle)
        assert screen.query_one(Input).value == "session timeout"
        assert len(screen.hits.hits) == 3


async def test_notes_are_short_and_explain_a_date(
    settle: Settle,
) -> None:
    many = replace(FINDINGS, notes=("One. " * 30, "Two.", "Three."))
    finders = {"all": FakeSearch(lambda text: many if text == "many" else FINDINGS)}
    async with SearchApp(None, **finders).run_test(size=(80, 24)) as pilot:
        screen = await ask(pilot, settle, "session")
        assert note(screen) == "last month: February 2024 comes first."
        screen = await ask(pilot, settle, "many")
        assert screen.query_one("#note", Static).size.height == 4


async def test_search_is_repeated_while_an_index_is_built(
    settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.tui.screens.search.RETRY_S", 0.05)
    first = Hits("", notes=("The index is being built: 300 nodes to go.",))
    fake = FakeSearch(lambda _: first if len(fake.asked) < 4 else FINDINGS)
    async with SearchApp(all=fake).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "session")
        while not screen.hits.hits:
            await pilot.pause(0.01)
        assert "being built" not in note(screen)
        assert len(fake.asked) == 4


async def test_history_is_recalled_by_keys(settle: Settle) -> None:
    history = SearchHistory()
    history.add("first")
    history.add("second")
    async with SearchApp(history, **three_finders()).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "third")
        seen = []
        for key in ("alt+up", "alt+up", "alt+up", "alt+down", "alt+down", "alt+down"):
            await pilot.press(key)
            seen.append(screen.query_one(Input).value)
        assert seen == ["second", "first", "first", "second", "third", "third"]


async def test_message_without_segment_is_not_opened(
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


async def test_cursor_mark_is_on_the_selected_hit(settle: Settle) -> None:
    many = Hits("x", tuple(session_hit(title=f"Number {n}") for n in range(40)))
    async with SearchApp(all=FakeSearch(lambda _: many)).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "x")
        for keys, title in (
            (("down", "down", "up"), "Number 1 "),
            (("up", "up"), "Number 39 "),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            (row,) = (row for row in visible_rows(screen) if row.startswith(" ▸"))
            assert title in row
        await pilot.press("down", "pagedown")
        await pilot.pause()
        place = screen.query_one(OptionList).highlighted
        assert place is not None and 2 < place < 39
        await pilot.resize_terminal(120, 14)
        await settle(pilot)
        assert [row for row in visible_rows(screen) if row.startswith(" ▸")]


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
    view = SearchView.MESSAGES if name.startswith("messages") else SearchView.ALL
    app = SearchApp(None, **finders | {view.value: FakeSearch(answer)})
    app.theme = theme

    async def run(pilot: Pilots) -> None:
        screen = bar(pilot)
        screen.query_one(Input).cursor_blink = False
        while screen.view is not view:
            await pilot.press("tab")
        await ask(pilot, settle, "sesion timeout")
        await pilot.press(*keys)
        await wait_for_results(pilot, settle)

    assert snap_compare(app, terminal_size=size, run_before=run)


# Where a line leads


async def open_hit(
    app: MemtuiApp, pilot: Pilots, settle: Settle, **finders: SearchFunction
) -> None:
    """Open the bar over the contents, and ask those who answer by hand."""
    by_view = {SearchView(name): finder for name, finder in finders.items()}
    with patch.object(search, "make_finders", lambda *_: by_view):
        await pilot.press("slash")
    await ask(pilot, settle, "x")
    await pilot.press("enter")
    await settle(pilot)


def session_events(name: str) -> list[Event]:
    """The events of a session."""
    with database.connection():
        number = sessions.get_number("claude-code", name)
        assert number is not None
        return events.between(number, 0, 2**60)


@pytest.mark.journey
async def test_enter_on_a_message_opens_it_in_its_segment(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        event = next(e for e in session_events("shop-1") if "sliding" in e.text)
        hit = session_hit(
            node_id="",
            event_id=event.event_id,
            role=EventRole.USER,
            at=event.timestamp,
            snippet=marked(event.text, "sliding"),
        )
        fake = FakeSearch(lambda text: Hits(text, (hit,)))
        await open_hit(app, pilot, settle, all=fake)
        assert isinstance(app.focused, DetailPane)
        expansion = app.screen.query_one(SourcePane).expansion
        assert [each.event_id for each in expansion.excerpt_events] == [event.event_id]
        assert expansion.events_before and expansion.events_after
        pointed = app.screen.query_one(TocTree).current
        assert pointed is not None
        assert pointed.node_id.startswith("toc:segment:2024-01-15")
        await pilot.press("plus")
        await settle(pilot)
        wider = app.screen.query_one(SourcePane).expansion
        assert len(wider.events_before) + len(wider.events_after) > 6
        await pilot.press("y")
        assert cite_event(event.event_id) in app.clipboard
        await pilot.press("n")
        await settle(pilot)
        grip = app.screen.query_one(SourcePane).expansion.grip
        assert grip is not None and grip.grip_id
        assert app.screen.query_one(BulletList).current is not None


async def test_session_found_by_title_opens_its_first_segment(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        first = session_events("shop-2")[0]
        whole = session(session_id="shop-2", created_at=first.timestamp)
        hit = title_hit(session=whole, at=first.timestamp)
        fake = FakeSearch(lambda text: Hits(text, (hit,)))
        await open_hit(app, pilot, settle, messages=fake)
        tree = app.screen.query_one(TocTree)
        assert tree.current is not None and app.focused is tree
        assert tree.current.node_id.endswith(first.event_id)


async def test_ctrl_o_searches_one_message_per_session(
    settle: Settle,
) -> None:
    history, finders = SearchHistory(), three_finders()
    async with SearchApp(history, **finders).run_test(size=(80, 24)) as pilot:
        screen = await ask(pilot, settle, "session")
        await pilot.press("ctrl+o")
        assert "works in the messages view" in note(screen)
        await pilot.press("shift+tab")
        await wait_for_results(pilot, settle)
        assert {"esc", "ctrl+o"} <= {*footer_keys(pilot.app)}
        messages = finders["messages"]
        assert isinstance(messages, FakeSearch)
        before = len(messages.asked)
        await pilot.press("ctrl+o")
        await wait_for_results(pilot, settle)
        assert history.one_per_session and len(messages.asked) == before + 1


async def test_right_accepts_the_completion(settle: Settle) -> None:
    async with SearchApp(None, **three_finders()).run_test(size=SIZE) as pilot:
        screen = await ask(pilot, settle, "")
        await pilot.press(*"level:we")
        await pilot.pause()
        await pilot.press("right")
        assert screen.query_one(Input).value == "level:week"
        await wait_for_results(pilot, settle)


async def test_only_the_last_chosen_hit_is_opened(
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
        await ask(pilot, settle, "x")
        await pilot.press("enter")
        await pilot.press("down", "enter")
        gate.set()
        await settle(pilot)
    assert app.return_value == "of second"


async def test_narrow_terminal_keeps_enter_and_escape(
    settle: Settle,
) -> None:
    async with SearchApp(None, **three_finders()).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert {"enter", "esc"} <= {*footer_keys(pilot.app)}
