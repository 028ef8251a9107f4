"""The title of a pane drops whole words and parts when it is narrow."""

import pytest

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
