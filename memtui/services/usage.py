"""The usage of models: tokens, their cost, and the time of the work."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

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
        if total.without_price:
            parts.append(f"no price of {total.without_price}")
    if total.active_ms is not None:
        active = timedelta(milliseconds=total.active_ms)
        parts.append(f"{date_format.duration(active)} active")
    return ", ".join(parts)


def _short_count(count: int) -> str:
    return byte_size(count).removesuffix("B") if count >= 1000 else str(count)
