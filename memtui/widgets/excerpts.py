"""Where an excerpt stands in an event's text, and how much of a long text is shown."""

import re
from dataclasses import dataclass

SHOWN = 4000
"""How much of a text is shown at most, in characters."""

LEAD = 400
"""How much is shown before an excerpt that lies deep in a long text, in characters."""

Span = tuple[int, int]
"""A start and an end in a text, in characters."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: how much is left out on both sides, and the span marked."""

    text: str
    left_before: int = 0
    left_after: int = 0
    mark: Span | None = None


def find(text: str, excerpt: str) -> Span | None:
    """Where the excerpt stands, even if the text breaks its lines elsewhere."""
    wanted = excerpt.strip().strip("…").strip()
    if not wanted:
        return None
    start = text.find(wanted)
    if start >= 0:
        return start, start + len(wanted)
    loose = r"\s+".join(re.escape(word) for word in wanted.split())
    found = re.search(loose, text)
    return found.span() if found else None


def piece(text: str, mark: Span | None, limit: int = SHOWN) -> Piece:
    """The part of a text to show: its beginning, or the surroundings of a mark.

    Args:
        text: All of it.
        mark: The span that must be seen, if any.
        limit: How much to show at most, in characters.
    """
    if len(text) <= limit:
        return Piece(text, mark=mark)
    start = 0
    if mark is not None and mark[1] > limit:
        start = max(0, mark[0] - LEAD)
    end = min(len(text), max(start + limit, mark[1] if mark else 0))
    moved = (mark[0] - start, mark[1] - start) if mark else None
    return Piece(text[start:end], start, len(text) - end, moved)
