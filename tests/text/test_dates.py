"""Dates in a question."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.text import dates
from memtui.text.dates import DatePeriod

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
"""A Saturday, 23:00 in Berlin."""

Bounds = tuple[str | None, str | None]


def read(text: str, now: datetime = NOW) -> list[DatePeriod]:
    return dates.read(text, now, BERLIN)


def local(bound: datetime | None) -> str | None:
    """A bound as Berlin's clocks show it; midnights without their hours."""
    if bound is None:
        return None
    here = bound.astimezone(BERLIN)
    return (
        f"{here:%Y-%m-%d}" if f"{here:%H:%M}" == "00:00" else f"{here:%Y-%m-%d %H:%M}"
    )


def bounds(text: str, now: datetime = NOW) -> list[Bounds]:
    return [(local(period.start), local(period.end)) for period in read(text, now)]


def at(day: str) -> datetime:
    """Noon of a day in Berlin."""
    return datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=BERLIN)


FORMS = [
    ("today", "2026-11-21", "2026-11-22"),
    ("yesterday", "2026-11-20", "2026-11-21"),
    ("two days ago", "2026-11-19", "2026-11-20"),
    ("a week ago", "2026-11-11", "2026-11-18"),
    ("2 months ago", "2026-09-06", "2026-10-07"),
    ("a year ago", "2025-05-23", "2026-05-23"),
    ("the last 7 days", "2026-11-14", "2026-11-22"),
    ("past two weeks", "2026-11-07", "2026-11-22"),
    ("the past week", "2026-11-14", "2026-11-22"),
    ("last 3 months", "2026-08-21", "2026-11-22"),
    ("last week", "2026-11-09", "2026-11-16"),
    ("this week", "2026-11-16", "2026-11-23"),
    ("last month", "2026-10-01", "2026-11-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("on Saturday", "2026-11-21", "2026-11-22"),
    ("last saturday", "2026-11-14", "2026-11-15"),
    ("monday", "2026-11-16", "2026-11-17"),
    ("Tuesday last week", "2026-11-09", "2026-11-16"),
    ("in November", "2026-11-01", "2026-12-01"),
    ("in december", "2025-12-01", "2026-01-01"),
    ("in early march", "2026-03-01", "2026-04-01"),
    ("June 2026", "2026-06-01", "2026-07-01"),
    ("26 june", "2026-06-26", "2026-06-27"),
    ("June 26", "2026-06-26", "2026-06-27"),
    ("26 June 2025", "2025-06-26", "2025-06-27"),
    ("17 jun", "2026-06-17", "2026-06-18"),
    ("feb 20", "2026-02-20", "2026-02-21"),
    ("the 5th of june", "2026-06-05", "2026-06-06"),
    ("Sept. 3, 2025", "2025-09-03", "2025-09-04"),
    ("on 22 November", "2025-11-22", "2025-11-23"),
    ("on 29 February", "2024-02-29", "2024-03-01"),
    ("Friday, 14 March 2025", "2025-03-14", "2025-03-15"),
    ("last Friday on 14 March 2025", "2025-03-14", "2025-03-15"),
    ("March 3-5, 2025", "2025-03-03", "2025-03-06"),
    ("between 3 and 5 June", "2026-06-03", "2026-06-06"),
    ("2025-03-14", "2025-03-14", "2025-03-15"),
    ("2025-03", "2025-03-01", "2025-04-01"),
    ("on 14.3.2025", "2025-03-14", "2025-03-15"),
    ("Friday, 14. 03. 2025", "2025-03-14", "2025-03-15"),
    ("on 14/3/2025", "2025-03-14", "2025-03-15"),
    ("3/14/2025", "2025-03-14", "2025-03-15"),
    ("2025/3/14", "2025-03-14", "2025-03-15"),
    ("from 3.3.2025 to 5.3.2025", "2025-03-03", "2025-03-06"),
    ("2025-W11", "2025-03-10", "2025-03-17"),
    ("in 2024", "2024-01-01", "2025-01-01"),
    ("in summer 2024", "2024-01-01", "2025-01-01"),
    ("on 5 March 2030", "2030-03-05", "2030-03-06"),
    ("yesterday at 15:30", "2026-11-20 15:00", "2026-11-20 16:00"),
    ("around 3pm yesterday", "2026-11-20 14:30", "2026-11-20 15:30"),
    ("12:30am today", "2026-11-21", "2026-11-21 01:00"),
    ("from 9am to 5pm yesterday", "2026-11-20 09:00", "2026-11-20 17:00"),
    ("after 3pm yesterday", "2026-11-20 15:00", None),
    ("the 3pm meeting", "2026-11-21 14:30", "2026-11-21 15:30"),
    ("since Monday", "2026-11-16", None),
    ("until Friday", None, "2026-11-21"),
    ("before March", None, "2026-03-01"),
    ("after 3 June", "2026-06-04", None),
    ("by July 10, 2022", None, "2022-07-11"),
    ("the Sunday before October 25, 2022", None, "2022-10-25"),
    ("from March to May", "2026-03-01", "2026-06-01"),
    ("from 28 December to 3 January", "2025-12-28", "2026-01-04"),
    ("from November 2025 to January", "2025-11-01", "2026-02-01"),
    ("between Sunday and Tuesday", "2026-11-15", "2026-11-18"),
    ("Monday to Friday", "2026-11-16", "2026-11-21"),
    ("between 2025-03-01 and 2025-03-14", "2025-03-01", "2025-03-15"),
    ("between December 2025 and June 2025", "2025-06-01", "2026-01-01"),
    ("from 2025 to 2023", "2023-01-01", "2026-01-01"),
    ("2025-03-14T14:30:00Z", "2025-03-14 15:00", "2025-03-14 16:00"),
    ("2025-03-14 15:30", "2025-03-14 15:00", "2025-03-14 16:00"),
    ("2025-06-03..2025-06-05", "2025-06-03", "2025-06-06"),
    ("2024-01-18/2024-01-20", "2024-01-18", "2024-01-21"),
    ("2024-01-18 10:02 – 10:04", "2024-01-18 10:02", "2024-01-18 10:04"),
    ("2024-01-18 10:02-05:00", "2024-01-18 15:32", "2024-01-18 16:32"),
    ("from 1705572120000 to 1705572240000", "2024-01-18 11:02", "2024-01-18 11:04"),
    ("end  of\nMarch 2025", "2025-03-01", "2025-04-01"),
]


@pytest.mark.parametrize(("text", "start", "end"), FORMS)
def test_date_is_read_in_a_question(
    text: str, start: str | None, end: str | None
) -> None:
    assert bounds(f"what did codex do {text}?") == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025", "2025-01-01", "2026-01-01"),
        ("may", "2026-05-01", "2026-06-01"),
        ("feb 11", "2026-02-11", "2026-02-12"),
        ("at 22:59", "2026-11-21 22:29", "2026-11-21 23:29"),
        ("11:01pm", "2026-11-20 22:31", "2026-11-20 23:31"),
    ],
)
def test_date_may_be_the_whole_text(text: str, start: str, end: str) -> None:
    assert bounds(text) in ([], [(start, end)])
    period = dates.read_whole(text, NOW, BERLIN)
    assert period and (local(period.start), local(period.end)) == (start, end)
    assert dates.read_exact(text, NOW, BERLIN) == [period]
    assert dates.read_whole(f"retries {text}", NOW, BERLIN) is None


