"""The days of a year, and the nearest node to a date."""

from datetime import UTC, date

from memtui.model import calendar
from memtui.model.filters import Scope
from memtui.services import browse
from memtui.workspace import Workspace


def test_all_days_are_listed_with_their_counts(full_workspace: Workspace) -> None:
    days = browse.list_days(UTC)
    assert days[date(2024, 2, 6)].counts.messages > 0
    assert {day.year for day in days} == {2023, 2024} and [*days] == sorted(days)
    rows = {day: browse.list_day_sessions(at.node_id) for day, at in days.items()}
    assert {day: at.sessions for day, at in days.items()} == {
        day: len(sessions) for day, sessions in rows.items()
    }


def test_days_of_a_scope_have_its_counts(
    full_workspace: Workspace,
) -> None:
    every = browse.list_days(UTC)
    codex = browse.list_days(UTC, Scope(agent="codex"))
    assert codex and set(codex) < set(every)
    assert all("codex" in entry.agents for entry in codex.values())
    assert all(
        entry.counts.messages <= every[day].counts.messages
        for day, entry in codex.items()
    )


def test_an_empty_store_has_no_days(workspace: Workspace) -> None:
    assert browse.list_days(UTC) == {}
    assert browse.find_nearest("toc:day:2024-01-01") == ""


def test_a_missing_node_is_replaced_by_the_nearest_of_its_level(
    full_workspace: Workspace,
) -> None:
    nearest = {
        name: browse.find_nearest(f"toc:{name}").removeprefix("toc:")
        for name in ("day:2024-02-06", "day:2030-01-01", "month:2024-05", "year:1999")
    }
    assert list(nearest.values()) == [
        "day:2024-02-06",
        "day:2024-02-06",
        "month:2024-02",
        "year:2023",
    ]


def test_the_leap_day_of_another_year_is_28_february() -> None:
    assert calendar.same_day(date(2020, 12, 31), 2021) == date(2021, 12, 31)
    assert calendar.same_day(date(2024, 2, 29), 2025) == date(2025, 2, 28)


def test_a_leap_year_that_begins_on_a_sunday_has_54_weeks() -> None:
    years = {2012: 54, 2021: 53, 2024: 53, 2026: 53}
    for year, weeks in years.items():
        assert calendar.week_count(date(year, 1, 1), date(year + 1, 1, 1)) == weeks
