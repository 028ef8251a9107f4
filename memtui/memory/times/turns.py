"""Times that take a turn: "Monday before last", "a week last Tuesday", "the 2020s".

What counts on from another time is read whole, never as the time it counts from, and
what so lies ahead ("a week on Tuesday") is no time at all.
"""

import re
from dataclasses import replace
from datetime import date, timedelta

from memtui.memory.times import ago, units
from memtui.memory.times.forms import Forms, Here, Spoken, of_days, yearly
from memtui.memory.times.units import (
    BLANK,
    COUNT,
    DAY,
    MONTHS,
    SEASONS,
    SHORT,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    YEAR,
    Days,
    either,
)

_TENTHS = {"early": (0, 4), "mid": (3, 7), "late": (6, 10)}
"""Which years of ten are meant, from one on and up to another."""


def _before_last(match: "re.Match[str]", here: Here) -> Spoken | None:
    """Not the last one that is over: the one before that."""
    if match[1] == "weekend":
        monday = units.week(here.today).first
        return of_days(match, Days(monday - 9 * DAY, monday - 7 * DAY))
    name = ago.named(match[1])
    found = name.latest(here.today)
    if found and found.after > here.today:
        found = name.latest(found.first - DAY)
    found = name.latest(found.first - DAY) if found else None
    return of_days(match, found) if found else None


def _weeks_last(match: "re.Match[str]", here: Here) -> Spoken | None:
    """So many weeks before the last day of a name."""
    if match[1] == "fortnight":
        weeks = 2
    else:
        least, weeks = units.count(match[2])
        if least < weeks:
            return None
    found = ago.named(match[3]).latest(here.today - DAY)
    back = timedelta(weeks=weeks)
    return (
        of_days(match, Days(found.first - back, found.after - back)) if found else None
    )


def _ahead(match: "re.Match[str]", here: Here) -> Spoken | None:
    return None


def _decade(match: "re.Match[str]", here: Here) -> Spoken | None:
    first, after = _TENTHS.get((match[1] or "").rstrip(" \t\n-"), (0, 10))
    year = int(match[2])
    return of_days(match, Days(date(year + first, 1, 1), date(year + after, 1, 1)))


def _feast(match: "re.Match[str]", here: Here) -> Spoken | None:
    """From Christmas Eve to the day after Christmas."""
    needs = "" if match[1] else "feast"
    found = yearly(match, here, _christmas, match[2], needs)
    if found and match[1] == "last" and found.days and found.days.after > here.today:
        days = _christmas(found.days.first.year - 1)
        return replace(found, days=days, is_full=True)
    return found


def _christmas(year: int) -> Days:
    return Days(date(year, 12, 24), date(year, 12, 27))


_WEEKDAY = either({*WEEKDAYS, *SHORT_WEEKDAYS})


_NAMED = either({*WEEKDAYS, *SHORT_WEEKDAYS, *({*MONTHS} - SHORT), "summer", "winter"})


_AND_UNIT = (
    rf"(?!{BLANK}(?:week|weekend|month|quarter|year|night"
    rf"|{either({*WEEKDAYS, *MONTHS, *SEASONS})})\b)"
)


_FEAST_ENDS = (
    rf"(?=(?:{BLANK})?(?:$|[?.!,;:)]|(?:we|i|did|about|when|where|was|were|is|are|in|on"
    r"|that|which|what|why|how|with|for|and|by|to|of|last|this)\b))"
)
"""What follows Christmas, where it is no part of a longer name."""


FORMS: Forms = {
    "before_last": (
        rf"(?:the{BLANK})?({_NAMED}|weekend){BLANK}before{BLANK}last{_AND_UNIT}",
        _before_last,
    ),
    "weeks_last": (
        rf"(?:a{BLANK}(fortnight)|({COUNT}){BLANK}weeks?)(?:{BLANK}ago)?{BLANK}last"
        rf"{BLANK}({_WEEKDAY})",
        _weeks_last,
    ),
    "weeks_ahead": (
        rf"(?:a{BLANK}(?:week|fortnight)|{COUNT}{BLANK}weeks){BLANK}(?:on{BLANK}"
        rf"(?:{_WEEKDAY})|today|tomorrow)|(?:{_WEEKDAY}){BLANK}(?:week|fortnight)"
        rf"(?=(?:{BLANK})?(?:$|[?.!,;)]))",
        _ahead,
    ),
    "decade": (
        rf"(?:the{BLANK})(early{BLANK}|mid-|mid{BLANK}|late{BLANK})?"
        r"((?:19[7-9]|20[0-9])0)s",
        _decade,
    ),
    "feast": (
        rf"(?:(last|this){BLANK})?(?:christmas|xmas)(?:{BLANK}({YEAR}))?{_FEAST_ENDS}",
        _feast,
    ),
}
"""The forms; they are tried before those that they begin like."""
