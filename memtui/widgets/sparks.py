"""Sparks: how much was said in each part of a time, a bar for each."""

import sys
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = ".:-=+*#@"
"""The same eight steps for a terminal that shows nothing else."""


def spark(counts: Sequence[int], encoding: str | None = None) -> str:
    """A bar for each count, the highest for the greatest; a blank for nothing.

    Args:
        counts: How much there was.
        encoding: That of the terminal; the real one's by default.
    """
    steps, most = bars(encoding), max(counts, default=0)
    last = len(steps) - 1
    return "".join(
        steps[min(last, count * len(steps) // most)] if count else " "
        for count in counts
    )


def bars(encoding: str | None = None) -> str:
    """The bars, the lowest first.

    Args:
        encoding: That of the terminal; the real one's by default.
    """
    if encoding is None:
        encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    return BARS if encoding.lower().replace("-", "") == "utf8" else ASCII_BARS
