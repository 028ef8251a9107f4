"""The parts of BM25 that rankings here have in common."""

import math
from collections.abc import Sequence

K1 = 1.2
"""The higher it is, the more repeated occurrences of a term count."""


def inverse_document_frequency(documents: float, containing: float) -> float:
    """Return a term's weight, above 0, from how many of all documents contain it."""
    others = max(documents - containing, 0)
    return math.log(1 + (others + 0.5) / (containing + 0.5))


def length_norms(lengths: Sequence[float], b: float) -> list[float]:
    """Return what is added to a term's count in the denominator, for each document.

    The higher b is, from 0 to 1, the more long documents are discounted.
    """
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return [K1 * (1 - b + b * length / mean) for length in lengths]
