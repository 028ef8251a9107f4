"""Search in nodes and grips: ``Teleport`` jumps from a few words to any of them."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import SearchError
from memtui.model.filters import EVERYTHING, Filters, SummarizerKind
from memtui.model.hits import Hit, HitKind, IndexMatch, IndexMatches, TeleportResult
from memtui.model.nodes import TocNode
from memtui.model.scope import ALL, Scope
from memtui.search import hydrate, query_dates, recent, resolve_filters, scoring
from memtui.search import query as search_query
from memtui.search.node_documents import node_texts, node_times
from memtui.search.query import Query
from memtui.store import database, grips, outbox, scopes
from memtui.store import nodes as store_nodes

if TYPE_CHECKING:
    from memtui.search.node_index import NodeIndex

log = logging.getLogger(__name__)

LIMIT = 50
"""The default number of hits."""

MAX_PENDING = 200
"""With more nodes to index than this, the result says so."""

CHECK_LIMITS = 400, 3200
"""How many matches are read from the store if the best are too few that contain a
phrase, which the index cannot tell. These numbers do not depend on the query, so that
the index need not return the same matches twice."""

FEW = 3
"""With fewer hits a word may be misspelt even if it is found."""

MAX_SESSION_SEGMENTS = 1000
"""How many segments of the sessions in a filter are searched."""

MAX_NODES = 2000
"""How many of the newest nodes are searched without an index."""

NO_INDEX = (
    "The summary index is missing or damaged: until it is rebuilt, the newest summaries"
    " are searched."
)
NO_WORD = "Type a word to search for."
STOP_WORDS = "These words are too common to search for: add a more specific one."
MESSAGES_ONLY = "role: applies to messages; this searches summaries."
TOO_COMMON = "Too common to search everywhere: {}. Add a more specific word."
PENDING = "The summary index is being built: {:,} nodes to go."


@dataclass(frozen=True, slots=True)
class NodeMatches:
    """The nodes and grips that match a query, best first."""

    matches: tuple[IndexMatch, ...] = ()
    note: str = ""
    suggestion: str = ""


class Teleport:
    """Searches nodes and grips in their index or, without one, nodes in the store."""

    def __init__(
        self, folder: Path, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Take the folder of the index, which is opened by the first search.

        Args:
            folder: The folder.
            zone: The time zone of dates in queries.
            clock: Returns the time that "last week" is relative to.
        """
        self._folder, self._zone, self._clock = folder, zone, clock
        self._opened: NodeIndex | None = None

    @property
    def _index(self) -> "NodeIndex":
        if self._opened is None:
            from memtui.search.node_index import NodeIndex

            self._opened = NodeIndex(self._folder)
        return self._opened

    def close(self) -> None:
        """Close the index."""
        if self._opened is not None:
            self._opened.close()

    def find(
        self,
        text: str,
        *,
        limit: int = LIMIT,
        scope: Scope = ALL,
        is_recent_first: bool = False,
    ) -> TeleportResult:
        """Return the best hits, also while a query is being typed.

        It blocks for some milliseconds: do not call it on the thread of the screen.

        Args:
            text: The typed text; any text is a valid query.
            limit: The most hits.
            scope: The scope of the search, unless the query has filters of its own.
            is_recent_first: Whether old hits score lower.
        """
        began_s = time.perf_counter()
        dated = query_dates.parse(text, self._clock(), self._zone)
        filters = replace(EVERYTHING, scope=scope)
        query = search_query.parse(dated.words, self._zone, filters)
        hints = [*query.hints]
        recent_query = recent.recent_query(query, dated)
        result = TeleportResult(text)
        if query.filters.role:
            hints.append(MESSAGES_ONLY)
        if recent_query is None and query.is_empty:
            hints.append(NO_WORD)
        elif query.filters.role:
            pass
        elif recent_query is not None:
            with database.connection():
                recent_query, unknown = resolve_filters.resolve(recent_query)
                pages = recent.page_ids(recent_query, dated, self._zone)
                result = recent.list_nodes(recent_query, limit, pages)
            hints += [*unknown, *recent.notes(dated)]
            dated = replace(dated, periods=())
        else:
            with database.connection():
                query, unknown = resolve_filters.resolve(query)
                result = self._search(query, limit, is_recent_first=is_recent_first)
            hints += unknown

        def score(hit: Hit) -> float:
            return hit.score * (scoring.DATE_BOOST if dated.covers(hit.at) else 1.0)

        hits = sorted(result.hits, key=score, reverse=True)
        hints += map(str, dated.describe([hit.at for hit in hits]))
        return replace(
            result,
            query=text,
            suggestion=search_query.correct(text, query.text, result.suggestion),
            hits=tuple(hits),
            took_ms=(time.perf_counter() - began_s) * 1000,
            hints=(*hints, *result.hints),
        )

    def rank(self, query: Query, limit: int) -> NodeMatches:
        """Return the best matches; needs an open connection to the store."""
        among = _session_segments(query.filters)
        try:
            if query.needs_text:
                found = self._search_checked(query, limit, among)
            else:
                found = self._index.search(query, limit, among=among)
            matches = _with_landings(found.matches)
            suggestion = self._suggest(query, len(matches))
        except SearchError:
            log.exception("the node index cannot be searched")
            found = search_store(query, CHECK_LIMITS[-1], among)
            return NodeMatches(_with_landings(found.matches[:limit]), NO_INDEX)
        return NodeMatches(matches, _note(query, found), suggestion)

    def hits(self, matches: Sequence[IndexMatch], query: Query) -> tuple[Hit, ...]:
        """Return the hits for matches; needs an open connection to the store."""
        return hydrate.hits(matches, query)

    def _search(
        self, query: Query, limit: int, *, is_recent_first: bool
    ) -> TeleportResult:
        among = _session_segments(query.filters)
        try:
            found = self._search_checked(
                query, limit, among, is_recent_first=is_recent_first
            )
            hits = hydrate.hits(found.matches, query)
            suggestion = self._suggest(query, len(hits))
        except SearchError:
            log.exception("the node index cannot be searched")
            most = CHECK_LIMITS[-1] if query.needs_text else limit
            found = search_store(query, most, among, is_recent_first=is_recent_first)
            hits = hydrate.hits(found.matches, query)[:limit]
            return TeleportResult(query.text, hits, note=NO_INDEX)
        return TeleportResult(
            query.text,
            hits,
            note=_note(query, found),
            suggestion=suggestion,
            hints=(STOP_WORDS,) if query.has_only_stop_words and not hits else (),
        )

    def _search_checked(
        self,
        query: Query,
        limit: int,
        among: Collection[str] | None,
        *,
        is_recent_first: bool = False,
    ) -> IndexMatches:
        """Return the best matches whose texts match in the store."""
        for is_exact in (True, False) if query.phrase_terms else (True,):
            passing: dict[str, IndexMatch] = {}
            checked = 0
            for most in (limit, *(one for one in CHECK_LIMITS if one > limit)):
                found = self._index.search(
                    query,
                    most,
                    among=among,
                    is_recent_first=is_recent_first,
                    is_exact=is_exact,
                )
                fresh = hydrate.filter_matches(found.matches[checked:], query)
                passing |= {match.target_id: match for match in fresh}
                if len(found.matches) < most or len(passing) >= limit:
                    break
                checked = most
            if passing:
                break
        return replace(found, matches=tuple(islice(passing.values(), limit)))

    def _suggest(self, query: Query, hits: int) -> str:
        return self._index.suggestion(query, has_few=hits < FEW)


