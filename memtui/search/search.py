"""Search in sessions and their messages.

``SessionSearch`` returns the best hit of each session, ``MessageSearch`` messages, each
with those around it. Both rank alike (see ``weights``): a message of the user weighs
more than one of the assistant, the title and summary of a session more than either.

For messages the limits always apply: 20 hits, 16 messages a window, 1,024 bytes of
each.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memtui.model.events import Event, EventRole, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hit import (
    MAX_HITS,
    SNIPPET_BYTES,
    WINDOW_MESSAGES,
    Hit,
    HitKind,
    Hits,
    Snippet,
    WindowMessage,
)
from memtui.model.nodes import TocEntry
from memtui.model.sessions import Session
from memtui.search import query as search_query
from memtui.search.node_scoring import node_texts
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
from memtui.search.ranking import MessageRanker, RankedHit, Ranking
from memtui.search.snippets import best_snippet, find_marks, matching_terms
from memtui.search.teleport import Teleport, in_scope, node_hits, read_newest
from memtui.store import conversations, database, events, segments
from memtui.store import nodes as store_nodes
from memtui.store import sessions as store_sessions

LIMIT = 20

NEWEST_MESSAGES = (
    "role: applies to messages: the newest are listed under messages only."
)

NODES_ONLY = "level:, has: and by: apply to summaries; this searches messages."

MAX_SEGMENTS = 200
"""The number of newest segments whose sessions are listed."""

FIRST_AMONG = 3
"""The first hit gets the best score among this many hits."""

SNIPPET_CHARS = 8_000
"""The number of characters of a message that are searched for its best line."""


class SessionSearch:
    """Searches everything that belongs to sessions: one hit for each."""

    def __init__(
        self,
        teleport: Teleport,
        ranker: MessageRanker,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        self._teleport, self._ranker = teleport, ranker
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> Hits:
        """Return the best hits, one for each session; any text is a valid query.

        Filters in the text replace the others; with one that only nodes can pass, nodes
        are searched. It blocks for some milliseconds: do not call it on the thread of
        the screen.
        """
        began_s = time.perf_counter()
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        if query.filters.needs_nodes:
            return self._teleport.find(text, limit=limit, filters=filters)
        result = Hits(text, notes=query.hints)
        newest_query = query_for_newest(query)
        if newest_query is None and is_small_talk(query):
            newest_query = replace(query, words=())
        with database.connection():
            if newest_query is not None:
                result = self._list_newest(newest_query, result, limit)
            elif query.is_empty:
                result = replace(result, notes=(*query.hints, search_query.NO_WORD))
            else:
                result = self._search(query, result, limit)
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)

    def _list_newest(self, query: Query, result: Hits, limit: int) -> Hits:
        """Return the pages of the query's periods, and the newest segment of each
        session."""
        query, notes = resolve_names(query)
        hits: list[Hit] = []
        if query.filters.role:
            notes.append(NEWEST_MESSAGES)
        else:
            pages = in_scope(list_pages(query, self._zone), query.filters.scope)
            hits = [*node_hits(pages), *_newest_of_sessions(query.filters)]
        notes += [*result.notes, *describe_newest(query)]
        notes += note_earlier_starts(query.periods, [hit.at for hit in hits[:limit]])
        return replace(
            result, hits=tuple(hits[:limit]), notes=tuple(notes), is_recent=True
        )

    def _search(self, query: Query, result: Hits, limit: int) -> Hits:
        query, unknown_names = resolve_names(query)
        ranking = self._ranker.rank(query, one_per_session=True)
        ranked = ranking.hits[: max(0, limit)]
        more = self._ranker.count_more(ranked, query)
        hits = tuple(_session_hits(ranked, query, more))
        suggestion, unknown = "", {*ranking.unknown}
        if unknown or not hits:
            # A word that some message has is spelt as it should be.
            words = tuple(w for w in query.words if not unknown.isdisjoint(w.terms))
            misspelt = replace(query, words=words) if hits else query
            suggestion = self._teleport.suggest(misspelt, has_few=not hits)
        notes = (*result.notes, *unknown_names, *ranking.notes)
        return replace(
            result,
            hits=hits,
            notes=tuple(dict.fromkeys(notes)),
            dates=query.describe_periods([hit.at for hit in hits]),
            suggestion=search_query.correct(result.query, query.text, suggestion),
            total=ranking.total,
            has_more=ranking.has_more,
        )


def _newest_of_sessions(filters: Filters) -> Iterator[Hit]:
    """Yield the newest segment of each session, the newest first."""
    nodes = read_newest(filters, MAX_SEGMENTS)
    numbers = segments.get_sessions(node.node_id for node in nodes)
    newest: dict[int, str] = {}
    for node in nodes:
        if node.node_id in numbers:
            newest.setdefault(numbers[node.node_id], node.node_id)
    sessions = store_sessions.get_many(newest)
    for hit in node_hits(newest.values()):
        if session := sessions.get(numbers[hit.node_id]):
            yield replace(hit, session=session)


def scale_scores(ranked: Sequence[RankedHit]) -> list[float]:
    """Return scores that fall as the ranks do.

    Ranks say nothing about how good the first hit is: it gets the best score of the
    first few.
    """
    best = max((hit.score for hit in ranked[:FIRST_AMONG]), default=0.0)
    first_rank = ranked[0].rank if ranked else 0.0
    return [best * hit.rank / (first_rank or 1.0) for hit in ranked]


def _session_hits(
    ranked: Sequence[RankedHit],
    query: Query,
    more: Mapping[int, int],
) -> Iterator[Hit]:
    """Yield the hit of each session, with the number of further matches."""
    sessions = store_sessions.get_many(hit.session for hit in ranked)
    times = {
        hit.session: (hit.session, to_ms(hit.event.timestamp))
        for hit in ranked
        if hit.event
    }
    segment_at = segments.find_at(times.values())
    places = {
        hit.session: segment_at.get(times[hit.session], "")
        if hit.event
        else _best_segment(hit.session, query)
        for hit in ranked
    }
    entries = {
        entry.node_id: entry for entry in store_nodes.get_entries([*places.values()])
    }
    for hit, score in zip(ranked, scale_scores(ranked), strict=True):
        session = sessions.get(hit.session)
        if session is None:
            continue
        node_id = places.get(hit.session, "")
        if hit.event is None:
            node = entries.get(node_id)
            yield _text_hit(hit.session, session, node, query, score)
            continue
        lines = hit.event.text[:SNIPPET_CHARS].splitlines()
        yield Hit(
            kind=HitKind.MESSAGE,
            session=session,
            node=entries.get(node_id),
            event=hit.event,
            at=hit.event.timestamp,
            snippet=best_snippet(lines, query),
            score=score,
            opens=node_id,
            more=more.get(hit.session, 0),
        )


def _text_hit(
    number: int,
    session: Session,
    node: TocEntry | None,
    query: Query,
    score: float,
) -> Hit:
    """Return the hit of a session by its title, its summary or its bullets.

    It opens the segment that matches; if none does, the first message.
    """
    event = None if node else conversations.first_message(number)
    at = node.start_time if node else session.created_at
    return Hit(
        kind=HitKind.SESSION,
        session=session,
        node=node,
        event=event,
        at=event.timestamp if event else at,
        snippet=_text_snippet(number, query),
        score=score,
        opens=node.node_id if node else "",
    )


def _text_snippet(session: int, query: Query) -> Snippet:
    """Return the line of a session's title, summary and bullets that matches best."""
    texts = [text for _, *own in events.read_session_texts([session]) for text in own]
    return best_snippet([line for text in texts for line in text.splitlines()], query)


