"""Days: how much was said on each day of a year, and what stands above it.

A year is the contents' own: whole weeks, each in the year of its Thursday, so that
every day lies in one year alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of which something is kept."""

    day: date
    node_id: str
    segments: int
    messages: int
    headline: str
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    is_live: bool
    """Whether something of it is still going on."""
    is_pending: bool
    """Whether it was not summed up yet: it counts then what is finished of it."""


@dataclass(frozen=True, slots=True)
class Year:
    """The days of a year of which something is kept."""

    number: int
    days: Mapping[date, Day] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """The first and the last day of which anything is kept."""

    first: date
    last: date


def year_of(day: date) -> int:
    """The year of whose weeks a day is one."""
    return day.isocalendar().year


def first_of(year: int) -> date:
    """The Monday a year begins with."""
    return date.fromisocalendar(year, 1, 1)


def weeks_of(year: int) -> int:
    """How many weeks a year has: 52 or 53."""
    return (first_of(year + 1) - first_of(year)) // WEEK


def same_day(day: date, year: int) -> date:
    """The day of another year in the same place: its week and its weekday."""
    here = day.isocalendar()
    return date.fromisocalendar(year, min(here.week, weeks_of(year)), here.weekday)
