"""Times that are counted out: "three Fridays ago", "the first Monday in June".

Also what was at this time once ("this time last year"), a day of the month by its
number alone, and the turns of last: "the night before last", "last Tuesday week".
"""

import re
from datetime import date, timedelta

from memtui.memory.times import ago, units
from memtui.memory.times.forms import (
    AROUND,
    Forms,
    Here,
    Hours,
    Spoken,
    of_days,
    yearly,
)
from memtui.memory.times.units import (
    BLANK,
    COUNT,
    DAY,
    MONTHS,
    ORDINALS,
    PARTS,
    SHORT_WEEKDAYS,
    THAT_YEAR,
    WEEKDAYS,
    Days,
    Weekday,
    either,
)

LOOK_BACK_MONTHS = 48
"""How far back a numbered day of a name is looked for: any Friday the 31st is in it."""


_HALF = {"week": 0, "month": 3, "year": 15}
"""How many days on each side "this time" means, by how long ago that was."""


def _named_ago(match: "re.Match[str]", here: Here) -> Spoken | None:
    """So many Fridays back, or weekends, the last one that is over being the first."""
    least, most = units.count(match[1])
    if least < most:
        return None
    back = timedelta(weeks=most - 1)
    if match[2] == "weekend":
        monday = units.week(here.today).first
        days = Days(monday - 2 * DAY, monday)
    else:
        found = ago.named(match[2]).latest(here.today - DAY)
        if found is None:
            return None
        days = found
    return of_days(match, Days(days.first - back, days.after - back))


def _nth(match: "re.Match[str]", here: Here) -> Spoken | None:
    """The first Monday or the last day of a month."""
    number = WEEKDAYS.get(match[2])

    def of(days: Days) -> Days:
        all_of = [days.first + at * DAY for at in range(len(days))]
        some = [one for one in all_of if number in (None, one.weekday())]
        return units.day(some[-1 if match[1] == "last" else ORDINALS[match[1]] - 1])

    if match[3]:
        back = 1 if match[3] == "last" else 0
        return of_days(match, of(ago.unit(here.today, match[4], back)))
    month = MONTHS[match[5]]
    return yearly(match, here, lambda year: of(units.months(year, month)), match[6])


def _this_time(match: "re.Match[str]", here: Here) -> Spoken | None:
    """What was so long ago to the day, with some days on each side of it."""
    if match[2] == "yesterday":
        at = here.now - DAY
        return Spoken(*match.span(), exact=(at - AROUND, at + AROUND), is_full=True)
    size, count = (match[3], 1) if match[3] else (match[5], _exactly(match[4]))
    day = _back(here, size, count)
    if match[1] in ("week", "month"):
        return of_days(match, ago.unit(day, match[1], 0))
    half = timedelta(days=_HALF.get(size, 0) if match[1] == "time" else 0)
    return of_days(match, Days(day - half, day + half + DAY))


def _ago_today(match: "re.Match[str]", here: Here) -> Spoken | None:
    day = _back(here, match[2], _exactly(match[1]))
    if match[3] in ("this week", "this month"):
        return of_days(match, ago.unit(day, match[3][5:], 0))
    return of_days(match, units.day(day - DAY * (match[3] == "yesterday")))


def _exactly(words: str) -> int:
    """How many; ValueError where that is left open."""
    least, most = units.count(words)
    if least < most:
        raise ValueError(words)
    return most


def _back(here: Here, size: str, count: int) -> date:
    if size in ("month", "year"):
        return units.moved(here.today, -count * (12 if size == "year" else 1))
    return here.today - timedelta(days=count * (7 if size == "week" else 1))


def _numbered(match: "re.Match[str]", here: Here) -> Spoken | None:
    """The latest day of the month of a number, and of a name where it has one."""
    name = (WEEKDAYS | SHORT_WEEKDAYS).get(match[1] or "")
    number = int(match[2])
    for back in range(LOOK_BACK_MONTHS):
        month = ago.unit(here.today, "month", back)
        day = month.first + (number - 1) * DAY
        if month.first <= day <= min(here.today, month.after - DAY) and name in (
            None,
            day.weekday(),
        ):
            found = units.day(day)
            needs = "" if match[1] else "date"
            return Spoken(*match.span(), days=found, needs=needs)
    return None


