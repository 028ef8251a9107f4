"""Search in nodes and grips (teleport): ``NodeSearch`` finds any by a few words."""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import SearchError
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, EVERYTHING, Filters, Scope
from memtui.model.hits import Hit, HitKind, Hits, IndexMatch, Snippet
from memtui.model.nodes import Bullet, TocNode
from memtui.model.sessions import WorkState
from memtui.search import query as search_query
from memtui.search import scoring
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
from memtui.store import database, queues, scopes, versions
from memtui.store import nodes as store_nodes
from memtui.text import analyzer

if TYPE_CHECKING:
    from memtui.search.node_index import NodeIndex, NodeReader

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
TOO_COMMON = "Too common to search everywhere: {}. Add a more specific word."
PENDING = "The summary index is being built: {:,} nodes to go."


@dataclass(frozen=True, slots=True)
class NodeMatches:
    """The nodes and grips that match a query, best first."""

    matches: tuple[IndexMatch, ...] = ()
    note: str = ""
    suggestion: str = ""


class NodeSearch:
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

    def find(self, text: str, *, limit: int = LIMIT, scope: Scope = ALL) -> Hits[Hit]:
        """Return the best hits, also while a query is being typed; any text is valid.

        Filters in the text replace the scope. It blocks for some milliseconds: do not
        call it on the thread of the screen.
        """
        began_s = time.perf_counter()
        filters = replace(EVERYTHING, scope=scope)
        query = parse_with_dates(text, self._clock(), self._zone, filters)
        recent_query = query_for_newest(query)
        result: Hits[Hit] = Hits(text, notes=query.hints)
        if query.filters.support:
            with database.connection():
                query, unknown = resolve_names(query)
                hits = (_bullet_hit(*pair) for pair in find_judged(query, limit))
                result = replace(
                    result, hits=tuple(hits), notes=(*query.hints, *unknown)
                )
        elif query.filters.role:
            result = replace(result, notes=(*query.hints, MESSAGES_ONLY))
        elif recent_query is not None:
            with database.connection():
                result = self._recent(recent_query, result, limit)
        elif query.is_empty:
            result = replace(result, notes=(*query.hints, search_query.NO_WORD))
        else:
            with database.connection():
                result = self._search(query, result, limit)
        return replace(result, took_ms=(time.perf_counter() - began_s) * 1000)

    def _recent(self, query: Query, result: Hits[Hit], limit: int) -> Hits[Hit]:
        """Return the nodes of the periods, and the newest ones."""
        query, unknown = resolve_names(query)
        pages = list_pages(query, self._zone)
        newest = [one.node_id for one in read_newest(query.filters, limit)]
        found = list(dict.fromkeys([*pages, *newest]))[:limit]
        matches = [IndexMatch(HitKind.NODE, node_id, 1.0, node_id) for node_id in found]
        return replace(
            result,
            hits=tuple(read_hits(matches, query)),
            notes=(*result.notes, *unknown, *describe_newest(query)),
            is_recent=True,
        )

    def _search(self, query: Query, result: Hits[Hit], limit: int) -> Hits[Hit]:
        query, unknown = resolve_names(query)
        found = self.rank(query, limit + REPEATED)

        def score(hit: Hit) -> float:
            return hit.score * (scoring.DATE_BOOST if query.covers(hit.at) else 1.0)

        ranked = sorted(read_hits(found.matches, query), key=score, reverse=True)
        hits = tuple(merge_repeated(ranked))[:limit]
        notes = [found.note, *result.notes, *unknown]
        if query.has_only_stop_words and not hits:
            notes.append(ONLY_STOP_WORDS)
        return replace(
            result,
            hits=hits,
            notes=tuple(filter(None, notes)),
            times=query.describe_periods([hit.at for hit in hits]),
            suggestion=search_query.correct(result.query, query.text, found.suggestion),
        )

    def rank(self, query: Query, limit: int) -> NodeMatches:
        """Return the best matches; needs an open connection to the store."""
        try:
            return self._index.read(lambda reader: _rank(reader, query, limit))
        except SearchError:
            log.exception("the node index cannot be searched")
        from memtui.search.node_index import node_documents, reading_documents

        newest = store_nodes.get_many(store_nodes.list_newest(MAX_NODES))
        documents = (node_documents(one, ()) for one in newest)
        with reading_documents(chain.from_iterable(documents)) as reader:
            return replace(_rank(reader, query, limit), note=NO_INDEX)


def _rank(reader: "NodeReader", query: Query, limit: int) -> NodeMatches:
    filters, scope = query.filters, query.filters.scope
    among = None
    if filters.session:
        among = scopes.list_session_segments(filters.session, MAX_SESSION_SEGMENTS)
    # The index knows neither keywords nor which agent worked on which project.
    is_checked = query.needs_text or scope.keyword or (scope.agent and scope.project)
    most = max(limit, MAX_CHECKED) if is_checked else limit
    for is_exact in (True, False) if query.phrase_terms else (True,):
        found = reader.search(query, most, among=among, is_exact=is_exact)
        matches = found.matches
        if is_checked:
            matches = _check(matches, query, limit)
        if matches:
            break
    note, pending = "", queues.count_rows(queues.INDEX_NODE)
    skipped = set(found.skipped_terms)
    common = [word.text for word in query.words if not skipped.isdisjoint(word.terms)]
    if pending > MAX_PENDING:
        note = PENDING.format(pending)
    elif common:
        note = TOO_COMMON.format(", ".join(common))
    suggestion = reader.suggestion(query, has_few=len(matches) < SUGGEST_BELOW)
    return NodeMatches(matches, note, suggestion)