def _best_segment(session: int, query: Query) -> str:
    """Return the segment of a session whose summary matches best; "" if none does."""
    counts = {
        node.node_id: len(
            matching_terms("\n".join(t for _, t, _ in node_texts(node)), query)
        )
        for node in store_nodes.get_many(segments.list_ids(session))
    }
    best = max(counts, key=counts.__getitem__, default="")
    return best if counts.get(best) else ""


# Messages, each with those around it

BEFORE, AFTER = 4, 4
"""The numbers of messages before and after one that matches, which are shown with
it."""

READ_CHARS = 20_000
"""The number of characters of a long message that are searched for marks."""

LEAD_CHARS = 200
"""The number of characters of a long message that are shown before the first mark."""

MAX_RECENT = 200
"""The number of newest messages read if the query has no words."""


class MessageSearch:
    """Searches messages, and sessions by their titles and summaries."""

    def __init__(
        self, ranker: MessageRanker, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        self._ranker, self._zone, self._clock = ranker, zone, clock

    def find(
        self,
        text: str,
        *,
        limit: int = MAX_HITS,
        before: int = BEFORE,
        after: int = AFTER,
        one_per_session: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Hits:
        """Return the messages that match best; any text is a valid query.

        There are never more than 20 hits, and 16 messages in a window; if
        ``one_per_session``, only the best message of each session. Filters in the text
        replace the others. It blocks for some milliseconds: do not call it on the
        thread of the screen.
        """
        began_s = time.perf_counter()
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        newest_query = query_for_newest(query)
        if newest_query is None and query.is_empty:
            result = Hits(text, notes=(*query.hints, search_query.NO_WORD))
        elif query.filters.needs_nodes:
            result = Hits(text, notes=(*query.hints, NODES_ONLY))
        else:
            before = max(0, min(before, WINDOW_MESSAGES - 1))
            after = max(0, min(after, WINDOW_MESSAGES - 1 - before))
            with database.connection():
                query, unknown_names = resolve_names(newest_query or query)
                if newest_query is not None:
                    ranking = Ranking(_newest_messages(query.filters))
                    notes = describe_newest(query)
                    query = replace(query, periods=())
                else:
                    ranking = self._ranker.rank(query, one_per_session=one_per_session)
                    notes = tuple(ranking.notes)
                if one_per_session:
                    ranking.keep_best_of_sessions()
                ranked, more = ranking.hits[: max(0, min(limit, MAX_HITS))], {}
                if one_per_session:
                    more = self._ranker.count_more(ranked, query)
                hits = tuple(_message_hits(ranked, query, more, before, after))
            result = Hits(
                text,
                hits,
                (*query.hints, *unknown_names, *notes),
                query.describe_periods([hit.at for hit in hits if hit.match]),
                is_recent=newest_query is not None,
            )
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)


def _newest_messages(filters: Filters) -> list[RankedHit]:
    newest = conversations.list_recent_messages(filters, MAX_RECENT)
    return [RankedHit(number, event, 1.0, 1.0) for number, event in newest]


def _message_hits(
    ranked: Sequence[RankedHit],
    query: Query,
    more: Mapping[int, int],
    before: int,
    after: int,
) -> Iterator[Hit]:
    """Yield messages with their windows, and sessions whose texts match."""
    sessions = store_sessions.get_many(hit.session for hit in ranked)
    with_events = [(hit.session, hit.event) for hit in ranked if hit.event]
    positions = conversations.count_messages_before(with_events)
    windows = conversations.read_windows(with_events, before, after)
    for hit, score in zip(ranked, scale_scores(ranked), strict=True):
        session = sessions.get(hit.session)
        if session is None:
            continue
        if hit.event is None:
            first = conversations.first_message(hit.session)
            snippet = _text_snippet(hit.session, query)
            yield _message_hit(HitKind.SESSION, session, first, snippet, score)
            continue
        window: list[WindowMessage] = []
        around = windows[hit.event.event_id]
        place = [event.event_id for event, _ in around].index(hit.event.event_id)
        number = positions[hit.event.event_id] - place
        for event, tool in around:
            is_match = event.event_id == hit.event.event_id
            snippet = _cut_message(event, query if is_match else None)
            if event.role is not EventRole.ASSISTANT:
                tool = event.metadata.get("tool_name", "")
            window.append(WindowMessage(event, number, snippet, tool, is_match))
            # Other events have the number of the next message.
            number += event.is_message
        snippet = window[place].snippet
        yield replace(
            _message_hit(HitKind.MESSAGE, session, hit.event, snippet, score),
            window=tuple(window),
            more=more.get(hit.session, 0),
        )


def _message_hit(
    kind: HitKind, session: Session, event: Event | None, snippet: Snippet, score: float
) -> Hit:
    is_match = kind is HitKind.MESSAGE and event is not None
    at = event.timestamp if is_match and event else session.created_at
    return Hit(kind, session, None, event, at, snippet, score)


def _cut_message(event: Event, query: Query | None) -> Snippet:
    """Return a message, cut if it is long; a match is cut around its first mark."""
    whole = event.text[:READ_CHARS]
    marks = find_marks(whole, query) if query else []
    start = 0
    if marks and len(whole.encode()) > SNIPPET_BYTES:
        start = max(0, marks[0][0] - LEAD_CHARS)
        blank = whole.find(" ", start, start + LEAD_CHARS // 2) if start else -1
        start = max(start, blank + 1)
    data = whole[start : start + SNIPPET_BYTES].encode()
    text = data[:SNIPPET_BYTES].decode(errors="ignore")
    visible = [(a - start, b - start) for a, b in marks if b - start <= len(text)]
    return Snippet(text, tuple(visible))
