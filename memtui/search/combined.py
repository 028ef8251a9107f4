"""Search in everything: one ranking of messages, nodes, grips and titles.

``CombinedSearch`` returns one hit for each session; ``scoring.LAYER_WEIGHTS`` says what
each layer adds to its rank.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.model.events import Event, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    CombinedHit,
    CombinedResult,
    Hit,
    HitKind,
    HitSource,
    IndexMatch,
    Snippet,
)
from memtui.model.nodes import TocEntry, TocNode
from memtui.model.sessions import Session
from memtui.search import hydrate, messages, query_dates, recent, resolve_filters
from memtui.search import query as search_query
from memtui.search.messages import (
    NO_WORD,
    MessageMatches,
    MessageSearcher,
    RankedMessage,
)
from memtui.search.node_documents import node_texts
from memtui.search.nodes import NodeMatches, Teleport
from memtui.search.query import Query
from memtui.search.query_dates import DatedQuery
from memtui.search.scoring import (
    CONVERSATION,
    DATE_BOOST,
    LAYER_WEIGHTS,
    MESSAGE,
    WINDOW,
)
from memtui.search.snippets import best_line, find_marks, matching_terms
from memtui.store import conversations, database, scopes, segments, sessions
from memtui.store import nodes as store_nodes

LIMIT = 20
"""The default number of hits."""

MAX_NODES = 50
"""How many nodes and grips are ranked together with the messages."""

FIRST = 3
"""The first hit gets the best score among this many sessions."""

SNIPPET_CHARS = 8_000
"""How many characters of a message are searched for its best line."""


@dataclass(frozen=True, slots=True)
class NodeLead:
    """A node or grip that matches, and the segment and session it leads to."""

    match: IndexMatch
    session: int
    at: datetime
    """The start of the segment."""

    @property
    def source(self) -> HitSource:
        """Its layer."""
        return HitSource.GRIPS if self.match.kind is HitKind.GRIP else HitSource.NODES


@dataclass(slots=True)
class RankedSession:
    """A session that matches, with the best match of each layer."""

    session: int
    message: RankedMessage | None = None
    leads: dict[HitSource, NodeLead] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    """The best score of each layer."""
    rank: float = 0.0
    """Comparable within one result only."""
    score: float = 0.0
    """0 to 1."""

    @property
    def best_score(self) -> float:
        """The best score of a message or node, 0 to 1."""
        scores = (lead.match.score for lead in self.leads.values())
        return max([self.message.score if self.message else 0.0, *scores])

    @property
    def best_lead(self) -> NodeLead | None:
        """The best node or grip."""
        return max(self.leads.values(), key=lambda one: one.match.score, default=None)

    @property
    def is_by_title(self) -> bool:
        """Whether only the session's title or summary matches."""
        return self.message is None and not self.leads

    @property
    def sources(self) -> frozenset[HitSource]:
        """The layers that match."""
        found = {source for source in HitSource if self.scores.get(source)}
        return frozenset(found | ({HitSource.MESSAGES} if self.message else set()))

    @property
    def times(self) -> list[datetime]:
        """The times of what matches."""
        own = [self.message.event.timestamp] if self.message else []
        return own + [lead.at for lead in self.leads.values()]

    def add_score(self, layer: str, score: float) -> bool:
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
        """Take what it searches with.

        Args:
            teleport: Searches nodes and grips.
            searcher: Searches messages.
            zone: The time zone of dates in queries.
            clock: Returns the time that "last week" is relative to.
        """
        self._teleport, self._searcher = teleport, searcher
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> CombinedResult:
        """Return the best hits, one for each session; any text is a valid query.

        It blocks for some milliseconds: do not call it on the thread of the screen.

        Args:
            text: The typed text, including filters.
            limit: The most hits.
            filters: Filters besides those in the text.
        """
        began_s = time.perf_counter()
        dated = query_dates.parse(text, self._clock(), self._zone)
        query = search_query.parse(dated.words, self._zone, filters)
        result = CombinedResult(text, notes=query.hints)
        recent_query = recent.recent_query(query, dated)
        if recent_query is None and recent.is_small_talk(query):
            recent_query = replace(query, words=())
        if recent_query:
            with database.connection():
                result = self._recent(recent_query, dated, result, limit)
        elif query.is_empty:
            result = replace(result, notes=(*query.hints, NO_WORD))
        else:
            with database.connection():
                result = self._search(query, dated, result, limit)
            times = dated.describe([hit.at for hit in result.hits])
            result = replace(result, times=times)
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)

    def _recent(
        self, query: Query, dated: DatedQuery, result: CombinedResult, limit: int
    ) -> CombinedResult:
        """Return the newest segments if no topic is searched for."""
        query, notes = resolve_filters.resolve(query)
        hits: tuple[CombinedHit, ...] = ()
        if query.filters.role:
            notes.append(recent.MESSAGES_ONLY)
        else:
            pages = recent.page_ids(query, dated, self._zone)
            hits = recent.list_sessions(query, limit, pages)
        notes += [*result.notes, *recent.notes(dated)]
        return replace(result, hits=hits, notes=tuple(notes), is_recent=True)

    def _search(
        self, query: Query, dated: DatedQuery, result: CombinedResult, limit: int
    ) -> CombinedResult:
        query, unknown = resolve_filters.resolve(query)
        filters = query.filters
        found = (
            MessageMatches() if filters.needs_nodes else self._searcher.search(query)
        )
        nodes = NodeMatches() if filters.role else self._teleport.rank(query, MAX_NODES)
        leads = _leads(nodes.matches, scopes.get_sessions(filters))
        ranked = rank(found, leads, dated, query)[: max(0, limit)]
        shown = [
            lead.match
            for one in ranked
            if not one.message
            for lead in one.leads.values()
        ]
        hits = {hit.target_id: hit for hit in hydrate.hits(shown, query)}
        notes = (*result.notes, *unknown, *found.notes, nodes.note)
        suggestion = nodes.suggestion
        if found.messages and not found.unknown:
            suggestion = ""
        return replace(
            result,
            hits=tuple(_hits(ranked, hits, query)),
            notes=tuple(dict.fromkeys(filter(None, notes))),
            suggestion=search_query.correct(result.query, query.text, suggestion),
            messages=len(found.messages),
            summaries=len(leads),
        )


