"""The days of a year, and the nearest node to a date."""

from datetime import date

from memtui.model import calendar
from memtui.model.calendar import DateRange
from memtui.model.scope import Scope
from memtui.services import browse
from memtui.workspace import Workspace


def test_a_year_holds_its_whole_weeks_and_what_was_said_in_them(
    full_house: Workspace,
) -> None:
    year = browse.get_calendar_year(2024, full_house.zone)
    assert year.days[date(2024, 2, 6)].messages > 0
    assert all(calendar.iso_year(day) == 2024 for day in year.days)
    assert browse.get_date_range() == DateRange(
        min(browse.get_calendar_year(2023, full_house.zone).days), max(year.days)
    )


def test_a_part_of_the_memory_has_its_own_days_and_its_share_of_them(
    full_house: Workspace,
) -> None:
    every = browse.get_calendar_year(2024, full_house.zone).days
    codex = browse.get_calendar_year(2024, full_house.zone, Scope(agent="codex")).days
    assert codex and set(codex) < set(every)
    assert all("codex" in one.agents for one in codex.values())
    assert all(one.messages <= every[day].messages for day, one in codex.items())


def test_nothing_kept_has_no_days(house: Workspace) -> None:
    assert browse.get_date_range() is None
    assert browse.get_calendar_year(2024, house.zone).days == {}
    assert browse.find_nearest("toc:day:2024-01-01", house.zone) == ""


def test_the_nearest_of_its_level_stands_in_for_a_node(full_house: Workspace) -> None:
    found = {
        wanted: browse.find_nearest(f"toc:{wanted}", full_house.zone).removeprefix(
            "toc:"
        )
        for wanted in ("day:2024-02-06", "day:2030-01-01", "month:2024-05", "year:1999")
    }
    assert list(found.values()) == [
        "day:2024-02-06",
        "day:2024-02-06",
        "month:2024-02",
        "year:2023",
    ]


def test_the_same_day_of_a_shorter_year_is_in_its_last_week() -> None:
    assert calendar.same_day(date(2020, 12, 31), 2021) == date(2021, 12, 30)
    assert calendar.week_count(2020) == 53 and calendar.week_count(2021) == 52