def _note(query: Query, found: IndexMatches) -> str:
    pending = outbox.count(outbox.INDEX_NODE)
    if pending > MAX_PENDING:
        return PENDING.format(pending)
    skipped = set(found.skipped_terms)
    common = [word.text for word in query.words if not skipped.isdisjoint(word.terms)]
    return TOO_COMMON.format(", ".join(common)) if common else ""


def _with_landings(matches: Sequence[IndexMatch]) -> tuple[IndexMatch, ...]:
    """Add the node that each match leads to, where the index does not tell."""
    known = grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)
    nodes = {grip_id: grip.toc_node_id or "" for grip_id, grip in known.items()}
    return tuple(
        replace(m, landing_id=m.landing_id or nodes.get(m.target_id, m.target_id))
        for m in matches
    )


def _session_segments(filters: Filters) -> list[str] | None:
    """Return the segments of the sessions in a filter; None without such a filter."""
    if not filters.session:
        return None
    return scopes.list_session_segments(filters.session, MAX_SESSION_SEGMENTS)


# Without an index


class _StoreLexicon:
    """The terms of nodes that were read from the store."""

    def __init__(self, nodes: Sequence[TocNode]) -> None:
        self.weights = [
            (node, scoring.term_weights(tuple(node_texts(node)), node.level))
            for node in nodes
        ]
        self.size = len(nodes)
        self._counts = Counter(term for _, weights in self.weights for term in weights)

    def frequency(self, term: str) -> int:
        return self._counts[term]

    def completions(self, start: str) -> list[str]:
        others = (t for t in self._counts if t.startswith(start) and t != start)
        ranked = sorted(others, key=lambda term: (-self._counts[term], term))
        return ranked[: scoring.MAX_COMPLETIONS]


def search_store(
    query: Query,
    limit: int,
    among: Collection[str] | None,
    *,
    is_recent_first: bool = False,
) -> IndexMatches:
    """Return the best of the newest nodes.

    Args:
        query: The query.
        limit: The most matches.
        among: The ids of the nodes that may be found; None for all.
        is_recent_first: Whether old nodes score lower.
    """
    newest = store_nodes.list_newest(MAX_NODES, query.filters.scope)
    node_ids = [one for one in newest if among is None or one in among]
    lexicon = _StoreLexicon(
        [one for one in store_nodes.get_many(node_ids) if _passes(one, query.filters)]
    )
    terms = scoring.weighted_terms(query, lexicon)
    last = max((node.end_time for node, _ in lexicon.weights), default=None)
    ranked = []
    for node, weights in lexicon.weights:
        score = scoring.score_node(terms, weights)
        if is_recent_first and last:
            score *= scoring.recency((last - node.end_time) / timedelta(days=1))
        if score:
            ranked.append((score, node.node_id))
    ranked.sort(key=lambda one: -one[0])
    return IndexMatches(
        tuple(
            IndexMatch(HitKind.NODE, node_id, score, node_id)
            for score, node_id in ranked[:limit]
        )
    )


def _passes(node: TocNode, filters: Filters) -> bool:
    """Return True if a node passes all filters but the scope."""
    supports = {bullet.support for bullet in node.bullets}
    start, end = node_times(node)
    return (
        (not filters.levels or node.level in filters.levels)
        and (not filters.support or not filters.support.isdisjoint(supports))
        and (
            filters.summarizer_kind is None
            or node.is_by_model is (filters.summarizer_kind is SummarizerKind.MODEL)
        )
        and (filters.since is None or end >= filters.since)
        and (filters.until is None or start < filters.until)
    )
