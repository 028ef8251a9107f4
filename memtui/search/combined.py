"""Search in everything: one ranking of messages, nodes, grips and titles.

``CombinedSearch`` returns one hit for each session; ``scoring.LAYER_WEIGHTS`` says what
each layer adds to its rank.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    CombinedHit,
    Hit,
    HitKind,
    Hits,
    IndexMatch,
    Snippet,
)
from memtui.model.nodes import TocNode
from memtui.search import messages
from memtui.search import query as search_query
from memtui.search.messages import (
    MessageMatches,
    MessageSearcher,
    RankedMessage,
)
from memtui.search.node_documents import node_texts
from memtui.search.nodes import (
    MAX_SEGMENTS,
    NodeMatches,
    Teleport,
    in_scope,
    read_hits,
    read_newest,
)
from memtui.search.query import (
    Query,
    describe_newest,
    is_small_talk,
    list_pages,
    note_earlier_starts,
    parse_with_dates,
    query_for_newest,
    resolve_names,
)
from memtui.search.scoring import DATE_BOOST, LAYER_WEIGHTS, Layer
from memtui.search.snippets import best_snippet, matching_terms
from memtui.store import conversations, database, scopes, segments, sessions
from memtui.store import nodes as store_nodes

LIMIT = 20

NEWEST_MESSAGES = (
    "role: applies to messages: the newest are listed under messages only."
)

MAX_NODES = 50
"""The number of nodes and grips ranked together with the messages."""

FIRST_AMONG = 3
"""The first hit gets the best score among this many sessions."""

SNIPPET_CHARS = 8_000
"""The number of characters of a message that are searched for its best line."""


@dataclass(slots=True)
class RankedSession:
    """A session that matches, with the best match of each layer."""

    session: int
    message: RankedMessage | None = None
    leads: dict[Layer, tuple[IndexMatch, datetime]] = field(default_factory=dict)
    """The best node and grip, each with the start of the segment it leads to."""
    scores: dict[Layer, float] = field(default_factory=dict)
    rank: float = 0.0
    """Comparable within one result only."""
    score: float = 0.0
    """0 to 1."""

    @property
    def matches(self) -> list[IndexMatch]:
        """The node and the grip, the best first."""
        found = [match for match, _ in self.leads.values()]
        return sorted(found, key=lambda match: -match.score)

    @property
    def is_by_title(self) -> bool:
        """True if only the session's title or summary matches."""
        return self.message is None and not self.leads

    def add_score(self, layer: Layer, score: float) -> bool:
        """Keep a score if it is the best of its layer, and return True then."""
        if score <= self.scores.get(layer, 0.0):
            return False
        self.scores[layer] = score
        return True


