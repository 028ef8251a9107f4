"""Turns matches of the node index into hits, with texts from the store."""

from collections.abc import Iterable, Iterator, Sequence

from memtui.model.hits import Hit, HitKind, IndexMatch, Snippet
from memtui.model.scope import Scope
from memtui.search.query import Query
from memtui.search.snippets import best_line, find_marks
from memtui.store import grips, scopes
from memtui.store import nodes as store_nodes


def hits(matches: Sequence[IndexMatch], query: Query) -> tuple[Hit, ...]:
    """Return the hits for matches whose texts match in the store too.

    Those that were removed since are left out.
    """
    return tuple(_hits(matches, query))


def _hits(matches: Sequence[IndexMatch], query: Query) -> Iterator[Hit]:
    known = grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)
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
            line = best_line(lines, query)
            yield Hit(
                kind=match.kind,
                target_id=match.target_id,
                node_id=node.node_id,
                level=node.level,
                title=node.headline or node.title,
                at=grip.timestamp if grip else node.start_time,
                score=match.score,
                snippet=Snippet(line, tuple(find_marks(line, query))),
                project=", ".join(node.projects),
                landing_id=match.landing_id,
            )


def in_scope(nodes: Iterable[str], scope: Scope) -> list[str]:
    """Return the ids of the nodes that are in scope, each once."""
    node_ids = list(dict.fromkeys(nodes))
    if scope.keyword or (scope.agent and scope.project):
        # The index does not know which agent worked on which project.
        passing = scopes.filter_nodes(node_ids, scope)
        node_ids = [node_id for node_id in node_ids if node_id in passing]
    return node_ids
