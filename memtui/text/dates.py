"""Read the dates and times that a text speaks of: "last week", "on 3 June at 3pm".

English and ISO forms are read, see ``_FORMS``, and only where they can mean nothing
else: a version, a path, a port or a verb is no date. A date without its year is the
latest that has begun; a date in the future is read only with its year. Days begin at
midnight in the given zone, weeks on Monday. Reading takes linear time.
"""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.text import date_format

DAY, WEEK = timedelta(days=1), timedelta(days=7)

CLOCK_SLACK = timedelta(minutes=30)
"""A time of day includes the time around it."""

AGO_SLACK = {"day": 0, "week": 3, "month": 15, "year": 182}
"""The units that are counted, and how many days "one ago" reaches to each side."""

MAX_CHARS = 1_000
"""The number of characters that ``read_exact`` reads."""

MAX_BEFORE_CHARS = 30
"""The maximum distance of the words before a date that belong to it."""


@dataclass(frozen=True, slots=True)
class DatePeriod:
    """A time that a text speaks of."""

    start: datetime | None
    """In UTC; None where it is open: "before March"."""
    end: datetime | None
    """In UTC, excluded; None where it is open: "since Monday"."""
    span: tuple[int, int]
    """Its position, in characters of the text."""
    label: str
    """The period as understood: "last week: 9–15 Nov 2026"."""


class _Days(NamedTuple):
    """Local days from ``first`` up to ``after``, which is excluded."""

    first: date
    after: date


def _whole(level: TocLevel, day: date) -> _Days:
    """Return the day, week, month or year that contains a day."""
    period = calendar.period(calendar.id_at(level, day))
    return _Days(period.first, period.end)


