"""Read the dates and times that a text speaks of: "last week", "on 3 June at 3pm".

Only English and ISO forms are read, see ``date_forms``, and only where they can mean
nothing else: a version, a path, a port or a verb is no date. An incomplete date is the
latest that has begun, and the future is read only where its year is written. Days begin
at midnight in the given zone, weeks on Monday. Reading takes linear time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.text import date_format
from memtui.text.date_forms import (
    BLANK,
    DAY,
    FORMS,
    ORDINALS,
    VERBS,
    WEEK,
    YEAR,
    DateContext,
    Days,
    Phrase,
    lowered,
    months,
    one_day,
    week,
)


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
    is_soft: bool = False
    """True for loose times ("recently", an hour without a day), which prefer what lies
    in them and exclude nothing."""


MAX_CHARS = 1_000
"""The number of characters that ``read_exact`` reads."""

BEFORE_CHARS = 30
"""The maximum distance of the words before a date that belong to it."""

BETWEEN_CHARS = 12
"""The maximum distance of two dates that form one."""


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a space matches one to three blanks."""
    return re.compile(pattern.replace(" ", BLANK))


def _preceding(words: str) -> re.Pattern[str]:
    return _compiled(rf"(?<!\w)(?:{words}) (?:the )?$")


_IN = "in|during|throughout|since|before|after|until|till"

PRECEDING = {
    "month": _preceding(f"{_IN}|from|of|around"),
    "person": _preceding("in|during|throughout|since|before|until|till"),
    "date": _preceding(f"{_IN}|on|by|from|around"),
    "year": _preceding(f"{_IN}|from|year"),
    "season": _compiled(r"(?<!\w)(?:in|during|over|since|before|after|until) the $"),
    "quarter": _preceding(f"{_IN}|from|of"),
    "weekday": _preceding("on|since|until|till|before|after"),
    "clocks": _preceding("between|from"),
    "day": re.compile(r"(?!)"),
}
"""The context required before a phrase that may be no date; "day" needs a day beside
it."""

_LEFT = r"(?:(?<![\w./:#@\\$&=+-])(?<![0-9],)|(?<=\bmid-))"

_RIGHT = r"(?:'s)?(?![\w/\\@=(-]|[.:+]\w)"
"""The end of a date: no part of a path or a number is one."""

_JOIN = _compiled(
    r"(?:\s?,)? (?:(?:at|on|in|of|in the|on the|of the|the|between|from) )?"
)
_BESIDE = _compiled(" (before|after) (?:the )?")

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

_PART = _compiled(
    rf"(?<!\w)({'|'.join(_PARTS)}|(first|second|third|fourth|last) week of)"
    r"(?:-| (?:in )?(?:the )?)$"
)
_COUNTED = _compiled(
    r"(?<!\w)(?:the )?(days?|weeks?|months?|years?|hours?|minutes?|night|morning"
    r"|afternoon|evening|weekend) (before|after|of) (?:the )?$"
)
_AHEAD = _preceding("next|every|each|coming|following|upcoming|any|per|by|due on|for")
_AHEAD_AFTER = _compiled(r" (?:after )?next\b")
_DAILY = _compiled(r"\b(?:(?:every|each) \w{1,12}|daily|nightly|weekly) $")
_FROM = _preceding("from|between")
_TO = _compiled(r"(?:\s?-\s?| (?:and|to|until|till|through) )(?:the )?")
_UP_TO = _compiled(r"(?:\s?-\s?| (?:to|through) )(?:the )?")
_OPEN = _compiled(
    r"(?<!\w)(since|before|prior to|after|until|till|up to|by) (?:the )?$"
)
_SENTENCE_END = re.compile(r"[.?!;]\s|\n")
_ONWARDS = _compiled(r" (?:onwards?|on(?=\s{0,3}(?:$|[?.!,;:)])))")
_YEAR = re.compile(rf"(?<![0-9]){YEAR}(?![0-9])")

_LEADING = _compiled(
    r"(?<!\w)(?:(?:earlier|later|sometime|some time|way back) )?"
    r"(?:(?:in|on|at|from|between|during|over|for|of|by|within|throughout|around|as of)"
    r" (?:the )?|the )?$"
)


