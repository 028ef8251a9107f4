"""Jumping anywhere: from a few words to nodes and grips."""

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
from memtui.model.filters import EVERYTHING, Filters, SummaryMaker
from memtui.model.hits import Hit, HitKind, IndexMatch, IndexMatches, TeleportResult
from memtui.model.nodes import TocLevel, TocNode
from memtui.model.scope import ALL, Scope
from memtui.search import hydrate, query_dates, recent, resolve_filters, scoring
from memtui.search import query as search_query
from memtui.search.node_documents import LAST_MOMENT, node_texts
from memtui.search.query import Query
from memtui.store import database, grips, outbox, scopes
from memtui.store import nodes as store_nodes
from memtui.text import analyzer

if TYPE_CHECKING:
    from memtui.search.node_index import NodeIndex


NODES = 2000
"""How many of the newest nodes are looked through."""


class _Nodes:
    """Nodes that are looked through, and which terms they hold."""

    def __init__(self, nodes: Sequence[TocNode]) -> None:
        self.held = [
            (node, scoring.term_weights(tuple(node_texts(node)), node.level))
            for node in nodes
        ]
        self.size = len(nodes)
        self._counts = Counter(term for _, fits in self.held for term in fits)

    def frequency(self, term: str) -> int:
        return self._counts[term]

    def completions(self, start: str) -> list[str]:
        others = (t for t in self._counts if t.startswith(start) and t != start)
        ranked = sorted(others, key=lambda term: (-self._counts[term], term))
        return ranked[: scoring.MAX_COMPLETIONS]


def find(
    query: Query,
    limit: int,
    among: Collection[str] | None,
    *,
    is_recent_first: bool = False,
) -> IndexMatches:
    """The best of the newest nodes, the best first.

    Args:
        query: What is asked.
        limit: The most matches.
        among: The nodes that may be found; all of them where None.
        is_recent_first: Whether old ones are worth less.
    """
    newest = store_nodes.list_newest(NODES, query.filters.scope)
    names = [name for name in newest if among is None or name in among]
    nodes = _Nodes(
        [one for one in store_nodes.get_many(names) if _passes(one, query.filters)]
    )
    units = scoring.weighted_terms(query, nodes)
    last = max((node.end_time for node, _ in nodes.held), default=None)
    ranked = []
    for node, fits in nodes.held:
        score = scoring.score_node(units, fits)
        if is_recent_first and last:
            score *= scoring.recency((last - node.end_time) / timedelta(days=1))
        if score:
            ranked.append((score, node.node_id))
    ranked.sort(key=lambda one: -one[0])
    return IndexMatches(
        tuple(
            IndexMatch(HitKind.NODE, name, score, name)
            for score, name in ranked[:limit]
        )
    )


def _passes(node: TocNode, filters: Filters) -> bool:
    """Whether a node fulfils all conditions on nodes but that of the scope."""
    supports = {bullet.support for bullet in node.bullets}
    ended = node.end_time
    if node.level is not TocLevel.SEGMENT:
        ended -= LAST_MOMENT
    return (
        (not filters.levels or node.level in filters.levels)
        and (not filters.support or not filters.support.isdisjoint(supports))
        and (
            filters.maker is None
            or node.is_by_model is (filters.maker is SummaryMaker.MODEL)
        )
        and (filters.since is None or ended >= filters.since)
        and (filters.until is None or node.start_time < filters.until)
    )


log = logging.getLogger(__name__)

LIMIT = 50
"""How many hits are answered unless fewer are asked for."""

REBUILDING = 200
"""With more announcements than this waiting, the index is said to be behind."""

LOOKED_AT = 400, 3200
"""How many matches are read in the store, where the best are too few, for what an index
cannot know: whether a phrase stands there as it is. As many whatever is asked for, so
that no question asks the index for the same ones twice."""

CHECKED = LOOKED_AT[-1]
"""How many are at the most."""

FEW = 3
"""With fewer hits a word of the query may be misspelt, even if it is found."""

OF_SESSION = 1000
"""How many segments of the sessions that a filter names are looked through."""

BROKEN = (
    "The search index is missing or broken: until it is made anew, the newest nodes"
    " are read."
)

NO_WORD = "Type a word to look for."
NOT_TELLING = "Such words are everywhere and not looked up: add one that says more."
OF_MESSAGES = "role: is of messages, and this looks through summaries."
TOO_COMMON = "Too common to look at all that holds it: {}. Another word narrows it."


@dataclass(frozen=True, slots=True)
class NodeMatches:
    """What answers a query, best first, not made ready to be shown."""

    matches: tuple[IndexMatch, ...] = ()
    note: str = ""
    suggestion: str = ""


