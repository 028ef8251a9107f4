"""Searching everything: one ranking over messages, nodes, grips and titles."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from memtui.memory import queries
from memtui.memory.events import Event, to_ms
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import Findings, Layer, Moment
from memtui.memory.hits import Hit, Snippet
from memtui.memory.queries import Query, timely
from memtui.memory.queries.snippets import best_line, marks_in, wanted_in
from memtui.memory.queries.timely import Timely
from memtui.memory.sessions import Session
from memtui.memory.toc import TocLine, TocNode
from memtui.recall import fusing, listed, meaning, naming
from memtui.recall.fusing import Candidate
from memtui.recall.hearing import NO_WORD, Ears, Heard, Hearing
from memtui.recall.teleport import Ranking, Teleport
from memtui.search.documents import said_by
from memtui.store import database, neighbours, scopes, segments, sessions, toc

LIMIT = 20
"""How many moments are answered unless fewer or more are asked for."""

NODES = 50
"""How many matches of the teleport are ranked with the messages."""

SNIPPET_CHARS = 8_000
"""How much of a message is looked through for its best line, in characters."""


class Search:
    """Finds moments in all that is kept."""

    def __init__(
        self,
        teleport: Teleport,
        ears: Ears,
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
    ) -> Findings:
        """The moments that answer best; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            text: What was typed, filters included.
            limit: The most moments; one of each session.
            filters: What is looked through besides.
        """
        began_s = time.perf_counter()
        read = timely.read(text, self._clock(), self._zone)
        query = queries.read(read.rest, self._zone, filters)
        findings = Findings(text, notes=query.hints)
        if wanted := listed.wanted(query, read):
            return self._listed(wanted, read, findings, limit, began_s)
        if query.is_empty:
            findings = replace(findings, notes=(*query.hints, NO_WORD))
        else:
            with database.connected():
                findings = self._answer(query, read, findings, limit)
        times = read.understood([hit.at for hit in findings.hits])
        took_ms = (time.perf_counter() - began_s) * 1000
        return replace(findings, times=times, took_ms=took_ms)

    def _listed(
        self, query: Query, times: Timely, empty: Findings, limit: int, began_s: float
    ) -> Findings:
        """The newest, where no word is looked for."""
        notes = (*empty.notes, *listed.notes(times))
        found = empty
        with database.connected():
            query, unknown = meaning.meant(query)
            if query.filters.role:
                unknown.append(listed.OF_MESSAGES)
            else:
                found = listed.findings(query, limit)
        took_ms = (time.perf_counter() - began_s) * 1000
        return replace(
            empty,
            hits=found.hits,
            notes=(*unknown, *notes),
            took_ms=took_ms,
            is_listed=True,
        )

    def _answer(
        self, query: Query, times: Timely, findings: Findings, limit: int
    ) -> Findings:
        query, unknown = meaning.meant(query)
        filters = query.filters
        hearing = Hearing() if filters.is_of_nodes else self._ears.hear(query)
        ranking = Ranking() if filters.role else self._teleport.rank(query, NODES)
        led = fusing.led(ranking.matches, scopes.sessions_of(filters))
        ranked = fusing.ranked(hearing, led, times, query)[: max(0, limit)]
        unheard = [found for found in ranked if not found.heard]
        matches = [one.match for found in unheard for one in found.led.values()]
        hits = {hit.target_id: hit for hit in self._teleport.shown(matches, query)}
        notes = (*findings.notes, *unknown, *hearing.notes, ranking.note)
        return replace(
            findings,
            hits=tuple(_moments(ranked, hits, query)),
            notes=tuple(dict.fromkeys(filter(None, notes))),
            suggestion=_suggested(findings.query, query, ranking, hearing),
            messages=len(hearing.heard),
            summaries=len(led),
        )


def _suggested(typed: str, query: Query, ranking: Ranking, hearing: Hearing) -> str:
    """What was typed with its misspelt words put right; "" where messages hold all."""
    if not ranking.suggestion or (hearing.heard and not hearing.unknown):
        return ""
    return queries.corrected(typed, query.text, ranking.suggestion)


def _moments(
    ranked: Sequence[Candidate], hits: Mapping[str, Hit], query: Query
) -> Iterator[Moment]:
    """Candidates as what is shown of them."""
    known = sessions.of_numbers(one.session for one in ranked)
    said = {one.session: _said(one) for one in ranked}
    at = {
        session: (session, to_ms(event.timestamp))
        for session, event in said.items()
        if event
    }
    lies_in = segments.at(at.values())
    places = {one.session: _led_to(one) for one in ranked}
    places |= {session: lies_in.get(moment, "") for session, moment in at.items()}
    lines = {line.node_id: line for line in toc.lines(list(set(places.values())))}
    doubtful = {places[one.session] for one in ranked if one.heard and not one.led}
    nodes = {node.node_id: node for node in toc.nodes(list(doubtful))}
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
    return neighbours.first(one.session) if one.is_named else None


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
    return best.match.leads_to if best else ""


def _moment(
    one: Candidate,
    session: Session,
    line: TocLine | None,
    hits: Mapping[str, Hit],
    query: Query,
) -> Moment:
    heard, grip = one.heard, one.led.get(Layer.GRIPS)
    leds = sorted(one.led.values(), key=lambda led: -led.match.score)
    shown = [hits[led.match.target_id] for led in leds if led.match.target_id in hits]
    hit = shown[0] if shown else None
    if heard:
        at, snippet = heard.event.timestamp, _snippet(heard.event.text, query)
    elif hit:
        at, snippet = leds[0].at, hit.snippet
    else:
        at, snippet = session.created_at, naming.snippet(session, query)
    return Moment(
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
    return Snippet(line, tuple(marks_in(line, query)))


def _is_summed_up(heard: Heard | None, node: TocNode | None, query: Query) -> bool:
    """Whether a summary holds what was asked for as far as the message does."""
    if heard is None or node is None:
        return False
    told = "\n".join(text for _, text in said_by(node))
    return wanted_in(heard.event.text[:SNIPPET_CHARS], query) <= wanted_in(told, query)
