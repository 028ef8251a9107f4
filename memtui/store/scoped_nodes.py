"""Days, and nodes narrowed to a scope: the content of an agent, project or keyword.

The segments of a time range are read once, by day; the shares of weeks, months and
years are computed from those of their days. A pending node has no counts of its own:
those of the segments below it are used.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memtui.model import calendar
from memtui.model.calendar import CalendarDay, DayRange, TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    ChildCounts,
    NodeCounts,
    NodeStatus,
    ScopedNode,
    ScopeShare,
    TocEntry,
    TocNode,
    count_messages_by_part,
    days_of_level,
    shares_of_level,
)
from memtui.store import nodes, scopes
from memtui.store.database import IN_JSON, fetch, fetch_column, fetch_dicts

ALL_DAYS: DayRange = ("toc:day:", "toc:day;")
"""No id of another level sorts between these."""

_SEGMENTS = (
    "FROM nodes n JOIN node_versions v ON v.id = n.latest_id"
    " WHERE n.parent_id >= ? AND n.parent_id < ?"
)
"""The segments of a range of days: the parent of a segment is its day."""


def list_days(start_ms: int, end_ms: int) -> list[CalendarDay]:
    """Return the days that start in a time range, oldest first."""
    rows = fetch_dicts(
        "SELECT n.node_id, is_live, latest_id, segments, messages, headline, agents,"
        " projects FROM nodes n LEFT JOIN node_versions v ON v.id = n.latest_id"
        " WHERE n.level = 'day' AND n.start_ms >= ? AND n.start_ms < ?"
        " ORDER BY n.start_ms",
        start_ms,
        end_ms,
    )
    days = [
        CalendarDay(
            day=calendar.period(row["node_id"]).first,
            node_id=row["node_id"],
            segments=row["segments"] or 0,
            messages=row["messages"] or 0,
            headline=row["headline"] or "",
            agents=tuple(json.loads(row["agents"] or "[]")),
            projects=tuple(json.loads(row["projects"] or "[]")),
            is_live=bool(row["is_live"]),
            is_pending=row["latest_id"] is None,
        )
        for row in rows
    ]
    counts = _count_under(day.node_id for day in days if day.is_pending)
    return [
        replace(day, segments=found.segments, messages=found.messages)
        if (found := counts.get(day.node_id))
        else day
        for day in days
    ]


def list_message_counts() -> list[int]:
    days = dict(
        fetch(
            "SELECT n.node_id, messages FROM nodes n"
            " LEFT JOIN node_versions v ON v.id = n.latest_id WHERE n.level = 'day'"
        )
    )
    counts = _count_under(name for name, messages in days.items() if messages is None)
    return [
        *(messages for messages in days.values() if messages is not None),
        *(found.messages for found in counts.values()),
    ]


def find_first_and_last_day() -> tuple[str, str] | None:
    sql = "SELECT min(node_id), max(node_id) FROM nodes WHERE level = 'day'"
    ((first, last),) = fetch(sql)
    return (first, last) if first else None


def find_neighbours(level: TocLevel, at_ms: int) -> list[str]:
    """Return the ids of the nodes of a level just before and after a moment.

    A node that starts at the moment is before it.
    """
    sql = "SELECT node_id FROM nodes WHERE level = ? AND start_ms"
    before = fetch_column(f"{sql} <= ? ORDER BY start_ms DESC LIMIT 1", level, at_ms)
    after = fetch_column(f"{sql} > ? ORDER BY start_ms LIMIT 1", level, at_ms)
    return before + after


def _count_under(node_ids: Iterable[str]) -> dict[str, NodeCounts]:
    """Count the segments below days, weeks, months or years; skip those without any."""
    periods = {name: calendar.period(name) for name in node_ids}
    if not periods:
        return {}
    first = min(period.first for period in periods.values())
    end = max(period.end for period in periods.values())
    days = shares_by_day(ALL, (calendar.day_id(first), calendar.day_id(end)))
    shares = _shares_of_levels({period.level for period in periods.values()}, days)
    return {name: shares[name].counts for name in periods if name in shares}


def _shares_of_levels(
    levels: Iterable[TocLevel], days: Mapping[str, ScopeShare]
) -> dict[str, ScopeShare]:
    shares: dict[str, ScopeShare] = {}
    for level in levels:
        shares |= shares_of_level(level, days)
    return shares


def shares_by_day(scope: Scope, days: DayRange) -> dict[str, ScopeShare]:
    """Return the share of a scope in each day, by the day's id; skip empty shares."""
    condition, values = scopes.segment_condition(scope)
    rows = fetch(
        "SELECT n.parent_id, count(*), sum(events), sum(messages),"
        " sum(subagent_events), sum(is_live), group_concat(DISTINCT agents),"
        f" group_concat(DISTINCT projects) {_SEGMENTS} AND {condition}"
        " GROUP BY n.parent_id",
        *days,
        *values,
    )
    return {
        day: ScopeShare(
            NodeCounts(*counts),
            bool(live),
            _parse_names(agents),
            _parse_names(projects),
        )
        for day, *counts, live, agents, projects in rows
    }


