"""Roll-ups: a node's summary chosen among what its children say.

Nothing is worded anew: the bullets are the children's, so that each keeps the grips
of the one it came from (decisions §6).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.memory import deeds, words
from memtui.memory.extracts import cues, headlines, titles
from memtui.memory.summaries import Claim, Summary
from memtui.memory.toc import BULLETS, TocLevel, TocNode

LAMBDA = 0.7
"""How much worth counts against likeness to what was taken already."""

LIKE = 0.6
"""A bullet sharing more of its terms than this with another says nothing new."""

ENOUGH = 0.2
"""A bullet worth less is left out, once there are enough."""

POOL = 200
"""How many of the best bullets are weighed against each other."""

CENTRAL, ON_TOPIC, STANDING, RECENT, SIZE = 0.3, 0.25, 0.15, 0.1, 0.2
"""What a bullet gains at most: by holding what all speak of, by holding its own
child's headline, by its place in it, by being late, by how much its child covers."""

NAMED, NAMES = 0.07, 4
"""What each of its child's keywords gives a bullet, and how many of them count."""

READABLE_CHARS = 160
"""A longer bullet is less of a summary."""

CROWDED = 0.25
"""What each bullet taken from a child costs the child's others."""

COMMITTED = 0.2
"""What a bullet gains by quoting commits: they say what was done, and say it alone."""

ALONE = 1.6
"""How much more wording counts above a day, where the conversation is far away."""


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
        A headline and the chosen bullets in the order they happened; ``refs`` are
        places in the row of all the children's bullets.
    """
    lines = _lines(level, children)
    taken = _spread(lines, *BULLETS[level])
    claims = tuple(Claim(one.text, (one.ref,)) for one in taken)
    best = max(taken, key=lambda one: one.worth).text if taken else ""
    return Summary(headlines.of_children(level, children, best), claims)


def _lines(level: TocLevel, children: Sequence[TocNode]) -> list[Line]:
    """The children's bullets, each with what it is worth."""
    found = []
    row = [
        (at, place, bullet)
        for at, child in enumerate(children)
        for place, bullet in enumerate(child.bullets)
    ]
    bags = [frozenset(words.needed(bullet.text)) for *_, bullet in row]
    holding = Counter(term for bag in bags for term in bag)
    topics = [frozenset(words.needed(child.headline)) for child in children]
    named = [frozenset(words.needed(" ".join(child.words))) for child in children]
    sizes = [math.log(2 + child.tally.events) for child in children]
    for ref, ((at, place, bullet), bag) in enumerate(zip(row, bags, strict=True)):
        if not bullet.stands or not bag:
            continue
        about = sum(math.log(1 + len(row) / holding[term]) for term in bag)
        worth = (
            CENTRAL * about / math.sqrt(len(bag) + 4) / math.log(len(row) + 2)
            + ON_TOPIC * len(bag & topics[at]) / (len(topics[at]) or 1)
            + NAMED * min(len(bag & named[at]), NAMES)
            + STANDING / (1 + place)
            + RECENT * (at + 1) / len(children)
            + SIZE * sizes[at] / max(sizes)
            + _manner(bullet.text) * (1.0 if level is TocLevel.DAY else ALONE)
        )
        found.append(Line(bullet.text, ref, at, bag, worth))
    return found


@lru_cache(maxsize=words.PHRASES)
def _manner(bullet: str) -> float:
    """What a bullet's wording adds: above a segment it has to stand by itself."""
    score = cues.worth(bullet)
    if len(bullet) > READABLE_CHARS:
        score -= 0.2
    if bullet.endswith("…"):
        score -= 0.15
    if bullet.endswith(("?", "？")):
        score -= 0.3
    if bullet[:1].islower() and not deeds.is_failure(bullet):
        score -= 0.1
    if cues.dangles(bullet):
        score -= 0.3
    if titles.telling(bullet) < titles.TELLING:
        score -= 0.6
    if cues.is_routine(bullet):
        score -= 0.7
    if deeds.is_composed(bullet):
        score -= 0.35
    elif deeds.is_commit(bullet):
        score += COMMITTED
    return score


def _spread(lines: Sequence[Line], least: int, most: int) -> list[Line]:
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
        poor = best.worth < ENOUGH and len(taken) >= least
        if poor or near[best.ref] > LIKE:
            continue
        taken.append(best)
        from_child[best.child] += 1
        for one in pool:
            shared = len(one.terms & best.terms) / len(one.terms)
            near[one.ref] = max(near[one.ref], shared)
    return sorted(taken, key=lambda one: one.ref)
