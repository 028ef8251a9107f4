"""Dates, durations and ages as they are shown."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.text import date_format, dates

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


def test_there_is_one_style_of_dates() -> None:
    at = datetime(2026, 8, 1, 9, 30, tzinfo=UTC)
    assert date_format.day(at.date()) == "Sat 1 Aug 2026"
    assert date_format.clock(at, UTC) == "09:30"
    assert date_format.moment(at, UTC) == "Sat 1 Aug 2026 09:30"
    assert date_format.iso_minute(at, UTC) == "2026-08-01 09:30"
    later = at + timedelta(hours=1)
    assert date_format.hours(at, later) == "Sat 1 Aug 2026, 09:30–10:30"
    assert date_format.hours(at, at) == "Sat 1 Aug 2026, 09:30"


def test_a_day_near_today_is_short() -> None:
    today = date(2026, 8, 3)
    days = [today, date(2026, 8, 2), date(2026, 8, 1), date(2025, 8, 1)]
    formatted = [date_format.near_day(day, today) for day in days]
    assert formatted == ["today", "yesterday", "Sat 1 Aug", "1 Aug 2025"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (date(2026, 7, 27), date(2026, 8, 2), "27 Jul – 2 Aug"),
        (date(2026, 8, 3), date(2026, 8, 9), "3–9 Aug"),
        (date(2026, 8, 31), date(2026, 8, 31), "31 Aug"),
    ],
)
def test_a_range_of_days_is_short(first: date, last: date, expected: str) -> None:
    assert date_format.days(first, last) == expected


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (-1, "<1m"),
        (0, "<1m"),
        (0.9, "<1m"),
        (12.5, "12m"),
        (236, "3h 56m"),
        (60, "1h 0m"),
        (52 * 60, "2d 4h"),
        (24 * 60 * 30, "30d"),
    ],
)
def test_a_duration_has_at_most_two_units(minutes: float, expected: str) -> None:
    assert date_format.duration(timedelta(minutes=minutes)) == expected


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(hours=2), "2 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=20), "3 weeks ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(seconds=-5), "in the future"),
    ],
)
def test_an_age_has_one_unit(before: timedelta, words: str) -> None:
    assert date_format.age(NOW - before, NOW) == words


@pytest.mark.parametrize("days", [2, 8, 20, 45, 70, 526, 800])
def test_the_age_of_a_day_is_that_of_a_time_on_it(days: int) -> None:
    said = date_format.age(NOW - timedelta(days=days), NOW)
    assert date_format.day_age(NOW.date() - timedelta(days=days), NOW.date()) == said


@pytest.mark.parametrize(
    ("back", "said"),
    [
        (timedelta(days=-2), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=3), "3 hours ago"),
        (timedelta(hours=13), "yesterday"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=7), "last week"),
        (timedelta(days=11), "last week"),
        (timedelta(days=12), "2 weeks ago"),
        (timedelta(days=20), "3 weeks ago"),
        (timedelta(days=28), "last month"),
        (timedelta(days=31), "4 weeks ago"),
        (timedelta(days=45), "6 weeks ago"),
        (timedelta(days=100), "3 months ago"),
        (timedelta(days=400), "last year"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(days=1000), "3 years ago"),
    ],
)
def test_an_age_is_written_in_words(back: timedelta, said: str) -> None:
    assert date_format.calendar_age(NOW - back, NOW, UTC) == said


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime(2026, 11, 27, 0, 15, tzinfo=UTC), "13 minutes ago"),
        (datetime(2026, 11, 26, 23, 50, tzinfo=UTC), "yesterday"),
        (datetime(2026, 11, 20, 12, 0, tzinfo=UTC), "7 days ago"),
    ],
)
def test_an_age_beside_a_date_is_in_calendar_days(at: datetime, said: str) -> None:
    now = datetime(2026, 11, 27, 0, 28, tzinfo=UTC)
    assert date_format.near_age(at, now, UTC) == said


@given(st.integers(1, 1_500), st.integers(0, 800))
def test_an_age_is_read_as_the_day_it_was_made_from(back: int, later: int) -> None:
    now = NOW + timedelta(days=later)
    said = date_format.calendar_age(now - timedelta(days=back), now, UTC)
    if any(unit in said for unit in ("last", "yesterday", "day", "week")):
        (read,) = dates.read(f"what was {said}", now, UTC)
        assert read.start and read.end
        assert read.start <= now - timedelta(days=back) < read.end, said
