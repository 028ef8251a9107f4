r"""The table of English and ISO date forms: "3 June", "2025-W11", "two weeks ago".

Each row of ``FORMS`` is a pattern, the function that turns its match into a ``Phrase``,
and what must precede it to be a date. To read a new form, add a row. In patterns a
space stands for one to three blanks (bounded, so that reading stays linear) and
``{name}`` for an entry of ``WORDS``. The text to match is in lower case.
"""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from memtui.model import calendar
from memtui.model.calendar import TocLevel

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
BLANK = r"\s{1,3}"

AGO_SLACK = {"day": 0, "week": 3, "month": 15, "year": 182}
"""The units that are counted, and how many days "one ago" reaches to each side."""

PARTS_OF_DAY = {
    "morning": (5 * 60, 12 * 60),
    "afternoon": (12 * 60, 18 * 60),
    "evening": (18 * 60, 24 * 60),
    "night": (18 * 60, 29 * 60),
}
"""In minutes from the midnight of the day; a night ends on the next day."""

_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNTS |= {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}


def _numbered(names: Iterable[str], first: int) -> dict[str, int]:
    return {name.lower(): number for number, name in enumerate(names, first)}


_SHORT_MONTHS = _numbered(month_abbr[1:], 1) | {"sept": 9}
_MONTHS = _SHORT_MONTHS | _numbered(month_name[1:], 1)
_UNCLEAR_MONTHS = {*_SHORT_MONTHS, "march"}
"""Names that are other words where they have no capital."""

_WEEKDAYS = _numbered(day_name, 0)


class Days(NamedTuple):
    """Local days from ``first`` up to ``after``, which is excluded."""

    first: date
    after: date

    @property
    def is_one(self) -> bool:
        return self.after == self.first + DAY


def whole(level: TocLevel, day: date) -> Days:
    """Return the day, week, month or year that contains a day."""
    period = calendar.period(calendar.id_at(level, day))
    return Days(period.first, period.end)


