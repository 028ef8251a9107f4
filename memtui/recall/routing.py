"""Routing: a question answered by the way that fits it, which the answer tells."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import queries
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import Moment, Understood
from memtui.memory.hits import Hit
from memtui.memory.queries import routes, timely
from memtui.memory.queries.routes import Choice, Sureness, Way
from memtui.memory.queries.timely import Timely
from memtui.memory.scopes import ALL, Scope
from memtui.memory.times import Period
from memtui.memory.toc import TocLine
from memtui.recall import navigation
from memtui.recall.quoting import Quoting
from memtui.recall.teleport import Teleport

SEEN = 6
"""How many times as many summaries are looked at where only those of a time count."""

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
    """Summaries that answer; of several that say the same the narrowest."""
    quotes: tuple[Moment, ...] = ()
    """What was said that answers."""
    nodes: tuple[TocLine, ...] = ()
    """Those of the time, or the years; newest first."""
    notes: tuple[str, ...] = ()


class Router:
    """Answers questions by browsing, by teleporting, or from the top."""

    def __init__(
        self,
        teleport: Teleport,
        quoting: Quoting,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember whom to ask.

        Args:
            teleport: Of nodes and grips.
            quoting: Of what was said.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._teleport, self._quoting = teleport, quoting
        self._zone, self._clock = zone, clock

    def ask(self, question: str, *, limit: int = LIMIT, of: Scope = ALL) -> Routed:
        """Answer a question; any string is one.

        Args:
            question: In whatever words.
            limit: The most hits, and the most nodes; twice as many quotes.
            of: Whose work.
        """
        read = timely.read(question, self._clock(), self._zone)
        asked = queries.read(read.rest, self._zone, replace(EVERYTHING, of=of))
        # Filters and the scope the question names itself hold for browsing too.
        choice, of = routes.choose(asked, read.periods), asked.filters.of
        found = {one: self._within(one, of) for one in read.periods}
        nodes = list(
            {one.node_id: one for some in found.values() for one in some}.values()
        )
        hits, quotes, notes = self._found(choice.way, question, read, limit, of)
        elsewhere = _elsewhere(read, nodes, [*hits, *quotes])
        sureness = _sure(choice.way, nodes, hits, quotes, is_elsewhere=bool(elsewhere))
        times = tuple(Understood(one.said, bool(some)) for one, some in found.items())
        unmet = [f"Nothing is kept of {one.said}." for one in times if not one.is_met]
        return Routed(
            question,
            choice,
            sureness,
            times,
            tuple(_told_apart(hits)),
            quotes,
            _top(choice.way, sureness, nodes, of)[:limit],
            (*unmet, *elsewhere, *notes),
        )

    def _found(
        self, way: Way, question: str, read: Timely, limit: int, of: Scope
    ) -> tuple[list[Hit], tuple[Moment, ...], tuple[str, ...]]:
        """Summaries and quotes that answer: where a time has some, its own alone."""
        if way is not Way.BOTH:
            hits, notes = self._hits(way, read, limit, of)
            return (
                hits,
                self._quotes(way, question, limit, replace(EVERYTHING, of=of)),
                notes,
            )
        hits, notes = self._hits(way, read, SEEN * limit, of)
        mine = [one for one in hits if read.covers(one.at)][:limit]
        held = timely.bounded(replace(EVERYTHING, of=of), read.periods)
        quotes = self._quotes(way, read.rest, limit, held)
        quotes = tuple(one for one in quotes if read.covers(one.at))
        if mine or quotes:
            return mine, quotes, notes
        quotes = self._quotes(way, read.rest, limit, replace(EVERYTHING, of=of))
        return hits[:limit], quotes, notes

    def _within(self, one: Period, of: Scope) -> list[TocLine]:
        return navigation.in_range(one.start, one.end, self._zone, of=of)

    def _hits(
        self, way: Way, read: Timely, limit: int, of: Scope
    ) -> tuple[list[Hit], tuple[str, ...]]:
        if way not in (Way.TELEPORT, Way.BOTH):
            return [], ()
        words = routes.pointed(read.rest, self._zone)
        answer = self._teleport.find(words, limit=limit, of=of)
        hits = sorted(
            answer.hits,
            key=lambda hit: -hit.score * (timely.GAIN if read.covers(hit.at) else 1.0),
        )
        meant = [f"Did you mean: {answer.suggestion}"] if answer.suggestion else []
        return hits, tuple(filter(None, (answer.note, *meant)))

    def _quotes(
        self, way: Way, question: str, limit: int, filters: Filters
    ) -> tuple[Moment, ...]:
        if way not in (Way.TELEPORT, Way.BOTH):
            return ()
        words = routes.pointed(question, self._zone)
        return self._quoting.find(words, limit=2 * limit, filters=filters).quotes


def _elsewhere(
    read: Timely, nodes: Sequence[TocLine], shown: Sequence[Hit | Moment]
) -> tuple[str, ...]:
    """That what is shown is not of the times that were asked about."""
    if not (read.periods and shown) or any(read.covers(one.at) for one in shown):
        return ()
    named = " and ".join(one.said.partition(":")[0] for one in read.periods)
    beside = f"Nothing of {named} holds it; these" if nodes else "These"
    return (f"{beside} are of other times.",)


def _told_apart(hits: list[Hit]) -> Iterator[Hit]:
    """Hits without those whose words another one told: a day's are its segments'."""
    told: set[str] = set()
    for hit in hits:
        if hit.snippet.text not in told:
            yield hit
        told.add(hit.snippet.text)


def _top(
    way: Way, sure: Sureness, nodes: list[TocLine], of: Scope
) -> tuple[TocLine, ...]:
    """The nodes of the time; the years where nothing better is known."""
    is_known = way is Way.TELEPORT and sure.score >= routes.VAGUELY
    if nodes or is_known:
        return tuple(nodes)
    return tuple(navigation.get_toc_root(of=of))


def _sure(
    way: Way,
    nodes: list[TocLine],
    hits: list[Hit],
    quotes: Sequence[Moment],
    *,
    is_elsewhere: bool,
) -> Sureness:
    if way is Way.TOP:
        return Sureness(routes.VAGUELY)
    if way is Way.BROWSE:
        return Sureness(routes.SURE if nodes else routes.EMPTY)
    scores = [one.score for one in hits] + [one.score for one in quotes]
    best = max(scores, default=0.0)
    return Sureness(min(best, routes.EMPTY) if is_elsewhere else best)
