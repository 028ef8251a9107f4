"""Keywords: the words to find a node by, as a reader would write them.

A word weighs by how often it is said, how rare such words are in general, and how
much like a name it looks: a file, a function, a package, an error. What a model
proposes counts as far as it was really said. A parent's keywords are chosen among its
children's alone, so that each leads down to where it was said (decisions §5).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.memory import words
from memtui.memory.events import Event, EventRole, clean
from memtui.memory.keywords import candidates, uses
from memtui.memory.origins import RANK, Keyword, Origin
from memtui.memory.segments import counted_text
from memtui.memory.toc import KEYWORDS, TocLevel
from memtui.memory.words import chunks

ROLE_WEIGHT = {
    EventRole.USER: 3.0,
    EventRole.ASSISTANT: 2.0,
    EventRole.TOOL: 0.6,
    EventRole.SYSTEM: 0.0,
}
"""What a mention counts by who made it."""

IN_A_CALL = 0.25
"""What a word counts in a tool's call that looks like no name there: ``log``."""

SATURATION = 6.0
"""How many mentions, weighted, come to half of what mentions can give."""

LIKENESS = {
    Origin.ERROR: 2.0,
    Origin.FILE: 1.8,
    Origin.FUNCTION: 1.75,
    Origin.PACKAGE: 1.75,
}
"""What a word of an origin tells; of the other origins it follows from its shape."""

PROPOSED = 1.5
"""What a model's first keyword gains; the later ones less and less."""

OFTEN = 0.5
"""What it counts that a child says a word often, against telling what sort it is."""

