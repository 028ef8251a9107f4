"""Walking the table of contents, newest first at every level."""

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
from memtui.store import database, days, nodes, scoped_nodes, scopes
from memtui.store import surprise as store_surprise

PAGE_SIZE = 500
"""How many lines are read at once."""


def list_years(
    *, offset: int = 0, limit: int = PAGE_SIZE, scope: Scope = ALL
) -> list[TocEntry]:
    """The roots of the table of contents, newest first."""
    with database.connection():
        return scoped_nodes.list_children(None, offset, limit, scope)


def list_children(
    node_id: str, *, offset: int = 0, limit: int = PAGE_SIZE, scope: Scope = ALL
) -> list[TocEntry]:
    """The lines under a node, newest first; empty for a segment or an unknown id."""
    with database.connection():
        return scoped_nodes.list_children(
            nodes.resolve_id(node_id), offset, limit, scope
        )


def get_entries(node_ids: Sequence[str], scope: Scope = ALL) -> list[TocEntry]:
    """These nodes as lines, in the order asked; those not of the scope are left out."""
    with database.connection():
        return scoped_nodes.get_entries(node_ids, scope)


def add_activity(found: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Lines with how much was said in each part of them."""
    with database.connection():
        return _active(found, scope)


def _active(found: Sequence[TocEntry], of: Scope) -> list[TocEntry]:
    # Lines that tell of a part of the memory have its activity already.
    return list(found) if of.is_narrow else nodes.add_activity(found)


@dataclass(frozen=True, slots=True)
class NodeBranches:
    """A node's branches, the widest first: what is under each of them."""

    lines: Mapping[str, Sequence[TocEntry]]
    """By the id of the branch."""
    is_all: bool
    """Whether nothing was left out."""


def list_branches(
    node_id: str, *, limit: int = PAGE_SIZE, scope: Scope = ALL
) -> NodeBranches:
    """All that is under a node, level by level.

    Args:
        node_id: Whose.
        limit: The most lines; no branch is told in part.
        scope: Whose work.
    """
    found: dict[str, Sequence[TocEntry]] = {}
    waiting, total = deque([nodes.resolve_id(node_id)]), 0
    with database.connection():
        while waiting:
            page = scoped_nodes.list_children(waiting[0], 0, limit - total + 1, scope)
            if total + len(page) > limit:
                return NodeBranches(found, is_all=False)
            found[waiting.popleft()] = _active(page, scope)
            total += len(page)
            waiting += [x.node_id for x in page if x.level is not TocLevel.SEGMENT]
    return NodeBranches(found, is_all=True)


def get_node(node_id: str) -> TocNode | None:
    """The latest version of a node with its bullets."""
    with database.connection():
        return nodes.get(nodes.resolve_id(node_id))


def get_scoped_node(node_id: str, scope: Scope = ALL) -> ScopedNode | None:
    """The latest version of a node, with no more than what a scope has of it."""
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
        scope: Whose work.
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
    """How surprising a segment is, 0 to 1; None before it was weighed."""
    with database.connection():
        return store_surprise.get([segment_id]).get(segment_id)


def get_path(node_id: str) -> list[str]:
    """The ids from the year down to this node, itself included; empty if unknown."""
    with database.connection():
        known = nodes.get_entries([nodes.resolve_id(node_id)])
    return calendar.path(node_id) if known else []


def get_calendar_year(number: int, zone: tzinfo, scope: Scope = ALL) -> CalendarYear:
    """The days of a year, by the calendar of the contents.

    Args:
        number: Which year.
        zone: The store's time zone.
        scope: The part of the memory whose days, and whose share of them, is told.
    """
    year_id = f"toc:year:{number:04}"
    start, end = map(to_ms, calendar.bounds(year_id, zone))
    with database.connection():
        found = days.list_between(start, end)
        if scope.is_narrow:
            found = scoped_nodes.narrow_days(found, year_id, scope)
        else:
            found = days.add_day_counts(found)
    return CalendarYear(number, {one.day: one for one in found})


def get_date_range() -> DateRange | None:
    """The first and the last day of which anything is kept; None for nothing."""
    with database.connection():
        found = days.first_and_last()
    return (
        DateRange(*(calendar.period(name).first for name in found)) if found else None
    )


def list_daily_counts(scope: Scope = ALL) -> list[int]:
    """How much was said on every day of a scope, in messages; of no year alone."""
    with database.connection():
        if scope.is_narrow:
            shared = scoped_nodes.shares_by_day(scope, scoped_nodes.ALL_DAYS).values()
            return [share.counts.messages for share in shared]
        waiting = days.count_under(days.list_pending()).values()
        return days.list_message_counts() + [tally.messages for tally in waiting]


def find_nearest(node_id: str, zone: tzinfo, scope: Scope = ALL) -> str:
    """A node of the contents, or the one of its level that lies nearest to it.

    Args:
        node_id: Of a year, a month, a week or a day.
        zone: The store's time zone.
        scope: The part of the memory in which it lies.

    Returns:
        Its id, of two that are as near the later one; "" while nothing is kept.
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
            found = days.find_neighbours(calendar.period(node_id).level, to_ms(start))
    first = calendar.period(node_id).first
    far = {name: abs((calendar.period(name).first - first).days) for name in found}
    return min(reversed(found), key=lambda name: far[name], default="")


MAX_KEYWORDS = 5_000
"""How many keywords are known at most: those that most days carry."""


@dataclass(frozen=True, slots=True)
class ScopeChoices:
    """What there is, each with how much of it, the most first."""

    agents: tuple[tuple[str, int], ...] = ()
    """With their sessions."""
    projects: tuple[tuple[str, int], ...] = ()
    """With their sessions."""
    keywords: tuple[tuple[str, int], ...] = ()
    """With the days that carry them."""


def list_scopes() -> ScopeChoices:
    """The agents, projects and keywords there are."""
    with database.connection():
        return ScopeChoices(
            tuple(scopes.list_agents()),
            tuple(scopes.list_projects()),
            tuple(scopes.list_keywords(MAX_KEYWORDS)),
        )
