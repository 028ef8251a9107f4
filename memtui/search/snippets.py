"""Snippets: of several lines the one that answers a query best, cut around it."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtui.search.query import Query
from memtui.text import analyzer, cues, prose

MAX_CHARS = 200
"""The most a snippet shows, in characters."""

ASIDE = MAX_CHARS // 3
"""How much is shown before what answers, and at the least from it on."""


def best_line(lines: Sequence[str], asked: Query) -> str:
    """The line that holds most of the terms asked for; the first one among equals.

    Args:
        lines: Bullets, or one excerpt; at least one.
        asked: The query.
    """
    sought = [*asked.phrases, *_typed(asked)]

    def telling(line: str) -> tuple[int, int]:
        folded = analyzer.fold(line) if sought else ""
        return sum(one in folded for one in sought), len(matching_terms(line, asked))

    best = max(lines, key=telling)
    if len(best) <= MAX_CHARS:
        return best
    marks = find_marks(best, asked)
    folded = analyzer.fold(best) if sought else ""
    first = min((folded.find(one) for one in sought if one in folded), default=-1)
    if first < 0:
        first = marks[0][0] if marks else 0
    # At a blank where there is one near; what matched is never cut off with a long run.
    start = max(first - ASIDE, 0)
    blank = best.rfind(" ", max(0, start - ASIDE), start)
    start = blank + 1 if blank >= 0 else start
    end = start + MAX_CHARS
    blank = best.rfind(" ", first + ASIDE, end)
    end = blank if blank >= 0 and end < len(best) else end
    return f"{'…' if start else ''}{best[start:end]}{'…' if end < len(best) else ''}"


def _typed(asked: Query) -> list[str]:
    """The compounds of a query as they were typed, folded."""
    return [analyzer.fold(word.text) for word in asked.words if len(word.terms) > 1]


def matching_terms(text: str, asked: Query) -> set[str]:
    """The terms of a text that answer a query, in any form."""
    return analyzer.matching_terms(text, asked.terms, asked.prefixes)


def find_marks(text: str, asked: Query) -> list[tuple[int, int]]:
    """Where a text holds what answers a query, in any form; touching ones joined."""
    if asked.has_only_stop_words:
        return analyzer.find_spans(text, matching_terms(text, asked))
    return analyzer.find_spans(text, asked.terms, asked.prefixes)


WHOLE_CHARS = 400
"""A message of no more characters is quoted whole."""

QUOTE_CHARS = 320
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
class Passage:
    """A stretch of a message."""

    start: int
    end: int
    score: float
    """What of the query it holds: at most what all of its words are worth."""


class Sentences:
    """The sentences of one message, and which of them hold what is asked for."""

    def __init__(self, text: str, query: Query) -> None:
        self._text, self._query = text[:READ_CHARS], query
        self._spans = [
            (start, end)
            for start, end in prose.sentence_spans(self._text)
            if not self._text[start:end].isspace()
        ]
        starts = [start for start, _ in self._spans]
        marks = analyzer.find_spans(self._text, query.terms, query.prefixes)
        marked = {bisect_right(starts, start) - 1 for start, _ in marks}
        self._held = {
            at: matching_terms(self._text[slice(*self._spans[at])], query)
            for at in sorted(marked)
            if at >= 0
        }

    @property
    def held(self) -> set[str]:
        """All that they hold of the query."""
        return set().union(*self._held.values())

    def passages(self, worth: Mapping[str, float]) -> list[Passage]:
        """The stretches that answer best, best first.

        Args:
            worth: What each term of the query is worth.
        """
        if len(self._text) <= WHOLE_CHARS:
            total = sum(worth.get(term, 0.0) for term in self.held)
            return [Passage(0, len(self._text), total)]
        value = {at: self._value(at, worth) for at in self._held}
        taken: set[int] = set()
        found: list[Passage] = []
        for at in sorted(value, key=lambda at: -value[at]):
            if len(found) == MANY:
                break
            if at not in taken:
                first, last = self._widened(at, value, taken)
                taken.update(range(first, last + 1))
                found.append(self._piece(first, last, value[at]))
        return found or [Passage(0, min(len(self._text), QUOTE_CHARS), 0.0)]

    def _value(self, at: int, worth: Mapping[str, float]) -> float:
        said = self._text[slice(*self._spans[at])].strip(BULLETS)
        value = sum(worth.get(term, 0.0) for term in self._held[at])
        value *= ANNOUNCED if cues.is_announcement(said) else 1.0
        return value * (1.0 + WORDED * max(-1.0, min(1.0, cues.wording_score(said))))

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
                <= QUOTE_CHARS
            ]
            if not beside:
                return first, last
            best = max(beside, key=lambda one: value.get(one, 0.0))
            first, last = min(first, best), max(last, best)

    def _piece(self, first: int, last: int, worth: float) -> Passage:
        start, end = self._spans[first][0], self._spans[last][1]
        if end - start > QUOTE_CHARS:
            # One long sentence, a log's line say: what is around the first mark.
            said = self._text[start:end]
            marks = analyzer.find_spans(said, self._query.terms, self._query.prefixes)
            start += max(0, (marks[0][0] if marks else 0) - QUOTE_CHARS // 3)
            start = self._text.find(" ", start, start + QUOTE_CHARS // 6) + 1 or start
            end = min(end, start + QUOTE_CHARS)
        return Passage(start, end, worth)

    def text(self, piece: Passage) -> str:
        """A stretch's words, with an ellipsis where the message goes on."""
        before, after = self._text[: piece.start], self._text[piece.end :]
        said = self._text[piece.start : piece.end].strip()
        return f"{'…' if before.strip() else ''}{said}{'…' if after.strip() else ''}"


def term_weights(texts: Sequence[Sentences], query: Query) -> dict[str, float]:
    """What each term is worth among some messages: the more, the fewer hold it."""
    held, size = [one.held for one in texts], len(texts)
    counts = {term: sum(term in one for one in held) for term in query.terms}
    return {
        term: LEAST + math.log(1 + (size - count + 0.5) / (count + 0.5))
        for term, count in counts.items()
    }
