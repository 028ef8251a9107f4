"""Summarize a node from the headlines and bullets of its children.

Nothing is reworded: each bullet is one of a child, and keeps its grips.
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
"""The maximum length of a headline."""

PART_CHARS = 48
"""Above a day, a longer part is shortened to its first clause if possible."""

HEADLINE_PARTS = 4
"""The maximum number of parts of a headline."""

SEPARATOR = "; "
"""Separates the parts of a headline."""

HEADLINE_MAX_OVERLAP = 0.6
"""A part that shares more of its terms with another adds nothing new."""

FREE_PART_CHARS = {
    TocLevel.DAY: 48,
    TocLevel.WEEK: 44,
    TocLevel.MONTH: 30,
    TocLevel.YEAR: 26,
}
"""A part up to this length gets no penalty; shorter on higher levels, to leave room for
several subjects."""

(
    HEADLINE_CENTRAL,
    HEADLINE_CONTENT_WORD,
    HEADLINE_SIZE,
    HEADLINE_RECENT,
    HEADLINE_WORDING,
) = (
    0.8,
    0.1,
    0.4,
    0.15,
    0.5,
)
"""Maximum bonuses of a part: for the common subjects of the children, for each content
word, for the size of its child, for being recent; and the weight of its wording."""

MAX_CONTENT_WORDS = 5
"""More content words than this do not improve a part."""

(
    QUESTION_PENALTY,
    CUT_PENALTY,
    REFERENCE_PENALTY,
    ROUTINE_PENALTY,
    STEP_PENALTY,
    CLAUSES_PENALTY,
    LENGTH_PENALTY,
) = 0.5, 0.5, 0.7, 0.6, 0.4, 0.3, 0.015
"""Penalties of a part: for being a question, cut, dependent on context, routine work, a
step of the work, several clauses, and for each excess character."""

SAME_PROJECT_PENALTY, SAME_CHILD_PENALTY = 0.5, 0.25
"""The penalty for each part already selected of the same project, and of the same
child."""


@dataclass(frozen=True, slots=True)
class HeadlinePart:
    """A part of a child's headline."""

    text: str
    project: str
    child: int
    order: int
    terms: frozenset[str]
    score: float = 0.0


def make_headline(
    level: TocLevel, children: Sequence[TocNode], fallback: str = ""
) -> str:
    """Return the headline of a node.

    Args:
        level: The node's level.
        children: Its children, oldest first.
        fallback: The text to use if no child has an informative headline.
    """
    parts = _score_parts(level, children)
    informative = [one for one in parts if titles.count_content_words(one.text)]
    if not informative and fallback:
        return shorten(titles.tidy_title(fallback), HEADLINE_CHARS)
    are_many = len({one.project for one in parts}) > 1
    selected = _select_parts(informative or parts[:1], are_many=are_many)
    return shorten(_join_parts(selected, are_many=are_many), HEADLINE_CHARS)


def _split_headlines(
    level: TocLevel, children: Sequence[TocNode]
) -> Iterator[HeadlinePart]:
    order = 0
    for at, child in enumerate(children):
        project = child.projects[0] if len(child.projects) == 1 else ""
        for text in child.headline.split(SEPARATOR):
            named, _, rest = text.partition(": ")
            if rest and len(child.projects) > 1 and named in child.projects:
                project, text = named, rest
            if level is not TocLevel.DAY and len(text) > PART_CHARS:
                short = titles.shorten_title(text, PART_CHARS)
                text = text if short.endswith("…") else short
            if text:
                terms = frozenset(analyzer.query_terms(text))
                yield HeadlinePart(text, project, at, order, terms)
                order += 1


