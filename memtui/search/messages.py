"""Search in messages: ``SessionSearch`` returns each with the messages around it.

A message of the user weighs more than one of the assistant, a turn that used tools more
than one that did not. A session's title and summary add up to half of the best score
among its messages; see ``TITLE_SHARE`` in ``scoring``. The
limits always hold: 20 hits, 16 messages a window, 1,024 bytes of each.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.errors import SearchError
from memtui.model import hits as model_hits
from memtui.model.events import Event, EventRole, EventType, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    MAX_HITS,
    SNIPPET_BYTES,
    WINDOW_MESSAGES,
    MessageHit,
    MessageResult,
    Snippet,
    WindowMessage,
)
from memtui.model.sessions import Session
from memtui.search import query as search_query
from memtui.search import query_dates, recent, resolve_filters, scoring
from memtui.search.candidates import Candidate, Candidates, MessageFilter, QueryTerm
from memtui.search.message_index import MAX_PER_TERM, MessageIndex
from memtui.search.query import Query, Word
from memtui.search.query_dates import DatedQuery
from memtui.search.scoring import (
    DATE_BOOST,
    EQUAL_ROLES,
    K1,
    ROLE_WEIGHTS,
    SESSION_SUMMARY,
    SESSION_TITLE,
    TITLE_SHARE,
    TOOL_TURN,
    WHOLE_WEIGHT,
    B,
    MessageScores,
    RoleWeights,
)
from memtui.search.snippets import best_line, find_marks, matching_terms
from memtui.store import conversations, database, events, index_input, outbox, scopes
from memtui.store import sessions as store_sessions
from memtui.store.index_input import IndexableEvent
from memtui.text import analyzer

log = logging.getLogger(__name__)

MAX_TERMS = 60
"""How many terms of a query are looked up: its first ones."""

READ = 40
"""How many of the best candidates are read from the store."""

READ_MOST = 2_000
"""How many are read at most if some of them do not match."""

MAX_UNINDEXED = 300
"""How many of the latest messages are read while they are not indexed."""

READ_FOR_PHRASE = 5_000
"""How many of the newest messages are read for a phrase without terms."""

READ_WITHOUT_INDEX = 2_000
"""How many of the newest messages are read while there is no index."""

BEFORE, AFTER = 4, 4
"""How many messages a window has before and after the one that matches."""

READ_CHARS = 20_000
"""How many characters of a long message are searched for marks."""

LEAD_CHARS = 200
"""How many characters of a long message are shown before the first mark."""

MAX_TEXTS = 20
"""Of how many sessions the title and summary are scored by themselves."""

MAX_RECENT = 200
"""How many of the newest messages are read if the query has no words."""

NO_INDEX = "There is no message index yet: the newest messages are searched."
DAMAGED = (
    "The message index is damaged: until it is rebuilt, the newest messages are"
    " searched."
)
REBUILDING = "The message index is being built, newest first: {:,} events so far."
BEHIND = "{:,} events are not indexed yet; the latest of them are searched."
NO_WORD = 'Type a word to search for; symbols alone need quotes: "=>".'
STOP_WORDS = "These words are too common to search for, except in quotes."
NO_TOOL_TEXT = (
    "The text of tool calls is not searched, only the names of tools"
    " (search.include_tools)."
)
NO_TERM = "No word to look up: the newest {:,} messages were searched."
TOO_COMMON = "Very common, searched in the newest {:,} messages that have them: {}."
NODES_ONLY = "level:, has: and by: apply to summaries; this searches messages."


@dataclass(slots=True)
class RankedMessage:
    """A message that matches, with its scores."""

    session: int
    """The number of its session."""
    event: Event
    message: float
    """BM25 of the message, with a bonus for its wording."""
    window: float
    """BM25 of the messages around it, with the same bonus."""
    conversation: float
    """BM25 of its whole conversation."""
    score: float
    """0 to 1."""


@dataclass(slots=True)
class MessageMatches:
    """The messages and sessions that match a query, in no order."""

    messages: list[RankedMessage] = field(default_factory=list)
    titles: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries, and the headlines of
    their segments."""
    texts: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries alone, comparable with
    those of messages."""
    unknown: list[str] = field(default_factory=list)
    """The terms that no message contains."""
    notes: list[str] = field(default_factory=list)


class MessageSearcher:
    """Searches messages in their index or, without one, in the store."""

    def __init__(self, index: MessageIndex) -> None:
        """Take the index."""
        self._index = index

    def search(
        self,
        query: Query,
        role_weights: RoleWeights = EQUAL_ROLES,
        *,
        sessions: frozenset[int] | None = None,
    ) -> MessageMatches:
        """Return the messages that match; needs an open connection to the store.

        Args:
            query: The query.
            role_weights: The weight of a term by who wrote the message.
            sessions: The numbers of the sessions to search; None for all that the
                query's filters let pass.
        """
        matches = MessageMatches()
        terms = _query_terms(query)
        if not terms and not query.phrases:
            matches.notes.append(STOP_WORDS)
            return matches
        with_tools = self._index.with_tools
        if query.filters.role is EventRole.TOOL and not with_tools:
            matches.notes.append(NO_TOOL_TEXT)
        if sessions is None:
            sessions = scopes.get_sessions(query.filters)
        within = _message_filter(query, sessions)
        if terms:
            found, unindexed = self._find(terms, query, within, matches)
        else:
            found = Candidates(terms)
            unindexed = index_input.read_newest(READ_FOR_PHRASE)
            matches.notes.append(NO_TERM.format(len(unindexed)))
        passing = [one for one in unindexed if _passes(one, within)]
        found.add_unindexed(passing, query, with_tools=with_tools)
        self._rank(found, query, role_weights, matches)
        return matches

    def _find(
        self,
        terms: Sequence[QueryTerm],
        query: Query,
        within: MessageFilter,
        matches: MessageMatches,
    ) -> tuple[Candidates, list[IndexableEvent]]:
        """Search the index; return what it finds and the events that it lacks."""
        if not self._index.exists():
            matches.notes.append(NO_INDEX)
            return Candidates(terms), index_input.read_newest(READ_WITHOUT_INDEX)
        # Read these first: they may be indexed while the index is searched.
        ranges, waiting = outbox.list_latest_events(MAX_UNINDEXED)
        unindexed = index_input.read_ranges(ranges)[-MAX_UNINDEXED:]
        try:
            status = self._index.status()
            found = self._index.search(
                terms,
                within,
                required=query.phrase_terms,
                with_titles=not (within.is_of_messages or query.needs_text),
            )
        except SearchError:
            log.exception("the message index cannot be searched")
            matches.notes.append(DAMAGED)
            return Candidates(terms), index_input.read_newest(READ_WITHOUT_INDEX)
        matches.titles = found.titles
        if not status.is_complete:
            matches.notes.append(REBUILDING.format(status.events_read))
        elif waiting > MAX_UNINDEXED:
            matches.notes.append(BEHIND.format(waiting))
        if found.common:
            common = ", ".join(found.common)
            matches.notes.append(TOO_COMMON.format(MAX_PER_TERM, common))
        return found, unindexed

    def _rank(
        self,
        found: Candidates,
        query: Query,
        role_weights: RoleWeights,
        matches: MessageMatches,
    ) -> None:
        scores = scoring.score_messages(found, role_weights)
        required = found.required
        counted = zip(
            found.terms, found.frequencies, scoring.message_idfs(found), strict=True
        )
        parts = [
            (one.term, count, idf) for one, count, idf in counted if not one.is_whole
        ]
        idfs = {term: idf for term, _, idf in parts}
        matches.unknown = [term for term, count, _ in parts if not count]
        most = sum(idfs.values()) * scoring.MAX_TERM_SCORE or 1.0
        bonus_of = scoring.text_bonus(query, idfs)
        matches.texts = _text_scores(found.titles, query, idfs, bonus_of)
        for one, event in self._read(found, scores, query):
            score, bonus = scores.messages.get(one.id, 0.0), bonus_of(event.text)
            share = (one.mask & required).bit_count() / (len(parts) or 1)
            matches.messages.append(
                RankedMessage(
                    one.session,
                    event,
                    score + bonus,
                    scores.windows.get(one.id, 0.0) + bonus,
                    scores.conversations.get(one.conversation, 0.0),
                    _score(score / most, share, query),
                )
            )

    def _read(
        self, found: Candidates, scores: MessageScores, query: Query
    ) -> Iterator[tuple[Candidate, Event]]:
        """Yield the best candidates that match, with their events."""
        messages, windows = scores.messages, scores.windows
        best = max(messages.values(), default=0) or 1
        best_window = max(windows.values(), default=0) or 1

        def rank(one: Candidate) -> tuple[float, int]:
            score = messages.get(one.id, 0.0) / best
            return score + windows.get(one.id, 0.0) / best_window, one.id

        ranked = sorted(found.by_id.values(), key=rank, reverse=True)[:READ_MOST]
        count = 0
        for start in range(0, len(ranked), READ):
            some = ranked[start : start + READ]
            known = events.get(one.event_id for one in some)
            for one in some:
                event = known.get(one.event_id)
                if event and self._matches(event, query):
                    count += 1
                    yield one, event
            if count >= READ:
                return

    def _matches(self, event: Event, query: Query) -> bool:
        """Return True if an event passes what the index does not check."""
        since, until = query.filters.since, query.filters.until
        if (since and event.timestamp < since) or (until and event.timestamp >= until):
            return False
        is_call = event.event_type is EventType.TOOL_RESULT
        if not is_call or self._index.with_tools:
            return query.matches(event.text)
        tool = event.metadata.get("tool_name", "")
        return query.matches(tool) and set(analyzer.terms(tool)).issuperset(query.terms)


def _query_terms(query: Query) -> list[QueryTerm]:
    if query.has_only_stop_words:
        return []
    prefixes = {word.terms[-1]: word.prefix for word in query.words}
    weights = {term: query.weight(word) for word in query.words for term in word.terms}
    found = [
        QueryTerm(term, prefixes.get(term, ""), weights[term])
        for term in query.terms[:MAX_TERMS]
    ]
    return found + [
        QueryTerm(word.whole, word.whole * word.is_prefix, WHOLE_WEIGHT, is_whole=True)
        for word in query.words
        if word.whole
    ]


def _message_filter(query: Query, sessions: frozenset[int] | None) -> MessageFilter:
    filters = query.filters
    return MessageFilter(
        sessions,
        filters.role,
        filters.since,
        filters.until,
        filters.with_subagents,
        tuple(
            _word_terms(word)
            for word in query.excluded
            if analyzer.is_indexed(word.text)
        ),
    )


def _word_terms(word: Word) -> tuple[QueryTerm, ...]:
    *first, last = word.terms
    return (*map(QueryTerm, first), QueryTerm(last, word.prefix))


def _passes(one: IndexableEvent, within: MessageFilter) -> bool:
    """Return True if an event that is not indexed passes a filter."""
    return (
        (within.sessions is None or one.session in within.sessions)
        and (not within.role or one.indexed_role is within.role)
        and (not within.since or one.at_ms >= to_ms(within.since))
        and (not within.until or one.at_ms < to_ms(within.until))
        and (within.with_subagents or not one.subagent)
    )


def _score(ratio: float, share: float, query: Query) -> float:
    """Return a message's score; one that has a phrase is good."""
    if not query.words or query.has_only_stop_words:
        return 1.0
    score = min(1.0, ratio) * share
    return max(score, model_hits.MIN_GOOD) if query.phrases else score


