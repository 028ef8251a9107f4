"""Search in everything: one ranking of messages, nodes, grips and titles.

``CombinedSearch`` returns one hit for each session; ``scoring.LAYER_WEIGHTS`` says what
each layer adds to its rank.

``QuoteSearch`` returns the passages that answer a question, several of one session if
need be. It searches the best few of these sessions again for all passages that match. A
question asked there is followed by its answer.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import islice

from memtui.model.calendar import TocLevel
from memtui.model.events import Event, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import CombinedHit, Hit, HitKind, Hits, IndexMatch, Snippet
from memtui.model.nodes import Bullet, TocNode
from memtui.search import messages, snippets
from memtui.search import query as search_query
from memtui.search.messages import (
    MessageMatcher,
    MessageMatches,
    RankedMessage,
)
from memtui.search.nodes import (
    NodeMatches,
    NodeSearch,
    find_judged,
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
from memtui.search.scoring import DATE_BOOST, LAYER_WEIGHTS, Layer, node_texts
from memtui.search.snippets import Sentences, best_snippet, matching_terms
from memtui.store import conversations, database, scopes, segments, sessions
from memtui.store import nodes as store_nodes
from memtui.text import analyzer

LIMIT = 20

NEWEST_MESSAGES = (
    "role: applies to messages: the newest are listed under messages only."
)

MAX_SEGMENTS = 200
"""The number of newest segments whose sessions are listed."""

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
    landings: dict[Layer, tuple[IndexMatch, datetime]] = field(default_factory=dict)
    """The best node and grip, each with the start of the segment that it opens."""
    scores: dict[Layer, float] = field(default_factory=dict)
    rank: float = 0.0
    """Comparable within one result only."""
    score: float = 0.0
    """0 to 1."""

    @property
    def matches(self) -> list[IndexMatch]:
        """The node and the grip, the best first."""
        found = [match for match, _ in self.landings.values()]
        return sorted(found, key=lambda match: -match.score)

    @property
    def is_by_title(self) -> bool:
        """True if only the session's title or summary matches."""
        return self.message is None and not self.landings

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
        teleport: NodeSearch,
        matcher: MessageMatcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._teleport, self._matcher = teleport, matcher
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
        if query.filters.support:
            with database.connection():
                query, unknown = resolve_names(query)
                pairs = find_judged(query, limit)
                hits = (_bullet_hit(node, bullet) for node, bullet in pairs)
                result = replace(
                    result, hits=tuple(hits), notes=(*query.hints, *unknown)
                )
        elif recent_query:
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
        found = MessageMatches() if filters.needs_nodes else self._matcher.search(query)
        nodes = NodeMatches() if filters.role else self._teleport.rank(query, MAX_NODES)
        allowed = scopes.get_sessions(filters)
        starts = segments.get_starts(match.landing_id for match in nodes.matches)
        landings = [
            (number, match, at)
            for match in nodes.matches
            for number, at in [starts.get(match.landing_id, (0, None))]
            if at and (allowed is None or number in allowed)
        ]
        ranked = _rank(found, landings, query)[: max(0, limit)]
        shown = [match for one in ranked if not one.message for match in one.matches]
        hits = {hit.target_id: hit for hit in read_hits(shown, query)}
        best = [one.message for one in ranked if one.message]
        more = self._matcher.count_more(best, query)
        notes = (*result.notes, *unknown, *found.notes, nodes.note)
        suggestion = nodes.suggestion
        if found.messages and not found.unknown:
            suggestion = ""
        return replace(
            result,
            hits=tuple(_hits(ranked, hits, more, query)),
            notes=tuple(dict.fromkeys(filter(None, notes))),
            suggestion=search_query.correct(result.query, query.text, suggestion),
            total=len(found.messages) + len(landings),
        )


