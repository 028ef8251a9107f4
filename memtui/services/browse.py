"""Reads the table of contents, newest first at every level, and its calendar.

A session of a day is no stored node: it is composed of the summaries of its segments.

A branch has the rows below a year, a month, a week or a day. A row is known by its node
and by its parent: a week across two months has two rows. The rows of a day are its
sessions. A month or week with a single child shares the row of that, and so do sessions
of a day that look the same.
"""

import sys
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from itertools import chain, pairwise

from memtui.model import calendar
from memtui.model.calendar import Period, TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    BULLET_COUNTS,
    DAY_SESSION_PREFIX,
    MAX_KEYWORDS,
    NO_STATS,
    DaySession,
    Keyword,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocNode,
)
from memtui.model.sessions import PeriodWork, Session
from memtui.store import database, entries, nodes, scopes, segments, sessions
from memtui.store import work as store_work
from memtui.summarize import card, rollup

PAGE_SIZE = 500
"""The entries that are read at once."""

NodeRow = TocEntry | DaySession


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
    the month it is listed under, which is its ``month_id``.

    Args:
        node_id: The parent; "" for the years.
        offset: The number of children to skip.
        limit: The maximum number of children.
        scope: Only children with content of this scope are listed.
        month_id: For the children of a week: only days of this month are listed.
        make_headlines: False to leave out headlines that have to be made.
    """
    with database.connection():
        parent = nodes.resolve_id(node_id) if node_id else None
        children = entries.list_children(
            parent, offset, limit, scope, month_id=month_id
        )
        if not make_headlines:
            return children
        return [_add_headline(entry, scope) for entry in children]


def get_entries(node_ids: Sequence[str], scope: Scope = ALL) -> list[TocEntry]:
    """Return the entries of nodes in a scope, in the order of the ids.

    Unknown nodes and those outside the scope are skipped.
    """
    with database.connection():
        return [_add_headline(entry, scope) for entry in entries.get(node_ids, scope)]


def _add_headline(entry: TocEntry, scope: Scope) -> TocEntry:
    """Return an entry with the names of its sessions if it has no headline."""
    is_pending = entry.status is NodeStatus.PENDING and not scope.is_narrow
    if entry.headline or is_pending or entry.level is TocLevel.SEGMENT:
        return entry
    with database.connection():
        works = store_work.list_period_works(entry.days, scope)
    return replace(entry, headline=rollup.make_headline(works))


def add_activity(rows: Sequence[TocEntry], scope: Scope = ALL) -> list[TocEntry]:
    """Return entries with the activity in each part of them."""
    with database.connection():
        return entries.add_activity(rows, scope)


def get_node(node_id: str, scope: Scope = ALL) -> TocNode | None:
    """Return a node as it is shown; None if there is none.

    In a narrow scope a node above the segments has no summary of its own: its bullets
    are its sessions in the scope, and their names are its headline.
    """
    with database.connection():
        node = nodes.get(nodes.resolve_id(node_id))
        if node is None or node.level is TocLevel.SEGMENT:
            return node
        if node.status is NodeStatus.PENDING:
            node = replace(node, counts=_count_segments(node.node_id, ALL))
        return _list_sessions(node, scope) if scope.is_narrow else node


def _list_sessions(node: TocNode, scope: Scope, row: TocEntry | None = None) -> TocNode:
    """Return a node that lists sessions of a scope, or of a row, as its summary."""
    days = row.days if row else calendar.day_range(node.node_id)
    works = store_work.list_period_works(days, scope)
    most = BULLET_COUNTS[node.level][1]
    return TocNode(
        node.node_id,
        node.level,
        node.title,
        node.start_time,
        node.end_time,
        bullets=tuple(store_work.link_lines([*rollup.list_sessions(works, most)])),
        headline=rollup.make_headline(works),
        status=NodeStatus.CURRENT,
        summarizer=card.IDENTITY,
        counts=row.counts if row else _count_segments(node.node_id, scope),
        agents=tuple(sorted({work.agent for work in works})),
        projects=tuple(sorted({work.project for work in works if work.project})),
        all_segments=node.counts.segments if scope.is_narrow else 0,
    )


def _count_segments(node_id: str, scope: Scope) -> NodeCounts:
    rows = entries.get([node_id], scope)
    return rows[0].counts if rows else NodeCounts()


def get_nodes(node_ids: Collection[str]) -> dict[str, TocNode]:
    """Return nodes as they are shown, by their ids; unknown ones are left out."""
    with database.connection():
        return {node.node_id: node for node in nodes.get_many(list(node_ids))}


def list_covering(
    start: datetime | None, end: datetime | None, zone: tzinfo, scope: Scope = ALL
) -> list[TocEntry]:
    """Return the widest nodes that cover a time and no day besides, newest first.

    No day is covered twice: where a month is covered, so are its days of a week across
    two months. Hours are covered by segments, and so is a day on which none starts: by
    those that began before it. A side that is None is open.
    """
    node_ids: list[str] = []
    covered: list[Period] = []

    def is_covered(day: date) -> bool:
        return any(period.first <= day < period.end for period in covered)

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
                    node_ids.append(name)
                elif is_within and not any(edges):
                    node_ids.append(name)
                    covered.append(here)
                else:
                    partly.append(name)
        rows = get_entries(node_ids, scope)

    def overlaps(entry: TocEntry) -> bool:
        if entry.level is not TocLevel.SEGMENT:
            return True
        starts_before_end = not end or entry.start_time < end
        return starts_before_end and (not start or entry.end_time >= start)

    within = [entry for entry in rows if overlaps(entry)]
    if not within and start and end:
        with database.connection():
            names = segments.list_overlapping(to_ms(start), to_ms(end))
            within = list(get_entries(names, scope))
    return sorted(within, key=lambda entry: entry.start_time, reverse=True)


def get_path(node_id: str) -> list[str]:
    """Return the ids from the year down to a node, included; empty if unknown.

    A week is listed under the month of its Thursday, or under the other one if nothing
    is stored of that.
    """
    with database.connection():
        name = nodes.resolve_id(node_id)
        if not nodes.get_entries([name]):
            return []
        if calendar.period(name).level is not TocLevel.WEEK:
            return calendar.path(name)
        days = map(calendar.period, nodes.list_part_ids(name))
        months = [calendar.id_at(TocLevel.MONTH, day.first) for day in days]
    listed_under = str(calendar.parent_id(name))
    # A week may have lost its days just now.
    is_listed = listed_under in months or not months
    return calendar.path(name, listed_under if is_listed else months[-1])


def list_days(zone: tzinfo, scope: Scope = ALL) -> dict[date, TocEntry]:
    """Return all days with their counts, as the contents have them, oldest first."""
    with database.connection():
        days = entries.list_days(scope)
        if days and scope.is_narrow:
            works: dict[str, list[PeriodWork]] = {}
            span = days[0].node_id, calendar.day_range(days[-1].node_id)[1]
            for work in store_work.list_period_works(span, scope):
                for day_id in work.days:
                    works.setdefault(day_id, []).append(work)
            days = [
                replace(day, headline=rollup.make_headline(works.get(day.node_id, [])))
                for day in days
            ]
    return {
        date.fromisoformat(day.node_id.removeprefix("toc:day:")): day
        for day in add_session_counts(days, zone, scope)
    }


def find_nearest(node_id: str, scope: Scope = ALL) -> str:
    """Return the id of a node if it exists, else of the nearest of its level.

    The later of two equally near nodes is returned; "" while nothing is stored.
    """
    here = calendar.period(node_id)
    with database.connection():
        days = entries.find_nearest_days(calendar.day_id(here.end), scope)
    node_ids = [calendar.ancestor_id(day, here.level) for day in days]

    def distance(candidate: str) -> int:
        return abs((calendar.period(candidate).first - here.first).days)

    return min(reversed(node_ids), key=distance, default="")


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
        stored_ids = {entry.node_id for entry in nodes.get_entries(path)}
        return next(
            (node_id for node_id in reversed(path) if node_id in stored_ids), ""
        )


MAX_LISTED_KEYWORDS = 5_000
"""The most keywords that are listed: those of the most days."""


@dataclass(frozen=True, slots=True)
class ScopeChoices:
    """The agents, projects, keywords and states there are, with counts, most first."""

    agents: tuple[tuple[str, int], ...] = ()
    """With their number of sessions."""
    projects: tuple[tuple[str, int], ...] = ()
    """With their number of sessions."""
    keywords: tuple[tuple[str, int], ...] = ()
    """With their number of days."""
    states: tuple[tuple[str, int], ...] = ()
    """With their number of sessions."""


def resolve_scope(scope: Scope) -> tuple[Scope, list[str]]:
    """Return a scope with names in their stored case; a message for unknown ones."""
    with database.connection():
        return scopes.resolve_names(scope)


def list_scopes() -> ScopeChoices:
    """Return what a scope can be narrowed to."""
    with database.connection():
        return ScopeChoices(
            tuple(scopes.list_names("agent")),
            tuple(scopes.list_names("project")),
            tuple(scopes.list_keywords(MAX_LISTED_KEYWORDS)),
            tuple(scopes.list_names("state")),
        )


# Sessions of a day


def list_day_sessions(day_id: str, scope: Scope = ALL) -> list[DaySession]:
    """Return the sessions of a day, those that began there last first."""
    with database.connection():
        rows = list_children(day_id, limit=sys.maxsize, scope=scope)
        numbers = segments.get_sessions([entry.node_id for entry in rows])
        by_number = sessions.get_many(set(numbers.values()))
    groups: dict[int, list[TocEntry]] = {}
    for entry in rows:
        if (number := numbers.get(entry.node_id)) in by_number:
            groups.setdefault(number, []).append(entry)
    day_sessions = [
        DaySession(day_id, by_number[number], tuple(segment_rows))
        for number, segment_rows in groups.items()
    ]
    return sorted(day_sessions, key=lambda row: row.start_time, reverse=True)


def _fold_alike(rows: Sequence[DaySession]) -> list[DaySession]:
    """Put sessions below the latest one that looks the same and was asked the same.

    They have its agent, project, title, state and first prompt.
    """
    looks = [
        (session.agent, session.project, session.title, session.work.state)
        for session in (row.session for row in rows)
    ]
    counts = Counter(looks)
    groups: dict[tuple[object, ...], list[DaySession]] = {}
    with database.connection():
        for row, look in zip(rows, looks, strict=True):
            prompt = ""
            if counts[look] > 1:
                agent, session_id = row.session.agent, row.session.session_id
                prompt = sessions.find_first_prompt(agent, session_id)
            groups.setdefault((*look, prompt or row.node_id), []).append(row)
    return [replace(latest, alike=tuple(others)) for latest, *others in groups.values()]


def _find_session(segment_id: str) -> Session | None:
    """Return the session of a segment."""
    with database.connection():
        numbers = segments.get_sessions([segment_id]).values()
        return next(iter(sessions.get_many(numbers).values()), None)


def read_page(row: NodeRow, scope: Scope = ALL) -> TocNode | None:
    """Return what is shown of a row; None if it does not exist any more.

    The page of a session, or of its only segment, is the card of the whole session.
    """
    from memtui.services.sessions import read_card  # not needed at the start

    if isinstance(row, DaySession):
        return get_day_session_node(row)
    node = get_node(row.node_id, scope)
    if node is not None and row.is_part:
        with database.connection():
            return _list_sessions(node, scope, row)
    if node is None or row.level is not TocLevel.SEGMENT:
        return node
    session = _find_session(row.node_id)
    if session is None:
        return node
    session_card = read_card(session.agent, session.session_id)
    if len(session_card.segments) > 1:
        return node
    return replace(
        node,
        headline=session_card.work.name or node.headline,
        bullets=session_card.bullets,
        further=(),
        work_state=session_card.work.state or "",
    )


def get_day_session_node(row: DaySession) -> TocNode | None:
    """Return a session of a day as a node: the card of the whole session.

    Returns:
        The node, which is not stored; None if no segment exists any more.
    """
    from memtui.services.sessions import read_card  # not needed at the start

    session_card = read_card(row.session.agent, row.session.session_id)
    segments = session_card.segments
    if not segments:
        return None
    last = segments[-1]
    by_model = [segment for segment in segments if segment.is_by_model]
    return TocNode(
        node_id=row.node_id,
        level=TocLevel.SEGMENT,
        title=session_card.work.name,
        headline=session_card.work.name,
        start_time=segments[0].start_time,
        end_time=last.end_time,
        bullets=session_card.bullets,
        withheld=session_card.withheld,
        keywords=_merge_keywords(segments),
        child_node_ids=tuple(segment.node_id for segment in segments),
        status=_merge_status(segments),
        summarizer=last.summarizer,
        counts=sum((segment.counts for segment in segments), NodeCounts()),
        agents=last.agents,
        projects=last.projects,
        generation=by_model[-1].generation if by_model else NO_STATS,
        work_state=session_card.work.state or "",
    )


def _merge_keywords(segments: Sequence[TocNode]) -> tuple[Keyword, ...]:
    """Return the keywords of most weight, each once."""
    best: dict[str, Keyword] = {}
    for keyword in (keyword for segment in segments for keyword in segment.keywords):
        if keyword.word not in best or keyword.weight > best[keyword.word].weight:
            best[keyword.word] = keyword
    ranked = sorted(best.values(), key=lambda keyword: -keyword.weight)
    return tuple(ranked[: MAX_KEYWORDS[TocLevel.SEGMENT]])


def _merge_status(segments: Sequence[TocNode]) -> NodeStatus:
    statuses = {segment.status for segment in segments}
    if statuses == {NodeStatus.PENDING}:
        return NodeStatus.PENDING
    changing = (NodeStatus.STALE, NodeStatus.PROVISIONAL)
    return next(
        (status for status in changing if status in statuses), NodeStatus.CURRENT
    )


def get_path_with_session(node_id: str) -> list[str]:
    """Return the ids from the year down to a node; empty if there is no such node.

    Between a day and a segment is the session, even if it has no other segment.
    """
    if node_id.startswith(DAY_SESSION_PREFIX):
        day = node_id.removeprefix(DAY_SESSION_PREFIX).partition(":")[0]
        path = get_path(f"toc:day:{day}")
        return [*path, node_id] if path else []
    path = get_path(node_id)
    if not path or calendar.period(path[-1]).level is not TocLevel.SEGMENT:
        return path
    *above, segment_id = path
    session = _find_session(segment_id)
    rows = [DaySession(above[-1], session, ()).node_id] if session else []
    return [*above, *rows, segment_id]


def count_day_sessions(scope: Scope = ALL) -> int:
    with database.connection():
        return segments.count_sessions([segments.ALL_TIMES], scope)[0]


def add_session_counts(
    entries: Sequence[TocEntry], zone: tzinfo, scope: Scope = ALL
) -> list[TocEntry]:
    """Return entries, those above the segments with the number of their sessions."""
    wide = [entry for entry in entries if entry.level is not TocLevel.SEGMENT]
    ranges = [_time_range(entry, zone) for entry in wide]
    with database.connection():
        counts = iter(segments.count_sessions(ranges, scope) if wide else ())
    return [
        entry
        if entry.level is TocLevel.SEGMENT
        else replace(entry, sessions=next(counts))
        for entry in entries
    ]


def _time_range(entry: TocEntry, zone: tzinfo) -> segments.TimeRange:
    """Return the times of an entry: of a week, those in the month above it."""
    first, after = (calendar.bounds(day_id, zone)[0] for day_id in entry.days)
    return to_ms(first), to_ms(after)


# Branches

NEAR_DAYS = 7
"""The days that are expanded first: the newest one and those before it."""

RowKey = tuple[str, str]
"""The ids of the parent of a row, "" for the years, and of the row itself."""

RowPath = tuple[RowKey, ...]
"""The keys from the root down to a row."""

YEARS: RowKey = ("", "")
"""The key of the root, above the years."""


@dataclass(frozen=True, slots=True)
class LoadedBranches:
    """Branches of the contents, those further up first."""

    rows: Mapping[RowKey, Sequence[NodeRow]]
    near: Collection[RowKey] = ()
    """The branches to expand so that the newest days are visible, if asked for."""
    newest: RowKey | None = None
    """The row of the latest session, if asked for."""
    sessions: int | None = None
    """The number of sessions in all years; None if the years were not read."""
    is_all: bool = True
    """False where a limit left some out."""


@dataclass(slots=True)
class BranchReader:
    """Reads branches, each once."""

    scope: Scope
    zone: tzinfo
    branches: dict[RowKey, Sequence[NodeRow]] = field(default_factory=dict)

    def read(self, key: RowKey) -> Sequence[NodeRow]:
        """Return the rows below a branch, newest first."""
        if key not in self.branches:
            self.branches[key] = self._read(*key)
        return self.branches[key]

    def _read(self, parent_id: str, node_id: str) -> Sequence[NodeRow]:
        level = calendar.period(node_id).level if node_id else None
        if level is TocLevel.DAY:
            return _fold_alike(list_day_sessions(node_id, self.scope))
        month_id = parent_id if level is TocLevel.WEEK else ""
        return list_children(
            node_id,
            limit=sys.maxsize,
            scope=self.scope,
            month_id=month_id,
            make_headlines=False,
        )

    def complete(self, keys: Collection[RowKey]) -> Mapping[RowKey, Sequence[NodeRow]]:
        """Return the rows of branches, with all that is shown of them.

        Rows whose branch is among them are expanded, and may lack a headline then.
        """
        rows = {key: list(self.read(key)) for key in keys}
        places = [
            (key, at, self._share(key[1], row))
            for key, listed in rows.items()
            for at, row in enumerate(listed)
            if isinstance(row, TocEntry)
        ]
        entries = add_activity([row for *_, row in places], self.scope)
        entries = add_session_counts(entries, self.zone, self.scope)
        for (key, at, _), entry in zip(places, entries, strict=True):
            parent_id = entry.above[-1].node_id if entry.above else key[1]
            is_expanded = (parent_id, entry.node_id) in rows
            rows[key][at] = entry if is_expanded else _add_headline(entry, self.scope)
        return rows

    def _share(self, parent_id: str, entry: TocEntry) -> TocEntry:
        """Return the entry that is shown for one: the first with several children."""
        above: list[TocEntry] = []
        while entry.level in (TocLevel.MONTH, TocLevel.WEEK):
            children = self.read((parent_id, entry.node_id))
            if len(children) != 1 or not isinstance(children[0], TocEntry):
                break
            above.append(entry)
            parent_id, entry = entry.node_id, children[0]
        return replace(entry, above=tuple(above))

    def days(self, above: RowPath = (YEARS,)) -> Iterator[RowPath]:
        """Yield the keys from the root to each day, newest first."""
        for row in self.read(above[-1]):
            way = (*above, (above[-1][1], row.node_id))
            if isinstance(row, TocEntry) and row.level is not TocLevel.DAY:
                yield from self.days(way)
            else:
                yield way


def read_branches(
    scope: Scope,
    zone: tzinfo,
    keys: Collection[RowKey],
    near_rows: int = 0,
    *,
    is_first: bool = False,
) -> LoadedBranches:
    """Read branches, and those of the newest days.

    Args:
        scope: The scope of all rows.
        zone: The time zone of the store.
        keys: The branches to read.
        near_rows: The maximum number of rows for the newest days, with the rows above
            them; 0 to leave the newest days out.
        is_first: True to look for the newest days only within ``NEAR_DAYS``, which
            takes less time.
    """
    reader = BranchReader(scope, zone)
    near: Collection[RowKey] = []
    newest: RowKey | None = None
    with database.connection():
        if near_rows:
            days = NEAR_DAYS if is_first else None
            near, newest = _find_near(reader, near_rows, days)
        branches = reader.complete(dict.fromkeys((*near, *keys)))
        sessions = count_day_sessions(scope) if YEARS in branches else None
    return LoadedBranches(branches, near, newest, sessions)


def _find_near(
    reader: BranchReader, room: int, days: int | None
) -> tuple[Collection[RowKey], RowKey | None]:
    """Return the branches to expand for the newest days, and the latest session.

    Args:
        reader: Reads the branches.
        room: The maximum number of rows; the newest day may have more.
        days: The number of days to look at, from the newest one back; None for all.
    """
    near = {YEARS: None}
    latest: date | None = None
    newest: RowKey | None = None
    for way in reader.days():
        day_id = way[-1][1]
        day = calendar.period(day_id).first
        expanded = near | dict.fromkeys(way)
        if latest is None:
            latest = day
            sessions = reader.read(way[-1])
            newest = (day_id, sessions[0].node_id) if sessions else way[-1]
        else:
            is_late = days is not None and (latest - day).days >= days
            if is_late or sum(len(reader.read(key)) for key in expanded) > room:
                break
        near = expanded
    return list(near), newest


def read_below(key: RowKey, scope: Scope, zone: tzinfo, most: int) -> LoadedBranches:
    """Read all branches below a row, up to a number of rows; each as a whole."""
    reader = BranchReader(scope, zone)
    waiting, total = deque([key]), 0
    keys: list[RowKey] = []
    while waiting:
        rows = reader.read(waiting[0])
        total += len(rows)
        if total > most:
            break
        keys.append(waiting.popleft())
        waiting += [
            (keys[-1][1], row.node_id) for row in rows if isinstance(row, TocEntry)
        ]
    return LoadedBranches(reader.complete(keys), is_all=not waiting)


def find_sibling(
    path: Sequence[str], step: int, scope: Scope, zone: tzinfo
) -> Sequence[str]:
    """Return the path to the next older (1) or newer (-1) row of the same level.

    The row may be under another parent: the day before a Monday is in another week.

    Returns:
        The ids from the year down; empty if there is no such row.
    """
    reader = BranchReader(scope, zone)
    # A session below another one shares its row: they are of the same level.
    path = [
        name
        for name, below in pairwise([*path, ""])
        if not (_is_session(name) and _is_session(below))
    ]
    for depth in range(len(path) - 1, -1, -1):
        siblings = _child_ids(reader, path[:depth], path[depth])
        at = siblings.index(path[depth]) + step if path[depth] in siblings else -1
        if 0 <= at < len(siblings):
            sibling = [*path[:depth], siblings[at]]
            while len(sibling) < len(path):
                children = _child_ids(reader, sibling)
                if not children:
                    break
                sibling.append(children[0] if step > 0 else children[-1])
            return sibling
    return ()


def _is_session(node_id: str) -> bool:
    return node_id.startswith(DAY_SESSION_PREFIX)


def _child_ids(
    reader: BranchReader, path: Sequence[str], unfolded: str = ""
) -> list[str]:
    """Return the ids of the rows below a row.

    Of sessions that share a row only the first is among them, unless another is named.
    """
    *_, (parent_id, node_id) = [YEARS, *pairwise(("", *path))]
    if _is_session(node_id):
        rows = reader.read((path[-3], parent_id))
        return [
            segment.node_id
            for session in chain.from_iterable(map(_list_sharing, rows))
            if isinstance(session, DaySession) and session.node_id == node_id
            for segment in session.rows
            if isinstance(segment, TocEntry)
        ]
    node_ids: list[str] = []
    for row in reader.read((parent_id, node_id)):
        first, *others = (node.node_id for node in _list_sharing(row))
        node_ids += [first, *(others if unfolded in others else ())]
    return node_ids


def _list_sharing(row: NodeRow) -> Sequence[NodeRow]:
    """Return the nodes that share a row: a session and those that look the same."""
    return (row, *row.alike) if isinstance(row, DaySession) else (row,)
