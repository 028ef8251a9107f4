"""Searching everything: one ranking over messages, nodes, grips and titles."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from memtui.model import calendar
from memtui.model.events import Event, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    CombinedHit,
    CombinedResult,
    Hit,
    HitKind,
    HitSource,
    IndexMatch,
    Snippet,
)
from memtui.model.nodes import TocEntry, TocNode
from memtui.model.sessions import Session
from memtui.search import messages, query_dates, recent, resolve_filters
from memtui.search import query as search_query
from memtui.search.messages import NO_WORD, Hearing, MessageSearcher, RankedMessage
from memtui.search.node_documents import node_texts
from memtui.search.nodes import NodeMatches, Teleport
from memtui.search.query import Query
from memtui.search.query_dates import BOOST, DatedQuery
from memtui.search.snippets import best_line, find_marks, matching_terms
from memtui.store import conversations, database, scopes, segments, sessions
from memtui.store import nodes as store_nodes

FIRST = 3
"""Of how many that rank best the best score is shown of the first."""

MESSAGE, WINDOW, THREAD = "message", "window", "thread"

WEIGHTS = {
    MESSAGE: 1.0,
    WINDOW: 1.0,
    THREAD: 1.5,
    HitSource.NODES: 0.3,
    HitSource.GRIPS: 0.2,
    HitSource.TITLES: 0.1,
}
"""What the best of each layer adds to a session's score."""


@dataclass(frozen=True, slots=True)
class Led:
    """A match of the teleport, and the session it leads to."""

    match: IndexMatch
    session: int
    at: datetime
    """When the segment began that it leads to."""

    @property
    def layer(self) -> HitSource:
        """What it is of."""
        return HitSource.GRIPS if self.match.kind is HitKind.GRIP else HitSource.NODES


@dataclass(slots=True)
class Candidate:
    """A session that may answer, with the best of each layer."""

    session: int
    heard: RankedMessage | None = None
    led: dict[HitSource, Led] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    total: float = 0.0
    """What it is ranked by: comparable within one answer alone."""
    shown: float = 0.0
    """The same on the scale of the layers' own scores, 0 to 1."""

    @property
    def own(self) -> float:
        """The best of its layers' own scores."""
        led = (one.match.score for one in self.led.values())
        return max([self.heard.score if self.heard else 0.0, *led])

    @property
    def is_named(self) -> bool:
        """Whether only its session's title or summary led to it."""
        return self.heard is None and not self.led

    @property
    def layers(self) -> frozenset[HitSource]:
        """The layers that led to it."""
        told = {layer for layer in HitSource if self.scores.get(layer)}
        return frozenset(told | ({HitSource.MESSAGES} if self.heard else set()))

    @property
    def times(self) -> list[datetime]:
        """When that was which answers."""
        heard = [self.heard.event.timestamp] if self.heard else []
        return heard + [led.at for led in self.led.values()]

    def note(self, name: str, score: float) -> bool:
        """Keep a score if it is the best of its name."""
        if score <= self.scores.get(name, 0.0):
            return False
        self.scores[name] = score
        return True


def lead_to(
    matches: Sequence[IndexMatch], allowed: Collection[int] | None
) -> list[Led]:
    """Those matches that lead to a segment of an allowed session.

    Args:
        matches: The teleport's.
        allowed: The sessions' numbers; None for all.
    """
    known = segments.get_starts(match.landing_id for match in matches)
    return [
        Led(match, *known[match.landing_id])
        for match in matches
        if match.landing_id in known
        and (allowed is None or known[match.landing_id][0] in allowed)
    ]


def rank(
    hearing: Hearing, matches: Iterable[Led], dated: DatedQuery, query: Query
) -> list[Candidate]:
    """The sessions that answer, the best first; inside ``connected()``.

    Args:
        hearing: What was heard.
        matches: What the teleport found.
        dated: The times the question speaks of.
        query: What is asked.
    """
    found: dict[int, Candidate] = {}
    _note_heard(found, hearing, dated)
    for session, score in hearing.titles.items():
        one = found.setdefault(session, Candidate(session))
        one.note(HitSource.TITLES, score)
    for match in matches:
        one = found.setdefault(match.session, Candidate(match.session))
        if one.note(match.layer, match.match.score):
            one.led[match.layer] = match
    _sum_up(found.values(), dated)
    best = sorted(found.values(), key=lambda one: (-one.total, -one.session))
    # As good as a layer says of the first few, and from there on as they are ranked.
    first = best[:FIRST]
    named = messages.shares([one.session for one in first if one.is_named], query)
    own = [named.get(one.session, one.own) for one in first]
    most = max(own, default=0.0)
    for one in best:
        one.shown = most * one.total / (best[0].total or 1.0)
    return best


