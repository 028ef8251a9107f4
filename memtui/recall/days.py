"""Looking over the days, and finding the node that lies nearest to a date."""

from datetime import tzinfo

from memtui.memory import calendar
from memtui.memory import shares as inside
from memtui.memory.days import Span, Year
from memtui.memory.events import to_ms
from memtui.memory.scopes import ALL, Scope
from memtui.store import database, days, shares, tallies, toc


def year(number: int, zone: tzinfo, of: Scope = ALL) -> Year:
    """The days of a year, by the calendar of the contents.

    Args:
        number: Which year.
        zone: The store's time zone.
        of: The part of the memory whose days, and whose share of them, is told.
    """
    year_id = f"toc:year:{number:04}"
    start, end = map(to_ms, calendar.bounds(year_id, zone))
    with database.connected():
        found = days.between(start, end)
        if of.is_narrow:
            found = shares.narrowed(found, year_id, of)
        else:
            found = tallies.days(found)
    return Year(number, {one.day: one for one in found})


def span() -> Span | None:
    """The first and the last day of which anything is kept; None for nothing."""
    with database.connected():
        found = days.edges()
    return Span(*(calendar.period(name).first for name in found)) if found else None


def counts(of: Scope = ALL) -> list[int]:
    """How much was said on every day of a scope, in messages; of no year alone."""
    with database.connected():
        if of.is_narrow:
            shared = shares.by_day(of, shares.EVERY_DAY).values()
            return [share.tally.messages for share in shared]
        waiting = tallies.under(days.pending()).values()
        return days.counts() + [tally.messages for tally in waiting]


def nearest(node_id: str, zone: tzinfo, of: Scope = ALL) -> str:
    """A node of the contents, or the one of its level that lies nearest to it.

    Args:
        node_id: Of a year, a month, a week or a day.
        zone: The store's time zone.
        of: The part of the memory in which it lies.

    Returns:
        Its id, of two that are as near the later one; "" while nothing is kept.
    """
    start, _ = calendar.bounds(node_id, zone)
    with database.connected():
        if of.is_narrow:
            level = calendar.period(node_id).level
            mine = inside.at(level, shares.by_day(of, shares.EVERY_DAY))
            found = [node_id] if node_id in mine else sorted(mine)
        elif toc.lines([node_id]):
            return node_id
        else:
            found = days.beside(calendar.period(node_id).level, to_ms(start))
    first = calendar.period(node_id).first
    far = {name: abs((calendar.period(name).first - first).days) for name in found}
    return min(reversed(found), key=lambda name: far[name], default="")
