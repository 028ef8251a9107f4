"""Filtering the whole app by an agent, a project or a keyword."""

from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.filter import FilterScreen, ScopeList, list_choices
from memtui.tui.screens.search import SearchScreen
from memtui.tui.screens.sessions import SessionList, SessionsScreen
from memtui.tui.widgets.node_page import NodePage
from memtui.tui.widgets.panes import Breadcrumbs
from memtui.tui.widgets.result_list import hit_details
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.text_block import Paragraph
from memtui.workspace import Workspace
from tests.pilots import AppOf, Compare, Settle, press, steps
from tests.screens.test_contents import current_row, labels, notices, tree
from tests.screens.test_search import wait_for_results

SIZE = (120, 40)


def dialog(pilot: Pilot[str | MemtuiError]) -> FilterScreen:
    screen = pilot.app.screen
    assert isinstance(screen, FilterScreen)
    return screen


def status_text(pilot: Pilot[str | MemtuiError]) -> str:
    return pilot.app.screen.query_one(StatusLine).render().plain


def empty_text(pilot: Pilot[str | MemtuiError]) -> str:
    return str(pilot.app.screen.query_one("#nothing", Static).visual)


def test_exact_name_is_before_those_that_contain_it() -> None:
    there = ScopeChoices(
        (("gemini-cli", 9), ("cli-codex", 2)), (("click", 3), ("cli", 1)), ()
    )
    labels = [choice.label for choice in list_choices(there, "cli", ALL, ALL)]
    assert labels == ["cli", "click", "cli-codex", "gemini-cli", "cli"]
    keywords = tuple((name, 1) for name in ("CLI", *(f"cli{n}" for n in range(99))))
    there = ScopeChoices((("copilot-cli", 9),), (), keywords)
    labels = [choice.label for choice in list_choices(there, "cli", ALL, ALL)]
    assert labels[:3] == ["CLI", "copilot-cli", "cli0"]


def test_kind_can_be_typed_before_the_name() -> None:
    there = ScopeChoices((("openhands", 9),), (("open", 3),), (), (("open", 5),))
    (choice,) = list_choices(there, "state:op", ALL, ALL)
    assert choice.scope == Scope(state="open") and choice.end == "5 sessions"
    assert len(list_choices(there, "state:", ALL, ALL)) == 1
    assert {c.label for c in list_choices(there, "open", ALL, ALL)} == {
        "openhands",
        "open",
    }


def test_choices_contain_the_typed_text() -> None:
    there = ScopeChoices(
        (("codex", 3),), (("codebook", 2), ("shop", 1)), (("decode", 9),)
    )
    choices = list_choices(there, "CODE", ALL, ALL)
    assert [(choice.label, choice.end) for choice in choices] == [
        ("codex", "3 sessions"),
        ("codebook", "2 sessions"),
        ("decode", "9 days"),
        ("CODE", "as a keyword"),
    ]
    assert choices[1].scope == Scope(project="codebook")
    shop = Scope(project="shop")
    choices = list_choices(there, "", replace(shop, agent="codex"), shop)
    assert [choice.label for choice in choices[:2]] == [
        "Show codex in shop",
        "Show everything",
    ]
    assert [choice.label for choice in choices if choice.is_chosen] == ["codex", "shop"]
    unchosen = next(
        choice for choice in choices if choice.label == "codex" and choice.kind
    )
    assert unchosen.scope == shop


