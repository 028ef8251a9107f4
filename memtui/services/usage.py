"""What the replies of models took: tokens, their cost, and the time of the work."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, TocEntry
from memtui.model.quantities import short_count
from memtui.model.sessions import Session
from memtui.model.usage import KINDS, UsageTotal
from memtui.settings import Settings
from memtui.store import database, segments, sessions, usage
from memtui.text import date_format

_WORDS = ("in", "out", "read from cache", "written to cache")


def read(
    by: str,
    settings: Settings,
    zone: tzinfo,
    *,
    session: int | None = None,
    scope: Scope = ALL,
    bounds: Sequence[datetime | None] = (None, None),
) -> list[UsageTotal]:
    """Sum up usage by session, day, project or model, in the order of time.

    The session is given by its number; the bounds are the first time and the one after
    the last.
    """
    with database.connection():
        totals = usage.list_totals(
            by,
            settings.price_list,
            zone,
            session=session,
            scope=scope,
            bounds=[to_ms(at) if at else None for at in bounds],
        )
    return totals or ([] if by else [UsageTotal(dict.fromkeys(KINDS))])


def read_session(session: Session, settings: Settings, zone: tzinfo) -> UsageTotal:
    with database.connection():
        number = sessions.get_number(session.agent, session.session_id)
    return read("", settings, zone, session=number)[0]


def describe_page(
    row: TocEntry | DaySession, scope: Scope, settings: Settings, zone: tzinfo
) -> str:
    """Describe the usage of a period, a session or a segment.

    The page of the only segment of a session is that of the session. Usage is of no
    keyword and no state.
    """
    number: int | None = None
    bounds: Sequence[datetime | None] = (None, None)
    if isinstance(row, DaySession):
        return describe(read_session(row.session, settings, zone), settings)
    if scope.keyword or scope.state:
        return ""
    if row.level is not TocLevel.SEGMENT:
        bounds = [calendar.bounds(day, zone)[0] for day in row.days]
    else:
        with database.connection():
            number = segments.get_sessions([row.node_id]).get(row.node_id, 0)
            if len(segments.list_ids(number)) > 1:
                bounds = row.start_time, row.end_time + timedelta(milliseconds=1)
    total = read("", settings, zone, session=number, scope=scope, bounds=bounds)[0]
    return describe(total, settings)


def describe(total: UsageTotal, settings: Settings) -> str:
    """Return a total in a line: "1.2 M in, 38 k out, $3.10, 2h 28m active"."""
    pairs = zip(total.tokens.values(), _WORDS, strict=True)
    parts = [f"{short_count(count)} {word}" for count, word in pairs if count]
    parts = parts or ["tokens not stated"]
    costs: dict[str, float] = {}
    for name, cost in (
        ("$", total.stated_cost),
        (settings.prices_currency, total.cost),
    ):
        if cost is not None:
            costs[name] = costs.get(name, 0) + cost
    for name, cost in costs.items():
        parts.append(f"{name}{' ' * name.isalpha()}{cost:,.2f}")
    if total.without_price and total.cost is not None:
        parts.append(f"no price of {total.without_price}")
    if total.active_ms is not None:
        active = timedelta(milliseconds=total.active_ms)
        parts.append(f"{date_format.duration(active)} active")
    return ", ".join(parts)
