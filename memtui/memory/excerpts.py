"""The excerpt of an event: the best sentence for a bullet, verbatim."""

import re
from collections.abc import Iterator, Mapping

from memtui.memory import words

EXCERPT_CHARS = 200
"""The most characters of an excerpt (decisions §6)."""

READ_CHARS = 40_000
"""How much of an event's text is searched for its best sentence, in characters."""

_ENDS = re.compile(
    r"[.!?。！？\n](?:(?<=[.!?])[\"'”’)\]*_`]*\s+|(?<=[。！？])|(?<=\n)\n*)"
)
_MARKUP = re.compile(r"(?:[#>|*+•\-–—=~_`\s✅❌✓✗☐☑]+|\d+[.)]\s|\[[ xX]?\]\s)+")
_TRAIL = " \t|*`#_=~"


def excerpt(text: str, weights: Mapping[str, float]) -> str:
    """The sentence of a text that says most of what is wanted.

    Args:
        text: An event's text.
        weights: The wanted terms and what each weighs.

    Returns:
        A part of ``text``, exactly as it stands there, of at most ``EXCERPT_CHARS``
        characters, cut on a word.
    """
    best, best_score = "", -1.0
    for candidate in _candidates(text[:READ_CHARS]):
        found = set(words.terms(candidate))
        score = sum(weight for term, weight in weights.items() if term in found)
        if score > best_score:
            best, best_score = candidate, score
    return best or shorten(text.strip(), EXCERPT_CHARS)


def shorten(text: str, limit: int) -> str:
    """The start of a text, cut on a word if it can be."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cut = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    return head[:cut].rstrip() if cut > limit // 2 else head[:limit].rstrip()


def _candidates(text: str) -> Iterator[str]:
    """The sentences of a text without the markup around them, long ones in parts."""
    for start, end in sentences(text):
        led = _MARKUP.match(text, start, end)
        if led is not None and led.end() < end:
            start = led.end()
        rest = text[start:end].rstrip(_TRAIL)
        while rest:
            part = shorten(rest, EXCERPT_CHARS)
            yield part
            rest = rest[max(len(part), 1) :].lstrip()


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences and lines of a text begin and end; none is empty."""
    start = 0
    for match in _ENDS.finditer(text):
        end = match.start() + (match[0][0] != "\n")
        if end > start:
            yield start, end
        start = match.end()
    if start < len(text):
        yield start, len(text)
