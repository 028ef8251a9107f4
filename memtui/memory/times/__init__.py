"""Times: what a question says of when, read by rules.

A time is read only where it can be no other thing: a version, a path, a port or a verb
is never one, and what the words leave open is the latest that has begun. Nothing is
read that lies ahead unless its year is written out. Days begin with midnight in the
store's zone and weeks with their Monday. A text is read in time linear in its length.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache

from memtui.memory.times import (
    ago,
    beside,
    counted,
    dates,
    spans,
    tongues,
    turns,
    units,
)
from memtui.memory.times import said as times_said
from memtui.memory.times.beside import look
from memtui.memory.times.forms import Here, Spoken
from memtui.memory.times.units import BLANK, DAY, Weekday


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time that a question speaks of."""

    start: datetime | None
    """When it begins, in UTC; None where it is open: "before March"."""
    end: datetime | None
    """When it is over, itself excluded; None where it is open: "since Monday"."""
    span: tuple[int, int]
    """Where it was read, in characters of the text."""
    said: str
    """What was understood: "last week: 9–15 November 2026"."""
    is_soft: bool = False
    """Whether it is meant loosely ("recently", an hour of no day): what lies outside
    of it is less likely, not excluded."""


LONGEST = 1_000
"""How much of a text is read that is to be a time and nothing else, in characters."""


_LEFT = r"(?:(?<![\w./:#@\\$&=+-])(?<![0-9],)|(?<=\bmid-))"


_RIGHT = r"(?![\w/\\@=(-]|[.:+]\w)"


_SPACED = counted.FORMS | turns.FORMS | ago.FORMS | spans.FORMS


_SPACED |= dates.FORMS | tongues.FORMS


_FORMS = _SPACED | ago.HAN_FORMS


_YEAR = re.compile(rf"(?<![0-9]){units.YEAR}(?![0-9])")


_FROM = beside.before("from|between|von|zwischen|de|du|desde|entre")


_TO = re.compile(
    rf"(?:\s?-\s?|{BLANK}(?:and|to|until|till|through|und|bis|et|au|à|y|a|hasta){BLANK})"
    rf"(?:(?:the|la|le|el){BLANK})?"
)


_UP_TO = re.compile(rf"(?:\s?-\s?|{BLANK}(?:to|through){BLANK})(?:the{BLANK})?")


_CLEAR = ("", "date")
"""What two times may need that are a range without a "from" before them."""


_OPEN = re.compile(
    r"(?<!\w)(since|before|prior to|after|until|till|up to|by|seit|depuis|desde)"
    rf"{BLANK}(?:the{BLANK})?$"
)


_BEGINS = {"since", "seit", "depuis", "desde"}


_ENDS = {"before", "prior to"}


_SINCE = beside.before("from")


_ONWARDS = re.compile(rf"{BLANK}(?:onwards?|on(?=\s{{0,3}}(?:$|[?.!,;:)])))")


_LEADING = re.compile(
    rf"(?<!\w)(?:(?:earlier|later|sometime|some time|way back){BLANK})?"
    r"(?:(?:in|on|at|from|during|over|for|of|by|within|throughout|around|as of"
    rf"|am|im|en){BLANK}(?:(?:the|der|el|la){BLANK})?|(?:the|le|la|el){BLANK})?$"
)


def read(text: str, now: datetime, zone: tzinfo) -> list[Period]:
    """The times that a question speaks of, in the order of their places.

    Args:
        text: The question; any text will do.
        now: The moment it is asked at, aware.
        zone: The store's, whose midnights and weeks are meant.

    Returns:
        Periods that do not overlap in the text; none of the soft ones where another
        tells the time: "what I recently wrote in May" is about May.
    """
    here = Here(now, zone, text, now.astimezone(zone).date())
    low = units.lowered(text)
    found = beside.joined(list(_spoken(low, here)), low, here)
    kept = (beside.narrowed(one, low, here) for one in found)
    read = list(_periods([one for one in kept if one], low, here))
    firm = [one for one in read if not one.is_soft]
    return firm or read


