"""Retrieval: the few memories that answer a question, summaries first (seed 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.agents import memories as agents_memories
from memtui.agents.memories import LIMIT, Line, Memory
from memtui.model import citations
from memtui.model.events import from_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import CombinedHit, ReadDate
from memtui.model.nodes import TocNode
from memtui.search import query as search_query
from memtui.search import snippets
from memtui.search.query import Query
from memtui.search.quotes import Quoting
from memtui.store import database, events, segments, surprise
from memtui.store import nodes as store_nodes
from memtui.text import analyzer, date_format

MOST = 20
"""The most memories there are in an answer."""


SUMMARY_CHARS = 400
"""How long a memory's summary gets by what of its bullets answers, in characters."""


WHOLE_CHARS = 2_000
"""The most details, in characters, that are told whole: of more, what is long and
answers is quoted."""


SHORT_CHARS = 400
"""How long a message is told whole among these, in characters."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The memories that answer a question, the best first."""

    query: str
    memories: tuple[Memory, ...] = ()
    notes: tuple[str, ...] = ()
    times: tuple[ReadDate, ...] = ()


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
        found, now = quoted.findings, self._clock()
        asked = search_query.read(query, self._zone)
        hits = found.hits[:limit]
        several = [_said(one, quoted.quotes) for one in hits]
        moments = [some[0] for some in several]
        with database.connection():
            names = [one.node_id for one in moments if one.node_id]
            weighed = surprise.get(names)
            nodes = {node.node_id: node for node in store_nodes.get_many(names)}
            told = [
                replace(
                    self._memory(rank, one, nodes.get(one.node_id), now, asked),
                    # By what it is ranked: the search's, not its best quote's.
                    score=None if found.is_recent else hit.score,
                    surprise=weighed.get(one.node_id),
                )
                for rank, (hit, one) in enumerate(zip(hits, moments, strict=True), 1)
            ]
            told = [
                replace(one, details=_details(one, some))
                if agents_memories.has_details(
                    one.rank, one.surprise, detail_limit, len(told)
                )
                else one
                for one, some in zip(told, several, strict=True)
            ]
        return Retrieved(query, tuple(told), found.notes, found.times)

    def _memory(
        self,
        rank: int,
        moment: CombinedHit,
        node: TocNode | None,
        now: datetime,
        asked: Query,
    ) -> Memory:
        ended = _ended(moment, node)
        return Memory(
            rank=rank,
            score=moment.score,
            surprise=None,
            at=ended,
            when=date_format.calendar_age(ended, now, self._zone),
            summary=_summary(moment, node, asked),
            cite=_cite(moment, node),
            node_id=moment.node_id,
        )


def _said(
    moment: CombinedHit, quotes: Sequence[CombinedHit]
) -> tuple[CombinedHit, ...]:
    """What of a session answers best: itself, or where it was said."""
    mine = [one for one in quotes if one.session_id == moment.session_id]
    return tuple(one for one in mine if one.event_id) or (moment,)


def _ended(moment: CombinedHit, node: TocNode | None) -> datetime:
    """When the last message of a memory was said: its session may end days later."""
    stretch = segments.get(moment.node_id) if moment.node_id else None
    if stretch is None:
        return node.end_time if node else moment.at
    last_ms = events.last_message_ms(stretch.number, stretch.start_ms, stretch.end_ms)
    return from_ms(last_ms) if last_ms is not None else moment.at


def _summary(moment: CombinedHit, node: TocNode | None, asked: Query) -> str:
    """What a memory is about, and of what its summary holds what answers."""
    about = moment.title
    told = [moment.snippet.text] if not (moment.role or moment.grip_id) else []
    bullets = [one.text for one in node.bullets if one.has_support] if node else []
    held = [(len(snippets.wanted_in(one, asked)), one) for one in bullets]
    told += [one for count, one in sorted(held, key=lambda it: -it[0]) if count]
    for said in (" ".join(one.split()) for one in told):
        is_told = analyzer.fold(said) in analyzer.fold(about)
        if not is_told and len(about) + len(said) <= SUMMARY_CHARS:
            about = f"{about.rstrip('.…')}. {said}" if about else said
    return about


def _cite(moment: CombinedHit, node: TocNode | None) -> str:
    if moment.event_id:
        return citations.cite_event(moment.event_id)
    if moment.grip_id:
        return citations.cite_grip(moment.grip_id)
    grips = (
        name for bullet in (node.bullets if node else ()) for name in bullet.grip_ids
    )
    return citations.cite_grip(next(grips, ""))


def _details(memory: Memory, quotes: Sequence[CombinedHit]) -> tuple[Line, ...]:
    """The messages of a memory's segment, what answers among them marked."""
    stretch = segments.get(memory.node_id) if memory.node_id else None
    if stretch is None:
        return ()
    within = events.between(stretch.number, stretch.start_ms, stretch.end_ms)
    said = [event for event in within if event.is_message and event.text]
    short: dict[str, list[str]] = {}
    for one in quotes:
        if one.role:
            short.setdefault(one.event_id, []).append(one.snippet.text)
    is_long = sum(len(event.text) for event in said) > WHOLE_CHARS
    return tuple(
        Line(
            event.role,
            " … ".join(short[event.event_id])
            if is_long and event.event_id in short and len(event.text) > SHORT_CHARS
            else event.text,
            is_match=event.event_id in short,
        )
        for event in said
    )
