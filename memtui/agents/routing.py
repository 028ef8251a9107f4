"""Routing: a question answered by the way that fits it, which the answer tells."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum

from memtui.agents import navigation
from memtui.model import hits as model_hits
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import CombinedHit, Hit, ReadDate, ScoreBand
from memtui.model.nodes import TocEntry
from memtui.model.scope import ALL, Scope
from memtui.search import query, query_dates
from memtui.search.nodes import Teleport
from memtui.search.query import Query
from memtui.search.query_dates import DatedQuery
from memtui.search.quotes import Quoting
from memtui.text import analyzer
from memtui.text.dates import Period


class Way(StrEnum):
    """How a question is answered."""

    BROWSE = "browse"
    """The nodes of a time."""
    TELEPORT = "teleport"
    """What holds the words."""
    BOTH = "browse+teleport"
    """What holds the words, of the nodes of a time."""
    TOP = "top"
    """The years, to be read from the top."""


VAGUE = frozenset(
    """
    anything best bit bring bug chat conversation conversations decide decided
    detail details did discuss discussed discussing discussion discussions
    everything find fix fixed happen happened happening help history info
    information issue issues item items kind know last learn learned lot may
    memories memory mention mentioned might new next note notes overview past people
    please problem problems progress project projects question questions recall
    recap recent recently remember remind said saw say see seen session sessions
    show something sort status stuff subject summarise summarize summary talk talked
    tell thing things think thought today told topic topics try trying update
    updates use used want wanted way week work worked working works wrote
    """.split()  # noqa: SIM905 - a list of so many words is read more easily so
)
"""Words that any question may have and that name nothing."""


SURE = 0.9
"""How sure one is of a time that was read and of which something is kept."""


EMPTY = 0.2
"""How sure one is of a time of which nothing is kept, or of no way at all; at most,
of what holds the words at another time."""


VAGUELY = 0.3
"""How sure one is that the top of the tree is the place to begin."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which way is taken, and why."""

    way: Way
    why: str
    terms: tuple[str, ...] = ()
    """The words that name something."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure a way is to lead there: a score, and what it advises (bands)."""

    score: float

    @property
    def band(self) -> ScoreBand:
        """The band it lies in."""
        return model_hits.score_band(self.score)


def choose(asked: Query, periods: tuple[Period, ...]) -> Choice:
    """Which way a question goes.

    Args:
        asked: What remains of it to be looked up, its times taken out.
        periods: The times in it.
    """
    named = specific(asked)
    listed = ", ".join(named[:5])
    said = "; ".join(period.label for period in periods)
    if periods and named:
        return Choice(Way.BOTH, f"It names a time ({said}) and terms: {listed}.", named)
    if periods:
        return Choice(Way.BROWSE, f"It names a time: {said}.")
    if named:
        return Choice(Way.TELEPORT, f"It names specific terms: {listed}.", named)
    return Choice(Way.TOP, "It names neither a time nor a specific term.")


def specific(asked: Query) -> tuple[str, ...]:
    """The words of a query that name something, phrases first."""
    found = [word.text for word in asked.words if _names(word.text)]
    return tuple(dict.fromkeys([*asked.phrases, *found]))


def pointed(text: str, zone: tzinfo) -> str:
    """A question without the words that name nothing; filters and quotes stay.

    Args:
        text: What remains of it to be looked up, its times taken out.
        zone: The calendar's.
    """
    tokens = _TOKEN.findall(text[: query.CAP_CHARS])
    return " ".join(one for one in tokens if not _is_idle(query.read(one, zone)))


_TOKEN = re.compile(r'[^\s"]*"[^"]*"|\S+')
"""A word, a filter or a quote, with what stands right before it."""


def _is_idle(asked: Query) -> bool:
    is_more = asked.needs_text or asked.filters != EVERYTHING
    return bool(asked.words) and not is_more and not specific(asked)


