"""Roll-ups: a node's summary chosen among what its children say.

Nothing is worded anew: the bullets are the children's, so that each keeps the grips
of the one it came from (decisions §6).
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.nodes import BULLET_COUNTS, TocLevel, TocNode
from memtui.model.summaries import DraftBullet, Summary
from memtui.summarize import tool_actions
from memtui.text import analyzer, cues, titles
from memtui.text.prose import shorten
from memtui.text.stopwords import VAGUE_STEMS

HEADLINE_CHARS = 118
"""The most characters of a headline."""

PIECE_CHARS = 48
"""Above a day, a longer line gives way to its beginning, where that is whole."""

PIECES = 4
"""The most lines a headline is made of."""

BETWEEN = "; "
"""What stands between two lines of a headline."""

HEADLINES_LIKE = 0.6
"""A line sharing more of its terms than this with another says nothing new."""

FREE_CHARS = {
    TocLevel.DAY: 48,
    TocLevel.WEEK: 44,
    TocLevel.MONTH: 30,
    TocLevel.YEAR: 26,
}
"""A line may be this long without losing by it: the wider the node, the shorter, so
that there is room for several matters."""

HEADLINES_CENTRAL, TELLING, HEADLINES_SIZE, HEADLINES_RECENT, WORDING = (
    0.8,
    0.1,
    0.4,
    0.15,
    0.5,
)
"""What a line gains at most by holding what the children speak of, for each telling
word, by how much its child covers, and by being late; how much its wording counts."""

MOST_TELLING = 5
"""More telling words than this do not make a line better."""

ASKS, CUT, LEANS, ROUTINE, PROCESS, CHOPPY, LONG = 0.5, 0.5, 0.7, 0.6, 0.4, 0.3, 0.015
"""What a line loses by being a question, cut, dependent on another, everybody's daily
work, a step of the work or two things at once, and for each character too many."""

AGAIN, NEAR = 0.5, 0.25
"""What each line taken of a project, and of a child, costs the others of it."""


@dataclass(frozen=True, slots=True)
class HeadlinePart:
    """One line of a child's headline."""

    text: str
    project: str
    child: int
    order: int
    terms: frozenset[str]
    worth: float = 0.0


def make_headline(
    level: TocLevel, children: Sequence[TocNode], instead: str = ""
) -> str:
    """The headline of a node.

    Args:
        level: The node's level.
        children: Its children, oldest first.
        instead: What to say where no child's headline tells anything.
    """
    pieces = _weighed(level, children)
    telling = [one for one in pieces if titles.count_content_words(one.text)]
    if not telling and instead:
        return shorten(titles.tidy_title(instead), HEADLINE_CHARS)
    are_many = len({one.project for one in pieces}) > 1
    kept = _chosen(telling or pieces[:1], are_many=are_many)
    return shorten(_joined(kept, are_many=are_many), HEADLINE_CHARS)


def _pieces(level: TocLevel, children: Sequence[TocNode]) -> Iterator[HeadlinePart]:
    order = 0
    for at, child in enumerate(children):
        project = child.projects[0] if len(child.projects) == 1 else ""
        for text in child.headline.split(BETWEEN):
            named, _, rest = text.partition(": ")
            if rest and len(child.projects) > 1 and named in child.projects:
                project, text = named, rest
            if level is not TocLevel.DAY and len(text) > PIECE_CHARS:
                short = titles.shorten_title(text, PIECE_CHARS)
                text = text if short.endswith("…") else short
            if text:
                terms = frozenset(analyzer.query_terms(text))
                yield HeadlinePart(text, project, at, order, terms)
                order += 1


def _weighed(level: TocLevel, children: Sequence[TocNode]) -> list[HeadlinePart]:
    """The children's lines with their worth, best first; each once."""
    found: dict[str, HeadlinePart] = {}
    bags = [
        frozenset(analyzer.query_terms(" ".join((*child.words, child.headline))))
        for child in children
    ]
    holding = Counter(term for bag in bags for term in bag)
    sizes = [math.log(2 + child.counts.events) for child in children]
    for one in _pieces(level, children):
        subjects = [term for term in one.terms if term not in VAGUE_STEMS]
        told = sum(math.log(holding[term] or 1) for term in subjects)
        worth = (
            HEADLINES_CENTRAL
            * told
            / (len(subjects) or 1)
            / math.log(len(children) + 1)
            + TELLING * min(titles.count_content_words(one.text), MOST_TELLING)
            + HEADLINES_SIZE * sizes[one.child] / max(sizes)
            + HEADLINES_RECENT * (one.child + 1) / len(children)
            + _headlines_manner(one.text, FREE_CHARS[level])
        )
        found[one.text] = HeadlinePart(
            one.text, one.project, one.child, one.order, one.terms, worth
        )
    return sorted(found.values(), key=lambda one: (-one.worth, one.order))


