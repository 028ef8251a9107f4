"""Find bullets of one node that contradict each other.

Two bullets do if they share most of their words, and one negates what the other says,
says the opposite, exchanges two things, gives another value, or takes it back. Counts
that change with the work (tests, files, commits) are no contradiction.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from memtui.model.nodes import Bullet
from memtui.model.summaries import BulletKind
from memtui.summarize.grounding import conflicts, matching, negation, numbers
from memtui.text import analyzer, cues
from memtui.text.analyzer import stem
from memtui.text.stopwords import word_set

MIN_SHARED = 0.6
"""The share of the words of the shorter bullet that both must have, apart from those
that contradict each other."""

_REASON = re.compile(r",? (?:because|since|so that|due to)\b", re.IGNORECASE)
"""The beginning of a reason, which is not compared."""

_STATES = frozenset(
    stem(word)
    for word in word_set("""
    pass fail succeed success failure works broken enable enabled disable disabled
    add added remove removed delete deleted drop dropped create open close start stop
    allow deny block forbid accept reject include exclude keep install uninstall
    increase decrease reduce raise lower valid invalid true false correct incorrect
    wrong safe unsafe stable unstable fresh stale muted unmuted faster slower more less
    """)
)
"""Stems of words whose opposites contradict them: "before" and "after" do not."""

_DECISIONS = frozenset(
    map(stem, word_set("chose choose pick decide adopt use drop abandon revert"))
)
"""Stems of words for decisions and for taking them back."""

_STATEMENTS = (
    BulletKind.NOTE,
    BulletKind.QUOTE,
    BulletKind.OUTCOME,
    BulletKind.DECISION,
)
"""The kinds of bullets that state something that may be contradicted."""


def mark_contradictions(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return bullets with those that contradict each other marked, the newest first.

    The place of the first of them is that of all.
    """
    rivals: dict[int, list[int]] = {}
    for one, other in combinations(range(len(bullets)), 2):
        if _may_contradict(bullets[one], bullets[other]) and contradicts(
            bullets[one].text, bullets[other].text
        ):
            rivals.setdefault(one, []).append(other)
            rivals.setdefault(other, []).append(one)
    if not rivals:
        return tuple(bullets)
    order: dict[int, None] = {}
    for at in range(len(bullets)):
        group = sorted(
            (at, *rivals.get(at, ())),
            key=lambda one: _last_event(bullets[one]),
            reverse=True,
        )
        order |= dict.fromkeys(group)
    return tuple(
        _contradicted(bullets[at], bullets[rivals[at][0]])
        if at in rivals
        else bullets[at]
        for at in order
    )


def contradicts(one: str, other: str) -> bool:
    """Return whether two bullets contradict each other."""
    pairs = negation.find_opposites(one, other)
    opposed = {word for pair in pairs for word in pair}
    if not opposed <= _STATES or _name_others(one, other):
        return False
    if opposed or cues.takes_back(one) or cues.takes_back(other):
        return _share_words(one, other, opposed, least=1)
    if not _share_words(one, other, set(), least=2):
        return False
    is_denied = negation.has_negation(one) is not negation.has_negation(other)
    return (
        (is_denied and negation.negation_differs(one, other))
        or conflicts.exchanges_sides(one, other)
        or _give_other_values(one, other)
    )


def _may_contradict(one: Bullet, other: Bullet) -> bool:
    is_stated = one.kind in _STATEMENTS and other.kind in _STATEMENTS
    return is_stated and one.project == other.project


def _last_event(bullet: Bullet) -> str:
    """Return the id of the last event that a bullet quotes; ids are in order."""
    return max((span.event_id for span in bullet.verdict.spans), default="")


def _contradicted(bullet: Bullet, other: Bullet) -> Bullet:
    return replace(bullet, verdict=replace(bullet.verdict, contradiction=other.text))


def _share_words(one: str, other: str, opposed: set[str], *, least: int) -> bool:
    words = [
        {
            term
            for term in analyzer.query_terms(_REASON.split(text)[0])
            if not term.isdigit()
        }
        - opposed
        - _DECISIONS
        for text in (one, other)
    ]
    shared = len(words[0] & words[1])
    return shared >= least and shared >= MIN_SHARED * min(map(len, words))


def _name_others(one: str, other: str) -> bool:
    """Return whether both bullets have names in code, and different ones."""
    named = [
        {name for name in matching.find_details(text) if not name.isalnum()}
        for text in (one, other)
    ]
    return all(named) and named[0] != named[1]


def _give_other_values(one: str, other: str) -> bool:
    """Return whether two bullets give different values in the same unit or of the same
    label."""
    mine, others = _values(one), _values(other)
    return (
        len(mine) == len(others) == 1
        and mine != others
        and ({unit for unit, _ in mine} == {unit for unit, _ in others})
    )


def _values(text: str) -> set[tuple[str, str]]:
    units = set(numbers.UNITS.values())
    return {
        (number.label or number.after[0], number.digits)
        for number in numbers.find_numbers(text)
        if number.label or (number.after and number.after[0] in units)
    }