def _rank(
    found: MessageMatches,
    landings: Sequence[tuple[int, IndexMatch, datetime]],
    query: Query,
) -> list[RankedSession]:
    """Return the sessions that match, the best first.

    The landings are the sessions that nodes and grips lead to, each with the match and
    the start of the segment that it opens.
    """
    ranked: dict[int, RankedSession] = {}

    def ranking(number: int) -> RankedSession:
        return ranked.setdefault(number, RankedSession(number))

    most = max((one.message_score for one in found.messages), default=0.0) or 1.0
    most_window = max((one.window_score for one in found.messages), default=0.0) or 1.0
    best_message: dict[int, float] = {}
    for message in found.messages:
        one = ranking(message.session)
        one.add_score(Layer.MESSAGES, message.message_score)
        one.add_score(Layer.WINDOWS, message.window_score)
        one.add_score(Layer.CONVERSATIONS, message.conversation_score)
        own = message.message_score / most + message.window_score / most_window
        own *= DATE_BOOST if query.covers(message.event.timestamp) else 1.0
        if own > best_message.get(message.session, -1.0):
            best_message[message.session], one.message = own, message
    for number, score in found.title_scores.items():
        ranking(number).add_score(Layer.TITLES, score)
    for number, match, at in landings:
        layer = Layer.GRIPS if match.kind is HitKind.GRIP else Layer.NODES
        if ranking(number).add_score(layer, match.score):
            ranking(number).landings[layer] = match, at
    for layer, weight in LAYER_WEIGHTS.items():
        top = max((x.scores.get(layer, 0.0) for x in ranked.values()), default=0.0)
        for one in ranked.values():
            one.rank += weight * one.scores.get(layer, 0.0) / (top or 1.0)
    for one in ranked.values():
        times = [at for _, at in one.landings.values()]
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
    places = {one.session: one.matches[0].landing_id for one in ranked if one.landings}
    times = {number: (number, to_ms(e.timestamp)) for number, e in events.items()}
    segment_at = segments.find_at(times.values())
    places |= {number: segment_at.get(time, "") for number, time in times.items()}
    found = store_nodes.get_entries(list(set(places.values())))
    entries = {entry.node_id: entry for entry in found}
    unsure = [places[one.session] for one in ranked if one.message and not one.landings]
    summaries = {node.node_id: node for node in store_nodes.get_many(unsure)}
    for one in ranked:
        session = known.get(one.session)
        if session is None:
            continue
        message, event = one.message, events.get(one.session)
        entry = entries.get(places.get(one.session, ""))
        shown = [nodes[m.target_id] for m in one.matches if m.target_id in nodes]
        is_summarized = bool(one.landings) or message is None
        if message:
            text = message.event.text[:SNIPPET_CHARS]
            snippet = best_snippet(text.splitlines(), query)
            node = summaries.get(places[one.session])
            if node and not one.landings:
                summary = "\n".join(text for _, text, _ in node_texts(node))
                terms = matching_terms(summary, query)
                is_summarized = matching_terms(text, query) <= terms
        elif shown:
            snippet = shown[0].snippet
        else:
            snippet = messages.title_snippet(session, query)
        times_of = [at for m, at in one.landings.values() if m == one.matches[0]]
        grip = one.landings.get(Layer.GRIPS)
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


def _bullet_hit(node: TocNode, bullet: Bullet) -> CombinedHit:
    agent = node.agents[0] if len(node.agents) == 1 else ""
    hit = _node_hit(node, agent, bullet.session_id, ", ".join(node.projects))
    grip_id = bullet.grip_ids[0] if bullet.grip_ids else ""
    return replace(hit, snippet=Snippet(bullet.text), grip_id=grip_id)


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


# Quotes

QUOTED_SESSIONS = 4
"""The number of best sessions searched again."""

REPEATED_QUOTE = 0.6
"""The factor on the rank of a further quote of the same message."""

QUOTE_WITHOUT_TERMS = 0.5
"""The factor on the rank of a quote without any term, against one with all."""

ANSWER_QUOTE = 0.95
"""The factor on the rank of the answer to a question, against the question."""

OTHER_SESSION = 0.3
"""The rank of a session that is not searched again, against the best one."""

QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """The passages that answer a question, best first."""

    found: Hits[CombinedHit]
    """The sessions that match."""
    quotes: tuple[CombinedHit, ...] = ()
    """Hits whose snippet is a passage, several of one session or message. Hits in
    summaries are among them as they are."""
    coverage: float = 0.0
    """The largest share of the question's specific words that one session has."""
    unknown: tuple[str, ...] = ()
    """The specific words that no message contains, as they were typed."""


RankedQuote = tuple[float, CombinedHit]


