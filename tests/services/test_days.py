"""The days of a year, and the nearest node to a date."""

from datetime import date

from memtui.model import calendar
from memtui.model.calendar import DateRange
from memtui.model.filters import Scope
from memtui.services import browse
from memtui.workspace import Workspace


def test_a_year_has_its_days_and_what_was_said_in_them(
    full_workspace: Workspace,
) -> None:
    year = browse.get_calendar_year(2024)
    assert year.days[date(2024, 2, 6)].counts.messages > 0
    assert {day.year for day in year.days} == {2024}
    assert browse.get_date_range() == DateRange(
        min(browse.get_calendar_year(2023).days), max(year.days)
    )


def test_a_part_of_the_memory_has_its_own_days_and_its_share_of_them(
    full_workspace: Workspace,
) -> None:
    every = browse.get_calendar_year(2024).days
    codex = browse.get_calendar_year(2024, Scope(agent="codex")).days
    assert codex and set(codex) < set(every)
    assert all("codex" in one.agents for one in codex.values())
    assert all(
        one.counts.messages <= every[day].counts.messages for day, one in codex.items()
    )


def test_nothing_kept_has_no_days(workspace: Workspace) -> None:
    assert browse.get_date_range() is None
    assert browse.get_calendar_year(2024).days == {}
    assert browse.find_nearest("toc:day:2024-01-01") == ""


def test_a_missing_node_is_replaced_by_the_nearest_of_its_level(
    full_workspace: Workspace,
) -> None:
    found = {
        wanted: browse.find_nearest(f"toc:{wanted}").removeprefix("toc:")
        for wanted in ("day:2024-02-06", "day:2030-01-01", "month:2024-05", "year:1999")
    }
    assert list(found.values()) == [
        "day:2024-02-06",
        "day:2024-02-06",
        "month:2024-02",
        "year:2023",
    ]


def test_the_leap_day_of_another_year_is_28_february() -> None:
    assert calendar.same_day(date(2020, 12, 31), 2021) == date(2021, 12, 31)
    assert calendar.same_day(date(2024, 2, 29), 2025) == date(2025, 2, 28)


def test_a_leap_year_from_a_sunday_on_has_days_of_54_weeks() -> None:
    years = {2012: 54, 2021: 53, 2024: 53, 2026: 53}
    for year, weeks in years.items():
        assert calendar.week_count(date(year, 1, 1), date(year + 1, 1, 1)) == weeks
