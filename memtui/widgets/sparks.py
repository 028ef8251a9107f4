"""Sparks: how much was said in each part of a time, a bar for each."""

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def spark(counts: Sequence[int]) -> str:
    """A bar for each count, the highest for the greatest; a blank for nothing."""
    most, last = max(counts, default=0), len(BARS) - 1
    return "".join(
        BARS[min(last, count * len(BARS) // most)] if count else " " for count in counts
    )