def meant(text: str, now: datetime, zone: tzinfo) -> list[Period]:
    """The times of a text that is a time and nothing else: "2025" is a year there.

    Args:
        text: The time; only its first ``LONGEST`` characters are read.
        now: The moment it is asked at, aware.
        zone: The store's.
    """
    text = text[:LONGEST]
    found = read(text, now, zone) or read(f"in {text.strip()}", now, zone)
    return distinct(found)


def distinct(periods: Iterable[Period]) -> list[Period]:
    """Periods without those that another one before them is equal to."""
    first: dict[tuple[datetime | None, datetime | None], Period] = {}
    for one in periods:
        first.setdefault((one.start, one.end), one)
    return list(first.values())


def without(text: str, periods: Iterable[Period]) -> str:
    """A question without the words that were read as times.

    "about retries last week" leaves "about retries", and the preposition before a
    time goes with it. The words of a soft period may be what is asked for as well
    ("the job that runs at 03:00"); leave it out of the periods to keep them.
    """
    kept, place = "", 0
    for start, end in sorted(period.span for period in periods):
        before = text[place:start]
        tail = units.lowered(before[-beside.BEFORE_CHARS :])
        if leading := _LEADING.search(tail):
            before = before[: len(before) - len(tail) + leading.start()]
        kept, place = _seam(kept, before), max(end, place)
    return _seam(kept, text[place:]) if place else text


def _seam(kept: str, text: str) -> str:
    """Two pieces put together where words were taken out between them."""
    left, right = kept.rstrip(), text.lstrip()
    if not left:
        right = right.lstrip(" ,;")
    is_close = not left or not right or right[0] in "?.!,;:)" or left == kept == text
    return f"{left}{'' if is_close else ' '}{right}"


@cache
def _any() -> "re.Pattern[str]":
    """Any form, each a group of its name.

    Made when the first question is read: it takes 10 ms, which no start should wait.
    """
    spaced, han = (
        "|".join(
            f"(?P<{name}>{_owned(pattern)})" for name, (pattern, _) in forms.items()
        )
        for forms in (_SPACED, ago.HAN_FORMS)
    )
    return re.compile(f"{_LEFT}(?=[0-9a-z~])(?:{spaced}){_RIGHT}|{han}")


@cache
def _form(name: str) -> "re.Pattern[str]":
    return re.compile(_owned(_FORMS[name][0]))


def _owned(pattern: str) -> str:
    """A form, "yesterday", or what belongs to it, "yesterday's"."""
    return rf"(?:{pattern})(?:'s)?"


def _spoken(low: str, here: Here) -> Iterator[Spoken]:
    for found in _any().finditer(low):
        name = found.lastgroup or ""
        own = _form(name).fullmatch(low, found.start(), found.end())
        try:
            one = _FORMS[name][1](own, here) if own else None
        except (ValueError, OverflowError):
            continue
        if one:
            yield one


def _periods(found: list[Spoken], low: str, here: Here) -> Iterator[Period]:
    place, until = 0, 0
    while place < len(found):
        one = found[place]
        two = found[place + 1] if place + 1 < len(found) else None
        read = _range(one, two, low, here) if two else None
        place += 2 if read else 1
        read = read or _onwards(one, low, here)
        if read is None and beside.is_meant(one, low):
            read = _single(one, low, here)
        if read and read.span[0] >= until and _has_begun(read, low, here.now):
            until = read.span[1]
            yield read


def _has_begun(read: Period, low: str, now: datetime) -> bool:
    is_written = _YEAR.search(low, *read.span)
    return bool(is_written) or read.start is None or read.start <= now


