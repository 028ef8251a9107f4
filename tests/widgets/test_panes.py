"""The title of a pane drops whole words and parts when it is narrow; its scroll bar."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from memtui.tui.widgets import panes

TITLE = "Token refresh fixed; the callback still fails"
INFO = "4 segments · ~210 tokens"


@pytest.mark.parametrize(
    ("width", "title", "info"),
    [
        (76, TITLE, INFO),
        (60, "Token refresh fixed; the…", INFO),
        (44, "Token refresh fixed; the…", "4 segments"),
        (30, "Token refresh fixed; the…", ""),
        (12, "Token…", ""),
    ],
)
def test_title_keeps_whole_words_and_info_whole_parts(
    width: int, title: str, info: str
) -> None:
    assert panes.fit_title(TITLE, INFO, width) == (title, info)


def test_long_word_is_cut() -> None:
    title = panes.fit_title("/srv/attic/session.jsonl", "", 16)
    assert title == ("/srv/attic/…", "")


class PaneApp(App[None]):
    def compose(self) -> ComposeResult:
        with panes.DetailPane():
            yield Static()


async def test_bar_that_comes_back_is_where_the_text_is() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        pane, text = app.query_one(panes.DetailPane), app.query_one(Static)
        text.update("line\n" * 30)
        await pilot.pause()
        pane.scroll_to(y=12, animate=False)
        await pilot.pause()
        assert pane.vertical_scrollbar.position == 12
        for lines in (2, 30):
            text.update("line\n" * lines)
            await pilot.pause()
        assert pane.scroll_y == 0
        assert pane.vertical_scrollbar.position == 0
