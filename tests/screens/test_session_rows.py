"""Sessions as rows of the contents, and the page of one with several segments."""

import threading

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model.citations import Expansion
from memtui.model.filters import Scope
from memtui.model.nodes import DaySession, TocEntry
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, conversation
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.widgets.panes import Breadcrumbs, DetailPane, PaneTitle
from memtui.workspace import Workspace
from tests.message_factory import make_message, name_session, store_messages
from tests.pilots import AppOf, Settle, press
from tests.screens.test_contents import labels, notices, page, source, tree

DAY = "toc:day:2025-03-14"
TWO = "toc:session:2025-03-14:claude-code/two"
HOUR = 3_600.0
SIZE = (120, 40)


@pytest.fixture
def two_days(workspace: Workspace) -> Workspace:
    """A day whose latest session has two segments, and the day before."""
    store_messages(
        make_message("Fix the login form of the shop", HOUR, session="two"),
        make_message("Fix the tests of the login form", 5 * HOUR, session="two"),
        make_message("Export the invoices as PDF", 0, session="one"),
        make_message("Export the orders as CSV", -20 * HOUR, session="one"),
    )
    name_session("two", project="shop")
    name_session("one", project="billing")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return workspace


@pytest.fixture
def app_with_two_days(two_days: Workspace, app_of: AppOf) -> MemtuiApp:
    return app_of(two_days)


def current_session(pilot: Pilot[str | MemtuiError]) -> DaySession:
    line = tree(pilot).current
    assert isinstance(line, DaySession)
    return line


def row_text(pilot: Pilot[str | MemtuiError]) -> str:
    rows = tree(pilot)
    return rows.render_line(rows.cursor_line - rows.scroll_offset.y).text


def import_more(
    pilot: Pilot[str | MemtuiError], workspace: Workspace, text: str, hours: float
) -> None:
    """Store a message of session "two", and report what changed."""
    store_messages(make_message(text, hours * HOUR, session="two"))
    changed: set[str] = set()
    workspace.pipeline.run_until_idle(lambda progress: changed.update(progress.changed))
    all_changed = frozenset(changed | workspace.pipeline.take_changed_nodes())
    assert all_changed
    pilot.app.post_message(
        ProgressReported(PipelineProgress("index", changed=all_changed))
    )


