"""Fusing: what each layer of the memory found, made one ranking of sessions.

A session's score is the weighted sum of its best in each layer, each against the best
of all sessions there. The weights were measured on labelled questions; so was that
adding scores ranks better than adding reciprocal ranks (docs/performance.md).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memtui.memory.found import Layer
from memtui.memory.hits import HitKind, Match
from memtui.memory.queries import Query
from memtui.memory.queries.timely import GAIN, Timely
from memtui.recall import naming
from memtui.recall.hearing import Heard, Hearing
from memtui.store import segments

FIRST = 3
"""Of how many that rank best the best score is shown of the first."""

MESSAGE, WINDOW, THREAD = "message", "window", "thread"

WEIGHTS = {
    MESSAGE: 1.0,
    WINDOW: 1.0,
    THREAD: 1.5,
    Layer.NODES: 0.3,
    Layer.GRIPS: 0.2,
    Layer.TITLES: 0.1,
}
"""What the best of each layer adds to a session's score."""


@dataclass(frozen=True, slots=True)
class Led:
    """A match of the teleport, and the session it leads to."""

    match: Match
    session: int
    at: datetime
    """When the segment began that it leads to."""

    @property
    def layer(self) -> Layer:
        """What it is of."""
        return Layer.GRIPS if self.match.kind is HitKind.GRIP else Layer.NODES


@dataclass(slots=True)
class Candidate:
    """A session that may answer, with the best of each layer."""

    session: int
    heard: Heard | None = None
    led: dict[Layer, Led] = field(default_factory=dict)
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
    def layers(self) -> frozenset[Layer]:
        """The layers that led to it."""
        told = {layer for layer in Layer if self.scores.get(layer)}
        return frozenset(told | ({Layer.MESSAGES} if self.heard else set()))

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


def led(matches: Sequence[Match], allowed: Collection[int] | None) -> list[Led]:
    """Those matches that lead to a segment of an allowed session.

    Args:
        matches: The teleport's.
        allowed: The sessions' numbers; None for all.
    """
    known = segments.begun(match.leads_to for match in matches)
    return [
        Led(match, *known[match.leads_to])
        for match in matches
        if match.leads_to in known
        and (allowed is None or known[match.leads_to][0] in allowed)
    ]


def ranked(
    hearing: Hearing, matches: Iterable[Led], timely: Timely, query: Query
) -> list[Candidate]:
    """The sessions that answer, the best first; inside ``connected()``.

    Args:
        hearing: What was heard.
        matches: What the teleport found.
        timely: The times the question speaks of.
        query: What is asked.
    """
    found: dict[int, Candidate] = {}
    _note_heard(found, hearing, timely)
    for session, score in hearing.titles.items():
        one = found.setdefault(session, Candidate(session))
        one.note(Layer.TITLES, score)
    for match in matches:
        one = found.setdefault(match.session, Candidate(match.session))
        if one.note(match.layer, match.match.score):
            one.led[match.layer] = match
    _sum_up(found.values(), timely)
    best = sorted(found.values(), key=lambda one: (-one.total, -one.session))
    # As good as a layer says of the first few, and from there on as they are ranked.
    first = best[:FIRST]
    named = naming.shares([one.session for one in first if one.is_named], query)
    own = [named.get(one.session, one.own) for one in first]
    most = max(own, default=0.0)
    for one in best:
        one.shown = most * one.total / (best[0].total or 1.0)
    return best


def _note_heard(found: dict[int, Candidate], hearing: Hearing, timely: Timely) -> None:
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
        own *= GAIN if timely.covers(heard.event.timestamp) else 1.0
        if own > best.get(session, -1.0):
            best[session], one.heard = own, heard


def _sum_up(candidates: Collection[Candidate], timely: Timely) -> None:
    """Give each its score: what its layers add up to."""
    for name, weight in WEIGHTS.items():
        most = _most(one.scores.get(name, 0.0) for one in candidates)
        for one in candidates:
            one.total += weight * one.scores.get(name, 0.0) / most
    for one in candidates:
        if any(map(timely.covers, one.times)):
            one.total *= GAIN


def _most(scores: Iterable[float]) -> float:
    return max(scores, default=0.0) or 1.0
