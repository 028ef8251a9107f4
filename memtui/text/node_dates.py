"""Find the node of the contents that a typed date stands for.

A whole day, week, month or year is its own node. Another period stands for the widest
node that begins with it and lies within it; one that is open towards the past, for the
widest node that ends with it.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from memtui.model import calendar
from memtui.model.nodes import TocLevel
from memtui.text import date_format, dates
from memtui.text.date_forms import DAY, WEEK, Days, months, one_day, week
from memtui.text.dates import DatePeriod

_ISO_FORMS = (
    (re.compile(r"\d{4}"), TocLevel.YEAR),
    (re.compile(r"\d{4}-\d{2}"), TocLevel.MONTH),
    (re.compile(r"\d{4}-[Ww]\d{1,2}"), TocLevel.WEEK),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), TocLevel.DAY),
)

_QUARTER = re.compile(r"[Qq]([1-4])")

_PREPOSITIONS = ("", "in ", "on ", "in the ")
"""Tried before words like "may", which alone are no date in a text."""

_KEY = re.compile(r"[dD](?![a-zA-Z])\s*|[dD]\s+")
"""Typed by habit: after ``g``, other programs want a ``d``."""


@dataclass(frozen=True, slots=True)
class NodeDate:
    """The node that a typed date stands for."""

    node_id: str
    label: str
    """How the date was understood."""


def read(typed: str, now: datetime) -> NodeDate | None:
    """Return the node a date stands for; None if it is no date or lies ahead.

    Args:
        typed: A date, or words such as "last tuesday", "two weeks ago", "Q1".
        now: The time in the store's time zone.
    """
    words = " ".join(typed.split())
    found = _read(words, now)
    key = _KEY.match(words)
    return _read(words[key.end() :], now) if found is None and key else found


def _read(words: str, now: datetime) -> NodeDate | None:
    for form, level in _ISO_FORMS:
        if form.fullmatch(words):
            try:
                return _node_date(calendar.canonical(f"toc:{level}:{words.upper()}"))
            except ValueError:
                return None
    if quarter := _QUARTER.fullmatch(words):
        has_begun = int(quarter[1]) <= (now.month + 2) // 3
        words = f"q{quarter[1]} {now.year if has_begun else now.year - 1}"
    assert now.tzinfo is not None
    for text in (before + words for before in _PREPOSITIONS if words):
        periods = dates.read(text, now, now.tzinfo)
        if len(periods) == 1 and not dates.remove(text, periods).strip():
            return _for_period(periods[0], now.tzinfo)
    return None


def _node_date(node_id: str) -> NodeDate:
    return NodeDate(node_id, node_label(node_id))


def whole_node(period: DatePeriod, zone: tzinfo) -> str:
    """Return the id of the node of exactly a period; "" if there is none."""
    found = _for_period(period, zone)
    return found.node_id if found.label == node_label(found.node_id) else ""


def _for_period(period: DatePeriod, zone: tzinfo) -> NodeDate:
    first = calendar.local_day(period.start, zone) if period.start else None
    after = None
    if period.end:
        after = calendar.local_day(period.end - timedelta(microseconds=1), zone) + DAY
    if first and after == first + WEEK and first.isoweekday() != 1:
        # "A week ago" is the week that its middle lies in.
        return _node_date(calendar.path(calendar.day_id(first + 3 * DAY))[2])
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
    for place, (level, days) in enumerate(spans.items()):
        is_at_edge = days.first == first if first else days.after == after
        if is_at_edge and (after is None or days.after <= after):
            # The contents begin a month with a week, so look a week into it.
            is_long = level in (TocLevel.YEAR, TocLevel.MONTH)
            inside = days.first + WEEK if is_long else days.first
            node_id = calendar.path(calendar.day_id(inside))[place]
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
