"""Activity: how much was said in each part of a node's time, for a glance at it."""

from collections.abc import Iterable
from datetime import date, timedelta

from memtui.memory import calendar
from memtui.memory.toc import TocLevel

HOURS = 3
"""How long a part of a day is."""

_HOUR_MS = 3_600_000
_DAYS_OF_WEEK, _MONTHS = 7, 12


def of(
    node_id: str, start_ms: int, under: Iterable[tuple[str, int, int]]
) -> tuple[int, ...]:
    """The messages of each part: of a year's months, a month's weeks, a week's days.

    A day's parts are of three hours each; a segment has none.

    Args:
        node_id: Whose.
        start_ms: When it begins.
        under: The nodes under it: id, when it begins, messages.
    """
    here = calendar.period(node_id)
    parts = {
        TocLevel.YEAR: _MONTHS,
        TocLevel.MONTH: here.days // _DAYS_OF_WEEK,
        TocLevel.WEEK: _DAYS_OF_WEEK,
        TocLevel.DAY: 24 // HOURS,
    }.get(here.level, 0)
    said = [0] * parts
    for child_id, at_ms, messages in under:
        if here.level is TocLevel.DAY:
            place = (at_ms - start_ms) // (HOURS * _HOUR_MS)
        elif here.level is TocLevel.YEAR:
            place = _thursday_of(child_id).month - 1
        else:
            days = (calendar.period(child_id).first - here.first).days
            place = days // (_DAYS_OF_WEEK if here.level is TocLevel.MONTH else 1)
        # A day has an hour more where the clocks change.
        said[min(max(place, 0), parts - 1)] += messages
    return tuple(said)


def _thursday_of(month_id: str) -> date:
    first = calendar.period(month_id).first
    return first + timedelta(days=calendar.THURSDAY - 1)
