"""Search in messages: ``MessageSearch`` returns each with the messages around it.

A message of the user weighs more than one of the assistant, a turn that used tools more
than one that did not, and the title and summary of a session more than either; see
``scoring``. The limits always apply: 20 hits, 16 messages a window, 1,024 bytes
of each.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.errors import SearchError
from memtui.model.events import Event, EventRole, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    MAX_HITS,
    MIN_GOOD,
    SNIPPET_BYTES,
    WINDOW_MESSAGES,
    Hits,
    MessageHit,
    Snippet,
    WindowMessage,
)
from memtui.model.sessions import Session
from memtui.search import query as search_query
from memtui.search import scoring
from memtui.search.message_index import MAX_PER_TERM, MessageIndex
from memtui.search.query import (
    Query,
    describe_newest,
    parse_with_dates,
    query_for_newest,
    resolve_names,
)
from memtui.search.scoring import (
    EQUAL_ROLES,
    Candidate,
    Candidates,
    MessageFilter,
    MessageScores,
    QueryTerm,
    RoleWeights,
)
from memtui.search.snippets import best_snippet, find_marks, matching_terms
from memtui.store import conversations, database, events, queues, scopes
from memtui.store import sessions as store_sessions
from memtui.store.events import IndexableEvent
from memtui.text import analyzer

log = logging.getLogger(__name__)

MAX_TERMS = 60
"""The number of terms of a query that are looked up: its first ones."""

READ = 40
"""The number of best candidates read from the store."""

READ_MOST = 2_000
"""The maximum number read if some of them do not match."""

MAX_UNINDEXED = 300
"""The number of latest messages read while they are not indexed."""

READ_FOR_PHRASE = 5_000
"""The number of newest messages read for a phrase without terms."""

READ_WITHOUT_INDEX = 2_000
"""The number of newest messages read while there is no index."""

BEFORE, AFTER = 4, 4
"""The numbers of messages before and after one that matches, which are shown with
it."""

READ_CHARS = 20_000
"""The number of characters of a long message that are searched for marks."""

LEAD_CHARS = 200
"""The number of characters of a long message that are shown before the first mark."""

MAX_TEXTS = 20
"""The number of sessions whose title and summary are scored by themselves."""

MAX_RECENT = 200
"""The number of newest messages read if the query has no words."""

NO_INDEX = "There is no message index yet: the newest messages are searched."
DAMAGED = (
    "The message index is damaged or of another version: until it is rebuilt, the"
    " newest messages are searched."
)
REBUILDING = "The message index is being built, newest first: {:,} events so far."
BEHIND = "{:,} events are not indexed yet; the latest of them are searched."
ONLY_STOP_WORDS = "These words are too common to search for, except in quotes."
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
    message_score: float
    """BM25 of the message, with a bonus for its wording."""
    window_score: float
    """BM25 of the messages around it, with the same bonus."""
    conversation_score: float
    """BM25 of its whole conversation."""
    score: float
    """0 to 1."""
    terms: tuple[QueryTerm, ...] = ()
    """The terms of the specific words that it contains."""


@dataclass(slots=True)
class MessageMatches:
    """The messages and sessions that match a query, in no order."""

    messages: list[RankedMessage] = field(default_factory=list)
    title_scores: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries, and the headlines of
    their segments: they add to the ranks of messages."""
    text_scores: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries, as if these were a
    message."""
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class MessageMatcher:
    """Searches messages in their index or, without one, in the store."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index

    def search(
        self,
        query: Query,
        role_weights: RoleWeights = EQUAL_ROLES,
        *,
        sessions: frozenset[int] | None = None,
    ) -> MessageMatches:
        """Return the messages that match; needs an open connection to the store.

        The sessions with these numbers are searched, by default all that the query's
        filters let pass.
        """
        matches = MessageMatches()
        terms = _query_terms(query)
        if not terms and not query.phrases:
            matches.notes.append(ONLY_STOP_WORDS)
            return matches
        filters, with_tools = query.filters, self._index.with_tools
        if filters.role is EventRole.TOOL and not with_tools:
            matches.notes.append(NO_TOOL_TEXT)
        allowed = scopes.get_sessions(filters) if sessions is None else sessions
        within = _message_filter(query, allowed)
        if terms:
            found, unindexed = self._find(terms, query, within, matches)
        else:
            found = Candidates(terms)
            unindexed = events.list_newest_indexable(READ_FOR_PHRASE)
            matches.notes.append(NO_TERM.format(len(unindexed)))
        passing = [one for one in unindexed if _passes(one, within)]
        found.add_unindexed(passing, query, with_tools=with_tools)
        self._score(found, query, role_weights, matches)
        return matches

    def count_more(
        self, messages: Iterable[RankedMessage], query: Query
    ) -> dict[int, int]:
        """Count what else the sessions of messages have, by the sessions' numbers.

        Other messages count that have all specific words of the given one. It is empty
        for phrases: the index does not know the order of words.
        """
        groups: dict[tuple[QueryTerm, ...], set[int]] = {}
        has_phrases = query.phrases or query.excluded_phrases
        for one in () if has_phrases else messages:
            groups.setdefault(one.terms, set()).add(one.session)
        counts: dict[int, int] = {}
        with suppress(SearchError):  # the search has noted it
            for terms, numbers in groups.items():
                within = _message_filter(query, frozenset(numbers))
                counts |= self._index.count_by_session(terms, within) if terms else {}
        return {number: max(0, count - 1) for number, count in counts.items()}

    def _find(
        self,
        terms: Sequence[QueryTerm],
        query: Query,
        within: MessageFilter,
        matches: MessageMatches,
    ) -> tuple[Candidates, list[IndexableEvent]]:
        """Search the index; return what it finds and the events that it lacks."""
        note = NO_INDEX
        if self._index.exists():
            # Read these first: they may be indexed while the index is searched.
            ranges, waiting = queues.list_latest_unindexed_events(MAX_UNINDEXED)
            unindexed = events.list_indexable(ranges)[-MAX_UNINDEXED:]
            try:
                status = self._index.status()
                found = self._index.search(
                    terms,
                    within,
                    required=query.phrase_terms,
                    with_titles=not (within.selects_messages or query.needs_text),
                )
            except SearchError:
                log.exception("the message index cannot be searched")
                note = DAMAGED
            else:
                if not status.is_complete:
                    matches.notes.append(REBUILDING.format(status.events_read))
                elif waiting > MAX_UNINDEXED:
                    matches.notes.append(BEHIND.format(waiting))
                if found.common:
                    common = ", ".join(found.common)
                    matches.notes.append(TOO_COMMON.format(MAX_PER_TERM, common))
                return found, unindexed
        matches.notes.append(note)
        return Candidates(terms), events.list_newest_indexable(READ_WITHOUT_INDEX)

    def _score(
        self,
        found: Candidates,
        query: Query,
        role_weights: RoleWeights,
        matches: MessageMatches,
    ) -> None:
        scores = scoring.score_messages(found, role_weights)
        counted = zip(
            found.terms, found.frequencies, scoring.message_idfs(found), strict=True
        )
        parts = [
            (one.term, count, idf) for one, count, idf in counted if not one.is_whole
        ]
        idfs = {term: idf for term, _, idf in parts}
        matches.unknown = [term for term, count, _ in parts if not count]
        most = sum(idfs.values()) * scoring.MAX_TERM_SCORE or 1.0
        required, bonus_of = found.required, scoring.text_bonus(query, idfs)
        matches.title_scores = found.title_scores
        texts = store_sessions.get_texts([*found.title_scores][:MAX_TEXTS])
        average = found.length / max(found.message_count, 1) or 1.0
        for number, both in texts.items():
            title, summary = ((matching_terms(t, query), len(t.split())) for t in both)
            if score := scoring.score_texts(title, summary, idfs, average):
                matches.text_scores[number] = score + bonus_of("\n".join(both))
        for one, event in self._read(found, scores, query):
            score, bonus = scores.messages.get(one.id, 0.0), bonus_of(event.text)
            own = 1.0
            if query.words and not query.has_only_stop_words:
                share = (one.mask & required).bit_count() / (len(parts) or 1)
                own = min(1.0, (score + bonus) / most) * share
                if query.phrases:
                    own = max(own, MIN_GOOD)
            matches.messages.append(
                RankedMessage(
                    one.session,
                    event,
                    score + bonus,
                    scores.windows.get(one.id, 0.0) + bonus,
                    scores.conversations.get(one.conversation, 0.0),
                    own,
                    found.specific_terms(one.mask),
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
        if not event.is_tool_call or self._index.with_tools:
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
        QueryTerm(
            word.whole, word.whole * word.is_prefix, scoring.WHOLE_WEIGHT, is_whole=True
        )
        for word in query.words
        if word.whole
    ]


def _message_filter(query: Query, sessions: frozenset[int] | None) -> MessageFilter:
    filters = query.filters
    return MessageFilter(
        sessions,
        filters.scope.agent,
        filters.scope.project,
        filters.role,
        filters.since,
        filters.until,
        filters.with_subagents,
        tuple(
            (*map(QueryTerm, word.terms[:-1]), QueryTerm(word.terms[-1], word.prefix))
            for word in query.excluded
            if analyzer.is_indexed(word.text)
        ),
    )


def _passes(one: IndexableEvent, within: MessageFilter) -> bool:
    """Return True if an event that is not indexed passes a filter."""
    return (
        (within.sessions is None or one.session in within.sessions)
        and (not within.role or one.indexed_role is within.role)
        and (not within.since or one.at_ms >= to_ms(within.since))
        and (not within.until or one.at_ms < to_ms(within.until))
        and (within.with_subagents or not one.subagent)
    )


def title_score(session: Session, query: Query) -> float:
    """Return how much of a query the title and summary of a session have, 0 to 1."""
    terms = matching_terms(f"{session.title}\n{session.summary}", query)
    found = [word for word in query.words if word.matches(terms)]
    return len(found) / len(query.words) if query.words else 0.0


def title_snippet(session: Session, query: Query) -> Snippet:
    """Return the line of a session's title and summary that matches best."""
    return best_snippet([session.title, *session.summary.splitlines()], query)


# The search of messages, each with those around it


class MessageSearch:
    def __init__(
        self, matcher: MessageMatcher, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        self._matcher, self._zone, self._clock = matcher, zone, clock

    def find(
        self,
        text: str,
        *,
        limit: int = MAX_HITS,
        before: int = BEFORE,
        after: int = AFTER,
        one_per_session: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Hits[MessageHit]:
        """Return the messages that match best; any text is a valid query.

        There are never more than 20 hits, and 16 messages in a window; if
        ``one_per_session``, only the best message of each session. Filters in the text
        replace the others. It blocks for some milliseconds: do not call it on the
        thread of the screen.
        """
        began_s = time.perf_counter()
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        result: Hits[MessageHit] = Hits(text, notes=query.hints)
        recent_query = query_for_newest(query)
        if recent_query is None and query.is_empty:
            result = replace(result, notes=(*query.hints, search_query.NO_WORD))
        elif query.filters.needs_nodes:
            result = replace(result, notes=(*query.hints, NODES_ONLY))
        else:
            before = max(0, min(before, WINDOW_MESSAGES - 1))
            after = max(0, min(after, WINDOW_MESSAGES - 1 - before))
            with database.connection():
                query, unknown = resolve_names(recent_query or query)
                if recent_query is not None:
                    newest = conversations.list_recent_messages(
                        query.filters, MAX_RECENT
                    )
                    ranked = [
                        _RankedHit(n, 1.0, RankedMessage(n, event, 1.0, 1.0, 1.0, 1.0))
                        for n, event in newest
                    ]
                    notes = describe_newest(query)
                    query = replace(query, periods=())
                else:
                    matches = self._matcher.search(query, scoring.ROLE_WEIGHTS)
                    ranked, notes = _rank(matches, query), tuple(matches.notes)
                if one_per_session:
                    best = {one.session: one for one in reversed(ranked)}
                    ranked = [one for one in ranked if best[one.session] is one]
                some = ranked[: max(0, min(limit, MAX_HITS))]
                shown = [one.message for one in some if one.message and one_per_session]
                more = self._matcher.count_more(shown, query)
                hits = tuple(_hits(some, query, more, before, after))
            result = replace(
                result,
                hits=hits,
                notes=(*query.hints, *unknown, *notes),
                is_recent=recent_query is not None,
            )
        times = [hit.match.at for hit in result.hits if hit.match]
        result = replace(result, times=query.describe_periods(times))
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)


@dataclass(frozen=True, slots=True)
class _RankedHit:
    """A message that matches, or a session whose title does."""

    session: int
    rank: float
    """Comparable within one result only."""
    message: RankedMessage | None


def _rank(matches: MessageMatches, query: Query) -> list[_RankedHit]:
    """Return messages, and sessions where only the title matches, best first.

    A rank is the sum of the scores of a message, of its window and of its conversation,
    each against the best one. A session's title and summary count as a conversation
    with this message alone.
    """
    some = matches.messages
    best = (
        max([0.0, *matches.text_scores.values(), *(one.message_score for one in some)])
        or 1.0
    )
    best_window = max((one.window_score for one in some), default=0.0) or 1.0
    best_conversation = (
        max((one.conversation_score for one in some), default=0.0) or 1.0
    )
    best_title = max(matches.title_scores.values(), default=0.0) or 1.0
    titles = {
        number: scoring.TITLE_SHARE * score / best_title
        for number, score in matches.title_scores.items()
    }
    texts = {
        number: scoring.SESSION_TEXTS * score / best
        for number, score in matches.text_scores.items()
    }
    ranks = []
    for one in some:
        own = one.message_score / best
        if conversations.next_tool(one.session, one.event):
            own *= scoring.TOOL_TURN
        rank = own + one.window_score / best_window
        rank += one.conversation_score / best_conversation
        rank *= scoring.DATE_BOOST if query.covers(one.event.timestamp) else 1.0
        ranks.append((rank, one))
    ranked = []
    for rank, one in sorted(ranks, key=lambda pair: -pair[0]):
        # The texts of the session count for its best message.
        rank = max(rank, texts.pop(one.session, 0.0)) + titles.get(one.session, 0.0)
        ranked.append(_RankedHit(one.session, rank, one))
    with_messages = {one.session for one in ranked}
    ranked += [
        _RankedHit(number, texts.get(number, 0.0) + score, None)
        for number, score in titles.items()
        if number not in with_messages
    ]
    return sorted(ranked, key=lambda one: -one.rank)


def _hits(
    ranked: Sequence[_RankedHit],
    query: Query,
    more: Mapping[int, int],
    before: int,
    after: int,
) -> Iterator[MessageHit]:
    """Yield hits, with scores that fall as their ranks do."""
    sessions = store_sessions.get_many(one.session for one in ranked)
    with_events = [(one.session, one.message.event) for one in ranked if one.message]
    positions = conversations.count_messages_before(with_events)
    windows = conversations.read_windows(with_events, before, after)
    known = [one for one in ranked if one.session in sessions]
    scores = [
        one.message.score if one.message else title_score(sessions[one.session], query)
        for one in known
    ]
    best, most = max(scores, default=0.0), max((o.rank for o in known), default=0.0)
    for one in known:
        session = sessions[one.session]
        score = best * one.rank / (most or 1.0)
        if one.message is None:
            first = conversations.first_message(one.session)
            yield MessageHit(
                session,
                first.subagent if first else "",
                first.event_id if first else "",
                -1,
                score,
                (),
                title_snippet(session, query),
            )
            continue
        event = one.message.event
        number = positions[event.event_id]
        around = windows[event.event_id]
        at = number - [one.event_id for one, _ in around].index(event.event_id)
        window = []
        for other, tool in around:
            is_match = other.event_id == event.event_id
            window.append(_window_message(other, tool, at, query, is_match=is_match))
            # Other events have the number of the next message.
            at += other.is_message
        yield MessageHit(
            session,
            event.subagent,
            event.event_id,
            number,
            score,
            tuple(window),
            more=more.get(one.session, 0),
        )


def _window_message(
    event: Event, next_tool: str, number: int, query: Query, *, is_match: bool
) -> WindowMessage:
    # A long message is cut, a hit around its first mark.
    whole = event.text[:READ_CHARS]
    marks = find_marks(whole, query) if is_match else []
    start = 0
    if marks and len(whole.encode()) > SNIPPET_BYTES:
        start = max(0, marks[0][0] - LEAD_CHARS)
        blank = whole.find(" ", start, start + LEAD_CHARS // 2) if start else -1
        start = max(start, blank + 1)
    data = whole[start : start + SNIPPET_BYTES].encode()
    text = data[:SNIPPET_BYTES].decode(errors="ignore")
    shown = [(a - start, b - start) for a, b in marks if b - start <= len(text)]
    tool = event.metadata.get("tool_name", "")
    return WindowMessage(
        event_id=event.event_id,
        msg_idx=number,
        role=event.role,
        at=event.timestamp,
        snippet=Snippet(text, tuple(shown)),
        is_truncated=text != event.text,
        tool_name=next_tool if event.role is EventRole.ASSISTANT else tool,
        is_match=is_match,
    )
