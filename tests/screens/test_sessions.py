"""The list of sessions: loading, sorting and filtering."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.events import to_ms
from memtui.pipeline.progress import PipelineProgress
from memtui.services import sessions
from memtui.store import database
from memtui.store.schema import SessionRow
from memtui.tui import workers
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.screens.sessions import ROW_LINES, SessionList, SessionsScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import AppOf, Compare, Settle, footer_keys

MINUTE_MS = 60_000


def keep(count: int, *, since: int = 0) -> None:
    """Keep sessions, each a minute after the one before and a minute longer."""
    begun = to_ms(NOW) - 10_000_000_000
    with database.transaction():
        database.db.connection().executemany(
            "INSERT INTO sessions (agent, name, project, cwd, branch, model, title,"
            " first_prompt, created_ms, updated_ms, message_count, event_count, routes,"
            " root, created_by, forked_from, summary, work_name, state, outcome, work)"
            " VALUES ('codex', ?, 'mill', '', '', '', ?, '', ?, ?, ?, 0, '', '', '',"
            " '', '', '', '', '', '')",
            [
                (
                    f"mill-{at}",
                    f"Grain [b]no[/] {at:05}",
                    begun + at * MINUTE_MS,
                    begun + at * 2 * MINUTE_MS,
                    count - at,
                )
                for at in range(since, count)
            ],
        )


def listed(app: MemtuiApp) -> SessionList:
    return app.screen.query_one(SessionList)


def titles(app: MemtuiApp) -> list[str]:
    known = listed(app).sessions
    return [known[place].title for place in sorted(known)]


def heading(app: MemtuiApp) -> tuple[str, str]:
    title = app.screen.query_one(PaneTitle)
    return title.title, title.info


async def opened(pilot: Pilot[str | MemtuiError], settle: Settle, *keys: str) -> None:
    await settle(pilot)
    for key in ("s", *keys):
        await pilot.press(key)
        await settle(pilot)


async def test_the_newest_stand_first_until_another_order_is_asked_for(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, settle)
        newest = titles(app)
        assert len(newest) == 6
        assert heading(app) == ("Sessions, newest first", "6")
        await pilot.press("S")
        await settle(pilot)
        assert titles(app) == newest[::-1]
        keys: list[Callable[[int], object]] = [
            lambda at: (
                listed(app).sessions[at].created_at
                - listed(app).sessions[at].updated_at
            ),
            lambda at: -listed(app).sessions[at].message_count,
            lambda at: listed(app).sessions[at].title.lower(),
        ]
        for key in keys:
            await pilot.press("S")
            await settle(pilot)
            assert sorted(range(6), key=key) == [*range(6)], heading(app)  # type: ignore[arg-type]
        assert heading(app)[0] == "Sessions, by title"


async def test_each_session_has_its_state_and_on_a_second_line_its_outcome(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        shown = listed(app)
        works = [session.work for session in shown.sessions.values()]
        place = next(at for at, work in enumerate(works) if work.outcome)
        its = works[place]
        first = shown.render_line(place * ROW_LINES).text
        second = shown.render_line(place * ROW_LINES + 1).text
        header = str(app.screen.query_one("#columns", Static).visual)
        assert its.state and first[header.index("state") :].startswith(its.state)
        assert f"→ {its.outcome[:20]}" in second
        assert second.index(shown.sessions[place].project) == header.index("title")


@pytest.mark.journey
async def test_words_narrow_it_and_escape_shows_all_again(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, settle, "slash", *"SHOP", "space", *"cla")
        assert heading(app)[1].endswith(" of 6")
        assert {one.project for one in listed(app).sessions.values()} == {"shop"}
        await pilot.press(*" 100%_", "enter")
        await settle(pilot)
        assert listed(app).has_focus and titles(app) == []
        said = str(app.screen.query_one("#nothing", Static).visual)
        assert said.startswith("No session matches “SHOP cla 100%_”.")
        await pilot.press("escape")
        await settle(pilot)
        assert len(titles(app)) == 6 and listed(app).has_focus
        assert app.screen.query_one("#words", Input).value == ""
        await pilot.press("escape")
        assert isinstance(app.screen, ContentsScreen)


@pytest.mark.journey
async def test_enter_opens_what_the_words_typed_at_once_have_found(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, look = threading.Event(), sessions.list_around

    def slow(listing: sessions.SessionQuery, *args: Any) -> sessions.SessionRange:
        if listing.words:
            go_on.wait(20)
        return look(listing, *args)

    monkeypatch.setattr(sessions, "list_around", slow)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, settle)
        first = listed(app).sessions[0]
        await pilot.press("slash")
        await settle(pilot)
        keys = footer_keys(app)
        assert "enter" in keys and "esc" in keys and "/" not in keys
        for key in (*"logsift", "enter", "enter"):
            app.post_message(events.Key(key, None))
        while not listed(app).has_focus:
            await pilot.pause()
        assert isinstance(app.screen, SessionsScreen)
        go_on.set()
        await settle(pilot)
        assert isinstance(app.screen, ReaderScreen)
        assert first.project != "logsift"
        assert app.screen.about and app.screen.about.session.project == "logsift"


async def test_only_visible_rows_of_thousands_are_read(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(20_000)
    read = 0
    ask = sessions.list_range

    def count(*args: object) -> sessions.SessionRange:
        nonlocal read
        found = ask(*args)  # type: ignore[arg-type]
        read += len(found.sessions)
        return found

    monkeypatch.setattr(sessions, "list_range", count)
    app = app_of(full_workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, settle)
        assert heading(app)[1] == "20,006"
        await pilot.press("end")
        await settle(pilot)
        last = listed(app).current
        assert last is not None and last.title.endswith("00000")
        for _ in range(3):
            await pilot.press("pageup")
            await settle(pilot)
        assert read <= 1_500
        at = listed(app).current
        assert at is not None and "[b]" in at.title


async def test_new_events_do_not_move_cursor_or_scroll(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    keep(900)
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press(*["pagedown"] * 20, "up", "up")
        await settle(pilot)
        shown = listed(app)
        before, row = shown.current, shown.cursor * ROW_LINES - shown.scroll_offset.y
        assert before is not None
        keep(950, since=900)
        app.post_message(ProgressReported(PipelineProgress("")))
        while shown.total < 956:
            await settle(pilot)
        assert shown.current == before
        assert shown.cursor * ROW_LINES - shown.scroll_offset.y == row


async def test_a_list_that_is_slow_to_read_says_that_it_is_being_read(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    around = sessions.list_around

    def slow(*args: Any) -> Any:
        go_on.wait()
        return around(*args)

    monkeypatch.setattr(sessions, "list_around", slow)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("s")
        while app.screen.query_one(PaneTitle).info != workers.LOADING:
            await pilot.pause()
        go_on.set()
        await settle(pilot)
        assert app.screen.query_one(PaneTitle).info == "6"
        go_on.clear()
        await pilot.press("S")
        while app.screen.query_one(PaneTitle).info != workers.LOADING:
            await pilot.pause()
        go_on.set()
        await settle(pilot)
        assert app.screen.query_one(PaneTitle).info == "6"


async def test_what_cannot_be_read_says_why(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is full")

    async with app.run_test() as pilot:
        monkeypatch.setattr(sessions, "list_around", broken)
        await opened(pilot, settle)
        said = str(app.screen.query_one("#nothing", Static).visual)
        assert said.startswith("✗ The sessions could not be read: the disk is full")
        monkeypatch.undo()
        while len(titles(app)) != 6:
            await settle(pilot)


async def test_a_page_that_could_not_be_read_says_so_and_is_asked_for_again(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is away")

    keep(2_000)
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        monkeypatch.setattr(sessions, "list_range", broken)
        await pilot.press("end")
        await settle(pilot)
        shown = listed(app)
        said = app.screen.query_one(PaneTitle).info
        assert said == "✗ not loaded: the disk is away"
        assert shown.current is None and shown.total == 2_006
        monkeypatch.undo()
        while shown.current is None:
            await settle(pilot)
        assert "Grain" in shown.render_line(4).text


def test_the_newest_and_the_oldest_come_by_an_index(full_workspace: Workspace) -> None:
    asked = (
        "EXPLAIN QUERY PLAN SELECT * FROM sessions ORDER BY created_ms DESC, id DESC"
    )
    with database.connection():
        (plan,) = database.db.execute_sql(f"{asked} LIMIT 9").fetchall()
        assert "USING INDEX" in plan[3]
        assert SessionRow.select().count() == 6


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.journey(only="(120, 40)")
def test_pictures(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
) -> None:
    keep(300)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await opened(pilot, settle, *["down"] * 3)

    assert snap_compare(app_of(full_workspace), terminal_size=size, run_before=run)


def test_picture_of_nothing(
    workspace: Workspace, app_of: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        await pilot.press("escape")
        await opened(pilot, settle)
        assert isinstance(pilot.app.screen, SessionsScreen)

    assert snap_compare(app_of(workspace), terminal_size=(120, 40), run_before=run)


def test_picture_of_the_demo(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(full_workspace, "is_demo", True)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await opened(pilot, settle)

    assert snap_compare(app_of(full_workspace), terminal_size=(120, 40), run_before=run)