def read(text: str, now: datetime, zone: tzinfo) -> list[DatePeriod]:
    """Return the times in any text, in their order; they do not overlap.

    Soft periods are left out beside others: "what I recently wrote in May" means May.

    Args:
        text: The text, such as a question.
        now: The time it was written at, aware.
        zone: The time zone of its dates.
    """
    context = DateContext(now, zone, text, now.astimezone(zone).date())
    low = lowered(text)
    joined = _joined(list(_phrases(low, context)), low, context)
    narrowed = [n for one in joined if (n := _narrowed(one, low, context))]
    periods = list(_periods(_with_their_day(narrowed, low), low, context))
    return [one for one in periods if not one.is_soft] or periods


def read_exact(text: str, now: datetime, zone: tzinfo) -> list[DatePeriod]:
    """Return the times of a text that is nothing but a time: "2025" is a year here."""
    text = text[:MAX_CHARS]
    return distinct(read(text, now, zone) or read(f"in {text.strip()}", now, zone))


def distinct(periods: Iterable[DatePeriod]) -> list[DatePeriod]:
    """Return the periods without repetitions."""
    first: dict[tuple[datetime | None, datetime | None], DatePeriod] = {}
    for one in periods:
        first.setdefault((one.start, one.end), one)
    return list(first.values())


def remove(text: str, periods: Iterable[DatePeriod]) -> str:
    """Return a text without the words of some periods and their prepositions.

    "about retries last week" becomes "about retries". The words of a soft period may
    be what is looked for ("the job that runs at 03:00"): leave it out to keep them.
    """
    rest, place = "", 0
    for start, end in sorted(period.span for period in periods):
        before = text[place:start]
        tail = lowered(before[-BEFORE_CHARS:])
        if leading := _LEADING.search(tail):
            before = before[: len(before) - len(tail) + leading.start()]
        rest, place = _concatenated(rest, before), max(end, place)
    return _concatenated(rest, text[place:]) if place else text


def _concatenated(left: str, right: str) -> str:
    """Join two pieces where words were removed between them."""
    left, right = left.rstrip(), right.lstrip()
    if not left:
        right = right.lstrip(" ,;")
    is_close = not left or not right or right[0] in "?.!,;:)"
    return f"{left}{'' if is_close else ' '}{right}"


@cache
def _any_form() -> re.Pattern[str]:
    """Compile all forms into one pattern, when the first text is read."""
    forms = (
        f"(?P<form{number}>{re.sub(r'[(][?]P<[a-z0-9_]+>', '(?:', pattern)})"
        for number, (pattern, _) in enumerate(FORMS)
    )
    return re.compile(f"{_LEFT}(?=[0-9a-z~])(?:{'|'.join(forms)}){_RIGHT}")


@cache
def _form(number: int) -> re.Pattern[str]:
    return re.compile(f"(?:{FORMS[number][0]})(?:'s)?")


def _phrases(low: str, context: DateContext) -> Iterator[Phrase]:
    for found in _any_form().finditer(low):
        number = int((found.lastgroup or "").removeprefix("form"))
        match = _form(number).fullmatch(low, found.start(), found.end())
        try:
            phrase = FORMS[number][1](match, context) if match else None
        except (ValueError, OverflowError):
            continue  # The calendar has no such day.
        if phrase:
            yield replace(phrase, start=found.start(), end=found.end())


# Phrases that mean one time together: "3pm" and "yesterday", "end of" and "March".


def _before(pattern: re.Pattern[str], low: str, place: int) -> re.Match[str] | None:
    """Search the words right before a place."""
    return pattern.search(low, max(0, place - BEFORE_CHARS), place)


def _joined(phrases: list[Phrase], low: str, context: DateContext) -> list[Phrase]:
    joined: list[Phrase] = []
    for one in phrases:
        while joined and (both := _both(joined[-1], one, low, context)):
            joined.pop()
            one = both
        joined.append(one)
    return joined


def _both(one: Phrase, two: Phrase, low: str, context: DateContext) -> Phrase | None:
    """Return two neighbours as one; None if each is a time of its own."""
    if two.start - one.end > BETWEEN_CHARS:
        return None
    gap = low[one.end : two.start]
    if found := _BESIDE.fullmatch(gap):
        both = _weekday_beside(one, two, found[1])
    elif _JOIN.fullmatch(gap):
        both = _hours_of(one, two) or _hours_of(two, one)
        both = both or _inside(one, two, context) or _inside(two, one, context)
    else:
        return None
    return replace(both, start=one.start, end=two.end) if both else None


