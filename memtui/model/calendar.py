"""The calendar behind the table of contents: ids, titles and bounds.

Weeks are ISO-8601. A week belongs to the month, and so to the year, of its Thursday;
months and years hold whole weeks (decisions §5). All of it follows from a node's id
and the store's time zone, never from the events under it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memtui.model.nodes import TocLevel

THURSDAY = 4
"""The day that decides where an ISO week belongs."""

_FORMS = {
    TocLevel.YEAR: re.compile(r"(\d{4})"),
    TocLevel.MONTH: re.compile(r"(\d{4})[-:](\d{2})"),
    TocLevel.WEEK: re.compile(r"(\d{4})[-:]W?(\d{1,2})"),
    TocLevel.DAY: re.compile(r"(\d{4})[-:](\d{2})[-:](\d{2})"),
    TocLevel.SEGMENT: re.compile(r"(\d{4})[-:](\d{2})[-:](\d{2})[:T](.+)"),
}


@dataclass(frozen=True, slots=True)
class Period:
    """A node's stretch of local days; for a segment, the day it starts in."""

    level: TocLevel
    first: date
    days: int
    key: str = ""
    """What tells a segment from the others of its day."""

    @property
    def end(self) -> date:
        """The first day after it."""
        return self.first + timedelta(days=self.days)


def local_day(at: datetime, zone: tzinfo) -> date:
    """The local day of an aware time."""
    return at.astimezone(zone).date()


def day_id(day: date) -> str:
    """The id of a day: ``toc:day:2024-01-15``."""
    return f"toc:day:{day.isoformat()}"


def segment_id(day: date, event_id: str) -> str:
    """The id of a segment, by the local day and the id of its first event."""
    return f"toc:segment:{day.isoformat()}:{event_id}"


def period(node_id: str) -> Period:
    """Read a node's id, in our form or in one of the older forms (decisions §5).

    Raises:
        ValueError: This is no id of a node.
    """
    prefix, _, rest = node_id.partition(":")
    word, _, parts = rest.partition(":")
    if prefix != "toc" or word not in set(TocLevel):
        raise ValueError(f"{node_id!r} is not the id of a node")
    level = TocLevel(word)
    found = _FORMS[level].fullmatch(parts)
    if not found:
        raise ValueError(f"{node_id!r} is not the id of a {level}")
    return _read(level, found.groups())


def _read(level: TocLevel, parts: tuple[str, ...]) -> Period:
    numbers = [int(part) for part in parts[:3] if part.isdigit()]
    if level is TocLevel.YEAR:
        first = date.fromisocalendar(numbers[0], 1, 1)
        return Period(level, first, (_iso_year_end(numbers[0]) - first).days)
    if level is TocLevel.MONTH:
        return _month(numbers[0], numbers[1])
    if level is TocLevel.WEEK:
        return Period(level, date.fromisocalendar(numbers[0], numbers[1], 1), 7)
    day = date(numbers[0], numbers[1], numbers[2])
    return Period(level, day, 1, parts[3] if level is TocLevel.SEGMENT else "")


def _iso_year_end(year: int) -> date:
    return date.fromisocalendar(year + 1, 1, 1)


def _month(year: int, month: int) -> Period:
    first = _first_week(year, month)
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return Period(TocLevel.MONTH, first, (_first_week(*following) - first).days)


def _first_week(year: int, month: int) -> date:
    """The Monday of the first week whose Thursday lies in the month."""
    start = date(year, month, 1)
    thursday = start + timedelta(days=(THURSDAY - start.isoweekday()) % 7)
    return thursday - timedelta(days=THURSDAY - 1)


def parent_id(node_id: str) -> str | None:
    """The id of the node above, by the Thursday rule; None for a year."""
    here = period(node_id)
    if here.level is TocLevel.SEGMENT:
        return day_id(here.first)
    if here.level is TocLevel.DAY:
        iso = here.first.isocalendar()
        return f"toc:week:{iso.year:04}-W{iso.week:02}"
    thursday = here.first + timedelta(days=THURSDAY - 1)
    if here.level is TocLevel.WEEK:
        return f"toc:month:{thursday:%Y-%m}"
    if here.level is TocLevel.MONTH:
        return f"toc:year:{thursday.year:04}"
    return None


