"""Keywords: the words to find a segment by, as a reader would write them.

A word weighs by how often it is said, how rare such words are in general, and how
much like a name it looks: a file, a function, a package, an error.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from memtui.memory import vocabulary, words
from memtui.memory.events import Event, EventRole
from memtui.memory.segments import counted_text
from memtui.memory.toc import KEYWORDS, TocLevel

SHORTEST = 3
"""A keyword of plain letters has at least this many."""

LONGEST = 40
"""A longer word is not a keyword but a path, an address or a blob."""

ROLE_WEIGHT = {
    EventRole.USER: 3.0,
    EventRole.ASSISTANT: 2.0,
    EventRole.TOOL: 0.6,
    EventRole.SYSTEM: 0.0,
}
"""What a mention counts by who made it."""

SATURATION = 6.0
"""How many mentions, weighted, come to half of what mentions can give."""

_HEX = re.compile(
    r"(?=[0-9a-f]*\d)[0-9a-f]{7,}|[0-9a-f]{8}-[0-9a-f]{4}-.*", re.IGNORECASE
)
_JUNK = re.compile(
    r"[\d.:,_/\-#+%]+|\d+(?:px|ms|kb|mb|gb|s|am|pm|m|h|d|x|rd|th|st|nd)|v?\d[\d.\-a-z]*"
    r"|toolu_.*|msg_.*|(?:\d{1,4}-)+\d+t.*",
    re.IGNORECASE,
)
_BLOB = re.compile(r"(?=.{16,})(?=(?:[^0-9]*[0-9]){4})[A-Za-z0-9_\-]+")
_FILE = re.compile(
    r"[\w\-.]*\w\.(?:[a-z]{1,4}|toml|json|yaml|proto|swift|ipynb|svelte|jsonl)"
)
_CAMEL = re.compile(r"[a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*")
_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Warning)|[A-Z]{1,4}\d{3,5}|E[A-Z]{4,})\b"
)
_APOSTROPHE_S = re.compile("['’]s$")
_STARTS = re.compile(r"(?:\A|[.!?:]\s|\n)\W{0,6}[A-Z][a-z]+(?=[\s,:])")
_ADDRESS = re.compile(r"\w+://|@.*\.|^www\.|.*\.(?:com|org|io|net|dev)$")


def of_events(events: Sequence[Event]) -> tuple[str, ...]:
    """The keywords of a segment, weightiest first, as the reader would write them.

    Args:
        events: The events of the segment, the overlap left out.
    """
    weighed, shown = _weighed(events)
    best = sorted(weighed, key=lambda root: (-weighed[root], root))
    telling = (shown[root] for root in best if weighed[root] > 0)
    return _distinct(telling, KEYWORDS[TocLevel.SEGMENT])


def weights(events: Sequence[Event]) -> dict[str, float]:
    """What each word weighs that could be a keyword of a segment, by its root."""
    return _weighed(events)[0]


def _weighed(events: Sequence[Event]) -> tuple[dict[str, float], dict[str, str]]:
    """The weight of each root, and the form to show it in."""
    said: dict[str, float] = defaultdict(float)
    spread: dict[str, int] = defaultdict(int)
    forms: dict[str, dict[str, int]] = {}
    for event in events:
        weight = ROLE_WEIGHT[event.role]
        if not weight:
            continue
        for name, count in Counter(_names(_telling(event))).items():
            root = _root(name)
            said[root] += weight * min(count, 3)
            spread[root] += 1
            written = forms.setdefault(root, {})
            written[name] = written.get(name, 0) + count
    shown = {root: _shown(written) for root, written in forms.items()}
    weighed = {root: _weight(shown[root], said[root], spread[root]) for root in said}
    return weighed, shown


def of_children(level: TocLevel, children: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The keywords of a parent, chosen among its children's alone (decisions §5).

    A keyword weighs by how many children have it and how high it stands in each,
    however it is written there.

    Args:
        level: The parent's level, which sets how many there are.
        children: The keywords of each child, weightiest first.
    """
    weight: dict[str, float] = defaultdict(float)
    shown: dict[str, str] = {}
    for keywords in children:
        for place, keyword in enumerate(keywords):
            folded = words.fold(keyword)
            shown.setdefault(folded, keyword)
            weight[folded] += 1 / (1 + place / 4)
    best = sorted(weight, key=lambda folded: (-weight[folded], folded))
    return _distinct((shown[folded] for folded in best), KEYWORDS[level])


def _telling(event: Event) -> str:
    """What of an event can give keywords: of a tool, the call and the errors' names.

    A capital at the start of a sentence does not make a name.
    """
    text = counted_text(event)
    if event.role is not EventRole.TOOL:
        return _STARTS.sub(lambda start: start[0].lower(), text)
    call, _, response = text.partition("\n")
    return " ".join((call, *_ERROR.findall(response)))


def _names(text: str) -> list[str]:
    """The words that could be keywords; a path gives its last part."""
    return list(filter(None, map(_name, words.chunks(text))))


@lru_cache(maxsize=words.CACHED)
def _name(chunk: str) -> str:
    """The name a word or a path gives; an empty string for what is none."""
    if len(chunk) > words.CHUNK_CHARS or _ADDRESS.search(chunk):
        return ""
    name = _APOSTROPHE_S.sub("", chunk.rpartition("/")[2].strip("_-.'’@#"))
    return "" if not name or _is_junk(name) else name


def _is_junk(name: str) -> bool:
    if len(name) > LONGEST or _HEX.fullmatch(name) or _JUNK.fullmatch(name):
        return True
    if _BLOB.fullmatch(name) and not _CAMEL.fullmatch(name):
        return True
    folded = words.fold(name)
    if folded in vocabulary.STOP_WORDS or folded in vocabulary.GENERIC:
        return True
    return len(name) < SHORTEST and name.isascii()


@lru_cache(maxsize=words.CACHED)
def _root(name: str) -> str:
    needed = words.needed(name)
    return needed[0] if len(needed) == 1 else words.fold(name)


def _weight(name: str, said: float, spread: int) -> float:
    """How much a word tells: mentions, saturating, times how much of a name it is."""
    often = said / (said + SATURATION) * (1 + 0.15 * min(spread, 5))
    return often * _likeness(name)


@lru_cache(maxsize=words.CACHED)
def _likeness(name: str) -> float:
    """How much like a name a word looks; plain short words least."""
    if _ERROR.fullmatch(name):
        return 2.0
    if _FILE.fullmatch(name):
        return 1.8
    if _CAMEL.fullmatch(name) or "_" in name or "::" in name:
        return 1.7
    if "-" in name or name.isupper() or any(map(str.isdigit, name)):
        return 1.4
    if not name.isascii():
        return 1.2
    return 1.2 if name[0].isupper() else 0.6 + 0.08 * min(len(name), 10)


def _shown(forms: Mapping[str, int]) -> str:
    """The form to show: a name as it is written, a plain word in lower case."""
    if len(forms) == 1:
        return next(iter(forms))
    name = min(forms, key=lambda form: (-forms[form], form))
    lower = name.lower()
    if name.istitle() and forms.get(lower, 0) >= forms[name]:
        return lower
    return name


def _distinct(ranked: Iterable[str], limit: int) -> tuple[str, ...]:
    """The first keywords that do not say again what a better one says."""
    kept: list[str] = []
    held: set[str] = set()
    for keyword in ranked:
        terms = set(words.needed(keyword))
        folded = words.fold(keyword)
        if folded in held or (terms and terms <= held):
            continue
        kept.append(keyword)
        held |= terms | {folded}
        if len(kept) == limit:
            break
    return tuple(kept)
