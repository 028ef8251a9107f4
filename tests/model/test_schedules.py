"""The times of roll-ups in real time zones, with clock changes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.jobs import MAX_SKIPPED, Job, JobSchedule, find_cron_error
from memtui.settings import SETTINGS

JOBS = [setting for setting in SETTINGS.values() if setting.section == "jobs"]

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
SANTIAGO = ZoneInfo("America/Santiago")
"""Its clocks change at midnight."""
SECOND = timedelta(seconds=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(
    cron: str, zone: tzinfo = UTC, jitter_s: int = 0, store: str = "a"
) -> JobSchedule:
    return JobSchedule(Job.DAY, cron, zone, jitter_s, store)


def after(schedule: JobSchedule, start: str, count: int) -> list[str]:
    """Return the next times after a time, in UTC."""

    def iterate() -> Iterator[datetime]:
        here = at(start)
        for _ in range(count):
            here = schedule.next_run(here)
            yield here

    return [here.strftime("%m-%d %H:%M") for here in iterate()]


def test_default_schedules() -> None:
    crons = {s.key: str(s.default) for s in JOBS}
    start = "2024-01-30T12:00"
    assert after(times(crons["day"]), start, 2) == ["01-31 01:00", "02-01 01:00"]
    assert after(times(crons["week"]), start, 2) == ["02-04 02:00", "02-11 02:00"]
    assert after(times(crons["month"]), start, 2) == ["02-01 03:00", "03-01 03:00"]
    (year,) = after(times(crons["year"]), start, 1)
    assert year == "01-01 04:00"
    assert times(crons["year"]).next_run(at(start)).year == 2025


def test_a_time_is_due_from_its_very_second_on() -> None:
    schedule = times("0 1 * * *")
    due = at("2024-05-02T01:00")
    assert schedule.next_run(due - SECOND) == due
    assert schedule.next_run(due) == at("2024-05-03T01:00")
    assert schedule.is_due(due - SECOND, due)
    assert not schedule.is_due(due - 2 * SECOND, due - SECOND)
    assert not schedule.is_due(due, due + SECOND)
    assert schedule.is_due(due - timedelta(days=30), due + timedelta(hours=9))


@pytest.mark.parametrize(
    ("zone", "cron", "start", "expected"),
    [
        # Berlin leaves 02:00-03:00 out on March 31 and has it twice on October 27.
        (BERLIN, "30 2 * * *", "2024-03-30T00:00", ["03-30 01:30", "03-31 01:00"]),
        (BERLIN, "30 2 * * *", "2024-03-31T00:00", ["03-31 01:00", "04-01 00:30"]),
        (BERLIN, "30 2 * * *", "2024-10-26T12:00", ["10-27 00:30", "10-28 01:30"]),
        (BERLIN, "30 2 * * *", "2024-10-27T01:15", ["10-28 01:30", "10-29 01:30"]),
        (BERLIN, "0 1 * * *", "2024-03-30T12:00", ["03-31 00:00", "03-31 23:00"]),
        (BERLIN, "0 1 * * *", "2024-10-26T12:00", ["10-26 23:00", "10-28 00:00"]),
        # New York: 02:00-03:00 is missing on March 10, 01:00-02:00 twice on November 3.
        (NEW_YORK, "0 2 * * 0", "2024-03-09T00:00", ["03-10 07:00", "03-17 06:00"]),
        (NEW_YORK, "30 1 * * *", "2024-11-02T12:00", ["11-03 05:30", "11-04 06:30"]),
        (NEW_YORK, "30 1 * * *", "2024-11-03T06:15", ["11-04 06:30", "11-05 06:30"]),
        # Santiago: no midnight on September 8, the hour before it twice on April 6.
        (SANTIAGO, "0 0 * * *", "2024-09-07T12:00", ["09-08 04:00", "09-09 03:00"]),
        (SANTIAGO, "30 23 * * 6", "2024-04-06T12:00", ["04-07 02:30", "04-14 03:30"]),
    ],
)
def test_clock_changes_lose_and_double_no_run(
    zone: ZoneInfo, cron: str, start: str, expected: list[str]
) -> None:
    assert after(times(cron, zone), start, 2) == expected


@pytest.mark.full
@pytest.mark.parametrize(
    ("zone", "day"),
    [
        (BERLIN, "2024-03-31"),
        (BERLIN, "2024-10-27"),
        (NEW_YORK, "2024-03-10"),
        (NEW_YORK, "2024-11-03"),
        (SANTIAGO, "2024-04-06"),
        (SANTIAGO, "2024-09-07"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "cron",
    [
        "0 1 * * *",
        "30 2 * * *",
        "30 1 * * *",
        "30 23 * * 6",
        "*/20 * * * *",
        "*/20 23 * * 6",
        "*/20 2 * * 0",
        "0 */2 * * *",
    ],
)
@pytest.mark.parametrize("jitter_s", [0, 300])
def test_next_time_is_the_same_from_anywhere_before_it(
    zone: ZoneInfo, day: str, cron: str, jitter_s: int
) -> None:
    schedule = times(cron, zone, jitter_s)
    here = at(f"{day}T00:00") - timedelta(hours=6)
    end = here + timedelta(hours=42)
    seen = [schedule.next_run(here)]
    while seen[-1] < end:
        seen.append(schedule.next_run(seen[-1]))
    for earlier, later in pairwise(seen):
        assert earlier < later
        middle = earlier + (later - earlier) / 2
        assert {schedule.next_run(t) for t in (earlier, middle, later - SECOND)} == {
            later
        }


@given(
    moment=st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1)),
    zone=st.sampled_from([UTC, BERLIN, NEW_YORK, SANTIAGO]),
    cron=st.sampled_from([str(setting.default) for setting in JOBS]),
    jitter_s=st.integers(0, 4000),
)
def test_no_time_lies_between_a_moment_and_the_next_time(
    moment: datetime, zone: tzinfo, cron: str, jitter_s: int
) -> None:
    schedule, now = times(cron, zone, jitter_s), moment.replace(tzinfo=UTC)
    following = schedule.next_run(now)
    assert now < following
    assert schedule.next_run(following - SECOND) == following
    assert schedule.next_run(now + (following - now) / 2) == following


def test_delay_is_constant_and_within_its_bounds() -> None:
    exact, moved = times("0 1 * * *"), times("0 1 * * *", jitter_s=300)
    here, delays = at("2024-01-01T12:00"), []
    for _ in range(400):
        expected = exact.next_run(here)
        due = moved.next_run(here)
        delays.append(int((due - expected).total_seconds()))
        assert times("0 1 * * *", jitter_s=300).next_run(due - SECOND) == due
        assert moved.next_run(expected + timedelta(seconds=300)) > due
        here = expected + timedelta(hours=1)
    assert min(delays) >= 0
    assert max(delays) <= 300
    assert len(set(delays)) > 150


def test_delays_of_stores_and_jobs_differ() -> None:
    start = at("2024-01-01T12:00")
    stores = {times("0 1 * * *", UTC, 300, str(n)).next_run(start) for n in range(20)}
    assert len(stores) > 10
    jobs = {JobSchedule(job, "0 1 * * *", UTC, 300, "a").next_run(start) for job in Job}
    assert len(jobs) > 1


def test_a_delay_never_reaches_the_next_time() -> None:
    schedule = times("* * * * *", jitter_s=300)
    here = at("2024-01-01T12:00")
    for minute in range(1, 100):
        due = schedule.next_run(here)
        expected = at("2024-01-01T12:00") + timedelta(minutes=minute)
        assert expected - timedelta(minutes=1) <= due < expected + timedelta(minutes=1)
        assert due > here
        here = due


def test_count_excludes_the_start_and_includes_the_end() -> None:
    schedule = times("0 * * * *")
    start = at("2024-05-02T01:00")
    assert schedule.count(start, start + timedelta(hours=1) - SECOND) == 0
    assert schedule.count(start, start + timedelta(hours=1)) == 1
    assert schedule.count(start - SECOND, start + timedelta(hours=2)) == 3
    assert schedule.count(start, start - timedelta(days=1)) == 0
    assert schedule.count(start, start + timedelta(days=300)) == MAX_SKIPPED


@pytest.mark.parametrize("setting", JOBS, ids=lambda setting: setting.name)
def test_default_schedules_are_valid_and_can_be_described(setting: object) -> None:
    cron = str(setting.default)  # type: ignore[attr-defined]
    assert find_cron_error(cron) == ""
    assert times(cron).describe().startswith("at 0")


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("", "it has 0 of five fields: minute, hour, day of the month"),
        ("0 1 * *", "it has 4 of five"),
        ("0 0 0 1 * * *", "it has 7 of five"),
        ("60 0 1 * * *", "that is no second"),
        ("@daily", "it has 1 of five"),
        ("60 1 * * *", "that is no minute"),
        ("0 24 * * *", "that is no hour"),
        ("0 1 32 * *", "that is no day of the month"),
        ("0 1 0 * *", "that is no day of the month"),
        ("0 1 31 2 *", "that is no day of the month"),
        ("0 1 * 13 *", "that is no month"),
        ("0 1 * * 8", "that is no day of the week"),
        ("0 1 * * sunday", "that is no day of the week"),
        ("a b c d e", "that is no minute"),
        (f"{'1' * 5000} 1 * * *", "it cannot be read"),
        ("²/2 1 * * *", "that is no minute"),
    ],
)
def test_invalid_expression_is_explained(cron: str, said: str) -> None:
    assert said in find_cron_error(cron)


@pytest.mark.parametrize(
    "cron",
    ["59 23 31 12 7", "*/5 8-18 * * 1-5", "0 1 L * *", "0 1 29 2 *", "0 1 * * sun"],
)
def test_unusual_valid_expressions_are_accepted(cron: str) -> None:
    assert find_cron_error(cron) == ""
    assert times(cron).describe()


@given(st.text(alphabet="0123456789*/-,#LW @aé²", max_size=30))
def test_any_text_can_be_checked(text: str) -> None:
    if find_cron_error(text) == "":
        assert times(text).next_run(at("2024-01-01T00:00"))
