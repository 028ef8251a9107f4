"""Queries without words: the newest of what filters and dates let pass."""

from collections.abc import Sequence
from dataclasses import replace

from memtui.model.filters import FILTER_FIELDS, Filters
from memtui.model.hits import (
    CombinedHit,
    HitKind,
    HitSource,
    IndexMatch,
    Snippet,
    TeleportResult,
)
from memtui.model.nodes import TocLevel, TocNode
from memtui.search import hydrate, query_dates
from memtui.search.query import Query
from memtui.search.query_dates import DatedQuery
from memtui.store import nodes, segments, sessions

NOTE = "Without a word to search for, the newest are listed."
MESSAGES_ONLY = "role: applies to messages: the newest are listed under messages only."

MAX_SEGMENTS = 200
"""How many of the newest segments are read to find one of each session."""


def recent_query(query: Query, dated: DatedQuery) -> Query | None:
    """Return the query to list the newest for; None if it has words, or no filters.

    Several periods are taken as one, from the first to the last.
    """
    has_filters = any(f"{name}:" in query.text.lower() for name in FILTER_FIELDS)
    is_restricted = bool(dated.periods) or (has_filters and not query.hints)
    if not (query.is_empty and is_restricted) or query.needs_text:
        return None
    return replace(query, filters=query_dates.restrict(query.filters, dated.periods))


def notes(dated: DatedQuery) -> tuple[str, ...]:
    """Return the periods of the query, and a note that this is no ranking."""
    return (*(f"{period.label}." for period in dated.periods), NOTE)


def list_nodes(query: Query, limit: int) -> TeleportResult:
    """Return the newest nodes; needs an open connection to the store."""
    found = [one.node_id for one in _read_nodes(query.filters, limit)]
    matches = [IndexMatch(HitKind.NODE, node_id, 1.0, node_id) for node_id in found]
    return TeleportResult(query.text, hydrate.hits(matches, query), is_recent=True)


def list_sessions(query: Query, limit: int) -> tuple[CombinedHit, ...]:
    """Return the newest segment of each session; needs an open connection.

    If the query asks for wider nodes, these are returned: they have many sessions.
    """
    levels = query.filters.levels
    if levels and TocLevel.SEGMENT not in levels:
        wide = _read_nodes(query.filters, limit)
        return tuple(_hit(one, "", "", ", ".join(one.projects)) for one in wide)
    found = _read_nodes(query.filters, MAX_SEGMENTS)
    places = segments.get_starts(node.node_id for node in found)
    newest: dict[int, TocNode] = {}
    for node in found:
        if node.node_id in places:
            newest.setdefault(places[node.node_id][0], node)
    known = sessions.get_many(newest)
    return tuple(
        _hit(node, session.agent, session.session_id, session.project)
        for number, node in [*newest.items()][:limit]
        if (session := known.get(number))
    )


def _read_nodes(filters: Filters, limit: int) -> Sequence[TocNode]:
    most = MAX_SEGMENTS if filters.support else limit
    found = nodes.get_many(nodes.list_recent(filters, most))
    passing = [
        node
        for node in found
        if not filters.support
        or filters.support & {bullet.support for bullet in node.bullets}
    ]
    return passing[:limit]


def _hit(node: TocNode, agent: str, session_id: str, project: str) -> CombinedHit:
    return CombinedHit(
        agent=agent,
        session_id=session_id,
        subagent="",
        project=project,
        title=node.headline or node.title,
        at=node.start_time,
        node_id=node.node_id,
        event_id="",
        grip_id="",
        role=None,
        snippet=Snippet(node.bullets[0].text if node.bullets else node.headline),
        score=1.0,
        layers=frozenset({HitSource.NODES}),
        is_unsummarized=False,
    )