# Titles of sessions


def _text_scores(
    sessions: Iterable[int],
    query: Query,
    idfs: Mapping[str, float],
    bonus_of: Callable[[str], float],
) -> dict[int, float]:
    """Return the scores of the title and summary of sessions, as of one message.

    As in the titles of nodes, the length does not matter.
    """
    scores = {}
    for number, texts in store_sessions.get_texts(list(sessions)[:MAX_TEXTS]).items():
        title, summary = (matching_terms(text, query) for text in texts)
        score = 0.0
        for term, idf in idfs.items():
            weight = SESSION_TITLE * (term in title) + SESSION_SUMMARY * (
                term in summary
            )
            score += idf * weight * (K1 + 1) / (weight + K1 * (1 - B))
        if score:
            scores[number] = score + bonus_of("\n".join(texts))
    return scores


def title_scores(sessions: Iterable[int], query: Query) -> dict[int, float]:
    """Return how much of a query the title and summary of each session have, 0 to 1."""
    known = store_sessions.get_many(sessions)
    return {number: title_score(one, query) for number, one in known.items()}


def title_score(session: Session, query: Query) -> float:
    """Return how much of a query the title and summary of a session have, 0 to 1."""
    terms = matching_terms(f"{session.title}\n{session.summary}", query)
    prefixes = {word.terms[-1]: word.prefix for word in query.words if word.is_prefix}
    found = [
        term in terms
        or (term in prefixes and any(t.startswith(prefixes[term]) for t in terms))
        for term in query.terms
    ]
    return sum(found) / len(found) if found else 0.0