def _parse_names(lists: str) -> frozenset[str]:
    return frozenset(name for names in json.loads(f"[{lists}]") for name in names)


def list_children(
    parent_id: str | None,
    offset: int,
    limit: int,
    scope: Scope = ALL,
    *,
    month_id: str = "",
) -> list[TocEntry]:
    """Return the entries of a node's children narrowed to a scope, newest first.

    The children of None are the years. Entries above a segment have their activity in
    the scope; without a headline if they are not all in it. Weeks have the counts of
    their days in the month that is their parent; with ``month_id``, only days of that
    month are listed.
    """
    try:
        level = calendar.period(parent_id).level.child() if parent_id else TocLevel.YEAR
        days = calendar.day_range(parent_id) if parent_id else ALL_DAYS
        if month_id:
            first, end = calendar.day_range(month_id)
            days = max(days[0], first), min(days[1], end)
    except ValueError:  # There is no such node.
        return []
    if level is None:
        return []
    if scope.is_narrow and level is not TocLevel.SEGMENT:
        shares = shares_by_day(scope, days)
        own = sorted(shares_of_level(level, shares), reverse=True)
        entries = nodes.get_entries(own[offset : offset + limit])
        entries = _narrow_entries(entries, shares, scope)
    else:
        entries = nodes.list_children(
            parent_id, offset, limit, scope, days=days if month_id else None
        )
        counts = _count_under(e.node_id for e in entries if _is_uncounted(e))
        entries = [replace(e, counts=counts.get(e.node_id, e.counts)) for e in entries]
        if level is TocLevel.WEEK:
            entries = _clip_weeks(entries, days)
    if level is TocLevel.WEEK and parent_id:
        entries = [replace(entry, month_id=parent_id) for entry in entries]
    return entries


def get_entries(node_ids: Sequence[str], scope: Scope) -> list[TocEntry]:
    """Return the entries of nodes narrowed to a scope, in the order of the ids.

    Unknown nodes and those outside the scope are skipped.
    """
    entries = nodes.get_entries(node_ids)
    if not (scope.is_narrow and entries):
        return entries
    ranges = [calendar.day_range(entry.node_id) for entry in entries]
    days = min(first for first, _ in ranges), max(end for _, end in ranges)
    return _narrow_entries(entries, shares_by_day(scope, days), scope)


def _clip_weeks(weeks: Sequence[TocEntry], days: DayRange) -> list[TocEntry]:
    """Return weeks with the counts of those of their days that are in a range."""
    clipped: dict[str, TocEntry] = {}
    for week in weeks:
        first, end = calendar.day_range(week.node_id)
        if first < days[0] or end > days[1]:
            shares = shares_by_day(ALL, (max(first, days[0]), min(end, days[1])))
            clipped |= {
                one.node_id: one for one in _narrow_entries([week], shares, ALL)
            }
    return [clipped.get(week.node_id, week) for week in weeks]


def _is_uncounted(node: TocEntry | TocNode) -> bool:
    return node.status is NodeStatus.PENDING and node.level is not TocLevel.SEGMENT


