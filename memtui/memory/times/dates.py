"""Times that a calendar or a clock names: "3 June", "2025-W11", "Q1", "around 3pm".

What is named without its year is the latest one that has begun. ``3/6/2025`` may be
two days and is not read; ``14/3/2025`` is one, and dots always put the day first.
"""

import re
from dataclasses import replace
from datetime import UTC, date, datetime

from memtui.memory.times import units
from memtui.memory.times.forms import (
    AROUND,
    AT,
    Forms,
    Here,
    Hours,
    Spoken,
    latest,
    of_days,
    yearly,
)
from memtui.memory.times.units import (
    BLANK,
    DAY,
    MONTHS,
    NOON,
    ORDINALS,
    PARTS,
    PEOPLE,
    SEASONS,
    SHORT,
    SHORT_WEEKDAYS,
    THAT_YEAR,
    VERBS,
    WEEKDAYS,
    YEAR,
    Days,
    Weekday,
    either,
)

_SENTENCE_STARTS = VERBS | {"mar", "dec"}
"""Months that a capital at the start of a text does not tell from other words."""


_STARTS = re.compile(r"(?:^|[.?!:])\s{0,3}$")


_PLACES = re.compile(r"\b(?:line|col|column|row|position|offset|byte)\s{1,3}$")
"""What is "at 12:30" in a text rather than in a day."""


def _iso(match: "re.Match[str]", here: Here) -> Spoken | None:
    first = date(int(match[1]), int(match[2]), int(match[3]))
    if not match[4]:
        return of_days(match, units.day(first))
    if match[6]:
        stamp = f"{first}T{match[4]}:{match[5]}{match[6].upper()}"
        moment = datetime.fromisoformat(stamp).astimezone(UTC)
        return Spoken(*match.span(), exact=(moment - AT, moment + AT), is_full=True)
    at = int(match[4]) * 60 + int(match[5])
    days, hours = units.day(first), Hours(at, at, AT)
    return Spoken(*match.span(), days=days, hours=hours, is_full=True)


def _iso_week(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, units.iso_week(int(match[1]), int(match[2])))


def _iso_month(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, units.months(int(match[1]), int(match[2])))


def _numeric(match: "re.Match[str]", here: Here) -> Spoken | None:
    day, month, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "/":
        if day <= 12 and month <= 12 and day != month:
            return None
        day, month = max(day, month), min(day, month)
    return of_days(match, units.day(date(year, month, day)))


def _months_need(match: "re.Match[str]", here: Here, group: int, suffix: str) -> str:
    """What a date without a year needs before it; nothing if it is clear by itself.

    "May 3 tests run at once?" and "step 3 may fail" are no dates.
    """
    word, place = match[group], match.start(group)
    if suffix:
        return ""
    is_first = bool(_STARTS.search(here.text, max(0, place - 4), place))
    is_clear = here.is_capital(place) and not (is_first and word in _SENTENCE_STARTS)
    return "" if is_clear else "date"


def _date(
    match: "re.Match[str]",
    here: Here,
    month: int,
    days: tuple[str, str],
    needs: str,
) -> Spoken | None:
    first, last = int(days[0]), int(days[1])
    year = match[match.re.groups]
    if first > last:
        return None
    return yearly(
        match,
        here,
        lambda year: Days(date(year, month, first), date(year, month, last) + DAY),
        year,
        needs,
    )


def _day_month(match: "re.Match[str]", here: Here) -> Spoken | None:
    needs = _months_need(match, here, 3, match[2] or "")
    return _date(match, here, MONTHS[match[3]], (match[1], match[1]), needs)


def _month_day(match: "re.Match[str]", here: Here) -> Spoken | None:
    needs = _months_need(match, here, 1, match[3] or "")
    return _date(match, here, MONTHS[match[1]], (match[2], match[2]), needs)


def _days_month(match: "re.Match[str]", here: Here) -> Spoken | None:
    needs = _months_need(match, here, 3, "")
    return _date(match, here, MONTHS[match[3]], (match[1], match[2]), needs)


