"""Dates in a query are separated from its words."""

from datetime import UTC, datetime, timedelta

import pytest

from memtui.search.query import MAX_PERIODS, parse_with_dates
from memtui.workspace import Workspace

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_repeated_date_is_one_period() -> None:
    assert len(parse_with_dates("last week " * 900, NOW, UTC).periods) == 1
    days = " ".join(f"2025-03-{day:02}" for day in range(1, 31))
    assert len(parse_with_dates(days, NOW, UTC).periods) == MAX_PERIODS


def test_date_is_separated_from_the_words() -> None:
    query = parse_with_dates("what did we decide about retries last week", NOW, UTC)
    assert query.text.split() == ["what", "did", "we", "decide", "about", "retries"]
    assert query.covers(NOW - timedelta(days=7))
    assert not query.covers(NOW)


def test_dates_in_quotes_and_filters_are_not_read() -> None:
    for text in ('"last week"', "after:2025-03", 'project:"in May 2024"'):
        assert parse_with_dates(f"retries {text}", NOW, UTC).periods == ()


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("after:yesterday token", "after:2026-11-20 token"),
        ("before:last week token", "before:2026-11-09 token"),
        ('x before:"last week"', "x before:2026-11-09"),
        ("after:3 days ago y", "after:2026-11-18 y"),
        ("after:2025-03 z", "after:2025-03 z"),
        ("after:nonsense", "after:nonsense"),
        ('"after:yesterday"', '"after:yesterday"'),
    ],
)
def test_words_for_a_date_in_a_filter_become_a_date(typed: str, text: str) -> None:
    query = parse_with_dates(typed, NOW, UTC)
    assert (query.text, query.periods) == (text, ())


def test_sentence_says_whether_a_hit_lies_in_the_period() -> None:
    query = parse_with_dates("retries yesterday", NOW, UTC)
    (sentence,) = query.describe_periods([NOW])
    assert sentence.endswith("has nothing that answers.")
    (sentence,) = query.describe_periods([NOW, NOW - timedelta(days=1)])
    assert sentence.endswith("comes first.")


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("jan 15, 2024", "toc:day:2024-01-15"),
        ("2024-W03", "toc:week:2024-W03"),
        ("january 2024", "toc:month:2024-01"),
        ("what was I doing on january 15, 2024", "toc:day:2024-01-15"),
        ("what did we do 15 january 2024", "toc:day:2024-01-15"),
        ("summary of january 2024", "toc:month:2024-01"),
        ("work from january 2024", "toc:month:2024-01"),
        ("sessions on 2024-01-15", "toc:day:2024-01-15"),
    ],
)
def test_question_about_a_period_lists_its_page(
    full_workspace: Workspace, typed: str, page: str
) -> None:
    for result in (
        full_workspace.search.find(typed),
        full_workspace.teleport.find(typed),
    ):
        assert result.is_recent
        assert result.hits[0].node_id == page


@pytest.mark.parametrize("typed", ["fix on 2024-01-15", "token on 2024-01-15"])
def test_other_words_beside_a_date_are_searched(
    full_workspace: Workspace, typed: str
) -> None:
    assert not full_workspace.search.find(typed).is_recent


@pytest.mark.parametrize(
    ("typed", "is_date"), [("july", True), ("2000", False), ("july release", False)]
)
def test_month_alone_is_a_date_and_a_number_is_not(
    typed: str, *, is_date: bool
) -> None:
    assert bool(parse_with_dates(typed, NOW, UTC).periods) == is_date
