"""Unindexed: the newest nodes themselves looked through, while there is no index.

It is slower, and always possible; what is found scores as the index would have it.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta

from memtui.memory.filters import Filters, Maker
from memtui.memory.hits import Found, HitKind, Match
from memtui.memory.queries import Query, looking, scores
from memtui.memory.toc import TocLevel, TocNode
from memtui.search.documents import MOMENT, said_by
from memtui.store import toc

NODES = 2000
"""How many of the newest nodes are looked through."""


class _Nodes:
    """Nodes that are looked through, and which terms they hold."""

    def __init__(self, nodes: Sequence[TocNode]) -> None:
        self.held = [
            (node, scores.fits(tuple(said_by(node)), node.level)) for node in nodes
        ]
        self.size = len(nodes)
        self._counts = Counter(term for _, fits in self.held for term in fits)

    def frequency(self, term: str) -> int:
        return self._counts[term]

    def completions(self, start: str) -> list[str]:
        others = (t for t in self._counts if t.startswith(start) and t != start)
        ranked = sorted(others, key=lambda term: (-self._counts[term], term))
        return ranked[: scores.EXPANSIONS]


def find(
    query: Query,
    limit: int,
    among: Collection[str] | None,
    *,
    is_recent_first: bool = False,
) -> Found:
    """The best of the newest nodes, the best first.

    Args:
        query: What is asked.
        limit: The most matches.
        among: The nodes that may be found; all of them where None.
        is_recent_first: Whether old ones are worth less.
    """
    newest = toc.newest(NODES, query.filters.of)
    names = [name for name in newest if among is None or name in among]
    nodes = _Nodes([one for one in toc.nodes(names) if _passes(one, query.filters)])
    units = looking.units(query, nodes)
    last = max((node.end_time for node, _ in nodes.held), default=None)
    ranked = []
    for node, fits in nodes.held:
        score = scores.score(units, fits)
        if is_recent_first and last:
            score *= scores.recency((last - node.end_time) / timedelta(days=1))
        if score:
            ranked.append((score, node.node_id))
    ranked.sort(key=lambda one: -one[0])
    return Found(
        tuple(Match(HitKind.NODE, name, score, name) for score, name in ranked[:limit])
    )


def _passes(node: TocNode, filters: Filters) -> bool:
    """Whether a node fulfils all conditions on nodes but that of the scope."""
    supports = {bullet.support for bullet in node.bullets}
    ended = node.end_time
    if node.level is not TocLevel.SEGMENT:
        ended -= MOMENT
    return (
        (not filters.levels or node.level in filters.levels)
        and (not filters.has or not filters.has.isdisjoint(supports))
        and (filters.by is None or node.is_models is (filters.by is Maker.MODEL))
        and (filters.since is None or ended >= filters.since)
        and (filters.until is None or node.start_time < filters.until)
    )
