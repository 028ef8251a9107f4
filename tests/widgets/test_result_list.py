"""Rows of the search bar at any width, with any text."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.hit import Hit, HitKind, Snippet
from memtui.model.sessions import SessionWork
from memtui.search.teleport import merge_repeated
from memtui.tui.widgets.result_list import (
    MARKED,
    ResultRow,
    format_when,
    hit_title,
)
from memtui.tui.widgets.source_pane import JumpTarget
from tests.screens.search_results import (
    FINDINGS,
    LONG,
    MESSAGES,
    marked,
    message,
    message_hit,
    node,
    session,
)

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
FIRST = FINDINGS.hits[0]


def draw(hit: Hit, width: int, lines: int = 2) -> Content:
    return ResultRow(hit, "yesterday 09:41", 17, lines=lines).lay_out(width)


def from_user(snippet: Snippet) -> Hit:
    """Return the first hit as a message of the user with another snippet."""
    return replace(
        FIRST, kind=HitKind.MESSAGE, event=message("Hello."), snippet=snippet
    )


def marked_texts(row: Content) -> list[str]:
    return [row.plain[s.start : s.end] for s in row.spans if s.style == MARKED]


@pytest.mark.parametrize("hit", [*FINDINGS.hits, *MESSAGES.hits], ids=hit_title)
def test_rows_fit_any_width(hit: Hit) -> None:
    for width in (*range(1, 40), 66, 78, 138):
        for row in draw(hit, width).split():
            assert row.cell_length <= width


@given(st.text(max_size=400), st.integers(0, 399), st.integers(1, 20))
def test_any_text_is_drawn_with_its_marks(text: str, start: int, size: int) -> None:
    marks = ((start, start + size),) if start + size <= len(text) else ()
    hit = from_user(Snippet(text, marks))
    hit = replace(hit, session=session(work=SessionWork(text)))
    row = draw(hit, 66)
    assert len(row.split()) <= 4
    assert row.plain.replace("\n", "").isprintable()
    assert len(marked_texts(row)) <= 2 * len(marks)


def test_deep_match_is_visible() -> None:
    for lead in ("word " * 200, "评审会议" * 60, "x" * 500):
        text = f"{lead} the needle and what follows it {lead}"
        hit = from_user(marked(text, "needle"))
        for width, lines in ((66, 1), (66, 2), (136, 2), (30, 1)):
            row = draw(hit, width, lines)
            assert marked_texts(row) == ["needle"]
            assert "…" in row.plain


def test_line_breaks_and_indents_are_collapsed() -> None:
    text = "def renew(session):\n\n        return\t600\n"
    row = draw(from_user(marked(text, "return", "600")), 66)
    assert "you      def renew(session): return 600" in row.plain
    assert marked_texts(row) == ["return", "600"]


def test_markup_is_text() -> None:
    text = draw(FINDINGS.hits[2], 138).plain
    assert "[/b] 评审会议 list[int]" in text and "[red]x[/red]" in text


def test_matching_title_is_marked_and_not_repeated() -> None:
    row = draw(replace(FIRST, snippet=marked(hit_title(FIRST), "logged")), 66)
    assert row.plain.count("logged") == 1
    assert marked_texts(row) == ["logged"]


@pytest.mark.parametrize("width", [66, 78, 138])
def test_row_shows_outcome_and_further_matches(
    width: int,
) -> None:
    first, *others = draw(FIRST, width).plain.splitlines()
    assert "  Customers are logged out while" in first
    assert first.endswith("  pushed") and len(first) == width
    text = "\n".join(others)
    assert "→ Every request renews the session" in text
    assert "+38 in this session · excellent" in text
    # Not again what is shown anyway; nor where there are few lines.
    assert FIRST.session is not None
    outcome = FIRST.session.work.outcome
    repeated = from_user(Snippet(f"Yes. {outcome}"))
    assert "→" not in draw(repeated, width).plain
    assert "→" not in draw(FIRST, width, lines=1).plain
    # Without a state the row says what was found.
    assert draw(FINDINGS.hits[1], width).plain.splitlines()[0].endswith("  message")


def test_neighbors_are_shown_if_there_is_room() -> None:
    hit = MESSAGES.hits[0]
    assert "┃" in draw(hit, 66).plain
    assert "Why am I logged out" in draw(hit, 66).plain
    assert "Why am I logged out" not in draw(hit, 78, lines=1).plain


def test_message_has_its_speaker() -> None:
    row = draw(message_hit(LONG, subagent="a1"), 138).plain
    assert "claude   …" in row or "claude   We" in row
    assert "subagent a1" in row


@pytest.mark.parametrize(
    ("level", "at", "words"),
    [
        (None, "2024-03-01T09:30", "today 09:30"),
        (None, "2024-02-29T09:30", "yesterday 09:30"),
        (None, "2024-01-18T10:00", "Thu 18 Jan 10:00"),
        (None, "2023-01-18T10:00", "18 Jan 2023 10:00"),
        (TocLevel.DAY, "2024-02-29T00:00", "yesterday"),
        (TocLevel.WEEK, "2024-01-15T00:00", "week of 15 Jan"),
        (TocLevel.WEEK, "2023-01-16T00:00", "week of 16 Jan 2023"),
        (TocLevel.MONTH, "2024-01-01T00:00", "January 2024"),
        (TocLevel.YEAR, "2024-01-01T00:00", "2024"),
    ],
)
def test_recent_times_are_short(level: TocLevel | None, at: str, words: str) -> None:
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    hit = replace(FIRST, at=moment)
    if level is not None:
        entry = replace(node("toc:day:2024-02-29", ""), level=level)
        hit = replace(hit, kind=HitKind.NODE, session=None, node=entry)
    assert format_when(hit, NOW, UTC) == words


def test_excerpt_is_the_matching_line() -> None:
    text = "Hello.\n\nThe session is over.\nGoodbye."
    landing = JumpTarget("", event_id="x", snippet=marked(text, "session", "over"))
    assert landing.excerpt == "The session is over."
    assert {"session", "over"} <= {*landing.matched}


def test_recent_hit_has_no_band() -> None:
    row = ResultRow(FIRST, "yesterday 09:41", 17, lines=2, has_score=False)
    assert "excellent" not in row.lay_out(78).plain


SEGMENT = "toc:segment:2024-01-15:01HM0000000000000000000000"


def node_hit(
    node_id: str,
    text: str,
    score: float,
    kind: HitKind = HitKind.NODE,
    *,
    title: str = "",
) -> Hit:
    level = calendar.period(node_id).level
    at = datetime(2024, 1, 15, tzinfo=UTC)
    entry = replace(node(node_id, title), level=level)
    grip_id = "grip:1:00" if kind is HitKind.GRIP else ""
    return Hit(kind, None, entry, None, at, Snippet(text), score, grip_id)


def test_repeated_line_has_the_best_rank() -> None:
    week, month = "toc:week:2024-W03", "toc:month:2024-01"
    hits = [
        node_hit("toc:day:2024-02-20", "Other.", 0.9),
        node_hit(week, "The timeout was 600.", 0.8),
        node_hit(SEGMENT, "The timeout was 600.", 0.7),
        node_hit(SEGMENT, "The timeout was 600.", 0.6, HitKind.GRIP),
        node_hit(month, "The timeout was 600.", 0.5),
        node_hit("toc:day:2024-02-20", "The timeout was 600.", 0.4),
    ]
    merged = [
        (merged_hit.node_id, merged_hit.score, merged_hit.also)
        for merged_hit in merge_repeated(hits)
    ]
    assert merged == [
        ("toc:day:2024-02-20", 0.9, ()),
        (SEGMENT, 0.8, ("week", "month")),
        (SEGMENT, 0.6, ()),
        ("toc:day:2024-02-20", 0.4, ()),
    ]


def test_only_the_best_of_equal_sources_is_listed() -> None:
    grip = HitKind.GRIP
    hits = [
        node_hit(SEGMENT, "The timeout was 600.", 0.8, grip),
        node_hit(SEGMENT, "The timeout\nwas 600…", 0.7, grip),
        node_hit("toc:day:2024-02-20", "The timeout was 600.", 0.6, grip),
    ]
    assert [merged_hit.score for merged_hit in merge_repeated(hits)] == [0.8, 0.6]