@dataclass(frozen=True, slots=True)
class DateContext:
    """The text that is read, and when and where it was written."""

    now: datetime
    zone: tzinfo
    text: str
    today: date
    """The local day of ``now``."""

    def moment(self, day: date, minutes: int, fold: int = 0) -> datetime:
        """Return a local time in UTC; ``fold`` chooses where the clocks go back."""
        days, minute = divmod(minutes, 24 * 60)
        clock = time(minute // 60, minute % 60, fold=fold)
        return datetime.combine(day + days * DAY, clock, self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A date as one form gives it, before the words around it are considered."""

    days: Days | None = None
    """None for a time of day alone."""
    hours: tuple[int, int] | None = None
    """Hours of its day, or of a day named beside it, in minutes from midnight."""
    exact: tuple[datetime, datetime] | None = None
    """Its bounds in UTC, where they are no whole days."""
    latest: Callable[[date], Days] | None = None
    """Of a date that comes again, such as "Monday" or "3 June": returns the latest that
    has begun by a day."""
    preceding: str = ""
    """A key of ``PRECEDING``; "" if any words may precede it."""
    start: int = 0
    end: int = 0
    """Its position, in characters of the text."""

    @property
    def is_moment(self) -> bool:
        return len({*(self.hours or self.exact or (0, 1))}) == 1


Match = re.Match[str]

Reader = Callable[[Match, DateContext], Phrase | None]
"""None or a ValueError mean that this is no date after all."""


# Dates that are counted from now


def _today(match: Match, context: DateContext) -> Phrase:
    days_ago = {"today": 0, "yesterday": 1}.get(match["date"], 2)
    return Phrase(whole(TocLevel.DAY, context.today - days_ago * DAY))


def _back(match: Match, day: date) -> date:
    """Return the day some units earlier, at most the last day of its month."""
    word, unit = match["count"] or "a", match["unit"]
    count = _COUNTS.get(word) or int(word)
    if unit in ("day", "week"):
        return day - count * (DAY if unit == "day" else WEEK)
    index = 12 * day.year + day.month - 1 - count * (12 if unit == "year" else 1)
    month = whole(TocLevel.MONTH, date(index // 12, index % 12 + 1, 1))
    return min(month.first + (day.day - 1) * DAY, month.after - DAY)


def _ago(match: Match, context: DateContext) -> Phrase:
    """Read "3 weeks ago": that day, with the slack of its unit on each side."""
    day, slack = _back(match, context.today), AGO_SLACK[match["unit"]] * DAY
    return Phrase(Days(day - slack, min(day + slack, context.today) + DAY))


def _last_units(match: Match, context: DateContext) -> Phrase:
    """Read "the last 3 days", which go up to now."""
    return Phrase(Days(_back(match, context.today), context.today + DAY))


def _unit(match: Match, context: DateContext) -> Phrase:
    """Read "last week" and "this year", as they are in the calendar."""
    level = TocLevel(match["unit"])
    days = whole(level, context.today)
    return Phrase(days if match["this"] else whole(level, days.first - DAY))


def _part_of_day(match: Match, context: DateContext) -> Phrase:
    """Read "this morning" and "last night"; "morning" alone needs a day beside it."""
    hours = PARTS_OF_DAY[match["part"]]
    if not (match["this"] or match["last"]):
        return Phrase(hours=hours, preceding="clock")
    day = context.today if match["this"] else context.today - DAY
    return Phrase(whole(TocLevel.DAY, day), hours)


# Dates and times as a calendar and a clock give them


def _weekday(match: Match, context: DateContext) -> Phrase:
    weekday = _WEEKDAYS[match["weekday"]]

    def latest(until: date) -> Days:
        return whole(TocLevel.DAY, until - (until.weekday() - weekday) % 7 * DAY)

    if match["last"]:
        return Phrase(latest(context.today - DAY))
    if match["this"]:
        return Phrase(latest(whole(TocLevel.WEEK, context.today).after - DAY))
    return Phrase(latest(context.today), latest=latest)


def _of_year(
    match: Match, context: DateContext, days_of: Callable[[int], Days], until: date
) -> Phrase:
    """Return the date in the written year, or the latest that has begun by a day."""
    if year := match["year"]:
        named = {"this": context.today.year, "last": context.today.year - 1}
        return Phrase(days_of(named.get(year[:4]) or int(year)))

    def latest(until: date) -> Days:
        # A 29 February is at most eight years away.
        for number in range(until.year, until.year - 9, -1):
            try:
                days = days_of(number)
            except ValueError:
                continue
            if days.first <= until:
                return days
        raise ValueError("no year has this date")

    return Phrase(latest(until), latest=latest)


def _is_capital(match: Match, context: DateContext) -> bool:
    return context.text[match.start("month")].isupper()


def _month(match: Match, context: DateContext) -> Phrase | None:
    name, until = match["month"], context.today
    is_unclear = name in _UNCLEAR_MONTHS and not _is_capital(match, context)
    may_follow_in = name in ("may", "march") and not match["last"]
    if is_unclear and not may_follow_in and not match["year"]:
        return None
    if match["last"]:
        until = until.replace(day=1) - DAY

    def days_of(year: int) -> Days:
        return whole(TocLevel.MONTH, date(year, _MONTHS[name], 1))

    phrase = _of_year(match, context, days_of, until)
    is_clear = match["year"] or match["last"]
    return replace(phrase, preceding="" if is_clear else "month")


def _date(match: Match, context: DateContext) -> Phrase | None:
    """Read one day or a few of a month; "step 3 may fail" needs an "on" to be one."""
    month = _MONTHS[match["month"]]
    first, last = int(match["day"]), int(match["day2"] or match["day"])

    def days_of(year: int) -> Days:
        return Days(date(year, month, first), date(year, month, last) + DAY)

    phrase = _of_year(match, context, days_of, context.today)
    is_unclear = match["month"] in _UNCLEAR_MONTHS and not _is_capital(match, context)
    needs_word = is_unclear and not match["nth"] and not match["year"]
    phrase = replace(phrase, preceding="day" if needs_word else "")
    return phrase if first <= last else None


def _year(match: Match, context: DateContext) -> Phrase | None:
    year = int(match["year"])
    is_past = year <= context.today.year
    return Phrase(whole(TocLevel.YEAR, date(year, 1, 1))) if is_past else None


def _iso_date(match: Match, context: DateContext) -> Phrase:
    """Read "2025-03-01", "2025-03" and "2025-W11"."""
    if match["week"]:
        day = date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
        return Phrase(whole(TocLevel.WEEK, day))
    level = TocLevel.DAY if match["day"] else TocLevel.MONTH
    day = date(int(match["year"]), int(match["number"]), int(match["day"] or 1))
    return Phrase(whole(level, day))


def _moment(match: Match, context: DateContext) -> Phrase:
    at, _ = _exact(match["date"], context)
    return Phrase(exact=(at, at))


def _interval(match: Match, context: DateContext) -> Phrase:
    """Read "2025-03-01/2025-03-05", "2025-03-01 10:02-10:04" and Unix milliseconds."""
    first, last = match["first"], match["last"]
    if last[2] == ":":
        last = f"{first[:11]}{last}"
    start, end = _exact(first, context)[0], _exact(last, context)[1]
    if start < end:
        return Phrase(exact=(start, end))
    return _moment(match, context)  # "10:02-05:00" is five hours behind UTC.


def _exact(text: str, context: DateContext) -> tuple[datetime, datetime]:
    """Return when an ISO date or time begins and ends."""
    if text.isdigit():
        at = datetime.fromtimestamp(int(text) / 1000, UTC)
        return at, at
    at = datetime.fromisoformat(text.upper())
    at = at if at.tzinfo else at.replace(tzinfo=context.zone)
    end = at + DAY if len(text) == len("2025-03-01") else at
    return at.astimezone(UTC), end.astimezone(UTC)


def _clock(match: Match, context: DateContext) -> Phrase | None:
    hour, half = int(match["hour"]), match["half"]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    at = 60 * (hour % 12 + 12 * (half == "p") if half else hour)
    at += int(match["minute"] or 0)
    return Phrase(hours=(at, at))


def _either(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


YEAR = r"(?:19[7-9][0-9]|20[0-9]{2})"
_ANY_WEEKDAY = _either({*_WEEKDAYS, *_numbered(day_abbr, 0)})
_MONTH = _either(_MONTHS)
_ISO_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ISO_MOMENT = (
    rf"{YEAR}-[0-9]{{2}}-[0-9]{{2}}[t ]{_ISO_CLOCK}(?:z|[+-][0-9]{{2}}:?[0-9]{{2}})?"
)
_MILLISECONDS = "1[0-9]{12}"
_EXACT = rf"{_ISO_MOMENT}|{YEAR}-[0-9]{{2}}-[0-9]{{2}}|{_MILLISECONDS}"
_INTERVAL = rf"(?P<first>{_EXACT})(?:\s?-\s?|/|\.\.)(?P<last>{_EXACT}|{_ISO_CLOCK})"
_ISO_DATE = (
    "{year}-(?:(?P<number>[0-9]{2})(?:-(?P<day>[0-9]{2}))?|w(?P<week>[0-9]{1,2}))"
)

WORDS = {
    "last_or_this": "(?:(?P<last>last|previous)|(?P<this>this))",
    "count": f"(?P<count>[0-9]{{1,3}}|{_either(_COUNTS)})",
    "unit": f"(?P<unit>{_either(AGO_SLACK)})",
    "part": f"(?P<part>{_either(PARTS_OF_DAY)})",
    "weekday": f"(?P<weekday>{_either(_WEEKDAYS)})",
    # "Monday last week" and "the Monday before 3 June" are not the latest Monday.
    "no_week": r"(?! (?:of )?(?:last|next) week\b| next\b"
    rf"| (?:before|after) (?:[0-9]{{1,2}} )?(?:{_MONTH})\b)",
    "of_weekday": f"(?:(?:last )?(?:{_ANY_WEEKDAY})(?:,| on| the)? )?",
    "month": f"(?P<month>{_MONTH})",
    "day": "(?P<day>[0-9]{1,2})(?P<nth>st|nd|rd|th)?",
    # The end of a range of days: the "-5" of "March 3-5".
    "to_day": r"(?:\s?-\s?| (?:to|and|until|through) )(?P<day2>[0-9]{1,2})"
    "(?:st|nd|rd|th)?",
    "no_month": rf"(?! (?:{_MONTH})\b)",
    "year": f"(?P<year>{YEAR})",
    "of_year": rf"(?:,? (?:of )?(?P<year>{YEAR}|last year|this year))?",
    "clock": r"(?P<hour>[0-9]{1,2})(?=:|\s?[ap]\.?m)(?::(?P<minute>[0-5][0-9]))?"
    r"(?:\s?(?P<half>[ap])(?:m|\.m\.))?",
    # What may follow a year, unlike in "in 2000 lines" and "from 2000 to 4096".
    "clause": r"(?=\s{0,3}(?:$|[?.!,;:)]|(?:about|at|by|did|do|for|i|in|of|on|that|the"
    r"|they|this|until|was|we|were|what|when|where|who|why|with|you"
    rf"|(?:and|to) (?:{YEAR}|[a-z]{{2,20}}))\b))",
    "appointment": r"(?= (?:\w{1,20} )?(?:meeting|call|stand-?up|sync|session|review"
    r"|interview|demo|retro|chat|discussion|release|incident|outage)\b)",
}
"""The replacements of ``{name}`` in the patterns."""

_IN = "in|during|since|before|after|until|till|from|between|around|by"

PRECEDING = {
    "day": f"{_IN}|on",
    "month": f"{_IN}|of",
    "year": f"{_IN}|year|(?:beginning|start|end) of|spring|summer|autumn|fall|winter",
    "appointment": "the|our|my|this|that|a",
    "clock": r"\b\B",  # A day must be beside it.
}
"""The words that show a phrase to be a date. A text that is nothing else needs none."""

_FORMS: list[tuple[str, Reader, str]] = [
    # Counted from now
    ("today|yesterday|day before yesterday", _today, ""),
    (r"(?<!half\s)(?<!than\s)(?:(?:about|around) )?{count} {unit}s? ago", _ago, ""),
    ("(?:(?:last|past|previous) {count}|past) {unit}s?", _last_units, ""),
    (r"{last_or_this} (?P<unit>week|month|year)(?! of\b)", _unit, ""),
    ("(?:{last_or_this} |(?:in )?the )?{part}", _part_of_day, ""),
    # ISO
    (_INTERVAL, _interval, ""),
    (_ISO_MOMENT, _moment, ""),
    (_MILLISECONDS, _moment, "day"),
    (_ISO_DATE, _iso_date, ""),
    # From a calendar
    ("{of_weekday}(?:the )?{day}(?:{to_day})? (?:of )?{month}{of_year}", _date, ""),
    (
        r"{of_weekday}{month}\.? (?:the )?{day}(?:{to_day}{no_month})?{of_year}",
        _date,
        "",
    ),
    ("(?:(?P<last>last) )?{month}{of_year}", _month, ""),
    ("(?:{last_or_this} )?{weekday}{no_week}", _weekday, ""),
    ("{year}{clause}", _year, "year"),
    # From a clock
    ("{clock}{appointment}", _clock, "appointment"),
    ("(?:(?:at|around|about) )?{clock}", _clock, "clock"),
]
"""The forms; of two that begin alike, the longer one is first."""

_RIGHT = r"(?:'s)?(?![\w/\\@=(-]|[.:+]\w)"
"""The end of a date: no part of a path or a number is one."""


def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = re.sub(r"\{([a-z]\w*)\}", lambda match: WORDS[match[1]], pattern)
    return re.compile(f"(?P<date>{pattern})".replace(" ", BLANK) + _RIGHT)


FORMS = [(_compiled(pattern), reader, words) for pattern, reader, words in _FORMS]