@pytest.mark.parametrize(
    "text",
    [
        "may I run it, or march on",
        "step 3 may fail",
        "this may fail",
        "what did April say",
        "March",
        "the second test of the last second",
        "a last minute change",
        "the last 5 commits",
        "the last week of the project",
        "in Spring Boot",
        "wed the two, then sat in the sun",
        "convert dec 10 to hex",
        "oct 17 is 15, and fields by sep 3",
        "v2025.03 and 3.11 and 1.2.2025.4",
        "src/2025/03/14/x.py and logs/2025-03-14",
        "2025-03-14-notes.md and a_2025-03-14 and 2025-03-14.log",
        "CVE-2025-03 and #2025-03 and gpt-4o-2024-08-06",
        "localhost:8080 and :8080 and #123 and E0308",
        "toc:day:2024-01-15",
        "a context of 2048 tokens",
        "in 2000 lines, after 2000 ms, from 2000 to 4096",
        "a 16:9 screen, ratio 15:30",
        "at line 12:30",
        "3/6/2025",
        "2025-02-30, 2025-13 and 2025-W54",
        "at 24:30, at 13pm",
        "the job that runs at 3pm",
        "run it from 9am to 5pm, from morning to evening",
        "a Black Friday shop",
        "today() and yesterday= and last-week",
        "100000 days ago and 1,500 days ago and 2.5 days ago",
        "how long ago, how many weeks",
        "yesterdays and Mondays",
        "11 may 14 files",
        "more than a minute ago",
        "on the 3rd attempt, the 2nd of its kind",
        "from 3 to 5 and from 10 to 12 lines",
        "mon-thu, 3-may-be and 1.2.25",
    ],
)
def test_ambiguous_text_is_no_date(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "next Tuesday",
        "Monday next week",
        "every Monday morning",
        "the job that runs every day at 3pm",
        "what is due by Friday",
        "the plan for Monday",
        "this December",
        "this Sunday",
        "in 2030",
    ],
)
def test_future_and_recurring_dates_are_not_read(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-30", 23), ("2026-10-26", 25), ("2026-11-21", 24)]
)
def test_day_has_23_or_25_hours_when_clocks_change(day: str, hours: int) -> None:
    (yesterday,) = read("yesterday", at(day))
    (week,) = read("last week", at(day))
    assert yesterday.start and yesterday.end and week.start and week.end
    assert yesterday.end - yesterday.start == timedelta(hours=hours)
    assert week.end - week.start == timedelta(hours=6 * 24 + hours)


