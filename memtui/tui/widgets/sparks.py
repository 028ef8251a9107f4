"""Sparks: how much was said in each part of a time, a bar for each."""

from collections.abc import Sequence

BARS, NOTHING = "▁▂▃▄▅▆▇█", "·"


def spark(counts: Sequence[int]) -> str:
    """A bar for each count, the highest for the greatest; a dot for nothing."""
    most, last = max(counts, default=0), len(BARS) - 1
    return "".join(
        BARS[min(last, count * len(BARS) // most)] if count else NOTHING
        for count in counts
    )
