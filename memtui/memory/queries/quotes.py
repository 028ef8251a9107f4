"""Quotes: of what was said the few lines that answer, short enough to give many.

A message that answers is rarely worth reading whole: of a plan of two pages three
sentences are what was asked for. A short message is quoted as it is; of a longer one
the sentences that hold what is asked for, each with as much of its neighbours as a
quote has room for. Saying what one is about to do counts less than saying what is so.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import excerpts, words
from memtui.memory.extracts import cues
from memtui.memory.queries import Query
from memtui.memory.queries.snippets import wanted_in

WHOLE_CHARS = 400
"""A message of no more characters is quoted whole."""

CHARS = 320
"""The most characters of a quote from a longer one."""

MANY = 3
"""How many quotes one message gives at most."""

READ_CHARS = 20_000
"""How much of a message is looked through, in characters."""

ANNOUNCED = 0.6
"""What saying what one is about to do is worth, against saying what is so."""

WORDED = 0.1
"""What a sentence's wording counts beside the words it holds (``cues.worth``)."""

LEAST = 0.1
"""What a word is worth that all of the messages hold."""

BULLETS = " \t-*#>"
"""What may stand before the first word of a line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a message."""

    start: int
    end: int
    worth: float
    """What of the query it holds: at most what all of its words are worth."""


class Sentences:
    """The sentences of one message, and which of them hold what is asked for."""

    def __init__(self, text: str, query: Query) -> None:
        self._text, self._query = text[:READ_CHARS], query
        self._spans = [
            (start, end)
            for start, end in excerpts.sentences(self._text)
            if not self._text[start:end].isspace()
        ]
        starts = [start for start, _ in self._spans]
        marks = words.spans(self._text, query.terms, query.begun)
        marked = {bisect_right(starts, start) - 1 for start, _ in marks}
        self._held = {
            at: wanted_in(self._text[slice(*self._spans[at])], query)
            for at in sorted(marked)
            if at >= 0
        }

    @property
    def held(self) -> set[str]:
        """All that they hold of the query."""
        return set().union(*self._held.values())

    def pieces(self, worth: Mapping[str, float]) -> list[Piece]:
        """The stretches that answer best, best first.

        Args:
            worth: What each term of the query is worth.
        """
        if len(self._text) <= WHOLE_CHARS:
            total = sum(worth.get(term, 0.0) for term in self.held)
            return [Piece(0, len(self._text), total)]
        value = {at: self._value(at, worth) for at in self._held}
        taken: set[int] = set()
        found: list[Piece] = []
        for at in sorted(value, key=lambda at: -value[at]):
            if len(found) == MANY:
                break
            if at not in taken:
                first, last = self._widened(at, value, taken)
                taken.update(range(first, last + 1))
                found.append(self._piece(first, last, value[at]))
        return found or [Piece(0, min(len(self._text), CHARS), 0.0)]

    def _value(self, at: int, worth: Mapping[str, float]) -> float:
        said = self._text[slice(*self._spans[at])].strip(BULLETS)
        value = sum(worth.get(term, 0.0) for term in self._held[at])
        value *= ANNOUNCED if cues.announces(said) else 1.0
        return value * (1.0 + WORDED * max(-1.0, min(1.0, cues.worth(said))))

    def _widened(
        self, at: int, value: Mapping[int, float], taken: set[int]
    ) -> tuple[int, int]:
        """A sentence with those before and after it that a quote has room for."""
        first = last = at
        while True:
            beside = [
                one
                for one in (last + 1, first - 1)
                if 0 <= one < len(self._spans)
                and one not in taken
                and self._spans[max(last, one)][1] - self._spans[min(first, one)][0]
                <= CHARS
            ]
            if not beside:
                return first, last
            best = max(beside, key=lambda one: value.get(one, 0.0))
            first, last = min(first, best), max(last, best)

    def _piece(self, first: int, last: int, worth: float) -> Piece:
        start, end = self._spans[first][0], self._spans[last][1]
        if end - start > CHARS:
            # One long sentence, a log's line say: what is around the first mark.
            said = self._text[start:end]
            marks = words.spans(said, self._query.terms, self._query.begun)
            start += max(0, (marks[0][0] if marks else 0) - CHARS // 3)
            start = self._text.find(" ", start, start + CHARS // 6) + 1 or start
            end = min(end, start + CHARS)
        return Piece(start, end, worth)

    def text(self, piece: Piece) -> str:
        """A stretch's words, with an ellipsis where the message goes on."""
        before, after = self._text[: piece.start], self._text[piece.end :]
        said = self._text[piece.start : piece.end].strip()
        return f"{'…' if before.strip() else ''}{said}{'…' if after.strip() else ''}"


def worths(texts: Sequence[Sentences], query: Query) -> dict[str, float]:
    """What each term is worth among some messages: the more, the fewer hold it."""
    held, size = [one.held for one in texts], len(texts)
    counts = {term: sum(term in one for one in held) for term in query.terms}
    return {
        term: LEAST + math.log(1 + (size - count + 0.5) / (count + 0.5))
        for term, count in counts.items()
    }