@dataclass(frozen=True, slots=True)
class _Context:
    """The text that is read, and when and where it was written."""

    text: str
    low: str
    """The text in small letters, with plain quotes and dashes."""
    now: datetime
    zone: tzinfo
    today: date

    def moment(self, day: date, minute: int, fold: int = 0) -> datetime:
        """Return a local time in UTC; ``fold`` chooses where the clocks go back."""
        clock = time(minute // 60, minute % 60, fold=fold)
        return datetime.combine(day, clock, self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A date as one form gives it, before the words around it are considered."""

    days: _Days | None = None
    """None for a time of day alone."""
    minute: int | None = None
    """The time of day, of its day or of a day named beside it."""
    exact: tuple[datetime, datetime] | None = None
    """Its bounds in UTC, where they are no whole days."""
    latest: Callable[[date], _Days] | None = None
    """Of a date that comes again, such as "Monday" or "3 June": returns the latest that
    has begun by a day."""
    preceding: str = ""
    """A key of ``_PRECEDING``; "" if any words may precede it."""
    start: int = 0
    end: int = 0
    """Its position, in characters of the text."""

    @property
    def is_day(self) -> bool:
        is_one = self.days is not None and self.days.after == self.days.first + DAY
        return is_one and self.minute is None


# The forms. In patterns a space stands for one to three blanks (bounded, so that
# reading stays linear) and ``{name}`` for an entry of ``_WORDS``.

_Match = re.Match[str]
_Reader = Callable[[_Match, _Context], _Phrase | None]
"""None or a ValueError mean that this is no date after all."""

_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNTS |= {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}


def _numbered(names: Iterable[str], first: int) -> dict[str, int]:
    return {name.lower(): number for number, name in enumerate(names, first)}


_SHORT_MONTHS = _numbered(month_abbr[1:], 1) | {"sept": 9}
_MONTHS = _SHORT_MONTHS | _numbered(month_name[1:], 1)
_UNCLEAR_MONTHS = {"mar", "march", "apr", "may", "sep", "sept", "oct", "dec"}
"""Names that are other words where they have no capital: "oct 12" is a number."""
_WEEKDAYS = _numbered(day_name, 0)


def _today(match: _Match, context: _Context) -> _Phrase:
    back = 0 if match["date"] == "today" else 1
    return _Phrase(_whole(TocLevel.DAY, context.today - back * DAY))


def _back(match: _Match, day: date) -> date:
    """Return the day some units earlier, at most the last day of its month."""
    word, unit = match["count"] or "a", match["unit"]
    count = _COUNTS.get(word) or int(word)
    if unit in ("day", "week"):
        return day - count * (DAY if unit == "day" else WEEK)
    index = 12 * day.year + day.month - 1 - count * (12 if unit == "year" else 1)
    month = _whole(TocLevel.MONTH, date(index // 12, index % 12 + 1, 1))
    return min(month.first + (day.day - 1) * DAY, month.after - DAY)


def _ago(match: _Match, context: _Context) -> _Phrase:
    """Read "3 weeks ago": that day, with the slack of its unit on each side."""
    day, slack = _back(match, context.today), AGO_SLACK[match["unit"]] * DAY
    return _Phrase(_Days(day - slack, min(day + slack, context.today) + DAY))


def _last_units(match: _Match, context: _Context) -> _Phrase:
    """Read "the last 3 days", which go up to now."""
    return _Phrase(_Days(_back(match, context.today), context.today + DAY))


def _unit(match: _Match, context: _Context) -> _Phrase:
    """Read "last week" and "this year", as they are in the calendar."""
    level = TocLevel(match["unit"])
    days = _whole(level, context.today)
    return _Phrase(days if match["this"] else _whole(level, days.first - DAY))


def _weekday(match: _Match, context: _Context) -> _Phrase:
    weekday = _WEEKDAYS[match["weekday"]]

    def latest(until: date) -> _Days:
        return _whole(TocLevel.DAY, until - (until.weekday() - weekday) % 7 * DAY)

    if match["last"]:
        return _Phrase(latest(context.today - DAY))
    return _Phrase(latest(context.today), latest=latest)


def _of_year(
    match: _Match, context: _Context, days_of: Callable[[int], _Days], preceding: str
) -> _Phrase:
    """Return a date in the written year, or the latest that has begun."""
    if match["year"]:
        return _Phrase(days_of(int(match["year"])))

    def latest(until: date) -> _Days:
        # A 29 February is at most eight years away.
        for year in range(until.year, until.year - 9, -1):
            with suppress(ValueError):
                if (days := days_of(year)).first <= until:
                    return days
        raise ValueError("no year has this date")

    return _Phrase(latest(context.today), latest=latest, preceding=preceding)


def _month(match: _Match, context: _Context) -> _Phrase:
    def days_of(year: int) -> _Days:
        return _whole(TocLevel.MONTH, date(year, _MONTHS[match["month"]], 1))

    return _of_year(match, context, days_of, "month")


def _date(match: _Match, context: _Context) -> _Phrase | None:
    """Read one day or a few of a month; "step 3 may fail" needs an "on" to be one."""
    month = _MONTHS[match["month"]]
    first, last = int(match["day"]), int(match["day2"] or match["day"])

    def days_of(year: int) -> _Days:
        return _Days(date(year, month, first), date(year, month, last) + DAY)

    is_capital = context.text[match.start("month")].isupper()
    is_unclear = match["month"] in _UNCLEAR_MONTHS and not is_capital
    needs_word = is_unclear and not match["nth"]
    phrase = _of_year(match, context, days_of, "day" if needs_word else "")
    return phrase if first <= last else None


def _year(match: _Match, context: _Context) -> _Phrase | None:
    year = int(match["year"])
    is_past = year <= context.today.year
    days = _whole(TocLevel.YEAR, date(year, 1, 1))
    return _Phrase(days, preceding="year") if is_past else None


def _iso_date(match: _Match, context: _Context) -> _Phrase:
    """Read "2025-03-01", "2025/3/1", "2025-03" and "2025-W11"."""
    if match.groupdict().get("week"):
        day = date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
        return _Phrase(_whole(TocLevel.WEEK, day))
    level = TocLevel.DAY if match["day"] else TocLevel.MONTH
    day = date(int(match["year"]), int(match["number"]), int(match["day"] or 1))
    return _Phrase(_whole(level, day))


def _numbers(match: _Match, context: _Context) -> _Phrase | None:
    """Read "13.2.2026"; "13/2/2026" only where one of the numbers is no month."""
    day, number = int(match["day"]), int(match["number"])
    if match["slash"] == "/" and number > 12:
        day, number = number, day
    elif match["slash"] == "/" and day <= 12 and day != number:
        return None
    return _Phrase(_whole(TocLevel.DAY, date(int(match["year"]), number, day)))


def _exact(text: str, context: _Context) -> tuple[datetime, datetime]:
    """Return when an ISO date, an ISO time or Unix milliseconds begin and end."""
    if text.isdigit():
        at = datetime.fromtimestamp(int(text) / 1000, UTC)
        return at, at
    at = datetime.fromisoformat(text.upper())
    at = at if at.tzinfo else at.replace(tzinfo=context.zone)
    end = at + DAY if len(text) == len("2025-03-01") else at
    return at.astimezone(UTC), end.astimezone(UTC)


def _moment(match: _Match, context: _Context) -> _Phrase:
    is_number = match["date"].isdigit()
    at, _ = _exact(match["date"], context)
    return _Phrase(exact=(at, at), preceding="day" if is_number else "")


def _interval(match: _Match, context: _Context) -> _Phrase:
    """Read "2025-03-01/2025-03-05", "2025-03-01 10:02-10:04" and Unix milliseconds."""
    first, last = match["first"], match["last"]
    if last[2] == ":":
        last = f"{first[:11]}{last}"
    start, end = _exact(first, context)[0], _exact(last, context)[1]
    if start < end:
        return _Phrase(exact=(start, end))
    return _moment(match, context)  # "10:02-05:00" is five hours behind UTC.


def _clock(match: _Match, context: _Context) -> _Phrase | None:
    hour, half = int(match["hour"]), match["half"]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    preceding = "clock" if match["event"] is None else "appointment"
    return _Phrase(minute=60 * hour + int(match["minute"] or 0), preceding=preceding)


def _either(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_BLANK = r"\s{1,3}"
_YEAR = r"(?:19[7-9][0-9]|20[0-9]{2})"
_ANY_WEEKDAY = _either({*_WEEKDAYS, *_numbered(day_abbr, 0)})
_MONTH = _either(_MONTHS)
_ISO_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ISO_DAY = rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
_ISO_MOMENT = rf"{_ISO_DAY}[t ]{_ISO_CLOCK}(?:z|[+-][0-9]{{2}}:?[0-9]{{2}})?"
_MILLISECONDS = "1[0-9]{12}"
_EXACT = rf"{_ISO_MOMENT}|{_ISO_DAY}|{_MILLISECONDS}"

_WORDS = {
    "count": f"(?P<count>[0-9]{{1,3}}|{_either(_COUNTS)})",
    "unit": f"(?P<unit>{_either(AGO_SLACK)})",
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
    "year": f"(?P<year>{_YEAR})",
    "of_year": rf"(?:,? (?:of )?(?P<year>{_YEAR}))?",
    "clock": r"(?P<hour>[0-9]{1,2})(?=:|\s?[ap]\.?m)(?::(?P<minute>[0-5][0-9]))?"
    r"(?:\s?(?P<half>[ap])(?:m|\.m\.))?",
    # What may follow a year, unlike in "in 2000 lines" and "from 2000 to 4096".
    "clause": r"(?=\s{0,3}(?:$|[?.!,;:)]|(?:about|at|by|did|do|for|i|in|of|on|that|the"
    r"|they|this|until|was|we|were|what|when|where|who|why|with|you"
    rf"|(?:and|to) (?:{_YEAR}|[a-z]{{2,20}}))\b))",
    "appointment": r"(?P<event>(?= (?:\w{1,20} )?(?:meeting|call|stand-?up|sync|session"
    r"|review|interview|demo|retro|chat|discussion|release|incident|outage)\b))?",
}
"""The replacements of ``{name}`` in the patterns."""

_RIGHT = r"(?:'s)?(?![\w/\\@=(-]|[.:+]\w)"
"""The end of a date: no part of a path or a number is one."""


def _form(pattern: str, reader: _Reader) -> tuple[re.Pattern[str], _Reader]:
    pattern = re.sub(r"\{([a-z]\w*)\}", lambda name: _WORDS[name[1]], pattern)
    return re.compile(f"(?P<date>{pattern})".replace(" ", _BLANK) + _RIGHT), reader


_FORMS = (
    _form("today|yesterday", _today),
    _form(r"(?<!half\s)(?<!than\s){count} {unit}s? ago", _ago),
    _form("(?:(?:last|past|previous) {count}|past) {unit}s?", _last_units),
    _form(
        r"(?:last|previous|(?P<this>this)) (?P<unit>week|month|year)(?! of\b)", _unit
    ),
    _form(
        rf"(?P<first>{_EXACT})(?:\s?-\s?|/|\.\.)(?P<last>{_EXACT}|{_ISO_CLOCK})",
        _interval,
    ),
    _form(rf"{_ISO_MOMENT}|{_MILLISECONDS}", _moment),
    _form(
        r"{year}-(?:(?P<number>[0-9]{2})(?:-(?P<day>[0-9]{2}))?|w(?P<week>[0-9]{1,2}))",
        _iso_date,
    ),
    _form(
        r"{of_weekday}(?P<day>[0-9]{1,2})(?P<slash>/|\.\s?)(?P<number>[0-9]{1,2})"
        r"(?P=slash){year}",
        _numbers,
    ),
    _form(
        r"{year}(?P<slash>[/.])(?P<number>[0-9]{1,2})(?P=slash)(?P<day>[0-9]{1,2})",
        _iso_date,
    ),
    _form("{of_weekday}(?:the )?{day}(?:{to_day})? (?:of )?{month}{of_year}", _date),
    _form(
        r"{of_weekday}{month}\.? (?:the )?{day}(?:{to_day}{no_month})?{of_year}", _date
    ),
    _form("{month}{of_year}", _month),
    _form("(?:(?P<last>last) )?{weekday}{no_week}", _weekday),
    _form("{year}{clause}", _year),
    _form("(?:(?:at|around|about) )?{clock}{appointment}", _clock),
)
"""The forms; of two that begin alike, the longer one is first."""


# The words around a date


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){pattern}".replace(" ", _BLANK))


_IN = "in|during|since|before|after|until|till|from|between|around|by"
_PRECEDING = {
    name: _words(rf"(?:{words}) (?:the |early |mid |late )?$")
    for name, words in {
        "day": f"{_IN}|on",
        "month": f"{_IN}|of",
        "year": rf"{_IN}|year|end of|spring|summer|autumn|fall|winter",
        "appointment": "the|our|my|this|that|a",
        "clock": r"\b\B",  # A day must be beside it.
    }.items()
}
"""The words that show a phrase to be a date. A text that is nothing else needs none."""

_BEGINNING = re.compile(r"(?<![\w./:#@\\$&=+-])(?<![0-9],)(?=[0-9a-z])")
_AHEAD = _words(
    r"(?:this|next|every|each|coming|following|upcoming|any|per|by|for|black)"
    r" (?:the )?$"
)
"""Words before a date that comes again, which then is not the latest one."""
_FROM = _words("(?:from|between) (?:the )?$")
_TO = re.compile(r"\s?-\s?|\s{1,3}(?:(and)|to|until|till|through)\s(?:the\s)?")
_OPEN = _words("(since|before|after|until|till|by) (?:the )?$")
_DAY_OF_CLOCK = re.compile(r"(?:\s?,)?\s{1,3}(?:(?:at|on|in|of)\s)?(?:the\s)?")
_SENTENCE_END = re.compile(r"[.?!;]\s|\n")
_WRITTEN_YEAR = re.compile(rf"(?<![0-9]){_YEAR}(?![0-9])")
_LEADING = _words(
    "(?:(?:earlier|later) )?(?:(?:in|on|at|from|between|during|over|for|of|by|within"
    "|around|as of) (?:the )?|the )?$"
)

_LOWER = str.maketrans(
    {chr(65 + i): chr(97 + i) for i in range(26)} | {"’": "'", "–": "-", "—": "-"}
)


def _before(pattern: re.Pattern[str], low: str, place: int) -> _Match | None:
    """Search the words right before a place."""
    return pattern.search(low, max(0, place - MAX_BEFORE_CHARS), place)


def _is_date(phrase: _Phrase, low: str) -> bool:
    """Return whether the words before a phrase show that it is a date in the past."""
    if phrase.latest and _before(_AHEAD, low, phrase.start):
        return False
    preceding = phrase.preceding
    return not preceding or bool(_before(_PRECEDING[preceding], low, phrase.start))


# Reading


def read(text: str, now: datetime, zone: tzinfo) -> list[DatePeriod]:
    """Return the times in any text, in their order; they do not overlap.

    Args:
        text: The text, such as a question.
        now: The time it was written at, aware.
        zone: The time zone of its dates.
    """
    return list(_periods(text, now, zone, is_whole=False))


def read_whole(text: str, now: datetime, zone: tzinfo) -> DatePeriod | None:
    """Return the time that is all of a text: "2025" is a year here, "may" a month."""
    periods = list(_periods(text, now, zone, is_whole=True))
    is_all = len(periods) == 1 and not remove(text, periods).strip()
    return periods[0] if is_all else None


def read_exact(text: str, now: datetime, zone: tzinfo) -> list[DatePeriod]:
    """Return the time that a text is, or else those that it speaks of."""
    text = text[:MAX_CHARS]
    period = read_whole(text, now, zone)
    return [period] if period else distinct(read(text, now, zone))


def distinct(periods: Iterable[DatePeriod]) -> list[DatePeriod]:
    """Return the periods without repetitions."""
    by_bounds: dict[tuple[datetime | None, datetime | None], DatePeriod] = {}
    for period in periods:
        by_bounds.setdefault((period.start, period.end), period)
    return list(by_bounds.values())


def remove(text: str, periods: Iterable[DatePeriod]) -> str:
    """Return a text without the words of some periods and their prepositions.

    "about retries last week" becomes "about retries".
    """
    pieces, place, low = [], 0, text.translate(_LOWER)
    for start, end in sorted(period.span for period in periods):
        leading = _before(_LEADING, low, start)
        pieces.append(text[place : max(place, leading.start() if leading else start)])
        place = max(end, place)
    kept = ""
    for piece in map(str.strip, [*pieces, text[place:]]):
        kept += piece if piece[:1] in "?.!,;:)" else f" {piece}"
    return kept.strip().lstrip(" ,;") if place else text


def _periods(
    text: str, now: datetime, zone: tzinfo, *, is_whole: bool
) -> Iterator[DatePeriod]:
    low = text.translate(_LOWER)
    context = _Context(text, low, now, zone, calendar.local_day(now, zone))
    phrases = _give_appointments_their_day(_join_clocks(_phrases(context), low), low)
    place, end = 0, 0
    while place < len(phrases):
        phrase, *following = phrases[place : place + 2]
        period = _range(phrase, following[0], context) if following else None
        place += 2 if period else 1
        if period is None and (is_whole or _is_date(phrase, low)):
            period = _single(phrase, context)
        if period is None or period.span[0] < end:
            continue
        # The future is read only where its year is written.
        is_past = period.start is None or period.start <= now
        if is_past or _WRITTEN_YEAR.search(low, *period.span):
            end = period.span[1]
            yield period


def _phrases(context: _Context) -> Iterator[_Phrase]:
    end = 0
    for beginning in _BEGINNING.finditer(context.low):
        place = beginning.start()
        if place >= end and (phrase := _phrase_at(place, context)):
            end = phrase.end
            yield phrase


def _phrase_at(place: int, context: _Context) -> _Phrase | None:
    for form, reader in _FORMS:
        if match := form.match(context.low, place):
            with suppress(ValueError, OverflowError):  # The calendar has no such day.
                if phrase := reader(match, context):
                    return replace(phrase, start=place, end=match.end())
    return None


def _join_clocks(phrases: Iterable[_Phrase], low: str) -> list[_Phrase]:
    """Join a time of day with the day right before or after: "3pm yesterday"."""
    joined: list[_Phrase] = []
    for right in phrases:
        left = joined[-1] if joined else None
        if left and _DAY_OF_CLOCK.fullmatch(low, left.end, right.start):
            for clock, day in ((left, right), (right, left)):
                if clock.minute is not None and not clock.days and day.is_day:
                    span = left.start, right.end
                    joined.pop()
                    right = replace(
                        day, minute=clock.minute, start=span[0], end=span[1]
                    )
                    break
        joined.append(right)
    return joined


def _give_appointments_their_day(phrases: list[_Phrase], low: str) -> list[_Phrase]:
    """Give "the 3pm meeting" the day that its sentence names after or before it.

    Both phrases then mean the same time. Beside a longer period the clock is left out.
    """
    dated = list(phrases)
    for place, clock in enumerate(phrases):
        if clock.preceding != "appointment" or not _is_date(clock, low):
            continue
        for other in (place + 1, place - 1):
            day = phrases[other] if 0 <= other < len(phrases) else clock
            start, end = min(clock.end, day.end), max(clock.start, day.start)
            if not day.days or _SENTENCE_END.search(low, start, end):
                continue
            dated[place] = replace(clock, preceding="clock")
            if day.is_day and not _before(_OPEN, low, day.start):
                dated[place] = replace(clock, days=day.days)
                dated[other] = replace(day, minute=clock.minute)
            break
    return dated


def _single(phrase: _Phrase, context: _Context) -> DatePeriod:
    """Return the period of a phrase, or that on one side of it: "since Monday"."""
    side = _before(_OPEN, context.low, phrase.start)
    start, end = _bounds(phrase, context)
    if not side or (side[1] == "by" and phrase.latest):
        if start == end or phrase.minute is not None:
            start, end = start - CLOCK_SLACK, end + CLOCK_SLACK
        return _period(start, end, (phrase.start, phrase.end), context)
    span = side.start(), phrase.end
    if side[1] in ("since", "after"):
        return _period(start if side[1] == "since" else end, None, span, context)
    return _period(None, start if side[1] == "before" else end, span, context)


def _range(first: _Phrase, last: _Phrase, context: _Context) -> DatePeriod | None:
    """Read "from 3 June to 5 July", in either order; None if they are two times."""
    leading = _before(_FROM, context.low, first.start)
    gap = _TO.fullmatch(context.low, first.end, last.start)
    if not gap or not (leading or not (gap[1] or first.preceding or last.preceding)):
        return None
    # Each end is completed by the other: "from November 2025 to January".
    if not first.days and first.minute is not None:
        first = replace(first, days=last.days)
    elif not last.days and last.minute is not None:
        last = replace(last, days=first.days)
    elif last.latest and not first.latest and first.days:
        last = replace(last, days=last.latest(first.days.first + 365 * DAY))
    elif first.latest and last.days:
        first = replace(first, days=first.latest(last.days.first))
    if not (first.days or first.exact):
        return None
    bounds = [_bounds(phrase, context) for phrase in (first, last)]
    start, end = min(start for start, _ in bounds), max(end for _, end in bounds)
    span = leading.start() if leading else first.start, last.end
    return _period(start, end, span, context) if start < end else None


def _bounds(phrase: _Phrase, context: _Context) -> tuple[datetime, datetime]:
    """Return when a phrase begins and ends, in UTC."""
    if phrase.exact:
        return phrase.exact
    if phrase.days and phrase.minute is None:
        first, after = phrase.days
        return context.moment(first, 0), context.moment(after, 0)
    minute = phrase.minute or 0
    day = phrase.days.first if phrase.days else context.today
    if not phrase.days and context.moment(day, minute) > context.now:
        day -= DAY
    # An hour that occurs twice as the clocks go back counts both times.
    moments = [context.moment(day, minute, fold) for fold in (0, 1)]
    return min(moments), max(moments)


def _period(
    start: datetime | None,
    end: datetime | None,
    span: tuple[int, int],
    context: _Context,
) -> DatePeriod:
    words = " ".join(context.text[slice(*span)].split())
    local = [at.astimezone(context.zone) if at else None for at in (start, end)]
    return DatePeriod(start, end, span, f"{words}: {date_format.period(*local)}")


# The node of the contents for a typed date.
#
# A whole day, week, month or year is its own node. The node of another period is the
# widest node that begins with it and lies within it; of a period without a start, the
# widest node that ends with it.


@dataclass(frozen=True, slots=True)
class NodeDate:
    """The node for a typed date."""

    node_id: str
    label: str
    """The period as understood."""


def read_node(typed: str, now: datetime) -> NodeDate | None:
    """Return the node for a date; None if it is no date or in the future.

    Args:
        typed: A date, or words such as "last tuesday", "two weeks ago".
        now: The time in the store's time zone.
    """
    assert now.tzinfo is not None
    period = read_whole(typed, now, now.tzinfo)
    return _node_of(period, now.tzinfo) if period else None


def whole_node(period: DatePeriod, zone: tzinfo) -> str:
    """Return the id of the node of exactly a period; "" if there is none."""
    node = _node_of(period, zone)
    return node.node_id if node.label == node_label(node.node_id) else ""


def _node_of(period: DatePeriod, zone: tzinfo) -> NodeDate:
    first = calendar.local_day(period.start, zone) if period.start else None
    after = None
    if period.end:
        after = calendar.local_day(period.end - timedelta(microseconds=1), zone) + DAY
    if first and after == first + WEEK:
        # "A week ago" is the week that contains its middle.
        node_id = calendar.id_at(TocLevel.WEEK, first + 3 * DAY)
        return NodeDate(node_id, node_label(node_id))
    edge = first or (after - DAY if after else None)
    assert edge is not None
    for level in (TocLevel.YEAR, TocLevel.MONTH, TocLevel.WEEK, TocLevel.DAY):
        days = _whole(level, edge)
        is_at_edge = days.first == first if first else days.after == after
        if is_at_edge and (after is None or days.after <= after):
            break
    node_id = calendar.id_at(level, edge)
    label = node_label(node_id)
    if days != (first, after):
        way = "begins" if first else "ends"
        label = f"{period.label.rpartition(': ')[2]}: {way} with {label}"
    return NodeDate(node_id, label)


def node_label(node_id: str) -> str:
    """Name a node: "Tue 10 Mar 2026", "week of 9 Mar 2026", "March 2026"."""
    period = calendar.period(node_id)
    if period.level is TocLevel.DAY:
        return date_format.day(period.first)
    if period.level is TocLevel.WEEK:
        return f"week of {period.first.day} {period.first:%b %Y}"
    return calendar.title(node_id)