def _headlines_manner(text: str, free_chars: int) -> float:
    """What a line's wording adds to its worth or takes from it."""
    score = WORDING * cues.wording_score(text)
    score -= ASKS * text.endswith(("?", "？"))
    score -= CUT * text.endswith("…")
    score -= LEANS * cues.starts_with_reference(text)
    score -= ROUTINE * cues.is_routine(text)
    score -= PROCESS * cues.is_work_step(text)
    score -= CHOPPY * (len(titles.split_clauses(text)) > 1)
    return score - LONG * max(0, len(text) - free_chars)


def _chosen(pieces: Sequence[HeadlinePart], *, are_many: bool) -> list[HeadlinePart]:
    """The best lines there is room for, unlike each other, spread over projects."""
    pool = list(pieces)
    kept: list[HeadlinePart] = []
    held: set[str] = set()
    room = HEADLINE_CHARS
    of_project: Counter[str] = Counter()
    of_child: Counter[int] = Counter()
    while pool and len(kept) < PIECES:
        best = max(
            pool,
            key=lambda one: (
                one.worth
                - AGAIN * are_many * of_project[one.project]
                - NEAR * of_child[one.child]
            ),
        )
        pool.remove(best)
        named = are_many and best.project and not of_project[best.project]
        size = len(best.text) + len(BETWEEN) + (len(best.project) + 2) * bool(named)
        says_again = len(best.terms & held) > HEADLINES_LIKE * len(best.terms)
        if kept and (size > room + len(BETWEEN) or says_again):
            continue
        kept.append(best)
        room -= size
        held |= best.terms
        of_project[best.project] += 1
        of_child[best.child] += 1
    return kept


def _joined(kept: Sequence[HeadlinePart], *, are_many: bool) -> str:
    """The lines in their order, those of one project together under its name."""
    if not are_many:
        return BETWEEN.join(one.text for one in sorted(kept, key=lambda one: one.order))
    runs: dict[str, list[str]] = {}
    for one in sorted(kept, key=lambda one: one.order):
        runs.setdefault(one.project, []).append(one.text)
    named = (
        f"{project}: {BETWEEN.join(run)}" if project else BETWEEN.join(run)
        for project, run in sorted(runs.items(), key=lambda run: bool(run[0]))
    )
    return BETWEEN.join(named)


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
class BulletCandidate:
    """A bullet of a child."""

    text: str
    ref: int
    child: int
    terms: frozenset[str]
    worth: float


def summarize_children(level: TocLevel, children: Sequence[TocNode]) -> Summary:
    """Summarise a node out of its children's supported bullets.

    Args:
        level: The node's level.
        children: Its children, oldest first.

    Returns:
        A headline and the chosen bullets in the order they happened; ``refs`` are
        places in the row of all the children's bullets.
    """
    lines = _lines(level, children)
    taken = _spread(lines, *BULLET_COUNTS[level])
    claims = tuple(DraftBullet(one.text, (one.ref,)) for one in taken)
    best = max(taken, key=lambda one: one.worth).text if taken else ""
    return Summary(make_headline(level, children, best), claims)


def _lines(level: TocLevel, children: Sequence[TocNode]) -> list[BulletCandidate]:
    """The children's bullets, each with what it is worth."""
    found = []
    row = [
        (at, place, bullet)
        for at, child in enumerate(children)
        for place, bullet in enumerate(child.bullets)
    ]
    bags = [frozenset(analyzer.query_terms(bullet.text)) for *_, bullet in row]
    holding = Counter(term for bag in bags for term in bag)
    topics = [frozenset(analyzer.query_terms(child.headline)) for child in children]
    named = [
        frozenset(analyzer.query_terms(" ".join(child.words))) for child in children
    ]
    sizes = [math.log(2 + child.counts.events) for child in children]
    for ref, ((at, place, bullet), bag) in enumerate(zip(row, bags, strict=True)):
        if not bullet.has_support or not bag:
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
        found.append(BulletCandidate(bullet.text, ref, at, bag, worth))
    return found


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _manner(bullet: str) -> float:
    """What a bullet's wording adds: above a segment it has to stand by itself."""
    score = cues.wording_score(bullet)
    if len(bullet) > READABLE_CHARS:
        score -= 0.2
    if bullet.endswith("…"):
        score -= 0.15
    if bullet.endswith(("?", "？")):
        score -= 0.3
    if bullet[:1].islower() and not tool_actions.is_failure_line(bullet):
        score -= 0.1
    if cues.needs_context(bullet):
        score -= 0.3
    if titles.count_content_words(bullet) < titles.MIN_CONTENT_WORDS:
        score -= 0.6
    if cues.is_routine(bullet):
        score -= 0.7
    if tool_actions.is_action_line(bullet):
        score -= 0.35
    elif tool_actions.is_commit_line(bullet):
        score += COMMITTED
    return score


def _spread(
    lines: Sequence[BulletCandidate], least: int, most: int
) -> list[BulletCandidate]:
    """The best lines, unlike each other and spread over the children, in order."""
    pool = sorted(lines, key=lambda one: (-one.worth, one.ref))[:POOL]
    near = dict.fromkeys((one.ref for one in pool), 0.0)
    from_child: Counter[int] = Counter()
    taken: list[BulletCandidate] = []
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