def ancestor_id(day: str, level: TocLevel) -> str:
    """The node of a level in which a day lies, by the day's id; or that itself.

    As ``path`` tells it, for many days at once.
    """
    if level is TocLevel.DAY:
        return day
    first = date.fromisoformat(day.removeprefix("toc:day:"))
    thursday = first + timedelta(days=THURSDAY - first.isoweekday())
    if level is TocLevel.WEEK:
        return f"toc:week:{thursday.year:04}-W{thursday.isocalendar().week:02}"
    if level is TocLevel.MONTH:
        return f"toc:month:{thursday:%Y-%m}"
    return f"toc:year:{thursday.year:04}"


def path(node_id: str) -> list[str]:
    """The ids from the year down to this node, itself included."""
    ids = [canonical(node_id)]
    while (above := parent_id(ids[-1])) is not None:
        ids.append(above)
    return ids[::-1]


def canonical(node_id: str) -> str:
    """An id in our form, whichever form it came in."""
    here = period(node_id)
    if here.level is TocLevel.SEGMENT:
        return segment_id(here.first, here.key)
    if here.level is TocLevel.DAY:
        return day_id(here.first)
    thursday = here.first + timedelta(days=THURSDAY - 1)
    if here.level is TocLevel.WEEK:
        return f"toc:week:{thursday.year:04}-W{thursday.isocalendar().week:02}"
    if here.level is TocLevel.MONTH:
        return f"toc:month:{thursday:%Y-%m}"
    return f"toc:year:{thursday.year:04}"


def bounds(node_id: str, zone: tzinfo) -> tuple[datetime, datetime]:
    """When a node's period begins and when the next one does, in UTC.

    A day is 23 or 25 hours long where the clocks change.
    """
    here = period(node_id)
    return _midnight(here.first, zone), _midnight(here.end, zone)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def title(node_id: str) -> str:
    """The calendar's title of a node; empty for a segment, whose title is said."""
    here = period(node_id)
    if here.level is TocLevel.DAY:
        return f"{here.first:%A, %B} {here.first.day}, {here.first.year}"
    if here.level is TocLevel.WEEK:
        return _week_title(here.first, here.first + timedelta(days=6))
    thursday = here.first + timedelta(days=THURSDAY - 1)
    if here.level is TocLevel.MONTH:
        return f"{thursday:%B} {thursday.year}"
    return str(thursday.year) if here.level is TocLevel.YEAR else ""


def _week_title(first: date, last: date) -> str:
    if first.year != last.year:
        begins = f"{first:%B} {first.day}, {first.year} – "
    elif first.month != last.month:
        begins = f"{first:%B} {first.day} – "
    else:
        return f"Week of {first:%B} {first.day}–{last.day}, {last.year}"
    return f"Week of {begins}{last:%B} {last.day}, {last.year}"


WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class CalendarDay:
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
class CalendarYear:
    """The days of a year of which something is kept."""

    number: int
    days: Mapping[date, CalendarDay] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DateRange:
    """The first and the last day of which anything is kept."""

    first: date
    last: date


def iso_year(day: date) -> int:
    """The year of whose weeks a day is one."""
    return day.isocalendar().year


def first_day(year: int) -> date:
    """The Monday a year begins with."""
    return date.fromisocalendar(year, 1, 1)


def week_count(year: int) -> int:
    """How many weeks a year has: 52 or 53."""
    return (first_day(year + 1) - first_day(year)) // WEEK


def same_day(day: date, year: int) -> date:
    """The day of another year in the same place: its week and its weekday."""
    here = day.isocalendar()
    return date.fromisocalendar(year, min(here.week, week_count(year)), here.weekday)