def _month_days(match: "re.Match[str]", here: Here) -> Spoken | None:
    needs = _months_need(match, here, 1, "")
    return _date(match, here, MONTHS[match[1]], (match[2], match[3]), needs)


def _month(match: "re.Match[str]", here: Here) -> Spoken | None:
    word = match[1]
    if not match[2] and word in SHORT and not here.is_capital(match.start()):
        return None
    needs = "person" if word in PEOPLE else "month"
    return yearly(match, here, units.months_of(MONTHS[word]).of, match[2], needs)


def _season(match: "re.Match[str]", here: Here) -> Spoken | None:
    of = units.months_of(SEASONS[match[1]], 3).of
    return yearly(match, here, of, match[2], "season")


def _quarter(match: "re.Match[str]", here: Here) -> Spoken | None:
    number = ORDINALS.get(match[1]) or int(match[1])
    of = units.months_of(3 * number - 2, 3).of
    needs = "" if match[1] in ORDINALS else "quarter"
    return yearly(match, here, of, match[2], needs)


def _half(match: "re.Match[str]", here: Here) -> Spoken | None:
    number = int(match[1])
    return of_days(match, units.months(int(match[2]), 6 * number - 5, 6))


def _week(match: "re.Match[str]", here: Here) -> Spoken | None:
    """A numbered week; "week 3" may also be the third of some plan."""
    number = int(match[2])
    found = yearly(match, here, lambda year: units.iso_week(year, number), match[3])
    is_soft = match[1] == "week" and not match[3]
    return replace(found, is_soft=is_soft) if found else None


def _weekday(match: "re.Match[str]", here: Here) -> Spoken | None:
    number = (WEEKDAYS | SHORT_WEEKDAYS)[match[1]]
    needs = "" if match[1] in WEEKDAYS else "weekday"
    return latest(match, here, Weekday(number), needs)


def _year(match: "re.Match[str]", here: Here) -> Spoken | None:
    year = int(match[0].removesuffix("'s"))
    if year > here.today.year:
        return None
    days = units.months(year, 1, 12)
    return Spoken(*match.span(), days=days, needs="year", is_full=True)


def _part(match: "re.Match[str]", here: Here) -> Spoken | None:
    return Spoken(*match.span(), hours=Hours(*PARTS[match[1]]), needs="day")


def _hour(match: "re.Match[str]", here: Here) -> Spoken | None:
    """An hour as it is written: a time only beside its day."""
    at = int(match[1]) * 60
    if at >= 2 * NOON:
        return None
    return Spoken(*match.span(), hours=Hours(at, at, AT), needs="day", is_soft=True)