def _note_heard(
    found: dict[int, Candidate], hearing: Hearing, dated: DatedQuery
) -> None:
    """Note the messages, and which of each session is its best."""
    most = _most(heard.message for heard in hearing.heard)
    most_around = _most(heard.window for heard in hearing.heard)
    best: dict[int, float] = {}
    for heard in hearing.heard:
        session = heard.place.session
        one = found.setdefault(session, Candidate(session))
        one.note(MESSAGE, heard.message)
        one.note(WINDOW, heard.window)
        one.note(THREAD, heard.thread)
        own = heard.message / most + heard.window / most_around
        own *= BOOST if dated.covers(heard.event.timestamp) else 1.0
        if own > best.get(session, -1.0):
            best[session], one.heard = own, heard


def _sum_up(candidates: Collection[Candidate], dated: DatedQuery) -> None:
    """Give each its score: what its layers add up to."""
    for name, weight in WEIGHTS.items():
        most = _most(one.scores.get(name, 0.0) for one in candidates)
        for one in candidates:
            one.total += weight * one.scores.get(name, 0.0) / most
    for one in candidates:
        if any(map(dated.covers, one.times)):
            one.total *= BOOST


def _most(scores: Iterable[float]) -> float:
    return max(scores, default=0.0) or 1.0


LIMIT = 20
"""How many moments are answered unless fewer or more are asked for."""

NODES = 50
"""How many matches of the teleport are ranked with the messages."""

SNIPPET_CHARS = 8_000
"""How much of a message is looked through for its best line, in characters."""


