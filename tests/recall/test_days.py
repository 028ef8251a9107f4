"""The days of a year, and the nearest node to a date."""

from datetime import date

from memtui.house import House
from memtui.memory import days as years
from memtui.memory.days import Span
from memtui.memory.scopes import Scope
from memtui.recall import days


def test_a_year_holds_its_whole_weeks_and_what_was_said_in_them(
    full_house: House,
) -> None:
    year = days.year(2024, full_house.zone)
    assert year.days[date(2024, 2, 6)].messages > 0
    assert all(years.year_of(day) == 2024 for day in year.days)
    assert days.span() == Span(
        min(days.year(2023, full_house.zone).days), max(year.days)
    )


def test_a_part_of_the_memory_has_its_own_days_and_its_share_of_them(
    full_house: House,
) -> None:
    every = days.year(2024, full_house.zone).days
    codex = days.year(2024, full_house.zone, Scope(agent="codex")).days
    assert codex and set(codex) < set(every)
    assert all("codex" in one.agents for one in codex.values())
    assert all(one.messages <= every[day].messages for day, one in codex.items())


def test_nothing_kept_has_no_days(house: House) -> None:
    assert days.span() is None
    assert days.year(2024, house.zone).days == {}
    assert days.nearest("toc:day:2024-01-01", house.zone) == ""


def test_the_nearest_of_its_level_stands_in_for_a_node(full_house: House) -> None:
    found = {
        wanted: days.nearest(f"toc:{wanted}", full_house.zone).removeprefix("toc:")
        for wanted in ("day:2024-02-06", "day:2030-01-01", "month:2024-05", "year:1999")
    }
    assert list(found.values()) == [
        "day:2024-02-06",
        "day:2024-02-06",
        "month:2024-02",
        "year:2023",
    ]


def test_the_same_day_of_a_shorter_year_is_in_its_last_week() -> None:
    assert years.same_day(date(2020, 12, 31), 2021) == date(2021, 12, 30)
    assert years.weeks_of(2020) == 53 and years.weeks_of(2021) == 52
