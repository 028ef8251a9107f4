"""Headlines: the line of a node that has children, made of its children's lines.

The best of them are joined, a project's name before its own where there are several:
"larder: Cart total is off by a cent; windrow: Read .gz files". The node above reads
the names back, and so spreads its own headline over the projects.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtui.memory import words
from memtui.memory.extracts import cues, titles
from memtui.memory.extracts.prose import shorten
from memtui.memory.toc import TocLevel, TocNode
from memtui.memory.words.vocabulary import VAGUE

HEADLINE_CHARS = 118
"""The most characters of a headline."""

PIECE_CHARS = 48
"""Above a day, a longer line gives way to its beginning, where that is whole."""

PIECES = 4
"""The most lines a headline is made of."""

BETWEEN = "; "
"""What stands between two lines of a headline."""

LIKE = 0.6
"""A line sharing more of its terms than this with another says nothing new."""

FREE_CHARS = {
    TocLevel.DAY: 48,
    TocLevel.WEEK: 44,
    TocLevel.MONTH: 30,
    TocLevel.YEAR: 26,
}
"""A line may be this long without losing by it: the wider the node, the shorter, so
that there is room for several matters."""

CENTRAL, TELLING, SIZE, RECENT, WORDING = 0.8, 0.1, 0.4, 0.15, 0.5
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
class Piece:
    """One line of a child's headline."""

    text: str
    project: str
    child: int
    order: int
    terms: frozenset[str]
    worth: float = 0.0


def of_children(level: TocLevel, children: Sequence[TocNode], instead: str = "") -> str:
    """The headline of a node.

    Args:
        level: The node's level.
        children: Its children, oldest first.
        instead: What to say where no child's headline tells anything.
    """
    pieces = _weighed(level, children)
    telling = [one for one in pieces if titles.telling(one.text)]
    if not telling and instead:
        return shorten(titles.tidy(instead), HEADLINE_CHARS)
    are_many = len({one.project for one in pieces}) > 1
    kept = _chosen(telling or pieces[:1], are_many=are_many)
    return shorten(_joined(kept, are_many=are_many), HEADLINE_CHARS)


def _pieces(level: TocLevel, children: Sequence[TocNode]) -> Iterator[Piece]:
    order = 0
    for at, child in enumerate(children):
        project = child.projects[0] if len(child.projects) == 1 else ""
        for text in child.headline.split(BETWEEN):
            named, _, rest = text.partition(": ")
            if rest and len(child.projects) > 1 and named in child.projects:
                project, text = named, rest
            if level is not TocLevel.DAY and len(text) > PIECE_CHARS:
                short = titles.fit(text, PIECE_CHARS)
                text = text if short.endswith("…") else short
            if text:
                terms = frozenset(words.needed(text))
                yield Piece(text, project, at, order, terms)
                order += 1


def _weighed(level: TocLevel, children: Sequence[TocNode]) -> list[Piece]:
    """The children's lines with their worth, best first; each once."""
    found: dict[str, Piece] = {}
    bags = [
        frozenset(words.needed(" ".join((*child.words, child.headline))))
        for child in children
    ]
    holding = Counter(term for bag in bags for term in bag)
    sizes = [math.log(2 + child.tally.events) for child in children]
    for one in _pieces(level, children):
        subjects = [term for term in one.terms if term not in VAGUE]
        told = sum(math.log(holding[term] or 1) for term in subjects)
        worth = (
            CENTRAL * told / (len(subjects) or 1) / math.log(len(children) + 1)
            + TELLING * min(titles.telling(one.text), MOST_TELLING)
            + SIZE * sizes[one.child] / max(sizes)
            + RECENT * (one.child + 1) / len(children)
            + _manner(one.text, FREE_CHARS[level])
        )
        found[one.text] = Piece(
            one.text, one.project, one.child, one.order, one.terms, worth
        )
    return sorted(found.values(), key=lambda one: (-one.worth, one.order))


def _manner(text: str, free_chars: int) -> float:
    """What a line's wording adds to its worth or takes from it."""
    score = WORDING * cues.worth(text)
    score -= ASKS * text.endswith(("?", "？"))
    score -= CUT * text.endswith("…")
    score -= LEANS * cues.leans(text)
    score -= ROUTINE * cues.is_routine(text)
    score -= PROCESS * cues.is_process(text)
    score -= CHOPPY * (len(titles.clauses(text)) > 1)
    return score - LONG * max(0, len(text) - free_chars)


def _chosen(pieces: Sequence[Piece], *, are_many: bool) -> list[Piece]:
    """The best lines there is room for, unlike each other, spread over projects."""
    pool = list(pieces)
    kept: list[Piece] = []
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
        says_again = len(best.terms & held) > LIKE * len(best.terms)
        if kept and (size > room + len(BETWEEN) or says_again):
            continue
        kept.append(best)
        room -= size
        held |= best.terms
        of_project[best.project] += 1
        of_child[best.child] += 1
    return kept


def _joined(kept: Sequence[Piece], *, are_many: bool) -> str:
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