class QuoteSearch:
    def __init__(
        self,
        search: CombinedSearch,
        matcher: MessageMatcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._search, self._matcher = search, matcher
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> QuoteResult:
        """Return the best quotes; any text is a valid query."""
        result = self._search.find(text, limit=max(1, limit), filters=filters)
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        if result.is_recent or query.filters.needs_nodes:
            return QuoteResult(result, result.hits)
        with database.connection():
            query, _ = resolve_names(query)
            if not result.hits:
                return QuoteResult(result, (), *self._check_words(query, (), (), {}))
            hits = {
                number: hit
                for hit in result.hits[:QUOTED_SESSIONS]
                if (number := sessions.get_number(hit.agent, hit.session_id))
                is not None
            }
            found = self._matcher.search(query, sessions=frozenset(hits)).messages
            texts = [Sentences(one.event.text, query) for one in found]
            quotes = _find_quotes(found, texts, hits, query)
            quoted = {_session_key(quote) for _, quote in quotes}
            best = result.hits[0].score or 1.0
            quotes += [
                (OTHER_SESSION * hit.score / best, hit)
                for hit in result.hits
                if _session_key(hit) not in quoted
            ]
            ranked = islice(_distinct(quotes, result.hits[0].score), max(1, limit))
            return QuoteResult(
                result,
                tuple(_add_segments(list(ranked), hits)),
                *self._check_words(query, found, texts, hits),
            )

    def _check_words(
        self,
        query: Query,
        found: Sequence[RankedMessage],
        texts: Sequence[Sentences],
        hits: Mapping[int, CombinedHit],
    ) -> tuple[float, tuple[str, ...]]:
        """Return how much of the question one session covers, and its unknown words."""
        terms = {number: {*analyzer.terms(hit.title)} for number, hit in hits.items()}
        for one, sentences in zip(found, texts, strict=True):
            terms[one.session] |= sentences.terms
        words = [word for word in query.words if word.is_specific]
        missing = [w for w in words if not any(map(w.matches, terms.values()))]
        covered = [sum(w.matches(own) for w in words) for own in terms.values()]
        anywhere = Query("", filters=replace(EVERYTHING, scope=query.filters.scope))
        unknown = [
            word.text
            for word in missing
            if not self._matcher.search(replace(anywhere, words=(word,))).messages
        ]
        return max(covered, default=0) / (len(words) or 1), tuple(unknown)


def _find_quotes(
    found: Sequence[RankedMessage],
    texts: Sequence[Sentences],
    hits: Mapping[int, CombinedHit],
    query: Query,
) -> list[RankedQuote]:
    """Return all quotes of messages, whose sentences are given as texts."""
    best = max((one.message_score for one in found), default=0.0) or 1.0
    best_window = max((one.window_score for one in found), default=0.0) or 1.0
    best_hit = max((hit.score for hit in hits.values()), default=0.0) or 1.0
    weights = snippets.term_weights(texts, query)
    total = sum(weights.values()) or 1.0
    quotes: list[RankedQuote] = []
    for one, sentences in zip(found, texts, strict=True):
        hit = hits[one.session]
        rank = (one.message_score / best + one.window_score / best_window) / 2
        rank *= hit.score / best_hit
        rank *= DATE_BOOST if query.covers(one.event.timestamp) else 1.0
        passages = sentences.passages(weights)
        first = passages[0].score or 1.0
        for place, passage in enumerate(passages):
            own = rank * (REPEATED_QUOTE * passage.score / first if place else 1.0)
            own *= QUOTE_WITHOUT_TERMS + passage.score / total
            text = sentences.text(passage)
            quotes.append((own, _quote(hit, one.event, text)))
            if text.endswith(QUESTION_MARKS):
                quotes += _answers(one, hit, own)
    return quotes


def _answers(
    question: RankedMessage, hit: CombinedHit, rank: float
) -> Iterator[RankedQuote]:
    """Yield the next message if it has another role."""
    later = conversations.list_messages_after(question.session, question.event, 1)
    for event in later:
        if event.role is not question.event.role:
            text = " ".join(event.text[: snippets.QUOTE_CHARS + 1].split())
            is_cut = len(event.text) > snippets.QUOTE_CHARS
            text = f"{text.rpartition(' ')[0]}…" if is_cut else text
            yield ANSWER_QUOTE * rank, _quote(hit, event, text)


def _session_key(hit: CombinedHit) -> tuple[str, str]:
    return hit.agent, hit.session_id


def _quote(hit: CombinedHit, event: Event, text: str) -> CombinedHit:
    return replace(
        hit,
        at=event.timestamp,
        event_id=event.event_id,
        subagent=event.subagent,
        role=event.role,
        snippet=Snippet(text),
    )


def _distinct(quotes: list[RankedQuote], score: float) -> Iterator[CombinedHit]:
    """Yield quotes, best first, without those that another one contains.

    The best one gets the score.
    """
    seen: list[str] = []
    quotes.sort(key=lambda quote: -quote[0])
    for rank, hit in quotes:
        text = " ".join(analyzer.fold(hit.snippet.text).split()).strip("…")
        if not any(text in other or other in text for other in seen):
            seen.append(text)
            yield replace(hit, score=score * rank / (quotes[0][0] or 1.0))


def _add_segments(
    quotes: Sequence[CombinedHit], hits: Mapping[int, CombinedHit]
) -> Iterator[CombinedHit]:
    """Yield quotes with the segments of their messages and the titles of these."""
    numbers = {_session_key(hit): number for number, hit in hits.items()}
    times = [
        (numbers.get(_session_key(quote), 0), to_ms(quote.at))
        if quote.event_id
        else None
        for quote in quotes
    ]
    segment_at = segments.find_at([time for time in times if time])
    places = [segment_at.get(time, "") if time else "" for time in times]
    entries = {
        entry.node_id: entry for entry in store_nodes.get_entries(list(set(places)))
    }
    for quote, place in zip(quotes, places, strict=True):
        entry = entries.get(place)
        title = (entry.headline or entry.title) if entry else quote.title
        yield replace(quote, node_id=place or quote.node_id, title=title)
