"""Looked up: the messages that hold some of the words of a query, to be weighed."""

from collections.abc import Mapping, Sequence

from memtui.memory import words
from memtui.memory.queries import Query, relevance
from memtui.memory.queries.relevance import Corpus, Spot
from memtui.store import postings, sayings
from memtui.store.matching import Asked, Bounds
from memtui.store.messages import View
from memtui.store.postings import Place
from memtui.store.said import Kind
from memtui.store.sayings import Spoken

FEW = 5
"""With fewer messages that hold a word, tools that are called so are found too."""

LATE = 1 << 62
"""Numbers from here on are those of messages that are not indexed yet."""

LATE_CHARS = 100_000
"""How much of such a message is read, in characters."""

Weights = Mapping[int, float]
"""What a word is worth, by who said it (``said.Kind``)."""


class Looked:
    """What was looked up: the messages that hold some of the words."""

    def __init__(self, asked: Sequence[Asked], *, with_tools: bool) -> None:
        self.asked, self._with_tools = list(asked), with_tools
        self.held: dict[int, int] = {}
        self.places: dict[int, Place] = {}
        self.common: list[str] = []
        self._counts = [0] * len(asked)
        self._messages = self._size = self._threads = 0

    def take(self, db: View, bounds: Bounds, quoted: Sequence[str]) -> None:
        """Take what the index finds.

        Args:
            db: The index.
            bounds: Which messages may be found.
            quoted: Terms of which each must be there.
        """
        found = postings.find(db, self.asked, bounds)
        if quoted:
            among = postings.all_of(db, quoted, bounds)
            mine = self._mask(frozenset(quoted))
            found.held = {number: found.held.get(number, 0) | mine for number in among}
        self._counts = found.counts
        self._messages, self._size = found.messages, found.size
        self._threads = found.threads
        self.common = [self.asked[at].term for at in found.common]
        likely = relevance.likeliest(found.held, self.corpus().rarities())
        self.held = {number: found.held[number] for number in likely}
        if self._with_tools or len(likely) < FEW:
            everything = (1 << len(self.asked)) - 1
            self.held |= dict.fromkeys(
                postings.calls(db, self.asked, bounds), everything
            )
        places = postings.places(db, self.held)
        self.places = {place.number: place for place in places}

    def take_late(self, late: Sequence[Spoken], query: Query) -> None:
        """Take of messages that are not indexed those that answer.

        Args:
            late: The messages, in the order of time.
            query: What is asked.
        """
        known = {place.event for place in self.places.values()}
        everything = (1 << len(self.asked)) - 1
        for at, one in enumerate(late, 1):
            event = sayings.to_bytes(one.event_id)
            if one.kind is None or event in known:
                continue
            is_call = one.kind is Kind.TOOL and not self._with_tools
            text = one.tool if is_call else one.text[:LATE_CHARS]
            # Without a word to look up no message is weighed against the others.
            if not self.asked and not query.admits(text):
                continue
            terms = words.terms(text)
            held = self._mask(frozenset(terms))
            if one.kind is not Kind.TOOL:
                self._messages += 1
                self._size += len(terms)
            is_held = held == everything if is_call else held or not self.asked
            if not is_held:
                continue
            number = LATE + at
            self.held[number] = held
            for word in range(len(self.asked)):
                self._counts[word] += held >> word & 1
            # A conversation of its own: it stands behind all that is indexed.
            self.places[number] = Place(
                number,
                event,
                -one.session,
                at,
                one.kind,
                len(terms),
                one.session,
                len(terms),
            )

    def _mask(self, terms: frozenset[str]) -> int:
        held = 0
        for at, word in enumerate(self.asked):
            is_held = word.term in terms or (
                bool(word.begun) and any(term.startswith(word.begun) for term in terms)
            )
            held |= is_held << at
        return held

    def corpus(self) -> Corpus:
        """What the messages are weighed against."""
        return Corpus(self._counts, self._messages, self._size, max(self._threads, 1))

    def spots(self, weights: Weights) -> list[Spot]:
        """The messages as they are weighed."""
        return [
            Spot(
                place.number,
                place.thread,
                place.place,
                place.size,
                self.held[place.number],
                weights[place.kind],
            )
            for place in self.places.values()
        ]