def _check(
    matches: Sequence[IndexMatch], query: Query, limit: int
) -> tuple[IndexMatch, ...]:
    passing: list[IndexMatch] = []
    for start in range(0, len(matches), CHECKED_AT_ONCE):
        some = matches[start : start + CHECKED_AT_ONCE]
        shown = {hit.target_id for hit in read_hits(some, query)}
        passing += [match for match in some if match.target_id in shown]
        if len(passing) >= limit:
            break
    return tuple(passing[:limit])


def read_newest(filters: Filters, limit: int) -> Sequence[TocNode]:
    nodes = store_nodes.get_many(store_nodes.list_recent(filters, limit))
    return [
        node
        for node in nodes
        if (not filters.since or node.last_time >= filters.since)
        and (not filters.until or node.start_time < filters.until)
    ]


def find_judged(query: Query, limit: int) -> list[tuple[TocNode, Bullet]]:
    """Return the bullets with the verdicts of a filter, of the newest nodes first.

    Those that are withheld are among them. They have all words of the query.
    """
    filters = restrict_to_periods(query.filters, query.periods)
    bullets = []
    for node in read_newest(filters, MAX_NODES):
        for bullet in (*node.bullets, *node.further, *node.withheld):
            terms = {*analyzer.terms(bullet.text)}
            if (
                bullet.support in filters.support
                and all(word.matches(terms) for word in query.words)
                and query.matches(bullet.text)
            ):
                bullets.append((node, bullet))
        if len(bullets) >= limit:
            break
    return bullets[:limit]


def _bullet_hit(node: TocNode, bullet: Bullet) -> Hit:
    grip_id = bullet.grip_ids[0] if bullet.grip_ids else ""
    return Hit(
        kind=HitKind.GRIP if grip_id else HitKind.NODE,
        target_id=grip_id or node.node_id,
        node_id=node.node_id,
        level=node.level,
        title=node.headline or node.title,
        at=node.start_time,
        score=1.0,
        snippet=Snippet(bullet.text),
        project=", ".join(node.projects),
        landing_id=node.node_id,
    )


def read_hits(matches: Sequence[IndexMatch], query: Query) -> Iterator[Hit]:
    """Yield the hits for matches whose texts match in the store too.

    Those that were removed since are left out.
    """
    known = versions.get_grips(m.target_id for m in matches if m.kind is HitKind.GRIP)
    places = {m.target_id: m.target_id for m in matches}
    places |= {grip_id: grip.toc_node_id or "" for grip_id, grip in known.items()}
    found = store_nodes.get_entries(in_scope(places.values(), query.filters.scope))
    entries = {entry.node_id: entry for entry in found}
    words = store_nodes.get_words([m.target_id for m in matches])
    for match in matches:
        node = entries.get(places[match.target_id])
        if node is None:
            continue
        grip = known.get(match.target_id)
        keywords, bullets = words.get(match.target_id, ((), ()))
        # Among equal lines the first is shown.
        lines = [*bullets, node.headline, " · ".join(keywords)]
        text = "\n".join([node.title, *lines, " ".join(keywords)])
        if grip:
            lines, text = [grip.excerpt], grip.excerpt
        if query.matches(text):
            yield Hit(
                kind=match.kind,
                target_id=match.target_id,
                node_id=node.node_id,
                level=node.level,
                title=node.headline or node.title,
                at=grip.timestamp if grip else node.start_time,
                score=match.score,
                snippet=best_snippet(lines, query),
                project=", ".join(node.projects),
                landing_id=match.landing_id,
            )


def merge_repeated(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Merge hits with the same sentence; they are given the best first.

    Of nodes the lowest one stays, where the sentence comes from, at the place and with
    the score of the best of them; of grips the best one, unless it repeats their node.
    """
    depths = {level: depth for depth, level in enumerate(TocLevel)}
    texts = [" ".join(hit.snippet.text.split()).rstrip("…. ") for hit in hits]
    names = [_AFTER_NAME.sub("", text) for text in texts]
    groups: dict[int, list[int]] = {}
    for index, (hit, text) in enumerate(zip(hits, texts, strict=True)):
        repeated = (
            (other.kind is HitKind.NODE, depths[other.level], -at)
            for at, other in enumerate(hits)
            if text
            and (text == texts[at] or _same_name(names[index], names[at], other.title))
            and _may_repeat(hit, other)
        )
        *_, leader = max(repeated, default=(-index,))
        groups.setdefault(-leader, []).append(index)
    for leader, indexes in groups.items():
        others = {
            hits[index].level
            for index in indexes
            if index != leader and hits[index].kind is HitKind.NODE
        }
        also = tuple(sorted(others, key=depths.__getitem__, reverse=True))
        yield replace(hits[leader], score=hits[indexes[0]].score, also=also)


_AFTER_NAME = re.compile(rf" — .*| \((?:{'|'.join(WorkState)})\)$")
"""The text after the name of a piece of work in the bullet of a day or longer
period."""


def _same_name(name: str, *others: str) -> bool:
    """Return whether a name is one of others, with or without a project before it."""
    return name in others or name.partition(": ")[2] in filter(None, others)


def _may_repeat(hit: Hit, other: Hit) -> bool:
    """Return whether a hit may repeat one: of its node, or of a node below."""
    if hit.kind is HitKind.GRIP:
        return hit.node_id == other.node_id
    return other.kind is HitKind.NODE and hit.node_id in calendar.path(other.node_id)


def in_scope(nodes: Iterable[str], scope: Scope) -> list[str]:
    """Return the ids of the nodes that are in scope, each once."""
    node_ids = list(dict.fromkeys(nodes))
    if scope.keyword or (scope.agent and scope.project):
        # The index does not know which agent worked on which project.
        passing = scopes.filter_nodes(node_ids, scope)
        node_ids = [node_id for node_id in node_ids if node_id in passing]
    return node_ids
