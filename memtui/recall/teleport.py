"""Jumping anywhere: from a few words to nodes and grips."""

import logging
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import SearchError
from memtui.memory import calendar, words
from memtui.memory.grips import Grip
from memtui.memory.hits import Answer, Hit, HitKind, Match, Snippet
from memtui.memory.scopes import ALL, Scope
from memtui.memory.snippets import best_line, wanted_in
from memtui.memory.toc import TocLevel, TocNode
from memtui.store import database, grips, outbox, scopes, toc

if TYPE_CHECKING:
    from memtui.search.index import Index

log = logging.getLogger(__name__)

LIMIT = 50
"""How many hits are answered unless fewer are asked for."""

STORE_NODES = 2000
"""How many of the newest nodes are looked through while there is no index."""

REBUILDING = 200
"""With more announcements than this waiting, the index is said to be behind."""


_PHRASE = re.compile(r'"([^"]+)"')


class Teleport:
    """Finds nodes and grips through the index, or through the store without one."""

    def __init__(self, folder: Path) -> None:
        """Remember where the index lies; it is opened by the first question."""
        self._folder = folder
        self._opened: Index | None = None

    @property
    def _index(self) -> "Index":
        if self._opened is None:
            from memtui.search.index import Index  # noqa: PLC0415 - Whoosh: 55 ms

            self._opened = Index(self._folder)
        return self._opened

    def find(self, query: str, *, limit: int = LIMIT, of: Scope = ALL) -> Answer:
        """The best hits of a query as it is being typed; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            query: What was typed.
            limit: The most hits.
            of: Whose work is looked through.
        """
        began_s = time.perf_counter()
        note = ""
        phrases = [words.fold(said) for said in _PHRASE.findall(query) if said.strip()]
        with database.connected():
            try:
                matches = self._matches(query, limit * (4 if phrases else 1), of)
                waiting = outbox.length(outbox.INDEX_NODE)
                if waiting > REBUILDING:
                    note = f"The index is being built: {waiting:,} nodes to go."
            except SearchError:
                matches = _from_store(query, limit, of)
                log.exception("the index could not be asked")
                note = "The index is missing or broken: search reads the newest nodes."
            hits = _hits(matches, query, phrases)[:limit]
        took_ms = (time.perf_counter() - began_s) * 1000
        return Answer(query, tuple(hits), took_ms, note)

    def _matches(self, query: str, most: int, of: Scope) -> list[Match]:
        """What the index finds; more is asked of it where some of that falls away."""
        while True:
            found = self._index.find(query, most, of)
            if not (of.agent and of.project):
                return found
            places = _places(found, _grips(found))
            kept = scopes.among(list(set(places)), of)
            mine = [m for m, place in zip(found, places, strict=True) if place in kept]
            if len(mine) == len(found) or len(found) < most:
                return mine
            most *= 4

    def close(self) -> None:
        """Let go of the index's files."""
        if self._opened is not None:
            self._opened.close()


def _hits(matches: Sequence[Match], query: str, phrases: Sequence[str]) -> list[Hit]:
    """Matches as lines to show; what is no longer the latest is left out."""
    kept = _grips(matches)
    wanted = _places(matches, kept)
    nodes = {node.node_id: node for node in toc.nodes(list(dict.fromkeys(wanted)))}
    asked = words.terms(query)
    return [
        _hit(match, nodes[place], kept.get(match.target_id), asked)
        for match, place in zip(matches, wanted, strict=True)
        if place in nodes and _says(nodes[place], kept.get(match.target_id), phrases)
    ]


def _grips(matches: Sequence[Match]) -> dict[str, Grip]:
    return grips.get(m.target_id for m in matches if m.kind is HitKind.GRIP)


def _places(matches: Sequence[Match], kept: Mapping[str, Grip]) -> list[str]:
    """The node each match leads to."""
    places = {grip.grip_id: grip.toc_node_id or "" for grip in kept.values()}
    return [places.get(match.target_id, match.target_id) for match in matches]


def _says(node: TocNode, grip: Grip | None, phrases: Sequence[str]) -> bool:
    """Whether a node, or a grip of it, holds every phrase word for word."""
    said = words.fold(grip.excerpt if grip else "\n".join([node.title, *_lines(node)]))
    return all(phrase in said for phrase in phrases)


def _hit(match: Match, node: TocNode, grip: Grip | None, asked: Sequence[str]) -> Hit:
    text = best_line([grip.excerpt] if grip else _lines(node), asked)
    return Hit(
        kind=match.kind,
        target_id=match.target_id,
        node_id=node.node_id,
        level=node.level,
        title=node.headline or node.title,
        at=grip.timestamp if grip else node.start_time,
        score=match.score,
        snippet=Snippet(text, tuple(words.spans(text, wanted_in(text, asked)))),
        project=", ".join(node.projects),
    )


def _lines(node: TocNode) -> list[str]:
    """What of a node can answer a query, the most telling first."""
    said = [bullet.text for bullet in node.bullets]
    return [*said, node.headline, " · ".join(node.words)]


def _from_store(query: str, limit: int, of: Scope) -> list[Match]:
    """Look through the newest nodes themselves: slower, and always possible."""
    asked = words.needed(query) if query.strip() else []
    if not asked:
        return []
    found = []
    for node in toc.nodes(toc.newest(STORE_NODES, of)):
        said = [node.title, node.headline, *node.words]
        held = set(words.terms(" ".join([*said, *(b.text for b in node.bullets)])))
        share = sum(_is_held(term, held) for term in asked) / len(asked)
        if share:
            found.append(Match(HitKind.NODE, node.node_id, share * _weight(node)))
    found.sort(key=lambda match: -match.score)
    return found[:limit]


def _is_held(term: str, held: set[str]) -> bool:
    return term in held or any(word.startswith(term) for word in held)


def _weight(node: TocNode) -> float:
    """The narrower a node, the better it is to land on."""
    return 0.5 + 0.1 * list(TocLevel).index(calendar.period(node.node_id).level)
