"""Dates as a person types them, and the node of the contents each one means.

A stretch of time is its own node where it has one: a day, a week, a month, a year. Of
any other it is the widest node that begins with it and lies within it; of one that is
open towards the past, the widest that ends with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from memtui.memory import times
from memtui.memory.times import Period
from memtui.model import calendar
from memtui.model.nodes import TocLevel

_FORMS = (
    (re.compile(r"\d{4}"), TocLevel.YEAR),
    (re.compile(r"\d{4}-\d{2}"), TocLevel.MONTH),
    (re.compile(r"\d{4}-[Ww]\d{1,2}"), TocLevel.WEEK),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), TocLevel.DAY),
)


_QUARTER = re.compile(r"[Qq]([1-4])")


_LEADING = ("", "in ", "on ", "in the ")
"""What makes a time of words that may be another thing in a question: "may"."""


_HABIT = re.compile(r"[dD](?![a-zA-Z])\s*|[dD]\s+")
"""A key that other programs want after ``g``."""


DAY = timedelta(days=1)


WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Meant:
    """What a person means by a date."""

    node_id: str
    said: str
    """What was understood, in words."""


def read(typed: str, now: datetime) -> Meant | None:
    """The node a date means; None if it is no date, or one that lies ahead.

    Args:
        typed: A date, or words such as "last tuesday", "two weeks ago", "Q1".
        now: The time in the store's time zone, for the words relative to it.
    """
    words = " ".join(typed.split())
    meant = _read(words, now)
    habit = _HABIT.match(words)
    if meant is None and habit:
        meant = _read(words[habit.end() :], now)
    return meant


def _read(words: str, now: datetime) -> Meant | None:
    for form, level in _FORMS:
        if form.fullmatch(words):
            try:
                node_id = calendar.canonical(f"toc:{level}:{words.upper()}")
            except ValueError:
                return None
            return Meant(node_id, named(node_id))
    if quarter := _QUARTER.fullmatch(words):
        begun = int(quarter[1]) <= (now.month + 2) // 3
        words = f"q{quarter[1]} {now.year if begun else now.year - 1}"
    assert now.tzinfo is not None
    for period in _periods(words, now, now.tzinfo):
        return _meant(period, now.tzinfo)
    return None


def _periods(words: str, now: datetime, zone: tzinfo) -> Iterator[Period]:
    """The time that words are, and nothing besides."""
    for leading in _LEADING if words else ():
        found = times.read(leading + words, now, zone)
        if len(found) == 1 and not times.without(leading + words, found).strip():
            yield found[0]


def _meant(period: Period, zone: tzinfo) -> Meant:
    first = calendar.local_day(period.start, zone) if period.start else None
    after = _after(period.end, zone) if period.end else None
    if first and after == first + WEEK and first.isoweekday() != 1:
        # A week that is meant loosely is the one its middle lies in.
        node_id = calendar.path(calendar.day_id(first + 3 * DAY))[2]
        return Meant(node_id, named(node_id))
    node_id, is_whole = _node(first, after)
    if is_whole:
        return Meant(node_id, named(node_id))
    which = "begins" if first else "ends"
    stretch = period.said.rpartition(": ")[2]
    return Meant(node_id, f"{stretch}: {which} with {named(node_id)}")


def _after(end: datetime, zone: tzinfo) -> date:
    """The first day that a stretch does not reach into."""
    return calendar.local_day(end - timedelta(microseconds=1), zone) + DAY


def _node(first: date | None, after: date | None) -> tuple[str, bool]:
    """The widest node within bounds that begins with them, and whether it is all."""
    edge = first or (after - DAY if after else None)
    assert edge is not None
    for level in TocLevel:
        start, end = _bounds(level, edge)
        is_start = start == first if first else end == after
        if is_start and (after is None or end <= after):
            name = calendar.path(calendar.day_id(_inside(level, start)))
            return name[list(TocLevel).index(level)], (start, end) == (first, after)
    raise AssertionError("every stretch begins with a day")


def _bounds(level: TocLevel, day: date) -> tuple[date, date]:
    """The calendar's own period around a day: months and years from their first."""
    match level:
        case TocLevel.YEAR:
            return date(day.year, 1, 1), date(day.year + 1, 1, 1)
        case TocLevel.MONTH:
            start = day.replace(day=1)
            return start, (start + 31 * DAY).replace(day=1)
        case TocLevel.WEEK:
            monday = day - timedelta(days=day.weekday())
            return monday, monday + WEEK
        case _:
            return day, day + DAY


def _inside(level: TocLevel, start: date) -> date:
    """A day that the contents, too, hold to be in this year or month."""
    return start + WEEK if level in (TocLevel.YEAR, TocLevel.MONTH) else start


def named(node_id: str) -> str:
    """A node in words: "Tuesday 10 March 2026", "week of 9 March 2026"."""
    here = calendar.period(node_id)
    day = f"{here.first.day} {here.first:%B %Y}"
    match here.level:
        case TocLevel.DAY:
            return f"{here.first:%A} {day}"
        case TocLevel.WEEK:
            return f"week of {day}"
        case _:
            return calendar.title(node_id)
