"""Searching everything: one ranking over messages, nodes, grips and titles.

Each layer scores what it finds; a session's score is the weighted sum of its best in
each, against the best of all in that layer. The weights were measured on labelled
conversations (docs/performance.md).
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.memory import queries, words
from memtui.memory import timely as timing
from memtui.memory.events import to_ms
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import Findings, Layer, Moment
from memtui.memory.hits import Answer, Hit, HitKind, Snippet
from memtui.memory.queries import Query
from memtui.memory.sessions import Session
from memtui.memory.snippets import best_line, wanted_in
from memtui.memory.timely import Timely
from memtui.memory.toc import TocNode
from memtui.recall.hearing import Ears, Heard, Hearing
from memtui.recall.teleport import Teleport
from memtui.search.documents import said_by
from memtui.store import database, segments, sessions, toc

LIMIT = 20
"""How many moments are answered unless fewer or more are asked for."""

NODES = 50
"""How many hits of the teleport are ranked with the messages."""

WEIGHTS = {
    "message": 1.0,
    "window": 1.0,
    "thread": 1.5,
    Layer.NODES: 0.3,
    Layer.GRIPS: 0.2,
    Layer.TITLES: 0.1,
}
"""What the best of each layer adds to a session's score."""

TIMELY = 1.5
"""What a moment gains that lies in a time the question speaks of."""

SNIPPET_CHARS = 8_000
"""How much of a message is looked through for its best line, in characters."""

NOTHING_ASKED = "Type a word to look for."


@dataclass(slots=True)
class _Candidate:
    """A session that may answer, with the best of each layer."""

    session: int
    heard: Heard | None = None
    hits: dict[Layer, Hit] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    total: float = 0.0

    def note(self, name: str, score: float) -> bool:
        """Keep a score if it is the best of its name."""
        if score <= self.scores.get(name, 0.0):
            return False
        self.scores[name] = score
        return True


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
        timely = timing.read(text, self._clock(), self._zone)
        query = queries.read(timely.rest, self._zone, filters)
        findings = Findings(text, notes=query.hints)
        if query.is_empty:
            findings = replace(findings, notes=(*query.hints, NOTHING_ASKED))
        else:
            with database.connected():
                findings = self._answer(query, timely, findings, limit)
        times = timely.understood([hit.at for hit in findings.hits])
        findings = replace(findings, times=times)
        return replace(findings, took_ms=(time.perf_counter() - began_s) * 1000)

    def _answer(
        self, query: Query, timely: Timely, findings: Findings, limit: int
    ) -> Findings:
        filters = query.filters
        hearing = Hearing() if filters.is_of_nodes else self._ears.hear(query)
        answer = Answer(query.text)
        if not filters.is_of_messages:
            answer = self._teleport.find(query.text, limit=NODES, of=filters.of)
        ranked = _ranked(hearing, answer.hits, timely)[:limit]
        notes = (*findings.notes, *hearing.notes, *filter(None, [answer.note]))
        return replace(
            findings,
            hits=tuple(_moments(ranked, query)),
            notes=tuple(dict.fromkeys(notes)),
            suggestion=answer.suggestion,
        )


def _ranked(hearing: Hearing, hits: Sequence[Hit], timely: Timely) -> list[_Candidate]:
    """The sessions that answer, the best first, each with its best of each layer."""
    found: dict[int, _Candidate] = {}

    def of(session: int) -> _Candidate:
        return found.setdefault(session, _Candidate(session))

    best: dict[int, float] = {}
    most = _most(heard.message for heard in hearing.heard)
    most_around = _most(heard.window for heard in hearing.heard)
    for heard in hearing.heard:
        one = of(heard.place.session)
        one.note("message", heard.message)
        one.note("window", heard.window)
        own = heard.message / most + heard.window / most_around
        if timely.covers(heard.event.timestamp):
            own *= TIMELY
        if own > best.get(one.session, -1.0):
            best[one.session], one.heard = own, heard
    for session, score in hearing.threads.items():
        if session in found:
            of(session).note("thread", score)
    for session, score in hearing.titles.items():
        of(session).note(Layer.TITLES, score)
    owners = segments.sessions_of(hit.leads_to for hit in hits)
    for hit in hits:
        if hit.leads_to in owners:
            layer = Layer.GRIPS if hit.kind is HitKind.GRIP else Layer.NODES
            one = of(owners[hit.leads_to])
            if one.note(layer, hit.score):
                one.hits[layer] = hit
    _sum_up(found.values(), timely)
    return sorted(found.values(), key=lambda one: (-one.total, -one.session))


