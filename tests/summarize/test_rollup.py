"""Summaries of days, weeks, months and years, without a model."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.calendar import TocLevel
from memtui.model.nodes import BULLET_CHARS, BULLET_COUNTS, HEADLINE_CHARS, BulletKind
from memtui.model.sessions import PeriodWork, SessionWork, WorkState
from memtui.summarize.rollup import MAX_SOURCES, make_headline, summarize_period

LEVELS = [level for level in BULLET_COUNTS if level is not TocLevel.SEGMENT]
LONGER = [level for level in LEVELS if level is not TocLevel.DAY]


def work_of(
    name: str,
    *,
    project: str = "harbour",
    outcome: str = "",
    state: WorkState | None = WorkState.DONE,
    messages: int = 10,
    commits: int = 0,
    days: Sequence[str] = ("toc:day:2026-08-01",),
    start: int = 0,
) -> PeriodWork:
    described = SessionWork(name, state, outcome, (), f"n-{name}", f"o-{name}")
    return PeriodWork(
        "codex",
        f"s-{name}",
        project,
        described,
        messages,
        commits,
        tuple(days),
        start,
    )


def texts_of(level: TocLevel, works: Sequence[PeriodWork]) -> list[str]:
    return [bullet.text for bullet in summarize_period(level, works).bullets]


# Headlines


def test_a_headline_names_the_largest_sessions_first() -> None:
    works = [
        work_of("Read gzip", messages=4),
        work_of("Round invoices", messages=5, commits=2),
        work_of("Sort berths", messages=30),
    ]
    assert make_headline(works) == "Round invoices; Sort berths; Read gzip"


def test_a_name_that_does_not_fit_leaves_room_for_a_shorter_one() -> None:
    works = [
        work_of("a" * 80, messages=30),
        work_of("b" * 100, messages=20),
        work_of("c" * 78, messages=10),
    ]
    headline = make_headline(works)
    assert headline == f"{'a' * 80}; {'c' * 78}"
    assert len(headline) == HEADLINE_CHARS


def test_the_first_name_is_shortened_at_a_word() -> None:
    headline = make_headline([work_of("moor " * 60)])
    assert headline.endswith("moor…")
    assert HEADLINE_CHARS - 5 <= len(headline) <= HEADLINE_CHARS


def test_a_name_of_several_sessions_stands_once_and_none_is_left_out() -> None:
    works = [work_of("Read gzip"), work_of("Read gzip"), work_of("")]
    assert make_headline(works) == "Read gzip"
    assert make_headline([]) == ""


# Days


def test_a_day_has_a_line_for_each_session_in_order_of_time() -> None:
    works = [
        work_of("Read gzip", outcome="Timetables load.", start=1),
        work_of("Explain tides", state=WorkState.ANSWERED, messages=90, start=2),
        work_of("Moor ferries", state=None, start=3),
    ]
    assert texts_of(TocLevel.DAY, works) == [
        "Read gzip — Timetables load. (done)",
        "Explain tides",
        "Moor ferries",
    ]


def test_an_outcome_that_names_a_session_is_not_repeated() -> None:
    works = [work_of("The tide turned…", outcome="The tide turned at noon, as always.")]
    assert texts_of(TocLevel.DAY, works) == ["The tide turned… (done)"]


def test_projects_are_named_if_a_day_has_several() -> None:
    works = [work_of("Read gzip"), work_of("Round", project="shop")]
    assert texts_of(TocLevel.DAY, [*works, work_of("Rest", project="")]) == [
        "harbour: Read gzip (done)",
        "shop: Round (done)",
        "Rest (done)",
    ]


def test_the_smallest_sessions_of_a_day_are_counted() -> None:
    works = [work_of(f"Work {n}", messages=n, start=n) for n in range(40)]
    summary = summarize_period(TocLevel.DAY, works)
    *largest, more = summary.bullets
    assert [bullet.text for bullet in largest] == [
        f"Work {n} (done)" for n in range(33, 40)
    ]
    assert (more.text, more.kind) == ("and 33 more sessions", BulletKind.MORE)
    assert more.event_ids[:2] == ("o-Work 32", "n-Work 32")


def test_as_many_sessions_as_fit_are_all_listed() -> None:
    most = BULLET_COUNTS[TocLevel.DAY][1]
    works = [work_of(f"Work {n}") for n in range(most + 1)]
    assert all(text.startswith("Work") for text in texts_of(TocLevel.DAY, works[:-1]))
    assert texts_of(TocLevel.DAY, works)[-1] == "and 2 more sessions"


def test_an_outcome_is_shortened_and_a_mere_beginning_is_left_out() -> None:
    long = "The ferry waits for the tide. " * 9
    (text,) = texts_of(TocLevel.DAY, [work_of("Moor", outcome=long)])
    assert text.endswith("… (done)") and len(text) <= BULLET_CHARS
    (text,) = texts_of(TocLevel.DAY, [work_of("x" * 210, outcome=long)])
    assert text == f"{'x' * 210} (done)"


def test_a_line_of_a_day_is_linked_to_its_session() -> None:
    (bullet,) = summarize_period(TocLevel.DAY, [work_of("Moor")]).bullets
    assert bullet.kind is BulletKind.WORK
    assert bullet.session_id == "s-Moor"
    assert bullet.event_ids == ("o-Moor", "n-Moor")


# Longer periods


@pytest.mark.parametrize("level", LONGER)
def test_a_longer_period_has_counts_and_names_of_each_project(level: TocLevel) -> None:
    friday, saturday = "toc:day:2026-07-31", "toc:day:2026-08-01"
    works = [
        work_of("Round", project="shop", messages=5, days=[friday]),
        work_of("Read gzip", messages=4, commits=1, days=[friday, saturday]),
        work_of("Moor ferries", messages=40, commits=2, days=[saturday]),
    ]
    summary = summarize_period(level, works)
    assert summary.title == "Moor ferries; Read gzip; Round"
    assert [(bullet.project, bullet.text) for bullet in summary.bullets] == [
        ("harbour", "2 sessions on 2 days, 3 commits: Moor ferries; Read gzip"),
        ("shop", "1 session: Round"),
    ]


def test_a_line_of_a_project_is_linked_to_its_largest_sessions() -> None:
    works = [work_of(f"Work {n}", messages=n) for n in range(9)]
    (bullet,) = summarize_period(TocLevel.WEEK, works).bullets
    assert bullet.kind is BulletKind.PROJECT and bullet.session_id == ""
    assert len(bullet.event_ids) == 2 * MAX_SOURCES
    assert bullet.event_ids[:3] == ("o-Work 8", "n-Work 8", "o-Work 7")


def test_sessions_without_a_name_are_only_counted() -> None:
    assert texts_of(TocLevel.WEEK, [work_of(""), work_of("")]) == ["2 sessions"]


# All periods


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("count", [1, 2, 9, 40])
@pytest.mark.parametrize("projects", [1, 2, 9, 40])
def test_every_line_fits_and_has_its_events(
    level: TocLevel, count: int, projects: int
) -> None:
    works = [
        work_of(
            f"Moor the ferry at berth {n} " * (1 + n % 5),
            project=f"project-{n % projects}",
            outcome="It waits for the tide. " * (n % 12),
            messages=n,
            start=n,
        )
        for n in range(count)
    ]
    summary = summarize_period(level, works)
    most = BULLET_COUNTS[level][1]
    lines = count if level is TocLevel.DAY else min(count, projects)
    assert len(summary.bullets) == min(lines, most)
    assert 0 < len(summary.title) <= HEADLINE_CHARS
    for bullet in summary.bullets:
        assert len(bullet.text) <= BULLET_CHARS
        assert bullet.event_ids
    more = [b.text for b in summary.bullets if b.kind is BulletKind.MORE]
    if lines > most:
        kind = "session" if level is TocLevel.DAY else "project"
        assert more == [f"and {lines - most + 1} more {kind}s"]
    else:
        assert not more


@given(
    st.lists(
        st.builds(
            work_of,
            st.sampled_from(["Moor", "Sort the berths" * 10]),
            project=st.sampled_from(["a", "b", ""]),
            outcome=st.sampled_from(["", "It waits.", "It waits long. " * 20]),
            state=st.sampled_from([None, *WorkState]),
            messages=st.integers(0, 9),
            commits=st.integers(0, 3),
            start=st.integers(0, 9),
        ),
        max_size=12,
    ),
    st.sampled_from(LEVELS),
)
def test_composed_lines_have_no_quotation_marks_and_keep_within_bounds(
    works: list[PeriodWork], level: TocLevel
) -> None:
    works = [replace(work, session_id=f"s{n}") for n, work in enumerate(works)]
    summary = summarize_period(level, works)
    assert len(summary.bullets) <= BULLET_COUNTS[level][1]
    for text in [summary.title, *(bullet.text for bullet in summary.bullets)]:
        assert len(text) <= BULLET_CHARS
        assert text == text.strip()
        assert not re.search('["“”«»„‘’]', text)
