"""What was left open is a list with sources, judged by one key each."""

import json
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.events import Event, EventRole
from memtui.model.filters import Scope
from memtui.services.conversation import ConversationKey
from memtui.store import database, judgements
from memtui.tui.screens.audit import ClaimList
from memtui.tui.screens.dialogs import LineScreen
from memtui.tui.screens.points import PointsScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.source_pane import SourcePane
from memtui.workspace import Workspace
from tests.message_factory import make_message, name_session, store_messages
from tests.pilots import AppOf, Compare, Settle, notices, press, steps

SIZES = [(80, 24), (120, 36), (200, 60)]
DAY = 86_400
LONG_AGO = -400 * DAY
"""Before the screens think it is."""


def todo(at: int, session: str, **states: str) -> Event:
    items = [
        {"content": text.replace("_", " "), "status": state}
        for text, state in states.items()
    ]
    call = make_message(
        "TodoWrite", LONG_AGO + at, role=EventRole.TOOL, session=session
    )
    metadata = {"tool_name": "TodoWrite", "tool_input": json.dumps({"todos": items})}
    return replace(call, metadata=metadata)


@pytest.fixture
def left(workspace: Workspace) -> Workspace:
    """Two open ends, one of which a later session finished, and one of its own."""
    answer = EventRole.ASSISTANT
    store_messages(
        make_message("Count the quokkas of the island", LONG_AGO),
        todo(1, "s1", Write_the_report="pending", Ask_the_ranger="pending"),
        make_message("Half of them are counted.", LONG_AGO + 2, role=answer),
        make_message("Report to the ranger", LONG_AGO + DAY, session="s2"),
        todo(DAY + 1, "s2", Write_the_report="completed"),
        make_message("It is written.", LONG_AGO + DAY + 2, role=answer, session="s2"),
        make_message("Now feed the walruses, too", LONG_AGO + DAY + 3, session="s2"),
    )
    for session in ("s1", "s2"):
        name_session(session, project="zoo")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return workspace


def texts(pilot: Pilot[str | MemtuiError]) -> list[str]:
    rows = pilot.app.screen.query_one(ClaimList).items.values()
    return [row.text for row in rows]


def title(pilot: Pilot[str | MemtuiError]) -> tuple[str, str]:
    pane = pilot.app.screen.query_one("#list-pane PaneTitle", PaneTitle)
    return pane.title, pane.info


def nothing(pilot: Pilot[str | MemtuiError]) -> str:
    return str(pilot.app.screen.query_one("#nothing", Static).visual)


@pytest.mark.journey
async def test_open_ends_are_judged_and_lead_to_their_sessions(
    left: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "L")
        assert title(pilot) == ("Left open", "2 · 1 finished later")
        assert texts(pilot) == [
            "Not answered: Now feed the walruses, too",
            "Write the report",
            "Ask the ranger",
        ]
        # What is finished is passed over, and "n" shows where.
        await press(pilot, settle, "d")
        assert title(pilot)[1] == "1 · 1 finished later"
        await press(pilot, settle, "x")
        assert title(pilot)[1] == "0 · 1 finished later"
        with database.connection():
            rulings = [row.ruling.value for row in judgements.list_current("1")]
        assert rulings == ["done", "rejected"]
        await press(pilot, settle, "u")
        assert title(pilot)[1] == "1 · 1 finished later"
        await press(pilot, settle, "k", "n")
        (event,) = app.screen.query_one(SourcePane).expansion.excerpt_events
        assert event.session_id == "s2"
        await press(pilot, settle, "enter")
        assert isinstance(app.screen, ReaderScreen)
        assert app.screen.here.session_id == "s2"


async def test_corrected_line_is_judged_on_the_next_visit(
    left: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "L", "down", "down", "E", *"ZZZ", "enter")
        assert left.pipeline.run_until_idle(lambda _: None) == []
        await press(pilot, settle, "escape", "L", "down", "down")
        row = app.screen.query_one(ClaimList).current
        assert row is not None and row.is_judged
        assert "ZZZ" in row.words and row.text == "Ask the ranger"
        await press(pilot, settle, "d", "u", "u")
        row = app.screen.query_one(ClaimList).current
        assert row is not None and not row.is_judged
        assert notices(app) == []


async def test_list_switches_to_decisions_and_narrows_to_the_scope(
    left: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "L", "L", "d")
        assert "No decision is stored" in nothing(pilot)
        assert "No model is used while summaries.provider is" in nothing(pilot)
        assert "x dismisses it" in notices(app)[-1]
        await press(pilot, settle, "L")
        assert len(texts(pilot)) == 3
        # The list has the focus again.
        await press(pilot, settle, "down")
        rows = app.screen.query_one(ClaimList)
        assert rows.has_focus and rows.highlighted == 1
        app.set_scope(Scope(project="park"))
        await settle(pilot)
        assert "Nothing was left open in park." in nothing(pilot)


async def test_row_is_resumed_and_handed_over(
    left: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for key, name in (("r", "ResumeScreen"), ("X", "ChoiceScreen")):
            await press(pilot, settle, "L", key)
            assert type(app.screen).__name__ == name
            await press(pilot, settle, "escape", "escape")
        await press(pilot, settle, "L", "y")
        assert "feed the walruses" in app.clipboard


async def test_keys_act_on_the_session_of_the_selected_row_at_once(
    left: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No source is shown yet.
    monkeypatch.setattr(SourcePane, "request", lambda *_: None)
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "L")
        screen = app.screen
        assert isinstance(screen, PointsScreen)
        for key, session_id in (("down", "s1"), ("n", "s1"), ("up", "s2")):
            await pilot.press(key)
            assert screen.selected_session == ConversationKey("claude-code", session_id)
            assert screen.page_id == f"claude-code:{session_id}"
        await press(pilot, settle, "d", "T")
        assert isinstance(app.screen, LineScreen)
        assert app.screen.query_one(Input).value.startswith("Count the quokkas")


async def test_message_after_a_rejection_says_how_to_get_back(
    left: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(left)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "L", "x")
        assert "u takes it back" in notices(app)[-1]
        await press(pilot, settle, "up", "up", "x")
        assert isinstance(app.screen, LineScreen)
        await press(pilot, settle, *"no", "enter")
        with database.connection():
            (judgement,) = judgements.list_current("1")
        assert judgement.reason == "no"
        assert len(notices(app)) == 1


async def test_empty_list_has_nothing_to_judge(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "escape", "L")
        assert isinstance(app.screen, PointsScreen)
        await press(pilot, settle, *"dxunprXy")
        assert "Nothing was left open." in nothing(pilot)


@pytest.mark.parametrize("size", SIZES)
def test_left_open_picture(
    left: Workspace,
    app_of: AppOf,
    snap_compare: Compare,
    settle: Settle,
    size: tuple[int, int],
) -> None:
    run = steps(settle, "L", "down", "down", "x", "up")
    assert snap_compare(app_of(left), terminal_size=size, run_before=run)
