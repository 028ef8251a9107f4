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
    return [(local(one.start), local(one.end)) for one in read(text, now)]


def at(day: str) -> datetime:
    """Noon of a day in Berlin."""
    return datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025", "2025-01-01", "2026-01-01"),
        ("H2 2025", "2025-07-01", "2026-01-01"),
        ("in H1 of 2026", "2026-01-01", "2026-07-01"),
        ("half an hour ago", "2026-11-21 22:15", "2026-11-21 22:45"),
        ("a fortnight ago", "2026-11-04", "2026-11-11"),
        ("half a year ago", "2026-05-06", "2026-06-06"),
    ],
)
def test_what_is_a_time_and_nothing_else_is_read_as_one(
    text: str, start: str, end: str
) -> None:
    (one,) = dates.read_exact(text, NOW, BERLIN)
    assert (local(one.start), local(one.end)) == (start, end)
    assert dates.read_exact("zebra", NOW, BERLIN) == []
    assert not bounds("the H2 database"), "no half of a year"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what happened today", "2026-11-21", "2026-11-22"),
        ("what happened yesterday", "2026-11-20", "2026-11-21"),
        ("the day before yesterday", "2026-11-19", "2026-11-20"),
        ("this morning", "2026-11-21 05:00", "2026-11-21 12:00"),
        ("yesterday afternoon", "2026-11-20 12:00", "2026-11-20 18:00"),
        ("yesterday evening", "2026-11-20 18:00", "2026-11-21"),
        ("last night's deploy", "2026-11-20 18:00", "2026-11-21 05:00"),
        ("last tuesday at 5", "2026-11-17 04:30", "2026-11-17 05:30"),
        ("yesterday at 17 we met", "2026-11-20 16:30", "2026-11-20 17:30"),
        ("at 9 o'clock on Monday", "2026-11-16 08:30", "2026-11-16 09:30"),
        ("yesterday at 5 workers", "2026-11-20", "2026-11-21"),
        ("yesterday at 25", "2026-11-20", "2026-11-21"),
        ("last night at 3am", "2026-11-21 02:30", "2026-11-21 03:30"),
        ("tonight", "2026-11-21 18:00", "2026-11-22 05:00"),
        ("on the morning of 3 June", "2026-06-03 05:00", "2026-06-03 12:00"),
    ],
)
def test_days_begin_at_midnight_and_their_parts_have_hours(
    text: str, start: str, end: str
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("two days ago", "2026-11-19", "2026-11-20"),
        ("a week ago", "2026-11-11", "2026-11-18"),
        ("2 months ago", "2026-09-06", "2026-10-07"),
        ("a year ago", "2025-05-23", "2026-05-23"),
        ("a couple of days ago", "2026-11-18", "2026-11-20"),
        ("a few weeks ago", "2026-10-14", "2026-11-11"),
        ("3 hours ago", "2026-11-21 19:30", "2026-11-21 20:30"),
        ("10 minutes ago", "2026-11-21 22:45", "2026-11-21 22:55"),
        ("a minute ago", "2026-11-21 22:54", "2026-11-21 23:00"),
    ],
)
def test_so_long_ago_means_half_a_unit_on_each_side(
    text: str, start: str, end: str
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("last week", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("the week before last", "2026-11-02", "2026-11-09"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("the past week", "2026-11-14", "2026-11-22"),
        ("in the last month", "2026-10-21", "2026-11-22"),
        ("the last 7 days", "2026-11-14", "2026-11-22"),
        ("past two weeks", "2026-11-07", "2026-11-22"),
        ("the last 30 minutes", "2026-11-21 22:30", "2026-11-21 23:00"),
        ("end of last month", "2026-10-21", "2026-11-01"),
        ("the first half of last year", "2025-01-01", "2025-07-01"),
        ("since the beginning of the year", "2026-01-01", None),
    ],
)
def test_last_is_the_calendars_and_past_goes_up_to_now(
    text: str, start: str, end: str | None
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on Saturday", "2026-11-21", "2026-11-22"),
        ("last Saturday", "2026-11-14", "2026-11-15"),
        ("on Sunday", "2026-11-15", "2026-11-16"),
        ("this Tuesday", "2026-11-17", "2026-11-18"),
        ("Tuesday last week", "2026-11-10", "2026-11-11"),
        ("last week on Tuesday", "2026-11-10", "2026-11-11"),
        ("why did it fail on Mon", "2026-11-16", "2026-11-17"),
        ("the weekend", "2026-11-21", "2026-11-23"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("in November", "2026-11-01", "2026-12-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("last November", "2025-11-01", "2025-12-01"),
        ("on 21 November", "2026-11-21", "2026-11-22"),
        ("on 22 November", "2025-11-22", "2025-11-23"),
        ("Monday morning last week", "2026-11-09 05:00", "2026-11-09 12:00"),
        ("week 47", "2026-11-16", "2026-11-23"),
        ("week 48", "2025-11-24", "2025-12-01"),
        ("week 53", "2020-12-28", "2021-01-04"),
        ("in Q4", "2026-10-01", "2027-01-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("Monday before last", "2026-11-09", "2026-11-10"),
        ("the Saturday before last", "2026-11-07", "2026-11-08"),
        ("the weekend before last", "2026-11-07", "2026-11-09"),
    ],
)
def test_what_comes_again_is_the_latest_that_has_begun(
    text: str, start: str, end: str
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in March 2025", "2025-03-01", "2025-04-01"),
        ("March last year", "2025-03-01", "2025-04-01"),
        ("early March", "2026-03-01", "2026-03-11"),
        ("mid-March", "2026-03-11", "2026-03-21"),
        ("late March 2025", "2025-03-21", "2025-04-01"),
        ("the last week of March", "2026-03-25", "2026-04-01"),
        ("June 3rd", "2026-06-03", "2026-06-04"),
        ("Sept. 3, 2025", "2025-09-03", "2025-09-04"),
        ("Friday, 14 March 2025", "2025-03-14", "2025-03-15"),
        ("2025-03-14", "2025-03-14", "2025-03-15"),
        ("2025-03", "2025-03-01", "2025-04-01"),
        ("2025-W11", "2025-03-10", "2025-03-17"),
        ("week 11 of 2025", "2025-03-10", "2025-03-17"),
        ("Q1 2025", "2025-01-01", "2025-04-01"),
        ("the first quarter of 2025", "2025-01-01", "2025-04-01"),
        ("in 2024", "2024-01-01", "2025-01-01"),
        ("summer 2024", "2024-06-01", "2024-09-01"),
        ("winter 2024", "2024-12-01", "2025-03-01"),
        ("14/3/2025", "2025-03-14", "2025-03-15"),
        ("3/14/2025", "2025-03-14", "2025-03-15"),
        ("6/6/2025", "2025-06-06", "2025-06-07"),
        ("3.6.2025", "2025-06-03", "2025-06-04"),
        ("the Sunday before October 25, 2022", "2022-10-23", "2022-10-24"),
        ("the week before 9 November", "2026-11-02", "2026-11-09"),
        ("the day after 3 June", "2026-06-04", "2026-06-05"),
    ],
)
def test_a_date_is_read_as_it_is_written(text: str, start: str, end: str) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on 3 June around 3pm", "2026-06-03 14:00", "2026-06-03 16:00"),
        ("around 3pm yesterday", "2026-11-20 14:00", "2026-11-20 16:00"),
        ("yesterday at 15:30", "2026-11-20 15:00", "2026-11-20 16:00"),
        ("12:30am today", "2026-11-21", "2026-11-21 01:00"),
        ("at noon yesterday", "2026-11-20 11:30", "2026-11-20 12:30"),
        ("2025-03-14T14:30:00Z", "2025-03-14 15:00", "2025-03-14 16:00"),
        ("Fri Sep 19 16:30:38 2025", "2025-09-19 16:00", "2025-09-19 17:00"),
        ("2025-03-14 15:30", "2025-03-14 15:00", "2025-03-14 16:00"),
        ("from 9am to 5pm yesterday", "2026-11-20 09:00", "2026-11-20 17:00"),
        ("after 3pm yesterday", "2026-11-20 15:00", None),
        ("at 22:59", "2026-11-21 22:29", "2026-11-21 23:29"),
        ("at 23:01", "2026-11-20 22:31", "2026-11-20 23:31"),
    ],
)
def test_a_time_of_day_is_a_window_half_an_hour_or_an_hour_to_each_side(
    text: str, start: str, end: str | None
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("since Monday", "2026-11-16", None),
        ("until Friday", None, "2026-11-21"),
        ("before March", None, "2026-03-01"),
        ("after 3 June", "2026-06-04", None),
        ("by July 10, 2022", None, "2022-07-11"),
        ("since yesterday's deploy", "2026-11-20", None),
        ("after Monday's release", "2026-11-16", None),
        ("before Monday's release", None, "2026-11-17"),
        ("between 3 and 5 June", "2026-06-03", "2026-06-06"),
        ("March 3-5, 2025", "2025-03-03", "2025-03-06"),
        ("from March to May", "2026-03-01", "2026-06-01"),
        ("from 28 December to 3 January", "2025-12-28", "2026-01-04"),
        ("from November 2025 to January", "2025-11-01", "2026-02-01"),
        ("between Sunday and Tuesday", "2026-11-15", "2026-11-18"),
        ("between 2025-03-01 and 2025-03-14", "2025-03-01", "2025-03-15"),
        ("Monday to Friday", "2026-11-16", "2026-11-21"),
    ],
)
def test_a_time_may_be_open_on_one_side_or_go_from_one_to_another(
    text: str, start: str | None, end: str | None
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the Friday before last week", "2026-11-06", "2026-11-07"),
        ("the other day", "2026-11-07", "2026-11-22"),
        ("Friday the 13th", "2026-11-13", "2026-11-14"),
        ("on the 3rd", "2026-11-03", "2026-11-04"),
        ("the second week of June", "2026-06-08", "2026-06-15"),
        ("early in March", "2026-03-01", "2026-03-11"),
        ("last 36h", "2026-11-20 11:00", "2026-11-21 23:00"),
        ("2d ago", "2026-11-19", "2026-11-20"),
        ("last fortnight", "2026-11-07", "2026-11-22"),
        ("two months back", "2026-09-06", "2026-10-07"),
    ],
)
def test_what_is_counted_out_is_not_taken_for_what_it_is_counted_from(
    text: str, start: str, end: str
) -> None:
    assert bounds(f"what broke {text}") == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("March to May 2025", "2025-03-01", "2025-06-01"),
        ("Nov–Feb 2026", "2025-11-01", "2026-03-01"),
        ("Mon-Wed", "2026-11-16", "2026-11-19"),
        ("2025-06-03..2025-06-05", "2025-06-03", "2025-06-06"),
        ("3-Jun-2025", "2025-06-03", "2025-06-04"),
        ("June '25", "2025-06-01", "2025-07-01"),
        ("yesterday between 2 and 4pm", "2026-11-20 14:00", "2026-11-20 16:00"),
        ("yesterday, 11-2pm", "2026-11-20 11:00", "2026-11-20 14:00"),
        ("between 9 and 11 yesterday", "2026-11-20 09:00", "2026-11-20 11:00"),
        ("yesterday between 9 and 11", "2026-11-20 09:00", "2026-11-20 11:00"),
        ("3 June 15:00-16:30", "2026-06-03 15:00", "2026-06-03 16:30"),
        ("from June onwards", "2026-06-01", None),
        ("from Monday on", "2026-11-16", None),
    ],
)
def test_a_stretch_may_be_written_as_one(
    text: str, start: str, end: str | None
) -> None:
    assert bounds(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "may I run it, or march on",
        "May 3 tests run at once?",
        "step 3 may fail",
        "this may fail",
        "what did April say",
        "notes from April",
        "March",
        "the second test of the last second",
        "a last minute change",
        "the last 5 commits",
        "the last week of the project",
        "the first quarter of the file",
        "in Spring Boot",
        "the last fall through of the switch",
        "wed the two, then sat in the sun",
        "convert dec 10 to hex",
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
        "29 February 2025",
        "30 February, 31 April 2025, 2025-13 and 2025-W54",
        "at 24:30, at 13pm",
        "today() and yesterday= and last-week",
        "100000 days ago and 1,500 days ago and 2.5 days ago",
        "how long ago, how many weeks",
        "two days before 3 June",
        "yesterdays and Mondays",
        "11 may 14 files",
        "more than a minute ago",
        "on the 3rd attempt, the 2nd of its kind",
        "from 3 to 5 and from 10 to 12 lines",
        "mon-thu, 3-may-be and 1.2.25",
    ],
)
def test_what_may_be_another_thing_is_no_time(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "next Tuesday",
        "a week on Tuesday",
        "a week last Tuesday",
        "last Tuesday week",
        "Tuesday week",
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
def test_what_lies_ahead_or_comes_again_is_not_read(text: str) -> None:
    assert read(text) == []


def test_what_lies_ahead_is_read_where_its_year_is_written() -> None:
    assert bounds("on 5 March 2030") == [("2030-03-05", "2030-03-06")]


def test_this_evening_is_read_from_its_first_moment_on() -> None:
    six = datetime(2026, 11, 21, 18, tzinfo=BERLIN)
    assert read("this evening", six - timedelta(seconds=1)) == []
    assert bounds("this evening", six) == [("2026-11-21 18:00", "2026-11-22")]


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-30", 23), ("2026-10-26", 25), ("2026-11-21", 24)]
)
def test_a_day_is_as_long_as_its_clocks_make_it(day: str, hours: int) -> None:
    (yesterday,) = read("yesterday", at(day))
    (week,) = read("last week", at(day))
    assert yesterday.start and yesterday.end and week.start and week.end
    assert yesterday.end - yesterday.start == timedelta(hours=hours)
    assert week.end - week.start == timedelta(hours=6 * 24 + hours)


