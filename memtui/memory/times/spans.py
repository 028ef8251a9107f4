"""Times that are written as one stretch: "March–May 2025", "2-4pm", "Mon–Wed"."""

import re
from datetime import date

from memtui.memory.times import units
from memtui.memory.times.forms import Forms, Here, Hours, Spoken, of_days, yearly
from memtui.memory.times.units import (
    BLANK,
    DAY,
    MONTHS,
    NOON,
    SHORT,
    SHORT_WEEKDAYS,
    THAT_YEAR,
    WEEKDAYS,
    YEAR,
    Days,
    Weekday,
    either,
)


def _months(match: "re.Match[str]", here: Here) -> Spoken | None:
    """From one month to another; a year that is written is that of the last one."""
    for at in (2, 3):
        if match[at] in SHORT and not here.is_capital(match.start(at)):
            return None
    first, last = MONTHS[match[2]], MONTHS[match[3]]
    back = int(first > last)
    return yearly(
        match,
        here,
        lambda year: units.months(year - back, first, (last - first) % 12 + 1),
        match[4],
        "" if match[1] or match[4] else "month",
    )


def _weekdays(match: "re.Match[str]", here: Here) -> Spoken | None:
    first, last = (Weekday((WEEKDAYS | SHORT_WEEKDAYS)[match[at]]) for at in (1, 2))
    if not here.is_capital(match.start(1)):
        return None
    begins = first.latest(here.today).first
    return of_days(match, Days(begins, last.latest(begins + 6 * DAY).after))


def _dashed(match: "re.Match[str]", here: Here) -> Spoken | None:
    day = date(int(match[3]), MONTHS[match[2]], int(match[1]))
    return of_days(match, units.day(day))


def _dates(match: "re.Match[str]", here: Here) -> Spoken | None:
    first, last = sorted(date.fromisoformat(match[at]) for at in (1, 2))
    return of_days(match, Days(first, last + DAY))


def _clocks(match: "re.Match[str]", here: Here) -> Spoken | None:
    """From one time of a day to another; a half of the day told once is both's."""
    first, last = int(match[2]), int(match[5])
    half, ends = match[4], match[7]
    if max(first, last) > 23 or (ends and not (1 <= first <= 12 and 1 <= last <= 12)):
        return None
    if ends:
        # Of "11-2pm" the first one is before noon.
        begins = half or (ends if first % 12 < last % 12 else "a")
        first = first % 12 + 12 * (begins == "p")
        last = last % 12 + 12 * (ends == "p")
    start, end = (
        hour * 60 + int(minutes or 0)
        for hour, minutes in ((first, match[3]), (last, match[6]))
    )
    end += 0 if start < end else 2 * NOON
    needs = "" if match[1] or ends else "day"
    hours = Hours(start, end)
    return Spoken(*match.span(), hours=hours, needs=needs, is_soft=True)


_MONTH = rf"({either(MONTHS)})"


_WEEKDAY = rf"({either({*WEEKDAYS, *SHORT_WEEKDAYS})})"


_HALF = r"(?:\s?([ap])(?:m|\.m\.))"


_DATE = rf"({YEAR}-[0-9]{{2}}-[0-9]{{2}})"


_FROM = rf"(?:(between|from){BLANK})?"


_TO = rf"(?:\s?-\s?|{BLANK}(?:to|until|till|through){BLANK})"


_AND = rf"(?:\s?-\s?|{BLANK}(?:to|until|till|and){BLANK})"


FORMS: Forms = {
    "months": (rf"(?:(from){BLANK})?{_MONTH}{_TO}{_MONTH}{THAT_YEAR}", _months),
    "weekdays": (rf"{_WEEKDAY}-{_WEEKDAY}", _weekdays),
    "dashed": (rf"([0-9]{{1,2}})-{_MONTH}-({YEAR})", _dashed),
    "dates": (rf"{_DATE}\.\.{_DATE}", _dates),
    "clocks": (
        rf"{_FROM}([0-9]{{1,2}})(?::([0-5][0-9]))?{_HALF}?{_AND}"
        rf"([0-9]{{1,2}})(?::([0-5][0-9]))?(?:{_HALF}|(?<=:[0-9][0-9])(?!{_HALF}))",
        _clocks,
    ),
}
"""The forms; they are tried before those that they begin like."""
