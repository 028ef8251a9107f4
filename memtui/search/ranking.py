"""Rank messages and sessions for a query.

``MessageRanker`` looks the query's terms up in the message index, or reads the newest
messages from the store if there is none, and scores what has them. The formula is
explained in ``weights``. A term counts once a message, however often it occurs there:
on labelled conversations that is as good, and the index need not store how often.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from memtui.errors import SearchError
from memtui.model.events import Event, EventRole, to_ms
from memtui.model.filters import EVERYTHING
from memtui.model.hit import MIN_GOOD
from memtui.search.message_index import (
    MAX_PER_TERM,
    Candidate,
    Matches,
    MessageFilter,
    MessageIndex,
    QueryTerm,
    bits,
)
from memtui.search.query import Query
from memtui.search.weights import (
    DATE_BOOST,
    MAX_TERM_SCORE,
    NEAR_WORDS,
    ROLE_WEIGHTS,
    SESSION_BULLETS,
    SESSION_SUMMARY,
    SESSION_TITLE,
    TOOL_TURN,
    B,
)
from memtui.store import conversations, events, queues, scopes
from memtui.store.events import IndexableEvent
from memtui.text import analyzer
from memtui.text.analyzer import BM25_K1 as K1
from memtui.text.analyzer import inverse_document_frequency

log = logging.getLogger(__name__)

MAX_TERMS = 60
"""The number of terms of a query that are looked up: its first ones."""

READ, READ_OF_SESSION = 40, 3
"""The number of best messages read from the store; and of one session, if each session
has one hit."""

READ_MOST = 2_000
"""The maximum number read if some of them do not match."""

READ_TEXTS = 20
"""The number of sessions whose title and summary are hits, if no message is better."""

WORDING_CHARS = 4_000
"""The number of characters of a message that are read for words near one another."""

MAX_UNINDEXED, UNINDEXED_CHARS = 300, 100_000
"""The number of latest messages read while they are not indexed, and of characters of
each."""

READ_FOR_PHRASE = 5_000
"""The number of newest messages read for a phrase without terms."""

READ_WITHOUT_INDEX = 2_000
"""The number of newest messages read while there is no index."""

UNINDEXED_ID = 1 << 62
"""The ids of messages that are not indexed begin here."""

NO_INDEX = "There is no message index yet: the newest messages are searched."
DAMAGED = (
    "The message index is damaged or of another version: until it is rebuilt, the"
    " newest messages are searched."
)
REBUILDING = "The message index is being built, newest first: {:,} events so far."
BEHIND = "{:,} events are not indexed yet; the latest of them are searched."
ONLY_STOP_WORDS = "These words are too common to search for, except in quotes."
NO_TERM = "No word to look up: the newest {:,} messages were searched."
TOO_COMMON = "Very common, searched in the newest {:,} messages that have them: {}."


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A message that matches, or a session whose title or summary does."""

    session: int
    """The number of the session."""
    event: Event | None
    """The message; None for a session."""
    rank: float
    """Comparable within one result only."""
    score: float
    """0 to 1: how much of the query it has."""
    terms: tuple[QueryTerm, ...] = ()
    """The terms of the specific words that it contains."""


@dataclass(slots=True)
class Ranking:
    """The messages and sessions that match a query, best first."""

    hits: list[RankedHit] = field(default_factory=list)
    idfs: dict[str, float] = field(default_factory=dict)
    """The inverse document frequency of each term, complete identifiers excepted."""
    unknown: list[str] = field(default_factory=list)
    """The terms that neither a message nor the name of a session contains."""
    notes: list[str] = field(default_factory=list)
    total: int = 0
    """The number of messages and sessions that have a word of the query."""
    has_more: bool = False
    """True if there are more than ``total``."""

    def keep_best_of_sessions(self) -> None:
        """Keep only the best hit of each session."""
        best = {hit.session: hit for hit in reversed(self.hits)}
        self.hits = [hit for hit in self.hits if best[hit.session] is hit]