def _score_parts(level: TocLevel, children: Sequence[TocNode]) -> list[HeadlinePart]:
    """Return the distinct parts of the children's headlines with scores, best first."""
    found: dict[str, HeadlinePart] = {}
    term_sets = [
        frozenset(
            analyzer.query_terms(" ".join((*child.keyword_texts, child.headline)))
        )
        for child in children
    ]
    frequency = Counter(term for terms in term_sets for term in terms)
    sizes = [math.log(2 + child.counts.events) for child in children]
    for one in _split_headlines(level, children):
        subjects = [term for term in one.terms if term not in VAGUE_STEMS]
        commonness = sum(math.log(frequency[term] or 1) for term in subjects)
        score = (
            HEADLINE_CENTRAL
            * commonness
            / (len(subjects) or 1)
            / math.log(len(children) + 1)
            + HEADLINE_CONTENT_WORD
            * min(titles.count_content_words(one.text), MAX_CONTENT_WORDS)
            + HEADLINE_SIZE * sizes[one.child] / max(sizes)
            + HEADLINE_RECENT * (one.child + 1) / len(children)
            + _headline_wording(one.text, FREE_PART_CHARS[level])
        )
        found[one.text] = HeadlinePart(
            one.text, one.project, one.child, one.order, one.terms, score
        )
    return sorted(found.values(), key=lambda one: (-one.score, one.order))


def _headline_wording(text: str, free_chars: int) -> float:
    """Return the score of a part's wording."""
    score = HEADLINE_WORDING * cues.wording_score(text)
    score -= QUESTION_PENALTY * text.endswith(("?", "？"))
    score -= CUT_PENALTY * text.endswith("…")
    score -= REFERENCE_PENALTY * bool(cues.starts_with_reference(text))
    score -= ROUTINE_PENALTY * cues.is_routine(text)
    score -= STEP_PENALTY * bool(cues.is_work_step(text))
    score -= CLAUSES_PENALTY * (len(titles.split_clauses(text)) > 1)
    return score - LENGTH_PENALTY * max(0, len(text) - free_chars)


def _select_parts(
    parts: Sequence[HeadlinePart], *, are_many: bool
) -> list[HeadlinePart]:
    """Select the best parts that fit, different from each other, across projects."""
    pool = list(parts)
    selected: list[HeadlinePart] = []
    covered: set[str] = set()
    room = HEADLINE_CHARS
    of_project: Counter[str] = Counter()
    of_child: Counter[int] = Counter()
    while pool and len(selected) < HEADLINE_PARTS:
        best = max(
            pool,
            key=lambda one: (
                one.score
                - SAME_PROJECT_PENALTY * are_many * of_project[one.project]
                - SAME_CHILD_PENALTY * of_child[one.child]
            ),
        )
        pool.remove(best)
        named = are_many and best.project and not of_project[best.project]
        size = len(best.text) + len(SEPARATOR) + (len(best.project) + 2) * bool(named)
        says_again = len(best.terms & covered) > HEADLINE_MAX_OVERLAP * len(best.terms)
        if selected and (size > room + len(SEPARATOR) or says_again):
            continue
        selected.append(best)
        room -= size
        covered |= best.terms
        of_project[best.project] += 1
        of_child[best.child] += 1
    return selected


def _join_parts(selected: Sequence[HeadlinePart], *, are_many: bool) -> str:
    """Join parts in order; those of one project follow its name."""
    if not are_many:
        return SEPARATOR.join(
            one.text for one in sorted(selected, key=lambda one: one.order)
        )
    runs: dict[str, list[str]] = {}
    for one in sorted(selected, key=lambda one: one.order):
        runs.setdefault(one.project, []).append(one.text)
    named = (
        f"{project}: {SEPARATOR.join(run)}" if project else SEPARATOR.join(run)
        for project, run in sorted(runs.items(), key=lambda run: bool(run[0]))
    )
    return SEPARATOR.join(named)


MMR_LAMBDA = 0.7
"""The weight of a bullet's score against similarity to selected ones."""

MAX_OVERLAP = 0.6
"""A bullet that shares more of its terms with another adds nothing new."""

MIN_SCORE = 0.2
"""Bullets with a lower score are left out once there are enough."""

POOL_SIZE = 200
"""Number of best bullets that are compared with each other."""

BULLET_CENTRAL, BULLET_TOPIC, BULLET_POSITION, BULLET_RECENT, BULLET_SIZE = (
    0.3,
    0.25,
    0.15,
    0.1,
    0.2,
)
"""Maximum bonuses of a bullet: for common terms, for terms of its child's headline, for
its position in the child, for being recent, and for the size of its child."""

KEYWORD_BONUS, MAX_KEYWORDS_COUNTED = 0.07, 4
"""The bonus for each keyword of its child, and how many of them count."""

