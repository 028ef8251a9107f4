"""What one time is as it is written, before what stands beside it is looked at."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memtui.memory.times.units import DAY, Days, Name, Yearly

AT = timedelta(minutes=30)
"""A time of day means so much on each side of it."""


AROUND = timedelta(hours=1)
"""With "around" it means so much."""


@dataclass(frozen=True, slots=True)
class Here:
    """When and where a question is asked, and the question itself."""

    now: datetime
    zone: tzinfo
    text: str
    today: date
    """The local day."""

    def is_capital(self, place: int) -> bool:
        """Whether the sign at a place is a capital letter."""
        return self.text[place].isupper()

    def at(self, day: date, minutes: int, fold: int = 0) -> datetime:
        """A local time of a day in UTC, one of two where the clocks change."""
        days, minute = divmod(minutes, 24 * 60)
        clock = time(minute // 60, minute % 60, fold=fold)
        moment = datetime.combine(day + days * DAY, clock, self.zone)
        return moment.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of some day, in minutes from its midnight."""

    start: int
    end: int
    slack: timedelta = timedelta()
    """How much is meant on each side of it; only a moment has any."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One time as it is written, as far as its own words tell."""

    start: int
    end: int
    days: Days | None = None
    hours: Hours | None = None
    """The hours meant, of its one day or of one that stands beside it."""
    exact: tuple[datetime, datetime] | None = None
    """The bounds themselves, where no calendar has a part in them."""
    name: Name | None = None
    """What it is one of: this Tuesday is one of the Tuesdays."""
    needs: str = ""
    """What must stand before it, or it is no time: a key of ``beside.NEEDS``."""
    is_full: bool = False
    """Whether nothing is left open: its year is written, or it counts from now."""
    is_soft: bool = False
    """Whether it is meant loosely."""


Reader = Callable[["re.Match[str]", Here], Spoken | None]
"""How a form is read; a ValueError where the calendar has no such day."""


Forms = dict[str, tuple[str, Reader]]
"""The pattern of each form and how it is read, by a name."""


def of_days(match: "re.Match[str]", days: Days, is_soft: bool = False) -> Spoken:
    """A time that leaves nothing open."""
    return Spoken(*match.span(), days=days, is_full=True, is_soft=is_soft)


def latest(
    match: "re.Match[str]", here: Here, name: Name, needs: str = ""
) -> Spoken | None:
    """The latest of what comes again and again that has begun."""
    days = name.latest(here.today)
    if days is None:
        return None
    return Spoken(*match.span(), days=days, name=name, needs=needs)


def yearly(
    match: "re.Match[str]",
    here: Here,
    of: Callable[[int], Days],
    year: str | None,
    needs: str = "",
) -> Spoken | None:
    """What comes every year: the one of a year that is written, or the latest."""
    if year:
        return of_days(match, of(int(year.replace("'", "20"))))
    return latest(match, here, Yearly(of), needs)