def _with_their_day(phrases: list[Phrase], low: str) -> list[Phrase]:
    """Give "the 3pm meeting" the day that its sentence names before or after it.

    Both phrases then mean the same time. Beside a longer period the hours are loose.
    """
    found = list(phrases)
    for place, one in enumerate(phrases):
        if one.days or one.hours is None or one.is_soft or one.needs:
            continue
        for other in (place + 1, place - 1):
            two = phrases[other] if 0 <= other < len(phrases) else one
            left, right = sorted((one, two), key=lambda phrase: phrase.start)
            is_near = not _SENTENCE_END.search(low, left.end, right.start)
            if is_near and two.days and not two.hours and _is_date(two, low):
                if len(two.days) == 1 and not _before(_OPEN, low, two.start):
                    found[place] = replace(one, days=two.days)
                    found[other] = replace(two, hours=one.hours)
                else:
                    found[place] = replace(one, is_soft=True)
                break
    return found


def _weekday_beside(one: Phrase, two: Phrase, way: str) -> Phrase | None:
    """Read "the Sunday before 25 October"."""
    if one.recurring is None or not one.recurring.is_weekly or two.days is None:
        return None
    until = two.days.first - DAY if way == "before" else two.days.after + 6 * DAY
    days = one.recurring.latest(until)
    return replace(two, days=days, recurring=None, needs="")


def _hours_of(hours: Phrase, day: Phrase) -> Phrase | None:
    """Read hours and their day, or hours of a part of it: "last night at 3am"."""
    if hours.hours is None or hours.days or day.days is None or len(day.days) > 1:
        return None
    days, part, own = day.days, day.hours, hours.hours
    if part is not None:
        if part.end <= 24 * 60 or own.start >= part.start:
            is_inside = part.start <= own.start <= part.end
            return replace(day, hours=own) if is_inside else None
        days = days.shifted(DAY)
    return replace(day, days=days, hours=own)


def _inside(one: Phrase, whole: Phrase, context: DateContext) -> Phrase | None:
    """Read a Tuesday of a week, a March of a year, or a Tuesday that has a date."""
    if one.recurring is None or whole.days is None or whole.hours:
        return None
    if one.recurring.is_weekly and len(whole.days) == 1:
        is_weekday = whole.recurring is not None and whole.recurring.is_weekly
        return None if is_weekday or one.hours else whole
    days = one.recurring.inside(whole.days)
    if days is None:
        return None
    needs = "" if context.is_capital(one.start) else one.needs
    return replace(one, days=days, recurring=None, needs=needs, is_definite=True)


def _narrowed(one: Phrase, low: str, context: DateContext) -> Phrase | None:
    """Apply the words before a phrase: "end of", "the day before", "the week of".

    Returns:
        None for what is counted from it in a way that is not read: "two days before".
    """
    if one.days is None or one.hours:
        return one
    if found := _before(_PART, low, one.start):
        text = low[one.start : one.end]
        is_verb = text in VERBS and not context.is_capital(one.start)
        if days := None if is_verb else _part(one.days, found):
            narrow = replace(one, start=found.start(), days=days, recurring=None)
            return replace(narrow, needs="", is_definite=True)
    if not (found := _before(_COUNTED, low, one.start)):
        return one
    days = {
        "day before": one_day(one.days.first - DAY),
        "day after": one_day(one.days.after),
        "week before": Days(one.days.first - WEEK, one.days.first),
        "week after": Days(one.days.after, one.days.after + WEEK),
        "week of": week(one.days.first) if len(one.days) == 1 else one.days,
    }.get(f"{found[1]} {found[2]}")
    if days:
        return replace(one, start=found.start(), days=days, recurring=None, needs="")
    return one if found[2] == "of" else None


def _part(days: Days, found: re.Match[str]) -> Days | None:
    """Return what "end of" or "first week of" means; None if too short for it."""
    if not found[2]:
        return (
            days.part(*_PARTS[" ".join(found[1].split())]) if len(days) >= 7 else None
        )
    if len(days) < 28:
        return None
    if found[2] == "last":
        return Days(days.after - WEEK, days.after)
    first = days.first + WEEK * (ORDINALS[found[2]] - 1)
    return Days(first, first + WEEK)