def add_activity(entries: Sequence[TocEntry]) -> list[TocEntry]:
    months = [entry.node_id for entry in entries if entry.level is TocLevel.MONTH]
    others = [entry.node_id for entry in entries if entry.level is not TocLevel.MONTH]
    parts = _read_children(others, ALL)
    for name in months:
        rows = fetch(
            f"{_SELECT_PARTS} WHERE n.node_id >= ? AND n.node_id < ?",
            *calendar.day_range(name),
        )
        parts[name] = [(child, start_ms, count) for _, child, start_ms, count in rows]
    for entry in entries:
        if entry.month_id and entry.node_id in parts:
            first, end = calendar.day_range(entry.month_id)
            days = parts[entry.node_id]
            parts[entry.node_id] = [one for one in days if first <= one[0] < end]
    return [_with_activity(entry, parts) for entry in entries]


_SELECT_PARTS = (
    "SELECT n.parent_id, n.node_id, n.start_ms, messages FROM nodes n"
    " JOIN node_versions v ON v.id = n.latest_id"
)


def _read_children(names: Sequence[str], scope: Scope) -> ChildCounts:
    """Return the children of some nodes; of days, the segments of a scope."""
    children: ChildCounts = {}
    condition, values = scopes.segment_condition(scope)
    for parent_id, child, start_ms, messages in fetch(
        f"{_SELECT_PARTS} WHERE n.parent_id {IN_JSON} AND {condition}",
        json.dumps(list(names)),
        *values,
    ):
        children.setdefault(parent_id, []).append((child, start_ms, messages))
    return children


def _with_activity(entry: TocEntry, children: ChildCounts) -> TocEntry:
    own = children.get(entry.node_id)
    if not own:
        return entry
    start_ms = to_ms(entry.start_time)
    return replace(entry, activity=count_messages_by_part(entry.node_id, start_ms, own))


def count_node(node: TocNode, scope: Scope) -> ScopedNode:
    """Return a node with the counts of its share in a scope.

    Its content is that of the whole node.
    """
    if _is_uncounted(node):
        found = _count_under([node.node_id])
        node = replace(node, counts=found.get(node.node_id, node.counts))
    if node.level is TocLevel.SEGMENT or not scope.is_narrow:
        return ScopedNode(node, node.counts)
    days = shares_by_day(scope, calendar.day_range(node.node_id))
    shares = shares_of_level(node.level, days)
    share = shares.get(node.node_id, ScopeShare())
    return ScopedNode(
        node if share.is_all_of(node.counts) else replace(node, counts=share.counts),
        node.counts,
    )


def narrow_days(
    days: Sequence[CalendarDay], year_id: str, scope: Scope
) -> list[CalendarDay]:
    """Return the days of a year narrowed to a scope, without those not in it.

    A day that is not all in the scope has no headline.
    """
    shares = shares_by_day(scope, calendar.day_range(year_id))
    narrowed = []
    for day in days:
        share = shares.get(day.node_id)
        if share is None:
            continue
        if day.is_pending or share.counts.segments < day.segments:
            day = replace(
                day,
                segments=share.counts.segments,
                messages=share.counts.messages,
                headline="",
                agents=tuple(sorted(share.agents)),
                projects=tuple(sorted(share.projects)),
                is_live=share.is_live,
            )
        narrowed.append(day)
    return narrowed


def _narrow_entries(
    entries: Sequence[TocEntry], days: Mapping[str, ScopeShare], scope: Scope
) -> list[TocEntry]:
    """Return entries narrowed to a scope, without those not in it.

    An entry that is not all in the scope has no headline. ``days`` are the shares of
    all their days.
    """
    levels = {entry.level for entry in entries} - {TocLevel.SEGMENT}
    shares = _shares_of_levels(levels, days)
    day_ids = [entry.node_id for entry in entries if entry.level is TocLevel.DAY]
    children = _read_children(day_ids, scope)
    for level in levels - {TocLevel.DAY}:
        children |= days_of_level(level, days)
    segment_ids = [e.node_id for e in entries if e.level is TocLevel.SEGMENT]
    segments = scopes.filter_nodes(segment_ids, scope)
    narrowed = []
    for entry in entries:
        share = shares.get(entry.node_id)
        if entry.node_id in segments:
            narrowed.append(entry)
        elif share is not None:
            active = _with_activity(entry, children)
            if entry.status is NodeStatus.PENDING or not share.is_all_of(entry.counts):
                active = replace(
                    active,
                    counts=share.counts,
                    headline="",
                    is_by_model=False,
                    is_live=share.is_live,
                    agents=tuple(sorted(share.agents)),
                    projects=tuple(sorted(share.projects)),
                )
            narrowed.append(active)
    return narrowed