class CombinedSearch:
    """Searches messages, nodes, grips and titles."""

    def __init__(
        self,
        teleport: Teleport,
        searcher: MessageSearcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._teleport, self._searcher = teleport, searcher
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> Hits[CombinedHit]:
        """Return the best hits, one for each session; any text is a valid query.

        Filters in the text replace the others. It blocks for some milliseconds: do not
        call it on the thread of the screen.
        """
        began_s = time.perf_counter()
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        result: Hits[CombinedHit] = Hits(text, notes=query.hints)
        recent_query = query_for_newest(query)
        if recent_query is None and is_small_talk(query):
            recent_query = replace(query, words=())
        if recent_query:
            with database.connection():
                result = self._recent(recent_query, result, limit)
        elif query.is_empty:
            result = replace(result, notes=(*query.hints, search_query.NO_WORD))
        else:
            with database.connection():
                result = self._search(query, result, limit)
            times = query.describe_periods([hit.at for hit in result.hits])
            result = replace(result, times=times)
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)

    def _recent(
        self, query: Query, result: Hits[CombinedHit], limit: int
    ) -> Hits[CombinedHit]:
        """Return the newest segments if no topic is searched for."""
        query, notes = resolve_names(query)
        hits: tuple[CombinedHit, ...] = ()
        if query.filters.role:
            notes.append(NEWEST_MESSAGES)
        else:
            pages = list_pages(query, self._zone)
            hits = _list_newest(query, limit, pages)
        notes += [*result.notes, *describe_newest(query)]
        starts = [hit.at for hit in hits]
        notes += note_earlier_starts(query.periods, starts)
        return replace(result, hits=hits, notes=tuple(notes), is_recent=True)

    def _search(
        self, query: Query, result: Hits[CombinedHit], limit: int
    ) -> Hits[CombinedHit]:
        query, unknown = resolve_names(query)
        filters = query.filters
        found = (
            MessageMatches() if filters.needs_nodes else self._searcher.search(query)
        )
        nodes = NodeMatches() if filters.role else self._teleport.rank(query, MAX_NODES)
        allowed = scopes.get_sessions(filters)
        starts = segments.get_starts(match.landing_id for match in nodes.matches)
        leads = [
            (number, match, at)
            for match in nodes.matches
            for number, at in [starts.get(match.landing_id, (0, None))]
            if at and (allowed is None or number in allowed)
        ]
        ranked = _rank(found, leads, query)[: max(0, limit)]
        shown = [match for one in ranked if not one.message for match in one.matches]
        hits = {hit.target_id: hit for hit in read_hits(shown, query)}
        best = [one.message for one in ranked if one.message]
        more = self._searcher.count_more(best, query)
        notes = (*result.notes, *unknown, *found.notes, nodes.note)
        suggestion = nodes.suggestion
        if found.messages and not found.unknown:
            suggestion = ""
        return replace(
            result,
            hits=tuple(_hits(ranked, hits, more, query)),
            notes=tuple(dict.fromkeys(filter(None, notes))),
            suggestion=search_query.correct(result.query, query.text, suggestion),
            total=len(found.messages) + len(leads),
        )


def _rank(
    found: MessageMatches,
    leads: Sequence[tuple[int, IndexMatch, datetime]],
    query: Query,
) -> list[RankedSession]:
    """Return the sessions that match, the best first.

    The leads are the sessions that nodes and grips lead to, with these and the start of
    the segment.
    """
    ranked: dict[int, RankedSession] = {}

    def ranking(number: int) -> RankedSession:
        return ranked.setdefault(number, RankedSession(number))

    most = max((one.message for one in found.messages), default=0.0) or 1.0
    most_window = max((one.window for one in found.messages), default=0.0) or 1.0
    best_message: dict[int, float] = {}
    for message in found.messages:
        one = ranking(message.session)
        one.add_score(Layer.MESSAGES, message.message)
        one.add_score(Layer.WINDOWS, message.window)
        one.add_score(Layer.CONVERSATIONS, message.conversation)
        own = message.message / most + message.window / most_window
        own *= DATE_BOOST if query.covers(message.event.timestamp) else 1.0
        if own > best_message.get(message.session, -1.0):
            best_message[message.session], one.message = own, message
    for number, score in found.titles.items():
        ranking(number).add_score(Layer.TITLES, score)
    for number, match, at in leads:
        layer = Layer.GRIPS if match.kind is HitKind.GRIP else Layer.NODES
        if ranking(number).add_score(layer, match.score):
            ranking(number).leads[layer] = match, at
    for layer, weight in LAYER_WEIGHTS.items():
        top = max((x.scores.get(layer, 0.0) for x in ranked.values()), default=0.0)
        for one in ranked.values():
            one.rank += weight * one.scores.get(layer, 0.0) / (top or 1.0)
    for one in ranked.values():
        times = [at for _, at in one.leads.values()]
        times += [one.message.event.timestamp] if one.message else []
        one.rank *= DATE_BOOST if any(map(query.covers, times)) else 1.0
    best = sorted(ranked.values(), key=lambda one: (-one.rank, -one.session))
    # Ranks say nothing about how good the first hit is: the layers' scores do.
    first = best[:FIRST_AMONG]
    by_title = sessions.get_many(one.session for one in first if one.is_by_title)
    scores = [messages.title_score(session, query) for session in by_title.values()]
    for one in first:
        scores += [one.message.score] if one.message else []
        scores += [match.score for match in one.matches]
    for one in best:
        one.score = max(scores, default=0.0) * one.rank / (best[0].rank or 1.0)
    return best


