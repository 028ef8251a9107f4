"""Turns matches of the node index into hits, with texts from the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtui.model.grips import Grip
from memtui.model.hits import Hit, HitKind, IndexMatch, Snippet
from memtui.model.nodes import TocEntry
from memtui.model.scope import Scope
from memtui.search.query import Query
from memtui.search.snippets import best_line, find_marks
from memtui.store import grips, scopes
from memtui.store import nodes as store_nodes


def hits(matches: Sequence[IndexMatch], query: Query) -> tuple[Hit, ...]:
    """Return the hits for matches whose texts match in the store too."""
    return tuple(
        _hit(one, query)
        for one in _read(matches, query.filters.scope)
        if query.matches(one.text)
    )


def filter_matches(matches: Sequence[IndexMatch], query: Query) -> Iterator[IndexMatch]:
    """Yield the matches that ``hits`` returns, at a fraction of the time."""
    excerpts = grips.get_excerpts(
        [match.target_id for match in matches if match.kind is HitKind.GRIP]
    )
    places = _node_ids(matches, {grip: node for grip, (node, _) in excerpts.items()})
    texts = store_nodes.get_texts(in_scope(places.values(), query.filters.scope))
    for match in matches:
        target = match.target_id
        if places[target] in texts:
            text = excerpts[target][1] if target in excerpts else texts[target]
            if query.matches(text):
                yield match


@dataclass(frozen=True, slots=True)
class _StoredMatch:
    """A match with its texts."""

    match: IndexMatch
    node: TocEntry
    grip: Grip | None
    keywords: Sequence[str] = ()
    bullets: Sequence[str] = ()

    @property
    def text(self) -> str:
        if self.grip:
            return self.grip.excerpt
        keywords = " ".join(self.keywords)
        return "\n".join([self.node.title, self.node.headline, keywords, *self.bullets])

    @property
    def lines(self) -> list[str]:
        """The lines to choose a snippet from; among equals the first is chosen."""
        if self.grip:
            return [self.grip.excerpt]
        return [*self.bullets, self.node.headline, " · ".join(self.keywords)]


def _read(matches: Sequence[IndexMatch], scope: Scope) -> Iterator[_StoredMatch]:
    """Yield matches with their texts; those that were removed since are left out."""
    known = grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)
    places = _node_ids(matches, {one: grip.toc_node_id for one, grip in known.items()})
    nodes = {
        entry.node_id: entry
        for entry in store_nodes.get_entries(in_scope(places.values(), scope))
    }
    words = store_nodes.get_words(
        [match.target_id for match in matches if match.target_id in nodes]
    )
    for match in matches:
        node = nodes.get(places[match.target_id])
        if node is not None:
            keywords, bullets = words.get(match.target_id, ((), ()))
            grip = known.get(match.target_id)
            yield _StoredMatch(match, node, grip, keywords, bullets)


def _node_ids(
    matches: Sequence[IndexMatch], nodes_of_grips: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the id of the node of each match."""
    targets = [match.target_id for match in matches]
    return {target: nodes_of_grips.get(target, target) or "" for target in targets}


def in_scope(nodes: Iterable[str], scope: Scope) -> list[str]:
    """Return the ids of the nodes that are in scope, each once."""
    node_ids = list(dict.fromkeys(nodes))
    if scope.keyword or (scope.agent and scope.project):
        # The index does not know which agent worked on which project.
        passing = scopes.filter_nodes(node_ids, scope)
        node_ids = [node_id for node_id in node_ids if node_id in passing]
    return node_ids


def _hit(one: _StoredMatch, query: Query) -> Hit:
    match, node, grip = one.match, one.node, one.grip
    text = best_line(one.lines, query)
    return Hit(
        kind=match.kind,
        target_id=match.target_id,
        node_id=node.node_id,
        level=node.level,
        title=node.headline or node.title,
        at=grip.timestamp if grip else node.start_time,
        score=match.score,
        snippet=Snippet(text, tuple(find_marks(text, query))),
        project=", ".join(node.projects),
        landing_id=match.landing_id or node.node_id,
    )
