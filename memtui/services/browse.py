"""Reads the table of contents, newest first at every level, and its calendar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from memtui.model import calendar
from memtui.model.calendar import CalendarYear, DateRange, Period, TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    NodeStatus,
    ScopedNode,
    TocEntry,
    TocNode,
    shares_of_level,
)
from memtui.store import database, nodes, scoped_nodes, scopes, segments, sessions

PAGE_SIZE = 500
"""The entries that are read at once."""


def list_children(
    node_id: str = "",
    *,
    offset: int = 0,
    limit: int = PAGE_SIZE,
    scope: Scope = ALL,
    month_id: str = "",
    make_headlines: bool = True,
) -> list[TocEntry]:
    """Return a page of the children of a node, or of the years, newest first.

    A week across two months is a child of both: its entry has the counts of its days in
    the month it is listed under, which is its ``month_id``. Of such a week the days in
    the given month are listed, by default all. Without ``make_headlines`` those that
    have to be made are left out.
    """
    with database.connection():
        parent = nodes.resolve_id(node_id) if node_id else None
        entries = scoped_nodes.list_children(
            parent, offset, limit, scope, month_id=month_id
        )
        return add_headlines(entries, scope) if make_headlines else entries


def get_entries(node_ids: Sequence[str], scope: Scope = ALL) -> list[TocEntry]:
    """Return the entries of nodes in a scope, in the order of the ids.

    Unknown nodes and those outside the scope are skipped.
    """
    with database.connection():
        entries = scoped_nodes.get_entries(node_ids, scope)
        return add_headlines(entries, scope)


def add_headlines(entries: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Return entries with headlines of their shares where they have none."""
    with database.connection():
        return [_add_headline(entry, scope) for entry in entries]


def _add_headline(entry: TocEntry, scope: Scope) -> TocEntry:
    """Return an entry with the headline of its share, if it is not all listed."""
    is_pending = entry.status is NodeStatus.PENDING and not scope.is_narrow
    if entry.headline or is_pending or entry.level is TocLevel.SEGMENT:
        return entry
    first, end = calendar.day_range(entry.node_id)
    if entry.month_id:
        days = calendar.day_range(entry.month_id)
        first, end = max(first, days[0]), min(end, days[1])
    from memtui.services import scope_summaries  # not needed at the start

    headline = scope_summaries.read_headline(entry.node_id, scope, (first, end))
    return replace(entry, headline=headline)


def add_activity(found: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Return entries with the activity in each part of them."""
    # Entries of a narrow scope have it already.
    with database.connection():
        return list(found) if scope.is_narrow else scoped_nodes.add_activity(found)


def get_node(node_id: str) -> TocNode | None:
    """Return the shown version of a node with its bullets."""
    with database.connection():
        return nodes.get(nodes.resolve_id(node_id))


def get_scoped_node(node_id: str, scope: Scope = ALL) -> ScopedNode | None:
    """Return a node as summarized only from its share in a scope.

    It is the shown version if the scope has all of the node. Bullets that contradict
    each other are marked, the newest first.
    """
    from memtui.summarize.grounding import matching  # not needed at the start

    with database.connection():
        found = nodes.get(nodes.resolve_id(node_id))
        if found is None:
            return None
        part = scoped_nodes.count_node(found, scope)
        node = part.node
        if not part.is_all:
            from memtui.services import scope_summaries  # not needed at the start

            node = scope_summaries.summarize_node(found, scope)
    bullets = matching.mark_contradictions(node.bullets)
    return replace(part, node=replace(node, bullets=bullets))


def list_covering(
    start: datetime | None, end: datetime | None, zone: tzinfo, scope: Scope = ALL
) -> list[TocEntry]:
    """Return the widest nodes that cover a time and no day besides, newest first.

    No day is covered twice: where a month is covered, so are its days of a week across
    two months. Hours are covered by segments, and so is a day on which none starts: by
    those that began before it. A side that is None is open.
    """
    found: list[str] = []
    covered: list[Period] = []

    def is_covered(day: date) -> bool:
        return any(one.first <= day < one.end for one in covered)

    with database.connection():
        partly: Sequence[str] | None = None
        while partly is None or partly:
            names, partly = nodes.list_ids_under(partly, scope), []
            for name in names:
                here = calendar.period(name)
                first, last = calendar.bounds(name, zone)
                if (end and first >= end) or (start and last <= start):
                    continue
                edges = [is_covered(here.first), is_covered(here.last)]
                if all(edges):
                    continue
                is_within = (not start or first >= start) and (not end or last <= end)
                if here.level is TocLevel.SEGMENT:
                    found.append(name)
                elif is_within and not any(edges):
                    found.append(name)
                    covered.append(here)
                else:
                    partly.append(name)
        entries = get_entries(found, scope)

    def overlaps(entry: TocEntry) -> bool:
        if entry.level is not TocLevel.SEGMENT:
            return True
        starts_before_end = not end or entry.start_time < end
        return starts_before_end and (not start or entry.end_time >= start)

    within = [entry for entry in entries if overlaps(entry)]
    if not within and start and end:
        with database.connection():
            names = segments.list_overlapping(to_ms(start), to_ms(end))
            within = list(get_entries(names, scope))
    return sorted(within, key=lambda entry: entry.start_time, reverse=True)


def get_surprise(segment_id: str) -> float | None:
    """Return how surprising a segment is, 0 to 1; None before it was computed."""
    with database.connection():
        return segments.get_surprise([segment_id]).get(segment_id)


def get_path(node_id: str, month_id: str = "") -> list[str]:
    """Return the ids from the year down to a node, included; empty if unknown.

    A week is listed under the given month; by default under that of its Thursday, or
    the other one if nothing is stored of that.
    """
    with database.connection():
        name = nodes.resolve_id(node_id)
        if not nodes.get_entries([name]):
            return []
        if calendar.period(name).level is not TocLevel.WEEK:
            return calendar.path(name)
        days = map(calendar.period, nodes.list_part_ids(name))
        months = [calendar.id_at(TocLevel.MONTH, day.first) for day in days]
    wanted = month_id or str(calendar.parent_id(name))
    # A week may have lost its days just now.
    is_listed = wanted in months or not months
    return calendar.path(name, wanted if is_listed else months[-1])


def get_calendar_year(number: int, zone: tzinfo, scope: Scope = ALL) -> CalendarYear:
    """Return the days of a year with their counts."""
    year_id = f"toc:year:{number:04}"
    start, end = map(to_ms, calendar.bounds(year_id, zone))
    with database.connection():
        found = scoped_nodes.list_days(start, end)
        if scope.is_narrow:
            found = scoped_nodes.narrow_days(found, year_id, scope)
            days = calendar.day_range(year_id)
            from memtui.services import scope_summaries  # not needed at the start

            headlines = scope_summaries.read_headlines(scope, days)
            found = [
                replace(day, headline=day.headline or headlines.get(day.node_id, ""))
                for day in found
            ]
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

    Of two that are as near it is the later one; "" while nothing is stored.
    """
    start, _ = calendar.bounds(node_id, zone)
    with database.connection():
        if scope.is_narrow:
            level = calendar.period(node_id).level
            mine = shares_of_level(
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
