"""Listed: the newest of what filters or a time leave, where no word is looked for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memtui.model.filters import FILTER_FIELDS, Filters
from memtui.model.hits import (
    CombinedHit,
    CombinedResult,
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

NOTE = "No word is looked for: the newest are listed. Type one to find it among them."
"""The note that tells a list from what was found."""

MESSAGES_ONLY = "role: is of messages: these are listed among the messages alone."

READ = 200
"""How many of the newest segments are gone through for one of each session."""


def recent_query(query: Query, times: DatedQuery) -> Query | None:
    """What is to be listed; None where a word is looked for, or nothing is said.

    Args:
        query: What was typed.
        times: The times that were typed; of several all between the ends is meant.
    """
    typed = any(f"{name}:" in query.text.lower() for name in FILTER_FIELDS)
    is_said = bool(times.periods) or (typed and not query.hints)
    if not (query.is_empty and is_said) or query.needs_text:
        return None
    return replace(query, filters=query_dates.restrict(query.filters, times.periods))


def notes(times: DatedQuery) -> tuple[str, ...]:
    """What is said of a list: the times that were understood, and that it is one."""
    return (*(f"{period.label}." for period in times.periods), NOTE)


def list_nodes(query: Query, limit: int) -> TeleportResult:
    """The newest nodes; inside ``connected()``."""
    names = [node.node_id for node in _nodes(query.filters, limit)]
    matches = [IndexMatch(HitKind.NODE, name, 1.0, name) for name in names]
    return TeleportResult(query.text, hydrate.hits(matches, query), is_recent=True)


def list_sessions(query: Query, limit: int) -> CombinedResult:
    """The newest segment of each of the newest sessions; inside ``connected()``.

    Where only wider nodes are asked for, these: they are of no one session.
    """
    levels = query.filters.levels
    if levels and TocLevel.SEGMENT not in levels:
        wide = map(_wide, _nodes(query.filters, limit))
        return CombinedResult(query.text, tuple(wide), is_recent=True)
    found = _nodes(query.filters, READ)
    places = segments.get_starts(node.node_id for node in found)
    newest: dict[int, TocNode] = {}
    for node in found:
        if node.node_id in places:
            newest.setdefault(places[node.node_id][0], node)
    return CombinedResult(query.text, tuple(_moments(newest, limit)), is_recent=True)


def _nodes(filters: Filters, limit: int) -> Sequence[TocNode]:
    most = READ if filters.support else limit
    found = nodes.get_many(nodes.list_recent(filters, most))
    kept = [
        node
        for node in found
        if not filters.support
        or filters.support & {one.support for one in node.bullets}
    ]
    return kept[:limit]


def _moments(newest: dict[int, TocNode], limit: int) -> Iterator[CombinedHit]:
    known = sessions.get_many(newest)
    for number, node in [*newest.items()][:limit]:
        session = known.get(number)
        if session is None:
            continue
        yield _moment(node, session.agent, session.session_id, session.project)


def _wide(node: TocNode) -> CombinedHit:
    return _moment(node, "", "", ", ".join(node.projects))


def _moment(node: TocNode, agent: str, session_id: str, project: str) -> CombinedHit:
    said = node.bullets[0].text if node.bullets else node.headline
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
        snippet=Snippet(said),
        score=1.0,
        layers=frozenset({HitSource.NODES}),
        is_unsummarised=False,
    )
