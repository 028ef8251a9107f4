"""Retrieval: the few memories that answer a question, summaries first (seed 4)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import chunks, citations, memories, time_since
from memtui.memory.events import from_ms
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import Moment, Understood
from memtui.memory.memories import LIMIT, Line, Memory
from memtui.memory.toc import TocNode
from memtui.recall.search import Search
from memtui.store import database, events, segments, spans, surprises, toc

MOST = 20
"""The most memories there are in an answer."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The memories that answer a question, the best first."""

    query: str
    memories: tuple[Memory, ...] = ()
    notes: tuple[str, ...] = ()
    times: tuple[Understood, ...] = ()


class Retrieval:
    """Retrieves memories."""

    def __init__(
        self, search: Search, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to ask.

        Args:
            search: Over everything.
            zone: The calendar's.
            clock: Tells the time, from which memories are seen.
        """
        self._search, self._zone, self._clock = search, zone, clock

    def retrieve_memory(
        self,
        query: str,
        *,
        limit: int = LIMIT,
        detail_limit: int | None = None,
        filters: Filters = EVERYTHING,
    ) -> Retrieved:
        """The memories that answer best; any string is legal.

        Args:
            query: What is asked.
            limit: The most memories.
            detail_limit: How many are told with their messages: none for 0, the two
                best if they are key moments for None, all for ``limit`` or more.
            filters: What is looked through besides.
        """
        limit = max(1, min(limit, MOST))
        found = self._search.find(query, limit=limit, filters=filters)
        moments, now = found.hits, self._clock()
        with database.connected():
            names = [one.node_id for one in moments if one.node_id]
            weighed = surprises.of(names)
            nodes = {node.node_id: node for node in toc.nodes(names)}
            told = [
                self._memory(rank, one, nodes.get(one.node_id), now, weighed)
                for rank, one in enumerate(moments, 1)
            ]
            told = [
                replace(one, details=_details(one))
                if memories.has_details(one.rank, one.surprise, detail_limit, len(told))
                else one
                for one in told
            ]
        return Retrieved(query, tuple(told), found.notes, found.times)

    def _memory(
        self,
        rank: int,
        moment: Moment,
        node: TocNode | None,
        now: datetime,
        weighed: dict[str, float],
    ) -> Memory:
        ended = _ended(moment, node)
        return Memory(
            rank=rank,
            score=moment.score,
            surprise=weighed.get(moment.node_id),
            at=ended,
            when=time_since.ago(ended, now, self._zone),
            summary=_summary(moment),
            cite=_cite(moment, node),
            node_id=moment.node_id,
        )


def _ended(moment: Moment, node: TocNode | None) -> datetime:
    """When the last message of a memory was said: its session may end days later."""
    stretch = segments.get(moment.node_id) if moment.node_id else None
    if stretch is None:
        return node.end_time if node else moment.at
    last_ms = spans.last_said_ms(stretch.number, stretch.start_ms, stretch.end_ms)
    return from_ms(last_ms) if last_ms is not None else moment.at


def _summary(moment: Moment) -> str:
    """What a memory is about, and of what was said in it what answers."""
    about, said = moment.title, " ".join(moment.snippet.text.split())
    if not said or chunks.fold(said) in chunks.fold(about):
        return about
    by = f"{moment.role}: " if moment.role else ""
    return f"{about.rstrip('.…')}. {by}{said}" if about else f"{by}{said}"


def _cite(moment: Moment, node: TocNode | None) -> str:
    if moment.event_id:
        return citations.of_event(moment.event_id)
    if moment.grip_id:
        return citations.of_grip(moment.grip_id)
    grips = (
        name for bullet in (node.bullets if node else ()) for name in bullet.grip_ids
    )
    return citations.of_grip(next(grips, ""))


def _details(memory: Memory) -> tuple[Line, ...]:
    """The messages of a memory's segment."""
    stretch = segments.get(memory.node_id) if memory.node_id else None
    if stretch is None:
        return ()
    within = events.between(stretch.number, stretch.start_ms, stretch.end_ms)
    return tuple(
        Line(event.role, event.text)
        for event in within
        if event.is_message and event.text
    )
