"""Rows of the contents with their counts: of all there is, or in a scope.

A scope is the content of an agent, a project or a keyword. The counts of a node are
stored with its version. They are counted from its segments where those do not hold: in
a scope, for a week in one of its two months, and while it has no version.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from memtui.model import calendar
from memtui.model.calendar import DayRange, TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    NodeCounts,
    NodeStatus,
    TocEntry,
    count_messages_by_part,
)
from memtui.store import json_columns, nodes, scopes
from memtui.store.database import IN_JSON, fetch, fetch_column

ALL_DAYS: DayRange = ("toc:day:", "toc:day;")
"""No id of another level sorts between these."""

_NODE_IDS = {
    TocLevel.YEAR: "'toc:year:' || substr(n.parent_id, 9, 4)",
    TocLevel.MONTH: "'toc:month:' || substr(n.parent_id, 9, 7)",
    TocLevel.WEEK: "(SELECT parent_id FROM nodes day WHERE day.node_id = n.parent_id)",
    TocLevel.DAY: "n.parent_id",
}
"""The node of a level above a segment ``n``: the parent of a segment is its day."""


def list_children(
    parent_id: str | None,
    offset: int,
    limit: int,
    scope: Scope = ALL,
    *,
    month_id: str = "",
) -> list[TocEntry]:
    """Return the entries of a node's children in a scope, newest first.

    The children of None are the years. Weeks have the counts of their days in the month
    that is their parent; with ``month_id``, only days of that month are listed. Entries
    whose summary is not of just what is counted have no headline.
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
        shares = _count_segments(level, days, scope)
        node_ids = sorted(shares, reverse=True)[offset : offset + limit]
        entries = _with_shares(nodes.get_entries(node_ids), shares)
    else:
        within = days if month_id else None
        entries = nodes.list_children(parent_id, offset, limit, scope, days=within)
    if level is TocLevel.WEEK and parent_id:
        entries = [replace(entry, month_id=parent_id) for entry in entries]
    return entries if scope.is_narrow else _count(entries, scope)


def get(node_ids: Sequence[str], scope: Scope = ALL) -> list[TocEntry]:
    """Return the entries of nodes in a scope, in the order of the ids.

    Unknown nodes and those outside the scope are skipped.
    """
    entries = nodes.get_entries(node_ids)
    segment_ids = [e.node_id for e in entries if e.level is TocLevel.SEGMENT]
    if scope.is_narrow and segment_ids:
        outside = {*segment_ids} - scopes.filter_nodes(segment_ids, scope)
        entries = [entry for entry in entries if entry.node_id not in outside]
    return _count(entries, scope)


def list_days(scope: Scope) -> list[TocEntry]:
    """Return the entries of all days in a scope, oldest first."""
    sql = "SELECT node_id FROM nodes WHERE level = 'day' ORDER BY node_id"
    return get(fetch_column(sql), scope)


class _Share(NamedTuple):
    """The share of a scope in a node, by the names of the fields of an entry."""

    counts: NodeCounts
    is_live: bool
    agents: tuple[str, ...]
    projects: tuple[str, ...]


def _count(entries: Sequence[TocEntry], scope: Scope) -> list[TocEntry]:
    """Return entries with the counts of a scope; nodes outside it are left out.

    Weeks that are listed under a month are of the same one.
    """
    uncounted = [entry for entry in entries if _must_be_counted(entry, scope)]
    shares: dict[str, _Share] = {}
    for level in {entry.level for entry in uncounted}:
        days = _span([entry for entry in uncounted if entry.level is level])
        shares |= _count_segments(level, days, scope)
    outside = {entry.node_id for entry in uncounted} - {*shares}
    if scope.is_narrow:
        entries = [entry for entry in entries if entry.node_id not in outside]
    return _with_shares(entries, shares)


def _with_shares(
    entries: Sequence[TocEntry], shares: Mapping[str, _Share]
) -> list[TocEntry]:
    return [
        replace(entry, headline="", is_by_model=False, **share._asdict())
        if (share := shares.get(entry.node_id))
        else entry
        for entry in entries
    ]


def _must_be_counted(entry: TocEntry, scope: Scope) -> bool:
    """Return whether the counts of a node's version do not hold."""
    if entry.level is TocLevel.SEGMENT:
        return False
    if scope.is_narrow or entry.status is NodeStatus.PENDING:
        return True
    # A week may be listed with only its days in a month.
    return bool(entry.month_id) and entry.days != calendar.day_range(entry.node_id)


def _span(entries: Sequence[TocEntry]) -> DayRange:
    """Return the range from the first day of some nodes to their last."""
    ranges = [entry.days for entry in entries]
    return min(first for first, _ in ranges), max(end for _, end in ranges)


