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
from memtui.tui import workers
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.screens.sessions import ROW_LINES, SessionList, SessionsScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.text_block import Stack
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.pilots import AppOf, Compare, Settle, footer_keys
from tests.tables import SessionRow

MINUTE_MS = 60_000


def store_sessions(count: int, *, since: int = 0) -> None:
    """Keep sessions, each a minute after the one before and a minute longer."""
    begun = to_ms(NOW) - 10_000_000_000
    with database.transaction():
        database.db.connection().executemany(
            "INSERT INTO sessions (agent, name, project, cwd, branch, model, title,"
            " created_ms, updated_ms, message_count, event_count, routes,"
            " root, created_by, forked_from, summary, work_name, state, outcome, work,"
            " own_name, fact_times)"
            " VALUES ('codex', ?, 'mill', '', '', '', ?, ?, ?, ?, 0, '',"
            " '', '', '', '', '', '', '', '', '', '')",
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


def session_list(app: MemtuiApp) -> SessionList:
    return app.screen.query_one(SessionList)


def titles(app: MemtuiApp) -> list[str]:
    sessions_by_place = session_list(app).sessions
    return [sessions_by_place[place].title for place in sorted(sessions_by_place)]


def heading(app: MemtuiApp) -> tuple[str, str]:
    title = app.screen.query_one(PaneTitle)
    return title.title, title.info


async def open_sessions(
    pilot: Pilot[str | MemtuiError], settle: Settle, *keys: str
) -> None:
    await settle(pilot)
    for key in ("s", *keys):
        await pilot.press(key)
        await settle(pilot)


async def test_newest_sessions_come_first_until_sorted(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_sessions(pilot, settle)
        newest = titles(app)
        assert len(newest) == 6
        assert heading(app) == ("Sessions, newest first", "6")
        await pilot.press("S")
        await settle(pilot)
        assert titles(app) == newest[::-1]
        keys: list[Callable[[int], object]] = [
            lambda at: (
                session_list(app).sessions[at].created_at
                - session_list(app).sessions[at].updated_at
            ),
            lambda at: -session_list(app).sessions[at].message_count,
            lambda at: session_list(app).sessions[at].title.lower(),
        ]
        for key in keys:
            await pilot.press("S")
            await settle(pilot)
            assert sorted(range(6), key=key) == [*range(6)], heading(app)  # type: ignore[arg-type]
        assert heading(app)[0] == "Sessions, by title"


async def test_session_has_state_and_outcome(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_sessions(pilot, settle)
        rows = session_list(app)
        works = [session.work for session in rows.sessions.values()]
        place = next(at for at, work in enumerate(works) if work.outcome)
        its = works[place]
        first = rows.render_line(place * ROW_LINES).text
        second = rows.render_line(place * ROW_LINES + 1).text
        header = str(app.screen.query_one("#columns", Static).visual)
        assert its.state and first[header.index("state") :].startswith(its.state)
        assert f"→ {its.outcome[:20]}" in second
        assert second.index(rows.sessions[place].project) == header.index("title")


@pytest.mark.journey
async def test_words_filter_sessions_and_escape_clears(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await open_sessions(pilot, settle, "slash", *"SHOP", "space", *"cla")
        assert heading(app)[1].endswith(" of 6")
        assert {session.project for session in session_list(app).sessions.values()} == {
            "shop"
        }
        await pilot.press(*" 100%_", "enter")
        await settle(pilot)
        assert session_list(app).has_focus and titles(app) == []
        said = str(app.screen.query_one("#nothing", Static).visual)
        assert said.startswith("No session matches “SHOP cla 100%_”.")
        await pilot.press("escape")
        await settle(pilot)
        assert len(titles(app)) == 6 and session_list(app).has_focus
        assert app.screen.query_one("#words", Input).value == ""
        await pilot.press("escape")
        assert isinstance(app.screen, ContentsScreen)


async def test_wide_screen_previews_the_selected_session(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(full_workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        for key in ("down", "end"):
            await pilot.press(key)
            await settle(pilot)
            session = session_list(app).current
            assert session is not None
            title = app.screen.query_one("#preview PaneTitle", PaneTitle)
            assert (title.title, title.info) == (session.title, session.project)
            card = app.screen.query_one("#preview Static", Static).visual
            assert isinstance(card, Stack)
            bullets = sessions.read_card(session.agent, session.session_id).bullets
            text = " ".join(card.lay_out(300).plain.split())
            assert bullets
            assert all(" ".join(line.text.split()) in text for line in bullets)
        await pilot.resize_terminal(119, 40)
        await settle(pilot)
        assert not app.screen.query_one("#preview").region
        assert session_list(app).size.width == 119


@pytest.mark.journey
async def test_enter_opens_the_filtered_session(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, look = threading.Event(), sessions.list_around

    def slow(listing: sessions.SessionQuery, *args: Any) -> sessions.SessionRange:
        if listing.words:
            go_on.wait(20)
        return look(listing, *args)

    monkeypatch.setattr(sessions, "list_around", slow)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_sessions(pilot, settle)
        first = session_list(app).sessions[0]
        await pilot.press("slash")
        await settle(pilot)
        keys = footer_keys(app)
        assert "enter" in keys and "esc" in keys and "/" not in keys
        for key in (*"logsift", "enter", "enter"):
            app.post_message(events.Key(key, None))
        while not session_list(app).has_focus:
            await pilot.pause()
        assert isinstance(app.screen, SessionsScreen)
        go_on.set()
        await settle(pilot)
        assert isinstance(app.screen, ReaderScreen)
        assert first.project != "logsift"
        assert app.screen.about and app.screen.about.session.project == "logsift"


async def test_only_visible_sessions_are_read(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store_sessions(20_000)
    read = 0
    ask = sessions.list_range

    def count(*args: object) -> sessions.SessionRange:
        nonlocal read
        rows = ask(*args)  # type: ignore[arg-type]
        read += len(rows.sessions)
        return rows

    monkeypatch.setattr(sessions, "list_range", count)
    app = app_of(full_workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_sessions(pilot, settle)
        assert heading(app)[1] == "20,006"
        await pilot.press("end")
        await settle(pilot)
        last = session_list(app).current
        assert last is not None and last.title.endswith("00000")
        for _ in range(3):
            await pilot.press("pageup")
            await settle(pilot)
        assert read <= 1_500
        at = session_list(app).current
        assert at is not None and "[b]" in at.title


async def test_new_events_do_not_move_cursor_or_scroll(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    store_sessions(900)
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_sessions(pilot, settle)
        await pilot.press(*["pagedown"] * 20, "up", "up")
        await settle(pilot)
        rows = session_list(app)
        before, row = rows.current, rows.cursor * ROW_LINES - rows.scroll_offset.y
        assert before is not None
        store_sessions(950, since=900)
        app.post_message(ProgressReported(PipelineProgress("")))
        while rows.total < 956:
            await settle(pilot)
        assert rows.current == before
        assert rows.cursor * ROW_LINES - rows.scroll_offset.y == row


async def test_slow_list_shows_that_it_is_loading(
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


async def test_unreadable_sessions_are_reported(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is full")

    async with app.run_test() as pilot:
        monkeypatch.setattr(sessions, "list_around", broken)
        await open_sessions(pilot, settle)
        said = str(app.screen.query_one("#nothing", Static).visual)
        assert said.startswith("✗ The sessions could not be read: the disk is full")
        monkeypatch.undo()
        while len(titles(app)) != 6:
            await settle(pilot)


async def test_unreadable_part_is_reported_and_read_again(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is away")

    store_sessions(2_000)
    app = app_of(full_workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_sessions(pilot, settle)
        monkeypatch.setattr(sessions, "list_range", broken)
        await pilot.press("end")
        await settle(pilot)
        rows = session_list(app)
        said = app.screen.query_one(PaneTitle).info
        assert said == "✗ not loaded: the disk is away"
        assert rows.current is None and rows.total == 2_006
        monkeypatch.undo()
        while rows.current is None:
            await settle(pilot)
        assert "Grain" in rows.render_line(4).text


def test_sorting_by_date_uses_an_index(full_workspace: Workspace) -> None:
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
    store_sessions(300)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await open_sessions(pilot, settle, *["down"] * 3)

    assert snap_compare(app_of(full_workspace), terminal_size=size, run_before=run)


def test_picture_of_nothing(
    workspace: Workspace, app_of: AppOf, settle: Settle, snap_compare: Compare
) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        await pilot.press("escape")
        await open_sessions(pilot, settle)
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
        await open_sessions(pilot, settle)

    assert snap_compare(app_of(full_workspace), terminal_size=(120, 40), run_before=run)
