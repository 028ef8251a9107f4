"""Quotes: ``QuoteSearch`` returns the passages that answer a question.

It searches the best few sessions again for all their messages that match, and quotes
several passages of one session if need be. A question asked there is followed by its
answer. A later session about the same thing, which may have changed what the best one
says, comes before others, with its answer.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice, takewhile

from memtui.model.events import Event, EventRole, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hit import Hit, HitKind, Hits, Snippet
from memtui.search import query as search_query
from memtui.search.query import (
    Query,
    parse_with_dates,
    read_names,
    resolve_names,
)
from memtui.search.ranking import MessageRanker, RankedHit, Ranking
from memtui.search.search import LIMIT, SessionSearch
from memtui.search.snippets import QUOTE_CHARS, Sentences, matching_terms
from memtui.store import conversations, database, segments, sessions
from memtui.store import nodes as store_nodes
from memtui.text import analyzer

QUOTED_SESSIONS = 4
"""The number of best sessions searched again."""

QUOTE_WITHOUT_TERMS = 0.5
"""The factor on the rank of a quote without any term, against one with all."""

ANSWER_QUOTE = 0.95
"""The factor on the rank of the answer to a question, against the question."""

LATER_SESSION = 0.1
"""The rank of a later session about what the best one says, against the best one."""

SAID_QUOTES = 2
"""The number of best quotes of a session that a later one is compared with."""

TOPIC_WORDS = 24
"""The number of words for which later sessions are searched."""

LATER_MESSAGES = 20
"""The number of messages after a prompt of a later session that are compared."""

OTHER_SESSION = 0.3
"""The rank of a session that is not searched again, against the best one."""

AS_NAME = "“{}” is in no message: it is read as the {}."

QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """The passages that answer a question, best first."""

    sessions: Hits
    """The sessions that match."""
    quotes: tuple[Hit, ...] = ()
    """Hits whose snippet is a passage, several of one session or message. Hits in
    summaries are among them as they are."""
    unknown: tuple[str, ...] = ()
    """The specific words that no message contains, as they were typed."""


class QuoteSearch:
    def __init__(
        self,
        search: SessionSearch,
        ranker: MessageRanker,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._search, self._ranker = search, ranker
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> QuoteResult:
        """Return the best quotes; any text is a valid query.

        A word that is in no message and names an agent or a project is read as a
        filter.
        """
        result = self._find(text, limit, filters)
        scope, names = read_names(result.unknown, filters.scope)
        if not names:
            return result
        remaining = text
        for word in names:
            whole_word = rf"(?<!\w){re.escape(word)}(?!\w)"
            remaining = re.sub(whole_word, " ", remaining, count=1)
        result = self._find(remaining, limit, replace(filters, scope=scope))
        read_as = (AS_NAME.format(word, kind) for word, kind in names.items())
        notes = (*result.sessions.notes, *read_as)
        hits = replace(result.sessions, query=text, notes=notes)
        return replace(result, sessions=hits)

    def _find(self, text: str, limit: int, filters: Filters) -> QuoteResult:
        result = self._search.find(text, limit=max(1, limit), filters=filters)
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        if result.is_recent or query.filters.needs_nodes:
            return QuoteResult(result, result.hits)
        with database.connection():
            query, unknown_names = resolve_names(query)
            hits = {
                number: hit
                for hit in result.hits[:QUOTED_SESSIONS]
                if hit.session
                and (number := sessions.get_number(*hit.session_key)) is not None
            }
            ranking = Ranking()
            if hits:
                ranking = self._ranker.rank(query, sessions=frozenset(hits))
            messages = [
                (ranked, ranked.event, Sentences(ranked.event.text, query))
                for ranked in ranking.hits
                if ranked.event
            ]
            quotes = _find_quotes(messages, hits, ranking)
            quoted = {quote.session_key for _, quote in quotes}
            best = max((hit.score for hit in result.hits), default=0.0)
            quotes += [
                (OTHER_SESSION * hit.score / (best or 1.0), hit)
                for hit in result.hits
                if hit.session_key not in quoted
            ]
            for number, rank, quote in [*self._find_later(quotes, query)]:
                quotes.append((rank, quote))
                hits.setdefault(number, quote)
            distinct = [*islice(_distinct(quotes, best), max(1, limit))]
            unknown: tuple[str, ...] = ()
            # The sessions that were searched have most words.
            if not unknown_names and (ranking.unknown or not hits):
                unknown = self._ranker.list_unknown(query)
            return QuoteResult(
                result,
                tuple(_add_segments(distinct, hits)),
                unknown,
            )

    def _find_later(
        self, quotes: Sequence["RankedQuote"], query: Query
    ) -> Iterator[tuple[int, float, Hit]]:
        """Yield quotes of a later session of the best one's project about the same
        thing, with the number of the session and their ranks.

        It is the one that matches the query and the best session's quotes best, with
        words that together are as rare as the rarest. A prompt comes with its answer.
        """
        ranked = sorted(quotes, key=lambda quote: -quote[0])
        best = ranked[0][1] if ranked else None
        if best is None or best.session is None:
            return
        project, key = best.session.project, best.session_key
        said = [hit.snippet.text for _, hit in ranked if hit.session_key == key]
        text = "\n".join([query.text, *said[:SAID_QUOTES]])
        name = {*analyzer.terms(project)}
        words = search_query.parse(text, self._zone).words
        topic = [word for word in words if word.is_specific and not word.matches(name)]
        if not project or not topic:
            return
        scope = replace(query.filters.scope, project=project)
        about = Query(
            "",
            tuple(topic[:TOPIC_WORDS]),
            excluded=query.excluded,
            excluded_phrases=query.excluded_phrases,
            filters=replace(query.filters, scope=scope, since=best.at),
        )
        ranking = self._ranker.rank(about, one_per_session=True)
        rarest = max(ranking.idfs.values(), default=0.0)
        own = sessions.get_number(*key)
        for match in ranking.hits:
            event = match.event
            shared = sum(ranking.idfs.get(term.term, 0.0) for term in match.terms)
            if event is None or match.session == own or shared < rarest:
                continue
            session = sessions.get_many([match.session]).get(match.session)
            hit = replace(best, session=session, node=None, opens="", more=0)
            messages = [event]
            if event.role is EventRole.USER and not query.filters.role:
                messages += _best_answer(match.session, event, about)
            rank = LATER_SESSION * ranked[0][0]
            for message in messages:
                sentences = Sentences(message.text, about)
                passage = sentences.passages(ranking.idfs)[0]
                yield match.session, rank, _quote(hit, message, sentences.text(passage))
                rank *= ANSWER_QUOTE
            return

    def list_unknown(self, text: str, filters: Filters = EVERYTHING) -> tuple[str, ...]:
        """Return the specific words of a query that no message contains, as typed."""
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        with database.connection():
            query, unknown_names = resolve_names(query)
            return () if unknown_names else self._ranker.list_unknown(query)


RankedQuote = tuple[float, Hit]


def _find_quotes(
    messages: Sequence[tuple[RankedHit, Event, Sentences]],
    hits: Mapping[int, Hit],
    ranking: Ranking,
) -> list[RankedQuote]:
    """Return all quotes of messages, with their ranks."""
    best = max((hit.score for hit in hits.values()), default=0.0) or 1.0
    total = sum(ranking.idfs.values()) or 1.0
    quotes: list[RankedQuote] = []
    for ranked, event, sentences in messages:
        hit = hits[ranked.session]
        passages = sentences.passages(ranking.idfs)
        for place, passage in enumerate(passages):
            rank = ranked.rank * hit.score / best
            if place:
                rank *= passage.score / (passages[0].score or 1.0)
            rank *= QUOTE_WITHOUT_TERMS + passage.score / total
            text = sentences.text(passage)
            quotes.append((rank, _quote(hit, event, text)))
            if text.endswith(QUESTION_MARKS):
                quotes += [
                    (ANSWER_QUOTE * rank, answer)
                    for answer in _answers(ranked.session, event, hit)
                ]
    return quotes


def _answers(session: int, question: Event, hit: Hit) -> Iterator[Hit]:
    """Yield the next message if it has another role."""
    for event in conversations.list_messages_after(session, question, 1):
        if event.role is not question.role:
            text = " ".join(event.text[: QUOTE_CHARS + 1].split())
            is_cut = len(event.text) > QUOTE_CHARS
            text = f"{text.rpartition(' ')[0]}…" if is_cut else text
            yield _quote(hit, event, text)


def _best_answer(session: int, prompt: Event, about: Query) -> list[Event]:
    """Return the message after a prompt with the most words of a query, if any."""
    messages = conversations.list_messages_after(session, prompt, LATER_MESSAGES)
    answers = takewhile(lambda event: event.role is not EventRole.USER, messages)
    counted = [(len(matching_terms(event.text, about)), event) for event in answers]
    return [max(counted, key=lambda pair: pair[0])[1]] if counted else []


def _quote(hit: Hit, event: Event, text: str) -> Hit:
    return replace(
        hit,
        kind=HitKind.MESSAGE,
        event=event,
        at=event.timestamp,
        snippet=Snippet(text),
    )


def _distinct(quotes: list[RankedQuote], score: float) -> Iterator[Hit]:
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


def _add_segments(quotes: Sequence[Hit], hits: Mapping[int, Hit]) -> Iterator[Hit]:
    """Yield quotes with the segments of their messages."""
    numbers = {hit.session_key: number for number, hit in hits.items()}
    times = [(numbers.get(quote.session_key, 0), to_ms(quote.at)) for quote in quotes]
    segment_at = segments.find_at(times)
    entries = {
        entry.node_id: entry
        for entry in store_nodes.get_entries([*{*segment_at.values()}])
    }
    for quote, time in zip(quotes, times, strict=True):
        node = entries.get(segment_at.get(time, ""))
        if node and quote.kind is HitKind.MESSAGE:
            quote = replace(quote, node=node, opens=node.node_id)
        yield quote
