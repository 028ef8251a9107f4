"""Days of the table of contents, and the counts of nodes without a version.

A pending node has no counts of its own: those of the segments below it are used.
"""

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

_IS_DAY = NodeRow.level == TocLevel.DAY.value


def list_between(start_ms: int, end_ms: int) -> list[CalendarDay]:
    """Return the days that start in a time range, oldest first."""
    rows = (
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
        .where(_IS_DAY, NodeRow.start_ms >= start_ms, NodeRow.start_ms < end_ms)
        .order_by(NodeRow.start_ms)
    )
    return [_to_day(*row) for row in rows.tuples()]


def _to_day(
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


def list_message_counts() -> list[int]:
    """Return the number of messages of every day that has a version."""
    rows = NodeRow.select(VersionRow.messages).join(VersionRow).where(_IS_DAY)
    return [messages for (messages,) in rows.tuples()]


def list_pending() -> list[str]:
    """Return the ids of the days without a version."""
    rows = NodeRow.select(NodeRow.node_id).where(_IS_DAY, NodeRow.latest.is_null())
    return [name for (name,) in rows.tuples()]


def first_and_last() -> tuple[str, str] | None:
    """Return the ids of the first and the last day; None if there is none."""
    rows = NodeRow.select(NodeRow.node_id).where(_IS_DAY)
    first = rows.order_by(NodeRow.start_ms).limit(1).scalar()
    last = rows.order_by(NodeRow.start_ms.desc()).limit(1).scalar()
    return (first, last) if first else None


def find_neighbours(level: TocLevel, at_ms: int) -> list[str]:
    """Return the ids of the nodes of a level just before and after a moment.

    Args:
        level: The level.
        at_ms: The moment, in milliseconds; a node that starts then is before it.
    """
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == level.value)
    before = rows.where(NodeRow.start_ms <= at_ms).order_by(NodeRow.start_ms.desc())
    after = rows.where(NodeRow.start_ms > at_ms).order_by(NodeRow.start_ms)
    return [name for side in (before, after) if (name := side.limit(1).scalar())]


def add_entry_counts(entries: list[TocEntry]) -> list[TocEntry]:
    """Return entries with the counts of pending ones."""
    pending = [e.node_id for e in entries if _needs_counts(e.level, e.status)]
    counts = count_under(pending)
    return [
        replace(entry, counts=counts[entry.node_id])
        if entry.node_id in counts
        else entry
        for entry in entries
    ]


def add_node_counts(node: TocNode) -> TocNode:
    """Return a node with its counts, if it is pending."""
    if not _needs_counts(node.level, node.status):
        return node
    counts = count_under([node.node_id])
    return replace(node, counts=counts.get(node.node_id, node.counts))


def add_day_counts(days: Sequence[CalendarDay]) -> list[CalendarDay]:
    """Return days with the counts of pending ones."""
    counts = count_under(day.node_id for day in days if day.is_pending)
    return [
        replace(
            day,
            segments=counts[day.node_id].segments,
            messages=counts[day.node_id].messages,
        )
        if day.node_id in counts
        else day
        for day in days
    ]


def _needs_counts(level: TocLevel, status: NodeStatus) -> bool:
    return status is NodeStatus.PENDING and level is not TocLevel.SEGMENT


def count_under(node_ids: Iterable[str]) -> dict[str, NodeCounts]:
    """Count the segments with a version below nodes; nodes without any are left out.

    Args:
        node_ids: Days, weeks, months or years.
    """
    periods = {name: calendar.period(name) for name in node_ids}
    if not periods:
        return {}
    first = min(period.first for period in periods.values())
    end = max(period.end for period in periods.values())
    rows = select_days(calendar.day_id(first), calendar.day_id(end))
    days = {day: ScopeShare(NodeCounts(*columns)) for day, *columns in rows}
    shares: dict[str, ScopeShare] = {}
    for level in {period.level for period in periods.values()}:
        shares |= activity.shares_of_level(level, days)
    return {name: shares[name].counts for name in periods if name in shares}


def select_days(first: str, end: str, *columns: Any, where: Iterable[Any] = ()) -> Any:
    """Return rows of days: the id, four counts of segments, and other columns.

    Args:
        first: The id of the first day.
        end: The id of the day after the last.
        columns: Other columns, aggregated over the segments with their versions.
        where: Conditions on the segments.
    """
    # The parent of a segment is its day, which an index has in order.
    day = NodeRow.parent_id
    rows = NodeRow.select(
        day,
        fn.COUNT(NodeRow.node_id),
        fn.SUM(VersionRow.events),
        fn.SUM(VersionRow.messages),
        fn.SUM(VersionRow.subagent_events),
        *columns,
    )
    found = rows.join(VersionRow).where(day >= first, day < end, *where)
    return found.group_by(day).tuples()
