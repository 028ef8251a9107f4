"""What stands beside a time and makes it another: "3pm" and "yesterday", "end of".

Two times that mean one are joined, a part of one is cut out of it, and what must have
a certain word before it to be a time at all is looked at for that word.
"""

import re
from dataclasses import replace
from datetime import timedelta

from memtui.memory.times import units
from memtui.memory.times.forms import Here, Spoken
from memtui.memory.times.units import BLANK, DAY, VERBS, Days, Weekday

BEFORE_CHARS = 30
"""How much before a time is looked at for what belongs to it."""


BETWEEN_CHARS = 12
"""How far two times may stand apart to be one."""


LEAST_PARTED = 7
"""What has an early and a late part has at least so many days."""


LEAST_WEEKS = 28
"""What has a first and a last week has at least so many."""


def before(words: str) -> "re.Pattern[str]":
    """A pattern for some words that end where a time begins."""
    return re.compile(rf"(?<!\w)(?:{words}){BLANK}(?:the{BLANK})?$")


def look(pattern: "re.Pattern[str]", low: str, end: int) -> "re.Match[str] | None":
    """A pattern found in what lies right before a place."""
    return pattern.search(low, max(0, end - BEFORE_CHARS), end)


_IN = "in|during|throughout|since|before|after|until|till"


NEEDS = {
    "month": before(f"{_IN}|from|of|around"),
    "person": before("in|during|throughout|since|before|until|till"),
    "date": before(f"{_IN}|on|by|from|around"),
    "year": before(f"{_IN}|from|year"),
    "season": re.compile(
        rf"(?<!\w)(?:in|during|over|since|before|after|until){BLANK}the{BLANK}$"
    ),
    "quarter": before(f"{_IN}|from|of"),
    "weekday": before("on|since|until|till|before|after"),
    "feast": before(f"{_IN}|at|by|over|around"),
    "day": re.compile(r"(?!)"),
}
"""What must stand before a time that may be another thing, by what it is."""


_AHEAD = before("next|every|each|coming|following|upcoming|any|per|by|due on|for")
"""What tells that something else is meant than the latest one."""


_AHEAD_AFTER = re.compile(rf"{BLANK}(?:after{BLANK})?next\b")


_DAILY = re.compile(
    rf"\b(?:(?:every|each){BLANK}\w{{1,12}}|daily|nightly|weekly){BLANK}$"
)


_JOIN = re.compile(
    rf"(?:\s?,)?{BLANK}(?:(?:at|on|in|of|in the|on the|of the|the){BLANK})?"
)


_BESIDE = re.compile(rf"{BLANK}(before|after){BLANK}(?:the{BLANK})?")


_PARTS = {
    "early": (0, 1, 3),
    "beginning of": (0, 1, 3),
    "start of": (0, 1, 3),
    "mid": (1, 2, 3),
    "middle of": (1, 2, 3),
    "late": (2, 3, 3),
    "end of": (2, 3, 3),
    "first half of": (0, 1, 2),
    "second half of": (1, 2, 2),
}


_PART = re.compile(
    rf"(?<!\w)({'|'.join(_PARTS)}|(first|second|third|fourth|last)"
    rf" week of)(?:-|{BLANK}(?:in{BLANK})?(?:the{BLANK})?)$"
)


_COUNTED = re.compile(
    rf"(?<!\w)(?:the{BLANK})?(days?|weeks?|months?|years?|hours?|minutes?|night|morning"
    rf"|afternoon|evening|weekend){BLANK}(before|after|of){BLANK}(?:the{BLANK})?$"
)


def joined(found: list[Spoken], low: str, here: Here) -> list[Spoken]:
    """The times of a text, those that mean one made one."""
    kept: list[Spoken] = []
    for one in found:
        while kept and (both := _both(kept[-1], one, low, here)):
            kept.pop()
            one = both
        kept.append(one)
    return kept


