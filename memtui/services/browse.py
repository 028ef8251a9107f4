"""Reads the table of contents, newest first at every level, and its calendar."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memtui.model import activity, calendar
from memtui.model.activity import ScopedNode
from memtui.model.calendar import CalendarYear, DateRange
from memtui.model.events import to_ms
from memtui.model.nodes import TocEntry, TocLevel, TocNode
from memtui.model.scope import ALL, Scope
from memtui.store import database, nodes, scoped_nodes, scopes, segments, sessions
from memtui.store import surprise as store_surprise

PAGE_SIZE = 500
"""The entries that are read at once."""


def list_children(
    node_id: str = "", *, offset: int = 0, limit: int = PAGE_SIZE, scope: Scope = ALL
) -> list[TocEntry]:
    """Return a page of the children of a node, or of the years, newest first."""
    with database.connection():
        parent = nodes.resolve_id(node_id) if node_id else None
        return scoped_nodes.list_children(parent, offset, limit, scope)


def add_activity(found: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Return entries with the activity in each part of them."""
    # Entries of a narrow scope have it already.
    with database.connection():
        return list(found) if scope.is_narrow else scoped_nodes.add_activity(found)


@dataclass(frozen=True, slots=True)
class NodeBranches:
    """All descendants of a node, level by level."""

    lines: Mapping[str, Sequence[TocEntry]]
    """The children by the id of their parent."""
    is_all: bool
    """False where the limit left some out."""


def list_branches(
    node_id: str, *, limit: int = PAGE_SIZE, scope: Scope = ALL
) -> NodeBranches:
    """Return the descendants of a node, level by level.

    Args:
        node_id: The node.
        limit: The most descendants; the children of a node are given all or not at all.
        scope: The agent, project or keyword to include.
    """
    found: dict[str, Sequence[TocEntry]] = {}
    waiting, total = deque([nodes.resolve_id(node_id)]), 0
    with database.connection():
        while waiting:
            page = scoped_nodes.list_children(waiting[0], 0, limit - total + 1, scope)
            if total + len(page) > limit:
                return NodeBranches(found, is_all=False)
            found[waiting.popleft()] = add_activity(page, scope)
            total += len(page)
            waiting += [x.node_id for x in page if x.level is not TocLevel.SEGMENT]
    return NodeBranches(found, is_all=True)


def get_node(node_id: str) -> TocNode | None:
    """Return the shown version of a node with its bullets."""
    with database.connection():
        return nodes.get(nodes.resolve_id(node_id))


def get_scoped_node(node_id: str, scope: Scope = ALL) -> ScopedNode | None:
    """Return the shown version of a node with its share in a scope alone."""
    with database.connection():
        found = nodes.get(nodes.resolve_id(node_id))
        return scoped_nodes.narrow_node(found, scope) if found else None


def list_covering(
    start: datetime | None, end: datetime | None, zone: tzinfo, scope: Scope = ALL
) -> list[TocEntry]:
    """Return the widest nodes that cover a time and no day besides, newest first.

    Days decide, not months, since a month holds whole weeks: March is covered by the
    weeks within it and the days at its ends. Hours are covered by segments.

    Args:
        start: From when, aware; None from the first on.
        end: Until before when; None until now.
        zone: The store's time zone.
        scope: The agent, project or keyword to include.
    """
    found: list[str] = []
    with database.connection():
        partly: Sequence[str] | None = None
        while partly is None or partly:
            names, partly = nodes.list_ids_under(partly, scope), []
            for name in names:
                first, last = calendar.bounds(name, zone)
                if (end and first >= end) or (start and last <= start):
                    continue
                is_within = (not start or first >= start) and (not end or last <= end)
                if is_within or calendar.period(name).level is TocLevel.SEGMENT:
                    found.append(name)
                else:
                    partly.append(name)
        entries = nodes.get_entries(found)

    def overlaps(entry: TocEntry) -> bool:
        if entry.level is not TocLevel.SEGMENT:
            return True
        starts_before_end = not end or entry.start_time < end
        return starts_before_end and (not start or entry.end_time >= start)

    within = [entry for entry in entries if overlaps(entry)]
    return sorted(within, key=lambda entry: entry.start_time, reverse=True)