# Ranking


def _leads(
    matches: Sequence[IndexMatch], allowed: Collection[int] | None
) -> list[NodeLead]:
    """Return the matches that lead to a segment of an allowed session.

    Args:
        matches: Nodes and grips.
        allowed: The numbers of the sessions; None for all.
    """
    known = segments.get_starts(match.landing_id for match in matches)
    return [
        NodeLead(match, *known[match.landing_id])
        for match in matches
        if match.landing_id in known
        and (allowed is None or known[match.landing_id][0] in allowed)
    ]


def rank(
    found: MessageMatches, leads: Iterable[NodeLead], dated: DatedQuery, query: Query
) -> list[RankedSession]:
    """Return the sessions that match, the best first.

    Args:
        found: The messages and titles that match.
        leads: The nodes and grips that match.
        dated: The periods of the query.
        query: The query.
    """
    ranked: dict[int, RankedSession] = {}
    _add_messages(ranked, found, dated)
    for number, score in found.titles.items():
        one = ranked.setdefault(number, RankedSession(number))
        one.add_score(HitSource.TITLES, score)
    for lead in leads:
        one = ranked.setdefault(lead.session, RankedSession(lead.session))
        if one.add_score(lead.source, lead.match.score):
            one.leads[lead.source] = lead
    _set_ranks(ranked.values(), dated)
    best = sorted(ranked.values(), key=lambda one: (-one.rank, -one.session))
    # Ranks say nothing about how good the first hit is: the layers' scores do.
    first = best[:FIRST]
    known = sessions.get_many(one.session for one in first if one.is_by_title)
    titles = {number: messages.title_score(one, query) for number, one in known.items()}
    most = max((titles.get(one.session, one.best_score) for one in first), default=0.0)
    for one in best:
        one.score = most * one.rank / (best[0].rank or 1.0)
    return best


def _add_messages(
    ranked: dict[int, RankedSession], found: MessageMatches, dated: DatedQuery
) -> None:
    most = _most(one.message for one in found.messages)
    most_window = _most(one.window for one in found.messages)
    best: dict[int, float] = {}
    for message in found.messages:
        number = message.session
        one = ranked.setdefault(number, RankedSession(number))
        one.add_score(MESSAGE, message.message)
        one.add_score(WINDOW, message.window)
        one.add_score(CONVERSATION, message.conversation)
        own = message.message / most + message.window / most_window
        own *= DATE_BOOST if dated.covers(message.event.timestamp) else 1.0
        if own > best.get(number, -1.0):
            best[number], one.message = own, message