async def test_filter_applies_to_all_screens_and_f_f_clears_it(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "all projects · all agents" in status_text(pilot)
        await press(pilot, settle, "F", *"codex", "tab", *"logs", "tab")
        chosen = str(dialog(pilot).query_one("#chosen", Static).visual)
        assert chosen == "Show only  codex · logsift"
        await press(pilot, settle, "enter")
        assert app.scope == Scope("codex", "logsift")
        assert "memtui   codex · logsift" in status_text(pilot)
        (session,) = browse.list_day_sessions("toc:day:2024-01-22", app.scope)
        assert labels(pilot) == browse.get_path_with_session(session.node_id)
        assert current_row(pilot) == session.only_segment
        await press(pilot, settle, "F", "tab", "escape", "slash", *"session")
        assert app.scope == Scope("codex", "logsift")
        bar = pilot.app.screen
        assert isinstance(bar, SearchScreen)
        for _ in range(3):
            await wait_for_results(pilot, settle)
            assert all("logsift" in hit_details(hit)[0] for hit in bar.hits.hits)
            await pilot.press("tab")
        await press(pilot, settle, "escape")
        app.set_scope(ALL)
        await settle(pilot)
        assert {"toc:month:2024-02", "toc:year:2023"} <= {*labels(pilot)}
        app.set_scope(Scope("codex", "logsift"))
        await press(pilot, settle, "s")
        assert isinstance(pilot.app.screen, SessionsScreen)
        listed = pilot.app.screen.query_one(SessionList)
        assert listed.total == 1
        app.set_scope(Scope(keyword="nobody said it"))
        await settle(pilot)
        assert listed.total == 0 and "“nobody said it”" in empty_text(pilot)
        app.set_scope(Scope("codex", "logsift"))
        await press(pilot, settle, "escape")
        tree(pilot).reveal("toc:year:2023")
        await settle(pilot)
        output = "This node is outside codex in logsift. Press F F to show everything."
        assert notices(pilot) == [output]
        await press(pilot, settle, "F", "F")
        assert app.scope == ALL
        assert {"toc:month:2024-02", "toc:year:2023"} <= {*labels(pilot)}


async def test_filtered_page_lists_matching_sessions(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        tree(pilot).reveal("toc:year:2024")
        await settle(pilot)
        page = pilot.app.screen.query_one(NodePage)
        whole = page.node
        assert whole is not None
        app.set_scope(Scope("claude-code"))
        await settle(pilot)
        mine, (line, *_) = page.node, browse.list_children(scope=app.scope)
        assert mine is not None and mine.counts == line.counts != whole.counts
        head = str(page.query_one("#head", Static).visual)
        count = f"{mine.counts.segments} of {whole.counts.segments} segments"
        assert f"Claude-code only: {count} (F F: all)" in head
        assert mine.headline == line.headline != whole.headline
        assert mine.headline in head
        assert mine.bullets == page.bullets.bullets != whole.bullets
        app.set_scope(ALL)
        await settle(pilot)
        assert page.node == whole and page.bullets.bullets == whole.bullets


async def test_keyword_filter_and_its_empty_text(
    app: MemtuiApp, settle: Settle
) -> None:
    word = browse.list_scopes().keywords[-1][0]
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.set_scope(Scope(keyword=word.upper()))
        await settle(pilot)
        node = browse.get_node(current_row(pilot).node_id)
        assert node is not None and node.level is TocLevel.SEGMENT
        assert word.casefold() in {keyword.casefold() for keyword in node.keyword_texts}
        await press(pilot, settle, "F", *"nobody said it", "enter")
        nothing = pilot.app.screen.query_one("#nothing", Static)
        assert nothing.display and "F F to show all" in str(nothing.visual)
        await press(pilot, settle, "F", "F")
        assert not nothing.display
        assert current_row(pilot).node_id.startswith("toc:segment:2024-02-06:")
        await press(pilot, settle, "end")
        assert current_row(pilot).node_id.startswith("toc:segment:2023-12-11:")


async def test_breadcrumbs_follow_a_hidden_cursor(
    app: MemtuiApp, settle: Settle
) -> None:
    old = next(
        scope
        for scope in (Scope(keyword=word) for word, _ in browse.list_scopes().keywords)
        if [row.node_id for row in browse.list_children(scope=scope)]
        == ["toc:year:2023"]
    )
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        where = pilot.app.screen.query_one(Breadcrumbs)
        assert where.steps[1:3] == ("2024", "February")
        app.set_scope(old)
        await settle(pilot)
        assert where.steps[1:3] == ("2023", "December")
        app.set_scope(Scope(keyword="nobody said it"))
        await settle(pilot)
        assert where.steps[1:] == ()


@pytest.mark.journey
def test_the_dialog(app: MemtuiApp, settle: Settle, snap_compare: Compare) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await steps(settle, "F")(pilot)
        dialog(pilot).query_one(Input).cursor_blink = False
        await press(pilot, settle, "s", "tab")

    assert snap_compare(app, terminal_size=(80, 24), run_before=run)


def test_contents_of_which_nothing_is_left(
    app: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    run = steps(settle, "F", *"zzyzx", "enter")
    assert snap_compare(app, terminal_size=SIZE, run_before=run)


@pytest.mark.journey
async def test_cut_list_says_how_many_more_there_are(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keywords = len(browse.list_scopes().keywords)
    monkeypatch.setattr("memtui.tui.screens.filter.MAX_CHOICES", 3)
    async with app_of(full_workspace).run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "F")
        choices = dialog(pilot).query_one(ScopeList)
        last = choices.get_option_at_index(choices.option_count - 1)
        assert last.disabled and isinstance(last.prompt, Paragraph)
        text = last.prompt.lay_out(80).plain.strip()
        assert text == f"… and {keywords - 3:,} more: type a part of the name"
        assert choices.option_count - 1 > len(choices.items) > 3


async def test_empty_store_has_no_choices(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    async with app_of(workspace).run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "escape", "F")
        note = dialog(pilot).query_one("#note", Static)
        assert "there is nothing to filter" in str(note.visual)
        await press(pilot, settle, "enter", "escape")
        assert not isinstance(pilot.app.screen, FilterScreen)