class CombinedSearch:
    """Finds moments in all that is kept."""

    def __init__(
        self,
        teleport: Teleport,
        ears: MessageSearcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember whom to ask.

        Args:
            teleport: Of nodes and grips.
            ears: Of messages.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._teleport, self._ears = teleport, ears
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> CombinedResult:
        """The moments that answer best; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            text: What was typed, filters included.
            limit: The most moments; one of each session.
            filters: What is looked through besides.
        """
        began_s = time.perf_counter()
        read = query_dates.parse(text, self._clock(), self._zone)
        query = search_query.parse(read.words, self._zone, filters)
        findings = CombinedResult(text, notes=query.hints)
        if wanted := recent.recent_query(query, read):
            return self._listed(wanted, read, findings, limit, began_s)
        if query.is_empty:
            findings = replace(findings, notes=(*query.hints, NO_WORD))
        else:
            with database.connection():
                findings = self._answer(query, read, findings, limit)
        times = read.describe([hit.at for hit in findings.hits])
        took_ms = (time.perf_counter() - began_s) * 1000
        return replace(findings, times=times, took_ms=took_ms)

    def _listed(
        self,
        query: Query,
        times: DatedQuery,
        empty: CombinedResult,
        limit: int,
        began_s: float,
    ) -> CombinedResult:
        """The newest, where no word is looked for."""
        notes = (*empty.notes, *recent.notes(times))
        found = empty
        with database.connection():
            query, unknown = resolve_filters.resolve(query)
            if query.filters.role:
                unknown.append(recent.MESSAGES_ONLY)
            else:
                found = recent.list_sessions(query, limit)
        took_ms = (time.perf_counter() - began_s) * 1000
        return replace(
            empty,
            hits=found.hits,
            notes=(*unknown, *notes),
            took_ms=took_ms,
            is_recent=True,
        )

    def _answer(
        self, query: Query, times: DatedQuery, findings: CombinedResult, limit: int
    ) -> CombinedResult:
        query, unknown = resolve_filters.resolve(query)
        filters = query.filters
        hearing = Hearing() if filters.needs_nodes else self._ears.hear(query)
        ranking = NodeMatches() if filters.role else self._teleport.rank(query, NODES)
        led = lead_to(ranking.matches, scopes.get_sessions(filters))
        ranked = rank(hearing, led, times, query)[: max(0, limit)]
        unheard = [found for found in ranked if not found.heard]
        matches = [one.match for found in unheard for one in found.led.values()]
        hits = {hit.target_id: hit for hit in self._teleport.hits(matches, query)}
        notes = (*findings.notes, *unknown, *hearing.notes, ranking.note)
        return replace(
            findings,
            hits=tuple(_moments(ranked, hits, query)),
            notes=tuple(dict.fromkeys(filter(None, notes))),
            suggestion=_suggested(findings.query, query, ranking, hearing),
            messages=len(hearing.heard),
            summaries=len(led),
        )


def _suggested(typed: str, query: Query, ranking: NodeMatches, hearing: Hearing) -> str:
    """What was typed with its misspelt words put right; "" where messages hold all."""
    if not ranking.suggestion or (hearing.heard and not hearing.unknown):
        return ""
    return search_query.correct(typed, query.text, ranking.suggestion)


def _moments(
    ranked: Sequence[Candidate], hits: Mapping[str, Hit], query: Query
) -> Iterator[CombinedHit]:
    """Candidates as what is shown of them."""
    known = sessions.get_many(one.session for one in ranked)
    said = {one.session: _said(one) for one in ranked}
    at = {
        session: (session, to_ms(event.timestamp))
        for session, event in said.items()
        if event
    }
    lies_in = segments.find_at(at.values())
    places = {one.session: _led_to(one) for one in ranked}
    places |= {session: lies_in.get(moment, "") for session, moment in at.items()}
    lines = {
        line.node_id: line
        for line in store_nodes.get_entries(list(set(places.values())))
    }
    doubtful = {places[one.session] for one in ranked if one.heard and not one.led}
    nodes = {node.node_id: node for node in store_nodes.get_many(list(doubtful))}
    for one in ranked:
        if one.session in known:
            place = places[one.session]
            yield replace(
                _moment(one, known[one.session], lines.get(place), hits, query),
                **_opening(one, said[one.session]),
                is_unsummarised=place in doubtful
                and not _is_summed_up(one.heard, nodes.get(place), query),
            )


def _said(one: Candidate) -> Event | None:
    """The message that answers; of a session that is only called so, its first one."""
    if one.heard:
        return one.heard.event
    return conversations.first_message(one.session) if one.is_named else None


def _opening(one: Candidate, event: Event | None) -> dict[str, Any]:
    """Where a moment is that leads to the first message of what is only called so."""
    if event is None or not one.is_named:
        return {}
    return {
        "at": event.timestamp,
        "event_id": event.event_id,
        "subagent": event.subagent,
    }


def _led_to(one: Candidate) -> str:
    """Where summaries alone lead to."""
    best = max(one.led.values(), key=lambda led: led.match.score, default=None)
    return best.match.landing_id if best else ""


def _moment(
    one: Candidate,
    session: Session,
    line: TocEntry | None,
    hits: Mapping[str, Hit],
    query: Query,
) -> CombinedHit:
    heard, grip = one.heard, one.led.get(HitSource.GRIPS)
    leds = sorted(one.led.values(), key=lambda led: -led.match.score)
    shown = [hits[led.match.target_id] for led in leds if led.match.target_id in hits]
    hit = shown[0] if shown else None
    if heard:
        at, snippet = heard.event.timestamp, _snippet(heard.event.text, query)
    elif hit:
        at, snippet = leds[0].at, hit.snippet
    else:
        at, snippet = session.created_at, messages.snippet(session, query)
    return CombinedHit(
        agent=session.agent,
        session_id=session.session_id,
        subagent=heard.event.subagent if heard else "",
        project=session.project,
        title=(line.headline or line.title) if line else session.title,
        at=at,
        node_id=line.node_id if line else "",
        event_id=heard.event.event_id if heard else "",
        grip_id=grip.match.target_id if grip else "",
        role=heard.event.role if heard else None,
        snippet=snippet,
        score=one.shown,
        layers=one.layers,
        is_unsummarised=False,
    )


def _snippet(text: str, query: Query) -> Snippet:
    lines = [line for line in text[:SNIPPET_CHARS].splitlines() if line.strip()]
    line = best_line(lines or [""], query)
    return Snippet(line, tuple(find_marks(line, query)))


def _is_summed_up(
    heard: RankedMessage | None, node: TocNode | None, query: Query
) -> bool:
    """Whether a summary holds what was asked for as far as the message does."""
    if heard is None or node is None:
        return False
    told = "\n".join(text for _, text in node_texts(node))
    return matching_terms(heard.event.text[:SNIPPET_CHARS], query) <= matching_terms(
        told, query
    )


def locate(agent: str, session_id: str, at: datetime) -> str:
    """The segment a moment lies in, else its session's nearest one.

    Args:
        agent: Whose session.
        session_id: Which.
        at: When something was said in it, aware.

    Returns:
        The id of a node that the contents hold: the segment's own, or that of its
        day while the segment is not there; "" where the session has none of them.
    """
    with database.connection():
        number = sessions.get_number(agent, session_id)
        nearest = (
            segments.find_nearest(number, to_ms(at)) if number is not None else None
        )
        if nearest is None:
            return ""
        way = calendar.path(nearest)
        kept = {line.node_id for line in store_nodes.get_entries(way)}
        return next((node_id for node_id in reversed(way) if node_id in kept), "")