# From phrases to periods.


def _periods(
    phrases: list[Phrase], low: str, context: DateContext
) -> Iterator[DatePeriod]:
    place, end = 0, 0
    while place < len(phrases):
        one, *rest = phrases[place : place + 2]
        period = _range(one, rest[0], low, context) if rest else None
        place += 2 if period else 1
        onwards, since = _ONWARDS.match(low, one.end), _before(_FROM, low, one.start)
        if period is None and onwards and since:  # "from June onwards"
            span = since.start(), onwards.end()
            begin = _bounds(one, context)[0]
            period = _period((begin, None), span, one.is_soft, context)
        if period is None and _is_date(one, low):
            period = _single(one, low, context)
        if period is None or period.span[0] < end:
            continue
        # The future is read only where its year is written.
        is_past = period.start is None or period.start <= context.now
        if is_past or _YEAR.search(low, *period.span):
            end = period.span[1]
            yield period


def _is_date(one: Phrase, low: str) -> bool:
    """Return whether the words around a phrase show that it is a date in the past."""
    if not one.is_definite and _before(_AHEAD, low, one.start):
        return False
    if one.recurring and _AHEAD_AFTER.match(low, one.end):
        return False
    if one.days is None and one.hours and _before(_DAILY, low, one.start):
        return False
    return not one.needs or bool(_before(PRECEDING[one.needs], low, one.start))


def _single(one: Phrase, low: str, context: DateContext) -> DatePeriod:
    """Return the period of a phrase, or that on one side of it: "since Monday"."""
    start, end = _bounds(one, context)
    found = _before(_OPEN, low, one.start)
    way = " ".join(found[1].split()) if found else ""
    if not found or (way == "by" and not one.is_definite):
        return _period((start, end), (one.start, one.end), one.is_soft, context)
    # "after Monday's release" is not after Monday.
    is_owned = low[one.end - 2 : one.end] == "'s"
    if one.hours and one.hours.slack:
        start, end = start + one.hours.slack, end - one.hours.slack
    bounds: tuple[datetime | None, datetime | None]
    if way in ("since", "after"):
        bounds = start if is_owned or way == "since" else end, None
    elif way in ("before", "prior to"):
        bounds = None, end if is_owned else start
    else:
        bounds = None, end
    return _period(bounds, (found.start(), one.end), one.is_soft, context)


def _range(
    one: Phrase, two: Phrase, low: str, context: DateContext
) -> DatePeriod | None:
    """Read "from 3 June to 5 July", in either order; None if they are two times."""
    found = _before(_FROM, low, one.start)
    if two.start - one.end > BETWEEN_CHARS:
        return None
    if not (found or {one.needs, two.needs} <= {"", "date"}):
        return None
    if not (_TO if found else _UP_TO).fullmatch(low, one.end, two.start):
        return None
    one, two = _completed(one, two)
    span = found.start() if found else one.start, two.end
    is_definite = one.is_definite and two.is_definite
    if is_definite and _bounds(one, context)[0] >= _bounds(two, context)[1]:
        one, two = two, one
    start, end = _bounds(one, context)[0], _bounds(two, context)[1]
    if one.hours and two.hours:
        start, end = start + one.hours.slack, end - two.hours.slack
    if start >= end:
        return None
    return _period((start, end), span, one.is_soft and two.is_soft, context)


def _completed(one: Phrase, two: Phrase) -> tuple[Phrase, Phrase]:
    """Complete each end of a range by the other: "from November 2025 to January"."""
    if one.hours and not one.days:
        return replace(one, days=two.days), two
    if two.hours and not two.days:
        return one, replace(two, days=one.days)
    if two.recurring and not two.is_definite and one.is_definite and one.days:
        ahead = (6 if two.recurring.is_weekly else 365) * DAY
        return one, replace(two, days=two.recurring.latest(one.days.first + ahead))
    if one.recurring and not one.is_definite and two.days:
        return replace(one, days=one.recurring.latest(two.days.first)), two
    return one, two