DAMPING = 4
"""The keyword in this place, counted from none, counts half of the first one."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """The words of a segment that could be keywords, by their roots."""

    weights: Mapping[str, float]
    shown: Mapping[str, str]
    origins: Mapping[str, Origin]


def of_events(
    events: Sequence[Event],
    proposed: Sequence[str] = (),
    weighed: Weighed | None = None,
) -> tuple[Keyword, ...]:
    """The keywords of a segment, weightiest first.

    Args:
        events: The events of the segment, the overlap left out.
        proposed: What a model would call it by, the best first; what nobody said in
            the segment is left out. It gives a word its origin where nothing better
            does.
        weighed: What ``weigh`` tells of the events, where that is known already.
    """
    told = weighed or weigh(events)
    found = {
        root: Keyword(told.shown[root], told.origins[root], weight)
        for root, weight in told.weights.items()
        if weight > 0
    }
    for place, phrase in enumerate(_said(proposed, events) if proposed else ()):
        root, gain = _root(phrase), PROPOSED * _damped(place)
        mine = found.get(root)
        origin = mine.origin if mine else uses.origin(phrase, {})
        parts = [told.weights.get(part, 0.0) for part in words.needed(phrase)]
        weight = mine.weight if mine else max(parts, default=0.0) / 2
        found[root] = Keyword(
            mine.word if mine else phrase,
            min(origin, Origin.MODEL, key=RANK.__getitem__),
            weight + gain,
        )
    return _best(found, KEYWORDS[TocLevel.SEGMENT])


def of_children(
    level: TocLevel,
    children: Iterable[Sequence[Keyword]],
    proposed: Sequence[str] = (),
) -> tuple[Keyword, ...]:
    """The keywords of a parent, chosen among its children's alone (decisions §5).

    A keyword weighs by what it weighs in each child, however it is written there; a
    busy child counts more than a quiet one, but only by the root of how much more. Its
    origin is the one with most weight, said often counting least.

    Args:
        level: The parent's level, which sets how many there are.
        children: The keywords of each child, weightiest first.
        proposed: What a model would call the parent by; what no child has is left out.
    """
    weight: dict[str, float] = defaultdict(float)
    forms: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    kinds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in children:
        divided = math.sqrt(max((one.weight for one in row), default=0.0)) or 1.0
        for one in row:
            folded, mine = chunks.fold(one.word), one.weight / divided
            weight[folded] += mine
            forms[folded][one.word] += mine
            share = OFTEN if one.origin is Origin.FREQUENCY else 1.0
            kinds[folded][one.origin] += mine * share
    top = max(weight.values(), default=0.0)
    for place, phrase in enumerate(proposed):
        if (folded := chunks.fold(candidates.normal(phrase))) in weight:
            weight[folded] += top * _damped(place) / 2
    found = {
        folded: Keyword(
            _heaviest(forms[folded]), Origin(_heaviest(kinds[folded])), mine
        )
        for folded, mine in weight.items()
    }
    return _best(found, KEYWORDS[level])


def of_words(ranked: Sequence[str]) -> tuple[Keyword, ...]:
    """Keywords of which only the words and their order are known."""
    return tuple(
        Keyword(word, uses.origin(word, {}), round(_damped(place), 3))
        for place, word in enumerate(ranked)
    )


def _heaviest(weights: Mapping[str, float]) -> str:
    return min(weights, key=lambda key: (-weights[key], key))


def _damped(place: int) -> float:
    return 1 / (1 + place / DAMPING)


def weigh(events: Sequence[Event]) -> Weighed:
    """What each root weighs, the form to show it in, and where it comes from."""
    said: dict[str, float] = defaultdict(float)
    spread: dict[str, int] = defaultdict(int)
    forms: dict[str, dict[str, int]] = {}
    texts = []
    tools = {chunks.fold(event.metadata.get("tool_name", "")) for event in events}
    for event in events:
        weight = ROLE_WEIGHT[event.role]
        if not weight:
            continue
        texts.append(text := candidates.telling(event))
        for name, count in Counter(candidates.of(text)).items():
            if chunks.fold(name) in tools:
                continue
            root = _root(name)
            is_plain = event.role is EventRole.TOOL and not _looks_named(name)
            said[root] += weight * min(count, 3) * (IN_A_CALL if is_plain else 1.0)
            spread[root] += 1
            written = forms.setdefault(root, {})
            written[name] = written.get(name, 0) + count
    used = uses.of(texts)
    shown = {root: _shown(written) for root, written in forms.items()}
    kinds = {root: uses.origin(name, used) for root, name in shown.items()}
    weighed = {
        root: _often(said[root], spread[root]) * _likeness(shown[root], kinds[root])
        for root in said
    }
    return Weighed(weighed, shown, kinds)


@lru_cache(maxsize=words.CACHED)
def _root(name: str) -> str:
    needed = words.needed(name)
    return needed[0] if len(needed) == 1 else chunks.fold(name)


def _often(said: float, spread: int) -> float:
    """How much mentions tell: saturating, more where many events make them."""
    return said / (said + SATURATION) * (1 + 0.15 * min(spread, 5))


def _likeness(name: str, origin: Origin) -> float:
    """How much like a name a word looks; plain short words least."""
    if told := LIKENESS.get(origin):
        return told
    if uses.CAMEL.fullmatch(name) or "_" in name or "::" in name:
        return 1.7
    if "-" in name or name.isupper() or any(map(str.isdigit, name)):
        return 1.4
    if not name.isascii():
        return 1.2
    return 1.2 if name[0].isupper() else 0.6 + 0.08 * min(len(name), 10)


@lru_cache(maxsize=words.CACHED)
def _looks_named(name: str) -> bool:
    return uses.origin(name, {}) is not Origin.FREQUENCY


def _shown(forms: Mapping[str, int]) -> str:
    """The form to show: a name as it is written, a plain word in lower case."""
    if len(forms) == 1:
        return next(iter(forms))
    name = min(forms, key=lambda form: (-forms[form], form))
    lower = name.lower()
    if name.istitle() and forms.get(lower, 0) >= forms[name]:
        return lower
    return name


def _said(proposed: Sequence[str], events: Sequence[Event]) -> Iterator[str]:
    """Those of a model's words that one event holds whole, and that tell something."""
    held = [set(words.terms(counted_text(e))) for e in events if ROLE_WEIGHT[e.role]]
    for phrase in proposed:
        line = " ".join(candidates.normal(clean(phrase)).split())
        needed = set(words.needed(line))
        if candidates.tells(line) and any(needed <= have for have in held):
            yield line


def _best(found: Mapping[str, Keyword], limit: int) -> tuple[Keyword, ...]:
    """The weightiest that do not say again what a better one says."""
    kept: list[Keyword] = []
    held: set[str] = set()
    ranked = sorted(found, key=lambda root: (-found[root].weight, root))
    for keyword in (found[root] for root in ranked):
        terms = set(words.needed(keyword.word))
        folded = chunks.fold(keyword.word)
        says_again = terms and terms <= held and keyword.origin is not Origin.FILE
        if folded in held or says_again:
            continue
        rounded = Keyword(keyword.word, keyword.origin, round(keyword.weight, 3))
        kept.append(rounded)
        held |= terms | {folded}
        if len(kept) == limit:
            break
    return tuple(kept)
