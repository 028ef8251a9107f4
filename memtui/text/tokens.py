"""How long a text is in tokens, without a tokeniser's vocabulary.

The estimate is fitted to OpenAI's cl100k vocabulary on English, code and mixed text:
half of the counts are within 3 %, 95 in 100 within 12 %. Counting by the vocabulary
itself is in ``memtui.house.tokenizer``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits, punctuation

ESTIMATOR_NAME = "estimate-1"
"""The name recorded with counts made by ``estimate``."""

SAMPLE_CHARS = 100_000
"""A longer text is counted by its beginning and scaled, to stay fast."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens, and the name recorded with each count."""

    name: str
    count: Callable[[str], int]


WORD, SEVEN, HUMP, DIGITS, LINE = 0.98, 0.49, 1.28, 1.31, 1.43
"""Tokens added by each word, block of seven letters, camel-case hump, group of up to
three digits, and line end (with surrounding spaces)."""

MARKS, MARK, BLANKS, NON_ASCII = 0.53, 0.18, 1.80, 0.99
"""Tokens added by each run of punctuation, each mark in it, an inner run of two or more
spaces, and each non-ASCII character."""

_OTHER = "\x7f"
"""Stands for a non-ASCII character, and for the start of the text."""

_FOREIGN = re.compile("[^\x00-\x7f]")
_INNER_BLANKS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_WITHIN_LINES = b" \t\r\v\f\x1c\x1d\x1e\x1f"


def _signs(**kinds: str) -> bytes:
    """Return a table that maps characters to the sign of their kind, all others to "
    "."""
    signs = {ord(char): sign for sign, chars in kinds.items() for char in chars}
    return bytes(ord(signs.get(code, " ")) for code in range(256))


_CASES = _signs(a=ascii_lowercase, A=ascii_uppercase)
_NUMBERS = _signs(x=digits)
_PUNCTUATION = _signs(x=punctuation)
_ENDS = _signs(x="\n")


def estimate(text: str) -> int:
    """Estimate the number of tokens; 0 only for an empty text.

    The bytes are translated to signs and counted, which is five times as fast as
    patterns.
    """
    if len(text) > SAMPLE_CHARS:
        return round(estimate(text[:SAMPLE_CHARS]) * len(text) / SAMPLE_CHARS)
    plain = text if text.isascii() else _FOREIGN.sub(_OTHER, text)
    raw = f"{_OTHER}{plain}".encode("ascii")
    cases = raw.translate(_CASES)
    letters = cases.lower()
    numbers = raw.translate(_NUMBERS)
    marks = raw.translate(_PUNCTUATION)
    ends = raw.translate(_ENDS, _WITHIN_LINES)
    total = WORD * letters.count(b" a") + SEVEN * letters.count(b"aaaaaaa")
    total += HUMP * cases.count(b"aA")
    total += DIGITS * (
        numbers.count(b"xxx") + numbers.replace(b"xxx", b"").count(b" x")
    )
    total += LINE * ends.count(b" x")
    total += MARKS * marks.count(b" x") + MARK * marks.count(b"x")
    if "  " in text or "\t" in text:
        total += BLANKS * len(_INNER_BLANKS.findall(text))
    if plain is not text:
        total += NON_ASCII * plain.count(_OTHER)
    return max(round(total), 1 if text else 0)


ESTIMATING_COUNTER = TokenCounter(ESTIMATOR_NAME, estimate)
"""The counter that is always available."""
