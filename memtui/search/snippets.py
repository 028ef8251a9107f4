"""Snippets and quotes: the lines and passages of a text that match a query."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtui.model.hit import Snippet
from memtui.search.query import Query
from memtui.text import analyzer
from memtui.text.sentences import sentence_spans

MAX_CHARS = 200

LEAD_CHARS = MAX_CHARS // 3
"""The number of characters shown before the match, and at least after its start."""

WHOLE_CHARS = 800
"""A message of at most this many characters is quoted whole."""

QUOTE_CHARS = 480
"""The most characters of a quote from a longer message."""

MAX_QUOTES = 6
"""The number of quotes taken from one message."""

READ_CHARS = 20_000
"""The number of characters of a message that are read for quotes."""


def best_line(lines: Sequence[str], query: Query) -> str:
    """Return the first line with the most terms of a query, cut around them."""
    compounds = [analyzer.fold(w.text) for w in query.words if len(w.terms) > 1]
    exact = [*query.phrases, *compounds]

    def score(line: str) -> tuple[int, int]:
        folded = analyzer.fold(line) if exact else ""
        return sum(text in folded for text in exact), len(matching_terms(line, query))

    best = max(lines, key=score)
    if len(best) <= MAX_CHARS:
        return best
    folded = analyzer.fold(best) if exact else ""
    first = min((folded.find(text) for text in exact if text in folded), default=-1)
    if first < 0:
        marks = find_marks(best, query)
        first = marks[0][0] if marks else 0
    # Cut at a blank if there is one nearby, so that a long word never hides the match.
    start = max(first - LEAD_CHARS, 0)
    blank = best.rfind(" ", max(0, start - LEAD_CHARS), start)
    start = blank + 1 if blank >= 0 else start
    end = start + MAX_CHARS
    blank = best.rfind(" ", first + LEAD_CHARS, end)
    end = blank if blank >= 0 and end < len(best) else end
    return f"{'…' if start else ''}{best[start:end]}{'…' if end < len(best) else ''}"


def best_snippet(lines: Sequence[str], query: Query) -> Snippet:
    """Return the line that matches best, with marks; blank lines are skipped."""
    line = best_line([line for line in lines if line.strip()] or [""], query)
    return Snippet(line, tuple(find_marks(line, query)))


def matching_terms(text: str, query: Query) -> set[str]:
    return analyzer.matching_terms(text, query.terms, query.prefixes)


def find_marks(text: str, query: Query) -> list[tuple[int, int]]:
    """Return the spans of a text that match a query; touching ones are joined."""
    if query.has_only_stop_words:
        return analyzer.find_spans(text, matching_terms(text, query))
    return analyzer.find_spans(text, query.terms, query.prefixes)


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """A part of a message to quote."""

    start: int
    end: int
    score: float
    """The weights of the query's terms in it."""


class Sentences:
    """The sentences of one message, and which terms of a query they have."""

    def __init__(self, text: str, query: Query) -> None:
        self._text, self._query = text[:READ_CHARS], query
        self._spans = [
            (start, end)
            for start, end in sentence_spans(self._text)
            if not self._text[start:end].isspace()
        ]
        starts = [start for start, _ in self._spans]
        marks = analyzer.find_spans(self._text, query.terms, query.prefixes)
        marked = {bisect_right(starts, start) - 1 for start, _ in marks}
        self._terms = {
            at: matching_terms(self._text[slice(*self._spans[at])], query)
            for at in sorted(marked)
            if at >= 0
        }

    @property
    def terms(self) -> set[str]:
        return set().union(*self._terms.values())

    def passages(self, weights: Mapping[str, float]) -> list[QuoteSpan]:
        """Return the passages that match best, best first."""
        if len(self._text) <= WHOLE_CHARS:
            total = sum(weights.get(term, 0.0) for term in self.terms)
            return [QuoteSpan(0, len(self._text), total)]
        scores = {
            at: sum(weights.get(term, 0.0) for term in terms)
            for at, terms in self._terms.items()
        }
        used: set[int] = set()
        passages: list[QuoteSpan] = []
        for at in sorted(scores, key=lambda at: -scores[at]):
            if len(passages) == MAX_QUOTES:
                break
            if at not in used:
                first, last = self._extend(at, scores, used)
                used.update(range(first, last + 1))
                passages.append(self._passage(first, last, scores[at]))
        return passages or [QuoteSpan(0, min(len(self._text), QUOTE_CHARS), 0.0)]

    def _extend(
        self, at: int, scores: Mapping[int, float], used: set[int]
    ) -> tuple[int, int]:
        """Return the first and last sentence of a passage around a sentence."""
        first = last = at
        while True:
            neighbours = [
                near
                for near in (last + 1, first - 1)
                if 0 <= near < len(self._spans)
                and near not in used
                and self._spans[max(last, near)][1] - self._spans[min(first, near)][0]
                <= QUOTE_CHARS
            ]
            if not neighbours:
                return first, last
            best = max(neighbours, key=lambda near: scores.get(near, 0.0))
            first, last = min(first, best), max(last, best)

    def _passage(self, first: int, last: int, score: float) -> QuoteSpan:
        start, end = self._spans[first][0], self._spans[last][1]
        if end - start > QUOTE_CHARS:
            # One long sentence, such as a line of a log: cut around the first mark.
            text = self._text[start:end]
            marks = analyzer.find_spans(text, self._query.terms, self._query.prefixes)
            start += max(0, (marks[0][0] if marks else 0) - QUOTE_CHARS // 3)
            start = self._text.find(" ", start, start + QUOTE_CHARS // 6) + 1 or start
            end = min(end, start + QUOTE_CHARS)
        return QuoteSpan(start, end, score)

    def text(self, passage: QuoteSpan) -> str:
        """Return a passage, with an ellipsis where the message goes on."""
        before, after = self._text[: passage.start], self._text[passage.end :]
        text = self._text[passage.start : passage.end].strip()
        return f"{'…' if before.strip() else ''}{text}{'…' if after.strip() else ''}"
