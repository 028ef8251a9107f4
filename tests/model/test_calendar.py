from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import calendar
from memtui.model.calendar import TocLevel

BERLIN = ZoneInfo("Europe/Berlin")
days = st.dates(date(2001, 1, 1), date(2099, 12, 31))


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2026-08-01", "2026-W31"),
        ("2024-12-30", "2025-W01"),
        ("2024-12-31", "2025-W01"),
        ("2021-01-01", "2020-W53"),
        ("2021-01-03", "2020-W53"),
        ("2021-01-04", "2021-W01"),
        ("2027-01-01", "2026-W53"),
    ],
)
def test_a_day_is_found_under_its_own_month_and_year(day: str, week: str) -> None:
    assert calendar.path(f"toc:day:{day}") == [
        f"toc:year:{day[:4]}",
        f"toc:month:{day[:7]}",
        f"toc:week:{week}",
        f"toc:day:{day}",
    ]
    assert calendar.rolled_into(f"toc:day:{day}") == [
        f"toc:week:{week}",
        f"toc:month:{day[:7]}",
    ]


def test_a_week_across_two_months_is_listed_under_both() -> None:
    months = ["toc:month:2026-07", "toc:month:2026-08"]
    assert calendar.parent_ids("toc:week:2026-W31") == months
    assert calendar.parent_ids("toc:week:2026-W30") == months[:1]
    assert calendar.path("toc:week:2026-W31")[:2] == ["toc:year:2026", months[0]]
    assert calendar.path("toc:week:2026-W53", "toc:month:2027-01") == [
        "toc:year:2027",
        "toc:month:2027-01",
        "toc:week:2026-W53",
    ]
    assert calendar.rolled_into("toc:week:2026-W31") == []


@given(days)
def test_a_day_lies_within_all_nodes_above_it(day: date) -> None:
    *above, mine = calendar.path(calendar.day_id(day))
    start, end = calendar.bounds(mine, BERLIN)
    for name in above:
        first, last = calendar.bounds(name, BERLIN)
        assert first <= start < end <= last


@given(days)
def test_a_month_and_a_year_are_those_of_the_calendar(day: date) -> None:
    year, month = calendar.path(calendar.day_id(day))[:2]
    here = calendar.period(month)
    assert (here.first.day, here.end.day) == (1, 1)
    assert {here.first.month, here.last.month} == {day.month}
    assert calendar.period(year).first == date(day.year, 1, 1)
    assert calendar.period(year).last == date(day.year, 12, 31)


@given(days)
def test_a_node_ends_where_the_next_one_begins(day: date) -> None:
    for name in calendar.path(calendar.day_id(day)):
        following = calendar.period(name).end
        level = calendar.period(name).level
        after = [
            other
            for other in calendar.path(calendar.day_id(following))
            if calendar.period(other).level is level
        ]
        assert calendar.bounds(after[0], UTC)[0] == calendar.bounds(name, UTC)[1]


@given(days)
def test_an_id_read_and_written_is_the_same(day: date) -> None:
    for name in calendar.path(calendar.day_id(day)):
        assert calendar.canonical(name) == name


@pytest.mark.parametrize(("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25)])
def test_a_day_has_as_many_hours_as_the_clocks_give_it(day: str, hours: int) -> None:
    start, end = calendar.bounds(f"toc:day:{day}", BERLIN)
    assert end - start == timedelta(hours=hours)


def test_a_time_belongs_to_its_local_day() -> None:
    late = datetime(2024, 1, 15, 23, 30, tzinfo=UTC)
    assert calendar.local_day(late, UTC) == date(2024, 1, 15)
    assert calendar.local_day(late, BERLIN) == date(2024, 1, 16)


@pytest.mark.parametrize(
    ("node_id", "title"),
    [
        ("toc:year:2024", "2024"),
        ("toc:month:2024-01", "January 2024"),
        ("toc:week:2024-W03", "Week of January 15–21, 2024"),
        ("toc:week:2024-W05", "Week of January 29 – February 4, 2024"),
        ("toc:week:2025-W01", "Week of December 30, 2024 – January 5, 2025"),
        ("toc:day:2024-01-15", "Monday, January 15, 2024"),
    ],
)
def test_nodes_have_calendar_titles(node_id: str, title: str) -> None:
    assert calendar.title(node_id) == title


@pytest.mark.parametrize(
    ("older", "ours"),
    [
        ("toc:week:2026-05", "toc:week:2026-W05"),
        ("toc:week:2026:05", "toc:week:2026-W05"),
        ("toc:day:2024:01:15", "toc:day:2024-01-15"),
        ("toc:segment:2024-01-18T10:00:00", "toc:segment:2024-01-18:10:00:00"),
    ],
)
def test_older_forms_of_an_id_are_understood(older: str, ours: str) -> None:
    assert calendar.canonical(older) == ours


@pytest.mark.parametrize(
    "text",
    [
        *("", "toc", "toc:day:2024-13-01", "toc:decade:2020", "grip:1:2", "toc:day:"),
        *("toc:year:9999", "toc:month:9999-12", "toc:week:9999-W52"),
        *("toc:day:9999-12-31", "toc:year:0000", "toc:month:2024-00"),
    ],
)
def test_invalid_node_ids_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        calendar.period(text)


def test_levels_have_parents_and_children() -> None:
    assert TocLevel.YEAR.parent() is None
    assert TocLevel.YEAR.child() is TocLevel.MONTH
    assert TocLevel.SEGMENT.parent() is TocLevel.DAY
    assert TocLevel.SEGMENT.child() is None
