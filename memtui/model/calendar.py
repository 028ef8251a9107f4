"""The calendar of the table of contents: ids, titles and bounds of nodes.

Weeks are ISO-8601. A week belongs to the month, and so to the year, of its Thursday;
months and years contain whole weeks. All of it follows from a node's id
and the store's time zone, never from the events under it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memtui.model.nodes import TocLevel

THURSDAY = 4
"""The day that decides to which month and year an ISO week belongs."""

_FORMS = {
    TocLevel.YEAR: re.compile(r"(\d{4})"),
    TocLevel.MONTH: re.compile(r"(\d{4})[-:](\d{2})"),
    TocLevel.WEEK: re.compile(r"(\d{4})[-:]W?(\d{1,2})"),
    TocLevel.DAY: re.compile(r"(\d{4})[-:](\d{2})[-:](\d{2})"),
    TocLevel.SEGMENT: re.compile(r"(\d{4})[-:](\d{2})[-:](\d{2})[:T](.+)"),
}


@dataclass(frozen=True, slots=True)
class Period:
    """The local days of a node; for a segment, the day it starts in."""

    level: TocLevel
    first: date
    days: int
    key: str = ""
    """The id of a segment's first event; else empty."""

    @property
    def end(self) -> date:
        """The first day after it."""
        return self.first + timedelta(days=self.days)


def local_day(at: datetime, zone: tzinfo) -> date:
    """Return the local day of an aware time."""
    return at.astimezone(zone).date()


def day_id(day: date) -> str:
    """Return the id of a day: ``toc:day:2024-01-15``."""
    return f"toc:day:{day.isoformat()}"


def segment_id(day: date, event_id: str) -> str:
    """Return the id of a segment, from its local day and the id of its first event."""
    return f"toc:segment:{day.isoformat()}:{event_id}"


def period(node_id: str) -> Period:
    """Parse a node's id, in the canonical or an older form.

    Raises:
        ValueError: This is not the id of a node.
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
        first = first_day(numbers[0])
        return Period(level, first, (first_day(numbers[0] + 1) - first).days)
    if level is TocLevel.MONTH:
        year, month = numbers
        first = _first_week(year, month)
        after = _first_week(year + month // 12, month % 12 + 1)
        return Period(level, first, (after - first).days)
    if level is TocLevel.WEEK:
        return Period(level, date.fromisocalendar(numbers[0], numbers[1], 1), 7)
    day = date(numbers[0], numbers[1], numbers[2])
    return Period(level, day, 1, parts[3] if level is TocLevel.SEGMENT else "")


def _first_week(year: int, month: int) -> date:
    """Return the Monday of the first week whose Thursday is in the month."""
    start = date(year, month, 1)
    thursday = start + timedelta(days=(THURSDAY - start.isoweekday()) % 7)
    return thursday - timedelta(days=THURSDAY - 1)


def id_at(level: TocLevel, day: date) -> str:
    """Return the id of the day, week, month or year that contains a day."""
    if level is TocLevel.DAY:
        return day_id(day)
    thursday = _thursday(day)
    if level is TocLevel.WEEK:
        return f"toc:week:{thursday.year:04}-W{thursday.isocalendar().week:02}"
    if level is TocLevel.MONTH:
        return f"toc:month:{thursday:%Y-%m}"
    return f"toc:year:{thursday.year:04}"


def _thursday(day: date) -> date:
    return day + timedelta(days=THURSDAY - day.isoweekday())


def parent_id(node_id: str) -> str | None:
    """Return the id of the parent, by the Thursday rule; None for a year."""
    here = period(node_id)
    above = here.level.parent()
    return id_at(above, here.first) if above else None


def ancestor_id(day: str, level: TocLevel) -> str:
    """Return the ancestor of a day on a level; the day itself for its own level."""
    return id_at(level, date.fromisoformat(day.removeprefix("toc:day:")))


def path(node_id: str) -> list[str]:
    """Return the ids from the year down to this node, including it."""
    ids = [canonical(node_id)]
    while (parent := parent_id(ids[-1])) is not None:
        ids.append(parent)
    return ids[::-1]


def canonical(node_id: str) -> str:
    """Return an id in its canonical form."""
    here = period(node_id)
    if here.level is TocLevel.SEGMENT:
        return segment_id(here.first, here.key)
    return id_at(here.level, here.first)


def bounds(node_id: str, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the start of a node's period and of the next one, in UTC.

    A day is 23 or 25 hours long where the clocks change.
    """
    here = period(node_id)
    return _midnight(here.first, zone), _midnight(here.end, zone)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def title(node_id: str) -> str:
    """Return the calendar title of a node; empty for a segment."""
    here = period(node_id)
    if here.level is TocLevel.DAY:
        return f"{here.first:%A, %B} {here.first.day}, {here.first.year}"
    thursday = _thursday(here.first)
    if here.level is TocLevel.MONTH:
        return f"{thursday:%B} {thursday.year}"
    if here.level is not TocLevel.WEEK:
        return str(thursday.year) if here.level is TocLevel.YEAR else ""
    first, last = here.first, here.first + timedelta(days=6)
    if first.month == last.month:
        return f"Week of {first:%B} {first.day}–{last.day}, {last.year}"
    year = f", {first.year}" if first.year != last.year else ""
    return f"Week of {first:%B} {first.day}{year} – {last:%B} {last.day}, {last.year}"


WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day with stored events."""

    day: date
    node_id: str
    segments: int
    messages: int
    headline: str
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    is_live: bool
    """True if it contains an open segment."""
    is_pending: bool
    """True if it has no version yet: then its finished segments are counted."""


@dataclass(frozen=True, slots=True)
class CalendarYear:
    """The days of a year with stored events."""

    number: int
    days: Mapping[date, CalendarDay] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DateRange:
    """The first and the last day with stored events."""

    first: date
    last: date


def iso_year(day: date) -> int:
    """Return the ISO year of a day."""
    return day.isocalendar().year


def first_day(year: int) -> date:
    """Return the Monday on which an ISO year begins."""
    return date.fromisocalendar(year, 1, 1)


def week_count(year: int) -> int:
    """Return the number of weeks of an ISO year: 52 or 53."""
    return (first_day(year + 1) - first_day(year)) // WEEK


def same_day(day: date, year: int) -> date:
    """Return the day of another year in the same week and on the same weekday."""
    here = day.isocalendar()
    return date.fromisocalendar(year, min(here.week, week_count(year)), here.weekday)