def title_snippet(session: Session, query: Query) -> Snippet:
    """Return the line of a session's title and summary that matches best."""
    lines = [session.title, *session.summary.splitlines()]
    line = best_line([line for line in lines if line.strip()] or [""], query)
    return Snippet(line, tuple(find_marks(line, query)))


# The search of sessions


class SessionSearch:
    """Searches the messages of all sessions."""

    def __init__(
        self, searcher: MessageSearcher, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Take what it searches with.

        Args:
            searcher: Of messages.
            zone: The time zone of dates in queries.
            clock: Returns the time that "last week" is relative to.
        """
        self._searcher, self._zone, self._clock = searcher, zone, clock

    def find(
        self,
        text: str,
        *,
        limit: int = MAX_HITS,
        before: int = BEFORE,
        after: int = AFTER,
        is_one_each: bool = False,
        filters: Filters = EVERYTHING,
    ) -> MessageResult:
        """Return the messages that match best; any text is a valid query.

        It blocks for some milliseconds: do not call it on the thread of the screen.

        Args:
            text: The typed text, including filters.
            limit: The most hits; never more than 20.
            before: How many messages a window has before the hit.
            after: How many after it; a window never has more than 16 in all.
            is_one_each: Whether only the best message of each session is returned.
            filters: Filters besides those in the text.
        """
        began_s = time.perf_counter()
        dated = query_dates.parse(text, self._clock(), self._zone)
        query = search_query.parse(dated.words, self._zone, filters)
        result = MessageResult(text, notes=query.hints)
        recent_query = recent.recent_query(query, dated)
        if recent_query is None and query.is_empty:
            result = replace(result, notes=(*query.hints, NO_WORD))
        elif query.filters.needs_nodes:
            result = replace(result, notes=(*query.hints, NODES_ONLY))
        else:
            before = max(0, min(before, WINDOW_MESSAGES - 1))
            after = max(0, min(after, WINDOW_MESSAGES - 1 - before))
            with database.connection():
                query, unknown = resolve_filters.resolve(recent_query or query)
                if recent_query is not None:
                    ranked, notes = _recent(query), recent.notes(dated)
                    dated = replace(dated, periods=())
                else:
                    matches = self._searcher.search(query, ROLE_WEIGHTS)
                    ranked, notes = _rank(matches, dated), tuple(matches.notes)
                if is_one_each:
                    ranked = _best_of_each(ranked)
                some = ranked[: max(0, min(limit, MAX_HITS))]
                hits = _with_scores(list(_hits(some, query, before, after)))
            result = replace(
                result,
                hits=hits,
                notes=(*query.hints, *unknown, *notes),
                is_recent=recent_query is not None,
            )
        times = [hit.match.at for hit in result.hits if hit.match]
        result = replace(result, times=dated.describe(times))
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)


@dataclass(frozen=True, slots=True)
class _RankedHit:
    """A message that matches, or a session whose title does."""

    session: int
    rank: float
    """Comparable within one result only."""
    event: Event | None
    score: float = 0.0
    """That of the message, 0 to 1."""


def _recent(query: Query) -> list[_RankedHit]:
    found = conversations.list_recent_messages(query.filters, MAX_RECENT)
    return [_RankedHit(number, 1.0, event, 1.0) for number, event in found]


def _best_of_each(ranked: Sequence[_RankedHit]) -> list[_RankedHit]:
    best: dict[int, _RankedHit] = {}
    for one in ranked:
        best.setdefault(one.session, one)
    return list(best.values())


def _rank(matches: MessageMatches, dated: DatedQuery) -> list[_RankedHit]:
    """Return messages, and sessions where only the title matches, best first."""
    best = max(matches.titles.values(), default=0.0) or 1.0
    titles = {
        number: TITLE_SHARE * score / best for number, score in matches.titles.items()
    }
    ranks, texts = _message_ranks(matches, dated)
    ranked = []
    for rank, one in sorted(
        zip(ranks, matches.messages, strict=True), key=lambda pair: -pair[0]
    ):
        # The text of the session counts for its best message.
        rank = max(rank, texts.pop(one.session, 0.0)) + titles.get(one.session, 0.0)
        ranked.append(_RankedHit(one.session, rank, one.event, one.score))
    with_messages = {one.session for one in ranked}
    ranked += [
        _RankedHit(number, texts.get(number, 0.0) + score, None)
        for number, score in titles.items()
        if number not in with_messages
    ]
    return sorted(ranked, key=lambda one: -one.rank)


def _message_ranks(
    matches: MessageMatches, dated: DatedQuery
) -> tuple[list[float], dict[int, float]]:
    """Return the ranks of messages and of sessions for their texts.

    A rank is the sum of the scores of a message, of its window and of its conversation,
    each against the best one. A text counts as a conversation with this message alone.
    """
    some = matches.messages
    best_text = max(matches.texts.values(), default=0.0)
    best = max((one.message for one in some), default=0.0)
    best = max(best, best_text) or 1.0
    best_window = max((one.window for one in some), default=0.0) or 1.0
    best_conversation = max((one.conversation for one in some), default=0.0) or 1.0

    ranks = []
    for one in some:
        own = one.message / best
        if conversations.next_tool(one.session, one.event):
            own *= TOOL_TURN
        total = own + one.window / best_window + one.conversation / best_conversation
        total *= DATE_BOOST if dated.covers(one.event.timestamp) else 1.0
        ranks.append(total)
    return ranks, {number: 3 * one / best for number, one in matches.texts.items()}


def _with_scores(hits: Sequence[tuple[float, MessageHit]]) -> tuple[MessageHit, ...]:
    """Return hits with scores that fall as their ranks do."""
    best = max((hit.score for _, hit in hits), default=0.0)
    most = max((rank for rank, _ in hits), default=0.0) or 1.0
    return tuple(replace(hit, score=best * rank / most) for rank, hit in hits)


def _hits(
    ranked: Sequence[_RankedHit], query: Query, before: int, after: int
) -> Iterator[tuple[float, MessageHit]]:
    """Yield (rank, hit)."""
    known = store_sessions.get_many(one.session for one in ranked)
    positions = conversations.count_messages_before(
        [(one.session, one.event) for one in ranked if one.event]
    )
    for one in ranked:
        session, event = known.get(one.session), one.event
        if session is None:
            continue
        if event is None:
            yield one.rank, _title_hit(one.session, session, query)
            continue
        position = positions[event.event_id]
        window = tuple(_window(one.session, event, position, query, before, after))
        yield (
            one.rank,
            MessageHit(
                session, event.subagent, event.event_id, position, one.score, window
            ),
        )


def _title_hit(number: int, session: Session, query: Query) -> MessageHit:
    """Return the first message of a session where only the title matches."""
    first = conversations.first_message(number)
    return MessageHit(
        session,
        first.subagent if first else "",
        first.event_id if first else "",
        -1,
        title_score(session, query),
        (),
        title_snippet(session, query),
    )


def _window(
    session: int, event: Event, position: int, query: Query, before: int, after: int
) -> Iterator[WindowMessage]:
    """Yield a message and those around it."""
    earlier, later = conversations.messages_around(session, event, before, after)
    at = position - len(earlier)
    for one in (*earlier, event, *later):
        yield _window_message(session, one, at, query, is_match=one is event)
        # Other events have the number of the next message.
        at += one.is_message


def _window_message(
    session: int, event: Event, position: int, query: Query, *, is_match: bool
) -> WindowMessage:
    text = _cut(event.text, query, is_match=is_match)
    tool = event.metadata.get("tool_name", "")
    if event.role is EventRole.ASSISTANT:
        tool = conversations.next_tool(session, event)
    marks = tuple(find_marks(text, query)) if is_match else ()
    return WindowMessage(
        event_id=event.event_id,
        msg_idx=position,
        role=event.role,
        at=event.timestamp,
        snippet=Snippet(text, marks),
        is_truncated=text != event.text,
        tool_name=tool,
        is_match=is_match,
    )


def _cut(text: str, query: Query, *, is_match: bool) -> str:
    """Cut a message to the length a window shows; a hit around its first mark."""
    if len(text) <= SNIPPET_BYTES and len(text.encode()) <= SNIPPET_BYTES:
        return text
    start = 0
    if is_match:
        marks = find_marks(text[:READ_CHARS], query)
        start = max(0, marks[0][0] - LEAD_CHARS) if marks else 0
        blank = text.find(" ", start, start + LEAD_CHARS // 2) if start else -1
        start = max(start, blank + 1)
    data = text[:READ_CHARS][start : start + SNIPPET_BYTES].encode()
    return data[:SNIPPET_BYTES].decode(errors="ignore")