class Teleport:
    """Finds nodes and grips through the index, or through the store without one."""

    def __init__(
        self,
        folder: Path,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where the index lies; it is opened by the first question.

        Args:
            folder: The index's.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._folder, self._zone, self._clock = folder, zone, clock
        self._opened: NodeIndex | None = None

    @property
    def _index(self) -> "NodeIndex":
        if self._opened is None:
            from memtui.search.node_index import NodeIndex

            self._opened = NodeIndex(self._folder)
        return self._opened

    def find(
        self,
        query: str,
        *,
        limit: int = LIMIT,
        scope: Scope = ALL,
        is_recent_first: bool = False,
    ) -> TeleportResult:
        """The best hits of a query as it is being typed; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            query: What was typed.
            limit: The most hits.
            scope: Whose work is looked through, unless the query says otherwise.
            is_recent_first: Whether old hits are worth less.
        """
        began_s = time.perf_counter()
        times = query_dates.parse(query, self._clock(), self._zone)
        asked = self._read(times.words, scope)
        hints = [*asked.hints]
        if asked.filters.role:
            hints.append(OF_MESSAGES)
        wanted = recent.recent_query(asked, times)
        if wanted is None and asked.is_empty:
            hints.append(NO_WORD)
        answer = TeleportResult(query)
        if wanted is not None and not asked.filters.role:
            with database.connection():
                wanted, unknown = resolve_filters.resolve(wanted)
                answer = recent.list_nodes(wanted, limit)
            hints += [*unknown, *recent.notes(times)]
            times = replace(times, periods=())
        elif not (asked.is_empty or asked.filters.role):
            with database.connection():
                asked, unknown = resolve_filters.resolve(asked)
                answer = self._answer(asked, limit, is_recent_first)
            hints += unknown
        hits = sorted(
            answer.hits,
            key=lambda hit: (
                -hit.score * (scoring.DATE_BOOST if times.covers(hit.at) else 1.0)
            ),
        )
        hints += map(str, times.describe([hit.at for hit in hits]))
        return replace(
            answer,
            query=query,
            suggestion=search_query.correct(query, asked.text, answer.suggestion),
            hits=tuple(hits),
            took_ms=(time.perf_counter() - began_s) * 1000,
            hints=(*hints, *answer.hints),
        )

    def rank(self, asked: Query, limit: int) -> NodeMatches:
        """What answers a query, as the index knows it; inside ``connected()``.

        Args:
            asked: The query.
            limit: The most matches.
        """
        among = _among(asked.filters)
        try:
            if asked.needs_text:
                found = self._admitted(asked, limit, among, is_recent_first=False)
            else:
                found = self._index.search(asked, limit, among=among)
            matches, left_out = _led(found.matches), found.skipped_terms
            meant = self._index.suggestion(asked, has_few=len(matches) < FEW)
        except SearchError:
            log.exception("the index could not be asked")
            matches = _led(find(asked, CHECKED, among).matches)
            return NodeMatches(tuple(matches[:limit]), BROKEN)
        return NodeMatches(tuple(matches), _note(asked, left_out), meant)

    def hits(self, matches: Sequence[IndexMatch], asked: Query) -> tuple[Hit, ...]:
        """Some of what was ranked, ready to be shown; inside ``connected()``."""
        return hydrate.hits(matches, asked)

    def close(self) -> None:
        """Let go of the index's files."""
        if self._opened is not None:
            self._opened.close()

    def _read(self, query: str, of: Scope) -> Query:
        return search_query.parse(query, self._zone, replace(EVERYTHING, scope=of))

    def _answer(
        self, asked: Query, limit: int, is_recent_first: bool
    ) -> TeleportResult:
        among = _among(asked.filters)
        try:
            found = self._admitted(asked, limit, among, is_recent_first)
            hits = hydrate.hits(found.matches, asked)
            meant = self._index.suggestion(asked, has_few=len(hits) < FEW)
        except SearchError:
            log.exception("the index could not be asked")
            most = CHECKED if asked.needs_text else limit
            found = find(asked, most, among, is_recent_first=is_recent_first)
            return TeleportResult(
                asked.text, hydrate.hits(found.matches, asked)[:limit], note=BROKEN
            )
        hints = () if hits or _is_telling(asked) else (NOT_TELLING,)
        note = _note(asked, found.skipped_terms)
        return TeleportResult(
            asked.text, hits, note=note, suggestion=meant, hints=hints
        )

    def _admitted(
        self,
        asked: Query,
        limit: int,
        among: Collection[str] | None,
        is_recent_first: bool,
    ) -> IndexMatches:
        """The best matches of those that the store admits."""
        for is_exact in (True, False) if asked.phrase_terms else (True,):
            admitted: dict[str, IndexMatch] = {}
            read = 0
            for most in (limit, *(one for one in LOOKED_AT if one > limit)):
                found = self._index.search(
                    asked,
                    most,
                    among=among,
                    is_recent_first=is_recent_first,
                    is_exact=is_exact,
                )
                fresh = hydrate.filter_matches(found.matches[read:], asked)
                admitted |= {match.target_id: match for match in fresh}
                if len(found.matches) < most or len(admitted) >= limit:
                    break
                read = most
            if admitted:
                break
        return IndexMatches(
            tuple(islice(admitted.values(), limit)), found.skipped_terms
        )


def _note(asked: Query, left_out: Sequence[str]) -> str:
    """What the reader of an answer should know."""
    waiting = outbox.count(outbox.INDEX_NODE)
    if waiting > REBUILDING:
        return f"The index is being built: {waiting:,} nodes to go."
    common = [w.text for w in asked.words if not {*w.terms}.isdisjoint(left_out)]
    return TOO_COMMON.format(", ".join(common)) if common else ""


def _led(matches: Sequence[IndexMatch]) -> list[IndexMatch]:
    """Matches with the node each leads to."""
    kept = grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)
    nodes = {name: grip.toc_node_id or "" for name, grip in kept.items()}
    return [
        replace(m, landing_id=m.landing_id or nodes.get(m.target_id, m.target_id))
        for m in matches
    ]


def _is_telling(asked: Query) -> bool:
    """Whether any of its words is one that is looked up."""
    return any(analyzer.is_indexed(word.text) for word in asked.words)


def _among(filters: Filters) -> list[str] | None:
    """The nodes of a session that a filter names."""
    if not filters.session:
        return None
    return scopes.list_session_segments(filters.session, OF_SESSION)
