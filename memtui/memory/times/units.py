"""Words of time: how days, months, counts and hours are written, and where they lie.

Everything here is a local date or a number; a zone turns them into moments later, so
that a day has as many hours as its clocks give it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

MORNING = (5 * 60, 12 * 60)
"""From when to when a morning lasts, in minutes from midnight."""


AFTERNOON = (12 * 60, 18 * 60)
"""An afternoon, likewise."""


EVENING = (18 * 60, 24 * 60)
"""An evening, likewise."""


NIGHT = (18 * 60, 29 * 60)
"""A night begins with its evening and ends at five on the next day."""


NOON = 12 * 60
"""In minutes from midnight."""


DAY = timedelta(days=1)
"""From one local date to the next."""


LOOK_BACK = 9
"""How many years back a date may lie: a 29 February is at most eight years away."""


BLANK = r"\s{1,3}"
"""Between two words; bounded, so that no run of blanks is read more than once."""


YEAR = r"(?:19[7-9][0-9]|20[0-9]{2})"
"""Years that are read."""


THAT_YEAR = rf"(?:,?{BLANK}(?:of{BLANK})?({YEAR}|'[0-9]{{2}}))?"
"""A year that may stand behind what it is of."""


def numbered(lines: str, first: int = 1) -> dict[str, int]:
    """Words by the number of their line."""
    return {
        word: number
        for number, row in enumerate(lines.strip().split("\n"), first)
        for word in row.split()
    }


MONTHS = numbered("""
    january jan
    february feb
    march mar
    april apr
    may
    june jun
    july jul
    august aug
    september sept sep
    october oct
    november nov
    december dec
""")
"""Months by their names and short names."""


SHORT = {name for name in MONTHS if len(name) <= 4} - {"may", "june", "july"}
"""The short names, which are words of other things too."""


PEOPLE = {"april", "may", "june", "august", "jan"}
"""Months that people are named after."""


VERBS = {"may", "march"}
"""Months that are verbs as well."""


WEEKDAYS = numbered("monday\ntuesday\nwednesday\nthursday\nfriday\nsaturday\nsunday", 0)
"""Days of the week, Monday first."""


SHORT_WEEKDAYS = numbered("mon\ntue tues\nwed\nthu thur thurs\nfri", 0)
"""Their short names; "sat" and "sun" are words of their own."""


SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first of a season's three months, in the north."""


ORDINALS = numbered("first 1st\nsecond 2nd\nthird 3rd\nfourth 4th last")
"""Quarters as they are counted."""


PARTS = {
    "morning": MORNING,
    "afternoon": AFTERNOON,
    "evening": EVENING,
    "night": NIGHT,
}
"""Parts of a day and their hours."""


_COUNTS = numbered(
    "a an one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve"
)


_VAGUE = {"couple": (2, 3), "few": (2, 5), "several": (3, 7)}


_FOREIGN_COUNTS = {"ein": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4}


_FOREIGN_COUNTS |= {"un": 1, "une": 1, "una": 1, "deux": 2, "trois": 3, "dos": 2}


_FOREIGN_COUNTS |= {"tres": 3, "一": 1, "两": 2, "三": 3, "四": 4}


UNITS = numbered("""
    minute minutes minuten minutos
    hour hours stunde stunden heure heures hora horas
    day days tag tagen jour jours día días 天
    week weeks woche wochen semaine semaines semana semanas 周
    month months monat monate monaten mois mes meses 月
    year years jahr jahre jahren an ans año años 年
""")
"""Units by name, from the minute, 1, to the year, 6."""


MINUTE, HOUR, DAYS, WEEK, MONTH, YEARS = range(1, 7)


COUNT = (
    r"(?:[0-9]{1,3}|(?:a\s)?(?:couple\sof|couple|few)|several"
    rf"|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
)
"""How many, in figures or in words."""