def _set_ranks(ranked: Collection[RankedSession], dated: DatedQuery) -> None:
    for layer, weight in LAYER_WEIGHTS.items():
        most = _most(one.scores.get(layer, 0.0) for one in ranked)
        for one in ranked:
            one.rank += weight * one.scores.get(layer, 0.0) / most
    for one in ranked:
        if any(map(dated.covers, one.times)):
            one.rank *= DATE_BOOST


def _most(scores: Iterable[float]) -> float:
    return max(scores, default=0.0) or 1.0


# Hits


def _hits(
    ranked: Sequence[RankedSession], nodes: Mapping[str, Hit], query: Query
) -> Iterator[CombinedHit]:
    """Yield what is shown of sessions.

    Args:
        ranked: The sessions.
        nodes: The nodes and grips to show, by their ids.
        query: The query.
    """
    known = sessions.get_many(one.session for one in ranked)
    events = {one.session: _event(one) for one in ranked}
    times = {
        number: (number, to_ms(event.timestamp))
        for number, event in events.items()
        if event
    }
    segment_at = segments.find_at(times.values())
    places = {
        one.session: one.best_lead.match.landing_id for one in ranked if one.best_lead
    }
    places |= {number: segment_at.get(time, "") for number, time in times.items()}
    entries = {
        entry.node_id: entry
        for entry in store_nodes.get_entries(list(set(places.values())))
    }
    unsure = {places[one.session] for one in ranked if one.message and not one.leads}
    summaries = {node.node_id: node for node in store_nodes.get_many(list(unsure))}
    for one in ranked:
        if one.session in known:
            place = places.get(one.session, "")
            hit = _hit(one, known[one.session], entries.get(place), nodes, query)
            event = events[one.session]
            if event and one.is_by_title:
                hit = replace(
                    hit,
                    at=event.timestamp,
                    event_id=event.event_id,
                    subagent=event.subagent,
                )
            is_summarized = place not in unsure or _is_summarized(
                one.message, summaries.get(place), query
            )
            yield replace(hit, is_unsummarized=not is_summarized)


def _event(one: RankedSession) -> Event | None:
    """Return the message that matches; the first one if only the title does."""
    if one.message:
        return one.message.event
    return conversations.first_message(one.session) if one.is_by_title else None


def _hit(
    one: RankedSession,
    session: Session,
    entry: TocEntry | None,
    nodes: Mapping[str, Hit],
    query: Query,
) -> CombinedHit:
    message, grip = one.message, one.leads.get(HitSource.GRIPS)
    leads = sorted(one.leads.values(), key=lambda lead: -lead.match.score)
    shown = [
        nodes[lead.match.target_id] for lead in leads if lead.match.target_id in nodes
    ]
    if message:
        at, snippet = message.event.timestamp, _snippet(message.event.text, query)
    elif shown:
        at, snippet = leads[0].at, shown[0].snippet
    else:
        at, snippet = session.created_at, messages.title_snippet(session, query)
    return CombinedHit(
        agent=session.agent,
        session_id=session.session_id,
        subagent=message.event.subagent if message else "",
        project=session.project,
        title=(entry.headline or entry.title) if entry else session.title,
        at=at,
        node_id=entry.node_id if entry else "",
        event_id=message.event.event_id if message else "",
        grip_id=grip.match.target_id if grip else "",
        role=message.event.role if message else None,
        snippet=snippet,
        score=one.score,
        layers=one.sources,
        is_unsummarized=False,
    )


def _snippet(text: str, query: Query) -> Snippet:
    lines = [line for line in text[:SNIPPET_CHARS].splitlines() if line.strip()]
    line = best_line(lines or [""], query)
    return Snippet(line, tuple(find_marks(line, query)))


def _is_summarized(
    message: RankedMessage | None, node: TocNode | None, query: Query
) -> bool:
    """Return True if a summary has all terms of the query that the message has."""
    if message is None or node is None:
        return False
    summary = "\n".join(text for _, text in node_texts(node))
    text = message.event.text[:SNIPPET_CHARS]
    return matching_terms(text, query) <= matching_terms(summary, query)
