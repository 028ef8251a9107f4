"""Shares: what of the table of contents is of a scope, counted from its segments.

The segments of a stretch of time are read once, by day; what is above the days follows
from the days.
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
"""The id of a first day, and that of the one after the last."""

ALL_DAYS: DayRange = ("toc:day:", "toc:day;")
"""All there are: no id of another level sorts between these."""


def shares_by_day(of: Scope, days: DayRange) -> dict[str, ScopeShare]:
    """What each day has of a scope, by the day's id; days without any are left out.

    Args:
        of: The part of the memory.
        days: Which days.
    """
    rows = store_days.select_days(
        *days,
        fn.SUM(NodeRow.is_live),
        fn.GROUP_CONCAT(VersionRow.agents.distinct()),
        fn.GROUP_CONCAT(VersionRow.projects.distinct()),
        # The only greatest of its kind here: what stands beside it is its row's.
        fn.MAX(VersionRow.messages),
        NodeRow.node_id,
        where=_mine(of),
    )
    return {day: _share(*told) for day, *told in rows}


def list_children(
    parent_id: str | None, offset: int, limit: int, of: Scope = ALL
) -> list[TocEntry]:
    """A node's children as lines that tell of a scope alone, newest first.

    Args:
        parent_id: The node; None for the years.
        offset: How many are left out.
        limit: The most lines.
        of: The part of the memory; those above a segment have their activity in it.
    """
    level = _below(parent_id)
    if not of.is_narrow or level is None or level is TocLevel.SEGMENT:
        return store_days.add_entry_counts(
            nodes.list_children(parent_id, offset, limit, of)
        )
    days = shares_by_day(of, day_range(parent_id) if parent_id else ALL_DAYS)
    names = sorted(activity.shares_of_level(level, days), reverse=True)
    mine = [name for name in names if calendar.parent_id(name) == parent_id]
    return _told(nodes.get_entries(mine[offset : offset + limit]), days, of)


def get_entries(node_ids: Sequence[str], of: Scope) -> list[TocEntry]:
    """Nodes as lines that tell of a scope alone; what is not of it is left out."""
    found = nodes.get_entries(node_ids)
    if not of.is_narrow or not found:
        return store_days.add_entry_counts(found)
    days = [day_range(line.node_id) for line in found]
    span = min(first for first, _ in days), max(end for _, end in days)
    return _told(found, shares_by_day(of, span), of)


def narrow_node(node: TocNode, of: Scope) -> ScopedNode:
    """What of a node is of a scope: its counts, its bullets, and its longest stretch.

    A bullet is of it that rests on a grip of it.
    """
    node = store_days.add_node_counts(node)
    if node.level is TocLevel.SEGMENT or not of.is_narrow:
        return ScopedNode(node, node.counts)
    days = activity.shares_of_level(
        node.level, shares_by_day(of, day_range(node.node_id))
    )
    share = days.get(node.node_id, ScopeShare())
    if share.is_all_of(node.counts):
        return ScopedNode(node, node.counts)
    bullets = _resting_on(node.bullets, of)
    longest = next(iter(nodes.get_many([share.longest_segment])), None)
    mine = replace(
        node,
        counts=share.counts,
        bullets=bullets,
        withheld=(),
        headline=longest.headline if longest else "",
        keywords=longest.keywords if longest else (),
        agents=tuple(sorted(share.agents)),
        projects=tuple(sorted(share.projects)),
    )
    return ScopedNode(mine, node.counts, len(node.bullets) - len(bullets))


def narrow_days(
    found: Sequence[CalendarDay], year_id: str, of: Scope
) -> list[CalendarDay]:
    """Days of a year as they tell of a scope alone, without those that have nothing."""
    mine = shares_by_day(of, day_range(year_id))
    named = {
        x.node_id: x
        for x in nodes.get_entries([one.longest_segment for one in mine.values()])
    }
    told = []
    for day in found:
        share = mine.get(day.node_id)
        if share is None:
            continue
        if day.is_pending or share.counts.segments < day.segments:
            longest = named.get(share.longest_segment)
            day = replace(
                day,
                segments=share.counts.segments,
                messages=share.counts.messages,
                headline=longest.headline if longest else "",
                agents=tuple(sorted(share.agents)),
                projects=tuple(sorted(share.projects)),
                is_live=share.is_live,
            )
        told.append(day)
    return told


def _resting_on(bullets: Sequence[Bullet], of: Scope) -> tuple[Bullet, ...]:
    """Those of some bullets that rest on a grip of a scope."""
    kept = grips.get(name for bullet in bullets for name in bullet.grip_ids)
    places = {name: grip.toc_node_id for name, grip in kept.items()}
    mine = _among({place for place in places.values() if place}, of)
    return tuple(
        bullet
        for bullet in bullets
        if any(places.get(name) in mine for name in bullet.grip_ids)
    )


def _told(
    found: Sequence[TocEntry], days: Mapping[str, ScopeShare], of: Scope
) -> list[TocEntry]:
    """Lines with what a scope has of each; those of which it has nothing are left out.

    Args:
        found: The lines, of any levels.
        days: The shares of all days in them.
        of: The part of the memory.
    """
    mine: dict[str, ScopeShare] = {}
    under = _moments([x.node_id for x in found if x.level is TocLevel.DAY], of)
    for level in {line.level for line in found} - {TocLevel.SEGMENT}:
        mine |= activity.shares_of_level(level, days)
        if level is not TocLevel.DAY:
            under |= activity.children_of_level(level, days)
    heads = {mine[x.node_id].longest_segment for x in found if x.node_id in mine}
    named = {line.node_id: line for line in nodes.get_entries(sorted(heads))}
    leaves = _among((x.node_id for x in found if x.level is TocLevel.SEGMENT), of)
    told = []
    for line in found:
        share = mine.get(line.node_id)
        if line.node_id in leaves:
            told.append(line)
        elif share is not None:
            start_ms = to_ms(line.start_time)
            parts = under.get(line.node_id, [])
            active = replace(
                line, activity=activity.count_by_part(line.node_id, start_ms, parts)
            )
            told.append(_narrowed(active, share, named.get(share.longest_segment)))
    return told


def _narrowed(line: TocEntry, share: ScopeShare, longest: TocEntry | None) -> TocEntry:
    """A line that tells of its share alone; of all it is, where that is all of it."""
    if line.status is not NodeStatus.PENDING and share.is_all_of(line.counts):
        return line
    return replace(
        line,
        counts=share.counts,
        headline=longest.headline if longest else "",
        is_by_model=longest is not None and longest.is_by_model,
        is_live=share.is_live,
        agents=tuple(sorted(share.agents)),
        projects=tuple(sorted(share.projects)),
    )


def _moments(day_ids: Sequence[str], of: Scope) -> activity.ChildCounts:
    """The segments of some days that are of a scope: when, and how much was said."""
    found: activity.ChildCounts = {}
    rows = (
        NodeRow.select(
            NodeRow.parent_id, NodeRow.node_id, NodeRow.start_ms, VersionRow.messages
        )
        .join(VersionRow)
        .where(*_mine(of), NodeRow.parent_id.in_(list(day_ids)))
        .tuples()
    )
    for day_id, *told in rows if day_ids else ():
        found.setdefault(day_id, []).append((told[0], told[1], told[2]))
    return found


def _among(segment_ids: Iterable[str], of: Scope) -> set[str]:
    """Those of some segments that are of a scope."""
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    mine = rows.where(*_mine(of), NodeRow.node_id.in_(list(segment_ids)))
    return {name for (name,) in mine.tuples()}


def _mine(of: Scope) -> Iterator[Any]:
    """The conditions on segments, joined with their versions, to be of a scope.

    A segment is of one agent and of one project, so that its lists are known whole.
    """
    yield SQL("1")
    if of.agent:
        yield VersionRow.agents == _list_of(of.agent)
    if of.project:
        yield VersionRow.projects == _list_of(of.project)
    if of.keyword:
        said = fn.LOWER(VersionRow.keywords)
        yield fn.INSTR(said, scopes.keyword_prefix(of.keyword)) > 0


def _list_of(name: str) -> str:
    return json.dumps([name], ensure_ascii=False)


def day_range(node_id: str) -> DayRange:
    """The days of which a node is made."""
    here = calendar.period(node_id)
    return calendar.day_id(here.first), calendar.day_id(here.end)


def _below(node_id: str | None) -> TocLevel | None:
    """The level under a node; None if there is none, or no such node."""
    if node_id is None:
        return TocLevel.YEAR
    try:
        return calendar.period(node_id).level.child()
    except ValueError:
        return None


def _share(
    segments: int,
    events: int,
    messages: int,
    subagent_events: int,
    live: int,
    agents: str,
    projects: str,
    said: int,
    longest: str,
) -> ScopeShare:
    return ScopeShare(
        NodeCounts(segments, events, messages, subagent_events),
        bool(live),
        _names(agents),
        _names(projects),
        longest,
        said,
    )


def _names(lists: str) -> frozenset[str]:
    """The names in several lists, with commas between these."""
    return frozenset(name for some in json.loads(f"[{lists}]") for name in some)