FOREIGN_COUNT = rf"(?:[0-9]{{1,3}}|{'|'.join(_FOREIGN_COUNTS)})"
"""The same in the other languages."""


_LOWER = str.maketrans(
    {chr(65 + i): chr(97 + i) for i in range(26)} | {"’": "'", "–": "-", "—": "-"}
)


def lowered(text: str) -> str:
    """A text with small letters and plain dashes, every sign in its own place."""
    return text.translate(_LOWER)


def either(names: Iterable[str]) -> str:
    """A pattern for any of some names, the longest first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def count(words: str) -> tuple[int, int]:
    """The least and the most that a count means: "three", "a couple of", "12"."""
    for word in words.split():
        if word in _VAGUE:
            return _VAGUE[word]
    number = _COUNTS.get(words) or _FOREIGN_COUNTS.get(words) or int(words)
    return number, number


@dataclass(frozen=True, slots=True)
class Days:
    """Local days, from the first one up to the one after the last."""

    first: date
    after: date

    def __len__(self) -> int:
        return (self.after - self.first).days

    def part(self, start: int, end: int, of: int) -> "Days":
        """Some of its equal parts: ``part(0, 1, 3)`` is the first third.

        Whole months are divided into months where that can be.
        """
        years = self.after.year - self.first.year
        count = 12 * years + self.after.month - self.first.month
        if self.first.day == self.after.day == 1 and count % of == 0:
            size, month = count // of, self.first.month
            return months(self.first.year, month + size * start, size * (end - start))
        size = len(self)
        first = self.first + timedelta(days=size * start // of)
        return Days(first, self.first + timedelta(days=size * end // of))


def day(first: date) -> Days:
    """One day."""
    return Days(first, first + DAY)


def week(any_day: date) -> Days:
    """The week, from its Monday, that a day is in."""
    monday = any_day - timedelta(days=any_day.weekday())
    return Days(monday, monday + 7 * DAY)


def iso_week(year: int, number: int) -> Days:
    """A week by its number; ValueError if the year has none of it."""
    return week(date.fromisocalendar(year, number, 1))


def months(year: int, month: int, count: int = 1) -> Days:
    """Whole months from one on; a month below 1 or above 12 is of another year."""
    return Days(_first(year, month), _first(year, month + count))


def _first(year: int, month: int) -> date:
    years, rest = divmod(month - 1, 12)
    return date(year + years, rest + 1, 1)


def moved(from_day: date, months: int) -> date:
    """The same day so many months later, or the last one its month has."""
    last = _first(from_day.year, from_day.month + months + 1) - DAY
    return last.replace(day=min(from_day.day, last.day))


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day that comes every week."""

    number: int

    def latest(self, day_: date) -> Days:
        """The last one up to a day, itself included."""
        return day(day_ - timedelta(days=(day_.weekday() - self.number) % 7))

    def inside(self, days: Days) -> Days | None:
        """The one in a week; None if that is no week."""
        return self.latest(days.after - DAY) if len(days) == 7 else None


@dataclass(frozen=True, slots=True)
class Yearly:
    """What comes every year: a month, a date, a quarter, a season, a week."""

    of: Callable[[int], Days]
    """The one of a year; ValueError if it has none."""

    def latest(self, day_: date) -> Days | None:
        """The last one that has begun by a day."""
        for year in range(day_.year, day_.year - LOOK_BACK, -1):
            found = self._of(year)
            if found and found.first <= day_:
                return found
        return None

    def inside(self, days: Days) -> Days | None:
        """The one of a year; None if that is no year."""
        return self._of(days.first.year) if len(days) in (365, 366) else None

    def _of(self, year: int) -> Days | None:
        try:
            return self.of(year)
        except (ValueError, OverflowError):
            return None


Name = Weekday | Yearly
"""What comes again and again, and is told by the days around it."""


def months_of(month: int, count: int = 1) -> Yearly:
    """So many months from one on, every year."""
    return Yearly(lambda year: months(year, month, count))
