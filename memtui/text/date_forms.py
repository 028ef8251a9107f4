r"""The table of English and ISO date forms: "3 June", "2025-W11", "two weeks ago".

Each row of ``FORMS`` is a pattern and the function that turns its match into a
``Phrase``; to read a new form, add a row. In patterns a space stands for one to three
blanks (bounded, so that reading stays linear) and ``{name}`` for an entry of ``WORDS``,
most of them a group of that name. The text to match is in lower case, see ``lowered``.

Dates are local dates here; ``Context.moment`` applies the time zone, so that a day is
as long as its clocks make it. A date without its year is the latest that has begun.
``3/6/2025`` is ambiguous and not read; ``14/3/2025`` and ``3.6.2025`` are not.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MINUTES_OF_DAY = 24 * 60
BLANK = r"\s{1,3}"

CLOCK_SLACK = timedelta(minutes=30)
"""A time of day includes the time around it."""

PARTS = {
    "morning": (5 * 60, 12 * 60),
    "afternoon": (12 * 60, 18 * 60),
    "evening": (18 * 60, 24 * 60),
    "night": (18 * 60, 29 * 60),
}
"""Parts of a day, in minutes from its midnight; a night ends on the next day."""


class Unit(NamedTuple):
    """A unit of time that can be counted."""

    length: timedelta | int
    """A number is a number of months."""
    slack: timedelta
    """The tolerance of "one ago" on each side of that day or moment."""


UNITS = {
    "minute": Unit(timedelta(minutes=1), timedelta(minutes=5)),
    "half an hour": Unit(timedelta(minutes=30), timedelta(minutes=15)),
    "hour": Unit(timedelta(hours=1), timedelta(minutes=30)),
    "day": Unit(DAY, timedelta()),
    "week": Unit(WEEK, 3 * DAY),
    "fortnight": Unit(2 * WEEK, 3 * DAY),
    "month": Unit(1, 15 * DAY),
    "quarter": Unit(3, 45 * DAY),
    "half a year": Unit(6, 15 * DAY),
    "year": Unit(12, 182 * DAY),
}

_SHORT_UNITS = {"h": "hour", "m": "minute", "d": "day", "w": "week"}
_VAGUE_COUNTS = {"couple": (2, 3), "few": (2, 5), "several": (3, 7)}


def _numbered(lines: str, first: int = 1) -> dict[str, int]:
    """Map words to the number of the line they are on."""
    return {
        word: number
        for number, line in enumerate(lines.strip().split("\n"), first)
        for word in line.split()
    }


_COUNTS = _numbered(
    "a an one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve"
)

ORDINALS = _numbered("first 1st\nsecond 2nd\nthird 3rd\nfourth 4th last")

MONTHS = _numbered("""
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

SHORT_MONTHS = {name for name in MONTHS if len(name) <= 4} - {"may", "june", "july"}
NAMES_OF_PEOPLE = {"april", "may", "june", "august", "jan"}
VERBS = {"may", "march"}

WEEKDAYS = _numbered(
    "monday\ntuesday\nwednesday\nthursday\nfriday\nsaturday\nsunday", 0
)

SHORT_WEEKDAYS = _numbered("mon\ntue tues\nwed\nthu thur thurs\nfri", 0)
"""Without "sat" and "sun", which are ordinary words."""

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first of a season's three months, in the north."""