def test_repeated_hour_counts_twice() -> None:
    (period,) = read("at 2:30 yesterday", at("2026-10-26"))
    assert period.start == datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    assert period.end == datetime(2026, 10, 25, 2, 0, tzinfo=UTC)


def test_skipped_hour_is_read() -> None:
    (period,) = read("at 2:30 yesterday", at("2026-03-30"))
    assert period.start and period.end
    assert period.start < datetime(2026, 3, 29, 1, 0, tzinfo=UTC) < period.end


@pytest.mark.parametrize(
    ("text", "day", "start", "end"),
    [
        ("last week", "2026-01-02", "2025-12-22", "2025-12-29"),
        ("this week", "2026-01-02", "2025-12-29", "2026-01-05"),
        ("last month", "2026-01-02", "2025-12-01", "2026-01-01"),
        ("in January", "2026-01-02", "2026-01-01", "2026-02-01"),
        ("the last 1 month", "2024-03-31", "2024-02-29", "2024-04-01"),
        ("the last 1 year", "2024-02-29", "2023-02-28", "2024-03-01"),
    ],
)
def test_units_are_counted_across_years_and_short_months(
    text: str, day: str, start: str, end: str
) -> None:
    assert bounds(text, at(day)) == [(start, end)]


def test_today_is_the_day_in_the_given_zone() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    assert bounds("today", late) == [("2026-11-22", "2026-11-23")]
    (tokyo,) = dates.read("today", NOW, ZoneInfo("Asia/Tokyo"))
    assert tokyo.start == datetime(2026, 11, 21, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("about last week", "last week: 9–15 Nov 2026"),
        ("yesterday", "yesterday: Fri 20 Nov 2026"),
        ("2025-W01", "2025-W01: 30 Dec 2024 – 5 Jan 2025"),
        ("since  Monday", "since Monday: from Mon 16 Nov 2026"),
        ("until Friday", "until Friday: until Fri 20 Nov 2026"),
        ("yesterday at 3pm", "yesterday at 3pm: Fri 20 Nov 2026, 14:30–15:30"),
    ],
)
def test_label_shows_the_understood_period(text: str, label: str) -> None:
    assert [period.label for period in read(text)] == [label]


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("what about retries last week?", "what about retries?"),
        ("what did we do on 3 June around 3pm", "what did we do"),
        ("yesterday's bug in the parser", "bug in the parser"),
        ("what did it wait for on May 23, 2023?", "what did it wait for?"),
        (
            "what changed between 3 and 5 June in the parser",
            "what changed in the parser",
        ),
        ("what broke earlier today", "what broke"),
        ("Yesterday, who broke it?", "who broke it?"),
        ("last week", ""),
        ("  no time  here ", "  no time  here "),
    ],
)
def test_remove_leaves_the_other_words(text: str, remaining: str) -> None:
    assert dates.remove(text, read(text)) == remaining


def test_several_dates_are_read_in_order() -> None:
    text = "was it fixed in March or on 3 June, and broken yesterday?"
    assert [text[slice(*period.span)] for period in read(text)] == [
        "March",
        "3 June",
        "yesterday",
    ]


PIECES = (  # what the words of times are made of, to be put together in any way
    "last this past week month year of the March may Mon Tuesday ago 3 two 2025 at 3pm "
    "since before between and from to - , 's early end 2024-02-30 15:30 Q1 yesterday "
    "night next every day 29 February 31 June 99 : / . 3/6/2025 weekend "
    "week 53 ( ) fall fortnight half an hour h2 between and "
    "quarter first"
)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(PIECES.split()), max_size=25).map(" ".join)
    | st.lists(st.sampled_from(PIECES.split()), max_size=25).map("".join),
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),
)
def test_any_text_can_be_read(text: str, now: datetime) -> None:
    periods = read(text, now.replace(tzinfo=UTC))
    for period in periods:
        start, end = period.start, period.end
        assert 0 <= period.span[0] < period.span[1] <= len(text)
        assert start is not None or end is not None
        assert start is None or end is None or start < end
    for left, right in pairwise(periods):
        assert left.span[1] <= right.span[0]
    assert len(dates.remove(text, periods)) <= len(text) + len(periods)


@pytest.mark.parametrize(
    "text",
    [
        *("last ", "   ", "from monday to ", "march 3 to ", "1:1:", "2-"),
        *("3pm ", "the day before ", "\x00\x1f", "🦀 ", "١٢ days ago ", "İſK "),
    ],
)
def test_reading_takes_linear_time(text: str) -> None:
    read((text * 40_000)[:40_000])


def test_13_digits_alone_are_no_time() -> None:
    assert read("call 1705572120000 failed") == []


def test_reversed_interval_is_not_read() -> None:
    assert read("2024-01-18T10:04/10:02") == []
