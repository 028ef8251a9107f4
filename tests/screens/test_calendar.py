"""The calendar: moving by keyboard, and updates."""

import json
from datetime import UTC, date
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.filters import ALL, Scope
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.calendar import ActivityScale, CalendarScreen, DayGrid
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.pilots import AppOf, Compare, Settle, notices, steps

LAST = date(2024, 2, 6)
"""The last day of the history."""


def grid(app: MemtuiApp) -> DayGrid:
    return app.screen.query_one(DayGrid)


def day_text(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#day", Static).visual)


async def test_cursor_moves_by_day_week_and_year(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await steps(settle, "c")(pilot)
        assert isinstance(app.screen, CalendarScreen)
        assert grid(app).cursor == LAST
        counts, headline, agents = day_text(app).split("\n")
        assert counts.startswith("Tue 6 Feb 2024, 3 weeks ago · 1 session · ")
        assert (headline, agents) == (
            "We decided on Postgres for orders. Write the migration for the orders"
            " table, amounts in cents.",
            "claude-code · shop",
        )
        await pilot.press("left", "k")
        assert grid(app).cursor == date(2024, 1, 29)
        assert day_text(app).endswith("no conversations")
        await pilot.press("down", "l", "right_square_bracket")
        assert grid(app).cursor == date(2023, 2, 6)
        assert grid(app).visible_years == [2024, 2023]
        await pilot.press("right_square_bracket", *["left_square_bracket"] * 2)
        assert grid(app).cursor == LAST
        await pilot.press("ctrl+d")
        assert grid(app).cursor == date(2023, 8, 8)
        await pilot.press("ctrl+u")
        assert grid(app).cursor == LAST
        await pilot.press("home")
        assert grid(app).cursor == date(2023, 12, 11)
        await pilot.press("end", *["right"] * 4)
        assert grid(app).cursor == date(2024, 2, 27)
        assert notices(app) == [
            "This is the first year.",
            "This is the last year.",
            "This is the last day.",
        ]


@pytest.mark.journey
async def test_enter_opens_the_day_or_moves_to_the_nearest(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await steps(settle, *["right"] * 4)(pilot)
        tree = app.screen.query_one(TocTree)
        before = tree.cursor_line, tree.scroll_offset
        await steps(settle, "c", "home", "escape")(pilot)
        assert isinstance(app.screen, ContentsScreen)
        assert (tree.cursor_line, tree.scroll_offset) == before
        await steps(settle, "c", "down", "down", "enter")(pilot)
        assert grid(app).cursor == LAST
        assert notices(app) == [
            "Thu 8 Feb 2024 has no conversations."
            " Nearest: Tue 6 Feb 2024; enter opens it."
        ]
        await steps(settle, "enter")(pilot)
        assert isinstance(app.screen, ContentsScreen)
        assert tree.current is not None
        assert tree.current.node_id == f"toc:day:{LAST}"


async def test_new_day_appears_and_cursor_stays(
    full_workspace: Workspace, app: MemtuiApp, settle: Settle, tmp_path: Path
) -> None:
    event = {
        "session_id": "new",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Count the lighthouses along the coast once more, please.",
        "timestamp": "2024-02-27T09:00:00Z",
    }
    (full_workspace.paths.spool / "new" / "1709.json").write_text(json.dumps(event))
    reports: list[PipelineProgress] = []
    async with app.run_test() as pilot:
        await steps(settle, "c", "home")(pilot)
        before = grid(app).cursor
        assert full_workspace.pipeline.run_until_idle(reports.append) == []
        changed = full_workspace.pipeline.take_changed_nodes().union(
            *(p.changed for p in reports)
        )
        app.post_message(ProgressReported(PipelineProgress("", changed=changed)))
        await settle(pilot)
        assert grid(app).cursor == before
        await steps(settle, "end")(pilot)
        assert grid(app).cursor == date(2024, 2, 27)
        assert "1 message" in day_text(app)


def list_counts(scope: Scope) -> list[int]:
    """Return the messages of each day."""
    return [day.counts.messages for day in browse.list_days(UTC, scope).values()]


async def test_filter_applies_to_the_calendar(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 17)) as pilot:
        await steps(settle, "c")(pilot)
        whole = grid(app).scale
        assert len(grid(app).visible_years) == 1, "and the scale is that of both years"
        assert whole == ActivityScale.from_counts(list_counts(ALL))
        assert len(list_counts(ALL)) > 3
        app.set_scope(Scope(agent="codex"))
        await steps(settle, "enter")(pilot)
        assert grid(app).cursor == date(2024, 1, 22)
        assert notices(app)[0].startswith(
            "Tue 6 Feb 2024 has no conversations for codex."
        )
        assert grid(app).scale == ActivityScale.from_counts(list_counts(app.scope))
        assert {*(grid(app).days or ())} == {date(2024, 1, 22)}
        app.set_scope(ALL)
        await settle(pilot)
        assert LAST in (grid(app).days or ())


async def test_unreadable_days_are_reported_and_read_again(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is full")

    async with app.run_test() as pilot:
        with monkeypatch.context() as patch:
            patch.setattr("memtui.services.browse.list_days", broken)
            await steps(settle, "c", "enter", "left_square_bracket")(pilot)
            assert notices(app) == ["The years are still being read."]
            assert day_text(app) == (
                "✗ The days could not be read:\nthe disk is full\n"
                "memtui will try again. Press esc to go back."
            )
        while not grid(app).is_loaded:
            await settle(pilot)
        assert not day_text(app).startswith("✗")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.journey(only="(120, 40)")
def test_pictures(
    app: MemtuiApp, settle: Settle, snap_compare: Compare, size: tuple[int, int]
) -> None:
    run = steps(settle, "c", "left", "left", "k")
    assert snap_compare(app, terminal_size=size, run_before=run)


def test_picture_of_nothing(
    workspace: Workspace, app_of: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    run = steps(settle, "escape", "c")
    assert snap_compare(app_of(workspace), terminal_size=(80, 24), run_before=run)


def test_picture_of_a_date_being_typed(
    app: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await steps(settle, "c", "g")(pilot)
        pilot.app.screen.query_one(Input).cursor_blink = False
        await steps(settle, *"since october")(pilot)

    assert snap_compare(app, terminal_size=(80, 24), run_before=run)