@dataclass(frozen=True, slots=True)
class Days:
    """Local days from ``first`` up to ``after``, which is excluded."""

    first: date
    after: date

    def __len__(self) -> int:
        return (self.after - self.first).days

    def shifted(self, by: timedelta) -> "Days":
        """Return as many days, so much later."""
        return Days(self.first + by, self.after + by)

    def part(self, start: int, end: int, of: int) -> "Days":
        """Return some of its equal parts: ``part(0, 1, 3)`` is the first third.

        Whole months are divided into whole months where possible.
        """
        years = self.after.year - self.first.year
        count = 12 * years + self.after.month - self.first.month
        if self.first.day == self.after.day == 1 and count % of == 0:
            size, month = count // of, self.first.month
            return months(self.first.year, month + size * start, size * (end - start))
        size = len(self)
        return Days(
            self.first + timedelta(days=size * start // of),
            self.first + timedelta(days=size * end // of),
        )


def one_day(day: date) -> Days:
    return Days(day, day + DAY)


def week(day: date) -> Days:
    """Return the week of a day, from its Monday."""
    monday = day - timedelta(days=day.weekday())
    return Days(monday, monday + WEEK)


def months(year: int, month: int, count: int = 1) -> Days:
    """Return whole months; a month below 1 or above 12 is in another year."""
    return Days(_first_of(year, month), _first_of(year, month + count))


def _first_of(year: int, month: int) -> date:
    years, rest = divmod(month - 1, 12)
    return date(year + years, rest + 1, 1)


def back(day: date, unit: Unit, count: int) -> date:
    """Return the day a number of units earlier, at most the last day of its month."""
    if isinstance(unit.length, timedelta):
        return day - unit.length * count
    last = _first_of(day.year, day.month - unit.length * count + 1) - DAY
    return last.replace(day=min(day.day, last.day))


def calendar_unit(today: date, unit: str, ago: int) -> Days:
    """Return the week, month, quarter or year a number of units before this one."""
    if unit == "week":
        return week(today - ago * WEEK)
    if unit == "month":
        return months(today.year, today.month - ago)
    if unit == "quarter":
        return months(today.year, (today.month - 1) // 3 * 3 + 1 - 3 * ago, 3)
    return months(today.year - ago, 1, 12)


@dataclass(frozen=True, slots=True)
class Recurring:
    """Days that come again every week or every year: Tuesdays, weekends, March, Q1."""

    days_of: Callable[[int], Days]
    """The days of a year, or of a week by its number since the year 1."""
    is_weekly: bool = False

    def latest(self, day: date) -> Days | None:
        """Return the last one that has begun by a day."""
        number = (day.toordinal() - 1) // 7 if self.is_weekly else day.year
        # A 29 February is at most eight years away.
        for one in range(number, number - 9, -1):
            try:
                days = self.days_of(one)
            except (ValueError, OverflowError):
                continue  # A year without this day, or out of the calendar.
            if days.first <= day:
                return days
        return None

    def inside(self, days: Days) -> Days | None:
        """Return the one in a whole week or year; None if ``days`` is neither."""
        if len(days) not in ((7,) if self.is_weekly else (365, 366)):
            return None
        found = self.latest(days.after - DAY)
        return found if found and found.first >= days.first else None


def _weekly(weekday: int, length: timedelta = DAY) -> Recurring:
    def days_of(number: int) -> Days:
        first = date.fromordinal(7 * number + 1 + weekday)
        return Days(first, first + length)

    return Recurring(days_of, is_weekly=True)


def _yearly(month: int, count: int = 1) -> Recurring:
    return Recurring(lambda year: months(year, month, count))


WEEKEND = _weekly(5, 2 * DAY)
NAMED = (
    {name: _yearly(month) for name, month in MONTHS.items()}
    | {name: _yearly(month, 3) for name, month in SEASONS.items()}
    | {name: _weekly(day) for name, day in (WEEKDAYS | SHORT_WEEKDAYS).items()}
    | {"weekend": WEEKEND}
)


@dataclass(frozen=True, slots=True)
class DateContext:
    """The text that is read, and when and where it was written."""

    now: datetime
    zone: tzinfo
    text: str
    today: date
    """The local day of ``now``."""

    def is_capital(self, place: int) -> bool:
        """Return whether a word is a name, "May", rather than a verb, "may"."""
        return self.text[place].isupper()

    def moment(self, day: date, minutes: int, fold: int = 0) -> datetime:
        """Return a local time in UTC; ``fold`` chooses where the clocks go back."""
        days, minute = divmod(minutes, MINUTES_OF_DAY)
        clock = time(minute // 60, minute % 60, fold=fold)
        return datetime.combine(day + days * DAY, clock, self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of some day, in minutes from its midnight."""

    start: int
    end: int
    slack: timedelta = timedelta()
    """The tolerance of a single moment on each side of it."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time as one form gives it, before the words around it are considered."""

    start: int = 0
    end: int = 0
    """Its position, in characters of the text."""
    days: Days | None = None
    hours: Hours | None = None
    """Hours of its day, or of a day named beside it."""
    exact: tuple[datetime, datetime] | None = None
    """Its bounds, where they do not follow the calendar."""
    recurring: Recurring | None = None
    needs: str = ""
    """The kind of word that must precede it to be a time: a key of ``PRECEDING``."""
    is_definite: bool = False
    """True if its year is written or it counts from now, so that it means one date."""
    is_soft: bool = False
    """True for loose times, which prefer a period but exclude nothing."""


Match = re.Match[str]

Reader = Callable[[Match, DateContext], Phrase | None]
"""None or a ValueError mean that this is no date after all."""


def _definite(days: Days | None) -> Phrase | None:
    return Phrase(days=days, is_definite=True) if days else None


def _latest(
    match: Match, context: DateContext, recurring: Recurring, needs: str = ""
) -> Phrase | None:
    """Return the one of the year that is written, or the latest that has begun."""
    if year := match.groupdict().get("year"):
        return _definite(recurring.days_of(int(year.replace("'", "20"))))
    days = recurring.latest(context.today)
    if days is None:
        return None
    return Phrase(days=days, recurring=recurring, needs=needs)


# Dates and times as a calendar and a clock give them.


def _iso(match: Match, context: DateContext) -> Phrase | None:
    day = date.fromisoformat(match["date"].replace("/", "-"))
    if not match["clock"]:
        return _definite(one_day(day))
    clock, clock2, offset = match["clock"], match["clock2"], match["offset"]
    # "10:02-05:00" is five hours behind UTC, "10:02-10:04" two minutes.
    if clock2 and clock2 < clock and clock2[3:] in ("00", "30", "45"):
        offset = f"-{clock2}"
    elif clock2:
        start, end = _minutes(clock), _minutes(clock2)
        hours = Hours(start, end if start < end else end + MINUTES_OF_DAY)
        return Phrase(days=one_day(day), hours=hours, is_definite=True)
    if offset:
        stamp = f"{day}T{clock}{offset.upper()}"
        at = datetime.fromisoformat(stamp).astimezone(UTC)
        bounds = at - CLOCK_SLACK, at + CLOCK_SLACK
        return Phrase(exact=bounds, is_definite=True)
    minutes = _minutes(clock)
    hours = Hours(minutes, minutes, CLOCK_SLACK)
    return Phrase(days=one_day(day), hours=hours, is_definite=True)


def _minutes(clock: str) -> int:
    """Return the minutes from midnight to a time like 10:02."""
    return 60 * int(clock[:2]) + int(clock[3:])


def _iso_interval(match: Match, context: DateContext) -> Phrase | None:
    """Read "2025-03-01/2025-03-05" and the same with times; days are included."""
    first, last = re.split(r"/|\.\.", match[0].upper())
    if len(first) == len(last) == 10:
        days = sorted(map(date.fromisoformat, (first, last)))
        return _definite(Days(days[0], days[1] + DAY))
    if len(last) < 10:
        last = f"{first[:11]}{last}"
    start, end = (
        (at if at.tzinfo else at.replace(tzinfo=context.zone)).astimezone(UTC)
        for at in map(datetime.fromisoformat, (first, last))
    )
    end += DAY if len(last) == 10 else timedelta()
    if start >= end:
        return None
    return Phrase(exact=(start, end), is_definite=True)


def _iso_duration(match: Match, context: DateContext) -> Phrase | None:
    """Read "2025-03-01T10:00/PT30M" and "PT30M/2025-03-01T10:30"."""
    parts = match[0].upper().split("/")
    moments = [part for part in parts if part[0] != "P"]
    amounts = {unit: int(match[unit] or 0) for unit in _DURATION_UNITS}
    if len(moments) != 1 or not (length := timedelta(**amounts)):
        return None
    at = datetime.fromisoformat(moments[0])
    if not at.tzinfo:
        at = at.replace(tzinfo=context.zone)
    start = at if parts[0] == moments[0] else at - length
    start = start.astimezone(UTC)
    return Phrase(exact=(start, start + length), is_definite=True)


def _milliseconds(match: Match, context: DateContext) -> Phrase | None:
    """Read a Unix time in milliseconds, or two as an interval."""
    first, last = sorted((int(match["ms"]), int(match["ms2"] or match["ms"])))
    start, end = (datetime.fromtimestamp(at / 1000, UTC) for at in (first, last + 1))
    needs = "" if match["ms2"] else "date"
    return Phrase(exact=(start, end), needs=needs, is_definite=True)


def _numeric(match: Match, context: DateContext) -> Phrase | None:
    day, month = int(match["day"]), int(match["number"])
    if match["mark"] == "/":
        if day <= 12 and month <= 12 and day != month:
            return None
        day, month = max(day, month), min(day, month)
    return _definite(one_day(date(int(match["year"]), month, day)))


_SENTENCE_START = re.compile(r"(?:^|[.?!:])\s{0,3}$")


def _date(match: Match, context: DateContext) -> Phrase | None:
    """Read one day or a few of a month; "step 3 may fail" needs an "on" to be one."""
    groups = match.groupdict()
    month = MONTHS[match["month"]]
    first, last = int(match["day"]), int(groups.get("day2") or match["day"])
    if first > last:
        return None
    place = match.start("month")
    # At the start of a sentence a capital says nothing: "May 3 tests run?"
    is_first = _SENTENCE_START.search(context.text, max(0, place - 4), place)
    is_word = is_first and match["month"] in VERBS | {"mar", "dec"}
    is_name = context.is_capital(place) and not is_word
    needs = "" if groups.get("nth") or is_name else "date"
    recurring = Recurring(
        lambda year: Days(date(year, month, first), date(year, month, last) + DAY)
    )
    return _latest(match, context, recurring, needs)


def _day_of_month(match: Match, context: DateContext) -> Phrase | None:
    """Read "the 3rd" and "Friday the 13th"."""
    weekday = (WEEKDAYS | SHORT_WEEKDAYS).get(match["weekday"] or "")
    for ago in range(48):
        month = calendar_unit(context.today, "month", ago)
        day = month.first + (int(match["day"]) - 1) * DAY
        has_begun = month.first <= day <= min(context.today, month.after - DAY)
        if has_begun and weekday in (None, day.weekday()):
            needs = "" if match["weekday"] else "date"
            return Phrase(days=one_day(day), needs=needs)
    return None


def _month(match: Match, context: DateContext) -> Phrase | None:
    name = match["month"]
    is_word = name in SHORT_MONTHS and not context.is_capital(match.start("month"))
    if is_word and not match["year"]:
        return None
    needs = "person" if name in NAMES_OF_PEOPLE else "month"
    return _latest(match, context, NAMED[name], needs)


def _months(match: Match, context: DateContext) -> Phrase | None:
    """Read "Nov–Feb 2026"; the year is that of the last month."""
    for group in ("month", "month2"):
        name = match[group]
        if name in SHORT_MONTHS and not context.is_capital(match.start(group)):
            return None
    first, last = MONTHS[match["month"]], MONTHS[match["month2"]]
    count, years = (last - first) % 12 + 1, int(first > last)
    recurring = Recurring(lambda year: months(year - years, first, count))
    return _latest(match, context, recurring, "month")


def _quarter(match: Match, context: DateContext) -> Phrase | None:
    number = match["number"]
    recurring = _yearly(3 * (ORDINALS.get(number) or int(number)) - 2, 3)
    return _latest(match, context, recurring, "" if number in ORDINALS else "quarter")


MAX_PLAN_WEEK = 12
"""A week with a higher number is that of a year, not of some plan."""


def _week(match: Match, context: DateContext) -> Phrase | None:
    """Read a week by its number; "week 3" may also be the third of some plan."""
    number = int(match["number"])
    recurring = Recurring(lambda year: week(date.fromisocalendar(year, number, 1)))
    phrase = _latest(match, context, recurring)
    is_soft = not match["iso"] and not match["year"] and number <= MAX_PLAN_WEEK
    return replace(phrase, is_soft=is_soft) if phrase else None


def _weekdays(match: Match, context: DateContext) -> Phrase | None:
    if not context.is_capital(match.start()):
        return None
    first = NAMED[match["weekday"]].latest(context.today)
    last = NAMED[match["weekday2"]].latest(first.first + 6 * DAY) if first else None
    return _definite(Days(first.first, last.after)) if first and last else None


def _year(match: Match, context: DateContext) -> Phrase | None:
    year = int(match["year"])
    if year > context.today.year:
        return None
    days = months(year, 1, 12)
    return Phrase(days=days, needs="year", is_definite=True)


def _hour(match: Match, context: DateContext) -> Phrase | None:
    """Read "at 5", a time only beside its day."""
    at = 60 * int(match["hour"])
    if at >= MINUTES_OF_DAY:
        return None
    hours = Hours(at, at, CLOCK_SLACK)
    return Phrase(hours=hours, needs="day", is_soft=True)


_POSITION = re.compile(r"\b(?:line|col|column|row|position|offset|byte)\s{1,3}$")
"""Tells "at line 12:30" from a time of day."""


def _clock(match: Match, context: DateContext) -> Phrase | None:
    hour, half = int(match["hour"] or 12), match["half"]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if match["hour"] and not (match["minute"] or half):
        return None
    if _POSITION.search(lowered(context.text[max(0, match.start() - 12) :][:12])):
        return None
    at = 60 * (hour % 12 + 12 * (half == "p") if half else hour)
    at += int(match["minute"] or 0)
    way = (match["way"] or "").strip()
    slack = CLOCK_SLACK * (1 if way in ("", "at") else 2)
    hours = Hours(at, at, slack)
    low = lowered(context.text[max(0, match.start() - 8) :][:60])
    is_appointment = _APPOINTMENT.search(low) is not None
    needs = "" if way or half or is_appointment else "day"
    return Phrase(hours=hours, needs=needs, is_soft=not is_appointment)


_APPOINTMENT = re.compile(
    r"\b(?:the|our|my|this|that|a)\s{1,3}[0-9:]{1,5}(?:\s?[ap]\.?m\.?)?\s{1,3}(?:\w{1,20}\s)?"
    r"(?:meeting|call|stand-?up|sync|session|review|interview|demo|retro|planning|chat"
    r"|discussion|deploy(?:ment)?|release|incident|outage)\b"
)
"""A time of day before what took place then: "the 3pm meeting"."""


def _clocks(match: Match, context: DateContext) -> Phrase | None:
    """Read "2-4pm" and "15:00-16:30"; in "11-2pm" the first is before noon."""
    first, last = int(match["hour"]), int(match["hour2"])
    half, half2 = match["half"], match["half2"]
    most = 12 if half2 else 23
    if max(first, last) > most or (half2 and not (first and last)):
        return None
    if half2:
        half = half or (half2 if first % 12 < last % 12 else "a")
        first = first % 12 + 12 * (half == "p")
        last = last % 12 + 12 * (half2 == "p")
    start = 60 * first + int(match["minute"] or 0)
    end = 60 * last + int(match["minute2"] or 0)
    hours = Hours(start, end if start < end else end + MINUTES_OF_DAY)
    needs = "" if half2 else "clocks"
    return Phrase(hours=hours, needs=needs, is_soft=True)


def _hours(match: Match, context: DateContext) -> Phrase | None:
    """Read "between 9 and 11", a time only beside its day."""
    first, last = int(match["hour"]), int(match["hour2"])
    if not first < last <= 24:
        return None
    return Phrase(hours=Hours(60 * first, 60 * last), needs="day")


# Times that are counted from now.


def _today(match: Match, context: DateContext) -> Phrase | None:
    days = {"today": 0, "yesterday": 1}.get(match["word"], 2)
    return _definite(one_day(context.today - days * DAY))


def _amount(match: Match) -> tuple[int, int, Unit]:
    """Return the least and the most that a count means, and its unit."""
    if short := match["short_unit"]:
        unit = UNITS[_SHORT_UNITS[short[0]]]
    else:
        unit = UNITS[" ".join((match["half_unit"] or match["unit"]).split())]
    words = (match["count"] or "one").split()
    for word in words:
        if word in _VAGUE_COUNTS:
            return *_VAGUE_COUNTS[word], unit
    count = _COUNTS.get(words[0]) or int(words[0])
    return count, count, unit


def _ago(match: Match, context: DateContext) -> Phrase | None:
    """Read "3 days ago": that day or moment, with the unit's slack on each side."""
    least, most, unit = _amount(match)
    if isinstance(unit.length, timedelta) and unit.length < DAY:
        end = min(context.now - least * unit.length + unit.slack, context.now)
        exact = context.now - most * unit.length - unit.slack, end
        return Phrase(exact=exact, is_definite=True)
    first = back(context.today, unit, most) - unit.slack
    last = back(context.today, unit, least) + unit.slack
    return _definite(Days(first, min(last, context.today) + DAY))


def _rolling(context: DateContext, count: int, unit: Unit) -> Phrase | None:
    if isinstance(unit.length, timedelta) and unit.length < DAY:
        exact = context.now - count * unit.length, context.now
        return Phrase(exact=exact, is_definite=True)
    first = back(context.today, unit, count)
    return _definite(Days(first, context.today + DAY))


def _last_or_this(match: Match, context: DateContext) -> Phrase | None:
    """Read "last week", "this morning", "last Tuesday"; the last one is over."""
    name, is_last = match["name"], match["which"] != "this"
    if name in PARTS:
        days = one_day(context.today - is_last * DAY)
        hours = Hours(*PARTS[name])
        return Phrase(days=days, hours=hours, is_definite=True)
    if name in UNITS:
        return _definite(calendar_unit(context.today, name, int(is_last)))
    if name in VERBS | SHORT_MONTHS and not context.is_capital(match.start("name")):
        return None
    recurring = NAMED[name]
    if is_last:
        found = _over(recurring, context.today)
    else:
        unit = "week" if recurring.is_weekly else "year"
        found = recurring.inside(calendar_unit(context.today, unit, 0))
    phrase = _definite(found)
    return replace(phrase, recurring=recurring) if phrase else None


def _over(recurring: Recurring, today: date) -> Days | None:
    """Return the latest that is over."""
    found = recurring.latest(today)
    if found and found.after > today:
        found = recurring.latest(found.first - DAY)
    return found


def _before_last(match: Match, context: DateContext) -> Phrase | None:
    """Read "the week before last", "Monday before last"."""
    if match["name"] in UNITS:
        return _definite(calendar_unit(context.today, match["name"], 2))
    recurring = NAMED[match["name"]]
    last = _over(recurring, context.today)
    return _definite(recurring.latest(last.first - DAY)) if last else None


def _either(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


YEAR = r"(?:19[7-9][0-9]|20[0-9]{2})"
_WEEKDAY = _either({*WEEKDAYS, *SHORT_WEEKDAYS})
_MONTH = _either(MONTHS)
_UNIT = "week|month|quarter|year"
_CLEAR_NAMES = {*WEEKDAYS, *SHORT_WEEKDAYS, *MONTHS, "summer", "winter", "weekend"}

WORDS = {
    "year": f"(?P<year>{YEAR})",
    "of_year": rf"(?:,? (?:of )?(?P<year>{YEAR}|'[0-9]{{2}}))?",
    "month": f"(?P<month>{_MONTH})",
    "month2": f"(?P<month2>{_MONTH})",
    "weekday": f"(?P<weekday>{_WEEKDAY})",
    "weekday2": f"(?P<weekday2>{_WEEKDAY})",
    "season": f"(?P<season>{_either(SEASONS)})",
    "ordinal": f"(?P<number>{_either(ORDINALS)})",
    "number": "(?P<number>[0-9]{1,2})",
    "day": "(?P<day>[0-9]{1,2})",
    "nth": "(?P<nth>st|nd|rd|th)?",
    # The end of a range of days: the "-5" of "March 3-5".
    "to_day2": r"(?:\s?-\s?| (?:to|and|until|through) )(?P<day2>[0-9]{1,2})"
    "(?:st|nd|rd|th)?",
    "to": r"(?:\s?-\s?| (?:to|until|till|through) )",
    "hour": "(?P<hour>[0-9]{1,2})",
    "minute": "(?P<minute>[0-5][0-9])",
    "half": r"(?:\s?(?P<half>[ap])(?:m|\.m\.))",
    "part": f"(?P<part>{_either(PARTS)})",
    "unit": f"(?P<unit>{_UNIT})",
    "count": r"(?P<count>[0-9]{1,3}|(?:a )?(?:couple of|couple|few)|several"
    f"|{_either(_COUNTS)})",
    "amount": r"(?:{count}(?: (?P<unit>minute|hour|day|fortnight|"
    rf"{_UNIT})s?|(?<=[0-9])\s?(?P<short_unit>hr?s?|mins?|d|w))"
    "|(?P<half_unit>half an hour|half a year))",
    # What may follow words that are often no time: "last fall", "at 5".
    "clause": r"(?=\s{0,3}(?:$|[?.!,;:)]|(?:about|and|at|by|did|do|for|i|in|last|of|on"
    r"|that|the|they|this|to|today|until|was|we|were|what|when|where|who|why|with"
    r"|yesterday|you)\b))",
    # After a year: not "in 2000 lines", "from 1024 to 4096".
    "no_quantity": r"(?!\s?(?:x\s?[0-9]|%|ms\b|px\b|[kmg]i?b\b|of\b|or\b)"
    rf"| (?:to|and) (?!{YEAR}\b)[0-9]"
    r"| (?!was\b|is\b|does\b|has\b|this\b|his\b|as\b|its\b|us\b)[a-z]{1,30}s\b"
    r"| (?:\w{1,20} )?(?:lines|rows|tokens|times)\b)",
}
"""The replacements of ``{name}`` in the patterns."""


def _expanded(pattern: str) -> str:
    full, count = re.subn(r"\{([a-z]\w*)\}", lambda m: WORDS[m[1]], pattern)
    return _expanded(full) if count else full.replace(" ", BLANK)


_ISO_CLOCK = (
    r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?"
)
_ISO_TIME = f"{YEAR}-[0-9]{{2}}-[0-9]{{2}}(?:[t ]{_ISO_CLOCK})?"
_DURATION_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_ISO_DURATION = (
    r"p(?:(?P<weeks>[0-9]{1,3})w)?(?:(?P<days>[0-9]{1,4})d)?"
    r"(?:t(?:(?P<hours>[0-9]{1,5})h)?(?:(?P<minutes>[0-9]{1,6})m)?"
    r"(?:(?P<seconds>[0-9]{1,8})s)?)?"
)
_ISO_DATE = f"{YEAR}[-/][0-9]{{2}}[-/][0-9]{{2}}"

_FORMS: list[tuple[str, Reader]] = [
    # Idioms whose parts alone would be read as another time.
    (
        rf"(?:{{count}} (?:week|fortnight)s?) (?:ago )?last (?:{_WEEKDAY})"
        r"|(?!last|this|past|previous)[0-9a-z]{1,12} (?:week|fortnight)s?"
        rf" (?:on (?:{_WEEKDAY})|today|tomorrow)"
        rf"|(?:last )?(?:{_WEEKDAY}) (?:week|fortnight)(?=\s{{0,3}}(?:$|[?.!,;)]))"
        rf"|not last (?:{_UNIT})",
        lambda m, c: None,
    ),
    # Counted from now.
    (r"(?P<word>today|yesterday|(?:the )?day before yesterday)", _today),
    (
        "tonight",
        lambda m, c: Phrase(
            days=one_day(c.today),
            hours=Hours(*PARTS["night"]),
            is_definite=True,
        ),
    ),
    (
        "recently|lately|the other (?:day|night|evening|week)",
        lambda m, c: Phrase(
            days=Days(c.today - 2 * WEEK, c.today + DAY),
            is_definite=True,
            is_soft=True,
        ),
    ),
    (
        r"(?<!half\s)(?<!than\s)(?:(?:about|around|roughly) )?{amount} (?:ago|back)",
        _ago,
    ),
    (
        "(?:(?:the|these) )?(?:last|past|previous) {amount}",
        lambda m, c: _rolling(c, *_amount(m)[1:]),
    ),
    (
        r"(?:(?:(?:the|this) )?past|(?:in|over|during|within) the last"
        rf"|(?:the )?last(?= fortnight)) (?P<unit>{_UNIT}|hour|fortnight)(?! of\b)",
        lambda m, c: _rolling(c, 1, UNITS[m["unit"]]),
    ),
    (
        f"(?:the )?(?P<name>{_UNIT}|{_either(_CLEAR_NAMES - SHORT_MONTHS)})"
        rf" before last(?! (?:{_UNIT}|night|{_either(NAMED)})\b)",
        _before_last,
    ),
    (
        r"(?:(?:beginning|start) of|early (?:in|on)) the {unit}(?! of\b)",
        lambda m, c: _definite(calendar_unit(c.today, m["unit"], 0).part(0, 1, 3)),
    ),
    (
        rf"(?P<which>last|this|previous|preceding|past) (?P<name>{_UNIT}"
        rf"|{_either(_CLEAR_NAMES)}|{_either(PARTS)}|(?:spring|autumn|fall){{clause}})"
        r"(?! of\b)",
        _last_or_this,
    ),
    ("the weekend", lambda m, c: _definite(WEEKEND.latest(c.today))),
    # From a calendar.
    (
        rf"{_ISO_TIME}(?:/|\.\.)(?:{_ISO_TIME}|{_ISO_CLOCK})",
        _iso_interval,
    ),
    (f"(?:{_ISO_TIME}/)?{_ISO_DURATION}(?:/{_ISO_TIME})?", _iso_duration),
    (
        rf"(?P<date>{_ISO_DATE})(?:[t\s](?P<clock>[0-9]{{2}}:[0-9]{{2}})"
        r"(?:(?<=\s[0-9]{2}:[0-9]{2})\s?-\s?(?P<clock2>(?:[01][0-9]|2[0-3]):[0-5][0-9])(?!:)"
        r"|(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
        r"(?P<offset>z|[+-][0-9]{2}:?[0-9]{2})?))?",
        _iso,
    ),
    (r"(?P<ms>1[0-9]{12})(?:(?:\s?[-/]\s?|\.\.)(?P<ms2>1[0-9]{12}))?", _milliseconds),
    (
        "{year}-?w{number}",
        lambda m, c: _definite(
            week(date.fromisocalendar(int(m["year"]), int(m["number"]), 1))
        ),
    ),
    (
        "{year}-(?P<number>0[1-9]|1[0-2])",
        lambda m, c: _definite(months(int(m["year"]), int(m["number"]))),
    ),
    (r"{day}(?P<mark>[/.]){number}[/.]{year}", _numeric),
    ("{day}-{month}-{year}", _date),
    (
        r"(?:the )?{day}{nth}(?:{to_day2})? (?:of )?{month}(?! [0-9]{1,2}\s){of_year}",
        _date,
    ),
    (
        r"{month}\.? (?:the )?{day}{nth}"
        rf"(?:{{to_day2}}(?! (?:{_MONTH})\b))?{{of_year}}",
        _date,
    ),
    ("{month}{to}{month2}{of_year}", _months),
    ("{month}{of_year}", _month),
    ("q(?P<number>[1-4])(?:(?:/| (?:of )?){year})?", _quarter),
    (r"{ordinal} quarter{of_year}(?! of\b)", _quarter),
    (
        "h(?P<number>[12])(?:/| (?:of )?){year}",
        lambda m, c: _latest(m, c, _yearly(6 * int(m["number"]) - 5, 6)),
    ),
    (r"(?P<iso>(?:iso|calendar) )?week {number}{of_year}(?! of\b)", _week),
    ("{season}{of_year}", lambda m, c: _latest(m, c, NAMED[m["season"]], "season")),
    (
        "(?:{weekday},? )?the {day}(?:st|nd|rd|th)(?=\\s{0,3}"
        "(?:$|[?.!;:)]|(?:we|i|did|was|were|when|why|what|to|until)\\b))",
        _day_of_month,
    ),
    ("{weekday}-{weekday2}", _weekdays),
    (
        "{weekday}",
        lambda m, c: _latest(
            m, c, NAMED[m["weekday"]], "weekday" * (m["weekday"] in SHORT_WEEKDAYS)
        ),
    ),
    # From a clock.
    (
        r"{hour}(?::{minute})?{half}?(?:\s?-\s?| (?:to|until|till|and) )"
        r"(?P<hour2>[0-9]{1,2})(?::(?P<minute2>[0-5][0-9]))?"
        r"(?:\s?(?P<half2>[ap])(?:m|\.m\.)|(?<=:[0-9][0-9])(?!\s?[ap]\.?m))",
        _clocks,
    ),
    (
        r"(?P<way>(?:at|around|about|circa) |~)?"
        r"(?:noon|{hour}(?=:[0-5]|\s?[ap]\.?m)(?::{minute}(?::[0-5][0-9])?)?{half}?)",
        _clock,
    ),
    (r"(?<=between\s){hour} and (?P<hour2>[0-9]{1,2})", _hours),
    (r"at {hour}(?: o'?clock)?{clause}", _hour),
    (
        "(?:(?:in )?the )?{part}",
        lambda m, c: Phrase(hours=Hours(*PARTS[m["part"]]), needs="day"),
    ),
    ("{year}{no_quantity}", _year),
]
"""The forms; of two that begin alike, the longer one is first."""

FORMS = [(_expanded(pattern), reader) for pattern, reader in _FORMS]

_LOWER = str.maketrans(
    {chr(65 + i): chr(97 + i) for i in range(26)} | {"’": "'", "–": "-", "—": "-"}
)


def lowered(text: str) -> str:
    """Return a text of the same length in lower case and with plain dashes."""
    return text.translate(_LOWER)