def _night(match: "re.Match[str]", here: Here) -> Spoken | None:
    days = units.day(here.today - 2 * DAY)
    return Spoken(*match.span(), days=days, hours=Hours(*PARTS[match[1]]), is_full=True)


def _week_before(match: "re.Match[str]", here: Here) -> Spoken | None:
    """A week before the last day of a name."""
    last = Weekday(WEEKDAYS[match[1]]).latest(here.today - DAY)
    return of_days(match, Days(last.first - 7 * DAY, last.after - 7 * DAY))


def _brief(match: "re.Match[str]", here: Here) -> Spoken | None:
    """The last 36h; 36h ago."""
    count, word = int(match[1] or match[3]), _BRIEF[(match[2] or match[4])[0]]
    if match[1]:
        return ago.last(match, here, count, word)
    return ago.so_long(match, here, count, count, units.UNITS[word])


def _not_last(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, ago.unit(here.today, match[1], 2))


def _so_far(match: "re.Match[str]", here: Here) -> Spoken | None:
    days = ago.unit(here.today, match[1], 0)
    return of_days(match, Days(days.first, here.today + DAY))


_BRIEF = {"h": "hour", "m": "minute", "d": "day", "w": "week"}


_WEEKDAY = either(WEEKDAYS)


_MONTH = either(MONTHS)


_BY_ITSELF = (
    rf"(?=(?:{BLANK})?(?:$|[?.!;:)]|(?:we|i|did|was|were|when|why|what|to|until)\b))"
)
"""What follows "the 3rd" where it is a day, not the third of something."""


FORMS: Forms = {
    "named_ago": (
        rf"({COUNT}){BLANK}({_WEEKDAY}|weekend)s?{BLANK}ago",
        _named_ago,
    ),
    "nth": (
        rf"(?:the{BLANK})?({either(ORDINALS)}){BLANK}({_WEEKDAY}|day){BLANK}(?:of|in)"
        rf"{BLANK}(?:(last|this|the){BLANK}(week|month|year)(?!{BLANK}of\b)"
        rf"|({_MONTH}){THAT_YEAR})",
        _nth,
    ),
    "this_time": (
        rf"(?:(?:about|around|at){BLANK})?(?:this|(?:the{BLANK})?same){BLANK}"
        rf"(time|day|week|month){BLANK}(yesterday|last{BLANK}(week|month|year)"
        rf"|({COUNT}){BLANK}(day|week|month|year)s?{BLANK}ago)",
        _this_time,
    ),
    "ago_today": (
        rf"({COUNT}){BLANK}(day|week|month|year)s?{BLANK}ago{BLANK}"
        r"(today|yesterday|this week|this month)",
        _ago_today,
    ),
    "numbered": (
        rf"(?:({either({*WEEKDAYS, *SHORT_WEEKDAYS})}),?{BLANK})?the{BLANK}"
        rf"([0-9]{{1,2}})(?:st|nd|rd|th){_BY_ITSELF}",
        _numbered,
    ),
    "night": (
        rf"(?:the{BLANK})?(night|evening){BLANK}before{BLANK}last(?=\s*(?:$|[?.!,;:)]))",
        _night,
    ),
    "week_before": (
        rf"last{BLANK}({_WEEKDAY}){BLANK}week(?!{BLANK}[0-9])",
        _week_before,
    ),
    "not_last": (
        rf"not{BLANK}last{BLANK}(week|month|year),?{BLANK}(?:but{BLANK})?the{BLANK}"
        rf"(?:one|week|month|year){BLANK}before",
        _not_last,
    ),
    "brief": (
        rf"(?:the{BLANK})?(?:last|past){BLANK}([0-9]{{1,3}})\s?(h|hrs?|mins?|d|w)"
        rf"|([0-9]{{1,3}})\s?(h|hrs?|mins?|d|w){BLANK}(?:ago|back)",
        _brief,
    ),
    "so_far": (
        rf"earlier{BLANK}(?:(?:in|on){BLANK}the|this){BLANK}(week|month|year)"
        rf"(?!{BLANK}of\b)",
        _so_far,
    ),
}
"""The forms; they are tried before those that they begin like or hold."""
