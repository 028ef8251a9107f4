"""How long a text is in tokens, without a tokeniser's vocabulary.

The estimate is fitted to OpenAI's cl100k vocabulary on English, code and mixed text:
half of the counts are within 3 %, 95 in 100 within 12 %. Counting by the vocabulary
itself is in ``memtui.tokenizer``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

ESTIMATE = "estimate-1"
"""The name under which counts made by ``estimate`` are recorded."""

SAMPLE_CHARS = 100_000
"""A longer text is counted by its beginning and scaled, so that counting stays quick."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A way to count tokens, and the name recorded with every count it makes."""

    name: str
    count: Callable[[str], int]


_WEIGHTS = (
    (re.compile(r"[A-Za-z]+"), 0.98),
    (re.compile(r"[A-Za-z]{7}"), 0.49),
    (re.compile(r"[a-z][A-Z]"), 1.28),
    (re.compile(r"\d{1,3}"), 1.31),
    (re.compile(r"\n\s*"), 1.43),
)
"""What each word, block of seven letters, camel hump, group of digits and line end
(with the blanks around it) adds to a count."""

_MARKS = re.compile(r"[!-/:-@\[-`{-~]+")
_BLANKS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
MARKS, MARK, BLANKS, NON_ASCII = 0.53, 0.18, 1.80, 0.99
"""What a run of punctuation adds, each mark in it, an inner run of two or more blanks,
and each character outside ASCII."""


def estimate(text: str) -> int:
    """Estimate the number of tokens; 0 for an empty text alone."""
    if len(text) > SAMPLE_CHARS:
        return round(estimate(text[:SAMPLE_CHARS]) * len(text) / SAMPLE_CHARS)
    total = sum(weight * len(piece.findall(text)) for piece, weight in _WEIGHTS)
    marks = _MARKS.findall(text)
    total += MARKS * len(marks) + MARK * sum(map(len, marks))
    if "  " in text or "\t" in text:
        total += BLANKS * len(_BLANKS.findall(text))
    if not text.isascii():
        total += NON_ASCII * (len(text) - len(text.encode("ascii", "ignore")))
    return max(round(total), 1 if text else 0)


ESTIMATED = Counter(ESTIMATE, estimate)
"""The counter that is always there."""
