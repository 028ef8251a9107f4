"""Quotes: the passages that answer a question, several of one session if need be.

The search in everything finds the sessions; the best few are searched again for all
passages that match. A question asked there is followed by its answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice

from memtui.model.events import Event, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import CombinedHit, Hits, Snippet
from memtui.search import snippets
from memtui.search.combined import CombinedSearch
from memtui.search.messages import MessageSearcher, RankedMessage
from memtui.search.query import Query, parse_with_dates, resolve_names
from memtui.search.scoring import DATE_BOOST
from memtui.search.snippets import Sentences
from memtui.store import conversations, database, nodes, segments, sessions
from memtui.text import analyzer

SESSIONS = 4
"""The number of best sessions searched again."""

LIMIT = 20

REPEATED = 0.6
"""The factor on the rank of a further quote of the same message."""

WITHOUT_TERMS = 0.5
"""The factor on the rank of a quote without any term, against one with all."""

ANSWER = 0.95
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
        searcher: MessageSearcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._search, self._searcher = search, searcher
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
                for hit in result.hits[:SESSIONS]
                if (number := sessions.get_number(hit.agent, hit.session_id))
                is not None
            }
            found = self._searcher.search(query, sessions=frozenset(hits)).messages
            texts = [Sentences(one.event.text, query) for one in found]
            quotes = _quotes(found, texts, hits, query)
            quoted = {_session(quote) for _, quote in quotes}
            best = result.hits[0].score or 1.0
            quotes += [
                (OTHER_SESSION * hit.score / best, hit)
                for hit in result.hits
                if _session(hit) not in quoted
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
            if not self._searcher.search(replace(anywhere, words=(word,))).messages
        ]
        return max(covered, default=0) / (len(words) or 1), tuple(unknown)


def _quotes(
    messages: Sequence[RankedMessage],
    texts: Sequence[Sentences],
    hits: Mapping[int, CombinedHit],
    query: Query,
) -> list[RankedQuote]:
    """Return all quotes of messages, whose sentences are given as texts."""
    best = max((one.message for one in messages), default=0.0) or 1.0
    best_window = max((one.window for one in messages), default=0.0) or 1.0
    best_hit = max((hit.score for hit in hits.values()), default=0.0) or 1.0
    weights = snippets.term_weights(texts, query)
    total = sum(weights.values()) or 1.0
    quotes: list[RankedQuote] = []
    for one, sentences in zip(messages, texts, strict=True):
        hit = hits[one.session]
        rank = (one.message / best + one.window / best_window) / 2
        rank *= hit.score / best_hit
        rank *= DATE_BOOST if query.covers(one.event.timestamp) else 1.0
        passages = sentences.passages(weights)
        first = passages[0].score or 1.0
        for place, passage in enumerate(passages):
            own = rank * (REPEATED * passage.score / first if place else 1.0)
            own *= WITHOUT_TERMS + passage.score / total
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
            yield ANSWER * rank, _quote(hit, event, text)


def _session(hit: CombinedHit) -> tuple[str, str]:
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
    numbers = {_session(hit): number for number, hit in hits.items()}
    times = [
        (numbers.get(_session(quote), 0), to_ms(quote.at)) if quote.event_id else None
        for quote in quotes
    ]
    segment_at = segments.find_at([time for time in times if time])
    places = [segment_at.get(time, "") if time else "" for time in times]
    entries = {entry.node_id: entry for entry in nodes.get_entries(list(set(places)))}
    for quote, place in zip(quotes, places, strict=True):
        entry = entries.get(place)
        title = (entry.headline or entry.title) if entry else quote.title
        yield replace(quote, node_id=place or quote.node_id, title=title)
