"""Teleport: ``Teleport`` finds any node or grip by a few words."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import SearchError
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import EVERYTHING, Filters, Scope
from memtui.model.hit import Hit, HitKind, Hits, Snippet
from memtui.model.nodes import Bullet, TocEntry, TocNode
from memtui.search import query as search_query
from memtui.search.query import (
    Query,
    describe_newest,
    list_pages,
    parse_with_dates,
    query_for_newest,
    resolve_names,
    restrict_to_periods,
)
from memtui.search.snippets import best_snippet
from memtui.search.weights import DATE_BOOST
from memtui.store import database, queues, scopes, versions
from memtui.store import nodes as store_nodes
from memtui.text import analyzer

if TYPE_CHECKING:
    from memtui.search.node_index import NodeIndex, NodeMatch, NodeReader

log = logging.getLogger(__name__)

LIMIT = 50

REPEATED = 12
"""So many hits more are read, as some repeat others."""

MAX_PENDING = 200
"""With more nodes to index than this, the result says so."""

MAX_CHECKED, CHECKED_AT_ONCE = 3_200, 100
"""The number of matches read from the store, in all and at once, if the index cannot
decide whether they match: it has the words of a phrase, not their order."""

SUGGEST_BELOW = 3
"""With fewer hits another spelling is suggested even for words that are found."""

MAX_SESSION_SEGMENTS = 1000
"""The number of segments of the sessions in a filter that are searched."""

MAX_NODES = 1_000
"""The number of newest nodes searched without an index."""

NO_INDEX = (
    "The summary index is missing or damaged: until it is rebuilt, the newest summaries"
    " are searched."
)
ONLY_STOP_WORDS = "These words are too common to search for: add a more specific one."
MESSAGES_ONLY = "role: applies to messages; this searches summaries."
PENDING = "The summary index is being built: {:,} nodes to go."


class Teleport:
    """Searches nodes and grips in their index or, without one, nodes in the store."""

    def __init__(
        self, folder: Path, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        self._folder, self._zone, self._clock = folder, zone, clock

    @cached_property
    def _index(self) -> "NodeIndex":
        from memtui.search.node_index import NodeIndex  # Whoosh takes 55 ms.

        return NodeIndex(self._folder)

    def close(self) -> None:
        if "_index" in self.__dict__:
            self._index.close()

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> Hits:
        """Return the best hits, also while a query is being typed; any text is valid.

        Filters in the text replace the others. It blocks for some milliseconds: do not
        call it on the thread of the screen.
        """
        began_s = time.perf_counter()
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        newest_query = query_for_newest(query)
        result = Hits(text, notes=query.hints)
        with database.connection():
            if query.filters.support:
                query, unknown_names = resolve_names(query)
                notes = (*query.hints, *unknown_names)
                result = replace(result, hits=find_judged(query, limit), notes=notes)
            elif query.filters.role:
                result = replace(result, notes=(*query.hints, MESSAGES_ONLY))
            elif newest_query is not None:
                result = self._list_newest(newest_query, result, limit)
            elif query.is_empty:
                result = replace(result, notes=(*query.hints, search_query.NO_WORD))
            else:
                result = self._search(query, result, limit)
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)

    def _list_newest(self, query: Query, result: Hits, limit: int) -> Hits:
        """Return the nodes of the query's periods, and the newest ones."""
        query, unknown_names = resolve_names(query)
        pages = in_scope(list_pages(query, self._zone), query.filters.scope)
        newest = [node.node_id for node in read_newest(query.filters, limit)]
        return replace(
            result,
            hits=tuple(node_hits([*pages, *newest])[:limit]),
            notes=(*result.notes, *unknown_names, *describe_newest(query)),
            is_recent=True,
        )

    def _search(self, query: Query, result: Hits, limit: int) -> Hits:
        query, unknown_names = resolve_names(query)
        nodes = self._rank(query, limit + REPEATED)

        def score(hit: Hit) -> float:
            return hit.score * (DATE_BOOST if query.covers(hit.at) else 1.0)

        ranked = sorted(nodes.hits, key=score, reverse=True)
        hits = tuple(merge_repeated(ranked))[:limit]
        notes = [*nodes.notes, *result.notes, *unknown_names]
        if query.has_only_stop_words and not hits:
            notes.append(ONLY_STOP_WORDS)
        return replace(
            result,
            hits=hits,
            notes=tuple(notes),
            dates=query.describe_periods([hit.at for hit in hits]),
            suggestion=search_query.correct(result.query, query.text, nodes.suggestion),
        )

    def suggest(self, query: Query, *, has_few: bool) -> str:
        """Return a query with its misspelt words corrected; "" if none is.

        If it finds few hits, words that are found but rare may be misspelt, too.
        """
        try:
            return self._index.read(
                lambda reader: reader.suggestion(query, has_few=has_few)
            )
        except SearchError:
            return ""

    def _rank(self, query: Query, limit: int) -> Hits:
        try:
            return self._index.read(lambda reader: _rank(reader, query, limit))
        except SearchError:
            log.exception("the node index cannot be searched")
        from memtui.search.node_index import node_documents, reading_documents

        newest = store_nodes.get_many(store_nodes.list_newest(MAX_NODES))
        documents = (node_documents(node, ()) for node in newest)
        with reading_documents(chain.from_iterable(documents)) as reader:
            return replace(_rank(reader, query, limit), notes=(NO_INDEX,))


