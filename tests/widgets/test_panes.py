"""The title of a pane drops whole words and parts when it is narrow."""

import pytest

from memtui.tui.screens import base
from memtui.tui.widgets import panes

WHAT = "Token refresh fixed; the callback still fails"
MEASURE = "4 segments · ~210 tokens"


@pytest.mark.parametrize(
    ("room", "what", "measure"),
    [
        (76, WHAT, MEASURE),
        (60, "Token refresh fixed; the…", MEASURE),
        (44, "Token refresh fixed; the…", "4 segments"),
        (30, "Token refresh fixed; the…", ""),
        (12, "Token…", ""),
    ],
)
def test_a_title_keeps_whole_words_and_whole_parts(
    room: int, what: str, measure: str
) -> None:
    assert panes.fit_title(WHAT, MEASURE, room) == (what, measure)


def test_one_long_word_is_cut_where_the_room_ends() -> None:
    shown = panes.fit_title("/srv/attic/session.jsonl", "", 16)
    assert shown == ("/srv/attic/…", "")


def test_what_matters_least_leaves_the_line_of_keys_first() -> None:
    sizes = [(1, 10), (6, 10), (2, 6), (6, 6), (0, 10), (0, 6)]
    assert base.fit_keys(sizes, 58) == [0, 1, 2, 3, 4, 5]
    assert base.fit_keys(sizes, 57) == [0, 1, 2, 4, 5]
    assert base.fit_keys(sizes, 49) == [0, 2, 4, 5]
    assert base.fit_keys(sizes, 1) == [4, 5]