def _both(one: Spoken, two: Spoken, low: str, here: Here) -> Spoken | None:
    """Two neighbours as one; None if each is a time of its own."""
    if two.start - one.end > BETWEEN_CHARS:
        return None
    gap = low[one.end : two.start]
    if found := _BESIDE.fullmatch(gap):
        met = _weekday_beside(one, two, found[1])
    elif _JOIN.fullmatch(gap):
        met = _hours_of(one, two) or _hours_of(two, one)
        met = met or _inside(one, two, here) or _inside(two, one, here)
    else:
        return None
    return replace(met, start=one.start, end=two.end) if met else None


def _weekday_beside(one: Spoken, two: Spoken, way: str) -> Spoken | None:
    """The Sunday before a date or a week, or after it."""
    if not isinstance(one.name, Weekday) or two.days is None:
        return None
    until = two.days.first - DAY if way == "before" else two.days.after + 6 * DAY
    return replace(two, days=one.name.latest(until), name=None, needs="")


def _hours_of(hours: Spoken, of: Spoken) -> Spoken | None:
    """Hours and their day, or the night they are of."""
    if hours.hours is None or hours.days or of.days is None or len(of.days) > 1:
        return None
    days, part, own = of.days, of.hours, hours.hours
    if part is not None:
        if part.end <= units.NOON * 2 or own.start >= part.start:
            is_inside = part.start <= own.start <= part.end
            return replace(of, hours=own) if is_inside else None
        days = Days(days.first + DAY, days.after + DAY)
    return replace(of, days=days, hours=own)


def _inside(one: Spoken, of: Spoken, here: Here) -> Spoken | None:
    """A Tuesday of a week, a March of a year; a Tuesday that is also a date."""
    if one.name is None or of.days is None or of.hours:
        return None
    if isinstance(one.name, Weekday) and len(of.days) == 1:
        return None if isinstance(of.name, Weekday) or one.hours else of
    days = one.name.inside(of.days)
    if days is None:
        return None
    needs = "" if here.is_capital(one.start) else one.needs
    return replace(one, days=days, name=None, needs=needs, is_full=True)


def narrowed(one: Spoken, low: str, here: Here) -> Spoken | None:
    """A time with what stands right before it: "end of", "the day before".

    Returns:
        None where it is counted from in a way that is not read: "two days before".
    """
    if one.days is None or one.hours:
        return one
    if found := look(_PART, low, one.start):
        is_verb = low[one.start : one.end] in VERBS and not here.is_capital(one.start)
        if days := None if is_verb else _part(one.days, found):
            return replace(
                one, start=found.start(), days=days, name=None, needs="", is_full=True
            )
    if not (found := look(_COUNTED, low, one.start)):
        return one
    first, after = one.days.first, one.days.after
    beside = {
        ("day", "before"): Days(first - DAY, first),
        ("day", "after"): Days(after, after + DAY),
        ("week", "before"): Days(first - 7 * DAY, first),
        ("week", "after"): Days(after, after + 7 * DAY),
        ("week", "of"): units.week(first) if len(one.days) == 1 else one.days,
    }.get((found[1], found[2]))
    if beside:
        return replace(one, start=found.start(), days=beside, name=None, needs="")
    return one if found[2] == "of" else None


def _part(days: Days, found: "re.Match[str]") -> Days | None:
    if found[2]:
        if len(days) < LEAST_WEEKS:
            return None
        week = timedelta(days=7)
        if found[2] == "last":
            return Days(days.after - week, days.after)
        first = days.first + week * (units.ORDINALS[found[2]] - 1)
        return Days(first, first + week)
    return days.part(*_PARTS[found[1]]) if len(days) >= LEAST_PARTED else None


def is_meant(one: Spoken, low: str) -> bool:
    """Whether a time is one, and the latest of its kind, by what stands around it."""
    if not one.is_full and look(_AHEAD, low, one.start):
        return False
    if one.name and _AHEAD_AFTER.match(low, one.end):
        return False
    if one.days is None and one.hours and look(_DAILY, low, one.start):
        return False
    return not one.needs or bool(look(NEEDS[one.needs], low, one.start))
