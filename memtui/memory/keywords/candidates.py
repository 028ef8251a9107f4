"""Candidates: the words of an event that could be keywords, each in one form.

Hashes, addresses, numbers and words that everybody says are none; a path gives its
last part, a clause of Chinese the words in it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from memtui.memory import words
from memtui.memory.events import Event, EventRole
from memtui.memory.keywords import uses
from memtui.memory.segments import counted_text
from memtui.memory.words import chunks, vocabulary

SHORTEST = 3
"""A keyword of plain letters has at least this many."""

LONGEST = 40
"""A longer word is not a keyword but a path, an address or a blob."""

LONGEST_RUN = 8
"""The same for a script without blanks: a longer run is a clause."""

_HEX = re.compile(
    r"(?=[0-9a-f]*\d)[0-9a-f]{7,}|[0-9a-f]{8}-[0-9a-f]{4}-.*", re.IGNORECASE
)
_JUNK = re.compile(
    r"[\d.:,_/\-#+%]+|\d+(?:px|ms|kb|mb|gb|s|am|pm|m|h|d|x|rd|th|st|nd)|v?\d[\d.\-a-z]*"
    r"|toolu_.*|msg_.*|(?:\d{1,4}-)+\d+t.*",
    re.IGNORECASE,
)
_BLOB = re.compile(r"(?=.{16,})(?=(?:[^0-9]*[0-9]){4})[A-Za-z0-9_\-]+")
_APOSTROPHE_S = re.compile("['’]s$")
_CONTRACTED = re.compile("[a-z]+['’](?:d|ll|m|re|t|ve)", re.IGNORECASE)
_IN_CALL = re.compile(r"(?<!\S)--?[\w\-]+|\"\w+\"\s*:")
_OWN = re.compile(r"(?:this|self)\.(?=\w)")
_DOTFILE = re.compile(r"\.(?:env|git\w+|\w+rc|\w+ignore|editorconfig)(?:\.\w+)?")
_SCOPED = re.compile(r"@[\w\-]+/[\w.\-]+")
_STARTS = re.compile(r"(?:\A|[.!?:]\s|\n)\W{0,6}[A-Z][a-z]+(?=[\s,:])")
_ADDRESS = re.compile(r"\w+://|@.*\.|^www\.|.*\.(?:com|org|io|net|dev)$")


def telling(event: Event) -> str:
    """What of an event can give keywords: of a tool, the call and the errors' names.

    A capital at the start of a sentence does not make a name. Neither the name of a
    tool nor that of an option or a key in its call says what it was called for.
    """
    text = counted_text(event)
    if event.role is not EventRole.TOOL:
        return _STARTS.sub(lambda start: start[0].lower(), text)
    call, _, response = text.partition("\n")
    tool, _, given = call.partition(": ")
    served = tool.split("__")[1] if tool.startswith("mcp__") else ""
    errors = uses.errors(response)
    return " ".join((served, _IN_CALL.sub("", given), *errors))


def of(text: str) -> Iterator[str]:
    """The words that could be keywords; a path gives its last part."""
    for chunk in chunks.of(text):
        if name := _name(chunk):
            yield name
        elif not chunk.isascii():
            yield from _clauses(chunk)


@lru_cache(maxsize=words.CACHED)
def _name(chunk: str) -> str:
    """The name a word or a path gives; an empty string for what is none."""
    if len(chunk) > chunks.CHUNK_CHARS or _ADDRESS.search(chunk):
        return ""
    if _SCOPED.fullmatch(chunk):
        return chunk
    last = normal(chunk.rpartition("/")[2])
    if _DOTFILE.fullmatch(last):
        return last
    name = _OWN.sub("", _APOSTROPHE_S.sub("", last.strip("_-.'’@#")), count=1)
    return "" if not name or _is_junk(name) else name


def tells(phrase: str) -> bool:
    """Whether a phrase holds a word that could be a keyword, and is no longer."""
    return len(phrase) <= LONGEST and any(
        _name(chunk) or chunks.is_unspaced(chunk) for chunk in chunks.of(phrase)
    )


@lru_cache(maxsize=words.CACHED)
def _clauses(run: str) -> tuple[str, ...]:
    """The words that the small words of Chinese and Japanese leave of a run."""
    if not chunks.is_unspaced(run):
        return ()
    parts = vocabulary.BETWEEN_HAN.split(unicodedata.normalize("NFC", run))
    return tuple(part for part in parts if 2 <= len(part) <= LONGEST_RUN)


def normal(word: str) -> str:
    """A word in the one form that it is kept in."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", word).replace("’", "'")


def _is_junk(name: str) -> bool:
    if len(name) > LONGEST or _HEX.fullmatch(name) or _JUNK.fullmatch(name):
        return True
    if _BLOB.fullmatch(name) and not uses.CAMEL.fullmatch(name):
        return True
    folded = chunks.fold(name)
    if folded in vocabulary.STOP_WORDS or folded in vocabulary.GENERIC:
        return True
    if _CONTRACTED.fullmatch(name) or chunks.is_unspaced(name):
        return True
    return len(name) < SHORTEST and name.isascii()