def _clock(match: "re.Match[str]", here: Here) -> Spoken | None:
    """A time of day: with a half of a day named, or with minutes and an "at"."""
    way, is_noon = match[1] or "", bool(match[2])
    hour, half = int(match[3] or match[6] or NOON // 60), match[5] or match[7]
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * half.startswith("p")
    before = here.text[max(0, match.start() - 12) : match.start()].lower()
    if _PLACES.search(before):
        return None
    at = hour * 60 + int(match[4] or 0)
    slack = AT if way.strip() in ("", "at") else AROUND
    needs = "" if way or (half and not is_noon) else "day"
    return Spoken(*match.span(), hours=Hours(at, at, slack), needs=needs, is_soft=True)


_MONTH = rf"({either(MONTHS)})"


_NUMBER = r"([0-9]{1,2})"


_GOES_ON = (
    r"(?:about|and|did|do|for|i|in|last|of|on|that|the|they|this|today|was|we|were"
    r"|what|when|where|who|with|yesterday|you)"
)
"""What may follow an hour that is no count: "at 5 workers"."""


_SUFFIX = r"(st|nd|rd|th)?"


_NO_NUMBER = r"(?!\s[0-9]{1,2}\s)"
"""What does not follow a month: of "11 May 14" the one date or the other is none."""


_FROM = rf"(?:(?:between|from){BLANK})?"


_TO = rf"(?:\s?-\s?|{BLANK}(?:to|and|until|through){BLANK})"


_SAYS_MORE = (
    r"(?!\s?(?:x\s?[0-9]|%|ms\b|px\b|[kmg]i?b\b|of\b|or\b)"
    rf"|{BLANK}(?:to|and){BLANK}(?!{YEAR}\b)[0-9]"
    rf"|{BLANK}(?!was\b|is\b|does\b|has\b|this\b|his\b|as\b|its\b|us\b)[a-z]{{1,30}}s\b"
    rf"|{BLANK}(?:\w{{1,20}}{BLANK})?(?:lines|rows|tokens|times)\b)"
)
"""What does not follow a year: "in 2000 lines", "from 1024 to 4096"."""


FORMS: Forms = {
    "iso": (
        rf"({YEAR})[-/]([0-9]{{2}})[-/]([0-9]{{2}})(?:[t\s]([0-9]{{2}}):([0-9]{{2}})"
        r"(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(z|[+-][0-9]{2}:?[0-9]{2})?)?",
        _iso,
    ),
    "iso_week": (rf"({YEAR})-?w([0-9]{{2}})", _iso_week),
    "iso_month": (rf"({YEAR})-(0[1-9]|1[0-2])", _iso_month),
    "slashes": (rf"([0-9]{{1,2}})(/)([0-9]{{1,2}})/({YEAR})", _numeric),
    "dots": (rf"([0-9]{{1,2}})(\.)([0-9]{{1,2}})\.({YEAR})", _numeric),
    "days_month": (
        rf"{_FROM}{_NUMBER}(?:st|nd|rd|th)?{_TO}{_NUMBER}(?:st|nd|rd|th)?"
        rf"\s(?:of\s)?{_MONTH}{THAT_YEAR}",
        _days_month,
    ),
    "month_days": (
        rf"{_FROM}{_MONTH}\.?\s{_NUMBER}(?:st|nd|rd|th)?{_TO}{_NUMBER}(?:st|nd|rd|th)?"
        rf"(?!\s(?:{either(MONTHS)})\b){THAT_YEAR}",
        _month_days,
    ),
    "day_month": (
        rf"(?:the{BLANK})?{_NUMBER}(st|nd|rd|th)?\s(?:of\s)?{_MONTH}"
        rf"{_NO_NUMBER}{THAT_YEAR}",
        _day_month,
    ),
    "month_day": (
        rf"{_MONTH}\.?\s(?:the\s)?{_NUMBER}{_SUFFIX}{THAT_YEAR}",
        _month_day,
    ),
    "month": (rf"{_MONTH}{THAT_YEAR}", _month),
    "q": (rf"q([1-4])(?:(?:/|\s(?:of\s)?)({YEAR}))?", _quarter),
    "half": (rf"h([12])(?:/|\s(?:of\s)?)({YEAR})", _half),
    "quarter": (
        rf"({either(ORDINALS)}){BLANK}quarter{THAT_YEAR}(?!{BLANK}of\b)",
        _quarter,
    ),
    "week": (
        rf"(week|kw|cw|iso{BLANK}week|calendar{BLANK}week){BLANK}([0-9]{{1,2}}){THAT_YEAR}"
        rf"(?!{BLANK}of\b)",
        _week,
    ),
    "season": (rf"({either(SEASONS)}){THAT_YEAR}", _season),
    "weekday": (rf"({either(WEEKDAYS)}|{either(SHORT_WEEKDAYS)})", _weekday),
    "clock": (
        rf"((?:at|around|about|circa){BLANK}|~)?(?:(noon)"
        rf"|{_NUMBER}:([0-5][0-9])(?::[0-5][0-9])?(?:\s?([ap]m|[ap]\.m\.))?"
        rf"|{_NUMBER}\s?([ap]m|[ap]\.m\.))",
        _clock,
    ),
    "hour": (
        rf"at{BLANK}{_NUMBER}(?:{BLANK}o'?clock)?(?=\s{{0,3}}(?:$|[?.!,;)]|{_GOES_ON}\b))",
        _hour,
    ),
    "part": (
        rf"(?:(?:in{BLANK})?the{BLANK})?(morning|afternoon|evening|night)",
        _part,
    ),
    "year": (rf"{YEAR}{_SAYS_MORE}", _year),
}
"""The forms of a calendar, those that say more before those that they begin with."""
