"""Snippets: of several lines the one that answers a query best, cut around it."""

from collections.abc import Sequence

from memtui.memory import words
from memtui.memory.queries import Query
from memtui.memory.words import chunks

CHARS = 200
"""The most a snippet shows, in characters."""

ASIDE = CHARS // 3
"""How much is shown before what answers, and at the least from it on."""


def best_line(lines: Sequence[str], asked: Query) -> str:
    """The line that holds most of the terms asked for; the first one among equals.

    Args:
        lines: Bullets, or one excerpt; at least one.
        asked: The query.
    """
    sought = [*asked.phrases, *_typed(asked)]

    def telling(line: str) -> tuple[int, int]:
        folded = chunks.fold(line) if sought else ""
        return sum(one in folded for one in sought), len(wanted_in(line, asked))

    best = max(lines, key=telling)
    if len(best) <= CHARS:
        return best
    marks = marks_in(best, asked)
    folded = chunks.fold(best) if sought else ""
    first = min((folded.find(one) for one in sought if one in folded), default=-1)
    if first < 0:
        first = marks[0][0] if marks else 0
    # At a blank where there is one near; what matched is never cut off with a long run.
    start = max(first - ASIDE, 0)
    blank = best.rfind(" ", max(0, start - ASIDE), start)
    start = blank + 1 if blank >= 0 else start
    end = start + CHARS
    blank = best.rfind(" ", first + ASIDE, end)
    end = blank if blank >= 0 and end < len(best) else end
    return f"{'…' if start else ''}{best[start:end]}{'…' if end < len(best) else ''}"


def _typed(asked: Query) -> list[str]:
    """The compounds of a query as they were typed, folded."""
    return [chunks.fold(word.text) for word in asked.words if len(word.terms) > 1]


def wanted_in(text: str, asked: Query) -> set[str]:
    """The terms of a text that answer a query, in any form."""
    return words.answering(text, asked.terms, asked.begun)


def marks_in(text: str, asked: Query) -> list[tuple[int, int]]:
    """Where a text holds what answers a query, in any form; touching ones joined."""
    if asked.is_of_stop_words:
        return words.spans(text, wanted_in(text, asked))
    return words.spans(text, asked.terms, asked.begun)
