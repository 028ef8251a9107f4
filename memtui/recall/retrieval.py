"""Retrieval: the few memories that answer a question, summaries first (seed 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import chunks, citations, memories, time_since
from memtui.memory.events import from_ms
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import Moment, Understood
from memtui.memory.memories import LIMIT, Line, Memory
from memtui.memory.toc import TocNode
from memtui.recall.quoting import Quoting
from memtui.store import database, events, segments, spans, surprises, toc

MOST = 20
"""The most memories there are in an answer."""

SAID_CHARS = 700
"""How much of what was said a memory's summary quotes, in characters."""


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
        self, quoting: Quoting, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to ask.

        Args:
            quoting: Of what was said, by the search over everything.
            zone: The calendar's.
            clock: Tells the time, from which memories are seen.
        """
        self._quoting, self._zone, self._clock = quoting, zone, clock

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
        quoted = self._quoting.find(query, filters=filters)
        found = quoted.findings
        several = [_said(one, quoted.quotes) for one in found.hits[:limit]]
        moments, now = [some[0] for some in several], self._clock()
        with database.connected():
            names = [one.node_id for one in moments if one.node_id]
            weighed = surprises.of(names)
            nodes = {node.node_id: node for node in toc.nodes(names)}
            told = [
                self._memory(rank, some, nodes.get(some[0].node_id), now, weighed)
                for rank, some in enumerate(several, 1)
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
        quotes: Sequence[Moment],
        node: TocNode | None,
        now: datetime,
        weighed: dict[str, float],
    ) -> Memory:
        moment = quotes[0]
        ended = _ended(moment, node)
        return Memory(
            rank=rank,
            score=moment.score,
            surprise=weighed.get(moment.node_id),
            at=ended,
            when=time_since.ago(ended, now, self._zone),
            summary=_summary(quotes),
            cite=_cite(moment, node),
            node_id=moment.node_id,
        )


def _said(moment: Moment, quotes: Sequence[Moment]) -> tuple[Moment, ...]:
    """What of a session answers best: itself, or where it was said."""
    mine = [one for one in quotes if one.session_id == moment.session_id]
    return tuple(one for one in mine if one.event_id) or (moment,)


def _ended(moment: Moment, node: TocNode | None) -> datetime:
    """When the last message of a memory was said: its session may end days later."""
    stretch = segments.get(moment.node_id) if moment.node_id else None
    if stretch is None:
        return node.end_time if node else moment.at
    last_ms = spans.last_said_ms(stretch.number, stretch.start_ms, stretch.end_ms)
    return from_ms(last_ms) if last_ms is not None else moment.at


def _summary(quotes: Sequence[Moment]) -> str:
    """What a memory is about, and of what was said in it what answers."""
    about, told = quotes[0].title, list[str]()
    for one in quotes:
        said = " ".join(one.snippet.text.split())
        room = SAID_CHARS - sum(map(len, told))
        if chunks.fold(said) not in chunks.fold(about) and (len(said) <= room):
            told.append(f"{one.role}: {said}" if one.role else said)
    return " ".join([f"{about.rstrip('.…')}." if told and about else about, *told])


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
