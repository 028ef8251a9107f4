"""Read the dates and times that a text speaks of: "last week", "on 3 June at 3pm".

Only English and ISO forms are read, see ``date_forms``, and only where they can mean
nothing else: a version, a path, a port or a verb is no date. An incomplete date is the
latest that has begun, and the future is read only where its year is written. Days begin
at midnight in the given zone, weeks on Monday. Reading takes linear time.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.text import date_format
from memtui.text.date_forms import (
    BLANK,
    DAY,
    FORMS,
    PRECEDING,
    WEEK,
    YEAR,
    DateContext,
    Phrase,
    whole,
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


MAX_CHARS = 1_000
"""The number of characters that ``read_exact`` reads."""

CLOCK_SLACK = timedelta(minutes=30)
"""A time of day includes the time around it."""

BEFORE_CHARS = 30
"""The maximum distance of the words before a date that belong to it."""


def _words(pattern: str) -> re.Pattern[str]:
    """Compile words, in which a space matches one to three blanks."""
    return re.compile(rf"(?<!\w){pattern}".replace(" ", BLANK))


_PRECEDING = {
    name: _words(rf"(?:{words}) (?:the |early |mid |late )?$")
    for name, words in PRECEDING.items()
}
_BEGINNING = re.compile(r"(?<![\w./:#@\\$&=+-])(?<![0-9],)(?=[0-9a-z])")
_AHEAD = _words(
    r"(?:next|every|each|coming|following|upcoming|any|per|by|for|black) (?:the )?$"
)
"""Words before a date that comes again, which then is not the latest one."""
_FROM = _words("(?:from|between) (?:the )?$")
_TO = re.compile(r"\s?-\s?|\s{1,3}(?:(and)|to|until|till|through)\s(?:the\s)?")
_OPEN = _words("(since|before|after|until|till|by) (?:the )?$")
_DAY_OF_HOURS = re.compile(r"(?:\s?,)?\s{1,3}(?:(?:at|on|in|of)\s)?(?:the\s)?")
_SENTENCE_END = re.compile(r"[.?!;]\s|\n")
_YEAR = re.compile(rf"(?<![0-9]){YEAR}(?![0-9])")
_LEADING = _words(
    "(?:(?:earlier|later) )?(?:(?:in|on|at|from|between|during|over|for|of|by|within"
    "|around|as of) (?:the )?|the )?$"
)

_LOWER = str.maketrans(
    {chr(65 + i): chr(97 + i) for i in range(26)} | {"’": "'", "–": "-", "—": "-"}
)


def _lowered(text: str) -> str:
    """Return a text of the same length in lower case and with plain dashes."""
    return text.translate(_LOWER)


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
    whole = read_whole(text, now, zone)
    return [whole] if whole else distinct(read(text, now, zone))


def distinct(periods: Iterable[DatePeriod]) -> list[DatePeriod]:
    """Return the periods without repetitions."""
    first: dict[tuple[datetime | None, datetime | None], DatePeriod] = {}
    for period in periods:
        first.setdefault((period.start, period.end), period)
    return list(first.values())


def remove(text: str, periods: Iterable[DatePeriod]) -> str:
    """Return a text without the words of some periods and their prepositions.

    "about retries last week" becomes "about retries".
    """
    pieces, place, low = [], 0, _lowered(text)
    for start, end in sorted(period.span for period in periods):
        leading = _before(_LEADING, low, start)
        pieces.append(text[place : max(place, leading.start() if leading else start)])
        place = max(end, place)
    kept = ""
    for piece in map(str.strip, [*pieces, text[place:]]):
        kept += piece if piece[:1] in "?.!,;:)" else f" {piece}"
    return kept.strip().lstrip(" ,;") if place else text


def _phrases(low: str, context: DateContext) -> Iterator[Phrase]:
    end = 0
    for beginning in _BEGINNING.finditer(low):
        place = beginning.start()
        if place >= end and (phrase := _phrase_at(low, place, context)):
            end = phrase.end
            yield phrase


def _phrase_at(low: str, place: int, context: DateContext) -> Phrase | None:
    for form, reader, preceding in FORMS:
        if match := form.match(low, place):
            with suppress(ValueError, OverflowError):  # The calendar has no such day.
                if phrase := reader(match, context):
                    words = phrase.preceding or preceding
                    end = match.end()
                    return replace(phrase, preceding=words, start=place, end=end)
    return None


def _before(pattern: re.Pattern[str], low: str, place: int) -> re.Match[str] | None:
    """Search the words right before a place."""
    return pattern.search(low, max(0, place - BEFORE_CHARS), place)


def _is_date(phrase: Phrase, low: str) -> bool:
    """Return whether the words before a phrase show that it is a date in the past."""
    if phrase.latest and _before(_AHEAD, low, phrase.start):
        return False
    preceding = phrase.preceding
    return not preceding or bool(_before(_PRECEDING[preceding], low, phrase.start))


# Phrases that mean one time together: "3pm" and "yesterday"


def _is_day(phrase: Phrase) -> bool:
    return bool(phrase.days and phrase.days.is_one and not phrase.hours)


def _joined(phrases: Iterable[Phrase], low: str) -> list[Phrase]:
    """Join hours with the day right before or after them."""
    joined: list[Phrase] = []
    for right in phrases:
        left = joined[-1] if joined else None
        if left and _DAY_OF_HOURS.fullmatch(low, left.end, right.start):
            for hours, day in ((left, right), (right, left)):
                if hours.hours and not hours.days and _is_day(day):
                    span = left.start, right.end
                    right = replace(day, hours=hours.hours, start=span[0], end=span[1])
                    joined.pop()
                    break
        joined.append(right)
    return joined


def _with_their_day(phrases: list[Phrase], low: str) -> list[Phrase]:
    """Give "the 3pm meeting" the day that its sentence names after or before it.

    Both phrases then mean the same time. Beside a longer period the hours are left out.
    """
    dated = list(phrases)
    for place, hours in enumerate(phrases):
        if hours.preceding != "appointment" or not _is_date(hours, low):
            continue
        for other in (place + 1, place - 1):
            day = phrases[other] if 0 <= other < len(phrases) else hours
            start, end = min(hours.end, day.end), max(hours.start, day.start)
            if not day.days or _SENTENCE_END.search(low, start, end):
                continue
            dated[place] = replace(hours, preceding="clock")
            if _is_day(day) and not _before(_OPEN, low, day.start):
                dated[place] = replace(hours, days=day.days)
                dated[other] = replace(day, hours=hours.hours)
            break
    return dated


# From phrases to periods


def _periods(
    text: str, now: datetime, zone: tzinfo, *, is_whole: bool
) -> Iterator[DatePeriod]:
    low = _lowered(text)
    context = DateContext(now, zone, text, calendar.local_day(now, zone))
    phrases = _with_their_day(_joined(_phrases(low, context), low), low)
    place, end = 0, 0
    while place < len(phrases):
        phrase, *following = phrases[place : place + 2]
        period = _range(phrase, following[0], low, context) if following else None
        place += 2 if period else 1
        if period is None and (is_whole or _is_date(phrase, low)):
            period = _single(phrase, low, context)
        if period is None or period.span[0] < end:
            continue
        # The future is read only where its year is written.
        is_past = period.start is None or period.start <= now
        if is_past or _YEAR.search(low, *period.span):
            end = period.span[1]
            yield period


def _single(phrase: Phrase, low: str, context: DateContext) -> DatePeriod:
    """Return the period of a phrase, or that on one side of it: "since Monday"."""
    side = _before(_OPEN, low, phrase.start)
    start, end = _bounds(phrase, context)
    if not side or (side[1] == "by" and phrase.latest):
        if phrase.is_moment:
            start, end = start - CLOCK_SLACK, end + CLOCK_SLACK
        return _period(start, end, (phrase.start, phrase.end), context)
    span = side.start(), phrase.end
    if side[1] in ("since", "after"):
        return _period(start if side[1] == "since" else end, None, span, context)
    return _period(None, start if side[1] == "before" else end, span, context)


def _range(
    first: Phrase, last: Phrase, low: str, context: DateContext
) -> DatePeriod | None:
    """Read "from 3 June to 5 July", in either order; None if they are two times."""
    leading = _before(_FROM, low, first.start)
    gap = _TO.fullmatch(low, first.end, last.start)
    if not gap or not (leading or not (gap[1] or first.preceding or last.preceding)):
        return None
    # Each end is completed by the other: "from November 2025 to January".
    if first.hours and not first.days:
        first = replace(first, days=last.days)
    elif last.hours and not last.days:
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


def _bounds(phrase: Phrase, context: DateContext) -> tuple[datetime, datetime]:
    """Return when a phrase begins and ends, in UTC."""
    if phrase.exact:
        return phrase.exact
    moment, days = context.moment, phrase.days
    if days and not phrase.hours:
        return moment(days.first, 0), moment(days.after, 0)
    start, end = phrase.hours or (0, 0)
    day = days.first if days else context.today
    if not days and moment(day, start) > context.now:
        day -= DAY
    # An hour that occurs twice as the clocks go back counts both times.
    starts = (moment(day, start, fold) for fold in (0, 1))
    ends = (moment(day, end, fold) for fold in (0, 1))
    return min(starts), max(ends)


def _period(
    start: datetime | None,
    end: datetime | None,
    span: tuple[int, int],
    context: DateContext,
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
    found = _node_of(period, zone)
    return found.node_id if found.label == node_label(found.node_id) else ""


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
        days = whole(level, edge)
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
