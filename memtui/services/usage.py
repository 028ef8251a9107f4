"""The usage of models: tokens, their cost, and the time of the work."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from unicodedata import east_asian_width

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, TocEntry
from memtui.model.quantities import byte_size
from memtui.model.sessions import Session
from memtui.model.usage import UsageTotal
from memtui.settings import Settings
from memtui.store import database, segments, sessions, usage
from memtui.text import date_format

_WORDS = ("in", "out", "read from cache", "written to cache")


def read(
    by: str, settings: Settings, zone: tzinfo, scope: Scope = ALL
) -> list[UsageTotal]:
    """Sum up usage by session, day, project or model, or all of it for ""."""
    with database.connection():
        return usage.sum_up(by, settings.price_list, zone, scope=scope)


def read_session(session: Session, settings: Settings, zone: tzinfo) -> UsageTotal:
    with database.connection():
        number = sessions.get_number(session.agent, session.session_id) or 0
        return usage.sum_up("", settings.price_list, zone, session=number)[0]


def describe_page(
    row: TocEntry | DaySession, scope: Scope, settings: Settings, zone: tzinfo
) -> str:
    """Describe the usage of a period, a session or a segment.

    The page of the only segment of a session is that of the session. Usage is of no
    keyword and no state.
    """
    if isinstance(row, DaySession):
        return describe(read_session(row.session, settings, zone))
    if scope.keyword or scope.state:
        return ""
    number: int | None = None
    bounds: Sequence[datetime] = ()
    with database.connection():
        if row.level is not TocLevel.SEGMENT:
            bounds = [calendar.bounds(day, zone)[0] for day in row.days]
        else:
            number = segments.get_sessions([row.node_id]).get(row.node_id, 0)
            if len(segments.list_ids(number)) > 1:
                bounds = row.start_time, row.end_time + timedelta(milliseconds=1)
        (total,) = usage.sum_up(
            "", settings.price_list, zone, session=number, scope=scope, bounds=bounds
        )
    return describe(total)


def describe(total: UsageTotal) -> str:
    """Return a total in a line: "1.2 M in, 38 k out, $3.10, 2h 28m active"."""
    pairs = zip(total.tokens.values(), _WORDS, strict=True)
    parts = [f"{_short_count(count)} {word}" for count, word in pairs if count]
    parts = parts or ["tokens not stated"]
    if total.cost is not None:
        parts.append(f"${total.cost:,.2f}")
        parts += filter(None, [_without_price(total)])
    if total.active_ms is not None:
        parts.append(f"{_active_time(total.active_ms)} active")
    return ", ".join(parts)


_COLUMNS = ("in", "out", "cache read", "cache write", "cost", "active")

NOT_STATED = "–"

NAME_CELLS = 50
"""The widest column of names; longer names reach over it."""


def tabulate(totals: Sequence[UsageTotal]) -> list[str]:
    """Return totals as the lines of a table.

    Columns that have no value are left out, except the tokens in and out.
    """
    rows = [("", *_COLUMNS, ""), *map(_list_cells, totals)]
    names, *columns, notes = zip(*rows, strict=True)
    width = min(max(map(_count_cells, names)), NAME_CELLS)
    lines = [name + " " * (width - _count_cells(name)) for name in names]
    for column in columns:
        if any(column[1:]) or column[0] in _COLUMNS[:2]:
            width = max(map(len, column))
            cells = [(cell or NOT_STATED).rjust(width) for cell in column]
            lines = list(map("  ".join, zip(lines, cells, strict=True)))
    return [f"{line}  {note}".rstrip() for line, note in zip(lines, notes, strict=True)]


def _count_cells(text: str) -> int:
    """Return the width of a text on a terminal, where ideographs are wide."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _list_cells(total: UsageTotal) -> Sequence[str]:
    counts = ["" if n is None else _short_count(n) for n in total.tokens.values()]
    return (
        total.name or "(none)",
        *counts,
        "" if total.cost is None else f"${total.cost:,.2f}",
        "" if total.active_ms is None else _active_time(total.active_ms),
        " · ".join(filter(None, (_without_price(total), total.title))),
    )


def _without_price(total: UsageTotal) -> str:
    """Name the models whose cost is missing in a sum; "" if there is none."""
    if total.cost is None or not total.without_price:
        return ""
    return f"no price of {total.without_price.replace(',', ', ')}"


def _active_time(ms: int) -> str:
    return date_format.duration(timedelta(milliseconds=ms))


def _short_count(count: int) -> str:
    return byte_size(count).removesuffix("B") if count >= 1000 else str(count)
