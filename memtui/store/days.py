"""Days as the contents count them: nothing is read but the nodes of days."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from peewee import JOIN, fn

from memtui.model import activity, calendar
from memtui.model.activity import ScopeShare
from memtui.model.calendar import CalendarDay
from memtui.model.nodes import NodeCounts, NodeStatus, TocEntry, TocLevel, TocNode
from memtui.store.schema import NodeRow, VersionRow


def list_between(start_ms: int, end_ms: int) -> list[CalendarDay]:
    """The days that begin in a stretch of time, oldest first.

    Args:
        start_ms: Its beginning, in milliseconds.
        end_ms: Its end, in milliseconds, itself left out.
    """
    rows = _days().where(NodeRow.start_ms >= start_ms, NodeRow.start_ms < end_ms)
    return [_day(*row) for row in rows.order_by(NodeRow.start_ms).tuples()]


def list_message_counts() -> list[int]:
    """The messages of every day there is."""
    rows = NodeRow.select(VersionRow.messages).join(VersionRow)
    found = rows.where(NodeRow.level == TocLevel.DAY.value).tuples()
    return [messages for (messages,) in found]


def list_pending() -> list[str]:
    """The ids of the days that were not summed up yet."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == TocLevel.DAY.value)
    return [name for (name,) in rows.where(NodeRow.latest.is_null()).tuples()]


def first_and_last() -> tuple[str, str] | None:
    """The ids of the first and of the last day; None if there is none."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == TocLevel.DAY.value)
    first = rows.order_by(NodeRow.start_ms).limit(1).scalar()
    last = rows.order_by(NodeRow.start_ms.desc()).limit(1).scalar()
    return (first, last) if first else None


def find_neighbours(level: TocLevel, at_ms: int) -> list[str]:
    """The ids of the nodes of a level before and after a moment: none, one or two.

    Args:
        level: The level.
        at_ms: The moment, in milliseconds; what begins then is the one before.
    """
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == level.value)
    before = rows.where(NodeRow.start_ms <= at_ms).order_by(NodeRow.start_ms.desc())
    after = rows.where(NodeRow.start_ms > at_ms).order_by(NodeRow.start_ms)
    return [name for some in (before, after) if (name := some.limit(1).scalar())]


def _days() -> Any:
    return (
        NodeRow.select(
            NodeRow.node_id,
            NodeRow.is_live,
            NodeRow.latest,
            VersionRow.segments,
            VersionRow.messages,
            VersionRow.headline,
            VersionRow.agents,
            VersionRow.projects,
        )
        .join(VersionRow, JOIN.LEFT_OUTER)
        .where(NodeRow.level == TocLevel.DAY.value)
    )


def _day(
    node_id: str,
    is_live: int,
    latest: int | None,
    segments: int | None,
    messages: int | None,
    headline: str | None,
    agents: str | None,
    projects: str | None,
) -> CalendarDay:
    return CalendarDay(
        day=calendar.period(node_id).first,
        node_id=node_id,
        segments=segments or 0,
        messages=messages or 0,
        headline=headline or "",
        agents=tuple(json.loads(agents or "[]")),
        projects=tuple(json.loads(projects or "[]")),
        is_live=bool(is_live),
        is_pending=latest is None,
    )


def add_entry_counts(found: list[TocEntry]) -> list[TocEntry]:
    """Lines, with the tallies of those not summed up yet."""
    mine = count_under(x.node_id for x in found if _is_waiting(x.level, x.status))
    return [
        replace(line, counts=mine[line.node_id]) if line.node_id in mine else line
        for line in found
    ]


def add_node_counts(found: TocNode) -> TocNode:
    """A node, with its tally where it was not summed up yet."""
    mine = count_under(
        [found.node_id] if _is_waiting(found.level, found.status) else []
    )
    return replace(found, counts=mine.get(found.node_id, found.counts))


def add_day_counts(found: Sequence[CalendarDay]) -> list[CalendarDay]:
    """Days, with the tallies of those not summed up yet."""
    mine = count_under(day.node_id for day in found if day.is_pending)
    told = []
    for day in found:
        tally = mine.get(day.node_id)
        if tally:
            day = replace(day, segments=tally.segments, messages=tally.messages)
        told.append(day)
    return told


def count_under(node_ids: Iterable[str]) -> dict[str, NodeCounts]:
    """How much is finished under some nodes; those without any are left out.

    Args:
        node_ids: Of days, weeks, months or years.
    """
    asked = {name: calendar.period(name) for name in node_ids}
    if not asked:
        return {}
    first = min(here.first for here in asked.values())
    end = max(here.end for here in asked.values())
    rows = select_days(calendar.day_id(first), calendar.day_id(end))
    found = {day: ScopeShare(NodeCounts(*told)) for day, *told in rows}
    told: dict[str, ScopeShare] = {}
    for level in {here.level for here in asked.values()}:
        told |= activity.shares_of_level(level, found)
    return {name: told[name].counts for name in asked if name in told}


def select_days(first: str, after: str, *more: Any, where: Iterable[Any] = ()) -> Any:
    """Rows of days: the id, how much is finished there, and what else is asked.

    Args:
        first: The id of the first day.
        after: The id of the day after the last.
        more: What else is asked of a day's segments, joined with their versions.
        where: The conditions on these.
    """
    above = NodeRow.parent_id
    rows = NodeRow.select(
        above,
        fn.COUNT(NodeRow.node_id),
        fn.SUM(VersionRow.events),
        fn.SUM(VersionRow.messages),
        fn.SUM(VersionRow.subagent_events),
        *more,
    )
    mine = rows.join(VersionRow).where(above >= first, above < after, *where)
    # By the day they are under, which an index has in order.
    return mine.group_by(above).tuples()


def _is_waiting(level: TocLevel, status: NodeStatus) -> bool:
    return status is NodeStatus.PENDING and level is not TocLevel.SEGMENT
