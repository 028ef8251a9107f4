"""Reads the sessions of a day: each with its segments there, and their merged summary.

A session of a day is no stored node: it is composed of the summaries of its segments.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    DAY_SESSION_PREFIX,
    MAX_KEYWORDS,
    DaySession,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocNode,
)
from memtui.model.summaries import NO_STATS, Keyword
from memtui.services import browse
from memtui.store import database, nodes
from memtui.store import segments as store_segments
from memtui.summarize import session_work


def list_sessions(day_id: str, scope: Scope = ALL) -> list[DaySession]:
    """Return the sessions of a day, those that began there last first."""
    with database.connection():
        entries = browse.list_children(day_id, limit=sys.maxsize, scope=scope)
        work = store_segments.read_states([entry.node_id for entry in entries])
    groups: dict[tuple[str, str], list[TocEntry]] = {}
    for entry in entries:
        agent, session_id, _ = work.get(entry.node_id, ("", entry.node_id, ""))
        groups.setdefault((agent, session_id), []).append(entry)
    states = {name: state for name, (*_, state) in work.items()}
    found = [
        DaySession(day_id, *key, *_describe(segments, states), tuple(segments))
        for key, segments in groups.items()
    ]
    return sorted(found, key=lambda one: one.start_time, reverse=True)


def _describe(
    segments: Sequence[TocEntry], states: Mapping[str, str]
) -> tuple[str, str]:
    """Return the name and the state of a session, of segments newest first."""
    names = [one.headline for one in reversed(segments) if one.headline]
    known = [states.get(one.node_id, "") for one in reversed(segments)]
    known = list(filter(None, known))
    name = session_work.choose_name(names) if names else ""
    state = known[session_work.find_last_state(known)] if known else ""
    return name, state


def get_session_node(session: DaySession) -> TocNode | None:
    """Return a session of a day as a node: the card merged from its segments.

    Returns:
        The node, which is not stored; None if no segment exists any more.
    """
    with database.connection():
        names = [entry.node_id for entry in reversed(session.segments)]
        segments = nodes.get_many(names)
    if not segments:
        return None
    first, last = segments[0], segments[-1]
    is_by_model = all(segment.is_by_model for segment in segments)
    return TocNode(
        node_id=session.node_id,
        level=TocLevel.SEGMENT,
        title=session.name,
        headline=session.name,
        start_time=first.start_time,
        end_time=last.end_time,
        bullets=session_work.merge_cards(segments),
        withheld=tuple(bullet for one in segments for bullet in one.withheld),
        keywords=_merge_keywords(segments),
        child_node_ids=tuple(names),
        status=_merge_status(segments),
        summarizer=first.summarizer,
        counts=sum((segment.counts for segment in segments), NodeCounts()),
        agents=first.agents,
        projects=first.projects,
        generation=last.generation if is_by_model else NO_STATS,
    )


def _merge_keywords(segments: Sequence[TocNode]) -> tuple[Keyword, ...]:
    """Return the keywords of most weight, each once."""
    found: dict[str, Keyword] = {}
    for keyword in (keyword for segment in segments for keyword in segment.keywords):
        if keyword.word not in found or keyword.weight > found[keyword.word].weight:
            found[keyword.word] = keyword
    ranked = sorted(found.values(), key=lambda keyword: -keyword.weight)
    return tuple(ranked[: MAX_KEYWORDS[TocLevel.SEGMENT]])


def _merge_status(segments: Sequence[TocNode]) -> NodeStatus:
    statuses = {segment.status for segment in segments}
    if statuses == {NodeStatus.PENDING}:
        return NodeStatus.PENDING
    changing = (NodeStatus.STALE, NodeStatus.PROVISIONAL)
    return next((one for one in changing if one in statuses), NodeStatus.CURRENT)


def get_path(node_id: str) -> list[str]:
    """Return the ids from the year down to a node; empty if there is no such node.

    Above a segment is its session of the day, also where it is the only segment.
    """
    if node_id.startswith(DAY_SESSION_PREFIX):
        day = node_id.removeprefix(DAY_SESSION_PREFIX).partition(":")[0]
        path = browse.get_path(f"toc:day:{day}")
        return [*path, node_id] if path else []
    path = browse.get_path(node_id)
    if not path or calendar.period(path[-1]).level is not TocLevel.SEGMENT:
        return path
    *above, segment_id = path
    with database.connection():
        work = store_segments.read_states([segment_id])
    agent, session_id, _ = work.get(segment_id, ("", segment_id, ""))
    session = DaySession(above[-1], agent, session_id, "", "", ())
    return [*above, session.node_id, segment_id]


def count_sessions(scope: Scope = ALL) -> int:
    with database.connection():
        return store_segments.count_sessions([store_segments.ALL_TIMES], scope)[0]


def add_session_counts(
    entries: Sequence[TocEntry], zone: tzinfo, scope: Scope = ALL
) -> list[TocEntry]:
    """Return entries, those above the segments with the number of their sessions."""
    wide = [entry for entry in entries if entry.level is not TocLevel.SEGMENT]
    ranges = [_time_range(entry, zone) for entry in wide]
    with database.connection():
        counts = iter(store_segments.count_sessions(ranges, scope) if wide else ())
    return [
        entry
        if entry.level is TocLevel.SEGMENT
        else replace(entry, sessions=next(counts))
        for entry in entries
    ]


def _time_range(entry: TocEntry, zone: tzinfo) -> store_segments.TimeRange:
    """Return the times of an entry: of a week, those in the month above it."""
    start, end = calendar.bounds(entry.node_id, zone)
    if entry.month_id:
        first, after = calendar.bounds(entry.month_id, zone)
        start, end = max(start, first), min(end, after)
    return to_ms(start), to_ms(end)
