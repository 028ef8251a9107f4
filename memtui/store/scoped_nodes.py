"""Nodes narrowed to a scope: only the content of an agent, project or keyword.

The segments of a time range are read once, by day; the shares of weeks, months and
years are computed from those of their days.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from peewee import SQL, fn

from memtui.model import activity, calendar
from memtui.model.activity import ScopedNode, ScopeShare
from memtui.model.calendar import CalendarDay
from memtui.model.events import to_ms
from memtui.model.nodes import (
    Bullet,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocLevel,
    TocNode,
)
from memtui.model.scope import ALL, Scope
from memtui.store import days as store_days
from memtui.store import grips, nodes, scopes
from memtui.store.schema import NodeRow, VersionRow

DayRange = tuple[str, str]
"""The id of a first day, and of the day after the last."""

ALL_DAYS: DayRange = ("toc:day:", "toc:day;")
"""No id of another level sorts between these."""


def shares_by_day(scope: Scope, days: DayRange) -> dict[str, ScopeShare]:
    """Return the share of a scope in each day, by the day's id; skip empty shares."""
    rows = store_days.select_days(
        *days,
        fn.SUM(NodeRow.is_live),
        fn.GROUP_CONCAT(VersionRow.agents.distinct()),
        fn.GROUP_CONCAT(VersionRow.projects.distinct()),
        # The only maximum: SQLite takes the next column from the same row.
        fn.MAX(VersionRow.messages),
        NodeRow.node_id,
        where=_segment_conditions(scope),
    )
    return {day: _to_share(*columns) for day, *columns in rows}


def _to_share(
    segments: int,
    events: int,
    messages: int,
    subagent_events: int,
    live: int,
    agents: str,
    projects: str,
    longest_messages: int,
    longest_segment: str,
) -> ScopeShare:
    return ScopeShare(
        NodeCounts(segments, events, messages, subagent_events),
        bool(live),
        _parse_names(agents),
        _parse_names(projects),
        longest_segment,
        longest_messages,
    )


def _parse_names(lists: str) -> frozenset[str]:
    """Return the names in several JSON lists joined by commas."""
    return frozenset(name for names in json.loads(f"[{lists}]") for name in names)


def _segment_conditions(scope: Scope) -> Iterator[Any]:
    """Yield the conditions that a segment, joined with its version, is in a scope.

    A segment has one agent and one project, so that its lists are known exactly.
    """
    yield SQL("1")
    if scope.agent:
        yield VersionRow.agents == json.dumps([scope.agent], ensure_ascii=False)
    if scope.project:
        yield VersionRow.projects == json.dumps([scope.project], ensure_ascii=False)
    if scope.keyword:
        prefix = scopes.keyword_prefix(scope.keyword)
        yield fn.INSTR(fn.LOWER(VersionRow.keywords), prefix) > 0


def day_range(node_id: str) -> DayRange:
    """Return the days of a node."""
    period = calendar.period(node_id)
    return calendar.day_id(period.first), calendar.day_id(period.end)


def list_children(
    parent_id: str | None, offset: int, limit: int, scope: Scope = ALL
) -> list[TocEntry]:
    """Return the entries of a node's children narrowed to a scope, newest first.

    Args:
        parent_id: The node; None for the years.
        offset: How many to skip.
        limit: The maximum number.
        scope: The scope; entries above a segment have their activity in it.
    """
    level = _child_level(parent_id)
    if not scope.is_narrow or level is None or level is TocLevel.SEGMENT:
        children = nodes.list_children(parent_id, offset, limit, scope)
        return store_days.add_entry_counts(children)
    days = shares_by_day(scope, day_range(parent_id) if parent_id else ALL_DAYS)
    names = sorted(activity.shares_of_level(level, days), reverse=True)
    own = [name for name in names if calendar.parent_id(name) == parent_id]
    entries = nodes.get_entries(own[offset : offset + limit])
    return _narrow_entries(entries, days, scope)


def _child_level(node_id: str | None) -> TocLevel | None:
    """Return the level below a node; None if there is none, or no such node."""
    if node_id is None:
        return TocLevel.YEAR
    try:
        return calendar.period(node_id).level.child()
    except ValueError:
        return None


def get_entries(node_ids: Sequence[str], scope: Scope) -> list[TocEntry]:
    """Return the entries of nodes narrowed to a scope; skip those not in it."""
    entries = nodes.get_entries(node_ids)
    if not scope.is_narrow or not entries:
        return store_days.add_entry_counts(entries)
    ranges = [day_range(entry.node_id) for entry in entries]
    days = min(first for first, _ in ranges), max(end for _, end in ranges)
    return _narrow_entries(entries, shares_by_day(scope, days), scope)


