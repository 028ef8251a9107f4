"""The activity of a day as a glyph."""

from memtui.tui import themes
from memtui.tui.screens.calendar import GLYPHS, ActivityScale


def test_each_level_has_a_quarter_of_the_days() -> None:
    steps = ActivityScale.from_counts(range(1, 101))
    assert [steps.level(count) for count in (1, 25, 26, 51, 76, 100)] == [
        1,
        1,
        2,
        3,
        4,
        4,
    ]
    assert steps.ranges() == [
        (0, "none"),
        (1, "1–25"),
        (2, "26–50"),
        (3, "51–75"),
        (4, "76 or more"),
    ]


def test_equal_days_have_one_level() -> None:
    steps = ActivityScale.from_counts([7, 7, 7])
    assert steps.level(7) == 4
    assert steps.ranges() == [(0, "none"), (1, "1–6"), (4, "7 or more")]
    assert ActivityScale.from_counts([]).ranges() == [(0, "none"), (4, "1 or more")]


def test_levels_are_distinct_without_colors() -> None:
    assert len({themes.to_ascii(glyph, "ascii") for glyph in GLYPHS}) == 5