def _rank(reader: "NodeReader", query: Query, limit: int) -> Hits:
    filters, scope = query.filters, query.filters.scope
    among = None
    if filters.session:
        among = scopes.list_session_segments(filters.session, MAX_SESSION_SEGMENTS)
    # The index has no keywords and states, nor which agent worked on which project.
    is_checked = query.needs_text or scope.needs_segments
    most = max(limit, MAX_CHECKED) if is_checked else limit
    hits: list[Hit] = []
    for is_exact in (True, False) if query.phrase_terms else (True,):
        matches = reader.search(query, most, among=among, is_exact=is_exact)
        for start in range(0, len(matches), CHECKED_AT_ONCE):
            hits += read_hits(matches[start : start + CHECKED_AT_ONCE], query)
            if len(hits) >= limit:
                break
        if hits:
            break
    pending = queues.count_rows(queues.INDEX_NODE)
    notes = (PENDING.format(pending),) if pending > MAX_PENDING else ()
    suggestion = reader.suggestion(query, has_few=len(hits) < SUGGEST_BELOW)
    return Hits(query.text, tuple(hits[:limit]), notes, suggestion=suggestion)


def read_newest(filters: Filters, limit: int) -> Sequence[TocNode]:
    nodes = store_nodes.get_many(store_nodes.list_recent(filters, limit))
    return [
        node
        for node in nodes
        if (not filters.since or node.last_time >= filters.since)
        and (not filters.until or node.start_time < filters.until)
    ]


def find_judged(query: Query, limit: int) -> tuple[Hit, ...]:
    """Return the bullets with the verdicts of a filter, of the newest nodes first.

    Those that are withheld are among them. They have all words of the query.
    """
    filters = restrict_to_periods(query.filters, query.periods)
    bullets: list[tuple[str, Bullet]] = []
    for node in read_newest(filters, MAX_NODES):
        for bullet in (*node.bullets, *node.further, *node.withheld):
            terms = {*analyzer.terms(bullet.text)}
            if (
                bullet.support in filters.support
                and all(word.matches(terms) for word in query.words)
                and query.matches(bullet.text)
            ):
                bullets.append((node.node_id, bullet))
        if len(bullets) >= limit:
            break
    entries = {
        entry.node_id: entry
        for entry in store_nodes.get_entries([name for name, _ in bullets])
    }
    return tuple(
        _bullet_hit(entries[name], bullet)
        for name, bullet in bullets[:limit]
        if name in entries
    )


def _bullet_hit(node: TocEntry, bullet: Bullet) -> Hit:
    grip_id = bullet.grip_ids[0] if bullet.grip_ids else ""
    kind = HitKind.GRIP if grip_id else HitKind.NODE
    return replace(_node_hit(node, [bullet]), kind=kind, grip_id=grip_id)