def _names(word: str) -> bool:
    return analyzer.is_telling(word) and analyzer.fold(word) not in VAGUE


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
    times: tuple[ReadDate, ...] = ()
    """What was understood of the times in the question."""
    hits: tuple[Hit, ...] = ()
    """Summaries that answer; of several that say the same the narrowest."""
    quotes: tuple[CombinedHit, ...] = ()
    """What was said that answers."""
    nodes: tuple[TocEntry, ...] = ()
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
        read = query_dates.read(question, self._clock(), self._zone)
        asked = query.read(read.rest, self._zone, replace(EVERYTHING, scope=of))
        # Filters and the scope the question names itself hold for browsing too.
        choice, of = choose(asked, read.periods), asked.filters.scope
        found = {one: self._within(one, of) for one in read.periods}
        nodes = list(
            {one.node_id: one for some in found.values() for one in some}.values()
        )
        hits, quotes, notes = self._found(choice.way, question, read, limit, of)
        elsewhere = _elsewhere(read, nodes, [*hits, *quotes])
        sureness = _sure(choice.way, nodes, hits, quotes, is_elsewhere=bool(elsewhere))
        times = tuple(ReadDate(one.label, bool(some)) for one, some in found.items())
        unmet = [f"Nothing is kept of {one.text}." for one in times if not one.has_hits]
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
        self, way: Way, question: str, read: DatedQuery, limit: int, of: Scope
    ) -> tuple[list[Hit], tuple[CombinedHit, ...], tuple[str, ...]]:
        """Summaries and quotes that answer: where a time has some, its own alone."""
        if way is not Way.BOTH:
            hits, notes = self._hits(way, read, limit, of)
            return (
                hits,
                self._quotes(way, question, limit, replace(EVERYTHING, scope=of)),
                notes,
            )
        hits, notes = self._hits(way, read, SEEN * limit, of)
        mine = [one for one in hits if read.covers(one.at)][:limit]
        held = query_dates.bounded(replace(EVERYTHING, scope=of), read.periods)
        quotes = self._quotes(way, read.rest, limit, held)
        quotes = tuple(one for one in quotes if read.covers(one.at))
        if mine or quotes:
            return mine, quotes, notes
        quotes = self._quotes(way, read.rest, limit, replace(EVERYTHING, scope=of))
        return hits[:limit], quotes, notes

    def _within(self, one: Period, of: Scope) -> list[TocEntry]:
        return navigation.in_range(one.start, one.end, self._zone, of=of)

    def _hits(
        self, way: Way, read: DatedQuery, limit: int, of: Scope
    ) -> tuple[list[Hit], tuple[str, ...]]:
        if way not in (Way.TELEPORT, Way.BOTH):
            return [], ()
        words = pointed(read.rest, self._zone)
        answer = self._teleport.find(words, limit=limit, of=of)
        hits = sorted(
            answer.hits,
            key=lambda hit: (
                -hit.score * (query_dates.BOOST if read.covers(hit.at) else 1.0)
            ),
        )
        meant = [f"Did you mean: {answer.suggestion}"] if answer.suggestion else []
        return hits, tuple(filter(None, (answer.note, *meant)))

    def _quotes(
        self, way: Way, question: str, limit: int, filters: Filters
    ) -> tuple[CombinedHit, ...]:
        if way not in (Way.TELEPORT, Way.BOTH):
            return ()
        words = pointed(question, self._zone)
        return self._quoting.find(words, limit=2 * limit, filters=filters).quotes


def _elsewhere(
    read: DatedQuery, nodes: Sequence[TocEntry], shown: Sequence[Hit | CombinedHit]
) -> tuple[str, ...]:
    """That what is shown is not of the times that were asked about."""
    if not (read.periods and shown) or any(read.covers(one.at) for one in shown):
        return ()
    named = " and ".join(one.label.partition(":")[0] for one in read.periods)
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
    way: Way, sure: Sureness, nodes: list[TocEntry], of: Scope
) -> tuple[TocEntry, ...]:
    """The nodes of the time; the years where nothing better is known."""
    is_known = way is Way.TELEPORT and sure.score >= VAGUELY
    if nodes or is_known:
        return tuple(nodes)
    return tuple(navigation.get_toc_root(of=of))


def _sure(
    way: Way,
    nodes: list[TocEntry],
    hits: list[Hit],
    quotes: Sequence[CombinedHit],
    *,
    is_elsewhere: bool,
) -> Sureness:
    if way is Way.TOP:
        return Sureness(VAGUELY)
    if way is Way.BROWSE:
        return Sureness(SURE if nodes else EMPTY)
    scores = [one.score for one in hits] + [one.score for one in quotes]
    best = max(scores, default=0.0)
    return Sureness(min(best, EMPTY) if is_elsewhere else best)
