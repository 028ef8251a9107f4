"""Routing: a question answered by the way that fits it, which the answer tells."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import queries, routes, timely
from memtui.memory.filters import EVERYTHING
from memtui.memory.found import Understood
from memtui.memory.hits import Hit
from memtui.memory.routes import Choice, Sureness, Way
from memtui.memory.scopes import ALL, Scope
from memtui.memory.timely import Timely
from memtui.memory.times import Period
from memtui.memory.toc import TocLine
from memtui.recall import navigation
from memtui.recall.teleport import Teleport

LIMIT = 8
"""How many nodes and hits an answer has unless fewer or more are asked for."""


@dataclass(frozen=True, slots=True)
class Routed:
    """An answer, and the way it was found."""

    question: str
    choice: Choice
    sureness: Sureness
    times: tuple[Understood, ...] = ()
    """What was understood of the times in the question."""
    hits: tuple[Hit, ...] = ()
    nodes: tuple[TocLine, ...] = ()
    """Those of the time, or the years; newest first."""
    notes: tuple[str, ...] = ()


class Router:
    """Answers questions by browsing, by teleporting, or from the top."""

    def __init__(
        self, teleport: Teleport, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to ask.

        Args:
            teleport: Of nodes and grips.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._teleport, self._zone, self._clock = teleport, zone, clock

    def ask(self, question: str, *, limit: int = LIMIT, of: Scope = ALL) -> Routed:
        """Answer a question; any string is one.

        Args:
            question: In whatever words.
            limit: The most hits, and the most nodes.
            of: Whose work.
        """
        read = timely.read(question, self._clock(), self._zone)
        asked = queries.read(read.rest, self._zone, replace(EVERYTHING, of=of))
        # Filters and the scope the question names itself hold for browsing too.
        choice, of = routes.choose(asked, read.periods), asked.filters.of
        nodes = self._nodes(choice.way, read, of)
        hits, notes = self._hits(choice.way, question, limit, of)
        times = tuple(
            Understood(one.said, bool(self._within((one,), of))) for one in read.periods
        )
        return Routed(
            question,
            choice,
            _sure(choice.way, nodes, hits),
            times,
            tuple(hits),
            _top(choice.way, nodes, hits, of)[:limit],
            notes,
        )

    def _nodes(self, way: Way, read: Timely, of: Scope) -> list[TocLine]:
        if way in (Way.BROWSE, Way.BOTH):
            return self._within(read.periods, of)
        return []

    def _within(self, periods: tuple[Period, ...], of: Scope) -> list[TocLine]:
        found: dict[str, TocLine] = {}
        for one in periods:
            for line in navigation.in_range(one.start, one.end, self._zone, of=of):
                found[line.node_id] = line
        return list(found.values())

    def _hits(
        self, way: Way, question: str, limit: int, of: Scope
    ) -> tuple[list[Hit], tuple[str, ...]]:
        if way not in (Way.TELEPORT, Way.BOTH):
            return [], ()
        answer = self._teleport.find(question, limit=limit, of=of)
        meant = [f"Did you mean: {answer.suggestion}"] if answer.suggestion else []
        notes = tuple(filter(None, (answer.note, *meant)))
        return list(answer.hits), notes


def _top(
    way: Way, nodes: list[TocLine], hits: list[Hit], of: Scope
) -> tuple[TocLine, ...]:
    """The nodes of the time; the years where nothing better is known."""
    if nodes or (hits and _best(hits) >= routes.VAGUELY):
        return tuple(nodes)
    return tuple(navigation.get_toc_root(of=of))


def _sure(way: Way, nodes: list[TocLine], hits: list[Hit]) -> Sureness:
    if way is Way.TOP:
        return Sureness(routes.VAGUELY)
    if way is Way.BROWSE:
        return Sureness(routes.SURE if nodes else routes.EMPTY)
    if way is Way.BOTH and not nodes:
        # The words may be there: what is asked of the time is not.
        return Sureness(min(_best(hits), routes.EMPTY))
    return Sureness(_best(hits))


def _best(hits: list[Hit]) -> float:
    return max((hit.score for hit in hits), default=0.0)
