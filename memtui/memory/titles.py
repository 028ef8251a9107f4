"""Titles: one short line that says what a segment was about."""

import re
from collections.abc import Iterable
from itertools import islice

from memtui.memory import cues, vocabulary, words
from memtui.memory.prose import Sentence, shorten

TITLE_CHARS = 80
"""The most characters of a title or headline."""

READ = 9
"""How many sentences of a request are looked at."""

TELLING = 2
"""A title holds at least this many words that tell something."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」"}
_ASKING = re.compile(
    r"(?:(?:ok(?:ay)?|so|hey|hi|hello|well|now|and|also|alright|actually|yes|yeah|great"
    r"|cool|perfect|good|nice|thanks?|please|pls|just|then|next|first|basically|hmm+|oh"
    r"|sure|no|ultrathink|think hard|let's see|i think|i guess|i was wondering if"
    r"|(?:can|could|would|will|do) (?:you|we|u)(?: please| now| also| maybe| mind)*"
    r"|i(?:'d| would)? (?:like|want|need)(?: you| us)? (?:to|for you to)"
    r"|(?:help|tell|show) me(?: to)?|you (?:should|can|need to|must)"
    r"|we (?:should|can|need to|must|have to)(?! not)|your (?:task|job|goal) is to"
    r"|let's|let us|let me|i'll|i will|i(?:'ve| have)(?: now| successfully)+"
    r"|go ahead and|try to|make sure (?:to|that))"
    r"\b[\s,.!:;\-–—]*)+",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?:implementation )?plan|task|goal|feature|fix|bug|issue|summary"
    r"|feat|docs|chore|refactor|test|tests|perf|style|ci|build|title|subject|todo|objective|request"
    r"|context|intent|step \d+|phase \d+|\d+\.)(?:\([\w\-]+\))?!?\s*[:：\-–—]\s*",
    re.IGNORECASE,
)


def of_request(sentences: Iterable[Sentence]) -> str:
    """The title a request gives, or an empty string where it tells nothing."""
    parts = list(islice(sentences, READ))
    for sentence in parts:
        text = sentence.text
        leads_in = text.endswith((":", "：")) and len(parts) > 1
        if leads_in or cues.is_dull_heading(text):
            continue
        if cues.is_logged(text):
            continue
        title = tidy(text)
        if telling(title) >= TELLING:
            return title
    return ""


def tidy(text: str) -> str:
    """A sentence as a title: without what only asks, labels or ends it."""
    bare = asked = text.strip()
    for pattern in (_ASKING, _LABEL):
        led = pattern.match(bare)
        if led and telling(bare[led.end() :]) >= min(TELLING, telling(bare)):
            bare = bare[led.end() :].strip()
    bare = bare.strip(" \t*_-–—:;,").rstrip(".。!！" if bare == asked else ".。!！?？")
    if bare[:1] in _QUOTES and bare[-1:] == _QUOTES[bare[:1]] and len(bare) > 1:
        bare = bare[1:-1]
    if bare[:1].islower() and bare.partition(" ")[0].replace("'", "").isalpha():
        bare = bare[0].upper() + bare[1:]
    return shorten(bare, TITLE_CHARS)


def telling(text: str) -> int:
    """How many different words of a text tell what it is about.

    A pair of Chinese or Japanese characters counts half, since two make a word.
    """
    found = {term for term in words.needed(text) if term not in vocabulary.VAGUE}
    found -= vocabulary.STOP_WORDS
    latin = sum(term.isascii() for term in found if len(term) > 1)
    return latin + (len(found) - sum(term.isascii() for term in found) + 1) // 2
