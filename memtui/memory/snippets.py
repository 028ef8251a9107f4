"""Snippets: of several lines the one that answers a query best, cut around it."""

from collections.abc import Sequence

from memtui.memory import words
from memtui.memory.queries import Query

CHARS = 200
"""The most a snippet shows, in characters."""


def best_line(lines: Sequence[str], asked: Query) -> str:
    """The line that holds most of the terms asked for; the first one among equals.

    Args:
        lines: Bullets, or one excerpt; at least one.
        asked: The query.
    """
    best = max(lines, key=lambda line: len(wanted_in(line, asked)))
    if len(best) <= CHARS:
        return best
    marks = words.spans(best, wanted_in(best, asked))
    start = max(marks[0][0] - CHARS // 3, 0) if marks else 0
    start = best.rfind(" ", 0, start) + 1 if start else 0
    end = start + CHARS
    cut = best[start:end].rsplit(" ", 1)[0] if end < len(best) else best[start:]
    return f"{'…' if start else ''}{cut}{'…' if end < len(best) else ''}"


def wanted_in(text: str, asked: Query) -> set[str]:
    """The terms of a text that answer a query, in any form."""
    return words.answering(text, asked.terms, asked.begun)
