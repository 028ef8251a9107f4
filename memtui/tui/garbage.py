"""Tune Python's garbage collector for a process that shows the app.

A collection of everything takes longer than a frame. Collect less often, and exclude
what is loaded at the start, which stays.
"""

import gc

THRESHOLDS = 5_000, 5, 100
"""The arguments of ``gc.set_threshold``."""

_is_reduced = False


def reduce_collections() -> None:
    """Collect less often in this process."""
    global _is_reduced
    _is_reduced = True
    gc.set_threshold(*THRESHOLDS)


def freeze() -> None:
    """Exclude all present objects, if this process collects less often."""
    if _is_reduced:
        gc.freeze()
