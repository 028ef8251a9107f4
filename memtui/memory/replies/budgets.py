"""Budgets: as much of an answer as so many tokens hold, and never more.

Parts go whole, the least relevant first; what is left out is said in the answer. Where
not even the first one fits, all texts are cut shorter until it does; where none does at
all, as much is told as fits of what stands around them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from memtui.memory.tokens import ESTIMATE, Counter

LEAST = 50
"""The smallest budget there is, in tokens: an answer that holds nothing needs it."""

DEFAULT = 500
"""What an answer may cost unless more is asked for: about 2 KB of English."""

MOST = 100_000
"""The largest budget, in tokens."""

MARGIN = 1.15
"""What is added to an estimated count: 97 in 100 counts are over-estimated then."""

FOUR_BYTES = 2
"""What is added for each character beyond the basic plane, an emoji say: these take up
to three tokens."""

HEADED, NOTED, PAGED = 20, 16, 12
"""Down to these widths an answer has its head, its notice and notes, and what it goes
on with: then it holds its parts alone."""

WIDTHS = (None, 600, 300, 150, 80, 40, HEADED, NOTED, PAGED, 10)
"""To how many characters texts are cut, in turn, where no part fits; None for none."""

Render = Callable[[int, int | None], str]
"""Gives the answer with so many parts, their texts cut to so many characters."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """An answer that keeps within its budget."""

    text: str
    kept: int
    """How many of its parts it holds: its items, then what they can do without."""
    width: int | None
    """To how many characters its texts were cut; None if they were not."""
    tokens: int
    """What it costs: counted, or estimated with its margin."""


def cost(text: str, counter: Counter) -> int:
    """What a text costs at most, in tokens.

    Args:
        text: The answer.
        counter: Of tokens; an estimate is taken with its margin.
    """
    count = counter.count(text)
    if counter.name != ESTIMATE:
        return count
    beyond = 0 if text.isascii() else sum(char > "\uffff" for char in text)
    return min(
        round(count * MARGIN) + FOUR_BYTES * beyond,
        len(text.encode("utf-8", "replace")),
    )


def clamped(limit: int) -> int:
    """A budget that an answer can be fitted into."""
    return max(LEAST, min(limit, MOST))


def fit(
    render: Render, count: int, limit: int, counter: Counter, *, least: int = 0
) -> Fitted:
    """The answer with as many of its first parts as a budget holds.

    Args:
        render: Makes the answer of so many of its parts; with fewer it is shorter, and
            with none of them, cut to the least, it is expected to fit.
        count: How many parts there are.
        limit: The budget in tokens.
        counter: Of tokens.
        least: Where texts were cut shorter than that, an answer without any part is
            the better one.
    """
    frame = None
    for width in WIDTHS:
        kept = _most(render, width, count, limit, counter)
        if kept > 0 and (frame is None or width is None or width >= least):
            return _fitted(render, kept, width, counter)
        if kept == 0 and frame is None:
            frame = _fitted(render, 0, width, counter)
        if frame and not count:
            break
    return frame or _fitted(render, 0, WIDTHS[-1], counter)


def _fitted(render: Render, kept: int, width: int | None, counter: Counter) -> Fitted:
    text = render(kept, width)
    return Fitted(text, kept, width, cost(text, counter))


def _most(
    render: Render, width: int | None, count: int, limit: int, counter: Counter
) -> int:
    """How many parts fit; -1 if not even none of them does."""
    fits = -1
    low, high = 0, count
    if cost(render(count, width), counter) <= limit:
        return count
    while low <= high:
        middle = (low + high) // 2
        if cost(render(middle, width), counter) <= limit:
            fits, low = middle, middle + 1
        else:
            high = middle - 1
    return fits


def cut(text: str, width: int | None) -> str:
    """A text of at most so many characters, cut at a word where there is one."""
    if width is None or len(text) <= width:
        return text
    start = text[: width - 1]
    whole, blank, _ = start.rpartition(" ")
    return f"{whole if blank and len(whole) > width // 2 else start}…"