def node_hits(node_ids: Iterable[str]) -> list[Hit]:
    """Return nodes as hits without a query; the first bullet of each is its snippet."""
    distinct = list(dict.fromkeys(node_ids))
    entries = {entry.node_id: entry for entry in store_nodes.get_entries(distinct)}
    nodes = {node.node_id: node for node in store_nodes.get_many(distinct)}
    return [
        _node_hit(entries[node_id], nodes[node_id].bullets)
        for node_id in distinct
        if node_id in entries and node_id in nodes
    ]


def _node_hit(entry: TocEntry, bullets: Sequence[Bullet] = ()) -> Hit:
    return Hit(
        kind=HitKind.NODE,
        session=None,
        node=entry,
        event=None,
        at=entry.start_time,
        snippet=Snippet(bullets[0].text if bullets else entry.headline),
        score=1.0,
        opens=entry.node_id,
    )


def read_hits(matches: "Sequence[NodeMatch]", query: Query) -> Iterator[Hit]:
    """Yield the hits for matches whose texts match in the store too.

    Those that were removed since are left out.
    """
    grips = versions.get_grips(match.grip_id for match in matches if match.grip_id)
    node_ids = [match.node_id for match in matches]
    entries = {
        entry.node_id: entry
        for entry in store_nodes.get_entries(in_scope(node_ids, query.filters.scope))
    }
    words = store_nodes.get_words(node_ids)
    for match in matches:
        node, grip = entries.get(match.node_id), grips.get(match.grip_id)
        if node is None or (match.grip_id and not grip):
            continue
        if grip:
            lines, text = [grip.excerpt], grip.excerpt
        else:
            keywords, bullets = words.get(match.node_id, ((), ()))
            # Among equal lines the first is shown.
            lines = [*bullets, node.headline, " · ".join(keywords)]
            text = "\n".join([node.title, *lines, " ".join(keywords)])
        if query.matches(text):
            yield Hit(
                kind=HitKind.GRIP if grip else HitKind.NODE,
                session=None,
                node=node,
                event=None,
                at=grip.timestamp if grip else node.start_time,
                snippet=best_snippet(lines, query),
                score=match.score,
                grip_id=match.grip_id,
                opens=match.opens,
            )


def merge_repeated(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Merge nodes on one path, and grips of one node, with the same sentence.

    They are given the best first. The lowest node stays, where the sentence comes from,
    and the best grip, at the place and with the score of the best of them.
    """
    texts = [" ".join(hit.snippet.text.split()).rstrip("…. ") for hit in hits]
    groups: dict[int, list[Hit]] = {}
    for index, (hit, text) in enumerate(zip(hits, texts, strict=True)):
        repeated = (
            (_depth(other), -at)
            for at, other in enumerate(hits)
            if text and text == texts[at] and _may_repeat(hit, other)
        )
        _, leader = max(repeated, default=(0, -index))
        groups.setdefault(-leader, []).append(hit)
    for leader, group in groups.items():
        above = [hit for hit in group if _depth(hit) < _depth(hits[leader])]
        levels = [hit.node.level for hit in sorted(above, key=_depth) if hit.node]
        also = tuple(dict.fromkeys(reversed(levels)))
        yield replace(hits[leader], score=group[0].score, also=also)


def _depth(hit: Hit) -> int:
    return list(TocLevel).index(hit.node.level) if hit.node else 0


def _may_repeat(hit: Hit, other: Hit) -> bool:
    """Return whether a hit may repeat one: of its node, or of a node below."""
    if hit.kind is not other.kind:
        return False
    if hit.kind is HitKind.GRIP:
        return hit.node_id == other.node_id
    return hit.node_id in calendar.path(other.node_id)


def in_scope(nodes: Iterable[str], scope: Scope) -> list[str]:
    """Return the ids of the nodes that are in scope, each once."""
    node_ids = list(dict.fromkeys(nodes))
    if scope.needs_segments:
        passing = scopes.filter_nodes(node_ids, scope)
        node_ids = [node_id for node_id in node_ids if node_id in passing]
    return node_ids
