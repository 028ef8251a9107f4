"""Roll-ups: a node's summary chosen among what its children say.

Nothing is worded anew: the bullets are the children's, so that each keeps the grips
of the one it came from (decisions §6).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.memory import cues, keywords, titles, words
from memtui.memory.prose import shorten
from memtui.memory.summaries import Claim, Summary
from memtui.memory.toc import BULLETS, TocLevel, TocNode

HEADLINE_CHARS = 100
"""The most characters of a headline."""

LAMBDA = 0.7
"""How much worth counts against likeness to what was taken already."""

LIKE = 0.6
"""A bullet sharing more of its terms than this with another says nothing new."""

POOL = 200
"""How many of the best bullets are weighed against each other."""

CROWDED = 0.15
"""What each bullet taken from a child costs the child's others."""


@dataclass(frozen=True, slots=True)
class Line:
    """A bullet of a child."""

    text: str
    ref: int
    child: int
    terms: frozenset[str]
    worth: float


def summarize(level: TocLevel, children: Sequence[TocNode]) -> Summary:
    """Summarise a node out of its children's supported bullets.

    Args:
        level: The node's level.
        children: Its children, oldest first.

    Returns:
        A headline, the chosen bullets in the order they happened, and keywords;
        ``refs`` are places in the row of all the children's bullets.
    """
    lines = _lines(children)
    taken = _spread(lines, BULLETS[level][1])
    claims = tuple(Claim(one.text, (one.ref,)) for one in taken)
    chosen = keywords.of_children(level, [child.keywords for child in children])
    return Summary(_headline(children, taken), claims, chosen)


def _lines(children: Sequence[TocNode]) -> list[Line]:
    """The children's bullets, each with what it is worth."""
    found = []
    row = [
        (at, place, bullet)
        for at, child in enumerate(children)
        for place, bullet in enumerate(child.bullets)
    ]
    bags = [frozenset(words.needed(bullet.text)) for *_, bullet in row]
    holding = Counter(term for bag in bags for term in bag)
    for ref, ((at, place, bullet), bag) in enumerate(zip(row, bags, strict=True)):
        if not bullet.is_supported or not bag:
            continue
        about = sum(math.log(1 + len(row) / holding[term]) for term in bag)
        worth = (
            0.3 * about / math.sqrt(len(bag) + 4) / math.log(len(row) + 2)
            + cues.worth(bullet.text)
            + 0.2 / (1 + place)
            + 0.1 * (at + 1) / len(children)
            + 0.1 * min(titles.telling(bullet.text), 6) / 6
        )
        found.append(Line(bullet.text, ref, at, bag, worth))
    return found


def _spread(lines: Sequence[Line], most: int) -> list[Line]:
    """The best lines, unlike each other and spread over the children, in order."""
    pool = sorted(lines, key=lambda one: (-one.worth, one.ref))[:POOL]
    near = dict.fromkeys((one.ref for one in pool), 0.0)
    from_child: Counter[int] = Counter()
    taken: list[Line] = []
    while pool and len(taken) < most:
        best = max(
            pool,
            key=lambda one: (
                LAMBDA * (one.worth - CROWDED * from_child[one.child])
                - (1 - LAMBDA) * near[one.ref]
            ),
        )
        pool.remove(best)
        if near[best.ref] > LIKE:
            continue
        taken.append(best)
        from_child[best.child] += 1
        for one in pool:
            shared = len(one.terms & best.terms) / len(one.terms)
            near[one.ref] = max(near[one.ref], shared)
    return sorted(taken, key=lambda one: one.ref)


def _headline(children: Sequence[TocNode], taken: Sequence[Line]) -> str:
    """The best of the children's headlines, as many as there is room for."""
    said = dict.fromkeys(child.headline for child in children if child.headline)
    scored = sorted(
        ((_telling(text, at, len(said)), -at, text) for at, text in enumerate(said)),
        reverse=True,
    )
    kept: list[tuple[int, str]] = []
    room = HEADLINE_CHARS
    held: set[str] = set()
    for _, place, text in scored:
        bag = set(words.needed(text))
        if kept and (len(text) + 2 > room or len(bag & held) > LIKE * len(bag)):
            continue
        kept.append((-place, text.rstrip("…") if len(text) < HEADLINE_CHARS else text))
        room -= len(text) + 2
        held |= bag
    if kept:
        return shorten("; ".join(text for _, text in sorted(kept)), HEADLINE_CHARS)
    return shorten(taken[0].text, HEADLINE_CHARS) if taken else ""


def _telling(headline: str, place: int, count: int) -> float:
    return (
        min(titles.telling(headline), 6)
        + 2 * cues.worth(headline)
        + (place + 1) / count
        - 2 * headline.endswith("…")
    )