class MessageRanker:
    """Ranks messages by their index or, without one, those in the store."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index

    def rank(
        self,
        query: Query,
        *,
        sessions: frozenset[int] | None = None,
        one_per_session: bool = False,
    ) -> Ranking:
        """Return what matches, best first; needs an open connection to the store.

        Args:
            sessions: The numbers of the sessions that are searched; by default all that
                the query's filters let pass.
            one_per_session: True if only the best hit of each session is wanted: then
                few messages of one session are read, so that there are more sessions.
        """
        ranking = Ranking()
        terms = query_terms(query)
        if not terms and not query.phrases:
            ranking.notes.append(ONLY_STOP_WORDS)
            return ranking
        filters, with_tools = query.filters, self._index.with_tools
        allowed = scopes.get_sessions(filters) if sessions is None else sessions
        within = message_filter(query, allowed)
        if terms:
            matches, unindexed = self._find(terms, query, within, ranking)
        else:
            matches = Matches(terms)
            unindexed = events.list_newest_indexable(READ_FOR_PHRASE)
            ranking.notes.append(NO_TERM.format(len(unindexed)))
        passing = [event for event in unindexed if _passes(event, within)]
        add_unindexed(matches, passing, query, with_tools=with_tools)
        self._score(matches, query, ranking, one_per_session=one_per_session)
        return ranking

    def list_unknown(self, query: Query) -> tuple[str, ...]:
        """Return the specific words that nothing of the query's scope has, as typed.

        A word that only other times or roles have is known, and so is one of which a
        text has another form.
        """
        words = tuple(word.with_forms for word in query.words if word.is_specific)
        filters = replace(EVERYTHING, scope=query.filters.scope)
        ranking = self.rank(Query("", words=words, filters=filters))
        unknown = {*ranking.unknown}
        return tuple(word.text for word in words if unknown.issuperset(word.terms))

    def count_more(self, hits: Iterable[RankedHit], query: Query) -> dict[int, int]:
        """Count what else the sessions of messages have, by the sessions' numbers.

        Other messages count that have all specific words of the given one. It is empty
        for phrases: the index does not know the order of words.
        """
        groups: dict[tuple[QueryTerm, ...], set[int]] = {}
        has_phrases = query.phrases or query.excluded_phrases
        for hit in () if has_phrases else hits:
            if hit.event:
                groups.setdefault(hit.terms, set()).add(hit.session)
        counts: dict[int, int] = {}
        with suppress(SearchError):  # the search has noted it
            for terms, numbers in groups.items():
                within = message_filter(query, frozenset(numbers))
                counts |= self._index.count_by_session(terms, within) if terms else {}
        return {number: max(0, count - 1) for number, count in counts.items()}

    def _find(
        self,
        terms: Sequence[QueryTerm],
        query: Query,
        within: MessageFilter,
        ranking: Ranking,
    ) -> tuple[Matches, list[IndexableEvent]]:
        """Search the index; return what it has and the events that it lacks."""
        note, filters = NO_INDEX, query.filters
        selects_messages = filters.role or filters.since or filters.until
        if self._index.exists():
            # Read these first: they may be indexed while the index is searched.
            ranges, waiting = queues.list_latest_unindexed_events(MAX_UNINDEXED)
            unindexed = events.list_indexable(ranges)[-MAX_UNINDEXED:]
            try:
                status = self._index.status()
                matches = self._index.search(
                    terms,
                    within,
                    required=query.phrase_terms,
                    with_sessions=not (selects_messages or query.needs_text),
                )
            except SearchError:
                log.exception("the message index cannot be searched")
                note = DAMAGED
            else:
                if not status.is_complete:
                    ranking.notes.append(REBUILDING.format(status.events_read))
                elif waiting > MAX_UNINDEXED:
                    ranking.notes.append(BEHIND.format(waiting))
                if matches.common:
                    common = ", ".join(matches.common)
                    ranking.notes.append(TOO_COMMON.format(MAX_PER_TERM, common))
                return matches, unindexed
        ranking.notes.append(note)
        return Matches(terms), events.list_newest_indexable(READ_WITHOUT_INDEX)

    # Scoring

    def _score(
        self, matches: Matches, query: Query, ranking: Ranking, *, one_per_session: bool
    ) -> None:
        """Fill in the hits of a ranking, best first, and what goes for all of them."""
        scorer = Scorer(matches, query)
        read = self._read(scorer, query, one_per_session=one_per_session)
        scores = [(*pair, scorer.score_event(*pair)) for pair in read]
        text_scores = {
            texts.session: scorer.score_texts(texts.session, "\n".join(texts[1:]))
            for texts in events.read_session_texts([*matches.sessions][:READ_TEXTS])
        }
        best = max([0.0, *text_scores.values(), *(score for *_, score in scores)])
        messages = [
            RankedHit(
                candidate.session,
                event,
                (_share(score, best) + scorer.sessions[candidate.session])
                * (DATE_BOOST if query.covers(event.timestamp) else 1.0),
                scorer.coverage(candidate.mask, score),
                matches.specific_terms(candidate.mask),
            )
            for candidate, event, score in scores
        ]
        sessions = [
            RankedHit(
                number,
                None,
                _share(score, best) + scorer.sessions[number],
                scorer.coverage_of_texts(number),
            )
            for number, score in text_scores.items()
        ]
        ranking.hits = _join(messages, sessions)
        if one_per_session:
            ranking.keep_best_of_sessions()
        idfs = zip(matches.terms, matches.idfs(), strict=True)
        ranking.idfs = {term.term: idf for term, idf in idfs if not term.is_whole}
        ranking.unknown = [
            term.term
            for bit, term in enumerate(matches.terms)
            if not (term.is_whole or scorer.has_term(bit))
        ]
        ranking.total = len(messages) if query.needs_text else matches.total
        ranking.has_more = bool(matches.common) and not query.needs_text

    def _read(
        self, scorer: "Scorer", query: Query, *, one_per_session: bool
    ) -> Iterator[tuple[Candidate, Event]]:
        """Yield the best candidates that match, with their events."""
        ranked = scorer.rank_candidates()
        if one_per_session and not query.needs_text:
            ranked = _limit_per_session(ranked)
        count = 0
        for start in range(0, min(len(ranked), READ_MOST), READ):
            batch = ranked[start : start + READ]
            events_by_id = events.get(candidate.event_id for candidate in batch)
            for candidate in batch:
                event = events_by_id.get(candidate.event_id)
                if event and self._matches(event, query):
                    count += 1
                    yield candidate, event
            if count >= READ:
                return

    def _matches(self, event: Event, query: Query) -> bool:
        """Return True if an event passes what the index does not check."""
        since, until = query.filters.since, query.filters.until
        if (since and event.timestamp < since) or (until and event.timestamp >= until):
            return False
        if not event.is_tool_call or self._index.with_tools:
            return query.matches(event.text)
        tool = event.metadata.get("tool_name", "")
        return query.matches(tool) and set(analyzer.terms(tool)).issuperset(query.terms)


# Looking up


def query_terms(query: Query) -> list[QueryTerm]:
    """Return the terms of a query to look up."""
    if query.has_only_stop_words:
        return []
    prefixes = {word.terms[-1]: word.prefix for word in query.words}
    weights = {term: query.weight(word) for word in query.words for term in word.terms}
    terms = [
        QueryTerm(term, prefixes.get(term, ""), weights[term])
        for term in query.terms[:MAX_TERMS]
    ]
    return terms + [
        QueryTerm(word.whole, word.whole * word.is_prefix, is_whole=True)
        for word in query.words
        if word.whole
    ]


def message_filter(query: Query, sessions: frozenset[int] | None) -> MessageFilter:
    return MessageFilter(
        sessions,
        query.filters,
        tuple(
            (*map(QueryTerm, word.terms[:-1]), QueryTerm(word.terms[-1], word.prefix))
            for word in query.excluded
            if analyzer.is_indexed(word.text)
        ),
    )


def _passes(event: IndexableEvent, within: MessageFilter) -> bool:
    """Return True if an event that is not indexed passes a filter."""
    filters = within.filters
    return (
        (within.sessions is None or event.session in within.sessions)
        and (not filters.role or event.indexed_role is filters.role)
        and (not filters.since or event.at_ms >= to_ms(filters.since))
        and (not filters.until or event.at_ms < to_ms(filters.until))
        and (filters.with_subagents or not event.subagent)
    )


def add_unindexed(
    matches: Matches,
    unindexed: Sequence[IndexableEvent],
    query: Query,
    *,
    with_tools: bool,
) -> None:
    """Add messages that match and are not indexed; they are in the order of time.

    The text of tool calls is searched only ``with_tools``, otherwise the name.
    """
    indexed = {candidate.event_id for candidate in matches.candidates}
    required = sum((not term.is_whole) << bit for bit, term in enumerate(matches.terms))
    for position, event in enumerate(unindexed, 1):
        role = event.indexed_role
        if role is None or event.event_id in indexed:
            continue
        is_only_name = role is EventRole.TOOL and not with_tools
        text = event.tool if is_only_name else event.text[:UNINDEXED_CHARS]
        # Without terms, messages are not compared with each other.
        if not matches.terms and not query.matches(text):
            continue
        terms = analyzer.terms(text)
        mask = matches.mask(frozenset(terms))
        if role is not EventRole.TOOL:
            matches.message_count += 1
            matches.length += len(terms)
        if matches.terms and not (
            mask & required == required if is_only_name else mask
        ):
            continue
        matches.total += 1
        for bit in range(len(matches.terms)):
            matches.frequencies[bit] += mask >> bit & 1
        matches.candidates.append(
            Candidate(
                id=UNINDEXED_ID + position,
                event_id=event.event_id,
                role=role,
                length=len(terms),
                session=event.session,
                session_length=len(terms),
                mask=mask,
            )
        )


# Scores


class Scorer:
    """Scores what matches a query by BM25F: see ``weights``."""

    def __init__(self, matches: Matches, query: Query) -> None:
        self._matches, self._query = matches, query
        self._idfs = matches.idfs()
        self._average = matches.length / max(matches.message_count, 1) or 1.0
        self._wording_of = wording_bonus(query, matches)
        self._required = [
            bit for bit, term in enumerate(matches.terms) if not term.is_whole
        ]
        self._text_weights = {
            number: self._weigh(*texts) for number, texts in matches.sessions.items()
        }
        self.sessions = self._score_sessions()
        """The score of each session that matches; the best is 1."""

    def has_term(self, bit: int) -> bool:
        """Return whether a message, a call or the texts of a session have a term."""
        return (
            self._matches.frequencies[bit] > 0
            or any(weights[bit] for weights in self._text_weights.values())
            or any(row.mask >> bit & 1 for row in self._matches.candidates)
        )

    def score(self, candidate: Candidate, factor: float = 1.0) -> float:
        """Return the score of a message; the weight of its role times a factor
        counts."""
        weight = ROLE_WEIGHTS[candidate.role] * factor
        length = K1 * (1 - B + B * candidate.length / self._average)
        idf = sum(self._idfs[bit] for bit in bits(candidate.mask))
        return idf * weight * (K1 + 1) / (weight + length)

    def score_event(self, candidate: Candidate, event: Event) -> float:
        """Return the score of a message and its wording."""
        has_tool = conversations.next_tool(candidate.session, event)
        score = self.score(candidate, TOOL_TURN if has_tool else 1.0)
        return score + self._wording_of(event.text)

    def score_texts(self, session: int, text: str) -> float:
        """Return the score of a session's title, summary and bullets."""
        score = _bm25(self._idfs, self._text_weights[session], K1)
        return score + self._wording_of(text)

    def coverage(self, mask: int, score: float) -> float:
        """Return how much of the query a message has, 0 to 1: its share of the best
        possible score, times its share of the terms, times their rarity."""
        if not self._query.words or self._query.has_only_stop_words:
            return 1.0
        most = sum(self._idfs[bit] for bit in self._required) * MAX_TERM_SCORE
        own = [bit for bit in self._required if mask >> bit & 1]
        coverage = min(1.0, _share(score, most)) * self._coverage(own)
        return max(coverage, MIN_GOOD) if self._query.phrases else coverage

    def coverage_of_texts(self, session: int) -> float:
        """Return the share of the terms that the texts of a session have, times their
        rarity."""
        weights = self._text_weights[session]
        return self._coverage([bit for bit in self._required if weights[bit] > 0])

    def _coverage(self, own: Sequence[int]) -> float:
        """Return the share of the terms that are these, times their rarity.

        Together they should be as rare as a term that one message has: many messages
        have "tests" and "failed" by chance.
        """
        rarest = inverse_document_frequency(self._matches.message_count, 1)
        rarity = min(1.0, _share(sum(self._idfs[bit] for bit in own), rarest))
        return rarity * _share(len(own), len(self._required))

    def rank_candidates(self) -> list[Candidate]:
        """Return all candidates, the best first, as far as the index knows them."""
        scores = {row.id: self.score(row) for row in self._matches.candidates}
        best = max(scores.values(), default=0.0)

        def rank(candidate: Candidate) -> tuple[float, int]:
            share = _share(scores[candidate.id], best)
            return share + self.sessions[candidate.session], candidate.id

        return sorted(self._matches.candidates, key=rank, reverse=True)

    def _weigh(self, title: str, summary: str, bullets: str) -> list[float]:
        """Return the weight of each term in the texts of a session.

        Their length counts only as far as they are longer than an average message.
        """
        weights = [0.0] * len(self._idfs)
        for text, weight in (
            (title, SESSION_TITLE),
            (summary, SESSION_SUMMARY),
            (bullets, SESSION_BULLETS),
        ):
            terms = text.split()
            excess = max(0.0, len(terms) / self._average - 1)
            for bit in bits(self._matches.mask(frozenset(terms))):
                weights[bit] += weight / (1 - B + B * excess)
        return weights

    def _score_sessions(self) -> dict[int, float]:
        weights = {number: [*own] for number, own in self._text_weights.items()}
        lengths: dict[int, int] = {}
        for candidate in self._matches.candidates:
            own = weights.setdefault(candidate.session, [0.0] * len(self._idfs))
            for bit in bits(candidate.mask):
                own[bit] += ROLE_WEIGHTS[candidate.role]
            lengths[candidate.session] = candidate.session_length
        count = max(self._matches.session_count, len(weights))
        average = self._matches.length / (count or 1) or 1.0
        idfs = [
            term.weight
            * inverse_document_frequency(
                count, sum(own[bit] > 0 for own in weights.values())
            )
            for bit, term in enumerate(self._matches.terms)
        ]
        scores = {
            number: _bm25(
                idfs, own, K1 * (1 - B + B * lengths.get(number, average) / average)
            )
            for number, own in weights.items()
        }
        best = max(scores.values(), default=0.0)
        return {number: _share(score, best) for number, score in scores.items()}