def _bounds(one: Phrase, context: DateContext) -> tuple[datetime, datetime]:
    """Return when a phrase begins and ends, in UTC."""
    if one.exact:
        return one.exact[0].astimezone(UTC), one.exact[1].astimezone(UTC)
    if one.hours is None:
        days = one.days or one_day(context.today)
        return context.moment(days.first, 0), context.moment(days.after, 0)
    day = one.days.first if one.days else context.today
    if not one.days and context.moment(day, one.hours.start) > context.now:
        day -= DAY
    # An hour that occurs twice as the clocks go back counts both times.
    starts = (context.moment(day, one.hours.start, fold) for fold in (0, 1))
    ends = (context.moment(day, one.hours.end, fold) for fold in (0, 1))
    return min(starts) - one.hours.slack, max(ends) + one.hours.slack


def _period(
    bounds: tuple[datetime | None, datetime | None],
    span: tuple[int, int],
    is_soft: bool,
    context: DateContext,
) -> DatePeriod:
    words = " ".join(context.text[slice(*span)].split())
    start, end = (at.astimezone(context.zone) if at else None for at in bounds)
    label = f"{words}: {date_format.period(start, end)}"
    return DatePeriod(*bounds, span, label, is_soft)


# The node of the contents for a typed date.
#
# A whole day, week, month or year is its own node. The node of another period is the
# widest node that begins with it and lies within it; of a period without a start, the
# widest node that ends with it.

_PREPOSITIONS = ("", "in ", "on ", "in the ")
"""Tried before words like "may", which alone are no date in a text."""


@dataclass(frozen=True, slots=True)
class NodeDate:
    """The node for a typed date."""

    node_id: str
    label: str
    """The period as understood."""


def read_node(typed: str, now: datetime) -> NodeDate | None:
    """Return the node for a date; None if it is no date or in the future.

    Args:
        typed: A date, or words such as "last tuesday", "two weeks ago", "Q1".
        now: The time in the store's time zone.
    """
    words = " ".join(typed.split())
    assert now.tzinfo is not None
    for text in (before + words for before in _PREPOSITIONS if words):
        periods = read(text, now, now.tzinfo)
        if len(periods) == 1 and not remove(text, periods).strip():
            return _node_of(periods[0], now.tzinfo)
    return None


def _node_date(node_id: str) -> NodeDate:
    return NodeDate(node_id, node_label(node_id))


def whole_node(period: DatePeriod, zone: tzinfo) -> str:
    """Return the id of the node of exactly a period; "" if there is none."""
    found = _node_of(period, zone)
    return found.node_id if found.label == node_label(found.node_id) else ""


def _node_of(period: DatePeriod, zone: tzinfo) -> NodeDate:
    first = calendar.local_day(period.start, zone) if period.start else None
    after = None
    if period.end:
        after = calendar.local_day(period.end - timedelta(microseconds=1), zone) + DAY
    if first and after == first + WEEK and first.isoweekday() != 1:
        # "A week ago" is the week that contains its middle.
        return _node_date(calendar.id_at(TocLevel.WEEK, first + 3 * DAY))
    node_id, is_whole = _widest(first, after)
    if is_whole:
        return _node_date(node_id)
    way = "begins" if first else "ends"
    label = period.label.rpartition(": ")[2]
    return NodeDate(node_id, f"{label}: {way} with {node_label(node_id)}")


def _widest(first: date | None, after: date | None) -> tuple[str, bool]:
    """Return the widest node within some bounds, and whether it is all of them."""
    edge = first or (after - DAY if after else None)
    assert edge is not None
    spans: dict[TocLevel, Days] = {
        TocLevel.YEAR: months(edge.year, 1, 12),
        TocLevel.MONTH: months(edge.year, edge.month),
        TocLevel.WEEK: week(edge),
        TocLevel.DAY: one_day(edge),
    }
    for level, days in spans.items():
        is_at_edge = days.first == first if first else days.after == after
        if is_at_edge and (after is None or days.after <= after):
            node_id = calendar.id_at(level, days.first)
            return node_id, (days.first, days.after) == (first, after)
    raise AssertionError("every period begins with a day")


def node_label(node_id: str) -> str:
    """Name a node: "Tue 10 Mar 2026", "week of 9 Mar 2026", "March 2026"."""
    period = calendar.period(node_id)
    if period.level is TocLevel.DAY:
        return date_format.day(period.first)
    if period.level is TocLevel.WEEK:
        return f"week of {period.first.day} {period.first:%b %Y}"
    return calendar.title(node_id)