def test_an_hour_that_comes_twice_is_meant_both_times() -> None:
    (twice,) = read("at 2:30 yesterday", at("2026-10-26"))
    assert twice.start == datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    assert twice.end == datetime(2026, 10, 25, 2, 0, tzinfo=UTC)


def test_an_hour_that_the_clocks_leave_out_is_read_still() -> None:
    (left_out,) = read("at 2:30 yesterday", at("2026-03-30"))
    assert left_out.start and left_out.end
    assert left_out.start < datetime(2026, 3, 29, 1, 0, tzinfo=UTC) < left_out.end


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("last week", "2025-12-22", "2025-12-29"),
        ("this week", "2025-12-29", "2026-01-05"),
        ("last month", "2025-12-01", "2026-01-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("last quarter", "2025-10-01", "2026-01-01"),
        ("in January", "2026-01-01", "2026-02-01"),
        ("week 1", "2025-12-29", "2026-01-05"),
        ("week 52", "2025-12-22", "2025-12-29"),
        ("last winter", "2024-12-01", "2025-03-01"),
    ],
)
def test_a_year_that_has_just_turned_has_its_past_in_the_last(
    text: str, start: str, end: str
) -> None:
    assert bounds(text, at("2026-01-02")) == [(start, end)]


def test_a_month_ago_is_the_last_day_that_the_month_has() -> None:
    assert bounds("the last month", at("2024-03-31")) == [("2024-02-01", "2024-03-01")]
    assert bounds("in the last month", at("2024-03-31")) == [
        ("2024-02-29", "2024-04-01")
    ]
    assert bounds("in the last year", at("2024-02-29")) == [
        ("2023-02-28", "2024-03-01")
    ]


