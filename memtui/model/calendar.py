"""The calendar of the table of contents: ids, titles and bounds of nodes.

Years and months are those of the calendar, weeks are ISO-8601. A week across two months
is listed under both, each with its own days; its stored parent is the month of its
Thursday, even if nothing is stored of that month's days, so that the month has no node.
All of it follows from a node's id and the store's time zone, never from the events
under it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum


class TocLevel(StrEnum):
    """A level of the table of contents, from the widest to the narrowest."""

    YEAR = "year"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    SEGMENT = "segment"

    def parent(self) -> "TocLevel | None":
        """Return the level above; None for a year."""
        place = _ORDER.index(self)
        return _ORDER[place - 1] if place else None

    def child(self) -> "TocLevel | None":
        """Return the level below; None for a segment."""
        place = _ORDER.index(self) + 1
        return _ORDER[place] if place < len(_ORDER) else None


_ORDER = tuple(TocLevel)

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

    @property
    def last(self) -> date:
        return self.first + timedelta(days=self.days - 1)


def local_day(at: datetime, zone: tzinfo) -> date:
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
    prefix, _, level_and_date = node_id.partition(":")
    word, _, parts = level_and_date.partition(":")
    if prefix != "toc" or word not in _FORMS:
        raise ValueError(f"{node_id!r} is not the id of a node")
    level = TocLevel(word)
    match = _FORMS[level].fullmatch(parts)
    if not match:
        raise ValueError(f"{node_id!r} is not the id of a {level}")
    here = _read(level, match.groups())
    if here.first > date.max - timedelta(days=here.days):
        raise ValueError(f"{node_id!r} ends after the last date")
    return here


def _read(level: TocLevel, parts: tuple[str, ...]) -> Period:
    numbers = [int(part) for part in parts[:3] if part.isdigit()]
    if level is TocLevel.YEAR:
        first = date(numbers[0], 1, 1)
        return Period(level, first, (date(numbers[0] + 1, 1, 1) - first).days)
    if level is TocLevel.MONTH:
        year, month = numbers
        first = date(year, month, 1)
        after = date(year + month // 12, month % 12 + 1, 1)
        return Period(level, first, (after - first).days)
    if level is TocLevel.WEEK:
        return Period(level, date.fromisocalendar(numbers[0], numbers[1], 1), 7)
    day = date(numbers[0], numbers[1], numbers[2])
    return Period(level, day, 1, parts[3] if level is TocLevel.SEGMENT else "")


def id_at(level: TocLevel, day: date) -> str:
    """Return the id of the day, week, month or year that contains a day."""
    if level is TocLevel.DAY:
        return day_id(day)
    if level is TocLevel.WEEK:
        iso = day.isocalendar()
        return f"toc:week:{iso.year:04}-W{iso.week:02}"
    if level is TocLevel.MONTH:
        return f"toc:month:{day.year:04}-{day.month:02}"
    return f"toc:year:{day.year:04}"


def _decisive_day(here: Period) -> date:
    """Return the day whose month and year a node belongs to; a week's Thursday."""
    return here.first + timedelta(days=3 if here.level is TocLevel.WEEK else 0)


def parent_id(node_id: str) -> str | None:
    """Return the id of the stored parent: of a week, the month of its Thursday.

    None for a year.
    """
    here = period(node_id)
    above = here.level.parent()
    return id_at(above, _decisive_day(here)) if above else None


def parent_ids(node_id: str) -> list[str]:
    """Return the ids of the nodes that list a node: for a week, one or two months."""
    here = period(node_id)
    above = here.level.parent()
    if above is None:
        return []
    edges = (here.first, here.last)
    return list(dict.fromkeys(id_at(above, day) for day in edges))


def rolled_into(node_id: str) -> list[str]:
    """Return the ids of the nodes that are summarized from a node.

    A day is part of its week and of its month; a week is part of no other node.
    """
    here = period(node_id)
    if here.level is TocLevel.DAY:
        return [id_at(level, here.first) for level in (TocLevel.WEEK, TocLevel.MONTH)]
    return [] if here.level is TocLevel.WEEK else parent_ids(node_id)


def ancestor_id(day: str, level: TocLevel) -> str:
    """Return the ancestor of a day on a level; the day itself for its own level."""
    return id_at(level, date.fromisoformat(day.removeprefix("toc:day:")))


def path(node_id: str, month_id: str = "") -> list[str]:
    """Return the ids from the year down to this node, including it.

    A day is below its week, month and year. A week is below the month that it is listed
    under, by default that of its Thursday.
    """
    here = period(node_id)
    wider = _ORDER[: _ORDER.index(here.level)]
    is_listed = here.level is TocLevel.WEEK and month_id
    day = period(month_id).first if is_listed else _decisive_day(here)
    return [*(id_at(level, day) for level in wider), canonical(node_id)]


DayRange = tuple[str, str]
"""The id of a first day, and of the day after the last."""


def day_range(node_id: str) -> DayRange:
    """Return the days of a node; for a segment, the day it starts in."""
    here = period(node_id)
    return day_id(here.first), day_id(here.end)


def canonical(node_id: str) -> str:
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
    if here.level is TocLevel.MONTH:
        return f"{here.first:%B} {here.first.year}"
    if here.level is not TocLevel.WEEK:
        return str(here.first.year) if here.level is TocLevel.YEAR else ""
    first, last = here.first, here.last
    if first.month == last.month:
        return f"Week of {first:%B} {first.day}–{last.day}, {last.year}"
    year = f", {first.year}" if first.year != last.year else ""
    return f"Week of {first:%B} {first.day}{year} – {last:%B} {last.day}, {last.year}"


WEEK = timedelta(days=7)


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def week_count(first: date, end: date) -> int:
    """Return the number of weeks with days of a period, which excludes its end."""
    return (monday(end - timedelta(days=1)) - monday(first)) // WEEK + 1


def same_day(day: date, year: int) -> date:
    """Return the day of another year with the same date; 28 February for the 29th."""
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=year, day=28) if is_leap_day else day.replace(year=year)