def _single(one: Spoken, low: str, here: Here) -> Period:
    """A time by itself, or what lies on one side of it."""
    start, end = _bounds(one, here)
    found = look(_OPEN, low, one.start)
    way = found[1] if found else ""
    if not found or (way == "by" and not one.is_full):
        return _period((start, end), (one.start, one.end), one.is_soft, here)
    is_owned = low[one.end - 2 : one.end] == "'s"
    if one.hours and one.hours.slack:
        start, end = start + one.hours.slack, end - one.hours.slack
    bounds: tuple[datetime | None, datetime | None]
    if way in _BEGINS:
        bounds = start, None
    elif way == "after":
        bounds = start if is_owned else end, None
    elif way in _ENDS:
        bounds = None, end if is_owned else start
    else:
        bounds = None, end
    return _period(bounds, (found.start(), one.end), one.is_soft, here)


def _onwards(one: Spoken, low: str, here: Here) -> Period | None:
    """All from a time on; None where that is not said."""
    goes_on = _ONWARDS.match(low, one.end)
    if not (goes_on and (begins := look(_SINCE, low, one.start))):
        return None
    span = begins.start(), goes_on.end()
    return _period((_bounds(one, here)[0], None), span, one.is_soft, here)


def _range(one: Spoken, two: Spoken, low: str, here: Here) -> Period | None:
    """From one time to another, also if the later is first; None if they are two."""
    found = look(_FROM, low, one.start)
    if two.start - one.end > beside.BETWEEN_CHARS:
        return None
    if not (found or (one.needs in _CLEAR and two.needs in _CLEAR)):
        return None
    if not (_TO if found else _UP_TO).fullmatch(low, one.end, two.start):
        return None
    one, two = _paired(one, two)
    span = found.start() if found else one.start, two.end
    is_told = one.is_full and two.is_full
    if is_told and _bounds(one, here)[0] >= _bounds(two, here)[1]:
        one, two = two, one
    start, end = _bounds(one, here)[0], _bounds(two, here)[1]
    if one.hours and two.hours:
        start, end = start + one.hours.slack, end - two.hours.slack
    if start >= end:
        return None
    return _period((start, end), span, one.is_soft and two.is_soft, here)


def _paired(one: Spoken, two: Spoken) -> tuple[Spoken, Spoken]:
    """Two ends of a range, what one leaves open told by the other."""
    if one.hours and not one.days:
        return replace(one, days=two.days), two
    if two.hours and not two.days:
        return one, replace(two, days=one.days)
    if two.name and not two.is_full and one.is_full and one.days:
        ahead = 6 if isinstance(two.name, Weekday) else 365
        days = two.name.latest(one.days.first + timedelta(days=ahead))
        return one, replace(two, days=days)
    if one.name and not one.is_full and two.days:
        return replace(one, days=one.name.latest(two.days.first)), two
    return one, two


def _bounds(one: Spoken, here: Here) -> tuple[datetime, datetime]:
    """When a time begins and is over, in UTC."""
    if one.exact:
        return one.exact[0].astimezone(UTC), one.exact[1].astimezone(UTC)
    if one.hours is None:
        days = one.days or units.day(here.today)
        return here.at(days.first, 0), here.at(days.after, 0)
    day = one.days.first if one.days else here.today
    if not one.days and here.at(day, one.hours.start) > here.now:
        day -= DAY
    slack = one.hours.slack
    starts = (here.at(day, one.hours.start, fold) for fold in (0, 1))
    ends = (here.at(day, one.hours.end, fold) for fold in (0, 1))
    return min(starts) - slack, max(ends) + slack


def _period(
    bounds: tuple[datetime | None, datetime | None],
    span: tuple[int, int],
    is_soft: bool,
    here: Here,
) -> Period:
    words = " ".join(here.text[slice(*span)].split())
    start, end = (at.astimezone(here.zone) if at else None for at in bounds)
    return Period(*bounds, span, f"{words}: {times_said.said(start, end)}", is_soft)
