"""Queries without words: the newest of what filters and dates let pass."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters
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
from memtui.search.node_documents import node_times
from memtui.search.query import Query
from memtui.search.query_dates import DatedQuery
from memtui.store import nodes, segments, sessions
from memtui.text import dates

NOTE = "Without a word to search for, the newest are listed."
MESSAGES_ONLY = "role: applies to messages: the newest are listed under messages only."

MIN_STOP_WORDS = 2
"""A text with so many stop words is a sentence."""

MAX_SEGMENTS = 200
"""How many of the newest segments are read to find one of each session."""


def recent_query(query: Query, dated: DatedQuery) -> Query | None:
    """Return the query to list the newest for; None if it names a topic, or no filters.

    "What was I doing" names none. Several periods are taken as one, from the first to
    the last.
    """
    has_filters = any(f"{name}:" in query.text.lower() for name in FILTER_FIELDS)
    is_restricted = bool(dated.periods) or (has_filters and not query.hints)
    is_question = bool(dated.periods) and query.stop_words > 0 and not query.has_topic
    is_without_words = query.is_empty or is_question
    if not (is_without_words and is_restricted) or query.needs_text:
        return None
    filters = query_dates.restrict(query.filters, dated.periods)
    return replace(query, words=(), filters=filters)


def is_small_talk(query: Query) -> bool:
    """Return True for "how are you" and "remind me what we discussed"."""
    indexed = len(query.words) if not query.has_only_stop_words else 0
    is_sentence = query.stop_words >= MIN_STOP_WORDS or not indexed
    return (
        query.stop_words > 0
        and is_sentence
        and not (query.has_topic or query.needs_text)
    )


def notes(dated: DatedQuery) -> tuple[str, ...]:
    """Return the periods of the query, and a note that this is no ranking."""
    return (*(f"{period.label}." for period in dated.periods), NOTE)


def page_ids(query: Query, dated: DatedQuery, zone: tzinfo) -> list[str]:
    """Return the nodes of exactly the periods of a query without other filters."""
    filters = replace(query.filters, since=None, until=None)
    if filters != replace(EVERYTHING, scope=filters.scope):
        return []
    return [
        node_id
        for period in dated.periods
        if (node_id := dates.whole_node(period, zone))
    ]


def list_nodes(query: Query, limit: int, pages: Sequence[str] = ()) -> TeleportResult:
    """Return some pages and the newest nodes; needs an open connection to the store."""
    newest = [one.node_id for one in _read_nodes(query.filters, limit)]
    found = list(dict.fromkeys([*pages, *newest]))[:limit]
    matches = [IndexMatch(HitKind.NODE, node_id, 1.0, node_id) for node_id in found]
    return TeleportResult(query.text, hydrate.hits(matches, query), is_recent=True)


def list_sessions(
    query: Query, limit: int, pages: Sequence[str] = ()
) -> tuple[CombinedHit, ...]:
    """Return some pages and the newest segment of each session.

    If the query asks for wider nodes, these are returned: they have many sessions.
    It needs an open connection to the store.
    """
    in_scope = hydrate.in_scope(pages, query.filters.scope)
    found = {one.node_id: one for one in nodes.get_many(in_scope)}
    wide = [found[node_id] for node_id in pages if node_id in found]
    levels = query.filters.levels
    newest: dict[int, TocNode] = {}
    if levels and TocLevel.SEGMENT not in levels:
        wide += _read_nodes(query.filters, limit)
    else:
        segments_found = _read_nodes(query.filters, MAX_SEGMENTS)
        places = segments.get_starts(node.node_id for node in segments_found)
        for node in segments_found:
            if node.node_id in places:
                newest.setdefault(places[node.node_id][0], node)
    hits = [_hit(one, "", "", ", ".join(one.projects)) for one in wide]
    known = sessions.get_many(newest)
    for number, node in newest.items():
        if session := known.get(number):
            hits.append(_hit(node, session.agent, session.session_id, session.project))
    return tuple(hits[:limit])


def _read_nodes(filters: Filters, limit: int) -> Sequence[TocNode]:
    most = MAX_SEGMENTS if filters.support else limit
    found = nodes.get_many(nodes.list_recent(filters, most))
    passing = [
        node
        for node in found
        if (
            not filters.support
            or filters.support & {bullet.support for bullet in node.bullets}
        )
        and (not filters.since or node_times(node)[1] >= filters.since)
        and (not filters.until or node_times(node)[0] < filters.until)
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