def _hits(
    ranked: Sequence[RankedSession],
    nodes: Mapping[str, Hit],
    more: Mapping[int, int],
    query: Query,
) -> Iterator[CombinedHit]:
    """Yield what is shown of sessions, with the numbers of further matches."""
    known = sessions.get_many(one.session for one in ranked)
    events = {one.session: one.message.event for one in ranked if one.message}
    for one in ranked:
        # For a session that matches by its title, the first message is shown.
        if one.is_by_title and (first := conversations.first_message(one.session)):
            events[one.session] = first
    places = {one.session: one.matches[0].landing_id for one in ranked if one.leads}
    times = {number: (number, to_ms(e.timestamp)) for number, e in events.items()}
    segment_at = segments.find_at(times.values())
    places |= {number: segment_at.get(time, "") for number, time in times.items()}
    found = store_nodes.get_entries(list(set(places.values())))
    entries = {entry.node_id: entry for entry in found}
    unsure = [places[one.session] for one in ranked if one.message and not one.leads]
    summaries = {node.node_id: node for node in store_nodes.get_many(unsure)}
    for one in ranked:
        session = known.get(one.session)
        if session is None:
            continue
        message, event = one.message, events.get(one.session)
        entry = entries.get(places.get(one.session, ""))
        shown = [nodes[m.target_id] for m in one.matches if m.target_id in nodes]
        is_summarized = bool(one.leads) or message is None
        if message:
            text = message.event.text[:SNIPPET_CHARS]
            snippet = best_snippet(text.splitlines(), query)
            node = summaries.get(places[one.session])
            if node and not one.leads:
                summary = "\n".join(text for _, text, _ in node_texts(node))
                terms = matching_terms(summary, query)
                is_summarized = matching_terms(text, query) <= terms
        elif shown:
            snippet = shown[0].snippet
        else:
            snippet = messages.title_snippet(session, query)
        times_of = [at for m, at in one.leads.values() if m == one.matches[0]]
        grip = one.leads.get(Layer.GRIPS)
        yield CombinedHit(
            agent=session.agent,
            session_id=session.session_id,
            subagent=event.subagent if event else "",
            project=session.project,
            title=(entry.headline or entry.title) if entry else session.title,
            at=event.timestamp if event else (*times_of, session.created_at)[0],
            node_id=entry.node_id if entry else "",
            event_id=event.event_id if event else "",
            grip_id=grip[0].target_id if grip else "",
            role=message.event.role if message else None,
            snippet=snippet,
            score=one.score,
            is_unsummarized=not is_summarized,
            more=more.get(one.session, 0),
        )


def _list_newest(
    query: Query, limit: int, pages: Sequence[str] = ()
) -> tuple[CombinedHit, ...]:
    """Return some pages and the newest segment of each session.

    If the query asks for wider nodes, these are returned: they have many sessions.
    It needs an open connection to the store.
    """
    scoped = in_scope(pages, query.filters.scope)
    found = {one.node_id: one for one in store_nodes.get_many(scoped)}
    wide = [found[node_id] for node_id in pages if node_id in found]
    levels = query.filters.levels
    newest: dict[int, TocNode] = {}
    if levels and TocLevel.SEGMENT not in levels:
        wide += read_newest(query.filters, limit)
    else:
        segments_found = read_newest(query.filters, MAX_SEGMENTS)
        places = segments.get_starts(node.node_id for node in segments_found)
        for node in segments_found:
            if node.node_id in places:
                newest.setdefault(places[node.node_id][0], node)
    hits = [_node_hit(one, "", "", ", ".join(one.projects)) for one in wide]
    known = sessions.get_many(newest)
    for number, node in newest.items():
        if session := known.get(number):
            hits.append(
                _node_hit(node, session.agent, session.session_id, session.project)
            )
    return tuple(hits[:limit])


def _node_hit(node: TocNode, agent: str, session_id: str, project: str) -> CombinedHit:
    return CombinedHit(
        agent=agent,
        session_id=session_id,
        project=project,
        title=node.headline or node.title,
        at=node.start_time,
        node_id=node.node_id,
        snippet=Snippet(node.bullets[0].text if node.bullets else node.headline),
        score=1.0,
    )