@pytest.mark.journey
async def test_session_row_leads_to_source_and_back(
    app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        session = current_session(pilot)
        assert session.node_id == TWO
        assert row_text(pilot).lstrip().startswith("▸ 11:00 Fix the login")
        whole = page(pilot).node
        assert whole == browse.get_day_session_node(session)
        assert "2 segments" in page(pilot).query_one(PaneTitle).info
        await press(pilot, settle, "right")
        late, early = (entry.node_id for entry in session.segments)
        rows = labels(pilot)
        assert rows[rows.index(TWO) + 1 :][:2] == [late, early]
        await press(pilot, settle, "right", "down")
        line = tree(pilot).current
        assert isinstance(line, TocEntry) and line.node_id == early
        assert page(pilot).node == browse.get_node(early)
        crumbs = pilot.app.screen.query_one(Breadcrumbs)
        assert crumbs.render().plain.endswith("Fri 14 › 11:00")
        await press(pilot, settle, "enter")
        await press(pilot, settle, "enter")
        (own,) = source(pilot).expansion.excerpt_events
        assert own.text == "Fix the login form of the shop"
        await press(pilot, settle, "enter")
        assert isinstance(pilot.app.screen, ReaderScreen)
        await press(pilot, settle, "escape", "escape", "escape")
        assert tree(pilot).has_focus
        await press(pilot, settle, "left")
        assert current_session(pilot) == session and page(pilot).node == whole
        await press(pilot, settle, "left")
        assert early not in labels(pilot)
        assert notices(pilot) == []


async def test_every_line_of_a_session_has_a_source(
    app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        node = page(pilot).node
        assert node is not None
        grips = [grip for bullet in node.bullets for grip in bullet.grip_ids]
        for grip_id in grips:
            grip = source(pilot).expansion.grip
            assert grip is not None and grip.grip_id == grip_id
            await press(pilot, settle, "n")
        assert notices(pilot) == ["This is the last source of this page."]


async def test_node_keys_explain_themselves_on_a_session(
    app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "v")
        assert isinstance(pilot.app.screen, ContentsScreen)
        assert "2 segments here, each with versions of its own" in notices(pilot)[-1]
        await press(pilot, settle, "y")
        session = current_session(pilot).session
        assert pilot.app.clipboard.endswith(f"session {session.full_name}")
        await press(pilot, settle, "enter", "y")
        assert source(pilot).citation() == pilot.app.clipboard != ""
        await press(pilot, settle, "escape")
        await press(pilot, settle, "asterisk")
        assert current_session(pilot).segments[0].node_id in labels(pilot)
        await press(pilot, settle, "c")
        await press(pilot, settle, "escape", "right_square_bracket")
        assert tree(pilot).current == browse.list_day_sessions(DAY)[1].only_segment


async def test_jump_to_a_segment_and_back_to_its_session(
    app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        early = current_session(pilot).segments[1].node_id
        contents = pilot.app.screen
        assert isinstance(contents, ContentsScreen)
        contents.go_to(early)
        await settle(pilot)
        line = tree(pilot).current
        assert isinstance(line, TocEntry) and line.node_id == early
        await press(pilot, settle, "backspace")
        assert current_session(pilot).node_id == TWO
        assert page(pilot).is_shown


async def test_sessions_that_look_the_same_unfold_from_one_row(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    prompt = "Respond with exactly PASS"
    store_messages(*(make_message(prompt, n * HOUR, session=f"s{n}") for n in range(4)))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []

    def here() -> str:
        session = tree(pilot).session
        assert session is not None and page(pilot).is_shown
        return session.session.session_id

    async with app_of(workspace).run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert f"{prompt} (+3 like this)" in row_text(pilot) and here() == "s3"
        rows = len(labels(pilot))
        await press(pilot, settle, "space", "down", "down")
        assert len(labels(pilot)) == rows + 3 and here() == "s1"
        await press(pilot, settle, "right_square_bracket")
        assert here() == "s0"
        # Folded again, a jump unfolds it.
        await press(pilot, settle, "left", "space")
        assert len(labels(pilot)) == rows and here() == "s3"
        tree(pilot).reveal("toc:session:2025-03-14:claude-code/s2")
        await settle(pilot)
        assert len(labels(pilot)) == rows + 3 and here() == "s2"
        # The cursor stays on a session that gets a row of its own.
        await press(pilot, settle, "T", "ctrl+u", *"name", "enter")
        while here() != "s2" or "name" not in row_text(pilot):
            await pilot.pause(0.05)
        assert len(labels(pilot)) == rows + 3


async def test_continued_session_gets_its_new_segment(
    two_days: Workspace, app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "end", "home")
        tree(pilot).reveal(TWO)
        await settle(pilot)
        import_more(pilot, two_days, "Push the login form", 9)
        while len(current_session(pilot).segments) < 3:
            await pilot.pause(0.05)
        await settle(pilot)
        node = page(pilot).node
        assert node is not None and node.counts.segments == 3


async def test_newer_day_is_followed_until_a_key(
    two_days: Workspace, app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        import_more(pilot, two_days, "Write the release notes", 24)
        while "toc:day:2025-03-15" not in labels(pilot):
            await pilot.pause(0.05)
        await settle(pilot)
        line = tree(pilot).current
        assert isinstance(line, TocEntry)
        assert line.node_id.startswith("toc:segment:2025-03-15:")
        await press(pilot, settle, "j")
        before = tree(pilot).current
        assert before is not None and before.node_id == DAY
        import_more(pilot, two_days, "Announce the release", 48)
        while "toc:day:2025-03-16" not in labels(pilot):
            await pilot.pause(0.05)
        after = tree(pilot).current
        assert after is not None and after.node_id == DAY


async def test_project_is_shown_if_there_are_several(
    app_with_two_days: MemtuiApp, settle: Settle
) -> None:
    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "z")
        assert "  shop  " in row_text(pilot)
        app_with_two_days.set_scope(Scope(project="shop"))
        await settle(pilot)
        assert current_session(pilot).node_id == TWO
        assert "  shop  " not in row_text(pilot)


async def test_source_belongs_to_the_page_beside_it(
    app_with_two_days: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, expand = threading.Event(), conversation.expand

    def slow(grip_id: str, *, before: int = 3, after: int = 3) -> Expansion:
        assert gate.wait(10)
        return expand(grip_id, before=before, after=after)

    async with app_with_two_days.run_test(size=SIZE) as pilot:
        await settle(pilot)
        first = page(pilot).node
        monkeypatch.setattr(conversation, "expand", slow)
        await pilot.press("down")
        while page(pilot).node is first:
            assert source(pilot).expansion.grip is not None
            await pilot.pause()
        transcript = pilot.app.screen.query_one("#transcript", Static)
        assert str(transcript.visual) in ("", "Reading…")
        assert not source(pilot).expansion.excerpt_events
        gate.set()
        await settle(pilot)
        grip, node = source(pilot).expansion.grip, page(pilot).node
        assert grip is not None and node is not None
        assert any(grip.grip_id in bullet.grip_ids for bullet in node.bullets)


async def test_time_and_speaker_of_a_long_source_are_visible(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    code = "\n".join(f"step_{number}()" for number in range(60))
    asked = f"```\n{code}\n```\n\nFix the build that fails in the code above."
    store_messages(make_message(asked, 60))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    async with app_of(workspace).run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "Fix the build" in source(pilot).citation()
        title = source(pilot).query_one(PaneTitle)
        assert title.info.startswith("10:01 you · ")
        assert source(pilot).query_one(DetailPane).scroll_offset.y > 0
