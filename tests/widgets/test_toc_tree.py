"""Columns of the tree, bullets, and dates that are typed."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from rich.style import Style
from textual.content import Content

from memtui.model.calendar import TocLevel
from memtui.model.nodes import (
    DaySession,
    NodeCounts,
    NodeStatus,
    TocEntry,
)
from memtui.model.sessions import Session, SessionWork, WorkState
from memtui.tui import format
from memtui.tui.widgets.text_block import Paragraph
from memtui.tui.widgets.toc_tree import draw_line, draw_session, sparkline

IDS = {
    TocLevel.YEAR: "toc:year:2024",
    TocLevel.WEEK: "toc:week:2024-W03",
    TocLevel.DAY: "toc:day:2024-01-15",
    TocLevel.SEGMENT: "toc:segment:2024-01-15:01HM",
}
TODAY = date(2024, 1, 20)


def line(level: TocLevel, headline: str, *, is_live: bool = False) -> TocEntry:
    start = datetime(2024, 1, 15, 10, tzinfo=UTC)
    return TocEntry(
        IDS[level], level, "2024", headline, start, start + timedelta(days=1),
        NodeStatus.CURRENT, is_live, NodeCounts(segments=2000), 1, 0, 3,
        False, False, (), (), sessions=1204,
    )  # fmt: skip


def draw_row(row: TocEntry, width: int, *, is_open: bool = False) -> str:
    plain = Style()
    text = draw_line(
        row,
        width=width,
        zone=UTC,
        today=TODAY,
        is_expanded=is_open,
        color=lambda _: plain,
    )
    assert text.cell_len == width
    return text.plain


def test_row_fills_its_width() -> None:
    row_text = draw_row(line(TocLevel.YEAR, "Token refresh fixed"), 40)
    assert row_text == "2024  Token refresh fixed       1,204   "


def test_long_headline_is_cut() -> None:
    assert "…" in draw_row(line(TocLevel.DAY, "A headline that goes on and on"), 30)
    assert "…" in draw_row(line(TocLevel.DAY, "日本語の見出しはとても長いです"), 31)
    for width in range(16, 40):
        row_text = draw_row(
            line(TocLevel.DAY, "A headline that goes… on and on"), width
        )
        assert "……" not in row_text


def test_live_segment_has_a_mark() -> None:
    live = line(TocLevel.SEGMENT, "Now", is_live=True)
    row_text = draw_row(replace(live, is_by_model=True), 30)
    assert row_text.startswith("● 10:00  Now")
    assert row_text.endswith("~")


def test_collapsed_branch_shows_that_it_is_live() -> None:
    live = line(TocLevel.DAY, "Today", is_live=True)
    assert draw_row(live, 30).endswith("●")
    assert not draw_row(live, 30, is_open=True).endswith("●")


def test_sparkline_leaves_room_for_the_headline() -> None:
    busy = replace(line(TocLevel.YEAR, "Token refresh fixed"), activity=(1, 0, 4, 8))
    assert draw_row(busy, 50).endswith("fixed            ▂·▅█ 1,204   ")
    assert draw_row(busy, 30) == draw_row(replace(busy, activity=()), 30)
    full = replace(busy, headline="A headline that is longer than all it could have")
    assert "▂·▅█" in draw_row(full, 50) and "▂" not in draw_row(full, 47)
    assert sparkline((0, 0)) == sparkline((0, 7, 0)) == "", "nothing to compare"
    assert sparkline((0, 7, 7)) == "·██"


@pytest.mark.parametrize(
    ("status", "is_models", "mark"),
    [
        (NodeStatus.CURRENT, False, " "),
        (NodeStatus.CURRENT, True, "m"),
        (NodeStatus.STALE, True, "…"),
        (NodeStatus.PROVISIONAL, False, "○"),
    ],
)
def test_row_has_the_mark_of_its_author(
    status: NodeStatus, is_models: bool, mark: str
) -> None:
    row_text = replace(line(TocLevel.DAY, "A"), status=status, is_by_model=is_models)
    assert draw_row(row_text, 30)[-2] == mark


def test_pinned_node_is_not_marked_as_stale() -> None:
    own = replace(line(TocLevel.SEGMENT, "Then"), is_by_model=True)
    stale = replace(own, status=NodeStatus.STALE)
    assert draw_row(stale, 30).endswith("…~")
    assert draw_row(replace(stale, is_pinned=True), 30).endswith("m~")


def test_paragraph_has_a_hanging_indent() -> None:
    row = Paragraph(Content("✓ "), Content("one two three four five"), Content("2 ▸"))
    assert row.lay_out(20).plain.split("\n") == [
        "✓ one two three  2 ▸",
        "  four five",
    ]


def test_pending_row_says_so() -> None:
    waiting = replace(line(TocLevel.YEAR, ""), status=NodeStatus.PENDING)
    assert draw_row(waiting, 40) == "2024  not summarized yet        1,204   "
    empty = draw_row(replace(waiting, sessions=0), 40)
    assert empty == "2024  not summarized yet                "


def test_week_label_has_its_days() -> None:
    week = line(TocLevel.WEEK, "")
    waiting = replace(week, end_time=week.start_time)
    assert format.tree_label(waiting, UTC, TODAY) == "15–21 Jan"


def test_week_of_two_months_is_split() -> None:
    week = replace(line(TocLevel.WEEK, ""), node_id="toc:week:2026-W27")
    for month_id, days in (
        ("", "29 Jun – 5 Jul"),
        ("toc:month:2026-06", "29–30 Jun"),
        ("toc:month:2026-07", "1–5 Jul"),
    ):
        listed = replace(week, month_id=month_id)
        assert format.tree_label(listed, UTC, TODAY) == days


@pytest.mark.parametrize(
    ("today", "label"),
    [
        (date(2024, 1, 15), "Today, Mon 15 Jan"),
        (date(2024, 1, 16), "Yesterday, Mon 15 Jan"),
        (date(2024, 1, 17), "Mon 15 Jan"),
        (date(2024, 1, 14), "Mon 15 Jan"),
    ],
)
def test_today_and_yesterday_are_named(today: date, label: str) -> None:
    assert format.tree_label(line(TocLevel.DAY, ""), UTC, today) == label


def test_expanded_row_has_no_headline() -> None:
    day = line(TocLevel.DAY, "Token refresh fixed")
    assert draw_row(day, 40, is_open=True) == "Mon 15 Jan                      1,204   "


def session(*titles: str, state: str = "done", name: str = "") -> DaySession:
    segments = tuple(line(TocLevel.SEGMENT, title) for title in titles)
    session = Session(
        agent="codex",
        session_id="4f2a",
        project="shop",
        cwd="",
        branch="",
        title="",
        model="",
        created_at=segments[0].start_time,
        updated_at=segments[0].end_time,
        message_count=0,
        event_count=0,
        work=SessionWork(name or titles[0], WorkState(state)),
    )
    return DaySession("toc:day:2024-01-15", session, segments)


def draw_session_row(row: DaySession, width: int, *, has_projects: bool = False) -> str:
    plain = Style()
    text = draw_session(
        row,
        width=width,
        zone=UTC,
        is_expanded=False,
        has_projects=has_projects,
        color=lambda _: plain,
    )
    assert text.cell_len == width
    return text.plain


def test_time_name_project_and_state_are_columns() -> None:
    names = "Login fails", "Login fails after switching tabs", "Login"
    states = "answered", "done", "failed"
    rows = [
        draw_session_row(session(name, state=state), 64, has_projects=True)
        for name, state in zip(names, states, strict=True)
    ]
    assert rows == [
        "  10:00 Login fails                    shop         answered    ",
        "  10:00 Login fails after switching tabs            done        ",
        "  10:00 Login                          shop         failed      ",
    ]
    several = session("Login fails", "Login fails (continued)")
    assert draw_session_row(several, 40) == "10:00 Login fails           done        "
    assert "shop" not in draw_session_row(session("Login fails"), 64)


def test_long_name_leaves_time_and_state() -> None:
    row = session("Login fails… after switching tabs", state="abandoned")
    for width in range(26, 60):
        row_text = draw_session_row(row, width, has_projects=True)
        assert row_text.startswith("  10:00 Log")
        assert row_text.endswith(" abandoned   ")
        assert row_text.count("…") <= 2 and "……" not in row_text


def test_session_has_the_worst_marks_of_its_segments() -> None:
    row = session("First", "Second")
    first, second = row.segments
    made = replace(first, is_by_model=True, supported_count=3)
    good = replace(row, segments=(made, replace(made, node_id="toc:segment:x")))
    assert draw_session_row(good, 40).endswith(" done      m✓")
    weak = replace(made, supported_count=0, weak_count=1)
    assert draw_session_row(replace(row, segments=(made, weak)), 40).split()[-1] == "m~"
    stale = replace(second, status=NodeStatus.STALE)
    assert (
        draw_session_row(replace(row, segments=(made, stale)), 40).split()[-1][0] == "…"
    )
    live = replace(row, segments=(replace(second, is_live=True), first))
    assert draw_session_row(live, 40).endswith(" done       ●")
    assert draw_session_row(replace(live, segments=live.segments[:1]), 40)[0] == "●"