def narrow_node(node: TocNode, scope: Scope) -> ScopedNode:
    """Return a node narrowed to a scope: its counts, bullets and longest segment.

    A bullet is in the scope if one of its grips is.
    """
    node = store_days.add_node_counts(node)
    if node.level is TocLevel.SEGMENT or not scope.is_narrow:
        return ScopedNode(node, node.counts)
    days = shares_by_day(scope, day_range(node.node_id))
    shares = activity.shares_of_level(node.level, days)
    share = shares.get(node.node_id, ScopeShare())
    if share.is_all_of(node.counts):
        return ScopedNode(node, node.counts)
    bullets = _filter_bullets(node.bullets, scope)
    longest = nodes.get(share.longest_segment)
    narrowed = replace(
        node,
        counts=share.counts,
        bullets=bullets,
        withheld=(),
        headline=longest.headline if longest else "",
        keywords=longest.keywords if longest else (),
        agents=tuple(sorted(share.agents)),
        projects=tuple(sorted(share.projects)),
    )
    return ScopedNode(narrowed, node.counts, len(node.bullets) - len(bullets))


def _filter_bullets(bullets: Sequence[Bullet], scope: Scope) -> tuple[Bullet, ...]:
    """Return those of some bullets with a grip in a scope."""
    found = grips.get(name for bullet in bullets for name in bullet.grip_ids)
    segments = {name: grip.toc_node_id for name, grip in found.items()}
    own = _filter_segments({name for name in segments.values() if name}, scope)
    return tuple(
        bullet
        for bullet in bullets
        if any(segments.get(name) in own for name in bullet.grip_ids)
    )


def narrow_days(
    days: Sequence[CalendarDay], year_id: str, scope: Scope
) -> list[CalendarDay]:
    """Return the days of a year narrowed to a scope, without those not in it."""
    shares = shares_by_day(scope, day_range(year_id))
    longest = _get_longest(shares.values())
    narrowed = []
    for day in days:
        share = shares.get(day.node_id)
        if share is None:
            continue
        if day.is_pending or share.counts.segments < day.segments:
            segment = longest.get(share.longest_segment)
            day = replace(
                day,
                segments=share.counts.segments,
                messages=share.counts.messages,
                headline=segment.headline if segment else "",
                agents=tuple(sorted(share.agents)),
                projects=tuple(sorted(share.projects)),
                is_live=share.is_live,
            )
        narrowed.append(day)
    return narrowed


def _get_longest(shares: Iterable[ScopeShare]) -> dict[str, TocEntry]:
    """Return the entries of the longest segments of shares, by their ids."""
    names = sorted({share.longest_segment for share in shares})
    return {entry.node_id: entry for entry in nodes.get_entries(names)}


def _narrow_entries(
    entries: Sequence[TocEntry], days: Mapping[str, ScopeShare], scope: Scope
) -> list[TocEntry]:
    """Return entries narrowed to a scope, without those not in it.

    Args:
        entries: The entries, of any levels.
        days: The shares of all their days.
        scope: The scope.
    """
    shares: dict[str, ScopeShare] = {}
    day_ids = [entry.node_id for entry in entries if entry.level is TocLevel.DAY]
    children = _count_segments(day_ids, scope)
    for level in {entry.level for entry in entries} - {TocLevel.SEGMENT}:
        shares |= activity.shares_of_level(level, days)
        if level is not TocLevel.DAY:
            children |= activity.children_of_level(level, days)
    longest = _get_longest(shares[e.node_id] for e in entries if e.node_id in shares)
    segment_ids = (e.node_id for e in entries if e.level is TocLevel.SEGMENT)
    segments = _filter_segments(segment_ids, scope)
    narrowed = []
    for entry in entries:
        share = shares.get(entry.node_id)
        if entry.node_id in segments:
            narrowed.append(entry)
        elif share is not None:
            parts = activity.count_by_part(
                entry.node_id,
                to_ms(entry.start_time),
                children.get(entry.node_id, []),
            )
            active = replace(entry, activity=parts)
            segment = longest.get(share.longest_segment)
            narrowed.append(_narrow_entry(active, share, segment))
    return narrowed


def _narrow_entry(
    entry: TocEntry, share: ScopeShare, longest: TocEntry | None
) -> TocEntry:
    if entry.status is not NodeStatus.PENDING and share.is_all_of(entry.counts):
        return entry
    return replace(
        entry,
        counts=share.counts,
        headline=longest.headline if longest else "",
        is_by_model=longest is not None and longest.is_by_model,
        is_live=share.is_live,
        agents=tuple(sorted(share.agents)),
        projects=tuple(sorted(share.projects)),
    )


def _count_segments(day_ids: Sequence[str], scope: Scope) -> activity.ChildCounts:
    """Return the segments of days in a scope, with their times and messages."""
    found: activity.ChildCounts = {}
    rows = (
        NodeRow.select(
            NodeRow.parent_id, NodeRow.node_id, NodeRow.start_ms, VersionRow.messages
        )
        .join(VersionRow)
        .where(*_segment_conditions(scope), NodeRow.parent_id.in_(list(day_ids)))
        .tuples()
    )
    for day_id, node_id, start_ms, messages in rows if day_ids else ():
        found.setdefault(day_id, []).append((node_id, start_ms, messages))
    return found


def _filter_segments(segment_ids: Iterable[str], scope: Scope) -> set[str]:
    """Return those of some segments that are in a scope."""
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    condition = NodeRow.node_id.in_(list(segment_ids))
    found = rows.where(*_segment_conditions(scope), condition)
    return {name for (name,) in found.tuples()}