def test_it_is_the_day_of_the_store_not_of_the_clock() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    assert bounds("today", late) == [("2026-11-22", "2026-11-23")]
    (tokyo,) = dates.read("today", NOW, ZoneInfo("Asia/Tokyo"))
    assert tokyo.start == datetime(2026, 11, 21, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "what broke recently",
        "at 15:30",
        "3pm",
        "week 3",
    ],
)
def test_a_loose_time_is_soft(text: str) -> None:
    assert [one.is_soft for one in read(text)] == [True]


def test_a_loose_time_beside_a_firm_one_says_nothing_more() -> None:
    assert bounds("what I recently wrote in May") == [("2026-05-01", "2026-06-01")]
    assert not read("3pm yesterday")[0].is_soft
    assert not read("week 3 of 2026")[0].is_soft
    assert not read("what did we do in week 31")[0].is_soft
    assert not read("ISO week 3")[0].is_soft


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about last week", "last week: 9–15 Nov 2026"),
        ("yesterday", "yesterday: Fri 20 Nov 2026"),
        ("week 45", "week 45: 2–8 Nov 2026"),
        ("week 40", "week 40: 28 Sep – 4 Oct 2026"),
        ("2025-W01", "2025-W01: 30 Dec 2024 – 5 Jan 2025"),
        ("since  Monday", "since Monday: from Mon 16 Nov 2026"),
        ("until Friday", "until Friday: until Fri 20 Nov 2026"),
        ("yesterday at 3pm", "yesterday at 3pm: Fri 20 Nov 2026, 14:30–15:30"),
        ("yesterday evening", "yesterday evening: Fri 20 Nov 2026, 18:00–24:00"),
        (
            "last night",
            "last night: Fri 20 Nov 2026 18:00 – Sat 21 Nov 2026 05:00",
        ),
    ],
)
def test_the_understood_time_is_shown(text: str, said: str) -> None:
    assert [one.label for one in read(text)] == [said]


