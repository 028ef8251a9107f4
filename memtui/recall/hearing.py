"""Hearing: the messages that answer a query, from the index and from what is newer.

What was stored a moment ago is not indexed yet: it is read itself, so that it is found
at once. Of the likeliest messages the text is read too, for phrases, exclusions and
how near to one another the words stand.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from memtui.errors import SearchError
from memtui.memory import bands, words
from memtui.memory.events import Event, EventRole, EventType, to_ms
from memtui.memory.filters import Filters
from memtui.memory.queries import Query, nearness, relevance
from memtui.memory.queries.relevance import Weighed
from memtui.recall.looked import Looked, Weights
from memtui.store import events, outbox, postings, sayings, scopes
from memtui.store.matching import ENDLESS, Asked, Bounds
from memtui.store.messages import Messages, filling_of, number_at
from memtui.store.postings import CAP, Place
from memtui.store.said import Kind
from memtui.store.sayings import Spoken

TERMS = 60
"""How many terms of a query are looked up: its first ones."""

READ = 40
"""How many of the likeliest messages are read."""

READ_MORE = 2_000
"""How many are read at most where some of them fall away."""

TAIL = 300
"""How many of the latest messages are read while they are not indexed."""

SPILT = 16 * 3_600
"""So far behind its time, in numbers, a message can stand that shares its moment."""

SCANNED = 5_000
"""How many of the newest messages are read for a phrase that holds no word."""

UNINDEXED = 2_000
"""How many of the newest messages are read while there is no index."""

MISSING = "There is no index of messages yet: the newest of them are read meanwhile."
BROKEN = (
    "The index of messages is broken: until it is made anew, the newest of them are"
    " read."
)
FILLING = "The index of messages is being made, the newest first: {:,} events so far."
BEHIND = "{:,} events are still to be indexed; the latest of them are read."
NO_WORD = 'Type a word to look for. Signs alone are found in quotes: "=>".'
STOP_WORDS = "These words are too common to look up; in quotes they are found."
TOOLS_ASIDE = (
    "What tools answered is not searched (search.with_tools): only their names are."
)
UNLOOKED = "No word to look up: the newest {:,} messages were read."
TOO_COMMON = "Of words that very many messages hold, the newest {:,} were weighed: {}."

log = logging.getLogger(__name__)

KINDS = {
    EventRole.USER: Kind.USER,
    EventRole.ASSISTANT: Kind.ASSISTANT,
    EventRole.SYSTEM: Kind.SYSTEM,
    EventRole.TOOL: Kind.TOOL,
}

ALIKE: Weights = dict.fromkeys(Kind, 1.0)


@dataclass(slots=True)
class Heard:
    """A message that answers."""

    place: Place
    event: Event
    message: float
    """Its own relevance, the nearness of its words included."""
    window: float
    """That of what stands around it."""
    thread: float
    """That of its whole conversation."""
    score: float
    """0 to 1 (decisions §8)."""


@dataclass(slots=True)
class Hearing:
    """What was heard for one query."""

    heard: list[Heard] = field(default_factory=list)
    titles: dict[int, float] = field(default_factory=dict)
    """That of sessions by what they are called and summed up by."""
    unknown: list[str] = field(default_factory=list)
    """The terms that no message holds."""
    notes: list[str] = field(default_factory=list)


class Ears:
    """Hears messages, through their index or, without one, in the store."""

    def __init__(self, index: Messages, *, with_tools: bool = False) -> None:
        """Remember the index.

        Args:
            index: Of messages.
            with_tools: Whether it holds what tools were told and answered.
        """
        self._index, self._with_tools = index, with_tools

    def hear(
        self,
        query: Query,
        weights: Weights = ALIKE,
        *,
        within: frozenset[int] | None = None,
    ) -> Hearing:
        """The messages that answer a query, in no order; inside ``connected()``.

        Args:
            query: What is asked.
            weights: What a word is worth, by who said it.
            within: The numbers of the sessions that are heard of; None for all that
                the query's filters leave.
        """
        hearing = Hearing()
        begun = {word.terms[-1]: word.begun for word in query.words}
        looked_up = () if query.is_of_stop_words else query.terms[:TERMS]
        asked = [Asked(term, begun.get(term, "")) for term in looked_up]
        if not asked and not query.phrases:
            hearing.notes.append(STOP_WORDS)
            return hearing
        if query.filters.role is EventRole.TOOL and not self._with_tools:
            hearing.notes.append(TOOLS_ASIDE)
        sessions = scopes.sessions_of(query.filters) if within is None else within
        bounds = _bounds(query, sessions)
        looked = Looked(asked, with_tools=self._with_tools)
        if asked:
            late = self._look_up(looked, query, bounds, hearing)
        else:
            late = sayings.newest(SCANNED)
            hearing.notes.append(UNLOOKED.format(len(late)))
        mine = [one for one in late if _is_within(one, query.filters, bounds)]
        looked.take_late(mine, query)
        self._weigh(looked, query, weights, hearing)
        return hearing

    def _look_up(
        self, looked: Looked, query: Query, bounds: Bounds, hearing: Hearing
    ) -> list[Spoken]:
        """Ask the index; what it does not know is given."""
        if not self._index.exists():
            hearing.notes.append(MISSING)
            return sayings.newest(UNINDEXED)
        # First what is not indexed: it may be while the index is asked.
        runs, waiting = outbox.added_lately(TAIL)
        late = sayings.of_runs(runs)[-TAIL:]
        try:
            with self._index.reading() as db:
                looked.take(db, bounds, query.quoted)
                if not (bounds.is_of_moments or query.needs_text):
                    hearing.titles = postings.titles(db, looked.asked, bounds.sessions)
                filling = filling_of(db)
        except SearchError:
            log.exception("the index of messages could not be asked")
            hearing.notes.append(BROKEN)
            return sayings.newest(UNINDEXED)
        if not filling.is_done:
            hearing.notes.append(FILLING.format(filling.done))
        elif waiting > TAIL:
            hearing.notes.append(BEHIND.format(waiting))
        if looked.common:
            hearing.notes.append(TOO_COMMON.format(CAP, ", ".join(looked.common)))
        return late

    def _weigh(
        self, looked: Looked, query: Query, weights: Weights, hearing: Hearing
    ) -> None:
        spots = looked.spots(weights)
        corpus = looked.corpus()
        sizes = {place.thread: place.thread_size for place in looked.places.values()}
        weighed = relevance.weigh(spots, corpus, sizes)
        rarities = dict(
            zip((one.term for one in looked.asked), corpus.rarities(), strict=True)
        )
        counted = zip(looked.asked, corpus.counts, strict=True)
        hearing.unknown = [one.term for one, count in counted if not count]
        whole = sum(rarities.values()) * relevance.MOST or 1.0
        bonus = nearness.bonuses(query, rarities)
        for place, event in self._read(looked, weighed, query):
            message = weighed.messages.get(place.number, 0.0)
            more = bonus(event.text)
            held = looked.held.get(place.number, 0).bit_count()
            share = held / len(looked.asked) if looked.asked else 1.0
            hearing.heard.append(
                Heard(
                    place,
                    event,
                    message + more,
                    weighed.windows.get(place.number, 0.0) + more,
                    weighed.threads.get(place.thread, 0.0),
                    _score(message / whole, share, query),
                )
            )

    def _read(
        self, looked: Looked, weighed: Weighed, query: Query
    ) -> Iterator[tuple[Place, Event]]:
        """The likeliest messages with their text, those that fall away left out."""
        best = [
            max(d.values(), default=0) or 1 for d in (weighed.messages, weighed.windows)
        ]

        def likely(number: int) -> float:
            own = messages.get(number, 0.0) / best[0]
            return own + windows.get(number, 0.0) / best[1]

        messages, windows = weighed.messages, weighed.windows
        numbers = sorted(looked.places, key=lambda n: (likely(n), n), reverse=True)
        ordered = [looked.places[number] for number in numbers[:READ_MORE]]
        given = 0
        for start in range(0, len(ordered), READ):
            some = ordered[start : start + READ]
            told = events.get(sayings.to_id(place.event) for place in some)
            for place in some:
                event = told.get(sayings.to_id(place.event))
                if event and self._answers(event, query):
                    given += 1
                    yield place, event
            if given >= READ:
                return

    def _answers(self, event: Event, query: Query) -> bool:
        """Whether what of an event may be found answers, as far as its text tells."""
        since, until = query.filters.since, query.filters.until
        if (since and event.timestamp < since) or (until and event.timestamp >= until):
            return False
        if event.event_type is not EventType.TOOL_RESULT or self._with_tools:
            return query.admits(event.text)
        tool = event.metadata.get("tool_name", "")
        return query.admits(tool) and set(words.terms(tool)).issuperset(query.terms)


def _score(of_bound: float, share: float, query: Query) -> float:
    """A message's score (decisions §8); one that holds a phrase is a good one."""
    if not query.words or query.is_of_stop_words:
        return 1.0
    score = min(1.0, of_bound) * share
    return max(score, bands.GOOD_FROM) if query.phrases else score


def _bounds(query: Query, sessions: frozenset[int] | None) -> Bounds:
    """What the index is asked within; its times are wider than what was asked."""
    filters = query.filters
    since, until = filters.since, filters.until
    return Bounds(
        sessions=sessions,
        kinds=frozenset([KINDS[filters.role]] if filters.role else []),
        first=number_at(to_ms(since)) if since else 0,
        last=number_at(to_ms(until)) + SPILT if until else ENDLESS,
        with_subagents=filters.with_subagents,
        without=tuple(
            tuple(
                Asked(t, word.begun if t == word.terms[-1] else "") for t in word.terms
            )
            for word in query.without
            if words.is_telling(word.text)
        ),
    )


def _is_within(one: Spoken, filters: Filters, bounds: Bounds) -> bool:
    since, until = filters.since, filters.until
    return (
        (bounds.sessions is None or one.session in bounds.sessions)
        and (not bounds.kinds or one.kind in bounds.kinds)
        and (not since or one.at_ms >= to_ms(since))
        and (not until or one.at_ms < to_ms(until))
        and (bounds.with_subagents or not one.subagent)
    )