READABLE_CHARS = 160
"""A longer bullet is harder to read."""

CROWDING_PENALTY = 0.25
"""The penalty for each bullet already selected of the same child."""

COMMIT_BONUS = 0.2
"""The bonus for quoting commits, which say clearly what was done."""

WORDING_WEIGHT_ABOVE_DAY = 1.6
"""The weight of wording above a day, where the conversation is far away."""


@dataclass(frozen=True, slots=True)
class BulletCandidate:
    """A bullet of a child."""

    text: str
    ref: int
    child: int
    terms: frozenset[str]
    score: float


def summarize_children(level: TocLevel, children: Sequence[TocNode]) -> Summary:
    """Summarize a node with the supported bullets of its children.

    Args:
        level: The node's level.
        children: Its children, oldest first.

    Returns:
        A headline and the selected bullets in order of time; ``refs`` are indexes into
        all children's bullets in a row.
    """
    lines = _score_bullets(level, children)
    taken = _select_bullets(lines, *BULLET_COUNTS[level])
    claims = tuple(DraftBullet(one.text, (one.ref,)) for one in taken)
    best = max(taken, key=lambda one: one.score).text if taken else ""
    return Summary(make_headline(level, children, best), claims)


def _score_bullets(
    level: TocLevel, children: Sequence[TocNode]
) -> list[BulletCandidate]:
    """Return the children's bullets with scores."""
    found = []
    row = [
        (at, place, bullet)
        for at, child in enumerate(children)
        for place, bullet in enumerate(child.bullets)
    ]
    term_sets = [frozenset(analyzer.query_terms(bullet.text)) for *_, bullet in row]
    frequency = Counter(term for terms in term_sets for term in terms)
    topics = [frozenset(analyzer.query_terms(child.headline)) for child in children]
    named = [
        frozenset(analyzer.query_terms(" ".join(child.keyword_texts)))
        for child in children
    ]
    sizes = [math.log(2 + child.counts.events) for child in children]
    for ref, ((at, place, bullet), terms) in enumerate(
        zip(row, term_sets, strict=True)
    ):
        if not bullet.has_support or not terms:
            continue
        about = sum(math.log(1 + len(row) / frequency[term]) for term in terms)
        score = (
            BULLET_CENTRAL * about / math.sqrt(len(terms) + 4) / math.log(len(row) + 2)
            + BULLET_TOPIC * len(terms & topics[at]) / (len(topics[at]) or 1)
            + KEYWORD_BONUS * min(len(terms & named[at]), MAX_KEYWORDS_COUNTED)
            + BULLET_POSITION / (1 + place)
            + BULLET_RECENT * (at + 1) / len(children)
            + BULLET_SIZE * sizes[at] / max(sizes)
            + _bullet_wording(bullet.text)
            * (1.0 if level is TocLevel.DAY else WORDING_WEIGHT_ABOVE_DAY)
        )
        found.append(BulletCandidate(bullet.text, ref, at, terms, score))
    return found


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _bullet_wording(bullet: str) -> float:
    """Return the score of a bullet's wording; it must be clear without context."""
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
        score += COMMIT_BONUS
    return score


def _select_bullets(
    lines: Sequence[BulletCandidate], least: int, most: int
) -> list[BulletCandidate]:
    """Select the best bullets, different from each other, in order."""
    pool = sorted(lines, key=lambda one: (-one.score, one.ref))[:POOL_SIZE]
    near = dict.fromkeys((one.ref for one in pool), 0.0)
    from_child: Counter[int] = Counter()
    taken: list[BulletCandidate] = []
    while pool and len(taken) < most:
        best = max(
            pool,
            key=lambda one: (
                MMR_LAMBDA * (one.score - CROWDING_PENALTY * from_child[one.child])
                - (1 - MMR_LAMBDA) * near[one.ref]
            ),
        )
        pool.remove(best)
        is_poor = best.score < MIN_SCORE and len(taken) >= least
        if is_poor or near[best.ref] > MAX_OVERLAP:
            continue
        taken.append(best)
        from_child[best.child] += 1
        for one in pool:
            shared = len(one.terms & best.terms) / len(one.terms)
            near[one.ref] = max(near[one.ref], shared)
    return sorted(taken, key=lambda one: one.ref)