@pytest.mark.parametrize(
    ("text", "rest"),
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
def test_a_question_is_left_without_its_times(text: str, rest: str) -> None:
    assert dates.remove(text, read(text)) == rest


def test_several_times_are_read_in_their_order() -> None:
    text = "was it fixed in March or on 3 June, and broken yesterday?"
    assert [text[slice(*one.span)] for one in read(text)] == [
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
def test_any_text_is_read(text: str, now: datetime) -> None:
    found = read(text, now.replace(tzinfo=UTC))
    for one in found:
        assert 0 <= one.span[0] < one.span[1] <= len(text)
        assert one.start is not None or one.end is not None
        assert one.start is None or one.end is None or one.start < one.end
    for one, two in pairwise(found):
        assert one.span[1] <= two.span[0]
    assert len(dates.remove(text, found)) <= len(text) + len(found)


@pytest.mark.parametrize(
    "text",
    [
        *("last ", "   ", "from monday to ", "march 3 to ", "1:1:", "2-"),
        *("3pm ", "the day before ", "\x00\x1f", "🦀 ", "١٢ days ago ", "İſK "),
    ],
)
def test_a_long_text_is_read_in_time_that_grows_with_it(text: str) -> None:
    read((text * 40_000)[:40_000])


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("between December 2025 and June 2025", "2025-06-01", "2026-01-01"),
        ("from 2025-12-01 to 2025-09-01", "2025-09-01", "2025-12-02"),
        ("2025-12-01..2025-09-01", "2025-09-01", "2025-12-02"),
        ("from 2025 to 2023", "2023-01-01", "2026-01-01"),
        ("between yesterday and 1 June 2025", "2025-06-01", "2026-11-21"),
    ],
)
def test_a_range_may_be_written_with_the_later_end_first(
    text: str, start: str, end: str
) -> None:
    assert bounds(text) == [(start, end)]
    assert dates.remove(f"retries {text}", read(f"retries {text}")) == "retries"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024-01-18 10:02-10:04", "2024-01-18 10:02", "2024-01-18 10:04"),
        ("2024-01-18 10:02 – 10:04", "2024-01-18 10:02", "2024-01-18 10:04"),
        ("2024-01-18 23:50-00:10", "2024-01-18 23:50", "2024-01-19 00:10"),
        ("2024-01-18/2024-01-20", "2024-01-18", "2024-01-21"),
        ("2024-01-18T10:02/10:04", "2024-01-18 10:02", "2024-01-18 10:04"),
        (
            "2024-01-18T10:02:00Z/2024-01-18T10:04:00Z",
            "2024-01-18 11:02",
            "2024-01-18 11:04",
        ),
        ("2024-01-18T10:02/PT30M", "2024-01-18 10:02", "2024-01-18 10:32"),
        ("PT1H30M/2024-01-18T10:02:00Z", "2024-01-18 09:32", "2024-01-18 11:02"),
        ("2024-01-18/P1D", "2024-01-18", "2024-01-19"),
        ("1705572120000/1705572240000", "2024-01-18 11:02", "2024-01-18 11:04"),
        (
            "from 1705572120000 to 1705572240000",
            "2024-01-18 11:02",
            "2024-01-18 11:04",
        ),
        ("since 1705572120000", "2024-01-18 11:02", None),
    ],
)
def test_an_interval_of_two_times_is_read_exactly(
    text: str, start: str, end: str | None
) -> None:
    assert bounds(text) == [(start, end)]


def test_a_range_of_times_is_no_time_zone() -> None:
    (period,) = read("2024-01-18 10:02-05:00")
    assert period.start == datetime(2024, 1, 18, 14, 32, tzinfo=UTC)


def test_a_number_of_13_digits_alone_is_no_time() -> None:
    assert read("call 1705572120000 failed") == []


def test_an_interval_that_ends_before_it_begins_is_not_read() -> None:
    assert read("2024-01-18T10:04/10:02") == []


@pytest.mark.parametrize(
    "text", ["2024-01-18 10:02-25:04", "PT30M", "P1D/P1D", "2024-01-18T10:02/PT0S"]
)
def test_what_is_no_interval_is_not_read(text: str) -> None:
    assert read(text) == []


def test_words_may_be_apart() -> None:
    assert bounds("end  of\nMarch 2025") == [("2025-03-21", "2025-04-01")]
    assert bounds("prior \n to March 2025") == [(None, "2025-03-01")]
