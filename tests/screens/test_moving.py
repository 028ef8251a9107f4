"""Keys that move by half a page, and to the first and last line, on every screen."""

import pytest
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import OptionList

from memtui.errors import MemtuiError
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.calendar import CalendarScreen, DayGrid
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.dialogs import DateScreen
from memtui.tui.screens.sessions import ROW_LINES, SessionList
from memtui.tui.widgets.toc_tree import TocTree
from memtui.tui.widgets.transcript_view import TranscriptView
from tests.pilots import Settle, press

SIZE = (80, 16)
ON_SCREENS = {
    "contents": ("home", "asterisk"),
    "sessions": ("s",),
    "a session": ("s", "S", "S", "S", "enter"),
    "a page": ("home", "enter"),
    "help": ("question_mark",),
}


def place(pilot: Pilot[str | MemtuiError]) -> int:
    """Return the line of the cursor, or that at the top of a page."""
    match pilot.app.focused:
        case TocTree() as tree:
            return tree.cursor_line
        case SessionList() as sessions:
            return sessions.cursor
        case TranscriptView() as transcript:
            return transcript.scroll_offset.y
        case OptionList() as options:
            return options.highlighted or 0
        case VerticalScroll() as pane:
            return pane.scroll_offset.y
        case focused:
            raise AssertionError(focused)


def height(pilot: Pilot[str | MemtuiError]) -> int:
    assert pilot.app.focused is not None
    return pilot.app.focused.size.height


@pytest.mark.journey(only="contents")
@pytest.mark.parametrize("keys", ON_SCREENS.values(), ids=ON_SCREENS)
async def test_half_pages_and_ends(
    app: MemtuiApp, settle: Settle, keys: tuple[str, ...]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, *keys)
        await press(pilot, settle, "home")
        first = place(pilot)
        await press(pilot, settle, "ctrl+d")
        half = place(pilot)
        assert first < half <= first + (height(pilot) + 1) // 2
        await press(pilot, settle, "ctrl+u")
        assert place(pilot) == first
        await press(pilot, settle, "end")
        last = place(pilot)
        assert last >= half
        await press(pilot, settle, "ctrl+d")
        assert place(pilot) == last
        await press(pilot, settle, "g", "g")
        assert place(pilot) == first
        await press(pilot, settle, "G")
        assert place(pilot) == last


@pytest.mark.parametrize(
    "keys",
    [(), ("s",), ("s", "S", "S", "S", "enter"), ("home", "A")],
    ids=["contents", "sessions", "session", "claims"],
)
async def test_cursor_stays_in_view_on_resize(
    app: MemtuiApp, settle: Settle, keys: tuple[str, ...]
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, *keys, "end")
        await pilot.resize_terminal(120, 12)
        await settle(pilot)
        rows = pilot.app.focused
        match rows:
            case TocTree():
                line = rows.cursor_line
            case SessionList():
                line = rows.cursor * ROW_LINES
            case TranscriptView():
                assert rows.cursor_index is not None
                line = rows.buffer.body(rows.cursor_index)
            case OptionList():
                line = rows._index_to_line[rows.highlighted or 0]
            case _:
                raise AssertionError(rows)
        assert line >= rows.size.height
        assert 0 <= line - rows.scroll_offset.y < rows.size.height


@pytest.mark.journey
async def test_second_g_takes_the_dialog_of_the_first_back(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "asterisk", "end", "g")
        assert isinstance(pilot.app.screen, DateScreen)
        await press(pilot, settle, "g")
        assert isinstance(pilot.app.screen, ContentsScreen)
        assert place(pilot) == 0
        await press(pilot, settle, "end")
        await pilot.press("g", "g")  # The dialog may not be open before the second.
        await settle(pilot)
        assert isinstance(pilot.app.screen, ContentsScreen)
        assert place(pilot) == 0
        await press(pilot, settle, "c")
        days = pilot.app.screen.query_one(DayGrid)
        last = days.cursor
        await press(pilot, settle, "g", "g")
        assert isinstance(pilot.app.screen, CalendarScreen)
        assert days.span is not None
        assert days.cursor == days.span[0] < last


async def test_g_twice_in_a_long_time_is_no_sequence(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.tui.app.SEQUENCE_S", 0.0)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "end")
        last = place(pilot)
        await press(pilot, settle, "g", "g")
        assert place(pilot) == last > 0