def get_surprise(segment_id: str) -> float | None:
    """Return how surprising a segment is, 0 to 1; None before it was computed."""
    with database.connection():
        return store_surprise.get([segment_id]).get(segment_id)


def get_path(node_id: str) -> list[str]:
    """Return the ids from the year down to a node, included; empty if unknown."""
    with database.connection():
        known = nodes.get_entries([nodes.resolve_id(node_id)])
    return calendar.path(node_id) if known else []


def get_calendar_year(number: int, zone: tzinfo, scope: Scope = ALL) -> CalendarYear:
    """Return the days of a year with their counts.

    Args:
        number: The year.
        zone: The store's time zone.
        scope: The agent, project or keyword to count.
    """
    year_id = f"toc:year:{number:04}"
    start, end = map(to_ms, calendar.bounds(year_id, zone))
    with database.connection():
        found = scoped_nodes.list_days(start, end)
        if scope.is_narrow:
            found = scoped_nodes.narrow_days(found, year_id, scope)
    return CalendarYear(number, {one.day: one for one in found})


def get_date_range() -> DateRange | None:
    """Return the first and the last day with stored events."""
    with database.connection():
        found = scoped_nodes.find_first_and_last_day()
    return (
        DateRange(*(calendar.period(name).first for name in found)) if found else None
    )


def list_daily_counts(scope: Scope = ALL) -> list[int]:
    """Return the number of messages of every day of a scope, in no order."""
    with database.connection():
        if scope.is_narrow:
            shared = scoped_nodes.shares_by_day(scope, scoped_nodes.ALL_DAYS).values()
            return [share.counts.messages for share in shared]
        return scoped_nodes.list_message_counts()


def find_nearest(node_id: str, zone: tzinfo, scope: Scope = ALL) -> str:
    """Return the id of a node if it exists, else of the nearest of its level.

    Args:
        node_id: Of a year, a month, a week or a day.
        zone: The store's time zone.
        scope: The agent, project or keyword to include.

    Returns:
        The later one of two that are as near; "" while nothing is stored.
    """
    start, _ = calendar.bounds(node_id, zone)
    with database.connection():
        if scope.is_narrow:
            level = calendar.period(node_id).level
            mine = activity.shares_of_level(
                level, scoped_nodes.shares_by_day(scope, scoped_nodes.ALL_DAYS)
            )
            found = [node_id] if node_id in mine else sorted(mine)
        elif nodes.get_entries([node_id]):
            return node_id
        else:
            level = calendar.period(node_id).level
            found = scoped_nodes.find_neighbours(level, to_ms(start))
    first = calendar.period(node_id).first
    far = {name: abs((calendar.period(name).first - first).days) for name in found}
    return min(reversed(found), key=lambda name: far[name], default="")


def find_session_node(agent: str, session_id: str, at: datetime) -> str:
    """Return the id of the node to show for a time of a session.

    It is the segment at that time, or the nearest one; while that has no summary, the
    narrowest node above it that has one. "" if there is none.

    Args:
        agent: The session's agent.
        session_id: The session's id.
        at: An aware time.
    """
    with database.connection():
        number = sessions.get_number(agent, session_id)
        nearest = (
            segments.find_nearest(number, to_ms(at)) if number is not None else None
        )
        if nearest is None:
            return ""
        path = calendar.path(nearest)
        known = {entry.node_id for entry in nodes.get_entries(path)}
        return next((node_id for node_id in reversed(path) if node_id in known), "")


MAX_KEYWORDS = 5_000
"""The most keywords that are listed: those of the most days."""


@dataclass(frozen=True, slots=True)
class ScopeChoices:
    """The agents, projects and keywords there are, each with a count, most first."""

    agents: tuple[tuple[str, int], ...] = ()
    """With their number of sessions."""
    projects: tuple[tuple[str, int], ...] = ()
    """With their number of sessions."""
    keywords: tuple[tuple[str, int], ...] = ()
    """With their number of days."""


def list_scopes() -> ScopeChoices:
    """Return what a scope can be narrowed to."""
    with database.connection():
        return ScopeChoices(
            tuple(scopes.list_names("agent")),
            tuple(scopes.list_names("project")),
            tuple(scopes.list_keywords(MAX_KEYWORDS)),
        )
