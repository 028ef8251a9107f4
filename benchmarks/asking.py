"""A search of messages, as it is measured."""

from collections.abc import Callable
from datetime import UTC

from memtui.memory import queries, relevance
from memtui.memory.events import EventRole, to_ms
from memtui.memory.filters import Filters
from memtui.memory.relevance import Corpus, Spot
from memtui.paths import Paths
from memtui.store import events, postings, unindexed
from memtui.store.messages import Messages, number_at
from memtui.store.postings import Asked, Bounds
from memtui.store.said import Kind
from memtui.store.tables import SessionRow

BEST = 20
"""How many answers are given."""

BEFORE, AFTER = 5, 10
"""How much of what was said around an answer is read."""

_KINDS = {EventRole.USER: Kind.USER, EventRole.ASSISTANT: Kind.ASSISTANT}

Find = Callable[[str], list[int]]


def finder(paths: Paths) -> Find:
    """Finds the best messages of a store, with what was said around them."""
    index = Messages(paths.messages)
    return lambda question: _find(index, question)


def _find(index: Messages, question: str) -> list[int]:
    query = queries.read(question, UTC)
    if query.is_empty:
        return []
    wholes = [word.whole for word in query.words if word.whole]
    terms = dict.fromkeys([*query.terms, *wholes])
    begun = {word.terms[-1]: word.begun for word in query.words}
    asked = [Asked(term, begun.get(term, "")) for term in terms]
    with index.reading() as db:
        found = postings.find(db, asked, _bounds(query.filters))
        corpus = Corpus(found.counts, found.messages, found.size, found.threads)
        best = relevance.likeliest(found.held, corpus.rarities())
        places = {place.number: place for place in postings.places(db, best)}
        spots = [
            Spot(p.number, p.thread, p.place, p.size, found.held[p.number])
            for p in places.values()
        ]
        sizes = {place.thread: place.thread_size for place in places.values()}
        worth = relevance.weigh(spots, corpus, sizes)
        score = {
            spot.number: worth.messages[spot.number]
            + worth.windows[spot.number]
            + worth.threads[spot.thread]
            for spot in spots
        }
        ranked = sorted(score, key=lambda number: (-score[number], -number))[:BEST]
        told = [places[number].event for number in ranked]
        for number in ranked:
            before, after = postings.around(db, places[number], BEFORE, AFTER)
            told += [*before, *after]
    events.get(map(unindexed.to_id, dict.fromkeys(told)))
    return ranked


def _bounds(filters: Filters) -> Bounds:
    rows = SessionRow.select(SessionRow.id)
    if filters.of.agent:
        rows = rows.where(SessionRow.agent == filters.of.agent)
    if filters.of.project:
        rows = rows.where(SessionRow.project == filters.of.project)
    is_scoped = filters.of.agent or filters.of.project
    return Bounds(
        sessions=frozenset(n for (n,) in rows.tuples()) if is_scoped else None,
        kinds=frozenset([_KINDS[filters.role]] if filters.role else ()),
        first=number_at(to_ms(filters.since)) if filters.since else 0,
        last=number_at(to_ms(filters.until)) - 1 if filters.until else 2**62,
    )