def _sum_up(candidates: Collection[_Candidate], timely: Timely) -> None:
    """Give each its score: what its layers add up to."""
    for name, weight in WEIGHTS.items():
        most = _most(one.scores.get(name, 0.0) for one in candidates)
        for one in candidates:
            one.total += weight * one.scores.get(name, 0.0) / most
    for one in candidates:
        times_at = [hit.at for hit in one.hits.values()]
        if one.heard:
            times_at.append(one.heard.event.timestamp)
        if any(map(timely.covers, times_at)):
            one.total *= TIMELY


def _most(scores: Iterable[float]) -> float:
    return max(scores, default=0.0) or 1.0


def _moments(ranked: Sequence[_Candidate], query: Query) -> Iterator[Moment]:
    """Candidates as what is shown of them."""
    known = sessions.of_numbers(one.session for one in ranked)
    at = {
        one.session: (one.session, to_ms(one.heard.event.timestamp))
        for one in ranked
        if one.heard
    }
    lies_in = segments.at(at.values())
    places = {
        one.session: lies_in.get(at[one.session], "")
        if one.session in at
        else _led(one)
        for one in ranked
    }
    names = {name for name in places.values() if name}
    nodes = {node.node_id: node for node in toc.nodes(list(names))}
    for one in ranked:
        if one.session in known:
            node = nodes.get(places[one.session])
            yield _moment(one, known[one.session], node, query)


def _led(one: _Candidate) -> str:
    """Where summaries alone lead to."""
    best = max(one.hits.values(), key=lambda hit: hit.score, default=None)
    return best.leads_to if best else ""


def _moment(
    one: _Candidate, session: Session, node: TocNode | None, query: Query
) -> Moment:
    heard, hit = one.heard, max(one.hits.values(), key=_score, default=None)
    grip = one.hits.get(Layer.GRIPS)
    layers = {Layer.MESSAGES} if heard else set()
    layers |= {layer for layer in Layer if one.scores.get(layer)}
    title = (node.headline or node.title) if node else session.title
    if heard:
        at, snippet = heard.event.timestamp, _snippet(heard.event.text, query)
    elif hit:
        at, snippet = hit.at, hit.snippet
    else:
        at, snippet = session.created_at, _snippet(session.title, query)
    return Moment(
        agent=session.agent,
        session_id=session.session_id,
        subagent=heard.event.subagent if heard else "",
        project=session.project,
        title=title,
        at=at,
        node_id=node.node_id if node else "",
        event_id=heard.event.event_id if heard else "",
        grip_id=grip.target_id if grip else "",
        role=heard.event.role if heard else None,
        snippet=snippet,
        score=max(heard.score if heard else 0.0, _score(hit)),
        layers=frozenset(layers),
        is_unsummarised=not hit and not _is_summed_up(heard, node, query),
    )


def _score(hit: Hit | None) -> float:
    return hit.score if hit else 0.0


def _snippet(text: str, query: Query) -> Snippet:
    lines = [line for line in text[:SNIPPET_CHARS].splitlines() if line.strip()]
    line = best_line(lines or [""], query)
    return Snippet(line, tuple(words.spans(line, wanted_in(line, query))))


def _is_summed_up(heard: Heard | None, node: TocNode | None, query: Query) -> bool:
    """Whether a summary holds what was asked for as far as the message does."""
    if heard is None:
        return True
    if node is None:
        return False
    told = "\n".join(text for _, text in said_by(node))
    return wanted_in(heard.event.text[:SNIPPET_CHARS], query) <= wanted_in(told, query)
