"""Columns of the tree, bullets, and dates that are typed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.style import Style
from textual.content import Content

from memtui.model.nodes import NodeCounts, NodeStatus, TocEntry, TocLevel
from memtui.tui import format
from memtui.tui.widgets.text_block import Paragraph
from memtui.tui.widgets.toc_tree import draw_line, sparkline


def line(level: TocLevel, headline: str, *, is_live: bool = False) -> TocEntry:
    start = datetime(2024, 1, 15, 10, tzinfo=UTC)
    return TocEntry(
        "id", level, "2024", headline, start, start + timedelta(days=1),
        NodeStatus.CURRENT, is_live, NodeCounts(segments=1204), 1, 0, 3,
        False, False, (), (),
    )  # fmt: skip


def drawn(row: TocEntry, width: int, *, is_open: bool = False) -> str:
    plain = Style()
    text = draw_line(
        row, width=width, zone=UTC, is_expanded=is_open, color=lambda _: plain
    )
    assert text.cell_len == width
    return text.plain


def test_a_line_fills_its_width_with_name_headline_count_and_mark() -> None:
    told = drawn(line(TocLevel.YEAR, "Token refresh fixed"), 40)
    assert told == "2024  Token refresh fixed       1,204   "


def test_a_long_or_wide_headline_is_cut_to_the_column() -> None:
    assert "…" in drawn(line(TocLevel.DAY, "A headline that goes on and on"), 30)
    assert "…" in drawn(line(TocLevel.DAY, "日本語の見出しはとても長いです"), 31)
    for width in range(16, 40):
        told = drawn(line(TocLevel.DAY, "A headline that goes… on and on"), width)
        assert "……" not in told


def test_a_live_segment_has_its_mark_before_the_time() -> None:
    live = line(TocLevel.SEGMENT, "Now", is_live=True)
    told = drawn(replace(live, is_by_model=True), 30)
    assert told.startswith("● 10:00  Now")
    assert told.endswith("~")


def test_a_folded_branch_says_that_something_in_it_is_live() -> None:
    live = line(TocLevel.DAY, "Today", is_live=True)
    assert drawn(live, 30).endswith("●")
    assert not drawn(live, 30, is_open=True).endswith("●")


def test_a_spark_stands_before_the_count_where_the_headline_keeps_its_room() -> None:
    busy = replace(line(TocLevel.YEAR, "Token refresh fixed"), activity=(1, 0, 4, 8))
    assert drawn(busy, 50).endswith("fixed            ▂·▅█ 1,204   ")
    assert drawn(busy, 30) == drawn(replace(busy, activity=()), 30)
    full = replace(busy, headline="A headline that is longer than all it could have")
    assert "▂·▅█" in drawn(full, 50) and "▂" not in drawn(full, 47)
    assert sparkline((0, 0)) == "··"


@pytest.mark.parametrize(
    ("status", "is_models", "mark"),
    [
        (NodeStatus.CURRENT, False, " "),
        (NodeStatus.CURRENT, True, "m"),
        (NodeStatus.STALE, True, "…"),
        (NodeStatus.PROVISIONAL, False, "○"),
    ],
)
def test_who_wrote_a_line_or_that_it_will_change_has_a_column(
    status: NodeStatus, is_models: bool, mark: str
) -> None:
    told = replace(line(TocLevel.DAY, "A"), status=status, is_by_model=is_models)
    assert drawn(told, 30)[-2] == mark


def test_what_is_pinned_is_not_said_to_be_brought_up_to_date() -> None:
    own = replace(line(TocLevel.SEGMENT, "Then"), is_by_model=True)
    stale = replace(own, status=NodeStatus.STALE)
    assert drawn(stale, 30).endswith("…~")
    assert drawn(replace(stale, is_pinned=True), 30).endswith("m~")


def test_a_paragraph_hangs_under_itself_clear_of_its_end() -> None:
    row = Paragraph(Content("✓ "), Content("one two three four five"), Content("2 ▸"))
    assert row.lay_out(20).plain.split("\n") == [
        "✓ one two three  2 ▸",
        "  four five",
    ]


def test_a_line_not_summed_up_yet_says_so_and_counts_what_it_knows() -> None:
    waiting = replace(line(TocLevel.YEAR, ""), status=NodeStatus.PENDING)
    assert drawn(waiting, 40) == "2024  not summarized yet        1,204   "
    empty = drawn(replace(waiting, counts=NodeCounts()), 40)
    assert empty == "2024  not summarized yet                "


def test_a_week_ends_where_the_calendar_ends_it() -> None:
    week = line(TocLevel.WEEK, "")
    waiting = replace(week, end_time=week.start_time)
    assert format.tree_label(waiting, UTC) == "15–21 Jan"
