"""Seeking: what of the table of contents answers by its words, without an index.

``search_node``, ``search_children`` and ``by_keyword`` read the store itself. What is
not there gives an empty answer.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice

from memtui.memory import queries, words
from memtui.memory.queries import Query, finds
from memtui.memory.queries.finds import Field, Find, Held
from memtui.memory.scopes import ALL, Scope
from memtui.memory.toc import TocNode
from memtui.memory.words import stems
from memtui.recall.navigation import LIMIT, WIDE, get_node
from memtui.store import database, spans, toc

READ = 10_000
"""How many segments' keywords are read for a word at most: the newest that may do."""

CUT = (
    "Of the segments that may have it the newest {:,} were looked through: a longer"
    " word, or a node to look under, finds older ones."
)

ALL_FIELDS: frozenset[Field] = frozenset()


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Nodes that answer, the best first."""

    nodes: tuple[Held, ...] = ()
    has_more: bool = False
    note: str = ""
    """What the reader should know of how they were looked for."""


def search_node(
    node_id: str,
    query: str,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    fields: Collection[Field] = ALL_FIELDS,
) -> list[Find]:
    """The parts of one node that answer, the best first; with their grips.

    Args:
        node_id: Of which node; an unknown one has none.
        query: Any string.
        zone: The calendar's.
        limit: The most parts.
        fields: Which parts are looked through; all of them where empty.
    """
    asked = queries.read(query, zone)
    node = get_node(node_id)
    if node is None or asked.is_empty:
        return []
    return finds.of(node, asked, frozenset(fields))[: max(1, limit)]


def search_children(
    parent_id: str | None,
    query: str,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    fields: Collection[Field] = ALL_FIELDS,
    of: Scope = ALL,
) -> HeldPage:
    """The children of a node that answer, the best first, each with what does.

    Args:
        parent_id: Of which node; the years where it is None.
        query: Any string.
        zone: The calendar's.
        limit: The most children.
        fields: Which parts are looked through; all of them where empty.
        of: Whose work.
    """
    asked = queries.read(query, zone)
    if asked.is_empty:
        return HeldPage()
    with database.connected():
        above = [spans.cited_node(parent_id)] if parent_id else None
        names = spans.under(above, of)[:WIDE]
        held = _held(toc.nodes(names), asked, frozenset(fields))
    return HeldPage(tuple(held[: max(1, limit)]), len(held) > limit)


def by_keyword(
    keyword: str,
    *,
    under: str | None = None,
    limit: int = LIMIT,
    of: Scope = ALL,
) -> HeldPage:
    """The segments whose keywords hold a word, newest first.

    The segments themselves are asked: a node above them keeps but the weightiest of
    their keywords (decisions §5).

    Args:
        keyword: One word or more; in any form.
        under: Under which node; under all of them where it is None.
        limit: The most segments.
        of: Whose work.
    """
    wanted = {*words.needed(keyword[: queries.CAP_CHARS])}
    if not wanted:
        return HeldPage()
    with database.connected():
        begun = [stems.heads(term) for term in wanted]
        above = spans.cited_node(under) if under else None
        said = spans.keywords(above, of, begun=begun)
        found = dict(islice(_about(islice(said, READ), wanted), max(1, limit) + 1))
        is_cut = len(found) <= max(1, limit) and next(said, None) is not None
        lines = {one.node_id: one for one in toc.lines([*found])}
    held = [
        Held(lines[name], (Find(Field.KEYWORDS, " · ".join(carried), 1.0),), 1.0)
        for name, carried in found.items()
        if name in lines
    ]
    note = CUT.format(READ) if is_cut else ""
    return HeldPage(tuple(held[: max(1, limit)]), len(held) > limit, note)


def _about(
    said: Iterable[tuple[str, list[str]]], wanted: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Those whose keywords hold all of the terms between them."""
    terms: dict[str, set[str]] = {}
    for name, keywords in said:
        for word in keywords:
            if word not in terms:
                terms[word] = wanted.intersection(words.terms(word))
        if len(set[str]().union(*(terms[word] for word in keywords))) == len(wanted):
            yield name, keywords


def _held(
    nodes: Sequence[TocNode], asked: Query, fields: frozenset[Field]
) -> list[Held]:
    lines = {one.node_id: one for one in toc.lines([n.node_id for n in nodes])}
    held = [
        Held(lines[node.node_id], tuple(found), finds.score(node, asked, fields))
        for node in nodes
        if (found := finds.of(node, asked, fields))
    ]
    return sorted(held, key=lambda one: (-one.score, -one.line.start_time.timestamp()))