def _bm25(idfs: Sequence[float], weights: Sequence[float], length: float) -> float:
    return sum(
        idf * weight * (K1 + 1) / (weight + length)
        for idf, weight in zip(idfs, weights, strict=True)
    )


def _share(score: float, best: float) -> float:
    return score / best if best else 0.0


def wording_bonus(query: Query, matches: Matches) -> Callable[[str], float]:
    """Return a function that scores the wording of a text, besides its terms.

    Words near one another count, and identifiers and the whole query as they were
    typed.
    """
    terms = [term.term for term in matches.terms]
    idf_of = dict(zip(terms, matches.idfs(), strict=True))
    typed = [(word.text, word.terms) for word in query.words if len(word.terms) > 1]
    if len(query.words) > 1:
        typed.append((query.text.strip(), query.terms))
    verbatim = {
        text.casefold(): sum(idf_of.get(term, 0.0) for term in own)
        for text, own in typed
    }
    pairs = [pair for pair in pairwise(query.terms) if idf_of.keys() >= {*pair}]
    # The same as for marks: each word is tested once.
    may_match = analyzer.term_prefilter([*query.terms, *query.prefixes])

    def bonus(text: str) -> float:
        positions: dict[str, list[int]] = {}
        for at, word in enumerate(
            analyzer.words(text[:WORDING_CHARS]) if pairs else ()
        ):
            for term in analyzer.word_terms(word) if may_match(word) else ():
                positions.setdefault(term, []).append(at)
        total = 0.0
        for first, second in pairs:
            if any(
                abs(at - other) <= NEAR_WORDS
                for at in positions.get(first, ())
                for other in positions.get(second, ())
            ):
                total += min(idf_of[first], idf_of[second])
        folded = text.casefold()
        return total + sum(idf for words, idf in verbatim.items() if words in folded)

    return bonus


def _limit_per_session(ranked: Iterable[Candidate]) -> list[Candidate]:
    """Return the best few candidates of each session."""
    counts = Counter[int]()
    limited = []
    for candidate in ranked:
        counts[candidate.session] += 1
        if counts[candidate.session] <= READ_OF_SESSION:
            limited.append(candidate)
    return limited


def _join(
    messages: Iterable[RankedHit], sessions: Iterable[RankedHit]
) -> list[RankedHit]:
    """Return messages and sessions in one order.

    The texts of a session count for its best message; without one it is a hit itself.
    """
    by_session = {hit.session: hit for hit in sessions}
    hits = []
    for hit in sorted(messages, key=lambda hit: -hit.rank):
        texts = by_session.pop(hit.session, None)
        hits.append(replace(hit, rank=max(hit.rank, texts.rank)) if texts else hit)
    return sorted([*hits, *by_session.values()], key=lambda hit: -hit.rank)
