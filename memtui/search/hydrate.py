"""Showing: what an index found, read in the store and cut to a line."""

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


def hits(matches: Sequence[IndexMatch], asked: Query) -> tuple[Hit, ...]:
    """Matches that hold what an index cannot know, ready to be shown."""
    return tuple(
        _hit(line, asked)
        for line in _read_in(matches, asked.filters.scope)
        if asked.matches(line.said)
    )


def filter_matches(matches: Sequence[IndexMatch], asked: Query) -> Iterator[IndexMatch]:
    """Those of which ``hits`` tells, at a fraction of what it takes to show them."""
    quotes = grips.get_excerpts(
        [m.target_id for m in matches if m.kind is HitKind.GRIP]
    )
    made_for = {name: node_id for name, (node_id, _) in quotes.items()}
    places = _places(matches, made_for)
    said = store_nodes.get_texts(_names(places, asked.filters.scope))
    for match in matches:
        name = match.target_id
        if places[name] in said:
            text = quotes[name][1] if name in quotes else said[name]
            if asked.matches(text):
                yield match


@dataclass(frozen=True, slots=True)
class _Line:
    """A match with what is known of it."""

    match: IndexMatch
    node: TocEntry
    quote: Grip | None
    keywords: Sequence[str] = ()
    bullets: Sequence[str] = ()

    @property
    def said(self) -> str:
        """All it says."""
        if self.quote:
            return self.quote.excerpt
        keywords = " ".join(self.keywords)
        return "\n".join([self.node.title, self.node.headline, keywords, *self.bullets])

    @property
    def lines(self) -> list[str]:
        """What of it can answer a query, the most telling first."""
        if self.quote:
            return [self.quote.excerpt]
        return [*self.bullets, self.node.headline, " · ".join(self.keywords)]


def _read_in(matches: Sequence[IndexMatch], of: Scope) -> Iterable[_Line]:
    """Matches with their nodes; what is no longer the latest is left out."""
    kept = grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)
    places = _places(matches, {name: g.toc_node_id for name, g in kept.items()})
    nodes = {line.node_id: line for line in store_nodes.get_entries(_names(places, of))}
    telling = store_nodes.get_words(
        [m.target_id for m in matches if m.target_id in nodes]
    )
    for match in matches:
        node = nodes.get(places[match.target_id])
        if node is not None:
            quote = kept.get(match.target_id)
            yield _Line(match, node, quote, *telling.get(match.target_id, ((), ())))


def _places(
    matches: Sequence[IndexMatch], made_for: Mapping[str, str | None]
) -> dict[str, str]:
    """The node of each match.

    Args:
        matches: Nodes and grips.
        made_for: The nodes that the grips among them were made for.
    """
    names = [match.target_id for match in matches]
    return {name: made_for.get(name, name) or "" for name in names}


def _names(places: Mapping[str, str], of: Scope) -> list[str]:
    """The nodes among some places that may be found, each once."""
    names = list(dict.fromkeys(places.values()))
    if of.keyword or (of.agent and of.project):
        # Who worked on what, and what it was about, only the segments tell.
        mine = scopes.filter_nodes(names, of)
        names = [name for name in names if name in mine]
    return names


def _hit(line: _Line, asked: Query) -> Hit:
    match, node, quote = line.match, line.node, line.quote
    text = best_line(line.lines, asked)
    return Hit(
        kind=match.kind,
        target_id=match.target_id,
        node_id=node.node_id,
        level=node.level,
        title=node.headline or node.title,
        at=quote.timestamp if quote else node.start_time,
        score=match.score,
        snippet=Snippet(text, tuple(find_marks(text, asked))),
        project=", ".join(node.projects),
        landing_id=match.landing_id or node.node_id,
    )