def _count_segments(level: TocLevel, days: DayRange, scope: Scope) -> dict[str, _Share]:
    """Count the segments of a scope on some days, by the node of a level above each."""
    condition, values = scopes.segment_condition(scope)
    rows = fetch(
        f"SELECT {_NODE_IDS[level]}, count(*), sum(events), sum(messages),"
        " sum(subagent_events), sum(is_live), group_concat(DISTINCT agents),"
        " group_concat(DISTINCT projects) FROM nodes n"
        " JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE n.parent_id >= ? AND n.parent_id < ? AND {condition} GROUP BY 1",
        *days,
        *values,
    )
    return {
        node_id: _Share(
            NodeCounts(*counts),
            bool(live_segments),
            _parse_names(agents),
            _parse_names(projects),
        )
        for node_id, *counts, live_segments, agents, projects in rows
    }


def _parse_names(lists: str) -> tuple[str, ...]:
    """Return the names in JSON lists with commas between them, each once."""
    every = json_columns.read(f"[{lists}]", [])
    return tuple(sorted({n for names in every for n in json_columns.as_names(names)}))


def find_nearest_days(day_id: str, scope: Scope = ALL) -> list[str]:
    """Return the last day of a scope before a day, and the first one from it on."""
    condition, values = scopes.segment_condition(scope)
    day = "n.parent_id" if scope.is_narrow else "n.node_id"
    sql = (
        f"SELECT {day} FROM nodes n LEFT JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE {condition} AND {day} >= ? AND {day} < ? ORDER BY {day}"
    )
    first, end = ALL_DAYS
    before = fetch_column(f"{sql} DESC LIMIT 1", *values, first, day_id)
    return before + fetch_column(f"{sql} LIMIT 1", *values, day_id, end)


# Activity


def count_messages(
    days: DayRange, scope: Scope = ALL, *, by_month: bool = False
) -> dict[str, int]:
    """Return the number of messages of each day of a range, by its id, oldest first.

    Days without segments of a narrow scope are left out. By month, the messages of a
    month are those of its first day.
    """
    condition, values = scopes.segment_condition(scope)
    day = "n.parent_id" if scope.is_narrow else "n.node_id"
    messages = "v.messages"
    if not scope.is_narrow:
        of_segments = (
            "SELECT sum(w.messages) FROM nodes s"
            " JOIN node_versions w ON w.id = s.latest_id WHERE s.parent_id = n.node_id"
        )
        messages = f"coalesce(v.messages, ({of_segments}), 0)"
    key = f"substr({day}, 1, 16) || '01'" if by_month else day
    rows = fetch(
        f"SELECT {key}, sum({messages}) FROM nodes n"
        " LEFT JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE {day} >= ? AND {day} < ? AND {condition} GROUP BY 1",
        *days,
        *values,
    )
    return dict(rows)


def add_activity(entries: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Return entries with the number of messages in each part of them."""
    parts = _list_segments(
        [entry.node_id for entry in entries if entry.level is TocLevel.DAY], scope
    )
    for level in (TocLevel.YEAR, TocLevel.MONTH, TocLevel.WEEK):
        wide = [entry for entry in entries if entry.level is level]
        if not wide:
            continue
        by_month = level is TocLevel.YEAR
        messages = count_messages(_span(wide), scope, by_month=by_month)
        ids = [*messages]
        days = [(date.fromisoformat(day[8:]), 0, messages[day]) for day in ids]
        for entry in wide:
            first, end = (bisect_left(ids, day_id) for day_id in entry.days)
            parts[entry.node_id, entry.month_id] = days[first:end]
    return [
        replace(
            entry,
            activity=count_messages_by_part(
                entry.node_id, to_ms(entry.start_time), own
            ),
        )
        if (own := parts.get((entry.node_id, entry.month_id)))
        else entry
        for entry in entries
    ]


def _list_segments(
    day_ids: Sequence[str], scope: Scope
) -> dict[tuple[str, str], list[tuple[date, int, int]]]:
    """Return the segments of days in a scope, by (day, ""): day, start and messages."""
    condition, values = scopes.segment_condition(scope)
    segments: dict[tuple[str, str], list[tuple[date, int, int]]] = {}
    for day_id, start_ms, messages in fetch(
        "SELECT n.parent_id, n.start_ms, messages FROM nodes n"
        " JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE n.parent_id {IN_JSON} AND {condition}",
        json.dumps(list(day_ids)),
        *values,
    ):
        day = date.fromisoformat(day_id[8:])
        segments.setdefault((day_id, ""), []).append((day, start_ms, messages))
    return segments
