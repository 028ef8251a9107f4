"""Find the sentences of a text, and the one that says most of something."""

import re
from collections.abc import Iterator, Mapping

from memtui.text import analyzer

EXCERPT_CHARS = 200

EXCERPT_SOURCE_CHARS = 40_000
"""Only this much of an event's text is searched for its best sentence."""

_SENTENCE_ENDS = re.compile(
    r"[.!?。！？\n](?:(?<=[.!?])[\"'”’)\]*_`]*\s+|(?<=[。！？])|(?<=\n)\n*)"
)

_MARKUP = re.compile(r"(?:[#>|*+•\-–—=~_`\s✅❌✓✗☐☑]+|\d+[.)]\s|\[[ xX]?\]\s)+")


def best_excerpt(text: str, weights: Mapping[str, float]) -> str:
    """Return the sentence of a text whose terms have the highest weight.

    It is at most ``EXCERPT_CHARS`` long, cut at a word.
    """
    best, best_score = "", -1.0
    for candidate in _candidates(text[:EXCERPT_SOURCE_CHARS]):
        terms = set(analyzer.terms(candidate))
        score = sum(weight for term, weight in weights.items() if term in terms)
        if score > best_score:
            best, best_score = candidate, score
    return best or truncate(text.strip(), EXCERPT_CHARS)


def truncate(text: str, limit: int) -> str:
    """Return the start of a text, cut at a word if possible."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cut = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    return head[:cut].rstrip() if cut > limit // 2 else head[:limit].rstrip()


def _candidates(text: str) -> Iterator[str]:
    """Yield the sentences of a text without surrounding markup, long ones in parts."""
    for start, end in sentence_spans(text):
        led = _MARKUP.match(text, start, end)
        if led is not None and led.end() < end:
            start = led.end()
        sentence = text[start:end].rstrip(" \t|*`#_=~")
        while sentence:
            part = truncate(sentence, EXCERPT_CHARS)
            yield part
            sentence = sentence[max(len(part), 1) :].lstrip()


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences and lines of a text start and end; none is empty."""
    start = 0
    for match in _SENTENCE_ENDS.finditer(text):
        end = match.start() + (match[0][0] != "\n")
        if end > start:
            yield start, end
        start = match.end()
    if start < len(text):
        yield start, len(text)
